//! Trades with pools, of factories and of none.

use paraffin_amm::{Action, Event, Markets};
use paraffin_cryptoswap::PoolIndex;
use paraffin_primitives::AlkaneId;

use crate::ExportError;
use crate::candles::{markets_of, require_pool};
use crate::cell::Cell;
use crate::column::{Column, Kind};
use crate::export::{Output, Selection, Span};

/// Blocks that are read at once.
const BLOCKS: u32 = 16;

pub(crate) const COLUMNS: &[Column] = &[
    Column::new("height", Kind::Number, "height of the block"),
    Column::new("time", Kind::Time, "time in the header of the block, UTC"),
    Column::new("transaction_index", Kind::Number, "place of the transaction in the block, from 0"),
    Column::new("event_index", Kind::Number, "place among the market events of the transaction, from 0"),
    Column::new("txid", Kind::Text, "transaction, hexadecimal"),
    Column::new("vout", Kind::Number, "shadow output of the message"),
    Column::new("pool", Kind::Text, "alkane id, block:tx"),
    Column::new("factory", Kind::OptionalText, "alkane id, block:tx; null of a pool that no factory lists"),
    Column::new("sold_alkane", Kind::Text, "what the pool got, alkane id, block:tx"),
    Column::new("sold_amount", Kind::Amount, "base units of sold_alkane"),
    Column::new("bought_alkane", Kind::Text, "what the pool gave, alkane id, block:tx"),
    Column::new("bought_amount", Kind::Amount, "base units of bought_alkane"),
    Column::new("address", Kind::OptionalText, "who traded: address of the pointer output of the message"),
    Column::new("script", Kind::OptionalText, "its script, hexadecimal"),
];

/// Writes the trades of the span, in the order of the chain.
pub(crate) fn write(span: Span<'_>, selection: &Selection, output: &mut Output<'_>) -> Result<(), ExportError> {
    let snapshot = span.source.snapshot;
    let of_factories = Markets::at(snapshot, span.to);
    let others = PoolIndex::newest(snapshot)?.map(|_| PoolIndex::at(snapshot, span.to));
    require_pool(selection.pool, &of_factories, others.as_ref())?;
    let all = markets_of(&of_factories, others.as_ref());
    output.expect(u64::from(span.to - span.from) + 1);
    let mut from = span.from;
    loop {
        let to = from.saturating_add(BLOCKS - 1).min(span.to);
        let mut events = Vec::new();
        for markets in &all {
            events.extend(markets.events_of_blocks(from, to, usize::MAX)?.unwrap_or_default());
        }
        // Each index numbers the events of a transaction for itself, so within one the messages decide.
        events
            .sort_by_key(|event| (event.position.height, event.position.transaction, event.vout, event.position.event));
        for event in events {
            write_swap(span, selection, &event, output)?;
        }
        output.done(u64::from(to - span.from) + 1)?;
        if to == span.to {
            return Ok(());
        }
        from = to + 1;
    }
}

fn write_swap(
    span: Span<'_>,
    selection: &Selection,
    event: &Event,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let Action::Swap { pool, sold, bought } = event.action else { return Ok(()) };
    let is_wanted = selection.pool.is_none_or(|wanted| wanted == pool.id)
        && selection.token.is_none_or(|wanted| pool.tokens.contains(&wanted));
    if !is_wanted {
        return Ok(());
    }
    let actor = event.actor.as_deref();
    output.row(vec![
        Cell::Number(event.position.height),
        Cell::Time(event.time),
        Cell::Number(event.position.transaction),
        Cell::Number(event.position.event),
        Cell::text(event.txid),
        Cell::Number(event.vout),
        Cell::text(pool.id),
        factory(pool.factory),
        Cell::text(sold.id),
        Cell::amount(sold.value),
        Cell::text(bought.id),
        Cell::amount(bought.value),
        Cell::optional(actor.and_then(|script| span.address(script))),
        Cell::optional(actor.map(bitcoin::Script::to_hex_string)),
    ])
}

/// The factory of a pool; 0:0 stands for none.
pub(crate) fn factory(id: AlkaneId) -> Cell {
    Cell::optional(Some(id).filter(|id| *id != AlkaneId::default()))
}
