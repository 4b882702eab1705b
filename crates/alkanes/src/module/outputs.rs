//! Outputs that hold alkanes, listed by script while they are unspent.

use std::collections::{BTreeMap, HashMap, HashSet};

use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{KeyHashing, ModuleWriter, read_together};

use super::holdings::Holdings;
use super::state::Sheets;
use super::{LOOKED_UP_BY_ONE, TransactionIndices};
use crate::rows::{Holder, OutputRow, ScriptKey, outpoint_key};
use crate::tables::{LIVE, OUTPUTS, SCRIPTS, SHEETS, SPENT, TOTALS};
use crate::{BlockEffects, Parameters, SavedSheet, Sheet, StateError, StateKey};

/// Spent outputs that one thread looks up; for nearly all no file is read.
const SPENT_BY_ONE: usize = 512;

/// Row of table `totals`: the genesis outpoint's output, from its block until it is spent or gets its alkanes.
const GENESIS_OUTPUT: &[u8] = &[2];

/// Rows of the outputs that a block spends and that were created before it.
pub(super) struct SpentOutputs {
    genesis: OutPoint,
    /// `None`: neither alkanes nor base runes were sent to it before the block.
    rows: HashMap<OutPoint, Option<OutputRow>, KeyHashing>,
    /// Transactions of the block.
    own: HashSet<Txid, KeyHashing>,
}

impl SpentOutputs {
    /// Looks up every spent output once.
    pub(super) fn of_inputs(block: &ConnectedBlock, rows: &ModuleWriter<'_>) -> Result<Self, StateError> {
        let own: HashSet<Txid, KeyHashing> = block.txids.iter().copied().collect();
        let inputs = block.block.txdata.iter().flat_map(|transaction| &transaction.input);
        let outpoints: Vec<OutPoint> = inputs.map(|input| input.previous_output).collect();
        let found = read_together(&outpoints, SPENT_BY_ONE, |outpoint| {
            // Outputs of the block itself held nothing before it.
            let is_own = outpoint.is_null() || own.contains(&outpoint.txid);
            let row = if is_own { None } else { rows.get(&OUTPUTS, &outpoint_key(outpoint))? };
            row.map(|row| OutputRow::decode(&row)).transpose()
        })?;
        Ok(Self {
            genesis: Parameters::of(paraffin_primitives::Network::Mainnet).genesis_outpoint(),
            rows: outpoints.into_iter().zip(found).collect(),
            own,
        })
    }

    /// Whether an output certainly held nothing before the block: one of the block itself, or an input without a row. The genesis outpoint
    /// holds something on networks that never had such an output.
    pub(super) fn was_empty(&self, outpoint: &OutPoint) -> bool {
        *outpoint != self.genesis
            && (self.own.contains(&outpoint.txid) || matches!(self.rows.get(outpoint), Some(None)))
    }

    /// The spent outputs that alkanes or base runes were sent to.
    pub(super) fn holders(&self) -> impl Iterator<Item = &OutPoint> {
        self.rows.iter().filter_map(|(outpoint, row)| row.as_ref().map(|_| outpoint))
    }

    /// Whether the block spends the output.
    fn is_spent(&self, outpoint: &OutPoint) -> bool {
        self.rows.contains_key(outpoint)
    }

    /// The row of a spent output.
    pub(super) fn row(&self, outpoint: &OutPoint) -> Option<&OutputRow> {
        self.rows.get(outpoint)?.as_ref()
    }
}

/// Below the first active block: keeps the output that the built-in contracts will issue to, as long as it is unspent.
pub(super) fn watch_genesis(
    parameters: &Parameters,
    block: &ConnectedBlock,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let height = u64::from(block.id.height);
    if height < parameters.genesis_outpoint_height {
        return Ok(());
    }
    let genesis = parameters.genesis_outpoint();
    if height == parameters.genesis_outpoint_height
        && let Some(index) = block.txids.iter().position(|txid| *txid == genesis.txid)
        && let Some(row) = output_row(block, index, genesis.vout, true)
    {
        rows.put(&TOTALS, GENESIS_OUTPUT, &row.encode())?;
    }
    let inputs = block.block.txdata.iter().flat_map(|transaction| &transaction.input);
    if inputs.map(|input| input.previous_output).any(|outpoint| outpoint == genesis) {
        rows.delete(&TOTALS, GENESIS_OUTPUT)?;
    }
    Ok(())
}

fn output_row(block: &ConnectedBlock, index: usize, vout: u32, is_listed: bool) -> Option<OutputRow> {
    let output = block.block.txdata.get(index)?.output.get(vout as usize)?;
    Some(OutputRow {
        height: block.id.height,
        index: index as u32,
        value: output.value.to_sat(),
        is_listed,
        script: output.script_pubkey.clone(),
    })
}

/// Takes spent outputs out of the listings. Runs before the state changes, since it reads the sheets before the block.
pub(super) fn write_spent(
    block: &ConnectedBlock,
    known: &SpentOutputs,
    sheets: &Sheets,
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    for input in block.block.txdata.iter().flat_map(|transaction| &transaction.input) {
        let outpoint = input.previous_output;
        let Some(row) = known.row(&outpoint).filter(|row| row.is_listed) else { continue };
        let script = ScriptKey::of(&row.script);
        let listing = row.listing(outpoint);
        rows.delete(&LIVE, &listing.key(script, None))?;
        rows.put(&SPENT, &listing.key(script, Some(block.id.height)), &listing.value())?;
        let sheet = match sheets.get(&StateKey::Sheet(outpoint)) {
            Some(sheet) => sheet.clone(),
            None => rows.get(&SHEETS, &outpoint_key(&outpoint))?,
        };
        let sheet = sheet.unwrap_or_default();
        for (id, amount) in SavedSheet::decode(&sheet)?.load().iter() {
            holdings.remove(Holder::Script(script), id, amount);
        }
    }
    Ok(())
}

/// Lists the outputs that got alkanes and that no later transaction of the block spends.
pub(super) fn write_funded(
    parameters: &Parameters,
    block: &ConnectedBlock,
    (effects, indices): (&BlockEffects, &TransactionIndices),
    known: &SpentOutputs,
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let funded: HashSet<&OutPoint> = effects.funded.iter().collect();
    let mut sheets: BTreeMap<OutPoint, Sheet> = BTreeMap::new();
    let mut scripts: BTreeMap<ScriptKey, ScriptBuf> = BTreeMap::new();
    for (key, value) in &effects.writes {
        let (StateKey::Sheet(outpoint) | StateKey::BaseSheet(outpoint)) = key else { continue };
        if let StateKey::Sheet(outpoint) = key {
            sheets.insert(*outpoint, SavedSheet::decode(value)?.load());
        }
        let is_listed = funded.contains(outpoint);
        // An output with both kinds gets its row with its alkanes.
        if is_listed && matches!(key, StateKey::BaseSheet(_)) {
            continue;
        }
        if let Some(index) = indices.get(&outpoint.txid)
            && let Some(row) = output_row(block, *index as usize, outpoint.vout, is_listed)
        {
            rows.put(&OUTPUTS, &outpoint_key(outpoint), &row.encode())?;
            if is_listed {
                scripts.insert(ScriptKey::of(&row.script), row.script);
            }
        }
    }
    let genesis = parameters.genesis_outpoint();
    if sheets.contains_key(&genesis)
        && let Some(bytes) = rows.get(&TOTALS, GENESIS_OUTPUT)?
    {
        rows.delete(&TOTALS, GENESIS_OUTPUT)?;
        rows.put(&OUTPUTS, &outpoint_key(&genesis), &bytes)?;
        let row = OutputRow::decode(&bytes)?;
        if !known.is_spent(&genesis) {
            list(&row, genesis, &sheets[&genesis], holdings, rows)?;
        }
        scripts.insert(ScriptKey::of(&row.script), row.script);
    }
    remember_scripts(scripts, rows)?;
    for outpoint in &effects.funded {
        if known.is_spent(outpoint) {
            continue;
        }
        let row = indices.get(&outpoint.txid).and_then(|index| output_row(block, *index as usize, outpoint.vout, true));
        let (Some(row), Some(sheet)) = (row, sheets.get(outpoint)) else {
            return Err(StateError::Damaged(format!("the engine funded {outpoint}, which is no output of the block")));
        };
        list(&row, *outpoint, sheet, holdings, rows)?;
    }
    Ok(())
}

fn list(
    row: &OutputRow,
    outpoint: OutPoint,
    sheet: &Sheet,
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let script = ScriptKey::of(&row.script);
    let listing = row.listing(outpoint);
    rows.put(&LIVE, &listing.key(script, None), &listing.value())?;
    for (id, amount) in sheet.iter() {
        holdings.add(Holder::Script(script), id, amount);
    }
    Ok(())
}

/// Keeps scripts under their keys.
fn remember_scripts(scripts: BTreeMap<ScriptKey, ScriptBuf>, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
    let scripts: Vec<_> = scripts.into_iter().collect();
    let known = read_together(&scripts, LOOKED_UP_BY_ONE, |(key, _)| {
        Ok::<_, StateError>(rows.get(&SCRIPTS, &key.0)?.is_some())
    })?;
    for ((key, script), is_known) in scripts.iter().zip(known) {
        if !is_known {
            rows.put(&SCRIPTS, &key.0, script.as_bytes())?;
        }
    }
    Ok(())
}
