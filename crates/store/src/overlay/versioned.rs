//! Waiting rows of Versioned tables.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use paraffin_primitives::Height;

use super::BlockEnd;
use super::held::{HeldKeys, read_keys};
use super::layer::{KeyedLayer, Order, SlotIndex, order, scan_layers};
use crate::engine::{Batch, EachChange, RunPart, Space, View};
use crate::version::{PRESENT, REMOVED, Version, stored_value, version_in_view};
use crate::{StoreError, Table, key};

/// Bytes that a row costs beside its stem and its versions: the row itself, its slot in the map, its part of what it takes to sort them.
const VERSIONED_OVERHEAD: u64 = 64;

/// No version.
const NONE: u32 = u32::MAX;

/// Versions by stem (engine key without height).
#[derive(Default)]
pub(crate) struct VersionedRows {
    newest: Layer,
    /// Versions of the open block.
    open: Vec<OpenVersion>,
    /// Versions on their way into the engine.
    frozen: Option<Arc<Layer>>,
    /// Which stems the table may hold, here or in the engine: a version that is not there costs a look into every table file.
    held: HeldKeys,
}

/// Versions that go to the engine together. Stems and versions are stored contiguously.
#[derive(Default)]
struct Layer {
    slots: SlotIndex,
    content: Vec<u8>,
    rows: Vec<VersionedRow>,
    /// Versions of ended blocks.
    versions: Vec<EndedVersion>,
}

/// Where the stem and the newest versions of a row are.
struct VersionedRow {
    stem_at: usize,
    stem_len: u16,
    /// Position among the versions of the layer, or [`NONE`].
    ended: u32,
    /// Position among those of the open block, or [`NONE`].
    open: u32,
}

/// A version in the content of its layer, as it is stored.
#[derive(Clone, Copy)]
struct EndedVersion {
    at: usize,
    len: u32,
    height: Height,
    /// The one before in the same layer, or [`NONE`].
    before: u32,
}

/// A version that the open block has written, as it is stored.
struct OpenVersion {
    slot: u32,
    stored: Vec<u8>,
}

impl Layer {
    /// Empty, with the capacity for as many rows as `like` has.
    fn with_capacity_of(like: &Self) -> Self {
        Self {
            slots: SlotIndex::with_capacity_of(&like.slots),
            content: Vec::with_capacity(like.content.len()),
            rows: Vec::with_capacity(like.rows.len()),
            versions: Vec::with_capacity(like.versions.len()),
        }
    }

    /// Versions of ended blocks, newest first: height, and what is stored.
    fn ended(&self, slot: usize) -> impl Iterator<Item = (Height, &[u8])> {
        let version = |at: u32| self.versions.get(at as usize).copied();
        std::iter::successors(version(self.rows[slot].ended), move |later| version(later.before))
            .map(|EndedVersion { at, len, height, .. }| (height, &self.content[at..at + len as usize]))
    }

    /// The newest version of an ended block at or below `height`.
    fn ended_at(&self, slot: usize, height: Height) -> Option<&[u8]> {
        self.ended(slot).find(|(at, _)| *at <= height).map(|(_, stored)| stored)
    }
}

impl KeyedLayer for Layer {
    fn slots(&self) -> &SlotIndex {
        &self.slots
    }

    fn key(&self, slot: u32) -> &[u8] {
        stem_of(&self.rows, &self.content, slot)
    }

    fn touch(&self, slot: u32) -> u8 {
        let row = &self.rows[slot as usize];
        let version = self.versions.get(row.ended as usize);
        self.content[row.stem_at] ^ version.map_or(0, |version| self.content[version.at])
    }
}

fn stem_of<'a>(rows: &[VersionedRow], content: &'a [u8], slot: u32) -> &'a [u8] {
    let row = &rows[slot as usize];
    &content[row.stem_at..row.stem_at + usize::from(row.stem_len)]
}

impl VersionedRows {
    /// The newest waiting version of a row of the newest layer at or below `height`.
    fn in_newest(&self, slot: usize, height: Height, open_height: Height) -> Option<&[u8]> {
        match self.open.get(self.newest.rows[slot].open as usize) {
            Some(open) if height >= open_height => Some(&open.stored),
            _ => self.newest.ended_at(slot, height),
        }
    }

    /// The newest waiting version at or below `height`.
    fn waiting(&self, stem: &[u8], height: Height, open_height: Height) -> Option<&[u8]> {
        let newest = self.newest.slot(stem).and_then(|slot| self.in_newest(slot, height, open_height));
        newest.or_else(|| {
            let frozen = self.frozen.as_deref()?;
            frozen.ended_at(frozen.slot(stem)?, height)
        })
    }

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
            match self.waiting(stem, height, open_height) {
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
        key::with_stem(table, row_key, |stem| {
            let Layer { slots, content, rows, .. } = &mut self.newest;
            let (slot, is_new) = slots.add(stem, |slot| stem_of(rows, content, slot));
            if is_new {
                let (stem_at, stem_len) = (content.len(), stem.len() as u16);
                content.extend_from_slice(stem);
                rows.push(VersionedRow { stem_at, stem_len, ended: NONE, open: NONE });
                self.held.insert(stem);
            }
            // What it replaces is dropped, so that a row that was long once in the block is not kept as long.
            let mut stored = Vec::with_capacity(1 + value.map_or(0, <[u8]>::len));
            stored.push(if value.is_some() { PRESENT } else { REMOVED });
            stored.extend_from_slice(value.unwrap_or_default());
            let open = &mut rows[slot as usize].open;
            match self.open.get_mut(*open as usize) {
                Some(written) => written.stored = stored,
                None => {
                    *open = self.open.len() as u32;
                    self.open.push(OpenVersion { slot, stored });
                }
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
            for layer in layers.into_iter().flatten() {
                if !(0..layer.rows.len() as u32).all(|slot| each(layer.key(slot))) {
                    return Ok(());
                }
            }
            read_keys(view, table, each)
        })
    }

    /// Bytes of the filter of the stems.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// Newest waiting version of each stem with `from <= stem < until`, ascending, as stored.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> bool) {
        let frozen = self.frozen.as_deref();
        scan_layers(&self.newest, frozen, from, until, |stem, (upper, lower)| {
            let upper = upper.and_then(|slot| self.in_newest(slot, Height::MAX, 0));
            let lower = || frozen.zip(lower).and_then(|(layer, slot)| layer.ended_at(slot, Height::MAX));
            upper.or_else(lower).is_none_or(|stored| visit(stem, stored))
        });
    }

    /// Rows that the open block has written.
    pub(super) fn open_rows(&self) -> usize {
        self.open.len()
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) {
        let layer = &mut self.newest;
        for index in order(self.open.iter().map(|open| open.slot), |slot| layer.key(slot)).indices {
            let OpenVersion { slot, stored } = &self.open[index as usize];
            let stem = layer.key(*slot);
            let row_key = key::unescape(stem).expect("the stem was made by `key::with_stem`");
            let value = (stored[0] == PRESENT).then(|| &stored[1..]);
            end.digest.row(table.id, &row_key, value);
            if let Some(undo) = &mut end.undo {
                undo.added(&stem[key::PREFIX_LEN..]);
            }
            let row = &mut layer.rows[*slot as usize];
            let (at, len) = (layer.content.len(), stored.len() as u32);
            layer.content.extend_from_slice(stored);
            layer.versions.push(EndedVersion { at, len, height: end.height, before: row.ended });
            (row.ended, row.open) = (layer.versions.len() as u32 - 1, NONE);
        }
        self.open.clear();
    }

    pub(super) fn abandon_block(&mut self) {
        for open in self.open.drain(..) {
            self.newest.rows[open.slot as usize].open = NONE;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        let layer = mem::take(&mut self.newest);
        for slot in 0..layer.rows.len() {
            let stem = layer.key(slot as u32);
            if let Some((height, stored)) = layer.ended(slot).next() {
                match Version::newest(stem, height, stored) {
                    (key, Some(value)) => batch.insert(space, key, value),
                    (key, None) => batch.remove(space, key),
                }
            }
            for (height, stored) in layer.ended(slot) {
                batch.insert(space, key::at_height(stem, height), stored);
            }
        }
    }

    /// Freezes the versions of ended blocks for the engine; they stay readable until [`Self::thaw`].
    pub(super) fn freeze(&mut self) -> Option<Box<dyn RunPart>> {
        if self.newest.rows.is_empty() {
            return None;
        }
        // The next run will have about as many rows.
        let next = Layer::with_capacity_of(&self.newest);
        let layer = Arc::new(mem::replace(&mut self.newest, next));
        self.frozen = Some(Arc::clone(&layer));
        Some(Box::new(VersionedPart { layer, order: Order::default() }))
    }

    /// Removes the frozen versions, which the view has now, and returns them to be dropped.
    pub(super) fn thaw(&mut self) -> Option<Box<dyn Any + Send>> {
        self.frozen.take().map(|layer| -> Box<dyn Any + Send> { Box::new(layer) })
    }

    pub(super) fn bytes(&self) -> u64 {
        let Layer { content, rows, versions, .. } = &self.newest;
        let open: usize = self.open.iter().map(|open| open.stored.len()).sum();
        (content.len() + size_of_val(&versions[..]) + size_of_val(&self.open[..]) + open) as u64
            + rows.len() as u64 * VERSIONED_OVERHEAD
    }
}

/// The versions of a layer in order.
struct VersionedPart {
    layer: Arc<Layer>,
    order: Order,
}

impl RunPart for VersionedPart {
    fn sort(&mut self) {
        self.order = self.layer.order();
    }

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        self.layer.visit(&self.order, |slot| {
            let stem = self.layer.key(slot);
            // Newest first, as their keys sort; no stem is the start of another.
            if let Some((height, stored)) = self.layer.ended(slot as usize).next() {
                key::write_newest(&mut key, stem);
                let is_there = Version::write_newest(&mut value, height, stored);
                each(&key, is_there.then_some(&value))?;
            }
            self.layer.ended(slot as usize).try_for_each(|(height, stored)| {
                key::write_at_height(&mut key, stem, height);
                each(&key, Some(stored))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModuleId, Placement, TableKind};

    const TABLE: Table = Table {
        module: ModuleId(4),
        id: 3,
        name: "versions",
        kind: TableKind::Versioned,
        placement: Placement::Ordered,
    };

    #[test]
    fn a_row_that_was_long_once_in_a_block_takes_and_counts_what_its_last_value_does() {
        let mut rows = VersionedRows::default();
        for len in [1 << 20, 3, 0] {
            rows.write(&TABLE, b"row", Some(&vec![7; len]));
            assert!((len..len + 200).contains(&(rows.bytes() as usize)), "{len}: {}", rows.bytes());
        }
        assert_eq!((rows.open_rows(), rows.open[0].stored.capacity()), (1, 1));
        rows.abandon_block();
        assert_eq!((rows.open_rows(), rows.newest.rows[0].open), (0, NONE));
    }
}
