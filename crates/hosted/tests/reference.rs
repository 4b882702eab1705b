//! The native engine beside the current release of the reference, where the shared folder has it: results of contracts.
#![cfg(feature = "machine")]
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../../wasmi_core/tests/floats/module.rs"]
mod module;
#[allow(dead_code)] // a part of the virtual machine's tests
#[path = "../../alkanes/tests/vm/stage.rs"]
mod stage;
mod support;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bitcoin::consensus::serialize;
use bitcoin::{Block, OutPoint};
use paraffin_alkanes::codec::{Cellpack, gzip};
use paraffin_alkanes::views::trace_to_proto;
use paraffin_alkanes::{Engine as _, StateError, StateKey, StateReader, TraceEvent, TraceStatus};
use paraffin_hosted::{Program, ReadError, Reads, RunLimits, load};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};
use prost::Message as _;

use stage::{Stage, coinbase, id, transaction, wat};

/// The id of the contract.
const CONTRACT: AlkaneId = id(4, 1000);

/// The program's state.
#[derive(Default)]
struct Pairs(HashMap<Vec<u8>, Vec<u8>>);

impl Reads for Pairs {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.0.get(key).cloned())
    }
}

/// The native engine's state.
#[derive(Default)]
struct State(HashMap<StateKey, Vec<u8>>);

impl StateReader for State {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

/// An empty block, one with a contract, and one with a call of it: each contract is run twice.
fn chain(code: &[u8]) -> Vec<ConnectedBlock> {
    let create = Cellpack { target: AlkaneId { block: 3, ..CONTRACT }, inputs: vec![] };
    let call = Cellpack { target: CONTRACT, inputs: vec![] };
    let mut created = transaction(&[&create], Some(&gzip(code)));
    created.input[0].previous_output.vout = 6;
    let messages = [vec![], vec![created], vec![transaction(&[&call], None)]];
    let header = Stage::new().block(&[]).header;
    messages
        .into_iter()
        .zip(0..)
        .map(|(messages, height)| {
            let block = Block { header, txdata: [vec![coinbase()], messages].concat() };
            ConnectedBlock::new(height, block)
        })
        .collect()
}

/// The last event of each message, after comparing the contract's storage and traces, with data and fuel, in both engines.
fn compared(program: &Arc<dyn Program>, code: &[u8]) -> Vec<TraceEvent> {
    let limits = RunLimits { memory_bytes_max: 4 << 30, is_over: &|| false };
    let (mut pairs, mut state, mut native) = (Pairs::default(), State::default(), support::native());
    let mut ends = Vec::new();
    for block in chain(code) {
        let height: Height = block.id.height;
        let flush = program.run_block(height, &serialize(&block.block), &pairs, limits).unwrap();
        let effects = native.run_block(height, &block, &state).unwrap();
        for (outpoint, trace) in &effects.traces {
            let key = [&b"/trace/"[..], &serialize::<OutPoint>(outpoint)].concat();
            let reference = flush.pairs.get(&key).unwrap_or_else(|| panic!("no trace of {outpoint}"));
            let is_equal = trace_to_proto(trace).encode_to_vec() == *reference;
            assert!(is_equal, "block {height}: the traces differ; ours ends with {:.400?}", trace.events.last());
            ends.extend(trace.events.last().cloned());
        }
        pairs.0.extend(flush.pairs);
        state.0.extend(effects.writes);
    }
    let contract = [CONTRACT.block.to_le_bytes(), CONTRACT.tx.to_le_bytes()].concat();
    let storage = [&b"/alkanes/"[..], &contract, b"/storage/"].concat();
    let theirs = pairs.0.iter().filter_map(|(key, value)| Some((key.strip_prefix(&storage[..])?, value)));
    let ours = state.0.iter().filter_map(|(key, value)| match key {
        StateKey::Storage(CONTRACT, name) => Some((name.as_slice(), value)),
        _ => None,
    });
    let (theirs, ours): (BTreeMap<_, _>, BTreeMap<_, _>) = (theirs.collect(), ours.collect());
    assert!(theirs == ours, "storage differs");
    ends
}

#[test]
fn floats_and_their_fuel_are_those_of_the_reference() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let Some(path) = paraffin_testkit::reference_program("alkanes-2.2.1-regtest.wasm") else { return };
    let program: Arc<dyn Program> = load(&std::fs::read(path).unwrap()).unwrap();
    let module = module::module();
    let ends = compared(&program, &wat(&module.text));
    assert_eq!(ends.len(), 2, "the contract is run when it is created and when it is called");
    for end in &ends {
        match end {
            TraceEvent::Exit { status: TraceStatus::Success, response, .. } => {
                module.check(&response.data);
                assert_eq!(response.storage, [(b"bits".to_vec(), module.expected.clone())]);
            }
            other => panic!("{other:?}"),
        }
    }
    let ends = compared(&program, &wat(&module::copies()));
    assert!(matches!(ends[0], TraceEvent::Exit { status: TraceStatus::Success, .. }), "{ends:?}");
    let ends = compared(&program, &wat(&module::deep()));
    assert!(matches!(ends[0], TraceEvent::Exit { status: TraceStatus::Revert, .. }), "{ends:?}");
}
