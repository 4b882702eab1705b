//! Alkanes that moved: what outputs bring, what calls move, what outputs get.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use paraffin_events::{EventReader, Filter, Holder, Kind as EventKind, TransferEvent};
use paraffin_primitives::AlkaneId;

use crate::ExportError;
use crate::cell::Cell;
use crate::column::{Column, Kind};
use crate::export::{Output, Span};

/// Memory for the transfers of one block, bytes.
const BLOCK_BYTES_MAX: usize = 512 << 20;

pub(crate) const COLUMNS: &[Column] = &[
    Column::new("height", Kind::Number, "height of the block"),
    Column::new("time", Kind::Time, "time in the header of the block, UTC"),
    Column::new("transfer_index", Kind::Number, "place among the transfers of the block in this file, from 0"),
    Column::new("txid", Kind::OptionalText, "transaction, hexadecimal"),
    Column::new("alkane", Kind::Text, "alkane id, block:tx"),
    Column::new("amount", Kind::Amount, "base units of alkane"),
    Column::new("from_type", Kind::Text, "output, contract or transaction"),
    Column::new("from_outpoint", Kind::OptionalText, "of an output, txid:vout"),
    Column::new("from_address", Kind::OptionalText, "of an output, where its script has one"),
    Column::new("from_contract", Kind::OptionalText, "of a contract, alkane id, block:tx"),
    Column::new("to_type", Kind::Text, "output, contract or transaction"),
    Column::new("to_outpoint", Kind::OptionalText, "of an output, txid:vout"),
    Column::new("to_address", Kind::OptionalText, "of an output, where its script has one"),
    Column::new("to_contract", Kind::OptionalText, "of a contract, alkane id, block:tx"),
];

/// Writes the transfers of the span, in the order of the chain.
pub(crate) fn write(span: Span<'_>, token: Option<AlkaneId>, output: &mut Output<'_>) -> Result<(), ExportError> {
    let used_bytes = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&used_bytes);
    let may_keep =
        move |bytes: usize| count.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= BLOCK_BYTES_MAX;
    let mut reader = EventReader::new(span.source.snapshot, span.source.network, Arc::new(may_keep));
    let alkanes = token.iter().map(AlkaneId::to_string).collect();
    let filter = Filter { kinds: vec![EventKind::Transfer], alkanes, ..Filter::default() };
    // A filter made of valid alkane ids is always valid.
    let filter = filter.prepare(span.source.network, |_| Ok(Vec::new()));
    let filter = filter.expect("the ids of a filter come from ids");
    output.expect(u64::from(span.to - span.from) + 1);
    for height in span.from..=span.to {
        used_bytes.store(0, Ordering::Relaxed);
        let transfers = reader.transfers(height, &filter).map_err(|error| {
            if error.is_out_of_memory() { ExportError::BlockTooLarge(height) } else { error.into() }
        })?;
        let transfers = transfers.ok_or(ExportError::AboveIndex { requested: height, newest: span.to })?;
        if !transfers.is_empty() {
            let time = span.time_of(height)?;
            for (number, transfer) in (0..).zip(transfers) {
                output.row(cells(height, time, number, transfer))?;
            }
        }
        output.done(u64::from(height - span.from) + 1)?;
    }
    Ok(())
}

fn cells(height: u32, time: u32, number: u32, transfer: TransferEvent) -> Vec<Cell> {
    let TransferEvent { occasion, alkane, amount, from, to } = transfer;
    let mut cells = vec![
        Cell::Number(height),
        Cell::Time(time),
        Cell::Number(number),
        Cell::optional(occasion.txid),
        Cell::text(alkane),
        Cell::amount(amount),
    ];
    cells.extend(holder(from));
    cells.extend(holder(to));
    cells
}

/// Type, outpoint, address and contract.
fn holder(holder: Holder) -> [Cell; 4] {
    match holder {
        Holder::Output { outpoint, address } => {
            [Cell::text("output"), Cell::text(outpoint), Cell::optional(address), Cell::Absent]
        }
        Holder::Contract { id } => [Cell::text("contract"), Cell::Absent, Cell::Absent, Cell::text(id)],
        Holder::Transaction => [Cell::text("transaction"), Cell::Absent, Cell::Absent, Cell::Absent],
    }
}
