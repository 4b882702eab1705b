//! Refused openings and operations, and their messages.

use std::collections::BTreeSet;

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_store::{ModuleId, ModuleSchema, Placement, Snapshot, Store, StoreError, StoreOptions, Table, TableKind};

use crate::model::{FIRST, FIRST_TABLES, Model, Operation, SECOND_TABLES, check, options, schemas, write_block};

#[test]
fn a_folder_has_one_store_and_a_store_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let Err(error) = Store::open(folder.path(), &options(None), &schemas()) else { panic!("opened twice") };
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(error.to_string().contains("another process is using this store"), "{error}");
    let writer = store.writer().unwrap();
    assert!(matches!(store.clone().writer(), Err(StoreError::WriterTaken)));
    drop(writer);
    let writer = store.writer().unwrap();
    // A snapshot keeps the folder too.
    let snapshot = store.snapshot();
    drop((store, writer));
    assert!(matches!(Store::open(folder.path(), &options(None), &schemas()), Err(StoreError::Locked { .. })));
    drop(snapshot);
    Store::open(folder.path(), &options(None), &schemas()).unwrap();
}

#[test]
fn a_store_of_another_network_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path(), &options(None), &schemas()).unwrap());
    let mainnet = StoreOptions { network: Network::Mainnet, ..options(None) };
    let Err(error) = Store::open(folder.path(), &mainnet, &schemas()) else { panic!("opened") };
    assert!(matches!(error, StoreError::Network { wanted: Network::Mainnet, .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("holds regtest") && message.contains("asks for mainnet"), "{message}");
    Store::open(folder.path(), &options(None), &schemas()).unwrap();
}

#[test]
fn contradicting_declarations_and_settings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |modules: &[ModuleSchema]| Store::open(folder.path(), &options(None), modules).map(|_| ());
    let twins: &[Table] = &[FIRST_TABLES[0], FIRST_TABLES[0]];
    let foreign: &[Table] = &[SECOND_TABLES[0]];
    let appended_map: &[Table] = &[Table { placement: Placement::Appended, ..FIRST_TABLES[0] }];
    let two_appended = [FIRST_TABLES[3], Table { placement: Placement::Appended, ..FIRST_TABLES[5] }];
    for modules in [
        vec![FIRST, FIRST],
        vec![FIRST, ModuleSchema { id: ModuleId(2), ..FIRST }],
        vec![ModuleSchema { id: ModuleId(255), tables: &[], ..FIRST }],
        vec![ModuleSchema { tables: Box::leak(Box::new(twins)), ..FIRST }],
        vec![ModuleSchema { tables: foreign, ..FIRST }],
        vec![ModuleSchema { tables: appended_map, ..FIRST }],
        vec![ModuleSchema { tables: Box::leak(Box::new(two_appended)), ..FIRST }],
    ] {
        assert!(matches!(open(&modules), Err(StoreError::InvalidSchema(_))), "{modules:?}");
    }
    let small = StoreOptions { memory_bytes: 1, ..options(None) };
    assert!(matches!(Store::open(folder.path(), &small, &schemas()), Err(StoreError::InvalidOptions(_))));
}

#[test]
fn blocks_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    assert!(matches!(writer.undo_block(), Err(StoreError::NothingToUndo)));
    assert!(matches!(writer.end_block(), Err(StoreError::Misuse(_))));
    assert!(matches!(writer.module(FIRST.id), Err(StoreError::Misuse(_))));
    let mut model = Model::starting_at(7);
    let first = model.push(Vec::new()).clone();
    write_block(&mut writer, &first).unwrap();
    let hash = BlockHash::from_byte_array([5; 32]);
    for (height, previous) in [(7, first.id.hash), (9, first.id.hash), (8, hash), (0, hash), (u32::MAX, first.id.hash)]
    {
        let refused = writer.begin_block(BlockId { height, hash }, previous, 0);
        assert!(matches!(refused, Err(StoreError::BlockOrder { .. })), "{height}: {refused:?}");
    }
    assert!(matches!(writer.undo_block(), Err(StoreError::Misuse(_))), "a block waits");
    writer.begin_block(BlockId { height: 8, hash }, first.id.hash, 0).unwrap();
    assert!(matches!(writer.begin_block(BlockId { height: 8, hash }, first.id.hash, 0), Err(StoreError::Misuse(_))));
    assert!(matches!(writer.commit(false), Err(StoreError::Misuse(_))));
    assert!(matches!(writer.module(ModuleId(77)), Err(StoreError::UnknownModule(77))));
    writer.abandon_block();
    writer.commit(false).unwrap();
    check(&store.snapshot(), &model);
}

#[test]
fn operations_that_do_not_fit_the_table_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let hash = BlockHash::from_byte_array([1; 32]);
    writer.begin_block(BlockId { height: 0, hash }, BlockHash::all_zeros(), 0).unwrap();
    let mut rows = writer.module(FIRST.id).unwrap();
    let [balances, owners, ids, transactions, ..] = FIRST_TABLES;
    let is_wrong_kind = |result: Result<(), StoreError>| matches!(result, Err(StoreError::WrongKind { .. }));
    assert!(is_wrong_kind(rows.put(&transactions, &[0; 4], b"")));
    assert!(is_wrong_kind(rows.delete(&transactions, &[0; 4])));
    assert!(is_wrong_kind(rows.delete(&ids, b"")));
    assert!(is_wrong_kind(rows.append(&balances, b"").map(|_| ())));
    assert!(is_wrong_kind(rows.sequence_len(&owners).map(|_| ())));
    assert!(is_wrong_kind(rows.get_at(&balances, b"", 0).map(|_| ())));
    assert!(is_wrong_kind(store.snapshot().get_at(&ids, b"", 0).map(|_| ())));
    assert!(is_wrong_kind(store.snapshot().prefix_at(&ids, b"", 0).map(|_| ())));
    assert!(is_wrong_kind(store.snapshot().sequence_len(&ids).map(|_| ())));
    assert!(matches!(rows.put(&SECOND_TABLES[3], b"", b""), Err(StoreError::UnknownTable(_))));
    let undeclared =
        Table { module: FIRST.id, id: 77, name: "x", kind: TableKind::Current, placement: Placement::Hashed };
    assert!(matches!(rows.put(&undeclared, b"", b""), Err(StoreError::UnknownTable("x"))));
    assert!(matches!(rows.get(&undeclared, b""), Err(StoreError::UnknownTable("x"))));
    let long = vec![0; paraffin_store::KEY_LEN_MAX + 1];
    for table in [balances, owners, ids] {
        assert!(matches!(rows.put(&table, &long, b""), Err(StoreError::TooLong { what: "key", .. })));
        rows.put(&table, &long[1..], b"").unwrap();
        assert_eq!(rows.get(&table, &long[1..]).unwrap().as_deref(), Some(&b""[..]));
    }
    let huge = vec![0; paraffin_store::VALUE_LEN_MAX + 1];
    assert!(matches!(rows.put(&balances, b"", &huge), Err(StoreError::TooLong { what: "value", .. })));
    assert!(matches!(rows.append(&transactions, &huge), Err(StoreError::TooLong { what: "value", .. })));
    rows.put(&ids, b"once", b"1").unwrap();
    let twice = rows.put(&ids, b"once", b"1").unwrap_err();
    assert!(matches!(&twice, StoreError::KeyExists { table: "ids", key } if key == "6f6e6365"), "{twice:?}");
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    assert_eq!(store.snapshot().get(&balances, &long[1..]).unwrap().as_deref(), Some(&b""[..]));
    assert_eq!(store.snapshot().get(&owners, &long[1..]).unwrap().as_deref(), Some(&b""[..]));
    writer.undo_block().unwrap();
    assert_eq!(store.snapshot().get(&owners, &long[1..]).unwrap(), None);
}

/// A few blocks with rows in every table, some in table files, some in the journal.
fn sample(folder: &std::path::Path) -> Model {
    let store = Store::open(folder, &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let mut model = Model::default();
    for number in 0..6_u32 {
        let operations = (0..10)
            .flat_map(|table| (0..20_u32).map(move |key| (table, key)))
            .map(|(table, key)| Operation::Write {
                table,
                key: (number * u32::from(table == 2 || table == 7) * 100 + key).to_be_bytes().to_vec(),
                value: (number * 1000 + key).to_be_bytes().repeat(8),
            })
            .collect();
        let block = model.push(operations).clone();
        write_block(&mut writer, &block).unwrap();
        writer.commit(true).unwrap();
        if number == 3 {
            store.flush().unwrap();
        }
    }
    model
}

fn files(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Damage ends in an error or in a whole block, never in a panic and never in wrong rows.
#[test]
fn flipped_bytes_give_an_error_or_a_whole_block() {
    let original = tempfile::tempdir().unwrap();
    let model = sample(original.path());
    let mut paths = Vec::new();
    files(original.path(), &mut paths);
    paths.sort();
    // The unwritten end of the journal would only be copied.
    let (journal, bytes, written) = journal(original.path());
    std::fs::write(journal, &bytes[..written]).unwrap();
    let (mut refused, mut whole) = (0, 0);
    let mut state = 7_u64;
    for round in 0..120 {
        let folder = tempfile::tempdir().unwrap();
        let copy = |path: &std::path::Path| folder.path().join(path.strip_prefix(original.path()).unwrap());
        for path in &paths {
            std::fs::create_dir_all(copy(path).parent().unwrap()).unwrap();
            std::fs::copy(path, copy(path)).unwrap();
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let victim = copy(&paths[round % paths.len()]);
        let mut bytes = std::fs::read(&victim).unwrap();
        let written = written_len(&bytes);
        if written == 0 {
            continue;
        }
        bytes[(state >> 20) as usize % written] ^= 1 << (state % 8);
        std::fs::write(&victim, bytes).unwrap();
        let Ok(store) = Store::open(folder.path(), &options(None), &schemas()) else {
            refused += 1;
            continue;
        };
        let snapshot = store.snapshot();
        let mut found = model.clone();
        found.blocks.truncate(snapshot.tip().map_or(0, |tip| tip.id.height as usize + 1));
        match read_all(&snapshot, &found) {
            Err(StoreError::Corrupt(_)) => refused += 1,
            Err(error) => panic!("{}: {error:?}", victim.display()),
            Ok(()) => {
                check(&snapshot, &found);
                whole += 1;
            }
        }
    }
    // Both outcomes occur, so the test is able to distinguish them.
    assert!(refused > 10 && whole > 10, "{refused} refused, {whole} whole");
}

/// The repair of the journal reads the engine's private form. `PARAFFIN_WRITE_GOLDEN=1` writes the file anew, after the engine's
/// journal module was read and `torn_journal.rs` was made to fit.
#[test]
fn the_engine_writes_the_journal_that_its_repair_reads() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let mut model = Model::default();
    for number in 0..2_u8 {
        let operations = vec![
            Operation::Write { table: 0, key: vec![number], value: vec![number + 1; 9] },
            // Long enough to be compressed.
            Operation::Write { table: 3, key: Vec::new(), value: vec![number; 10_000] },
            Operation::Delete { table: 0, key: vec![number.wrapping_sub(1)] },
        ];
        let block = model.push(operations).clone();
        write_block(&mut writer, &block).unwrap();
        writer.commit(true).unwrap();
    }
    let (_, bytes, written) = journal(folder.path());
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/store/journal.golden");
    if std::env::var_os("PARAFFIN_WRITE_GOLDEN").is_some() {
        std::fs::write(&golden, &bytes[..written]).unwrap();
    }
    assert!(
        std::fs::read(golden).unwrap() == bytes[..written],
        "the journal has another form than `torn_journal.rs` reads"
    );
}

/// The checksum of a batch in the journal leaves its sequence number out.
#[test]
fn flipped_sequence_numbers_of_the_journal_give_an_error_or_a_whole_block() {
    let original = tempfile::tempdir().unwrap();
    let model = sample(original.path());
    let (journal, bytes, written) = journal(original.path());
    let trailer = b"FJL\x03";
    let ends = (0..written - 3).filter(|at| bytes[*at..].starts_with(trailer)).map(|at| at + trailer.len());
    let heads: Vec<usize> = std::iter::once(0).chain(ends).filter(|at| *at < written).collect();
    // The store's own record and the blocks.
    assert_eq!(heads.len(), 1 + model.blocks.len());
    let relative = journal.strip_prefix(original.path()).unwrap();
    let mut paths = Vec::new();
    files(original.path(), &mut paths);
    let (mut refused, mut whole) = (0, 0);
    for (head, bit) in heads.iter().flat_map(|head| [0, 1, 2, 3, 4, 5, 9, 31, 60, 61, 62, 63].map(|bit| (head, bit))) {
        let folder = tempfile::tempdir().unwrap();
        for path in &paths {
            let copy = folder.path().join(path.strip_prefix(original.path()).unwrap());
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(path, copy).unwrap();
        }
        let mut damaged = bytes[..written].to_vec();
        damaged[head + 5 + bit / 8] ^= 1 << (bit % 8);
        std::fs::write(folder.path().join(relative), damaged).unwrap();
        let store = match Store::open(folder.path(), &options(None), &schemas()) {
            Ok(store) => store,
            Err(StoreError::Corrupt(_)) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("bit {bit} at {head}: {error:?}"),
        };
        let mut found = model.clone();
        found.blocks.truncate(store.snapshot().tip().map_or(0, |tip| tip.id.height as usize + 1));
        check(&store.snapshot(), &found);
        // And the chain goes on from there.
        let mut writer = store.writer().unwrap();
        let block = found.push(vec![Operation::Write { table: 0, key: vec![1], value: vec![2] }]).clone();
        write_block(&mut writer, &block).unwrap();
        writer.commit(true).unwrap();
        check(&store.snapshot(), &found);
        whole += 1;
    }
    assert!(refused > 10 && whole > 5, "{refused} refused, {whole} whole");
}

/// Reads in every way in which `check` does, which wants each read to succeed: a single key is looked up through blocks that a walk
/// over a table does not need.
fn read_all(snapshot: &Snapshot, model: &Model) -> Result<(), StoreError> {
    for height in 0..6 {
        snapshot.block(height)?;
    }
    for schema in schemas() {
        snapshot.module_height(schema.id)?;
    }
    for (index, table) in crate::model::tables().enumerate() {
        snapshot.prefix(&table, &[]).try_for_each(|row| row.map(drop))?;
        snapshot.prefix(&table, &[]).rev().try_for_each(|row| row.map(drop))?;
        if table.kind == TableKind::Sequence {
            snapshot.sequence_len(&table)?;
        }
        let keys: BTreeSet<&Vec<u8>> = model.blocks.iter().flat_map(|block| block.rows[index].keys()).collect();
        for key in &keys {
            snapshot.get(&table, key)?;
        }
        if table.kind != TableKind::Versioned {
            continue;
        }
        for height in (0..6).chain([Height::MAX]) {
            for key in &keys {
                snapshot.get_at(&table, key, height)?;
            }
            snapshot.prefix_at(&table, &[], height)?.try_for_each(|row| row.map(drop))?;
            snapshot.prefix_at(&table, &[], height)?.rev().try_for_each(|row| row.map(drop))?;
        }
    }
    Ok(())
}

/// Length without the zeros at the end, of a file that is mostly zeros.
fn written_len(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    let pages = bytes.chunks(ZEROS.len()).rposition(|page| *page != ZEROS[..page.len()]).map_or(0, |last| last + 1);
    let until = bytes.len().min(pages * ZEROS.len());
    bytes[..until].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// The newest journal of a store and how far it is written.
fn journal(folder: &std::path::Path) -> (std::path::PathBuf, Vec<u8>, usize) {
    let mut paths = Vec::new();
    files(folder, &mut paths);
    let path = paths.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "jnl")).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let written = written_len(&bytes);
    (path, bytes, written)
}

/// After a power loss a page in the middle of the last batch may be missing though the end is there; the engine alone
/// refused to open then ("checksum mismatch").
#[test]
fn a_page_missing_in_the_middle_of_the_journal_costs_the_blocks_from_there_on_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    let mut model = Model::default();
    let mut ends = Vec::new();
    for number in 0..4_u8 {
        let operations = vec![Operation::Write { table: 0, key: vec![number], value: vec![number + 1; 300] }; 1];
        let mut operations = operations;
        // Not compressible, so the journal holds it as it is.
        let mut random = crate::crash::Random(number.into());
        let value = (0..20_000).map(|_| random.next() as u8 | 1).collect();
        operations.push(Operation::Write { table: 3, key: Vec::new(), value });
        let block = model.push(operations).clone();
        write_block(&mut writer, &block).unwrap();
        writer.commit(false).unwrap();
        ends.push(journal(folder.path()).2);
    }
    drop((writer, store));
    let (path, original, _) = journal(folder.path());
    for damaged in 1..4 {
        let mut bytes = original.clone();
        let middle = usize::midpoint(ends[damaged - 1], ends[damaged]);
        bytes[middle..middle + 4096].fill(0);
        std::fs::write(&path, &bytes).unwrap();
        let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        let mut found = model.clone();
        found.blocks.truncate(damaged);
        check(&store.snapshot(), &found);
        // And the chain goes on from there.
        let mut writer = store.writer().unwrap();
        write_block(&mut writer, &model.blocks[damaged]).unwrap();
        writer.commit(true).unwrap();
        found.blocks.push(model.blocks[damaged].clone());
        check(&store.snapshot(), &found);
    }
}

#[test]
fn after_a_flush_a_stop_leaves_no_journal_and_the_next_start_has_it_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = sample(folder.path());
    assert!(journal(folder.path()).2 > 0);
    for round in 0..3 {
        let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        check(&store.snapshot(), &model);
        let mut writer = store.writer().unwrap();
        writer.undo_block().unwrap();
        model.blocks.pop();
        store.flush().unwrap();
        if round == 2 {
            // A commit after the flush is in the journal alone.
            writer.undo_block().unwrap();
            model.blocks.pop();
        }
        drop((writer, store));
        assert_eq!(journal(folder.path()).2 == 0, round < 2);
    }
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    check(&store.snapshot(), &model);
}
