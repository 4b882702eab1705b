//! Host functions of contracts (protocol B10).
//!
//! Every function reads its arguments from the contract's memory, charges fuel, and answers into the contract's memory.
//! An error inside marks the call as failed and answers -1 or nothing; the contract goes on and is undone when it ends.

use std::collections::HashSet;

use wasmi::{Caller, Engine, Extern, Linker, Module};

use super::balances;
use super::call;
use super::limits::InstanceLimits;
use super::sequence;
use super::session::{Frame, Session};
use super::stop::Stop;
use super::wire::{Returndata, array_buffer, parse_id};
use crate::parameters::fork_height;
use crate::work::cost;
use crate::{CallKind, StateKey};

/// Fuel of host functions, in units or in units per byte (protocol B10).
mod fuel {
    pub(super) const REQUEST_BYTE: u64 = 1;
    pub(super) const LOAD_BYTE: u64 = 2;
    pub(super) const REQUEST_TRANSACTION: u64 = 50;
    pub(super) const LOAD_TRANSACTION: u64 = 500;
    pub(super) const REQUEST_BLOCK: u64 = 100;
    pub(super) const LOAD_BLOCK: u64 = 1000;
    pub(super) const SEQUENCE: u64 = 5;
    pub(super) const FUEL: u64 = 5;
    pub(super) const HEIGHT: u64 = 10;
    pub(super) const BALANCE: u64 = 10;
}

/// The context of an instance's host functions.
pub(crate) struct Host<'h, 's, 'w> {
    pub(crate) session: &'h mut Session<'s, 'w>,
    pub(crate) frame: Frame,
    pub(crate) limits: InstanceLimits,
    /// Return data of the newest extcall.
    pub(crate) returndata: Returndata,
    /// The call will be undone when it ends.
    pub(crate) had_failure: bool,
    /// Graver than a failure: the instance was trapped for it, and everything above ends with it.
    pub(crate) stop: Option<Stop>,
}

impl<'h, 's, 'w> Host<'h, 's, 'w> {
    pub(crate) fn new(session: &'h mut Session<'s, 'w>, frame: Frame, limits: InstanceLimits) -> Self {
        Self { session, frame, limits, returndata: Returndata::default(), had_failure: false, stop: None }
    }
}

impl Host<'_, '_, '_> {
    /// Counts the pages that the contract can have touched until it has so much fuel left.
    pub(crate) fn count_touched(&mut self, fuel_left: u64) {
        let pages = self.limits.newly_touched_pages(fuel_left);
        self.session.world.state.work.add(pages * cost::TOUCHED_PAGE);
    }

    /// Counts the fuel used of `fuel`, and the pages that the call can have touched with it.
    pub(super) fn count_burnt(&mut self, fuel: u64, left: u64) {
        self.count_touched(left);
        self.session.was_refused_growth |= self.limits.has_refused();
        self.session.burnt_fuel = fuel.saturating_sub(left);
    }
}

/// The contract that calls a host function, whatever runs it.
pub(crate) struct Guest<'g, 'h, 's, 'w> {
    host: &'g mut Host<'h, 's, 'w>,
    /// Its memory, if it exports one.
    memory: Option<&'g mut [u8]>,
    /// Fuel that is left.
    pub(super) fuel: u64,
}

impl<'g, 'h, 's, 'w> Guest<'g, 'h, 's, 'w> {
    pub(super) const fn new(host: &'g mut Host<'h, 's, 'w>, memory: Option<&'g mut [u8]>, fuel: u64) -> Self {
        Self { host, memory, fuel }
    }

    pub(crate) const fn data(&self) -> &Host<'h, 's, 'w> {
        self.host
    }

    pub(crate) const fn data_mut(&mut self) -> &mut Host<'h, 's, 'w> {
        self.host
    }

    fn memory(&self) -> Result<&[u8], Stop> {
        self.memory.as_deref().ok_or_else(no_memory)
    }

    fn memory_mut(&mut self) -> Result<(&mut [u8], &mut Host<'h, 's, 'w>), Stop> {
        let memory = self.memory.as_deref_mut().ok_or_else(no_memory)?;
        Ok((memory, self.host))
    }
}

fn no_memory() -> Stop {
    Stop::revert("export was not memory region")
}

/// Names of the host functions that a module imports.
pub(crate) fn imported_by(module: &Module) -> Vec<&'static str> {
    let names: HashSet<&str> = module.imports().map(|import| import.name()).collect();
    let mut imported = Vec::new();
    let note = |name| {
        if names.contains(name) {
            imported.push(name);
        }
        false
    };
    define(&mut Linker::new(module.engine()), note).expect("nothing is defined");
    imported
}

/// The host functions of these names, for an instance of a module of `engine`. They live no longer than what they borrow, so each
/// instance has its own.
pub(crate) fn link<'h, 's, 'w>(engine: &Engine, names: &[&'static str]) -> Linker<Host<'h, 's, 'w>> {
    let mut linker = Linker::new(engine);
    define(&mut linker, |name| names.contains(&name)).expect("no name is defined twice");
    linker
}

/// Passes each host function to a macro: its name, the function, what it answers where it fails, and its arguments.
macro_rules! host_functions {
    ($define:ident) => {
        $define!("abort", abort, (), (message: i32, file: i32, line: i32, column: i32));
        $define!("__request_storage", request_storage, -1, (key: i32));
        $define!("__load_storage", load_storage, -1, (key: i32, value: i32));
        $define!("__request_context", request_context, -1, ());
        $define!("__load_context", load_context, -1, (output: i32));
        $define!("__request_transaction", request_transaction, -1, ());
        $define!("__load_transaction", load_transaction, (), (output: i32));
        $define!("__request_block", request_block, -1, ());
        $define!("__load_block", load_block, (), (output: i32));
        $define!("__sequence", load_sequence, (), (output: i32));
        $define!("__fuel", load_fuel, (), (output: i32));
        $define!("__height", load_height, (), (output: i32));
        $define!("__balance", load_balance, (), (who: i32, what: i32, output: i32));
        $define!("__returndatacopy", load_returndata, (), (output: i32));
        $define!("__log", log, (), (text: i32));
        $define!("__call", call, -1, (cellpack: i32, parcel: i32, storage: i32, fuel: i64));
        $define!("__delegatecall", delegate_call, -1, (cellpack: i32, parcel: i32, storage: i32, fuel: i64));
        $define!("__staticcall", static_call, -1, (cellpack: i32, parcel: i32, storage: i32, fuel: i64));
    };
}
#[cfg(feature = "machine-code")]
pub(super) use host_functions;

/// Defines the host functions whose names are wanted.
fn define<'h, 's, 'w>(
    linker: &mut Linker<Host<'h, 's, 'w>>,
    mut is_wanted: impl FnMut(&'static str) -> bool,
) -> Result<(), wasmi::Error> {
    macro_rules! function {
        ($name:literal, $function:ident, $failed:expr, ($($argument:ident: $type:ty),*)) => {
            if is_wanted($name) {
                linker.func_wrap("env", $name, |mut caller: Caller<'_, Host<'h, 's, 'w>>, $($argument: $type),*| {
                    let fuel = caller.get_fuel().expect("engines are made with fuel");
                    let memory = caller.get_export("memory").and_then(Extern::into_memory);
                    let (memory, host) = match &memory {
                        Some(memory) => {
                            let (memory, host) = memory.data_and_store_mut(&mut caller);
                            (Some(memory), host)
                        }
                        None => (None, caller.data_mut()),
                    };
                    let mut guest = Guest::new(host, memory, fuel);
                    let answer = check_limits(&guest).and_then(|()| $function(&mut guest, $($argument),*));
                    let (answer, fuel) = (settle(&mut guest, answer, $failed), guest.fuel);
                    caller.set_fuel(fuel).expect("engines are made with fuel");
                    answer.ok_or_else(|| wasmi::Error::new("the engine halts"))
                })?;
            }
        };
    }
    host_functions!(function);
    Ok(())
}

/// Host functions can take long for little fuel, so a message that does too much ends here, and a simulation
/// that is interrupted.
pub(super) fn check_limits(guest: &Guest<'_, '_, '_, '_>) -> Result<(), Stop> {
    let session = &guest.data().session;
    session.world.state.work.add(cost::HOST_CALL);
    session.world.state.check_limits()?;
    match session.interrupted {
        Some(interrupted) if interrupted() => Err(crate::Halt::Interrupted.into()),
        _ => Ok(()),
    }
}

/// Failures are answered. `None`: the engine halts, and the contract has to be trapped.
pub(super) fn settle<T>(guest: &mut Guest<'_, '_, '_, '_>, answer: Result<T, Stop>, failed: T) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(Stop::Revert(_)) => {
            guest.data_mut().had_failure = true;
            Some(failed)
        }
        Err(halt @ Stop::Halt(_)) => {
            guest.data_mut().stop = Some(halt);
            None
        }
    }
}

/// Copies an `ArrayBuffer` out of the contract's memory.
pub(crate) fn read(guest: &Guest<'_, '_, '_, '_>, pointer: i32) -> Result<Vec<u8>, Stop> {
    let bytes = array_buffer(guest.memory()?, pointer)?;
    guest.data().session.world.state.work.add_copied_anew(bytes.len());
    Ok(bytes.to_vec())
}

/// Writes an `ArrayBuffer` into the contract's memory: the length before the pointer, the bytes at it.
fn write(guest: &mut Guest<'_, '_, '_, '_>, pointer: i32, bytes: &[u8]) -> Result<i32, Stop> {
    let (memory, host) = guest.memory_mut()?;
    host.session.world.state.work.add_copied(bytes.len());
    write_parts(memory, pointer, &[bytes])
}

/// Writes an `ArrayBuffer` that is made of parts.
fn write_parts(data: &mut [u8], pointer: i32, parts: &[&[u8]]) -> Result<i32, Stop> {
    let start =
        usize::try_from(pointer).map_err(|_| Stop::revert("out of range integral type conversion attempted"))?;
    let failed = || Stop::revert("failed to write ArrayBuffer");
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let prefix = start.checked_sub(4).and_then(|prefix| data.get_mut(prefix..start)).ok_or_else(failed)?;
    prefix.copy_from_slice(&(len as u32).to_le_bytes());
    let mut target = data.get_mut(start..start + len).ok_or_else(failed)?;
    for part in parts {
        let (here, rest) = target.split_at_mut(part.len());
        here.copy_from_slice(part);
        target = rest;
    }
    Ok(pointer)
}

/// Charges fuel. Before V217 it is only checked that there is enough (protocol B10).
pub(crate) fn charge(guest: &mut Guest<'_, '_, '_, '_>, fuel: u64) -> Result<(), Stop> {
    let left = guest.fuel.checked_sub(fuel).ok_or_else(Stop::overflow)?;
    let session = &guest.data().session;
    if fork_height(session.height) >= session.world.parameters.host_fuel_deducted {
        guest.fuel = left;
    }
    Ok(())
}

fn charge_bytes(guest: &mut Guest<'_, '_, '_, '_>, byte_fuel: u64, len_bytes: usize) -> Result<(), Stop> {
    charge(guest, byte_fuel * len_bytes as u64)
}

fn length(len_bytes: usize) -> Result<i32, Stop> {
    i32::try_from(len_bytes).map_err(|_| Stop::revert("out of range integral type conversion attempted"))
}

fn stored(guest: &Guest<'_, '_, '_, '_>, key: &[u8]) -> Result<Vec<u8>, Stop> {
    let host = guest.data();
    let key = StateKey::Storage(host.frame.myself, key.to_vec());
    Ok(host.session.world.state.get(&key)?.unwrap_or_default())
}

pub(super) fn request_storage(guest: &mut Guest<'_, '_, '_, '_>, key: i32) -> Result<i32, Stop> {
    let key = read(guest, key)?;
    let value_len = stored(guest, &key)?.len();
    charge_bytes(guest, fuel::REQUEST_BYTE, key.len() + value_len)?;
    length(value_len)
}

pub(super) fn load_storage(guest: &mut Guest<'_, '_, '_, '_>, key: i32, output: i32) -> Result<i32, Stop> {
    let key = read(guest, key)?;
    let value = stored(guest, &key)?;
    charge_bytes(guest, fuel::LOAD_BYTE, key.len() + value.len())?;
    write(guest, output, &value)
}

pub(super) fn request_context(guest: &mut Guest<'_, '_, '_, '_>) -> Result<i32, Stop> {
    let frame = &guest.data().frame;
    let len = 16 * (6 + 3 * frame.incoming.len() + frame.inputs.len());
    charge_bytes(guest, fuel::REQUEST_BYTE, len)?;
    length(len)
}

pub(super) fn load_context(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<i32, Stop> {
    let host = guest.data();
    let context = host.frame.serialized(host.session.vout);
    charge_bytes(guest, fuel::LOAD_BYTE, context.len())?;
    write(guest, output, &context)
}

pub(super) fn request_transaction(guest: &mut Guest<'_, '_, '_, '_>) -> Result<i32, Stop> {
    let len = guest.data().session.transaction_bytes().len();
    charge(guest, fuel::REQUEST_TRANSACTION)?;
    length(len)
}

pub(super) fn load_transaction(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    charge(guest, fuel::LOAD_TRANSACTION)?;
    let bytes = guest.data().session.transaction_bytes();
    write(guest, output, &bytes).map(drop)
}

pub(super) fn request_block(guest: &mut Guest<'_, '_, '_, '_>) -> Result<i32, Stop> {
    let len = guest.data().session.world.block_bytes().len();
    charge(guest, fuel::REQUEST_BLOCK)?;
    length(len)
}

pub(super) fn load_block(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    charge(guest, fuel::LOAD_BLOCK)?;
    let bytes = guest.data().session.world.block_bytes();
    write(guest, output, &bytes).map(drop)
}

pub(super) fn load_sequence(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    let next = sequence::next(&guest.data().session.world.state)?;
    charge(guest, fuel::SEQUENCE)?;
    write(guest, output, &next.to_le_bytes()).map(drop)
}

pub(super) fn load_fuel(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    guest.data_mut().session.has_shown_fuel = true;
    let before = guest.data().session.reported_fuel(guest.fuel);
    charge(guest, fuel::FUEL)?;
    write(guest, output, &before.to_le_bytes()).map(drop)
}

pub(super) fn load_height(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    let height = guest.data().session.height;
    charge(guest, fuel::HEIGHT)?;
    write(guest, output, &height.to_le_bytes()).map(drop)
}

pub(super) fn load_balance(guest: &mut Guest<'_, '_, '_, '_>, who: i32, what: i32, output: i32) -> Result<(), Stop> {
    let (who, what) = (parse_id(&read(guest, who)?)?, parse_id(&read(guest, what)?)?);
    let balance = balances::touch(&mut guest.data_mut().session.world.state, who, what)?;
    charge(guest, fuel::BALANCE)?;
    write(guest, output, &balance).map(drop)
}

pub(super) fn load_returndata(guest: &mut Guest<'_, '_, '_, '_>, output: i32) -> Result<(), Stop> {
    charge_bytes(guest, fuel::LOAD_BYTE, guest.data().returndata.len())?;
    let (memory, host) = guest.memory_mut()?;
    host.session.world.state.work.add_copied(host.returndata.len());
    write_parts(memory, output, &host.returndata.parts()).map(drop)
}

/// Log texts are discarded. Text that is not UTF-8 is no error either: release builds of the reference contain no printing.
pub(super) fn log(guest: &mut Guest<'_, '_, '_, '_>, text: i32) -> Result<(), Stop> {
    array_buffer(guest.memory()?, text).map(drop)
}

/// The call is undone when it ends; the contract goes on.
#[expect(clippy::unnecessary_wraps)] // as every host function
pub(super) fn abort(guest: &mut Guest<'_, '_, '_, '_>, _: i32, _: i32, _: i32, _: i32) -> Result<(), Stop> {
    guest.data_mut().had_failure = true;
    Ok(())
}

macro_rules! extcall {
    ($name:ident, $kind:expr) => {
        pub(super) fn $name(
            guest: &mut Guest<'_, '_, '_, '_>,
            cellpack: i32,
            parcel: i32,
            storage: i32,
            _fuel: i64,
        ) -> Result<i32, Stop> {
            call::call(guest, $kind, &call::Pointers { cellpack, parcel, storage })
        }
    };
}

extcall!(call, CallKind::Call);
extcall!(delegate_call, CallKind::Delegate);
extcall!(static_call, CallKind::Static);
