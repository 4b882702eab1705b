//! Runs compiled contracts in the test world of the contract library.
//!
//! The world keeps storage, balances and calls; this crate adds the machine: wasmi of the version that the protocol pins, its
//! limits, and the price of every host function. What runs here is the committed bytes, so a test of this crate speaks for them.
#![forbid(unsafe_code)]

mod imports;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use paraffin_contract::testing::{Frame, Program, World};
use paraffin_contract::{AlkaneId, Host, Parcel, Response, StorageMap};
use wasmi::{Config, Engine, Linker, Memory, Module, Store, StoreLimits, StoreLimitsBuilder};

/// Limit on a contract's memory in bytes.
const MEMORY_BYTES_MAX: usize = 43_554_432;
/// Pages that every contract has from the start.
const PAGES_AT_START: u32 = 512;

/// Where the committed modules lie.
pub fn modules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wasm")
}

/// The bytes of a committed module by the name of its contract.
pub fn module(name: &str) -> Vec<u8> {
    let path = modules().join(name).with_extension("wasm");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the committed module's `__meta` answers: the description of the contract in JSON.
pub fn description(name: &str) -> Result<String, String> {
    struct Describe(Rc<Compiled>);

    impl Program for Describe {
        fn execute(&self, frame: &Rc<Frame>) -> Result<Vec<u8>, String> {
            let json = self.0.enter(frame)?.run("__meta")?;
            Ok(Response::new().with_data(json).to_bytes(&StorageMap::new()))
        }
    }

    let world = World::new();
    let anywhere = AlkaneId::new(2, 1);
    world.install_program(anywhere, Rc::new(Describe(Compiled::named(name))));
    let answer = world.message(anywhere, &[], Parcel::new())?;
    String::from_utf8(answer.data).map_err(|error| error.to_string())
}

/// A compiled contract.
pub struct Compiled {
    engine: Engine,
    module: Result<Module, String>,
}

impl Compiled {
    /// Compiles a module; bytes that are no module fail when they are called.
    pub fn new(bytes: &[u8]) -> Self {
        let mut config = Config::default();
        config.consume_fuel(true);
        let engine = Engine::new(&config);
        let module = Module::new(&engine, bytes).map_err(|error| error.to_string());
        Self { engine, module }
    }

    /// A committed module by the name of its contract.
    pub fn named(name: &str) -> Rc<Self> {
        Rc::new(Self::new(&module(name)))
    }

    fn enter(&self, frame: &Rc<Frame>) -> Result<Instance, String> {
        let module = self.module.as_ref().map_err(Clone::clone)?;
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY_BYTES_MAX).build();
        let mut store = Store::new(&self.engine, Call { frame: frame.clone(), limits });
        store.limiter(|call| &mut call.limits);
        store.set_fuel(frame.remaining_fuel()).map_err(|error| error.to_string())?;
        let mut linker = Linker::new(&self.engine);
        imports::define(&mut linker).map_err(|error| error.to_string())?;
        let instance = linker.instantiate(&mut store, module).map_err(|error| error.to_string())?;
        let instance = instance.ensure_no_start(&mut store).map_err(|error| error.to_string())?;
        let memory = instance.get_memory(&store, "memory").ok_or("no memory")?;
        let pages = memory.size(&store);
        if let Some(missing) = PAGES_AT_START.checked_sub(pages) {
            memory.grow(&mut store, missing).map_err(|error| error.to_string())?;
        }
        Ok(Instance { store, exports: instance, memory })
    }
}

impl Program for Compiled {
    fn execute(&self, frame: &Rc<Frame>) -> Result<Vec<u8>, String> {
        let mut instance = self.enter(frame)?;
        let answered = instance.run("__execute");
        let left = instance.store.get_fuel().unwrap_or(0);
        frame.set_fuel(left);
        answered
    }
}

/// State of one instance, behind the imports.
struct Call {
    frame: Rc<Frame>,
    limits: StoreLimits,
}

struct Instance {
    store: Store<Call>,
    exports: wasmi::Instance,
    memory: Memory,
}

impl Instance {
    /// Runs an export and answers the bytes that its result points at.
    fn run(&mut self, export: &str) -> Result<Vec<u8>, String> {
        let function =
            self.exports.get_typed_func::<(), i32>(&self.store, export).map_err(|error| error.to_string())?;
        let pointer = function.call(&mut self.store, ()).map_err(|error| error.to_string())?;
        let bytes = imports::array_buffer(self.memory.data(&self.store), pointer);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| {
            self.store.data().frame.abort();
            "the result is not an array buffer".to_owned()
        })
    }
}
