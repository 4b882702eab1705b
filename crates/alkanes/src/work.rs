//! Unmetered work, which costs no fuel: it is counted so that every block ends (decision 0038).
//!
//! Fuel is the protocol's own limit of work, but many things cost none of it or next to none: starting a contract, reading the
//! state, copying the block, moving an amount of nothing, compiling. What one transaction can do of them is bounded by its fuel
//! in hours, not in seconds. So they are counted here, by what the message does and never by what the machine takes, and a
//! message ends where the count of its block does.

use std::cell::Cell;

use bitcoin::Weight;

use crate::Halt;
use crate::codec::CODE_LEN_MAX_BYTES;

/// Work that each transaction may do whatever the others of its block have done, in units of 2.5 ns: what one unit of fuel
/// takes to burn. As much as the least fuel of a transaction.
pub const TRANSACTION_WORK: u64 = 4_000_000;

/// Work that the transactions of a block may do beyond [`TRANSACTION_WORK`] of each, in the same units: 150 s in all.
pub const BLOCK_WORK: u64 = 60_000_000_000;

/// Work beyond all that which a transaction's own balances may take, for each weight unit of it: what a message did never
/// takes the balances away that its transaction moves. 20 s in all for a block.
const LEDGER_WORK_PER_WEIGHT: u64 = 2_000;

/// Most bytes that the changes of a block may take while messages make them, by the estimate of
/// [`Overlay`](crate::Overlay): eight million rows. The reference, which keeps each row at least twice in its 4 GiB, ends
/// before.
pub const STATE_BYTES_MAX: usize = 2 << 30;

/// Memory that the messages of a block may take at a time, in bytes: memories and tables of the instances of a message, what
/// compiling a contract takes, and by the same estimate as [`STATE_BYTES_MAX`] what the block has changed. All that the
/// reference has for these and everything else (protocol B22.7).
pub const MESSAGE_BYTES_MAX: u64 = 4 << 30;

/// Part of the memory that the code of one contract may take when it is unpacked.
const CODE_PART: u64 = 4;

/// Costs in units of 2.5 ns.
pub(crate) mod cost {
    /// A host function, whatever it does.
    pub(crate) const HOST_CALL: u64 = 60;
    /// Looking for a key in one layer.
    pub(crate) const LAYER: u64 = 20;
    /// Setting a key, in any layer; also moving it when layers are merged.
    pub(crate) const WRITE: u64 = 100;
    /// Reading a key that the block has not read before, from the store.
    pub(crate) const STORE_READ: u64 = 8_000;
    /// An entry of a balance sheet that is copied, added or looked for.
    pub(crate) const SHEET_ENTRY: u64 = 40;
    /// A pair of a storage map, which is sorted.
    pub(crate) const PAIR: u64 = 200;
    /// A message, whatever it does.
    pub(crate) const MESSAGE: u64 = 400;
    /// Starting an instance: its store, its host functions, its memory.
    pub(crate) const INSTANCE: u64 = 10_000;
    /// Something that a module declares and an instance has: a function, a global, an export, a segment.
    pub(crate) const DECLARED: u64 = 40;
    /// An element of a table, which is filled when it is made.
    pub(crate) const TABLE_ELEMENT: u64 = 1;
    /// A page of 4 KiB that an instance is the first to touch. No more pages than units of fuel were burnt. The operating system takes 1.5 to
    /// 2.5 µs to hand out a page of zeros and to take it back, 600 to 1,000 units. But what a call touched is bounded, not seen: one that
    /// burns more than 8,192 units of fuel is counted with all pages. So this is as much as leaves each transaction such a call.
    pub(crate) const TOUCHED_PAGE: u64 = 450;
    /// Bytes of such a page.
    pub(crate) const PAGE_LEN_BYTES: usize = 4096;
    /// A byte that is unpacked and hashed.
    pub(crate) const UNPACKED_BYTE: u64 = 2;
    /// A byte of instructions that is compiled.
    pub(crate) const COMPILED_BYTE: u64 = 20;
    /// A byte of another section, which is checked and copied.
    pub(crate) const SECTION_BYTE: u64 = 4;

    /// Bytes that are copied in one unit.
    pub(super) const BYTES_PER_UNIT: u64 = 16;
    /// Buffers of so many bytes and more come from the operating system, page by page.
    pub(super) const FRESH_LEN_BYTES: usize = 1 << 20;
}

/// The work of a block so far.
#[derive(Debug)]
pub(crate) struct Work {
    /// Of the current transaction.
    done: Cell<u64>,
    /// The limit of the current transaction.
    limit: Cell<u64>,
    /// The same with the reserve for its balances.
    ledger_limit: Cell<u64>,
    /// Work left for all transactions beyond their shares.
    pool: Cell<u64>,
    /// Most memory at a time, in bytes.
    memory_max: Cell<u64>,
    /// Memory taken by the running instances, in bytes.
    held: Cell<u64>,
}

/// Most that code may unpack to, in bytes, and what ends the message beyond.
pub(crate) struct CodeLimit {
    pub(crate) len_max: usize,
    pub(crate) beyond: Halt,
}

impl Default for Work {
    /// Without a limit, for what is limited otherwise: simulations end by time.
    fn default() -> Self {
        Self {
            done: Cell::new(0),
            limit: Cell::new(u64::MAX),
            ledger_limit: Cell::new(u64::MAX),
            pool: Cell::new(u64::MAX),
            memory_max: Cell::new(MESSAGE_BYTES_MAX),
            held: Cell::new(0),
        }
    }
}

impl Work {
    /// The work of one block, whose transactions may do `pool` beyond their shares: [`BLOCK_WORK`], in `memory_max` bytes:
    /// [`MESSAGE_BYTES_MAX`].
    pub(crate) fn of_block(pool: u64, memory_max: u64) -> Self {
        Self { pool: Cell::new(pool), memory_max: Cell::new(memory_max), ..Self::default() }
    }

    /// Less memory from now on: for a simulation.
    pub(crate) fn limit_memory(&self, memory_max: u64) {
        self.memory_max.set(memory_max);
    }

    /// Most memory at a time, in bytes.
    pub(crate) fn memory_max(&self) -> u64 {
        self.memory_max.get()
    }

    /// Notes the memory left by instances, in bytes.
    pub(crate) fn set_memory_left(&self, bytes_left: usize) {
        self.held.set(self.memory_max.get().saturating_sub(bytes_left as u64));
    }

    /// # Errors
    /// There is no memory for `bytes` beside the instances that are running.
    pub(crate) fn check_memory(&self, bytes: u64) -> Result<(), Halt> {
        if self.held.get().saturating_add(bytes) > self.memory_max.get() { Err(Halt::OutOfMemory) } else { Ok(()) }
    }

    /// Most that code may unpack to now.
    pub(crate) fn code_limit(&self) -> CodeLimit {
        let by_work = self.left() / cost::UNPACKED_BYTE;
        let by_memory = self.memory_max.get() / CODE_PART;
        let len_max = by_work.min(by_memory).min(CODE_LEN_MAX_BYTES as u64) as usize;
        CodeLimit { len_max, beyond: if by_work < by_memory { Halt::TooMuchWork } else { Halt::OutOfMemory } }
    }

    /// Gives the next transaction its share.
    pub(crate) fn begin_transaction(&self, weight: Weight) {
        let limit = self.pool.get().saturating_add(TRANSACTION_WORK);
        self.done.set(0);
        self.limit.set(limit);
        self.ledger_limit.set(limit.saturating_add(weight.to_wu() * LEDGER_WORK_PER_WEIGHT));
    }

    /// Work beyond the limit of a message is not counted twice.
    pub(crate) fn end_message(&self) {
        self.done.set(self.done.get().min(self.limit.get()));
    }

    /// Takes work beyond the transaction's share from the pool.
    pub(crate) fn end_transaction(&self) {
        self.pool.set(self.pool.get().saturating_sub(self.done.get().saturating_sub(TRANSACTION_WORK)));
    }

    pub(crate) fn add(&self, units: u64) {
        self.done.set(self.done.get().saturating_add(units));
    }

    /// `count` things of `units` each.
    pub(crate) fn add_times(&self, count: usize, units: u64) {
        self.add((count as u64).saturating_mul(units));
    }

    /// Bytes that are copied.
    pub(crate) fn add_copied(&self, len_bytes: usize) {
        self.add(len_bytes as u64 / cost::BYTES_PER_UNIT);
    }

    /// Bytes that are copied to a new buffer, whose pages are touched for the first time when it is large.
    pub(crate) fn add_copied_anew(&self, len_bytes: usize) {
        self.add_copied(len_bytes);
        if len_bytes >= cost::FRESH_LEN_BYTES {
            self.add_times(len_bytes / cost::PAGE_LEN_BYTES, cost::TOUCHED_PAGE);
        }
    }

    /// Work that the transaction has done.
    pub(crate) fn done(&self) -> u64 {
        self.done.get()
    }

    /// Work left for the transaction.
    pub(crate) fn left(&self) -> u64 {
        self.limit.get().saturating_sub(self.done.get())
    }

    /// # Errors
    /// The transaction has done more than it may.
    pub(crate) fn check(&self) -> Result<(), Halt> {
        if self.done.get() > self.limit.get() { Err(Halt::TooMuchWork) } else { Ok(()) }
    }

    /// Whether the balances of the transaction take more than they may.
    pub(crate) fn is_over_in_ledger(&self) -> bool {
        self.done.get() > self.ledger_limit.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transaction_has_its_share_and_the_pool_goes_to_those_that_come_first() {
        let work = Work::of_block(BLOCK_WORK, MESSAGE_BYTES_MAX);
        work.begin_transaction(Weight::from_wu(400));
        work.add(TRANSACTION_WORK + BLOCK_WORK);
        assert!(work.check().is_ok());
        assert_eq!(work.left(), 0);
        work.add(1);
        assert!(matches!(work.check(), Err(Halt::TooMuchWork)));
        assert!(!work.is_over_in_ledger(), "balances have a share of their own");
        work.add(400 * LEDGER_WORK_PER_WEIGHT);
        assert!(work.is_over_in_ledger());
        work.end_message();
        assert!(!work.is_over_in_ledger());
        work.end_transaction();
        work.begin_transaction(Weight::from_wu(400));
        assert_eq!(work.left(), TRANSACTION_WORK);
        work.add_copied(TRANSACTION_WORK as usize * 16);
        assert!(work.check().is_ok());
        work.end_transaction();
        work.begin_transaction(Weight::from_wu(400));
        assert_eq!(work.left(), TRANSACTION_WORK, "what is within the share takes nothing from the pool");
    }

    #[test]
    fn without_a_limit_nothing_ends() {
        let work = Work::default();
        work.begin_transaction(Weight::from_wu(400));
        work.add_times(usize::MAX, 1000);
        assert!(work.check().is_ok());
    }
}
