//! Events as databases send them, shared by the tests.
#![allow(dead_code, clippy::unwrap_used)] // every test takes its part; a failed `unwrap` fails the test

use paraffin_orderbook::{Effect, Limits, MarketBook, Tables};
use serde_json::{Value, json};

pub(crate) const NOW: u64 = 1_784_592_000_000_000;

pub(crate) fn tables() -> Tables {
    Tables::on("mainnet")
}

/// A listing in a state at a position.
pub(crate) fn listing(id: &str, status: &str, price: u64, lsn: u64) -> Value {
    json!({
        "op": "u",
        "source": { "table": "orbital_listings", "lsn": lsn },
        "before": null,
        "after": {
            "id": id, "network": "mainnet", "module": "fire-pos", "collection": "2:100", "token_id": "2:107",
            "amount": "1", "price": price.to_string(), "status": status, "updated_at": NOW + lsn,
        },
    })
}

pub(crate) fn deletion(id: &str, lsn: u64) -> Value {
    json!({ "op": "d", "source": { "table": "orbital_listings", "lsn": lsn }, "before": { "id": id }, "after": null })
}

/// Effects of events.
pub(crate) fn effects(events: &Value) -> Vec<Effect> {
    let body = events.to_string();
    let events = paraffin_orderbook::read(body.as_bytes(), &tables(), NOW).unwrap();
    events.into_iter().map(|event| event.effect).collect()
}

pub(crate) fn book(events: &Value) -> MarketBook {
    let mut book = MarketBook::new(Limits::default());
    apply_events(&mut book, events);
    book
}

/// Applies events to a book.
pub(crate) fn apply_events(book: &mut MarketBook, events: &Value) {
    for effect in effects(events) {
        book.apply(effect);
    }
}

/// One order as its readers see it.
pub(crate) fn envelope(book: &MarketBook, source: &str, id: &str) -> Value {
    serde_json::from_slice(book.order(source, id).unwrap().text()).unwrap()
}

/// CRC-32 over the orders of a market as a client computes it from their envelopes.
pub(crate) fn checksum(book: &MarketBook, market: &str) -> u32 {
    let mut orders: Vec<Value> =
        book.snapshot(market).orders.iter().map(|order| serde_json::from_slice(order.text()).unwrap()).collect();
    orders.sort_by_key(|order| order["id"].as_str().unwrap().to_owned());
    let word = |order: &Value, name: &str| order[name].as_str().unwrap_or_default().to_owned();
    let lines: Vec<String> = orders
        .iter()
        .map(|order| {
            format!(
                "{} {} {}
",
                word(order, "id"),
                word(order, "status"),
                word(order, "price")
            )
        })
        .collect();
    crc32fast::hash(lines.concat().as_bytes())
}

/// xorshift64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}
