//! Candles of a pool.

use paraffin_alkanes::views::ViewError;
use paraffin_amm::{Candle, Markets, Ratio, Series, Side, Timeframe};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{AtHeight, Part, id, word};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read_markets};
use paraffin_gateway::markets::{MarketMoment, NamedPool, failed};
use paraffin_gateway::methods::Natural;
use paraffin_gateway::state::RequestContext;

/// A candle. Prices are decimal text, volumes base units in decimal digits, times Unix seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Candle")]
struct Row {
    open_time: String,
    /// Where the next candle begins.
    close_time: String,
    /// The same as `open_time`, as a number.
    ts: u32,
    open: String,
    high: String,
    low: String,
    close: String,
    /// Of the token named by `side`.
    volume: String,
    /// The same as `trade_count`.
    trades: u32,
    /// Of the pool's first alkane.
    volume0: String,
    /// Of the pool's second alkane.
    volume1: String,
    trade_count: u32,
}

impl Row {
    fn new(candle: &Candle, side: Side, timeframe: Timeframe) -> Self {
        let seen = candle.seen_from(side);
        Self {
            open_time: candle.start.to_string(),
            // The last bucket of 32 bits ends with them.
            close_time: timeframe.next(candle.start).unwrap_or(u32::MAX).to_string(),
            ts: candle.start,
            open: seen.open.to_decimal(),
            high: seen.high.to_decimal(),
            low: seen.low.to_decimal(),
            close: seen.close.to_decimal(),
            volume: seen.volume.to_string(),
            trades: candle.trades,
            volume0: candle.volumes[0].to_string(),
            volume1: candle.volumes[1].to_string(),
            trade_count: candle.trades,
        }
    }
}

fn timeframe(text: Option<&str>) -> Result<Timeframe, Refusal> {
    const WORDS: [&[&str]; 5] = [&["10m", "m10"], &["1h", "h1"], &["1d", "d1"], &["1w", "w1"], &["1M", "m1"]];
    let word = word("timeframe", text, &WORDS, Timeframe::Hour.name(), "invalid_timeframe")?;
    Ok(Timeframe::parse(word).unwrap_or(Timeframe::Hour))
}

/// Reads `side`; also returns it as answers spell it.
pub(super) fn side(text: Option<&str>) -> Result<(&'static str, Side), Refusal> {
    let word = word("side", text, &[&["base", "b"], &["quote", "q"]], "base", "invalid_side")?;
    Ok((word, if word == "base" { Side::Base } else { Side::Quote }))
}

/// The failure for a pool that does not exist.
pub(super) fn unknown(pool: AlkaneId) -> Refusal {
    Refusal::new("pool_not_found", format!("there is no pool {pool}"))
}

/// Candles of a pool, the oldest of the page first; page 0 has the newest.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Candles {
    /// The pool's id `block:tx`.
    pool: String,
    /// `10m`, `1h`, `1d`, `1w` or `1M`; `1h` when absent.
    timeframe: Option<String>,
    /// Token of the pool that prices and sides refer to: `base` or `quote`; `base` when absent.
    side: Option<String>,
    /// Whether intervals without trades get a candle at the last price; `false` when absent.
    fill: Option<bool>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Candles of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of candles.
#[derive(Serialize, JsonSchema)]
pub(super) struct CandlesAnswer {
    ok: bool,
    pool: String,
    timeframe: &'static str,
    side: &'static str,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u64,
    has_more: bool,
    candles: Vec<Row>,
}

impl EspoMethod for Candles {
    const NAME: &'static str = "ammdata.get_candles";
    const EXAMPLE: &'static str = r#"{"pool":"2:1","timeframe":"1h","limit":24}"#;
    type Answer = CandlesAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<CandlesAnswer, Failure> {
        let pool = id("pool", &self.pool, "missing_or_invalid_pool")?;
        let timeframe = timeframe(self.timeframe.as_deref())?;
        let (side_word, side) = side(self.side.as_deref())?;
        let part = Part::read(self.page, self.limit, self.size)?;
        let fill = self.fill.unwrap_or(false);
        let found = read_markets(context, self.height.as_ref(), move |moment| {
            let Some(NamedPool { markets, .. }) = moment.named_pool(pool)? else { return Ok(Err(unknown(pool))) };
            if fill {
                return Ok(Ok(filled(moment, &markets, pool, timeframe, part)?));
            }
            let page = markets.candles_page(pool, timeframe, part.offset_32(), part.limit).map_err(failed)?;
            let mut candles = page.items;
            candles.reverse();
            Ok(Ok((candles, u64::from(page.total))))
        });
        let (candles, total) = found.await??;
        let candles: Vec<Row> = candles.iter().map(|candle| Row::new(candle, side, timeframe)).collect();
        Ok(CandlesAnswer {
            has_more: part.has_more(candles.len(), total),
            candles,
            limit: part.limit,
            ok: true,
            page: part.page,
            pool: pool.to_string(),
            side: side_word,
            timeframe: timeframe.name(),
            total,
        })
    }
}

/// A page in which every bucket from the first trade to the newest block has a row, and how many rows there are.
fn filled(
    moment: &MarketMoment<'_>,
    markets: &Markets,
    pool: AlkaneId,
    timeframe: Timeframe,
    part: Part,
) -> Result<(Vec<Candle>, u64), ViewError> {
    let Some(series) = markets.series(pool, timeframe).map_err(failed)? else { return Ok((Vec::new(), 0)) };
    let snapshot = moment.chain.state.snapshot();
    let newest = snapshot.block(moment.chain.view.height).map_err(|error| ViewError::Chain(error.into()))?;
    let newest = newest.map_or(0, |block| timeframe.start(block.time)).max(series.newest);
    let buckets = Buckets::new(timeframe, series, newest);
    let Some(span) = buckets.page(part) else { return Ok((Vec::new(), buckets.count)) };
    let starts: Vec<u32> = std::iter::successors(Some(span.0), |start| timeframe.next(*start))
        .take_while(|start| *start <= span.1)
        .collect();
    let traded = markets.candles(pool, timeframe, span.0, span.1, 0, starts.len()).map_err(failed)?;
    let mut traded = traded.into_iter().rev().peekable();
    let before = match span.0.checked_sub(1) {
        Some(before) => markets.candle_before(pool, timeframe, before).map_err(failed)?,
        None => None,
    };
    let mut close = before.map(|(candle, _)| candle.close);
    let mut rows = Vec::with_capacity(starts.len());
    for start in starts {
        match traded.next_if(|candle| candle.start == start) {
            Some(candle) => {
                close = Some(candle.close);
                rows.push(candle);
            }
            // The first bucket of a series has trades, so there always is a price here.
            None => rows.extend(close.map(|price| flat(start, price))),
        }
    }
    Ok((rows, buckets.count))
}

/// A bucket without trades, at the last price.
fn flat(start: u32, price: Ratio) -> Candle {
    Candle { start, open: price, high: price, low: price, close: price, volumes: Default::default(), trades: 0 }
}

/// All buckets from the first trade on; those of equal width are not materialised.
struct Buckets {
    count: u64,
    newest: u32,
    oldest: u32,
    /// Width in seconds; of months the starts.
    width: Result<u32, Vec<u32>>,
}

impl Buckets {
    fn new(timeframe: Timeframe, series: Series, newest: u32) -> Self {
        let oldest = series.oldest;
        let width = match timeframe {
            Timeframe::TenMinutes => Ok(600),
            Timeframe::Hour => Ok(3_600),
            Timeframe::Day => Ok(86_400),
            Timeframe::Week => Ok(604_800),
            Timeframe::Month => Err(std::iter::successors(Some(oldest), |start| timeframe.next(*start))
                .take_while(|start| *start <= newest)
                .collect::<Vec<_>>()),
        };
        let count = match &width {
            // Only the first week of 1970 is shorter; it counts as a whole week.
            Ok(width) => u64::from((newest - oldest).div_ceil(*width)) + 1,
            Err(starts) => starts.len() as u64,
        };
        Self { count, newest, oldest, width }
    }

    /// First and last bucket of a page, page 0 the newest.
    fn page(&self, part: Part) -> Option<(u32, u32)> {
        let skipped = part.offset();
        if skipped >= self.count {
            return None;
        }
        let first = self.count.saturating_sub(skipped.saturating_add(u64::from(part.limit)));
        let last = self.count - skipped - 1;
        Some(match &self.width {
            Ok(width) => (self.start(first, *width), self.start(last, *width)),
            Err(starts) => (starts[first as usize], starts[last as usize]),
        })
    }

    /// Start of a bucket, counted from the oldest.
    fn start(&self, number: u64, width: u32) -> u32 {
        let behind = (self.count - 1 - number).saturating_mul(u64::from(width));
        u64::from(self.newest).saturating_sub(behind).max(u64::from(self.oldest)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_stands_on_exactly_one_page() {
        for (timeframe, oldest, newest) in [
            (Timeframe::TenMinutes, 1_700_000_400, 1_700_000_400 + 600 * 37),
            (Timeframe::Week, 1_708_905_600, 1_708_905_600 + 604_800 * 9),
            (Timeframe::Week, 0, 4 * 86_400 + 604_800 * 5),
            (Timeframe::Month, 1_704_067_200, 1_732_999_999),
            (Timeframe::Day, 86_400, 86_400),
        ] {
            let newest = timeframe.start(newest);
            let all: Vec<u32> = std::iter::successors(Some(oldest), |start| timeframe.next(*start))
                .take_while(|start| *start <= newest)
                .collect();
            let buckets = Buckets::new(timeframe, Series { count: 1, oldest, newest: oldest }, newest);
            assert_eq!(buckets.count, all.len() as u64);
            for limit in [1, 2, 7, 10_000] {
                let mut found = Vec::new();
                for page in 0.. {
                    let Some((first, last)) = buckets.page(Part { page, limit }) else { break };
                    let place = |start| all.iter().position(|other| *other == start).unwrap();
                    let mut page = all[place(first)..=place(last)].to_vec();
                    assert!(page.len() <= limit as usize);
                    page.extend(found);
                    found = page;
                }
                assert_eq!(found, all, "{timeframe:?} {limit}");
            }
        }
    }
}
