//! A small world in which contracts run natively, call each other, hold alkanes and fail, for plain unit tests.
//!
//! It follows the rules of the machine for everything that a contract can see, except fuel: native code is not metered. A
//! [`Program`] may also be a compiled module, see the `harness` crate beside this library.
//!
//! ```
//! use paraffin_contract::testing::World;
//! use paraffin_contract::{AlkaneId, Environment, Parcel, Revert, contract};
//!
//! contract! {
//!     /// Answers with twice the number.
//!     Doubler {
//!         1 => double(number: u128) -> u128;
//!     }
//! }
//!
//! fn double(_: &mut Environment, number: u128) -> Result<u128, Revert> {
//!     number.checked_mul(2).ok_or_else(|| Revert::from("too large"))
//! }
//!
//! # fn main() {
//! let world = World::new();
//! let doubler = AlkaneId::new(2, 1);
//! world.install::<Doubler>(doubler);
//! let answer = world.message(doubler, &[1, 21], Parcel::new()).unwrap();
//! assert_eq!(answer.data, 42u128.to_le_bytes());
//! assert_eq!(world.message(doubler, &[1, u128::MAX], Parcel::new()).unwrap_err(), "ALKANES: revert: too large");
//! # }
//! ```

mod frame;
mod transaction;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub use frame::{Frame, NESTED_CALLS_MAX, Native, Program, STORE_FUEL_PER_BYTE};
pub use transaction::TransactionBuilder;

use crate::call::{Context, Response};
use crate::contract::Contract;
use crate::id::{AlkaneId, Parcel};
use crate::storage::StorageMap;

/// Fuel of a message, unless a test sets another.
pub const MESSAGE_FUEL: u64 = 100_000_000;

/// Everything that a failed call must restore.
#[derive(Clone)]
struct State {
    sequence: u128,
    programs: BTreeMap<AlkaneId, Rc<dyn Program>>,
    storage: BTreeMap<(AlkaneId, Vec<u8>), Vec<u8>>,
    /// By alkane and holder.
    balances: BTreeMap<(AlkaneId, AlkaneId), u128>,
}

/// What does not change during a message.
#[derive(Clone, Default)]
struct Surroundings {
    height: u64,
    block: Vec<u8>,
    transaction: Vec<u8>,
    vout: u128,
    precompiles: [Vec<u8>; 4],
}

/// A chain's worth of contracts, in memory. Clones share everything.
#[derive(Clone)]
pub struct World {
    state: Rc<RefCell<State>>,
    surroundings: Rc<RefCell<Surroundings>>,
    log: Rc<RefCell<Vec<Vec<u8>>>>,
    fuel_used: Rc<RefCell<u64>>,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty world; the next new contract is `2:1`, the height is 0.
    pub fn new() -> Self {
        let state =
            State { sequence: 1, programs: BTreeMap::new(), storage: BTreeMap::new(), balances: BTreeMap::new() };
        Self {
            state: Rc::new(RefCell::new(state)),
            surroundings: Rc::default(),
            log: Rc::default(),
            fuel_used: Rc::default(),
        }
    }

    /// Puts a contract at an id without running it.
    pub fn install<C: Contract + 'static>(&self, id: AlkaneId) {
        self.install_program(id, Rc::new(Native::of::<C>()));
    }

    /// Puts any program at an id without running it.
    pub fn install_program(&self, id: AlkaneId, program: Rc<dyn Program>) {
        let mut state = self.state.borrow_mut();
        if id.block == 2 {
            state.sequence = state.sequence.max(id.tx + 1);
        }
        state.programs.insert(id, program);
    }

    /// Sets the height that contracts see.
    pub fn set_height(&self, height: u64) {
        self.surroundings.borrow_mut().height = height;
    }

    /// Sets the block that contracts see.
    pub fn set_block(&self, block: Vec<u8>) {
        self.surroundings.borrow_mut().block = block;
    }

    /// Sets the transaction that contracts see, and the virtual output of the protostone that runs.
    pub fn set_transaction(&self, transaction: &TransactionBuilder) {
        let mut surroundings = self.surroundings.borrow_mut();
        surroundings.transaction = transaction.to_bytes();
        surroundings.vout = transaction.virtual_output();
    }

    /// Sets what `800000000:number` answers: 0 block header, 1 coinbase transaction, 2 number of genesis mints, 3 satoshis that
    /// the coinbase pays out.
    pub fn set_precompile(&self, number: usize, answer: impl Into<Vec<u8>>) {
        self.surroundings.borrow_mut().precompiles[number] = answer.into();
    }

    /// Runs a message of a transaction that brings these alkanes. On failure nothing has changed and the text says why.
    pub fn message(&self, target: AlkaneId, inputs: &[u128], incoming: Parcel) -> Result<Response, String> {
        self.message_with_fuel(target, inputs, incoming, MESSAGE_FUEL)
    }

    /// The same with another amount of fuel.
    pub fn message_with_fuel(
        &self,
        target: AlkaneId,
        inputs: &[u128],
        incoming: Parcel,
        fuel: u64,
    ) -> Result<Response, String> {
        let before = self.state.borrow().clone();
        let outcome = self.attempt(target, inputs, incoming, fuel);
        if outcome.is_err() {
            *self.state.borrow_mut() = before;
        }
        outcome
    }

    fn attempt(&self, target: AlkaneId, inputs: &[u128], incoming: Parcel, fuel: u64) -> Result<Response, String> {
        let (myself, program) = self.resolve(target)?;
        for transfer in &incoming.0 {
            self.credit(transfer.id, myself, transfer.value)?;
        }
        let vout = self.surroundings.borrow().vout;
        let context = Context { myself, caller: AlkaneId::TRANSACTION, vout, incoming, inputs: inputs.to_vec() };
        let frame = Frame::new(self.clone(), context, 0, fuel);
        let ended = frame.run(program.as_ref())?;
        *self.fuel_used.borrow_mut() = ended.fuel_used;
        self.write(myself, &ended.storage);
        for transfer in &ended.response.alkanes.0 {
            self.debit(transfer.id, myself, transfer.value)?;
        }
        Ok(ended.response)
    }

    /// Fuel that the last successful message used; of native contracts only the storage bytes are counted.
    pub fn fuel_used(&self) -> u64 {
        *self.fuel_used.borrow()
    }

    /// A stored value; empty when there is none.
    pub fn storage(&self, contract: AlkaneId, key: &[u8]) -> Vec<u8> {
        self.state.borrow().storage.get(&(contract, key.to_vec())).cloned().unwrap_or_default()
    }

    /// Stores a value from outside, as the machine does for wrapped bitcoin's `/last_block`.
    pub fn set_storage(&self, contract: AlkaneId, key: &[u8], value: Vec<u8>) {
        self.state.borrow_mut().storage.insert((contract, key.to_vec()), value);
    }

    /// How much of an alkane a contract holds.
    pub fn balance(&self, who: AlkaneId, what: AlkaneId) -> u128 {
        self.state.borrow().balances.get(&(what, who)).copied().unwrap_or(0)
    }

    /// The number that the next new contract gets.
    pub fn sequence(&self) -> u128 {
        self.state.borrow().sequence
    }

    /// What contracts wrote to the log, oldest first. Failed calls leave their lines.
    pub fn log(&self) -> Vec<Vec<u8>> {
        self.log.borrow().clone()
    }

    /// The contract and code that a target stands for; makes a copy for 5:n and 6:n.
    fn resolve(&self, target: AlkaneId) -> Result<(AlkaneId, Rc<dyn Program>), String> {
        let mut state = self.state.borrow_mut();
        let template = match target.block {
            5 => AlkaneId::new(2, target.tx),
            6 => AlkaneId::new(4, target.tx),
            _ => target,
        };
        let Some(program) = state.programs.get(&template).cloned() else {
            return Err("unexpected end-of-file (at offset 0x0)".to_owned());
        };
        if template == target {
            return Ok((target, program));
        }
        let created = AlkaneId::new(2, state.sequence);
        state.sequence += 1;
        state.programs.insert(created, program.clone());
        Ok((created, program))
    }

    fn write(&self, contract: AlkaneId, writes: &StorageMap) {
        let mut state = self.state.borrow_mut();
        for (key, value) in writes {
            state.storage.insert((contract, key.clone()), value.clone());
        }
    }

    fn credit(&self, what: AlkaneId, who: AlkaneId, value: u128) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let balance = state.balances.entry((what, who)).or_default();
        *balance = balance.checked_add(value).ok_or("balance overflow")?;
        Ok(())
    }

    /// A contract may always send out its own token: what it does not hold is minted.
    fn debit(&self, what: AlkaneId, who: AlkaneId, value: u128) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let balance = state.balances.entry((what, who)).or_default();
        match balance.checked_sub(value) {
            Some(left) => *balance = left,
            None if what == who => *balance = 0,
            None => return Err("balance underflow".to_owned()),
        }
        Ok(())
    }
}
