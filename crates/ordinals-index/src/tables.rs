//! Tables of the module.
//!
//! ```text
//! inscriptions        sequence number (4)                  see rows/entry.rs                                 in order of numbering
//! blessed             number (4)                           sequence number
//! cursed              -1 - number (4)                      sequence number
//! ids                 txid | index (4)                     sequence number
//! locations           sequence number (4)                  outpoint | offset | moves | whether burned
//! held                txid | vout (4)                      inscriptions with offsets, balances of runes      unspent outputs
//! shared_runes        txid                                 balances that many of its outputs hold
//! nowhere             1 lost, 2 unbound | seq. number (4)  nothing
//! children            seq. number of parent | index (4)    sequence number                                   in order of numbering
//! child_counts        sequence number (4)                  how many
//! revealed            height (4)                           see rows/revealed.rs
//! totals              nothing                              lost sats | unbound inscriptions
//! runes               block (8) | tx (4)                   see rows/rune.rs
//! rune_names          name as a number (16)                block (8) | tx (4)
//! rune_numbers        number (4)                           block (8) | tx (4)
//! etchings            txid                                 block (8) | tx (4)
//! ranges              txid | vout (4)                      ranges of sats                                    when sats are followed
//! rare                sat (8)                              outpoint | offset                                 when sats are followed
//! inscribed_sats      sat (8) | sequence number (4)        nothing                                           when sats are followed
//! settings            name                                 value
//! ```
//!
//! Rows of `held` and `ranges` that are long are stored in parts, see rows/parts.rs.
//!
//! Numbers in keys are big-endian, in values varints. A sequence number counts inscriptions in the order in which the
//! reference indexer numbers them, blessed and cursed together; rows name inscriptions by it.

use bitcoin::OutPoint;
use bitcoin::hashes::Hash as _;
use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

use crate::brc20;

use Placement::{Hashed, Ordered};
use TableKind::{Current, Sequence, WriteOnce};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(6);

/// Version of the rows of inscriptions, sats and runes; raised whenever their form or the rules that make them change.
const OWN_VERSION: u32 = 3;
/// Version of the module, which changes with those rows and with those of BRC-20.
const VERSION: u32 = OWN_VERSION + brc20::TABLES_VERSION;

pub(crate) const INSCRIPTIONS: Table = table(1, "inscriptions", Sequence, Ordered);
pub(crate) const BLESSED: Table = table(2, "blessed", Sequence, Ordered);
pub(crate) const CURSED: Table = table(3, "cursed", Sequence, Ordered);
pub(crate) const IDS: Table = table(4, "ids", WriteOnce, Hashed);
pub(crate) const LOCATIONS: Table = table(5, "locations", Current, Ordered);
pub(crate) const HELD: Table = table(6, "held", Current, Hashed);
pub(crate) const NOWHERE: Table = table(7, "nowhere", WriteOnce, Ordered);
pub(crate) const CHILDREN: Table = table(8, "children", WriteOnce, Ordered);
pub(crate) const CHILD_COUNTS: Table = table(9, "child_counts", Current, Ordered);
pub(crate) const REVEALED: Table = table(10, "revealed", WriteOnce, Ordered);
pub(crate) const TOTALS: Table = table(11, "totals", Current, Ordered);
pub(crate) const RUNES: Table = table(12, "runes", Current, Ordered);
pub(crate) const RUNE_NAMES: Table = table(13, "rune_names", WriteOnce, Hashed);
pub(crate) const RUNE_NUMBERS: Table = table(14, "rune_numbers", Sequence, Ordered);
pub(crate) const ETCHINGS: Table = table(15, "etchings", WriteOnce, Hashed);
pub(crate) const RANGES: Table = table(16, "ranges", Current, Hashed);
pub(crate) const RARE: Table = table(17, "rare", Current, Ordered);
pub(crate) const INSCRIBED_SATS: Table = table(18, "inscribed_sats", WriteOnce, Ordered);
pub(crate) const SETTINGS: Table = table(19, "settings", Current, Ordered);
pub(crate) const SHARED_RUNES: Table = table(20, "shared_runes", WriteOnce, Hashed);

/// Tables of inscriptions, sats and runes.
const OWN: [Table; 20] = [
    INSCRIPTIONS,
    BLESSED,
    CURSED,
    IDS,
    LOCATIONS,
    HELD,
    NOWHERE,
    CHILDREN,
    CHILD_COUNTS,
    REVEALED,
    TOTALS,
    RUNES,
    RUNE_NAMES,
    RUNE_NUMBERS,
    ETCHINGS,
    RANGES,
    RARE,
    INSCRIBED_SATS,
    SETTINGS,
    SHARED_RUNES,
];

/// All tables: numbers from 64 on are those of BRC-20, whether or not it is indexed.
pub const TABLES: &[Table] = &{
    let mut all = [OWN[0]; OWN.len() + brc20::TABLES.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < OWN.len() { OWN[index] } else { brc20::TABLES[index - OWN.len()] };
        index += 1;
    }
    all
};

/// What the store must know about this module.
pub const SCHEMA: ModuleSchema = ModuleSchema {
    id: MODULE,
    name: "ordinals",
    version: VERSION,
    tables: TABLES,
    reads: &[paraffin_bitcoin_index::MODULE],
};

/// Key of the `settings` row that states whether sats are followed.
pub(crate) const SATS_SETTING: &[u8] = b"sats";
/// Key of the one row of `totals`.
pub(crate) const TOTALS_KEY: &[u8] = &[];
/// First byte of a key of `nowhere`: lost as fees that no coinbase claimed.
pub(crate) const LOST: u8 = 1;
/// First byte of a key of `nowhere`: bound to no sat.
pub(crate) const UNBOUND: u8 = 2;

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}

/// Key of an output.
pub(crate) fn outpoint_key(outpoint: &OutPoint) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(outpoint.txid.as_byte_array());
    key[32..].copy_from_slice(&outpoint.vout.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_numbers_and_names_are_unique() {
        for (index, table) in TABLES.iter().enumerate() {
            assert!(TABLES[..index].iter().all(|other| other.id != table.id && other.name != table.name));
        }
    }
}
