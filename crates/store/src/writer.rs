//! The single writer: begins and ends blocks, commits them, undoes them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bitcoin::BlockHash;
use paraffin_primitives::{BlockId, Height};

use crate::ahead::{KeysAhead, ReadAhead, RowsAhead};
use crate::digest::{Digest, ModuleDigest, cumulative_digest};
use crate::engine::{Batch, Run, Space, View};
use crate::overlay::{BlockEnd, ModuleOverlay, ROW_OVERHEAD};
use crate::record::{ModuleEntry, ModuleState, StoredBlock, UNDONE_MAX, UndoneBlock, decode_number, meta_key};
use crate::snapshot::{Published, stored_block, undone_blocks};
use crate::store::Inner;
use crate::turn::EarlierOverlay;
use crate::undo::{self, UndoWriter};
use crate::{BlockRecord, ModuleId, ModuleSchema, ModuleTurn, ModuleWriter, StoreError, key};

/// Undo records of at most this many blocks are removed by one commit, beside twice the blocks that it adds.
const PRUNED_BLOCKS_MIN: usize = 16;

/// Rows of a block from which on its modules end it at the same time: below, starting threads costs more than it saves.
const SIDE_BY_SIDE_ROWS: usize = 1_000;

/// Bytes that a waiting block takes beside its rows and undo records: two modules, map entries.
const WAITING_BLOCK_BYTES: u64 = 4 * ROW_OVERHEAD;

/// The single writer: collects the rows of one or more whole blocks and commits them atomically.
///
/// Blocks pass through three states: begun, ended (waiting in memory, seen by the reads of later blocks), committed.
/// After a failed commit the writer, and every later one until the store is opened again, refuses to write.
pub struct Writer {
    pub(crate) inner: Arc<Inner>,
    /// The newest commit.
    pub(crate) view: Arc<View>,
    /// Newest block, waiting ones included.
    pub(crate) tip: Option<BlockRecord>,
    /// Lowest block of the store.
    pub(crate) first_height: Option<Height>,
    /// Lowest block that can be undone.
    pub(crate) undo_from: Height,
    /// Height up to which the chain is known to exist; see [`Self::expect_tip`].
    expected_tip: Height,
    /// Blocks undone one after the other, without a new one between.
    undone_in_a_row: u32,
    /// Every module with a record in the store, declared now or not; heights count waiting blocks.
    pub(crate) modules: BTreeMap<ModuleId, ModuleSlot>,
    overlays: BTreeMap<ModuleId, ModuleOverlay>,
    pub(crate) open: Option<OpenBlock>,
    pub(crate) waiting: Vec<WaitingBlock>,
    /// Bytes of block records and undo records that wait.
    waiting_bytes: u64,
    /// The run that is being written.
    under_way: Option<JoinHandle<Result<(), StoreError>>>,
}

/// What one module adds to the record of a block: its digest, and how it is undone.
type EndedPart = (Digest, Vec<u8>);

/// A module as the writer sees it.
pub(crate) struct ModuleSlot {
    pub(crate) state: ModuleState,
    /// `None`: the store has it, this program does not declare it.
    pub(crate) schema: Option<ModuleSchema>,
}

impl ModuleSlot {
    /// Whether the tables can be used: complete, and of the version that is declared.
    pub(crate) fn usable(&self) -> bool {
        !self.state.clearing && self.schema.is_some_and(|schema| schema.version == self.state.version)
    }
}

/// The block begun.
pub(crate) struct OpenBlock {
    pub(crate) id: BlockId,
    pub(crate) kind: OpenKind,
}

pub(crate) enum OpenKind {
    /// A new block, all modules.
    New { previous: BlockHash, time: u32 },
    /// A known block again, one module. Holds the record to be refreshed.
    Replay { module: ModuleId, block: StoredBlock },
}

/// A block ended and not committed.
pub(crate) struct WaitingBlock {
    pub(crate) block: StoredBlock,
    /// Undo records to write.
    pub(crate) undo: Vec<(ModuleId, Vec<u8>)>,
    /// `None`: a new block.
    pub(crate) replayed: Option<ModuleId>,
}

impl Writer {
    pub(crate) fn open(inner: Arc<Inner>) -> Result<Self, StoreError> {
        let view = Arc::clone(&inner.published.read().view);
        let mut writer = Self {
            inner,
            view,
            tip: None,
            first_height: None,
            undo_from: 0,
            expected_tip: 0,
            undone_in_a_row: 0,
            modules: BTreeMap::new(),
            overlays: BTreeMap::new(),
            open: None,
            waiting: Vec::new(),
            waiting_bytes: 0,
            under_way: None,
        };
        writer.reload()?;
        Ok(writer)
    }

    /// Reads the committed state again and forgets everything else.
    pub(crate) fn reload(&mut self) -> Result<(), StoreError> {
        // A run under way will be committed, so it counts.
        self.settle()?;
        let published: Arc<Published> = Arc::clone(&self.inner.published.read());
        self.view = Arc::clone(&published.view);
        self.tip.clone_from(&published.tip);
        self.open = None;
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.overlays.clear();
        self.undo_from = match self.view.get(Space::Meta, &meta_key::UNDO_FROM)? {
            None => 0,
            Some(bytes) => decode_number(&bytes, "the lowest undo height")?,
        };
        let blocks = meta_key::BLOCKS;
        self.first_height = match self.view.first(Space::Meta, &blocks, &key::after_prefix(&blocks))? {
            None => None,
            Some((key, _)) => Some(decode_number(&key[1..], "the key of a block record")?),
        };
        self.modules.clear();
        let modules = meta_key::MODULES;
        for row in self.view.range(Space::Meta, &modules, &key::after_prefix(&modules)) {
            let (key, value) = row?;
            let &[_, module] = &key[..] else {
                return Err(StoreError::Corrupt("the key of a module record has a wrong length".to_owned()));
            };
            let id = ModuleId(module);
            let schema = self.inner.modules.iter().find(|schema| schema.id == id).copied();
            self.modules.insert(id, ModuleSlot { state: ModuleState::decode(&value)?, schema });
        }
        Ok(())
    }

    /// Newest block including uncommitted ones of this writer.
    pub fn tip(&self) -> Option<&BlockRecord> {
        self.tip.as_ref()
    }

    /// Lowest height whose block can be undone once everything is committed.
    pub fn undo_from(&self) -> Height {
        self.undo_from
    }

    /// Height up to which a module is indexed, uncommitted blocks included.
    pub fn module_height(&self, module: ModuleId) -> Option<Height> {
        self.modules.get(&module).and_then(|slot| slot.state.height)
    }

    /// Sets the height of the chain's tip, as far as the caller knows. Blocks deeper below it than `undo_blocks` get no
    /// undo record, which spares a first import a third of its writes and a read for every changed row.
    pub fn expect_tip(&mut self, height: Height) {
        self.expected_tip = height;
    }

    /// Starts the next block: its height must be tip + 1 (or the first height) and `previous` the tip's hash.
    ///
    /// # Errors
    /// The block does not follow the tip, a block is begun already, a replay waits for its commit, a module has not seen
    /// all blocks, or an earlier write failed.
    pub fn begin_block(&mut self, id: BlockId, previous: BlockHash, time: u32) -> Result<(), StoreError> {
        // Checks first whether a run failed, or frees its rows after a success.
        if self.under_way.as_ref().is_some_and(JoinHandle::is_finished) {
            self.settle()?;
        }
        self.inner.engine.check_writable()?;
        self.require_closed()?;
        if self.waiting.last().is_some_and(|block| block.replayed.is_some()) {
            return Err(StoreError::Misuse("a replay waits in the writer: commit it before the next new block"));
        }
        if let Some(tip) = &self.tip
            && (tip.id.height.checked_add(1) != Some(id.height) || tip.id.hash != previous)
        {
            return Err(StoreError::BlockOrder { block: id, tip: tip.id.to_string() });
        }
        let tip_height = self.tip.as_ref().map(|tip| tip.id.height);
        for slot in self.modules.values() {
            let Some(schema) = slot.schema else { continue };
            if !slot.usable() || slot.state.height != tip_height {
                return Err(StoreError::ModuleBehind {
                    name: schema.name.to_owned(),
                    height: slot.state.height.filter(|_| slot.usable()),
                    tip: tip_height.unwrap_or(0),
                });
            }
        }
        self.open = Some(OpenBlock { id, kind: OpenKind::New { previous, time } });
        Ok(())
    }

    /// Rows of one module in the block begun.
    ///
    /// # Errors
    /// No block is begun, the module is not declared, the block is replayed for another module, or a module whose rows this
    /// one reads is not declared or has not seen the block that is replayed.
    pub fn module(&mut self, module: ModuleId) -> Result<ModuleWriter<'_>, StoreError> {
        let (schema, height) = self.prepare_module(module)?;
        let mut overlays = self.overlays.range_mut(..=module);
        let (_, overlay) = overlays.next_back().ok_or(StoreError::UnknownModule(module.0))?;
        let earlier = overlays.filter(|(id, _)| schema.reads.contains(id));
        let earlier = earlier.map(|(id, overlay)| (*id, EarlierOverlay::Applied(overlay))).collect();
        Ok(ModuleWriter { overlay, earlier, view: &self.view, height })
    }

    /// The parts of `modules` in the block begun, in this order; they may be applied at the same time.
    ///
    /// # Errors
    /// Those of [`Self::module`], or a module reads rows of one that does not come before it.
    pub fn turns(&mut self, modules: &[ModuleId]) -> Result<Vec<ModuleTurn<'_>>, StoreError> {
        let mut prepared: Vec<(ModuleSchema, Height)> = Vec::with_capacity(modules.len());
        for module in modules {
            let (schema, height) = self.prepare_module(*module)?;
            if schema.reads.iter().any(|read| !prepared.iter().any(|(before, _)| before.id == *read)) {
                return Err(StoreError::Misuse("a module applies a block after those that it reads"));
            }
            prepared.push((schema, height));
        }
        let mut overlays: BTreeMap<ModuleId, &mut ModuleOverlay> =
            self.overlays.iter_mut().map(|(id, overlay)| (*id, overlay)).collect();
        let mut turns = Vec::with_capacity(prepared.len());
        for (schema, height) in &prepared {
            let overlay = overlays.remove(&schema.id).ok_or(StoreError::UnknownModule(schema.id.0))?;
            turns.push(ModuleTurn::after(&turns, schema, overlay, &self.view, *height));
        }
        Ok(turns)
    }

    /// What is to be read before the next block, among the keys that `collect` adds; the block begun is the one before it.
    ///
    /// # Errors
    /// Those of `collect`.
    pub fn read_ahead<E>(&self, collect: impl FnOnce(&mut KeysAhead<'_>) -> Result<(), E>) -> Result<ReadAhead, E> {
        let mut keys = KeysAhead::new(&self.overlays);
        collect(&mut keys)?;
        Ok(keys.of_view(&self.view))
    }

    /// Has the reads of the block begun look into `rows` first, unless there was a commit since they were read.
    pub fn use_rows_ahead(&mut self, rows: Option<RowsAhead>) {
        let known = rows.and_then(|rows| rows.of_view(&self.view));
        self.view = Arc::new(self.view.with_known(known));
    }

    /// Prepares the tables of a module for the block begun. Returns the module's schema and the height of the block.
    fn prepare_module(&mut self, module: ModuleId) -> Result<(ModuleSchema, Height), StoreError> {
        let open = self.open.as_ref().ok_or(StoreError::Misuse("no block is begun"))?;
        if let OpenKind::Replay { module: replayed, .. } = open.kind
            && replayed != module
        {
            return Err(StoreError::Misuse("this block is replayed for another module"));
        }
        let schema =
            self.modules.get(&module).and_then(|slot| slot.schema).ok_or(StoreError::UnknownModule(module.0))?;
        let height = open.id.height;
        for read in schema.reads.iter().copied().chain([module]) {
            let slot = self.modules.get(&read).filter(|slot| slot.usable());
            let read_schema = slot.and_then(|slot| slot.schema).ok_or(StoreError::UnknownModule(read.0))?;
            // In a replay the others have to be there already; of a new block they have seen their part by now.
            if let (OpenKind::Replay { .. }, Some(slot)) = (&open.kind, slot)
                && read != module
                && slot.state.height.is_none_or(|reached| reached < height)
            {
                let (name, tip) = (read_schema.name.to_owned(), height);
                return Err(StoreError::ModuleBehind { name, height: slot.state.height, tip });
            }
            if let std::collections::btree_map::Entry::Vacant(entry) = self.overlays.entry(read) {
                entry.insert(ModuleOverlay::open(read_schema.tables, &self.view)?);
            }
        }
        let undoable = self.is_undo_wanted(height);
        let others = self.overlays.iter().filter(|(id, _)| **id != module);
        let of_others: u64 = others.map(|(_, overlay)| overlay.filter_bytes()).sum();
        let filter_bytes_max = self.inner.engine.split().filters.saturating_sub(of_others);
        let overlay = self.overlays.get_mut(&module).ok_or(StoreError::UnknownModule(module.0))?;
        overlay.prepare(undoable, &self.view, filter_bytes_max)?;
        Ok((schema, height))
    }

    /// Ends the block: computes digests and the undo record. Still nothing on disk.
    ///
    /// # Errors
    /// No block is begun, or the disk cannot be read. Then everything that is not committed is forgotten, and
    /// [`Self::tip`] is the newest committed block.
    pub fn end_block(&mut self) -> Result<BlockRecord, StoreError> {
        let open = self.open.take().ok_or(StoreError::Misuse("no block is begun"))?;
        match self.end_open(open) {
            Ok(record) => Ok(record),
            Err(error) => {
                self.reload()?;
                Err(error)
            }
        }
    }

    fn end_open(&mut self, open: OpenBlock) -> Result<BlockRecord, StoreError> {
        let id = open.id;
        let (mut block, replayed) = match open.kind {
            OpenKind::New { previous, time } => {
                let record = BlockRecord { id, previous, time, digest: [0; 32], cumulative: [0; 32] };
                (StoredBlock { record, modules: Vec::new() }, None)
            }
            OpenKind::Replay { module, block } => (block, Some(module)),
        };
        let parts: Vec<ModuleId> = match replayed {
            Some(module) => vec![module],
            None => self.modules.iter().filter(|(_, slot)| slot.schema.is_some()).map(|(id, _)| *id).collect(),
        };
        let keep_undo = if replayed.is_some() { id.height >= self.undo_from } else { self.is_undo_wanted(id.height) };
        let mut undo_records = Vec::new();
        for (module, ended) in self.end_modules(&parts, id.height, keep_undo) {
            let (digest, undo) = ended?;
            block.set_module(ModuleEntry { module, digest, undo_chunks: undo::chunk_count(&undo) });
            undo_records.push((module, undo));
            if let Some(slot) = self.modules.get_mut(&module) {
                slot.state.height = Some(id.height);
            }
        }
        block.set_digest();
        block.record.cumulative = cumulative_digest(&self.cumulative_before(id.height)?, &block.record.digest);
        if !keep_undo && replayed.is_none() {
            self.undo_from = self.undo_from.max(id.height.saturating_add(1));
        }
        let record = block.record.clone();
        if replayed.is_none() {
            self.first_height.get_or_insert(id.height);
            self.tip = Some(record.clone());
            self.undone_in_a_row = 0;
        } else if self.tip.as_ref().is_some_and(|tip| tip.id.height == id.height) {
            self.tip = Some(record.clone());
        }
        let undo_bytes: usize = undo_records.iter().map(|(_, record)| record.len()).sum();
        self.waiting_bytes += undo_bytes as u64 + WAITING_BLOCK_BYTES;
        self.waiting.push(WaitingBlock { block, undo: undo_records, replayed });
        Ok(record)
    }

    /// Ends the block in the tables of these modules: the digest and the undo record of each, those of large blocks at the same time.
    fn end_modules(
        &mut self,
        modules: &[ModuleId],
        height: Height,
        keep_undo: bool,
    ) -> Vec<(ModuleId, Result<EndedPart, StoreError>)> {
        let view = &self.view;
        let mut overlays: BTreeMap<ModuleId, &mut ModuleOverlay> =
            self.overlays.iter_mut().map(|(id, overlay)| (*id, overlay)).collect();
        let mut work: Vec<_> = modules.iter().map(|module| (*module, overlays.remove(module))).collect();
        let end = |overlay: Option<&mut ModuleOverlay>| {
            let mut digest = ModuleDigest::new();
            let mut undo = keep_undo.then(UndoWriter::default);
            if let Some(overlay) = overlay {
                overlay.end_block(BlockEnd { view, height, digest: &mut digest, undo: undo.as_mut() })?;
            }
            Ok((digest.finish(), undo.map_or_else(Vec::new, UndoWriter::finish)))
        };
        let open_rows: usize = work.iter().flat_map(|(_, overlay)| overlay).map(|overlay| overlay.open_rows()).sum();
        if open_rows < SIDE_BY_SIDE_ROWS || work.is_empty() {
            return work.into_iter().map(|(module, overlay)| (module, end(overlay))).collect();
        }
        let (first, overlay) = work.remove(0);
        thread::scope(|scope| {
            let others: Vec<_> =
                work.into_iter().map(|(module, overlay)| (module, scope.spawn(|| end(overlay)))).collect();
            let mut ended = vec![(first, end(overlay))];
            ended.extend(others.into_iter().map(|(module, thread)| {
                (module, thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            }));
            ended
        })
    }

    fn is_undo_wanted(&self, height: Height) -> bool {
        match self.inner.undo_blocks {
            None => true,
            Some(blocks) => u64::from(height) + u64::from(blocks) > u64::from(self.expected_tip.max(height)),
        }
    }

    /// Cumulative digest of the block below `height`; zeros below the first block.
    fn cumulative_before(&self, height: Height) -> Result<Digest, StoreError> {
        if self.first_height.is_none_or(|first| height <= first) {
            return Ok([0; 32]);
        }
        if let Some(last) = self.waiting.last() {
            return Ok(last.block.record.cumulative);
        }
        // The view does not yet have a run that is under way.
        if let Some(tip) = self.tip.as_ref().filter(|tip| tip.id.height.checked_add(1) == Some(height)) {
            return Ok(tip.cumulative);
        }
        let below = stored_block(&self.view, height - 1)?
            .ok_or_else(|| StoreError::Corrupt(format!("the record of block {} is missing", height - 1)))?;
        Ok(below.record.cumulative)
    }

    /// Drops the block begun and not ended.
    pub fn abandon_block(&mut self) {
        if self.open.take().is_some() {
            for overlay in self.overlays.values_mut() {
                overlay.abandon_block();
            }
        }
    }

    /// Bytes waiting in memory for the next commit, an estimate; a run that is under way is not among them. Commit when it
    /// passes [`crate::MemorySplit::pending`], or [`crate::MemorySplit::run`] for a sorted run.
    pub fn pending_bytes(&self) -> u64 {
        self.overlays.values().map(ModuleOverlay::bytes).sum::<u64>() + self.waiting_bytes
    }

    /// Number of blocks that are ended and wait for a commit.
    pub fn pending_blocks(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the next block is so deep below the tip set by [`Self::expect_tip`] that it will never be undone.
    pub fn is_importing(&self) -> bool {
        !self.is_undo_wanted(self.tip.as_ref().map_or(0, |tip| tip.id.height.saturating_add(1)))
    }

    /// Commits all ended blocks in one atomic write; with `sync` also durable against power loss when it returns. Many rows are
    /// written as a sorted run, see [`Self::commit_sorted`], which is always durable.
    /// Without blocks it only makes earlier commits durable if `sync` is set.
    ///
    /// # Errors
    /// A block is begun and not ended, or the write failed: then nothing of it is in the store, and the store has to be
    /// opened again before the next write.
    pub fn commit(&mut self, sync: bool) -> Result<(), StoreError> {
        self.require_closed()?;
        self.settle()?;
        let inner = Arc::clone(&self.inner);
        let mut batch = inner.engine.batch();
        if self.waiting.is_empty() {
            return inner.engine.commit(batch, sync);
        }
        // The next replay reads the record of this one, so replayed blocks are not part of a run.
        if inner.engine.takes_as_run(self.pending_bytes()) && self.waiting.iter().all(|block| block.replayed.is_none())
        {
            self.commit_sorted()?;
            return self.settle();
        }
        // All that can fail comes before the rows leave the overlay.
        self.add_pruning(&mut batch)?;
        for overlay in self.overlays.values_mut() {
            overlay.drain_into(&mut batch);
        }
        self.drain_records(&mut batch);
        inner.engine.commit(batch, sync)?;
        self.view = Arc::clone(&inner.publish()?.view);
        Ok(())
    }

    /// Commits all ended blocks as one sorted run, which costs less than [`Self::commit`] when there are many rows. It is
    /// written by another thread while blocks are begun and ended here; snapshots see it after [`Self::settle`], which
    /// every other commit, undo or replay does first. There is one run under way at a time: a second call waits for the
    /// first run. A run is durable against power loss once it is settled.
    ///
    /// # Errors
    /// A block is begun and not ended, a run before failed, or the system gives no thread. A failure of this run is reported by
    /// the next call: a run that was not yet decided is not in the store, and the store has to be opened again.
    pub fn commit_sorted(&mut self) -> Result<(), StoreError> {
        self.require_closed()?;
        self.settle()?;
        if self.waiting.iter().any(|block| block.replayed.is_some()) {
            // The next replay reads the record of this one.
            return self.commit(true);
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.inner.engine.check_writable()?;
        let inner = Arc::clone(&self.inner);
        let mut batch = inner.engine.run_batch();
        self.add_pruning(&mut batch)?;
        let mut run = Run::default();
        for overlay in self.overlays.values_mut() {
            overlay.freeze_into(&mut run, &mut batch);
        }
        self.drain_records(&mut batch);
        batch.move_into(&mut run);
        let engine = Arc::clone(&inner.engine);
        let thread = thread::Builder::new()
            .name("sorted-run".to_owned())
            .spawn(move || engine.commit_run(run))
            .map_err(|error| StoreError::io("starting the thread that writes a sorted run", error))
            // Its rows have left the overlay.
            .inspect_err(|error| inner.engine.fail(error))?;
        self.under_way = Some(thread);
        Ok(())
    }

    /// Waits for the sorted run that is under way, if there is one, and makes it visible to snapshots.
    ///
    /// # Errors
    /// The run failed; the store has to be opened again.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        let Some(thread) = self.under_way.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|_| {
            let error = StoreError::io("writing a sorted run", std::io::Error::other("its thread ended unexpectedly"));
            self.inner.engine.fail(&error);
            Err(error)
        })?;
        self.view = Arc::clone(&self.inner.publish()?.view);
        let mut dropped = Vec::new();
        for overlay in self.overlays.values_mut() {
            overlay.thaw(&mut dropped);
        }
        if !dropped.is_empty() {
            // Without a thread they are dropped here.
            let _ = thread::Builder::new().name("sorted-run".to_owned()).spawn(move || drop(dropped));
        }
        Ok(())
    }

    /// Moves the records of the waiting blocks into a batch.
    fn drain_records(&mut self, batch: &mut Batch<'_>) {
        let mut touched = Vec::new();
        for block in self.waiting.drain(..) {
            let height = block.block.record.id.height;
            batch.insert(Space::Meta, meta_key::block(height), block.block.encode());
            for (module, record) in &block.undo {
                undo::insert_record(batch, *module, height, record);
                if !touched.contains(module) {
                    touched.push(*module);
                }
            }
        }
        self.waiting_bytes = 0;
        for module in touched {
            if let Some(slot) = self.modules.get(&module) {
                batch.insert(Space::Meta, meta_key::module(module), slot.state.encode());
            }
        }
        if let Some(tip) = &self.tip {
            batch.insert(Space::Meta, meta_key::TIP, tip.id.height.to_be_bytes());
        }
        batch.insert(Space::Meta, meta_key::UNDO_FROM, self.undo_from.to_be_bytes());
    }

    /// Adds the removal of undo records that are too old, a bounded number of them.
    fn add_pruning(&mut self, batch: &mut Batch<'_>) -> Result<(), StoreError> {
        let (Some(blocks), Some(tip)) = (self.inner.undo_blocks, &self.tip) else { return Ok(()) };
        let wanted = (u64::from(tip.id.height) + 1).saturating_sub(u64::from(blocks)) as Height;
        // Records of this very batch are left for the next one: a batch must not name a key twice.
        let lowest_waiting = self.waiting.first().map_or(wanted, |block| block.block.record.id.height);
        let until = wanted.min(lowest_waiting);
        let count_max = PRUNED_BLOCKS_MIN + 2 * self.waiting.len();
        // There is no block below the first one.
        let from = self.undo_from.max(self.first_height.unwrap_or(0).min(until));
        let mut pruned_until = from;
        for height in (from..until).take(count_max) {
            if let Some(block) = stored_block(&self.view, height)? {
                for entry in &block.modules {
                    undo::remove_record(batch, entry.module, height, entry.undo_chunks);
                }
            }
            pruned_until = height + 1;
        }
        self.undo_from = pruned_until;
        Ok(())
    }

    /// Error when the newest `depth` blocks cannot all be undone; to be called before the first is undone.
    ///
    /// # Errors
    /// [`StoreError::UndoExhausted`], whose message says what to do, or [`StoreError::NothingToUndo`] when there are fewer
    /// blocks.
    pub fn check_undo(&self, depth: u32) -> Result<(), StoreError> {
        if depth == 0 {
            return Ok(());
        }
        let (Some(tip), Some(first)) = (&self.tip, self.first_height) else { return Err(StoreError::NothingToUndo) };
        let Some(height) = (tip.id.height - first).checked_sub(depth - 1).map(|above| first + above) else {
            return Err(StoreError::NothingToUndo);
        };
        if height < self.undo_from {
            let depth = depth.saturating_add(self.undone_in_a_row);
            return Err(StoreError::UndoExhausted { depth, height, undo_from: self.undo_from });
        }
        Ok(())
    }

    /// Undoes the newest block, atomically and committed. Blocks that wait must be committed before. The error for a
    /// reorg deeper than the undo window names `snapshot import` and `reindex`.
    ///
    /// A module that has not reached this block (it is being re-run) keeps its rows.
    ///
    /// # Errors
    /// The store is empty, undo does not reach the block, blocks wait for a commit, or the write failed.
    pub fn undo_block(&mut self) -> Result<BlockRecord, StoreError> {
        self.settle()?;
        self.require_idle()?;
        self.check_undo(1)?;
        let tip = self.tip.clone().ok_or(StoreError::NothingToUndo)?;
        let height = tip.id.height;
        let inner = Arc::clone(&self.inner);
        let mut batch = inner.engine.batch();
        let block = stored_block(&self.view, height)?
            .ok_or_else(|| StoreError::Corrupt(format!("the record of block {height} is missing")))?;
        let is_first = self.first_height == Some(height);
        for (module, slot) in &self.modules {
            if slot.state.height != Some(height) {
                continue;
            }
            if let Some(entry) = block.module(*module) {
                undo::undo_module(&self.view, &mut batch, *module, height, entry.undo_chunks)?;
            }
            let state = ModuleState { height: (!is_first).then(|| height.saturating_sub(1)), ..slot.state.clone() };
            batch.insert(Space::Meta, meta_key::module(*module), state.encode());
        }
        batch.remove(Space::Meta, meta_key::block(height));
        if is_first {
            batch.remove(Space::Meta, meta_key::TIP);
        } else {
            batch.insert(Space::Meta, meta_key::TIP, (height - 1).to_be_bytes());
        }
        let number = undone_blocks(&self.view, 1)?.first().map_or(0, |newest| newest.number.saturating_add(1));
        let undone = UndoneBlock { number, id: tip.id, previous: tip.previous, time: tip.time };
        batch.insert(Space::Meta, meta_key::undone(number), undone.encode());
        if let Some(oldest) = number.checked_sub(UNDONE_MAX) {
            batch.remove(Space::Meta, meta_key::undone(oldest));
        }
        inner.engine.commit(batch, false)?;
        inner.publish()?;
        self.reload()?;
        self.undone_in_a_row += 1;
        Ok(tip)
    }

    pub(crate) fn require_closed(&self) -> Result<(), StoreError> {
        if self.open.is_some() {
            return Err(StoreError::Misuse("a block is begun: end or abandon it first"));
        }
        Ok(())
    }

    /// Error unless nothing waits.
    pub(crate) fn require_idle(&self) -> Result<(), StoreError> {
        self.inner.engine.check_writable()?;
        self.require_closed()?;
        if !self.waiting.is_empty() {
            return Err(StoreError::Misuse("ended blocks wait in the writer: commit them first"));
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A failure has been logged, and the next writer gets the error.
        let _ = self.settle();
        self.inner.release_writer();
    }
}
