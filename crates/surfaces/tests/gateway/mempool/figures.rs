use paraffin_mempool::Limits;
use serde_json::json;

use super::{add, instance, transaction};
use crate::instance::Instance;
use crate::stream::Stream;

/// One figure; `None` while there is none of this name and these labels.
async fn figure(instance: &Instance, name: &str) -> Option<f64> {
    let metrics = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
    let text = metrics.text().to_owned();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.parse().ok()
}

async fn expect(instance: &Instance, name: &str, value: f64) {
    let reported = figure(instance, name).await;
    assert!(
        reported.is_some_and(|reported| (reported - value).abs() < 1e-9),
        "{name}: {reported:?} instead of {value}"
    );
}

#[allow(clippy::cast_precision_loss)] // small numbers
fn number(count: usize) -> f64 {
    count as f64
}

#[tokio::test]
async fn operators_see_the_set_its_changes_its_feed_and_its_streams() {
    let (instance, mempool) = instance(Limits { ring_frames_max: 3, ..Limits::default() }).await;
    assert!(figure(&instance, "paraffin_mempool_lowest_feerate").await.unwrap().is_nan());
    expect(&instance, "paraffin_mempool_transactions", 0.0).await;
    let [cheap, dear, replaced] = [transaction(1, 500), transaction(2, 5_000), transaction(3, 700)];
    for one in [&cheap, &dear, &replaced] {
        add(&mempool, one);
    }
    let bytes = |one: &bitcoin::Transaction| number(super::raw(one).len());
    expect(&instance, "paraffin_mempool_transactions", 3.0).await;
    expect(&instance, "paraffin_mempool_bytes", bytes(&cheap) + bytes(&dear) + bytes(&replaced)).await;
    expect(&instance, "paraffin_mempool_virtual_bytes", 3.0 * number(cheap.vsize())).await;
    expect(&instance, "paraffin_mempool_lowest_feerate", 500.0 / number(cheap.vsize())).await;
    expect(&instance, "paraffin_mempool_fees_unknown", 0.0).await;
    expect(&instance, "paraffin_mempool_fee_satoshis", 6_200.0).await;

    // A replacement, a block, and the block undone.
    add(&mempool, &transaction(3, 900));
    let mut block = instance.chain.blocks[1].clone();
    block.txdata.push(dear.clone());
    mempool.connect_block(7, &block);
    mempool.disconnect_block(&block, super::NOW);
    for (name, value) in [
        ("paraffin_mempool_added_total", 5.0),
        ("paraffin_mempool_removed_total{reason=\"replaced\"}", 1.0),
        ("paraffin_mempool_removed_total{reason=\"mined\"}", 1.0),
        ("paraffin_mempool_removed_total{reason=\"evicted\"}", 0.0),
        ("paraffin_mempool_returned_total", 1.0),
        ("paraffin_mempool_blocks_total", 1.0),
        ("paraffin_mempool_changes_total", 8.0),
        ("paraffin_mempool_refused_total", 0.0),
        ("paraffin_mempool_agrees", 0.0),
    ] {
        expect(&instance, name, value).await;
    }
    mempool.drop_unknown(&[cheap.compute_txid()]);
    expect(&instance, "paraffin_mempool_removed_total{reason=\"evicted\"}", 1.0).await;
    let coinbase = &block.txdata[0];
    mempool.insert(coinbase, super::raw(coinbase), paraffin_mempool::Origin::P2p, super::NOW).unwrap_err();
    expect(&instance, "paraffin_mempool_refused_total", 1.0).await;
    let tip = instance.chain.blocks.last().unwrap().block_hash();
    mempool.agreement().reach(tip);
    mempool.agreement().settle(tip);
    expect(&instance, "paraffin_mempool_agrees", 1.0).await;

    // One subscriber is sent a reset because its position is too old, then two frames.
    let mut stream = Stream::open(instance.address, &instance.keyed("/mempool/ws")).await.unwrap();
    stream.next().await.unwrap();
    stream.say(&json!({"op": "subscribe", "since_seq": 1})).await;
    assert_eq!(stream.next().await.unwrap()["reason"], "too_old");
    for coin in [11, 12] {
        add(&mempool, &transaction(coin, 500));
        assert_eq!(stream.next().await.unwrap()["type"], "add");
    }
    expect(&instance, "paraffin_mempool_subscribers", 1.0).await;
    expect(&instance, "paraffin_mempool_frames_sent_total", 2.0).await;
    expect(&instance, "paraffin_mempool_resets_total{reason=\"too_old\"}", 1.0).await;
    expect(&instance, "paraffin_mempool_subscriber_lag", 0.0).await;
    drop(stream);
    for _ in 0..100 {
        if figure(&instance, "paraffin_mempool_subscribers").await == Some(0.0) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the subscriber is still counted");
}

/// Lag of the slowest subscriber.
#[tokio::test]
async fn lag_is_that_of_the_slowest_who_listens() {
    let (_instance, mempool) = instance(Limits::default()).await;
    let (first, second, aside) = (mempool.subscribe(), mempool.subscribe(), mempool.subscribe());
    first.has_heard(Some(90));
    second.has_heard(Some(40));
    aside.has_heard(None);
    assert_eq!((mempool.subscribers().lag(100), mempool.subscribers().count()), (60, 3));
    drop(second);
    assert_eq!((mempool.subscribers().lag(100), mempool.subscribers().count()), (10, 2));
}
