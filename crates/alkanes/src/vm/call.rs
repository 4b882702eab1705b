//! A contract calls another (protocol B11).

use paraffin_primitives::AlkaneId;

use super::balances;
use super::host::{Guest, charge, read};
use super::instance;
use super::precompile;
use super::resolve::{self, Resolved};
use super::session::Frame;
use super::stop::Stop;
use super::wire::{self, RawStorage, Returndata, ReturnedData};
use crate::codec::Cellpack;
use crate::parameters::fork_height;
use crate::work::cost;
use crate::{CallKind, CallResponse, Overlay, StateKey, TraceStatus, Transfer};

/// Fuel of a call beside that of its storage map (protocol B11.7).
const CALL_FUEL: u64 = 500;

/// First parts of targets that create a contract, which costs more (protocol B11.2).
const CREATING_BLOCKS: [u128; 4] = [1, 3, 5, 6];

/// Pointers to the arguments of a call in the caller's memory.
pub(crate) struct Pointers {
    pub(crate) cellpack: i32,
    pub(crate) parcel: i32,
    pub(crate) storage: i32,
}

/// The decoded arguments of a call.
struct Request {
    cellpack: Cellpack,
    parcel: Vec<Transfer>,
    storage: RawStorage,
}

/// A failure of a call whose layer is still open.
enum Failure {
    /// The contract that was called ended badly. It had been given this much fuel, as reported.
    Child { text: String, fuel: u64 },
    /// The call itself could not be made or booked.
    Call(Stop),
}

impl<E: Into<Stop>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Call(error.into())
    }
}

/// Makes a call and returns the length of its return data, or minus the length of the data that state why it failed.
///
/// # Errors
/// The engine halts. A failed call is an answer.
pub(crate) fn call(guest: &mut Guest<'_, '_, '_, '_>, kind: CallKind, pointers: &Pointers) -> Result<i32, Stop> {
    // Every end of this call replaces it; kept until then, it would stand beside that of each call below.
    guest.data_mut().returndata = Returndata::default();
    // The callee may make calls in its turn, so counting at the end alone would be too late for nested calls.
    let fuel_left = guest.fuel;
    guest.data_mut().count_touched(fuel_left);
    let request = match prepare(guest, pointers) {
        Ok(request) => request,
        Err(Stop::Revert(text)) => return Ok(fail(guest, &text, 0)),
        Err(halt) => return Err(halt),
    };
    if request.cellpack.target.block == precompile::BLOCK {
        return match precompile::answer(guest.data_mut().session, request.cellpack.target.tx) {
            Ok(data) => Ok(succeed(guest, CallResponse::default(), data.into(), 0)),
            Err(Stop::Revert(text)) => Ok(fail(guest, &text, 0)),
            Err(halt) => Err(halt),
        };
    }
    guest.data().session.check_turn()?;
    guest.data_mut().session.world.state.checkpoint();
    match run(guest, kind, request) {
        Ok(returned_len) => {
            let state = &mut guest.data_mut().session.world.state;
            if kind == CallKind::Static {
                state.rollback();
            } else {
                state.commit();
            }
            Ok(returned_len)
        }
        Err(Failure::Call(halt @ Stop::Halt(_))) => Err(halt),
        Err(Failure::Call(Stop::Revert(text))) => {
            guest.data_mut().session.world.state.rollback();
            Ok(fail(guest, &text, 0))
        }
        Err(Failure::Child { text, fuel }) => {
            let session = &mut *guest.data_mut().session;
            session.world.state.rollback();
            if fork_height(session.height) < session.world.parameters.revert_survives {
                // The caller keeps all of its fuel, so nothing pays for the fuel that the call has burnt.
                session.world.state.work.add(session.burnt_fuel);
                return Ok(fail(guest, &text, 0));
            }
            // The caller lives on, but everything that it had is used up.
            guest.fuel = 0;
            Ok(report_failure(guest, &text, fuel))
        }
    }
}

/// Depth, arguments, fuel of a creation: everything before the first change (protocol B11.1, B11.2).
fn prepare(guest: &mut Guest<'_, '_, '_, '_>, pointers: &Pointers) -> Result<Request, Stop> {
    guest.data().session.check_depth(guest.data().frame.nesting)?;
    let cellpack = read(guest, pointers.cellpack)?;
    guest.data().session.world.state.work.add_copied_anew(cellpack.len());
    let cellpack = wire::parse_cellpack(&cellpack)?;
    let parcel = wire::parse_parcel(&read(guest, pointers.parcel)?)?;
    guest.data().session.check_parcel(parcel.len())?;
    guest.data().session.world.state.work.add_times(parcel.len(), cost::SHEET_ENTRY);
    let storage = read(guest, pointers.storage)?;
    let state = &guest.data().session.world.state;
    state.work.add_times(RawStorage::pairs_named(&storage), cost::PAIR);
    state.check_limits()?;
    let storage = RawStorage::parse(storage)?;
    if CREATING_BLOCKS.contains(&cellpack.target.block) {
        let session = &guest.data().session;
        let fuel = session.world.parameters.deploy_fuel(session.height);
        charge(guest, fuel)?;
    }
    Ok(Request { cellpack, parcel, storage })
}

/// The call inside its layer (protocol B11.4 to B11.9).
fn run(guest: &mut Guest<'_, '_, '_, '_>, kind: CallKind, request: Request) -> Result<i32, Failure> {
    let Request { cellpack, parcel, storage } = request;
    let left = guest.fuel;
    let host = guest.data_mut();
    let session = &mut *host.session;
    let store_byte_fuel = session.world.parameters.store_byte_fuel(session.height);
    let fuel = store_byte_fuel.checked_mul(storage.len()).and_then(|fuel| fuel.checked_add(CALL_FUEL));
    let fuel = fuel.ok_or_else(Stop::overflow)?;
    let (myself, caller) = (host.frame.myself, host.frame.caller);
    // A map that is not paid for is undone before anything can read it, and could be millions of pairs.
    if fuel <= left {
        store(&mut session.world.state, myself, storage.into_pairs())?;
    }
    session.world.state.work.set_memory_left(host.limits.bytes_left());
    let Resolved { id: target, code } = resolve::resolve(session, cellpack.target)?;
    let (child_myself, child_caller) = match kind {
        CallKind::Delegate => (myself, caller),
        CallKind::Call | CallKind::Static => {
            balances::transfer(&mut session.world.state, myself, target, &parcel)?;
            (target, myself)
        }
    };
    let frame = Frame {
        myself: child_myself,
        code: target,
        caller: child_caller,
        incoming: parcel,
        inputs: cellpack.inputs,
        nesting: host.frame.nesting + 1,
    };
    charge(guest, fuel)?;

    let fuel = guest.fuel;
    let host = guest.data_mut();
    let session = &mut *host.session;
    let reported_fuel = session.reported_fuel(fuel);
    frame.record_enter(&mut session.events, kind, session.vout, reported_fuel);
    session.check_bounds()?;
    // Instances of this message live until the one above them ends, so they share the rest.
    let outer_bytes_left = std::mem::replace(&mut session.instance_bytes_left, host.limits.bytes_left());
    let ended = code.compiled(session).and_then(|code| instance::execute(session, frame, &code, fuel));
    session.instance_bytes_left = outer_bytes_left;
    let outcome = match ended {
        Ok(outcome) => outcome,
        Err(Stop::Revert(text)) => return Err(Failure::Child { text, fuel: reported_fuel }),
        Err(halt) => return Err(Failure::Call(halt)),
    };

    let Some(left) = fuel.checked_sub(outcome.fuel_used) else {
        // Storage costs more than the fuel left: the call fails, and nothing pays for the fuel that it has burnt.
        let session = &guest.data().session;
        session.world.state.work.add(session.burnt_fuel);
        return Err(Stop::overflow().into());
    };
    guest.fuel = left;
    let (response, data) = outcome.response.into_parts();
    let session = &mut *guest.data_mut().session;
    store(&mut session.world.state, child_myself, response.storage.clone())?;
    session.world.record_touched(child_myself, &response.storage);
    let alkanes = response.alkanes.clone();
    let returned_len = succeed(guest, response, data, outcome.fuel_used);
    guest.data().session.check_bounds()?;
    if kind != CallKind::Delegate {
        let state = &mut guest.data_mut().session.world.state;
        balances::transfer(state, child_myself, child_caller, &alkanes)?;
    }
    Ok(returned_len)
}

/// Writes the storage map of a contract.
///
/// # Errors
/// The work of the transaction ends here.
pub(crate) fn store(state: &mut Overlay<'_>, contract: AlkaneId, pairs: Vec<(Vec<u8>, Vec<u8>)>) -> Result<(), Stop> {
    for (key, value) in pairs {
        state.check_limits()?;
        state.put(StateKey::Storage(contract, key), value);
    }
    Ok(())
}

/// Records a success in the trace and the caller; returns the length of the return data.
fn succeed(guest: &mut Guest<'_, '_, '_, '_>, response: CallResponse, data: ReturnedData, fuel_used: u64) -> i32 {
    record(guest, TraceStatus::Success, response, data, fuel_used)
}

fn record(
    guest: &mut Guest<'_, '_, '_, '_>,
    status: TraceStatus,
    response: CallResponse,
    data: ReturnedData,
    fuel_used: u64,
) -> i32 {
    let host = guest.data_mut();
    let alkanes = response.alkanes.clone();
    host.session.events.exit(status, response, data.bytes(), fuel_used);
    host.returndata = Returndata::new(&alkanes, data);
    returned_len(&host.returndata)
}

/// Records a failure that also fails the caller.
fn fail(guest: &mut Guest<'_, '_, '_, '_>, text: &str, fuel_used: u64) -> i32 {
    guest.data_mut().had_failure = true;
    report_failure(guest, text, fuel_used)
}

/// Records a failure in the trace and the caller; returns minus the length of the return data.
fn report_failure(guest: &mut Guest<'_, '_, '_, '_>, text: &str, fuel_used: u64) -> i32 {
    -record(guest, TraceStatus::Revert, CallResponse::default(), wire::revert_data(text).into(), fuel_used)
}

/// The length of the return data as an i32.
fn returned_len(returndata: &Returndata) -> i32 {
    i32::try_from(returndata.len())
        .expect("it comes out of a memory of at most 43,554,432 bytes or of a block, or is a text")
}
