//! Balances of outputs and the protostones that move them (protocol B5).
//!
//! ```text
//!  sheets of the inputs ─sum─▶ shadow output of the first protostone for alkanes
//!       each protostone in turn:  message ─▶ pointer ─┐
//!                                 or shadow output ───┴─▶ edicts ─▶ what is left ─▶ pointer
//!  sheets of the outputs ◀─saved─┘      shadow outputs and OP_RETURN outputs: lost
//! ```

mod edict;
mod message;
mod sheets;
mod void;

use bitcoin::{OutPoint, Transaction, Txid};

pub(crate) use edict::{EdictRules, apply_edict};
pub use message::MessageRunner;
pub(crate) use sheets::Sheets;
pub use sheets::runtime_amount;
pub(crate) use void::{Void, overflow_text, varint_text};

use crate::codec::{ALKANES_PROTOCOL, Protostone, RUNTIME_VOUT, default_destination, shadow_vout};
use crate::state::StateError;
use crate::work::cost;
use crate::{Halt, SavedSheet, Sheet, StateKey, World, handle_message};

/// The reason why a transaction ends early.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The transaction is void, the block goes on.
    Void(Void),
    /// The engine halts.
    Halt(Halt),
}

impl<V: Into<Void>> From<V> for Fault {
    fn from(void: V) -> Self {
        Self::Void(void.into())
    }
}

impl From<Halt> for Fault {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        Self::Halt(error.into())
    }
}

/// A transaction in its block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) transaction: &'a Transaction,
    pub(crate) txid: Txid,
    pub(crate) index: u32,
}

impl Placed<'_> {
    pub(crate) fn outpoint(&self, vout: u32) -> OutPoint {
        OutPoint { txid: self.txid, vout }
    }

    /// Outputs that can hold something: all but `OP_RETURN`.
    pub(crate) fn holding_vouts(&self) -> impl Iterator<Item = u32> {
        let outputs = (0u32..).zip(&self.transaction.output);
        outputs.filter(|(_, output)| !output.script_pubkey.is_op_return()).map(|(vout, _)| vout)
    }
}

/// Results of the block's transactions so far, beside the state.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Outputs that got alkanes.
    pub(crate) funded: Vec<OutPoint>,
    /// Alkanes that sheets named for the first time.
    pub(crate) first_seen: u32,
}

impl Ledger {
    /// Protocol B5.2 to B5.7.
    pub(crate) fn process_protostones(
        &mut self,
        world: &mut World<'_>,
        run_message: MessageRunner,
        placed: Placed<'_>,
        stones: &[Protostone],
    ) -> Result<Sheets, Fault> {
        let sheets = move_protostones(world, run_message, placed, stones)?;
        self.save(world, placed, &sheets)?;
        for input in &placed.transaction.input {
            clear_sheet(world, StateKey::Sheet(input.previous_output))?;
        }
        Ok(sheets)
    }

    /// Tries the protostones of a transaction as if they stood in a block: what every output holds then, shadow outputs and the
    /// runtime among them, or why the transaction is void. `is_kept`: transactions after it find what it has done.
    ///
    /// # Errors
    /// The engine halts.
    pub(crate) fn try_protostones(
        &mut self,
        world: &mut World<'_>,
        placed: Placed<'_>,
        stones: &[Protostone],
        is_kept: bool,
    ) -> Result<Result<Sheets, Void>, Halt> {
        let depth = world.state.depth();
        world.state.checkpoint();
        world.state.work.begin_transaction(placed.transaction.weight());
        let done = if is_kept {
            self.process_protostones(world, handle_message, placed, stones)
        } else {
            move_protostones(world, handle_message, placed, stones)
        };
        world.state.work.end_transaction();
        match done {
            Ok(sheets) => {
                world.state.commit();
                Ok(Ok(sheets))
            }
            Err(Fault::Void(void)) => {
                world.state.rollback_to(depth);
                Ok(Err(void))
            }
            Err(Fault::Halt(halt)) => Err(halt),
        }
    }

    /// Protocol B5.7: outputs, runtime, ids seen for the first time.
    fn save(&mut self, world: &mut World<'_>, placed: Placed<'_>, sheets: &Sheets) -> Result<(), Fault> {
        for vout in placed.holding_vouts() {
            let Some(sheet) = sheets.get(vout) else { continue };
            if save_sheet(world, StateKey::Sheet(placed.outpoint(vout)), sheet)? {
                self.funded.push(placed.outpoint(vout));
            }
        }
        // Ids that were not touched are not read, let alone written, and an amount that fell to 0 does not replace the
        // older one (protocol B6.6).
        for (id, amount) in sheets.get(RUNTIME_VOUT).into_iter().flat_map(Sheet::iter) {
            if amount > 0 {
                world.state.put(StateKey::Runtime(id), amount.to_le_bytes().to_vec());
            }
        }
        // The reference adds all sheets up to know their ids, and fails when a sum does not fit.
        let mut all = Sheet::new();
        for sheet in sheets.all() {
            world.state.work.add_times(2 * sheet.entry_count(), cost::SHEET_ENTRY);
            all.merge(sheet)?;
        }
        for (id, _) in all.iter() {
            if world.state.get(&StateKey::FirstSeen(id))?.is_none() {
                let mut value = world.height.to_le_bytes().to_vec();
                value.extend_from_slice(&self.first_seen.to_le_bytes());
                world.state.put(StateKey::FirstSeen(id), value);
                self.first_seen += 1;
            }
        }
        Ok(())
    }
}

/// Protocol B5.2 to B5.6.
fn move_protostones(
    world: &mut World<'_>,
    run_message: MessageRunner,
    placed: Placed<'_>,
    stones: &[Protostone],
) -> Result<Sheets, Fault> {
    let outputs = &placed.transaction.output;
    let mut sheets = Sheets::default();
    let sum = sum_of_inputs(world, placed.transaction, StateKey::Sheet)?;
    if let Some(index) = stones.iter().position(|stone| stone.protocol_tag == ALKANES_PROTOCOL) {
        sheets.add_sheet(&world.state, shadow_vout(outputs.len(), index), &sum)?;
    }
    let rules = EdictRules::of(world);
    for (index, stone) in stones.iter().enumerate() {
        world.begin_protostone(index);
        let shadow = shadow_vout(outputs.len(), index);
        let destination = stone.pointer.unwrap_or_else(|| default_destination(outputs));
        let mut current = if stone.is_alkanes_message() {
            if !message::process_message(world, run_message, placed, stone, index, stones.len(), &mut sheets)? {
                continue;
            }
            sheets.take(destination)
        } else {
            sheets.take(shadow)
        };
        for edict in &stone.edicts {
            apply_edict(rules, outputs, edict, &mut current, |vout, id, amount| {
                sheets.add(&world.state, vout, id, amount)
            })?;
        }
        sheets.add_sheet(&world.state, destination, &current)?;
    }
    Ok(sheets)
}

/// The sum of the sheets of all inputs.
pub(crate) fn sum_of_inputs(
    world: &World<'_>,
    transaction: &Transaction,
    key: impl Fn(OutPoint) -> StateKey,
) -> Result<Sheet, Fault> {
    let mut sum = Sheet::new();
    for input in &transaction.input {
        if let Some(saved) = world.state.get(&key(input.previous_output))? {
            let sheet = SavedSheet::decode(&saved)?.load();
            world.state.work.add_times(4 * sheet.entry_count(), cost::SHEET_ENTRY);
            sum.merge(&sheet)?;
        }
    }
    Ok(sum)
}

/// Appends a sheet to what is saved under a key. Returns whether there was anything to save.
pub(crate) fn save_sheet(world: &mut World<'_>, key: StateKey, sheet: &Sheet) -> Result<bool, StateError> {
    if sheet.is_empty() {
        return Ok(false);
    }
    world.state.work.add_times(sheet.entry_count(), cost::SHEET_ENTRY);
    let mut saved = SavedSheet::decode(&world.state.get(&key)?.unwrap_or_default())?;
    saved.append(sheet);
    world.state.put(key, saved.encode());
    Ok(true)
}

/// Sets the amounts of a saved sheet, that of a spent output, to 0, past all checkpoints (protocol B14, B16).
pub(crate) fn clear_sheet(world: &mut World<'_>, key: StateKey) -> Result<(), StateError> {
    if let Some(bytes) = world.state.take_direct(&key)? {
        let mut saved = SavedSheet::decode(&bytes)?;
        saved.clear();
        world.state.put_direct(key, saved.encode());
    }
    Ok(())
}
