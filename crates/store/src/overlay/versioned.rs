//! Waiting rows of Versioned tables.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use paraffin_primitives::Height;

use super::held::{HeldKeys, read_keys};
use super::layer::{KeyedLayer, SlotIndex, order, scan_layers};
use super::{BlockEnd, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, EachChange, RunPart, Space, View};
use crate::version::{PRESENT, REMOVED, Version, stored_value, version_in_view};
use crate::{StoreError, Table, key};

/// Versions by stem (engine key without height).
#[derive(Default)]
pub(crate) struct VersionedRows {
    newest: Layer,
    /// Slots of the rows that the open block has written.
    dirty: Vec<u32>,
    /// Versions on their way into the engine.
    frozen: Option<Arc<Layer>>,
    /// Which stems the table may hold, here or in the engine: a version that is not there costs a look into every table file.
    held: HeldKeys,
}

/// Versions that go to the engine together.
#[derive(Default)]
struct Layer {
    slots: SlotIndex,
    rows: Vec<VersionedRow>,
    bytes: u64,
}

impl KeyedLayer for Layer {
    fn slots(&self) -> &SlotIndex {
        &self.slots
    }

    fn key(&self, slot: u32) -> &[u8] {
        &self.rows[slot as usize].stem
    }
}

struct VersionedRow {
    stem: Bytes,
    /// Versions of ended blocks, oldest first, as they are stored.
    ended: Vec<(Height, Bytes)>,
    /// Version of the open block.
    open: Option<Bytes>,
}

impl VersionedRow {
    /// The newest version at or below `height` that waits here.
    fn at(&self, height: Height, open_height: Height) -> Option<&Bytes> {
        if height >= open_height && self.open.is_some() {
            return self.open.as_ref();
        }
        self.ended.iter().rev().find(|(at, _)| *at <= height).map(|(_, stored)| stored)
    }
}

impl VersionedRows {
    /// The value as of `height`.
    pub(crate) fn get_at(
        &self,
        table: &Table,
        row_key: &[u8],
        height: Height,
        open_height: Height,
        view: &View,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        key::with_stem(table, row_key, |stem| {
            let layers = [Some(&self.newest), self.frozen.as_deref()];
            let waiting =
                layers.into_iter().flatten().find_map(|layer| layer.rows[layer.slot(stem)?].at(height, open_height));
            match waiting {
                Some(stored) => Ok(stored_value(stored)?.map(<[u8]>::to_vec)),
                // Removed rows count as absent, so the filter does not cover earlier heights.
                None if height >= open_height && !self.held.may_hold(stem) => Ok(None),
                // The view may be ahead of the open block, when its module catches up alone.
                None => {
                    let found = version_in_view(view, table, stem, height, |_, value| value.to_vec())?;
                    if found.is_none() && height >= open_height {
                        self.held.count_absence();
                    }
                    Ok(found)
                }
            }
        })
    }

    /// Whether the newest value is neither in memory nor known to be absent.
    pub(super) fn needs_read(&self, table: &Table, row_key: &[u8]) -> bool {
        key::with_stem(table, row_key, |stem| {
            let mut layers = [Some(&self.newest), self.frozen.as_deref()].into_iter().flatten();
            self.held.may_hold(stem) && layers.all(|layer| layer.slot(stem).is_none())
        })
    }

    /// Sets (`Some`) or removes (`None`) a row in the open block.
    pub(crate) fn write(&mut self, table: &Table, row_key: &[u8], value: Option<&[u8]>) {
        let stored = match value {
            None => Bytes::from([REMOVED]),
            Some(value) => {
                let mut stored = Vec::with_capacity(1 + value.len());
                stored.push(PRESENT);
                stored.extend_from_slice(value);
                Bytes::from(stored)
            }
        };
        let layer = &mut self.newest;
        layer.bytes += stored.len() as u64 + ROW_OVERHEAD / 4;
        key::with_stem(table, row_key, |stem| {
            let (slot, is_new) = layer.slots.add(stem, |slot| &layer.rows[slot as usize].stem);
            if is_new {
                layer.bytes += stem.len() as u64 + ROW_OVERHEAD;
                layer.rows.push(VersionedRow { stem: Bytes::from(stem), ended: Vec::new(), open: None });
                self.held.insert(stem);
            }
            let slot = slot as usize;
            if layer.rows[slot].open.replace(stored).is_none() {
                self.dirty.push(slot as u32);
            }
        });
    }

    /// Gets ready for a block that can be undone later, or not. The filter of the stems may take `bytes_max`.
    ///
    /// # Errors
    /// The disk cannot be read.
    pub(super) fn prepare(
        &mut self,
        table: &Table,
        undoable: bool,
        view: &Arc<View>,
        bytes_max: u64,
    ) -> Result<(), StoreError> {
        if undoable {
            self.held.forget();
            return Ok(());
        }
        let layers = [Some(&self.newest), self.frozen.as_deref()];
        self.held.prepare(bytes_max, |each| {
            if !layers.into_iter().flatten().flat_map(|layer| &layer.rows).all(|row| each(&row.stem)) {
                return Ok(());
            }
            read_keys(view, table, each)
        })
    }

    /// Bytes of the filter of the stems.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// Newest waiting version of each stem with `from <= stem < until`, ascending, as stored.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&[u8], &Bytes) -> bool) {
        let frozen = self.frozen.as_deref();
        scan_layers(&self.newest, frozen, from, until, |stem, (upper, lower)| {
            let upper = upper.and_then(|slot| self.newest.rows[slot].at(Height::MAX, 0));
            let lower = || frozen.zip(lower).and_then(|(layer, slot)| layer.rows[slot].at(Height::MAX, 0));
            upper.or_else(lower).is_none_or(|stored| visit(stem, stored))
        });
    }

    /// Rows that the open block has written.
    pub(super) fn open_rows(&self) -> usize {
        self.dirty.len()
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) {
        let mut dirty = mem::take(&mut self.dirty);
        let rows = &mut self.newest.rows;
        dirty.sort_unstable_by(|a, b| rows[*a as usize].stem.cmp(&rows[*b as usize].stem));
        for slot in dirty.drain(..) {
            let row = &mut rows[slot as usize];
            let Some(stored) = row.open.take() else { continue };
            let row_key = key::unescape(&row.stem).expect("the stem was made by `key::with_stem`");
            let value = (stored[0] == PRESENT).then(|| &stored[1..]);
            end.digest.row(table.id, &row_key, value);
            if let Some(undo) = &mut end.undo {
                undo.added(&row.stem[key::PREFIX_LEN..]);
            }
            row.ended.push((end.height, stored));
        }
        self.dirty = dirty;
    }

    pub(super) fn abandon_block(&mut self) {
        for slot in self.dirty.drain(..) {
            self.newest.rows[slot as usize].open = None;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        for row in mem::take(&mut self.newest).rows {
            if let Some((height, stored)) = row.ended.last() {
                match Version::newest(&row.stem, *height, stored) {
                    (key, Some(value)) => batch.insert(space, key, value),
                    (key, None) => batch.remove(space, key),
                }
            }
            for (height, stored) in row.ended {
                batch.insert(space, key::at_height(&row.stem, height), stored);
            }
        }
    }

    /// Freezes the versions of ended blocks for the engine; they stay readable until [`Self::thaw`].
    pub(super) fn freeze(&mut self) -> Option<Box<dyn RunPart>> {
        if self.newest.rows.is_empty() {
            return None;
        }
        let layer = Arc::new(mem::take(&mut self.newest));
        self.frozen = Some(Arc::clone(&layer));
        Some(Box::new(VersionedPart { layer, order: Vec::new() }))
    }

    /// Removes the frozen versions, which the view has now, and returns them to be dropped.
    pub(super) fn thaw(&mut self) -> Option<Box<dyn Any + Send>> {
        self.frozen.take().map(|layer| -> Box<dyn Any + Send> { Box::new(layer) })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.newest.bytes
    }
}

/// The versions of a layer in order.
struct VersionedPart {
    layer: Arc<Layer>,
    order: Vec<u32>,
}

impl RunPart for VersionedPart {
    fn sort(&mut self) {
        let rows = &self.layer.rows;
        self.order = order(0..rows.len() as u32, |slot| &rows[slot as usize].stem[..]).indices;
    }

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        for slot in &self.order {
            let row = &self.layer.rows[*slot as usize];
            // Newest first, as their keys sort; no stem is the start of another.
            if let Some((height, stored)) = row.ended.last() {
                let (key, value) = Version::newest(&row.stem, *height, stored);
                each(&key, value.as_deref())?;
            }
            for (height, stored) in row.ended.iter().rev() {
                each(&key::at_height(&row.stem, *height), Some(stored))?;
            }
        }
        Ok(())
    }
}
