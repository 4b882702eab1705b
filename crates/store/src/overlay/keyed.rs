//! Waiting rows of Current and `WriteOnce` tables.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use bitcoin::hex::DisplayHex as _;
use parking_lot::Mutex;

use super::held::{HeldKeys, read_keys};
use super::layer::{KeyMap, KeyedLayer, Order, SlotIndex, order, scan_layers};
use super::{BlockEnd, Lookup, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, EachChange, RunPart, Space, View};
use crate::key::{self, PREFIX_LEN};
use crate::{StoreError, Table, TableKind};

/// Bytes that a row costs beside its key and value: the row itself, its slot in the map, its part of what it takes to sort them.
const KEYED_OVERHEAD: u64 = 72;

/// Fewer bytes that were written over are not worth a copy of the rest.
const REPLACED_BYTES_MIN: usize = 1 << 20;

/// Rows by engine key.
#[derive(Default)]
pub(crate) struct KeyedRows {
    newest: Layer,
    /// Rows that the open block has written: their slots, and their states before.
    dirty: Vec<(u32, Before)>,
    /// Values that reads of a Current table found below, so that a write of the same key needs no second look-up.
    read: Mutex<ReadRows>,
    /// Rows on their way into the engine.
    frozen: Option<Arc<Layer>>,
    /// Keys of this table, in the engine or waiting.
    held: HeldKeys,
}

/// Rows that were read and may be written.
#[derive(Default)]
struct ReadRows {
    rows: KeyMap<Option<Bytes>>,
    /// Length of their values.
    bytes: u64,
}

impl ReadRows {
    fn insert(&mut self, key: Bytes, found: Option<Bytes>) {
        let len = |found: &Option<Bytes>| found.as_ref().map_or(0, |value| value.len() as u64);
        self.bytes += len(&found);
        let replaced = self.rows.insert(key, found);
        self.bytes -= replaced.as_ref().map_or(0, len);
    }

    fn remove(&mut self, key: &[u8]) -> Lookup<Bytes> {
        let Some(found) = self.rows.remove(key) else { return Lookup::Unknown };
        self.bytes -= found.as_ref().map_or(0, |value| value.len() as u64);
        Lookup::of(found)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }
}

/// Rows that go to the engine together. Their keys and values are stored contiguously; a value that was replaced stays
/// where it was until half of the content is such values.
#[derive(Default)]
struct Layer {
    slots: SlotIndex,
    content: Vec<u8>,
    /// Bytes of the content that were written over.
    replaced_bytes: usize,
    rows: Vec<KeyedRow>,
}

/// A row: offsets of its key and its value.
struct KeyedRow {
    key_at: usize,
    key_len: u16,
    now: Lookup<Written>,
    /// Whether the layers below have the row, when that is known.
    stored: Option<bool>,
    /// Written by the open block.
    dirty: bool,
    /// Changed by an ended block.
    pending: bool,
}

/// A value in the content of its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    at: usize,
    len: u32,
}

/// State of a row before the open block.
enum Before {
    /// In the same layer.
    Here(Lookup<Written>),
    /// Below it.
    Below(Lookup<Bytes>),
}

impl Layer {
    /// Empty, with the capacity for as many rows as `like` has.
    fn with_capacity_of(like: &Self) -> Self {
        Self {
            slots: SlotIndex::with_capacity_of(&like.slots),
            content: Vec::with_capacity(like.content.len()),
            replaced_bytes: 0,
            rows: Vec::with_capacity(like.rows.len()),
        }
    }

    /// The value in this layer.
    fn get(&self, key: &[u8]) -> Lookup<&[u8]> {
        self.slot(key).map_or(Lookup::Unknown, |slot| self.now(slot))
    }

    fn now(&self, slot: usize) -> Lookup<&[u8]> {
        self.value(self.rows[slot].now)
    }

    fn value(&self, written: Lookup<Written>) -> Lookup<&[u8]> {
        match written {
            Lookup::Present(Written { at, len }) => Lookup::Present(&self.content[at..at + len as usize]),
            Lookup::Absent => Lookup::Absent,
            Lookup::Unknown => Lookup::Unknown,
        }
    }

    fn before<'a>(&'a self, before: &'a Before) -> Lookup<&'a [u8]> {
        match before {
            Before::Here(written) => self.value(*written),
            Before::Below(Lookup::Present(value)) => Lookup::Present(value),
            Before::Below(Lookup::Absent) => Lookup::Absent,
            Before::Below(Lookup::Unknown) => Lookup::Unknown,
        }
    }

    /// Removes replaced values once they are half of the content: a row that grows with every write of a block would
    /// keep the sum of its lengths.
    fn compact(&mut self, dirty: &mut [(u32, Before)]) {
        if self.replaced_bytes < REPLACED_BYTES_MIN || self.replaced_bytes < self.content.len() / 2 {
            return;
        }
        let content = mem::take(&mut self.content);
        let mut compacted = Vec::with_capacity(content.len().saturating_sub(self.replaced_bytes));
        let mut keep = |at: &mut usize, len: usize| {
            let bytes = &content[*at..*at + len];
            *at = compacted.len();
            compacted.extend_from_slice(bytes);
        };
        for row in &mut self.rows {
            keep(&mut row.key_at, usize::from(row.key_len));
            if let Lookup::Present(written) = &mut row.now {
                keep(&mut written.at, written.len as usize);
            }
        }
        self.replaced_bytes = 0;
        for (_, before) in dirty {
            if let Before::Here(Lookup::Present(written)) = before {
                keep(&mut written.at, written.len as usize);
                self.replaced_bytes += written.len as usize;
            }
        }
        self.content = compacted;
    }

    fn write(&mut self, value: Option<&[u8]>) -> Lookup<Written> {
        let Some(value) = value else { return Lookup::Absent };
        let written = Written { at: self.content.len(), len: value.len() as u32 };
        self.content.extend_from_slice(value);
        Lookup::Present(written)
    }

    /// The change of a row that the engine has to make.
    fn change(&self, slot: usize) -> Change<'_> {
        let row = &self.rows[slot];
        match self.now(slot) {
            _ if !row.pending => Change::Nothing,
            Lookup::Present(value) => Change::Set(value),
            // A row that came and went between two commits never reaches the engine.
            Lookup::Absent | Lookup::Unknown if row.stored == Some(false) => Change::Nothing,
            Lookup::Absent | Lookup::Unknown => Change::Remove,
        }
    }

    /// # Errors
    /// Error for a duplicate key, which was written twice while there was no map by key.
    fn require_distinct(&self, table: &Table, order: &Order) -> Result<(), StoreError> {
        order.twice.map_or(Ok(()), |slot| Err(key_exists(table, &self.key(slot)[PREFIX_LEN..])))
    }
}

impl KeyedLayer for Layer {
    fn slots(&self) -> &SlotIndex {
        &self.slots
    }

    fn key(&self, slot: u32) -> &[u8] {
        key_of(&self.rows, &self.content, slot)
    }

    fn touch(&self, slot: u32) -> u8 {
        let row = &self.rows[slot as usize];
        let last = match row.now {
            Lookup::Present(Written { at, len }) if len > 0 => self.content[at + len as usize - 1],
            _ => 0,
        };
        self.content[row.key_at] ^ last
    }
}

fn key_of<'a>(rows: &[KeyedRow], content: &'a [u8], slot: u32) -> &'a [u8] {
    let row = &rows[slot as usize];
    &content[row.key_at..row.key_at + usize::from(row.key_len)]
}

impl KeyedRows {
    /// The newest value.
    pub(crate) fn get(&self, table: &Table, row_key: &[u8], view: &View) -> Result<Option<Vec<u8>>, StoreError> {
        key::with_plain(table, row_key, |key| {
            if !self.held.may_hold(key) {
                return Ok(None);
            }
            match self.newest.get(key) {
                Lookup::Present(value) => return Ok(Some(value.to_vec())),
                Lookup::Absent => return Ok(None),
                Lookup::Unknown => {}
            }
            let owned = |found: Option<Bytes>| found.map(|value| value.to_vec());
            // A block that is never undone needs no earlier values.
            let keeps_earlier = table.kind == TableKind::Current && !self.held.is_known();
            if keeps_earlier && let Some(found) = self.read.lock().rows.get(key) {
                return Ok(owned(found.clone()));
            }
            let found = self.get_below(table, key, view)?;
            if found.is_none() {
                self.held.count_absence();
            }
            if !keeps_earlier {
                return Ok(owned(found));
            }
            // A copy: a value of the engine keeps the whole block of its table file in memory.
            self.read.lock().insert(Bytes::from(key), found.as_deref().map(Bytes::from));
            Ok(owned(found))
        })
    }

    /// Whether the newest value is neither in memory nor known to be absent.
    pub(super) fn needs_read(&self, table: &Table, row_key: &[u8]) -> bool {
        key::with_plain(table, row_key, |key| {
            let waits = |layer: &Layer| layer.get(key) != Lookup::Unknown;
            self.held.may_hold(key)
                && !waits(&self.newest)
                && !self.frozen.as_deref().is_some_and(waits)
                && !self.read.lock().rows.contains_key(key)
        })
    }

    /// Gets ready for a block. Of one that is not `undoable` it is worth knowing which keys the table holds, in at most `bytes_max`.
    pub(super) fn prepare(
        &mut self,
        table: &Table,
        undoable: bool,
        view: &Arc<View>,
        bytes_max: u64,
    ) -> Result<(), StoreError> {
        // Most rows of a first import are in tables without look-ups by key.
        let is_looked_up = undoable || table.kind != TableKind::WriteOnce || self.held.is_looked_up();
        let Layer { slots, content, rows, .. } = &mut self.newest;
        slots.set_mapped(is_looked_up, |slot| key_of(rows, content, slot));
        if undoable {
            self.held.forget();
            return Ok(());
        }
        let (newest, frozen) = (&self.newest, self.frozen.as_deref());
        self.held.prepare(bytes_max, |each| {
            let layers = [Some(newest), frozen].into_iter().flatten();
            for layer in layers {
                if !(0..layer.rows.len() as u32).all(|slot| each(layer.key(slot))) {
                    return Ok(());
                }
            }
            read_keys(view, table, each)
        })
    }

    /// Bytes of the filter of its keys.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// The value below the newest layer.
    fn get_below(&self, table: &Table, key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        match self.frozen.as_ref().map_or(Lookup::Unknown, |frozen| frozen.get(key)) {
            Lookup::Present(value) => Ok(Some(Bytes::from(value))),
            Lookup::Absent => Ok(None),
            Lookup::Unknown => view.get(Space::of(table.placement), key),
        }
    }

    /// Sets (`Some`) or removes (`None`) a row in the open block.
    pub(crate) fn write(
        &mut self,
        table: &Table,
        row_key: &[u8],
        value: Option<&[u8]>,
        view: &View,
    ) -> Result<(), StoreError> {
        key::with_plain(table, row_key, |key| {
            // Looking up each new key would double the cost of an import; debug builds, and thus the tests, do it.
            if cfg!(debug_assertions)
                && table.kind == TableKind::WriteOnce
                && self.newest.slot(key).is_none()
                && self.get_below(table, key, view)?.is_some()
            {
                return Err(key_exists(table, row_key));
            }
            let layer = &mut self.newest;
            let (slot, is_new) = layer.slots.add(key, |slot| key_of(&layer.rows, &layer.content, slot));
            if !is_new {
                let before = layer.rows[slot as usize].now;
                if table.kind == TableKind::WriteOnce && matches!(before, Lookup::Present(_)) {
                    return Err(key_exists(table, row_key));
                }
                let now = layer.write(value);
                let row = &mut layer.rows[slot as usize];
                row.now = now;
                if let Lookup::Present(written) = before {
                    layer.replaced_bytes += written.len as usize;
                }
                if !row.dirty {
                    row.dirty = true;
                    self.dirty.push((slot, Before::Here(before)));
                }
                layer.compact(&mut self.dirty);
                return Ok(());
            }
            let may_be_held = self.held.insert(key);
            let stored = if table.kind == TableKind::WriteOnce || !may_be_held {
                self.dirty.push((slot, Before::Below(Lookup::Absent)));
                Some(false)
            } else {
                // Each is pushed where it is known: one that is put together first is waited for when it is copied.
                match self.read.get_mut().remove(key) {
                    Lookup::Unknown => {
                        self.dirty.push((slot, Before::Below(Lookup::Unknown)));
                        None
                    }
                    found => {
                        let stored = Some(found != Lookup::Absent);
                        self.dirty.push((slot, Before::Below(found)));
                        stored
                    }
                }
            };
            let key_at = layer.content.len();
            layer.content.extend_from_slice(key);
            let now = layer.write(value);
            layer.rows.push(KeyedRow { key_at, key_len: key.len() as u16, now, stored, dirty: true, pending: false });
            Ok(())
        })
    }

    /// Waiting rows with `from <= engine key < until`, ascending: the key, and the value or `None` when it is removed.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&[u8], Option<&[u8]>) -> bool) {
        let frozen = self.frozen.as_deref();
        scan_layers(&self.newest, frozen, from, until, |key, (upper, lower)| {
            let mut known = upper.map_or(Lookup::Unknown, |slot| self.newest.now(slot));
            if known == Lookup::Unknown
                && let (Some(layer), Some(slot)) = (frozen, lower)
            {
                known = layer.now(slot);
            }
            match known {
                Lookup::Unknown => true,
                Lookup::Absent => visit(key, None),
                Lookup::Present(value) => visit(key, Some(value)),
            }
        });
    }

    /// Rows that the open block has written.
    pub(super) fn open_rows(&self) -> usize {
        self.dirty.len()
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) -> Result<(), StoreError> {
        // Everything that can fail comes before any change, so that a failure leaves the block as it was: the earlier values, and
        // whether each key is one.
        if end.undo.is_some() && table.kind == TableKind::Current {
            for index in 0..self.dirty.len() {
                let (slot, Before::Below(Lookup::Unknown)) = self.dirty[index] else { continue };
                let found = self.get_below(table, self.newest.key(slot), end.view)?;
                self.newest.rows[slot as usize].stored = Some(found.is_some());
                self.dirty[index].1 = Before::Below(Lookup::of(found));
            }
        }
        let written = order(self.dirty.iter().map(|(slot, _)| *slot), |slot| self.newest.key(slot));
        self.newest.require_distinct(table, &written)?;
        for index in written.indices {
            let slot = self.dirty[index as usize].0;
            let layer = &self.newest;
            let row_key = &layer.key(slot)[PREFIX_LEN..];
            let now = layer.now(slot as usize);
            let before = layer.before(&self.dirty[index as usize].1);
            let value = match now {
                Lookup::Present(value) => Some(value),
                Lookup::Absent | Lookup::Unknown => None,
            };
            end.digest.row(table.id, row_key, value);
            let is_changed = before != now;
            if is_changed && let Some(undo) = &mut end.undo {
                match (table.kind, before) {
                    (TableKind::Current, Lookup::Present(before)) => undo.changed(row_key, Some(before)),
                    (TableKind::Current, _) => undo.changed(row_key, None),
                    _ => undo.added(row_key),
                }
            }
            let row = &mut self.newest.rows[slot as usize];
            row.pending |= is_changed;
            row.dirty = false;
        }
        self.dirty.clear();
        Ok(())
    }

    pub(super) fn abandon_block(&mut self) {
        let layer = &mut self.newest;
        if !layer.slots.is_mapped() {
            // Every write was a row of its own, and the newest are those of the block.
            layer.rows.truncate(layer.rows.len() - self.dirty.len());
            layer.slots.truncate(layer.rows.len());
            self.dirty.clear();
        }
        for (slot, before) in self.dirty.drain(..) {
            let before = match before {
                Before::Here(written) => written,
                Before::Below(Lookup::Present(value)) => layer.write(Some(&value)),
                Before::Below(Lookup::Absent) => Lookup::Absent,
                Before::Below(Lookup::Unknown) => Lookup::Unknown,
            };
            let row = &mut layer.rows[slot as usize];
            row.now = before;
            row.dirty = false;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        let layer = mem::take(&mut self.newest);
        let mut slots = layer.order().indices;
        // A batch names no key twice.
        slots.dedup_by(|b, a| layer.key(*a) == layer.key(*b));
        for slot in slots {
            match layer.change(slot as usize) {
                Change::Nothing => {}
                Change::Set(value) => batch.insert(space, layer.key(slot), value),
                Change::Remove => batch.remove(space, layer.key(slot)),
            }
        }
        self.read.get_mut().clear();
    }

    /// Freezes the rows of ended blocks for the engine; they stay readable until [`Self::thaw`].
    pub(super) fn freeze(&mut self, table: &Table) -> Option<Box<dyn RunPart>> {
        self.read.get_mut().clear();
        if self.newest.rows.is_empty() {
            return None;
        }
        // The next run will have about as many rows.
        let next = Layer::with_capacity_of(&self.newest);
        let layer = Arc::new(mem::replace(&mut self.newest, next));
        self.frozen = Some(Arc::clone(&layer));
        Some(Box::new(KeyedPart { table: *table, layer, order: Order::default() }))
    }

    /// Removes the frozen rows, which the view has now, and returns them to be dropped.
    pub(super) fn thaw(&mut self) -> Option<Box<dyn Any + Send>> {
        self.frozen.take().map(|layer| -> Box<dyn Any + Send> { Box::new(layer) })
    }

    pub(super) fn bytes(&self) -> u64 {
        let read = self.read.lock();
        let waiting = self.newest.content.len() as u64 + self.newest.rows.len() as u64 * KEYED_OVERHEAD;
        waiting + read.rows.len() as u64 * ROW_OVERHEAD + read.bytes
    }
}

/// The change of a row that the engine has to make.
enum Change<'a> {
    Nothing,
    Set(&'a [u8]),
    Remove,
}

/// The rows of a layer in order.
struct KeyedPart {
    table: Table,
    layer: Arc<Layer>,
    order: Order,
}

impl RunPart for KeyedPart {
    fn sort(&mut self) {
        self.order = self.layer.order();
    }

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        self.layer.require_distinct(&self.table, &self.order)?;
        self.layer.visit(&self.order, |slot| {
            let key = self.layer.key(slot);
            match self.layer.change(slot as usize) {
                Change::Nothing => Ok(()),
                Change::Set(value) => each(key, Some(value)),
                Change::Remove => each(key, None),
            }
        })
    }
}

fn key_exists(table: &Table, key: &[u8]) -> StoreError {
    let key = key[..key.len().min(32)].to_lower_hex_string();
    StoreError::KeyExists { table: table.name, key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::ModuleDigest;
    use crate::engine::Engine;
    use crate::{MemorySplit, ModuleId, Placement, Row};

    const TABLE: Table =
        Table { module: ModuleId(4), id: 2, name: "written", kind: TableKind::WriteOnce, placement: Placement::Hashed };

    /// A table during a first import, over an empty store.
    struct Import {
        _folder: tempfile::TempDir,
        view: Arc<View>,
        rows: KeyedRows,
    }

    impl Import {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let engine = Engine::open(folder.path(), MemorySplit::of(MemorySplit::FLOOR).unwrap()).unwrap();
            let view = Arc::new(Arc::new(engine).view());
            Self { _folder: folder, view, rows: KeyedRows::default() }
        }

        fn begin(&mut self) {
            self.rows.prepare(&TABLE, false, &self.view, 1 << 20).unwrap();
        }

        fn put(&mut self, key: &[u8], value: &[u8]) {
            self.rows.write(&TABLE, key, Some(value), &self.view).unwrap();
        }

        fn end(&mut self) -> Result<(), StoreError> {
            let mut digest = ModuleDigest::new();
            self.rows.end_block(&TABLE, &mut BlockEnd { view: &self.view, height: 1, digest: &mut digest, undo: None })
        }

        fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
            self.rows.get(&TABLE, key, &self.view).unwrap()
        }

        /// The rows as they go to a run.
        fn run(&mut self) -> Result<Vec<Row>, StoreError> {
            let mut part = self.rows.freeze(&TABLE).unwrap();
            part.sort();
            let mut rows = Vec::new();
            part.visit(&mut |key, value| {
                rows.push((key[PREFIX_LEN..].to_vec(), value.unwrap().to_vec()));
                Ok(())
            })?;
            Ok(rows)
        }
    }

    fn row(key: &[u8], value: &[u8]) -> Row {
        (key.to_vec(), value.to_vec())
    }

    #[test]
    fn rows_without_look_ups_are_in_no_map_and_are_found_all_the_same() {
        let mut import = Import::new();
        import.begin();
        import.put(b"b", b"2");
        import.put(b"a", b"1");
        import.end().unwrap();
        assert!(!import.rows.newest.slots.is_mapped());
        import.begin();
        import.put(b"c", b"3");
        assert_eq!(
            (import.get(b"a"), import.get(b"c"), import.get(b"d")),
            (Some(b"1".into()), Some(b"3".into()), None)
        );
        import.end().unwrap();
        // From the next block on the table is one that is read.
        import.begin();
        assert!(import.rows.newest.slots.is_mapped());
        assert_eq!((import.get(b"b"), import.get(b"d")), (Some(b"2".into()), None));
        assert_eq!(import.run().unwrap(), [row(b"a", b"1"), row(b"b", b"2"), row(b"c", b"3")]);
        assert_eq!(import.get(b"b"), Some(b"2".into()), "rows on their way are read");
    }

    #[test]
    fn a_key_that_is_written_twice_ends_its_block_or_its_run() {
        let mut import = Import::new();
        import.begin();
        import.put(b"a", b"1");
        import.put(b"b", b"1");
        import.put(b"a", b"2");
        assert!(matches!(import.end(), Err(StoreError::KeyExists { table: "written", key }) if key == "61"));
        import.rows.abandon_block();

        let mut import = Import::new();
        for value in [b"1", b"2"] {
            import.begin();
            import.put(b"a", value);
            import.end().unwrap();
        }
        assert!(matches!(import.run(), Err(StoreError::KeyExists { table: "written", key }) if key == "61"));
    }

    #[test]
    fn rows_that_grow_with_every_write_keep_no_more_than_twice_their_length_and_what_was_there_before() {
        const CURRENT: Table = Table { kind: TableKind::Current, ..TABLE };
        let mut import = Import::new();
        let value = |len: usize| vec![len as u8; len];
        let write = |import: &mut Import, key: &[u8], len: usize| {
            import.rows.write(&CURRENT, key, Some(&value(len)), &import.view).unwrap();
        };
        let get = |import: &Import, key: &[u8]| import.rows.get(&CURRENT, key, &import.view).unwrap();
        import.rows.prepare(&CURRENT, false, &import.view, 0).unwrap();
        write(&mut import, b"old", 1000);
        let mut digest = ModuleDigest::new();
        let end = &mut BlockEnd { view: &import.view, height: 1, digest: &mut digest, undo: None };
        import.rows.end_block(&CURRENT, end).unwrap();
        import.rows.prepare(&CURRENT, false, &import.view, 0).unwrap();
        let mut most = 0;
        for len in (0..200_000).step_by(100) {
            write(&mut import, b"old", len);
            write(&mut import, b"new", len);
            most = most.max(import.rows.bytes());
        }
        // The sum of all lengths is 400 MB.
        assert!(most < 4 << 20, "{most}");
        assert_eq!((get(&import, b"old"), get(&import, b"new")), (Some(value(199_900)), Some(value(199_900))));
        import.rows.abandon_block();
        assert_eq!(get(&import, b"old"), Some(value(1000)));
    }

    #[test]
    fn rows_of_an_abandoned_block_are_not_frozen_with_the_others() {
        let mut import = Import::new();
        import.begin();
        import.put(b"a", b"1");
        import.end().unwrap();
        import.begin();
        import.put(b"b", b"1");
        import.rows.abandon_block();
        import.begin();
        assert_eq!(import.get(b"b"), None);
        import.put(b"b", b"2");
        import.end().unwrap();
        assert_eq!(import.run().unwrap(), [row(b"a", b"1"), row(b"b", b"2")]);
    }
}
