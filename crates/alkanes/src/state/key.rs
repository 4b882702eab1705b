use bitcoin::OutPoint;
use paraffin_primitives::AlkaneId;

/// One value of the protocol's state. The names in quotes are those of the reference (protocol B15).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKey {
    /// `/seen-genesis`: one byte 1.
    SeenGenesis,
    /// `/alkanes/sequence`: u128, the number of the next contract 2:n.
    Sequence,
    /// `/alkanes/<id>`: gzip code, the 32 bytes of a template's id, or a mark for built-ins.
    Code(AlkaneId),
    /// `/alkanes/<id>/storage/<key>`: what the contract stored.
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
    /// `/runes/proto/1/byoutpoint/<outpoint>`: the alkanes of an output (protocol B16).
    Sheet(OutPoint),
    /// `/runes/proto/1/runtime/balance`: u128 of one id of the runtime sheet (protocol B6).
    Runtime(AlkaneId),
    /// `/runes/proto/1/initialized/<id>`: the height at which an id was first seen in an output, u64.
    FirstSeen(AlkaneId),
    /// `/runes/byoutpoint/<outpoint>`: the base runes of an output (protocol B20).
    BaseSheet(OutPoint),
    /// `/etching/byruneid/<id>`: an etching of a base rune; the value holds all its terms (protocol B20).
    Etching(AlkaneId),
    /// `/runeid/byetching/<name>`: the id of a base rune by its name's number.
    EtchedName(u128),
    /// `/runes/mints-remaining/<name>`: u128 by rune id.
    MintsRemaining(AlkaneId),
}
