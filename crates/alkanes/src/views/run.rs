//! Views that run contracts: simulated calls, and the description of a contract (protocol B21).

use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::consensus::encode::deserialize;
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{Block, BlockHash, CompactTarget, Transaction, TxMerkleNode, Txid};
use paraffin_primitives::{AlkaneId, ConnectedBlock};
use prost::Message as _;

use super::trace::response_to_proto;
use super::{ViewContext, ViewError};
use crate::codec::Cellpack;
use crate::proto;
use crate::proto::alkanes::{MessageContextParcel, MultiSimulateRequest, MultiSimulateResponse, SimulateResponse};
use crate::{
    BlockEffects, CallResponse, Engine as _, Halt, META_FUEL, NativeEngine, Overlay, SimulatedCall, StateError,
    StateKey, StateReader, Trace, Transfer, World, contract_code, simulate_within,
};

/// A call to be tried, with the transaction and block around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// Incoming alkanes; they need not exist.
    pub incoming: Vec<Transfer>,
    /// The transaction that contracts see.
    pub transaction: Transaction,
    /// The block that contracts see.
    pub block: Block,
    /// Height whose rules and built-in contracts apply.
    pub height: u64,
    /// The message: varints, the two parts of the target first.
    pub calldata: Vec<u8>,
    /// Shadow output of the message.
    pub vout: u32,
}

impl Parcel {
    /// A call with an empty transaction and block, as clients make to read from a contract.
    pub fn calling(target: AlkaneId, inputs: &[u128], height: u64) -> Self {
        let calldata = Cellpack { target, inputs: inputs.to_vec() }.encode();
        Self { incoming: Vec::new(), transaction: no_transaction(), block: no_block(), height, calldata, vout: 0 }
    }

    /// Reads a parcel; an empty transaction or block stands for one with nothing in it.
    fn from_proto(parcel: MessageContextParcel) -> Result<Self, ViewError> {
        let broken = |what: &str| ViewError::Meaningless(format!("{what} is not a consensus encoding"));
        let transaction = match parcel.transaction.as_slice() {
            [] => no_transaction(),
            bytes => deserialize(bytes).map_err(|_| broken("transaction"))?,
        };
        let block = match parcel.block.as_slice() {
            [] => no_block(),
            bytes => deserialize(bytes).map_err(|_| broken("block"))?,
        };
        Ok(Self {
            incoming: parcel.alkanes.into_iter().map(Into::into).collect(),
            transaction,
            block,
            height: parcel.height,
            calldata: parcel.calldata,
            vout: parcel.vout,
        })
    }
}

pub(super) fn no_transaction() -> Transaction {
    Transaction { version: Version::non_standard(0), lock_time: LockTime::ZERO, input: Vec::new(), output: Vec::new() }
}

pub(super) fn no_block() -> Block {
    let header = Header {
        version: BlockVersion::ONE,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: 0,
        bits: CompactTarget::from_consensus(0),
        nonce: 0,
    };
    Block { header, txdata: Vec::new() }
}

/// The result of a tried call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Simulated {
    /// The contract answered.
    Done {
        /// Its answer.
        response: CallResponse,
        /// Fuel used, storage included.
        fuel_used: u64,
    },
    /// It failed, for this reason.
    Failed(String),
}

/// Fuel of a simulation in the reference.
const FUEL: u64 = u64::MAX;

/// Tries a call on the state of a view. It is given `fuel`, and may use [`super::ViewLimits::fuel_max`] of it.
///
/// # Errors
/// [`ViewError::TooLong`] when the time of the view ends first; [`ViewError::State`], [`ViewError::Halt`].
pub fn simulate(parcel: &Parcel, fuel: u64, context: &ViewContext<'_>) -> Result<Simulated, ViewError> {
    Ok(simulate_traced(parcel, fuel, context)?.0)
}

/// The same with the trace; `None` when the target could not be entered, or the engine would halt.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_traced(parcel: &Parcel, fuel: u64, context: &ViewContext<'_>) -> Result<(Simulated, Trace), ViewError> {
    context.check()?;
    let call = SimulatedCall {
        transaction: &parcel.transaction,
        vout: parcel.vout,
        calldata: &parcel.calldata,
        incoming: &parcel.incoming,
        fuel,
        interrupted: context.is_over,
    };
    let mut world = world(&parcel.block, parcel.height, context);
    match simulate_within(&mut world, &call, context.limits.fuel_max) {
        Ok(ended) => {
            let simulated = match ended.result {
                Ok(response) => Simulated::Done { response, fuel_used: ended.fuel_used },
                Err(text) => Simulated::Failed(text),
            };
            Ok((simulated, ended.trace))
        }
        Err(halt) => stopped(halt).map(|text| (Simulated::Failed(text), Trace::default())),
    }
}

/// A halt of the engine as the answer of a view: a halt that a contract can cause is its failure.
fn stopped(halt: Halt) -> Result<String, ViewError> {
    match halt {
        Halt::Interrupted => Err(ViewError::TooLong),
        Halt::State(error) => Err(error.into()),
        Halt::MissingBuiltin(_) => Err(halt.into()),
        halt => Ok(halt.to_string()),
    }
}

/// The world at the start of a block on the state of a view.
pub(super) fn world<'a>(block: &'a Block, height: u64, context: &ViewContext<'a>) -> World<'a> {
    let state = Overlay::new(context.state).within(context.parameters.state_bytes);
    World::new(context.parameters, height, block, state, context.codes, context.builtins)
}

/// Calls a contract with an empty transaction and block.
///
/// # Errors
/// As [`simulate`].
pub fn call_contract(
    target: AlkaneId,
    inputs: &[u128],
    height: u64,
    fuel: u64,
    context: &ViewContext<'_>,
) -> Result<Simulated, ViewError> {
    simulate(&Parcel::calling(target, inputs, height), fuel, context)
}

/// A contract's description of its operations, usually JSON; empty when there is none or the call fails.
///
/// # Errors
/// As [`simulate`].
pub fn meta(parcel: &Parcel, context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    context.check()?;
    let call = SimulatedCall {
        transaction: &parcel.transaction,
        vout: parcel.vout,
        calldata: &parcel.calldata,
        incoming: &parcel.incoming,
        fuel: META_FUEL.min(context.limits.fuel_max),
        interrupted: context.is_over,
    };
    match crate::meta(&mut world(&parcel.block, parcel.height, context), &call) {
        Ok(description) => Ok(description.unwrap_or_default()),
        Err(halt) => stopped(halt).map(|_| Vec::new()),
    }
}

/// The module that runs for a contract at the view's height; empty when there is none.
pub(super) fn code(id: AlkaneId, context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    let state = Overlay::new(context.state);
    match contract_code(&state, context.builtins, id, u64::from(context.height)) {
        Ok(code) => Ok(code.unwrap_or_default()),
        Err(halt) => stopped(halt).map(|_| Vec::new()),
    }
}

/// Runs a whole block after the one that the view stands at. The engine knows no time, but it reads the inputs of each
/// transaction, and those reads fail when the time of the view is over.
pub(super) fn run_block(block: &ConnectedBlock, context: &ViewContext<'_>) -> Result<BlockEffects, ViewError> {
    let network = context.parameters.network;
    let engine = NativeEngine::new(network, Arc::clone(context.builtins), Arc::clone(context.codes));
    let mut engine = engine.with_parameters(*context.parameters);
    let state = TimedState { context };
    match engine.run_block(block.id.height, block, &state) {
        Err(_) if (context.is_over)() => Err(ViewError::TooLong),
        effects => Ok(effects?),
    }
}

struct TimedState<'c, 'a> {
    context: &'c ViewContext<'a>,
}

impl StateReader for TimedState<'_, '_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        if (self.context.is_over)() {
            return Err(StateError::Damaged("the time of the view is over".to_owned()));
        }
        self.context.state.get(key)
    }

    fn recent_height(&self, txid: &Txid) -> Result<Option<u64>, StateError> {
        self.context.state.recent_height(txid)
    }
}

pub(super) fn simulate_view(payload: &[u8], context: &ViewContext<'_>) -> Result<SimulateResponse, ViewError> {
    let parcel: MessageContextParcel = proto::decode(payload)?;
    simulated(parcel, context)
}

fn simulated(parcel: MessageContextParcel, context: &ViewContext<'_>) -> Result<SimulateResponse, ViewError> {
    let parcel = Parcel::from_proto(parcel)?;
    Ok(match simulate(&parcel, FUEL, context)? {
        Simulated::Done { response, fuel_used } => SimulateResponse {
            execution: Some(response_to_proto(&response)),
            gas_used: fuel_used,
            error: String::new(),
        },
        Simulated::Failed(error) => SimulateResponse { error, ..SimulateResponse::default() },
    })
}

/// Each call on its own; one that makes no sense fails alone. Of those that fail the last one's reason stands beside the answers,
/// as the reference has it, and theirs are empty.
pub(super) fn multi_simulate_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<MultiSimulateResponse, ViewError> {
    let request: MultiSimulateRequest = proto::decode(payload)?;
    if request.parcels.len() > context.limits.calls_max {
        let error = format!("at most {} calls are tried at once", context.limits.calls_max);
        return Ok(MultiSimulateResponse { responses: Vec::new(), error });
    }
    let mut responses = Vec::new();
    let mut bytes = 0;
    let mut failure = String::new();
    for parcel in request.parcels {
        let mut response = match simulated(parcel, context) {
            Err(ViewError::Meaningless(error)) => SimulateResponse { error, ..SimulateResponse::default() },
            response => response?,
        };
        let error = std::mem::take(&mut response.error);
        if !error.is_empty() {
            failure = error;
        }
        bytes += response.encoded_len();
        if bytes > context.limits.answer_bytes_max {
            return Err(ViewError::TooLarge);
        }
        responses.push(response);
    }
    Ok(MultiSimulateResponse { responses, error: failure })
}

pub(super) fn meta_view(payload: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    let parcel = proto::decode::<MessageContextParcel>(payload).map_err(ViewError::from).and_then(Parcel::from_proto);
    match parcel {
        Err(ViewError::Payload(_) | ViewError::Meaningless(_)) => Ok(Vec::new()),
        parcel => meta(&parcel?, context),
    }
}
