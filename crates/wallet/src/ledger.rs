//! Destinations of alkanes in a finished transaction, by the rules of the ledger (protocol B5).
//!
//! Contracts are not run: what a message brings in is listed as handed to the contract. This is an independent check of a
//! plan, so it starts from the transaction's bytes and shares nothing with the planner.

use std::collections::BTreeMap;

use bitcoin::Transaction;
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Artifact, Edict, MessageRoute, Protostone, RouteError, default_destination, shadow_vout,
};

use crate::alkanes::{Alkanes, AlkanesOverflow};

/// Destinations of all alkanes of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flow {
    /// Alkanes of spendable outputs, by number of the output.
    pub outputs: BTreeMap<u32, Alkanes>,
    /// Alkanes that messages hand to their contracts, by position of the protostone.
    pub messages: BTreeMap<usize, Alkanes>,
    /// Alkanes that can never be spent.
    pub lost: Alkanes,
}

/// Why a transaction cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The transaction is void: everything on its inputs is lost.
    #[error("the transaction would be void: {0}")]
    Void(String),
    /// A message with edicts: what they move depends on the contract's answer.
    #[error("protostone {0} has a message and edicts, whose effect depends on the contract")]
    EdictsOnMessage(usize),
}

impl From<AlkanesOverflow> for LedgerError {
    fn from(overflow: AlkanesOverflow) -> Self {
        Self::Void(overflow.to_string())
    }
}

impl From<RouteError> for LedgerError {
    fn from(error: RouteError) -> Self {
        Self::Void(error.to_string())
    }
}

/// Follows what the inputs hold, one entry per input.
///
/// # Errors
/// The transaction is void, or its result depends on a contract.
pub fn follow(transaction: &Transaction, held: &[Alkanes]) -> Result<Flow, LedgerError> {
    let mut sum = Alkanes::default();
    held.iter().try_for_each(|alkanes| sum.add_all(alkanes))?;
    let stones = match Artifact::read(transaction) {
        Some(Artifact::Runestone(runestone)) => {
            runestone.protostones().map_err(|error| LedgerError::Void(error.to_string()))?
        }
        Some(Artifact::Cenotaph(_)) => return Err(LedgerError::Void("its runestone is malformed".to_owned())),
        None => Vec::new(),
    };
    let Some(first) = stones.iter().position(|stone| stone.protocol_tag == ALKANES_PROTOCOL) else {
        return Ok(Flow { lost: sum, ..Flow::default() });
    };
    let output_count = transaction.output.len();
    let mut balances = BTreeMap::from([(shadow_vout(output_count, first), sum)]);
    let mut messages = BTreeMap::new();
    for (index, stone) in stones.iter().enumerate() {
        let here = balances.remove(&shadow_vout(output_count, index)).unwrap_or_default();
        if stone.is_alkanes_message() {
            MessageRoute::of(stone, index, output_count, stones.len())?;
            if !stone.edicts.is_empty() {
                return Err(LedgerError::EdictsOnMessage(index));
            }
            messages.insert(index, here);
        } else {
            distribute(transaction, stone, here, &mut balances)?;
        }
    }
    let mut flow = Flow { messages, ..Flow::default() };
    for (vout, alkanes) in balances {
        let output = usize::try_from(vout).ok().and_then(|vout| transaction.output.get(vout));
        if output.is_some_and(|output| !output.script_pubkey.is_op_return()) {
            flow.outputs.entry(vout).or_default().add_all(&alkanes)?;
        } else {
            flow.lost.add_all(&alkanes)?;
        }
    }
    flow.outputs.retain(|_, alkanes| !alkanes.is_empty());
    Ok(flow)
}

/// Applies the edicts of a protostone without a message, and sends the rest to its pointer (protocol B5.6c, B5.6d).
fn distribute(
    transaction: &Transaction,
    stone: &Protostone,
    mut here: Alkanes,
    balances: &mut BTreeMap<u32, Alkanes>,
) -> Result<(), LedgerError> {
    let spendable: Vec<u32> =
        (0..).zip(&transaction.output).filter(|(_, out)| !out.script_pubkey.is_op_return()).map(|(at, _)| at).collect();
    for Edict { id, amount, output } in &stone.edicts {
        if id.block == 0 && id.tx != 0 {
            return Err(LedgerError::Void(format!("an edict names {id}")));
        }
        // The low 32 bits decide whether it is spread (protocol B22.1).
        if *output as u32 as usize == transaction.output.len() {
            spread(*id, amount.0, &spendable, &mut here, balances)?;
            continue;
        }
        let vout = u32::try_from(*output).map_err(|_| LedgerError::Void(format!("an edict names output {output}")))?;
        let moved = here.take(*id, if amount.0 == 0 { u128::MAX } else { amount.0 });
        balances.entry(vout).or_default().add(*id, moved)?;
    }
    let pointer = stone.pointer.unwrap_or_else(|| default_destination(&transaction.output));
    balances.entry(pointer).or_default().add_all(&here)?;
    Ok(())
}

/// An edict to all outputs that can hold alkanes (protocol B5). A share of 0 moves everything: a quirk of the ledger.
fn spread(
    id: paraffin_primitives::AlkaneId,
    amount: u128,
    outputs: &[u32],
    here: &mut Alkanes,
    balances: &mut BTreeMap<u32, Alkanes>,
) -> Result<(), LedgerError> {
    let held = here.amount(id);
    let mut remaining = held;
    for (position, vout) in (0_u128..).zip(outputs) {
        let count = outputs.len() as u128;
        let share =
            if amount == 0 { held / count + u128::from(position < held % count) } else { remaining.min(amount) };
        remaining = remaining.saturating_sub(share);
        let moved = here.take(id, if share == 0 { u128::MAX } else { share });
        balances.entry(*vout).or_default().add(id, moved)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
