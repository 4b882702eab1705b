//! The rules of protocol B5 and B6.1 to B6.5 once more: whole copies instead of layers, plain maps instead of sheets, and an
//! account of everything that is minted or lost. Slow and simple.

use std::collections::BTreeMap;

use bitcoin::{OutPoint, Transaction, TxOut};
use paraffin_alkanes::codec::{Artifact, Cellpack, Protostone};
use paraffin_primitives::AlkaneId;

use crate::stand_in;

type Amounts = BTreeMap<AlkaneId, u128>;

const RUNTIME: u32 = u32::MAX;

/// The state of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Model {
    /// As saved, zeros of spent ones included.
    pub(crate) outputs: BTreeMap<OutPoint, Vec<(AlkaneId, u128)>>,
    pub(crate) runtime: Amounts,
    /// (what, who)
    pub(crate) balances: BTreeMap<(AlkaneId, AlkaneId), u128>,
    /// In order.
    pub(crate) seen: Vec<AlkaneId>,
    /// Minted, modulo 2^128.
    pub(crate) minted: Amounts,
    /// Lost, modulo 2^128.
    pub(crate) lost: Amounts,
}

fn count(account: &mut Amounts, amounts: impl IntoIterator<Item = (AlkaneId, u128)>) {
    for (id, amount) in amounts {
        let sum = account.entry(id).or_default();
        *sum = sum.wrapping_add(amount);
    }
}

/// `None` when a sum does not fit.
fn pour(from: &Amounts, into: &mut Amounts) -> Option<()> {
    for (id, amount) in from {
        let sum = into.get(id).copied().unwrap_or(0).checked_add(*amount)?;
        into.insert(*id, sum);
    }
    Some(())
}

impl Model {
    pub(crate) fn held(&self, outpoint: &OutPoint) -> Amounts {
        self.outputs.get(outpoint).into_iter().flatten().copied().collect()
    }

    /// One transaction. `op_returns_use_up`: the rule for spread edicts before its change.
    pub(crate) fn apply(&mut self, transaction: &Transaction, op_returns_use_up: bool) {
        let stones = match Artifact::read(transaction) {
            Some(Artifact::Runestone(runestone)) => runestone.protostones().unwrap_or_default(),
            _ => Vec::new(),
        };
        let mut after = self.clone();
        if !stones.is_empty() && after.run(transaction, &stones, op_returns_use_up).is_some() {
            *self = after;
        } else {
            // Nothing moves, and the alkanes of the inputs are lost.
            for input in &transaction.input {
                let held = self.held(&input.previous_output);
                count(&mut self.lost, held);
            }
        }
    }

    fn run(&mut self, transaction: &Transaction, stones: &[Protostone], op_returns_use_up: bool) -> Option<()> {
        let outputs = &transaction.output;
        let n = outputs.len() as u32;
        let mut incoming = Amounts::new();
        for input in &transaction.input {
            pour(&self.held(&input.previous_output), &mut incoming)?;
        }
        let mut by_vout: BTreeMap<u32, Amounts> = BTreeMap::new();
        let mut runtime_touched = Amounts::new();
        match stones.iter().position(|stone| stone.protocol_tag == 1) {
            Some(first) => _ = by_vout.insert(n + 1 + first as u32, incoming),
            None => count(&mut self.lost, incoming),
        }
        for (index, stone) in stones.iter().enumerate() {
            let shadow = n + 1 + index as u32;
            let default = outputs.iter().position(|output| !output.script_pubkey.is_op_return()).unwrap_or(0) as u32;
            let destination = stone.pointer.unwrap_or(default);
            let source = if stone.protocol_tag == 1 && !stone.message.is_empty() {
                let (pointer, refund) = (stone.pointer?, stone.refund?);
                let last = n + stones.len() as u32;
                if pointer > last || refund > last || shadow >= n + 100 {
                    return None;
                }
                let copy = (self.clone(), by_vout.clone(), runtime_touched.clone());
                if self.message(stone, shadow, pointer, &mut by_vout, &mut runtime_touched).is_none() {
                    (*self, by_vout, runtime_touched) = copy;
                    let back = by_vout.remove(&shadow).unwrap_or_default();
                    pour(&back, by_vout.entry(refund).or_default())?;
                    continue;
                }
                destination
            } else {
                shadow
            };
            let mut current = by_vout.remove(&source).unwrap_or_default();
            for edict in &stone.edicts {
                if edict.id.block == 0 && edict.id.tx > 0 {
                    return None;
                }
                let max = *current.entry(edict.id).or_default();
                for (vout, share) in parts(edict.output, edict.amount.0, max, outputs, op_returns_use_up)? {
                    let balance = current[&edict.id];
                    let moved = if share == 0 { balance } else { share.min(balance) };
                    current.insert(edict.id, balance - moved);
                    self.give(vout, &Amounts::from([(edict.id, moved)]), &mut by_vout, &mut runtime_touched)?;
                }
            }
            self.give(destination, &current, &mut by_vout, &mut runtime_touched)?;
        }
        self.finish(transaction, &by_vout, &runtime_touched)
    }

    /// Adds to an output; amounts to the runtime are lost.
    fn give(
        &mut self,
        vout: u32,
        amounts: &Amounts,
        by_vout: &mut BTreeMap<u32, Amounts>,
        runtime_touched: &mut Amounts,
    ) -> Option<()> {
        if vout != RUNTIME {
            return pour(amounts, by_vout.entry(vout).or_default());
        }
        for (id, amount) in amounts {
            let held = self.runtime_of(*id, runtime_touched);
            runtime_touched.insert(*id, held.checked_add(*amount)?);
        }
        count(&mut self.lost, amounts.clone());
        Some(())
    }

    fn runtime_of(&self, id: AlkaneId, touched: &Amounts) -> u128 {
        touched.get(&id).or(self.runtime.get(&id)).copied().unwrap_or(0)
    }

    fn message(
        &mut self,
        stone: &Protostone,
        shadow: u32,
        pointer: u32,
        by_vout: &mut BTreeMap<u32, Amounts>,
        runtime_touched: &mut Amounts,
    ) -> Option<()> {
        let Cellpack { target, inputs } = Cellpack::decode(&stone.message).ok()?;
        let positive = by_vout.get(&shadow).cloned().unwrap_or_default().into_iter().filter(|(_, amount)| *amount > 0);
        let incoming: Vec<_> = positive.collect();
        let outgoing = stand_in::answer(target, &inputs, &incoming)?;
        for (what, amount) in &incoming {
            let held = self.balances.entry((*what, target)).or_default();
            *held = held.checked_add(*amount)?;
            let held = self.runtime_of(*what, runtime_touched).checked_add(*amount)?;
            runtime_touched.insert(*what, held);
        }
        for (what, amount) in &outgoing {
            let held = self.balances.entry((*what, target)).or_default();
            if *held < *amount {
                if *what != target {
                    return None;
                }
                count(&mut self.minted, [(*what, amount - *held)]);
            }
            *held = held.saturating_sub(*amount);
            let held = self.runtime_of(*what, runtime_touched).saturating_sub(*amount);
            runtime_touched.insert(*what, held);
        }
        let mut sum = Amounts::new();
        for (what, amount) in outgoing {
            pour(&Amounts::from([(what, amount)]), &mut sum)?;
        }
        by_vout.remove(&shadow);
        pour(&sum, by_vout.entry(pointer).or_default())
    }

    fn finish(
        &mut self,
        transaction: &Transaction,
        by_vout: &BTreeMap<u32, Amounts>,
        runtime_touched: &Amounts,
    ) -> Option<()> {
        let txid = transaction.compute_txid();
        let mut all = runtime_touched.clone();
        for (vout, amounts) in by_vout {
            pour(amounts, &mut all)?;
            let holds =
                transaction.output.get(*vout as usize).is_some_and(|output| !output.script_pubkey.is_op_return());
            let positive: Vec<_> =
                amounts.iter().map(|(id, amount)| (*id, *amount)).filter(|entry| entry.1 > 0).collect();
            if !holds {
                count(&mut self.lost, positive);
            } else if !positive.is_empty() {
                self.outputs.entry(OutPoint { txid, vout: *vout }).or_default().extend(positive);
            }
        }
        self.runtime.extend(runtime_touched.iter().filter(|(_, amount)| **amount > 0));
        for id in all.keys() {
            if !self.seen.contains(id) {
                self.seen.push(*id);
            }
        }
        for input in &transaction.input {
            for entry in self.outputs.get_mut(&input.previous_output).into_iter().flatten() {
                entry.1 = 0;
            }
        }
        Some(())
    }
}

/// The share of each output.
fn parts(
    output: u128,
    amount: u128,
    max: u128,
    outputs: &[TxOut],
    op_returns_use_up: bool,
) -> Option<Vec<(u32, u128)>> {
    let n = outputs.len() as u128;
    if output % (1 << 32) != n {
        return (output < 1 << 32).then(|| vec![(output as u32, if amount == 0 { max } else { amount })]);
    }
    let can_hold: Vec<bool> = outputs.iter().map(|output| !output.script_pubkey.is_op_return()).collect();
    let count = can_hold.iter().filter(|can| **can).count() as u128;
    let mut left = max;
    let mut parts = Vec::new();
    for (vout, can) in can_hold.iter().enumerate() {
        if amount > 0 {
            if *can || op_returns_use_up {
                let part = left.min(amount);
                left -= part;
                if *can {
                    parts.push((vout as u32, part));
                }
            }
        } else if *can {
            parts.push((vout as u32, max / count + u128::from((parts.len() as u128) < max % count)));
        }
    }
    Some(if count == 0 { Vec::new() } else { parts })
}
