//! The bitcoin price, from an endpoint that speaks the real protocol through the real feed to the routes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_devnet::evm::{EvmEndpoint, EvmOptions};
use paraffin_prices::{BitcoinPrices, PriceFeed, PricePoint, PriceReport, PricesConfig, UsdPrice};
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};

/// September 2026.
const NOW: u64 = 1_790_000_000;
const DAY: u64 = 86_400;
const SOURCE: &str = "uniswap-v3:0x99ac8ca7087fa4a2a1fb6357269965a2014abc35";

struct Prices {
    endpoint: EvmEndpoint,
    feed: PriceFeed,
    clock: Arc<AtomicU64>,
    _folder: tempfile::TempDir,
}

impl Prices {
    /// A feed with so many days of the past.
    async fn start(days: u32) -> Self {
        let clock = Arc::new(AtomicU64::new(NOW));
        let now = {
            let clock = Arc::clone(&clock);
            Arc::new(move || clock.load(Ordering::Relaxed))
        };
        let endpoint = EvmEndpoint::start(EvmOptions::new(1, now.clone())).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = PricesConfig {
            poll: Duration::from_millis(200),
            backfill_days: days,
            backfill_calls_per_second: 0,
            ..PricesConfig::wbtc_usdc(endpoint.url())
        };
        let feed = PriceFeed::start(config, folder.path(), now).unwrap();
        let prices = Self { endpoint, feed, clock, _folder: folder };
        prices.until("the first price", |prices| prices.current().is_some()).await;
        prices
    }

    async fn until(&self, what: &str, is_so: impl Fn(&dyn BitcoinPrices) -> bool) {
        let start = Instant::now();
        while !is_so(self.feed.prices().as_ref()) {
            assert!(start.elapsed() < Duration::from_secs(60), "{what} did not come");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the feed has finished reading the past.
    async fn until_filled(&self) {
        let mut before = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = self.feed.prices().range(0, u64::MAX).len();
            if now == before && now > 1 {
                return;
            }
            before = now;
        }
    }

    async fn instance(&self) -> Instance {
        Instance::with(Setup { prices: Some(self.feed.prices()), ..Setup::default() }).await
    }
}

async fn data(instance: &Instance, route: &str, body: Value) -> Value {
    let response = instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
    assert_eq!(response.status, 200, "{route}: {}", response.text());
    assert_eq!(response.header("cache-control"), Some("no-store"), "a price changes between blocks");
    response.json()["data"].clone()
}

/// row RB01
/// row RB12
#[tokio::test]
async fn get_bitcoin_price_tells_the_price_of_the_pool() {
    let prices = Prices::start(0).await;
    let instance = prices.instance().await;
    // Two confirmations of twelve seconds behind the newest block.
    let time = prices.feed.prices().current().unwrap().newest.time;
    assert!((NOW - 36..=NOW - 24).contains(&time), "{time}");
    let expected = prices.endpoint.mean_dollars_at(time, 600);
    let price = data(&instance, "get-bitcoin-price", json!({})).await;
    let usd = price["bitcoin"]["usd"].as_f64().unwrap();
    assert!((usd / expected - 1.0).abs() < 1e-8, "{usd} {expected}");
    assert_eq!((&price["source"], &price["stale"]), (&json!(SOURCE), &json!(false)));
    assert!(price["timestamp"].as_str().unwrap().starts_with("2026-09-21T"), "{price}");
    let keyed = instance.post(&instance.keyed("/get-bitcoin-price"), "{}").await.json();
    assert_eq!((&keyed["statusCode"], &keyed["data"]), (&json!(200), &price));
    assert_eq!(instance.get("/v4/api/get-bitcoin-price").await.status, 405);
    assert_eq!(instance.post("/v4/api/get-bitcoin-price", "").await.status, 400);
}

/// row RB02
/// row RB03
#[tokio::test]
async fn the_weekly_market_and_the_markets_tell_range_and_volume() {
    let prices = Prices::start(30).await;
    prices.until_filled().await;
    let instance = prices.instance().await;
    let weekly = data(&instance, "get-bitcoin-market-weekly", json!({})).await;
    let usd = |name: &str| weekly["market_data"][name]["usd"].as_f64().unwrap();
    let (current, high, low) = (usd("current_price"), usd("high_52w"), usd("low_52w"));
    assert!(low <= current && current <= high && low < high, "{weekly}");
    // The pool was never higher or lower within those days than its own walk.
    let walk: Vec<f64> = (0..30 * 144).map(|step| prices.endpoint.dollars_at(NOW - 30 * DAY + step * 600)).collect();
    let (highest, lowest) = (walk.iter().copied().fold(0.0, f64::max), walk.iter().copied().fold(f64::MAX, f64::min));
    assert!(high <= highest * 1.0001 && low >= lowest * 0.9999, "{high} {highest} {low} {lowest}");
    assert!(high > highest * 0.98 && low < lowest * 1.02, "{high} {highest} {low} {lowest}");
    assert_eq!(weekly["source"], SOURCE);

    let markets = data(&instance, "get-bitcoin-markets", json!({})).await;
    let market = &markets.as_array().unwrap()[0];
    assert_eq!(markets.as_array().unwrap().len(), 1);
    for (member, expected) in [
        ("base", json!("BTC")),
        ("target", json!("USD")),
        ("name", json!("Uniswap V3 WBTC/USDC")),
        ("trust_score", json!("green")),
        ("source", json!(SOURCE)),
        ("last", market["converted_last"]["usd"].clone()),
    ] {
        assert_eq!(market[member], expected, "{member}");
    }
    let newest = prices.feed.prices().current().unwrap().newest.time;
    let traded = prices.endpoint.traded_dollars(newest - DAY, newest);
    let volume = market["volume"].as_f64().unwrap();
    assert!((volume / traded - 1.0).abs() < 0.01, "{volume} {traded}");
}

/// Two years of prices: a point for each day of age at which something happened.
struct Ages(Vec<(u64, u128)>);

impl Ages {
    fn points(&self) -> impl Iterator<Item = PricePoint> {
        let dollars = |dollars| UsdPrice(UsdPrice::DOLLAR.0 * dollars);
        self.0.iter().map(move |(days, price)| PricePoint { time: NOW - days * DAY, price: dollars(*price) })
    }
}

impl BitcoinPrices for Ages {
    fn current(&self) -> Option<PriceReport> {
        Some(PriceReport { newest: self.points().last()?, source: SOURCE.to_owned(), is_stale: false })
    }

    fn at(&self, time: u64) -> Option<PricePoint> {
        self.points().take_while(|point| point.time <= time).last()
    }

    fn range(&self, from: u64, to: u64) -> Vec<PricePoint> {
        self.points().filter(|point| (from..=to).contains(&point.time)).collect()
    }

    fn volume_day(&self) -> Option<f64> {
        None
    }
}

/// row RB02
#[tokio::test]
async fn the_highest_and_the_lowest_price_are_those_of_52_weeks() {
    // The extremes of the month, of the half year and of the year before the last one are none.
    let month = [(29, 64_000), (20, 66_000), (0, 65_000)];
    for (older, high, low) in [
        (&[(700, 900_000), (380, 1)][..], 66_000, 64_000),
        (&[(380, 900_000), (363, 120_000), (362, 20_000)], 120_000, 20_000),
        (&[(366, 1), (200, 110_000), (190, 30_000)], 110_000, 30_000),
        // 52 weeks are 364 days.
        (&[(365, 900_000), (364, 130_000)], 130_000, 64_000),
    ] {
        let prices: Arc<dyn BitcoinPrices> = Arc::new(Ages([older, &month].concat()));
        let instance = Instance::with(Setup { prices: Some(prices), ..Setup::default() }).await;
        let weekly = data(&instance, "get-bitcoin-market-weekly", json!({})).await;
        let expected = json!({
            "current_price": { "usd": 65_000.0 }, "high_52w": { "usd": f64::from(high) }, "low_52w": { "usd": f64::from(low) },
        });
        assert_eq!(weekly["market_data"], expected, "{older:?}");
    }
}

/// row RB02
#[tokio::test]
async fn the_range_of_52_weeks_is_that_of_the_feed_and_moves_on_with_time() {
    const WEEKS_52: u64 = 52 * 7 * DAY;
    let clock = Arc::new(AtomicU64::new(NOW));
    let now = {
        let clock = Arc::clone(&clock);
        Arc::new(move || clock.load(Ordering::Relaxed))
    };
    let endpoint = EvmEndpoint::start(EvmOptions::new(1, now.clone())).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut ranges, mut older, mut younger) = (Vec::new(), 0, 0);
    for days in [0, 150, 300] {
        // Started again after a while, the feed has its own history and fills in what is missing.
        clock.store(NOW + days * DAY, Ordering::Relaxed);
        let config = PricesConfig {
            poll: Duration::from_millis(200),
            backfill_days: 500,
            backfill_calls_per_second: 0,
            ..PricesConfig::wbtc_usdc(endpoint.url())
        };
        let feed = PriceFeed::start(config, folder.path(), now.clone()).unwrap();
        let prices = feed.prices();
        let mut before = 0;
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let points = prices.range(0, u64::MAX);
            let is_current = points.last().is_some_and(|point| point.time + DAY > clock.load(Ordering::Relaxed));
            if is_current && points.len() == before && points[0].time < NOW - 490 * DAY {
                break;
            }
            before = points.len();
        }
        let instance = Instance::with(Setup { prices: Some(Arc::clone(&prices)), ..Setup::default() }).await;
        let weekly = data(&instance, "get-bitcoin-market-weekly", json!({})).await;
        // By the endpoint's own prices at the moments that the feed has.
        let points = prices.range(0, u64::MAX);
        let newest = points.last().unwrap().time;
        let extremes = |from: u64| {
            let times = points.iter().map(|point| point.time).filter(|time| (from..=newest).contains(time));
            let dollars: Vec<f64> = times.map(|time| endpoint.mean_dollars_at(time, 600)).collect();
            (dollars.iter().copied().fold(0.0, f64::max), dollars.iter().copied().fold(f64::MAX, f64::min))
        };
        let market = &weekly["market_data"];
        let range = (market["high_52w"]["usd"].as_f64().unwrap(), market["low_52w"]["usd"].as_f64().unwrap());
        let is = |expected: (f64, f64)| {
            (range.0 / expected.0 - 1.0).abs() < 1e-8 && (range.1 / expected.1 - 1.0).abs() < 1e-8
        };
        let expected = extremes(newest - WEEKS_52);
        assert!(is(expected), "{days} days later: {range:?} {expected:?}");
        older += usize::from(!is(extremes(0)));
        younger += usize::from(!is(extremes(newest - WEEKS_52 / 2)));
        ranges.push(range);
        feed.stop().await;
    }
    // Neither all of the history nor half a year of it has the same range.
    assert!(older > 0 && younger > 0, "{older} {younger} {ranges:?}");
    assert!(ranges.windows(2).all(|pair| pair[0] != pair[1]), "{ranges:?}");
}

/// row RB04
#[tokio::test]
async fn the_chart_of_each_window_ends_at_the_newest_point() {
    let prices = Prices::start(365).await;
    prices.until_filled().await;
    let instance = prices.instance().await;
    let newest = prices.feed.prices().current().unwrap().newest;
    for (days, counts) in [(1, 100..=146), (7, 160..=170), (30, 690..=722), (365, 355..=367)] {
        let chart = data(&instance, "get-bitcoin-market-chart", json!({ "days": days.to_string() })).await;
        let pairs = |name: &str| -> Vec<(u64, f64)> {
            let pairs = chart[name].as_array().unwrap().iter();
            pairs.map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_f64().unwrap())).collect()
        };
        let (points, caps, volumes) = (pairs("prices"), pairs("market_caps"), pairs("total_volumes"));
        assert!(counts.contains(&points.len()), "{days}: {}", points.len());
        assert_eq!(points.last(), Some(&(newest.time * 1000, newest.price.to_f64())));
        assert!(points[0].0 >= (newest.time - days * DAY) * 1000);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "{days}: ascending");
        for (time, usd) in &points {
            let expected = prices.endpoint.mean_dollars_at(time / 1000, 600);
            assert!((usd / expected - 1.0).abs() < 1e-8, "{days}: {usd} {expected} at {time}");
        }
        // Genesis and three blocks, all older than the series.
        assert_eq!(caps.len(), points.len());
        for ((time, usd), (at, cap)) in points.iter().zip(&caps) {
            assert_eq!(time, at);
            assert!((cap - usd * 200.0).abs() < 0.02, "{cap} {usd}");
        }
        let reaching: Vec<_> = volumes.iter().filter(|(time, _)| *time > (NOW - 363 * DAY) * 1000).collect();
        assert!(reaching.len() > points.len() - 6, "{days}: {} of {}", reaching.len(), points.len());
        for (time, volume) in reaching {
            let traded = prices.endpoint.traded_dollars(time / 1000 - DAY, time / 1000);
            assert!((volume / traded - 1.0).abs() < 0.3, "{days}: {volume} {traded}");
        }
        assert_eq!((&chart["source"], &chart["stale"]), (&json!(SOURCE), &json!(false)));
        let number = data(&instance, "get-bitcoin-market-chart", json!({ "days": days })).await;
        let got = instance.get(&format!("/v4/api/market-chart?days={days}")).await;
        let keyed = instance.get(&instance.keyed(&format!("/market-chart?days={days}"))).await;
        assert_eq!((got.status, got.header("x-indexed-height")), (200, Some("3")));
        assert_eq!((&number, &got.json()["data"], &keyed.json()["data"]), (&chart, &chart, &chart));
    }
}

/// row RB04
#[tokio::test]
async fn days_that_are_no_window_are_400_and_name_the_field() {
    let prices = Prices::start(0).await;
    let instance = prices.instance().await;
    for body in [
        json!({}),
        json!({ "days": null }),
        json!({ "days": "2" }),
        json!({ "days": "max" }),
        json!({ "days": "" }),
        json!({ "days": -1 }),
        json!({ "days": 1.0 }),
        json!({ "days": ["1"] }),
    ] {
        let refused = instance.post("/v4/api/get-bitcoin-market-chart", body.to_string()).await;
        assert_eq!(refused.status, 400, "{body}");
        assert!(refused.json()["error"].as_str().unwrap().contains("days"), "{body}");
    }
    for query in ["", "?", "?days", "?days=2", "?days=1&days=7", "?day=1", "?days=%ff", "?days=1%"] {
        let refused = instance.get(&format!("/v4/api/market-chart{query}")).await;
        assert_eq!((refused.status, &refused.json()["statusCode"]), (400, &json!(400)), "{query}");
    }
    assert_eq!(instance.get("/v4/api/market-chart?days=%31&x=y").await.status, 200);
    assert_eq!(instance.post("/v4/api/market-chart", r#"{"days":"1"}"#).await.status, 405);
}

/// row RB12
#[tokio::test]
async fn a_source_that_goes_away_leaves_its_price_which_is_told_to_be_stale() {
    let prices = Prices::start(0).await;
    let instance = prices.instance().await;
    let before = data(&instance, "get-bitcoin-price", json!({})).await;
    let Prices { endpoint, feed, clock, _folder } = prices;
    endpoint.shutdown().await;
    clock.fetch_add(2 * DAY, Ordering::Relaxed);
    let after = data(&instance, "get-bitcoin-price", json!({})).await;
    assert_eq!((&after["bitcoin"], &after["timestamp"]), (&before["bitcoin"], &before["timestamp"]));
    assert_eq!(after["stale"], true);
    let markets = data(&instance, "get-bitcoin-markets", json!({})).await;
    assert_eq!((&markets[0]["trust_score"], &markets[0]["volume"]), (&json!("yellow"), &Value::Null));
    let chart = data(&instance, "get-bitcoin-market-chart", json!({ "days": "7" })).await;
    assert_eq!((chart["prices"].as_array().unwrap().len(), &chart["total_volumes"]), (1, &json!([])));
    feed.stop().await;
}

#[tokio::test]
async fn without_a_source_or_before_its_first_answer_the_routes_say_what_is_missing() {
    const ROUTES: [(&str, &str); 4] = [
        ("get-bitcoin-price", "{}"),
        ("get-bitcoin-market-weekly", "{}"),
        ("get-bitcoin-markets", "{}"),
        ("get-bitcoin-market-chart", r#"{"days":"1"}"#),
    ];
    let check = async |instance: &Instance, code: &str, word: &str| {
        for (route, body) in ROUTES {
            let refused = instance.post(&format!("/v4/api/{route}"), body).await;
            let answer = refused.json();
            assert_eq!((refused.status, &answer["code"]), (503, &json!(code)), "{route}");
            assert!(answer["error"].as_str().unwrap().contains(word), "{answer}");
        }
        assert_eq!(instance.get("/v4/api/market-chart?days=1").await.json()["code"], code);
    };
    check(&Instance::start().await, "PRICES_NOT_CONFIGURED", "evm_url").await;
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens there.
    let config = PricesConfig::wbtc_usdc("http://127.0.0.1:1/");
    let feed = PriceFeed::start(config, folder.path(), Arc::new(|| NOW)).unwrap();
    let instance = Instance::with(Setup { prices: Some(feed.prices()), ..Setup::default() }).await;
    check(&instance, "STARTING", "no price is known yet").await;
    feed.stop().await;
}
