//! Writes the newest committed state of a store into one file.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::header::{Header, HeaderModule, MAGIC};
use super::{ORDER, SNAPSHOT_FILE_VERSION, SnapshotFileError, SnapshotProgress, SnapshotSummary};
use crate::content::ContentDigest;
use crate::engine::{Space, View};
use crate::frame::{END, Head, PAYLOAD_TARGET, RowWriter};
use crate::record::{FORMAT_VERSION, ModuleState, decode_store, meta_key};
use crate::{BlockRecord, Store, StoreError, key};

/// Writes everything that `store` held when this was called into the new file `path`. Blocks may be added meanwhile.
/// The file has its name only when it is whole and on the disk; until then it is called `<name>.part`. `progress` is called
/// after each frame, a MiB or less, and may break the export off.
///
/// # Errors
/// `progress` broke it off, the file exists, the store is empty or a module is behind the tip, or reading or writing failed; then no file is left.
pub fn export(
    store: &Store,
    path: &Path,
    progress: &mut dyn FnMut(SnapshotProgress) -> ControlFlow<()>,
) -> Result<SnapshotSummary, SnapshotFileError> {
    if path.exists() {
        return Err(SnapshotFileError::FileExists(path.to_path_buf()));
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let (tables, undo, _) = store.disk_bytes();
    let written = write(store, part, tables + undo, progress);
    let renamed = written.and_then(|summary| {
        fs::rename(part, path).map_err(|error| SnapshotFileError::file(path, error))?;
        Ok(summary)
    });
    if renamed.is_err() {
        // A file that cannot be removed is overwritten by the next export of this name.
        let _ = fs::remove_file(part);
    }
    renamed
}

fn write(
    store: &Store,
    part: &Path,
    bytes_total: u64,
    progress: &mut dyn FnMut(SnapshotProgress) -> ControlFlow<()>,
) -> Result<SnapshotSummary, SnapshotFileError> {
    let snapshot = store.snapshot();
    let tip = snapshot.tip().ok_or(SnapshotFileError::Empty)?.clone();
    let header = header(snapshot.view(), &tip)?;
    let file = File::create(part).map_err(|error| SnapshotFileError::file(part, error))?;
    let output = BufWriter::with_capacity(1 << 20, file);
    let mut frames = FrameWriter { output, part, bytes: 0, number: 0, rows: 0 };
    frames.header(&header)?;
    let mut content = ContentDigest::default();
    let mut records = Sha256::new();
    for space in ORDER {
        let is_table = Space::TABLES.contains(&space);
        let mut rows = RowWriter::default();
        for row in snapshot.view().range(space, &[], &[u8::MAX]) {
            let (key, value) = row?;
            if is_table {
                content.row(&key, &value);
            } else {
                hash_record(&mut records, &key, &value);
            }
            rows.row(&key, &value);
            if rows.payload.len() >= PAYLOAD_TARGET {
                frames.rows(space as u8, &mut rows)?;
                report(progress, &frames, bytes_total)?;
            }
        }
        if rows.rows > 0 {
            frames.rows(space as u8, &mut rows)?;
            report(progress, &frames, bytes_total)?;
        }
        if is_table {
            content.end_space();
        }
    }
    let content = content.finish();
    let mut end = frames.rows.to_be_bytes().to_vec();
    end.extend_from_slice(&content);
    end.extend_from_slice(&records.finalize());
    frames.frame(END, 0, &end)?;
    report(progress, &frames, frames.bytes)?;
    let (rows, bytes) = (frames.rows, frames.bytes);
    frames.finish()?;
    Ok(SnapshotSummary { tip, content, rows, bytes })
}

fn report(
    progress: &mut dyn FnMut(SnapshotProgress) -> ControlFlow<()>,
    frames: &FrameWriter<'_>,
    bytes_total: u64,
) -> Result<(), SnapshotFileError> {
    match progress(SnapshotProgress { bytes: frames.bytes, bytes_total, rows: frames.rows }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(SnapshotFileError::GivenUp),
    }
}

/// The digest of a record or undo row: lengths keep rows apart.
pub(super) fn hash_record(hasher: &mut Sha256, key: &[u8], value: &[u8]) {
    hasher.update((key.len() as u64).to_be_bytes());
    hasher.update(key);
    hasher.update((value.len() as u64).to_be_bytes());
    hasher.update(value);
}

fn header(view: &std::sync::Arc<View>, tip: &BlockRecord) -> Result<Header, SnapshotFileError> {
    let record = view
        .get(Space::Meta, &meta_key::STORE)?
        .ok_or_else(|| StoreError::Corrupt("its first record is missing".to_owned()))?;
    let (_, network) = decode_store(&record)?;
    let mut modules = Vec::new();
    let prefix = meta_key::MODULES;
    for row in view.range(Space::Meta, &prefix, &key::after_prefix(&prefix)) {
        let (key, value) = row?;
        let state = ModuleState::decode(&value)?;
        // Half a module would be a snapshot that only its own program state can finish.
        if state.clearing || state.height != Some(tip.id.height) {
            let height = state.height.filter(|_| !state.clearing);
            return Err(StoreError::ModuleBehind { name: state.name, height, tip: tip.id.height }.into());
        }
        modules.push(HeaderModule { id: key.get(1).copied().unwrap_or(0), version: state.version, name: state.name });
    }
    Ok(Header { store_format: FORMAT_VERSION, network, tip: tip.id, cumulative: tip.cumulative, modules })
}

struct FrameWriter<'a> {
    output: BufWriter<File>,
    part: &'a Path,
    bytes: u64,
    number: u64,
    rows: u64,
}

impl FrameWriter<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SnapshotFileError> {
        self.bytes += bytes.len() as u64;
        self.output.write_all(bytes).map_err(|error| SnapshotFileError::file(self.part, error))
    }

    fn header(&mut self, header: &Header) -> Result<(), SnapshotFileError> {
        let body = header.encode();
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&SNAPSHOT_FILE_VERSION.to_be_bytes());
        out.extend_from_slice(&(body.len() as u32).to_be_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
        self.put(&out)
    }

    fn rows(&mut self, space: u8, rows: &mut RowWriter) -> Result<(), SnapshotFileError> {
        self.frame(space, rows.rows, &rows.payload)?;
        self.rows += u64::from(rows.rows);
        rows.clear();
        Ok(())
    }

    fn frame(&mut self, space: u8, rows: u32, payload: &[u8]) -> Result<(), SnapshotFileError> {
        let head = Head::new(space, self.number, rows, payload);
        self.number += 1;
        self.put(&head.encode())?;
        self.put(payload)
    }

    fn finish(self) -> Result<(), SnapshotFileError> {
        let failed = |error| SnapshotFileError::file(self.part, error);
        self.output.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)
    }
}
