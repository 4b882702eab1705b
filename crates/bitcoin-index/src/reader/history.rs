use std::collections::{HashSet, VecDeque};

use bitcoin::Txid;
use paraffin_primitives::Height;
use paraffin_store::Snapshot;

use super::location::Locator;
use super::{BitcoinIndex, TxLocation};
use crate::activity::{PageCursor, is_superseded, number_of};
use crate::error::ReadError;
use crate::outputs::visit_outputs;
use crate::rows::{Funding, HistoryRow, PackedScript, TransactionRow, history_key};
use crate::script_key::{ScriptKey, script_digest};
use crate::tables::HISTORY;

/// A transaction of a script, as a whole history lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its id.
    pub txid: Txid,
    /// Height of its block.
    pub height: Height,
}

/// Inputs that are read one by one before the rest is read together.
const INPUTS_ALONE: usize = 4;
/// Transactions that are cached while whole histories are read, and their inputs and outputs: about a megabyte, or one transaction.
const RECENT_MAX: usize = 64;
const RECENT_SIZE_MAX: usize = 32_768;

impl BitcoinIndex {
    /// At most `limit` transactions that fund or spend the script, newest first, starting below `after`. Costs as much
    /// for the first page as for any other, however long the history is.
    ///
    /// # Errors
    /// [`ReadError::NotInHistory`] when `after` is unknown or has no part in this script; else those of reading.
    pub fn history(
        &self,
        script: &ScriptKey,
        after: Option<&Txid>,
        limit: usize,
    ) -> Result<Vec<TxLocation>, ReadError> {
        let mut locations = Vec::new();
        let mut reader =
            Participants { index: self, script, cursor: PageCursor::default(), spent: PageCursor::default() };
        let newest = match after {
            None => u32::MAX,
            Some(txid) => match reader.number_before(txid)? {
                None => return Ok(locations),
                Some(newest) => newest,
            },
        };
        let prefix = self.width.prefix(script.digest());
        let mut locator = Locator::new(self);
        let mut rows = self.snapshot.range(&HISTORY, &history_key(prefix, 0), &history_key(prefix, newest)).rev();
        while locations.len() < limit {
            let Some(row) = rows.next() else { break };
            let (key, value) = row?;
            let row = HistoryRow::decode(&key, &value).map_err(|error| ReadError::damaged(&HISTORY, error))?;
            for number in row.numbers().iter().rev().filter(|number| **number <= newest) {
                if locations.len() >= limit {
                    break;
                }
                if let Some(row) = reader.participant(*number)? {
                    locations.push(locator.locate(&row)?);
                }
            }
        }
        Ok(locations)
    }

    /// Reads whole histories.
    pub fn whole_histories(&self) -> WholeHistories<'_> {
        WholeHistories { index: self, cursor: PageCursor::default(), recent: RecentTransactions::default() }
    }
}

/// Whole histories of scripts, one after the other. Scripts of the same transactions are quick together: each of these is read, and its
/// outputs are hashed, once.
pub struct WholeHistories<'a> {
    index: &'a BitcoinIndex,
    cursor: PageCursor,
    recent: RecentTransactions,
}

/// What a whole history needs of a transaction.
struct Parts {
    number: u32,
    entry: HistoryEntry,
    is_superseded: bool,
    inputs: Vec<Funding>,
    /// SHA-256 of the output scripts; `None` for those that cannot be spent.
    outputs: Vec<Option<[u8; 32]>>,
}

impl Parts {
    fn read(rows: &Snapshot, cursor: &mut PageCursor, number: u32) -> Result<Self, ReadError> {
        let transaction = cursor.transaction(rows, number)?;
        let digest = |script: PackedScript<'_>| (!script.is_unspendable()).then(|| script_digest(&script.to_script()));
        Ok(Self {
            number,
            entry: HistoryEntry { txid: transaction.txid, height: transaction.height },
            is_superseded: is_superseded(rows, &transaction)?,
            inputs: transaction.inputs().flatten().collect(),
            outputs: transaction.outputs().map(|(_, script)| digest(script)).collect(),
        })
    }

    fn size(&self) -> usize {
        self.inputs.len() + self.outputs.len()
    }
}

/// The transactions that were looked at last, oldest first.
#[derive(Default)]
struct RecentTransactions {
    all: VecDeque<Parts>,
    /// Their inputs and outputs.
    size: usize,
}

impl RecentTransactions {
    fn get(&mut self, rows: &Snapshot, cursor: &mut PageCursor, number: u32) -> Result<&Parts, ReadError> {
        let at = match self.all.iter().rposition(|parts| parts.number == number) {
            Some(at) => at,
            None => self.push(Parts::read(rows, cursor, number)?),
        };
        Ok(&self.all[at])
    }

    /// Takes one more, and forgets the oldest where there are too many; where it is.
    fn push(&mut self, parts: Parts) -> usize {
        self.size += parts.size();
        self.all.push_back(parts);
        while self.all.len() > 1 && (self.all.len() > RECENT_MAX || self.size > RECENT_SIZE_MAX) {
            self.size -= self.all.pop_front().map_or(0, |oldest| oldest.size());
        }
        self.all.len() - 1
    }
}

impl WholeHistories<'_> {
    /// All transactions that fund or spend the script, in the order of the chain; `None` when there are more than `limit`. Walks
    /// the history once: an output is spent by an input that names it, so no other transaction is read. `keep` is called with
    /// the bytes to allocate; when it returns false, the walk ends with an empty history.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of(
        &mut self,
        script: &ScriptKey,
        limit: usize,
        keep: impl FnOnce(usize) -> bool,
    ) -> Result<Option<Vec<HistoryEntry>>, ReadError> {
        /// An entry, its number, and an output of the script in a table.
        const ENTRY_BYTES: usize = 36 + 4 + 24;
        let Self { index, cursor, recent } = self;
        let rows = &index.snapshot;
        let mut numbers: Vec<u32> = Vec::new();
        for row in rows.prefix(&HISTORY, &index.width.prefix(script.digest())) {
            let (key, value) = row?;
            let row = HistoryRow::decode(&key, &value).map_err(|error| ReadError::damaged(&HISTORY, error))?;
            numbers.extend_from_slice(row.numbers());
            if numbers.len() > limit {
                return Ok(None);
            }
        }
        if !keep(numbers.len().saturating_mul(ENTRY_BYTES)) {
            return Ok(Some(Vec::new()));
        }
        let mut entries = Vec::with_capacity(numbers.len());
        let mut owned: HashSet<Funding> = HashSet::new();
        for number in numbers {
            let parts = recent.get(rows, cursor, number)?;
            if parts.is_superseded {
                continue;
            }
            let mut is_part = false;
            for funding in &parts.inputs {
                is_part |= owned.remove(funding);
            }
            for (vout, digest) in (0u32..).zip(&parts.outputs) {
                if digest.as_ref() == Some(script.digest()) {
                    owned.insert(Funding { number, vout });
                    is_part = true;
                }
            }
            if is_part {
                entries.push(parts.entry);
            }
        }
        Ok(Some(entries))
    }
}

/// Distinguishes the transactions of a script from those of another one with the same prefix.
struct Participants<'a> {
    index: &'a BitcoinIndex,
    script: &'a ScriptKey,
    cursor: PageCursor,
    spent: PageCursor,
}

impl Participants<'_> {
    /// The number below that of `txid`; `None` when there is none below.
    fn number_before(&mut self, txid: &Txid) -> Result<Option<u32>, ReadError> {
        let number = number_of(&self.index.snapshot, txid)?;
        let number = number.ok_or(ReadError::NotInHistory(*txid))?;
        // Outputs of block 0 have no history, so its transaction is in none.
        match self.participant(number)? {
            Some(row) if row.height > 0 => Ok(number.checked_sub(1)),
            _ => Err(ReadError::NotInHistory(*txid)),
        }
    }

    /// The transaction, if it funds the script or spends from it.
    fn participant(&mut self, number: u32) -> Result<Option<TransactionRow<'_>>, ReadError> {
        let rows = &self.index.snapshot;
        let transaction = self.cursor.transaction(rows, number)?;
        if is_superseded(rows, &transaction)? {
            return Ok(None);
        }
        if transaction.outputs().any(|(_, script)| self.script.matches(&script)) {
            return Ok(Some(transaction));
        }
        // Mostly the first inputs decide; a transaction with very many is read in chain order instead.
        let mut inputs = transaction.inputs().flatten();
        for funding in inputs.by_ref().take(INPUTS_ALONE) {
            let funded = self.spent.transaction(rows, funding.number)?;
            if funded.output(funding.vout).is_some_and(|(_, script)| self.script.matches(&script)) {
                return Ok(Some(transaction));
            }
        }
        let mut wanted: Vec<(Funding, ())> = inputs.map(|funding| (funding, ())).collect();
        let mut is_spender = false;
        visit_outputs(rows, &mut wanted, |(), _, _, script| {
            is_spender |= !is_spender && self.script.matches(script);
            Ok(())
        })?;
        Ok(is_spender.then_some(transaction))
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::Hash as _;

    use super::*;

    #[test]
    fn the_transactions_kept_are_bounded_by_number_and_by_size_and_the_newest_is_one_of_them() {
        let parts = |number: u32, outputs: usize| Parts {
            number,
            entry: HistoryEntry { txid: Txid::all_zeros(), height: 1 },
            is_superseded: false,
            inputs: Vec::new(),
            outputs: vec![None; outputs],
        };
        let mut recent = RecentTransactions::default();
        for number in 0..100 {
            let at = recent.push(parts(number, 2));
            assert_eq!(recent.all[at].number, number);
        }
        assert_eq!((recent.all.len(), recent.size), (RECENT_MAX, 2 * RECENT_MAX));
        assert_eq!(recent.push(parts(100, RECENT_SIZE_MAX - 4)), 2);
        assert_eq!(recent.push(parts(101, 2 * RECENT_SIZE_MAX)), 0, "one that is too large is alone");
        assert_eq!(recent.push(parts(102, 1)), 0);
        assert_eq!(recent.size, 1);
    }
}
