//! Waiting rows of Sequence tables.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use super::{BlockEnd, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, EachChange, RunPart, Space, View};
use crate::record::{decode_number, meta_key};
use crate::{StoreError, Table, key};

/// Rows from the committed length on.
pub(crate) struct SequenceRows {
    newest: Layer,
    /// Rows of ended blocks; the others belong to the open block.
    ended: usize,
    /// Rows on their way into the engine, which end where the newest begin.
    frozen: Option<Arc<Layer>>,
}

/// Rows that go to the engine together.
struct Layer {
    /// Number of the first.
    base: u32,
    rows: Vec<Bytes>,
    bytes: u64,
}

impl SequenceRows {
    pub(super) fn open(table: &Table, view: &View) -> Result<Self, StoreError> {
        let base = match view.get(Space::Meta, &meta_key::sequence(table))? {
            None => 0,
            Some(bytes) => decode_number(&bytes, "the length of a sequence")?,
        };
        Ok(Self { newest: Layer { base, rows: Vec::new(), bytes: 0 }, ended: 0, frozen: None })
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u32 {
        self.newest.base + self.newest.rows.len() as u32
    }

    /// Number of the first row that is not in the view.
    fn waiting_from(&self) -> u32 {
        self.frozen.as_ref().map_or(self.newest.base, |frozen| frozen.base)
    }

    /// A row that is not in the view.
    fn waiting(&self, number: u32) -> Option<&Bytes> {
        match number.checked_sub(self.newest.base) {
            Some(slot) => self.newest.rows.get(slot as usize),
            None => {
                let frozen = self.frozen.as_ref()?;
                frozen.rows.get(number.checked_sub(frozen.base)? as usize)
            }
        }
    }

    pub(crate) fn get(&self, table: &Table, row_key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        let Ok(number) = row_key.try_into().map(u32::from_be_bytes) else { return Ok(None) };
        if number >= self.waiting_from() {
            return Ok(self.waiting(number).cloned());
        }
        key::with_plain(table, row_key, |key| view.get(Space::of(table.placement), key))
    }

    pub(crate) fn append(&mut self, table: &Table, value: &[u8]) -> Result<u32, StoreError> {
        let number = self.len();
        if number == u32::MAX {
            return Err(StoreError::SequenceFull(table.name));
        }
        self.newest.rows.push(Bytes::from(value));
        self.newest.bytes += value.len() as u64 + ROW_OVERHEAD / 4;
        Ok(number)
    }

    /// Waiting rows whose engine key lies in the range, ascending.
    pub(crate) fn scan(
        &self,
        table: &Table,
        from: &[u8],
        until: &[u8],
        mut visit: impl FnMut(&[u8], Option<&Bytes>) -> bool,
    ) {
        // Rows are in order of their keys: skip to the first by bisection.
        let key_of = |number: u32| key::plain(table, &number.to_be_bytes());
        let (mut low, mut high) = (self.waiting_from(), self.len());
        while low < high {
            let middle = u32::midpoint(low, high);
            if key_of(middle).as_slice() < from { low = middle + 1 } else { high = middle }
        }
        for number in low..self.len() {
            let key = key_of(number);
            if key.as_slice() >= until || !visit(&key, self.waiting(number)) {
                return;
            }
        }
    }

    /// Rows that the open block has written.
    pub(super) fn open_rows(&self) -> usize {
        self.newest.rows.len() - self.ended
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) {
        if self.ended == self.newest.rows.len() {
            return;
        }
        let len_before = self.newest.base + self.ended as u32;
        for (value, number) in self.newest.rows[self.ended..].iter().zip(len_before..) {
            end.digest.row(table.id, &number.to_be_bytes(), Some(value));
        }
        if let Some(undo) = &mut end.undo {
            undo.grown(len_before);
        }
        self.ended = self.newest.rows.len();
    }

    pub(super) fn abandon_block(&mut self) {
        self.newest.rows.truncate(self.ended);
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        if let Some(layer) = self.take(table, batch) {
            for (value, number) in layer.rows.into_iter().zip(layer.base..) {
                batch.insert(Space::of(table.placement), key::plain(table, &number.to_be_bytes()), value);
            }
        }
    }

    /// The waiting rows; the new length goes into the batch.
    fn take(&mut self, table: &Table, batch: &mut Batch<'_>) -> Option<Layer> {
        if self.newest.rows.is_empty() {
            return None;
        }
        let len = self.len();
        batch.insert(Space::Meta, meta_key::sequence(table), len.to_be_bytes());
        self.ended = 0;
        Some(mem::replace(&mut self.newest, Layer { base: len, rows: Vec::new(), bytes: 0 }))
    }

    /// Freezes the rows of ended blocks for the engine; they stay readable until [`Self::thaw`].
    pub(super) fn freeze(&mut self, table: &Table, batch: &mut Batch<'_>) -> Option<Box<dyn RunPart>> {
        let layer = Arc::new(self.take(table, batch)?);
        self.frozen = Some(Arc::clone(&layer));
        Some(Box::new(SequencePart { layer, table: *table }))
    }

    /// Removes the frozen rows, which the view has now, and returns them to be dropped.
    pub(super) fn thaw(&mut self) -> Option<Box<dyn Any + Send>> {
        self.frozen.take().map(|layer| -> Box<dyn Any + Send> { Box::new(layer) })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.newest.bytes
    }
}

struct SequencePart {
    layer: Arc<Layer>,
    table: Table,
}

impl RunPart for SequencePart {
    fn sort(&mut self) {}

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        for (value, number) in self.layer.rows.iter().zip(self.layer.base..) {
            key::with_plain(&self.table, &number.to_be_bytes(), |key| each(key, Some(value)))?;
        }
        Ok(())
    }
}
