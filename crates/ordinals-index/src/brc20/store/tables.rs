//! Tables of BRC-20. They are part of the module of this crate; their numbers begin where those of inscriptions cannot reach.
//!
//! ```text
//! tokens                 ticker                                     token
//! balances               script, sortable | ticker                  overall | available, as of every height
//! ranking                ticker 00 | overall, inverted | script     available
//! long_scripts           SHA-256 of a script                        the script
//! notes                  inscription                                note
//! notes_of_script        script | ticker 00 | inscription           amount | height
//! notes_of_ticker        ticker 00 | script | inscription           amount | height
//! events                 height (4) | index (4)                     event
//! events_of_inscription  inscription | height (4) | index (4)       kind
//! events_of_script       script | height (4) | index (4)            nothing
//! events_of_pair         script | ticker 00 | height (4) | index    nothing
//! hashes                 height (4)                                 block's | cumulative | events (4)
//! ```
//!
//! Tickers are in lower case and hold no null byte. A script in a key is escaped so that keys sort as scripts do and none is
//! the beginning of another; a script longer than a few hundred bytes ends with its digest instead.

use paraffin_store::{ModuleId, Placement, Table, TableKind};

use Placement::{Bulk, Hashed, Ordered};
use TableKind::{Current, Versioned, WriteOnce};

/// Number on disk of the module that these tables are part of.
pub const MODULE: ModuleId = ModuleId(6);

/// Version of these rows; raised whenever their form or the rules that make them change, and with it that of the module.
pub const TABLES_VERSION: u32 = 1;

pub(crate) const TOKENS: Table = table(64, "brc20_tokens", Current, Ordered);
pub(crate) const BALANCES: Table = table(65, "brc20_balances", Versioned, Ordered);
pub(crate) const RANKING: Table = table(66, "brc20_ranking", Current, Ordered);
pub(crate) const LONG_SCRIPTS: Table = table(67, "brc20_long_scripts", WriteOnce, Bulk);
pub(crate) const NOTES: Table = table(68, "brc20_notes", Current, Hashed);
pub(crate) const NOTES_OF_SCRIPT: Table = table(69, "brc20_notes_of_script", Current, Ordered);
pub(crate) const NOTES_OF_TICKER: Table = table(70, "brc20_notes_of_ticker", Current, Ordered);
pub(crate) const EVENTS: Table = table(71, "brc20_events", WriteOnce, Ordered);
pub(crate) const EVENTS_OF_INSCRIPTION: Table = table(72, "brc20_events_of_inscription", WriteOnce, Hashed);
pub(crate) const EVENTS_OF_SCRIPT: Table = table(73, "brc20_events_of_script", WriteOnce, Ordered);
pub(crate) const EVENTS_OF_PAIR: Table = table(74, "brc20_events_of_pair", WriteOnce, Ordered);
pub(crate) const HASHES: Table = table(75, "brc20_hashes", WriteOnce, Ordered);

/// All tables of BRC-20, for the schema of the module.
pub const TABLES: [Table; 12] = [
    TOKENS,
    BALANCES,
    RANKING,
    LONG_SCRIPTS,
    NOTES,
    NOTES_OF_SCRIPT,
    NOTES_OF_TICKER,
    EVENTS,
    EVENTS_OF_INSCRIPTION,
    EVENTS_OF_SCRIPT,
    EVENTS_OF_PAIR,
    HASHES,
];

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_numbers_count_up_and_names_are_unique() {
        for (index, table) in TABLES.iter().enumerate() {
            assert_eq!(usize::from(table.id), 64 + index, "{}", table.name);
            assert!(TABLES[..index].iter().all(|other| other.name != table.name), "{}", table.name);
        }
    }
}
