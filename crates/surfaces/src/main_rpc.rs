//! The main JSON-RPC: one endpoint, many families of methods (docs/api.md, "JSON-RPC").

use paraffin_bitcoin_surfaces::esplora::{self, ESPLORA};
use paraffin_bitcoin_surfaces::{BTC, ORD};
use paraffin_contract_surfaces::{ALKANES, METASHREW};
use paraffin_gateway::describe;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::Surface;
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{RpcResult, RpcSurface};
use paraffin_service_surfaces::{ADMIN, LUA, SANDSHREW};

/// The families, each the methods whose names begin with its name and `_`, in the order in which they are described.
/// Parts of the names of all their methods that may change state.
pub(crate) static CHANGING: [&str; 8] =
    ["sendraw", "package", "broadcast", "post", "evalscript", "evalsaved", "savescript", "admin_"];

pub(crate) static FAMILIES: [&Surface<()>; 8] = [&BTC, &ESPLORA, &ORD, &METASHREW, &ALKANES, &SANDSHREW, &LUA, &ADMIN];

/// Alternative names that clients use, by family; without punctuation.
const OTHER_NAMES: [(&str, &str, &str); 4] = [
    ("esplora", "posttx", "broadcast"),
    ("ord", "inscriptionsinblock", "inscriptions::block"),
    ("ord", "rchildren", "children"),
    ("ord", "rmetadata", "metadata"),
];

/// A name without the punctuation that clients write in many ways: `address::txs:chain`, `address_txs_chain`, `addresstxschain`.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|letter| !matches!(letter, ':' | '-' | '_'))
}

pub(crate) struct MainRpc;

impl MainRpc {
    /// The family and the rest of the name. A name without `_` is one of the node's, but for one view that all clients of
    /// alkanes know by its bare name.
    fn find(method: &str) -> Option<(&'static Surface<()>, &str)> {
        let bare = if method == "spendablesbyaddress" { "alkanes" } else { "btc" };
        let (name, rest) = method.split_once('_').unwrap_or((bare, method));
        let family = FAMILIES.into_iter().find(|family| family.name == name)?;
        let has_punctuation = matches!(name, "esplora" | "ord");
        if !has_punctuation || family.names().any(|known| known == rest) {
            return Some((family, rest));
        }
        let other = OTHER_NAMES.iter().find(|(of, other, _)| *of == name && letters(rest).eq(other.chars()));
        let known = || family.names().find(|known| letters(known).eq(letters(rest)));
        Some((family, other.map(|(.., known)| *known).or_else(known).unwrap_or(rest)))
    }
}

impl RpcSurface for MainRpc {
    fn family(&self, method: &str) -> &'static str {
        Self::find(method).map_or("unknown", |(family, _)| family.name)
    }

    fn takes_large_body(&self, method: &str) -> bool {
        Self::find(method).is_some_and(|(family, rest)| family.takes_large_body(rest))
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        if method == describe::DISCOVER {
            return Box::pin(async move { describe::discover(context, &params) });
        }
        match Self::find(method) {
            Some((family, rest)) if family.name == ESPLORA.name && family.names().all(|known| known != rest) => {
                esplora::by_path(context, rest, &params)
            }
            Some((family, rest)) => family.call(context, &(), rest, &params),
            None => Box::pin(async { Err(ApiError::method_not_found()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use paraffin_service_surfaces::callable;

    use super::*;

    #[test]
    fn names_without_punctuation_mean_what_they_are_written_from() {
        for family in [&ESPLORA, &ORD] {
            for full in family.names() {
                let flat = format!("{}_{}", family.name, full.replace([':', '-'], ""));
                assert_eq!(MainRpc::find(&flat).unwrap().1, full, "{flat}");
            }
        }
        for (name, known) in [
            ("esplora_addresstxschain", "address::txs:chain"),
            ("esplora_blocks::tip:height", "blocks:tip:height"),
            ("esplora_post-tx", "broadcast"),
            ("ord_inscriptions_block", "inscriptions::block"),
            ("ord_r:children", "children"),
        ] {
            assert_eq!(MainRpc::find(name).unwrap().1, known, "{name}");
        }
        for name in ["esplora_", "esplora_nothing", "esplora_tx::nothing", "esplora_address::txs:nothing", "ord_rsats"]
        {
            let (family, rest) = MainRpc::find(name).unwrap();
            assert!(family.names().all(|known| known != rest), "{name}");
        }
    }

    #[test]
    fn scripts_have_every_read_method_and_none_that_manages_keys_or_runs_scripts() {
        let methods = callable(&FAMILIES);
        for method in
            ["btc_getblockcount", "esplora_address::utxo", "metashrew_view", "alkanes_simulate", "sandshrew_multicall"]
        {
            assert!(methods.iter().any(|known| known == method), "{method}");
        }
        // The names that scripts in use have, as Lua spells them.
        let spelled: Vec<String> = methods.iter().map(|method| paraffin_lua::lua_spelling(method)).collect();
        for (family, names) in [
            (
                "btc",
                // The rest of what scripts elsewhere have under `btc_` is about the node and not about the chain.
                "getbestblockhash getblock getblockcount getblockhash getblockheader getblockstats getchaintips getchaintxstats \
                 getdifficulty getmempoolancestors getmempooldescendants getblockchaininfo getrawtransaction sendrawtransaction \
                 getmempoolinfo getrawmempool getmempoolentry gettxout decoderawtransaction",
            ),
            (
                "esplora",
                "addressutxo addresstxs addresstxschain addresstxsmempool address tx txstatus txhex txraw txoutspends block \
                 blockstatus blocktxs blocktxids blockheight mempool mempooltxids mempoolrecent feeestimates",
            ),
            (
                "ord",
                "content blockheight blockcount blockhash blocktime blocks outputs inscription inscriptions block output rune \
                 runes sat children parents address",
            ),
            ("alkanes", "getbytecode protorunesbyaddress protorunesbyoutpoint protorunes_by_outpoint"),
            ("metashrew", "view height"),
            ("sandshrew", "multicall balances"),
        ] {
            for name in names.split_ascii_whitespace() {
                let method = format!("{family}_{name}");
                assert!(spelled.contains(&method), "{method}");
            }
        }
        for part in ["admin_", "lua_", "evalscript", "savescript", "evalsaved"] {
            assert!(!methods.iter().any(|known| known.contains(part)), "{part}");
        }
    }
}
