//! Tables of the module and their identity on disk.

use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(1);

/// Version of the rows; raised whenever their form changes.
const VERSION: u32 = 1;

/// Transactions in chain order, eight to a row: txid, place in the block, what it spends, what it pays.
pub(crate) const TRANSACTIONS: Table = table(1, "transactions", TableKind::Sequence, Placement::Numbered);
/// First 8 bytes of a txid to the numbers of the transactions that have them.
pub(crate) const TRANSACTION_NUMBERS: Table = table(2, "transaction_numbers", TableKind::Current, Placement::Hashed);
/// Outpoint of a busy script to the transaction that spent it.
pub(crate) const SPENDS: Table = table(3, "spends", TableKind::WriteOnce, Placement::Numbered);
/// Script prefix and transaction number: who funds or spends the script.
pub(crate) const HISTORY: Table = table(4, "history", TableKind::WriteOnce, Placement::Listed);
/// Unspent outputs of busy scripts.
pub(crate) const UNSPENT: Table = table(5, "unspent", TableKind::Current, Placement::Listed);
/// SHA-256 of a busy script to its running totals.
pub(crate) const SCRIPT_TOTALS: Table = table(6, "script_totals", TableKind::Current, Placement::Hashed);
/// Height to header, first transaction and sizes.
pub(crate) const BLOCKS: Table = table(7, "blocks", TableKind::WriteOnce, Placement::Numbered);
/// Block hash to height.
pub(crate) const BLOCK_HEIGHTS: Table = table(8, "block_heights", TableKind::WriteOnce, Placement::Hashed);
/// Numbers of coinbases whose unspent outputs a later transaction of the same txid replaced (BIP30).
pub(crate) const SUPERSEDED: Table = table(9, "superseded", TableKind::WriteOnce, Placement::Numbered);
/// Transaction number to its consensus encoding, when the store keeps them.
pub(crate) const RAW_TRANSACTIONS: Table = table(10, "raw_transactions", TableKind::WriteOnce, Placement::Bulk);
/// Options fixed when the store was created.
pub(crate) const SETTINGS: Table = table(11, "settings", TableKind::Current, Placement::Numbered);

/// All tables, in the order of their numbers.
pub const TABLES: &[Table] = &[
    TRANSACTIONS,
    TRANSACTION_NUMBERS,
    SPENDS,
    HISTORY,
    UNSPENT,
    SCRIPT_TOTALS,
    BLOCKS,
    BLOCK_HEIGHTS,
    SUPERSEDED,
    RAW_TRANSACTIONS,
    SETTINGS,
];

/// What the store must know about this module.
pub const SCHEMA: ModuleSchema = ModuleSchema { id: MODULE, name: "bitcoin", version: VERSION, tables: TABLES };

/// Key of the `settings` row that says whether raw transactions are stored.
pub(crate) const RAW_TRANSACTIONS_SETTING: &[u8] = b"raw_transactions";

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: MODULE, id, name, kind, placement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_numbers_and_names_are_unique() {
        for (index, table) in TABLES.iter().enumerate() {
            assert!(TABLES[..index].iter().all(|other| other.id != table.id && other.name != table.name), "{}", table.name);
        }
    }
}
