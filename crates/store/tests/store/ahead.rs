//! Rows that are read before the block that looks for them.

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::{
    KeysAhead, ModuleId, ModuleSchema, Placement, ReadAhead, Store, StoreError, Table, TableKind, Writer,
};

use crate::model::options;

const fn table(id: u8, name: &'static str, kind: TableKind) -> Table {
    Table { module: ModuleId(3), id, name, kind, placement: Placement::Hashed }
}

const CURRENT: Table = table(0, "current", TableKind::Current);
const ONCE: Table = table(1, "once", TableKind::WriteOnce);
const VERSIONED: Table = table(2, "versioned", TableKind::Versioned);
const LIST: Table = table(3, "list", TableKind::Sequence);
const TABLES: [Table; 3] = [CURRENT, ONCE, VERSIONED];

const SCHEMA: ModuleSchema =
    ModuleSchema { id: ModuleId(3), name: "rows", version: 1, tables: &[CURRENT, ONCE, VERSIONED, LIST], reads: &[] };

fn id(height: Height) -> BlockId {
    let mut hash = [0xab; 32];
    hash[..4].copy_from_slice(&height.to_be_bytes());
    BlockId { height, hash: BlockHash::from_byte_array(hash) }
}

fn begin(writer: &mut Writer, height: Height) {
    let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), |below| id(below).hash);
    writer.begin_block(id(height), previous, height).unwrap();
}

/// Writes `value` under these keys into all tables that take keys, of `WriteOnce` where the key is new.
fn put(writer: &mut Writer, keys: &[&[u8]], value: u8) {
    let mut rows = writer.module(SCHEMA.id).unwrap();
    for key in keys {
        for table in TABLES {
            if table.kind != TableKind::WriteOnce || rows.get(&table, key).unwrap().is_none() {
                rows.put(&table, key, &[value]).unwrap();
            }
        }
    }
}

/// What a module finds under a key, and the engine's point reads for it.
fn get(store: &Store, writer: &mut Writer, key: &[u8]) -> ([Option<u8>; 3], u64) {
    let rows = writer.module(SCHEMA.id).unwrap();
    let before = store.reads().gets;
    let found = TABLES.map(|table| rows.get(&table, key).unwrap().map(|value| value[0]));
    (found, store.reads().gets - before)
}

fn ahead(writer: &Writer, keys: &[&[u8]]) -> ReadAhead {
    writer
        .read_ahead(|ahead| keys.iter().try_for_each(|key| TABLES.iter().try_for_each(|table| ahead.add(table, key))))
        .unwrap()
}

/// A store with two keys after its first block, and its writer in the second.
fn with_two_keys(folder: &std::path::Path) -> (Store, Writer) {
    let store = Store::open(folder, &options(None), &[SCHEMA]).unwrap();
    let mut writer = store.writer().unwrap();
    begin(&mut writer, 0);
    put(&mut writer, &[b"a", b"b"], 1);
    writer.end_block().unwrap();
    writer.commit(true).unwrap();
    begin(&mut writer, 1);
    (store, writer)
}

/// A store with 24 rows of a mebibyte after its first block, and its writer in the second.
fn with_24_mebibytes(folder: &std::path::Path) -> (Store, Writer) {
    let store = Store::open(folder, &options(None), &[SCHEMA]).unwrap();
    let mut writer = store.writer().unwrap();
    begin(&mut writer, 0);
    let value = vec![7; 1 << 20];
    let mut rows = writer.module(SCHEMA.id).unwrap();
    for number in 0..24_u8 {
        rows.put(&CURRENT, &[number], &value).unwrap();
    }
    writer.end_block().unwrap();
    writer.commit(true).unwrap();
    begin(&mut writer, 1);
    (store, writer)
}

#[test]
fn rows_that_were_read_ahead_need_no_read_and_those_in_memory_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut writer) = with_two_keys(folder.path());
    let reads = ahead(&writer, &[b"a", b"b", b"c"]);
    assert!(!reads.is_empty());
    put(&mut writer, &[b"b", b"d"], 2);
    let rows = reads.read();
    writer.end_block().unwrap();
    begin(&mut writer, 2);
    writer.use_rows_ahead(Some(rows));
    assert_eq!(get(&store, &mut writer, b"a"), ([Some(1); 3], 0));
    assert_eq!(get(&store, &mut writer, b"b"), ([Some(2), Some(1), Some(2)], 0), "written since");
    assert_eq!(get(&store, &mut writer, b"c"), ([None; 3], 0), "absent");
    assert_eq!(get(&store, &mut writer, b"d"), ([Some(2); 3], 0), "new");
    let (found, reads) = get(&store, &mut writer, b"e");
    assert_eq!((found, reads > 0), ([None; 3], true), "was not read ahead");
    // What waits in memory is not read ahead.
    assert!(ahead(&writer, &[b"d"]).is_empty());
    writer.end_block().unwrap();
    begin(&mut writer, 3);
    writer.use_rows_ahead(None);
    let (found, reads) = get(&store, &mut writer, b"c");
    assert_eq!((found, reads > 0), ([None; 3], true), "of the block before");
}

#[test]
fn rows_that_were_read_before_a_commit_are_not_used_after_it() {
    for is_run in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut writer) = with_two_keys(folder.path());
        let rows = ahead(&writer, &[b"a", b"c"]).read();
        put(&mut writer, &[b"a", b"c"], 2);
        writer.end_block().unwrap();
        if is_run {
            writer.commit_sorted().unwrap();
            writer.settle().unwrap();
        } else {
            writer.commit(false).unwrap();
        }
        begin(&mut writer, 2);
        writer.use_rows_ahead(Some(rows));
        assert_eq!(get(&store, &mut writer, b"a").0, [Some(2), Some(1), Some(2)], "{is_run}");
        assert_eq!(get(&store, &mut writer, b"c").0, [Some(2); 3], "{is_run}");
    }
}

#[test]
fn a_commit_does_not_keep_rows_that_were_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut writer) = with_two_keys(folder.path());
    let rows = ahead(&writer, &[b"a", b"c"]).read();
    writer.use_rows_ahead(Some(rows));
    put(&mut writer, &[b"a", b"c"], 2);
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    begin(&mut writer, 2);
    assert_eq!(get(&store, &mut writer, b"a").0, [Some(2), Some(1), Some(2)]);
    assert_eq!(get(&store, &mut writer, b"c").0, [Some(2); 3]);
}

#[test]
fn a_reading_that_ends_early_leaves_the_rest_to_the_block_and_the_store_free() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &[SCHEMA]).unwrap();
    let mut writer = store.writer().unwrap();
    let keys: Vec<[u8; 4]> = (0..2_000_u32).map(u32::to_be_bytes).collect();
    let keys: Vec<&[u8]> = keys.iter().map(<[u8; 4]>::as_slice).collect();
    begin(&mut writer, 0);
    put(&mut writer, &keys, 1);
    writer.end_block().unwrap();
    writer.commit(true).unwrap();
    begin(&mut writer, 1);
    for wait in 0..6 {
        let reading = ahead(&writer, &keys).begin().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        writer.use_rows_ahead(reading.rows());
        for key in keys.iter().step_by(50) {
            assert_eq!(get(&store, &mut writer, key).0, [Some(1); 3]);
        }
    }
    assert!(ahead(&writer, &[]).begin().is_none());
    let reading = ahead(&writer, &keys).begin();
    drop((writer, store, reading));
    assert!(Store::open(folder.path(), &options(None), &[SCHEMA]).is_ok());
}

#[test]
fn keys_that_are_collected_at_the_same_time_are_those_of_all_and_the_error_is_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut writer) = with_two_keys(folder.path());
    let collect = |keys: &'static [&'static [u8]]| {
        move |ahead: &mut KeysAhead<'_>| {
            keys.iter()
                .try_for_each(|key| if *key == b"!" { ahead.add(&LIST, &[0; 4]) } else { ahead.add(&CURRENT, key) })
        }
    };
    let rows = writer
        .read_ahead(|ahead| ahead.add_side_by_side([collect(&[b"a"]), collect(&[]), collect(&[b"b", b"c"])]))
        .unwrap()
        .read();
    writer.end_block().unwrap();
    begin(&mut writer, 2);
    writer.use_rows_ahead(Some(rows));
    let before = store.reads().gets;
    let found = [b"a", b"b", b"c"].map(|key| {
        let value = writer.module(SCHEMA.id).unwrap().get(&CURRENT, key).unwrap();
        value.map(|value| value[0])
    });
    assert_eq!((found, store.reads().gets - before), ([Some(1), Some(1), None], 0));
    assert!(writer.read_ahead(|ahead| ahead.add_side_by_side([collect(&[])])).unwrap().is_empty());
    let failing = [collect(&[b"a"]), collect(&[b"!"]), collect(&[b"b"])];
    assert!(matches!(writer.read_ahead(|ahead| ahead.add_side_by_side(failing)), Err(StoreError::WrongKind { .. })));
}

#[test]
fn no_more_than_sixteen_megabytes_are_read_ahead_and_the_rest_in_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut writer) = with_24_mebibytes(folder.path());
    let add = |ahead: &mut KeysAhead<'_>| (0..24).try_for_each(|number| ahead.add(&CURRENT, &[number]));
    let rows = writer.read_ahead(add).unwrap().read();
    writer.use_rows_ahead(Some(rows));
    let module = writer.module(SCHEMA.id).unwrap();
    let before = store.reads().gets;
    for number in 0..24_u8 {
        assert_eq!(module.get(&CURRENT, &[number]).unwrap(), Some(vec![7; 1 << 20]));
    }
    // A key takes bytes as well.
    assert_eq!(store.reads().gets - before, 24 - 15);
}

#[test]
fn rows_of_a_sequence_and_of_other_modules_are_not_read_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let (_, mut writer) = with_two_keys(folder.path());
    put(&mut writer, &[], 0);
    let refused = writer.read_ahead(|ahead| ahead.add(&LIST, &[0; 4]));
    assert!(matches!(refused.err(), Some(StoreError::WrongKind { .. } | StoreError::UnknownTable(_))));
    let other = Table { module: ModuleId(9), ..CURRENT };
    assert!(writer.read_ahead(|ahead| ahead.add(&other, b"a")).unwrap().is_empty());
}

#[test]
fn what_follows_from_other_rows_is_remembered_as_well_and_what_waits_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &[SCHEMA]).unwrap();
    let mut writer = store.writer().unwrap();
    begin(&mut writer, 0);
    put(&mut writer, &[b"aa", b"ab", b"ac", b"b"], 1);
    writer.module(SCHEMA.id).unwrap().append(&LIST, b"first").unwrap();
    writer.end_block().unwrap();
    writer.commit(true).unwrap();
    begin(&mut writer, 1);
    let mut rows = writer.module(SCHEMA.id).unwrap();
    rows.delete(&CURRENT, b"ab").unwrap();
    rows.put(&CURRENT, b"ad", &[2]).unwrap();
    writer.end_block().unwrap();
    begin(&mut writer, 2);

    let keys = |rows: Vec<paraffin_store::Row>| rows.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let read = writer
        .read_ahead(|ahead| {
            ahead.read_by(move |rows| {
                // What waits in memory is not seen here.
                assert_eq!(keys(rows.prefix(&CURRENT, b"a").unwrap()), [b"aa", b"ab", b"ac"]);
                assert_eq!(keys(rows.prefix(&ONCE, b"none").unwrap()), Vec::<Vec<u8>>::new());
                assert_eq!(rows.get(&LIST, &[0; 4]).unwrap().as_deref(), Some(&b"first"[..]));
                assert_eq!(rows.get(&CURRENT, b"none").unwrap(), None);
                assert!(matches!(rows.get(&VERSIONED, b"a"), Err(StoreError::WrongKind { .. })));
            });
            Ok::<_, StoreError>(())
        })
        .unwrap();
    assert!(!read.is_empty());
    let read = read.read();
    let before = store.reads().total();
    writer.use_rows_ahead(Some(read));
    let rows = writer.module(SCHEMA.id).unwrap();
    assert_eq!(keys(rows.prefix(&CURRENT, b"a", 9).unwrap()), [b"aa", b"ac", b"ad"]);
    assert_eq!(keys(rows.prefix(&CURRENT, b"a", 1).unwrap()), [b"aa"]);
    assert_eq!(rows.prefix(&ONCE, b"none", 9).unwrap(), []);
    assert_eq!(rows.get(&LIST, &[0; 4]).unwrap().as_deref(), Some(&b"first"[..]));
    assert_eq!(rows.get(&CURRENT, b"none").unwrap(), None);
    assert_eq!(store.reads().total(), before);
    // Another range that begins there is another one.
    assert_eq!(keys(rows.prefix(&CURRENT, b"", 9).unwrap()), [&b"aa"[..], b"ac", b"ad", b"b"]);
    assert!(store.reads().total() > before);
}

#[test]
fn a_range_beyond_sixteen_megabytes_is_not_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, mut writer) = with_24_mebibytes(folder.path());
    let read = writer
        .read_ahead(|ahead| {
            ahead.read_by(|rows| assert!(matches!(rows.prefix(&CURRENT, b""), Err(StoreError::Abandoned))));
            Ok::<_, StoreError>(())
        })
        .unwrap();
    writer.use_rows_ahead(Some(read.read()));
    assert_eq!(writer.module(SCHEMA.id).unwrap().prefix(&CURRENT, b"", 99).unwrap().len(), 24);
}

#[test]
fn work_on_what_was_found_ends_when_the_turn_of_the_block_comes() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, mut writer) = with_two_keys(folder.path());
    put(&mut writer, &[], 0);
    let reading = writer
        .read_ahead(|ahead| {
            ahead.read_by(|rows| while rows.get(&CURRENT, b"a").is_ok() {});
            ahead.read_by(|rows| while rows.prefix(&CURRENT, b"a").is_ok() {});
            Ok::<_, StoreError>(())
        })
        .unwrap()
        .begin()
        .unwrap();
    // Without an end this would wait for ever.
    assert!(reading.rows().is_some());
}
