use std::time::Duration;

use paraffin_access::{KeySelector, KeyStore as _, NewKey, Plan};
use paraffin_mempool::Limits;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{add, instance, result, transaction};
use crate::instance::Instance;
use crate::stream::Stream;

async fn open(instance: &Instance) -> (Stream, Value) {
    let mut stream = Stream::open(instance.address, &instance.keyed("/mempool/ws")).await.unwrap();
    let hello = stream.next().await.unwrap();
    assert_eq!((&hello["type"], &hello["instance"]), (&json!("hello"), &json!("a3f1c07e")));
    (stream, hello)
}

fn numbers(frames: &[Value]) -> Vec<u64> {
    frames.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect()
}

async fn take(stream: &mut Stream, count: usize) -> Vec<Value> {
    let mut frames = Vec::new();
    for _ in 0..count {
        frames.push(stream.next().await.unwrap());
    }
    frames
}

/// row MP12
/// row MP14
/// row MP16
#[tokio::test]
async fn a_client_that_was_away_is_told_what_it_missed_once_and_in_order() {
    let (instance, mempool) = instance(Limits::default()).await;
    for coin in 1..=5 {
        add(&mempool, &transaction(coin, 500));
    }
    let (mut stream, hello) = open(&instance).await;
    assert_eq!((&hello["seq"], &hello["count"], &hello["replayed"]), (&json!(5), &json!(5), &json!(false)));
    // Nothing comes before it subscribes.
    add(&mempool, &transaction(6, 500));
    stream.silent().await;
    let recent = result(&instance, "mempool_recent", json!({"limit": 1})).await;
    add(&mempool, &transaction(7, 500));
    stream.say(&json!({"op": "subscribe", "since_seq": recent["seq"], "instance": "a3f1c07e"})).await;
    let resumed = stream.next().await.unwrap();
    assert_eq!((&resumed["type"], &resumed["replayed"]), (&json!("hello"), &json!(true)));
    add(&mempool, &transaction(8, 500));
    mempool.drop_unknown(&[transaction(1, 500).compute_txid()]);
    let frames = take(&mut stream, 3).await;
    assert_eq!(numbers(&frames), [7, 8, 9]);
    assert_eq!(
        (&frames[0]["type"], &frames[0]["fee"], &frames[0]["origin"]),
        (&json!("add"), &json!(500), &json!("p2p"))
    );
    let removed = json!({
        "type": "remove", "seq": 9, "txid": transaction(1, 500).compute_txid(),
        "vsize": transaction(1, 500).vsize(), "reason": "evicted",
    });
    assert_eq!(frames[2], removed);
    stream.say(&json!({"op": "ping"})).await;
    assert_eq!(stream.next().await.unwrap(), json!({"type": "pong", "seq": 9}));
    stream.say(&json!({"op": "unsubscribe", "channels": ["tx"]})).await;
    stream.say(&json!({"op": "ping"})).await;
    stream.next().await.unwrap();
    add(&mempool, &transaction(9, 500));
    stream.silent().await;
    assert_eq!(result(&instance, "mempool_info", json!({})).await["subscribers"], 1);
}

#[tokio::test]
async fn a_block_event_follows_its_removals_and_carries_the_checksum() {
    let (instance, mempool) = instance(Limits::default()).await;
    let [kept, mined] = [transaction(1, 500), transaction(2, 500)];
    add(&mempool, &kept);
    add(&mempool, &mined);
    let (mut stream, _) = open(&instance).await;
    let (mut blocks, _) = open(&instance).await;
    stream.say(&json!({"op": "subscribe", "include_hex": true})).await;
    blocks.say(&json!({"op": "subscribe", "channels": ["block"]})).await;
    for stream in [&mut stream, &mut blocks] {
        stream.say(&json!({"op": "ping"})).await;
        assert_eq!(stream.next().await.unwrap()["type"], "pong");
    }
    let mut block = instance.chain.blocks[1].clone();
    block.txdata.push(mined.clone());
    mempool.connect_block(7, &block);
    let frames = take(&mut stream, 2).await;
    assert_eq!((&frames[0]["type"], &frames[0]["reason"]), (&json!("remove"), &json!("mined")));
    let checksum = &kept.compute_txid().to_string()[..16];
    let expected = json!({
        "type": "block", "seq": 4, "height": 7, "hash": block.block_hash(), "removed": 1, "checksum": checksum,
    });
    assert_eq!(frames[1], expected);
    assert_eq!(blocks.next().await.unwrap(), expected);
    let info = result(&instance, "mempool_info", json!({})).await;
    assert_eq!(info["checksum"], checksum);
    add(&mempool, &transaction(3, 500));
    let added = stream.next().await.unwrap();
    assert_eq!(added["hex"].as_str().unwrap().len(), super::raw(&transaction(3, 500)).len() * 2);
    blocks.silent().await;
}

#[tokio::test]
async fn what_cannot_be_replayed_is_a_reset_and_the_stream_goes_on() {
    let (instance, mempool) = instance(Limits { ring_frames_max: 3, ..Limits::default() }).await;
    for coin in 1..=9 {
        add(&mempool, &transaction(coin, 500));
    }
    let (mut stream, hello) = open(&instance).await;
    assert_eq!(hello["oldest_seq"], 7);
    for (message, reason) in [
        (json!({"op": "subscribe", "since_seq": 2}), "too_old"),
        (json!({"op": "subscribe", "since_seq": 8, "instance": "00000000"}), "unknown_instance"),
        (json!({"op": "fly"}), "unknown_op"),
        (json!({"op": "subscribe", "channels": ["x"]}), "unknown_channel"),
        (json!([1]), "malformed_message"),
        (json!({"op": 5}), "malformed_message"),
        (json!({"op": "subscribe", "since_seq": -1}), "malformed_message"),
    ] {
        stream.say(&message).await;
        let reset = json!({"type": "reset", "seq": 9, "reason": reason, "action": "resync"});
        assert_eq!(stream.next().await.unwrap(), reset, "{message}");
    }
    stream.send(Message::text("{not json")).await;
    assert_eq!(stream.next().await.unwrap()["reason"], "malformed_message");
    stream.say(&json!({"op": "subscribe", "since_seq": 999})).await;
    stream.say(&json!({"op": "ping"})).await;
    assert_eq!(stream.next().await.unwrap()["type"], "pong");
    add(&mempool, &transaction(10, 500));
    assert_eq!(stream.next().await.unwrap()["seq"], 10);
}

#[tokio::test]
async fn a_stream_ends_with_its_key_and_with_the_server() {
    let (mut instance, mempool) = instance(Limits::default()).await;
    let other = instance.keys.create(NewKey::on_plan("other", Plan::PRO), "test", 0).await.unwrap();
    let path = format!("/v4/{}/mempool/ws", other.key.reveal());
    let mut revoked = Stream::open(instance.address, &path).await.unwrap();
    let (mut kept, _) = open(&instance).await;
    revoked.next().await.unwrap();
    instance.keys.revoke(KeySelector::Id(other.record.id), "test", 0).await.unwrap();
    assert_eq!(revoked.next().await, Err(4001));
    let refused = Stream::open(instance.address, &path).await.err().unwrap();
    assert!(refused.starts_with("HTTP/1.1 401 ") && !refused.contains(other.key.reveal().as_str()), "{refused}");
    kept.say(&json!({"op": "subscribe"})).await;
    kept.say(&json!({"op": "ping"})).await;
    kept.next().await.unwrap();
    add(&mempool, &transaction(1, 500));
    assert_eq!(kept.next().await.unwrap()["seq"], 1);
    instance.stop.take().unwrap().send(()).unwrap();
    assert_eq!(kept.next().await, Err(1001));
    tokio::time::timeout(Duration::from_secs(5), instance.served.take().unwrap()).await.unwrap().unwrap();
    assert_eq!(mempool.subscribers().count(), 0);
}

#[tokio::test]
async fn what_is_no_handshake_or_breaks_the_rules_of_a_stream_is_refused() {
    let (instance, _mempool) = instance(Limits::default()).await;
    let path = instance.keyed("/mempool/ws");
    let plain = instance.get(&path).await;
    assert_eq!((plain.status, plain.json()["code"].as_str()), (426, Some("UPGRADE_REQUIRED")));
    let old = [
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "8"),
        ("Sec-WebSocket-Key", "x"),
    ];
    assert_eq!(instance.send("GET", &path, &old, "").await.status, 400);
    assert_eq!(instance.post(&path, "{}").await.status, 405);
    assert!(Stream::open(instance.address, "/v4/mempool/ws").await.err().unwrap().starts_with("HTTP/1.1 401 "));
    let (mut stream, _) = open(&instance).await;
    stream.send(Message::binary(vec![1, 2])).await;
    assert_eq!(stream.next().await, Err(1008));
    let (mut stream, _) = open(&instance).await;
    stream.send(Message::text("x".repeat(70 << 10))).await;
    assert!(matches!(stream.next().await, Err(1008 | 1006)));
}

#[tokio::test]
async fn an_account_has_the_streams_of_its_plan_and_no_more() {
    let (instance, _mempool) = instance(Limits::default()).await;
    let free = instance.keys.create(NewKey::on_plan("free", Plan::FREE), "test", 0).await.unwrap();
    let path = format!("/v4/{}/mempool/ws", free.key.reveal());
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(Stream::open(instance.address, &path).await.unwrap());
    }
    let refused = Stream::open(instance.address, &path).await.err().unwrap();
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    open(&instance).await;
    // One that has gone makes way.
    drop(held.pop());
    for _ in 0..100 {
        if Stream::open(instance.address, &path).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a stream that has ended is still counted");
}

#[tokio::test]
async fn a_client_that_asks_without_end_is_let_go() {
    let (instance, mempool) = instance(Limits::default()).await;
    for coin in 1..=5 {
        add(&mempool, &transaction(coin, 500));
    }
    for (command, answer, least) in
        [(json!({"op": "ping"}), "pong", 300), (json!({"op": "subscribe", "since_seq": 1}), "hello", 11)]
    {
        let (mut stream, _) = open(&instance).await;
        let mut answers = 0;
        let end = 'asking: loop {
            stream.send(Message::text(command.to_string())).await;
            loop {
                match stream.next().await {
                    Ok(message) if message["type"] == answer => break,
                    Ok(_) => {}
                    Err(code) => break 'asking code,
                }
            }
            answers += 1;
        };
        assert_eq!(end, 1008, "{command}");
        assert!((least..least + 60).contains(&answers), "{command}: {answers}");
    }
}
