//! Rows of Versioned tables as the engine holds them.
//!
//! Every version is a row under its stem and height. The newest one, unless the row is removed, is repeated under
//! [`key::newest`], after its height: most reads ask for the newest, and a point read finds it by the filters of the table
//! files, where a seek would have to look into each of them. Of a long one only the height is there, so that a block of long
//! rows takes no more memory and disk for it.

use paraffin_primitives::Height;

use crate::engine::{Bytes, Space, View};
use crate::{StoreError, Table, key};

/// First byte of a stored value of a Versioned table.
pub(crate) const REMOVED: u8 = 0;
/// First byte of a stored value of a Versioned table; the value follows.
pub(crate) const PRESENT: u8 = 1;

/// The value in a stored version; `None` when the row was removed.
pub(crate) fn stored_value(stored: &[u8]) -> Result<Option<&[u8]>, StoreError> {
    match stored.split_first() {
        Some((&PRESENT, value)) => Ok(Some(value)),
        Some((&REMOVED, [])) => Ok(None),
        _ => Err(StoreError::Corrupt("a row of a Versioned table has no valid tag".to_owned())),
    }
}

/// Bytes of a stored version up to which it is repeated as the newest one.
const REPEATED_LEN_MAX: usize = 256;

/// A row of a Versioned table as the engine holds it.
pub(crate) struct Version<'a> {
    pub(crate) stem: &'a [u8],
    /// Block that wrote it.
    pub(crate) height: Height,
    /// `None` in the row of a newest version that is too long to be repeated: it is stored under its height alone.
    pub(crate) stored: Option<&'a [u8]>,
}

impl<'a> Version<'a> {
    pub(crate) fn read(engine_key: &'a [u8], value: &'a [u8]) -> Result<Self, StoreError> {
        let damaged = |what| StoreError::Corrupt(format!("a {what} of a Versioned table cannot be read"));
        let (stem, height) = key::split_height(engine_key).ok_or_else(|| damaged("key"))?;
        if height < Height::MAX {
            return Ok(Self { stem, height, stored: Some(value) });
        }
        let (height, stored) = value.split_first_chunk().ok_or_else(|| damaged("newest version"))?;
        Ok(Self { stem, height: Height::from_be_bytes(*height), stored: (!stored.is_empty()).then_some(stored) })
    }

    /// The row that repeats a newest version: its key, and its value unless the version removes.
    pub(crate) fn newest(stem: &[u8], height: Height, stored: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut value = Vec::with_capacity(size_of::<Height>() + stored.len().min(REPEATED_LEN_MAX));
        let is_there = Self::write_newest(&mut value, height, stored);
        (key::newest(stem), is_there.then_some(value))
    }

    /// Makes `out` the value of the row that repeats a newest version; returns whether there is one, as there is unless the version removes.
    pub(crate) fn write_newest(out: &mut Vec<u8>, height: Height, stored: &[u8]) -> bool {
        out.clear();
        out.extend_from_slice(&height.to_be_bytes());
        if stored.len() <= REPEATED_LEN_MAX {
            out.extend_from_slice(stored);
        }
        stored != [REMOVED]
    }
}

/// The version of `stem` as of `height` in a view, `None` for a removed or absent one: a point read for the newest, and a seek
/// for earlier ones.
pub(crate) fn version_in_view<R>(
    view: &View,
    table: &Table,
    stem: &[u8],
    height: Height,
    read: impl Fn(Height, &[u8]) -> R,
) -> Result<Option<R>, StoreError> {
    let space = Space::of(table.placement);
    let value_of = |written, stored: &[u8]| Ok(stored_value(stored)?.map(|value| read(written, value)));
    let newest = key::newest(stem);
    if let Some(row) = view.get(space, &newest)? {
        let version = Version::read(&newest, &row)?;
        if version.height <= height {
            return match version.stored {
                Some(stored) => value_of(version.height, stored),
                None => value_of(version.height, &long_version(view, space, stem, version.height)?),
            };
        }
    }
    if height == Height::MAX {
        return Ok(None);
    }
    match view.first(space, &key::at_height(stem, height), &key::after_prefix(stem))? {
        None => Ok(None),
        Some((engine_key, row)) => value_of(Version::read(&engine_key, &row)?.height, &row),
    }
}

/// The newest version of `stem` as it is stored under its height.
pub(crate) fn long_version(view: &View, space: Space, stem: &[u8], height: Height) -> Result<Bytes, StoreError> {
    let lost = || StoreError::Corrupt(format!("a version of a Versioned table, written at {height}, is missing"));
    view.get(space, &key::at_height(stem, height))?.ok_or_else(lost)
}

/// The row to write when the version of `stem` at `height` is undone: the newest version before it.
pub(crate) fn newest_before(
    view: &View,
    space: Space,
    stem: &[u8],
    height: Height,
) -> Result<(Vec<u8>, Option<Vec<u8>>), StoreError> {
    let Some(before) = height.checked_sub(1) else { return Ok((key::newest(stem), None)) };
    match view.first(space, &key::at_height(stem, before), &key::after_prefix(stem))? {
        None => Ok((key::newest(stem), None)),
        Some((engine_key, row)) => Ok(Version::newest(stem, Version::read(&engine_key, &row)?.height, &row)),
    }
}
