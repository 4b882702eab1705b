//! One key of the alkanes indexer program.

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, Txid};
use paraffin_alkanes::StateKey;
use paraffin_primitives::AlkaneId;

use super::lists;

/// Prefixes of keys that engines are not compared by, with the reason. Longer prefixes stand before their own prefixes.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("/runes/proto/1/initialized/", "the list by height says the same"),
    ("/runes/proto/1/runtime/balance/runes/", "the runtime is read by id alone"),
    ("/runes/proto/1/runtime/balance/balances/", "the runtime is read by id alone"),
    ("/runeid/byetching/", "base runes: names and terms are in a form of the program's own"),
    ("/height/byruneid/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/symbol/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/cap/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/spaces/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/amount/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/premine/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/divisibility/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/offset/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/height/", "base runes: names and terms are in a form of the program's own"),
    ("/runes/names", "base runes: names and terms are in a form of the program's own"),
    ("/runes/byheight/", "base runes: names and terms are in a form of the program's own"),
    ("/blockhash/byheight/", "the chain, which the Bitcoin index keeps"),
    ("/height/byblockhash/", "the chain, which the Bitcoin index keeps"),
    ("/txids/byheight", "the chain, which the Bitcoin index keeps"),
    ("/txindex/byid", "the chain, which the Bitcoin index keeps"),
    ("/height/byoutpoint/", "outputs, which the Bitcoin index keeps"),
    ("/output/byoutpoint/", "outputs, which the Bitcoin index keeps"),
    ("/outpoint/byaddress/", "outputs, which the Bitcoin index keeps"),
    ("/outpoint/spendableby/", "outputs, which the Bitcoin index keeps"),
    ("/blockdata/", "the chain, which the Bitcoin index keeps"),
    ("/__INTERNAL/", "a cache for views"),
];

/// Bytes of an id, and of an outpoint.
const ID_LEN: usize = 32;
const OUTPOINT_LEN: usize = 36;

/// A decoded key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ForeignKey {
    /// A value that has the same form in both models.
    State(StateKey),
    /// An entry of a contract's inventory.
    Inventory(AlkaneId),
    /// The trace of a message.
    Trace(OutPoint),
    /// An entry of the traces of a block.
    TraceAt {
        /// Height of the block.
        height: u64,
        /// Number of the entry.
        index: u32,
    },
    /// An entry of the ids first seen in a block.
    FirstSeenAt {
        /// Height of the block.
        height: u64,
        /// Number of the entry.
        index: u32,
    },
    /// The id of an entry of a sheet.
    SheetId {
        /// The key of the sheet.
        sheet: StateKey,
        /// Number of the entry.
        index: u32,
    },
    /// The amount of an entry of a sheet.
    SheetAmount {
        /// The key of the sheet.
        sheet: StateKey,
        /// Number of the entry.
        index: u32,
    },
    /// A base rune that was etched.
    Etched(AlkaneId),
    /// Remaining mints of a base rune.
    MintsRemaining,
    /// A key that engines are not compared by.
    LeftOut,
}

/// Reads a key; `None` when its kind is unknown.
pub(super) fn parse(key: &[u8]) -> Option<ForeignKey> {
    match key {
        b"/seen-genesis" => return Some(ForeignKey::State(StateKey::SeenGenesis)),
        b"/alkanes/sequence" => return Some(ForeignKey::State(StateKey::Sequence)),
        _ => {}
    }
    // The two forms cannot be mistaken for each other: read as the other, neither has a name that it must have.
    if let Some(found) = key.strip_prefix(b"/alkanes/").and_then(contract) {
        return Some(found);
    }
    if let Some(found) = key.strip_prefix(b"/alkanes").and_then(old_inventory) {
        return Some(found);
    }
    if let Some(rest) = key.strip_prefix(b"/alkanes_id_to_outpoint/") {
        return Some(ForeignKey::State(StateKey::Deployment(lists::id(rest)?)));
    }
    if let Some(rest) = key.strip_prefix(b"/trace/") {
        return match outpoint(rest) {
            Some(outpoint) => Some(ForeignKey::Trace(outpoint)),
            None => by_height(rest, |height, index| ForeignKey::TraceAt { height, index }),
        };
    }
    if let Some(rest) = key.strip_prefix(b"/runes/proto/1/byoutpoint/") {
        return sheet(rest, StateKey::Sheet);
    }
    if let Some(rest) = key.strip_prefix(b"/runes/byoutpoint/") {
        return sheet(rest, StateKey::BaseSheet);
    }
    if let Some(rest) = key.strip_prefix(b"/runes/proto/1/runtime/balance/id_to_balance") {
        return Some(ForeignKey::State(StateKey::Runtime(lists::id(rest)?)));
    }
    if let Some(rest) = key.strip_prefix(b"/runes/proto/1/byheight/") {
        return by_height(rest, |height, index| ForeignKey::FirstSeenAt { height, index });
    }
    if let Some(rest) = key.strip_prefix(b"/etching/byruneid/") {
        return Some(ForeignKey::Etched(lists::id(rest)?));
    }
    if key.starts_with(b"/runes/mints-remaining/") {
        return Some(ForeignKey::MintsRemaining);
    }
    let is_left_out = LEFT_OUT.iter().any(|(prefix, _)| key.starts_with(prefix.as_bytes()));
    is_left_out.then_some(ForeignKey::LeftOut)
}

/// The part behind `/alkanes/`.
fn contract(rest: &[u8]) -> Option<ForeignKey> {
    let (id, rest) = rest.split_at_checked(ID_LEN)?;
    let id = lists::id(id)?;
    if rest.is_empty() {
        return Some(ForeignKey::State(StateKey::Code(id)));
    }
    if let Some(name) = rest.strip_prefix(b"/storage/") {
        return Some(ForeignKey::State(StateKey::Storage(id, name.to_vec())));
    }
    if let Some(who) = rest.strip_prefix(b"/balances/") {
        return Some(ForeignKey::State(StateKey::Balance { what: id, who: lists::id(who)? }));
    }
    inventory(id, rest)
}

/// The part behind `/alkanes` in releases before 2.0, whose inventories lack the stroke before the id.
fn old_inventory(rest: &[u8]) -> Option<ForeignKey> {
    let (id, rest) = rest.split_at_checked(ID_LEN)?;
    inventory(lists::id(id)?, rest)
}

/// The part behind the id of a contract in its inventory.
fn inventory(id: AlkaneId, rest: &[u8]) -> Option<ForeignKey> {
    let entry = rest.strip_prefix(b"/inventory/")?;
    Some(if index(entry)?.is_some() { ForeignKey::Inventory(id) } else { ForeignKey::LeftOut })
}

/// The part behind the name of a list by height.
fn by_height(rest: &[u8], entry: impl Fn(u64, u32) -> ForeignKey) -> Option<ForeignKey> {
    let (height, rest) = rest.split_first_chunk()?;
    let height = u64::from_le_bytes(*height);
    Some(index(rest)?.map_or(ForeignKey::LeftOut, |index| entry(height, index)))
}

/// The part behind the name of the sheets.
fn sheet(rest: &[u8], of: impl Fn(OutPoint) -> StateKey) -> Option<ForeignKey> {
    let (outpoint_bytes, rest) = rest.split_at_checked(OUTPOINT_LEN)?;
    let sheet = of(outpoint(outpoint_bytes)?);
    if let Some(entry) = rest.strip_prefix(b"/runes") {
        return Some(index(entry)?.map_or(ForeignKey::LeftOut, |index| ForeignKey::SheetId { sheet, index }));
    }
    if let Some(entry) = rest.strip_prefix(b"/balances") {
        return Some(index(entry)?.map_or(ForeignKey::LeftOut, |index| ForeignKey::SheetAmount { sheet, index }));
    }
    // Sheets of outputs are read by their lists; this table does not change when they are spent (protocol B16).
    let id = rest.strip_prefix(b"/id_to_balance")?;
    matches!(id.len(), 16 | ID_LEN).then_some(ForeignKey::LeftOut)
}

/// The number of an entry, `None` for the length of the list; nothing when it is neither (protocol A3).
#[expect(clippy::option_option, reason = "a length, a number, or neither")]
fn index(rest: &[u8]) -> Option<Option<u32>> {
    let entry = rest.strip_prefix(b"/")?;
    if entry == b"length" {
        return Some(None);
    }
    let digits = std::str::from_utf8(entry).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().map(Some)
}

/// An outpoint in consensus encoding.
pub(super) fn outpoint(bytes: &[u8]) -> Option<OutPoint> {
    let (txid, vout) = bytes.split_first_chunk::<32>()?;
    Some(OutPoint { txid: Txid::from_byte_array(*txid), vout: u32::from_le_bytes(vout.try_into().ok()?) })
}
