use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use paraffin_access::{KeySelector, KeyStore as _};
use paraffin_orderbook::Limits;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{BOOK, FIRE, OrderbookFixture, checksum, listing};
use crate::stream::Stream;

async fn open(fixture: &OrderbookFixture) -> Stream {
    Stream::open(fixture.instance.address, &fixture.instance.keyed("/orderbook/ws")).await.unwrap()
}

async fn subscribe(stream: &mut Stream, market: &str) -> Value {
    stream.say(&json!({ "action": "subscribe", "market": market })).await;
    let snapshot = stream.next().await.unwrap();
    assert_eq!((&snapshot["type"], &snapshot["market"]), (&json!("snapshot"), &json!(market)));
    snapshot
}

#[tokio::test]
async fn a_subscriber_gets_a_snapshot_and_then_the_changes() {
    let fixture = OrderbookFixture::start().await;
    fixture.ingest(&json!([listing("clx1", "open", 7, 1), listing("clx2", "matched", 8, 2)])).await;
    let mut stream = open(&fixture).await;
    stream.silent().await;
    let snapshot = subscribe(&mut stream, FIRE).await;
    let orders = snapshot["orders"].as_array().unwrap();
    assert_eq!((orders.len(), &snapshot["seq"], &snapshot["checksum"]), (2, &json!(2), &json!(checksum(orders))));
    fixture
        .ingest(&json!([listing("clx1", "open", 9, 3), listing("clx2", "filled", 8, 4), listing("clx1", "open", 7, 1)]))
        .await;
    let changed = stream.next().await.unwrap();
    let order = fixture.get("/order/orbitals/clx1").await.json();
    assert_eq!(
        changed,
        json!({
            "type": "order", "op": "upsert", "seq": 3, "market": FIRE,
            "checksum": checksum([&order, &orders[1]]), "order": order,
        })
    );
    assert_eq!(
        stream.next().await.unwrap(),
        json!({
            "type": "order", "op": "remove", "seq": 4, "market": FIRE, "checksum": checksum([&order]),
            "source": "orbitals", "id": "clx2", "marketKey": FIRE, "status": "filled",
        })
    );
    // Another module is another market; the order leaves this one.
    let mut moved = listing("clx1", "open", 9, 5);
    moved["after"]["module"] = "ember".into();
    fixture.ingest(&moved).await;
    let left = stream.next().await.unwrap();
    assert_eq!((&left["op"], &left["checksum"]), (&json!("remove"), &json!("00000000")));
    stream.say(&json!({ "action": "unsubscribe", "market": FIRE })).await;
    stream.say(&json!({ "action": "ping" })).await;
    assert_eq!(stream.next().await.unwrap(), json!({ "type": "pong", "seq": 5 }));
    fixture.ingest(&listing("clx3", "open", 9, 6)).await;
    stream.silent().await;
    assert_eq!(fixture.orderbook.subscribers(), 1);
}

#[tokio::test]
async fn a_reconnecting_client_gets_missed_changes_of_each_market_once() {
    let fixture = OrderbookFixture::with(Limits { changes_max: 6, ..Limits::default() }).await;
    let mut stream = open(&fixture).await;
    let first = subscribe(&mut stream, BOOK).await;
    assert_eq!(first["seq"], 0);
    for number in 1..=3 {
        fixture.ingest(&listing(&format!("clx{number}"), "open", number, number)).await;
    }
    for seq in 1..=3 {
        assert_eq!(stream.next().await.unwrap()["seq"], seq);
    }
    drop(stream);
    fixture.ingest(&listing("clx4", "open", 4, 4)).await;
    let mut stream = open(&fixture).await;
    // A second market is joined later, with a position of its own.
    stream.say(&json!({ "action": "subscribe", "market": BOOK, "since_seq": 3 })).await;
    assert_eq!(stream.next().await.unwrap(), json!({ "type": "resumed", "seq": 3, "market": BOOK }));
    let missed = stream.next().await.unwrap();
    assert_eq!((&missed["seq"], &missed["market"]), (&json!(4), &json!(BOOK)));
    stream.say(&json!({ "action": "subscribe", "market": FIRE, "since_seq": 2 })).await;
    assert_eq!(stream.next().await.unwrap()["type"], "resumed");
    for seq in 3..=4 {
        let reported = stream.next().await.unwrap();
        assert_eq!((&reported["seq"], &reported["market"]), (&json!(seq), &json!(FIRE)));
    }
    fixture.ingest(&listing("clx5", "open", 5, 5)).await;
    let reported = [stream.next().await.unwrap(), stream.next().await.unwrap()];
    assert_eq!(reported.each_ref().map(|one| one["seq"].as_u64()), [Some(5); 2]);
    assert_ne!(reported[0]["market"], reported[1]["market"]);
    stream.silent().await;
    // A position that is no longer available, or never was, gets a snapshot.
    for number in 6..=9 {
        fixture.ingest(&listing(&format!("clx{number}"), "open", number, number)).await;
    }
    for (place, since) in [2, 999].into_iter().enumerate() {
        let mut stream = open(&fixture).await;
        stream.say(&json!({ "action": "subscribe", "market": BOOK, "since_seq": since })).await;
        let snapshot = stream.next().await.unwrap();
        assert_eq!((&snapshot["type"], &snapshot["seq"]), (&json!("snapshot"), &json!(9 + place)));
        fixture.ingest(&listing("clx1", "open", 1_000 + since, 10 + since)).await;
        assert_eq!(stream.next().await.unwrap()["seq"], 10 + place);
    }
}

/// A mirror of one market that is built from the stream alone.
#[derive(Default)]
struct Mirror(BTreeMap<String, Value>);

impl Mirror {
    fn take(&mut self, reported: &Value) {
        match (reported["type"].as_str().unwrap(), reported["op"].as_str()) {
            ("snapshot", _) => {
                let orders = reported["orders"].as_array().unwrap().iter();
                self.0 = orders.map(|order| (order["id"].as_str().unwrap().to_owned(), order.clone())).collect();
            }
            ("order", Some("upsert")) => {
                self.0.insert(reported["order"]["id"].as_str().unwrap().to_owned(), reported["order"].clone());
            }
            ("order", Some("remove")) => {
                self.0.remove(reported["id"].as_str().unwrap());
            }
            _ => return,
        }
        assert_eq!(reported["checksum"], checksum(self.0.values()), "{reported}");
    }
}

#[tokio::test]
async fn a_client_that_reads_late_gets_a_new_snapshot_and_converges() {
    let fixture = OrderbookFixture::with(Limits { changes_max: 50, ..Limits::default() }).await;
    let mut stream = open(&fixture).await;
    let mut mirror = Mirror::default();
    mirror.take(&subscribe(&mut stream, BOOK).await);
    let filler = "x".repeat(20_000);
    let mut position = 0;
    // Far more than fits between the two of them.
    for round in 0..20_u64 {
        let events: Vec<Value> = (0..50)
            .map(|one| {
                position += 1;
                let status = ["open", "open", "filled", "pending"][(position % 4) as usize];
                let mut event = listing(&format!("clx{}", (one * 7 + round) % 60), status, position, position);
                event["after"]["filler"] = filler.as_str().into();
                event
            })
            .collect();
        fixture.ingest(&Value::Array(events)).await;
    }
    let newest = fixture.orderbook.read(paraffin_orderbook::MarketBook::newest);
    let mut snapshots = 0;
    loop {
        let reported = stream.next().await.unwrap();
        mirror.take(&reported);
        snapshots += u32::from(reported["type"] == "snapshot");
        if reported["seq"].as_u64().unwrap() >= newest {
            break;
        }
    }
    assert!(snapshots > 0);
    let expected = fixture.get(&format!("/snapshot?market={BOOK}")).await.json();
    assert_eq!(
        expected["orders"].as_array().unwrap().iter().collect::<Vec<_>>(),
        mirror.0.values().collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_client_that_never_reads_does_not_block_others() {
    let fixture = OrderbookFixture::start().await;
    let filler = "x".repeat(50_000);
    let mut deaf = open(&fixture).await;
    deaf.say(&json!({ "action": "subscribe", "market": BOOK })).await;
    let mut other = open(&fixture).await;
    subscribe(&mut other, BOOK).await;
    let started = Instant::now();
    for number in 1..=400_u64 {
        let mut event = listing("clx1", "open", number, number);
        event["after"]["filler"] = filler.as_str().into();
        fixture.ingest(&event).await;
        assert_eq!(other.next().await.unwrap()["seq"], number);
    }
    assert!(started.elapsed() < Duration::from_secs(60));
    drop(deaf);
}

#[tokio::test]
async fn a_market_larger_than_what_may_wait_is_one_message() {
    let fixture = OrderbookFixture::start().await;
    let filler = "x".repeat(100_000);
    for number in 1..=60_u64 {
        let mut event = listing(&format!("clx{number:02}"), "open", number, number);
        event["after"]["filler"] = filler.as_str().into();
        fixture.ingest(&event).await;
    }
    let mut stream = open(&fixture).await;
    let snapshot = subscribe(&mut stream, BOOK).await;
    let orders = snapshot["orders"].as_array().unwrap();
    assert_eq!((orders.len(), &snapshot["checksum"]), (60, &json!(checksum(orders))));
    assert_eq!(&snapshot, &{
        let mut rest = fixture.get(&format!("/snapshot?market={BOOK}")).await.json();
        rest["type"] = "snapshot".into();
        rest
    });
}

#[tokio::test]
async fn unknown_commands_get_an_error_and_the_stream_goes_on() {
    let fixture = OrderbookFixture::start().await;
    let mut stream = open(&fixture).await;
    for (message, code) in [
        (json!({ "action": "fly" }), "UNKNOWN_ACTION"),
        (json!({ "action": "subscribe" }), "INVALID_MARKET"),
        (json!({ "action": "subscribe", "market": "orbitals" }), "INVALID_MARKET"),
        (json!({ "action": "unsubscribe", "market": "a:b:c:" }), "INVALID_MARKET"),
        (json!({ "action": "subscribe", "market": 5 }), "MALFORMED_MESSAGE"),
        (json!({ "action": "subscribe", "market": BOOK, "since_seq": -1 }), "MALFORMED_MESSAGE"),
        (json!([]), "MALFORMED_MESSAGE"),
        (json!({}), "MALFORMED_MESSAGE"),
    ] {
        stream.say(&message).await;
        let error = stream.next().await.unwrap();
        assert_eq!(
            (&error["type"], &error["code"], &error["seq"]),
            (&json!("error"), &json!(code), &json!(0)),
            "{message}"
        );
    }
    stream.send(Message::text("{not json")).await;
    assert_eq!(stream.next().await.unwrap()["code"], "MALFORMED_MESSAGE");
    for number in 0..256 {
        subscribe(&mut stream, &format!("orbitals:mainnet:module:{number}")).await;
    }
    stream.say(&json!({ "action": "subscribe", "market": BOOK })).await;
    assert_eq!(stream.next().await.unwrap()["code"], "TOO_MANY_MARKETS");
    subscribe(&mut stream, "orbitals:mainnet:module:7").await;
    let plain = fixture.get("/ws").await;
    assert_eq!((plain.status, plain.json()["code"].as_str()), (426, Some("UPGRADE_REQUIRED")));
    fixture.instance.keys.revoke(KeySelector::Id(fixture.instance.key.record.id), "test", 0).await.unwrap();
    assert_eq!(stream.next().await, Err(4001));
}
