//! Tables of the module. Ids are 32 bytes, both parts with the highest byte first; so are all fixed numbers.
//!
//! ```text
//! pools         pool                                  factory | token | token | position (12)
//! factories     factory                               number of its pools (4)
//! events        height (4) | index (4) | number (4)   the event
//! lists         list | number (4)                     key in events
//! list_lengths  list                                  number of its events (4)
//! candles       pool | timeframe (1) | start (4)      open | high | low | close | both volumes | trades
//! candle_counts pool | timeframe (1)                  number of its candles (4)
//! candle_starts pool | timeframe (1) | number (4)     start (4), ascending
//! totals        pool                                  both volumes | trades
//! sums          kind (1)                              base units, successful wraps and unwraps
//! ```
//!
//! Whatever changes is readable as of every height. A list is a scope, a kind (0: all of them) and a status; every event is in several. Its events are numbered, so that a
//! page far from the newest costs as much as the first.

use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

use crate::journal::Journal;

use Placement::Ordered;
use TableKind::{Versioned, WriteOnce};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(4);

/// Version of the rows; raised whenever their form or the rules that make them change.
const VERSION: u32 = 2;

pub(crate) const POOLS: Table = table(1, "pools", WriteOnce, Ordered);
pub(crate) const FACTORIES: Table = table(2, "factories", Versioned, Ordered);
const EVENTS: Table = table(3, "events", WriteOnce, Ordered);
const LISTS: Table = table(4, "lists", WriteOnce, Ordered);
const LIST_LENGTHS: Table = table(5, "list_lengths", Versioned, Ordered);
const CANDLES: Table = table(6, "candles", Versioned, Ordered);
const TOTALS: Table = table(7, "totals", Versioned, Ordered);
pub(crate) const SUMS: Table = table(8, "sums", Versioned, Ordered);

const CANDLE_COUNTS: Table = table(9, "candle_counts", Versioned, Ordered);
const CANDLE_STARTS: Table = table(10, "candle_starts", Versioned, Ordered);

/// Tables of events and of what is derived from them.
pub(crate) const JOURNAL: Journal = Journal {
    events: EVENTS,
    lists: LISTS,
    lengths: LIST_LENGTHS,
    candles: CANDLES,
    candle_counts: CANDLE_COUNTS,
    candle_starts: CANDLE_STARTS,
    totals: TOTALS,
    of_factories: true,
};

/// All tables, in the order of their numbers.
pub const TABLES: &[Table] =
    &[POOLS, FACTORIES, EVENTS, LISTS, LIST_LENGTHS, CANDLES, TOTALS, SUMS, CANDLE_COUNTS, CANDLE_STARTS];

/// The schema of this module.
pub const SCHEMA: ModuleSchema =
    ModuleSchema { id: MODULE, name: "amm", version: VERSION, tables: TABLES, reads: &[paraffin_alkanes::MODULE] };

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}
