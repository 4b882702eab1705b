//! Routes without envelope, `{ok, …}`: trades, candles, reserves and the best way, as older clients read them.

use std::collections::HashMap;

use hyper::StatusCode;
use paraffin_alkanes::ChainState;
use paraffin_amm::routing::{Fees, HOPS_MAX, HopFee};
use paraffin_amm::{Action, Candle, Event, EventKind, Markets, PoolIdentity, Scope, Status, Timeframe};
use paraffin_primitives::{AlkaneId, Height};
use serde_json::{Value, json};

use super::super::address::timestamp;
use super::super::alkanes::fields::flat_error;
use super::super::{RestBody, RestResult};
use super::fields::{FACTORY_FIELDS, factory_id, optional_id, require_factory, required_id};
use super::problem::{Problem, read};
use crate::alkanes::decimal;
use crate::errors::RestError;
use crate::markets::MarketMoment;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// Trades of an answer where nothing is said, and at most.
const TRADES_DEFAULT: usize = 100;
const TRADES_MAX: usize = 1_000;
/// Candles of an answer where nothing is said, and at most.
const CANDLES_DEFAULT: usize = 500;
const CANDLES_MAX: usize = 2_000;
/// Times in block headers go back by less than this, seconds: a header is at most two hours ahead of a node's clock, and
/// later than the median of the eleven before it.
const TIME_SLACK: u32 = 4 * 3_600;

/// A pool as the routes without envelope name it.
fn pool_of(body: &RestBody) -> Result<AlkaneId, RestError> {
    required_id(body, &["pool", "poolId", "pool_id"])
}

/// What is wrong with it, in the form of these routes.
fn wrong_pool(error: &RestError) -> Reply {
    flat_error("invalid_pool_format", &error.message)
}

fn unknown_pool(id: AlkaneId) -> Problem {
    RestError::not_found(format!("there is no pool {id}")).into()
}

/// 404 in the form of these routes.
fn answered(answer: Result<Value, RestError>) -> RestResult {
    match answer {
        Err(error) if error.status == StatusCode::NOT_FOUND => {
            let body = json!({
                "ok": false,
                "error": "not_found",
                "hint": error.message,
                "statusCode": error.status.as_u16(),
                "code": error.code,
            });
            Ok(Reply::json(error.status, body.to_string()))
        }
        answer => Reply::bare(&answer?),
    }
}

/// A bound in Unix seconds.
fn time(body: &RestBody, names: &[&str]) -> Result<Option<u32>, RestError> {
    let Some(value) = body.one_of(names)? else { return Ok(None) };
    let wrong = || RestError::bad_request(format!("{} must be Unix seconds", names.first().unwrap_or(&"time")));
    let seconds = decimal(value).ok_or_else(wrong)?;
    Ok(Some(u32::try_from(seconds).unwrap_or(u32::MAX)))
}

/// The times that are asked about, Unix seconds.
fn times(body: &RestBody) -> Result<(u32, u32), RestError> {
    let from = time(body, &["start_time", "startTime"])?.unwrap_or(0);
    let to = time(body, &["end_time", "endTime"])?.unwrap_or(u32::MAX);
    Ok((from, to))
}

/// POST `/get-trades`: the newest trades of a pool, with what it held at the end of the block.
pub(in crate::rest) fn trades(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let pool = match pool_of(&body) {
            Ok(pool) => pool,
            Err(error) => return Ok(wrong_pool(&error)),
        };
        let (from, to) = times(&body)?;
        let limit = body.positive("limit", TRADES_MAX)?.unwrap_or(TRADES_DEFAULT);
        let answer = read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let mut after: HashMap<Height, [u128; 2]> = HashMap::new();
            let mut trades = Vec::new();
            for event in trades_between(moment, &named.markets, pool, from, to, limit)? {
                let height = event.place.height;
                let reserves = match after.get(&height) {
                    Some(reserves) => *reserves,
                    None => {
                        moment.chain.check()?;
                        let then = ChainState::at(moment.chain.state.snapshot(), height);
                        let reserves = held(&then, named.identity)?;
                        *after.entry(height).or_insert(reserves)
                    }
                };
                trades.push(trade(&event, reserves)?);
            }
            Ok(json!({ "ok": true, "pool": pool.to_string(), "trades": trades }))
        });
        answered(answer.await)
    })
}

/// What a pool holds of its alkanes.
fn held(state: &ChainState, pool: PoolIdentity) -> Result<[u128; 2], Problem> {
    let [first, second] = pool.tokens;
    Ok([state.balance(first, pool.id)?, state.balance(second, pool.id)?])
}

/// Trades of a pool in a span of time, newest first.
fn trades_between(
    moment: &MarketMoment<'_>,
    markets: &Markets,
    pool: AlkaneId,
    from: u32,
    to: u32,
    limit: usize,
) -> Result<Vec<Event>, Problem> {
    let page =
        |offset, limit| markets.events(Scope::Pool(pool), Some(EventKind::Swap), Status::Successful, offset, limit);
    // Where to begin: by halves, since times go back only a little.
    let (mut low, mut high) = (0, page(0, 0)?.total);
    let latest = to.saturating_add(TIME_SLACK);
    while latest < u32::MAX && low < high {
        let middle = low + (high - low) / 2;
        let is_later = page(middle, 1)?.items.first().is_some_and(|event| event.time > latest);
        if is_later { low = middle + 1 } else { high = middle }
    }
    let mut found = Vec::new();
    loop {
        moment.chain.check()?;
        let items = page(low, TRADES_MAX as u32)?.items;
        let Some(last) = items.last() else { return Ok(found) };
        let is_over = last.time < from.saturating_sub(TIME_SLACK);
        low += items.len() as u32;
        found.extend(items.into_iter().filter(|event| (from..=to).contains(&event.time)));
        if is_over || found.len() >= limit {
            found.truncate(limit);
            return Ok(found);
        }
    }
}

fn trade(event: &Event, [first, second]: [u128; 2]) -> Result<Value, Problem> {
    let Action::Swap { pool, sold, bought } = &event.action else { return Ok(Value::Null) };
    let amount = |transfer: &paraffin_alkanes::Transfer, place: usize| {
        let amount = if transfer.id == pool.tokens[place] { transfer.value } else { 0 };
        amount.to_string()
    };
    Ok(json!({
        "txid": event.txid.to_string(),
        "vout": event.vout,
        "token0": pool.tokens[0].to_string(),
        "token1": pool.tokens[1].to_string(),
        "amount0_in": amount(sold, 0),
        "amount1_in": amount(sold, 1),
        "amount0_out": amount(bought, 0),
        "amount1_out": amount(bought, 1),
        "reserve0_after": first.to_string(),
        "reserve1_after": second.to_string(),
        "timestamp": timestamp(event.time)?,
        "block_height": event.place.height,
    }))
}

/// POST `/get-candles`: the newest candles of a pool.
pub(in crate::rest) fn candles(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let pool = match pool_of(&body) {
            Ok(pool) => pool,
            Err(error) => return Ok(wrong_pool(&error)),
        };
        let name = body.one_of(&["interval", "timeframe"])?.map_or(Some("1h"), Value::as_str).unwrap_or_default();
        let Some(interval) = Interval::parse(name) else {
            return Ok(flat_error("invalid_interval", "interval must be 10m, 1h, 4h, 1d, 1w or 1M"));
        };
        let (from, to) = times(&body)?;
        let limit = body.positive("limit", CANDLES_MAX)?.unwrap_or(CANDLES_DEFAULT);
        let name = name.to_owned();
        let answer = read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let candles = interval.candles(&named.markets, pool, (from, to), limit)?;
            let candles = candles.iter().map(|candle| interval.told(candle)).collect::<Result<Vec<_>, RestError>>()?;
            Ok(json!({ "ok": true, "pool": pool.to_string(), "interval": name, "candles": candles }))
        });
        answered(answer.await)
    })
}

/// The width of candles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interval {
    /// As the index keeps them.
    Kept(Timeframe),
    /// Four hours, put together from single ones.
    FourHours,
}

impl Interval {
    fn parse(name: &str) -> Option<Self> {
        if name == "4h" { Some(Self::FourHours) } else { Timeframe::parse(name).map(Self::Kept) }
    }

    fn start(self, time: u32) -> u32 {
        match self {
            Self::Kept(timeframe) => timeframe.start(time),
            Self::FourHours => time - time % (4 * 3_600),
        }
    }

    fn next(self, start: u32) -> Option<u32> {
        match self {
            Self::Kept(timeframe) => timeframe.next(start),
            Self::FourHours => start.checked_add(4 * 3_600),
        }
    }

    /// Candles that begin in a span of time, newest first.
    fn candles(
        self,
        markets: &Markets,
        pool: AlkaneId,
        (from, to): (u32, u32),
        limit: usize,
    ) -> Result<Vec<Candle>, Problem> {
        if let Self::Kept(timeframe) = self {
            return Ok(markets.candles(pool, timeframe, from, to, 0, limit)?);
        }
        // Whole candles alone: of the first and the last all hours.
        let begin = self.start(from.saturating_add(4 * 3_600 - 1));
        let end = self.start(to).saturating_add(4 * 3_600 - 1);
        let hours = markets.candles(pool, Timeframe::Hour, begin, end, 0, limit.saturating_mul(4))?;
        let mut candles: Vec<Candle> = Vec::new();
        for hour in hours {
            let start = self.start(hour.start);
            if let Some(candle) = candles.last_mut().filter(|candle| candle.start == start) {
                precede(candle, &hour);
                continue;
            }
            if candles.len() == limit {
                break;
            }
            candles.push(Candle { start, ..hour });
        }
        Ok(candles)
    }

    fn told(self, candle: &Candle) -> Result<Value, RestError> {
        let [first, second] = candle.volumes;
        Ok(json!({
            "open_time": timestamp(candle.start)?,
            "close_time": self.next(candle.start).map(timestamp).transpose()?,
            "open": candle.open.to_decimal(),
            "high": candle.high.to_decimal(),
            "low": candle.low.to_decimal(),
            "close": candle.close.to_decimal(),
            "volume0": first.to_string(),
            "volume1": second.to_string(),
            "trade_count": candle.trades,
        }))
    }
}

/// Takes in the candle of earlier trades of the same bucket.
fn precede(candle: &mut Candle, earlier: &Candle) {
    if earlier.high.compare(&candle.high).is_gt() {
        candle.high = earlier.high;
    }
    if earlier.low.compare(&candle.low).is_lt() {
        candle.low = earlier.low;
    }
    candle.open = earlier.open;
    for (volume, more) in candle.volumes.iter_mut().zip(earlier.volumes) {
        *volume = volume.saturating_add(more);
    }
    candle.trades = candle.trades.saturating_add(earlier.trades);
}

/// POST `/get-reserves`: what a pool holds.
pub(in crate::rest) fn reserves(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let pool = match pool_of(&body) {
            Ok(pool) => pool,
            Err(error) => return Ok(wrong_pool(&error)),
        };
        let answer = read(context, move |moment| {
            let named = moment.named_pool(pool)?.ok_or_else(|| unknown_pool(pool))?;
            let [first, second] = held(moment.chain.state, named.identity)?;
            let height = moment.chain.view.height;
            let block = moment.markets.snapshot().block(height).map_err(paraffin_amm::AmmError::from)?;
            Ok(json!({
                "ok": true,
                "pool": pool.to_string(),
                "reserve0": first.to_string(),
                "reserve1": second.to_string(),
                "timestamp": block.map(|block| timestamp(block.time)).transpose()?,
                "block_height": height,
            }))
        });
        answered(answer.await)
    })
}

/// POST `/pathfind`: the way that gives most for an amount, with each pool's own fee and rounding.
pub(in crate::rest) fn pathfind(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let token = |names: &[&str]| optional_id(&body, names).ok().flatten();
        let ends = token(&["token_in", "tokenIn"]).zip(token(&["token_out", "tokenOut"]));
        let Some((from, to)) = ends else {
            return Ok(flat_error("invalid_token_format", "token_in and token_out must be block:tx"));
        };
        let amount = body.one_of(&["amount_in", "amountIn"])?;
        let amount = amount.ok_or_else(|| RestError::bad_request("amount_in is required"))?;
        let wrong = || RestError::bad_request("amount_in must be an integer of base units below 2^128");
        let amount = decimal(amount).ok_or_else(wrong)?;
        let hops_max = body.positive("max_hops", HOPS_MAX)?.unwrap_or(HOPS_MAX);
        let factory = optional_id(&body, &FACTORY_FIELDS)?;
        let beside = match body.one_of(&["cryptoswap"])? {
            None => factory.is_none(),
            Some(Value::Bool(true)) if factory.is_some() => {
                let sentence = "a factory means the pools of that factory alone: leave out cryptoswap or the factory";
                return Err(RestError::bad_request(sentence));
            }
            Some(Value::Bool(beside)) => *beside,
            Some(_) => return Err(RestError::bad_request("cryptoswap must be true or false")),
        };
        let factory = factory_id(context, &body)?;
        let answer = read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            let route = if beside {
                let graph = book.graph_beside(factory, || moment.cryptoswap_routes())?;
                graph.exact_in(from, to, amount, Fees::Pool, hops_max)
            } else {
                book.graph(Some(factory)).exact_in(from, to, amount, Fees::Pool, hops_max)
            };
            let paths = route.iter().map(|route| {
                let hops = route.hops.iter().map(|hop| {
                    json!({
                        "pool": hop.pool.to_string(),
                        "token_in": hop.token_in.to_string(),
                        "token_out": hop.token_out.to_string(),
                        "amount_in": hop.amount_in.to_string(),
                        "amount_out": hop.amount_out.to_string(),
                        "kind": if hop.fee == HopFee::Formula { "cryptoswap" } else { "factory" },
                    })
                });
                json!({
                    "hops": hops.collect::<Vec<_>>(),
                    "pools": route.hops.iter().map(|hop| hop.pool.to_string()).collect::<Vec<_>>(),
                    "estimated_output": route.amount_out().to_string(),
                })
            });
            Ok(json!({
                "ok": true,
                "token_in": from.to_string(),
                "token_out": to.to_string(),
                "amount_in": amount.to_string(),
                "paths": paths.collect::<Vec<_>>(),
            }))
        });
        answered(answer.await)
    })
}
