//! Waiting rows of Versioned tables.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use paraffin_primitives::Height;
use parking_lot::Mutex;

use super::{BlockEnd, ROW_OVERHEAD};
use crate::engine::{Batch, Bytes, Space, View};
use crate::{StoreError, Table, key};

/// First byte of a stored value of a Versioned table.
pub(crate) const REMOVED: u8 = 0;
/// First byte of a stored value of a Versioned table; the value follows.
pub(crate) const PRESENT: u8 = 1;

/// Versions by stem (engine key without height).
#[derive(Default)]
pub(crate) struct VersionedRows {
    places: HashMap<Bytes, u32>,
    rows: Vec<VersionedRow>,
    /// Places of the rows that the open block has written.
    dirty: Vec<u32>,
    /// Made by the first scan of the table, kept up from then on until the commit.
    ordered: Mutex<Option<BTreeMap<Bytes, u32>>>,
    bytes: u64,
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

/// The value in a stored version; `None` when the row was removed.
pub(crate) fn stored_value(stored: &[u8]) -> Result<Option<&[u8]>, StoreError> {
    match stored.split_first() {
        Some((&PRESENT, value)) => Ok(Some(value)),
        Some((&REMOVED, [])) => Ok(None),
        _ => Err(StoreError::Corrupt("a row of a Versioned table has no valid tag".to_owned())),
    }
}

/// The version of `stem` as of `height` in a view, in one seek.
pub(crate) fn version_in_view(
    view: &View,
    table: &Table,
    stem: &[u8],
    height: Height,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found = view.first(Space::of(table.placement), &key::at_height(stem, height), &key::after_prefix(stem))?;
    match found {
        None => Ok(None),
        Some((_, stored)) => Ok(stored_value(&stored)?.map(<[u8]>::to_vec)),
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
            let waiting = self.places.get(stem).and_then(|&place| self.rows[place as usize].at(height, open_height));
            match waiting {
                Some(stored) => Ok(stored_value(stored)?.map(<[u8]>::to_vec)),
                None => version_in_view(view, table, stem, height),
            }
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
        self.bytes += stored.len() as u64;
        key::with_stem(table, row_key, |stem| {
            let place = if let Some(&place) = self.places.get(stem) {
                place
            } else {
                let place = self.rows.len() as u32;
                let stem = Bytes::from(stem);
                self.bytes += stem.len() as u64 + ROW_OVERHEAD;
                if let Some(ordered) = self.ordered.get_mut() {
                    ordered.insert(stem.clone(), place);
                }
                self.places.insert(stem.clone(), place);
                self.rows.push(VersionedRow { stem, ended: Vec::new(), open: None });
                place
            };
            if self.rows[place as usize].open.replace(stored).is_none() {
                self.dirty.push(place);
            }
        });
    }

    /// Newest waiting version of each stem with `from <= stem < until`, ascending, as stored.
    pub(crate) fn scan(&self, from: &[u8], until: &[u8], mut visit: impl FnMut(&Bytes, &Bytes) -> bool) {
        let mut ordered = self.ordered.lock();
        let ordered = ordered
            .get_or_insert_with(|| self.rows.iter().zip(0..).map(|(row, place)| (row.stem.clone(), place)).collect());
        for (stem, &place) in
            ordered.range::<[u8], _>((std::ops::Bound::Included(from), std::ops::Bound::Excluded(until)))
        {
            let Some(stored) = self.rows[place as usize].at(Height::MAX, 0) else { continue };
            if !visit(stem, stored) {
                return;
            }
        }
    }

    pub(super) fn end_block(&mut self, table: &Table, end: &mut BlockEnd<'_>) {
        let mut dirty = mem::take(&mut self.dirty);
        dirty.sort_unstable_by(|a, b| self.rows[*a as usize].stem.cmp(&self.rows[*b as usize].stem));
        for place in dirty.drain(..) {
            let row = &mut self.rows[place as usize];
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
        for place in self.dirty.drain(..) {
            self.rows[place as usize].open = None;
        }
    }

    pub(super) fn drain_into(&mut self, table: &Table, batch: &mut Batch<'_>) {
        let space = Space::of(table.placement);
        for row in self.rows.drain(..) {
            for (height, stored) in row.ended {
                batch.insert(space, key::at_height(&row.stem, height), stored);
            }
        }
        *self = Self::default();
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
