//! One call of one contract: a fresh instance, its limits, its answer (protocol B9).

use std::sync::Arc;

use bitcoin::hex::DisplayHex;
use wasmi::{Extern, Linker, Memory, Store, Val};

use super::cache::Compiled;
use super::host::{Host, link};
use super::limits::InstanceLimits;
use super::memory_section::CALL_PAGES;
use super::session::{Frame, Session};
use super::stop::Stop;
use super::wire::{REVERT_SELECTOR, RawResponse, array_buffer};
use crate::Halt;
use crate::work::{Work, cost};

/// Bytes of a page of WebAssembly.
const PAGE_LEN_BYTES: usize = 64 << 10;

/// The answer of a contract, and the fuel that it used, its storage included (protocol B9).
pub(crate) struct Outcome {
    pub(crate) response: RawResponse,
    pub(crate) fuel_used: u64,
}

impl Outcome {
    /// That of a call with `fuel`, of which so much is left.
    ///
    /// # Errors
    /// The sum of fuel overflows.
    pub(super) fn of(response: RawResponse, fuel: u64, left: u64, store_byte_fuel: u64) -> Result<Self, Stop> {
        let used_by_code = fuel.checked_sub(left);
        let used_by_storage = store_byte_fuel.checked_mul(response.storage_len());
        let fuel_used = used_by_code.zip(used_by_storage).and_then(|(code, storage)| code.checked_add(storage));
        Ok(Self { response, fuel_used: fuel_used.ok_or_else(Stop::overflow)? })
    }
}

/// Runs `__execute` with `fuel`.
///
/// # Errors
/// The contract reverted, with the text that the trace records, or the engine halts.
pub(crate) fn execute(
    session: &mut Session<'_, '_>,
    frame: Frame,
    code: &Arc<Compiled>,
    fuel: u64,
) -> Result<Outcome, Stop> {
    let store_byte_fuel = session.world.parameters.store_byte_fuel(session.height);
    session.burnt_fuel = 0;
    let mut instance = Instance::new(session, frame, code, fuel)?;
    let response =
        instance.call("__execute").and_then(|buffer| parse(&instance.store.data().session.world.state.work, buffer));
    let left = instance.fuel();
    instance.store.data_mut().count_burnt(fuel, left);
    let response = instance.settle(response)?;
    Outcome::of(response, fuel, left, store_byte_fuel)
}

/// Reads the answer of `__execute`.
///
/// # Errors
/// It is malformed, or the work ends here.
pub(super) fn parse(work: &Work, answer: Vec<u8>) -> Result<RawResponse, Stop> {
    work.add_times(RawResponse::pairs_named(&answer), cost::PAIR);
    work.check()?;
    RawResponse::parse(answer)
}

/// The limits of an instance that is started now, which is counted.
///
/// # Errors
/// The work ends here, or something else ends the message.
pub(super) fn limits_of(session: &Session<'_, '_>, code: &Compiled, fuel: u64) -> Result<InstanceLimits, Stop> {
    let state = &session.world.state;
    state.work.add(cost::INSTANCE + code.start_work);
    state.check_limits()?;
    let bytes_left = session.instance_bytes_left.min(state.memory_left());
    Ok(InstanceLimits::new(bytes_left, fuel, session.table_weight, state.work.left()))
}

/// Runs `__meta` with `fuel`: a description of the contract, usually JSON (protocol B9).
///
/// # Errors
/// As [`execute`].
pub(crate) fn describe(
    session: &mut Session<'_, '_>,
    frame: Frame,
    code: &Arc<Compiled>,
    fuel: u64,
) -> Result<Vec<u8>, Stop> {
    Instance::new(session, frame, code, fuel)?.call("__meta")
}

struct Instance<'h, 's, 'w> {
    store: Store<Host<'h, 's, 'w>>,
    exports: wasmi::Instance,
    memory: Memory,
}

impl<'h, 's, 'w> Instance<'h, 's, 'w> {
    fn new(session: &'h mut Session<'s, 'w>, frame: Frame, code: &Arc<Compiled>, fuel: u64) -> Result<Self, Stop> {
        let code_id = frame.code;
        let limits = limits_of(session, code, fuel)?;
        let mut store = Store::new(&code.engine, Host::new(session, frame, limits));
        store.limiter(|host| &mut host.limits);
        store.set_fuel(fuel).expect("engines are made with fuel");
        let linker: Linker<Host<'h, 's, 'w>> = link(&code.engine, &code.imports);
        let instance = linker.instantiate(&mut store, &code.module);
        let instance = instance.and_then(|instance| instance.ensure_no_start(&mut store).map_err(Into::into));
        let instance = instance.map_err(|error| stop_of(&mut store, &error))?;
        let memory = instance.get_export(&store, "memory").and_then(Extern::into_memory);
        let memory = memory.ok_or_else(|| Stop::revert("memory segment not found"))?;
        let pages = memory.size(&store);
        let grown_pages = CALL_PAGES.saturating_sub(pages) as usize;
        store.data().session.world.state.work.add_copied_anew(grown_pages * PAGE_LEN_BYTES);
        if pages < CALL_PAGES && memory.grow(&mut store, CALL_PAGES - pages).is_err() {
            store.data().limits.check()?;
            return Err(Halt::SmallMemory(code_id).into());
        }
        Ok(Self { store, exports: instance, memory })
    }

    /// Calls an export without parameters that returns a pointer, and reads the buffer there.
    fn call(&mut self, name: &str) -> Result<Vec<u8>, Stop> {
        let function = self.exports.get_func(&self.store, name);
        let function = function
            .ok_or_else(|| Stop::Revert(format!("{name} not found -- is this WASM built with the ALKANES SDK?")))?;
        let mut result = [Val::I32(0)];
        let called = function.call(&mut self.store, &[], &mut result);
        called.map_err(|error| stop_of(&mut self.store, &error))?;
        let pointer = result[0].i32().ok_or_else(|| Stop::revert("result is not an i32"))?;
        let answer = array_buffer(self.memory.data(&self.store), pointer)?;
        self.store.data().session.world.state.work.add_copied_anew(answer.len());
        Ok(answer.to_vec())
    }

    /// The outcome of the call, with the text of the reference (protocol B9).
    fn settle(&mut self, response: Result<RawResponse, Stop>) -> Result<RawResponse, Stop> {
        let failed = self.store.data().had_failure;
        match response {
            Ok(response) if !failed => Ok(response),
            Ok(response) => Err(Stop::Revert(match response.data.bytes().strip_prefix(&REVERT_SELECTOR) {
                Some(reason) => format!("ALKANES: revert: {}", text_of(reason)),
                None => "ALKANES: revert".to_owned(),
            })),
            Err(Stop::Revert(text)) => Err(Stop::Revert(format!("ALKANES: revert: {text}"))),
            Err(halt @ Stop::Halt(_)) => Err(halt),
        }
    }

    fn fuel(&self) -> u64 {
        self.store.get_fuel().expect("engines are made with fuel")
    }
}

/// An error of wasmi as the contract's failure, unless a host function or a limit has reported a graver one.
fn stop_of(store: &mut Store<Host<'_, '_, '_>>, error: &wasmi::Error) -> Stop {
    if let Some(stop) = store.data_mut().stop.take() {
        return stop;
    }
    store.data().limits.check().err().unwrap_or_else(|| Stop::revert(error.to_string()))
}

/// The reason as text, or in hexadecimal digits when it is none.
fn text_of(reason: &[u8]) -> String {
    std::str::from_utf8(reason).map_or_else(|_| reason.to_lower_hex_string(), str::to_owned)
}
