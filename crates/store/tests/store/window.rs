//! How far undo reaches.

use paraffin_store::{Store, StoreError};

use crate::model::{Model, Operation, check, options, schemas, write_block};

fn operations(number: u32) -> Vec<Operation> {
    (0..10)
        .map(|table| Operation::Write {
            table,
            key: format!("key {}", number % 3 + u32::from(table == 2 || table == 7) * number).into_bytes(),
            value: number.to_be_bytes().to_vec(),
        })
        .collect()
}

fn extend(store: &Store, model: &mut Model, blocks: u32, expected_tip: u32, each: bool) {
    let mut writer = store.writer().unwrap();
    writer.expect_tip(expected_tip);
    for _ in 0..blocks {
        let number = model.tip_height().unwrap_or(0);
        let block = model.push(operations(number)).clone();
        write_block(&mut writer, &block).unwrap();
        if each {
            writer.commit(false).unwrap();
        }
    }
    writer.commit(false).unwrap();
}

#[test]
fn a_reorg_deeper_than_the_window_is_refused_with_the_way_out_and_changes_nothing() {
    for (each, expected_tip) in [(true, 0), (false, 0), (true, 19), (false, 19)] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &options(Some(3)), &schemas()).unwrap();
        let mut model = Model::default();
        extend(&store, &mut model, 20, expected_tip, each);
        // A batch leaves its own undo records to later commits.
        extend(&store, &mut model, 1, expected_tip, each);
        let mut writer = store.writer().unwrap();
        assert!(writer.check_undo(3).is_ok() && writer.check_undo(0).is_ok());
        let refused = writer.check_undo(4);
        if each || expected_tip > 0 {
            let Err(StoreError::UndoExhausted { depth: 4, height: 17, undo_from: 18 }) = refused else {
                panic!("{refused:?}")
            };
        }
        assert!(matches!(writer.check_undo(22), Err(StoreError::NothingToUndo)));
        check(&store.snapshot(), &model);
        for _ in 0..3 {
            writer.undo_block().unwrap();
            model.blocks.pop();
        }
        check(&store.snapshot(), &model);
        if each || expected_tip > 0 {
            let error = writer.undo_block().unwrap_err();
            let StoreError::UndoExhausted { depth: 4, height: 17, undo_from: 18 } = error else { panic!("{error:?}") };
            let message = error.to_string();
            assert!(message.contains("snapshot import") && message.contains("reindex"), "{message}");
            assert!(message.contains("4 blocks deep"), "{message}");
            check(&store.snapshot(), &model);
        }
        // The chain goes on from there.
        drop(writer);
        extend(&store, &mut model, 5, expected_tip, each);
        check(&store.snapshot(), &model);
    }
}

#[test]
fn old_undo_records_are_removed_and_undo_from_stays_when_the_window_grows() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    extend(&store, &mut model, 100, 0, true);
    assert_eq!(store.snapshot().undo_from().unwrap(), 0);
    drop(store);
    // A smaller window is reached in bounded steps.
    let store = Store::open(folder.path(), &options(Some(10)), &schemas()).unwrap();
    extend(&store, &mut model, 1, 0, true);
    let after_one = store.snapshot().undo_from().unwrap();
    assert!(after_one > 0 && after_one < 91, "{after_one}");
    extend(&store, &mut model, 9, 0, true);
    assert_eq!(store.snapshot().undo_from().unwrap(), 100);
    drop(store);
    let store = Store::open(folder.path(), &options(Some(1000)), &schemas()).unwrap();
    extend(&store, &mut model, 5, 0, true);
    assert_eq!(store.snapshot().undo_from().unwrap(), 100);
    let mut writer = store.writer().unwrap();
    for _ in 100..=model.tip_height().unwrap() {
        writer.undo_block().unwrap();
        model.blocks.pop();
    }
    check(&store.snapshot(), &model);
    assert!(matches!(writer.undo_block(), Err(StoreError::UndoExhausted { height: 99, undo_from: 100, .. })));
}

#[test]
fn undo_and_redo_give_the_same_digests_and_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let mut model = Model::default();
    extend(&store, &mut model, 30, 0, true);
    let tip = store.snapshot().tip().cloned();
    let content = store.snapshot().content_digest().unwrap();
    let mut writer = store.writer().unwrap();
    for depth in [1, 7, 30] {
        for _ in 0..depth {
            writer.undo_block().unwrap();
            assert_ne!(store.snapshot().content_digest().unwrap(), content);
        }
        for block in &model.blocks[30 - depth..] {
            write_block(&mut writer, block).unwrap();
            writer.commit(false).unwrap();
        }
        assert_eq!(store.snapshot().tip().cloned(), tip);
        assert_eq!(store.snapshot().content_digest().unwrap(), content, "the bytes of all tables");
        check(&store.snapshot(), &model);
    }
}
