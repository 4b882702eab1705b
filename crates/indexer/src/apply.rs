use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread;
use std::time::{Duration, Instant};

use bitcoin::{BlockHash, OutPoint, Txid};
use paraffin_chain::{FetchPeriod, LocalChain};
use paraffin_primitives::{BlockId, ConnectedBlock, Height};
use paraffin_spans::{Span, Tracer};
use paraffin_store::{
    BlockRecord, KeyHashing, KeysAhead, Module, ModuleId, ModuleTurn, ModuleWriter, ReadingAhead, Store, Writer,
};

use crate::IndexerError;

/// From so many transactions on the modules work at the same time: below, starting threads costs more than it saves.
const SIDE_BY_SIDE_MIN: usize = 100;

/// Outputs that a block spends for which one thread collects what all modules will look for: each takes some tenths of a microsecond.
const COLLECTED_BY_ONE: usize = 500;

/// Limits of what waits in memory between two commits.
#[derive(Debug, Clone, Copy)]
pub struct IndexerOptions {
    /// Rows waiting for a commit, in bytes; above it the waiting blocks are committed.
    pub commit_bytes: u64,
    /// Longest time between a block being applied and its commit, while more blocks keep coming.
    pub commit_interval: Duration,
    /// Rows that a sorted run of the first import holds at most, in bytes; `None` commits block by block there, too. As much again
    /// is in memory while the run before is written.
    pub run_bytes: Option<u64>,
    /// Rows that a run holds however small the index is, in bytes; beyond that at most half as many as the index has on the disk, where
    /// a row takes less. So the last run, which nothing is indexed beside, is short when the chain is.
    pub run_bytes_min: u64,
    /// Longest time between a block being applied and the run that holds it.
    pub run_interval: Duration,
}

impl Default for IndexerOptions {
    fn default() -> Self {
        Self {
            commit_bytes: 48 << 20,
            commit_interval: Duration::from_secs(2),
            run_bytes: None,
            run_bytes_min: 96 << 20,
            run_interval: Duration::from_secs(180),
        }
    }
}

/// The single writer of an instance: applies each block to every module and commits.
pub struct Indexer {
    store: Store,
    writer: Writer,
    modules: Vec<Box<dyn Module>>,
    options: IndexerOptions,
    /// Blocks applied and not yet committed, oldest first.
    waiting: Vec<BlockId>,
    /// Records spans of blocks.
    tracer: Option<Tracer>,
    /// Module that was last run again alone.
    pub(crate) rerun: Option<ModuleId>,
    last_commit: Instant,
    /// Half of the bytes that the index had on the disk when the newest run was begun.
    half_of_index: u64,
    /// The block that rows are being read for.
    ahead: Option<(BlockId, ReadingAhead)>,
}

impl Indexer {
    /// Takes the writer of `store`.
    ///
    /// # Errors
    /// When another writer holds the store.
    pub fn new(store: Store, modules: Vec<Box<dyn Module>>, options: IndexerOptions) -> Result<Self, IndexerError> {
        let writer = store.writer()?;
        let (waiting, last_commit, half_of_index) = (Vec::new(), Instant::now(), half_of_index(&store));
        let (tracer, rerun, ahead) = (None, None, None);
        Ok(Self { store, writer, modules, options, waiting, tracer, rerun, last_commit, half_of_index, ahead })
    }

    /// The same, which records spans of blocks.
    #[must_use]
    pub fn with_tracer(self, tracer: Option<Tracer>) -> Self {
        Self { tracer, ..self }
    }

    /// The span of a block that has been fetched and is about to be applied, if it is recorded.
    pub(crate) fn begin_span(&self, block: &ConnectedBlock, fetch: Option<FetchPeriod>) -> Span {
        let mut span = self.tracer.as_ref().map_or_else(Span::none, Tracer::block);
        if !span.is_recorded() {
            return span;
        }
        if let Some(fetch) = fetch {
            span = span.since(fetch.began);
            span.child("fetch").since(fetch.began).end_at(fetch.ended);
        }
        span.set("paraffin.block.height", block.id.height);
        span.set("paraffin.block.hash", block.id.hash.to_string());
        span.set("paraffin.block.size", block.size);
        span.set("paraffin.block.transactions", u32::try_from(block.txids.len()).unwrap_or(u32::MAX));
        span
    }

    /// Newest block applied, committed or not.
    pub fn tip(&self) -> Option<&BlockRecord> {
        self.writer.tip()
    }

    /// The store that this indexer writes.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn writer(&mut self) -> &mut Writer {
        &mut self.writer
    }

    pub(crate) fn modules(&self) -> &[Box<dyn Module>] {
        &self.modules
    }

    /// Sets the height of the node's chain, so that blocks far below it need no undo record.
    pub fn expect_tip(&mut self, height: Height) {
        self.writer.expect_tip(height);
    }

    /// Applies `block` to all modules. It is committed with later ones, at the latest by [`Indexer::commit`].
    ///
    /// # Errors
    /// A module or the store refused; the block leaves no trace.
    pub fn apply(&mut self, block: &ConnectedBlock) -> Result<(), IndexerError> {
        self.apply_before(block, None)
    }

    /// As [`Indexer::apply`], while rows that block `next` will look for are read. Another block may follow as well.
    ///
    /// # Errors
    /// Those of [`Indexer::apply`].
    pub fn apply_before(&mut self, block: &ConnectedBlock, next: Option<&ConnectedBlock>) -> Result<(), IndexerError> {
        self.apply_within(block, next, &Span::none())
    }

    /// As [`Indexer::apply_before`], with its steps as children of `span`.
    pub(crate) fn apply_within(
        &mut self,
        block: &ConnectedBlock,
        next: Option<&ConnectedBlock>,
        span: &Span,
    ) -> Result<(), IndexerError> {
        let header = &block.block.header;
        let ahead = self.ahead.take().filter(|(of, _)| *of == block.id);
        self.writer.begin_block(block.id, header.prev_blockhash, header.time)?;
        self.writer.use_rows_ahead(ahead.and_then(|(_, reading)| reading.rows()));
        if let Some(next) = next
            && let Err(error) = self.read_ahead(block, next)
        {
            self.writer.abandon_block();
            return Err(error);
        }
        self.connect_open_block(block, None, span)
    }

    /// Starts to read what `next` will look for when it follows `block`.
    fn read_ahead(&mut self, block: &ConnectedBlock, next: &ConnectedBlock) -> Result<(), IndexerError> {
        let made: HashSet<&Txid, KeyHashing> = block.txids.iter().chain(&next.txids).collect();
        let inputs = next.block.txdata.iter().skip(1).flat_map(|transaction| &transaction.input);
        let spent: Vec<OutPoint> =
            inputs.map(|input| input.previous_output).filter(|outpoint| !made.contains(&outpoint.txid)).collect();
        let spent = &spent;
        let collect =
            self.modules.iter_mut().map(|module| move |keys: &mut KeysAhead<'_>| module.reads_ahead(next, spent, keys));
        let reads = self.writer.read_ahead(|keys| {
            if spent.len() < COLLECTED_BY_ONE {
                collect.into_iter().try_for_each(|collect| collect(keys))
            } else {
                keys.add_side_by_side(collect)
            }
        })?;
        self.ahead = reads.begin().map(|reading| (next.id, reading));
        Ok(())
    }

    /// Applies the block begun to all modules, or to one, and ends it.
    pub(crate) fn connect_open_block(
        &mut self,
        block: &ConnectedBlock,
        only: Option<ModuleId>,
        span: &Span,
    ) -> Result<(), IndexerError> {
        let modules = span.child("modules");
        if let Err(error) = self.connect_modules(block, only, &modules) {
            self.writer.abandon_block();
            return Err(error);
        }
        drop(modules);
        self.writer.end_block()?;
        self.waiting.push(block.id);
        let (pending, since) = (self.writer.pending_bytes(), self.last_commit.elapsed());
        match self.options.run_bytes.filter(|_| only.is_none() && self.writer.is_importing()) {
            Some(run_bytes) => {
                let run_bytes = run_bytes.min(self.half_of_index.max(self.options.run_bytes_min));
                if pending >= run_bytes || since >= self.options.run_interval {
                    let _span = span.child("commit");
                    self.last_commit = Instant::now();
                    self.half_of_index = half_of_index(&self.store);
                    self.writer.commit_sorted()?;
                }
            }
            // Many more blocks follow, so this run is written beside them as those of an import are. Rows beyond the share of a run, as
            // one block can make them, are not kept in memory for that.
            None if only.is_none()
                && pending >= self.options.commit_bytes
                && self.options.run_bytes.is_some_and(|run_bytes| pending <= run_bytes) =>
            {
                let _span = span.child("commit");
                self.last_commit = Instant::now();
                self.writer.commit_sorted()?;
            }
            None => {
                if pending >= self.options.commit_bytes || since >= self.options.commit_interval {
                    let _span = span.child("commit");
                    self.commit()?;
                }
            }
        }
        self.forget_committed();
        Ok(())
    }

    /// Drops blocks of a run that has been written.
    fn forget_committed(&mut self) {
        let snapshot = self.store.snapshot();
        let Some(tip) = snapshot.tip() else { return };
        // Heights follow one another, except those of a replay, which is committed at once.
        if self.waiting.first().is_some_and(|block| block.height <= tip.id.height) {
            self.waiting.retain(|block| block.height > tip.id.height);
        }
    }

    /// Has all modules apply the block, or one.
    fn connect_modules(
        &mut self,
        block: &ConnectedBlock,
        only: Option<ModuleId>,
        span: &Span,
    ) -> Result<(), IndexerError> {
        if let Some(only) = only {
            let Some(module) = self.modules.iter_mut().find(|module| module.schema().id == only) else { return Ok(()) };
            return connect_module(module, block, &mut self.writer.module(only)?, span);
        }
        let ids: Vec<ModuleId> = self.modules.iter().map(|module| module.schema().id).collect();
        let mut turns = Vec::with_capacity(ids.len());
        for (module, turn) in self.modules.iter().zip(self.writer.turns(&ids)?) {
            turns.push(match module.follows() {
                Some(followed) => turn.following(followed, &turns)?,
                None => turn,
            });
        }
        let parts = self.modules.iter_mut().zip(turns);
        if block.block.txdata.len() >= SIDE_BY_SIDE_MIN {
            return connect_side_by_side(parts.collect(), block, span);
        }
        for (module, turn) in parts {
            turn.apply(|rows| connect_module(module, block, rows, span))?;
        }
        Ok(())
    }

    /// Commits waiting blocks, durable when this returns.
    ///
    /// # Errors
    /// The store failed (disk full, I/O); committed blocks stay readable.
    pub fn commit(&mut self) -> Result<(), IndexerError> {
        self.last_commit = Instant::now();
        if self.options.run_bytes.is_some() && self.writer.pending_bytes() > self.options.commit_bytes {
            // The rest of an import is larger than the write buffers should take at once.
            self.writer.commit_sorted()?;
        }
        self.writer.settle()?;
        if self.writer.pending_blocks() > 0 {
            self.writer.commit(true)?;
        }
        self.waiting.clear();
        Ok(())
    }

    /// Error when the newest `depth` blocks cannot all be undone. To be called before the first of them is undone, so that a
    /// reorg that is too deep changes nothing.
    ///
    /// # Errors
    /// The undo window is exhausted; the message names the ways out.
    pub fn check_undo(&self, depth: u32) -> Result<(), IndexerError> {
        Ok(self.writer.check_undo(depth)?)
    }

    /// Undoes the newest block.
    ///
    /// # Errors
    /// The undo window is exhausted (the message names the ways out), or the store failed.
    pub fn undo(&mut self) -> Result<BlockRecord, IndexerError> {
        self.commit()?;
        Ok(self.writer.undo_block()?)
    }

    /// Blocks applied whose commit has not happened yet, as far as is known.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of rows that wait for the next commit or run, an estimate; those of a run that is being written come on top.
    pub fn pending_bytes(&self) -> u64 {
        self.writer.pending_bytes()
    }

    /// The chain as applied, for the follower.
    pub fn local_chain(&self) -> impl LocalChain {
        AppliedChain { snapshot: self.store.snapshot(), waiting: &self.waiting }
    }
}

fn half_of_index(store: &Store) -> u64 {
    let (tables, _, _) = store.disk_bytes();
    tables / 2
}

fn connect_module(
    module: &mut Box<dyn Module>,
    block: &ConnectedBlock,
    rows: &mut ModuleWriter<'_>,
    span: &Span,
) -> Result<(), IndexerError> {
    let _span = span.child(module.schema().name);
    module.connect(block, rows).map_err(|source| IndexerError::Module {
        module: module.schema().name,
        block: block.id,
        source,
    })
}

/// Has modules apply a block, each on a thread of its own; they wait for one that they read when they read of it. When several
/// fail, the error is that of the first one in order: those that read it fail with it.
fn connect_side_by_side(
    parts: Vec<(&mut Box<dyn Module>, ModuleTurn<'_>)>,
    block: &ConnectedBlock,
    span: &Span,
) -> Result<(), IndexerError> {
    thread::scope(|scope| {
        let connect = |(module, turn): (&mut Box<dyn Module>, ModuleTurn<'_>)| {
            turn.apply(|rows| connect_module(module, block, rows, span))
        };
        let mut parts = parts.into_iter();
        // The first one reads and follows none, so the others have begun before anything is waited for.
        let first = parts.next();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || connect(part))).collect();
        let first = first.map_or(Ok(()), connect);
        let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(first).chain(others).collect()
    })
}

/// The committed chain with the waiting blocks on top.
struct AppliedChain<'a> {
    snapshot: paraffin_store::Snapshot,
    /// One height after the other.
    waiting: &'a [BlockId],
}

impl LocalChain for AppliedChain<'_> {
    fn tip(&self) -> Option<BlockId> {
        self.waiting.last().copied().or_else(|| self.snapshot.tip().map(|record| record.id))
    }

    fn hash_at(&self, height: Height) -> Option<BlockHash> {
        let first = self.waiting.first().map_or(Height::MAX, |block| block.height);
        if let Some(index) = height.checked_sub(first) {
            return self.waiting.get(index as usize).map(|block| block.hash);
        }
        match self.snapshot.block(height) {
            Ok(record) => record.map(|record| record.id.hash),
            Err(error) => {
                tracing::error!(%error, height, "the block record cannot be read");
                None
            }
        }
    }
}
