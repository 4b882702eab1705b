//! Markets in the formats of charts and listings, compared with the chain itself.

use paraffin_alkanes::ChainState;
use paraffin_gateway::ChainState as _;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use super::truth::Doing;
use super::{HEIGHT, MarketFixture};
use crate::instance::{Instance, Setup};

async fn get(fixture: &MarketFixture, below: &str) -> (u16, Value) {
    let response = fixture.instance.get(&fixture.instance.keyed(below)).await;
    (response.status, response.json())
}

/// Base units as listings write them.
fn whole(units: u128) -> String {
    let (whole, fraction) = (units / 100_000_000, units % 100_000_000);
    let fraction = format!("{fraction:08}");
    match fraction.trim_end_matches('0') {
        "" => whole.to_string(),
        fraction => format!("{whole}.{fraction}"),
    }
}

#[allow(clippy::cast_precision_loss)] // compared with a tolerance
#[tokio::test]
async fn events_of_the_adapter_are_the_deeds_on_the_chain() {
    let fixture = MarketFixture::open().await;
    let (status, latest) = get(&fixture, "/dexscreener/latest-block").await;
    assert_eq!((status, &latest["block"]["blockNumber"]), (200, &json!(HEIGHT)));
    let (status, answered) = get(&fixture, &format!("/dexscreener/events?fromBlock=0&toBlock={HEIGHT}")).await;
    assert_eq!(status, 200, "{answered}");
    // Those of CryptoSwap pools, which the truth of factories does not have, are numbered above these (docs/decisions/0070).
    let is_of_factory = |event: &&Value| event["eventIndex"].as_u64().unwrap() < 1 << 28;
    let answered: Vec<&Value> = answered["events"].as_array().unwrap().iter().filter(is_of_factory).collect();
    let deeds: Vec<_> = fixture.truth.deeds.iter().filter(|deed| deed.successful && deed.pool.is_some()).collect();
    assert_eq!(answered.len(), deeds.len());
    let snapshot = fixture.instance.state.snapshot();
    for (place, (event, deed)) in answered.iter().zip(&deeds).enumerate() {
        let pool = deed.pool.unwrap();
        let mut expected = json!({
            "block": { "blockNumber": deed.height, "blockTimestamp": deed.time },
            "txnId": deed.txid,
            "txnIndex": deed.transaction,
            "eventIndex": deed.number,
            "maker": deed.address,
            "pairId": pool.id.to_string(),
        });
        match deed.doing {
            Doing::Swap { sold, bought } => {
                let (from, to) = if sold.id == pool.tokens[0] { ("0", "1") } else { ("1", "0") };
                expected["eventType"] = "swap".into();
                expected[format!("asset{from}In")] = whole(sold.value).into();
                expected[format!("asset{to}Out")] = whole(bought.value).into();
                // 50 places, cut: the same but for the last one.
                let price = event["priceNative"].as_str().unwrap();
                let [first, second] =
                    if sold.id == pool.tokens[0] { [sold.value, bought.value] } else { [bought.value, sold.value] };
                let quotient = second as f64 / first as f64;
                assert!((price.parse::<f64>().unwrap() - quotient).abs() <= quotient * 1e-12, "{event}");
                expected["priceNative"] = price.into();
            }
            Doing::Create { amounts, .. } | Doing::Mint { amounts, .. } | Doing::Burn { amounts, .. } => {
                let kind = if matches!(deed.doing, Doing::Burn { .. }) { "exit" } else { "join" };
                expected["eventType"] = kind.into();
                for (name, amount) in ["amount0", "amount1"].into_iter().zip(amounts) {
                    expected[name] = whole(amount).into();
                }
            }
            Doing::Wrap(_) | Doing::Unwrap(_) => unreachable!("on a pool"),
        }
        expected["reserves"] = event["reserves"].clone();
        assert_eq!(**event, expected);
        // The last on a pool in a block leaves what the pool holds at its end.
        let is_last = !deeds[place + 1..].iter().any(|later| later.height == deed.height && later.is_on(pool.id));
        if is_last {
            let then = ChainState::at(&snapshot, deed.height);
            let held = pool.tokens.map(|token| whole(then.balance(token, pool.id).unwrap()));
            assert_eq!(event["reserves"], json!({ "asset0": held[0], "asset1": held[1] }), "{event}");
        }
    }
}

#[tokio::test]
async fn listings_have_tags_take_get_alone_and_bound_what_is_asked() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let ticker = format!("{}_{}", pool.tokens[0], pool.tokens[1]);
    for path in [
        "/udf/config".to_owned(),
        "/udf/search?query=".to_owned(),
        format!("/udf/symbols?symbol={}", pool.id),
        format!("/udf/history?symbol={}&resolution=60&to=4000000000&countback=99999999999", pool.id),
        "/dexscreener/latest-block".to_owned(),
        format!("/dexscreener/pair?id={}", pool.id),
        format!("/dexscreener/asset?id={}", pool.tokens[0]),
        "/dexscreener/events?fromBlock=1&toBlock=2".to_owned(),
        "/coingecko/pairs".to_owned(),
        "/coingecko/tickers".to_owned(),
        format!("/coingecko/orderbook?ticker_id={ticker}&depth=999999"),
        format!("/coingecko/historical_trades?ticker_id={ticker}&limit=999999"),
    ] {
        let path = fixture.instance.keyed(&path);
        let answer = fixture.instance.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("x-indexed-height"), Some(HEIGHT.to_string().as_str()), "{path}");
        let tag = answer.header("etag").unwrap_or_else(|| panic!("{path} has no tag")).to_owned();
        let again = fixture.instance.send("GET", &path, &[("if-none-match", &tag)], "").await;
        assert_eq!(again.status, 304, "{path}");
        for verb in ["POST", "DELETE"] {
            let refused = fixture.instance.send(verb, &path, &[], "{}").await;
            assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{verb} {path}");
        }
    }
    let book = get(&fixture, &format!("/coingecko/orderbook?ticker_id={ticker}&depth=999999")).await.1;
    assert!(book["bids"].as_array().unwrap().len() <= 500 && book["asks"].as_array().unwrap().len() <= 500);
    for (path, status) in [
        ("/dexscreener/events?fromBlock=0&toBlock=1000", 400),
        ("/dexscreener/events?fromBlock=0&toBlock=0&fromBlock=1", 400),
        ("/udf/history?symbol=%zz&resolution=60", 400),
        ("/udf", 404),
        ("/coingecko/tickers/x", 404),
        ("/udf/dexscreener/latest-block", 404),
    ] {
        let (refused, body) = get(&fixture, path).await;
        assert_eq!((refused, &body["statusCode"]), (status, &json!(status)), "{path}: {body}");
    }
    let long = "x".repeat(129);
    assert_eq!(get(&fixture, &format!("/udf/search?query={long}")).await.0, 400);
    // Below the REST routes there is nothing of this: an alias needs the surface.
    assert_eq!(get(&fixture, "/api/v1/udf/config").await.0, 404);
    for path in ["/v4/udf/config", "/v4/api/udf/config", "/v4/dexscreener/latest-block", "/v4/coingecko/tickers"] {
        assert_eq!(fixture.instance.get(path).await.status, 401, "{path}");
    }
}

#[tokio::test]
async fn without_markets_listings_say_so_in_their_form() {
    let keyed = vec![handlers::udf(), handlers::coingecko()];
    let instance = Instance::with(Setup { keyed, ..Setup::default() }).await;
    let chart = instance.get(&instance.keyed("/udf/config")).await;
    assert_eq!(chart.json()["s"], "error", "{}", chart.text());
    let tickers = instance.get(&instance.keyed("/coingecko/tickers")).await;
    assert_eq!(chart.status, tickers.status);
    assert_eq!(tickers.json()["code"], chart.json()["code"]);
    let absent = instance.get(&instance.keyed("/dexscreener/latest-block")).await;
    assert_eq!((absent.status, &absent.json()["code"]), (404, &json!("SURFACE_NOT_AVAILABLE")));
}
