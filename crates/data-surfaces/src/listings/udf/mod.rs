//! `/v4/<KEY>/udf/…`: the data feed of the charting library of `TradingView` (docs/listings.md).

mod history;
mod search;

use paraffin_amm::{Interval, Ratio, Timeframe};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::names::pair_symbol;
use super::number::AMOUNT_PLACES;
use super::{PoolIdText, admit};
use crate::markets::{Problem, read};
use paraffin_gateway::api_types::IdText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{MarketMoment, NamedPool};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Base, Changes, Declared, Group, Route, Verb, Wrapping};
use paraffin_gateway::state::{RequestContext, unix_millis};

pub(crate) static GROUP: Group = Group {
    tag: "TradingView",
    base: Base::Keyed,
    admit,
    routes: &[
        Declared::of::<Config>(),
        Declared::of::<Symbols>(),
        Declared::of::<search::Search>(),
        Declared::of::<history::History>(),
        Declared::of::<ServerTime>(),
    ],
};

/// Factories listed as exchanges at most; pools of others are found without a filter.
const EXCHANGES_MAX: usize = 50;
/// Digits of a price that a chart shows, and most decimal places of a price scale.
const SHOWN_DIGITS: usize = 6;
const PRICE_PLACES_MAX: usize = 16;

/// The resolutions with their intervals, the narrowest first.
const RESOLUTIONS: [(&str, Interval); 6] = [
    ("10", Interval::Indexed(Timeframe::TenMinutes)),
    ("60", Interval::Indexed(Timeframe::Hour)),
    ("240", Interval::FourHours),
    ("1D", Interval::Indexed(Timeframe::Day)),
    ("1W", Interval::Indexed(Timeframe::Week)),
    ("1M", Interval::Indexed(Timeframe::Month)),
];
/// Those of them that are shorter than a day.
const INTRADAY: [&str; 3] = ["10", "60", "240"];

fn resolutions() -> [&'static str; 6] {
    RESOLUTIONS.map(|(name, _)| name)
}

/// Capabilities of the feed, and the factories whose pools it has.
#[derive(Deserialize, JsonSchema)]
struct Config {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::struct_excessive_bools, reason = "members of the answer")]
struct ConfigAnswer {
    supported_resolutions: [&'static str; 6],
    supports_group_request: bool,
    supports_marks: bool,
    supports_search: bool,
    supports_time: bool,
    supports_timescale_marks: bool,
    /// The first is all of them, the others one each: the first 50 by id.
    exchanges: Vec<Exchange>,
    symbols_types: Vec<SymbolType>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Exchange {
    /// The factory's id, or nothing for all of them.
    value: String,
    name: String,
    desc: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SymbolType {
    name: &'static str,
    value: &'static str,
}

impl Route for Config {
    const PATHS: Paths = &[(Verb::Get, "udf/config")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ConfigAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<ConfigAnswer, ApiError> {
        read(context, |moment| {
            let mut exchanges = vec![Exchange {
                value: String::new(),
                name: "All".to_owned(),
                desc: "Pools of all factories".to_owned(),
            }];
            let factories = moment.markets.factories(None, EXCHANGES_MAX)?;
            exchanges.extend(factories.into_iter().map(|(id, count)| Exchange {
                value: id.to_string(),
                name: id.to_string(),
                desc: format!("Factory {id}, {count} pools"),
            }));
            Ok(ConfigAnswer {
                supported_resolutions: resolutions(),
                supports_group_request: false,
                supports_marks: false,
                supports_search: true,
                supports_time: true,
                supports_timescale_marks: false,
                exchanges,
                symbols_types: vec![
                    SymbolType { name: "All", value: "" },
                    SymbolType { name: "Pools", value: SYMBOL_TYPE },
                ],
            })
        })
        .await
    }
}

/// The type of all symbols.
const SYMBOL_TYPE: &str = "crypto";

/// A symbol: the id of a pool, or that of its factory and then that of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    factory: Option<AlkaneId>,
    pool: AlkaneId,
}

impl<'de> Deserialize<'de> for Symbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("must be the id of a pool as block:tx, for example 2:5");
        let text = String::deserialize(deserializer).map_err(|_| wrong())?;
        let (factory, pool) = match text.match_indices(':').nth(1) {
            Some((place, _)) => (Some(text[..place].parse().map_err(|_| wrong())?), &text[place + 1..]),
            None => (None, text.as_str()),
        };
        Ok(Self { factory, pool: pool.parse().map_err(|_| wrong())? })
    }
}

impl Symbol {
    /// The pool; 404 when there is none.
    fn pool(self, moment: &MarketMoment<'_>) -> Result<NamedPool, Problem> {
        let Self { factory, pool } = self;
        let found = moment.named_pool(pool)?;
        let found = found.filter(|found| factory.is_none_or(|factory| factory == found.identity.factory));
        found.ok_or_else(|| ApiError::not_found(format!("there is no pool {pool}")).into())
    }
}

/// A pool as a symbol of charts.
#[derive(Deserialize, JsonSchema)]
struct Symbols {
    /// The id of a pool, block:tx, or with that of its factory before it, as searches give it.
    #[schemars(with = "PoolIdText")]
    symbol: Symbol,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::struct_excessive_bools, reason = "members of the answer")]
struct SymbolAnswer {
    /// The symbols of both alkanes.
    name: String,
    /// The id of the pool, with which clients request data.
    ticker: IdText,
    /// The ids of factory and pool.
    full_name: String,
    description: String,
    r#type: &'static str,
    session: &'static str,
    timezone: &'static str,
    exchange: IdText,
    listed_exchange: IdText,
    /// The price is in units of this alkane.
    currency_code: String,
    format: &'static str,
    minmov: u32,
    /// A power of ten, by the price of the newest trade.
    pricescale: u64,
    has_intraday: bool,
    has_daily: bool,
    has_weekly_and_monthly: bool,
    has_empty_bars: bool,
    supported_resolutions: [&'static str; 6],
    intraday_multipliers: [&'static str; 3],
    volume_precision: usize,
    data_status: &'static str,
}

impl Route for Symbols {
    const PATHS: Paths = &[(Verb::Get, "udf/symbols")];
    const EXAMPLE: &'static str = r#"{"symbol":"2:5"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = SymbolAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<SymbolAnswer, ApiError> {
        read(context, move |moment| {
            let NamedPool { identity: pool, markets, .. } = self.symbol.pool(moment)?;
            let newest = markets.candle_before(pool.id, Timeframe::Hour, u32::MAX)?;
            let name = pair_symbol(moment, &pool)?;
            let (_, currency) = name.rsplit_once('/').unwrap_or_default();
            Ok(SymbolAnswer {
                ticker: IdText(pool.id),
                full_name: format!("{}:{}", pool.factory, pool.id),
                description: describe(&name, pool.id),
                r#type: SYMBOL_TYPE,
                session: "24x7",
                timezone: "Etc/UTC",
                exchange: IdText(pool.factory),
                listed_exchange: IdText(pool.factory),
                currency_code: currency.to_owned(),
                format: "price",
                minmov: 1,
                pricescale: price_scale(newest.map(|(candle, _)| candle.close)),
                has_intraday: true,
                has_daily: true,
                has_weekly_and_monthly: true,
                has_empty_bars: false,
                supported_resolutions: resolutions(),
                intraday_multipliers: INTRADAY,
                volume_precision: AMOUNT_PLACES,
                data_status: "streaming",
                name,
            })
        })
        .await
    }
}

fn describe(name: &str, pool: AlkaneId) -> String {
    format!("{name}, pool {pool}")
}

/// The power of ten that shows a price with at least six digits: from 10^2 to 10^16. Eight places without a trade.
fn price_scale(price: Option<Ratio>) -> u64 {
    let Some(price) = price else { return 10u64.pow(AMOUNT_PLACES as u32) };
    let text = price.to_decimal();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let places = if whole == "0" {
        let zeros = fraction.len() - fraction.trim_start_matches('0').len();
        zeros + SHOWN_DIGITS
    } else {
        SHOWN_DIGITS.saturating_sub(whole.len())
    };
    10u64.pow(places.clamp(2, PRICE_PLACES_MAX) as u32)
}

/// The time of this instance's clock, Unix seconds.
#[derive(Deserialize, JsonSchema)]
struct ServerTime {}

impl Route for ServerTime {
    const PATHS: Paths = &[(Verb::Get, "udf/time")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = i64;

    async fn answer(self, _: &RequestContext, _: Part) -> Result<i64, ApiError> {
        Ok(unix_millis() / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_gateway::rest::route::read_text;

    #[test]
    fn a_symbol_is_a_pool_with_or_without_its_factory() {
        let id = |block, tx| AlkaneId { block, tx };
        let of = |symbol: &str| {
            let read = read_text::<Symbols>(&format!(r#"{{"symbol":"{symbol}"}}"#));
            read.map(|query| query.symbol).map_err(|error| error.message.into_owned())
        };
        assert_eq!(of("2:5"), Ok(Symbol { factory: None, pool: id(2, 5) }));
        assert_eq!(of("4:65522:2:5"), Ok(Symbol { factory: Some(id(4, 65_522)), pool: id(2, 5) }));
        for wrong in ["", "2", "2:", "2:5:", "2:5:6", "4:1:2:5:6", "a:b", "DIESEL/FRBTC", "é:1:2:5"] {
            assert!(of(wrong).unwrap_err().starts_with("symbol must be the id of a pool"), "{wrong}");
        }
    }

    #[test]
    fn the_scale_shows_six_digits_of_a_price() {
        let of = |numerator, denominator| price_scale(Ratio::new(numerator, denominator));
        assert_eq!(of(1, 1), 100_000);
        assert_eq!(of(123_456_789, 1), 100);
        assert_eq!(of(1, 4), 1_000_000);
        assert_eq!(of(1, 1_000), 100_000_000);
        assert_eq!(of(1, u128::MAX), 10u64.pow(6));
        assert_eq!(of(1, 10u128.pow(15)), 10u64.pow(16));
        assert_eq!(price_scale(None), 100_000_000);
    }
}
