//! Programs of WASM under the host: our own, which counts blocks, and one built for each test that flushes what the native engine
//! did, in the layout of the alkanes indexer.
//!
//! `PARAFFIN_LONG=1` goes on until both engines have run ten thousand blocks, and prints a line for each chain.
#![cfg(feature = "machine")]
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use bitcoin::BlockHash;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash as _;
use bitcoin::hex::DisplayHex as _;
use paraffin_hosted::{
    BlockLimits, BlockRow, Flush, HostedModule, HostedViews, OnDifference, Program, ProgramError, Serves, ViewError,
    ViewLimits, load,
};
use paraffin_primitives::{ConnectedBlock, Height};

use support::{Index, branches, flushes, run_natively};

fn block_counter() -> Arc<dyn Program> {
    load(include_bytes!("../../../contracts/wasm/block-counter.wasm")).unwrap()
}

fn hosting(program: &Arc<dyn Program>) -> Index {
    let module = HostedModule::new(Arc::clone(program), BlockLimits::default(), 0);
    Index::of(|_| vec![Box::new(module)])
}

fn views(program: &Arc<dyn Program>) -> HostedViews {
    HostedViews::new(Arc::clone(program), ViewLimits::default())
}

/// The counter's answer after a block.
fn counts(blocks: &[ConnectedBlock]) -> Vec<u8> {
    let transactions: usize = blocks.iter().map(|block| block.txids.len()).sum();
    [(blocks.len() as u64).to_le_bytes(), (transactions as u64).to_le_bytes()].concat()
}

#[test]
fn the_counter_is_replayed_with_digests_and_answers_at_every_height() {
    let program = block_counter();
    let mut index = hosting(&program);
    let branches = branches(3, 110);
    for branch in &branches {
        index.follow(branch).unwrap();
        let (snapshot, views) = (index.store.snapshot(), views(&program));
        let view = |height, name: &str, payload: &[u8]| views.view(&snapshot, height, name, payload, &|| false);
        for (block, so_far) in branch.iter().zip(1..) {
            let height = block.id.height;
            let header = serialize(&block.block.header);
            let counted = counts(&branch[..so_far]);
            assert_eq!(view(height, "counts", b"").unwrap(), counted);
            // The header of this block, at its height and not before.
            assert_eq!(view(height, "header", &height.to_le_bytes()).unwrap(), header);
            if let Some(before) = height.checked_sub(1) {
                assert_eq!(view(before, "header", &height.to_le_bytes()).unwrap(), b"");
            }
            let key = [b"/header/", &height.to_le_bytes()[..]].concat();
            let flush = Flush { pairs: BTreeMap::from([(b"/counts".to_vec(), counted), (key, header)]) };
            let row = BlockRow::at(&snapshot, height).unwrap().unwrap();
            assert_eq!(row.digest, flush.digest());
            assert_eq!((row.pairs, row.bytes, row.program), (2, flush.bytes(), program.hash()));
        }
    }
    // A branch that was left and came back is the same store as one that never saw it.
    let mut straight = hosting(&program);
    straight.follow(&branches[1]).unwrap();
    assert_eq!(straight.content(), index.content());
}

#[test]
fn a_preview_sees_one_block_more_and_leaves_nothing() {
    let program = block_counter();
    let mut index = hosting(&program);
    let chain = &branches(3, 110)[0];
    index.follow(&chain[..100]).unwrap();
    let content = index.content();
    let (snapshot, views) = (index.store.snapshot(), views(&program));
    let block = serialize(&chain[100].block);
    let previewed =
        |name: &str, payload: &[u8]| views.preview(&snapshot, 99, &block, name, payload, &|| false).unwrap();
    assert_eq!(previewed("counts", b""), counts(&chain[..101]));
    assert_eq!(previewed("header", &100u32.to_le_bytes()), serialize(&chain[100].block.header));
    // On top of an older block as well.
    let older = views.preview(&snapshot, 49, &serialize(&chain[50].block), "counts", b"", &|| false).unwrap();
    assert_eq!(older, counts(&chain[..51]));
    let failed = views.preview(&snapshot, 99, b"no block", "counts", b"", &|| false);
    assert!(matches!(failed, Err(ViewError::Program(ProgramError::Trapped(_)))), "{failed:?}");
    assert!(matches!(
        views.preview(&snapshot, 99, &block, "other", b"", &|| false),
        Err(ViewError::Program(ProgramError::UnknownView))
    ));
    assert_eq!(views.view(&snapshot, 99, "counts", b"", &|| false).unwrap(), counts(&chain[..100]));
    assert_eq!(index.content(), content);
}

#[test]
fn views_that_take_too_much_or_too_long_end() {
    let text = r#"(module (memory (export "memory") 1) (func (export "_start"))
        (func (export "grows") (result i32) (loop (drop (memory.grow (i32.const 16))) br 0) (i32.const 4))
        (func (export "loops") (result i32) (loop br 0) (i32.const 4))
        (func (export "large") (result i32) (i32.store (i32.const 4) (i32.const 60000)) (i32.const 8)))"#;
    let program = load(&wat::parse_str(text).unwrap()).unwrap();
    let index = hosting(&program);
    let snapshot = index.store.snapshot();
    let limits =
        ViewLimits { memory_bytes_max: 4 << 20, answer_bytes_max: 1000, concurrent_max: 1, ..ViewLimits::default() };
    let views = HostedViews::new(Arc::clone(&program), limits);
    let view = |name: &str, is_over: &dyn Fn() -> bool| views.view(&snapshot, 0, name, b"", is_over);
    assert!(matches!(view("grows", &|| false), Err(ViewError::Program(ProgramError::TooMuchMemory(4)))));
    assert!(matches!(view("large", &|| false), Err(ViewError::TooLarge)));
    let inner = std::cell::RefCell::new(None);
    let is_over = || {
        // While one view runs, a second gets no permit.
        let second = views.view(&snapshot, 0, "large", b"", &|| false);
        *inner.borrow_mut() = Some(matches!(second, Err(ViewError::Saturated)));
        true
    };
    assert!(matches!(view("loops", &is_over), Err(ViewError::Program(ProgramError::TooLong))));
    assert_eq!(inner.into_inner(), Some(true));
    // Its permit is free again.
    assert!(matches!(view("large", &|| false), Err(ViewError::TooLarge)));
}

#[test]
fn previews_have_fewer_permits_and_a_memory_of_their_own() {
    // Its block takes 8 MiB, the view that loops never ends.
    let text = r#"(module (import "env" "__flush" (func $flush (param i32))) (memory (export "memory") 1)
        (func (export "_start") (drop (memory.grow (i32.const 128))) (call $flush (i32.const 4)))
        (func (export "loops") (result i32) (loop br 0) (i32.const 4))
        (func (export "empty") (result i32) (i32.const 4)))"#;
    let program = load(&wat::parse_str(text).unwrap()).unwrap();
    let index = hosting(&program);
    let snapshot = index.store.snapshot();
    let limits = ViewLimits {
        memory_bytes_max: 1 << 20,
        preview_memory_bytes_max: 9 << 20,
        concurrent_max: 2,
        previews_max: 1,
        ..ViewLimits::default()
    };
    let views = HostedViews::new(Arc::clone(&program), limits);
    let preview = |name: &str, is_over: &dyn Fn() -> bool| views.preview(&snapshot, 0, b"", name, b"", is_over);
    assert_eq!(preview("empty", &|| false).unwrap(), b"");
    let inner = std::cell::RefCell::new(None);
    let is_over = || {
        // While one preview runs, a second gets no permit, and a view does.
        let second = preview("empty", &|| false);
        let view = views.view(&snapshot, 0, "empty", b"", &|| false);
        *inner.borrow_mut() = Some((matches!(second, Err(ViewError::Saturated)), view.is_ok()));
        true
    };
    assert!(matches!(preview("loops", &is_over), Err(ViewError::Program(ProgramError::TooLong))));
    assert_eq!(inner.into_inner(), Some((true, true)));
    assert_eq!(preview("empty", &|| false).unwrap(), b"");
    let small = ViewLimits { preview_memory_bytes_max: 8 << 20, ..limits };
    let small = HostedViews::new(program, small).preview(&snapshot, 0, b"", "empty", b"", &|| false);
    assert!(matches!(small, Err(ViewError::Program(ProgramError::TooMuchMemory(8)))), "{small:?}");
}

#[test]
fn views_on_many_threads_answer_each_its_own_height() {
    let program = block_counter();
    let mut index = hosting(&program);
    let chain = &branches(3, 110)[0];
    index.follow(chain).unwrap();
    let (snapshot, views) = (index.store.snapshot(), views(&program));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (views, snapshot) = (&views, &snapshot);
            scope.spawn(move || {
                for height in (thread..110).step_by(8) {
                    let counted = views.view(snapshot, height, "counts", b"", &|| false).unwrap();
                    assert_eq!(counted, counts(&chain[..=height as usize]), "{height}");
                }
            });
        }
    });
}

#[test]
fn a_program_that_traps_halts_at_its_block_and_what_was_is_still_answered() {
    // Counts as the counter does not: it traps at height 5.
    let text = r#"(module
        (import "env" "__load_input" (func $load_input (param i32))) (import "env" "__flush" (func $flush (param i32)))
        (memory (export "memory") 64) (data (i32.const 0) "\06\00\00\00\0a\01k\0a\01v")
        (func (export "_start") (call $load_input (i32.const 1000))
            (if (i32.eq (i32.load (i32.const 1000)) (i32.const 5)) (then unreachable)) (call $flush (i32.const 4)))
        (func (export "message") (result i32) (i32.const 4)))"#;
    let program = load(&wat::parse_str(text).unwrap()).unwrap();
    let mut index = hosting(&program);
    let error = index.follow(&branches(3, 110)[0]).unwrap_err().to_string();
    assert!(error.contains("the hosted indexer program halts: the program trapped: wasm trap"), "{error}");
    assert!(error.starts_with("block 5:"), "{error}");
    assert_eq!(index.height(), Some(4));
    assert_eq!(
        views(&program).view(&index.store.snapshot(), 4, "message", b"", &|| false).unwrap(),
        b"\x0a\x01k\x0a\x01v"
    );
}

#[test]
fn keys_and_values_of_any_length_come_back_at_every_height() {
    use support::Scripted;
    let chain = &branches(3, 110)[0][..3];
    let long = |byte: u8, len: usize| vec![byte; len];
    let mut flushes: HashMap<BlockHash, Flush> = HashMap::new();
    let keys = [b"".to_vec(), long(1, 4000), long(1, 4001), long(1, 4032), long(2, 100_000)];
    let value = |block: usize, key: usize| match (block, key) {
        (0, 4) => long(9, 9_000_000),
        (1, 4) => long(8, 70_000),
        (2, 4) => b"short".to_vec(),
        _ => format!("{block} {key}").into_bytes(),
    };
    for (number, block) in chain.iter().enumerate() {
        let pairs = keys.iter().enumerate().map(|(index, key)| (key.clone(), value(number, index))).collect();
        flushes.insert(block.id.hash, Flush { pairs });
    }
    let program: Arc<dyn Program> = Arc::new(Scripted(flushes));
    let mut index = hosting(&program);
    index.follow(chain).unwrap();
    let (snapshot, views) = (index.store.snapshot(), views(&program));
    for (height, _) in (0u32..).zip(chain) {
        for (index, key) in keys.iter().enumerate() {
            let read = views.view(&snapshot, height, "value", key, &|| false).unwrap();
            assert!(read == value(height as usize, index), "{height} {index}");
        }
    }
}

/// A program that flushes messages by the Merkle root of the block, out of its data.
fn stand_in(flushes: &HashMap<BlockHash, Flush>, blocks: &[Vec<ConnectedBlock>]) -> Vec<u8> {
    /// Where the input goes, behind the height and up to the Merkle root, and where the table begins.
    const ROOT: usize = 4 + 36;
    const TABLE: usize = 4 << 20;
    let of_all: BTreeMap<BlockHash, [u8; 8]> = blocks
        .iter()
        .flatten()
        .map(|block| {
            let root = block.block.header.merkle_root.to_byte_array();
            (block.id.hash, root[..8].try_into().unwrap())
        })
        .collect();
    let (mut table, mut messages) = (Vec::new(), Vec::new());
    let first = TABLE + 12 * of_all.len();
    for (hash, root) in &of_all {
        let message = flushes[hash].encode();
        messages.extend((message.len() as u32).to_le_bytes());
        table.extend(root);
        table.extend(((first + messages.len()) as u32).to_le_bytes());
        messages.extend(message);
    }
    table.extend(&messages);
    let mut data = String::with_capacity(3 * table.len());
    for byte in &table {
        write!(data, "\\{byte:02x}").unwrap();
    }
    let pages = (TABLE + table.len()).div_ceil(65_536) + 1;
    let text = format!(
        r#"(module
            (import "env" "__load_input" (func $load_input (param i32))) (import "env" "__flush" (func $flush (param i32)))
            (memory (export "memory") {pages}) (data (i32.const {TABLE}) "{data}")
            (func (export "_start") (local $entry i32)
                (call $load_input (i32.const 0))
                (local.set $entry (i32.const {TABLE}))
                (loop $next
                    (if (i64.eq (i64.load (local.get $entry)) (i64.load (i32.const {ROOT})))
                        (then (call $flush (i32.load offset=8 (local.get $entry))) (return)))
                    (local.set $entry (i32.add (local.get $entry) (i32.const 12)))
                    (br_if $next (i32.lt_u (local.get $entry) (i32.const {first}))))
                unreachable))"#
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn a_stand_in_for_the_alkanes_indexer_is_followed_until_one_byte_differs() {
    const HEIGHT: Height = 118;
    let branches = branches(9, HEIGHT);
    let (effects, native_alone) = run_natively(&branches);
    let mut flushes = flushes(&branches, &effects);
    let program = load(&stand_in(&flushes, &branches)).unwrap();
    let (mut index, differences) = Index::shadowed(program, Serves::Native, OnDifference::Halt);
    for branch in &branches {
        index.follow(branch).unwrap();
    }
    assert_eq!((differences.count(), differences.last()), (0, None));
    assert_ne!(index.content(), native_alone, "the program's own state is kept as well");

    let tip = branches[1].last().unwrap();
    let storage = flushes
        .get_mut(&tip.id.hash)
        .unwrap()
        .pairs
        .iter_mut()
        .find(|(key, value)| key.windows(9).any(|window| window == b"/storage/") && !value.is_empty());
    storage.unwrap().1[0] ^= 1;
    let program = load(&stand_in(&flushes, &branches)).unwrap();
    let (mut index, _) = Index::shadowed(program, Serves::Native, OnDifference::Halt);
    index.follow(&branches[0]).unwrap();
    let error = index.follow(&branches[1]).unwrap_err().to_string();
    assert!(error.contains("storage of ") && error.contains("left: "), "{error}");
    assert_eq!(index.height(), Some(tip.id.height - 1));
}

#[test]
fn ten_thousand_blocks_of_random_chains_or_one_chain_are_equal_in_both_engines() {
    let is_long = std::env::var_os("PARAFFIN_LONG").is_some();
    let given = |name| std::env::var(name).ok().map(|text| text.parse::<usize>().expect("a number"));
    let (height, blocks_min) = if is_long { (400, 10_000) } else { (support::TRADING, 1) };
    // A long run may be made in parts.
    let blocks_min = given("PARAFFIN_SHADOW_BLOCKS").unwrap_or(blocks_min);
    let first_seed = given("PARAFFIN_SHADOW_SEED").unwrap_or(100) as u64;
    println!("seed,blocks,messages,program_bytes,differences,seconds,digest");
    let mut compared = 0;
    for seed in first_seed.. {
        let branches = branches(seed, height);
        let (effects, _) = run_natively(&branches);
        let module = stand_in(&flushes(&branches, &effects), &branches);
        let program = load(&module).unwrap();
        let (mut index, differences) = Index::shadowed(program, Serves::Native, OnDifference::Halt);
        let begun = Instant::now();
        for branch in &branches {
            index.follow(branch).unwrap();
        }
        let seconds = begun.elapsed().as_secs_f64();
        assert_eq!((differences.count(), differences.last()), (0, None), "seed {seed}");
        assert_eq!(differences.compared(), effects.len() as u64, "seed {seed}");
        let messages: usize = effects.values().map(|effects| effects.traces.len()).sum();
        let tip = branches[1].last().unwrap().id.height;
        let digest = HostedViews::digest(&index.store.snapshot(), tip).unwrap().unwrap().to_lower_hex_string();
        println!("{seed},{},{messages},{},0,{seconds:.2},{digest}", effects.len(), module.len());
        compared += effects.len();
        if compared >= blocks_min {
            break;
        }
    }
}
