//! Routes about the bitcoin price.

use serde_json::{Value, json};

use super::super::schema::{about, boolean, component, list, number, one_of, or_null, record, text};
use super::{Route, Verb, needed};

const TAG: &str = "Prices";

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let days = || {
        let sentence = "The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the \
                        last of each UTC day of 365";
        let schema = json!({ "enum": ["1", "7", "30", "365", 1, 7, 30, 365] });
        needed(&["days"], about(schema, sentence))
    };
    let query = || needed(&["days"], about(one_of(&["1", "7", "30", "365"]), "As in get-bitcoin-market-chart"));
    let usd = || record(&[("usd", about(number(), "US dollars for one bitcoin"))]);
    vec![
        post("get-bitcoin-price", "The newest bitcoin price").gives(told(vec![("bitcoin", usd())])),
        post("get-bitcoin-market-weekly", "The newest bitcoin price, and the highest and lowest of 52 weeks").gives(
            told(vec![("market_data", record(&[("current_price", usd()), ("high_52w", usd()), ("low_52w", usd())]))]),
        ),
        post("get-bitcoin-markets", "The market that the bitcoin price comes from").gives(list(told(vec![
            ("name", text()),
            ("base", json!({ "const": "BTC" })),
            ("target", json!({ "const": "USD" })),
            ("last", number()),
            (
                "volume",
                about(or_null(number()), "US dollars of 24 hours, estimated from the pool's fees; null when unknown"),
            ),
            ("converted_last", usd()),
            ("trust_score", about(one_of(&["green", "yellow"]), "yellow when the price is stale")),
        ]))),
        post("get-bitcoin-market-chart", "The bitcoin price over time").takes([days()]).gives(chart()),
        Route::new("market-chart", Verb::Get, TAG, "The bitcoin price over time")
            .takes([query()])
            .gives(chart())
            .without_tag(),
    ]
}

/// Members with those that every answer about the price has.
fn told(mut members: Vec<(&str, Value)>) -> Value {
    members.extend([
        ("source", about(text(), "Where the price comes from: the kind of the pool and its address")),
        ("timestamp", about(component("Time"), "Of the newest price")),
        ("stale", about(boolean(), "Whether the newest price is older than the operator wants")),
    ]);
    record(&members)
}

fn chart() -> Value {
    let pairs = |sentence: &str| {
        let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
        about(list(pair), sentence)
    };
    told(vec![
        ("prices", pairs("Unix milliseconds and US dollars for one bitcoin, ascending")),
        (
            "market_caps",
            pairs(
                "Price times the bitcoins issued by the subsidy schedule up to the newest indexed block at that time",
            ),
        ),
        ("total_volumes", pairs("US dollars of the 24 hours before; points whose volume is unknown are absent")),
    ])
}
