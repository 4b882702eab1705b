//! One call in the test world.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::World;
use crate::call::{Context, Response};
use crate::codec::Reader;
use crate::contract::Contract;
use crate::environment::Environment;
use crate::host::{CallKind, Host};
use crate::id::{AlkaneId, Parcel};
use crate::revert::Revert;
use crate::storage::StorageMap;

/// How many calls may lie inside each other below a message.
pub const NESTED_CALLS_MAX: usize = 24;
/// Price of a byte of a storage map that is given out.
pub const STORE_FUEL_PER_BYTE: u64 = 40;
/// Price of a call, without its storage map.
const CALL_FUEL: u64 = 500;
/// Price of a call that creates a contract.
const CREATE_FUEL: u64 = 100_000;
/// The block number of what the machine answers itself.
const PRECOMPILE: u128 = 800_000_000;

/// Something that can be called: native code or a compiled module.
pub trait Program {
    /// Runs `__execute` in the frame and answers the bytes of its response; `Err` is the text of a trap.
    fn execute(&self, frame: &Rc<Frame>) -> Result<Vec<u8>, String>;
}

/// A contract's native code.
pub struct Native(fn(&mut Environment) -> Result<Response, Revert>);

impl Native {
    /// The code of a contract.
    pub fn of<C: Contract>() -> Self {
        Self(C::dispatch)
    }
}

impl Program for Native {
    fn execute(&self, frame: &Rc<Frame>) -> Result<Vec<u8>, String> {
        let mut env = Environment::enter(frame.clone()).ok_or("the context cannot be read")?;
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.0)(&mut env)));
        match outcome {
            Ok(Ok(response)) => Ok(env.leave(&response)),
            Ok(Err(revert)) => {
                frame.abort();
                Ok(Response::new().with_data(revert.to_data()).to_bytes(&StorageMap::default()))
            }
            Err(_) => Err("wasm `unreachable` instruction executed".to_owned()),
        }
    }
}

/// What a call that went well leaves.
pub(super) struct Ended {
    pub(super) response: Response,
    pub(super) storage: StorageMap,
    pub(super) fuel_used: u64,
}

/// One call: what the running program sees of the world.
pub struct Frame {
    world: World,
    context: Context,
    depth: usize,
    fuel: Cell<u64>,
    failed: Cell<bool>,
    returned: RefCell<Vec<u8>>,
}

impl Frame {
    pub(super) fn new(world: World, context: Context, depth: usize, fuel: u64) -> Rc<Self> {
        Rc::new(Self {
            world,
            context,
            depth,
            fuel: Cell::new(fuel),
            failed: Cell::new(false),
            returned: RefCell::default(),
        })
    }

    /// Fuel left. A metered program sets it with [`Self::set_fuel`] whenever it leaves its own code.
    pub fn remaining_fuel(&self) -> u64 {
        self.fuel.get()
    }

    /// Sets the fuel left.
    pub fn set_fuel(&self, fuel: u64) {
        self.fuel.set(fuel);
    }

    /// What the last call returned: parcel and data.
    pub fn returned(&self) -> Vec<u8> {
        self.returned.borrow().clone()
    }

    pub(super) fn run(self: &Rc<Self>, program: &dyn Program) -> Result<Ended, String> {
        let start = self.fuel.get();
        let answered = program.execute(self);
        let bytes = answered.map_err(|trap| format!("ALKANES: revert: {trap}"))?;
        let mut reader = Reader::new(&bytes);
        let read = Parcel::read(&mut reader).and_then(|alkanes| {
            let before = reader.remaining();
            let storage = StorageMap::read(&mut reader)?;
            Some((alkanes, storage, before - reader.remaining()))
        });
        let Some((alkanes, storage, storage_size)) = read else { return Err("ALKANES: revert".to_owned()) };
        if self.failed.get() {
            let selector = Revert::from("").to_data();
            return Err(match reader.rest().strip_prefix(selector.as_slice()) {
                Some(text) => format!("ALKANES: revert: {}", String::from_utf8_lossy(text)),
                None => "ALKANES: revert".to_owned(),
            });
        }
        let spent = start.saturating_sub(self.fuel.get());
        let fuel_used = spent + STORE_FUEL_PER_BYTE * storage_size as u64;
        Ok(Ended { response: Response { alkanes, data: reader.rest().to_vec() }, storage, fuel_used })
    }

    fn spend(&self, fuel: u64) -> Option<()> {
        self.fuel.set(self.fuel.get().checked_sub(fuel)?);
        Some(())
    }

    fn precompile(&self, number: u128) -> Option<Vec<u8>> {
        let surroundings = self.world.surroundings.borrow();
        let data = surroundings.precompiles.get(usize::try_from(number).ok()?)?;
        let mut bytes = Parcel::new().to_bytes();
        bytes.extend_from_slice(data);
        Some(bytes)
    }

    /// `None`: the call could not be made. `Some(Err)`: it was made and failed.
    fn nested(
        &self,
        kind: CallKind,
        cellpack: &[u8],
        parcel: &[u8],
        storage: &[u8],
    ) -> Option<Result<Vec<u8>, String>> {
        let mut reader = Reader::new(cellpack);
        let target = AlkaneId::new(reader.word()?, reader.word()?);
        let inputs = std::iter::from_fn(|| reader.word()).collect();
        let incoming = Parcel::read(&mut Reader::new(parcel))?;
        let writes = StorageMap::read(&mut Reader::new(storage))?;
        if matches!(target.block, 1 | 3 | 5 | 6) {
            self.spend(CREATE_FUEL)?;
        }
        if target.block == PRECOMPILE {
            return self.precompile(target.tx).map(Ok);
        }
        let own = self.context.myself;
        self.world.write(own, &writes);
        let (callee, program) = self.world.resolve(target).ok()?;
        if kind != CallKind::Delegate && callee != AlkaneId::TRANSACTION {
            for transfer in &incoming.0 {
                self.world.debit(transfer.id, own, transfer.value).ok()?;
                self.world.credit(transfer.id, callee, transfer.value).ok()?;
            }
        }
        let (myself, caller) = match kind {
            CallKind::Delegate => (own, self.context.caller),
            CallKind::Call | CallKind::Static => (callee, own),
        };
        self.spend(CALL_FUEL + STORE_FUEL_PER_BYTE * storage.len() as u64)?;
        let context = Context { myself, caller, vout: self.context.vout, incoming, inputs };
        let frame = Self::new(self.world.clone(), context, self.depth + 1, self.fuel.get());
        Some(frame.run(program.as_ref()).and_then(|ended| {
            self.spend(ended.fuel_used).ok_or("all fuel consumed by WebAssembly")?;
            self.world.write(myself, &ended.storage);
            if kind != CallKind::Delegate {
                for transfer in &ended.response.alkanes.0 {
                    self.world.debit(transfer.id, myself, transfer.value)?;
                    self.world.credit(transfer.id, own, transfer.value)?;
                }
            }
            let mut bytes = ended.response.alkanes.to_bytes();
            bytes.extend_from_slice(&ended.response.data);
            Ok(bytes)
        }))
    }
}

impl Host for Frame {
    fn context(&self) -> Vec<u8> {
        self.context.to_bytes()
    }

    fn storage(&self, key: &[u8]) -> Vec<u8> {
        self.world.storage(self.context.myself, key)
    }

    fn transaction(&self) -> Vec<u8> {
        self.world.surroundings.borrow().transaction.clone()
    }

    fn block(&self) -> Vec<u8> {
        self.world.surroundings.borrow().block.clone()
    }

    fn sequence(&self) -> u128 {
        self.world.sequence()
    }

    fn fuel(&self) -> u64 {
        self.fuel.get()
    }

    fn height(&self) -> u64 {
        self.world.surroundings.borrow().height
    }

    fn balance(&self, who: AlkaneId, what: AlkaneId) -> u128 {
        self.world.balance(who, what)
    }

    fn call(&self, kind: CallKind, cellpack: &[u8], parcel: &[u8], storage: &[u8], _: u64) -> Option<Vec<u8>> {
        if self.depth >= NESTED_CALLS_MAX {
            self.failed.set(true);
            return None;
        }
        let before = self.world.state.borrow().clone();
        let outcome = self.nested(kind, cellpack, parcel, storage);
        if kind == CallKind::Static || !matches!(outcome, Some(Ok(_))) {
            *self.world.state.borrow_mut() = before;
        }
        match outcome {
            Some(Ok(bytes)) => {
                self.returned.replace(bytes.clone());
                Some(bytes)
            }
            Some(Err(text)) => {
                // The caller is left without fuel, so a metered one stops at its next block of instructions.
                self.fuel.set(0);
                let mut bytes = Parcel::new().to_bytes();
                bytes.extend_from_slice(&Revert::from(text).to_data());
                self.returned.replace(bytes);
                None
            }
            None => {
                self.failed.set(true);
                None
            }
        }
    }

    fn return_data(&self, length: usize) -> Vec<u8> {
        let mut bytes = self.returned();
        bytes.resize(length, 0);
        bytes
    }

    fn log(&self, text: &[u8]) {
        self.world.log.borrow_mut().push(text.to_vec());
    }

    fn abort(&self) {
        self.failed.set(true);
    }
}
