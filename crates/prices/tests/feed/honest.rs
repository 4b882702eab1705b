//! An endpoint that answers correctly, is away at times, and comes back.

use std::net::SocketAddr;
use std::time::Duration;

use crate::endpoint::{Endpoint, Kind, World};
use crate::rig::{NOW, Rig, failure, first_price, price_of, until};

/// row RB12
#[tokio::test]
async fn the_price_is_the_mean_of_the_pool_some_blocks_behind_the_newest() {
    let rig = Rig::new(|world| world.mean = Some(66_000.0)).await;
    let feed = rig.start();
    let report = first_price(&feed).await;
    assert!((report.newest.price.to_f64() - 66_000.0).abs() < 0.02, "{}", report.newest.price.to_f64());
    assert_eq!(report.newest.time, NOW - 2 * 12);
    assert_eq!(report.source, "uniswap-v3:0x99ac8ca7087fa4a2a1fb6357269965a2014abc35");
    assert!(!report.is_stale);
    assert_eq!(feed.failure(), None);
    feed.stop().await;
}

/// row RB12
#[tokio::test]
async fn whichever_token_comes_first_the_price_is_the_same() {
    for bitcoin_is_token0 in [true, false] {
        for decimals in [[8, 6], [18, 6], [8, 18], [6, 6]] {
            let rig = Rig::new(|world| {
                // The other order has negative ticks.
                world.bitcoin_is_token0 = bitcoin_is_token0;
                world.decimals = decimals;
            })
            .await;
            let feed = rig.start();
            let price = first_price(&feed).await.newest.price.to_f64();
            // A tick is cut to a 600th of itself by the endpoint.
            assert!((price - 65_000.0).abs() < 0.05, "{bitcoin_is_token0} {decimals:?} {price}");
            feed.stop().await;
        }
    }
}

#[tokio::test]
async fn a_pool_without_a_mean_gives_the_price_of_the_moment() {
    for (kind, name) in [(Kind::V3WithoutMean, "uniswap-v3:"), (Kind::V2, "uniswap-v2:")] {
        for bitcoin_is_token0 in [true, false] {
            let rig = Rig::new(|world| {
                world.kind = kind;
                world.bitcoin_is_token0 = bitcoin_is_token0;
            })
            .await;
            let feed = rig.start();
            let report = first_price(&feed).await;
            assert!((report.newest.price.to_f64() - 65_000.0).abs() < 0.01, "{kind:?} {report:?}");
            assert!(report.source.starts_with(name), "{}", report.source);
            feed.stop().await;
        }
    }
}

#[tokio::test]
async fn points_are_written_down_and_the_newest_is_told_before_that() {
    let rig = Rig::new(|_| {}).await;
    let feed = rig.start();
    let prices = feed.prices();
    let first = first_price(&feed).await.newest.time;
    for dollars in [65_100.0, 65_200.0, 65_300.0] {
        rig.endpoint.change(|world| world.mean = Some(dollars));
        rig.pass(300);
        price_of(&prices, dollars).await;
    }
    let times: Vec<u64> = prices.range(0, u64::MAX).iter().map(|point| point.time - first).collect();
    assert_eq!(times, [0, 600, 900], "every ten minutes, and the newest");
    assert!((prices.at(first + 899).unwrap().price.to_f64() - 65_200.0).abs() < 0.05);
    assert_eq!(prices.at(first - 1), None);
    feed.stop().await;
    // The endpoint is away at the next start: what was written stands, and is reported as stale in time.
    rig.endpoint.set_fault(Some(std::sync::Arc::new(|_, _, _| Some(crate::endpoint::Instead::HangUp))));
    let feed = rig.start();
    let report = feed.prices().current().unwrap();
    assert_eq!((report.newest.time, report.is_stale), (first + 600, false));
    assert!(report.source.starts_with("uniswap-v3:"));
    rig.pass_alone(3_600);
    assert!(feed.prices().current().unwrap().is_stale);
    feed.stop().await;
}

#[tokio::test]
async fn an_endpoint_that_comes_later_or_back_is_used_again() {
    let rig = Rig::new(|_| {}).await;
    // An address without a listener yet.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = silent.local_addr().unwrap();
    drop(silent);
    let mut rig = rig;
    rig.config.url = format!("http://{address}/");
    let feed = rig.start();
    let message = failure(&feed).await.to_string();
    assert!(message.contains("cannot connect") && !message.contains("127.0.0.1"), "{message}");
    assert_eq!(feed.prices().current(), None);
    let endpoint = Endpoint::at(address, World::new(NOW)).await;
    first_price(&feed).await;
    drop(endpoint);
    rig.pass_alone(60);
    failure(&feed).await;
    let mut world = World::new(NOW + 60);
    world.mean = Some(64_000.0);
    let _endpoint = Endpoint::at(address, world).await;
    price_of(&feed.prices(), 64_000.0).await;
    until("the failure is over", || feed.failure().is_none().then_some(())).await;
    feed.stop().await;
}

#[tokio::test]
async fn the_volume_of_a_day_is_told_from_the_fees_of_the_pool() {
    let mut rig = Rig::new(|_| {}).await;
    rig.config.backfill_days = 2;
    rig.config.backfill_calls_per_second = 0;
    let feed = rig.start();
    let prices = feed.prices();
    let volume = until("a volume", || prices.volume_day()).await;
    // 7,200 blocks with fees of 10 base units of each token at 0.3 %.
    let expected = 7_200.0 * 10.0 / 0.003 * (65_000.0 / 1e8 + 1.0 / 1e6);
    assert!((volume - expected).abs() < expected * 0.001 + 0.02, "{volume} {expected}");
    let then = prices.volume_day_at(NOW - 20_000).unwrap();
    assert!((then - expected).abs() < expected * 0.001 + 0.02, "{then} {expected}");
    assert_eq!(prices.volume_day_at(NOW - 3 * 86_400), None);
    feed.stop().await;
}

#[tokio::test]
async fn https_is_spoken_where_the_url_says_so() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut rig = Rig::new(|_| {}).await;
    rig.config.url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let hello = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        // An answer without a handshake.
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        stream.shutdown().await.unwrap();
        hello
    });
    let feed = rig.start();
    let message = failure(&feed).await.to_string();
    assert!(message.contains("cannot connect"), "{message}");
    assert_eq!(hello.await.unwrap(), [0x16, 3, 1], "the first bytes are those of a TLS handshake");
    assert_eq!(feed.prices().current(), None);
    feed.stop().await;
}

#[tokio::test]
async fn stopping_does_not_wait_for_an_endpoint_that_never_answers() {
    let mut rig = Rig::new(|_| {}).await;
    rig.config.timeout = Duration::from_secs(60);
    rig.endpoint.set_fault(Some(std::sync::Arc::new(|_, _, _| Some(crate::endpoint::Instead::Silence))));
    let feed = rig.start();
    until("a request", || (rig.endpoint.requests() > 0).then_some(())).await;
    tokio::time::timeout(Duration::from_secs(10), feed.stop()).await.unwrap();
    // The folder is free again at once.
    rig.start().stop().await;
}
