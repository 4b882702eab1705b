//! The same events give the same book, in whichever order and however often they come.
#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

mod support;

use std::collections::{BTreeMap, HashMap};

use paraffin_orderbook::{Effect, Limits, MarketBook, Op};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Random, apply_events, book, deletion, effects, envelope, listing};

const BOOK: &str = "orbitals:mainnet:book:*";

/// A history of `len` events over `keys` orders: every event has a position of its own.
fn history(len: u64, keys: u64, random: &mut Random) -> Vec<Value> {
    let states = ["open", "open", "open", "matched", "pending", "filled", "taken", "cancelled", "expired"];
    (1..=len)
        .map(|lsn| {
            let id = format!("clx{}", random.below(keys));
            match random.below(20) {
                0 => deletion(&id, lsn),
                1 => {
                    let mut moved = listing(&id, "open", random.below(1_000), lsn);
                    moved["after"]["module"] = "other".into();
                    moved
                }
                _ => {
                    let status = states[random.below(states.len() as u64) as usize];
                    listing(&id, status, random.below(1_000), lsn)
                }
            }
        })
        .collect()
}

fn apply(effects: Vec<Effect>) -> MarketBook {
    let mut book = MarketBook::new(Limits::default());
    for effect in effects {
        book.apply(effect);
    }
    book
}

fn view(book: &MarketBook) -> Vec<(String, u32, Vec<bytes::Bytes>)> {
    let markets = [
        BOOK,
        "orbitals:mainnet:module:fire-pos",
        "orbitals:mainnet:module:other",
        "orbitals:mainnet:collection:2:100",
    ];
    let one = |market: &str| {
        let snapshot = book.snapshot(market);
        (market.to_owned(), snapshot.checksum, snapshot.orders.iter().map(|order| order.text().clone()).collect())
    };
    markets.into_iter().map(one).collect()
}

/// Shuffled, with every fifth event twice.
fn converge(events: u64, keys: u64, rounds: u64) {
    let mut random = Random(0x5eed_0bb0 + events);
    let history = history(events, keys, &mut random);
    let effects: Vec<Effect> = history.chunks(5_000).flat_map(|chunk| effects(&Value::Array(chunk.to_vec()))).collect();
    let expected = apply(effects.clone());
    assert!(expected.snapshot(BOOK).orders.len() > 10);
    for _ in 0..rounds {
        let mut mixed = effects.clone();
        for _ in 0..events / 5 {
            mixed.push(effects[random.below(events) as usize].clone());
        }
        random.shuffle(&mut mixed);
        let found = apply(mixed);
        assert_eq!(view(&found), view(&expected));
        assert_eq!((found.active(), found.markets()), (expected.active(), expected.markets()));
        for key in 0..keys {
            let id = format!("clx{key}");
            assert_eq!(found.order("orbitals", &id), expected.order("orbitals", &id));
        }
    }
    assert_eq!(expected.snapshot(BOOK).checksum, support::checksum(&expected, BOOK));
}

#[test]
fn twenty_thousand_shuffled_and_doubled_events_converge() {
    converge(20_000, 700, 2);
}

#[test]
#[ignore = "a long run: a million events"]
fn a_million_shuffled_and_doubled_events_converge() {
    converge(1_000_000, 60_000, 1);
}

#[test]
fn an_older_event_and_the_same_event_change_nothing() {
    let mut book = book(&json!([listing("clx1", "open", 5, 10)]));
    let newest = book.newest();
    for event in [listing("clx1", "open", 5, 10), listing("clx1", "filled", 9, 9), deletion("clx1", 3)] {
        apply_events(&mut book, &event);
        assert_eq!(book.newest(), newest);
    }
    apply_events(&mut book, &listing("clx1", "filled", 5, 11));
    assert_eq!((book.newest(), book.active()), (newest + 1, 0));
    apply_events(&mut book, &listing("clx1", "open", 5, 10));
    assert_eq!(book.active(), 0);
}

#[test]
fn a_truncation_removes_what_was_before_it_whenever_it_comes() {
    let truncation =
        json!({ "op": "t", "source": { "table": "orbital_listings", "lsn": 5 }, "before": null, "after": null });
    let events =
        [listing("clx1", "open", 1, 1), listing("clx2", "open", 1, 6), listing("clx3", "filled", 1, 2), truncation];
    let mut offer = listing("clx4", "open", 1, 1);
    offer["source"]["table"] = "orbital_offers".into();
    for turn in 0..events.len() {
        let mut events = events.to_vec();
        events.rotate_left(turn);
        events.push(offer.clone());
        let book = book(&Value::Array(events));
        let left: Vec<String> = book.snapshot(BOOK).orders.iter().map(|order| order.id().to_owned()).collect();
        assert_eq!(left, ["clx2", "clx4"]);
        assert_eq!(envelope(&book, "orbitals", "clx1")["status"], "removed");
        assert_eq!(envelope(&book, "orbitals", "clx3")["status"], "removed");
    }
}

#[test]
fn what_has_ended_long_ago_is_forgotten_but_does_not_come_back() {
    let limits = Limits { finished_max: 2, remembered_max: 3, ..Limits::default() };
    let mut book = MarketBook::new(limits);
    for number in 0..5 {
        apply_events(&mut book, &listing(&format!("clx{number}"), "filled", 1, 10 + number));
    }
    assert!(book.order("orbitals", "clx2").is_none() && book.order("orbitals", "clx4").is_some());
    for number in 0..5 {
        apply_events(&mut book, &listing(&format!("clx{number}"), "open", 1, 9));
    }
    assert_eq!(book.active(), 0);
    apply_events(&mut book, &listing("clx1", "open", 1, 99));
    assert_eq!(book.active(), 1);
}

/// A mirror that is built only from what subscribers are sent.
#[derive(Default)]
struct Mirror(BTreeMap<String, Value>);

impl Mirror {
    fn checksum(&self) -> String {
        let word = |order: &Value, name: &str| order[name].as_str().unwrap_or_default().to_owned();
        let lines =
            self.0.iter().map(|(id, order)| format!("{id} {} {}\n", word(order, "status"), word(order, "price")));
        format!("{:08x}", crc32fast::hash(lines.collect::<Vec<_>>().concat().as_bytes()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_book_is_the_newest_event_of_every_key_and_the_stream_tells_it(seed in 1_u64..u64::MAX, len in 1_u64..300, keys in 1_u64..20) {
        let mut random = Random(seed);
        let mut history = history(len, keys, &mut random);
        random.shuffle(&mut history);
        let mut book = MarketBook::new(Limits::default());
        // The plain model: of every key the event with the greatest position.
        let mut model: HashMap<String, (u64, Value)> = HashMap::new();
        let mut mirrors: HashMap<String, Mirror> = HashMap::new();
        for event in history {
            let lsn = event["source"]["lsn"].as_u64().unwrap();
            let mut row = event["after"].clone();
            if row.is_null() {
                row = json!({ "id": event["before"]["id"], "status": "removed" });
            }
            let id = row["id"].as_str().unwrap().to_owned();
            if model.get(&id).is_none_or(|(position, _)| lsn > *position) {
                model.insert(id, (lsn, row));
            }
            let before = book.newest();
            apply_events(&mut book, &event);
            for change in book.after(before, 10).unwrap() {
                for part in &change.parts {
                    let message: Value = serde_json::from_slice(&change.text(part)).unwrap();
                    let market = message["market"].as_str().unwrap().to_owned();
                    let mirror = mirrors.entry(market.clone()).or_default();
                    match part.op {
                        Op::Upsert => mirror.0.insert(message["order"]["id"].as_str().unwrap().to_owned(), message["order"].clone()),
                        Op::Remove => mirror.0.remove(message["id"].as_str().unwrap()),
                    };
                    prop_assert_eq!(message["checksum"].as_str().unwrap(), mirror.checksum());
                    prop_assert_eq!(message["seq"].as_u64(), Some(change.seq));
                }
            }
        }
        for (market, mirror) in &mirrors {
            let snapshot = book.snapshot(market);
            let orders: Vec<Value> = snapshot.orders.iter().map(|order| serde_json::from_slice(order.text()).unwrap()).collect();
            prop_assert_eq!(orders, mirror.0.values().cloned().collect::<Vec<_>>());
        }
        let is_active = |row: &Value| ["open", "matched", "pending"].contains(&row["status"].as_str().unwrap());
        let active = model.values().filter(|(_, row)| is_active(row)).count();
        prop_assert_eq!(active, book.active());
        prop_assert_eq!(active, book.markets().iter().map(|market| market.open_orders).sum::<usize>());
        for (id, (_, row)) in model {
            let order = envelope(&book, "orbitals", &id);
            prop_assert_eq!((&order["status"], order.get("price")), (&row["status"], row.get("price")));
        }
    }
}
