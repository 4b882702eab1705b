//! The machine: wasmtime with the switches that make a run the same everywhere (protocol A2, A4).
//!
//! Every run has a store, an instance and a memory of its own. The program runs on a stack of its own as well: when it reads
//! a value, and a hundred times a second, it yields to [`Machine::run`], which supplies the value and checks the clock.

mod imports;

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use paraffin_primitives::Height;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use wasmtime::{
    Config, Engine, EngineWeak, ExternType, FuncType, Instance, InstancePre, Linker, Module, ResourceLimiter, Store,
    Trap, ValType,
};

use crate::abi;
use crate::flush::Flushing;
use crate::program::{LoadError, Program, ProgramError, Reads, RunLimits, START};
use crate::{BadPointer, Flush};

/// Name of the exported memory.
const MEMORY: &str = "memory";
/// Time between two checks of the clock.
const TICK: Duration = Duration::from_millis(10);
/// All that 32-bit pointers reach, in bytes.
const MEMORY_BYTES_MAX: u64 = 4 << 30;
/// Elements of all tables of a run.
const TABLE_ELEMENTS_MAX: u64 = 1 << 20;
/// The error of wasmtime for growth beyond 32-bit pointers, which it returns before it consults the limiter.
const BEYOND_POINTERS: &str = "memory growth exceeds memory type's limits";

/// A compiled program.
pub(crate) struct Machine {
    engine: Engine,
    instance: InstancePre<Guest>,
    views: BTreeSet<String>,
    hash: [u8; 32],
}

/// The state of one run.
struct Guest {
    input: Vec<u8>,
    exchange: Arc<Mutex<Exchange>>,
    /// The key that was read last, with its value: a program reads the length first and then the bytes.
    last_read: Option<(Arc<[u8]>, Vec<u8>)>,
    /// Whether a block is run: what a view flushes is ignored.
    is_block: bool,
    /// The writes so far.
    flush: Option<Flushing>,
    aborted: bool,
    limit: Limit,
    /// Why the host ended the run, if it did.
    fault: Option<ProgramError>,
}

/// The key that a suspended run waits for, and its value.
#[derive(Default)]
struct Exchange {
    wanted: Option<Arc<[u8]>>,
    answer: Option<Vec<u8>>,
}

/// Bytes of the memory of a run, and elements of its tables.
struct Limit {
    memory_bytes: u64,
    memory_bytes_max: u64,
    table_elements: u64,
    /// The error that ended the run at a growth.
    exceeded: Option<ProgramError>,
}

impl Limit {
    fn new(memory_bytes_max: u64) -> Self {
        Self { memory_bytes: 0, memory_bytes_max, table_elements: 0, exceeded: None }
    }

    /// Ends the run: if the program learned of the limit instead, what it writes would depend on this machine.
    fn exceed<T>(&mut self, why: ProgramError) -> wasmtime::Result<T> {
        let error = wasmtime::Error::msg(why.to_string());
        self.exceeded = Some(why);
        Err(error)
    }
}

impl ResourceLimiter for Limit {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if desired as u64 > MEMORY_BYTES_MAX || maximum.is_some_and(|maximum| desired > maximum) {
            // No host could grant it; the program gets a refusal.
            return Ok(false);
        }
        let bytes = self.memory_bytes.saturating_add((desired - current) as u64);
        if bytes > self.memory_bytes_max {
            return self.exceed(ProgramError::TooMuchMemory(self.memory_bytes_max >> 20));
        }
        self.memory_bytes = bytes;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        if error.to_string() == BEYOND_POINTERS { Ok(()) } else { self.exceed(ProgramError::NoMemory) }
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let elements = self.table_elements.saturating_add((desired - current) as u64);
        if elements > TABLE_ELEMENTS_MAX {
            return self.exceed(ProgramError::TooManyElements(TABLE_ELEMENTS_MAX));
        }
        self.table_elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        1
    }
}

impl Machine {
    /// Compiles a program.
    ///
    /// # Errors
    /// It is no module, or not an indexer program.
    pub(crate) fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let invalid = |error: wasmtime::Error| LoadError::Invalid(format!("{error:#}"));
        let engine = Engine::new(&configuration()).map_err(invalid)?;
        let module = Module::new(&engine, bytes).map_err(invalid)?;
        let views = exports(&engine, &module)?;
        let foreign = |error: wasmtime::Error| LoadError::NotAnIndexer(format!("{error:#}"));
        let mut linker = Linker::new(&engine);
        imports::define(&mut linker).map_err(foreign)?;
        linker.define_unknown_imports_as_traps(&module).map_err(foreign)?;
        let instance = linker.instantiate_pre(&module).map_err(foreign)?;
        let weak = engine.weak();
        let ticking = std::thread::Builder::new().name("hosted-clock".to_owned()).spawn(move || tick(&weak));
        ticking.map_err(|error| LoadError::Invalid(format!("the system gives no thread for its clock: {error}")))?;
        Ok(Self { engine, instance, views, hash: Sha256::digest(bytes).into() })
    }

    /// Runs an export in a fresh memory. Returns the state of the run, and the bytes that the export points to, if any.
    fn run(
        &self,
        export: &str,
        input: Vec<u8>,
        reads: &dyn Reads,
        limits: RunLimits<'_>,
    ) -> Result<(Guest, Vec<u8>), ProgramError> {
        let exchange = Arc::new(Mutex::new(Exchange::default()));
        let guest = Guest {
            input,
            exchange: Arc::clone(&exchange),
            last_read: None,
            is_block: export == START,
            flush: None,
            aborted: false,
            limit: Limit::new(limits.memory_bytes_max),
            fault: None,
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limit);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let ended = {
            let mut run = pin!(call(&self.instance, export, &mut store));
            let mut context = Context::from_waker(Waker::noop());
            loop {
                if let Poll::Ready(ended) = run.as_mut().poll(&mut context) {
                    break ended;
                }
                let wanted = exchange.lock().wanted.take();
                match wanted {
                    Some(key) => {
                        let value = reads.get(&key)?;
                        exchange.lock().answer = Some(value.unwrap_or_default());
                    }
                    None if (limits.is_over)() => return Err(ProgramError::TooLong),
                    None => {}
                }
            }
        };
        let (instance, pointer) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let guest = store.into_data();
                let why = guest.fault.or(guest.limit.exceeded);
                return Err(why.unwrap_or_else(|| ProgramError::Trapped(reason(&error))));
            }
        };
        let answer = match pointer {
            None => Vec::new(),
            Some(pointer) => match instance.get_memory(&mut store, MEMORY) {
                Some(memory) => abi::read(memory.data(&store), pointer)?.to_vec(),
                None => return Err(BadPointer { pointer, memory_len: 0 }.into()),
            },
        };
        Ok((store.into_data(), answer))
    }
}

impl Program for Machine {
    fn hash(&self) -> [u8; 32] {
        self.hash
    }

    fn has_view(&self, name: &str) -> bool {
        self.views.contains(name)
    }

    fn run_block(
        &self,
        height: Height,
        block: &[u8],
        reads: &dyn Reads,
        limits: RunLimits<'_>,
    ) -> Result<Flush, ProgramError> {
        let (guest, _) = self.run(START, abi::input(height, block), reads, limits)?;
        if guest.aborted {
            return Err(ProgramError::Aborted);
        }
        Ok(guest.flush.ok_or(ProgramError::NoFlush)?.end())
    }

    fn view(
        &self,
        name: &str,
        height: Height,
        payload: &[u8],
        reads: &dyn Reads,
        limits: RunLimits<'_>,
    ) -> Result<Vec<u8>, ProgramError> {
        if !self.has_view(name) {
            return Err(ProgramError::UnknownView);
        }
        let (guest, answer) = self.run(name, abi::input(height, payload), reads, limits)?;
        if guest.aborted { Err(ProgramError::Aborted) } else { Ok(answer) }
    }
}

/// Calls an export of a new instance; a view returns a pointer.
async fn call(
    instance: &InstancePre<Guest>,
    export: &str,
    store: &mut Store<Guest>,
) -> wasmtime::Result<(Instance, Option<u32>)> {
    let instance = instance.instantiate_async(&mut *store).await?;
    if export == START {
        instance.get_typed_func::<(), ()>(&mut *store, START)?.call_async(&mut *store, ()).await?;
        return Ok((instance, None));
    }
    let view = instance.get_typed_func::<(), u32>(&mut *store, export)?;
    let pointer = view.call_async(&mut *store, ()).await?;
    Ok((instance, Some(pointer)))
}

/// The deterministic configuration (protocol A4). Fuel is off; the clock only interrupts.
fn configuration() -> Config {
    let mut config = Config::new();
    config
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .memory_reservation(MEMORY_BYTES_MAX)
        .memory_guard_size(64 << 10)
        .memory_init_cow(false)
        .epoch_interruption(true);
    config
}

/// Checks the exports of an indexer program. Returns the names of its views.
fn exports(engine: &Engine, module: &Module) -> Result<BTreeSet<String>, LoadError> {
    let refuse = |text: &str| Err(LoadError::NotAnIndexer(text.to_owned()));
    if !matches!(module.get_export(MEMORY), Some(ExternType::Memory(_))) {
        return refuse("it exports no memory called `memory`");
    }
    let starts = FuncType::new(engine, [], []);
    if !matches!(module.get_export(START), Some(ExternType::Func(kind)) if kind.matches(&starts)) {
        return refuse("it exports no function `_start` without parameters and results");
    }
    let is_view = FuncType::new(engine, [], [ValType::I32]);
    let views =
        module.exports().filter(|export| matches!(export.ty(), ExternType::Func(kind) if kind.matches(&is_view)));
    Ok(views.map(|export| export.name().to_owned()).collect())
}

/// Interrupts every run of an engine at intervals, until the engine is dropped.
fn tick(engine: &EngineWeak) {
    while let Some(engine) = engine.upgrade() {
        engine.increment_epoch();
        drop(engine);
        std::thread::sleep(TICK);
    }
}

/// The reason why a call failed, without the backtrace.
fn reason(error: &wasmtime::Error) -> String {
    match error.downcast_ref::<Trap>() {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    }
}

/// Waits for the value of a key.
async fn ask(exchange: Arc<Mutex<Exchange>>, key: Arc<[u8]>) -> Vec<u8> {
    exchange.lock().wanted = Some(key);
    poll_fn(move |_| exchange.lock().answer.take().map_or(Poll::Pending, Poll::Ready)).await
}

#[cfg(test)]
mod tests;
