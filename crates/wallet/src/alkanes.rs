//! Alkanes by id, with checked arithmetic.

use std::collections::BTreeMap;

use paraffin_primitives::AlkaneId;

/// Amounts in base units by id, in the order of ids; never an amount of zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alkanes(BTreeMap<AlkaneId, u128>);

/// The sum does not fit 128 bits; a transaction in which it arises is void (protocol B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amounts of {0} add up to more than 2^128-1")]
pub struct AlkanesOverflow(pub AlkaneId);

impl Alkanes {
    /// Adds an amount; zero changes nothing.
    ///
    /// # Errors
    /// The sum does not fit 128 bits; nothing has changed then.
    pub fn add(&mut self, id: AlkaneId, amount: u128) -> Result<(), AlkanesOverflow> {
        let sum = self.amount(id).checked_add(amount).ok_or(AlkanesOverflow(id))?;
        if sum > 0 {
            self.0.insert(id, sum);
        }
        Ok(())
    }

    /// Adds all of `other`.
    ///
    /// # Errors
    /// A sum does not fit 128 bits.
    pub fn add_all(&mut self, other: &Self) -> Result<(), AlkanesOverflow> {
        other.iter().try_for_each(|(id, amount)| self.add(id, amount))
    }

    /// The amount of `id`.
    pub fn amount(&self, id: AlkaneId) -> u128 {
        self.0.get(&id).copied().unwrap_or(0)
    }

    /// Removes up to `amount` of `id` and returns how much that was.
    pub fn take(&mut self, id: AlkaneId, amount: u128) -> u128 {
        let held = self.amount(id);
        let taken = held.min(amount);
        if taken == held {
            self.0.remove(&id);
        } else {
            self.0.insert(id, held - taken);
        }
        taken
    }

    /// The rest after subtracting `other`, or the first id of which there is too little.
    ///
    /// # Errors
    /// The id that is short.
    pub fn without(&self, other: &Self) -> Result<Self, AlkaneId> {
        let mut rest = self.clone();
        for (id, amount) in other.iter() {
            if rest.take(id, amount) < amount {
                return Err(id);
            }
        }
        Ok(rest)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every id with its amount, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (AlkaneId, u128)> + '_ {
        self.0.iter().map(|(id, amount)| (*id, *amount))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: AlkaneId = AlkaneId { block: 2, tx: 0 };

    #[test]
    fn an_overflow_is_an_error_and_changes_nothing() {
        let mut alkanes = Alkanes::default();
        alkanes.add(ID, u128::MAX).unwrap();
        assert_eq!(alkanes.add(ID, 1), Err(AlkanesOverflow(ID)));
        assert_eq!(alkanes.amount(ID), u128::MAX);
    }

    #[test]
    fn nothing_is_never_listed() {
        let mut alkanes = Alkanes::default();
        alkanes.add(ID, 0).unwrap();
        assert!(alkanes.is_empty());
        alkanes.add(ID, 5).unwrap();
        assert_eq!(alkanes.take(ID, 9), 5);
        assert!(alkanes.is_empty());
    }

    #[test]
    fn what_is_short_is_named() {
        let (mut some, mut more) = (Alkanes::default(), Alkanes::default());
        some.add(ID, 5).unwrap();
        more.add(ID, 6).unwrap();
        assert_eq!(some.without(&more), Err(ID));
        assert_eq!(more.without(&some).unwrap().amount(ID), 1);
    }
}
