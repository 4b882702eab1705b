//! One edict: moves an amount to one output or spreads it over all (protocol B5).

use bitcoin::TxOut;
use paraffin_primitives::AlkaneId;

use super::{Fault, Void};
use crate::codec::Edict;
use crate::{Sheet, World};

/// The rules for edicts that depend on the height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdictRules {
    /// `OP_RETURN` outputs are passed over before they use up a part of the amount (V217).
    passes_over_op_return: bool,
}

impl EdictRules {
    pub(crate) fn of(world: &World<'_>) -> Self {
        Self { passes_over_op_return: world.height >= world.parameters.host_fuel_deducted }
    }
}

/// Applies an edict to `current`; `receive` is called with each output and its amount.
pub(crate) fn apply_edict(
    rules: EdictRules,
    outputs: &[TxOut],
    edict: &Edict,
    current: &mut Sheet,
    mut receive: impl FnMut(u32, AlkaneId, u128) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let id = edict.id;
    if id.block == 0 && id.tx != 0 {
        return Err(Void::EdictId.into());
    }
    let available = current.get(id);
    // An id that an edict names is in the sheets from then on, also with amount 0: it counts as seen.
    current.set(id, available);
    for (vout, share) in shares(rules, outputs, edict, available)? {
        let balance = current.get(id);
        // A share of 0 moves everything that is left.
        let moved = if share == 0 { balance } else { share.min(balance) };
        current.subtract(id, moved);
        receive(vout, id, moved)?;
    }
    Ok(())
}

/// Which output gets how much of `available`, in the order of the outputs.
fn shares(rules: EdictRules, outputs: &[TxOut], edict: &Edict, available: u128) -> Result<Vec<(u32, u128)>, Void> {
    let amount = edict.amount.0;
    // The comparison is made on the low 32 bits, whatever the number (protocol B22.1).
    if edict.output as u32 as usize != outputs.len() {
        let output = u32::try_from(edict.output).map_err(|_| Void::EdictOutput)?;
        return Ok(vec![(output, if amount == 0 { available } else { amount })]);
    }
    let holding = (0u32..).zip(outputs).filter(|(_, output)| !output.script_pubkey.is_op_return());
    let count = holding.clone().count() as u128;
    if count == 0 {
        return Ok(Vec::new());
    }
    if amount == 0 {
        let (each, odd) = (available / count, available % count);
        return Ok(holding.zip(0u128..).map(|((vout, _), index)| (vout, each + u128::from(index < odd))).collect());
    }
    let mut remaining = available;
    let mut shares = Vec::with_capacity(outputs.len());
    for (vout, output) in (0u32..).zip(outputs) {
        let is_op_return = output.script_pubkey.is_op_return();
        if is_op_return && rules.passes_over_op_return {
            continue;
        }
        let share = remaining.min(amount);
        remaining -= share;
        if !is_op_return {
            shares.push((vout, share));
        }
    }
    Ok(shares)
}
