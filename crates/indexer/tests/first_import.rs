//! The first import by sorted runs ends in the store of an import block by block, within its share of memory.

#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use paraffin_bitcoin_index::{BitcoinModule, RawTransactions, SCHEMA};
use paraffin_chain::{CheckedBlock, LocalChain as _, check_block};
use paraffin_devnet::{ACCOUNT_NAMES, Node, Scenario, Wallet};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{BlockId, ConnectedBlock, Network};
use paraffin_store::{BlockRecord, Store, StoreOptions};

const BLOCKS: u32 = 150;
const UNDO_BLOCKS: u32 = 12;
fn chain() -> Vec<ConnectedBlock> {
    let node = Node::default();
    let mut scenario = Scenario::new(7, Arc::new(Wallet::new(7, &ACCOUNT_NAMES)));
    for _ in 0..BLOCKS {
        scenario.step(&node).unwrap();
        let script = scenario.miner_script(node.tip().height + 1);
        node.mine_block(&script).unwrap();
    }
    let connected = |height| {
        let hash = node.block_hash(height).unwrap();
        let checked = check_block(&node.block_bytes(&hash).unwrap(), hash, true).unwrap();
        let CheckedBlock { block, size, txids, offsets } = checked;
        ConnectedBlock { id: BlockId { height, hash }, block, size, txids, offsets, spent: None, script_digests: None }
    };
    (0..=BLOCKS).map(connected).collect()
}

fn indexer(folder: &Path, memory_mib: u64, run_bytes: Option<u64>) -> Indexer {
    let memory_bytes = memory_mib << 20;
    let options = StoreOptions { network: Network::Regtest, undo_blocks: Some(UNDO_BLOCKS), memory_bytes };
    let store = Store::open(folder, &options, &[SCHEMA]).unwrap();
    let options = IndexerOptions { run_bytes, commit_interval: Duration::from_secs(3600), ..IndexerOptions::default() };
    with_options(store, options)
}

fn with_options(store: Store, options: IndexerOptions) -> Indexer {
    Indexer::new(store, vec![Box::new(BitcoinModule::new(RawTransactions::Store))], options).unwrap()
}

/// Applies the blocks that the indexer has not seen, up to `until`; returns the most pending bytes.
fn import(indexer: &mut Indexer, chain: &[ConnectedBlock], until: u32) -> u64 {
    let next = indexer.tip().map_or(0, |record| record.id.height + 1);
    let mut pending_max = 0;
    for block in &chain[next as usize..=until as usize] {
        indexer.expect_tip(BLOCKS);
        // The follower queries blocks below: committed, being written or waiting.
        let local = indexer.local_chain();
        assert_eq!(local.tip(), block.id.height.checked_sub(1).map(|below| chain[below as usize].id));
        for height in 0..block.id.height {
            assert_eq!(local.hash_at(height), Some(chain[height as usize].id.hash), "{height} below {}", block.id);
        }
        assert_eq!(local.hash_at(block.id.height), None);
        drop(local);
        indexer.apply(block).unwrap();
        pending_max = pending_max.max(indexer.pending_bytes());
    }
    pending_max
}

/// State for the comparison of two stores: records, undo window and all rows.
fn state(indexer: &Indexer) -> (Vec<BlockRecord>, u32, [u8; 32]) {
    let snapshot = indexer.store().snapshot();
    let records = (0..=snapshot.tip().unwrap().id.height).map(|height| snapshot.block(height).unwrap().unwrap());
    (records.collect(), snapshot.undo_from().unwrap(), snapshot.content_digest().unwrap())
}

#[test]
fn sorted_runs_end_in_the_store_of_an_import_block_by_block_through_stops_and_other_ceilings() {
    let chain = chain();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut straight = indexer(folders[0].path(), 256, None);
    for height in 0..=BLOCKS {
        import(&mut straight, &chain, height);
        straight.commit().unwrap();
    }
    // Stopped and started again with other ceilings and other runs; a stop without a commit loses what waits, no more.
    for (until, memory_mib, run_kib, is_planned) in
        [(40, 256, 10, true), (75, 512, 40, false), (110, 300, 5, true), (BLOCKS, 1024, 15, true)]
    {
        let mut sorted = indexer(folders[1].path(), memory_mib, Some(run_kib << 10));
        let begun = sorted.tip().map(|record| record.id.height);
        import(&mut sorted, &chain, until);
        if is_planned {
            sorted.commit().unwrap();
            assert_eq!(sorted.waiting(), 0);
            assert_eq!(sorted.store().snapshot().tip().unwrap().id.height, until);
        } else {
            drop(sorted);
            sorted = indexer(folders[1].path(), memory_mib, None);
            assert!(sorted.tip().map(|record| record.id.height) >= begun);
        }
        if until == BLOCKS {
            assert_eq!(state(&sorted), state(&straight));
            // And back, as far as undo reaches.
            for _ in 0..UNDO_BLOCKS {
                assert_eq!(sorted.undo().unwrap(), straight.undo().unwrap());
            }
            assert_eq!(state(&sorted).2, state(&straight).2);
            assert!(sorted.undo().is_err() && straight.undo().is_err());
        }
    }
}

#[test]
fn what_waits_for_a_run_never_exceeds_its_share_by_more_than_a_block() {
    let chain = chain();
    // Bytes of the largest block: with a commit after each, nothing else waits.
    let folder = tempfile::tempdir().unwrap();
    let mut straight = indexer(folder.path(), 256, None);
    let block_bytes_max = (0..=BLOCKS).map(|height| {
        let pending = import(&mut straight, &chain, height);
        straight.commit().unwrap();
        pending
    });
    let block_bytes_max = block_bytes_max.max().unwrap();
    for run_kib in [8_u64, 40] {
        let folder = tempfile::tempdir().unwrap();
        let mut indexer = indexer(folder.path(), 256, Some(run_kib << 10));
        let commits_before = indexer.store().stats().commits;
        // As far as runs reach: the last blocks wait for a commit of another size.
        let pending_max = import(&mut indexer, &chain, BLOCKS - UNDO_BLOCKS - 1);
        assert!(pending_max < (run_kib << 10) + block_bytes_max, "{pending_max} of {run_kib} KiB");
        let commits = indexer.store().stats().commits - commits_before;
        // The share is used, too: many blocks to a run, not one each.
        assert!(commits > 1 && commits < u64::from(BLOCKS) / 2, "{commits} commits with {run_kib} KiB");
    }
}

#[test]
fn runs_of_a_small_index_are_short_and_grow_with_it() {
    let chain = chain();
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: Some(UNDO_BLOCKS), memory_bytes: 256 << 20 };
    let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
    let mut growing = with_options(
        store,
        IndexerOptions { run_bytes: Some(1 << 30), run_bytes_min: 8 << 10, ..IndexerOptions::default() },
    );
    // What waited when a run was begun, and what the index then had on the disk.
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let mut pending_before = 0;
    for height in 0..BLOCKS - UNDO_BLOCKS {
        import(&mut growing, &chain, height);
        let pending = growing.pending_bytes();
        if pending < pending_before {
            runs.push((pending_before, growing.store().disk_bytes().0));
        }
        pending_before = pending;
    }
    assert!(runs.len() >= 5, "{runs:?}");
    let (first, last) = (runs[0], runs[runs.len() - 1]);
    assert!(first.0 < 16 << 10 && last.0 > 2 * first.0, "{runs:?}");
    assert!(runs.iter().all(|(pending, index)| *pending <= (*index / 2).max(8 << 10)), "{runs:?}");
}

/// Blocks of the undo window that arrive faster than they are committed: runs of few blocks, with their undo records.
#[test]
fn blocks_that_can_be_undone_are_written_as_runs_beside_those_that_follow_them() {
    let chain = chain();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let mut straight = indexer(folders[0].path(), 256, None);
    for height in 0..=BLOCKS {
        import(&mut straight, &chain, height);
        straight.commit().unwrap();
    }
    let open = || {
        let options =
            StoreOptions { network: Network::Regtest, undo_blocks: Some(UNDO_BLOCKS), memory_bytes: 256 << 20 };
        let store = Store::open(folders[1].path(), &options, &[SCHEMA]).unwrap();
        let commit_interval = Duration::from_secs(3600);
        with_options(
            store,
            IndexerOptions {
                commit_bytes: 4 << 10,
                run_bytes: Some(40 << 10),
                commit_interval,
                ..IndexerOptions::default()
            },
        )
    };
    let mut runs = open();
    let first_undoable = BLOCKS - UNDO_BLOCKS + 1;
    import(&mut runs, &chain, first_undoable - 1);
    let commits_before = runs.store().stats().commits;
    import(&mut runs, &chain, BLOCKS - 1);
    assert!(runs.store().stats().commits > commits_before + 1, "{commits_before} commits before");
    // What was not committed is lost with the process, and nothing else.
    drop(runs);
    let mut runs = open();
    let tip = runs.tip().unwrap().id.height;
    assert!((first_undoable..BLOCKS).contains(&tip), "{tip}");
    import(&mut runs, &chain, BLOCKS);
    runs.commit().unwrap();
    assert_eq!(state(&runs), state(&straight));
    for _ in 0..UNDO_BLOCKS {
        assert_eq!(runs.undo().unwrap(), straight.undo().unwrap());
    }
    assert_eq!(state(&runs).2, state(&straight).2);
}
