//! One message: resolve the target, run it, apply its effects (protocol B6).

use std::collections::HashSet;

use bitcoin::{OutPoint, Transaction, Txid};
use paraffin_primitives::AlkaneId;

use crate::codec::Cellpack;
use crate::protorune::overflow_text;
use crate::vm::{
    Frame, Outcome, Resolved, ReturnedData, Session, Stop, credit, debit, execute_in_turn, guarded, integer, resolve,
    revert_data, store,
};
use crate::work::cost;
use crate::{CallKind, CallResponse, Halt, Sheet, StateKey, TraceStatus, Transfer, World};

/// A message of a protostone.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The transaction.
    pub transaction: &'a Transaction,
    /// Its id.
    pub txid: Txid,
    /// Its index in the block.
    pub index: u32,
    /// Shadow output of the protostone.
    pub vout: u32,
    /// The message bytes.
    pub calldata: &'a [u8],
    /// Incoming alkanes: positive entries of the shadow output's sheet, in the order of the ids.
    pub incoming: Vec<Transfer>,
}

/// The result of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageEnd {
    /// The contract answered: alkanes for the pointer, and the runtime sheet afterwards.
    Done {
        /// Returned alkanes, as written.
        outgoing: Vec<Transfer>,
        /// The runtime sheet afterwards.
        runtime: Sheet,
    },
    /// Refunded; the caller rolls the layer back.
    Failed,
}

/// Runs a message in the newest layer of `world.state`, which the caller has opened and commits or rolls back.
///
/// `runtime` holds the ids of the runtime sheet that this transaction has touched so far; others are read from
/// [`StateKey::Runtime`]. The trace is pushed to `world.traces` whatever becomes of the layer; a message that names no
/// contract leaves none (protocol B6). What would halt the engine and can be brought about by a message fails the message
/// (decision 0038).
///
/// # Errors
/// The engine halts.
pub fn handle_message(world: &mut World<'_>, message: &Message<'_>, runtime: &Sheet) -> Result<MessageEnd, Halt> {
    if world.height < world.parameters.genesis_height {
        return Ok(MessageEnd::Failed);
    }
    let depth = world.state.depth();
    let mut ended = Ok(MessageEnd::Failed);
    if guarded(|| ended = run(world, message, runtime)).is_err() {
        // The reference halts. The panic is in the log; the message has no trace.
        world.tank.drain();
    }
    if matches!(ended, Ok(MessageEnd::Failed)) {
        // Calls that were under way when the message failed have left their layers.
        world.state.rollback_to(depth);
    }
    ended
}

fn run(world: &mut World<'_>, message: &Message<'_>, runtime: &Sheet) -> Result<MessageEnd, Halt> {
    let Ok(cellpack) = Cellpack::decode(message.calldata) else { return Ok(MessageEnd::Failed) };
    let mut session = Session::message(world, message.transaction, message.txid, message.vout);
    session.world.state.work.add(cost::MESSAGE);
    let begun = begin(&mut session, cellpack.target, message);
    let Resolved { id: myself, code } = match begun {
        Ok(resolved) => resolved,
        Err(stop) => return stop.into_failure().map(|_| MessageEnd::Failed),
    };
    let fuel = session.world.tank.transaction_fuel();
    session.unusable_fuel = session.world.tank.unusable_fuel();
    let frame = Frame {
        myself,
        code: myself,
        caller: AlkaneId::default(),
        incoming: message.incoming.clone(),
        inputs: cellpack.inputs,
        nesting: 0,
    };
    let reported_fuel = session.reported_fuel(fuel);
    frame.record_enter(&mut session.events, CallKind::Call, message.vout, reported_fuel);
    let ended = code
        .compiled(&session)
        .and_then(|code| execute_in_turn(&mut session, frame, &code, fuel))
        .and_then(|outcome| book(session.world, message, runtime, myself, outcome));
    let mut events = std::mem::take(&mut session.events);
    let end = match ended {
        Ok(booked) => {
            let outgoing = booked.response.alkanes.clone();
            events.exit(TraceStatus::Success, booked.response, booked.data.bytes(), booked.fuel_used);
            MessageEnd::Done { outgoing, runtime: booked.runtime }
        }
        Err(stop) => {
            let text = stop.into_failure()?;
            world.tank.drain();
            events.exit(TraceStatus::Revert, CallResponse::default(), &revert_data(&text), u64::MAX);
            MessageEnd::Failed
        }
    };
    world.traces.push(OutPoint { txid: message.txid, vout: message.vout }, events.finish());
    Ok(end)
}

/// Everything before the contract is entered, of which nothing is traced.
fn begin(session: &mut Session<'_, '_>, target: AlkaneId, message: &Message<'_>) -> Result<Resolved, Stop> {
    session.world.state.check_limits()?;
    let resolved = resolve(session, target)?;
    credit(&mut session.world.state, resolved.id, &message.incoming)?;
    session.world.tank.advance(message.index, message.transaction)?;
    Ok(resolved)
}

/// A message whose effects are in the layer.
struct AppliedMessage {
    /// Without its data.
    response: CallResponse,
    data: ReturnedData,
    fuel_used: u64,
    runtime: Sheet,
}

/// Fuel, storage, runtime sheet, balances: in this order, and each can still fail the message (protocol B6.6).
fn book(
    world: &mut World<'_>,
    message: &Message<'_>,
    runtime: &Sheet,
    myself: AlkaneId,
    outcome: Outcome,
) -> Result<AppliedMessage, Stop> {
    let fuel_used = outcome.fuel_used;
    world.tank.consume(fuel_used).map_err(Stop::Revert)?;
    let (response, data) = outcome.response.into_parts();
    store(&mut world.state, myself, response.storage.clone())?;
    world.record_touched(myself, &response.storage);
    let runtime = settle_runtime(world, runtime, &message.incoming, &response.alkanes)?;
    debit(&mut world.state, myself, &response.alkanes)?;
    Ok(AppliedMessage { response, data, fuel_used, runtime })
}

/// The runtime sheet plus incoming minus outgoing alkanes. A shortfall is minted, unless the id is a base rune
/// (protocol B6.6).
fn settle_runtime(
    world: &World<'_>,
    runtime: &Sheet,
    incoming: &[Transfer],
    outgoing: &[Transfer],
) -> Result<Sheet, Stop> {
    let entries = 3 * runtime.entry_count() + incoming.len() + 3 * outgoing.len();
    world.state.work.add_times(entries, cost::SHEET_ENTRY);
    world.state.check_limits()?;
    let mut sheet = runtime.clone();
    let mut known: HashSet<AlkaneId> = runtime.iter().map(|(id, _)| id).collect();
    let mut outgoing_sheet = Sheet::new();
    for transfer in outgoing {
        increase(&mut outgoing_sheet, *transfer)?;
    }
    // An id that goes out is touched even when its amount is 0.
    for id in incoming.iter().map(|transfer| transfer.id).chain(outgoing_sheet.iter().map(|(id, _)| id)) {
        if known.insert(id) {
            world.state.check_limits()?;
            let stored = world.state.get(&StateKey::Runtime(id))?.unwrap_or_default();
            sheet.set(id, integer(&stored, "a runtime balance")?);
        }
    }
    for transfer in incoming {
        increase(&mut sheet, *transfer)?;
    }
    for (id, value) in outgoing_sheet.iter() {
        let held = sheet.get(id);
        if value > held && world.state.get(&StateKey::Etching(id))?.is_some_and(|etching| !etching.is_empty()) {
            return Err(Stop::revert("balance underflow during debit_mintable"));
        }
        sheet.set(id, held.saturating_sub(value));
    }
    Ok(sheet)
}

fn increase(sheet: &mut Sheet, transfer: Transfer) -> Result<(), Stop> {
    sheet.add(transfer.id, transfer.value).map_err(|overflow| Stop::Revert(overflow_text(overflow)))
}
