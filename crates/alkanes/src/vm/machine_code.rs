//! Contracts as machine code (decision 0096).
//!
//! ```text
//!  module ─▶ wasmi: instructions, fuel of each block ─▶ metering: module that counts this fuel ─▶ Cranelift ─▶ machine code
//! ```
//!
//! Only messages to built-in contracts that run before their turn are run so ([`super::speculation`]): whatever ends in another way than an
//! answer is no attempt, and the message is run by wasmi in its turn. Contracts that anyone has deployed are left to wasmi, whose translation has
//! defects that are part of the protocol and that a module can be made to meet.
//!
//! Invariants: an answer is that of wasmi, with the same reads, the same work and the same fuel; the first runs of a contract and one of
//! some hundred later ones are made by both, and a contract for which they differ once is never run so again.

mod costs;
mod metering;
mod slot;

use std::sync::OnceLock;

use scoped_tls_hkt::scoped_thread_local;
use wasmtime::{
    Caller, Config, Enabled, Engine, Global, InstanceAllocationStrategy, InstancePre, Linker, Memory, Module,
    PoolingAllocationConfig, ResourceLimiter, Store, Val,
};

use super::cache::Compiled;
use super::host::{self, Guest, Host, check_limits, host_functions, settle};
use super::instance::{Outcome, limits_of, parse};
use super::memory_section::CALL_PAGES;
use super::session::{Frame, Session};
use super::wire::array_buffer;

use costs::FunctionCosts;
use metering::FUEL_EXPORT;
pub(crate) use slot::{Runner, Slot};

/// Instances at a time: one for each thread that runs messages ahead, and that of the engine, of several engines in tests.
const INSTANCES_MAX: u32 = 16;

/// Bytes of a memory; its limit is less ([`super::limits::MEMORY_LEN_MAX_BYTES`]).
const MEMORY_LEN_MAX_BYTES: usize = 64 << 20;

/// Elements of the table of a module.
const TABLE_ELEMENTS_MAX: usize = 10_000;

/// Bytes of the stack of a call.
const STACK_BYTES: usize = 256 << 10;

/// A compiled module.
pub(crate) struct MachineCode {
    instance: InstancePre<Exports>,
}

/// What host functions need of an instance, once it is there.
#[derive(Default)]
struct Exports(Option<(Memory, Global)>);

/// A context of host functions, whatever it borrows.
trait Enter {
    fn enter(&mut self, body: &mut dyn for<'h, 's, 'w> FnMut(&mut Host<'h, 's, 'w>));
}

impl Enter for Host<'_, '_, '_> {
    fn enter(&mut self, body: &mut dyn for<'h, 's, 'w> FnMut(&mut Host<'h, 's, 'w>)) {
        body(self);
    }
}

// wasmtime's stores hold nothing that borrows.
scoped_thread_local!(static mut HOST: for<'a> &'a mut (dyn Enter + 'a));

fn with_host<R>(mut body: impl FnMut(&mut Host<'_, '_, '_>) -> R) -> R {
    let mut result = None;
    HOST.with(|host| host.enter(&mut |host| result = Some(body(host))));
    result.expect("entering a context runs the body")
}

impl ResourceLimiter for Exports {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let growing = |host: &mut Host<'_, '_, '_>| {
            wasmi::ResourceLimiter::memory_growing(&mut host.limits, current, desired, maximum)
        };
        Ok(matches!(with_host(growing), Ok(true)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let growing = |host: &mut Host<'_, '_, '_>| {
            let maximum = maximum.map(|maximum| maximum as u32);
            wasmi::ResourceLimiter::table_growing(&mut host.limits, current as u32, desired as u32, maximum)
        };
        Ok(matches!(with_host(growing), Ok(true)))
    }
}

impl MachineCode {
    /// Compiles the module that wasmi has compiled to `compiled`.
    ///
    /// # Errors
    /// Why it cannot be run as machine code.
    fn of(compiled: &Compiled) -> Result<Self, String> {
        Self::with(compiled, |_| {})
    }

    /// The same with other costs.
    fn with(compiled: &Compiled, change: fn(&mut [FunctionCosts])) -> Result<Self, String> {
        let code = compiled.code().ok_or("it is too long")?;
        // Of an engine of its own: while one prints what it holds, the calls of others wait.
        let copy = compiled.copied().ok_or("it cannot be translated again")?;
        let mut costs = costs::costs_of(&copy.engine).ok_or("its costs cannot be read")?;
        change(&mut costs);
        let metered = metering::metered(code, &costs).map_err(|unfit| unfit.to_string())?;
        let engine = engine().ok_or("this system does not have enough addresses")?;
        let failed = |error: wasmtime::Error| format!("{error:#}");
        let module = Module::new(engine, metered).map_err(failed)?;
        let mut linker = Linker::new(engine);
        define(&mut linker).map_err(failed)?;
        Ok(Self { instance: linker.instantiate_pre(&module).map_err(failed)? })
    }

    /// Calls `__execute` for the host of this thread. Its answer, and the fuel that is left.
    fn call(&self, fuel: u64) -> Option<(Vec<u8>, u64)> {
        let mut store = Store::new(self.instance.module().engine(), Exports::default());
        store.limiter(|exports| exports);
        let instance = self.instance.instantiate(&mut store).ok()?;
        let memory = instance.get_memory(&mut store, "memory")?;
        if memory.size(&store) < CALL_PAGES.into() {
            return None;
        }
        let left = instance.get_global(&mut store, FUEL_EXPORT)?;
        left.set(&mut store, Val::I64(i64::try_from(fuel).ok()?)).ok()?;
        store.data_mut().0 = Some((memory, left));
        let execute = instance.get_typed_func::<(), i32>(&mut store, "__execute").ok()?;
        let pointer = execute.call(&mut store, ()).ok()?;
        let left = u64::try_from(left.get(&mut store).i64()?).ok()?;
        let answer = array_buffer(memory.data(&store), pointer).ok()?;
        Some((answer.to_vec(), left))
    }
}

/// As [`super::instance::execute`], of a message that runs before its turn. `None` where it does not end with an answer.
pub(crate) fn execute(
    session: &mut Session<'_, '_>,
    frame: Frame,
    code: &Compiled,
    machine: &MachineCode,
    fuel: u64,
) -> Option<Outcome> {
    let store_byte_fuel = session.world.parameters.store_byte_fuel(session.height);
    session.burnt_fuel = 0;
    let limits = limits_of(session, code, fuel).ok()?;
    let mut host = Host::new(session, frame, limits);
    let (answer, left) = HOST.set(&mut host, || machine.call(fuel))?;
    if host.had_failure || host.stop.is_some() {
        return None;
    }
    let work = &host.session.world.state.work;
    work.add_copied_anew(answer.len());
    let response = parse(work, answer).ok()?;
    host.count_burnt(fuel, left);
    Outcome::of(response, fuel, left, store_byte_fuel).ok()
}

/// The engine of all contracts, with a pool of instances; `None` where the system refuses it.
fn engine() -> Option<&'static Engine> {
    static ENGINE: OnceLock<Option<Engine>> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(&configuration()).ok()).as_ref()
}

fn configuration() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(INSTANCES_MAX)
        .total_memories(INSTANCES_MAX)
        .total_tables(INSTANCES_MAX)
        .total_stacks(0)
        .max_memories_per_module(1)
        .max_tables_per_module(1)
        .max_memory_size(MEMORY_LEN_MAX_BYTES)
        .table_elements(TABLE_ELEMENTS_MAX)
        .table_keep_resident(TABLE_ELEMENTS_MAX * size_of::<usize>())
        .max_unused_warm_slots(INSTANCES_MAX)
        // Memories go back to the system. wasmtime's way to clear them looks for pages that are in memory: one that is swapped out or moved
        // at that moment would stay as the call left it.
        .pagemap_scan(Enabled::No);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false)
        .wasm_simd(false)
        .max_wasm_stack(STACK_BYTES);
    config
}

/// Defines the host functions.
fn define(linker: &mut Linker<Exports>) -> wasmtime::Result<()> {
    macro_rules! function {
        ($name:literal, $function:ident, $failed:expr, ($($argument:ident: $type:ty),*)) => {
            linker.func_wrap("env", $name, |mut caller: Caller<'_, Exports>, $($argument: $type),*| {
                let halts = || wasmtime::Error::msg("the engine halts");
                let (memory, left) = caller.data().0.ok_or_else(halts)?;
                let fuel = left.get(&mut caller).i64().and_then(|fuel| u64::try_from(fuel).ok()).ok_or_else(halts)?;
                let bytes = memory.data_mut(&mut caller);
                let (answer, fuel) = with_host(|host| {
                    let mut guest = Guest::new(host, Some(&mut *bytes), fuel);
                    let answer = check_limits(&guest).and_then(|()| host::$function(&mut guest, $($argument),*));
                    (settle(&mut guest, answer, $failed), guest.fuel)
                });
                left.set(&mut caller, Val::I64(fuel.cast_signed()))?;
                answer.ok_or_else(halts)
            })?;
        };
    }
    host_functions!(function);
    Ok(())
}

#[cfg(test)]
mod tests;
