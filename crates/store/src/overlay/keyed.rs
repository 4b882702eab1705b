//! Waiting rows of Current and `WriteOnce` tables.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use parking_lot::Mutex;

use super::{BlockEnd, Known, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, Space, View};
use crate::key::{self, PREFIX_LEN};
use crate::{StoreError, Table, TableKind};

/// Rows by engine key.
#[derive(Default)]
pub(crate) struct KeyedRows {
    places: HashMap<Bytes, u32>,
    rows: Vec<KeyedRow>,
    /// Places of the rows that the open block has written.
    dirty: Vec<u32>,
    /// Made by the first scan of the table, kept up from then on until the commit.
    ordered: Mutex<Option<BTreeMap<Bytes, u32>>>,
    /// What reads of a Current table found in the view, so that a write of the same key need not look again.
    read: Mutex<HashMap<Bytes, Option<Bytes>>>,
    bytes: u64,
}

struct KeyedRow {
    key: Bytes,
    now: Known<Bytes>,
    /// Value before the open block; meaningful while `dirty`.
    before: Known<Bytes>,
    /// Whether the committed view has the row, when that is known.
    stored: Option<bool>,
    /// Written by the open block.
    dirty: bool,
    /// Changed by an ended block that is not committed yet.
    pending: bool,
}

impl KeyedRows {
    /// The newest value.
    pub(crate) fn get(&self, table: &Table, row_key: &[u8], view: &View) -> Result<Option<Bytes>, StoreError> {
        key::with_plain(table, row_key, |key| {
            if let Some(&place) = self.places.get(key) {
                match &self.rows[place as usize].now {
                    Known::Present(value) => return Ok(Some(value.clone())),
                    Known::Absent => return Ok(None),
                    Known::Unknown => {}
                }
            }
            let space = Space::of(table.placement);
            if table.kind != TableKind::Current {
                return view.get(space, key);
            }
            if let Some(found) = self.read.lock().get(key) {
                return Ok(found.clone());
            }
            let found = view.get(space, key)?;
            self.read.lock().insert(Bytes::from(key), found.clone());
            Ok(found)
        })
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
        self.bytes += value.map_or(0, |value| value.len() as u64);
        key::with_plain(table, row_key, |key| {
            if let Some(&place) = self.places.get(key) {
                let row = &mut self.rows[place as usize];
                if table.kind == TableKind::WriteOnce && matches!(row.now, Known::Present(_)) {
                    return Err(key_exists(table, row_key));
                }
                if row.dirty {
                    row.now = now;
                } else {
                    row.before = mem::replace(&mut row.now, now);
                    row.dirty = true;
                    self.dirty.push(place);
                }
                return Ok(());
            }
            let (before, stored) = if table.kind == TableKind::WriteOnce {
                // Looking each new key up would double the cost of an import; debug builds and so the tests do.
                if cfg!(debug_assertions) && view.get(Space::of(table.placement), key)?.is_some() {
                    return Err(key_exists(table, row_key));
                }
                (Known::Absent, Some(false))
            } else {
                match self.read.get_mut().remove(key) {
                    Some(found) => {
                        let stored = Some(found.is_some());
                        (Known::of(found), stored)
                    }
                    None => (Known::Unknown, None),
                }
            };
            self.add(KeyedRow { key: Bytes::from(key), now, before, stored, dirty: true, pending: false });
            Ok(())
        })
    }

    fn add(&mut self, row: KeyedRow) {
        let place = self.rows.len() as u32;
        self.bytes += row.key.len() as u64 + ROW_OVERHEAD;
        if let Some(ordered) = self.ordered.get_mut() {
            ordered.insert(row.key.clone(), place);
        }
        self.places.insert(row.key.clone(), place);
        self.dirty.push(place);
        self.rows.push(row);
    }

    /// Waiting rows with `from <= engine key < until`, ascending: the key, and the value or `None` when it is removed.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&Bytes, Option<&Bytes>) -> bool) {
        let mut ordered = self.ordered.lock();
        let ordered = ordered
            .get_or_insert_with(|| self.rows.iter().zip(0..).map(|(row, place)| (row.key.clone(), place)).collect());
        for (key, &place) in
            ordered.range::<[u8], _>((std::ops::Bound::Included(from), std::ops::Bound::Excluded(until)))
        {
            let value = match &self.rows[place as usize].now {
                Known::Unknown => continue,
                Known::Absent => None,
                Known::Present(value) => Some(value),
            };
            if !visit(key, value) {
                return;
            }
        }
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) -> Result<(), StoreError> {
        let mut dirty = mem::take(&mut self.dirty);
        dirty.sort_unstable_by(|a, b| self.rows[*a as usize].key.cmp(&self.rows[*b as usize].key));
        // What `before` is must be known ahead of any change, so that a failed read leaves the block as it was.
        if end.undo.is_some() && table.kind == TableKind::Current {
            for &place in &dirty {
                let row = &mut self.rows[place as usize];
                if row.before == Known::Unknown {
                    match end.view.get(Space::of(table.placement), &row.key) {
                        Ok(found) => {
                            row.stored = Some(found.is_some());
                            row.before = Known::of(found);
                        }
                        Err(error) => {
                            self.dirty = dirty;
                            return Err(error);
                        }
                    }
                }
            }
        }
        for &place in &dirty {
            let row = &mut self.rows[place as usize];
            let now = match &row.now {
                Known::Present(value) => Some(&value[..]),
                Known::Absent | Known::Unknown => None,
            };
            end.digest.row(table.id, &row.key[PREFIX_LEN..], now);
            if row.before != row.now {
                row.pending = true;
                if let Some(undo) = &mut end.undo {
                    match (table.kind, &row.before) {
                        (TableKind::Current, Known::Present(before)) => {
                            undo.changed(&row.key[PREFIX_LEN..], Some(before));
                        }
                        (TableKind::Current, _) => undo.changed(&row.key[PREFIX_LEN..], None),
                        _ => undo.added(&row.key[PREFIX_LEN..]),
                    }
                }
            }
            row.dirty = false;
            row.before = Known::Unknown;
        }
        dirty.clear();
        self.dirty = dirty;
        Ok(())
    }

    pub(super) fn abandon_block(&mut self) {
        for place in self.dirty.drain(..) {
            let row = &mut self.rows[place as usize];
            row.now = mem::take(&mut row.before);
            row.dirty = false;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        for row in self.rows.drain(..).filter(|row| row.pending) {
            match row.now {
                Known::Present(value) => batch.insert(space, row.key, value),
                // A row that came and went between two commits never reaches the engine.
                Known::Absent | Known::Unknown if row.stored == Some(false) => {}
                Known::Absent | Known::Unknown => batch.remove(space, row.key),
            }
        }
        *self = Self::default();
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn key_exists(table: &Table, key: &[u8]) -> StoreError {
    let key = key.iter().take(32).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    StoreError::KeyExists { table: table.name, key }
}
