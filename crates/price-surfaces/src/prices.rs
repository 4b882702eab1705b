//! REST routes about the bitcoin price (docs/configuration.md, `[prices]`).
//!
//! A window ends at the newest point, not at the current time, and includes both ends. A point's market capitalisation is its price times
//! the coins that the subsidy schedule had issued up to the newest indexed block at or before it, the genesis block included; its volume is
//! that of the source's pool in the 24 hours before, and a point whose volume is not known has no pair.

use std::sync::Arc;

use http::StatusCode;
use paraffin_prices::{BitcoinPrices, PricePoint, PriceReport, UsdPrice};
use paraffin_primitives::{Height, Network};
use paraffin_store::{Snapshot, StoreError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use paraffin_gateway::api_types::Time;
use paraffin_gateway::errors::{ApiError, ErrorKind, kind};
use paraffin_gateway::methods::scalar;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Base, Changes, Declared, Group, Route, Verb};
use paraffin_gateway::state::RequestContext;

/// Routes about the bitcoin price.
pub static GROUP: Group = Group {
    tag: "Prices",
    base: Base::Api,
    admit: |_| Ok(()),
    routes: &[
        Declared::of::<NewestPrice>(),
        Declared::of::<YearRange>(),
        Declared::of::<Markets>(),
        Declared::of::<Chart>(),
    ],
};

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;
/// Span of the highest and lowest price that `high_52w` and `low_52w` report.
const YEAR: u64 = 52 * 7 * DAY;
/// Windows of a chart in days, and the span that each of its points stands for in seconds; 1 keeps every point.
const WINDOWS: [(u64, u64); 4] = [(1, 1), (7, HOUR), (30, HOUR), (365, DAY)];
/// Satoshis of the first subsidy.
const FIRST_SUBSIDY: u64 = 50 * 100_000_000;

/// The prices and the newest of them.
fn newest(context: &RequestContext) -> Result<(Arc<dyn BitcoinPrices>, PriceReport), ApiError> {
    let prices = context.shared().prices.as_ref().ok_or_else(|| {
        ApiError::new(
            ErrorKind::new("PRICES_NOT_CONFIGURED", StatusCode::SERVICE_UNAVAILABLE),
            "this instance has no source of prices in US dollars: its operator sets [prices] evm_url",
        )
    })?;
    let report = prices.current().ok_or_else(|| {
        ApiError::new(kind::STARTING, "no price is known yet: the source has not answered, or has no price")
    })?;
    Ok((Arc::clone(prices), report))
}

/// Reads off the async threads: prices may come from the store.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    look: impl FnOnce(&Snapshot) -> T + Send + 'static,
) -> Result<T, ApiError> {
    context.read(look).await.map_err(|error| ApiError::internal(&error))
}

/// US dollars for one bitcoin.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Usd {
    /// US dollars for one bitcoin.
    usd: f64,
}

impl From<UsdPrice> for Usd {
    fn from(price: UsdPrice) -> Self {
        Self { usd: price.to_f64() }
    }
}

/// Source and age of a price, and whether it is stale.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Provenance {
    /// Source of the price: the kind of the pool and its address.
    source: String,
    /// Of the newest price.
    timestamp: Time,
    /// Whether the newest price is older than the configured limit.
    stale: bool,
}

impl Provenance {
    fn of(report: PriceReport) -> Result<Self, ApiError> {
        let time = u32::try_from(report.newest.time).unwrap_or(u32::MAX);
        Ok(Self { source: report.source, timestamp: Time::of(time)?, stale: report.is_stale })
    }
}

/// The newest bitcoin price.
#[derive(Deserialize, JsonSchema)]
struct NewestPrice {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct NewestPriceAnswer {
    bitcoin: Usd,
    #[serde(flatten)]
    provenance: Provenance,
}

impl Route for NewestPrice {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-bitcoin-price")];
    type Answer = NewestPriceAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<NewestPriceAnswer, ApiError> {
        let (_, report) = newest(context)?;
        Ok(NewestPriceAnswer { bitcoin: report.newest.price.into(), provenance: Provenance::of(report)? })
    }
}

/// The newest bitcoin price, and the highest and lowest of 52 weeks.
#[derive(Deserialize, JsonSchema)]
struct YearRange {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct YearRangeAnswer {
    market_data: MarketData,
    #[serde(flatten)]
    provenance: Provenance,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct MarketData {
    current_price: Usd,
    high_52w: Usd,
    low_52w: Usd,
}

impl Route for YearRange {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-bitcoin-market-weekly")];
    type Answer = YearRangeAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<YearRangeAnswer, ApiError> {
        let (prices, report) = newest(context)?;
        let (end, current) = (report.newest.time, report.newest.price);
        let year = read(context, move |_| prices.range(end.saturating_sub(YEAR), end)).await?;
        let all = || year.iter().map(|point| point.price);
        Ok(YearRangeAnswer {
            market_data: MarketData {
                current_price: current.into(),
                high_52w: all().fold(current, UsdPrice::max).into(),
                low_52w: all().fold(current, UsdPrice::min).into(),
            },
            provenance: Provenance::of(report)?,
        })
    }
}

/// The market that the bitcoin price comes from.
#[derive(Deserialize, JsonSchema)]
struct Markets {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Market {
    /// The exchange, for people.
    name: String,
    base: Bitcoin,
    target: Dollar,
    last: f64,
    /// US dollars of 24 hours, estimated from the pool's fees; null when unknown.
    volume: Option<f64>,
    converted_last: Usd,
    /// `yellow` when the price is stale.
    trust_score: TrustScore,
    #[serde(flatten)]
    provenance: Provenance,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
enum Bitcoin {
    #[serde(rename = "BTC")]
    Btc,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
enum Dollar {
    #[serde(rename = "USD")]
    Usd,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum TrustScore {
    Green,
    Yellow,
}

impl Route for Markets {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-bitcoin-markets")];
    type Answer = Vec<Market>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Vec<Market>, ApiError> {
        let (prices, report) = newest(context)?;
        Ok(vec![Market {
            name: exchange(&report.source).to_owned(),
            base: Bitcoin::Btc,
            target: Dollar::Usd,
            last: report.newest.price.to_f64(),
            volume: read(context, move |_| prices.volume_day()).await?,
            converted_last: report.newest.price.into(),
            trust_score: if report.is_stale { TrustScore::Yellow } else { TrustScore::Green },
            provenance: Provenance::of(report)?,
        }])
    }
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

/// The bitcoin price over time.
#[derive(Deserialize, JsonSchema)]
struct Chart {
    /// The window, which ends at the newest point: every point of a day, the last of each hour of 7 or 30 days, the last of each
    /// UTC day of 365.
    days: Window,
}

/// The window of a chart: days and the span of a point.
#[derive(Debug, Clone, Copy)]
struct Window {
    days: u64,
    spacing: u64,
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = match scalar(deserializer)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let window = WINDOWS.into_iter().find(|(days, _)| days.to_string() == given);
        let (days, spacing) = window.ok_or_else(|| D::Error::custom("must be 1, 7, 30 or 365"))?;
        Ok(Self { days, spacing })
    }
}

impl JsonSchema for Window {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["1", "7", "30", "365", 1, 7, 30, 365] })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ChartAnswer {
    #[serde(flatten)]
    points: ChartPoints,
    #[serde(flatten)]
    provenance: Provenance,
}

/// Unix milliseconds and the value at that time.
type Pair = (u64, f64);
/// Schema of a pair: tools that read schemas fail at arrays whose members differ in type.
type DescribedPair = [f64; 2];

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ChartPoints {
    /// Unix milliseconds and US dollars for one bitcoin, ascending.
    #[schemars(with = "Vec<DescribedPair>")]
    prices: Vec<Pair>,
    /// Price times the bitcoins issued by the subsidy schedule up to the newest indexed block at that time.
    #[schemars(with = "Vec<[Option<f64>; 2]>")]
    market_caps: Vec<(u64, Option<f64>)>,
    /// US dollars of the 24 hours before; points whose volume is unknown are absent.
    #[schemars(with = "Vec<DescribedPair>")]
    total_volumes: Vec<Pair>,
}

impl Route for Chart {
    const PATHS: &'static [(Verb, &'static str)] =
        &[(Verb::Post, "get-bitcoin-market-chart"), (Verb::Get, "market-chart")];
    const EXAMPLE: &'static str = r#"{"days":"7"}"#;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = ChartAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<ChartAnswer, ApiError> {
        let Window { days, spacing } = self.days;
        let (prices, report) = newest(context)?;
        let end = report.newest.time;
        let network = context.network();
        let points = read(context, move |snapshot| {
            let points = spaced(prices.range(end.saturating_sub(days * DAY), end), spacing);
            pairs(&points, prices.as_ref(), snapshot, network)
        });
        Ok(ChartAnswer {
            points: points.await?.map_err(|error| ApiError::internal(&error))?,
            provenance: Provenance::of(report)?,
        })
    }
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
) -> Result<ChartPoints, StoreError> {
    let millis = |point: &PricePoint| point.time.saturating_mul(1000);
    let mut caps = Vec::with_capacity(points.len());
    let mut below = 0;
    for point in points {
        let Some(height) = height_at(snapshot, point.time, below)? else { continue };
        below = height;
        caps.push((millis(point), point.price.of_sats(u128::from(issued(network, height)))));
    }
    let volumes = points.iter().filter_map(|point| Some((millis(point), prices.volume_day_at(point.time)?)));
    Ok(ChartPoints {
        prices: points.iter().map(|point| (millis(point), point.price.to_f64())).collect(),
        market_caps: caps,
        total_volumes: volumes.collect(),
    })
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

/// Satoshis issued by the subsidy schedule up to and including a block. Unclaimed and unspendable coins are included.
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
    use serde_json::json;

    use super::*;
    use paraffin_gateway::methods::read_members;

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
            // The final supply.
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

    fn window(days: Value) -> Result<u64, String> {
        let members = [("days".to_owned(), days)].into_iter().collect();
        let chart: Result<Chart, _> = read_members(members);
        chart.map(|chart| chart.days.days).map_err(|error| error.to_string())
    }

    /// row RB04
    #[test]
    fn days_are_one_of_four_as_text_or_number() {
        for days in ["1", "7", "30", "365"] {
            let number: Value = days.parse().unwrap();
            assert_eq!(window(json!(days)).unwrap().to_string(), days);
            assert_eq!(window(number).unwrap().to_string(), days);
        }
        for bad in ["0", "2", "max", "", "01", "1.0", "-1", " 7", "365 ", "18446744073709551617"] {
            assert_eq!(window(json!(bad)).unwrap_err(), "days must be 1, 7, 30 or 365", "{bad}");
        }
        for bad in [json!(2), json!(1.5), json!(-7), json!([1]), json!({}), json!(true)] {
            assert_eq!(window(bad.clone()).unwrap_err(), "days must be 1, 7, 30 or 365", "{bad}");
        }
        assert_eq!(window(Value::Null).unwrap_err(), "days is required");
    }
}
