//! Reads many outputs at once.

use bitcoin::{Amount, TxOut};

use crate::activity::{RowSource, transaction_in, visit_pages};
use crate::error::ReadError;
use crate::rows::{Funding, PackedScript, TransactionRow};

/// Calls `visit` for every output of `wanted` that exists, each given with a mark of the caller's. Goes in chain order and
/// reads each row and walks each transaction once, so a block that spends thousands of outputs of one giant transaction
/// costs as much as any other.
pub(crate) fn visit_outputs<M: Copy + Sync>(
    rows: &impl RowSource,
    wanted: &mut [(Funding, M)],
    mut visit: impl FnMut(M, &TransactionRow<'_>, u64, &PackedScript<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    wanted.sort_unstable_by_key(|(funding, _)| *funding);
    visit_pages(
        rows,
        wanted,
        |(funding, _)| funding.number,
        |wanted, page| {
            for group in wanted.chunk_by(|(left, _), (right, _)| left.number == right.number) {
                let transaction = transaction_in(group[0].0.number, page)?;
                let mut outputs = (0u32..).zip(transaction.outputs()).peekable();
                for (funding, mark) in group {
                    while outputs.next_if(|(vout, _)| *vout < funding.vout).is_some() {}
                    // Two inputs of a page that is rendered may name one output, so it is not taken.
                    if let Some((vout, (satoshis, script))) = outputs.peek()
                        && *vout == funding.vout
                    {
                        visit(*mark, &transaction, *satoshis, script)?;
                    }
                }
            }
            Ok(())
        },
    )
}

/// The outputs named, in the order given; `None` where none is named or the transaction has no such output.
pub(crate) fn load_outputs(
    rows: &impl RowSource,
    fundings: &[Option<Funding>],
) -> Result<Vec<Option<TxOut>>, ReadError> {
    let mut outputs = vec![None; fundings.len()];
    let mut wanted: Vec<(Funding, usize)> =
        fundings.iter().enumerate().filter_map(|(index, funding)| Some(((*funding)?, index))).collect();
    visit_outputs(rows, &mut wanted, |index, _, satoshis, script| {
        outputs[index] = Some(TxOut { value: Amount::from_sat(satoshis), script_pubkey: script.to_script() });
        Ok(())
    })?;
    Ok(outputs)
}
