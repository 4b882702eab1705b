//! Tables of the module and their rows on disk.
//!
//! ```text
//! table                key                                                 value
//! transactions         page number (4)                                     up to 8 transactions, see below
//! transaction_numbers  first 18 bytes of the txid, wire order              transaction numbers, 4 bytes each, oldest first
//! history              first 8 of SHA-256(script) | first number (4)       further numbers of the same block, as gaps
//! script_totals        SHA-256(script)                                     funded, spent, transactions        busy scripts
//! unspent              SHA-256(script) | number (4) | vout                 txid | height | satoshis           busy scripts
//! spends               funding number (4) | vout                           distance to the spender's number   busy scripts
//! blocks               height (4)                                          header | first number | count | size | weight
//! block_heights        block hash                                          height (4)
//! superseded           number (4)                                          nothing
//! raw_transactions     number (4)                                          consensus encoding                 if stored
//! settings             name                                                value
//! ```
//!
//! Fixed-size numbers are big-endian; a `vout` in a key sorts as the number; everything else is a varint of 7-bit groups.
//!
//! **Numbers.** A transaction's number is `8 * page + position in the page`, in chain order. Every block starts a new page,
//! so up to seven numbers at the end of a block name nothing, rows of the sequence are never rewritten, and one read gives
//! a transaction, its height and, by the block's first number, its position in the block.
//!
//! **Busy scripts.** A row of `transactions` has what each input spends, so all that a script ever did follows from its
//! history rows alone, and for nearly every script these are one or two. Only a script with 32 transactions or more is
//! given running totals, a list of its unspent outputs, and a row for each of its spends. Whether it has that many is
//! counted when a new transaction arrives, with a chance of 1 in 32 drawn from the hashes of block and script: the draw is
//! the same on every instance, costs nearly nothing, and leaves a script with 32 + n transactions uncounted with a
//! probability of (31/32)^n. This is why most scripts cost two rows, not five.
//!
//! **Prefixes.** Eight bytes of the hash of a script find rows; they do not decide. Readers compare the script itself. 18 bytes of a
//! txid decide: two transactions that agree in them take 2^72 tries, so a new one is written without a look for others
//! (docs/decisions/0087-transaction-numbers-are-written-unseen.md). Totals and unspent outputs have the whole hash in their keys, so that no transaction is read to answer with them.
//!
//! **What cannot be spent.** Outputs with `OP_RETURN`, outputs with a script above 10,000 bytes and the outputs of block 0
//! have no history and are in no balance; they are part of their transaction, nothing else. Blockstream's server counts
//! the output of block 0 as one that can be spent; no node does.

use paraffin_store::{ModuleId, ModuleSchema, Placement, Table, TableKind};

/// Number of this module on disk.
pub const MODULE: ModuleId = ModuleId(1);

/// Version of the rows; raised whenever their form changes.
const VERSION: u32 = 3;

/// Transactions in chain order, eight to a row: txid, position in the block, what it spends, what it pays.
pub(crate) const TRANSACTIONS: Table = table(1, "transactions", TableKind::Sequence, Placement::Appended);
/// First 18 bytes of a txid to the numbers of the transactions that have it.
pub(crate) const TRANSACTION_NUMBERS: Table = table(2, "transaction_numbers", TableKind::Current, Placement::Hashed);
/// Outpoint of a busy script to the transaction that spent it.
pub(crate) const SPENDS: Table = table(3, "spends", TableKind::WriteOnce, Placement::Ordered);
/// Script prefix and transaction number: who funds or spends the script.
pub(crate) const HISTORY: Table = table(4, "history", TableKind::WriteOnce, Placement::Ordered);
/// Unspent outputs of busy scripts.
pub(crate) const UNSPENT: Table = table(5, "unspent", TableKind::Current, Placement::Ordered);
/// SHA-256 of a busy script to its running totals.
pub(crate) const SCRIPT_TOTALS: Table = table(6, "script_totals", TableKind::Current, Placement::Hashed);
/// Height to header, first transaction and sizes.
pub(crate) const BLOCKS: Table = table(7, "blocks", TableKind::WriteOnce, Placement::Ordered);
/// Block hash to height.
pub(crate) const BLOCK_HEIGHTS: Table = table(8, "block_heights", TableKind::WriteOnce, Placement::Hashed);
/// Numbers of coinbases whose unspent outputs a later transaction of the same txid replaced (BIP30).
pub(crate) const SUPERSEDED: Table = table(9, "superseded", TableKind::WriteOnce, Placement::Ordered);
/// Transaction number to its consensus encoding, when the store keeps them.
pub(crate) const RAW_TRANSACTIONS: Table = table(10, "raw_transactions", TableKind::WriteOnce, Placement::Bulk);
/// Options fixed when the store was created.
pub(crate) const SETTINGS: Table = table(11, "settings", TableKind::Current, Placement::Ordered);

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
pub const SCHEMA: ModuleSchema =
    ModuleSchema { id: MODULE, name: "bitcoin", version: VERSION, tables: TABLES, reads: &[] };

/// Key of the `settings` row that states whether raw transactions are stored.
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
            assert!(
                TABLES[..index].iter().all(|other| other.id != table.id && other.name != table.name),
                "{}",
                table.name
            );
        }
    }
}
