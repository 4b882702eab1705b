//! Bars.

use paraffin_amm::{Candle, Interval, Ratio};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::super::PoolIdText;
use super::super::number::{DecimalNumber, HowMany, Seconds};
use super::{RESOLUTIONS, Symbol, resolutions};
use crate::markets::read;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::NamedPool;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Bars of an answer at most.
const BARS_MAX: usize = 5_000;

/// A resolution; also without the 1 before the letter.
#[derive(Debug, Clone, Copy, JsonSchema)]
#[schemars(inline, with = "String", extend("enum" = ["10", "60", "240", "1D", "1W", "1M", "D", "W", "M"]))]
struct Resolution(Interval);

impl<'de> Deserialize<'de> for Resolution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom(format_args!("must be one of {}", resolutions().join(", ")));
        let text = String::deserialize(deserializer).map_err(|_| wrong())?;
        let found = RESOLUTIONS.iter().find(|(name, _)| *name == text || name.strip_prefix('1') == Some(&text));
        // "0" is no "10".
        found.filter(|_| text != "0").map(|(_, interval)| Self(*interval)).ok_or_else(wrong)
    }
}

/// Bars of a pool, the oldest first. Buckets without trades have none.
#[derive(Deserialize, JsonSchema)]
pub(super) struct History {
    /// The id of a pool, block:tx, or with that of its factory before it.
    #[schemars(with = "PoolIdText")]
    symbol: Symbol,
    /// Width of a bar: minutes, or days, weeks, months.
    resolution: Resolution,
    /// Bars begin at this time or later, Unix seconds; without effect beside `countback`.
    from: Option<Seconds>,
    /// Bars begin before this time, Unix seconds; the end of time when absent.
    to: Option<Seconds>,
    /// Number of bars before `to`, regardless of `from`. More than 5,000 is taken as 5,000, which is also the most without it; 0 is
    /// the same as absent.
    countback: Option<HowMany>,
}

/// Bars as columns, or that there are none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum HistoryAnswer {
    Bars(Bars),
    NoData(NoData),
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Bars {
    #[schemars(extend("const" = "ok"))]
    s: &'static str,
    /// Where each begins, Unix seconds.
    t: Vec<u32>,
    o: Vec<DecimalNumber>,
    h: Vec<DecimalNumber>,
    l: Vec<DecimalNumber>,
    c: Vec<DecimalNumber>,
    /// Of the pool's first alkane.
    v: Vec<DecimalNumber>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct NoData {
    #[schemars(extend("const" = "no_data"))]
    s: &'static str,
    /// Where the newest bar before `from` begins, Unix seconds; absent when there is none.
    #[serde(rename = "nextTime", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    next_time: Option<u32>,
}

impl Route for History {
    const PATHS: Paths = &[(Verb::Get, "udf/history")];
    const EXAMPLE: &'static str = r#"{"symbol":"2:5","resolution":"60","to":"2000000000","countback":"24"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const MAY_BE_MISSING: bool = true;
    type Answer = HistoryAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HistoryAnswer, ApiError> {
        let Self { symbol, resolution: Resolution(interval), from, to, countback } = self;
        let countback = countback.and_then(|count| count.at_most(BARS_MAX));
        let from = if countback.is_some() { 0 } else { from.map_or(0, |from| from.0) };
        let newest = to.map_or(u32::MAX, |to| to.0).checked_sub(1);
        read(context, move |moment| {
            let NamedPool { identity, markets, .. } = symbol.pool(moment)?;
            let candles = |from, to, limit| markets.candles_of(identity.id, interval, from, to, limit);
            let mut bars = match newest {
                Some(newest) if from <= newest => candles(from, newest, countback.unwrap_or(BARS_MAX))?,
                _ => Vec::new(),
            };
            if bars.is_empty() {
                let earlier = match from.checked_sub(1).zip(newest) {
                    Some((before, newest)) => candles(0, before.min(newest), 1)?,
                    None => Vec::new(),
                };
                return Ok(HistoryAnswer::NoData(NoData {
                    s: "no_data",
                    next_time: earlier.first().map(|candle| candle.start),
                }));
            }
            bars.reverse();
            Ok(HistoryAnswer::Bars(columns(&bars)))
        })
        .await
    }
}

fn columns(bars: &[Candle]) -> Bars {
    let prices = |of: fn(&Candle) -> Ratio| bars.iter().map(|bar| DecimalNumber::price(of(bar))).collect();
    Bars {
        s: "ok",
        t: bars.iter().map(|bar| bar.start).collect(),
        o: prices(|bar| bar.open),
        h: prices(|bar| bar.high),
        l: prices(|bar| bar.low),
        c: prices(|bar| bar.close),
        v: bars.iter().map(|bar| DecimalNumber::amount(bar.volumes[0])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use paraffin_amm::Timeframe;

    use super::*;
    use paraffin_gateway::rest::route::read_text;

    #[test]
    fn a_resolution_is_one_that_is_supported() {
        let of = |text: &str| {
            read_text::<History>(&format!(r#"{{"symbol":"2:5","resolution":"{text}"}}"#))
                .map(|query| query.resolution.0)
        };
        for (name, interval) in RESOLUTIONS {
            assert_eq!(of(name), Ok(interval));
        }
        assert_eq!(of("D"), Ok(Interval::Indexed(Timeframe::Day)));
        for wrong in ["", "0", "1", "5", "1d", "1h", "12M"] {
            assert_eq!(of(wrong).unwrap_err().message, "resolution must be one of 10, 60, 240, 1D, 1W, 1M", "{wrong}");
        }
    }
}
