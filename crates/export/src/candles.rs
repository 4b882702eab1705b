//! Candles of pools, of factories and of none.

use paraffin_amm::{Candle, Markets, PoolIdentity, Scope, Timeframe};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::AlkaneId;

use crate::ExportError;
use crate::cell::Cell;
use crate::column::{Column, Kind};
use crate::export::{Output, Selection, Span};
use crate::swaps::factory;

/// Candles that are read at once.
const CANDLES: u32 = 1_000;
/// Pools that are read at once.
const POOLS: u32 = 1_000;

pub(crate) const COLUMNS: &[Column] = &[
    Column::new("pool", Kind::Text, "alkane id, block:tx"),
    Column::new("factory", Kind::OptionalText, "alkane id, block:tx; null of a pool that no factory lists"),
    Column::new("base_alkane", Kind::Text, "first alkane of the pool, alkane id, block:tx"),
    Column::new("quote_alkane", Kind::Text, "second alkane of the pool, alkane id, block:tx"),
    Column::new("start", Kind::Time, "start of the bucket, UTC"),
    Column::new("open", Kind::Price, "price of the first trade, base units of quote_alkane for one of base_alkane"),
    Column::new("high", Kind::Price, "highest price, base units of quote_alkane for one of base_alkane"),
    Column::new("low", Kind::Price, "lowest price, base units of quote_alkane for one of base_alkane"),
    Column::new("close", Kind::Price, "price of the last trade, base units of quote_alkane for one of base_alkane"),
    Column::new("base_volume", Kind::Amount, "traded in both directions, base units of base_alkane"),
    Column::new("quote_volume", Kind::Amount, "traded in both directions, base units of quote_alkane"),
    Column::new("trades", Kind::Number, "number of trades"),
];

/// Writes the candles of the span, pool by pool, the oldest first. The last ones hold what was traded up to the last block.
pub(crate) fn write(
    span: Span<'_>,
    selection: &Selection,
    timeframe: Timeframe,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let snapshot = span.source.snapshot;
    let of_factories = Markets::at(snapshot, span.to);
    let others = PoolIndex::newest(snapshot)?.map(|_| PoolIndex::at(snapshot, span.to));
    require_pool(selection.pool, &of_factories, others.as_ref())?;
    let first = match span.from {
        0 => 0,
        height => timeframe.start(span.time_of(height)?),
    };
    let each = |markets: &Markets, pool: PoolIdentity, output: &mut Output<'_>| {
        let is_wanted = selection.pool.is_none_or(|wanted| wanted == pool.id)
            && selection.token.is_none_or(|wanted| pool.tokens.contains(&wanted));
        if is_wanted { write_pool(markets, pool, timeframe, first, output) } else { Ok(()) }
    };
    let total = of_factories.pools(Scope::All, 0, 0)?.total;
    output.expect(u64::from(total));
    let mut done = 0;
    while done < total {
        for record in of_factories.pools(Scope::All, done, POOLS)?.items {
            each(&of_factories, record.pool, output)?;
            done += 1;
            output.done(u64::from(done))?;
        }
    }
    if let Some(index) = &others {
        let markets = index.markets();
        // Few contracts are such pools, and they come the newest first.
        let mut pools = index.pools()?.collect::<Result<Vec<_>, _>>()?;
        pools.reverse();
        for record in pools {
            let tokens = record.identity.tokens();
            each(&markets, PoolIdentity { id: record.id, factory: AlkaneId::default(), tokens }, output)?;
        }
    }
    Ok(())
}

fn write_pool(
    markets: &Markets,
    pool: PoolIdentity,
    timeframe: Timeframe,
    first: u32,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let Some(series) = markets.series(pool.id, timeframe)? else { return Ok(()) };
    // Numbers count from the oldest, pages from the newest.
    let mut begin = match first.checked_sub(1) {
        Some(before) => markets.candle_before(pool.id, timeframe, before)?.map_or(0, |(_, number)| number + 1),
        None => 0,
    };
    while begin < series.count {
        let end = begin.saturating_add(CANDLES).min(series.count);
        let page = markets.candles_page(pool.id, timeframe, series.count - end, end - begin)?;
        for candle in page.items.iter().rev() {
            output.row(cells(pool, candle))?;
        }
        begin = end;
    }
    Ok(())
}

fn cells(pool: PoolIdentity, candle: &Candle) -> Vec<Cell> {
    let [base, quote] = pool.tokens;
    let Candle { start, open, high, low, close, volumes: [base_volume, quote_volume], trades } = *candle;
    vec![
        Cell::text(pool.id),
        factory(pool.factory),
        Cell::text(base),
        Cell::text(quote),
        Cell::Time(start),
        Cell::Price(open),
        Cell::Price(high),
        Cell::Price(low),
        Cell::Price(close),
        Cell::Amount(base_volume),
        Cell::Amount(quote_volume),
        Cell::Number(trades),
    ]
}

/// Where events and candles are: of pools of factories, and of others where these are indexed.
pub(crate) fn markets_of(of_factories: &Markets, others: Option<&PoolIndex>) -> Vec<Markets> {
    std::iter::once(of_factories.clone()).chain(others.map(PoolIndex::markets)).collect()
}

/// Refuses an id that is no pool's, which would give an empty file.
pub(crate) fn require_pool(
    wanted: Option<AlkaneId>,
    of_factories: &Markets,
    others: Option<&PoolIndex>,
) -> Result<(), ExportError> {
    let Some(id) = wanted else { return Ok(()) };
    let is_other = || others.map_or(Ok(None), |index| index.pool(id));
    if of_factories.pool(id)?.is_some() || is_other()?.is_some() { Ok(()) } else { Err(ExportError::NoPool(id)) }
}
