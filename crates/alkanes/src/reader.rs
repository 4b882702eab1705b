//! Reads for views and the API: the state as of the end of a block, and listings over it.
//!
//! All are answered for every height of the index but one: the sums of a script are stored for the newest block alone, and
//! [`ChainState`] at another height answers them as of now.

mod alkanes;
mod holders;
mod messages;
mod outputs;
mod storage;
mod traces;

use std::sync::Arc;

use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, Txid};
use paraffin_primitives::Height;
use paraffin_store::{Row, Snapshot, Table, TableKind};

pub use alkanes::{Creation, Order};
pub use holders::{Holding, HoldingOf};
pub use messages::ScriptMessage;
pub use outputs::{ActivityEntry, FundedOutput};
pub(crate) use outputs::{RECEIVES, SPENDS};
pub use storage::StorageEntry;
pub use traces::{BlockState, BlockTrace};

use crate::rows::{Cursor, Page, read_state};
use crate::tables::RECENT;
use crate::{SavedSheet, StateError, StateKey, StateReader};

/// Rows read between two checks of the clock.
const ROWS_PER_CHECK: usize = 256;

/// The alkanes index as of the end of the block at a height. Cheap to clone; keep it for one request, not longer.
#[derive(Clone)]
pub struct ChainState {
    snapshot: Snapshot,
    height: Height,
    /// Whether the newest block of the snapshot is the requested one, or below it.
    is_newest: bool,
    /// Whether the caller has waited long enough; without it reading goes on.
    is_over: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl ChainState {
    /// The state at the end of the block at `height`; above the newest block it is that of the newest.
    pub fn at(snapshot: &Snapshot, height: Height) -> Self {
        let is_newest = snapshot.tip().is_none_or(|tip| tip.id.height <= height);
        Self { snapshot: snapshot.clone(), height, is_newest, is_over: None }
    }

    /// The same state for a caller who does not wait for ever: what costs more than it shows ([`Self::outputs_of`] and
    /// [`Self::holders`] at an older height) ends with [`StateError::Interrupted`] when `is_over` returns true.
    #[must_use]
    pub fn until(mut self, is_over: Arc<dyn Fn() -> bool + Send + Sync>) -> Self {
        self.is_over = Some(is_over);
        self
    }

    fn check(&self) -> Result<(), StateError> {
        if self.is_over.as_ref().is_some_and(|is_over| is_over()) { Err(StateError::Interrupted) } else { Ok(()) }
    }

    /// The requested height.
    pub fn height(&self) -> Height {
        self.height
    }

    /// The snapshot behind it.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The alkanes of an output as saved, zeros of a spent one included (protocol B16); without entries when there are none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn sheet(&self, outpoint: &OutPoint) -> Result<SavedSheet, StateError> {
        SavedSheet::decode(&self.get(&StateKey::Sheet(*outpoint))?.unwrap_or_default())
    }

    /// The base runes of an output as saved, as [`Self::sheet`].
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn base_sheet(&self, outpoint: &OutPoint) -> Result<SavedSheet, StateError> {
        SavedSheet::decode(&self.get(&StateKey::BaseSheet(*outpoint))?.unwrap_or_default())
    }

    /// Rows whose key begins with `prefix`, after a cursor or, backwards, before it: at most `limit` that `parse` does not
    /// pass over with `None`, and where to go on. Of a versioned table the newest value of every key.
    fn page<T>(
        &self,
        table: &Table,
        prefix: &[u8],
        after: Option<&Cursor>,
        backwards: bool,
        limit: usize,
        mut parse: impl FnMut(Row) -> Result<Option<T>, StateError>,
    ) -> Result<Page<T>, StateError> {
        let mut from = prefix.to_vec();
        let mut to = prefix.to_vec();
        // No key of a listing is longer than this behind its prefix.
        to.extend_from_slice(&[u8::MAX; 96]);
        if let Some(after) = after {
            if backwards {
                to.truncate(prefix.len());
                to.extend_from_slice(after.bound());
            } else {
                from.extend_from_slice(after.bound());
            }
        }
        if from > to {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let rows = self.snapshot.range(table, &from, &to);
        let rows: Box<dyn Iterator<Item = _>> = if backwards { Box::new(rows.rev()) } else { Box::new(rows) };
        let mut items = Vec::new();
        let mut last = None;
        for row in rows {
            let (key, value) = row?;
            let suffix = &key[prefix.len()..];
            if after.is_some_and(|after| after.0 == suffix) {
                continue;
            }
            if items.len() == limit {
                return Ok(Page { items, next: last.map(Cursor) });
            }
            let suffix = suffix.to_vec();
            if let Some(item) = parse((key, value))? {
                items.push(item);
                last = Some(suffix);
            }
        }
        Ok(Page { items, next: None })
    }
}

impl StateReader for ChainState {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        read_state(key, self.height, |table, row_key| match table.kind {
            TableKind::Versioned => self.snapshot.get_at(table, row_key, self.height),
            _ => self.snapshot.get(table, row_key),
        })
    }

    fn recent_height(&self, txid: &Txid) -> Result<Option<u64>, StateError> {
        recent_height(txid, self.snapshot.prefix(&RECENT, &[]).map(|row| row.map_err(StateError::from)))
    }
}

/// Searches rows of table `recent` for a transaction.
pub(crate) fn recent_height(
    txid: &Txid,
    rows: impl Iterator<Item = Result<Row, StateError>>,
) -> Result<Option<u64>, StateError> {
    for row in rows {
        let (key, txids) = row?;
        if txids.chunks_exact(32).any(|other| other == txid.as_byte_array()) {
            let height = <[u8; 4]>::try_from(&key[..])
                .map_err(|_| StateError::Damaged("a key of recent is not a height".to_owned()))?;
            return Ok(Some(u64::from(u32::from_be_bytes(height))));
        }
    }
    Ok(None)
}
