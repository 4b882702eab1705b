//! Charts and listings, read as those who list markets read them: by the fields that their documents name, in the order in which
//! they ask, and compared with what other surfaces say of the same chain.

mod coingecko;
mod dexscreener;
mod reorg;
mod udf;

use serde_json::Value;

use crate::support::dev::Dev;
use crate::support::http;

/// What a field must be.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    /// Text that is a decimal above or equal to 0.
    Decimal,
    Integer,
    Flag,
    List,
    Object,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Self::Decimal => value.as_str().is_some_and(is_decimal),
            Self::Integer => value.is_u64(),
            Self::Flag => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

fn is_decimal(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    digits(whole) && digits(fraction)
}

/// The record has all fields of the first list, may have those of the second one, and no other.
#[track_caller]
fn assert_fields(record: &Value, needed: &[(&str, Kind)], optional: &[(&str, Kind)]) {
    let members = record.as_object().unwrap_or_else(|| panic!("no object: {record}"));
    for (name, kind) in needed {
        let value = members.get(*name).unwrap_or_else(|| panic!("no {name} in {record}"));
        assert!(kind.fits(value), "{name} must be {kind:?}: {record}");
    }
    for (name, kind) in optional {
        assert!(members.get(*name).is_none_or(|value| kind.fits(value)), "{name} must be {kind:?}: {record}");
    }
    for name in members.keys() {
        let is_known = needed.iter().chain(optional).any(|(known, _)| known == name);
        assert!(is_known, "{name} is not documented: {record}");
    }
}

/// Base units of a decimal text of whole alkanes.
#[track_caller]
fn units(value: &Value) -> u128 {
    let text = value.as_str().unwrap_or_else(|| panic!("no text: {value}"));
    assert!(is_decimal(text), "{text}");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    assert!(fraction.len() <= 8, "{text}");
    format!("{whole}{fraction:0<8}").parse().unwrap()
}

#[track_caller]
fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

/// The answer of a path below the key.
#[track_caller]
fn get(dev: &Dev, path: &str) -> Value {
    let answer = http::get(dev.listen(), &format!("{}/{path}", dev.path()));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    answer.json()
}

/// The status and the body of a refusal.
#[track_caller]
fn refused(dev: &Dev, path: &str) -> (u16, Value) {
    let answer = http::get(dev.listen(), &format!("{}/{path}", dev.path()));
    assert!((400..500).contains(&answer.status), "{path}: {}", answer.text());
    (answer.status, answer.json())
}

/// All that happened on markets of factories and was kept, the oldest first.
fn history(dev: &Dev) -> Vec<Value> {
    let mut rows = Vec::new();
    loop {
        let page = dev.post("get-all-amm-tx-history", serde_json::json!({ "limit": 500, "offset": rows.len() }));
        rows.extend(list(&page["transactions"]).iter().cloned());
        if rows.len() as u64 >= page["total"].as_u64().unwrap() {
            rows.reverse();
            return rows;
        }
    }
}
