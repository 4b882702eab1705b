//! Tables of the module. `docs/design/alkanes.md` draws their rows.
//!
//! State of the protocol, one table for each kind of key, readable as of every height; alkanes and base runes of outputs are in
//! `outputs` and `changed_sheets`:
//!
//! ```text
//! singles          01 seen genesis, 02 sequence, 03 pending payments     the value
//! codes            id                                                     code, or the id of a template
//! storage          id | key                                               the stored value
//! balances         what | who                                             amount
//! inventories      who | what                                             nothing
//! deployments      id                                                     outpoint
//! runtime          id                                                     amount
//! first_seen       id                                                     height | index
//! etchings         rune id                                                name and terms
//! etched_names     name (16)                                              rune id
//! mints_remaining  rune id                                                amount
//! ```
//!
//! Tables derived from it for look-ups:
//!
//! ```text
//! traces           outpoint                                               height (4) | trace
//! block_traces     height (4) | index (4)                                 outpoint | transaction index (4) | stands (1)
//! seen_at          height (4) | index (4)                                 id
//! outputs          outpoint                                               height | index | value | script | sheets as first saved
//! changed_sheets   outpoint                                               sheets as its spend leaves them, with the height
//! sheet_parts      outpoint | height (4) | kind (1) | number (4)          a part of a sheet that is too long for a row
//! live             script | height (4) | index (4) | vout (4)             txid | value            unspent, with alkanes
//! spent            script | spent at (4) | height (4) | index (4) | vout  txid | value
//! held             holder | id                                            outputs | amount
//! ranking          id | amount, inverted | holder                         nothing
//! holder_counts    id                                                     scripts | contracts | both amounts, as of every height
//! holdings         id | holder                                            amount, as of every height
//! scripts          script                                                 messages so far (4) | the script itself
//! activity         script | height (4) | index (4)                        txid | roles (1) | messages so far (4)
//! created          height (4) | index (4)                                 id
//! creations        id                                                     height (4) | index (4)
//! totals           01                                                     contracts created
//! recent           height (4)                                             ids of the block's transactions
//! effects          height (4)                                             digest
//! messages         script | number of the first (4)                       height (4) | number of its trace (4)   one for a transaction
//! ```

use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

use Placement::{Bulk, Hashed, Ordered};
use TableKind::{Current, Versioned, WriteOnce};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(3);

/// Version of the rows; raised whenever their form or the rules that make them change.
const VERSION: u32 = 7;

pub(crate) const SINGLES: Table = table(1, "singles", Versioned, Ordered);
pub(crate) const CODES: Table = table(2, "codes", Versioned, Bulk);
pub(crate) const STORAGE: Table = table(3, "storage", Versioned, Ordered);
pub(crate) const BALANCES: Table = table(4, "balances", Versioned, Ordered);
pub(crate) const INVENTORIES: Table = table(5, "inventories", Versioned, Ordered);
pub(crate) const DEPLOYMENTS: Table = table(6, "deployments", Versioned, Ordered);
pub(crate) const CHANGED_SHEETS: Table = table(7, "changed_sheets", WriteOnce, Hashed);
pub(crate) const RUNTIME: Table = table(8, "runtime", Versioned, Ordered);
pub(crate) const FIRST_SEEN: Table = table(9, "first_seen", Versioned, Ordered);
pub(crate) const SHEET_PARTS: Table = table(10, "sheet_parts", WriteOnce, Bulk);
pub(crate) const ETCHINGS: Table = table(11, "etchings", Versioned, Ordered);
pub(crate) const ETCHED_NAMES: Table = table(12, "etched_names", Versioned, Ordered);
pub(crate) const MINTS_REMAINING: Table = table(13, "mints_remaining", Versioned, Ordered);
pub(crate) const TRACES: Table = table(14, "traces", WriteOnce, Bulk);
pub(crate) const BLOCK_TRACES: Table = table(15, "block_traces", WriteOnce, Ordered);
pub(crate) const SEEN_AT: Table = table(16, "seen_at", WriteOnce, Ordered);
pub(crate) const OUTPUTS: Table = table(17, "outputs", WriteOnce, Hashed);
pub(crate) const LIVE: Table = table(18, "live", Current, Ordered);
pub(crate) const SPENT: Table = table(19, "spent", WriteOnce, Ordered);
pub(crate) const HELD: Table = table(20, "held", Current, Ordered);
pub(crate) const RANKING: Table = table(21, "ranking", Current, Ordered);
pub(crate) const HOLDER_COUNTS: Table = table(22, "holder_counts", Versioned, Ordered);
pub(crate) const SCRIPTS: Table = table(23, "scripts", Current, Hashed);
pub(crate) const ACTIVITY: Table = table(24, "activity", WriteOnce, Ordered);
pub(crate) const CREATED: Table = table(25, "created", WriteOnce, Ordered);
pub(crate) const CREATIONS: Table = table(26, "creations", WriteOnce, Ordered);
pub(crate) const TOTALS: Table = table(27, "totals", Current, Ordered);
pub(crate) const RECENT: Table = table(28, "recent", Current, Bulk);
pub(crate) const EFFECTS: Table = table(29, "effects", WriteOnce, Ordered);
pub(crate) const MESSAGES: Table = table(30, "messages", WriteOnce, Ordered);
pub(crate) const HOLDINGS: Table = table(31, "holdings", Versioned, Ordered);

/// All tables, in the order of their numbers.
pub const TABLES: &[Table] = &[
    SINGLES,
    CODES,
    STORAGE,
    BALANCES,
    INVENTORIES,
    DEPLOYMENTS,
    CHANGED_SHEETS,
    RUNTIME,
    FIRST_SEEN,
    SHEET_PARTS,
    ETCHINGS,
    ETCHED_NAMES,
    MINTS_REMAINING,
    TRACES,
    BLOCK_TRACES,
    SEEN_AT,
    OUTPUTS,
    LIVE,
    SPENT,
    HELD,
    RANKING,
    HOLDER_COUNTS,
    SCRIPTS,
    ACTIVITY,
    CREATED,
    CREATIONS,
    TOTALS,
    RECENT,
    EFFECTS,
    MESSAGES,
    HOLDINGS,
];

/// The schema of this module.
pub const SCHEMA: ModuleSchema =
    ModuleSchema { id: MODULE, name: "alkanes", version: VERSION, tables: TABLES, reads: &[] };

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_numbers_count_up_and_names_are_unique() {
        for (index, table) in TABLES.iter().enumerate() {
            assert_eq!(usize::from(table.id), index + 1, "{}", table.name);
            assert!(TABLES[..index].iter().all(|other| other.name != table.name), "{}", table.name);
        }
    }
}
