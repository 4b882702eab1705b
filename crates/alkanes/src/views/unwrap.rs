//! Payments of unwraps that are not made yet (protocol B19, B21).

use bitcoin::consensus::encode::serialize;
use bitcoin::{OutPoint, TxOut};
use paraffin_primitives::AlkaneId;

use super::{ViewContext, ViewError, outpoint_to_proto};
use crate::StateKey;
use crate::proto::alkanes::{Payment, PendingUnwrapsResponse};
use crate::wrapped_bitcoin::{payments_with, pending_outpoints};

/// A payment that is still to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPayment {
    /// The output that is spent when it is made.
    pub spendable: OutPoint,
    /// The output to be paid.
    pub output: TxOut,
    /// Height of the unwrap.
    pub height: u64,
}

/// Payments that are still to be made at the end of the view's height, the oldest first.
///
/// # Errors
/// [`ViewError`]; [`ViewError::TooLarge`] when there are more than [`super::ViewLimits::records_max`].
pub fn pending_unwraps(context: &ViewContext<'_>) -> Result<Vec<PendingPayment>, ViewError> {
    let stored = context.state.get(&StateKey::PendingPayments)?.unwrap_or_default();
    let mut waiting = pending_outpoints(&stored)?;
    let mut pending = Vec::new();
    let first = lowest_open(context)?.max(context.parameters.genesis_height);
    for height in first..=u64::from(context.height) {
        if waiting.is_empty() {
            break;
        }
        context.check()?;
        for payment in payments_with(height, |key| context.state.get(key))? {
            if !waiting.remove(&payment.spendable) {
                continue;
            }
            if pending.len() >= context.limits.records_max {
                return Err(ViewError::TooLarge);
            }
            pending.push(PendingPayment { spendable: payment.spendable, output: payment.output, height });
        }
    }
    Ok(pending)
}

/// The height below which everything is paid, as it stands in the storage of the contract.
fn lowest_open(context: &ViewContext<'_>) -> Result<u64, ViewError> {
    let key = StateKey::Storage(AlkaneId { block: 32, tx: 0 }, b"/last_block".to_vec());
    let noted = super::contract::stored_integer(context.state, &key)?.unwrap_or(0);
    Ok(u64::try_from(noted).unwrap_or(u64::MAX))
}

pub(super) fn view(context: &ViewContext<'_>) -> Result<PendingUnwrapsResponse, ViewError> {
    let payments = pending_unwraps(context)?.into_iter().map(|payment| Payment {
        spendable: Some(outpoint_to_proto(&payment.spendable)),
        output: serialize(&payment.output),
        fulfilled: false,
    });
    Ok(PendingUnwrapsResponse { payments: payments.collect() })
}
