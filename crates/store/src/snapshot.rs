//! Consistent reads that never block the writer.

use std::sync::{Arc, Weak};

use paraffin_primitives::Height;

use crate::engine::{Space, View};
use crate::record::{ModuleState, StoredBlock, UndoneBlock, decode_number, meta_key};
use crate::rows::TableScan;
use crate::undo;
use crate::version::version_in_view;
use crate::{BlockDigests, BlockRecord, ModuleDigest, ModuleId, Row, StoreError, Table, TableKind, key};

/// A consistent view of all tables at one block. Never blocks the writer. Keep it for one request, not for longer:
/// rows that were replaced or removed since stay on disk as long as it lives.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) published: Arc<Published>,
    is_over: Option<IsOver>,
}

/// Returns whether a read is cancelled.
pub type IsOver = Arc<dyn Fn() -> bool + Send + Sync>;

/// Rows until the read is cancelled.
struct Awaited<R> {
    rows: R,
    is_over: Option<IsOver>,
    has_ended: bool,
}

impl<R> Awaited<R> {
    fn next_with(
        &mut self,
        next: impl FnOnce(&mut R) -> Option<Result<Row, StoreError>>,
    ) -> Option<Result<Row, StoreError>> {
        if self.has_ended {
            return None;
        }
        if self.is_over.as_ref().is_some_and(|is_over| is_over()) {
            self.has_ended = true;
            return Some(Err(StoreError::Abandoned));
        }
        next(&mut self.rows)
    }
}

impl<R: DoubleEndedIterator<Item = Result<Row, StoreError>>> Iterator for Awaited<R> {
    type Item = R::Item;

    fn next(&mut self) -> Option<R::Item> {
        self.next_with(R::next)
    }
}

impl<R: DoubleEndedIterator<Item = Result<Row, StoreError>>> DoubleEndedIterator for Awaited<R> {
    fn next_back(&mut self) -> Option<R::Item> {
        self.next_with(R::next_back)
    }
}

/// Identifies a snapshot without keeping it open: replaced rows do not stay on disk for it.
pub struct SnapshotMark(Weak<Published>);

impl SnapshotMark {
    /// Whether this is the same moment of the same store: nothing was committed in between.
    pub fn is_of(&self, snapshot: &Snapshot) -> bool {
        // The address is not reused as long as the mark lives.
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&snapshot.published))
    }
}

/// A view and the block that it shows; made together after each commit, so they belong to the same instant.
pub(crate) struct Published {
    pub(crate) view: Arc<View>,
    pub(crate) tip: Option<BlockRecord>,
}

impl Published {
    pub(crate) fn read(view: View) -> Result<Self, StoreError> {
        let view = Arc::new(view);
        let tip = match view.get(Space::Meta, &meta_key::TIP)? {
            None => None,
            Some(bytes) => {
                let height = decode_number(&bytes, "the tip")?;
                let block = stored_block(&view, height)?.ok_or_else(|| {
                    StoreError::Corrupt(format!("the record of the newest block {height} is missing"))
                })?;
                Some(block.record)
            }
        };
        Ok(Self { view, tip })
    }

    /// Error when there is a record above the newest block, since the tip would then not be the last block written.
    pub(crate) fn check_nothing_above(&self) -> Result<(), StoreError> {
        let Some(tip) = self.tip.as_ref().map(|tip| tip.id.height) else { return Ok(()) };
        match stored_block(&self.view, tip + 1)? {
            Some(_) => {
                Err(StoreError::Corrupt(format!("block {tip} is recorded as the newest, and the next one is there")))
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn stored_block(view: &View, height: Height) -> Result<Option<StoredBlock>, StoreError> {
    let bytes = view.get(Space::Meta, &meta_key::block(height))?;
    bytes.map(|bytes| StoredBlock::decode(height, &bytes)).transpose()
}

pub(crate) fn module_state(view: &View, module: ModuleId) -> Result<Option<ModuleState>, StoreError> {
    let bytes = view.get(Space::Meta, &meta_key::module(module))?;
    bytes.map(|bytes| ModuleState::decode(&bytes)).transpose()
}

pub(crate) fn undone_blocks(view: &View, limit: usize) -> Result<Vec<UndoneBlock>, StoreError> {
    let prefix = meta_key::UNDONE;
    let rows = view.range(Space::Meta, &prefix, &key::after_prefix(&prefix)).rev().take(limit);
    rows.map(|row| row.and_then(|(key, value)| UndoneBlock::decode(&key, &value))).collect()
}

impl Snapshot {
    /// The view of a process that has no store: there is no block and no row.
    pub fn of_nothing() -> Self {
        Self::of(Arc::new(Published { view: Arc::new(View::of_nothing()), tip: None }))
    }

    pub(crate) fn of(published: Arc<Published>) -> Self {
        Self { published, is_over: None }
    }

    /// The same view for a read that ends with [`StoreError::Abandoned`] at its next row once `is_over` returns true.
    #[must_use]
    pub fn until(&self, is_over: IsOver) -> Self {
        Self { published: Arc::clone(&self.published), is_over: Some(is_over) }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_over.as_ref().is_some_and(|is_over| is_over()) { Err(StoreError::Abandoned) } else { Ok(()) }
    }

    fn awaited<R>(&self, rows: R) -> Awaited<R> {
        Awaited { rows, is_over: self.is_over.clone(), has_ended: false }
    }

    /// A name for this moment.
    pub fn mark(&self) -> SnapshotMark {
        SnapshotMark(Arc::downgrade(&self.published))
    }

    /// Newest block, `None` in an empty store.
    pub fn tip(&self) -> Option<&BlockRecord> {
        self.published.tip.as_ref()
    }

    /// Record of the block at `height` on the current chain.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn block(&self, height: Height) -> Result<Option<BlockRecord>, StoreError> {
        Ok(stored_block(self.view(), height)?.map(|block| block.record))
    }

    /// Digest of the writes of one module in the block at `height`; `None` when the module had no part in it.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn module_digest(&self, module: ModuleId, height: Height) -> Result<Option<[u8; 32]>, StoreError> {
        let block = stored_block(self.view(), height)?;
        Ok(block.and_then(|block| block.module(module).map(|entry| entry.digest)))
    }

    /// All digests of the block at `height` on the current chain.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn block_digests(&self, height: Height) -> Result<Option<BlockDigests>, StoreError> {
        let Some(block) = stored_block(self.view(), height)? else { return Ok(None) };
        let named = block.modules.into_iter().map(|entry| {
            let state = module_state(self.view(), entry.module)?
                .ok_or_else(|| StoreError::Corrupt(format!("module {} has no record", entry.module.0)))?;
            Ok(ModuleDigest { name: state.name, version: state.version, digest: entry.digest })
        });
        let modules = named.collect::<Result<_, StoreError>>()?;
        Ok(Some(BlockDigests { record: block.record, modules }))
    }

    /// Height up to which a module is indexed (equal to the tip except while it is re-run alone).
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn module_height(&self, module: ModuleId) -> Result<Option<Height>, StoreError> {
        Ok(module_state(self.view(), module)?.and_then(|state| state.height))
    }

    /// Lowest height whose block can be undone.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn undo_from(&self) -> Result<Height, StoreError> {
        match self.view().get(Space::Meta, &meta_key::UNDO_FROM)? {
            None => Ok(0),
            Some(bytes) => decode_number(&bytes, "the lowest undo height"),
        }
    }

    /// Blocks that left the best chain after they were indexed, the newest first, at most `limit` of the newest 1,000.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn undone_blocks(&self, limit: usize) -> Result<Vec<UndoneBlock>, StoreError> {
        undone_blocks(self.view(), limit)
    }

    /// The rows of a Current table that the block at `height` changed, each with its key and the value that it had before the block,
    /// `None` for one that was not there. Returns `false`, and visits none, where the block cannot be undone any more
    /// ([`Snapshot::undo_from`]) or is not there. Undo records of a block are read whole.
    ///
    /// # Errors
    /// The table is of another kind, the disk cannot be read, or the store is damaged; errors of `visit`.
    pub fn visit_rows_before<E: From<StoreError>>(
        &self,
        table: &Table,
        height: Height,
        visit: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if table.kind != TableKind::Current {
            return Err(wrong_kind(table, "values before a block").into());
        }
        self.check()?;
        let Some(block) = stored_block(self.view(), height)? else { return Ok(false) };
        if height < self.undo_from()? {
            return Ok(false);
        }
        let chunks = block.module(table.module).map_or(0, |entry| entry.undo_chunks);
        undo::visit_changed(self.view(), table, height, chunks, visit)?;
        Ok(true)
    }

    /// Current, `WriteOnce`, Sequence: the value; Versioned: the newest value.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if table.kind == TableKind::Versioned {
            return self.get_at(table, row_key, Height::MAX);
        }
        self.check()?;
        let found = key::with_plain(table, row_key, |key| self.view().get(Space::of(table.placement), key))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// Versioned tables: the value as of `height`, in a point read if it is the newest, and a seek otherwise.
    ///
    /// # Errors
    /// The table is of another kind, the disk cannot be read, or the store is damaged.
    pub fn get_at(&self, table: &Table, row_key: &[u8], height: Height) -> Result<Option<Vec<u8>>, StoreError> {
        require_versioned(table, "values as of a height")?;
        self.check()?;
        key::with_stem(table, row_key, |stem| {
            version_in_view(self.view(), table, stem, self.up_to_newest(height), |_, value| value.to_vec())
        })
    }

    /// Versioned tables: height of the block that wrote the value as of `height`; `None` for a key that had none or was removed.
    ///
    /// # Errors
    /// The table is of another kind, the disk cannot be read, or the store is damaged.
    pub fn written_at(&self, table: &Table, row_key: &[u8], height: Height) -> Result<Option<Height>, StoreError> {
        require_versioned(table, "values as of a height")?;
        key::with_stem(table, row_key, |stem| {
            version_in_view(self.view(), table, stem, self.up_to_newest(height), |written, _| written)
        })
    }

    /// A height from the tip on means the newest version.
    fn up_to_newest(&self, height: Height) -> Height {
        if self.tip().is_none_or(|tip| height >= tip.id.height) { Height::MAX } else { height }
    }

    /// Rows whose key lies in `from..=to` (keys without the table prefix), ascending; `.rev()` for descending.
    /// On a Versioned table: the newest value of every key. Rows are read lazily.
    pub fn range(
        &self,
        table: &Table,
        from: &[u8],
        to: &[u8],
    ) -> impl DoubleEndedIterator<Item = Result<Row, StoreError>> + Send + use<> {
        self.awaited(TableScan::range(self.view(), table, from, to, Height::MAX))
    }

    /// Rows whose key starts with `prefix`, ascending; `.rev()` for descending. Rows are read lazily.
    pub fn prefix(
        &self,
        table: &Table,
        prefix: &[u8],
    ) -> impl DoubleEndedIterator<Item = Result<Row, StoreError>> + Send + use<> {
        self.awaited(TableScan::prefix(self.view(), table, prefix, Height::MAX))
    }

    /// Versioned tables: rows whose key lies in `from..=to`, each with its value as of `height`.
    ///
    /// # Errors
    /// The table is of another kind.
    pub fn range_at(
        &self,
        table: &Table,
        from: &[u8],
        to: &[u8],
        height: Height,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Row, StoreError>> + Send + use<>, StoreError> {
        require_versioned(table, "values as of a height")?;
        Ok(self.awaited(TableScan::range(self.view(), table, from, to, height)))
    }

    /// Versioned tables: rows whose key starts with `prefix`, each with its value as of `height`.
    ///
    /// # Errors
    /// The table is of another kind.
    pub fn prefix_at(
        &self,
        table: &Table,
        prefix: &[u8],
        height: Height,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Row, StoreError>> + Send + use<>, StoreError> {
        require_versioned(table, "values as of a height")?;
        Ok(self.awaited(TableScan::prefix(self.view(), table, prefix, height)))
    }

    /// Number of rows of a Sequence table.
    ///
    /// # Errors
    /// The table is of another kind, the disk cannot be read, or the store is damaged.
    pub fn sequence_len(&self, table: &Table) -> Result<u32, StoreError> {
        if table.kind != TableKind::Sequence {
            return Err(wrong_kind(table, "length"));
        }
        match self.view().get(Space::Meta, &meta_key::sequence(table))? {
            None => Ok(0),
            Some(bytes) => decode_number(&bytes, "the length of a sequence"),
        }
    }

    pub(crate) fn view(&self) -> &Arc<View> {
        &self.published.view
    }
}

pub(crate) fn require_versioned(table: &Table, operation: &'static str) -> Result<(), StoreError> {
    if table.kind == TableKind::Versioned { Ok(()) } else { Err(wrong_kind(table, operation)) }
}

pub(crate) fn wrong_kind(table: &Table, operation: &'static str) -> StoreError {
    StoreError::WrongKind { table: table.name, kind: table.kind.name(), operation }
}
