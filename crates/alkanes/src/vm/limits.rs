use wasmi::ResourceLimiter;
use wasmi::errors::{MemoryError, TableError};

use super::memory_section::CALL_PAGES;
use super::stop::Stop;
use crate::Halt;
use crate::work::cost;

/// Most bytes of one memory: 664 pages and a rest (protocol B9).
pub(crate) const MEMORY_LEN_MAX_BYTES: usize = 43_554_432;

/// Bytes that the memory of every contract has.
const CALL_LEN_BYTES: u64 = (CALL_PAGES as u64) << 16;

/// Bytes of one element of a table.
const ELEMENT_LEN_BYTES: usize = 8;

/// Elements that a table can be grown by for one unit of fuel (wasmi 0.37.2, `fuel_for_copies`).
const ELEMENTS_PER_FUEL: u64 = 8;

/// Most elements of a table that a module may declare (wasmi 0.37.2).
const DECLARED_ELEMENTS_MAX: u32 = 10_000_000;

/// Limits of one instance: the reference's limit of each memory, and the rest of the whole message's.
pub(crate) struct InstanceLimits {
    bytes_left: usize,
    /// Fuel that the instance was started with.
    fuel: u64,
    /// Bytes of its memories, and pages of them that have been counted as touched.
    memory_bytes: u64,
    touched_pages: u64,
    /// Pages that the work which is left allows.
    pages_left: u64,
    /// Bytes counted for one byte of a table.
    table_weight: usize,
    /// Bytes of the newest growth of a table; given back when it fails for lack of fuel.
    table_bytes: usize,
    /// Why nothing more is given: memory, or work.
    exhausted: bool,
    overworked: bool,
    /// A growth was refused, which the contract may have seen and which can depend on its fuel.
    refused: bool,
}

impl InstanceLimits {
    /// `work_left`: what the transaction may still do ([`crate::work`]).
    pub(crate) const fn new(bytes_left: usize, fuel: u64, table_weight: usize, work_left: u64) -> Self {
        Self {
            bytes_left,
            fuel,
            memory_bytes: 0,
            touched_pages: 0,
            pages_left: work_left / cost::TOUCHED_PAGE,
            table_weight,
            table_bytes: 0,
            exhausted: false,
            overworked: false,
            refused: false,
        }
    }

    /// Pages beyond those that every contract has. They count as touched as soon as they are there, because a single call could
    /// touch a million of them before it is counted.
    const fn pages_beyond(&self) -> u64 {
        self.memory_bytes.saturating_sub(CALL_LEN_BYTES) / cost::PAGE_LEN_BYTES as u64
    }

    /// Bytes left for instances that this one calls.
    pub(crate) const fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    /// Pages that the instance can have touched since the last call, when it has so much fuel left: no more than it has burnt
    /// units, and those beyond what every contract has.
    pub(crate) fn newly_touched_pages(&mut self, fuel_left: u64) -> u64 {
        let beyond = self.pages_beyond();
        let others = self.memory_bytes / cost::PAGE_LEN_BYTES as u64 - beyond;
        let touched = (self.fuel.saturating_sub(fuel_left).min(others) + beyond).max(self.touched_pages);
        touched - std::mem::replace(&mut self.touched_pages, touched)
    }

    /// # Errors
    /// The message has used up all memory, on which the reference halts (protocol B22.7), or all work.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        match (self.exhausted, self.overworked) {
            (true, _) => Err(Halt::OutOfMemory.into()),
            (false, true) => Err(Halt::TooMuchWork.into()),
            (false, false) => Ok(()),
        }
    }

    /// Whether any growth was refused.
    pub(crate) const fn has_refused(&self) -> bool {
        self.refused
    }

    fn take(&mut self, bytes: usize) -> bool {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => self.bytes_left = left,
            None => self.exhausted = true,
        }
        !self.exhausted
    }
}

impl ResourceLimiter for InstanceLimits {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool, MemoryError> {
        if desired > MEMORY_LEN_MAX_BYTES || maximum.is_some_and(|maximum| desired > maximum) {
            self.refused = true;
            return Ok(false);
        }
        let added = desired.saturating_sub(current);
        self.memory_bytes += added as u64;
        self.overworked |= self.pages_beyond() > self.pages_left;
        if !self.overworked && self.take(added) { Ok(true) } else { Err(MemoryError::OutOfBoundsGrowth) }
    }

    fn table_growing(&mut self, current: u32, desired: u32, maximum: Option<u32>) -> Result<bool, TableError> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            self.refused = true;
            return Ok(false);
        }
        let added = desired.saturating_sub(current);
        // The limit is checked before fuel. A growth beyond the fuel of this call fails without using any, which the
        // contract sees as an ordinary refusal. (Tables that a module declares are free, and have no more elements.)
        if u64::from(added) / ELEMENTS_PER_FUEL > self.fuel && added > DECLARED_ELEMENTS_MAX {
            self.refused = true;
            return Ok(false);
        }
        let bytes = added as usize * ELEMENT_LEN_BYTES * self.table_weight;
        if self.take(bytes) {
            self.table_bytes = bytes;
            return Ok(true);
        }
        Err(TableError::GrowOutOfBounds { maximum: maximum.unwrap_or(u32::MAX), current, delta: added })
    }

    fn memory_grow_failed(&mut self, _: &MemoryError) {
        self.refused = true;
    }

    fn table_grow_failed(&mut self, _: &TableError) {
        self.refused = true;
        self.bytes_left += std::mem::take(&mut self.table_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES_LEFT: usize = 10;

    fn limits() -> InstanceLimits {
        InstanceLimits::new(usize::MAX, 0, 1, PAGES_LEFT as u64 * cost::TOUCHED_PAGE)
    }

    #[test]
    fn memory_that_every_contract_has_counts_when_it_is_touched() {
        let mut limits = limits();
        assert!(limits.memory_growing(0, CALL_LEN_BYTES as usize, None).unwrap());
        assert!(limits.check().is_ok());
        assert_eq!(limits.newly_touched_pages(0), 0);
    }

    #[test]
    fn memory_beyond_it_counts_before_it_is_there() {
        let beyond = PAGES_LEFT * cost::PAGE_LEN_BYTES;
        let mut fits = limits();
        assert!(fits.memory_growing(0, CALL_LEN_BYTES as usize, None).unwrap());
        assert!(fits.memory_growing(0, beyond, None).unwrap());
        assert!(fits.check().is_ok());
        assert_eq!(fits.newly_touched_pages(0), PAGES_LEFT as u64);

        let mut dear = limits();
        assert!(dear.memory_growing(0, CALL_LEN_BYTES as usize, None).unwrap());
        assert!(dear.memory_growing(0, beyond + cost::PAGE_LEN_BYTES, None).is_err());
        assert!(matches!(dear.check(), Err(Stop::Halt(Halt::TooMuchWork))), "{:?}", dear.check());
    }
}
