//! Reads of the tables of earlier modules.

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::{ModuleId, ModuleSchema, Placement, Store, StoreError, Table, TableKind, Writer};

use crate::model::options;

const fn table(module: u8, id: u8, name: &'static str, kind: TableKind) -> Table {
    Table { module: ModuleId(module), id, name, kind, placement: Placement::Ordered }
}

const STATE: Table = table(3, 0, "state", TableKind::Versioned);
const MARKS: Table = table(3, 1, "marks", TableKind::WriteOnce);
const NEWEST: Table = table(3, 2, "newest", TableKind::Current);
const LIST: Table = table(3, 3, "list", TableKind::Sequence);
const COPY: Table = table(7, 0, "copy", TableKind::WriteOnce);
const ELSE: Table = table(5, 0, "else", TableKind::Versioned);

const BELOW: ModuleSchema =
    ModuleSchema { id: ModuleId(3), name: "below", version: 1, tables: &[STATE, MARKS, NEWEST, LIST], reads: &[] };
const BETWEEN: ModuleSchema =
    ModuleSchema { id: ModuleId(5), name: "between", version: 1, tables: &[ELSE], reads: &[] };
const ABOVE: ModuleSchema =
    ModuleSchema { id: ModuleId(7), name: "above", version: 1, tables: &[COPY], reads: &[ModuleId(3)] };

fn id(height: Height) -> BlockId {
    let mut hash = [0xab; 32];
    hash[..4].copy_from_slice(&height.to_be_bytes());
    BlockId { height, hash: BlockHash::from_byte_array(hash) }
}

/// What module 7 sees at a block goes into its own table.
fn copy(writer: &mut Writer, height: Height) -> Result<(), StoreError> {
    let mut rows = writer.module(ABOVE.id)?;
    let seen = rows.earlier();
    assert_eq!(seen.height(), height);
    let value = seen.get(&STATE, b"value")?.unwrap_or_default();
    let count = seen.prefix(&STATE, b"", 10)?.len() as u8;
    let own = seen.prefix(&MARKS, &height.to_be_bytes(), 10)?;
    assert_eq!(own.len(), 1, "block {height}");
    assert_eq!(seen.get(&MARKS, &own[0].0)?.as_ref(), Some(&own[0].1));
    assert_eq!(seen.get(&LIST, &height.to_be_bytes())?, Some(vec![height as u8, 7]));
    assert!(seen.prefix(&LIST, b"", 1).is_err());
    // Reads whose result may change later are refused, and those of modules that the schema does not name.
    for refused in [seen.get(&NEWEST, b"x"), seen.get(&ELSE, b"x"), seen.get(&COPY, b"x")] {
        assert!(refused.is_err());
    }
    assert!(seen.prefix(&NEWEST, b"", 1).is_err());
    let entry = [value, vec![count]].concat();
    rows.put(&COPY, &height.to_be_bytes(), &entry)
}

fn write(writer: &mut Writer, height: Height) {
    let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), |below| id(below).hash);
    writer.begin_block(id(height), previous, height).unwrap();
    let mut rows = writer.module(BELOW.id).unwrap();
    rows.put(&STATE, b"value", &[height as u8]).unwrap();
    rows.put(&STATE, &[height as u8], &[1]).unwrap();
    rows.put(&MARKS, &height.to_be_bytes(), b"mark").unwrap();
    rows.put(&NEWEST, b"x", &[height as u8]).unwrap();
    assert_eq!(rows.append(&LIST, &[height as u8, 7]).unwrap(), height);
    writer.module(BETWEEN.id).unwrap().put(&ELSE, b"x", b"y").unwrap();
    copy(writer, height).unwrap();
    writer.end_block().unwrap();
}

/// Committed one by one, several at once, and as a sorted run: a later module sees the same each time, also when it catches
/// up alone while the others are at the tip.
#[test]
fn a_module_sees_earlier_modules_as_of_its_block() {
    for commit in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &options(None), &[BELOW, BETWEEN, ABOVE]).unwrap();
        let mut writer = store.writer().unwrap();
        for height in 0..9 {
            write(&mut writer, height);
            match commit {
                0 => writer.commit(false).unwrap(),
                1 if height % 4 == 3 => writer.commit(false).unwrap(),
                2 if height % 3 == 2 => writer.commit_sorted().unwrap(),
                _ => {}
            }
        }
        writer.commit(false).unwrap();
        let content = store.snapshot().content_digest().unwrap();
        for height in 0..9u32 {
            let expected = Some(vec![height as u8, height as u8 + 2]);
            assert_eq!(store.snapshot().get(&COPY, &height.to_be_bytes()).unwrap(), expected);
        }
        writer.rewind_module(ABOVE.id, Some(1)).unwrap();
        assert_ne!(store.snapshot().content_digest().unwrap(), content);
        while let Some(block) = writer.next_replay(ABOVE.id).unwrap() {
            writer.replay_block(ABOVE.id, block).unwrap();
            copy(&mut writer, block.height).unwrap();
            writer.end_block().unwrap();
        }
        writer.commit(false).unwrap();
        assert_eq!(store.snapshot().content_digest().unwrap(), content);
    }
}

#[test]
fn a_module_does_not_catch_up_before_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &[BELOW, BETWEEN, ABOVE]).unwrap();
    let mut writer = store.writer().unwrap();
    for height in 0..5 {
        write(&mut writer, height);
    }
    writer.commit(false).unwrap();
    writer.rewind_module(BELOW.id, Some(1)).unwrap();
    writer.rewind_module(ABOVE.id, Some(1)).unwrap();
    writer.replay_block(ABOVE.id, id(2)).unwrap();
    assert!(matches!(writer.module(ABOVE.id).err(), Some(StoreError::ModuleBehind { height: Some(1), tip: 2, .. })));
}

#[test]
fn a_schema_that_reads_what_does_not_come_before_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for modules in [
        vec![ABOVE],
        vec![BELOW, ModuleSchema { reads: &[ModuleId(7)], ..ABOVE }],
        vec![ModuleSchema { reads: &[ModuleId(7)], ..BELOW }, ABOVE],
    ] {
        let refused = Store::open(folder.path(), &options(None), &modules);
        assert!(matches!(refused.err(), Some(StoreError::InvalidSchema(_))));
    }
}

/// Parts of modules that apply a block at the same time: those that are missing or come later are refused, and reads of a module that failed
/// end with an error.
#[test]
fn a_part_waits_only_for_those_before_it_and_ends_when_they_fail() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &[BELOW, BETWEEN, ABOVE]).unwrap();
    let mut writer = store.writer().unwrap();
    writer.begin_block(id(0), BlockHash::all_zeros(), 0).unwrap();
    for refused in [vec![ABOVE.id], vec![ABOVE.id, BELOW.id], vec![BETWEEN.id, ABOVE.id]] {
        assert!(matches!(writer.turns(&refused).err(), Some(StoreError::Misuse(_))), "{refused:?}");
    }
    let mut turns = writer.turns(&[BETWEEN.id, BELOW.id, ABOVE.id]).unwrap();
    let (above, below) = (turns.pop().unwrap(), turns.pop().unwrap());
    assert!(matches!(below.following(ABOVE.id, &turns).err(), Some(StoreError::Misuse(_))));
    // `below` is gone without having applied the block.
    let read = above.apply(|rows| rows.earlier().get(&STATE, b"value").map(drop));
    assert!(matches!(read, Err(StoreError::EarlierFailed)), "{read:?}");
    drop(turns);

    let mut turns = writer.turns(&[BETWEEN.id, BELOW.id]).unwrap();
    let below = turns.pop().unwrap().following(BETWEEN.id, &turns).unwrap();
    drop(turns);
    let begun = below.apply(|_| -> Result<(), StoreError> { panic!("it has begun") });
    assert!(matches!(begun, Err(StoreError::EarlierFailed)), "{begun:?}");
}
