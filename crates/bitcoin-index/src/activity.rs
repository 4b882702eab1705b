//! The one definition of what belongs to a script, computed from its history rows alone.
//!
//! Scripts with few transactions (nearly all of them) are answered by it at every read; a busy script is answered from
//! running totals, a list of its unspent outputs and its spends, all three started by it and then kept up to date.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bitcoin::Txid;
use paraffin_store::{CommittedRows, EarlierTables, ModuleWriter, Row, Snapshot, StoreError, Table, read_together};

use crate::error::ReadError;
use crate::rows::{
    Funding, HistoryRow, PackedScript, PrefixWidth, ScriptTotals, TransactionRow, UnspentRow, decode_numbers,
    page_number, row_in_page, txid_key,
};
use crate::script_key::ScriptKey;
use crate::tables::{HISTORY, SCRIPT_TOTALS, SUPERSEDED, TRANSACTION_NUMBERS, TRANSACTIONS};

/// The reads that the writer of a block and a snapshot have in common.
pub(crate) trait RowSource: Sync {
    fn get(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
    /// At most `limit` rows, ascending.
    fn prefix_rows(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError>;
}

impl RowSource for Snapshot {
    fn get(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Snapshot::get(self, table, key)
    }

    fn prefix_rows(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        self.prefix(table, prefix).take(limit).collect()
    }
}

impl RowSource for ModuleWriter<'_> {
    fn get(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        ModuleWriter::get(self, table, key)
    }

    fn prefix_rows(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        self.prefix(table, prefix, limit)
    }
}

impl RowSource for EarlierTables<'_> {
    fn get(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        EarlierTables::get(self, table, key)
    }

    fn prefix_rows(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        self.prefix(table, prefix, limit)
    }
}

impl RowSource for CommittedRows {
    fn get(&self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        CommittedRows::get(self, table, key)
    }

    fn prefix_rows(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.prefix(table, prefix)?;
        rows.truncate(limit);
        Ok(rows)
    }
}

/// The row of table `transactions` read last, as bytes; neighbours are then free.
#[derive(Debug, Default)]
pub(crate) struct PageCursor {
    page: Option<(u32, Vec<u8>)>,
}

impl PageCursor {
    /// Transaction `number`, which the index itself named: that it is absent is damage.
    pub(crate) fn transaction(&mut self, rows: &impl RowSource, number: u32) -> Result<TransactionRow<'_>, ReadError> {
        let page = page_number(number);
        if self.page.as_ref().is_none_or(|(held, _)| *held != page) {
            self.page = Some((page, read_page(rows, number)?));
        }
        let (_, bytes) = self.page.as_ref().ok_or(missing_transaction())?;
        transaction_in(number, bytes)
    }
}

/// The row of table `transactions` that holds transaction `number`, which the index itself named.
pub(crate) fn read_page(rows: &impl RowSource, number: u32) -> Result<Vec<u8>, ReadError> {
    rows.get(&TRANSACTIONS, &page_number(number).to_be_bytes())?.ok_or(missing_transaction())
}

/// Transaction `number` of its row.
pub(crate) fn transaction_in(number: u32, page: &[u8]) -> Result<TransactionRow<'_>, ReadError> {
    let row = row_in_page(number, page).map_err(|error| ReadError::damaged(&TRANSACTIONS, error))?;
    row.ok_or(missing_transaction())
}

/// Hands out some transactions by the rows of table `transactions` that hold them, with the bytes of each row. `number` gives the
/// number of an item; the items are in the order of their numbers. Rows are read together, up to a megabyte of them.
pub(crate) fn visit_pages<T: Sync>(
    rows: &impl RowSource,
    items: &[T],
    number: impl Fn(&T) -> u32 + Sync,
    mut visit: impl FnMut(&[T], &[u8]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let groups: Vec<&[T]> =
        items.chunk_by(|left, right| page_number(number(left)) == page_number(number(right))).collect();
    for groups in groups.chunks(PAGES_TOGETHER) {
        let held = AtomicUsize::new(0);
        let read = |group: &&[T]| {
            if held.load(Ordering::Relaxed) >= BYTES_TOGETHER {
                return Ok(None);
            }
            let page = read_page(rows, number(&group[0]))?;
            held.fetch_add(page.len(), Ordering::Relaxed);
            Ok::<_, ReadError>(Some(page))
        };
        for (group, page) in groups.iter().zip(read_together(groups, READ_BY_ONE, read)?) {
            // One at a time where the others take the memory.
            let page = page.map_or_else(|| read_page(rows, number(&group[0])), Ok)?;
            visit(group, &page)?;
        }
    }
    Ok(())
}

/// Rows that are worth a thread which reads them.
pub(crate) const READ_BY_ONE: usize = 8;
/// Histories of scripts that are worth a thread: rows of one lie in most files of the table, and are looked for in each.
const HISTORIES_BY_ONE: usize = 2;
/// Rows of table `transactions` that are read together. Most have a few kilobytes.
const PAGES_TOGETHER: usize = 64;
/// Bytes of rows after which no more are read together: a block can be one transaction, which makes a row of a megabyte.
const BYTES_TOGETHER: usize = 1 << 20;

fn missing_transaction() -> ReadError {
    ReadError::Damaged { table: TRANSACTIONS.name, reason: "a transaction that other rows name is missing" }
}

/// Number of the newest transaction with this id; two coinbases of mainnet repeat others (BIP30).
pub(crate) fn number_of(rows: &impl RowSource, txid: &Txid) -> Result<Option<u32>, ReadError> {
    let Some(value) = rows.get(&TRANSACTION_NUMBERS, &txid_key(txid))? else { return Ok(None) };
    let mut numbers = decode_numbers(&value).map_err(|error| ReadError::damaged(&TRANSACTION_NUMBERS, error))?;
    Ok(numbers.next_back())
}

/// Whether a later coinbase with the same id replaced this transaction (BIP30).
pub(crate) fn is_superseded(rows: &impl RowSource, row: &TransactionRow<'_>) -> Result<bool, ReadError> {
    Ok(row.is_coinbase() && rows.get(&SUPERSEDED, &row.number.to_be_bytes())?.is_some())
}

/// Running totals; present exactly for busy scripts.
pub(crate) fn busy_totals(rows: &impl RowSource, digest: &[u8; 32]) -> Result<Option<ScriptTotals>, ReadError> {
    match rows.get(&SCRIPT_TOTALS, digest)? {
        None => Ok(None),
        Some(value) => {
            ScriptTotals::decode(&value).map(Some).map_err(|error| ReadError::damaged(&SCRIPT_TOTALS, error))
        }
    }
}

/// An output that pays the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnedOutput {
    pub(crate) funding: Funding,
    pub(crate) row: UnspentRow,
    /// Number of the transaction that spent it.
    pub(crate) spender: Option<u32>,
}

/// Everything that a script did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptActivity {
    pub(crate) totals: ScriptTotals,
    /// In the order in which they were funded.
    pub(crate) outputs: Vec<OwnedOutput>,
}

/// What one script did; see [`script_activities`].
pub(crate) fn script_activity(
    rows: &impl RowSource,
    width: PrefixWidth,
    key: &ScriptKey,
) -> Result<ScriptActivity, ReadError> {
    let activities = script_activities(rows, width, std::slice::from_ref(key))?;
    Ok(activities.into_iter().next().unwrap_or_default())
}

/// Walks all history rows of some scripts, oldest first, each transaction once however many of the scripts it has. An
/// output is spent by an input that names it, so the outputs met on the way identify the inputs of the scripts, and no
/// other transaction has to be read.
pub(crate) fn script_activities(
    rows: &impl RowSource,
    width: PrefixWidth,
    keys: &[ScriptKey],
) -> Result<Vec<ScriptActivity>, ReadError> {
    let histories = read_together(keys, HISTORIES_BY_ONE, |key| history_numbers(rows, width, key))?;
    let mut numbers: Vec<u32> = histories.into_iter().flatten().collect();
    numbers.sort_unstable();
    numbers.dedup();

    let owners = Owners::new(keys);
    let mut activities: Vec<ScriptActivity> = keys.iter().map(|_| ScriptActivity::default()).collect();
    let mut positions: HashMap<Funding, (usize, usize)> = HashMap::new();
    let mut participants = Vec::new();
    let mut visit = |number: u32, page: &[u8]| {
        let transaction = transaction_in(number, page)?;
        if is_superseded(rows, &transaction)? {
            return Ok(());
        }
        participants.clear();
        for funding in transaction.inputs().flatten() {
            if let Some((owner, position)) = positions.get(&funding) {
                activities[*owner].spend(*position, number);
                participants.push(*owner);
            }
        }
        for (vout, (satoshis, script)) in (0u32..).zip(transaction.outputs()) {
            if let Some(owner) = owners.of(&script) {
                let funding = Funding { number, vout };
                positions.insert(funding, (owner, activities[owner].outputs.len()));
                let row = UnspentRow { txid: transaction.txid, height: transaction.height, satoshis };
                activities[owner].fund(OwnedOutput { funding, row, spender: None });
                participants.push(owner);
            }
        }
        participants.sort_unstable();
        participants.dedup();
        for owner in &participants {
            activities[*owner].totals.tx_count += 1;
        }
        Ok(())
    };
    let number = |number: &u32| *number;
    visit_pages(rows, &numbers, number, |numbers, page| numbers.iter().try_for_each(|number| visit(*number, page)))?;
    Ok(activities)
}

/// Transactions in the history rows of a script, ascending; those of another script with the same prefix among them.
pub(crate) fn history_numbers(
    rows: &impl RowSource,
    width: PrefixWidth,
    key: &ScriptKey,
) -> Result<Vec<u32>, ReadError> {
    let mut numbers = Vec::new();
    for (row_key, value) in rows.prefix_rows(&HISTORY, &width.prefix(key.digest()), usize::MAX)? {
        let row = HistoryRow::decode(&row_key, &value).map_err(|error| ReadError::damaged(&HISTORY, error))?;
        numbers.extend_from_slice(row.numbers());
    }
    Ok(numbers)
}

impl ScriptActivity {
    fn fund(&mut self, output: OwnedOutput) {
        self.totals.funded_txo_count += 1;
        self.totals.funded_txo_sum = self.totals.funded_txo_sum.saturating_add(output.row.satoshis);
        self.outputs.push(output);
    }

    fn spend(&mut self, position: usize, spender: u32) {
        let output = &mut self.outputs[position];
        output.spender = Some(spender);
        self.totals.spent_txo_count += 1;
        self.totals.spent_txo_sum = self.totals.spent_txo_sum.saturating_add(output.row.satoshis);
    }
}

/// Finds which of some scripts an output pays.
enum Owners<'a> {
    /// A single script, perhaps given by its hash alone.
    One(&'a ScriptKey),
    /// Packed scripts to their positions.
    Many(HashMap<&'a [u8], usize>),
}

impl<'a> Owners<'a> {
    fn new(keys: &'a [ScriptKey]) -> Self {
        match keys {
            [key] => Self::One(key),
            _ => Self::Many(
                keys.iter().enumerate().filter_map(|(position, key)| Some((key.packed()?, position))).collect(),
            ),
        }
    }

    fn of(&self, script: &PackedScript<'_>) -> Option<usize> {
        match self {
            Self::One(key) => key.matches(script).then_some(0),
            Self::Many(positions) => positions.get(script.packed()).copied(),
        }
    }
}
