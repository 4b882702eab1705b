//! What each method of the main JSON-RPC takes and gives.
//!
//! A table has four columns: the name without its family, what it is for, its parameters, and its result. Parameters are
//! written `name:kind`, with `?` after the name where it may be left out; results are a kind. [`kind`] knows the kinds.

pub(super) mod btc;
pub(super) mod esplora;
pub(super) mod ord;
mod others;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::schema::{
    about, any_of, anything, boolean, component, integer, list, map, natural, number, or_null, pattern, text,
};

/// One method by its full name.
pub(super) struct Method {
    pub(super) name: String,
    pub(super) summary: &'static str,
    pub(super) params: Vec<Param>,
    pub(super) result: Value,
}

impl Method {
    pub(super) fn family(&self) -> &str {
        self.name.split_once('_').map_or("", |(family, _)| family)
    }
}

pub(super) struct Param {
    pub(super) name: &'static str,
    pub(super) is_needed: bool,
    pub(super) schema: Value,
}

/// Names of the schemas that a kind may be.
static SCHEMA_NAMES: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| schemas().into_iter().chain(super::rest::schemas()).map(|(name, _)| name).collect());

pub(crate) type Row = (&'static str, &'static str, &'static str, &'static str);

/// All that is described.
pub(super) fn methods() -> Vec<Method> {
    let families: [(&str, &[Row]); 5] = [
        ("btc", &btc::METHODS),
        ("esplora", &esplora::METHODS),
        ("ord", &ord::METHODS),
        ("sandshrew", &others::SANDSHREW),
        ("sandshrew", &others::SCRIPTS),
    ];
    families.into_iter().flat_map(|(family, rows)| rows.iter().map(move |row| method(family, row))).collect()
}

fn method(family: &str, row: &Row) -> Method {
    let (name, summary, params, result) = *row;
    let params = params.split_whitespace().map(|param| {
        let (name, word) = param.split_once(':').unwrap_or((param, "any"));
        let (name, is_needed) = name.strip_suffix('?').map_or((name, true), |name| (name, false));
        let schema = kind(word).unwrap_or_else(anything);
        Param { name, is_needed, schema: if is_needed { schema } else { or_null(schema) } }
    });
    Method {
        name: format!("{family}_{name}"),
        summary,
        params: params.collect(),
        result: kind(result).unwrap_or_else(anything),
    }
}

/// The schema that a word of the tables stands for.
fn kind(word: &str) -> Option<Value> {
    if let Some(inner) = word.strip_suffix("[]") {
        return Some(list(kind(inner)?));
    }
    if let Some(inner) = word.strip_suffix("|null") {
        return Some(or_null(kind(inner)?));
    }
    if word.starts_with(|first: char| first.is_ascii_uppercase()) {
        let is_shared = SCHEMA_NAMES.contains(word);
        return is_shared.then(|| component(word));
    }
    Some(match word {
        "any" => anything(),
        "text" => text(),
        "boolean" => boolean(),
        "integer" => integer(),
        "natural" => natural(),
        // What is text on the way to a path.
        "index" | "height" => any_of(&[natural(), pattern("^[0-9]+$")]),
        "number" => number(),
        "hash" => component("Hash"),
        "hex" => about(pattern("^([0-9a-fA-F]{2})*$"), "Hexadecimal digits"),
        "bytes" => about(pattern("^(0x)?([0-9a-fA-F]{2})*$"), "Hexadecimal digits, 0x before them or not"),
        "address" => about(text(), "An address of this instance's network"),
        "list" => list(anything()),
        "object" => map(anything()),
        "objects" => list(map(anything())),
        _ => return None,
    })
}

/// Schemas that the tables name, beside those that REST has as well.
pub(super) fn schemas() -> Map<String, Value> {
    let all = [esplora::schemas(), ord::schemas(), others::schemas()].into_iter().flatten();
    all.map(|(name, schema)| (name.to_owned(), schema)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_tables_is_known_and_every_line_is_told_once() {
        let tables: [&[Row]; 5] =
            [&btc::METHODS, &esplora::METHODS, &ord::METHODS, &others::SANDSHREW, &others::SCRIPTS];
        for (name, summary, params, result) in tables.into_iter().flatten() {
            assert!(!summary.is_empty(), "{name}");
            assert!(kind(result).is_some(), "{name}: {result}");
            let optional: Vec<bool> = params.split_whitespace().map(|param| param.contains('?')).collect();
            assert!(optional.is_sorted(), "{name}: what may be left out stands last");
            for param in params.split_whitespace() {
                let (_, word) = param.split_once(':').unwrap_or_else(|| panic!("{name}: {param}"));
                assert!(kind(word).is_some(), "{name}: {param}");
            }
        }
        assert!(kind("nothing").is_none() && kind("Nothing").is_none());
    }
}
