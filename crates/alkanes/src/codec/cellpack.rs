//! A call to a contract: the target and its inputs (protocol B6, B9).

use paraffin_primitives::AlkaneId;

use super::varint::{VarintError, VarintList, append_varint};

/// A target and its inputs; by convention the first input is the operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cellpack {
    /// The target of the message; some ids create contracts (protocol B7).
    pub target: AlkaneId,
    /// Inputs of the contract, in order.
    pub inputs: Vec<u128>,
}

/// Why a message is not a call. Such a message fails without a trace, and without using fuel (protocol B6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CellpackError {
    /// The message is not a list of varints.
    #[error("the message is not a list of integers: {0}")]
    Varint(#[from] VarintError),
    /// Fewer than two integers.
    #[error("cellpack: need at least 2 varints (target.block + target.tx), got {count}")]
    NoTarget {
        /// Integers that there are.
        count: usize,
    },
}

impl Cellpack {
    /// Reads a message: varints, of which the first two are the target (protocol B6).
    ///
    /// A message that came through a protostone ends in up to 14 zero bytes of padding, and each of them is one more
    /// input 0 (protocol B4). A byte of the message becomes at most 16 bytes here.
    ///
    /// # Errors
    /// The message is not a list of varints, or holds fewer than two.
    pub fn decode(message: &[u8]) -> Result<Self, CellpackError> {
        let mut integers = VarintList::parse(message)?;
        let count = integers.len();
        let (Some(block), Some(tx)) = (integers.next(), integers.next()) else {
            return Err(CellpackError::NoTarget { count });
        };
        Ok(Self { target: AlkaneId { block, tx }, inputs: integers.collect() })
    }

    /// The message for a protostone.
    pub fn encode(&self) -> Vec<u8> {
        let mut message = Vec::new();
        append_varint(self.target.block, &mut message);
        append_varint(self.target.tx, &mut message);
        for input in &self.inputs {
            append_varint(*input, &mut message);
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn padding_becomes_inputs_of_zero() {
        let cellpack = Cellpack::decode(&[2, 0, 77, 0, 0]).unwrap();
        assert_eq!(cellpack, Cellpack { target: AlkaneId { block: 2, tx: 0 }, inputs: vec![77, 0, 0] });
    }

    #[test]
    fn a_message_without_a_whole_target_is_refused() {
        assert_eq!(Cellpack::decode(&[]), Err(CellpackError::NoTarget { count: 0 }));
        assert_eq!(Cellpack::decode(&[2]), Err(CellpackError::NoTarget { count: 1 }));
        assert_eq!(Cellpack::decode(&[2, 0, 0x80]), Err(CellpackError::Varint(VarintError::Unterminated)));
    }

    proptest! {
        #[test]
        fn calls_round_trip(block: u128, tx: u128, inputs: Vec<u128>) {
            let cellpack = Cellpack { target: AlkaneId { block, tx }, inputs };
            prop_assert_eq!(Cellpack::decode(&cellpack.encode()), Ok(cellpack));
        }

        #[test]
        fn arbitrary_bytes_never_panic_and_grow_at_most_sixteenfold(bytes: Vec<u8>) {
            if let Ok(cellpack) = Cellpack::decode(&bytes) {
                prop_assert!(cellpack.inputs.len() + 2 <= bytes.len());
                prop_assert!(cellpack.inputs.capacity() <= bytes.len().max(4));
            }
        }
    }
}
