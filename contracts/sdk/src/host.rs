//! What the machine around a contract can do, with pointers and lengths already gone.

use alloc::vec::Vec;

use crate::id::AlkaneId;

/// The three ways to run another contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// In its own storage, with alkanes moving both ways.
    Call,
    /// Its code in our storage, with our balances, our caller.
    Delegate,
    /// Like a call, and everything it did is undone afterwards: only its data counts.
    Static,
}

/// The host functions of the alkanes machine.
pub trait Host {
    /// The context in binary form.
    fn context(&self) -> Vec<u8>;
    /// A stored value; empty when there is none.
    fn storage(&self, key: &[u8]) -> Vec<u8>;
    /// The transaction, consensus encoding.
    fn transaction(&self) -> Vec<u8>;
    /// The block, consensus encoding.
    fn block(&self) -> Vec<u8>;
    /// The number that the next new contract gets.
    fn sequence(&self) -> u128;
    /// Fuel left.
    fn fuel(&self) -> u64;
    /// Height of the block.
    fn height(&self) -> u64;
    /// How much of `what` a contract holds.
    fn balance(&self, who: AlkaneId, what: AlkaneId) -> u128;
    /// Runs another contract; `None` when it failed, else parcel and data.
    fn call(&self, kind: CallKind, cellpack: &[u8], parcel: &[u8], storage: &[u8], fuel: u64) -> Option<Vec<u8>>;
    /// What the last call returned, as the host still has it.
    fn return_data(&self, length: usize) -> Vec<u8>;
    /// Writes a line to the host's log.
    fn log(&self, text: &[u8]);
    /// Marks the call as failed; the contract runs on.
    fn abort(&self);
}
