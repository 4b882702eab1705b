//! Amounts of alkanes held together: by an output, by a protostone, by a call.

mod saved;

use std::collections::BTreeMap;

use paraffin_primitives::AlkaneId;

pub use saved::SavedSheet;

/// An amount of one alkane on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transfer {
    /// The alkane.
    pub id: AlkaneId,
    /// Base units.
    pub value: u128,
}

/// A balance sheet: amounts by id, in the order of the ids (protocol B5). Entries may be zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sheet {
    entries: BTreeMap<AlkaneId, u128>,
}

/// A sum is above 2^128 - 1. Depending on the step the transaction is void or the message fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("balance overflow of {id}: {held} and {added} more")]
pub struct SheetOverflow {
    /// The alkane.
    pub id: AlkaneId,
    /// The amount before the addition.
    pub held: u128,
    /// The amount to be added.
    pub added: u128,
}

impl Sheet {
    /// A sheet without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The amount of `id`, 0 when there is none.
    pub fn get(&self, id: AlkaneId) -> u128 {
        self.entries.get(&id).copied().unwrap_or(0)
    }

    /// Whether there is an entry of `id`, be it zero.
    pub fn contains(&self, id: AlkaneId) -> bool {
        self.entries.contains_key(&id)
    }

    /// Entries, zeros included.
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Sets the amount of `id`.
    pub fn set(&mut self, id: AlkaneId, value: u128) {
        self.entries.insert(id, value);
    }

    /// Adds `value` of `id`.
    ///
    /// # Errors
    /// The sum does not fit; the sheet is unchanged.
    pub fn add(&mut self, id: AlkaneId, value: u128) -> Result<(), SheetOverflow> {
        let sum = self.sum(id, value)?;
        self.entries.insert(id, sum);
        Ok(())
    }

    fn sum(&self, id: AlkaneId, added: u128) -> Result<u128, SheetOverflow> {
        let held = self.get(id);
        held.checked_add(added).ok_or(SheetOverflow { id, held, added })
    }

    /// Takes `value` of `id` away; nothing happens when there is less (protocol B5).
    pub fn subtract(&mut self, id: AlkaneId, value: u128) {
        if let Some(entry) = self.entries.get_mut(&id)
            && let Some(rest) = entry.checked_sub(value)
        {
            *entry = rest;
        }
    }

    /// Adds all of `other`. Every sum is checked before the first is applied (protocol B5).
    ///
    /// # Errors
    /// A sum does not fit; the sheet is unchanged.
    pub fn merge(&mut self, other: &Self) -> Result<(), SheetOverflow> {
        for (id, value) in other.iter() {
            self.sum(id, value)?;
        }
        for (id, value) in other.iter() {
            self.add(id, value)?;
        }
        Ok(())
    }

    /// Entries in the order of their ids, zeros included.
    pub fn iter(&self) -> impl Iterator<Item = (AlkaneId, u128)> + '_ {
        self.entries.iter().map(|(id, value)| (*id, *value))
    }

    /// Positive entries in the order of their ids.
    pub fn transfers(&self) -> Vec<Transfer> {
        self.iter().filter(|(_, value)| *value > 0).map(|(id, value)| Transfer { id, value }).collect()
    }

    /// Whether no entry is positive.
    pub fn is_empty(&self) -> bool {
        self.entries.values().all(|value| *value == 0)
    }
}
