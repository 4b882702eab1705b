//! The past that a fresh instance asks for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::endpoint::Instead;
use crate::rig::{NOW, Rig, first_price, until};

const DAY: u64 = 86_400;

/// Rises by a dollar for every thousand blocks.
fn rising(block: u64) -> f64 {
    40_000.0 + block as f64 / 1_000.0
}

async fn archive() -> Rig {
    let mut rig = Rig::new(|world| world.dollars = rising).await;
    rig.config.backfill_days = 365;
    rig.config.backfill_calls_per_second = 0;
    rig.config.poll = Duration::from_secs(3_600);
    rig
}

/// row RB12
#[tokio::test]
async fn an_archive_gives_a_fresh_instance_a_year_of_points() {
    let rig = archive().await;
    let feed = rig.start();
    let prices = feed.prices();
    first_price(&feed).await;
    let count = until("a year", || {
        let points = prices.range(0, u64::MAX);
        (points.len() > 1_100).then_some(points.len())
    })
    .await;
    // It goes on until nothing is missing.
    let mut last = count;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = prices.range(0, u64::MAX).len();
        if now == last {
            break;
        }
        last = now;
    }
    let points = prices.range(0, u64::MAX);
    assert!(points.first().unwrap().time < NOW - 363 * DAY);
    let gap = |from: u64| {
        let points: Vec<u64> = points.iter().map(|point| point.time).filter(|time| *time >= from).collect();
        points.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
    };
    assert!(gap(0) <= 2 * DAY && gap(NOW - 29 * DAY) <= 2 * 3_600 && gap(NOW - DAY) <= 2 * 600);
    for point in &points {
        let block = 20_000_000 - (NOW - point.time) / 12;
        assert!((point.price.to_f64() / rising(block) - 1.0).abs() < 0.000_01, "{point:?}");
    }
    feed.stop().await;
    // The next start finds everything in the folder and asks for nothing of the past.
    let before = rig.endpoint.requests();
    let feed = rig.start();
    assert_eq!(feed.prices().range(0, u64::MAX).len(), points.len());
    until("a reading", || (rig.endpoint.requests() > before + 8).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(rig.endpoint.requests() - before < 60, "{}", rig.endpoint.requests() - before);
    feed.stop().await;
    // Days later the gap is filled in.
    rig.pass(3 * DAY);
    let feed = rig.start();
    let prices = feed.prices();
    until("the gap", || {
        let points = prices.range(NOW, u64::MAX);
        (points.len() > 150).then_some(())
    })
    .await;
    feed.stop().await;
}

#[tokio::test]
async fn without_old_state_the_history_begins_now() {
    let rig = archive().await;
    // 25 minutes of state, as an ordinary node keeps.
    rig.endpoint.change(|world| world.archived = 128);
    let feed = rig.start();
    let prices = feed.prices();
    first_price(&feed).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let points = prices.range(0, u64::MAX);
    assert!((2..=4).contains(&points.len()), "the newest and what those minutes hold: {points:?}");
    assert!(points[0].time > NOW - 130 * 12);
    assert!(rig.endpoint.requests() < 150, "{}", rig.endpoint.requests());
    assert_eq!(feed.failure(), None, "the price itself is fine");
    feed.stop().await;
}

#[tokio::test]
async fn blocks_that_contradict_each_other_end_the_search() {
    let rig = archive().await;
    let feed = rig.start();
    first_price(&feed).await;
    feed.stop().await;
    let rig = archive().await;
    let calls = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = Arc::clone(&calls);
    rig.endpoint.set_fault(Some(Arc::new(move |method, _, _| {
        // The first question is for the newest block and is answered well; all later ones get its time.
        let is_block = method == "eth_getBlockByNumber";
        let is_later = is_block && counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
        is_later.then(|| Instead::Result(json!({ "number": "0x5", "timestamp": format!("{NOW:#x}") })))
    })));
    let feed = rig.start();
    first_price(&feed).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(feed.prices().range(0, u64::MAX).len(), 1);
    assert!(rig.endpoint.requests() < 40, "{}", rig.endpoint.requests());
    feed.stop().await;
}

#[tokio::test]
async fn calls_for_the_past_keep_to_their_rate() {
    let mut rig = archive().await;
    rig.config.backfill_calls_per_second = 20;
    let feed = rig.start();
    first_price(&feed).await;
    let before = rig.endpoint.requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let requests = rig.endpoint.requests() - before;
    assert!((10..=90).contains(&requests), "{requests}");
    feed.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_falls_silent_over_the_past_is_left_alone() {
    let rig = archive().await;
    let feed = rig.start();
    first_price(&feed).await;
    rig.endpoint.set_fault(Some(Arc::new(|_, _, _| Some(Instead::Http(429, "", String::new())))));
    let before = rig.endpoint.requests();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(rig.endpoint.requests() - before < 10, "{}", rig.endpoint.requests() - before);
    feed.stop().await;
}
