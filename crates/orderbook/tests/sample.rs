//! The invented orders of development.
#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

use std::collections::BTreeSet;

use paraffin_orderbook::sample::Sample;
use paraffin_orderbook::{Limits, MarketBook, Tables, read};

#[test]
fn invented_orders_reach_every_state_and_the_example_is_active() {
    let tables = Tables::on("regtest");
    let mut sample = Sample::new(1, "regtest", vec!["bcrt1pmaker".to_owned()]);
    assert_eq!(Sample::new(1, "regtest", vec!["bcrt1pmaker".to_owned()]).opening(), sample.opening());
    let mut sample = Sample::new(1, "regtest", vec!["bcrt1pmaker".to_owned()]);
    let mut book = MarketBook::new(Limits::default());
    let mut states = BTreeSet::new();
    let opening = sample.opening();
    let (source, id, market) = sample.example().unwrap();
    for number in 0..2_000_u64 {
        let text = if number == 0 { opening.clone() } else { sample.step(1_784_592_000_000_000 + number).to_string() };
        for event in read(text.as_bytes(), &tables, 0).unwrap() {
            if let paraffin_orderbook::Effect::Order(order) = &event.effect {
                states.insert(order.status().as_str());
            }
            book.apply(event.effect);
        }
        assert!(book.order(&source, &id).unwrap().status().is_active());
        assert!(book.snapshot(&market).orders.iter().any(|order| *order.id() == *id));
        assert!((20..200).contains(&book.active()), "{}", book.active());
    }
    assert_eq!(states.len(), 8, "{states:?}");
}
