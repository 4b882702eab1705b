//! Hostile contracts: each ends as the protocol defines, and the process survives.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_alkanes::{CodeCache, Halt, Parameters};
use paraffin_primitives::Network;
use proptest::prelude::*;

use crate::stage::{SUBJECT, Stage, answering, contract, module, module_text, wat};

#[test]
fn loops_end_when_the_fuel_does() {
    let mut stage = Stage::with(&contract("probe"));
    stage.parameters = Parameters { fuel_is_minimum: true, ..Parameters::of(Network::Mainnet) };
    stage.height = 960_000;
    let begun = Instant::now();
    assert_eq!(stage.message(&[80]).revert(), "ALKANES: revert: all fuel consumed by WebAssembly");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn recursion_ends_at_1024_calls() {
    let recursing = module(
        r#"(func $descend (param i32) (if (local.get 0) (then (call $descend (i32.sub (local.get 0) (i32.const 1))))))
        (func (export "__execute") (result i32) (call $descend (i32.const DEPTH)) (i32.const 1028))"#
            .replace("DEPTH", "100000")
            .as_str(),
    );
    assert_eq!(Stage::with(&recursing).message(&[]).revert(), "ALKANES: revert: call stack exhausted");
    let probe = Stage::with(&contract("probe"));
    assert_eq!(probe.message(&[81, 100]).data(), 100_u128.to_le_bytes());
    assert_eq!(probe.message(&[81, 5000]).revert(), "ALKANES: revert: call stack exhausted");
}

#[test]
fn memory_ends_at_its_limit() {
    let probe = Stage::with(&contract("probe"));
    assert!(probe.message(&[82]).revert().starts_with("ALKANES: revert: "));
    // 664 pages are the limit: a contract that is called with 512 can take 152 more.
    let growing = |pages: u32| {
        let body = format!(
            "(i32.store (i32.const 1048) (memory.grow (i32.const {pages}))) (i32.store (i32.const 1024) (i32.const 24))"
        );
        Stage::with(&answering(&body)).message(&[]).data().to_vec()
    };
    assert_eq!(growing(152), 512_u32.to_le_bytes());
    assert_eq!(growing(153), u32::MAX.to_le_bytes());
}

#[test]
fn many_memories_and_tables_end_where_the_reference_has_no_more() {
    let memories = "(memory 664)".repeat(99);
    let execute = r#"(func (export "__execute") (result i32) (i32.const 1028))"#;
    let stage = Stage::with(&wat(&module_text(&format!("(memory (export \"memory\") 1) {memories}"), execute)));
    assert_eq!(
        stage.message(&[]).revert(),
        "a message needs more memory for its contracts than the reference engine has, on which that halts"
    );
    // A table that no fuel could pay for is refused, and the contract goes on.
    let growing = r#"(table $t 1 funcref) (func (export "__execute") (result i32)
        (i32.store (i32.const 1048) (table.grow $t (ref.null func) (i32.const 2000000000)))
        (i32.store (i32.const 1024) (i32.const 24)) (i32.const 1028))"#;
    let ended = Stage::with(&module(growing)).message(&[]);
    assert_eq!(ended.data(), u32::MAX.to_le_bytes());
}

#[test]
fn a_great_storage_map_is_paid_for_before_it_is_kept() {
    let probe = Stage::with(&contract("probe"));
    assert_eq!(probe.message(&[84, 50_000]).stored(SUBJECT, b"/huge").unwrap().len(), 50_000);
    let text = probe.message(&[84, 100_000]).revert();
    assert!(text.starts_with("all fuel consumed by WebAssembly: requested 40"), "{text}");
}

#[test]
fn a_simulation_ends_when_it_is_told_to() {
    use std::cell::Cell;

    use paraffin_alkanes::SimulatedCall;
    use paraffin_alkanes::codec::Cellpack;

    let stage = Stage::with(&answering("(loop (call $load_block (i32.const 3004)) (br 0))"));
    let cellpack = Cellpack { target: SUBJECT, inputs: vec![1] };
    let block = stage.block(&[&cellpack]);
    let mut world = stage.world(&block);
    let asked = Cell::new(0);
    let call = SimulatedCall {
        transaction: &block.txdata[1],
        vout: 3,
        calldata: &cellpack.encode(),
        incoming: &[],
        fuel: u64::MAX,
        interrupted: &|| {
            asked.set(asked.get() + 1);
            asked.get() > 1000
        },
    };
    let halt = paraffin_alkanes::simulate(&mut world, &call).unwrap_err();
    assert!(matches!(halt, Halt::Interrupted), "{halt}");
    assert_eq!((asked.get(), world.state.depth()), (1001, 0));
}

/// What a message does, to compare machines by.
fn outcome(stage: &Stage, inputs: &[u128]) -> String {
    match stage.try_message(SUBJECT, inputs, &[]) {
        Ok(ended) => {
            let mut writes: Vec<_> = ended.writes.into_iter().collect();
            writes.sort();
            format!("{:?} {:?} {:?} {writes:?}", ended.end, ended.events, ended.fuel_left)
        }
        Err(halt) => halt.to_string(),
    }
}

#[test]
fn compiling_at_every_call_makes_no_difference_to_anything() {
    let kept = Stage::with(&contract("probe"));
    let compiled_each_time = Stage::with(&contract("probe")).without_cache();
    for inputs in [
        &[1][..],
        &[2, 2, 5, 6],
        &[10],
        &[12],
        &[14],
        &[34, 5, 9],
        &[40, 4, 7, 3, 32, 1, 2],
        &[45, 3],
        &[60, 9],
        &[80],
        &[81, 5000],
        &[82],
        &[83],
        &[85, 0x41],
        &[87],
        &[91],
        &[99],
    ] {
        let expected = outcome(&compiled_each_time, inputs);
        assert_eq!(outcome(&kept, inputs), expected, "{inputs:?}, at first");
        assert_eq!(outcome(&kept, inputs), expected, "{inputs:?}, again");
    }
    assert_eq!(kept.codes.len(), 1);
}

#[test]
fn results_do_not_depend_on_threads() {
    let expected = outcome(&Stage::with(&contract("probe")), &[45, 5]);
    let codes = Arc::new(CodeCache::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let mut stage = Stage::with(&contract("probe"));
                    stage.codes = Arc::clone(&codes);
                    assert_eq!(outcome(&stage, &[45, 5]), expected);
                }
            });
        }
    });
    assert_eq!(codes.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Arbitrary changes to a real module: the process survives all of them, and the cached form of the
    /// module behaves and costs like the module.
    #[test]
    fn spoiled_modules_never_panic_and_behave_the_same_cached(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        input in 0_u128..101,
    ) {
        let mut code = contract("counter");
        for (place, byte) in changes {
            let place = place.index(code.len());
            code[place] = byte;
        }
        let mut kept = Stage::with(&code);
        let mut plain = Stage::with(&code).without_cache();
        for stage in [&mut kept, &mut plain] {
            stage.parameters.fuel_change = 1000; // 350,000 fuel: what never ends shall not take long
        }
        prop_assert_eq!(outcome(&kept, &[input, 3]), outcome(&plain, &[input, 3]));
    }

    #[test]
    fn arbitrary_code_never_panics(bytes: Vec<u8>) {
        let code = [b"\0asm\x01\0\0\0", &bytes[..]].concat();
        prop_assert_eq!(outcome(&Stage::with(&code), &[]), outcome(&Stage::with(&code).without_cache(), &[]));
    }
}
