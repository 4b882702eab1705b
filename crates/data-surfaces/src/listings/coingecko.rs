//! `/v4/<KEY>/coingecko/…`: the endpoints that `CoinGecko` requires of a non-custodial exchange (docs/listings.md).

use std::borrow::Cow;

use paraffin_amm::{
    Action, AmmError, BookPool, Depth, DepthLevel, Event, NumberedTrade, PoolIdentity, Ratio, Timeframe, TradeSpan,
    depth,
};
use paraffin_primitives::AlkaneId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

use super::admit;
use super::number::{DecimalText, HowMany, IdParam, Seconds};
use crate::markets::{Problem, read, require_factory};
use paraffin_gateway::api_types::IdText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{self, MarketMoment};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::{Pages, Paths};
use paraffin_gateway::rest::{Base, Changes, Declared, Group, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "CoinGecko",
    base: Base::Keyed,
    admit,
    routes: &[
        Declared::of::<Pairs>(),
        Declared::of::<Tickers>(),
        Declared::of::<OrderBook>(),
        Declared::of::<HistoricalTrades>(),
    ],
};

/// Default and largest number of pools of an answer.
const POOLS: Pages = Pages { default: Some(2_000), max: 2_000 };
/// The window of tickers, seconds: buckets of ten minutes, the last of them that of the newest block.
const WINDOW: u32 = 86_400 - 600;
/// Its buckets at most. Header times are not monotonic, so that a few may be after that of the newest block.
const WINDOW_BUCKETS_MAX: usize = 200;
/// Default and largest number of orders of a book: half of them on each side.
const ORDERS_DEFAULT: usize = 200;
const ORDERS_MAX: usize = 1_000;
/// Default and largest number of trades.
const TRADES_DEFAULT: usize = 500;
const TRADES_MAX: usize = 5_000;
/// Trades read at most when only those of one side are requested.
const SCANNED_MAX: usize = 20_000;
/// Decimal places of prices.
const PRICE_PLACES: u32 = 18;

/// Base and target of a pool, `2:0_32:0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct TickerId([AlkaneId; 2]);

impl TryFrom<String> for TickerId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let parsed = text.split_once('_').and_then(|(base, target)| Some([base.parse().ok()?, target.parse().ok()?]));
        parsed.map(Self).ok_or("must be two ids with _ between them, for example 2:0_32:0")
    }
}

impl Serialize for TickerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [base, target] = self.0;
        serializer.collect_str(&format_args!("{base}_{target}"))
    }
}

impl JsonSchema for TickerId {
    fn schema_name() -> Cow<'static, str> {
        "TickerId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]{1,39}:[0-9]{1,39}_[0-9]{1,39}:[0-9]{1,39}$",
            "description": "Base and target of a pool: its alkanes in its order",
        })
    }
}

/// The requested factory: the network's own where none is named.
fn factory_of(context: &RequestContext, named: Option<IdParam>) -> Result<AlkaneId, ApiError> {
    Ok(named.map_or(markets::of(context)?.factory, |named| named.0))
}

/// The pools of a factory, the deepest first.
fn pools_of(book: &paraffin_amm::MarketBook, factory: AlkaneId) -> Vec<&BookPool> {
    let mut pools: Vec<&BookPool> = book.pools_of(factory).collect();
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.worth.tvl));
    pools
}

/// The pool of a ticker: the deepest, where a factory has several of a pair.
fn pool_of(moment: &MarketMoment<'_>, factory: AlkaneId, ticker: TickerId) -> Result<BookPool, Problem> {
    let [base, target] = ticker.0;
    let book = moment.book()?;
    let of_pair = book.pools_with(base).filter(|pool| {
        let PoolIdentity { factory: of, tokens, .. } = pool.record.pool;
        of == factory && tokens == ticker.0
    });
    let deepest = of_pair.max_by_key(|pool| (pool.worth.tvl, std::cmp::Reverse(pool.record.created)));
    let missing = || ApiError::not_found(format!("factory {factory} has no pool {base}_{target}"));
    Ok(deepest.cloned().ok_or_else(missing)?)
}

/// Unix milliseconds of the block that the answer is as of.
fn moment_ms(moment: &MarketMoment<'_>) -> Result<u64, Problem> {
    Ok(u64::from(newest_time(moment)?) * 1_000)
}

fn newest_time(moment: &MarketMoment<'_>) -> Result<u32, Problem> {
    let block = moment.markets.snapshot().block(moment.markets.height()).map_err(AmmError::from)?;
    Ok(block.ok_or_else(ApiError::starting)?.time)
}

/// Pools of a factory, the deepest first.
#[derive(Deserialize, JsonSchema)]
struct Pairs {
    /// The network's own when absent.
    factory: Option<IdParam>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Pair {
    ticker_id: TickerId,
    base: IdText,
    target: IdText,
    pool_id: IdText,
}

impl Route for Pairs {
    const PATHS: Paths = &[(Verb::Get, "coingecko/pairs")];
    const PAGES: Option<Pages> = Some(POOLS);
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = Vec<Pair>;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<Vec<Pair>, ApiError> {
        let factory = factory_of(context, self.factory)?;
        read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            let pools = part.of(pools_of(&book, factory)).into_iter();
            let pairs = pools.map(|pool| {
                let PoolIdentity { id, tokens, .. } = pool.record.pool;
                let [base, target] = tokens.map(IdText);
                Pair { ticker_id: TickerId(tokens), base, target, pool_id: IdText(id) }
            });
            Ok(pairs.collect())
        })
        .await
    }
}

/// Pools of a factory that were ever traded, the deepest first, with the trade of the newest 24 hours: 144 buckets of ten minutes,
/// the last of them that of the newest block.
#[derive(Deserialize, JsonSchema)]
struct Tickers {
    /// The network's own when absent.
    factory: Option<IdParam>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::struct_field_names, reason = "members of the answer")]
struct Ticker {
    ticker_id: TickerId,
    base_currency: IdText,
    target_currency: IdText,
    pool_id: IdText,
    /// Units of the target for one of the base, as for all prices.
    last_price: DecimalText,
    base_volume: DecimalText,
    target_volume: DecimalText,
    /// Value of the pool's reserves, in dollars with cents, rounded down; absent while no source of dollars reports, or no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    liquidity_in_usd: Option<DecimalText>,
    /// The best price of the book; absent when it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    bid: Option<DecimalText>,
    /// The best price of the book; absent when it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    ask: Option<DecimalText>,
    /// Absent without a trade in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    high: Option<DecimalText>,
    /// Absent without a trade in the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DecimalText")]
    low: Option<DecimalText>,
}

fn price(price: Ratio) -> DecimalText {
    DecimalText::price(price, PRICE_PLACES)
}

impl Route for Tickers {
    const PATHS: Paths = &[(Verb::Get, "coingecko/tickers")];
    const PAGES: Option<Pages> = Some(POOLS);
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::WithPrices;
    const MAY_BE_MISSING: bool = true;
    type Answer = Vec<Ticker>;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<Vec<Ticker>, ApiError> {
        let factory = factory_of(context, self.factory)?;
        read(context, move |moment| {
            require_factory(moment, factory)?;
            let begin = Timeframe::TenMinutes.start(newest_time(moment)?).saturating_sub(WINDOW);
            let book = moment.book()?;
            let traded = pools_of(&book, factory).into_iter().filter_map(|pool| Some((pool, pool.figures.price?)));
            let mut tickers = Vec::new();
            for (pool, last_price) in part.of(traded.collect()) {
                moment.chain.check()?;
                tickers.push(ticker(moment, pool, last_price, begin)?);
            }
            Ok(tickers)
        })
        .await
    }
}

fn ticker(moment: &MarketMoment<'_>, pool: &BookPool, last_price: Ratio, begin: u32) -> Result<Ticker, Problem> {
    let PoolIdentity { id, tokens, .. } = pool.record.pool;
    let window = moment.markets.candle_since(id, begin, WINDOW_BUCKETS_MAX)?;
    let [base_volume, target_volume] = match &window {
        Some(window) => window.volumes.map(DecimalText::amount),
        None => [0, 0].map(DecimalText::amount),
    };
    let [base_currency, target_currency] = tokens.map(IdText);
    let Depth { bids, asks } = depth(&pool.state.for_routes(), 1);
    let best = |levels: &[DepthLevel]| levels.first().and_then(DepthLevel::price).map(price);
    Ok(Ticker {
        ticker_id: TickerId(tokens),
        base_currency,
        target_currency,
        pool_id: IdText(id),
        last_price: price(last_price),
        base_volume,
        target_volume,
        liquidity_in_usd: pool.worth.tvl.zip(moment.dollars_for_bitcoin).and_then(cents).map(DecimalText::hundredths),
        bid: best(&bids),
        ask: best(&asks),
        high: window.map(|window| price(window.high)),
        low: window.map(|window| price(window.low)),
    })
}

/// Value of satoshis in cents at a price in dollars per bitcoin, rounded down; the price counts with six decimal places.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float beyond the range gives its end
fn cents((satoshis, dollars): (u128, f64)) -> Option<u128> {
    if !dollars.is_finite() || dollars < 0.0 {
        return None;
    }
    let millionths = (dollars * 1e6).round() as u128;
    // 10^8 satoshis for a bitcoin, 10^4 millionths for a cent.
    Some(satoshis.checked_mul(millionths)? / 1_000_000_000_000)
}

/// Output of trades of growing size as an order book: each order is a thousandth of the pool's reserve of the base.
#[derive(Deserialize, JsonSchema)]
struct OrderBook {
    /// Base and target of a pool.
    ticker_id: TickerId,
    /// Orders of both sides together: 200 when absent; 0 is all, more than 1,000 is taken as 1,000.
    depth: Option<HowMany>,
    /// The network's own when absent.
    factory: Option<IdParam>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OrderBookAnswer {
    ticker_id: TickerId,
    pool_id: IdText,
    /// Unix milliseconds of the newest block.
    timestamp: u64,
    /// Price and amount of the base, the highest price first.
    bids: Vec<[DecimalText; 2]>,
    /// Price and amount of the base, the lowest price first.
    asks: Vec<[DecimalText; 2]>,
}

impl Route for OrderBook {
    const PATHS: Paths = &[(Verb::Get, "coingecko/orderbook")];
    const EXAMPLE: &'static str = r#"{"ticker_id":"2:0_32:0","depth":"100"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = OrderBookAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<OrderBookAnswer, ApiError> {
        let factory = factory_of(context, self.factory)?;
        let orders = self.depth.map_or(ORDERS_DEFAULT, |depth| depth.at_most(ORDERS_MAX).unwrap_or(ORDERS_MAX));
        let levels = u16::try_from(orders.div_ceil(2)).unwrap_or(u16::MAX);
        read(context, move |moment| {
            let pool = pool_of(moment, factory, self.ticker_id)?;
            let Depth { bids, asks } = depth(&pool.state.for_routes(), levels);
            let rows = |levels: Vec<DepthLevel>| {
                let rows =
                    levels.iter().filter_map(|level| Some([price(level.price()?), DecimalText::amount(level.amount)]));
                rows.collect()
            };
            Ok(OrderBookAnswer {
                ticker_id: self.ticker_id,
                pool_id: IdText(pool.record.pool.id),
                timestamp: moment_ms(moment)?,
                bids: rows(bids),
                asks: rows(asks),
            })
        })
        .await
    }
}

/// The side of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum TradeType {
    /// The base was bought.
    Buy,
    /// The base was sold.
    Sell,
}

impl TradeType {
    /// The record of a trade; `None` for other events, or without a price as one of the amounts is 0.
    fn of(event: &Event) -> Option<Self> {
        event.action.price()?;
        match &event.action {
            Action::Swap { pool, sold, .. } => Some(if sold.id == pool.tokens[0] { Self::Sell } else { Self::Buy }),
            _ => None,
        }
    }
}

/// Trades of a pool, the newest first, by the side of the base.
///
/// Where more trades match than are answered, repeat with `end_time` at the time of the oldest: trades have numbers.
#[derive(Deserialize, JsonSchema)]
struct HistoricalTrades {
    /// Base and target of a pool.
    ticker_id: TickerId,
    /// Both when absent.
    r#type: Option<TradeType>,
    /// Both sides together: 500 when absent; 0, and more than 5,000, is taken as 5,000. Of the trades in the span of time the newest
    /// 20,000 are looked at.
    limit: Option<HowMany>,
    /// At or after this time, Unix seconds.
    start_time: Option<Seconds>,
    /// At or before this time, Unix seconds.
    end_time: Option<Seconds>,
    /// The network's own when absent.
    factory: Option<IdParam>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct TradesAnswer {
    buy: Vec<Trade>,
    sell: Vec<Trade>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::struct_field_names, reason = "members of the answer")]
struct Trade {
    /// Number of the trade among those of its pool, from 1.
    trade_id: u32,
    /// Units of the target for one of the base, the fee included.
    price: DecimalText,
    base_volume: DecimalText,
    target_volume: DecimalText,
    /// Unix milliseconds of the block.
    trade_timestamp: u64,
    r#type: TradeType,
}

impl Route for HistoricalTrades {
    const PATHS: Paths = &[(Verb::Get, "coingecko/historical_trades")];
    const EXAMPLE: &'static str = r#"{"ticker_id":"2:0_32:0","type":"buy","limit":"100"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = TradesAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TradesAnswer, ApiError> {
        let factory = factory_of(context, self.factory)?;
        let span = TradeSpan {
            from: self.start_time.map_or(0, |time| time.0),
            to: self.end_time.map_or(u32::MAX, |time| time.0),
            limit: self.limit.map_or(TRADES_DEFAULT, |limit| limit.at_most(TRADES_MAX).unwrap_or(TRADES_MAX)),
            scanned_max: SCANNED_MAX,
        };
        read(context, move |moment| {
            let pool = pool_of(moment, factory, self.ticker_id)?.record.pool.id;
            let wanted = |event: &Event| match (TradeType::of(event), self.r#type) {
                (Some(kind), Some(wanted)) => kind == wanted,
                (kind, None) => kind.is_some(),
                (None, Some(_)) => false,
            };
            let trades = moment.markets.trades_between(pool, span, wanted, moment.chain.view.is_over)?;
            let (buy, sell) = trades.iter().filter_map(trade).partition(|trade| trade.r#type == TradeType::Buy);
            Ok(TradesAnswer { buy, sell })
        })
        .await
    }
}

fn trade(NumberedTrade { number, event }: &NumberedTrade) -> Option<Trade> {
    let [base, target] = event.action.traded()?;
    Some(Trade {
        trade_id: *number,
        price: price(event.action.price()?),
        base_volume: DecimalText::amount(base),
        target_volume: DecimalText::amount(target),
        trade_timestamp: u64::from(event.time) * 1_000,
        r#type: TradeType::of(event)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticker_is_two_ids() {
        let id = |block, tx| AlkaneId { block, tx };
        let of = |text: &str| TickerId::try_from(text.to_owned());
        assert_eq!(of("2:0_32:0"), Ok(TickerId([id(2, 0), id(32, 0)])));
        assert_eq!(serde_json::to_string(&of("2:0_32:0").unwrap()).unwrap(), r#""2:0_32:0""#);
        for wrong in ["", "_", "2:0", "2:0_", "2:0-32:0", "2:0_32:0_2:1", "BTC_USD"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn dollars_have_cents_and_are_rounded_down() {
        assert_eq!(cents((100_000_000, 65_432.109)), Some(6_543_210));
        assert_eq!(cents((1, 65_432.1)), Some(0));
        assert_eq!(cents((0, 0.0)), Some(0));
        assert_eq!(cents((u128::MAX, 65_432.1)), None);
        assert_eq!(cents((1, f64::NAN)), None);
        assert_eq!(cents((1, -1.0)), None);
    }
}
