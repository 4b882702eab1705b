use crate::SheetOverflow;
use crate::codec::{ProtostoneError, RouteError, VarintError};

/// Why the transaction is void: everything that its runestone would have done is undone (protocol B1.6, B5). The texts are those
/// of the reference, whose views hand them out (`docs/protocol/trial-views.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Void {
    #[error("{}", overflow_text(*.0))]
    Overflow(#[from] SheetOverflow),
    #[error("{}", protostone_text(*.0))]
    Protostone(#[from] ProtostoneError),
    #[error("{}", route_text(*.0))]
    Route(#[from] RouteError),
    /// An edict moves 0:n, which no alkane can be called.
    #[error("invalid edict")]
    EdictId,
    /// An edict names an output that does not fit 32 bits.
    #[error("{OUT_OF_RANGE}")]
    EdictOutput,
    /// Decision 0038; no text of the reference.
    #[error("the transaction needs more work, or moves more amounts, than is left for it")]
    TooMuch,
}

/// An integer that does not fit where it belongs.
const OUT_OF_RANGE: &str = "out of range integral type conversion attempted";

pub(crate) fn overflow_text(overflow: SheetOverflow) -> String {
    let SheetOverflow { held, added, .. } = overflow;
    format!("overflow error during balance sheet increase, current({held}) + additional({added})")
}

fn protostone_text(error: ProtostoneError) -> &'static str {
    match error {
        ProtostoneError::Varint(error) => varint_text(error),
        // The reference counts in 32 bits.
        ProtostoneError::Short { announced, .. } if u32::try_from(announced).is_err() => OUT_OF_RANGE,
        ProtostoneError::Short { .. } => "less values than expected",
    }
}

pub(crate) fn varint_text(error: VarintError) -> &'static str {
    match error {
        VarintError::Unterminated => "unterminated",
        VarintError::Overlong => "too long",
        VarintError::Overflow => "overflow",
    }
}

fn route_text(error: RouteError) -> &'static str {
    match error {
        RouteError::NoPointer => "Missing pointer",
        RouteError::NoRefund => "Missing refund pointer",
        RouteError::PointerBeyond { .. } | RouteError::RefundBeyond { .. } => "Invalid output pointer",
        RouteError::ShadowBeyond { .. } => "Protomessage vout exceeds maximum allowed",
    }
}
