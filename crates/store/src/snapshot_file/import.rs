//! Builds a store from a snapshot file, in a staging folder beside its target.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::export::hash_record;
use super::header::{HEADER_BODY_MAX, Header, MAGIC};
use super::{END_LEN, ORDER, SNAPSHOT_FILE_VERSION, SnapshotFileError, SnapshotProgress, SnapshotSummary};
use crate::content::ContentDigest;
use crate::digest::cumulative_digest;
use crate::engine::{Engine, Space, lock_folder};
use crate::frame::{END, HEAD_LEN, Head, PAYLOAD_MAX, RowReader};
use crate::record::{FORMAT_VERSION, StoredBlock, encode_store, meta_key};
use crate::{BlockRecord, MemorySplit, ModuleSchema, Snapshot, Store, StoreOptions};

/// A complete and checked store from a file, not yet moved to its target folder.
pub struct Imported {
    store: Store,
    staging: PathBuf,
    folder: PathBuf,
    summary: SnapshotSummary,
}

/// The folder in which an import into `folder` is made; it exists only during an import, or after one was broken off.
pub fn import_folder(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().map_or_else(|| OsString::from("store"), OsString::from);
    name.push("-import");
    folder.with_file_name(name)
}

/// Reads the snapshot file `path` into a store for `folder`, which must not hold anything. Memory stays below the ceiling of
/// `options`. The store is made in [`import_folder`] and moved to `folder` by [`Imported::keep`]; what an import left that
/// was broken off is removed.
///
/// # Errors
/// See [`SnapshotFileError`]; `folder` stays as it was, and nothing is left of the import.
pub fn import(
    path: &Path,
    folder: &Path,
    options: &StoreOptions,
    modules: &[ModuleSchema],
    progress: &mut dyn FnMut(SnapshotProgress),
) -> Result<Imported, SnapshotFileError> {
    let mut file = FrameReader::open(path)?;
    let header = file.header()?;
    check_header(&header, options, modules)?;
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(SnapshotFileError::FolderUsed(folder.to_path_buf()));
    }
    let staging = import_folder(folder);
    clear(&staging)?;
    let read = read_rows(&mut file, &header, &staging, options, progress).and_then(|summary| {
        let store = Store::open_staged(&staging, options, modules)?;
        Ok((store, summary))
    });
    match read {
        Ok((store, summary)) => Ok(Imported { store, staging, folder: folder.to_path_buf(), summary }),
        Err(error) => {
            if let Err(left) = clear(&staging) {
                tracing::warn!(%left, "what the import left could not be removed");
            }
            Err(error)
        }
    }
}

impl Imported {
    /// The imported rows, for checks that the store cannot make.
    pub fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// Summary of the file.
    pub fn summary(&self) -> &SnapshotSummary {
        &self.summary
    }

    /// Moves the store to its target folder, in one step.
    ///
    /// # Errors
    /// Writing failed, or the folder has been filled meanwhile.
    pub fn keep(self) -> Result<SnapshotSummary, SnapshotFileError> {
        let Self { store, staging, folder, summary } = self;
        store.flush()?;
        drop(store);
        // The target may be an empty folder; the rename refuses any other.
        fs::rename(&staging, &folder).map_err(|error| SnapshotFileError::file(&folder, error))?;
        if let Some(parent) = folder.parent() {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let synced = File::open(parent).and_then(|parent| parent.sync_all());
            synced.map_err(|error| SnapshotFileError::file(&folder, error))?;
        }
        Ok(summary)
    }

    /// Removes the imported store.
    ///
    /// # Errors
    /// The folder cannot be removed.
    pub fn discard(self) -> Result<(), SnapshotFileError> {
        drop(self.store);
        clear(&self.staging)
    }
}

/// Removes the staging folder of an interrupted import; fails while another import uses it.
fn clear(staging: &Path) -> Result<(), SnapshotFileError> {
    if !staging.exists() {
        return Ok(());
    }
    drop(lock_folder(staging)?);
    fs::remove_dir_all(staging).map_err(|error| SnapshotFileError::file(staging, error))
}

fn check_header(header: &Header, options: &StoreOptions, modules: &[ModuleSchema]) -> Result<(), SnapshotFileError> {
    if header.store_format != FORMAT_VERSION {
        return Err(SnapshotFileError::StoreFormat { found: header.store_format, wanted: FORMAT_VERSION });
    }
    if header.network != options.network.name() {
        return Err(SnapshotFileError::Network { found: header.network.clone(), wanted: options.network });
    }
    for module in &header.modules {
        let Some(schema) = modules.iter().find(|schema| schema.id.0 == module.id && schema.name == module.name) else {
            return Err(SnapshotFileError::UnknownModule(module.name.clone()));
        };
        if schema.version != module.version {
            let (found, wanted) = (module.version, schema.version);
            return Err(SnapshotFileError::ModuleVersion { name: module.name.clone(), found, wanted });
        }
    }
    Ok(())
}

/// Writes all rows of the file into a new engine in `staging`.
fn read_rows(
    file: &mut FrameReader,
    header: &Header,
    staging: &Path,
    options: &StoreOptions,
    progress: &mut dyn FnMut(SnapshotProgress),
) -> Result<SnapshotSummary, SnapshotFileError> {
    let engine = Arc::new(Engine::open(staging, MemorySplit::of(options.memory_bytes)?)?);
    let mut content = ContentDigest::default();
    let mut records = Sha256::new();
    let mut chain = RecordChain::default();
    let mut rows = 0;
    let mut frame = file.frame()?;
    for space in ORDER {
        let is_table = Space::TABLES.contains(&space);
        engine.write_sorted(space, |sink| {
            let mut last = Vec::new();
            while frame.space == space as u8 {
                let added = read_frame(file, frame, &mut last, &mut |key, value| {
                    if is_table {
                        content.row(key, value);
                    } else {
                        hash_record(&mut records, key, value);
                    }
                    if space == Space::Meta {
                        chain.record(key, value)?;
                    }
                    Ok(sink(key, value)?)
                });
                added?;
                rows += u64::from(frame.rows);
                progress(SnapshotProgress { bytes: file.bytes, bytes_total: file.len, rows });
                frame = file.frame()?;
            }
            Ok::<(), SnapshotFileError>(())
        })?;
        if is_table {
            content.end_space();
        }
    }
    let content = content.finish();
    check_end(file, frame, rows, &content, &records.finalize())?;
    let tip = chain.finish(header)?;
    // The first commit gives every keyspace the same number, and waits for the disk.
    let mut batch = engine.batch();
    batch.insert(Space::Meta, meta_key::STORE, encode_store(&header.network));
    engine.commit(batch, true)?;
    engine.flush()?;
    progress(SnapshotProgress { bytes: file.bytes, bytes_total: file.len, rows });
    Ok(SnapshotSummary { tip, content, rows, bytes: file.bytes })
}

/// Takes a row: key, value.
type EachRow<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), SnapshotFileError> + 'a;

/// Visits the rows of a frame. Keys must be above `last`, which is updated.
fn read_frame(
    file: &FrameReader,
    frame: Head,
    last: &mut Vec<u8>,
    each: &mut EachRow<'_>,
) -> Result<(), SnapshotFileError> {
    let damaged = |reason: &str| SnapshotFileError::Damaged { frame: frame.number, reason: reason.to_owned() };
    let mut reader = RowReader::new(&file.payload);
    for _ in 0..frame.rows {
        let (key, value) = reader.next().ok_or_else(|| damaged("a row cannot be read"))?;
        // The engine takes sorted rows only; keys from `ff` on are the numbers of commits.
        if key <= last.as_slice() || key[0] == u8::MAX {
            return Err(damaged("a key is out of order"));
        }
        last.clear();
        last.extend_from_slice(key);
        each(key, value)?;
    }
    if reader.is_at_end() { Ok(()) } else { Err(damaged("bytes are left behind its rows")) }
}

fn check_end(
    file: &mut FrameReader,
    frame: Head,
    rows: u64,
    content: &[u8],
    records: &[u8],
) -> Result<(), SnapshotFileError> {
    let damaged = |reason: &str| SnapshotFileError::Damaged { frame: frame.number, reason: reason.to_owned() };
    if frame.space != END || file.payload.len() != END_LEN {
        return Err(damaged("a keyspace is out of order"));
    }
    if file.payload[..8] != rows.to_be_bytes() {
        return Err(damaged("the number of rows differs"));
    }
    if file.payload[8..40] != *content || file.payload[40..] != *records {
        return Err(damaged("the digest of all rows differs"));
    }
    if file.bytes != file.len {
        return Err(damaged("bytes follow the last frame"));
    }
    Ok(())
}

/// Checks that the block records form one chain with right cumulative digests.
#[derive(Default)]
struct RecordChain {
    last: Option<BlockRecord>,
}

impl RecordChain {
    fn record(&mut self, key: &[u8], value: &[u8]) -> Result<(), SnapshotFileError> {
        if key[0] != meta_key::BLOCKS[0] {
            return Ok(());
        }
        let broken = |what: &str| SnapshotFileError::Inconsistent(what.to_owned());
        let height: [u8; 4] =
            key[1..].try_into().map_err(|_| broken("the key of a block record has a wrong length"))?;
        let record = StoredBlock::decode(u32::from_be_bytes(height), value)?.record;
        let mut below = [0; 32];
        if let Some(last) = &self.last {
            if last.id.height.checked_add(1) != Some(record.id.height) || last.id.hash != record.previous {
                return Err(broken(&format!("block {} does not follow {}", record.id, last.id)));
            }
            below = last.cumulative;
        }
        if cumulative_digest(&below, &record.digest) != record.cumulative {
            return Err(broken(&format!("the cumulative digest of block {} is wrong", record.id)));
        }
        self.last = Some(record);
        Ok(())
    }

    fn finish(self, header: &Header) -> Result<BlockRecord, SnapshotFileError> {
        let tip = self.last.filter(|tip| tip.id == header.tip && tip.cumulative == header.cumulative);
        tip.ok_or_else(|| SnapshotFileError::Inconsistent("the newest block is not the one of the header".to_owned()))
    }
}

struct FrameReader {
    input: BufReader<File>,
    path: PathBuf,
    /// Bytes read.
    bytes: u64,
    /// Length of the file.
    len: u64,
    /// Number of the next frame.
    number: u64,
    payload: Vec<u8>,
}

impl FrameReader {
    fn open(path: &Path) -> Result<Self, SnapshotFileError> {
        let failed = |error| SnapshotFileError::file(path, error);
        let file = File::open(path).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let input = BufReader::with_capacity(1 << 20, file);
        Ok(Self { input, path: path.to_path_buf(), bytes: 0, len, number: 0, payload: Vec::new() })
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), SnapshotFileError> {
        self.input.read_exact(out).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => SnapshotFileError::Truncated { bytes: self.bytes, frame: self.number },
            _ => SnapshotFileError::file(&self.path, error),
        })?;
        self.bytes += out.len() as u64;
        Ok(())
    }

    fn header(&mut self) -> Result<Header, SnapshotFileError> {
        let mut start = [0; 16];
        if self.len < 16 {
            return Err(SnapshotFileError::NotASnapshot(self.path.clone()));
        }
        self.read(&mut start)?;
        let (magic, rest) = start.split_at(8);
        if magic != MAGIC {
            return Err(SnapshotFileError::NotASnapshot(self.path.clone()));
        }
        let found = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]);
        if found != SNAPSHOT_FILE_VERSION {
            return Err(SnapshotFileError::Version { found, wanted: SNAPSHOT_FILE_VERSION });
        }
        let len = u32::from_be_bytes([rest[4], rest[5], rest[6], rest[7]]) as usize;
        let damaged = || SnapshotFileError::Damaged { frame: 0, reason: "its header cannot be read".to_owned() };
        if len > HEADER_BODY_MAX {
            return Err(damaged());
        }
        let mut body = vec![0; len + 4];
        self.read(&mut body)?;
        let (body, checksum) = body.split_at(len);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&start);
        hasher.update(body);
        if hasher.finalize().to_be_bytes() != checksum {
            return Err(damaged());
        }
        Header::decode(body).ok_or_else(damaged)
    }

    /// Reads the next frame; its payload is in `self.payload`.
    fn frame(&mut self) -> Result<Head, SnapshotFileError> {
        let mut head = [0; HEAD_LEN];
        self.read(&mut head)?;
        let head = Head::decode(&head);
        let damaged = |reason: &str| SnapshotFileError::Damaged { frame: self.number, reason: reason.to_owned() };
        if head.len as usize > PAYLOAD_MAX {
            return Err(damaged("its length is out of range"));
        }
        let mut payload = std::mem::take(&mut self.payload);
        payload.resize(head.len as usize, 0);
        self.read(&mut payload)?;
        let damaged = |reason: &str| SnapshotFileError::Damaged { frame: self.number, reason: reason.to_owned() };
        if !head.fits(&payload) {
            return Err(damaged("its checksum is wrong"));
        }
        if head.number != self.number {
            return Err(damaged("frames are missing or repeated"));
        }
        self.payload = payload;
        self.number += 1;
        Ok(head)
    }
}
