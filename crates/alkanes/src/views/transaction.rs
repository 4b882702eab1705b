//! What a transaction, its protostones alone, or a block would do: run aside with everything that a block does to it, and
//! forgotten (protocol B21).

use std::collections::BTreeMap;

use bitcoin::consensus::encode::{deserialize, serialize};
use bitcoin::psbt::Psbt;
use bitcoin::{Amount, Block, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use paraffin_primitives::AlkaneId;

use super::run::{no_block, no_transaction, world};
use super::trace::{entry, trace_to_proto};
use super::{ViewContext, ViewError, outpoint_to_proto};
use crate::codec::{Artifact, Protostone, Runestone, VarintList, shadow_vout};
use crate::proto::alkanes::{
    ProtostoneExecution, SimulateBlockRequest, SimulateBlockResponse, SimulateProtostonesRequest,
    SimulateTransactionRequest, SimulateTransactionResponse, StorageOverride, TouchedStorage, VoutBalances,
};
use crate::proto::{self, alkane_id};
use crate::protorune::{Ledger, Placed};
use crate::{SavedSheet, Sheet, StateKey, Trace, TraceEvent, TraceStatus, Transfer, World, handle_message};

/// What one protostone did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtostoneOutcome {
    /// Its shadow output.
    pub outpoint: OutPoint,
    /// What its message did; empty when it has none, or when nothing could be run.
    pub trace: Trace,
    /// Fuel used. A message that fails uses up all that it was given.
    pub fuel_used: u64,
    /// What contracts stored, as it is afterwards.
    pub touched: BTreeMap<AlkaneId, BTreeMap<Vec<u8>, Vec<u8>>>,
}

/// What a transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionOutcome {
    /// Its id.
    pub txid: Txid,
    /// What its protostones did, in order.
    pub protostones: Vec<ProtostoneOutcome>,
    /// What its outputs hold afterwards, those that hold nothing left out.
    pub balances: Vec<(u32, Vec<Transfer>)>,
    /// Why nothing was run: `no_runestone`, `cenotaph`, `no protostones`.
    pub error: Option<&'static str>,
}

impl TransactionOutcome {
    /// Fuel of all its protostones.
    pub fn fuel_used(&self) -> u64 {
        self.protostones.iter().fold(0, |sum, stone| sum.saturating_add(stone.fuel_used))
    }
}

/// Runs a transaction in a block of its own on the state of a view, by the rules of `height`.
///
/// # Errors
/// [`ViewError`].
pub fn simulate_transaction(
    transaction: &Transaction,
    height: u64,
    context: &ViewContext<'_>,
) -> Result<TransactionOutcome, ViewError> {
    let block = Block { txdata: vec![transaction.clone()], ..no_block() };
    run_one(&block, height, &[], None, context)
}

/// Runs the only transaction of a block. `inputs`: what its first input holds instead, and the others nothing.
fn run_one(
    block: &Block,
    height: u64,
    overrides: &[StorageOverride],
    inputs: Option<&Sheet>,
    context: &ViewContext<'_>,
) -> Result<TransactionOutcome, ViewError> {
    let mut world = world(block, height, context);
    pretend(&mut world, overrides);
    let transaction = &block.txdata[0];
    if let Some(held) = inputs {
        for (place, input) in transaction.input.iter().enumerate() {
            let mut saved = SavedSheet::default();
            if place == 0 {
                saved.append(held);
            }
            world.state.put(StateKey::Sheet(input.previous_output), saved.encode());
        }
    }
    let placed = Placed { transaction, txid: transaction.compute_txid(), index: 0 };
    run(&mut world, &mut Ledger::default(), placed, context)
}

fn pretend(world: &mut World<'_>, overrides: &[StorageOverride]) {
    for one in overrides {
        for pair in &one.entries {
            world.state.put(StateKey::Storage(alkane_id(one.alkane), pair.key.clone()), pair.value.clone());
        }
    }
}

/// Runs one transaction of a block.
fn run(
    world: &mut World<'_>,
    ledger: &mut Ledger,
    placed: Placed<'_>,
    context: &ViewContext<'_>,
) -> Result<TransactionOutcome, ViewError> {
    context.check()?;
    let (stones, error) = stones_of(placed.transaction);
    let first_trace = world.traces.traces().len();
    ledger.process(world, handle_message, placed)?;
    let traces: BTreeMap<OutPoint, Trace> = world.traces.split_off(first_trace).into_iter().collect();
    let output_count = placed.transaction.output.len();
    let outcome = |index: usize| {
        let outpoint = OutPoint { txid: placed.txid, vout: shadow_vout(output_count, index) };
        let trace = traces.get(&outpoint).cloned().unwrap_or_default();
        ProtostoneOutcome { outpoint, fuel_used: fuel_used(&trace), touched: touched(&trace), trace }
    };
    let mut balances = Vec::new();
    for (vout, _) in (0..).zip(&placed.transaction.output) {
        if let Some(saved) = world.state.get(&StateKey::Sheet(OutPoint { txid: placed.txid, vout }))? {
            let held = SavedSheet::decode(&saved)?.load().transfers();
            if !held.is_empty() {
                balances.push((vout, held));
            }
        }
    }
    let protostones = (0..stones.len()).map(outcome).collect();
    Ok(TransactionOutcome { txid: placed.txid, protostones, balances, error })
}

fn stones_of(transaction: &Transaction) -> (Vec<Protostone>, Option<&'static str>) {
    match Artifact::read(transaction) {
        None => (Vec::new(), Some("no_runestone")),
        Some(Artifact::Cenotaph(_)) => (Vec::new(), Some("cenotaph")),
        Some(Artifact::Runestone(runestone)) => match runestone.protostones() {
            Ok(stones) if !stones.is_empty() => (stones, None),
            Ok(_) => (Vec::new(), Some("no protostones")),
            Err(_) => (Vec::new(), Some("malformed protostones")),
        },
    }
}

/// Fuel of the outermost call.
fn fuel_used(trace: &Trace) -> u64 {
    let given = trace.events.iter().find_map(|event| match event {
        TraceEvent::Enter { fuel, .. } => Some(*fuel),
        _ => None,
    });
    match trace.events.last() {
        Some(TraceEvent::Exit { status: TraceStatus::Success, fuel_used, .. }) => *fuel_used,
        Some(_) => given.unwrap_or(0),
        None => 0,
    }
}

/// What the calls that came to stay stored: each call's storage, without those that reverted or were static, and without
/// everything inside such a call.
fn touched(trace: &Trace) -> BTreeMap<AlkaneId, BTreeMap<Vec<u8>, Vec<u8>>> {
    /// Values by contract and key.
    type Stored = BTreeMap<AlkaneId, BTreeMap<Vec<u8>, Vec<u8>>>;
    let mut open: Vec<(AlkaneId, bool, Stored)> = Vec::new();
    let mut kept = Stored::new();
    for event in &trace.events {
        match event {
            TraceEvent::Enter { kind, context, .. } => {
                open.push((context.myself, *kind == crate::CallKind::Static, Stored::new()));
            }
            // A precompiled contract ends without having been entered and uses no fuel (protocol B13); any other call uses some.
            TraceEvent::Create(_)
            | TraceEvent::Omitted { .. }
            | TraceEvent::Exit { status: TraceStatus::Success, fuel_used: 0, .. } => {}
            TraceEvent::Exit { status, response, .. } => {
                let Some((myself, is_static, mut stored)) = open.pop() else { continue };
                if *status == TraceStatus::Revert || is_static {
                    continue;
                }
                stored.entry(myself).or_default().extend(response.storage.iter().cloned());
                let below = open.last_mut().map_or(&mut kept, |(_, _, below)| below);
                for (contract, values) in stored {
                    below.entry(contract).or_default().extend(values);
                }
            }
        }
    }
    kept.retain(|_, values| !values.is_empty());
    kept
}

fn height_of(asked: u64, context: &ViewContext<'_>) -> u64 {
    if asked == 0 { u64::from(context.height) } else { asked }
}

fn response(
    outcome: &TransactionOutcome,
    height: u64,
    block: &Block,
    transaction: &Transaction,
) -> SimulateTransactionResponse {
    SimulateTransactionResponse {
        used_transaction: serialize(transaction),
        used_block: serialize(block),
        ..summary(outcome, height)
    }
}

/// The answer for one transaction, without the bytes that were run.
fn summary(outcome: &TransactionOutcome, height: u64) -> SimulateTransactionResponse {
    let protostones = (0..).zip(&outcome.protostones).map(|(index, stone)| ProtostoneExecution {
        index,
        outpoint: Some(outpoint_to_proto(&stone.outpoint)),
        trace: Some(trace_to_proto(&stone.trace)),
        fuel_used: stone.fuel_used,
        touched_storage: stone.touched.iter().map(|(id, values)| touched_to_proto(*id, values)).collect(),
    });
    let balances = outcome.balances.iter().map(|(vout, held)| VoutBalances {
        vout: *vout,
        balances: held.iter().map(|transfer| (*transfer).into()).collect(),
    });
    SimulateTransactionResponse {
        txid: outcome.txid.to_string(),
        height,
        protostones: protostones.collect(),
        final_balances_by_vout: balances.collect(),
        total_fuel_used: outcome.fuel_used(),
        used_transaction: Vec::new(),
        used_block: Vec::new(),
        error: outcome.error.unwrap_or_default().to_owned(),
    }
}

fn touched_to_proto(id: AlkaneId, values: &BTreeMap<Vec<u8>, Vec<u8>>) -> TouchedStorage {
    TouchedStorage { alkane: Some(id.into()), entries: values.iter().map(|(key, value)| entry(key, value)).collect() }
}

fn failed(error: &str, height: u64) -> SimulateTransactionResponse {
    SimulateTransactionResponse { height, error: error.to_owned(), ..SimulateTransactionResponse::default() }
}

/// Reads a transaction: a PSBT, signed or not, or a consensus encoding.
fn transaction_of(bytes: &[u8]) -> Option<Transaction> {
    match Psbt::deserialize(bytes) {
        Ok(psbt) => Some(psbt.extract_tx_unchecked_fee_rate()),
        Err(_) => deserialize(bytes).ok(),
    }
}

pub(super) fn transaction_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<SimulateTransactionResponse, ViewError> {
    let request: SimulateTransactionRequest = proto::decode(payload)?;
    let height = height_of(request.height, context);
    let Some(transaction) = transaction_of(&request.transaction) else {
        return Ok(failed("the transaction is neither a PSBT nor a consensus encoding", height));
    };
    let block = Block { txdata: vec![transaction.clone()], ..no_block() };
    let outcome = run_one(&block, height, &request.storage_overrides, None, context)?;
    Ok(response(&outcome, height, &block, &transaction))
}

/// The protostones are put into the given transaction, or into one with a single output.
pub(super) fn protostones_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<SimulateTransactionResponse, ViewError> {
    let request: SimulateProtostonesRequest = proto::decode(payload)?;
    let height = height_of(request.height, context);
    if request.protostones.is_empty() {
        return Ok(failed("no protostones", height));
    }
    let Ok(protocol) = VarintList::parse(&request.protostones) else {
        return Ok(failed("the protostones are not a list of integers", height));
    };
    let transaction = match request.transaction.as_slice() {
        [] => Some(carrier()),
        bytes => transaction_of(bytes),
    };
    let Some(mut transaction) = transaction else {
        return Ok(failed("the transaction is neither a PSBT nor a consensus encoding", height));
    };
    if transaction.input.is_empty() {
        transaction.input.push(fresh_input());
    }
    if let Err(error) = carry(&mut transaction, protocol.collect()) {
        return Ok(failed(&error, height));
    }
    let mut block = match request.block.as_slice() {
        [] => no_block(),
        bytes => match deserialize(bytes) {
            Ok(block) => block,
            Err(_) => return Ok(failed("the block is not a consensus encoding", height)),
        },
    };
    block.txdata = vec![transaction.clone()];
    let mut held = Sheet::new();
    for transfer in request.alkane_inputs.into_iter().map(Transfer::from) {
        if held.add(transfer.id, transfer.value).is_err() {
            return Ok(failed("the alkanes that come in add up to more than 128 bits", height));
        }
    }
    let outcome = run_one(&block, height, &request.storage_overrides, Some(&held), context)?;
    Ok(response(&outcome, height, &block, &transaction))
}

/// A transaction to put protostones into: one output that can hold something.
fn carrier() -> Transaction {
    let script_pubkey = ScriptBuf::new_p2wsh(&bitcoin::WScriptHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros()));
    let output = vec![TxOut { value: Amount::from_sat(546), script_pubkey }];
    Transaction { output, ..no_transaction() }
}

fn fresh_input() -> TxIn {
    TxIn {
        // No transaction has this id, so nothing lies in the output.
        previous_output: OutPoint { txid: bitcoin::hashes::Hash::from_byte_array([0xff; 32]), vout: 0 },
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::new(),
    }
}

/// Puts protocol integers into the first `OP_RETURN` output, or into a new one.
fn carry(transaction: &mut Transaction, protocol: Vec<u128>) -> Result<(), String> {
    let place = transaction.output.iter().position(|output| output.script_pubkey.is_op_return());
    let place = place.unwrap_or_else(|| {
        transaction.output.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new() });
        transaction.output.len() - 1
    });
    let runestone = Runestone { base: ordinals::Runestone::default(), protocol };
    let script = runestone.encode(transaction.output.len()).map_err(|error| error.to_string())?;
    transaction.output[place].script_pubkey = script;
    Ok(())
}

pub(super) fn block_view(payload: &[u8], context: &ViewContext<'_>) -> Result<SimulateBlockResponse, ViewError> {
    let request: SimulateBlockRequest = proto::decode(payload)?;
    let height = height_of(request.height, context);
    let Ok(block) = deserialize::<Block>(&request.block) else {
        let error = "the block is not a consensus encoding".to_owned();
        return Ok(SimulateBlockResponse { height, error, ..SimulateBlockResponse::default() });
    };
    let mut world = world(&block, height, context);
    pretend(&mut world, &request.storage_overrides);
    let mut ledger = Ledger::default();
    let mut txs = Vec::new();
    let mut total_fuel_used = 0_u64;
    for (index, transaction) in (0..).zip(&block.txdata) {
        let placed = Placed { transaction, txid: transaction.compute_txid(), index };
        let outcome = run(&mut world, &mut ledger, placed, context)?;
        total_fuel_used = total_fuel_used.saturating_add(outcome.fuel_used());
        txs.push(summary(&outcome, height));
    }
    Ok(SimulateBlockResponse {
        block_hash: block.block_hash().to_string(),
        height,
        txs,
        total_fuel_used,
        used_block: request.block,
        error: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallKind, CallResponse, TraceContext};

    fn enter(kind: CallKind, myself: u128) -> TraceEvent {
        let myself = AlkaneId { block: 2, tx: myself };
        let context = TraceContext { myself, caller: myself, vout: 0, incoming: Vec::new(), inputs: Vec::new() };
        TraceEvent::Enter { kind, context, fuel: 100 }
    }

    fn exit(status: TraceStatus, fuel_used: u64, key: &str, value: u8) -> TraceEvent {
        let storage = if key.is_empty() { Vec::new() } else { vec![(key.into(), vec![value])] };
        TraceEvent::Exit { status, response: CallResponse { storage, ..CallResponse::default() }, fuel_used }
    }

    #[test]
    fn storage_stays_of_calls_that_came_to_stay() {
        use TraceStatus::{Revert, Success};
        let trace = Trace {
            events: vec![
                enter(CallKind::Call, 1),
                // A precompiled contract: no call was entered.
                exit(Success, 0, "", 0),
                enter(CallKind::Delegate, 1),
                exit(Success, 5, "/delegate", 1),
                enter(CallKind::Static, 2),
                exit(Success, 5, "/static", 1),
                enter(CallKind::Call, 2),
                enter(CallKind::Call, 3),
                exit(Success, 5, "/inner", 1),
                exit(Revert, 5, "/reverted", 1),
                enter(CallKind::Call, 3),
                exit(Success, 5, "/kept", 1),
                enter(CallKind::Call, 3),
                exit(Success, 5, "/kept", 2),
                exit(Success, 50, "/own", 9),
            ],
        };
        let touched = touched(&trace);
        let of = |contract: u128| -> Vec<(String, u8)> {
            let values = touched.get(&AlkaneId { block: 2, tx: contract }).into_iter().flatten();
            values.map(|(key, value)| (String::from_utf8(key.clone()).unwrap(), value[0])).collect()
        };
        assert_eq!(of(1), [("/delegate".to_owned(), 1), ("/own".to_owned(), 9)]);
        assert_eq!((of(2), of(3)), (vec![], vec![("/kept".to_owned(), 2)]));
        assert_eq!(fuel_used(&trace), 50);
        let failed = Trace { events: vec![enter(CallKind::Call, 1), exit(Revert, u64::MAX, "", 0)] };
        assert_eq!(fuel_used(&failed), 100);
    }
}
