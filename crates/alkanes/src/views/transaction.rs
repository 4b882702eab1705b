//! Trial runs of a transaction, of its protostones alone, or of a block, without lasting effects. The answers are those of the
//! reference to the byte, its texts of errors among them (`docs/protocol/trial-views.md`).

mod made_up;

use bitcoin::consensus::encode::{deserialize, serialize};
use bitcoin::hashes::Hash as _;
use bitcoin::psbt::Psbt;
use bitcoin::{Block, OutPoint, Transaction, Txid};

use super::run::world;
use super::trace::{entry, trace_to_proto};
use super::{ViewContext, ViewError, outpoint_to_proto};
use crate::codec::{Artifact, Protostone, VarintList, decode_protostones};
use crate::proto::alkanes::{
    ProtostoneExecution, SimulateBlockRequest, SimulateBlockResponse, SimulateProtostonesRequest,
    SimulateTransactionRequest, SimulateTransactionResponse, StorageOverride, TouchedStorage as Touched, VoutBalances,
};
use crate::proto::{self, DecodeError, Request, alkane_id};
use crate::protorune::{Ledger, Placed, Void, overflow_text, varint_text};
use crate::touched::TouchedStorage;
use crate::{SavedSheet, Sheet, SheetOverflow, StateKey, Trace, TraceEvent, Transfer, World, patches};

pub(super) use made_up::block_wanted;

/// Layers of the reference around the first call of a message in a block that is tried: two more than in a block that is indexed.
const BLOCK_CALL_DEPTH: usize = 6;

/// One transaction to be tried in a block of its own.
struct Trial<'a> {
    transaction: &'a Transaction,
    /// The integers of its protostones, which replace those of its runestone.
    protocol: &'a [u128],
    block: &'a Block,
    height: u64,
    overrides: &'a [StorageOverride],
    /// Incoming alkanes if the first input is of no transaction.
    incoming: Vec<Transfer>,
}

pub(super) fn transaction_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<SimulateTransactionResponse, ViewError> {
    let request: SimulateTransactionRequest = match decode(payload)? {
        Ok(request) => request,
        Err(text) => return Ok(failed(text)),
    };
    let transaction = match transaction_of(&request.transaction) {
        Ok(transaction) => transaction,
        Err(text) => return Ok(failed(text)),
    };
    let block = made_up::block_of(&transaction, request.height, context);
    let Some(Artifact::Runestone(runestone)) = Artifact::read(&transaction) else {
        return Ok(SimulateTransactionResponse {
            used_block: serialize(&block),
            ..unrun(&transaction, request.height, "no runestone in transaction".to_owned())
        });
    };
    let trial = Trial {
        transaction: &transaction,
        protocol: &runestone.protocol,
        block: &block,
        height: request.height,
        overrides: &request.storage_overrides,
        incoming: if spends_nothing(&transaction) { held_by_inputs(&transaction, context)? } else { Vec::new() },
    };
    run_alone(trial, context)
}

/// The protostones are run in place of those of the given transaction, or of one that is made up around them.
pub(super) fn protostones_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<SimulateTransactionResponse, ViewError> {
    let request: SimulateProtostonesRequest = match decode(payload)? {
        Ok(request) => request,
        Err(text) => return Ok(failed(text)),
    };
    if request.alkane_inputs.iter().any(|input| input.id.is_none()) {
        return Err(ViewError::Meaningless("what comes in has no id".to_owned()));
    }
    let protocol: Vec<u128> = match VarintList::parse(&request.protostones) {
        Ok(integers) => integers.collect(),
        Err(error) => {
            return Ok(failed(format!("failed to decode enciphered protostones bytes: {}", varint_text(error))));
        }
    };
    let transaction = match request.transaction.as_slice() {
        [] => Ok(made_up::transaction_around(&protocol)?),
        bytes => transaction_of(bytes),
    };
    let transaction = match transaction {
        Ok(transaction) => transaction,
        Err(text) => return Ok(failed(text)),
    };
    let block = match request.block.as_slice() {
        [] => made_up::block_with(vec![transaction.clone()]),
        bytes => match deserialize(bytes) {
            Ok(block) => block,
            Err(error) => return Ok(failed(format!("block bytes did not decode: {error}"))),
        },
    };
    let trial = Trial {
        transaction: &transaction,
        protocol: &protocol,
        block: &block,
        height: request.height,
        overrides: &request.storage_overrides,
        incoming: request.alkane_inputs.into_iter().map(Transfer::from).collect(),
    };
    run_alone(trial, context)
}

pub(super) fn block_view(payload: &[u8], context: &ViewContext<'_>) -> Result<SimulateBlockResponse, ViewError> {
    let failed = |error| SimulateBlockResponse { error, ..SimulateBlockResponse::default() };
    let request: SimulateBlockRequest = match decode(payload)? {
        Ok(request) => request,
        Err(text) => return Ok(failed(text)),
    };
    let block: Block = match deserialize(&request.block) {
        Ok(block) => block,
        Err(error) => return Ok(failed(format!("simulateblock: block bytes did not decode: {error}"))),
    };
    let mut world = trial_world(&block, request.height, &request.storage_overrides, context);
    world.call_depth = BLOCK_CALL_DEPTH;
    let mut ledger = Ledger::default();
    let mut txs = Vec::new();
    for (index, transaction) in (0..).zip(&block.txdata) {
        context.check()?;
        txs.push(if index == 0 && transaction.is_coinbase() {
            unrun(transaction, request.height, "coinbase".to_owned())
        } else if let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) {
            let placed = Placed { transaction, txid: transaction.compute_txid(), index };
            run(&mut world, &mut ledger, placed, &runestone.protocol, true)?
        } else {
            unrun(transaction, request.height, "no_runestone".to_owned())
        });
    }
    Ok(SimulateBlockResponse {
        block_hash: block.block_hash().to_string(),
        height: request.height,
        total_fuel_used: txs.iter().fold(0, |sum, one| sum.saturating_add(one.total_fuel_used)),
        txs,
        used_block: request.block,
        error: String::new(),
    })
}

/// The message, or why it cannot be decoded, in the reference's words.
fn decode<T: Request>(payload: &[u8]) -> Result<Result<T, String>, ViewError> {
    match proto::decode(payload) {
        Ok(request) => Ok(Ok(request)),
        Err(DecodeError::Malformed { name, reason }) => Ok(Err(format!("decode {name}: {reason}"))),
        Err(error) => Err(error.into()),
    }
}

/// Reads a transaction: a PSBT, signed or not, or a consensus encoding.
fn transaction_of(bytes: &[u8]) -> Result<Transaction, String> {
    match Psbt::deserialize(bytes) {
        Ok(psbt) => Ok(psbt.extract_tx_unchecked_fee_rate()),
        Err(_) => deserialize(bytes).map_err(|error| format!("input is neither valid PSBT nor raw tx: {error}")),
    }
}

/// The answer to a request that cannot be decoded.
fn failed(error: String) -> SimulateTransactionResponse {
    SimulateTransactionResponse { error, ..SimulateTransactionResponse::default() }
}

/// The answer of a transaction of which nothing was run.
fn unrun(transaction: &Transaction, height: u64, error: String) -> SimulateTransactionResponse {
    SimulateTransactionResponse {
        txid: transaction.compute_txid().to_string(),
        height,
        used_transaction: serialize(transaction),
        error,
        ..SimulateTransactionResponse::default()
    }
}

/// Whether the first input has a txid of zeros, as in a coinbase or a transaction that was made up.
fn spends_nothing(transaction: &Transaction) -> bool {
    transaction.input.first().is_some_and(|first| first.previous_output.txid == Txid::all_zeros())
}

/// Alkanes of a transaction's inputs, one after the other.
fn held_by_inputs(transaction: &Transaction, context: &ViewContext<'_>) -> Result<Vec<Transfer>, ViewError> {
    let mut held = Vec::new();
    for input in &transaction.input {
        if let Some(saved) = context.state.get(&StateKey::Sheet(input.previous_output))? {
            held.extend(SavedSheet::decode(&saved)?.load().transfers());
        }
    }
    Ok(held)
}

fn trial_world<'a>(
    block: &'a Block,
    height: u64,
    overrides: &[StorageOverride],
    context: &ViewContext<'a>,
) -> World<'a> {
    let mut world = world(block, height, context);
    world.tank.limit(context.limits.fuel_max);
    world.touched = Some(TouchedStorage::within(context.limits.answer_bytes_max));
    for one in overrides {
        for pair in &one.entries {
            world.state.put(StateKey::Storage(alkane_id(one.alkane), pair.key.clone()), pair.value.clone());
        }
    }
    world
}

fn run_alone(trial: Trial<'_>, context: &ViewContext<'_>) -> Result<SimulateTransactionResponse, ViewError> {
    let Trial { transaction, protocol, block, height, overrides, incoming } = trial;
    let used_block = serialize(block);
    if protocol.is_empty() {
        let answer = unrun(transaction, height, "no protostones to simulate".to_owned());
        return Ok(SimulateTransactionResponse { used_block, ..answer });
    }
    context.check()?;
    let mut world = trial_world(block, height, overrides, context);
    if transaction.input.is_empty() {
        return Err(ViewError::Meaningless("the transaction has no input".to_owned()));
    }
    if spends_nothing(transaction) && !incoming.is_empty() {
        let sheet = match sheet_of(&incoming) {
            Ok(sheet) => sheet,
            Err(overflow) => return Ok(failed(overflow_text(overflow))),
        };
        let key = StateKey::Sheet(OutPoint { txid: Txid::all_zeros(), vout: 0 });
        let mut saved = SavedSheet::decode(&world.state.get(&key)?.unwrap_or_default())?;
        saved.append(&sheet);
        world.state.put(key, saved.encode());
    }
    let placed = Placed { transaction, txid: transaction.compute_txid(), index: 0 };
    let answer = run(&mut world, &mut Ledger::default(), placed, protocol, false)?;
    Ok(SimulateTransactionResponse { used_block, ..answer })
}

fn sheet_of(transfers: &[Transfer]) -> Result<Sheet, SheetOverflow> {
    let mut sheet = Sheet::new();
    for transfer in transfers {
        sheet.add(transfer.id, transfer.value)?;
    }
    Ok(sheet)
}

/// Runs the protostones of one transaction of a block; `is_kept`: later transactions see its effects.
fn run(
    world: &mut World<'_>,
    ledger: &mut Ledger,
    placed: Placed<'_>,
    protocol: &[u128],
    is_kept: bool,
) -> Result<SimulateTransactionResponse, ViewError> {
    let Placed { transaction, txid, .. } = placed;
    let mut answer = unrun(transaction, world.height, String::new());
    if patches::ignores_protostones(world.parameters, &txid) {
        return Ok(answer);
    }
    let void = |void: Void| format!("index_protostones failed: {void}");
    let stones: Vec<Protostone> = match decode_protostones(protocol) {
        Ok(stones) => stones,
        Err(error) => return Ok(SimulateTransactionResponse { error: void(error.into()), ..answer }),
    };
    if stones.is_empty() {
        return Ok(answer);
    }
    let first_trace = world.traces.traces().len();
    let done = ledger.try_protostones(world, placed, &stones, is_kept)?;
    let traces = world.traces.split_off(first_trace);
    let (mut touched, is_whole) = world.touched.as_mut().map(TouchedStorage::take).unwrap_or_default();
    let sheets = match done {
        Ok(sheets) => sheets.into_outputs(),
        Err(error) => return Ok(SimulateTransactionResponse { error: void(error), ..answer }),
    };
    if !is_whole {
        return Err(ViewError::TooLarge);
    }
    // Messages are numbered by their traces, which those that never entered a contract do not have; what was stored is taken by
    // the number of the protostone all the same.
    touched.resize_with(touched.len().max(traces.len()), Default::default);
    for (index, ((outpoint, trace), stored)) in (0..).zip(traces.iter().zip(touched)) {
        let fuel_used = fuel_used(trace);
        answer.total_fuel_used = answer.total_fuel_used.saturating_add(fuel_used);
        let stored = stored.iter().map(|(contract, values)| Touched {
            alkane: Some((*contract).into()),
            entries: values.iter().map(|(key, value)| entry(key, value)).collect(),
        });
        answer.protostones.push(ProtostoneExecution {
            index,
            outpoint: Some(outpoint_to_proto(outpoint)),
            trace: Some(trace_to_proto(trace)),
            fuel_used,
            touched_storage: stored.collect(),
        });
    }
    let balances = |sheet: &Sheet| sheet.iter().map(|(id, value)| Transfer { id, value }.into()).collect();
    let held = sheets.iter().map(|(vout, sheet)| VoutBalances { vout: *vout, balances: balances(sheet) });
    answer.final_balances_by_vout = held.collect();
    Ok(answer)
}

/// Fuel of all calls, which counts that of an inner call once for each call around it as well.
fn fuel_used(trace: &Trace) -> u64 {
    let used = trace.events.iter().map(|event| match event {
        TraceEvent::Exit { fuel_used, .. } if *fuel_used < u64::MAX => *fuel_used,
        _ => 0,
    });
    used.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallResponse, TraceStatus};

    #[test]
    fn the_fuel_of_a_failed_message_is_that_of_the_calls_that_ended_well() {
        let exit = |status, fuel_used| TraceEvent::Exit { status, response: CallResponse::default(), fuel_used };
        let ends = [(TraceStatus::Success, 5), (TraceStatus::Success, 7), (TraceStatus::Revert, u64::MAX)];
        let trace = Trace { events: ends.map(|(status, fuel_used)| exit(status, fuel_used)).into() };
        assert_eq!(fuel_used(&trace), 12);
    }
}
