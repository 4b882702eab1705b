//! Contracts that are written from the input: they call each other, return, store, touch and log as much as their fuel allows.
//! A block with such a message is indexed, a simulation of it ends, and both stay in their memory.

use std::fmt::Write as _;
use std::fs;

use bitcoin::OutPoint;
use paraffin_alkanes::codec::{Cellpack, gzip};
use paraffin_alkanes::{
    Engine as _, MESSAGE_TRACE_BYTES_MAX, Overlay, Parameters, SimulatedCall, StateKey, TraceEvent, World, simulate,
};
use paraffin_primitives::{AlkaneId, Network};

use crate::alkanes::{PROBE, block, call, deployed, output, stones, transaction};

const OTHER: AlkaneId = AlkaneId { block: 4, tx: 8 };

/// What a message with 350,000 fuel may take: memory that it fills, 64 bytes a unit, 22 MB; what two calls return, 1 MB each;
/// its trace twice; and something for the rest. What all its calls return can be a gigabyte.
const MESSAGE_BYTES_MAX: u64 = 128 << 20;

/// What a simulation with as much fuel may take.
const SIMULATION_BYTES_MAX: u64 = 128 << 20;

/// Most operations of one contract.
const OPERATIONS_MAX: usize = 12;

/// Fuel of a simulation: what a message had first, so that an input takes little time.
const FUEL: u64 = 350_000;

pub(crate) fn run(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let Some(codes) = [first, second].into_iter().map(contract).collect::<Option<Vec<_>>>() else { return };
    let stage = deployed();
    let mut state = stage.state.clone();
    for (id, code) in [PROBE, OTHER].into_iter().zip(&codes) {
        state.values.insert(StateKey::Code(id), gzip(code));
    }
    let message = stones(&[call(PROBE, &[1])]);
    let block = block(2, vec![transaction(OutPoint::null(), vec![output(1)], &message)]);

    let parameters = Parameters { fuel_change: u64::MAX, ..Parameters::of(Network::Regtest) };
    let (effects, taken) = memory_of(|| stage.engine().with_parameters(parameters).run_block(2, &block, &state));
    let effects = effects.expect("no such contract halts the engine");
    assert!(taken < MESSAGE_BYTES_MAX, "the block took {} MiB", taken >> 20);
    assert!(effects.traces.iter().all(|(_, trace)| trace.bytes() <= MESSAGE_TRACE_BYTES_MAX));

    let mut world = World::new(&parameters, 2, &block.block, Overlay::new(&state), &stage.codes, &stage.builtins);
    let calldata = Cellpack { target: PROBE, inputs: vec![1] }.encode();
    let calls = std::cell::Cell::new(0_u32);
    let call = SimulatedCall {
        transaction: &block.block.txdata[1],
        vout: 3,
        calldata: &calldata,
        incoming: &[],
        fuel: FUEL,
        // In the place of a clock.
        interrupted: &|| calls.replace(calls.get() + 1) > 400,
    };
    let (ended, taken) = memory_of(|| simulate(&mut world, &call));
    assert!(taken < SIMULATION_BYTES_MAX, "the simulation took {} MiB", taken >> 20);
    if let Ok(simulation) = ended {
        assert!(!matches!(simulation.trace.events[..], [TraceEvent::Omitted { .. }]), "a simulation is whole or fails");
    }
}

/// A module whose operations are pairs of bytes: which, and how much.
fn contract(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = String::new();
    let mut returned = 20_u32;
    for operation in bytes.chunks_exact(2).take(OPERATIONS_MAX) {
        let amount = u32::from(operation[1]);
        let bytes = (amount * amount * 16) & !7;
        let kind = ["$call", "$delegatecall", "$staticcall"][operation[1] as usize % 3];
        let (target, times) = ([3004, 3104][operation[1] as usize / 3 % 2], 1 + amount / 16);
        let written = match operation[0] % 8 {
            0 | 1 => writeln!(
                body,
                "(local.set $left (i32.const {times})) (loop $again
                   (drop (call {kind} (i32.const {target}) (i32.const 3204) (i32.const 3304) (i64.const 0)))
                   (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))"
            ),
            // The storage of the next calls: pairs of nothing.
            2 => writeln!(
                body,
                "(i32.store (i32.const 3300) (i32.const {})) (i32.store (i32.const 3304) (i32.const {amount}))",
                4 + 8 * amount
            ),
            3 => {
                returned = 20 + bytes;
                Ok(())
            }
            4 => writeln!(body, "(memory.fill (i32.const 400000) (i32.const {amount}) (i32.const {bytes}))"),
            // Inputs of the next calls: words of the remaining bytes.
            5 => writeln!(body, "(i32.store (i32.const 3000) (i32.const {}))", 32 + bytes / 8),
            6 => writeln!(body, "(call $returndatacopy (i32.const 400000))"),
            _ => writeln!(body, "(i32.store (i32.const 399996) (i32.const {bytes})) (call $log (i32.const 400000))"),
        };
        written.ok()?;
    }
    let text = format!(
        r#"(module
        (import "env" "__log" (func $log (param i32)))
        (import "env" "__returndatacopy" (func $returndatacopy (param i32)))
        (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
        (import "env" "__delegatecall" (func $delegatecall (param i32 i32 i32 i64) (result i32)))
        (import "env" "__staticcall" (func $staticcall (param i32 i32 i32 i64) (result i32)))
        (memory (export "memory") 512)
        (data (i32.const 3000) "\20\00\00\00\04\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\07")
        (data (i32.const 3100) "\20\00\00\00\04\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\08")
        (data (i32.const 3200) "\10\00\00\00")
        (data (i32.const 3300) "\04\00\00\00")
        (func (export "__execute") (result i32) (local $left i32)
            {body}
            (i32.store (i32.const 65536) (i32.const {returned}))
            (i64.store (i32.const 65540) (i64.const 0)) (i64.store (i32.const 65548) (i64.const 0))
            (i32.store (i32.const 65556) (i32.const 0))
            (i32.const 65540)))"#
    );
    wat::parse_str(text).ok()
}

/// Bytes by which the process has been greater while `run` ran than before it. Where the kernel does not reset the peak, it
/// is that of the whole program so far.
fn memory_of<R>(run: impl FnOnce() -> R) -> (R, u64) {
    let status = |name: &str| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
    };
    _ = fs::write("/proc/self/clear_refs", "5");
    let before = status("VmRSS:");
    let result = run();
    (result, status("VmHWM:").saturating_sub(before))
}
