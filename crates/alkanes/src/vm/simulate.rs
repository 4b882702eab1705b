//! Calls without lasting effects, for views, and the deployment of built-in contracts (protocol B18, B21).

use bitcoin::Transaction;
use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use paraffin_primitives::AlkaneId;

use super::balances;
use super::builtins::{IDS, SIGNING_TOKEN, WRAPPED_BITCOIN};
use super::guard::guarded;
use super::instance;
use super::resolve::{ResolvedCode, resolve};
use super::session::{Frame, Session};
use super::stop::Stop;
use crate::codec::Cellpack;
use crate::{CallKind, CallResponse, Halt, StateKey, Trace, TraceStatus, Transfer, World};

/// Default fuel of a simulation: that of a whole block, a second or two of computing.
pub const SIMULATION_FUEL: u64 = 1_000_000_000;

/// Fuel of `meta` (protocol B21).
pub const META_FUEL: u64 = 100_000_000;

/// Memories and tables of all nested calls of one simulation, and the memory of compiling, in bytes. Twenty-five nested calls take 800 MiB of address
/// space, of which only what they touch is real.
const SIMULATION_BYTES_MAX: u64 = 1 << 30;

/// A table is filled when it is made, for no fuel at all, where a memory is only address space: in a simulation each of its
/// bytes counts as eight, which leaves 128 MiB for all tables.
const TABLE_WEIGHT: usize = 8;

/// A call to try.
#[derive(Clone, Copy)]
pub struct SimulatedCall<'a> {
    /// The transaction that contracts see, also where a creation finds its code.
    pub transaction: &'a Transaction,
    /// Shadow output that contracts see.
    pub vout: u32,
    /// The message: varints, as in a protostone.
    pub calldata: &'a [u8],
    /// Incoming alkanes; they need not exist.
    pub incoming: &'a [Transfer],
    /// Fuel that contracts are given, as `__fuel` reports it; see [`SIMULATION_FUEL`].
    pub fuel: u64,
    /// Checked at every host call: whether it has to end, because time is up or the client has disconnected.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// The answer, or why it reverted.
    pub result: Result<CallResponse, String>,
    /// Fuel used, storage included; 0 when it reverted (protocol B21).
    pub fuel_used: u64,
    /// The trace; empty when the target could not be resolved.
    pub trace: Trace,
}

/// Tries a call on the state of `world` and undoes it. The fuel tank is not touched.
///
/// Height and block are those of `world`. Every end of the contract is a [`Simulation`], out of fuel included.
///
/// # Errors
/// The engine would halt, reading failed, or [`SimulatedCall::interrupted`] returned true ([`Halt::Interrupted`]). For a view
/// all of these are errors of this one call.
pub fn simulate(world: &mut World<'_>, call: &SimulatedCall<'_>) -> Result<Simulation, Halt> {
    simulate_within(world, call, call.fuel)
}

/// As [`simulate`], with a bound of its own: what the call uses of its fuel, what it stores included, may not be more than
/// `fuel_max`. The reference gives views 2^64 - 1 units and lets them run; here a view must end, and `__fuel` reports the same.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_within(world: &mut World<'_>, call: &SimulatedCall<'_>, fuel_max: u64) -> Result<Simulation, Halt> {
    let depth = world.state.depth();
    world.state.checkpoint();
    let (mut ended, mut trace) = (Ok((CallResponse::default(), 0)), Trace::default());
    let guarded = guarded(|| {
        world.state.work.limit_memory(SIMULATION_BYTES_MAX.min(world.parameters.message_bytes));
        let mut session = Session::simulation(world, call.transaction, call.vout, Some(call.interrupted));
        session.table_weight = TABLE_WEIGHT;
        session.unusable_fuel = call.fuel.saturating_sub(fuel_max);
        ended = message(&mut session, call, fuel_max);
        trace = session.events.finish();
    });
    world.state.rollback_to(depth);
    guarded?;
    match ended {
        Ok((response, fuel_used)) => Ok(Simulation { result: Ok(response), fuel_used, trace }),
        Err(Stop::Revert(text)) => Ok(Simulation { result: Err(text), fuel_used: 0, trace }),
        Err(Stop::Halt(halt)) => Err(halt),
    }
}

/// A contract's description: the bytes that `__meta` returns, usually JSON.
///
/// The target is that of `call`, and its inputs can be anything. [`META_FUEL`] is the usual limit.
///
/// # Errors
/// As [`simulate`]; why the contract failed is [`Ok`] with an [`Err`] text inside.
pub fn meta(world: &mut World<'_>, call: &SimulatedCall<'_>) -> Result<Result<Vec<u8>, String>, Halt> {
    let depth = world.state.depth();
    world.state.checkpoint();
    let mut ended = Ok(Vec::new());
    let guarded = guarded(|| {
        world.state.work.limit_memory(SIMULATION_BYTES_MAX.min(world.parameters.message_bytes));
        let mut session = Session::simulation(world, call.transaction, call.vout, Some(call.interrupted));
        session.table_weight = TABLE_WEIGHT;
        ended = enter(&mut session, call).and_then(|(frame, code)| {
            let code = code.compiled(&session)?;
            instance::describe(&mut session, frame, &code, call.fuel)
        });
    });
    world.state.rollback_to(depth);
    guarded?;
    match ended {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(Stop::Revert(text)) => Ok(Err(text)),
        Err(Stop::Halt(halt)) => Err(halt),
    }
}

fn enter(session: &mut Session<'_, '_>, call: &SimulatedCall<'_>) -> Result<(Frame, ResolvedCode), Stop> {
    let cellpack = Cellpack::decode(call.calldata).map_err(|error| Stop::revert(error.to_string()))?;
    let resolved = resolve(session, cellpack.target)?;
    let frame = Frame {
        myself: resolved.id,
        code: resolved.id,
        caller: AlkaneId::default(),
        incoming: call.incoming.to_vec(),
        inputs: cellpack.inputs,
        nesting: 0,
    };
    Ok((frame, resolved.code))
}

fn message(
    session: &mut Session<'_, '_>,
    call: &SimulatedCall<'_>,
    fuel_max: u64,
) -> Result<(CallResponse, u64), Stop> {
    let (frame, code) = enter(session, call)?;
    let myself = frame.myself;
    balances::credit(&mut session.world.state, myself, call.incoming)?;
    frame.record_enter(&mut session.events, CallKind::Call, session.vout, call.fuel);
    let ended = session.check_bounds().and_then(|()| code.compiled(session)).and_then(|code| {
        let outcome = instance::execute(session, frame, &code, call.fuel.min(fuel_max))?;
        if outcome.fuel_used > fuel_max {
            return Err(Stop::revert("all fuel consumed by WebAssembly"));
        }
        let (response, data) = outcome.response.into_parts();
        balances::debit(&mut session.world.state, myself, &response.alkanes)?;
        Ok((response, data, outcome.fuel_used))
    });
    match ended {
        Ok((response, data, fuel_used)) => {
            session.events.exit(TraceStatus::Success, response.clone(), data.bytes(), fuel_used);
            session.check_bounds()?;
            Ok((CallResponse { data: data.bytes().to_vec(), ..response }, fuel_used))
        }
        Err(stop) => {
            session.events.exit(TraceStatus::Revert, CallResponse::default(), &stop.revert_data(), u64::MAX);
            Err(stop)
        }
    }
}

/// Deploys the built-in contracts that are not there yet, which the first active block does (protocol B18).
///
/// Each is run once with operation 0, in the order 2:0, 32:0, 32:1; what it stores is written, and what it issues is taken from
/// what it holds as from any contract, which leaves a balance of 0. Returned is what 2:0 and 32:1 issue: the caller puts it on
/// the network's genesis outpoint.
///
/// # Errors
/// A built-in is missing or fails, without which nothing can go on.
pub fn deploy_builtins(world: &mut World<'_>) -> Result<Vec<Transfer>, Halt> {
    let mut issued = Vec::new();
    for id in IDS {
        if world.state.get(&StateKey::Code(id))?.is_some_and(|mark| !mark.is_empty()) {
            continue;
        }
        world.state.put_direct(StateKey::Code(id), DEPLOYED_MARK.to_vec());
        let response = deploy_builtin(world, id)?;
        for (key, value) in response.storage {
            world.state.put(StateKey::Storage(id, key), value);
        }
        if id != WRAPPED_BITCOIN {
            issued.extend(response.alkanes);
        }
    }
    Ok(issued)
}

/// The mark under a deployed built-in; its content is never read (protocol B18).
const DEPLOYED_MARK: [u8; 1] = [1];

fn deploy_builtin(world: &mut World<'_>, id: AlkaneId) -> Result<CallResponse, Halt> {
    let transaction =
        Transaction { version: Version::ONE, lock_time: LockTime::ZERO, input: Vec::new(), output: Vec::new() };
    let mut ended = Ok(CallResponse::default());
    guarded(|| {
        let height = world.parameters.genesis_height;
        let mut session = Session::simulation(world, &transaction, 0, None);
        session.height = height;
        let inputs = if id == SIGNING_TOKEN { vec![0, 1] } else { vec![0] };
        let frame =
            Frame { myself: id, code: id, caller: AlkaneId::default(), incoming: Vec::new(), inputs, nesting: 0 };
        ended = run_builtin(&mut session, frame);
    })?;
    ended.map_err(|stop| match stop {
        Stop::Revert(text) => Halt::BuiltinFailed { id, text },
        Stop::Halt(halt) => halt,
    })
}

fn run_builtin(session: &mut Session<'_, '_>, frame: Frame) -> Result<CallResponse, Stop> {
    let myself = frame.myself;
    let code = session.world.builtins.code(myself, session.height)?;
    let code = code.expect("every id deployed is one of a built-in");
    let code = session.world.codes.compile(&code)?;
    let response = instance::execute(session, frame, &code, u64::MAX)?.response.into_response();
    balances::debit(&mut session.world.state, myself, &response.alkanes)?;
    Ok(response)
}
