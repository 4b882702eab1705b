//! Undo records, which restore the rows of one module to their state before one block.
//!
//! They name keyspace and kind themselves, so undoing a block needs no declaration of the module that wrote it.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;

use paraffin_primitives::Height;

use crate::engine::{Batch, Space, View};
use crate::record::{decode_number, meta_key};
use crate::version::newest_before;
use crate::{ModuleId, StoreError, Table, TableKind, key};

/// Undo records are cut into rows of this length, bytes.
const CHUNK_LEN: usize = 256 * 1024;

const CURRENT: u8 = 0;
const VERSIONED: u8 = 1;
const WRITE_ONCE: u8 = 2;
const SEQUENCE: u8 = 3;

/// Builds the undo record of one module for one block.
#[derive(Default)]
pub(crate) struct UndoWriter {
    out: Vec<u8>,
    /// Head of the table that the next rows belong to; written with its first row.
    head: Option<[u8; 3]>,
    /// Offset of the row count of the table being written.
    count_at: usize,
}

impl UndoWriter {
    /// The rows that follow belong to `table`.
    pub(crate) fn table(&mut self, table: &Table) {
        let kind = match table.kind {
            TableKind::Current => CURRENT,
            TableKind::Versioned => VERSIONED,
            TableKind::WriteOnce => WRITE_ONCE,
            TableKind::Sequence => SEQUENCE,
        };
        self.head = Some([table.id, kind, Space::of(table.placement) as u8]);
    }

    fn count_row(&mut self) {
        if let Some(head) = self.head.take() {
            self.out.extend_from_slice(&head);
            self.count_at = self.out.len();
            self.out.extend_from_slice(&0_u32.to_be_bytes());
        }
        let count =
            self.out[self.count_at..].first_chunk_mut::<4>().expect("the head was written with a count of four bytes");
        *count = (u32::from_be_bytes(*count) + 1).to_be_bytes();
    }

    fn key(&mut self, key: &[u8]) {
        // Row keys are at most `KEY_LEN_MAX` long, escaped at most twice that and two.
        self.out.extend_from_slice(&(key.len() as u16).to_be_bytes());
        self.out.extend_from_slice(key);
    }

    /// A row of a Current table that had the value `before`.
    pub(crate) fn changed(&mut self, key: &[u8], before: Option<&[u8]>) {
        self.count_row();
        self.key(key);
        match before {
            None => self.out.push(0),
            Some(value) => {
                self.out.push(1);
                self.out.extend_from_slice(&(value.len() as u32).to_be_bytes());
                self.out.extend_from_slice(value);
            }
        }
    }

    /// A new row of a `WriteOnce` table, or a new version (given by its stem) of a Versioned one.
    pub(crate) fn added(&mut self, key: &[u8]) {
        self.count_row();
        self.key(key);
    }

    /// A Sequence table had `len_before` rows.
    pub(crate) fn grown(&mut self, len_before: u32) {
        self.count_row();
        self.out.extend_from_slice(&len_before.to_be_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }
}

/// Number of rows that an undo record takes.
pub(crate) fn chunk_count(record: &[u8]) -> u16 {
    // A block writes far less than the 16 GiB at which this would end; the count is checked when it is read.
    u16::try_from(record.len().div_ceil(CHUNK_LEN)).unwrap_or(u16::MAX)
}

/// Key of a row of an undo record.
pub(crate) fn chunk_key(module: ModuleId, height: Height, chunk: u16) -> [u8; 7] {
    let mut key = [module.0, 0, 0, 0, 0, 0, 0];
    key[1..5].copy_from_slice(&height.to_be_bytes());
    key[5..].copy_from_slice(&chunk.to_be_bytes());
    key
}

/// Adds an undo record to a batch.
pub(crate) fn insert_record(batch: &mut Batch<'_>, module: ModuleId, height: Height, record: &[u8]) {
    for (chunk, number) in record.chunks(CHUNK_LEN).zip(0..) {
        batch.insert(Space::Undo, chunk_key(module, height, number), chunk);
    }
}

/// Removes an undo record of `chunks` rows.
pub(crate) fn remove_record(batch: &mut Batch<'_>, module: ModuleId, height: Height, chunks: u16) {
    for chunk in 0..chunks {
        batch.remove(Space::Undo, chunk_key(module, height, chunk));
    }
}

/// Adds to `batch` the undo of the part of `module` in the block at `height`, and removes the undo record.
pub(crate) fn undo_module(
    view: &View,
    batch: &mut Batch<'_>,
    module: ModuleId,
    height: Height,
    chunks: u16,
) -> Result<(), StoreError> {
    let record = read_record(view, module, height, chunks)?;
    let mut reader = UndoReader { rest: &record };
    while !reader.rest.is_empty() {
        undo_table(view, batch, module, height, &mut reader)?;
    }
    remove_record(batch, module, height, chunks);
    Ok(())
}

/// The undo record of a module for a block.
fn read_record(view: &View, module: ModuleId, height: Height, chunks: u16) -> Result<Vec<u8>, StoreError> {
    let mut record = Vec::with_capacity(usize::from(chunks) * CHUNK_LEN);
    for chunk in 0..chunks {
        let row = view.get(Space::Undo, &chunk_key(module, height, chunk))?.ok_or_else(|| {
            StoreError::Corrupt(format!(
                "row {chunk} of the undo record of block {height}, module {}, is missing",
                module.0
            ))
        })?;
        record.extend_from_slice(&row);
    }
    Ok(record)
}

/// Visits the rows of a Current table in the undo record of a block: the key of each, and its value before the block.
pub(crate) fn visit_changed<E: From<StoreError>>(
    view: &View,
    table: &Table,
    height: Height,
    chunks: u16,
    mut visit: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
) -> Result<(), E> {
    let record = read_record(view, table.module, height, chunks)?;
    let mut reader = UndoReader { rest: &record };
    while !reader.rest.is_empty() {
        let [id, kind, _] = *reader.take::<3>()?;
        for _ in 0..reader.number()? {
            match kind {
                CURRENT => {
                    let key = reader.key()?;
                    let before = match reader.take::<1>()? {
                        [0] => None,
                        [1] => {
                            let len = reader.number()? as usize;
                            Some(reader.bytes(len)?)
                        }
                        _ => return Err(damaged().into()),
                    };
                    if id == table.id {
                        visit(key, before)?;
                    }
                }
                WRITE_ONCE | VERSIONED => {
                    reader.key()?;
                }
                SEQUENCE => {
                    reader.number()?;
                }
                _ => return Err(damaged().into()),
            }
        }
    }
    Ok(())
}

fn undo_table(
    view: &View,
    batch: &mut Batch<'_>,
    module: ModuleId,
    height: Height,
    reader: &mut UndoReader<'_>,
) -> Result<(), StoreError> {
    let [table, kind, space] = *reader.take::<3>()?;
    let space = Space::table_space(space).ok_or_else(damaged)?;
    let engine_key = |row_key: &[u8]| {
        let mut out = Vec::with_capacity(key::PREFIX_LEN + row_key.len());
        out.extend_from_slice(&[module.0, table]);
        out.extend_from_slice(row_key);
        out
    };
    for _ in 0..reader.number()? {
        match kind {
            CURRENT => {
                let key = engine_key(reader.key()?);
                match reader.take::<1>()? {
                    [0] => batch.remove(space, key),
                    [1] => {
                        let len = reader.number()? as usize;
                        batch.insert(space, key, reader.bytes(len)?);
                    }
                    _ => return Err(damaged()),
                }
            }
            WRITE_ONCE => batch.remove(space, engine_key(reader.key()?)),
            VERSIONED => {
                let stem = engine_key(reader.key()?);
                batch.remove(space, key::at_height(&stem, height));
                match newest_before(view, space, &stem, height)? {
                    (key, Some(value)) => batch.insert(space, key, value),
                    (key, None) => batch.remove(space, key),
                }
            }
            SEQUENCE => {
                let len_before = reader.number()?;
                let meta = meta_key::sequence_of(module, table);
                let len = view.get(Space::Meta, &meta)?.ok_or_else(damaged)?;
                for number in len_before..decode_number(&len, "the length of a sequence")? {
                    batch.remove(space, engine_key(&number.to_be_bytes()));
                }
                batch.insert(Space::Meta, meta, len_before.to_be_bytes());
            }
            _ => return Err(damaged()),
        }
    }
    Ok(())
}

fn damaged() -> StoreError {
    StoreError::Corrupt("an undo record cannot be read".to_owned())
}

struct UndoReader<'a> {
    rest: &'a [u8],
}

impl<'a> UndoReader<'a> {
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], StoreError> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(damaged)?;
        self.rest = rest;
        Ok(head)
    }

    fn number(&mut self) -> Result<u32, StoreError> {
        Ok(u32::from_be_bytes(*self.take::<4>()?))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], StoreError> {
        let (head, rest) = self.rest.split_at_checked(len).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(head)
    }

    fn key(&mut self) -> Result<&'a [u8], StoreError> {
        let len = u16::from_be_bytes(*self.take::<2>()?);
        self.bytes(usize::from(len))
    }
}
