//! Numbers of outputs, real and shadow: destinations of alkanes within a transaction (protocol B5, B6).
//!
//! ```text
//!  0 … n-1       the n outputs of the transaction
//!  n             in an edict: spread over all outputs that can hold alkanes
//!  n+1 … n+m     shadow outputs, one for each of the m protostones
//!  4294967295    the runtime sheet
//! ```

use bitcoin::{Transaction, TxOut};

use super::protostone::Protostone;

/// The number of the runtime sheet (protocol B5).
pub const RUNTIME_VOUT: u32 = u32::MAX;

/// A message must stand at a shadow output below the number of outputs plus this (protocol B6.1).
pub const SHADOW_VOUTS_MAX: u64 = 100;

/// Number of the shadow output of the protostone at `index`, counted from 0 (protocol B5).
pub fn shadow_vout(output_count: usize, index: usize) -> u32 {
    // A transaction has fewer than a million outputs and protostones, so the low 32 bits are all there is.
    (output_count + 1 + index) as u32
}

/// Destination of the remaining alkanes of a protostone without a pointer: the first output that can be spent, else 0 (protocol B5.6a).
pub fn default_destination(outputs: &[TxOut]) -> u32 {
    outputs.iter().position(|output| !output.script_pubkey.is_op_return()).unwrap_or(0) as u32
}

/// The first `OP_RETURN` output of any kind: what later rules call the runestone's output (protocol B3).
pub fn first_op_return(transaction: &Transaction) -> Option<u32> {
    let position = transaction.output.iter().position(|output| output.script_pubkey.is_op_return());
    position.map(|index| index as u32)
}

/// The outputs that a message works with (protocol B6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRoute {
    /// The shadow output with the incoming alkanes of the message.
    pub shadow: u32,
    /// Destination of the results.
    pub pointer: u32,
    /// Destination of the refund when the message fails.
    pub refund: u32,
}

/// Why a message cannot be run. The transaction is void (protocol B6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No pointer.
    #[error("a message needs a pointer (field 91)")]
    NoPointer,
    /// No refund pointer.
    #[error("a message needs a refund pointer (field 93)")]
    NoRefund,
    /// The pointer names no output.
    #[error("the pointer {vout} is beyond the last shadow output {last}")]
    PointerBeyond {
        /// The pointer as read.
        vout: u32,
        /// The greatest number allowed.
        last: u64,
    },
    /// The refund pointer names no output.
    #[error("the refund pointer {vout} is beyond the last shadow output {last}")]
    RefundBeyond {
        /// The refund pointer as read.
        vout: u32,
        /// The greatest number allowed.
        last: u64,
    },
    /// Too many protostones stand before the message.
    #[error("the message stands at shadow output {vout}, which must be below {end}")]
    ShadowBeyond {
        /// The message's own shadow output.
        vout: u32,
        /// The first number that is too great.
        end: u64,
    },
}

impl MessageRoute {
    /// Checks the outputs of the message in `stones[index]` (protocol B6.1, as active on mainnet before height 975000).
    ///
    /// The number of outputs itself is allowed as a pointer although it names none.
    ///
    /// # Errors
    /// A pointer is missing or too great, or too many protostones stand before this one; the transaction is void.
    pub fn of(stone: &Protostone, index: usize, output_count: usize, stone_count: usize) -> Result<Self, RouteError> {
        let pointer = stone.pointer.ok_or(RouteError::NoPointer)?;
        let refund = stone.refund.ok_or(RouteError::NoRefund)?;
        let shadow = shadow_vout(output_count, index);
        let last = (output_count + stone_count) as u64;
        let end = output_count as u64 + SHADOW_VOUTS_MAX;
        if u64::from(pointer) > last {
            return Err(RouteError::PointerBeyond { vout: pointer, last });
        }
        if u64::from(refund) > last {
            return Err(RouteError::RefundBeyond { vout: refund, last });
        }
        if u64::from(shadow) >= end {
            return Err(RouteError::ShadowBeyond { vout: shadow, end });
        }
        Ok(Self { shadow, pointer, refund })
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::ScriptBuf;

    use super::*;

    fn outputs(scripts: &[&[u8]]) -> Vec<TxOut> {
        let scripts = scripts.iter().map(|script| ScriptBuf::from_bytes(script.to_vec()));
        scripts.map(|script_pubkey| TxOut { script_pubkey, value: bitcoin::Amount::ZERO }).collect()
    }

    fn message(pointer: u32, refund: u32) -> Protostone {
        Protostone { pointer: Some(pointer), refund: Some(refund), ..Protostone::default() }
    }

    #[test]
    fn shadow_outputs_begin_one_beyond_the_spread_number() {
        assert_eq!((shadow_vout(3, 0), shadow_vout(3, 1), shadow_vout(0, 0)), (4, 5, 1));
    }

    #[test]
    fn the_default_destination_is_the_first_output_that_is_no_op_return() {
        assert_eq!(default_destination(&outputs(&[&[0x6a, 0x5d], &[0x6a], &[0x51], &[]])), 2);
        assert_eq!(default_destination(&outputs(&[&[]])), 0);
        assert_eq!(default_destination(&outputs(&[&[0x6a]])), 0);
        assert_eq!(default_destination(&[]), 0);
    }

    #[test]
    fn pointers_reach_to_the_last_shadow_output() {
        let route = MessageRoute::of(&message(5, 3), 1, 3, 2);
        assert_eq!(route, Ok(MessageRoute { shadow: 5, pointer: 5, refund: 3 }));
        assert_eq!(MessageRoute::of(&message(6, 0), 1, 3, 2), Err(RouteError::PointerBeyond { vout: 6, last: 5 }));
        assert_eq!(MessageRoute::of(&message(0, 6), 1, 3, 2), Err(RouteError::RefundBeyond { vout: 6, last: 5 }));
        let runtime = MessageRoute::of(&message(RUNTIME_VOUT, 0), 0, 3, 2);
        assert_eq!(runtime, Err(RouteError::PointerBeyond { vout: RUNTIME_VOUT, last: 5 }));
    }

    #[test]
    fn both_pointers_must_be_there() {
        assert_eq!(MessageRoute::of(&Protostone::default(), 0, 3, 1), Err(RouteError::NoPointer));
        let no_refund = Protostone { pointer: Some(0), ..Protostone::default() };
        assert_eq!(MessageRoute::of(&no_refund, 0, 3, 1), Err(RouteError::NoRefund));
    }

    #[test]
    fn the_hundredth_protostone_can_hold_no_message() {
        assert!(MessageRoute::of(&message(0, 0), 98, 3, 200).is_ok());
        assert_eq!(MessageRoute::of(&message(0, 0), 99, 3, 200), Err(RouteError::ShadowBeyond { vout: 103, end: 103 }));
    }
}
