//! Routes without envelope, `{ok, …}`: trades, candles and reserves, as older clients read them.

use paraffin_amm::{Action, Candle, Event, Interval, Ratio, Timeframe, TradeSpan, pool_reserves};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::fields::admit;
use super::pathfind;
use super::problem::{Problem, read};
use paraffin_gateway::api_types::{Amount, Count, Digits, IdText, OkTrue, PoolIdParam, Time};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::{OtherNames, Paths};
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "Trading",
    base: Base::Api,
    admit,
    routes: &[
        Declared::of::<Trades>(),
        Declared::of::<Candles>(),
        Declared::of::<Reserves>(),
        Declared::of::<pathfind::Pathfind>(),
    ],
};

/// Trades of an answer where nothing is said, and at most.
const TRADES_DEFAULT: usize = 100;
const TRADES_MAX: usize = 1_000;
/// Candles of an answer where nothing is said, and at most.
const CANDLES_DEFAULT: usize = 500;
const CANDLES_MAX: usize = 2_000;
/// Other names of the members that these routes share.
const POOL: (&str, &[&str]) = ("pool", &["poolId", "pool_id"]);
const START_TIME: (&str, &[&str]) = ("start_time", &["startTime"]);
const END_TIME: (&str, &[&str]) = ("end_time", &["endTime"]);
const POOL_ERROR: (&str, &str) = ("pool", "invalid_pool_format");

fn unknown_pool(id: AlkaneId) -> Problem {
    ApiError::not_found(format!("there is no pool {id}")).into()
}

/// A time in Unix seconds; one beyond 32 bits stands for the last.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "Amount")]
struct Seconds(u32);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Amount(time) = Amount::deserialize(deserializer).map_err(|_| D::Error::custom("must be Unix seconds"))?;
        Ok(Self(u32::try_from(time).unwrap_or(u32::MAX)))
    }
}

/// The times that are asked about.
fn times(from: Option<Seconds>, to: Option<Seconds>) -> (u32, u32) {
    (from.map_or(0, |time| time.0), to.map_or(u32::MAX, |time| time.0))
}

/// The newest trades of a pool, with what it held at the end of their blocks.
#[derive(Deserialize, JsonSchema)]
struct Trades {
    /// The pool.
    pool: PoolIdParam,
    /// 100 when absent; more than 1,000 is taken as 1,000.
    limit: Option<Count>,
    /// Unix seconds.
    start_time: Option<Seconds>,
    /// Unix seconds.
    end_time: Option<Seconds>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct TradesAnswer {
    ok: OkTrue,
    pool: IdText,
    trades: Vec<Trade>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Trade {
    txid: Hash,
    vout: u32,
    token0: IdText,
    token1: IdText,
    amount0_in: Digits,
    amount1_in: Digits,
    amount0_out: Digits,
    amount1_out: Digits,
    /// At the end of the block.
    reserve0_after: Digits,
    /// At the end of the block.
    reserve1_after: Digits,
    timestamp: Time,
    block_height: u32,
}

impl Route for Trades {
    const PATHS: Paths = &[(Verb::Post, "get-trades")];
    const EXAMPLE: &'static str = r#"{"pool":"2:5","limit":10}"#;
    const OTHER_NAMES: OtherNames = &[POOL, START_TIME, END_TIME];
    const WRAPPING: Wrapping = Wrapping::Flat;
    const MAY_BE_MISSING: bool = true;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = &[POOL_ERROR];
    type Answer = TradesAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TradesAnswer, ApiError> {
        let pool = self.pool.get();
        let (from, to) = times(self.start_time, self.end_time);
        let limit = self.limit.map_or(TRADES_DEFAULT, |limit| limit.at_most(TRADES_MAX));
        read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let span = TradeSpan { from, to, limit, scanned_max: usize::MAX };
            let is_over = moment.chain.view.is_over;
            let found = named.markets.trades_with_reserves(&named.identity, span, &moment.contracts, is_over)?;
            let mut trades = Vec::with_capacity(found.len());
            for (event, reserves) in found {
                trades.extend(trade(&event, reserves)?);
            }
            Ok(TradesAnswer { ok: OkTrue, pool: IdText(pool), trades })
        })
        .await
    }
}

/// `None` for what is no trade.
fn trade(event: &Event, [reserve0, reserve1]: [u128; 2]) -> Result<Option<Trade>, ApiError> {
    let Action::Swap { pool, sold, bought } = &event.action else { return Ok(None) };
    let amount = |transfer: &paraffin_alkanes::Transfer, place: usize| {
        Digits(if transfer.id == pool.tokens[place] { transfer.value } else { 0 })
    };
    Ok(Some(Trade {
        txid: Hash::of(event.txid),
        vout: event.vout,
        token0: IdText(pool.tokens[0]),
        token1: IdText(pool.tokens[1]),
        amount0_in: amount(sold, 0),
        amount1_in: amount(sold, 1),
        amount0_out: amount(bought, 0),
        amount1_out: amount(bought, 1),
        reserve0_after: Digits(reserve0),
        reserve1_after: Digits(reserve1),
        timestamp: Time::of(event.time)?,
        block_height: event.position.height,
    }))
}

/// The newest candles of a pool, of token 1 for token 0.
#[derive(Deserialize, JsonSchema)]
struct Candles {
    /// The pool.
    pool: PoolIdParam,
    /// 1h when absent.
    interval: Option<IntervalName>,
    /// 500 when absent; more than 2,000 is taken as 2,000.
    limit: Option<Count>,
    /// Unix seconds.
    start_time: Option<Seconds>,
    /// Unix seconds.
    end_time: Option<Seconds>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct CandlesAnswer {
    ok: OkTrue,
    pool: IdText,
    interval: &'static str,
    candles: Vec<CandleRow>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct CandleRow {
    open_time: Time,
    close_time: Option<Time>,
    open: Decimal,
    high: Decimal,
    low: Decimal,
    close: Decimal,
    #[schemars(with = "Digits")]
    volume0: String,
    #[schemars(with = "Digits")]
    volume1: String,
    trade_count: u32,
}

/// A decimal number.
#[derive(Serialize, JsonSchema)]
#[schemars(inline, extend("pattern" = "^[0-9]+(\\.[0-9]+)?$"))]
struct Decimal(String);

impl From<Ratio> for Decimal {
    fn from(ratio: Ratio) -> Self {
        Self(ratio.to_decimal())
    }
}

impl Route for Candles {
    const PATHS: Paths = &[(Verb::Post, "get-candles")];
    const EXAMPLE: &'static str = r#"{"pool":"2:5","interval":"1d","limit":30}"#;
    const OTHER_NAMES: OtherNames = &[POOL, ("interval", &["timeframe"]), START_TIME, END_TIME];
    const WRAPPING: Wrapping = Wrapping::Flat;
    const MAY_BE_MISSING: bool = true;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = &[POOL_ERROR, ("interval", "invalid_interval")];
    type Answer = CandlesAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<CandlesAnswer, ApiError> {
        let pool = self.pool.get();
        let interval = self.interval.map_or(Interval::Indexed(Timeframe::Hour), |interval| interval.0);
        let (from, to) = times(self.start_time, self.end_time);
        let limit = self.limit.map_or(CANDLES_DEFAULT, |limit| limit.at_most(CANDLES_MAX));
        read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let candles = named.markets.candles_of(pool, interval, from, to, limit)?;
            let candles =
                candles.iter().map(|candle| CandleRow::new(candle, interval)).collect::<Result<_, ApiError>>()?;
            Ok(CandlesAnswer { ok: OkTrue, pool: IdText(pool), interval: interval.name(), candles })
        })
        .await
    }
}

/// The width of candles by its name.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "String", extend("pattern" = "^(10m|1h|4h|1d|1w|1M)$"))]
struct IntervalName(Interval);

impl<'de> Deserialize<'de> for IntervalName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("must be 10m, 1h, 4h, 1d, 1w or 1M");
        let given = String::deserialize(deserializer).map_err(|_| wrong())?;
        Interval::parse(&given).map(Self).ok_or_else(wrong)
    }
}

impl CandleRow {
    fn new(candle: &Candle, interval: Interval) -> Result<Self, ApiError> {
        let [first, second] = candle.volumes;
        Ok(Self {
            open_time: Time::of(candle.start)?,
            close_time: interval.next(candle.start).map(Time::of).transpose()?,
            open: candle.open.into(),
            high: candle.high.into(),
            low: candle.low.into(),
            close: candle.close.into(),
            volume0: first.to_string(),
            volume1: second.to_string(),
            trade_count: candle.trades,
        })
    }
}

/// What a pool holds.
#[derive(Deserialize, JsonSchema)]
struct Reserves {
    /// The pool.
    pool: PoolIdParam,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReservesAnswer {
    ok: OkTrue,
    pool: IdText,
    reserve0: Digits,
    reserve1: Digits,
    timestamp: Option<Time>,
    block_height: u32,
}

impl Route for Reserves {
    const PATHS: Paths = &[(Verb::Post, "get-reserves")];
    const EXAMPLE: &'static str = r#"{"pool":"2:5"}"#;
    const OTHER_NAMES: OtherNames = &[POOL];
    const WRAPPING: Wrapping = Wrapping::Flat;
    const MAY_BE_MISSING: bool = true;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = &[POOL_ERROR];
    type Answer = ReservesAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<ReservesAnswer, ApiError> {
        let pool = self.pool.get();
        read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let [first, second] = pool_reserves(&moment.contracts, &named.identity)?;
            let height = moment.chain.view.height;
            let block = moment.markets.snapshot().block(height).map_err(paraffin_amm::AmmError::from)?;
            Ok(ReservesAnswer {
                ok: OkTrue,
                pool: IdText(pool),
                reserve0: Digits(first),
                reserve1: Digits(second),
                timestamp: block.map(|block| Time::of(block.time)).transpose()?,
                block_height: height,
            })
        })
        .await
    }
}
