//! Everything a handler can ask and do, in one argument.

use alloc::vec::Vec;

#[cfg(target_arch = "wasm32")]
use crate::wasm::Imports as Backend;
/// On other targets any [`Host`] will do: the test world, or a real engine.
#[cfg(not(target_arch = "wasm32"))]
type Backend = alloc::rc::Rc<dyn Host>;

use crate::call::{Call, Context, Response};
use crate::host::{CallKind, Host};
use crate::id::{AlkaneId, Parcel};
use crate::revert::Revert;
use crate::storage::{Slot, StorageMap};

/// The block number of the pseudo-contracts that the host answers itself.
const PRECOMPILE: u128 = 800_000_000;

fn integer(bytes: &[u8]) -> Result<u128, Revert> {
    bytes.try_into().map(u128::from_le_bytes).map_err(|_| Revert::from("the host did not answer an integer"))
}

/// The contract's view of the world during one call, and the writes that it has not given out yet.
pub struct Environment {
    host: Backend,
    context: Context,
    pending: StorageMap,
    #[cfg(feature = "verbatim")]
    verbatim: Option<Vec<u8>>,
}

impl Environment {
    /// Starts a call; `None` when the host's context cannot be read.
    pub fn enter(host: Backend) -> Option<Self> {
        let context = Context::from_bytes(&host.context())?;
        Some(Self {
            host,
            context,
            pending: StorageMap::default(),
            #[cfg(feature = "verbatim")]
            verbatim: None,
        })
    }

    /// What this call was told.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Our own id.
    pub const fn myself(&self) -> AlkaneId {
        self.context.myself
    }

    /// Who called: a contract, or [`AlkaneId::TRANSACTION`].
    pub const fn caller(&self) -> AlkaneId {
        self.context.caller
    }

    /// What came in.
    pub const fn incoming(&self) -> &Parcel {
        &self.context.incoming
    }

    /// A response that sends back everything that came in.
    pub fn forward(&self) -> Response {
        Response::sending(self.context.incoming.clone())
    }

    /// The bytes stored under a key, own writes first; empty when there are none. Costs 3 fuel per byte of key and value.
    pub fn load(&self, key: &[u8]) -> Vec<u8> {
        match self.pending.get(key) {
            Some(value) => value.clone(),
            None => self.host.storage(key),
        }
    }

    /// Stores bytes under a key, to be given out with the next call or the response.
    pub fn store(&mut self, key: &[u8], value: Vec<u8>) {
        self.pending.insert(key, value);
    }

    /// The writes that have not been given out yet.
    pub const fn pending(&self) -> &StorageMap {
        &self.pending
    }

    /// Calls another contract. The callee sees our writes; afterwards they are the host's and no longer part of our response.
    pub fn call(&mut self, call: &Call) -> Result<Response, Revert> {
        let response = self.run(CallKind::Call, call)?;
        self.given_out(call.target);
        Ok(response)
    }

    /// Runs another contract's code on our storage and balances, for our caller.
    pub fn delegate(&mut self, call: &Call) -> Result<Response, Revert> {
        let response = self.run(CallKind::Delegate, call)?;
        self.given_out(call.target);
        Ok(response)
    }

    /// After a call the writes are the host's. It takes none along to what it answers itself.
    fn given_out(&mut self, target: AlkaneId) {
        if target.block != PRECOMPILE {
            self.pending.clear();
        }
    }

    /// Asks the host's own pseudo-contract `800000000:number`.
    fn precompile(&self, number: u128) -> Result<Vec<u8>, Revert> {
        Ok(self.static_call(&Call::new(AlkaneId::new(PRECOMPILE, number), Vec::new()))?.data)
    }

    /// The 80 bytes of the block's header.
    pub fn block_header(&self) -> Result<Vec<u8>, Revert> {
        self.precompile(0)
    }

    /// The block's coinbase transaction, consensus encoding.
    pub fn coinbase_transaction(&self) -> Result<Vec<u8>, Revert> {
        self.precompile(1)
    }

    /// How many transactions of the block ask the genesis token for a mint.
    pub fn genesis_mints(&self) -> Result<u128, Revert> {
        integer(&self.precompile(2)?)
    }

    /// Sum of the coinbase's outputs, in satoshis: subsidy and fees.
    pub fn coinbase_value(&self) -> Result<u128, Revert> {
        integer(&self.precompile(3)?)
    }

    /// Asks another contract; whatever it does is undone, and so is what we gave out with the call, so it stays pending.
    pub fn static_call(&self, call: &Call) -> Result<Response, Revert> {
        self.run(CallKind::Static, call)
    }

    fn run(&self, kind: CallKind, call: &Call) -> Result<Response, Revert> {
        let mut writes = Vec::new();
        self.pending.write(&mut writes);
        let returned = self.host.call(kind, &call.cellpack(), &call.alkanes.to_bytes(), &writes, call.fuel);
        let returned = returned.ok_or("the called contract failed")?;
        Response::from_return_data(&returned).ok_or_else(|| Revert::from("the called contract answered nonsense"))
    }

    /// What the host holds as the result of the last call, `length` bytes of it: parcel and data.
    pub fn return_data(&self, length: usize) -> Vec<u8> {
        self.host.return_data(length)
    }

    /// The transaction, consensus encoding with witnesses (550 fuel).
    pub fn transaction(&self) -> Vec<u8> {
        self.host.transaction()
    }

    /// The block, consensus encoding (1100 fuel).
    pub fn block(&self) -> Vec<u8> {
        self.host.block()
    }

    /// Height of the block.
    pub fn height(&self) -> u64 {
        self.host.height()
    }

    /// The number that the next new contract gets: it will be `2:<sequence>`.
    pub fn sequence(&self) -> u128 {
        self.host.sequence()
    }

    /// Fuel left, before the price of asking.
    pub fn fuel(&self) -> u64 {
        self.host.fuel()
    }

    /// How much of `what` a contract holds.
    pub fn balance(&self, who: AlkaneId, what: AlkaneId) -> u128 {
        self.host.balance(who, what)
    }

    /// Writes a line to the host's log.
    pub fn log(&self, text: &str) {
        self.host.log(text.as_bytes());
    }

    /// Writes bytes to the host's log, text or not: for tests of hosts.
    #[cfg(feature = "verbatim")]
    pub fn log_bytes(&self, bytes: &[u8]) {
        self.host.log(bytes);
    }

    /// Marks this call as failed and runs on. A [`Revert`] is the better way; this one gives no reason.
    pub fn abort(&self) {
        self.host.abort();
    }

    /// The bytes that end the call: the response and the writes that are still pending.
    pub fn leave(self, response: &Response) -> Vec<u8> {
        #[cfg(feature = "verbatim")]
        if let Some(bytes) = self.verbatim {
            return bytes;
        }
        response.to_bytes(&self.pending)
    }

    /// Ends the call with exactly these bytes instead of a response, however malformed: for tests of hosts.
    #[cfg(feature = "verbatim")]
    pub fn answer_verbatim(&mut self, bytes: Vec<u8>) {
        self.verbatim = Some(bytes);
    }

    /// Reverts unless this is the first time: slot `/initialized`, one byte 1 afterwards.
    pub fn initialize_once(&mut self) -> Result<(), Revert> {
        let initialized = Slot::<u8>::new("/initialized");
        if initialized.is_set(self) {
            return Err(Revert::from("already initialized"));
        }
        initialized.set(self, &1);
        Ok(())
    }
}
