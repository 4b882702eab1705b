//! Opening a store, and the handle for snapshots and the writer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

use crate::appended;
use crate::engine::{Engine, ReadCounts, Space};
use crate::record::{FORMAT_VERSION, ModuleState, decode_store, encode_store, meta_key};
use crate::snapshot::{Published, module_state};
use crate::snapshot_file::import_folder;
use crate::{MemorySplit, ModuleId, ModuleSchema, Snapshot, StoreError, StoreOptions, Writer};

/// An open store. Cheap to clone; there is one writer per folder, enforced by a lock file. The folder is free again when
/// the last handle, writer and snapshot is dropped.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) engine: Arc<Engine>,
    pub(crate) modules: Vec<ModuleSchema>,
    pub(crate) undo_blocks: Option<u32>,
    /// Replaced after each commit.
    pub(crate) published: RwLock<Arc<Published>>,
    writer_taken: AtomicBool,
}

impl Inner {
    /// Makes the newest commit visible to snapshots.
    pub(crate) fn publish(&self) -> Result<Arc<Published>, StoreError> {
        // A writer that cannot see what it has committed must not go on.
        let published = Published::read(self.engine.view()).inspect_err(|error| self.engine.fail(error))?;
        let published = Arc::new(published);
        *self.published.write() = Arc::clone(&published);
        Ok(published)
    }

    pub(crate) fn release_writer(&self) {
        self.writer_taken.store(false, Ordering::Release);
    }
}

/// Figures for metrics.
#[derive(Debug, Clone)]
pub struct StoreStats {
    /// Read operations since the store was opened.
    pub reads: ReadCounts,
    /// Commits since the store was opened.
    pub commits: u64,
    /// Rows written and removed by them.
    pub committed_rows: u64,
    /// Key and value bytes of these rows.
    pub committed_bytes: u64,
    /// Time that commits waited for flushing and compaction.
    pub stalled: Duration,
    /// Time spent compacting.
    pub compacting: Duration,
    /// Bytes in the block cache.
    pub cache_bytes: u64,
    /// Bytes in write buffers.
    pub buffered_bytes: u64,
    /// Bytes of the journal on disk.
    pub journal_bytes: u64,
    /// The keyspaces.
    pub spaces: Vec<SpaceStats>,
}

/// Figures of one keyspace.
#[derive(Debug, Clone, Copy)]
pub struct SpaceStats {
    /// Name of the keyspace.
    pub name: &'static str,
    /// Bytes on disk.
    pub bytes: u64,
    /// Number of table files.
    pub files: u64,
}

impl Store {
    /// Opens or creates the store in `folder`.
    ///
    /// # Errors
    /// Another process uses the folder; format, network or the version of a module differ; settings or declarations are
    /// invalid; the store is damaged; the disk is full or cannot be used.
    pub fn open(folder: &Path, options: &StoreOptions, modules: &[ModuleSchema]) -> Result<Self, StoreError> {
        Self::open_with(folder, options, modules, None)
    }

    /// Opens the store for `paraffin reindex`: the tables of `module` may be of another version, then they are emptied by
    /// [`Writer::rewind_module`], which also records the new version. Until then the module counts as not indexed.
    ///
    /// # Errors
    /// As [`Self::open`], but for the version of `module`.
    pub fn open_for_reindex(
        folder: &Path,
        options: &StoreOptions,
        modules: &[ModuleSchema],
        module: ModuleId,
    ) -> Result<Self, StoreError> {
        Self::open_with(folder, options, modules, Some(module))
    }

    fn open_with(
        folder: &Path,
        options: &StoreOptions,
        modules: &[ModuleSchema],
        reindexed: Option<ModuleId>,
    ) -> Result<Self, StoreError> {
        // An import that was broken off must not turn into an empty store.
        let staging = import_folder(folder);
        if staging.exists() && !folder.join("lock").exists() {
            return Err(StoreError::ImportBrokenOff { folder: staging });
        }
        Self::open_checked(folder, options, modules, reindexed)
    }

    /// Opens a store that an import has just made.
    pub(crate) fn open_staged(
        folder: &Path,
        options: &StoreOptions,
        modules: &[ModuleSchema],
    ) -> Result<Self, StoreError> {
        Self::open_checked(folder, options, modules, None)
    }

    fn open_checked(
        folder: &Path,
        options: &StoreOptions,
        modules: &[ModuleSchema],
        reindexed: Option<ModuleId>,
    ) -> Result<Self, StoreError> {
        ModuleSchema::check(modules)?;
        let split = MemorySplit::of(options.memory_bytes)?;
        let engine = Arc::new(Engine::open(folder, split)?);
        check_records(&engine, options, modules, reindexed)?;
        appended::remove_uncounted_rows(&engine, modules)?;
        engine.start_merges()?;
        let published = Arc::new(Published::read(engine.view())?);
        published.check_nothing_above()?;
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                modules: modules.to_vec(),
                undo_blocks: options.undo_blocks,
                published: RwLock::new(published),
                writer_taken: AtomicBool::new(false),
            }),
        })
    }

    /// Consistent view of the newest committed block.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(Arc::clone(&self.inner.published.read()))
    }

    /// The single writer. A second call while one is alive is an error.
    ///
    /// # Errors
    /// There is a writer already, an earlier write failed, or the disk cannot be read.
    pub fn writer(&self) -> Result<Writer, StoreError> {
        self.inner.engine.check_writable()?;
        if self.inner.writer_taken.swap(true, Ordering::AcqRel) {
            return Err(StoreError::WriterTaken);
        }
        Writer::open(Arc::clone(&self.inner))
    }

    /// Writes the rows in memory to table files. Nothing is lost without it; called before a planned stop it makes the
    /// next start quicker, because the journal need not be read back into memory.
    ///
    /// # Errors
    /// A write failed, now or earlier.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.inner.engine.flush()
    }

    /// Declared modules, in the order given.
    pub fn modules(&self) -> &[ModuleSchema] {
        &self.inner.modules
    }

    /// How the memory ceiling is divided; a writer should commit when [`Writer::pending_bytes`] passes `pending`.
    pub fn memory(&self) -> MemorySplit {
        self.inner.engine.split()
    }

    /// Bytes on disk: (tables, undo, journal).
    pub fn disk_bytes(&self) -> (u64, u64, u64) {
        let engine = &self.inner.engine;
        let tables = Space::TABLES.into_iter().chain([Space::Meta]).map(|space| engine.space_bytes(space)).sum();
        (tables, engine.space_bytes(Space::Undo), engine.journal_bytes())
    }

    /// Read operations since the store was opened; a bench or test takes the difference.
    pub fn reads(&self) -> ReadCounts {
        self.inner.engine.read_counts()
    }

    /// Figures for metrics.
    pub fn stats(&self) -> StoreStats {
        let stats = self.inner.engine.stats();
        StoreStats {
            reads: stats.reads,
            commits: stats.commits,
            committed_rows: stats.committed_rows,
            committed_bytes: stats.committed_bytes,
            stalled: stats.stalled,
            compacting: stats.compacting,
            cache_bytes: stats.cache_bytes,
            buffered_bytes: stats.buffered_bytes,
            journal_bytes: self.inner.engine.journal_bytes(),
            spaces: stats.spaces.into_iter().map(|(name, bytes, files)| SpaceStats { name, bytes, files }).collect(),
        }
    }
}

/// Compares the record of the store with the options and schemas, and records new modules.
fn check_records(
    engine: &Arc<Engine>,
    options: &StoreOptions,
    modules: &[ModuleSchema],
    reindexed: Option<ModuleId>,
) -> Result<(), StoreError> {
    let view = engine.view();
    let mut batch = engine.batch();
    let mut changed = false;
    match view.get(Space::Meta, &meta_key::STORE)? {
        Some(bytes) => {
            let (found, network) = decode_store(&bytes)?;
            if found != FORMAT_VERSION {
                return Err(StoreError::Format { found, wanted: FORMAT_VERSION });
            }
            if network != options.network.name() {
                return Err(StoreError::Network { found: network, wanted: options.network });
            }
        }
        None if view.get(Space::Meta, &meta_key::TIP)?.is_some() => {
            return Err(StoreError::Corrupt("its first record is missing".to_owned()));
        }
        None => {
            batch.insert(Space::Meta, meta_key::STORE, encode_store(options.network.name()));
            changed = true;
        }
    }
    for module in modules {
        match module_state(&view, module.id)? {
            Some(state) if state.version != module.version && reindexed != Some(module.id) => {
                return Err(StoreError::ModuleVersion {
                    name: module.name.to_owned(),
                    found: state.version,
                    wanted: module.version,
                });
            }
            Some(_) => {}
            None => {
                let state = ModuleState {
                    version: module.version,
                    height: None,
                    clearing: false,
                    name: module.name.to_owned(),
                };
                batch.insert(Space::Meta, meta_key::module(module.id), state.encode());
                changed = true;
            }
        }
    }
    if changed { engine.commit(batch, true) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::Network;

    use super::*;

    #[test]
    fn a_store_of_another_format_is_refused_with_both_versions() {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Signet, undo_blocks: None, memory_bytes: MemorySplit::FLOOR };
        let store = Store::open(folder.path(), &options, &[]).unwrap();
        let put = |store: &Store, record: &[u8]| {
            let mut batch = store.inner.engine.batch();
            batch.insert(Space::Meta, meta_key::STORE, record);
            store.inner.engine.commit(batch, false).unwrap();
        };
        put(&store, b"\0\0\0\x09signet");
        drop(store);
        let Err(error) = Store::open(folder.path(), &options, &[]) else { panic!("opened") };
        assert!(matches!(error, StoreError::Format { found: 9, wanted: FORMAT_VERSION }), "{error:?}");
        let expected = format!("has format 9, this program reads format {FORMAT_VERSION}");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}
