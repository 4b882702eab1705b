use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, Txid};
use paraffin_primitives::AlkaneId;

use super::StateError;

/// Length of an outpoint in its consensus encoding.
pub(crate) const OUTPOINT_LEN: usize = 36;

/// One value of the protocol's state. The names in quotes are those of the reference (protocol B15).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKey {
    /// `/seen-genesis`: one byte 1.
    SeenGenesis,
    /// `/alkanes/sequence`: u128, the number of the next contract 2:n.
    Sequence,
    /// `/alkanes/<id>`: gzip code, the 32 bytes of a template's id, or a mark for built-ins.
    Code(AlkaneId),
    /// `/alkanes/<id>/storage/<key>`: a stored value of the contract.
    Storage(AlkaneId, Vec<u8>),
    /// `/alkanes/<what>/balances/<who>`: u128 in base units.
    Balance {
        /// The alkane held.
        what: AlkaneId,
        /// The contract that holds it.
        who: AlkaneId,
    },
    /// `/alkanes/<who>/inventory/`: a mark that `who` has ever held `what`. Kept as a set.
    Inventory {
        /// The holder.
        who: AlkaneId,
        /// The alkane.
        what: AlkaneId,
    },
    /// `/alkanes_id_to_outpoint/<id>`: the shadow outpoint of the message that created the contract, 36 bytes.
    Deployment(AlkaneId),
    /// `/runes/proto/1/byoutpoint/<outpoint>`: the alkanes of an output, a [`SavedSheet`](crate::SavedSheet) (protocol B16).
    Sheet(OutPoint),
    /// `/runes/proto/1/runtime/balance`: u128 of one id of the runtime sheet (protocol B6).
    Runtime(AlkaneId),
    /// `/runes/proto/1/initialized/<id>`: where an id was first seen in a sheet: height u64, then its index among the ids
    /// first seen in that block, u32.
    FirstSeen(AlkaneId),
    /// `/runes/byoutpoint/<outpoint>`: the base runes of an output, a [`SavedSheet`](crate::SavedSheet) (protocol B20).
    BaseSheet(OutPoint),
    /// `/etching/byruneid/<id>`: an etching of a base rune; the value holds all its terms (protocol B20).
    Etching(AlkaneId),
    /// `/runeid/byetching/<name>`: the id of a base rune by its name's number.
    EtchedName(u128),
    /// `/runes/mints-remaining/<name>`: u128 by rune id.
    MintsRemaining(AlkaneId),
    /// Outputs named by payments of 32:0 that nothing has spent yet, 36 bytes each, sorted (protocol B19).
    PendingPayments,
}

/// An outpoint in its consensus encoding: the txid in wire order, the number of the output, the lowest byte first.
pub(crate) fn encode_outpoint(outpoint: &OutPoint) -> [u8; OUTPOINT_LEN] {
    let mut bytes = [0; OUTPOINT_LEN];
    bytes[..32].copy_from_slice(outpoint.txid.as_byte_array());
    bytes[32..].copy_from_slice(&outpoint.vout.to_le_bytes());
    bytes
}

/// Decodes an outpoint of [`encode_outpoint`].
pub(crate) fn decode_outpoint(bytes: &[u8]) -> Result<OutPoint, StateError> {
    let bytes = <&[u8; OUTPOINT_LEN]>::try_from(bytes)
        .map_err(|_| StateError::Damaged(format!("an outpoint has {} bytes", bytes.len())))?;
    let (txid, vout) = bytes.split_at(32);
    let txid = Txid::from_byte_array(txid.try_into().expect("36 bytes were split at 32"));
    Ok(OutPoint { txid, vout: u32::from_le_bytes(vout.try_into().expect("4 of 36 bytes are left")) })
}
