//! Tables of the module: the state of the program, readable as of every height.
//!
//! ```text
//! values   key of the program                          00 | value, or 01 | length (8) of a value that is in `pieces`
//! pieces   SHA-256 of the key (32) | number (4)        a piece of a large value
//! blocks   height (4)                                  digest (32) | SHA-256 of the program (32) | pairs (4) | bytes (8)
//! unknown  00                                          height (4) | the first key of no known kind, readable
//! ```

use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(9);

/// Version of the rows; raised whenever their form or the rules that make them change.
const VERSION: u32 = 2;

pub(crate) const VALUES: Table = table(1, "values", TableKind::Versioned, Placement::Ordered);
pub(crate) const PIECES: Table = table(2, "pieces", TableKind::Versioned, Placement::Bulk);
pub(crate) const BLOCKS: Table = table(3, "blocks", TableKind::WriteOnce, Placement::Ordered);
pub(crate) const UNKNOWN: Table = table(4, "unknown", TableKind::Current, Placement::Ordered);

/// The schema of this module.
pub const SCHEMA: ModuleSchema = ModuleSchema {
    id: MODULE,
    name: "hosted",
    version: VERSION,
    tables: &[VALUES, PIECES, BLOCKS, UNKNOWN],
    reads: &[],
};

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}
