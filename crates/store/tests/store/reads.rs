//! Costs of reads, and their isolation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::BlockId;
use paraffin_store::{Store, StoreError, TableKind, Writer};

use crate::model::{FIRST_TABLES, options, schemas, tables};

fn hash(height: u32) -> BlockHash {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&height.to_be_bytes());
    BlockHash::from_byte_array(bytes)
}

fn begin(writer: &mut Writer, height: u32) {
    let previous = if height == 0 { BlockHash::all_zeros() } else { hash(height - 1) };
    writer.begin_block(BlockId { height, hash: hash(height) }, previous, 0).unwrap();
}

#[test]
fn pages_and_versions_cost_what_they_return_whatever_the_table_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(0)), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let [_, owners, _, transactions, lists, _] = FIRST_TABLES;
    for height in 0..300_u32 {
        begin(&mut writer, height);
        let mut rows = writer.module(owners.module).unwrap();
        for number in 0..40_u32 {
            rows.append(&transactions, &[1; 20]).unwrap();
            let mut key = b"owner ".to_vec();
            key.extend_from_slice(&(height * 40 + number).to_be_bytes());
            rows.put(&lists, &key, b"").unwrap();
            // Forty keys with 300 versions each.
            rows.put(&owners, &number.to_be_bytes(), &height.to_be_bytes()).unwrap();
        }
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
        if height % 100 == 50 {
            store.flush().unwrap();
        }
    }
    let snapshot = store.snapshot();
    let cost = |read: &dyn Fn()| {
        let before = store.reads();
        read();
        let after = store.reads();
        (after.gets - before.gets, after.seeks - before.seeks, after.rows - before.rows)
    };
    // The newest version is a point read, "as of height h" one more seek.
    for (height, seeks) in [(0, 1), (1, 1), (150, 1), (299, 0), (u32::MAX, 0)] {
        let read = || {
            let found = snapshot.get_at(&owners, &7_u32.to_be_bytes(), height).unwrap().unwrap();
            assert_eq!(found, height.min(299).to_be_bytes());
        };
        assert_eq!(cost(&read), (1, seeks, seeks), "height {height}");
    }
    // A page costs its rows, from either end and anywhere.
    assert_eq!(cost(&|| assert_eq!(snapshot.prefix(&lists, b"owner ").take(25).count(), 25)), (0, 1, 25));
    assert_eq!(cost(&|| assert_eq!(snapshot.prefix(&lists, b"owner ").rev().take(25).count(), 25)), (0, 1, 25));
    let mut from = b"owner ".to_vec();
    from.extend_from_slice(&9000_u32.to_be_bytes());
    let until = b"owner \xff\xff\xff\xff";
    assert_eq!(cost(&|| assert_eq!(snapshot.range(&lists, &from, until).take(25).count(), 25)), (0, 1, 25));
    assert_eq!(cost(&|| assert_eq!(snapshot.sequence_len(&transactions).unwrap(), 12_000)), (1, 0, 0));
    assert_eq!(cost(&|| assert!(snapshot.get(&transactions, &11_999_u32.to_be_bytes()).unwrap().is_some())), (1, 0, 0));
    // Versions that are not wanted are jumped over: a bounded cost for each row of the page, 300 versions or not.
    for height in [0, 150, 299] {
        let forward = cost(&|| assert_eq!(snapshot.prefix_at(&owners, &[], height).unwrap().take(10).count(), 10));
        assert!(forward.1 + forward.2 <= 10 * 24, "{height}: {forward:?}");
        let backward =
            cost(&|| assert_eq!(snapshot.prefix_at(&owners, &[], height).unwrap().rev().take(10).count(), 10));
        assert!(backward.1 + backward.2 <= 10 * 24, "{height}: {backward:?}");
    }
}

#[test]
fn long_versions_are_found_as_the_newest_and_before_and_after_an_undo() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(5)), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let [_, owners, ..] = FIRST_TABLES;
    // Long, short and long again, on both sides of what is repeated.
    let value =
        |key: u8, height: u32| vec![key ^ height as u8; [255, 256, 1_000, 1][(u32::from(key) + height) as usize % 4]];
    let write = |writer: &mut Writer, height: u32| {
        begin(writer, height);
        let mut rows = writer.module(owners.module).unwrap();
        for key in 0..8 {
            rows.put(&owners, &[key], &value(key, height)).unwrap();
        }
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
    };
    let check = |tip: u32| {
        let snapshot = store.snapshot();
        for height in 0..=tip {
            let wanted: Vec<_> = (0..8).map(|key| (vec![key], value(key, height))).collect();
            for (key, value) in &wanted {
                assert_eq!(snapshot.get_at(&owners, key, height).unwrap().as_ref(), Some(value), "{key:?} at {height}");
                assert_eq!(snapshot.written_at(&owners, key, height).unwrap(), Some(height));
            }
            let rows = || snapshot.prefix_at(&owners, &[], height).unwrap();
            assert_eq!(rows().map(Result::unwrap).collect::<Vec<_>>(), wanted, "{height}");
            assert!(rows().rev().map(Result::unwrap).eq(wanted.iter().rev().cloned()), "{height}");
        }
        let newest: Vec<_> = (0..8).map(|key| (vec![key], value(key, tip))).collect();
        assert_eq!(snapshot.prefix(&owners, &[]).map(Result::unwrap).collect::<Vec<_>>(), newest);
        assert!(snapshot.prefix(&owners, &[]).rev().map(Result::unwrap).eq(newest.into_iter().rev()));
    };
    for height in 0..30 {
        write(&mut writer, height);
        check(height);
    }
    for height in (25..30).rev() {
        writer.undo_block().unwrap();
        check(height - 1);
    }
}

#[test]
fn a_snapshot_shows_one_instant_while_the_writer_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(5)), &schemas()).unwrap();
    let stop = AtomicBool::new(false);
    let write = |writer: &mut Writer, height: u32| {
        begin(writer, height);
        for table in tables() {
            let mut rows = writer.module(table.module).unwrap();
            match table.kind {
                TableKind::Sequence => assert_eq!(rows.append(&table, &height.to_be_bytes()).unwrap(), height),
                TableKind::WriteOnce => rows.put(&table, &height.to_be_bytes(), b"").unwrap(),
                _ => rows.put(&table, b"height", &height.to_be_bytes()).unwrap(),
            }
        }
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
    };
    let mut writer = store.writer().unwrap();
    write(&mut writer, 0);
    let first = store.snapshot();
    let check = |snapshot: &paraffin_store::Snapshot| {
        let tip = snapshot.tip().unwrap().id.height;
        for table in tables() {
            let key = tip.to_be_bytes();
            match table.kind {
                TableKind::Sequence => assert_eq!(snapshot.sequence_len(&table).unwrap(), tip + 1),
                TableKind::WriteOnce => {
                    let newest = snapshot.prefix(&table, &[]).next_back().unwrap().unwrap();
                    assert_eq!(newest.0, key);
                }
                _ => assert_eq!(snapshot.get(&table, b"height").unwrap().unwrap(), key, "{}", table.name),
            }
        }
        tip
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (store, stop) = (store.clone(), &stop);
                scope.spawn(move || {
                    let (mut seen, mut last) = (0, 0);
                    while !stop.load(Ordering::Relaxed) {
                        let snapshot = store.snapshot();
                        let tip = check(&snapshot);
                        // The same snapshot returns the same rows later.
                        assert_eq!(check(&snapshot.clone()), tip);
                        seen += u32::from(tip != last);
                        last = tip;
                    }
                    seen
                })
            })
            .collect();
        for height in 1..400 {
            write(&mut writer, height);
            if height % 60 == 0 {
                store.flush().unwrap();
            }
            if height % 50 == 0 {
                writer.undo_block().unwrap();
                write(&mut writer, height);
            }
        }
        stop.store(true, Ordering::Relaxed);
        let seen: u32 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(seen > 20, "the readers saw {seen} tips only");
    });
    // The first snapshot still shows its block, 400 blocks and several flushes later.
    assert_eq!(check(&first), 0);
    let stats = store.stats();
    assert!(stats.commits >= 400 && stats.reads.total() > 1000 && stats.spaces.len() == 6, "{stats:?}");
    let (tables, undo, journal) = store.disk_bytes();
    assert!(tables > 0 && undo > 0 && journal > 0, "{tables} {undo} {journal}");
}

/// A module may read rows of any length in a block after block without writing them; what is kept of them for a write that may
/// follow counts as what waits, so that the next commit comes in time.
#[test]
fn rows_that_were_read_count_with_their_length_until_the_next_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(0)), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let current = FIRST_TABLES.into_iter().find(|table| table.kind == TableKind::Current).unwrap();
    begin(&mut writer, 0);
    writer.module(current.module).unwrap().put(&current, b"long", &vec![1; 1_000_000]).unwrap();
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    begin(&mut writer, 1);
    let before = writer.pending_bytes();
    for _ in 0..2 {
        assert_eq!(writer.module(current.module).unwrap().get(&current, b"long").unwrap().unwrap().len(), 1_000_000);
    }
    let read = writer.pending_bytes() - before;
    assert!((1_000_000..1_001_000).contains(&read), "{read}");
    // A write replaces it.
    writer.module(current.module).unwrap().put(&current, b"long", b"short").unwrap();
    assert!(writer.pending_bytes() - before < 1_000);
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    assert!(writer.pending_bytes() < 1_000);
}

#[test]
fn a_read_that_nobody_waits_for_ends_at_its_next_row() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(0)), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let [_, owners, _, _, lists, _] = FIRST_TABLES;
    begin(&mut writer, 0);
    let mut rows = writer.module(owners.module).unwrap();
    for number in 0..10_u32 {
        rows.put(&lists, &number.to_be_bytes(), b"").unwrap();
        rows.put(&owners, &number.to_be_bytes(), b"x").unwrap();
    }
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_over);
    let snapshot = store.snapshot().until(Arc::new(move || flag.load(Ordering::Relaxed)));
    let is_given_up = |row: Option<Result<_, StoreError>>| matches!(row, Some(Err(StoreError::Abandoned)));
    let mut all = [
        Box::new(snapshot.prefix(&lists, b"")) as Box<dyn DoubleEndedIterator<Item = _>>,
        Box::new(snapshot.range(&owners, &[0; 4], &[0xff; 4])),
        Box::new(snapshot.prefix_at(&owners, b"", 0).unwrap()),
    ];
    for rows in &mut all {
        assert!(rows.next().unwrap().is_ok() && rows.next_back().unwrap().is_ok());
    }
    assert!(snapshot.get(&lists, &[0; 4]).unwrap().is_some() && snapshot.get(&owners, &[0; 4]).unwrap().is_some());
    is_over.store(true, Ordering::Relaxed);
    for rows in &mut all {
        assert!(is_given_up(rows.next()) && rows.next().is_none() && rows.next_back().is_none());
    }
    assert!(matches!(snapshot.get(&lists, &[0; 4]), Err(StoreError::Abandoned)));
    assert!(matches!(snapshot.get(&owners, &[0; 4]), Err(StoreError::Abandoned)));
    // The view that it was made of goes on.
    assert_eq!(store.snapshot().prefix(&lists, b"").count(), 10);
}

#[test]
fn an_import_looks_for_no_row_that_its_tables_lack_and_finds_every_version_that_they_have() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(10)), &schemas()).unwrap();
    let [_, owners, ..] = FIRST_TABLES;
    let mut writer = store.writer().unwrap();
    writer.expect_tip(1_000);
    let absent = |writer: &mut Writer| {
        let before = store.reads().total();
        let rows = writer.module(owners.module).unwrap();
        for number in 0..1_000_u32 {
            assert_eq!(rows.get(&owners, format!("absent {number}").as_bytes()).unwrap(), None);
        }
        store.reads().total() - before
    };
    for height in 0..60_u32 {
        begin(&mut writer, height);
        let reads = absent(&mut writer);
        // The first block asks before it is known what the table holds. Some keys look like others.
        assert!(if height == 0 { reads >= 1_000 } else { reads < 50 }, "{reads} reads at {height}");
        let mut rows = writer.module(owners.module).unwrap();
        // Key `n` is written at heights n, n + 4, n + 8 and so on, and is removed at n + 20.
        for number in (height % 4..=height).step_by(4) {
            let key = number.to_be_bytes();
            let is_there = number < height && height - number != 24;
            assert_eq!(rows.get(&owners, &key).unwrap().is_some(), is_there, "{number} at {height}");
            if height - number == 20 {
                rows.delete(&owners, &key).unwrap();
            } else {
                rows.put(&owners, &key, &height.to_be_bytes()).unwrap();
            }
            assert_eq!(rows.get_at(&owners, &key, number).unwrap(), Some(key.to_vec()), "{number} at {height}");
        }
        writer.end_block().unwrap();
        match height % 6 {
            1 => writer.commit_sorted().unwrap(),
            4 => writer.commit(false).unwrap(),
            _ => {}
        }
    }
}

#[test]
fn the_journal_stays_short_whatever_is_committed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(Some(4)), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let lists = FIRST_TABLES[4];
    let (mut height, mut longest) = (0, 0);
    // Blocks like the fullest of mainnet, then many that are too small for a run of their own.
    for (blocks, rows) in [(10, 1_500), (60, 300)] {
        for _ in 0..blocks {
            begin(&mut writer, height);
            let mut module = writer.module(lists.module).unwrap();
            for number in 0..rows {
                let number = u64::from(height) << 32 | number;
                module
                    .put(&lists, &number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes(), &[height as u8; 1_000])
                    .unwrap();
            }
            writer.end_block().unwrap();
            writer.commit(false).unwrap();
            longest = longest.max(store.stats().journal_bytes);
            height += 1;
        }
        let most = if rows > 1_000 { 1 << 20 } else { 9 << 20 };
        assert!(longest < most, "{longest} bytes of journal");
    }
    assert!(longest > 6 << 20, "{longest} bytes of journal: small commits go there");
    let before = store.snapshot().content_digest().unwrap();
    for _ in 0..3 {
        writer.undo_block().unwrap();
    }
    assert_ne!(store.snapshot().content_digest().unwrap(), before);
    assert_eq!(store.snapshot().prefix(&lists, b"").count(), 10 * 1_500 + 57 * 300);
}
