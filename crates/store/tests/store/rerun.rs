//! One module alone, back and forward again.

use paraffin_primitives::Height;
use paraffin_store::{ModuleId, ModuleSchema, Rewound, Store, StoreError, Writer};
use proptest::prelude::*;

use crate::model::{
    FIRST, Model, Operation, SECOND, check, check_tables, operation, options, schemas, tables, write_block,
    write_module,
};

fn filled(store: &Store, blocks: Vec<Vec<Operation>>, first_height: Height) -> Model {
    let mut model = Model::starting_at(first_height);
    let mut writer = store.writer().unwrap();
    for operations in blocks {
        let block = model.push(operations).clone();
        write_block(&mut writer, &block).unwrap();
        writer.commit(false).unwrap();
    }
    model
}

/// Replays the next block of the module; false at the tip.
fn replay_next(writer: &mut Writer, module: ModuleId, model: &Model) -> bool {
    let Some(id) = writer.next_replay(module).unwrap() else { return false };
    let block = model.block(id.height).unwrap();
    assert_eq!(block.id, id);
    writer.replay_block(module, id).unwrap();
    write_module(writer, module, &block.operations).unwrap();
    writer.end_block().unwrap();
    true
}

fn cut(model: &Model, to: Option<Height>) -> Model {
    let mut cut = model.clone();
    cut.blocks.retain(|block| to.is_some_and(|to| block.id.height <= to));
    cut
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn rewind_and_replay_equal_a_straight_run(
        blocks in proptest::collection::vec(proptest::collection::vec(operation(), 0..20), 1..20),
        first_height in prop_oneof![Just(0_u32), Just(500)],
        undo_blocks in prop_oneof![Just(None), Just(Some(4))],
        choose_second: bool,
        to in proptest::option::of(0_u32..20),
        commits in proptest::collection::vec(0_u8..4, 30),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), &options(undo_blocks), &schemas()).unwrap();
        let model = filled(&store, blocks, first_height);
        let (module, other) = if choose_second { (SECOND.id, FIRST.id) } else { (FIRST.id, SECOND.id) };
        let to = to.map(|to| to + first_height);
        let tip = model.tip_height().unwrap();
        let mut writer = store.writer().unwrap();
        let rewound = writer.rewind_module(module, to).unwrap();
        let reached = match rewound {
            Rewound::Unchanged => {
                prop_assert!(to.is_some_and(|to| to >= tip));
                Some(tip)
            }
            Rewound::Undone { blocks } => {
                prop_assert_eq!(blocks, to.map_or(tip + 1 - first_height, |to| tip - to));
                to
            }
            Rewound::Cleared => {
                // Only when undo does not reach.
                let reach = to.map_or(first_height, |to| to + 1);
                prop_assert!(undo_blocks.is_some() && reach + 4 <= tip);
                None
            }
        };
        let snapshot = store.snapshot();
        prop_assert_eq!(snapshot.module_height(module).unwrap(), reached);
        prop_assert_eq!(snapshot.module_height(other).unwrap(), Some(tip));
        check_tables(&snapshot, &cut(&model, reached), &[module]);
        check_tables(&snapshot, &model, &[other]);
        // A snapshot keeps the folder in use.
        drop(snapshot);
        if reached != Some(tip) {
            let next = model.clone().push(Vec::new()).clone();
            let refused = writer.begin_block(next.id, next.previous, 0);
            prop_assert!(matches!(refused, Err(StoreError::ModuleBehind { .. })), "{:?}", refused);
        }
        for step in commits.iter().cycle() {
            if !replay_next(&mut writer, module, &model) {
                break;
            }
            match step {
                0 => {}
                1 | 2 => writer.commit(false).unwrap(),
                _ => {
                    // As after a crash: what was not committed is gone, the rest goes on.
                    drop(writer);
                    drop(store);
                    store = Store::open(folder.path(), &options(undo_blocks), &schemas()).unwrap();
                    writer = store.writer().unwrap();
                    if commits.iter().all(|step| matches!(step, 0 | 3)) {
                        while replay_next(&mut writer, module, &model) {}
                        break;
                    }
                }
            }
        }
        writer.commit(true).unwrap();
        check(&store.snapshot(), &model);
        // Undo after the re-run takes both modules back.
        let mut shorter = model.clone();
        while writer.check_undo(1).is_ok() {
            writer.undo_block().unwrap();
            shorter.blocks.pop();
            check(&store.snapshot(), &shorter);
        }
    }
}

fn some_blocks(count: u32) -> Vec<Vec<Operation>> {
    (0..count)
        .map(|number| {
            (0..tables().count())
                .flat_map(|table| {
                    [number, number / 2, 7].map(|key| Operation::Write {
                        table,
                        key: key.to_be_bytes().to_vec(),
                        value: vec![number as u8; 5],
                    })
                })
                .collect()
        })
        .collect()
}

#[test]
fn a_module_that_writes_other_rows_gets_new_digests_as_if_it_always_had() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let before = filled(&store, some_blocks(12), 3);
    // The same chain as a changed second module would have indexed it.
    let mut after = Model::starting_at(3);
    for block in &before.blocks {
        let mut operations = block.operations.clone();
        operations.push(Operation::Write {
            table: 9,
            key: b"new".to_vec(),
            value: block.id.height.to_be_bytes().to_vec(),
        });
        let id = block.id;
        after.push(operations);
        let last = after.blocks.last_mut().unwrap();
        (last.id, last.previous) = (id, block.previous);
    }
    assert_ne!(before.blocks[0].digest, after.blocks[0].digest);
    let mut writer = store.writer().unwrap();
    assert_eq!(writer.rewind_module(SECOND.id, None).unwrap(), Rewound::Undone { blocks: 12 });
    for _ in 0..5 {
        assert!(replay_next(&mut writer, SECOND.id, &after));
    }
    writer.commit(false).unwrap();
    // Half way the lower digests are new already, and the tip is what it was.
    let half = store.snapshot();
    assert_eq!(half.block(7).unwrap().unwrap().cumulative, after.block(7).unwrap().cumulative);
    assert_eq!(half.tip().unwrap().cumulative, before.blocks[11].cumulative);
    while replay_next(&mut writer, SECOND.id, &after) {
        writer.commit(false).unwrap();
    }
    check(&store.snapshot(), &after);
}

#[test]
fn a_new_module_catches_up_and_the_store_is_as_if_it_had_been_there() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = some_blocks(9);
    let mut only_first = Model::starting_at(100);
    let store = Store::open(folder.path(), &options(Some(4)), &[FIRST]).unwrap();
    let mut writer = store.writer().unwrap();
    for operations in &blocks {
        let block = only_first.push(operations.clone()).clone();
        writer.begin_block(block.id, block.previous, 1_000_000 + block.id.height).unwrap();
        write_module(&mut writer, FIRST.id, &block.operations).unwrap();
        writer.end_block().unwrap();
        writer.commit(false).unwrap();
    }
    assert!(matches!(writer.module(SECOND.id), Err(StoreError::Misuse(_))));
    drop((writer, store));
    let store = Store::open(folder.path(), &options(Some(4)), &schemas()).unwrap();
    assert_eq!(store.snapshot().module_height(SECOND.id).unwrap(), None);
    assert_eq!(store.snapshot().module_height(FIRST.id).unwrap(), Some(108));
    let mut writer = store.writer().unwrap();
    let next = only_first.clone().push(Vec::new()).clone();
    let message = writer.begin_block(next.id, next.previous, 0).unwrap_err().to_string();
    assert!(
        message.contains("`second` is indexed up to nothing") && message.contains("paraffin reindex second"),
        "{message}"
    );
    while replay_next(&mut writer, SECOND.id, &only_first) {}
    writer.commit(false).unwrap();
    check(&store.snapshot(), &only_first);
    // A module that is not declared any more stays where it is; undo takes it along all the same.
    drop((writer, store));
    let store = Store::open(folder.path(), &options(Some(4)), &[FIRST]).unwrap();
    let mut writer = store.writer().unwrap();
    writer.undo_block().unwrap();
    only_first.blocks.pop();
    check(&store.snapshot(), &only_first);
    let block = only_first.push(some_blocks(1).remove(0)).clone();
    writer.begin_block(block.id, block.previous, 1_000_000 + block.id.height).unwrap();
    write_module(&mut writer, FIRST.id, &block.operations).unwrap();
    writer.end_block().unwrap();
    writer.commit(false).unwrap();
    assert_eq!(store.snapshot().module_height(SECOND.id).unwrap(), Some(107));
    assert_eq!(store.snapshot().module_height(FIRST.id).unwrap(), Some(108));
}

#[test]
fn another_version_of_a_module_is_refused_until_it_is_rebuilt() {
    const SECOND_NEXT: ModuleSchema = ModuleSchema { version: 4, ..SECOND };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let model = filled(&store, some_blocks(6), 0);
    drop(store);
    let next = [FIRST, SECOND_NEXT];
    let Err(error) = Store::open(folder.path(), &options(None), &next) else { panic!("opened") };
    let message = error.to_string();
    assert!(matches!(error, StoreError::ModuleVersion { found: 3, wanted: 4, .. }), "{error:?}");
    assert!(message.contains("`paraffin reindex second --from 0`"), "{message}");
    // Another module's reindex does not let it pass.
    assert!(Store::open_for_reindex(folder.path(), &options(None), &next, FIRST.id).is_err());
    let store = Store::open_for_reindex(folder.path(), &options(None), &next, SECOND.id).unwrap();
    let mut writer = store.writer().unwrap();
    let block = model.clone().push(Vec::new()).clone();
    assert!(matches!(
        writer.begin_block(block.id, block.previous, 0),
        Err(StoreError::ModuleBehind { height: None, .. })
    ));
    assert!(matches!(writer.replay_block(SECOND.id, model.blocks[0].id), Err(StoreError::Misuse(_))));
    // Undo exists, but the rows are of another version.
    assert_eq!(writer.rewind_module(SECOND.id, Some(3)).unwrap(), Rewound::Cleared);
    assert_eq!(store.snapshot().module_height(SECOND.id).unwrap(), None);
    drop((writer, store));
    let store = Store::open(folder.path(), &options(None), &next).unwrap();
    let mut writer = store.writer().unwrap();
    while replay_next(&mut writer, SECOND.id, &model) {}
    writer.commit(false).unwrap();
    check(&store.snapshot(), &model);
    drop((writer, store));
    assert!(Store::open(folder.path(), &options(None), &schemas()).is_err());
}

#[test]
fn blocks_that_are_not_next_or_not_known_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
    let model = filled(&store, some_blocks(4), 0);
    let mut writer = store.writer().unwrap();
    assert!(matches!(writer.replay_block(FIRST.id, model.blocks[3].id), Err(StoreError::UnknownBlock(_))));
    writer.rewind_module(FIRST.id, Some(1)).unwrap();
    for wrong in [model.blocks[1].id, model.blocks[3].id] {
        assert!(matches!(writer.replay_block(FIRST.id, wrong), Err(StoreError::UnknownBlock(_))));
    }
    let mut other = model.blocks[2].id;
    other.hash = model.blocks[0].id.hash;
    assert!(matches!(writer.replay_block(FIRST.id, other), Err(StoreError::UnknownBlock(_))));
    writer.replay_block(FIRST.id, model.blocks[2].id).unwrap();
    assert!(matches!(writer.module(SECOND.id), Err(StoreError::Misuse(_))));
    assert!(matches!(writer.undo_block(), Err(StoreError::Misuse(_))));
    writer.abandon_block();
    // The tip goes while the module is behind it: its own rows below stay.
    writer.undo_block().unwrap();
    let mut shorter = model.clone();
    shorter.blocks.pop();
    assert_eq!(store.snapshot().module_height(FIRST.id).unwrap(), Some(1));
    check_tables(&store.snapshot(), &cut(&model, Some(1)), &[FIRST.id]);
    check_tables(&store.snapshot(), &shorter, &[SECOND.id]);
    assert!(replay_next(&mut writer, FIRST.id, &model));
    assert!(!replay_next(&mut writer, FIRST.id, &model));
    writer.commit(false).unwrap();
    check(&store.snapshot(), &shorter);
}
