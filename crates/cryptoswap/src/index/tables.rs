//! Tables of the module. Ids are 32 bytes, both parts with the highest byte first; so are all fixed numbers.
//!
//! ```text
//! pools      contract                         first seen | from init | identity, once the contract has shown to be a pool
//! pool_list  number (4)                       contract
//! counts     "pools"                          how many pools (4)
//! slots      contract | form (1) | name       txid (32, or none) | value
//! states     contract                         slots at the end of a block
//! swaps      contract | number (4)            height | time | transaction | direction | amounts
//! totals     contract                         swaps | both volumes | newest swap that has a price
//! candles    contract | width (4) | start (8) open | high | low | close | both volumes | trades
//! summaries  height (4)                       counts of operations in a block that has any
//! events     height | index | number (4 each) trade, deposit or withdrawal, with its sender
//! lists      list | number (4)                key in events: by pool, by token (trades), by script, and by both
//! list_lengths list                            number of its events (4)
//! market_candles, market_candle_counts, market_candle_starts, market_totals: as in the market index, with exact prices and in all
//! of its timeframes
//! ```
//!
//! Whatever changes is readable as of every height. A contract that has stored a curve but does not answer as a pool has a row in
//! `pools` without an identity, and its slots are stored in case it turns out to be one.

use paraffin_amm::Journal;
use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

use Placement::Ordered;
use TableKind::{Versioned, WriteOnce};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(5);

/// Version of the rows; raised whenever their form or the rules that make them change.
const VERSION: u32 = 2;

pub(crate) const POOLS: Table = table(1, "pools", Versioned, Ordered);
pub(crate) const POOL_LIST: Table = table(2, "pool_list", WriteOnce, Ordered);
pub(crate) const COUNTS: Table = table(3, "counts", Versioned, Ordered);
pub(crate) const SLOTS: Table = table(4, "slots", Versioned, Ordered);
pub(crate) const STATES: Table = table(5, "states", Versioned, Ordered);
pub(crate) const SWAPS: Table = table(6, "swaps", WriteOnce, Ordered);
pub(crate) const TOTALS: Table = table(7, "totals", Versioned, Ordered);
pub(crate) const CANDLES: Table = table(8, "candles", Versioned, Ordered);
pub(crate) const SUMMARIES: Table = table(9, "summaries", WriteOnce, Ordered);
/// Events in the form of the market index, so that both can be read as one.
pub const JOURNAL: Journal = Journal {
    events: table(10, "events", WriteOnce, Ordered),
    lists: table(11, "lists", WriteOnce, Ordered),
    lengths: table(12, "list_lengths", Versioned, Ordered),
    candles: table(13, "market_candles", Versioned, Ordered),
    candle_counts: table(14, "market_candle_counts", Versioned, Ordered),
    candle_starts: table(15, "market_candle_starts", Versioned, Ordered),
    totals: table(16, "market_totals", Versioned, Ordered),
    of_factories: false,
};

/// All tables, in the order of their numbers.
pub const TABLES: &[Table] = &[
    POOLS,
    POOL_LIST,
    COUNTS,
    SLOTS,
    STATES,
    SWAPS,
    TOTALS,
    CANDLES,
    SUMMARIES,
    JOURNAL.events,
    JOURNAL.lists,
    JOURNAL.lengths,
    JOURNAL.candles,
    JOURNAL.candle_counts,
    JOURNAL.candle_starts,
    JOURNAL.totals,
];

/// The schema of this module.
pub const SCHEMA: ModuleSchema = ModuleSchema {
    id: MODULE,
    name: "cryptoswap",
    version: VERSION,
    tables: TABLES,
    reads: &[paraffin_alkanes::MODULE],
};

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}
