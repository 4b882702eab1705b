//! Amounts by alkane and holder, updated with every block, and holders ranked by amount.

use std::collections::BTreeMap;

use paraffin_primitives::AlkaneId;
use paraffin_store::{ModuleWriter, read_together};

use super::LOOKED_UP_BY_ONE;
use crate::rows::{
    CountsRow, HeldRow, Holder, WideAmount, decode_amount, held_key, holding_key, id_key, pair_key, ranking_key,
};
use crate::tables::{BALANCES, HELD, HOLDER_COUNTS, HOLDINGS, RANKING};
use crate::{BlockEffects, StateError, StateKey};

/// Changes of the holdings in a block.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    changes: BTreeMap<(AlkaneId, Holder), Change>,
}

#[derive(Debug, Default)]
struct Change {
    added: Vec<u128>,
    removed: Vec<u128>,
}

impl Holdings {
    /// An output with an amount came to be. Zeros are nothing.
    pub(super) fn add(&mut self, holder: Holder, what: AlkaneId, amount: u128) {
        if amount > 0 {
            self.changes.entry((what, holder)).or_default().added.push(amount);
        }
    }

    /// An output with an amount was spent.
    pub(super) fn remove(&mut self, holder: Holder, what: AlkaneId, amount: u128) {
        if amount > 0 {
            self.changes.entry((what, holder)).or_default().removed.push(amount);
        }
    }

    /// The balances of contracts that the block changes. Before the state changes.
    pub(super) fn contracts(&mut self, effects: &BlockEffects, rows: &ModuleWriter<'_>) -> Result<(), StateError> {
        for (key, value) in &effects.writes {
            if let StateKey::Balance { what, who } = key {
                let before = rows.get(&BALANCES, &pair_key(*what, *who))?.unwrap_or_default();
                self.remove(Holder::Contract(*who), *what, decode_amount(&before)?);
                self.add(Holder::Contract(*who), *what, decode_amount(value)?);
            }
        }
        Ok(())
    }

    /// Writes the holdings as they are after the block.
    pub(super) fn write(self, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
        let changes: Vec<_> = self.changes.into_iter().collect();
        let held = read_together(&changes, LOOKED_UP_BY_ONE, |((what, holder), _)| {
            rows.get(&HELD, &held_key(*holder, Some(*what)))
        })?;
        let mut counted: Option<(AlkaneId, CountsRow)> = None;
        for (((what, holder), change), held) in changes.into_iter().zip(held) {
            // Changes come in the order of the ids, so the counts of one are written when the next begins.
            if counted.is_none_or(|(id, _)| id != what) {
                write_counts(counted, rows)?;
                let row = rows.get(&HOLDER_COUNTS, &id_key(what))?;
                counted = Some((what, row.map(|row| CountsRow::decode(&row)).transpose()?.unwrap_or_default()));
            }
            let Some((_, counts)) = &mut counted else { continue };
            let held = held.map(|row| HeldRow::decode(&row)).transpose()?.unwrap_or_default();
            write_change((what, holder), held, &change, counts, rows)?;
        }
        write_counts(counted, rows)
    }
}

fn write_counts(counted: Option<(AlkaneId, CountsRow)>, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
    if let Some((id, counts)) = counted {
        rows.put(&HOLDER_COUNTS, &id_key(id), &counts.encode())?;
    }
    Ok(())
}

/// `before`: what the holder had before the block.
fn write_change(
    (what, holder): (AlkaneId, Holder),
    before: HeldRow,
    change: &Change,
    counts: &mut CountsRow,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let key = held_key(holder, Some(what));
    let mut after = before;
    let (count, sum) = match holder {
        Holder::Script(_) => {
            after.outputs += change.added.len() as u64;
            after.outputs = after
                .outputs
                .checked_sub(change.removed.len() as u64)
                .ok_or_else(|| StateError::Damaged(format!("more outputs with {what} were spent than a script has")))?;
            (&mut counts.scripts, &mut counts.in_outputs)
        }
        Holder::Contract(_) => (&mut counts.contracts, &mut counts.in_contracts),
    };
    for amount in &change.added {
        after.amount.add(*amount);
        sum.add(*amount);
    }
    for amount in &change.removed {
        after.amount.subtract(*amount);
        sum.subtract(*amount);
    }
    if after == before {
        return Ok(());
    }
    *count += u64::from(!after.amount.is_zero());
    *count -= u64::from(!before.amount.is_zero());
    if after.amount != before.amount {
        let rank = |amount: WideAmount| ranking_key(what, amount, holder);
        if !before.amount.is_zero() {
            rows.delete(&RANKING, &rank(before.amount))?;
        }
        let holding = holding_key(what, holder);
        if after.amount.is_zero() {
            rows.delete(&HOLDINGS, &holding)?;
        } else {
            rows.put(&RANKING, &rank(after.amount), &[])?;
            let mut amount = Vec::new();
            after.amount.append_to(&mut amount);
            rows.put(&HOLDINGS, &holding, &amount)?;
        }
    }
    if after.amount.is_zero() { Ok(rows.delete(&HELD, &key)?) } else { Ok(rows.put(&HELD, &key, &after.encode())?) }
}
