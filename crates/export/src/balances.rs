//! Who holds how much of what at the end of a block.

use paraffin_alkanes::{ChainState, Holder, Holding};
use paraffin_primitives::AlkaneId;

use crate::ExportError;
use crate::cell::Cell;
use crate::column::{Column, Kind};
use crate::export::{Output, Span};

pub(crate) const COLUMNS: &[Column] = &[
    Column::new("alkane", Kind::Text, "alkane id, block:tx"),
    Column::new("holder_type", Kind::Text, "script or contract"),
    Column::new("address", Kind::OptionalText, "of a script, where it has one"),
    Column::new("script", Kind::OptionalText, "of a script, hexadecimal"),
    Column::new("contract", Kind::OptionalText, "of a contract, alkane id, block:tx"),
    Column::new(
        "amount",
        Kind::Amount,
        "base units of alkane, all outputs of a script together; 2^128 - 1 also stands for more",
    ),
];

/// Writes all balances, in the order of the ids of the alkanes.
pub(crate) fn write(span: Span<'_>, token: Option<AlkaneId>, output: &mut Output<'_>) -> Result<(), ExportError> {
    let state = ChainState::at(span.source.snapshot, span.to);
    // How many there are now, which is an estimate of an older block.
    output.expect(if token.is_some() { 1 } else { state.alkane_count()? });
    let (mut done, mut current) = (0, None);
    for row in state.holdings(token)? {
        let (alkane, Holding { holder, amount }) = row?;
        if current.replace(alkane).is_some_and(|before| before != alkane) {
            done += 1;
            output.done(done)?;
        }
        if amount == 0 {
            continue;
        }
        let [kind, address, script, contract] = match holder {
            Holder::Script(key) => {
                let script = state.script(key)?;
                let address = script.as_deref().and_then(|script| span.address(script));
                let script = script.as_deref().map(bitcoin::Script::to_hex_string);
                [Cell::text("script"), Cell::optional(address), Cell::optional(script), Cell::Absent]
            }
            Holder::Contract(id) => [Cell::text("contract"), Cell::Absent, Cell::Absent, Cell::text(id)],
        };
        output.row(vec![Cell::text(alkane), kind, address, script, contract, Cell::amount(amount)])?;
    }
    Ok(())
}
