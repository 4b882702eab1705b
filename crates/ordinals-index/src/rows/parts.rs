//! Rows without a bound of their own, cut into parts: the chain decides how much one output holds, and the store takes no value
//! above 64 MiB.
//!
//! ```text
//! key              the row itself, or ff × 10 | number of parts (4)
//! key | index (4)  a part
//! ```
//!
//! No row that is not cut begins with ten bytes `ff`: its first number is a varint of at most nine bytes.

use paraffin_store::{ModuleWriter, StoreError, Table};

use crate::error::ReadError;

/// Longest row that is not cut, and longest part, bytes.
pub(crate) const PART_BYTES_MAX: usize = 1 << 20;

const MARK: [u8; 10] = [0xff; 10];

/// A row put together, and its number of parts; 0 when it is not cut.
pub(crate) struct WholeRow {
    pub(crate) bytes: Vec<u8>,
    pub(crate) parts: u32,
}

fn part_count(row: &[u8]) -> Option<u32> {
    let count = row.strip_prefix(&MARK)?;
    count.try_into().ok().map(u32::from_be_bytes)
}

fn part_key(key: &[u8], index: u32) -> Vec<u8> {
    [key, &index.to_be_bytes()].concat()
}

/// Reads a row with `get`, all parts of it.
pub(crate) fn get_whole(
    table: &'static Table,
    key: &[u8],
    get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Option<WholeRow>, ReadError> {
    let Some(row) = get(key)? else { return Ok(None) };
    let Some(parts) = part_count(&row) else { return Ok(Some(WholeRow { bytes: row, parts: 0 })) };
    let mut bytes = Vec::new();
    for index in 0..parts {
        bytes.append(&mut get(&part_key(key, index))?.ok_or_else(|| ReadError::missing(table))?);
    }
    Ok(Some(WholeRow { bytes, parts }))
}

/// Writes a row that is not there, in parts where it is longer than `part_bytes_max`.
pub(crate) fn put_whole(
    rows: &mut ModuleWriter<'_>,
    table: &Table,
    key: &[u8],
    bytes: &[u8],
    part_bytes_max: usize,
) -> Result<(), StoreError> {
    if bytes.len() <= part_bytes_max {
        rows.put(table, key, bytes)
    } else {
        put_parts(rows, table, key, 0, bytes, part_bytes_max)
    }
}

/// Writes the parts from index `first` on, and how many there are now.
fn put_parts(
    rows: &mut ModuleWriter<'_>,
    table: &Table,
    key: &[u8],
    first: u32,
    bytes: &[u8],
    part_bytes_max: usize,
) -> Result<(), StoreError> {
    let mut count = first;
    for part in bytes.chunks(part_bytes_max) {
        rows.put(table, &part_key(key, count), part)?;
        count += 1;
    }
    rows.put(table, key, &[&MARK[..], &count.to_be_bytes()].concat())
}

/// Removes a row with this number of parts.
pub(crate) fn delete_whole(
    rows: &mut ModuleWriter<'_>,
    table: &Table,
    key: &[u8],
    parts: u32,
) -> Result<(), StoreError> {
    for index in 0..parts {
        rows.delete(table, &part_key(key, index))?;
    }
    rows.delete(table, key)
}

/// Adds bytes to the end of a row. Of a row in parts only the last part is read and written.
pub(crate) fn append(
    rows: &mut ModuleWriter<'_>,
    table: &'static Table,
    key: &[u8],
    bytes: &[u8],
    part_bytes_max: usize,
) -> Result<(), ReadError> {
    let mut row = rows.get(table, key)?.unwrap_or_default();
    if let Some(last) = part_count(&row).and_then(|count| count.checked_sub(1)) {
        let mut part = rows.get(table, &part_key(key, last))?.ok_or_else(|| ReadError::missing(table))?;
        part.extend_from_slice(bytes);
        return Ok(put_parts(rows, table, key, last, &part, part_bytes_max)?);
    }
    row.extend_from_slice(bytes);
    Ok(put_whole(rows, table, key, &row, part_bytes_max)?)
}

#[cfg(test)]
mod tests {
    use bitcoin::BlockHash;
    use bitcoin::hashes::Hash as _;
    use paraffin_primitives::{BlockId, Network};
    use paraffin_store::{ModuleSchema, Store, StoreOptions};
    use proptest::prelude::*;

    use super::*;
    use crate::tables::{MODULE, RANGES, TABLES};

    const SCHEMA: ModuleSchema = ModuleSchema { id: MODULE, name: "ordinals", version: 1, tables: TABLES, reads: &[] };
    const KEY: &[u8] = &[7; 36];

    fn with_rows<T>(body: impl FnOnce(&mut ModuleWriter<'_>) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let mut writer = store.writer().unwrap();
        let id = BlockId { height: 0, hash: BlockHash::all_zeros() };
        writer.begin_block(id, BlockHash::all_zeros(), 0).unwrap();
        body(&mut writer.module(MODULE).unwrap())
    }

    fn read(rows: &ModuleWriter<'_>) -> Option<WholeRow> {
        get_whole(&RANGES, KEY, |key| rows.get(&RANGES, key)).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_row_reads_as_it_was_written_however_it_is_cut(
            pieces in proptest::collection::vec(proptest::collection::vec(0u8..0x80, 1..40), 1..12), part_bytes_max in 1usize..64,
        ) {
            with_rows(|rows| {
                let mut expected = Vec::new();
                for piece in &pieces {
                    append(rows, &RANGES, KEY, piece, part_bytes_max).unwrap();
                    expected.extend_from_slice(piece);
                    let whole = read(rows).unwrap();
                    assert_eq!(whole.bytes, expected);
                    let parts = expected.len().div_ceil(part_bytes_max);
                    assert_eq!(whole.parts as usize, if parts == 1 { 0 } else { parts });
                }
                let parts = read(rows).unwrap().parts;
                delete_whole(rows, &RANGES, KEY, parts).unwrap();
                assert!(rows.prefix(&RANGES, KEY, 1).unwrap().is_empty(), "a part was left");
            });
        }
    }

    /// The longest value that the store takes has 64 MiB.
    #[test]
    fn a_row_longer_than_the_store_takes_is_written_and_its_end_is_all_that_changes() {
        with_rows(|rows| {
            let row = vec![1; paraffin_store::VALUE_LEN_MAX + 1];
            assert!(matches!(rows.put(&RANGES, KEY, &row), Err(StoreError::TooLong { .. })));
            put_whole(rows, &RANGES, KEY, &row, PART_BYTES_MAX).unwrap();
            append(rows, &RANGES, KEY, &[2; 10], PART_BYTES_MAX).unwrap();
            let whole = read(rows).unwrap();
            assert_eq!((whole.bytes.len(), whole.parts), (row.len() + 10, 65));
            assert_eq!(rows.get(&RANGES, &part_key(KEY, 64)).unwrap().unwrap().len(), 11);
        });
    }
}
