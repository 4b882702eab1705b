//! Inscriptions, runes and BRC-20.

mod brc20;
mod brc20_token;
mod cbor;
mod content;
mod inscription;
mod inscriptions;
mod kind;
mod reveal;
mod rune;
mod runes;

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::SiteParts;
use crate::api::Call;
use crate::explorer::alkane::encoded;

/// The pages of this area.
pub(super) fn routes() -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer/inscriptions", get(inscriptions::page))
        .route("/explorer/inscription/{id}", get(inscription::page))
        .route("/explorer/content/{id}", get(content::serve))
        .route("/explorer/runes", get(runes::page))
        .route("/explorer/rune/{name}", get(rune::page))
        .route("/explorer/brc20", get(brc20::page))
        .route("/explorer/brc20/{ticker}", get(brc20_token::page))
}

/// Largest image that is rendered without smoothing, bytes: pixel art is smaller, photographs are larger.
const SMALL_BYTES_MAX: u64 = 10_000;

/// The query of a page.
type Query = axum::extract::Query<HashMap<String, String>>;

/// A natural number of a query; 0 if missing or invalid.
fn natural(query: &HashMap<String, String>, name: &str) -> u32 {
    query.get(name).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// An inscription id, `<txid>i<index>`, in small letters; `None` for any other text.
fn inscription_id(text: &str) -> Option<String> {
    let (txid, index) = text.split_at_checked(64)?;
    let index: u32 = index.strip_prefix(['i', 'I'])?.parse().ok()?;
    let is_hexadecimal = txid.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hexadecimal.then(|| format!("{}i{index}", txid.to_ascii_lowercase()))
}

/// The transaction that an outpoint, a satpoint or an inscription id begins with.
fn txid_of(text: &str) -> Option<&str> {
    let (txid, _) = text.split_at_checked(64)?;
    txid.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(txid)
}

/// Many calls of the main JSON-RPC as one.
fn together(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Call {
    let calls: Vec<_> = calls.into_iter().map(|(method, params)| json!([method, params])).collect();
    Call::rpc("sandshrew_multicall", Value::Array(calls))
}

/// The answer of one of them; without a result it failed.
#[derive(Deserialize)]
struct Outcome<T> {
    result: Option<T>,
}

/// A part of a whole in percent, to two places; empty where there is no whole.
fn share(part: u128, whole: u128) -> String {
    let (mut part, mut whole) = (part, whole);
    while part > u128::MAX / 10_000 {
        part >>= 1;
        whole >>= 1;
    }
    match (part * 10_000).checked_div(whole) {
        None => String::new(),
        Some(0) if part > 0 => "< 0.01 %".to_owned(),
        Some(points) => format!("{}.{:02} %", points / 100, points % 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inscription_ids_are_read_strictly() {
        let txid = "AB".repeat(32);
        assert_eq!(inscription_id(&format!("{txid}i0")), Some(format!("{}i0", "ab".repeat(32))));
        for wrong in ["", "i0", &txid, &format!("{txid}i"), &format!("{txid}i99999999999"), &format!("{txid}i0/../x")] {
            assert_eq!(inscription_id(wrong), None, "{wrong}");
        }
        assert_eq!(inscription_id(&format!("{}i0", "é".repeat(32))), None);
        assert_eq!(inscription_id(&"é".repeat(40)), None);
        assert_eq!(txid_of(&format!("{txid}:0:0")), Some(txid.as_str()));
        assert_eq!(txid_of(&"<".repeat(64)), None);
    }

    #[test]
    fn links_are_encoded() {
        assert_eq!(encoded("A•B/?\"<#%"), "A%E2%80%A2B%2F%3F%22%3C%23%25");
    }

    #[test]
    fn shares_of_any_size_are_computed() {
        for (part, whole, text) in [
            (1, 3, "33.33 %"),
            (0, 5, "0.00 %"),
            (1, u128::MAX, "< 0.01 %"),
            (u128::MAX, u128::MAX, "100.00 %"),
            (5, 0, ""),
            (u128::MAX, 1, ""),
        ] {
            assert_eq!(share(part, whole), text, "{part} of {whole}");
        }
    }
}
