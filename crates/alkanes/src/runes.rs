//! Base runes, as far as the protocol keeps them (protocol B20): they share the runestone with protostones, and a
//! transaction whose base runes cannot be added up is void as a whole. The ledger begins empty at the first active block,
//! so it is not that of `ord`.

mod etching;

use bitcoin::Transaction;
use paraffin_primitives::AlkaneId;

use crate::codec::{Edict, default_destination};
use crate::protorune::{EdictRules, Fault, Placed, Sheets, apply_edict, clear_sheet, save_sheet, sum_of_inputs};
use crate::rows::Etching;
use crate::{Halt, Sheet, StateError, StateKey, World};

/// Processes the base part of a runestone: etching, mint, edicts, the rest.
pub(crate) fn process(world: &mut World<'_>, placed: Placed<'_>, runestone: &ordinals::Runestone) -> Result<(), Fault> {
    let outputs = &placed.transaction.output;
    let mut unallocated = sum_of_inputs(world, placed.transaction, StateKey::BaseSheet)?;
    let mut etched = None;
    if let Some(etching) = &runestone.etching {
        etched = etching::register(world, placed, etching)?;
        if let (Some(id), Some(premine)) = (etched, etching.premine) {
            unallocated.add(id, premine)?;
        }
    }
    if let Some(mint) = runestone.mint {
        let id = AlkaneId { block: u128::from(mint.block), tx: u128::from(mint.tx) };
        if let Some(amount) = mint_amount(world, id)? {
            unallocated.add(id, amount)?;
        }
    }
    let mut sheets = Sheets::default();
    let rules = EdictRules::of(world);
    for edict in &runestone.edicts {
        let id = AlkaneId { block: u128::from(edict.id.block), tx: u128::from(edict.id.tx) };
        // 0:0 is what this transaction etches; a runestone with 0:n is a cenotaph.
        let id = if id == AlkaneId::default() { etched } else { Some(id) };
        let Some(id) = id else { continue };
        let edict = Edict { id, amount: paraffin_primitives::Amount(edict.amount), output: u128::from(edict.output) };
        apply_edict(rules, outputs, &edict, &mut unallocated, |vout, id, amount| {
            sheets.add(&world.state, vout, id, amount)
        })?;
    }
    let destination = runestone.pointer.unwrap_or_else(|| default_destination(outputs));
    sheets.add_sheet(&world.state, destination, &unallocated)?;
    for vout in placed.holding_vouts() {
        if let Some(sheet) = sheets.get(vout).filter(|sheet| !Sheet::is_empty(sheet)) {
            save_sheet(world, StateKey::BaseSheet(placed.outpoint(vout)), sheet)?;
        }
    }
    Ok(())
}

/// A malformed runestone does one thing: it takes the name that it would have etched (protocol B1.6).
pub(crate) fn register_cenotaph(
    world: &mut World<'_>,
    placed: Placed<'_>,
    cenotaph: &ordinals::Cenotaph,
) -> Result<(), Halt> {
    if let Some(rune) = cenotaph.etching {
        etching::register(world, placed, &ordinals::Etching { rune: Some(rune), ..ordinals::Etching::default() })?;
    }
    Ok(())
}

/// The base runes on the inputs of every transaction are used up, also without a runestone (protocol B1.6).
pub(crate) fn clear_inputs(world: &mut World<'_>, transaction: &Transaction) -> Result<(), StateError> {
    for input in &transaction.input {
        clear_sheet(world, StateKey::BaseSheet(input.previous_output))?;
    }
    Ok(())
}

/// Takes one mint of a rune; `None` when there is none to be had. The count of mints is written past all checkpoints, and
/// read there: an etching of the same transaction is not seen yet (protocol B14).
fn mint_amount(world: &mut World<'_>, id: AlkaneId) -> Result<Option<u128>, Halt> {
    let key = StateKey::MintsRemaining(id);
    let Some(remaining) = world.state.get_direct(&key)? else { return Ok(None) };
    let remaining = <[u8; 16]>::try_from(&remaining[..]).map(u128::from_le_bytes).map_err(|_| Halt::WrongLength {
        what: "the mints remaining of a base rune",
        length: remaining.len(),
        expected: 16,
    })?;
    let Some(etching) = world.state.get_direct(&StateKey::Etching(id))? else { return Ok(None) };
    let etching = Etching::decode(&etching)?;
    if remaining == 0 || !is_open(&etching, id.block as u64, world.height) {
        return Ok(None);
    }
    world.state.put_direct(key, (remaining - 1).to_le_bytes().to_vec());
    Ok(Some(etching.amount))
}

/// Whether a rune can be minted at a height. 0 stands for a limit that was not given; sums wrap (protocol B20, B22.3).
fn is_open(etching: &Etching, etched_at: u64, height: u64) -> bool {
    let relative = |offset: u64| if offset == 0 { 0 } else { etched_at.wrapping_add(offset) };
    let start = etching.height_start.max(relative(etching.offset_start));
    let ends = [etching.height_end, relative(etching.offset_end)];
    height >= start && ends.into_iter().all(|end| end == 0 || height < end)
}
