//! What moves by itself in `paraffin dev`: unconfirmed transactions with replacements and blocks, rates, and orders.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::dev::Dev;
use crate::support::http;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// The stream of the live set.
struct Stream(WebSocket<TcpStream>);

impl Stream {
    /// Connects and subscribes to everything after `since`.
    fn of(dev: &Dev, since: u64) -> Self {
        let mut stream = TcpStream::connect(dev.listen()).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let request = format!(
            "GET {}/mempool/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            dev.path()
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "));
        let mut socket = WebSocket::from_raw_socket(stream, Role::Client, None);
        socket.send(Message::text(json!({"op": "subscribe", "since_seq": since}).to_string())).unwrap();
        Self(socket)
    }

    /// Hears frames until `enough`, at most for a minute.
    fn hear(&mut self, what: &str, mut enough: impl FnMut(&Value) -> bool) {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    if enough(&serde_json::from_str(&text).unwrap()) {
                        return;
                    }
                }
                Ok(_) => {}
                Err(tokio_tungstenite::tungstenite::Error::Io(error))
                    if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
}

/// Kinds of frames, removals by their reason.
fn kind(frame: &Value) -> String {
    match frame["reason"].as_str().filter(|_| frame["type"] == "remove") {
        Some(reason) => reason.to_owned(),
        None => frame["type"].as_str().unwrap().to_owned(),
    }
}

fn ask(dev: &Dev, surface: &str, method: &str, params: Value) -> Value {
    http::result(dev.listen(), &format!("{}/{surface}", dev.path()), method, params)
}

/// The durable stream of the orderbook.
fn events(dev: &Dev) -> Vec<Value> {
    let response = http::get(dev.listen(), &format!("{}/orderbook/events?limit=10000", dev.path())).json();
    response["events"].as_array().unwrap_or_else(|| panic!("{response}")).clone()
}

/// With blocks at an interval the set moves between them: a subscriber hears of new transactions, of families that are
/// replaced, and of blocks that take others in.
#[test]
fn a_subscriber_hears_additions_replacements_and_blocks() {
    let dev = Dev::start_with(&["--blocks", "120", "--interval", "3"]);
    let mut stream = Stream::of(&dev, 0);
    let mut heard: BTreeMap<String, u64> = BTreeMap::new();
    let orders = events(&dev).len();
    let (mut set, mut at) = (BTreeSet::new(), 0);
    stream.hear("additions, replacements, removals by blocks and blocks", |frame| {
        *heard.entry(kind(frame)).or_default() += 1;
        if matches!(frame["type"].as_str(), Some("add" | "remove" | "update" | "block")) {
            assert_eq!(frame["seq"], at + 1, "{frame}");
            at += 1;
        }
        let txid = || frame["txid"].as_str().unwrap().to_owned();
        match frame["type"].as_str().unwrap() {
            "add" => assert!(set.insert(txid()), "{frame}"),
            "remove" => assert!(set.remove(&txid()), "{frame}"),
            "block" => {
                let sum = set.iter().fold(0, |sum, txid: &String| sum ^ u64::from_str_radix(&txid[..16], 16).unwrap());
                assert_eq!(frame["checksum"], format!("{sum:016x}"));
            }
            _ => {}
        }
        let enough = [("add", 15), ("replaced", 3), ("mined", 5), ("block", 3)];
        enough.iter().all(|(kind, count)| heard.get(*kind).is_some_and(|heard| heard >= count))
    });
    assert!(events(&dev).len() > orders, "orders go on as well");
}

/// Without an interval nothing happens by itself, and a replaced family is there all the same, and is reported on each
/// request; the same one every time, on the same chain.
#[test]
fn a_quiet_network_has_a_replaced_family_that_follows_from_the_seed() {
    let run = || {
        let dev = Dev::start_with(&["--blocks", "120", "--seed", "7"]);
        let (mut added, mut replaced) = (0, 0);
        Stream::of(&dev, 0).hear("a replaced family", |frame| {
            added += u64::from(frame["type"] == "add");
            replaced += u64::from(kind(frame) == "replaced");
            added >= 9 && replaced >= 3
        });
        let mut txids: Vec<Value> =
            ask(&dev, "mempool", "mempool_txids", json!({}))["txids"].as_array().unwrap().clone();
        txids.sort_by_key(ToString::to_string);
        let entry = ask(&dev, "mempool", "mempool_entry", json!({"txid": txids[0]}));
        assert_eq!((&entry["rbf"], &entry["origin"]), (&json!(true), &json!("p2p")));
        // The first block takes all of it.
        dev.mine(1);
        assert_eq!(dev.call("esplora_mempool", json!([]))["count"], 0);
        (dev.text("/tip_hash").to_owned(), txids)
    };
    let (tip, txids) = run();
    assert_eq!(txids.len(), 6, "{txids:?}");
    assert_eq!(run(), (tip, txids));
}

/// Orders are open, on their way, filled, expired and cancelled from the beginning; rates come from the feed file.
#[test]
fn rates_and_orders_are_there_from_the_beginning() {
    let dev = Dev::start_with(&["--blocks", "120"]);
    let status = ask(&dev, "forex", "forex_status", json!({}));
    let source = &status["sources"][0];
    assert_eq!((&source["name"], &source["kind"], &status["stale"]), (&json!("dev"), &json!("file"), &json!(false)));
    assert_eq!(status["available"].as_array().unwrap().len(), 20, "{status}");
    assert!(status["age_seconds"].as_u64().unwrap() < 600, "{status}");
    let converted = ask(&dev, "forex", "forex_convert", json!({"from": "EUR", "to": "USD", "amount": "10"}));
    assert!(converted["result"].as_str().unwrap().starts_with("11."), "{converted}");
    let events = events(&dev);
    let status = |event: &Value| event["event"]["after"]["status"].as_str().map(ToOwned::to_owned);
    let statuses: BTreeSet<String> = events.iter().filter_map(status).collect();
    for expected in ["open", "matched", "pending", "filled", "expired", "cancelled"] {
        assert!(statuses.contains(expected), "{expected}: {statuses:?}");
    }
    let (source, id) = (dev.text("/samples/order/source"), dev.text("/samples/order/id"));
    let order = http::get(dev.listen(), &format!("{}/orderbook/order/{source}/{id}", dev.path())).json();
    assert_eq!(order["status"], "open", "{order}");
    // Nothing happens by itself.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(self::events(&dev).len(), events.len());
}
