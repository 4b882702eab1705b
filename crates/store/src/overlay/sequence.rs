//! Waiting rows of Sequence tables.

use super::{BlockEnd, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, Space, View};
use crate::record::{decode_number, meta_key};
use crate::{StoreError, Table, key};

/// Rows from the committed length on.
pub(crate) struct SequenceRows {
    /// Rows in the committed view.
    base: u32,
    rows: Vec<Bytes>,
    /// Rows of ended blocks; the others belong to the open block.
    ended: usize,
    bytes: u64,
}

impl SequenceRows {
    pub(super) fn open(table: &Table, view: &View) -> Result<Self, StoreError> {
        let base = match view.get(Space::Meta, &meta_key::sequence(table))? {
            None => 0,
            Some(bytes) => decode_number(&bytes, "the length of a sequence")?,
        };
        Ok(Self { base, rows: Vec::new(), ended: 0, bytes: 0 })
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> u32 {
        self.base + self.rows.len() as u32
    }

    pub(crate) fn get(&self, table: &Table, row_key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        let Ok(number) = row_key.try_into().map(u32::from_be_bytes) else { return Ok(None) };
        match number.checked_sub(self.base) {
            Some(waiting) => Ok(self.rows.get(waiting as usize).cloned()),
            None => key::with_plain(table, row_key, |key| view.get(Space::of(table.placement), key)),
        }
    }

    pub(crate) fn append(&mut self, table: &Table, value: &[u8]) -> Result<u32, StoreError> {
        let number = self.len();
        if number == u32::MAX {
            return Err(StoreError::SequenceFull(table.name));
        }
        self.rows.push(Bytes::from(value));
        self.bytes += value.len() as u64 + ROW_OVERHEAD / 4;
        Ok(number)
    }

    /// Waiting rows whose engine key lies in the range, ascending.
    pub(crate) fn scan(
        &self,
        table: &Table,
        from: &[u8],
        until: &[u8],
        mut visit: impl FnMut(&Bytes, Option<&Bytes>) -> bool,
    ) {
        // Rows are in order of their keys: skip to the first by bisection.
        let key_of = |place: usize| key::plain(table, &(self.base + place as u32).to_be_bytes());
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if key_of(middle).as_slice() < from { low = middle + 1 } else { high = middle }
        }
        for place in low..self.rows.len() {
            let key = key_of(place);
            if key.as_slice() >= until || !visit(&Bytes::from(key), Some(&self.rows[place])) {
                return;
            }
        }
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) {
        if self.ended == self.rows.len() {
            return;
        }
        let len_before = self.base + self.ended as u32;
        for (value, number) in self.rows[self.ended..].iter().zip(len_before..) {
            end.digest.row(table.id, &number.to_be_bytes(), Some(value));
        }
        if let Some(undo) = &mut end.undo {
            undo.grown(len_before);
        }
        self.ended = self.rows.len();
    }

    pub(super) fn abandon_block(&mut self) {
        self.rows.truncate(self.ended);
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        if self.rows.is_empty() {
            return;
        }
        for (value, number) in self.rows.drain(..).zip(self.base..) {
            batch.insert(Space::of(table.placement), key::plain(table, &number.to_be_bytes()), value);
        }
        self.base += self.ended as u32;
        batch.insert(Space::Meta, meta_key::sequence(table), self.base.to_be_bytes());
        self.ended = 0;
        self.bytes = 0;
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
