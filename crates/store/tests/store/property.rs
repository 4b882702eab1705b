//! Random blocks, commits, undos and restarts equal the model.

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::BlockId;
use paraffin_store::{Row, Store, StoreError, TableKind};
use proptest::prelude::*;

use crate::model::{Model, Operation, Rows, check, key, operation, options, schemas, tables, write, write_block};

#[derive(Debug, Clone)]
enum Step {
    Block(Vec<Operation>),
    Abandoned(Vec<Operation>),
    Commit,
    CommitSorted,
    Settle,
    Undo(usize),
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let operations = || proptest::collection::vec(operation(), 0..25);
    prop_oneof![
        6 => operations().prop_map(Step::Block),
        1 => operations().prop_map(Step::Abandoned),
        2 => Just(Step::Commit),
        2 => Just(Step::CommitSorted),
        1 => Just(Step::Settle),
        2 => (1_usize..5).prop_map(Step::Undo),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_blocks_commits_undos_and_restarts_equal_the_model(
        first_height in prop_oneof![Just(0_u32), Just(840_000)],
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        let mut writer = store.writer().unwrap();
        let mut model = Model::starting_at(first_height);
        for step in steps {
            match step {
                Step::Block(operations) => {
                    let block = model.push(operations).clone();
                    write_block(&mut writer, &block).unwrap();
                }
                Step::Abandoned(operations) => {
                    let block = model.clone().push(operations).clone();
                    writer.begin_block(block.id, block.previous, 0).unwrap();
                    for operation in &block.operations {
                        write(&mut writer.module(operation.table().module).unwrap(), operation).unwrap();
                    }
                    writer.abandon_block();
                }
                Step::Commit => {
                    writer.commit(false).unwrap();
                    prop_assert_eq!(writer.pending_blocks(), 0);
                    check(&store.snapshot(), &model);
                }
                Step::CommitSorted => {
                    // Reads of later blocks meet its rows on their way.
                    writer.commit_sorted().unwrap();
                    prop_assert_eq!(writer.pending_blocks(), 0);
                }
                Step::Settle => {
                    writer.settle().unwrap();
                    check_committed(&store, &writer, &model);
                }
                Step::Undo(depth) => {
                    writer.commit(false).unwrap();
                    for _ in 0..depth {
                        let wanted = model.blocks.pop().map(|block| block.id);
                        match writer.undo_block() {
                            Ok(record) => prop_assert_eq!(Some(record.id), wanted),
                            Err(StoreError::NothingToUndo) => prop_assert_eq!(wanted, None),
                            Err(error) => panic!("{error}"),
                        }
                    }
                    check(&store.snapshot(), &model);
                }
                Step::Flush => {
                    store.flush().unwrap();
                    writer.settle().unwrap();
                    check_committed(&store, &writer, &model);
                }
                Step::Reopen => {
                    // What is not committed is lost, as it should be.
                    writer.abandon_block();
                    let lost = writer.pending_blocks();
                    model.blocks.truncate(model.blocks.len() - lost);
                    drop(writer);
                    drop(store);
                    store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
                    writer = store.writer().unwrap();
                    check(&store.snapshot(), &model);
                }
            }
            prop_assert_eq!(writer.tip().map(|tip| tip.id), model.blocks.last().map(|block| block.id));
            check_writer_reads(&mut writer, &model);
        }
        // Undone to nothing, the store is as new.
        writer.commit(false).unwrap();
        while writer.tip().is_some() {
            writer.undo_block().unwrap();
        }
        check(&store.snapshot(), &Model::starting_at(first_height));
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn the_digest_does_not_depend_on_the_order_of_the_writes(
        operations in proptest::collection::vec(operation(), 1..40),
        seed: u64,
    ) {
        // Distinct keys only: among writes of one key the last one counts.
        let mut distinct: Vec<Operation> = Vec::new();
        for operation in operations {
            let (Operation::Write { table, key, .. } | Operation::Delete { table, key }) = &operation;
            let is_known = distinct.iter().any(|other| {
                let (Operation::Write { table: t, key: k, .. } | Operation::Delete { table: t, key: k }) = other;
                t == table && k == key
            });
            if !is_known && operation.table().kind != TableKind::Sequence {
                distinct.push(operation);
            }
        }
        let mut shuffled = distinct.clone();
        let mut state = seed | 1;
        for index in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(index, (state >> 33) as usize % (index + 1));
        }
        let digests = [distinct, shuffled].map(|operations| {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
            let mut writer = store.writer().unwrap();
            let block = Model::default().push(operations).clone();
            write_block(&mut writer, &block).unwrap();
            writer.commit(false).unwrap();
            store.snapshot().tip().unwrap().digest
        });
        prop_assert_eq!(digests[0], digests[1]);
    }
}

fn check_committed(store: &Store, writer: &paraffin_store::Writer, model: &Model) {
    let mut shown = model.clone();
    shown.blocks.truncate(model.blocks.len() - writer.pending_blocks());
    check(&store.snapshot(), &shown);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    /// The first import writes what the per-block path writes: the same digests of every block, the same rows.
    #[test]
    fn sorted_runs_and_commits_block_by_block_give_equal_stores(
        chain in proptest::collection::vec((proptest::collection::vec(operation(), 0..25), 0_u8..4), 1..25),
        undo_blocks in prop_oneof![Just(None), Just(Some(3))],
    ) {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut model = Model::default();
        let stores = [0, 1].map(|index: usize| Store::open(folders[index].path(), &options(undo_blocks), &schemas()).unwrap());
        let mut writers = [0, 1].map(|index: usize| stores[index].writer().unwrap());
        let tip = chain.len() as u32 - 1;
        for (operations, after) in chain {
            let block = model.push(operations).clone();
            for writer in &mut writers {
                writer.expect_tip(tip);
                write_block(writer, &block).unwrap();
            }
            writers[0].commit(false).unwrap();
            match after {
                0 => writers[1].commit_sorted().unwrap(),
                1 => {
                    writers[1].commit_sorted().unwrap();
                    writers[1].settle().unwrap();
                }
                _ => {}
            }
        }
        writers[1].commit_sorted().unwrap();
        writers[1].settle().unwrap();
        for store in &stores {
            check(&store.snapshot(), &model);
        }
        prop_assert_eq!(stores[0].snapshot().content_digest().unwrap(), stores[1].snapshot().content_digest().unwrap());
        // Undo reaches as far down in both.
        prop_assert_eq!(writers[0].undo_from(), writers[1].undo_from());
        while let Ok(record) = writers[0].undo_block() {
            prop_assert_eq!(writers[1].undo_block().unwrap(), record);
            model.blocks.pop();
            check(&stores[1].snapshot(), &model);
        }
        prop_assert!(writers[1].undo_block().is_err());
        prop_assert_eq!(stores[0].snapshot().content_digest().unwrap(), stores[1].snapshot().content_digest().unwrap());
    }
}

/// Reads of a block in progress see committed, waiting and own rows alike.
fn check_writer_reads(writer: &mut paraffin_store::Writer, model: &Model) {
    let height = model.tip_height().map_or(model.first_height, |height| height + 1);
    let previous = model.blocks.last().map_or(BlockHash::all_zeros(), |block| block.id.hash);
    writer.begin_block(BlockId { height, hash: BlockHash::from_byte_array([9; 32]) }, previous, 0).unwrap();
    let mut rows: Rows = model.rows();
    for (index, table) in tables().enumerate() {
        let mut module = writer.module(table.module).unwrap();
        // One write of its own in every table.
        match table.kind {
            TableKind::Sequence => {
                let number = module.append(&table, b"own").unwrap();
                assert_eq!(number as usize, rows[index].len());
                rows[index].insert(number.to_be_bytes().to_vec(), b"own".to_vec());
                assert_eq!(module.sequence_len(&table).unwrap(), number + 1);
            }
            _ => {
                module.put(&table, &[3], b"own").unwrap();
                rows[index].insert(vec![3], b"own".to_vec());
            }
        }
        for (key, value) in &rows[index] {
            assert_eq!(module.get(&table, key).unwrap().as_ref(), Some(value), "{} {key:?}", table.name);
        }
        assert_eq!(module.get(&table, &[2, 2]).unwrap(), None);
        for prefix in [&[][..], &[0], &[0, 0], &[1], &[3], &[0xff]] {
            for limit in [1, 3, usize::MAX] {
                let wanted: Vec<Row> = rows[index]
                    .iter()
                    .filter(|(key, _)| key.starts_with(prefix))
                    .take(limit)
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                let found = module.prefix(&table, prefix, limit).unwrap();
                assert_eq!(found, wanted, "{} {prefix:?} {limit}", table.name);
            }
        }
        if table.kind == TableKind::Versioned {
            for block in &model.blocks {
                let wanted: Vec<Row> = block.rows[index].clone().into_iter().collect();
                let at = block.id.height;
                assert_eq!(module.prefix_at(&table, &[], at, usize::MAX).unwrap(), wanted, "{} at {at}", table.name);
            }
        }
    }
    writer.abandon_block();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn ranges_from_both_ends_meet_once(
        blocks in proptest::collection::vec(proptest::collection::vec(operation(), 0..40), 1..14),
        from in key(),
        to in key(),
        turns in proptest::collection::vec(any::<bool>(), 60),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        let mut writer = store.writer().unwrap();
        let mut model = Model::default();
        for operations in blocks {
            let block = model.push(operations).clone();
            write_block(&mut writer, &block).unwrap();
        }
        writer.commit(false).unwrap();
        let snapshot = store.snapshot();
        let rows = model.rows();
        for (index, table) in tables().enumerate() {
            let wanted: Vec<Row> = rows[index]
                .iter()
                .filter(|(key, _)| **key >= from && **key <= to)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            let mut range = snapshot.range(&table, &from, &to);
            let (mut front, mut back) = (Vec::new(), Vec::new());
            for forward in turns.iter().cycle() {
                let row = if *forward { range.next() } else { range.next_back() };
                match row {
                    None => break,
                    Some(row) => if *forward { &mut front } else { &mut back }.push(row.unwrap()),
                }
                if turns.iter().all(|turn| turn == forward) && front.len() + back.len() > wanted.len() {
                    break;
                }
            }
            front.extend(back.into_iter().rev());
            prop_assert_eq!(&front, &wanted, "{} {:?}..={:?}", table.name, from, to);
        }
    }
}
