//! Change events as a connector sends them: whatever is taken in is an order in well-formed JSON, and the book is the same in
//! whichever order the events come.

use paraffin_orderbook::{Effect, Limits, Market, MarketBook, Tables, read};
use serde_json::Value;

pub(crate) fn run(body: &[u8]) {
    let tables = Tables::on("regtest");
    let Ok(events) = read(body, &tables, 1_784_592_000_000_000) else { return };
    let effects: Vec<Effect> = events.into_iter().map(|event| event.effect).collect();
    let (mut forth, mut back) = (MarketBook::new(Limits::default()), MarketBook::new(Limits::default()));
    for effect in &effects {
        if let Effect::Order(order) = effect {
            let text: Value = serde_json::from_slice(order.text()).expect("the envelope is JSON");
            assert_eq!(
                (text["id"].as_str(), text["status"].as_str()),
                (Some(order.id()), Some(order.status().as_str()))
            );
            assert!(order.topics().contains(order.market_key()));
            assert!(order.topics().iter().all(|topic| Market::parse(topic).is_ok()));
        }
        forth.apply(effect.clone());
    }
    for effect in effects.iter().rev().chain(&effects) {
        back.apply(effect.clone());
    }
    assert_eq!((forth.active(), forth.markets()), (back.active(), back.markets()));
    for change in forth.after(0, usize::MAX).into_iter().flatten() {
        for part in &change.parts {
            let frame: Value = serde_json::from_slice(&change.text(part)).expect("a change is JSON");
            assert_eq!(frame["seq"].as_u64(), Some(change.seq));
            let (one, other) = (forth.snapshot(&part.market), back.snapshot(&part.market));
            assert_eq!((one.checksum, one.orders), (other.checksum, other.orders));
        }
    }
}
