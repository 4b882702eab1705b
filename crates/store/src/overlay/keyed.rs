//! Waiting rows of Current and `WriteOnce` tables.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use paraffin_primitives::Height;
use parking_lot::Mutex;

use super::held::HeldKeys;
use super::layer::{KeyMap, KeyedLayer, Places, order, scan_layers};
use super::{BlockEnd, Known, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, Space, View};
use crate::key::{self, PREFIX_LEN};
use crate::rows::TableScan;
use crate::run::{EachChange, RunPart};
use crate::{StoreError, Table, TableKind};

/// Rows by engine key.
#[derive(Default)]
pub(crate) struct KeyedRows {
    newest: Layer,
    /// Rows that the open block has written: their places, and what they were before.
    dirty: Vec<(u32, Known<Bytes>)>,
    /// What reads of a Current table found below, so that a write of the same key need not look again.
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
    /// Of their values.
    bytes: u64,
}

impl ReadRows {
    fn insert(&mut self, key: Bytes, found: Option<Bytes>) {
        let len = |found: &Option<Bytes>| found.as_ref().map_or(0, |value| value.len() as u64);
        self.bytes += len(&found);
        let replaced = self.rows.insert(key, found);
        self.bytes -= replaced.as_ref().map_or(0, len);
    }

    fn remove(&mut self, key: &Bytes) -> Known<Bytes> {
        let Some(found) = self.rows.remove(key) else { return Known::Unknown };
        self.bytes -= found.as_ref().map_or(0, |value| value.len() as u64);
        Known::of(found)
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }
}

/// Rows that go to the engine together.
#[derive(Default)]
struct Layer {
    places: Places,
    rows: Vec<KeyedRow>,
    bytes: u64,
}

struct KeyedRow {
    key: Bytes,
    now: Known<Bytes>,
    /// Whether the layers below have the row, when that is known.
    stored: Option<bool>,
    /// Written by the open block.
    dirty: bool,
    /// Changed by an ended block.
    pending: bool,
}

impl Layer {
    /// The value in this layer.
    fn get(&self, key: &[u8]) -> &Known<Bytes> {
        self.places.get(key).map_or(&Known::Unknown, |place| &self.rows[place].now)
    }
}

impl KeyedLayer for Layer {
    fn places(&self) -> &Places {
        &self.places
    }

    fn key(&self, place: u32) -> &Bytes {
        &self.rows[place as usize].key
    }
}

impl KeyedRows {
    /// The newest value.
    pub(crate) fn get(&self, table: &Table, row_key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        key::with_plain(table, row_key, |key| {
            if !self.held.may_hold(key) {
                return Ok(None);
            }
            match self.newest.get(key) {
                Known::Present(value) => return Ok(Some(value.clone())),
                Known::Absent => return Ok(None),
                Known::Unknown => {}
            }
            // A block that is never undone does not need to know what was there before it.
            if table.kind != TableKind::Current || self.held.is_known() {
                return self.get_below(table, key, view);
            }
            if let Some(found) = self.read.lock().rows.get(key) {
                return Ok(found.clone());
            }
            let found = self.get_below(table, key, view)?;
            self.read.lock().insert(Bytes::from(key), found.clone());
            Ok(found)
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
        if undoable {
            self.held.forget();
            return Ok(());
        }
        let (newest, frozen) = (&self.newest, self.frozen.as_deref());
        self.held.prepare(bytes_max, |each| {
            let layers = [Some(newest), frozen].into_iter().flatten();
            for row in layers.flat_map(|layer| &layer.rows) {
                if !each(&row.key) {
                    return Ok(());
                }
            }
            for row in TableScan::prefix(view, table, &[], Height::MAX) {
                let (row_key, _) = row?;
                if !key::with_plain(table, &row_key, |key| each(key)) {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    /// Bytes that knowing its keys takes.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// The value below the newest layer.
    fn get_below(&self, table: &Table, key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        match self.frozen.as_ref().map_or(&Known::Unknown, |frozen| frozen.get(key)) {
            Known::Present(value) => Ok(Some(value.clone())),
            Known::Absent => Ok(None),
            Known::Unknown => view.get(Space::of(table.placement), key),
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
        let now = Known::of(value.map(Bytes::from));
        self.newest.bytes += value.map_or(0, |value| value.len() as u64);
        key::with_plain(table, row_key, |key| {
            // Looking each new key up would double the cost of an import; debug builds and so the tests do.
            if cfg!(debug_assertions)
                && table.kind == TableKind::WriteOnce
                && self.newest.places.get(key).is_none()
                && self.get_below(table, key, view)?.is_some()
            {
                return Err(key_exists(table, row_key));
            }
            let key = Bytes::from(key);
            let (place, is_new) = self.newest.places.add(&key);
            if !is_new {
                let row = &mut self.newest.rows[place as usize];
                if table.kind == TableKind::WriteOnce && matches!(row.now, Known::Present(_)) {
                    return Err(key_exists(table, row_key));
                }
                let before = mem::replace(&mut row.now, now);
                if !row.dirty {
                    row.dirty = true;
                    self.dirty.push((place, before));
                }
                return Ok(());
            }
            let may_be_held = self.held.insert(&key);
            let (before, stored) = if table.kind == TableKind::WriteOnce || !may_be_held {
                (Known::Absent, Some(false))
            } else {
                match self.read.get_mut().remove(&key) {
                    Known::Unknown => (Known::Unknown, None),
                    found => {
                        let stored = Some(found != Known::Absent);
                        (found, stored)
                    }
                }
            };
            let layer = &mut self.newest;
            layer.bytes += key.len() as u64 + ROW_OVERHEAD;
            layer.rows.push(KeyedRow { key, now, stored, dirty: true, pending: false });
            self.dirty.push((place, before));
            Ok(())
        })
    }

    /// Waiting rows with `from <= engine key < until`, ascending: the key, and the value or `None` when it is removed.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&Bytes, Option<&Bytes>) -> bool) {
        let frozen = self.frozen.as_deref();
        scan_layers(&self.newest, frozen, from, until, |key, (upper, lower)| {
            let mut known = upper.map_or(&Known::Unknown, |place| &self.newest.rows[place].now);
            if *known == Known::Unknown
                && let (Some(layer), Some(place)) = (frozen, lower)
            {
                known = &layer.rows[place].now;
            }
            match known {
                Known::Unknown => true,
                Known::Absent => visit(key, None),
                Known::Present(value) => visit(key, Some(value)),
            }
        });
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) -> Result<(), StoreError> {
        let mut dirty = mem::take(&mut self.dirty);
        // What was there before must be known ahead of any change, so that a failed read leaves the block as it was.
        if end.undo.is_some() && table.kind == TableKind::Current {
            for (place, before) in dirty.iter_mut().filter(|(_, before)| *before == Known::Unknown) {
                let row = &self.newest.rows[*place as usize];
                match self.get_below(table, &row.key, end.view) {
                    Ok(found) => {
                        self.newest.rows[*place as usize].stored = Some(found.is_some());
                        *before = Known::of(found);
                    }
                    Err(error) => {
                        self.dirty = dirty;
                        return Err(error);
                    }
                }
            }
        }
        let written = dirty.iter().map(|(place, _)| *place);
        for index in order(written, |place| &self.newest.rows[place as usize].key) {
            let (place, before) = mem::take(&mut dirty[index as usize]);
            let row = &mut self.newest.rows[place as usize];
            let now = match &row.now {
                Known::Present(value) => Some(&value[..]),
                Known::Absent | Known::Unknown => None,
            };
            end.digest.row(table.id, &row.key[PREFIX_LEN..], now);
            if before != row.now {
                row.pending = true;
                if let Some(undo) = &mut end.undo {
                    match (table.kind, &before) {
                        (TableKind::Current, Known::Present(before)) => {
                            undo.changed(&row.key[PREFIX_LEN..], Some(before));
                        }
                        (TableKind::Current, _) => undo.changed(&row.key[PREFIX_LEN..], None),
                        _ => undo.added(&row.key[PREFIX_LEN..]),
                    }
                }
            }
            row.dirty = false;
        }
        dirty.clear();
        self.dirty = dirty;
        Ok(())
    }

    pub(super) fn abandon_block(&mut self) {
        for (place, before) in self.dirty.drain(..) {
            let row = &mut self.newest.rows[place as usize];
            row.now = before;
            row.dirty = false;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        let layer = mem::take(&mut self.newest);
        for row in layer.rows {
            match row.change() {
                Change::Nothing => {}
                Change::Set(value) => batch.insert(space, row.key.clone(), value.clone()),
                Change::Remove => batch.remove(space, row.key.clone()),
            }
        }
        self.read.get_mut().clear();
    }

    /// The rows of ended blocks leave for the engine and stay readable until [`Self::thaw`].
    pub(super) fn freeze(&mut self) -> Option<Box<dyn RunPart>> {
        self.read.get_mut().clear();
        if self.newest.rows.is_empty() {
            return None;
        }
        // The next run will have about as many rows.
        let next = Layer {
            places: Places::with_room_of(&self.newest.places),
            rows: Vec::with_capacity(self.newest.rows.len()),
            bytes: 0,
        };
        let layer = Arc::new(mem::replace(&mut self.newest, next));
        self.frozen = Some(Arc::clone(&layer));
        Some(Box::new(KeyedPart { layer, order: Vec::new() }))
    }

    /// The view has the rows that left. Answers what is to be dropped.
    pub(super) fn thaw(&mut self) -> Option<Box<dyn Any + Send>> {
        self.frozen.take().map(|layer| -> Box<dyn Any + Send> { Box::new(layer) })
    }

    pub(super) fn bytes(&self) -> u64 {
        // A row that was only read takes about as much as one that waits.
        let read = self.read.lock();
        self.newest.bytes + read.rows.len() as u64 * ROW_OVERHEAD + read.bytes
    }
}

/// What the engine has to be told of a row.
enum Change<'a> {
    Nothing,
    Set(&'a Bytes),
    Remove,
}

impl KeyedRow {
    fn change(&self) -> Change<'_> {
        match &self.now {
            _ if !self.pending => Change::Nothing,
            Known::Present(value) => Change::Set(value),
            // A row that came and went between two commits never reaches the engine.
            Known::Absent | Known::Unknown if self.stored == Some(false) => Change::Nothing,
            Known::Absent | Known::Unknown => Change::Remove,
        }
    }
}

/// The rows of a layer in order.
struct KeyedPart {
    layer: Arc<Layer>,
    order: Vec<u32>,
}

impl RunPart for KeyedPart {
    fn sort(&mut self) {
        let rows = &self.layer.rows;
        self.order = order(0..rows.len() as u32, |place| &rows[place as usize].key);
    }

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        for place in &self.order {
            let row = &self.layer.rows[*place as usize];
            match row.change() {
                Change::Nothing => {}
                Change::Set(value) => each(&row.key, Some(value))?,
                Change::Remove => each(&row.key, None)?,
            }
        }
        Ok(())
    }
}

fn key_exists(table: &Table, key: &[u8]) -> StoreError {
    let key = key.iter().take(32).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    StoreError::KeyExists { table: table.name, key }
}
