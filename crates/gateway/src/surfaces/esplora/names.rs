//! How the name of an `esplora_*` method and its parameters become a path.

/// Names without their punctuation, as scripts and older clients spell them.
const FLAT_NAMES: [(&str, &str); 28] = [
    ("addressutxo", "address::utxo"),
    ("addresstxs", "address::txs"),
    ("addresstxsmempool", "address::txs:mempool"),
    ("addresstxschain", "address::txs:chain"),
    ("addressprefix", "address-prefix"),
    ("scripthashutxo", "scripthash::utxo"),
    ("scripthashtxs", "scripthash::txs"),
    ("scripthashtxsmempool", "scripthash::txs:mempool"),
    ("scripthashtxschain", "scripthash::txs:chain"),
    ("blockheader", "block::header"),
    ("blockheight", "block-height"),
    ("blockraw", "block::raw"),
    ("blockstatus", "block::status"),
    ("blocktxid", "block::txid"),
    ("blocktxids", "block::txids"),
    ("blocktxs", "block::txs"),
    ("blockstipheight", "blocks:tip:height"),
    ("blockstiphash", "blocks:tip:hash"),
    ("feeestimates", "fee-estimates"),
    ("mempooltxids", "mempool:txids"),
    ("mempoolrecent", "mempool:recent"),
    ("txhex", "tx::hex"),
    ("txraw", "tx::raw"),
    ("txstatus", "tx::status"),
    ("txoutspends", "tx::outspends"),
    ("txoutspend", "tx::outspend"),
    ("txmerkleproof", "tx::merkle-proof"),
    ("txmerkleblockproof", "tx::merkleblock-proof"),
];

/// Methods that are paths, with the least and the most parameters. An empty piece of a name stands for a parameter.
const PATHS: [(&str, usize, usize); 34] = [
    ("tx", 1, 1),
    ("tx::status", 1, 1),
    ("tx::hex", 1, 1),
    ("tx::raw", 1, 1),
    ("tx::outspends", 1, 1),
    ("tx::outspend", 2, 2),
    ("tx::merkle-proof", 1, 1),
    ("tx::merkleblock-proof", 1, 1),
    ("address", 1, 1),
    ("address::utxo", 1, 1),
    ("address::txs", 1, 1),
    ("address::txs:mempool", 1, 1),
    ("address::txs:chain", 1, 2),
    ("scripthash", 1, 1),
    ("scripthash::utxo", 1, 1),
    ("scripthash::txs", 1, 1),
    ("scripthash::txs:mempool", 1, 1),
    ("scripthash::txs:chain", 1, 2),
    ("address-prefix", 1, 1),
    ("block", 1, 1),
    ("block::header", 1, 1),
    ("block::status", 1, 1),
    ("block::raw", 1, 1),
    ("block::txid", 2, 2),
    ("block::txids", 1, 1),
    ("block::txs", 1, 2),
    ("block-height", 1, 1),
    ("blocks", 0, 1),
    ("blocks:tip:height", 0, 0),
    ("blocks:tip:hash", 0, 0),
    ("mempool", 0, 0),
    ("mempool:txids", 0, 0),
    ("mempool:recent", 0, 0),
    ("fee-estimates", 0, 0),
];

/// Names of the methods that hand something to the node.
const WRITES: [(&str, Write); 6] = [
    ("broadcast", Write::Transaction),
    ("post-tx", Write::Transaction),
    ("posttx", Write::Transaction),
    ("txs:package", Write::Package),
    ("txs::package", Write::Package),
    ("txspackage", Write::Package),
];

/// The names of all methods, each in the one way in which it is described.
pub(super) fn all() -> Vec<&'static str> {
    PATHS.iter().map(|(name, ..)| *name).chain(["broadcast", "txs:package"]).collect()
}

/// Methods that hand something to the node; on HTTP they are POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write {
    /// `POST /tx`.
    Transaction,
    /// `POST /txs/package`.
    Package,
}

/// Whether a method hands something to the node, and what.
pub(super) fn write_of(name: &str) -> Option<Write> {
    WRITES.iter().find(|(known, _)| *known == name).map(|(_, write)| *write)
}

/// The segments of the path: the name is split at `:`, every empty piece takes the next parameter (or vanishes when there is
/// none), and parameters left over follow. A parameter is one segment whatever it holds.
pub(super) fn path_of(name: &str, params: &[String]) -> Vec<String> {
    let name = FLAT_NAMES.into_iter().find(|(flat, _)| *flat == name).map_or(name, |(_, full)| full);
    let mut params = params.iter();
    let mut path = Vec::new();
    for piece in name.split(':') {
        if piece.is_empty() {
            path.extend(params.next().cloned());
        } else {
            path.push(piece.to_owned());
        }
    }
    path.extend(params.cloned());
    path
}

/// How many parameters a method takes, least and most; `None` for a name that is no method.
pub(super) fn parameters_of(name: &str) -> Option<(usize, usize)> {
    let name = FLAT_NAMES.into_iter().find(|(flat, _)| *flat == name).map_or(name, |(_, full)| full);
    let is_same = |path: &str| words(path).eq(words(name));
    PATHS.iter().find(|(path, ..)| is_same(path)).map(|(_, least, most)| (*least, *most))
}

/// The pieces of a name that stand for themselves.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(':').filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flat_name_is_a_method_with_a_known_number_of_parameters() {
        for (flat, full) in FLAT_NAMES {
            assert!(parameters_of(flat).is_some() && parameters_of(flat) == parameters_of(full), "{flat}");
        }
        for name in ["", "nothing", "tx::nothing", "address::txs:nothing", "block::", "blocks:tip"] {
            assert_eq!(parameters_of(name).is_some(), name == "block::", "{name}");
        }
    }

    fn check(name: &str, params: &[&str], expected: &str) {
        let params: Vec<String> = params.iter().map(|&param| param.to_owned()).collect();
        assert_eq!(path_of(name, &params).join("/"), expected, "{name}");
    }

    /// row MR05
    #[test]
    fn names_become_paths() {
        check("address", &["A"], "address/A");
        check("address::utxo", &["A"], "address/A/utxo");
        check("address::txs:chain", &["A", "L"], "address/A/txs/chain/L");
        check("address::txs:mempool", &["A"], "address/A/txs/mempool");
        check("tx", &["T"], "tx/T");
        check("tx::outspend", &["T", "0"], "tx/T/outspend/0");
        check("block::txid", &["H", "1"], "block/H/txid/1");
        check("block::txs", &["H", "25"], "block/H/txs/25");
        check("block-height", &["5"], "block-height/5");
        check("blocks", &[], "blocks");
        check("blocks", &["5"], "blocks/5");
        check("blocks:tip:height", &[], "blocks/tip/height");
        check("blocks::tip:height", &[], "blocks/tip/height");
        check("mempool::recent", &[], "mempool/recent");
        check("fee-estimates", &[], "fee-estimates");
    }

    #[test]
    fn flat_names_mean_what_they_are_flattened_from() {
        for (flat, full) in FLAT_NAMES {
            assert_eq!(flat, full.replace([':', '-'], ""));
            check(flat, &["A", "B"], &path_of(full, &["A".into(), "B".into()]).join("/"));
        }
    }
}
