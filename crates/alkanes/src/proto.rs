//! The protobuf messages of the views, and their decoding from untrusted bytes (protocol B17, B21).
//!
//! `proto/alkanes.proto` and `proto/protorune.proto` are the same messages for other programs; the types are generated from them (`cargo xtask proto`).

pub mod alkanes;
pub mod protorune;

mod bounds;

use paraffin_primitives::AlkaneId;

pub use bounds::{ELEMENTS_MAX, Request, decode};

use crate::Transfer;

/// The bytes are not the message that a view takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They are no such protobuf message.
    #[error("the payload is not a {name} message: {reason}")]
    Malformed {
        /// Name of the message.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// They announce too much.
    #[error("the payload holds more than {ELEMENTS_MAX} nested messages")]
    TooMany,
}

impl From<u128> for alkanes::Uint128 {
    fn from(value: u128) -> Self {
        Self { lo: value as u64, hi: (value >> 64) as u64 }
    }
}

impl From<alkanes::Uint128> for u128 {
    fn from(value: alkanes::Uint128) -> Self {
        (Self::from(value.hi) << 64) | Self::from(value.lo)
    }
}

/// An integer whose message may be absent, which means 0.
pub fn integer(value: Option<alkanes::Uint128>) -> u128 {
    value.map_or(0, u128::from)
}

impl From<AlkaneId> for alkanes::AlkaneId {
    fn from(id: AlkaneId) -> Self {
        Self { block: Some(id.block.into()), tx: Some(id.tx.into()) }
    }
}

impl From<alkanes::AlkaneId> for AlkaneId {
    fn from(id: alkanes::AlkaneId) -> Self {
        Self { block: integer(id.block), tx: integer(id.tx) }
    }
}

/// An id whose message may be absent, which means 0:0.
pub fn alkane_id(id: Option<alkanes::AlkaneId>) -> AlkaneId {
    id.map_or(AlkaneId::default(), AlkaneId::from)
}

impl From<AlkaneId> for protorune::ProtoruneRuneId {
    fn from(id: AlkaneId) -> Self {
        Self { height: Some(id.block.into()), txindex: Some(id.tx.into()) }
    }
}

impl From<protorune::ProtoruneRuneId> for AlkaneId {
    fn from(id: protorune::ProtoruneRuneId) -> Self {
        Self { block: integer(id.height), tx: integer(id.txindex) }
    }
}

impl From<Transfer> for alkanes::AlkaneTransfer {
    fn from(transfer: Transfer) -> Self {
        Self { id: Some(transfer.id.into()), value: Some(transfer.value.into()) }
    }
}

impl From<alkanes::AlkaneTransfer> for Transfer {
    fn from(transfer: alkanes::AlkaneTransfer) -> Self {
        Self { id: alkane_id(transfer.id), value: integer(transfer.value) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;

    #[test]
    fn an_absent_integer_and_an_absent_id_are_zero() {
        assert_eq!(integer(None), 0);
        assert_eq!(alkane_id(None), AlkaneId::default());
        let transfer = alkanes::AlkaneTransfer::decode(&[][..]).unwrap();
        assert_eq!(Transfer::from(transfer), Transfer { id: AlkaneId::default(), value: 0 });
    }

    proptest! {
        #[test]
        fn integers_and_ids_keep_all_their_bits(block: u128, tx: u128, value: u128) {
            let transfer = Transfer { id: AlkaneId { block, tx }, value };
            let bytes = alkanes::AlkaneTransfer::from(transfer).encode_to_vec();
            prop_assert_eq!(Transfer::from(alkanes::AlkaneTransfer::decode(&bytes[..]).unwrap()), transfer);
            let rune = protorune::ProtoruneRuneId::from(transfer.id);
            prop_assert_eq!(AlkaneId::from(rune), transfer.id);
        }
    }
}
