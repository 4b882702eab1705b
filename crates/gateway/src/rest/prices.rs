//! REST routes about the bitcoin price (docs/configuration.md, `[prices]`).
//!
//! A window ends at the newest point, not at the clock, and both its ends belong to it. A point's market capitalisation is its price times
//! the coins that the subsidy schedule had issued up to the newest indexed block at or before it, the genesis block included; its volume is
//! that of the source's pool in the 24 hours before, and a point whose volume is not known has no pair.

use std::sync::Arc;

use hyper::StatusCode;
use paraffin_prices::{BitcoinPrices, PricePoint, PriceReport, UsdPrice};
use paraffin_primitives::{Height, Network};
use paraffin_store::{Snapshot, StoreError};
use serde_json::{Value, json};

use super::address::timestamp;
use super::{RestBody, RestResult};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;
/// Span of the highest and lowest price that `high_52w` and `low_52w` report.
const YEAR: u64 = 52 * 7 * DAY;
/// Windows of a chart in days, and the span that each of its points stands for in seconds; 1 keeps every point.
const WINDOWS: [(u64, u64); 4] = [(1, 1), (7, HOUR), (30, HOUR), (365, DAY)];
/// Satoshis of the first subsidy.
const FIRST_SUBSIDY: u64 = 50 * 100_000_000;

/// The prices and the newest of them.
fn newest(context: &RequestContext) -> Result<(Arc<dyn BitcoinPrices>, PriceReport), RestError> {
    let prices = context.shared().prices.as_ref().ok_or_else(|| {
        RestError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "PRICES_NOT_CONFIGURED",
            "this instance has no source of prices in US dollars: its operator sets [prices] evm_url",
        )
    })?;
    let report = prices.current().ok_or_else(|| {
        RestError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "STARTING",
            "no price is known yet: the source has not answered, or has nothing to tell",
        )
    })?;
    Ok((Arc::clone(prices), report))
}

/// Reads away from the async threads: prices may come from the store.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    look: impl FnOnce(&Snapshot) -> T + Send + 'static,
) -> Result<T, RestError> {
    context.read(look).await.map_err(|error| RestError::internal(&error))
}

/// An answer with where the price comes from, how old it is and whether that is too old.
fn told(mut data: Value, report: &PriceReport) -> Result<Value, RestError> {
    data["source"] = json!(report.source);
    data["timestamp"] = json!(moment(report.newest.time)?);
    data["stale"] = json!(report.is_stale);
    Ok(data)
}

/// RFC 3339 in UTC.
fn moment(time: u64) -> Result<String, RestError> {
    timestamp(u32::try_from(time).unwrap_or(u32::MAX))
}

/// POST `/get-bitcoin-price`.
pub(super) fn price(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (_, report) = newest(context)?;
        let data = json!({ "bitcoin": { "usd": report.newest.price.to_f64() } });
        Reply::enveloped(&told(data, &report)?)
    })
}

/// POST `/get-bitcoin-market-weekly`.
pub(super) fn weekly(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (prices, report) = newest(context)?;
        let end = report.newest.time;
        let year = read(context, move |_| prices.range(end.saturating_sub(YEAR), end)).await?;
        let all = || year.iter().map(|point| point.price).chain([report.newest.price]);
        let usd = |price: Option<UsdPrice>| json!({ "usd": price.map(UsdPrice::to_f64) });
        let data = json!({
            "market_data": {
                "current_price": usd(Some(report.newest.price)),
                "high_52w": usd(all().max()),
                "low_52w": usd(all().min()),
            },
        });
        Reply::enveloped(&told(data, &report)?)
    })
}

/// POST `/get-bitcoin-markets`: the market that the price comes from, as a bare array.
pub(super) fn markets(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (prices, report) = newest(context)?;
        let last = report.newest.price.to_f64();
        let volume = read(context, move |_| prices.volume_day()).await?;
        let market = json!({
            "name": exchange(&report.source),
            "base": "BTC",
            "target": "USD",
            "last": last,
            "volume": volume,
            "converted_last": { "usd": last },
            "trust_score": if report.is_stale { "yellow" } else { "green" },
        });
        Reply::enveloped(&json!([told(market, &report)?]))
    })
}

/// The exchange of a source, for people.
fn exchange(source: &str) -> &str {
    match source.split_once(':') {
        Some(("uniswap-v3", _)) => "Uniswap V3 WBTC/USDC",
        Some(("uniswap-v2", _)) => "Uniswap V2 WBTC/USDC",
        Some(("pool-index", _)) => "frBTC/USD pool",
        _ => source,
    }
}

/// POST `/get-bitcoin-market-chart` and GET `/market-chart?days=`.
pub(super) fn chart(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (days, spacing) = window(body.one_of(&["days"])?)?;
        let (prices, report) = newest(context)?;
        let end = report.newest.time;
        let network = context.network();
        let pairs = read(context, move |snapshot| {
            let points = spaced(prices.range(end.saturating_sub(days * DAY), end), spacing);
            pairs(&points, prices.as_ref(), snapshot, network)
        });
        let data = pairs.await?.map_err(|error| RestError::internal(&error))?;
        Reply::enveloped(&told(data, &report)?)
    })
}

/// The window of a chart: days and the span of a point.
fn window(days: Option<&Value>) -> Result<(u64, u64), RestError> {
    let given = match days {
        None => return Err(RestError::bad_request("days is required: 1, 7, 30 or 365")),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(_) => String::new(),
    };
    let known = WINDOWS.into_iter().find(|(days, _)| days.to_string() == given);
    known.ok_or_else(|| RestError::bad_request("days must be 1, 7, 30 or 365"))
}

/// The last point of each span, the newest included.
fn spaced(points: Vec<PricePoint>, spacing: u64) -> Vec<PricePoint> {
    let mut spaced: Vec<PricePoint> = Vec::with_capacity(points.len());
    for point in points {
        match spaced.last_mut() {
            Some(last) if last.time / spacing == point.time / spacing => *last = point,
            _ => spaced.push(point),
        }
    }
    spaced
}

fn pairs(
    points: &[PricePoint],
    prices: &dyn BitcoinPrices,
    snapshot: &Snapshot,
    network: Network,
) -> Result<Value, StoreError> {
    let millis = |point: &PricePoint| point.time.saturating_mul(1000);
    let mut caps = Vec::with_capacity(points.len());
    let mut below = 0;
    for point in points {
        let Some(height) = height_at(snapshot, point.time, below)? else { continue };
        below = height;
        caps.push(json!([millis(point), point.price.of_sats(u128::from(issued(network, height)))]));
    }
    let volumes = points.iter().filter_map(|point| Some(json!([millis(point), prices.volume_day_at(point.time)?])));
    Ok(json!({
        "prices": points.iter().map(|point| json!([millis(point), point.price.to_f64()])).collect::<Vec<_>>(),
        "market_caps": caps,
        "total_volumes": volumes.collect::<Vec<_>>(),
    }))
}

/// The newest indexed block at or before a time, which is not below `from`; `None` before the first. The times of blocks may run backwards
/// by up to two hours, within which the search settles for one of them.
fn height_at(snapshot: &Snapshot, time: u64, from: Height) -> Result<Option<Height>, StoreError> {
    let Some(tip) = snapshot.tip().map(|record| record.id.height) else { return Ok(None) };
    let is_before = |height: Height| -> Result<bool, StoreError> {
        Ok(snapshot.block(height)?.is_some_and(|record| u64::from(record.time) <= time))
    };
    // Blocks below `low` count as before the time, those from `high` on as after it.
    let (mut low, mut high) = (from, tip + 1);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low.checked_sub(1))
}

/// Satoshis that the subsidy schedule has issued up to and with a block. What miners did not claim and what cannot be spent is counted.
fn issued(network: Network, height: Height) -> u64 {
    let interval: u64 = match network {
        Network::Regtest => 150,
        Network::Mainnet | Network::Signet => 210_000,
    };
    let mut left = u64::from(height) + 1;
    let mut issued = 0;
    let mut subsidy = FIRST_SUBSIDY;
    while left > 0 && subsidy > 0 {
        let blocks = left.min(interval);
        issued += blocks * subsidy;
        left -= blocks;
        subsidy /= 2;
    }
    issued
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coins_issued_follow_the_subsidy_schedule() {
        const COIN: u64 = 100_000_000;
        for (network, height, coins) in [
            (Network::Mainnet, 0, 50 * COIN),
            (Network::Mainnet, 209_999, 10_500_000 * COIN),
            (Network::Mainnet, 210_000, 10_500_025 * COIN),
            (Network::Signet, 419_999, 15_750_000 * COIN),
            (Network::Mainnet, 839_999, 19_687_500 * COIN),
            (Network::Regtest, 149, 7_500 * COIN),
            (Network::Regtest, 150, 7_525 * COIN),
            // What the schedule ends with.
            (Network::Mainnet, 6_930_000, 2_099_999_997_690_000),
            (Network::Mainnet, u32::MAX, 2_099_999_997_690_000),
        ] {
            assert_eq!(issued(network, height), coins, "{network} {height}");
        }
    }

    #[test]
    fn a_chart_keeps_the_last_point_of_each_span() {
        let point = |time| PricePoint { time, price: UsdPrice(u128::from(time)) };
        let times = |spacing| -> Vec<u64> {
            let points = [0, 600, 3_599, 3_600, 7_000, 7_200, 7_800].map(point).to_vec();
            spaced(points, spacing).iter().map(|point| point.time).collect()
        };
        assert_eq!(times(HOUR), [3_599, 7_000, 7_800]);
        assert_eq!(times(1).len(), 7);
        assert!(spaced(Vec::new(), DAY).is_empty());
    }

    /// row RB04
    #[test]
    fn days_are_one_of_four_as_text_or_number() {
        for days in ["1", "7", "30", "365"] {
            let number: Value = days.parse().unwrap();
            assert_eq!(window(Some(&json!(days))).unwrap().0.to_string(), days);
            assert_eq!(window(Some(&number)).unwrap().0.to_string(), days);
        }
        for bad in ["0", "2", "max", "", "01", "1.0", "-1", " 7", "365 ", "18446744073709551617"] {
            assert_eq!(window(Some(&json!(bad))).unwrap_err().status, 400, "{bad}");
        }
        for bad in [json!(2), json!(1.5), json!(-7), json!([1]), json!({}), json!(true)] {
            assert_eq!(window(Some(&bad)).unwrap_err().status, 400, "{bad}");
        }
        assert!(window(None).unwrap_err().message.contains("required"));
    }
}
