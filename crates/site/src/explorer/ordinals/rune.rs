//! A rune: its supply, its terms of minting and its etching.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{inscription_id, share, txid_of};
use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, moment};

/// Most decimals that a rune has.
const DIVISIBILITY_MAX: u32 = 38;
/// Longest accepted name, bytes: 28 letters with bullets between.
const NAME_BYTES_MAX: usize = 128;

/// A rune as the API has it. Amounts are in its smallest unit.
#[derive(Deserialize)]
pub(super) struct Entry {
    block: u64,
    burned: u128,
    divisibility: u32,
    etching: String,
    pub(super) mints: u128,
    number: u64,
    premine: u128,
    pub(super) spaced_rune: String,
    symbol: Option<String>,
    terms: Option<Terms>,
    pub(super) timestamp: i64,
    turbo: bool,
}

#[derive(Deserialize)]
struct Terms {
    amount: Option<u128>,
    cap: Option<u128>,
    height: (Option<u64>, Option<u64>),
    offset: (Option<u64>, Option<u64>),
}

impl Entry {
    /// Premined and minted units; `None` on overflow.
    pub(super) fn supply(&self) -> Option<u128> {
        let each = self.terms.as_ref().and_then(|terms| terms.amount).unwrap_or(0);
        self.premine.checked_add(self.mints.checked_mul(each)?)
    }

    /// An amount of it.
    pub(super) fn amount(&self, units: u128) -> String {
        text::amount(units, self.divisibility.min(DIVISIBILITY_MAX))
    }

    /// Its currency symbol, or the default one.
    pub(super) fn symbol(&self) -> String {
        let symbol = text::clean(self.symbol.as_deref().unwrap_or_default(), 2);
        if symbol.trim().is_empty() { "¤".to_owned() } else { symbol }
    }

    /// Share of its mints that is used; empty if it cannot be minted.
    pub(super) fn progress(&self) -> String {
        self.terms.as_ref().map(|terms| share(self.mints, terms.cap.unwrap_or(0))).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Rune {
    entry: Entry,
    id: String,
    mintable: bool,
    parent: Option<String>,
}

#[derive(Template)]
#[template(path = "explorer/rune.html")]
struct RunePage {
    view: View,
    name: String,
    symbol: String,
    id: String,
    number: u64,
    supply: String,
    circulating: String,
    burned: String,
    premine: String,
    premine_share: String,
    divisibility: u32,
    turbo: bool,
    block: u64,
    age: String,
    moment: String,
    etching: String,
    parent: String,
    mintable: bool,
    terms: Option<TermsShown>,
}

struct TermsShown {
    amount: String,
    mints: String,
    cap: String,
    left: String,
    progress: String,
    /// When it opens and closes, a sentence; empty for always.
    from: String,
    until: String,
}

/// The page.
pub(crate) async fn page(reader: Reader, Path(named): Path<String>) -> Result<Response, Failure> {
    if named.len() > NAME_BYTES_MAX {
        return Err(Failure::NotThere("No rune has a name as long as this.".to_owned()));
    }
    let name = named.trim().replace('.', "•").to_uppercase();
    let rune: Rune = reader.ask(Call::rpc("ord_rune", json!([name]))).await?;
    let entry = &rune.entry;
    let supply = entry.supply();
    let circulating = supply.and_then(|supply| supply.checked_sub(entry.burned));
    let amount_or = |units: Option<u128>| units.map_or_else(|| "—".to_owned(), |units| entry.amount(units));
    let page = RunePage {
        name: text::clean(&entry.spaced_rune, 60),
        symbol: entry.symbol(),
        id: text::clean(&rune.id, 30),
        number: entry.number,
        supply: amount_or(supply),
        circulating: amount_or(circulating),
        burned: entry.amount(entry.burned),
        premine: entry.amount(entry.premine),
        premine_share: share(entry.premine, supply.unwrap_or(0)),
        divisibility: entry.divisibility,
        turbo: entry.turbo,
        block: entry.block,
        age: reader.age(entry.timestamp),
        moment: moment(entry.timestamp.saturating_mul(1_000)),
        // The first runes of a network may have no etching: its id is all zeros.
        etching: txid_of(&entry.etching)
            .filter(|txid| txid.bytes().any(|digit| digit != b'0'))
            .unwrap_or_default()
            .to_owned(),
        parent: rune.parent.as_deref().and_then(inscription_id).unwrap_or_default(),
        mintable: rune.mintable,
        terms: entry.terms.as_ref().map(|terms| terms_shown(entry, terms)),
        view: reader.view("runes"),
    };
    Ok(Page(page).into_response())
}

fn terms_shown(entry: &Entry, terms: &Terms) -> TermsShown {
    // Each of both windows is open from its start to before its end; minting is within both.
    let after_etching = |offset: Option<u64>| offset.map(|offset| entry.block.saturating_add(offset));
    let ends = [terms.height.1, after_etching(terms.offset.1)].into_iter().flatten().min();
    let starts = [terms.height.0, after_etching(terms.offset.0)].into_iter().flatten().max();
    let cap = terms.cap.unwrap_or(0);
    TermsShown {
        amount: entry.amount(terms.amount.unwrap_or(0)),
        mints: text::amount(entry.mints, 0),
        cap: text::amount(cap, 0),
        left: text::amount(cap.saturating_sub(entry.mints), 0),
        progress: entry.progress(),
        from: starts.map(|height| height.to_string()).unwrap_or_default(),
        until: ends.map(|height| height.to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn entry(changes: &Value) -> Entry {
        let mut whole = json!({
            "block": 100, "burned": 0, "divisibility": 2, "etching": "ab", "mints": 3, "number": 0, "premine": 500,
            "spaced_rune": "A•B", "symbol": null, "timestamp": 0, "turbo": false,
            "terms": { "amount": 100, "cap": 10, "height": [null, 400], "offset": [5, 200] }
        });
        for (name, value) in changes.as_object().unwrap() {
            whole[name] = value.clone();
        }
        serde_json::from_str(&whole.to_string()).unwrap()
    }

    #[test]
    fn supply_is_premined_and_minted_units() {
        let plain = entry(&json!({}));
        assert_eq!(plain.supply().map(|units| plain.amount(units)), Some("8".to_owned()));
        assert_eq!(plain.symbol(), "¤");
        assert_eq!(plain.progress(), "30.00 %");
        let fixed = entry(&json!({ "terms": null, "symbol": "\u{202e}x" }));
        assert_eq!((fixed.supply(), fixed.progress(), fixed.symbol()), (Some(500), String::new(), "x".to_owned()));
    }

    #[test]
    fn amounts_of_any_size_are_shown() {
        let text = r#"{"block":1,"burned":340282366920938463463374607431768211455,"divisibility":255,"etching":"","mints":2,
            "number":0,"premine":340282366920938463463374607431768211455,"spaced_rune":"A","symbol":"x","timestamp":-1,
            "turbo":true,"terms":{"amount":340282366920938463463374607431768211455,"cap":null,"height":[null,null],
            "offset":[null,18446744073709551615]}}"#;
        let huge: Entry = serde_json::from_str(text).unwrap();
        assert_eq!((huge.supply(), huge.progress()), (None, String::new()));
        assert!(huge.amount(u128::MAX).starts_with("3.4028"));
        assert_eq!(terms_shown(&huge, huge.terms.as_ref().unwrap()).until, u64::MAX.to_string());
    }

    #[test]
    fn minting_is_open_within_both_windows() {
        let one = entry(&json!({}));
        let shown = terms_shown(&one, one.terms.as_ref().unwrap());
        assert_eq!((shown.from.as_str(), shown.until.as_str()), ("105", "300"));
        assert_eq!((shown.left.as_str(), shown.cap.as_str()), ("7", "10"));
    }
}
