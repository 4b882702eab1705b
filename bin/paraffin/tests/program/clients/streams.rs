//! The mirrors of the client over connections that are cut, servers that are killed and reorganisations: what they have in the end is what a
//! fresh read has.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use paraffin_client::{
    ChainEvent, Client, Error, EventContent, EventFilter, EventKind, EventStart, EventStream, MempoolEvent,
    MempoolMirror, OrderbookEvent, OrderbookMirror, mempool,
};
use serde_json::{Value, json};

use super::run;
use crate::support::http;
use crate::support::relay::Relay;
use crate::support::served::{Backend, Numbers, Served, address};

/// How long a mirror may need: pauses between connections grow while there is none.
const PATIENCE: Duration = Duration::from_secs(90);
const BOOK: &str = "orbitals:regtest:book:*";

fn port(address: &str) -> u16 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

fn client_at(port: u16, key: &str) -> Client {
    Client::new(&format!("http://127.0.0.1:{port}")).unwrap().with_key(key).unwrap()
}

/// What a program that applies events has: those of the chain as it is, in order.
#[derive(Default)]
struct Applied {
    events: Vec<(String, String)>,
    known: HashSet<String>,
    undone: usize,
    /// Whether it began behind the first block, so that it may have a part of a block alone, and be asked to take back what it never had.
    began_late: bool,
    cursor: String,
}

impl Applied {
    fn apply(&mut self, event: ChainEvent) {
        let ChainEvent { cursor, block_hash, content, text, .. } = event;
        match content {
            EventContent::BlockDisconnected {} => {
                let before = self.events.len();
                self.events.retain(|(hash, _)| *hash != block_hash);
                assert!(self.began_late || self.events.len() < before, "nothing of the block was handed out: {text}");
                self.known.clear();
                self.known.extend(self.events.iter().map(|(_, text)| text.clone()));
                self.undone += 1;
            }
            EventContent::Checkpoint { count } => {
                let of_block = self.events.iter().rev().take_while(|(hash, _)| *hash == block_hash).count();
                assert!(of_block as u64 == count || self.began_late && (of_block as u64) < count, "{of_block}: {text}");
            }
            _ => {
                assert!(self.known.insert(text.clone()), "handed out twice: {text}");
                self.events.push((block_hash, text));
            }
        }
        self.cursor = cursor;
    }

    fn follow_to(&mut self, events: &Receiver<Result<ChainEvent, Error>>, end: &str) {
        let begun = Instant::now();
        while self.cursor != end {
            let left = PATIENCE.checked_sub(begun.elapsed()).unwrap_or_else(|| panic!("{} is not {end}", self.cursor));
            self.apply(events.recv_timeout(left).unwrap().unwrap());
        }
    }
}

/// The events of a stream, read by a thread until it ends.
fn follow(mut stream: EventStream) -> Receiver<Result<ChainEvent, Error>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        run(async {
            loop {
                let next = stream.next().await;
                let is_over = next.is_err();
                if sender.send(next).is_err() || is_over {
                    return;
                }
            }
        });
    });
    receiver
}

fn end(served: &Served) -> String {
    let height = served.backend.height();
    format!("{height}-{}-9007199254740991", served.backend.hash(height))
}

#[test]
fn event_streams_over_cut_connections_kills_and_reorganisations_equal_a_fresh_replay() {
    let mut numbers = Numbers::new(0x0073_7472_6561_6d73);
    let mut served = Served::start(Backend::devnet());
    served.backend.mine(101, &served.scripts[0]);
    served.mine_traffic(&mut numbers, 5);
    served.wait_for_tip();
    let relay = Relay::start(port(&served.address));
    let filter = EventFilter {
        kinds: vec![EventKind::Block, EventKind::Address],
        addresses: served.scripts.iter().step_by(2).map(address).collect(),
        ..EventFilter::default()
    };
    let key = served.key.clone();
    let open = |port, start| follow(EventStream::open(&client_at(port, &key), filter.clone(), start).unwrap());
    let (events, from_tip) = (open(relay.port(), EventStart::Height(0)), open(relay.port(), EventStart::Tip));
    let (mut applied, mut newest) = (Applied::default(), Applied { began_late: true, ..Applied::default() });
    let tip = served.backend.height();
    // The tip is that of when it connects.
    applied.follow_to(&events, &end(&served));
    for step in 0..12 {
        match step % 4 {
            0 => relay.drop_connections(),
            1 => {
                relay.cut();
                served.reorganise(&mut numbers, 1 + step / 4);
                relay.restore();
            }
            2 => served.mine_traffic(&mut numbers, 2),
            _ => {
                served.reorganise(&mut numbers, 3);
                if step == 7 {
                    served.restart();
                }
            }
        }
        if numbers.below(2) == 0 {
            served.wait_for_tip();
            applied.follow_to(&events, &end(&served));
        }
    }
    served.wait_for_tip();
    let end = end(&served);
    applied.follow_to(&events, &end);
    newest.follow_to(&from_tip, &end);
    let mut fresh = Applied::default();
    fresh.follow_to(&open(port(&served.address), EventStart::Height(0)), &end);
    assert_eq!((fresh.undone, fresh.events.len() > 120), (0, true));
    assert!(applied.events == fresh.events, "the stream has other events than a replay");
    assert!(applied.undone > 5, "{}", applied.undone);
    assert!(newest.events.len() > 5 && fresh.events.ends_with(&newest.events), "after block {tip}");
    // From any cursor on.
    let start = serde_json::from_str::<Value>(&fresh.events[50].1).unwrap()["cursor"].as_str().unwrap().to_owned();
    let mut rest = Applied { began_late: true, ..Applied::default() };
    rest.follow_to(&open(relay.port(), EventStart::Cursor(start)), &end);
    assert!(rest.events == fresh.events[51..]);
}

#[test]
fn a_stream_ends_with_its_key_and_with_what_waiting_does_not_change() {
    let mut numbers = Numbers::new(3);
    let mut served = Served::start_with(Backend::devnet(), "undo_blocks = 20\n[ordinals]\nenabled = true\n");
    served.backend.mine(130, &served.scripts[0]);
    served.wait_for_tip();
    let refusal_of = |stream: EventStream| {
        let next = follow(stream).recv_timeout(Duration::from_secs(30)).unwrap();
        let Err(Error::Refused(refusal)) = next else { panic!("{next:?}") };
        (refusal.word.unwrap_or_default(), refusal.message)
    };
    let port = port(&served.address);
    let open = |key: &str, kinds: &[EventKind], start: EventStart| {
        let filter = EventFilter { kinds: kinds.to_vec(), ..EventFilter::default() };
        EventStream::open(&client_at(port, key), filter, start).unwrap()
    };
    let (word, message) = refusal_of(open(&served.key, &[EventKind::Rune], EventStart::Height(50)));
    assert_eq!(word, "HISTORY_NOT_KEPT", "{message}");
    assert!(message.contains("from_height="), "{message}");
    let (word, _) = refusal_of(open(&served.key, &[EventKind::Address], EventStart::Tip));
    assert_eq!(word, "INVALID_FILTER");
    let nowhere = format!("100-{}-5", "ab".repeat(32));
    assert_eq!(refusal_of(open(&served.key, &[], EventStart::Cursor(nowhere))).0, "UNKNOWN_CURSOR");
    let unknown = refusal_of(open(&"0".repeat(32), &[], EventStart::Tip));
    assert!(!unknown.1.is_empty(), "{unknown:?}");
    // The same over server-sent events, which are refused before they begin.
    let answer = http::get(&served.address, &served.keyed("/events?kinds=inscription&from_height=50"));
    assert_eq!((answer.status, &answer.json()["code"]), (410, &json!("HISTORY_NOT_KEPT")));
    // What is kept is followed.
    let kept = follow(open(&served.key, &[EventKind::Rune], EventStart::Height(served.backend.height())));
    assert!(matches!(kept.recv_timeout(PATIENCE).unwrap().unwrap().content, EventContent::Checkpoint { count: 0 }));

    let key = served.keys(&["create", "short", "--plan", "business"]);
    let events = follow(open(&key, &[EventKind::Block], EventStart::Height(120)));
    let mut applied = Applied::default();
    applied.follow_to(&events, &end(&served));
    served.mine_traffic(&mut numbers, 1);
    served.wait_for_tip();
    applied.follow_to(&events, &end(&served));
    served.keys(&["revoke", &key]);
    let revoked = events.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(
        matches!(&revoked, Err(Error::Refused(refusal)) if refusal.code == Some(4001) && refusal.word.as_deref() == Some("KEY_REVOKED")),
        "{revoked:?}"
    );
    // It cannot be opened again.
    assert_eq!(refusal_of(open(&key, &[], EventStart::Tip)).0, unknown.0);
}

fn listing(id: u64, lsn: u64, status: &str) -> Value {
    json!({
        "op": "c", "source": { "table": "orbital_listings", "lsn": lsn },
        "after": {
            "id": format!("order{id}"), "module": "fire-pos", "collection": "2:100", "token_id": "2:107", "price": lsn.to_string(),
            "status": status,
        },
    })
}

/// Waits until the instance's live set has as many transactions as the node's.
async fn live_set_equals_node(served: &Served, client: &Client) {
    let begun = Instant::now();
    loop {
        let of_node = http::call(&served.address, &served.keyed(""), "btc_getrawmempool", json!([]));
        let count = of_node["result"].as_array().map(|ids| ids.len() as u64);
        // A connection to the server that was killed may be used once more.
        let live = client.call(&mempool::MempoolInfo::new()).await.ok().map(|info| info.count);
        if count.is_some() && live == count {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{live:?} of {count:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn mirrors_of_the_order_book_and_of_the_mempool_go_on_over_cut_connections_and_kills() {
    let mut numbers = Numbers::new(5);
    let mut served = Served::start(Backend::devnet());
    served.backend.mine(101, &served.scripts[0]);
    served.mine_traffic(&mut numbers, 5);
    served.wait_for_tip();
    let relay = Relay::start(port(&served.address));
    let (client, direct) = (client_at(relay.port(), &served.key), client_at(port(&served.address), &served.key));
    let admin = served.keys(&["create", "admin", "--plan", "business", "--admin"]);
    let mut lsn = 0;
    let mut ingest = |served: &Served, count: u64| {
        let mut events = Vec::new();
        for _ in 0..count {
            lsn += 1;
            events.push(listing(
                numbers.below(40),
                lsn,
                ["open", "open", "pending", "filled"][numbers.below(4) as usize],
            ));
        }
        let answer = http::post(&served.address, &format!("/v4/{admin}/orderbook/ingest"), &Value::Array(events));
        assert_eq!(answer.status, 202, "{}", answer.text());
    };
    ingest(&served, 50);
    let newest = |served: &Served| {
        http::get(&served.address, &served.keyed(&format!("/orderbook/snapshot?market={BOOK}"))).json()
    };
    run(async {
        let mut mirror = OrderbookMirror::open(&client, BOOK).await.unwrap();
        let mut changes = 0;
        for step in 0..9 {
            match step % 3 {
                0 => relay.cut(),
                1 => relay.drop_connections(),
                _ => {}
            }
            ingest(&served, 20);
            if step == 5 {
                served.restart();
            }
            relay.restore();
            let snapshot = newest(&served);
            while mirror.checksum() != snapshot["checksum"] {
                let event = tokio::time::timeout(PATIENCE, mirror.next()).await.unwrap().unwrap();
                assert_ne!(event, OrderbookEvent::Resynced, "every change is known one by one");
                changes += 1;
            }
            assert_eq!(json!(mirror.orders().values().collect::<Vec<_>>()), snapshot["orders"]);
        }
        assert!(changes > 100 && !mirror.orders().is_empty(), "{changes}");
    });

    let mut numbers = Numbers::new(6);
    run(async {
        let mut mirror = MempoolMirror::open(&client).await.unwrap();
        let (mut resynced, mut blocks, mut added) = (0, 0, 0);
        for step in 0..5 {
            relay.cut();
            for _ in 0..3 {
                served.pay(&mut numbers);
            }
            // A payment that is in a block before the live set has it is never added.
            live_set_equals_node(&served, &direct).await;
            if step == 3 {
                served.restart();
            }
            served.backend.mine(1, &served.scripts[0]);
            served.wait_for_tip();
            served.pay(&mut numbers);
            live_set_equals_node(&served, &direct).await;
            relay.restore();
            let begun = Instant::now();
            loop {
                // A connection to the server that was killed may be used once more.
                let Ok(info) = direct.call(&mempool::MempoolInfo::new()).await else { continue };
                let is_equal = (mirror.checksum(), mirror.entries().len() as u64) == (info.checksum, info.count);
                // The live set may be asked before it has the block; both are equal then, too.
                if is_equal && info.count > 0 && blocks + resynced > step {
                    break;
                }
                assert!(begun.elapsed() < PATIENCE, "{} of {}", mirror.entries().len(), info.count);
                if let Ok(event) = tokio::time::timeout(Duration::from_secs(1), mirror.next()).await {
                    match event.unwrap() {
                        MempoolEvent::Resynced => resynced += 1,
                        MempoolEvent::Block { .. } => blocks += 1,
                        MempoolEvent::Added(_) => added += 1,
                        _ => {}
                    }
                }
            }
        }
        // A killed server has another set; a cut connection goes on where it was.
        assert!(resynced <= 1 && blocks >= 3 && added > 5, "{resynced} {blocks} {added}");
    });
}
