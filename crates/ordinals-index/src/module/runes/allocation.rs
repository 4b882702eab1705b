//! Allocation of the runes of a transaction to its outputs.

use std::collections::BTreeMap;

use bitcoin::TxOut;
use ordinals::{Edict, RuneId};

use super::{Overflow, add};

/// Runes by output.
type Shares = BTreeMap<u32, BTreeMap<RuneId, u128>>;

/// Balances of a transaction's outputs become a [`SharedList`] when there are more than this many, of at least
/// [`SHARED_RUNES_MIN`] runes: with fewer, each output holds its own.
const OWN_BALANCES_MAX: usize = 4096;
const SHARED_RUNES_MIN: usize = 8;

/// What the first destinations of a transaction get, all of them or the first so many of each rune.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ForFirst {
    count: usize,
    id: RuneId,
    amount: u128,
}

/// Balances that outputs have in common: each holds the first `len` entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::module) struct SharedList {
    pub(in crate::module) entries: Vec<(RuneId, u128)>,
    /// Output and `len`.
    pub(in crate::module) lens: Vec<(u32, u32)>,
}

/// The allocation of the runes of a transaction.
pub(super) struct Allocated {
    /// What each output holds by itself.
    pub(super) held: Shares,
    /// Balances on top of that, shared by many outputs.
    pub(super) shared: Option<SharedList>,
    pub(super) burned: BTreeMap<RuneId, u128>,
}

/// The allocation of the runes of one transaction in progress.
pub(super) struct Allocation<'a> {
    outputs: &'a [TxOut],
    /// Outputs that are not `OP_RETURN`.
    destinations: Vec<u32>,
    unallocated: BTreeMap<RuneId, u128>,
    shares: Shares,
    /// What every destination gets in addition. A transaction may have a hundred thousand edicts that give each of its thousands
    /// of outputs one unit, so such edicts are summed up first.
    for_each: BTreeMap<RuneId, u128>,
    /// What only the first ones get, for the same reason.
    for_first: Vec<ForFirst>,
    burned: BTreeMap<RuneId, u128>,
}

impl<'a> Allocation<'a> {
    pub(super) fn new(outputs: &'a [TxOut], unallocated: BTreeMap<RuneId, u128>) -> Self {
        let numbered = (0u32..).zip(outputs);
        let spendable = numbered.filter(|(_, output)| !output.script_pubkey.is_op_return());
        Self {
            outputs,
            destinations: spendable.map(|(vout, _)| vout).collect(),
            unallocated,
            shares: BTreeMap::new(),
            for_each: BTreeMap::new(),
            for_first: Vec::new(),
            burned: BTreeMap::new(),
        }
    }

    /// Carries out one edict; id 0:0 means the rune that the transaction etches.
    pub(super) fn apply(&mut self, edict: &Edict, etched: Option<RuneId>) -> Result<(), Overflow> {
        let id = if edict.id == RuneId::default() { etched } else { Some(edict.id) };
        let Some(id) = id else { return Ok(()) };
        let Some(balance) = self.unallocated.get(&id).copied().filter(|balance| *balance > 0) else { return Ok(()) };
        if (edict.output as usize) < self.outputs.len() {
            let amount = if edict.amount == 0 { balance } else { edict.amount.min(balance) };
            return self.allocate(id, amount, edict.output);
        }
        let count = self.destinations.len() as u128;
        if count == 0 {
            return Ok(());
        }
        if edict.amount == 0 {
            let (amount, remainder) = (balance / count, balance % count);
            self.allocate_each(id, amount)?;
            return self.allocate_to_first(id, 1, remainder);
        }
        if edict.amount.checked_mul(count).is_some_and(|needed| needed <= balance) {
            return self.allocate_each(id, edict.amount);
        }
        // Not enough for all: whole shares for the first ones, what is left for the next.
        let (whole, rest) = (balance / edict.amount, balance % edict.amount);
        self.allocate_to_first(id, edict.amount, whole)?;
        match usize::try_from(whole).ok().and_then(|next| self.destinations.get(next)) {
            Some(output) if rest > 0 => self.allocate(id, rest, *output),
            _ => Ok(()),
        }
    }

    /// Gives the first `count` destinations `amount` each.
    fn allocate_to_first(&mut self, id: RuneId, amount: u128, count: u128) -> Result<(), Overflow> {
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.destinations.len());
        if amount == 0 || count == 0 {
            return Ok(());
        }
        self.take(id, amount.checked_mul(count as u128).ok_or(Overflow)?)?;
        // All of the rune is given away by now, so an edict that finds it again finds nothing: one entry for each rune at most.
        self.for_first.push(ForFirst { count, id, amount });
        Ok(())
    }

    /// Gives every destination `amount`; the balance must suffice.
    fn allocate_each(&mut self, id: RuneId, amount: u128) -> Result<(), Overflow> {
        let needed = amount.checked_mul(self.destinations.len() as u128).ok_or(Overflow)?;
        self.take(id, needed)?;
        add(&mut self.for_each, id, amount)
    }

    fn allocate(&mut self, id: RuneId, amount: u128, output: u32) -> Result<(), Overflow> {
        if amount == 0 {
            return Ok(());
        }
        self.take(id, amount)?;
        add(self.shares.entry(output).or_default(), id, amount)
    }

    fn take(&mut self, id: RuneId, amount: u128) -> Result<(), Overflow> {
        let balance = self.unallocated.entry(id).or_default();
        *balance = balance.checked_sub(amount).ok_or(Overflow)?;
        Ok(())
    }

    /// What no edict gave away goes to the pointer's output, else to the first that is not `OP_RETURN`; without one it burns.
    pub(super) fn give_the_rest(&mut self, pointer: Option<u32>) -> Result<(), Overflow> {
        let Some(output) = pointer.or_else(|| self.destinations.first().copied()) else { return self.burn_the_rest() };
        for (id, amount) in std::mem::take(&mut self.unallocated) {
            if amount > 0 {
                add(self.shares.entry(output).or_default(), id, amount)?;
            }
        }
        Ok(())
    }

    /// Burns what no edict gave away.
    pub(super) fn burn_the_rest(&mut self) -> Result<(), Overflow> {
        for (id, amount) in std::mem::take(&mut self.unallocated) {
            add(&mut self.burned, id, amount)?;
        }
        Ok(())
    }

    /// What each output holds, and what was burned.
    pub(super) fn finish(mut self) -> Result<Allocated, Overflow> {
        let count = self.destinations.len();
        let for_each = std::mem::take(&mut self.for_each).into_iter();
        let mut common: Vec<ForFirst> =
            for_each.filter(|(_, amount)| *amount > 0).map(|(id, amount)| ForFirst { count, id, amount }).collect();
        common.append(&mut self.for_first);
        let balances = common.iter().fold(0usize, |sum, one| sum.saturating_add(one.count));
        let shared = if common.len() >= SHARED_RUNES_MIN && balances > OWN_BALANCES_MAX {
            Some(share(common, &self.destinations))
        } else {
            for ForFirst { count, id, amount } in common {
                for output in &self.destinations[..count] {
                    add(self.shares.entry(*output).or_default(), id, amount)?;
                }
            }
            None
        };
        let is_burned = |vout: u32| self.outputs.get(vout as usize).is_none_or(|to| to.script_pubkey.is_op_return());
        let (burned, held): (Shares, Shares) = self.shares.into_iter().partition(|(vout, _)| is_burned(*vout));
        for (id, amount) in burned.into_values().flatten() {
            add(&mut self.burned, id, amount)?;
        }
        Ok(Allocated { held, shared, burned: self.burned })
    }
}

/// Puts what goes to most destinations first, so that what each of them gets is a beginning of the list.
fn share(mut common: Vec<ForFirst>, destinations: &[u32]) -> SharedList {
    common.sort_by_key(|one| std::cmp::Reverse(one.count));
    let len = |index: usize| common.partition_point(|one| one.count > index) as u32;
    let lens = destinations.iter().enumerate().map(|(index, vout)| (*vout, len(index))).filter(|(_, len)| *len > 0);
    let lens = lens.collect();
    SharedList { entries: common.into_iter().map(|one| (one.id, one.amount)).collect(), lens }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitcoin::{Amount, ScriptBuf};
    use proptest::prelude::*;

    fn outputs(shape: &[bool]) -> Vec<TxOut> {
        let script = |is_return: &bool| ScriptBuf::from_bytes(vec![if *is_return { 0x6a } else { 0x51 }]);
        shape.iter().map(|is_return| TxOut { value: Amount::ZERO, script_pubkey: script(is_return) }).collect()
    }

    /// The same rules, one unit of work at a time.
    fn plainly(
        outputs: &[TxOut],
        balances: &BTreeMap<RuneId, u128>,
        edicts: &[Edict],
        etched: Option<RuneId>,
    ) -> (BTreeMap<RuneId, u128>, Vec<BTreeMap<RuneId, u128>>) {
        let mut left = balances.clone();
        let mut given = vec![BTreeMap::<RuneId, u128>::new(); outputs.len()];
        for edict in edicts {
            let Some(id) = (if edict.id == RuneId::default() { etched } else { Some(edict.id) }) else { continue };
            let Some(balance) = left.get_mut(&id) else { continue };
            let mut give = |balance: &mut u128, amount: u128, output: usize| {
                *balance -= amount;
                *given[output].entry(id).or_default() += amount;
            };
            if (edict.output as usize) < outputs.len() {
                let amount = if edict.amount == 0 { *balance } else { edict.amount.min(*balance) };
                give(balance, amount, edict.output as usize);
                continue;
            }
            let to: Vec<usize> =
                (0..outputs.len()).filter(|vout| !outputs[*vout].script_pubkey.is_op_return()).collect();
            if edict.amount == 0 && !to.is_empty() {
                let mut turn = to.iter().cycle();
                while *balance > 0 {
                    give(balance, 1, *turn.next().unwrap());
                }
            } else {
                for output in to {
                    let amount = edict.amount.min(*balance);
                    give(balance, amount, output);
                }
            }
        }
        (left, given)
    }

    proptest! {
        #[test]
        fn edicts_do_what_they_do_one_unit_at_a_time(
            shape in proptest::collection::vec(any::<bool>(), 1..6),
            balances in proptest::collection::btree_map((1u64..4, 0u32..2), 0u128..200, 0..4),
            edicts in proptest::collection::vec(((0u64..4, 0u32..2), 0u128..40, 0u32..8), 0..12),
            is_etching: bool,
            pointer in proptest::option::of(0u32..6),
        ) {
            let outputs = outputs(&shape);
            let mut balances: BTreeMap<RuneId, u128> =
                balances.into_iter().map(|((block, tx), amount)| (RuneId { block, tx }, amount)).collect();
            let etched = is_etching.then_some(RuneId { block: 9, tx: 9 });
            if let Some(id) = etched {
                balances.insert(id, 77);
            }
            let edicts: Vec<Edict> = edicts
                .into_iter()
                .map(|((block, tx), amount, output)| Edict {
                    // 0:1 is no id that a runestone can hold.
                    id: RuneId { block, tx: if block == 0 { 0 } else { tx } },
                    amount,
                    output: output.min(outputs.len() as u32),
                })
                .collect();
            let (left, mut given) = plainly(&outputs, &balances, &edicts, etched);
            let mut allocation = Allocation::new(&outputs, balances);
            for edict in &edicts {
                prop_assert!(allocation.apply(edict, etched).is_ok());
            }
            let pointer = pointer.filter(|pointer| (*pointer as usize) < outputs.len());
            prop_assert!(allocation.give_the_rest(pointer).is_ok());
            let Ok(Allocated { held, shared, burned }) = allocation.finish() else {
                return Err(TestCaseError::fail("overflow"));
            };
            prop_assert_eq!(shared, None);

            let first = shape.iter().position(|is_return| !is_return);
            let mut expected_burned: BTreeMap<RuneId, u128> = BTreeMap::new();
            for (id, amount) in left {
                match pointer.map(|pointer| pointer as usize).or(first) {
                    Some(output) => *given[output].entry(id).or_default() += amount,
                    None => *expected_burned.entry(id).or_default() += amount,
                }
            }
            let mut expected_held = Shares::new();
            for (vout, runes) in (0u32..).zip(given) {
                for (id, amount) in runes.into_iter().filter(|(_, amount)| *amount > 0) {
                    if shape[vout as usize] {
                        *expected_burned.entry(id).or_default() += amount;
                    } else {
                        expected_held.entry(vout).or_default().insert(id, amount);
                    }
                }
            }
            expected_burned.retain(|_, amount| *amount > 0);
            let burned: BTreeMap<RuneId, u128> = burned.into_iter().filter(|(_, amount)| *amount > 0).collect();
            prop_assert_eq!(held, expected_held);
            prop_assert_eq!(burned, expected_burned);
        }
    }

    /// The work does not grow with edicts times outputs.
    #[test]
    fn a_hundred_thousand_edicts_to_thousands_of_outputs_are_cheap() {
        let outputs = outputs(&vec![false; 20_000]);
        let id = RuneId { block: 1, tx: 0 };
        let mut allocation = Allocation::new(&outputs, BTreeMap::from([(id, u128::MAX)]));
        let begin = std::time::Instant::now();
        for _ in 0..100_000 {
            assert!(allocation.apply(&Edict { id, amount: 3, output: 20_000 }, None).is_ok());
        }
        assert!(allocation.apply(&Edict { id, amount: 0, output: 20_000 }, None).is_ok());
        assert!(allocation.give_the_rest(None).is_ok());
        let Ok(Allocated { held, burned, .. }) = allocation.finish() else { panic!("overflow") };
        assert_eq!(held.values().flat_map(BTreeMap::values).sum::<u128>(), u128::MAX);
        assert!(burned.is_empty());
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
    }

    /// 5,000 runes for each of 20,000 outputs: 100 million balances in a transaction of 200,000 bytes, which are written as
    /// 5,000.
    #[test]
    fn thousands_of_runes_to_thousands_of_outputs_are_one_list() {
        let outputs = outputs(&vec![false; 20_000]);
        let id = |tx| RuneId { block: 1, tx };
        // A remainder, which goes to the first outputs, in every second one.
        let balance = |tx: u32| 20_000 * 7 + u128::from(tx % 2) * u128::from(tx);
        let mut allocation = Allocation::new(&outputs, (0..5_000).map(|tx| (id(tx), balance(tx))).collect());
        for tx in 0..5_000 {
            assert!(allocation.apply(&Edict { id: id(tx), amount: 0, output: 20_000 }, None).is_ok());
        }
        assert!(allocation.give_the_rest(None).is_ok());
        let Ok(Allocated { held, shared: Some(list), burned }) = allocation.finish() else { panic!("no list") };
        assert!(held.is_empty() && burned.is_empty());
        assert_eq!((list.entries.len(), list.lens.len()), (5_000 + 2_500, 20_000));
        let mut given = BTreeMap::<RuneId, u128>::new();
        for (vout, len) in &list.lens {
            let more = (0..5_000).filter(|tx| tx % 2 == 1 && tx > vout).count();
            assert_eq!(*len as usize, 5_000 + more);
        }
        for (index, (id, amount)) in list.entries.iter().enumerate() {
            let count = list.lens.iter().filter(|(_, len)| *len as usize > index).count() as u128;
            *given.entry(*id).or_default() += amount * count;
        }
        assert!((0..5_000).all(|tx| given[&id(tx)] == balance(tx)));
    }
}
