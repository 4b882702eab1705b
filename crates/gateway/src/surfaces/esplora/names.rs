//! How the name of an `esplora_*` method and its parameters become a path.

use crate::describe::ESPLORA_METHODS;

/// Names of the methods that hand something to the node.
const WRITES: [(&str, Write); 6] = [
    ("broadcast", Write::Transaction),
    ("post-tx", Write::Transaction),
    ("posttx", Write::Transaction),
    ("txs:package", Write::Package),
    ("txs::package", Write::Package),
    ("txspackage", Write::Package),
];

/// The names of all methods, each in the one way in which it is described. An empty piece of a name stands for a parameter.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    ESPLORA_METHODS.iter().map(|(name, ..)| *name)
}

/// The name that is described. Scripts and older clients write names without their punctuation.
fn full_name(name: &str) -> &str {
    let is_flat = |full: &&str| full.chars().filter(|letter| !matches!(letter, ':' | '-')).eq(name.chars());
    all().find(is_flat).unwrap_or(name)
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
    let name = full_name(name);
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
    let name = full_name(name);
    let (.., params, _) = ESPLORA_METHODS.iter().find(|(path, ..)| words(path).eq(words(name)))?;
    let is_needed = |param: &&str| !param.contains('?');
    Some((params.split_whitespace().filter(is_needed).count(), params.split_whitespace().count()))
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
        for full in all() {
            let flat = full.replace([':', '-'], "");
            assert!(parameters_of(&flat).is_some() && parameters_of(&flat) == parameters_of(full), "{flat}");
        }
        assert_eq!((parameters_of("tx::outspend"), parameters_of("blocks")), (Some((2, 2)), Some((0, 1))));
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
        for full in all() {
            let flat = full.replace([':', '-'], "");
            check(&flat, &["A", "B"], &path_of(full, &["A".into(), "B".into()]).join("/"));
        }
        check("addresstxschain", &["A", "L"], "address/A/txs/chain/L");
        check("feeestimates", &[], "fee-estimates");
    }
}
