//! Rows of the appended table after a stop: a run appends them before it is decided, so there may be more of them than its length
//! says, but never fewer.

use std::sync::Arc;

use crate::engine::{Bytes, Engine, Space, View};
use crate::key::{self, PREFIX_LEN};
use crate::record::{decode_number, meta_key};
use crate::snapshot::module_state;
use crate::{ModuleId, ModuleSchema, Placement, StoreError};

/// Rows that one commit removes at most.
const REMOVED_ROWS_MAX: usize = 10_000;

/// Removes the rows that no commit counts.
///
/// # Errors
/// The table lacks rows that a commit counts, a key cannot be read, or the disk failed.
pub(crate) fn remove_uncounted_rows(engine: &Arc<Engine>, modules: &[ModuleSchema]) -> Result<(), StoreError> {
    let view = engine.view();
    check_length(&view, modules)?;
    // From the last table on, if there are several: a table without a length, of which no row counts, may be one.
    let mut until = vec![u8::MAX];
    while let Some((last, _)) = view.range(Space::Appended, &[], &until).next_back().transpose()? {
        let table = last.first_chunk::<PREFIX_LEN>().filter(|_| last.len() == PREFIX_LEN + 4);
        let table =
            *table.ok_or_else(|| StoreError::Corrupt("the key of an appended row has a wrong length".to_owned()))?;
        let [module, id] = table;
        let len = length(&view, module, id)?;
        let from = [&table[..], &len.to_be_bytes()].concat();
        let mut rows = view.range(Space::Appended, &from, &key::after_prefix(&table));
        loop {
            let keys: Vec<Bytes> =
                rows.by_ref().take(REMOVED_ROWS_MAX).map(|row| row.map(|(key, _)| key)).collect::<Result<_, _>>()?;
            if keys.is_empty() {
                break;
            }
            tracing::info!(module, table = id, rows = keys.len(), "removing rows of a commit that was broken off");
            let mut batch = engine.batch();
            for key in keys {
                batch.remove(Space::Appended, key);
            }
            engine.commit(batch, false)?;
        }
        until = table.to_vec();
    }
    Ok(())
}

/// Rows of a table that a commit counts.
fn length(view: &View, module: u8, table: u8) -> Result<u32, StoreError> {
    let found = view.get(Space::Meta, &meta_key::sequence_of(ModuleId(module), table))?;
    found.map_or(Ok(0), |len| decode_number(&len, "the length of a sequence"))
}

/// Error when the newest row that counts is missing.
fn check_length(view: &View, modules: &[ModuleSchema]) -> Result<(), StoreError> {
    let mut tables = modules.iter().flat_map(|module| module.tables);
    let Some(table) = tables.find(|table| table.placement == Placement::Appended) else { return Ok(()) };
    let Some(newest) = length(view, table.module.0, table.id)?.checked_sub(1) else { return Ok(()) };
    // When tables are being emptied, rows go before their length.
    if module_state(view, table.module)?.is_some_and(|state| state.clearing) {
        return Ok(());
    }
    match key::with_plain(table, &newest.to_be_bytes(), |key| view.get(Space::Appended, key))? {
        Some(_) => Ok(()),
        None => Err(StoreError::Corrupt(format!("table `{}` lacks row {newest}, its newest", table.name))),
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::BlockHash;
    use bitcoin::hashes::Hash as _;
    use paraffin_primitives::{BlockId, Height, Network};

    use super::*;
    use crate::{MemorySplit, Store, StoreOptions, Table, TableKind};

    const fn list(id: u8) -> Table {
        Table { module: ModuleId(4), id, name: "list", kind: TableKind::Sequence, placement: Placement::Appended }
    }

    const LIST: Table = list(2);
    const MODULE: ModuleSchema =
        ModuleSchema { id: ModuleId(4), name: "four", version: 1, tables: &[LIST], reads: &[] };

    fn open(folder: &std::path::Path) -> Result<Store, StoreError> {
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: MemorySplit::FLOOR };
        Store::open(folder, &options, &[MODULE])
    }

    fn id(height: Height) -> BlockId {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&height.to_be_bytes());
        BlockId { height, hash: BlockHash::from_byte_array(hash) }
    }

    fn index(store: &Store, height: Height) {
        let mut writer = store.writer().unwrap();
        let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), |below| id(below).hash);
        writer.begin_block(id(height), previous, 0).unwrap();
        let mut rows = writer.module(MODULE.id).unwrap();
        rows.append(&LIST, &height.to_be_bytes()).unwrap();
        writer.end_block().unwrap();
        writer.commit(true).unwrap();
    }

    fn change(store: &Store, table: &Table, numbers: std::ops::Range<u32>, value: Option<&[u8]>) {
        let writer = store.writer().unwrap();
        let mut batch = writer.inner.engine.batch();
        for number in numbers {
            let key = key::plain(table, &number.to_be_bytes());
            match value {
                Some(value) => batch.insert(Space::Appended, key, value),
                None => batch.remove(Space::Appended, key),
            }
        }
        writer.inner.engine.commit(batch, true).unwrap();
    }

    #[test]
    fn rows_of_a_commit_that_was_broken_off_are_gone_after_the_next_start_and_are_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        for height in 0..3 {
            index(&store, height);
        }
        let content = store.snapshot().content_digest().unwrap();
        // Tables that the store knows no length of, on both sides.
        change(&store, &list(1), 0..2, Some(b"first"));
        change(&store, &LIST, 3..REMOVED_ROWS_MAX as u32 * 2, Some(b"of another block"));
        change(&store, &list(9), 0..1, Some(b"last"));
        drop(store);
        let store = open(folder.path()).unwrap();
        assert_eq!(store.snapshot().content_digest().unwrap(), content);
        index(&store, 3);
        let row = store.snapshot().get(&LIST, &3_u32.to_be_bytes()).unwrap();
        assert_eq!(row.as_deref(), Some(&3_u32.to_be_bytes()[..]));
        assert_eq!(store.snapshot().sequence_len(&LIST).unwrap(), 4);
        assert_eq!(store.snapshot().get(&LIST, &4_u32.to_be_bytes()).unwrap(), None);
    }

    #[test]
    fn a_table_without_its_newest_row_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        index(&store, 0);
        index(&store, 1);
        change(&store, &LIST, 1..2, None);
        drop(store);
        let Err(error) = open(folder.path()) else { panic!("opened") };
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
        assert!(error.to_string().contains("table `list` lacks row 1, its newest"), "{error}");
    }
}
