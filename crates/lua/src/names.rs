//! Which methods of the server a script can call, and their names in Lua.

/// Families that scripts cannot call: they change accounts, or run scripts themselves.
const LEFT_OUT: [&str; 2] = ["admin", "lua"];
/// The methods of another family that run scripts.
const SCRIPTS: [&str; 3] = ["sandshrew_evalscript", "sandshrew_savescript", "sandshrew_evalsaved"];

/// Whether scripts may call a method.
pub fn is_callable(method: &str) -> bool {
    let family = method.split_once('_').map_or("", |(family, _)| family);
    !LEFT_OUT.contains(&family) && !SCRIPTS.contains(&method)
}

/// A method's name without the characters that a Lua name cannot have: `esplora_address::utxo` is `esplora_addressutxo`.
pub fn lua_spelling(method: &str) -> String {
    method.replace([':', '-', '.'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lua_spells_names_without_colons_and_dashes() {
        for (method, spelled) in [
            ("btc_getblockcount", "btc_getblockcount"),
            ("esplora_address::utxo", "esplora_addressutxo"),
            ("esplora_address::txs:chain", "esplora_addresstxschain"),
            ("esplora_fee-estimates", "esplora_feeestimates"),
            ("esplora_block-height", "esplora_blockheight"),
            ("alkanes_protorunes_by_outpoint", "alkanes_protorunes_by_outpoint"),
        ] {
            assert_eq!(lua_spelling(method), spelled);
        }
    }

    #[test]
    fn scripts_neither_manage_keys_nor_run_scripts() {
        for method in ["admin_createApiKey", "lua_evalscript", "lua_evalsaved", "sandshrew_evalscript"] {
            assert!(!is_callable(method), "{method}");
        }
        for method in ["btc_getblock", "sandshrew_multicall", "spendablesbyaddress", "metashrew_view"] {
            assert!(is_callable(method), "{method}");
        }
    }
}
