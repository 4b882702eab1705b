//! Outputs that hold alkanes, listed by script while they are unspent.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{KeyHashing, ModuleWriter, read_together};

use super::TransactionIndices;
use super::holdings::Holdings;
use super::state::WriterState;
use crate::rows::{Holder, OutputFacts, OutputRow, SavedBytes, SavedSheets, ScriptKey, SheetKind, outpoint_key};
use crate::tables::{CHANGED_SHEETS, LIVE, OUTPUTS, SHEET_PARTS, SPENT, TOTALS};
use crate::{BlockEffects, Parameters, SavedSheet, Sheet, StateError, StateKey, StateReader};

/// Spent outputs that one thread looks up; for nearly all no file is read.
const SPENT_BY_ONE: usize = 512;

/// Bytes of sheets that are remembered of the outputs that a block spends, in sum; the others are read again when their message comes.
/// Enough for 24,000 outputs, the most that a block spends, with a few alkanes or runes each.
const SHEETS_BYTES_MAX: usize = 16 << 20;

/// Row of table `totals`: the genesis outpoint's output, from its block until it is spent or gets its alkanes.
const GENESIS_OUTPUT: &[u8] = &[2];

/// Rows of the outputs that a block spends and that were created before it.
pub(super) struct SpentOutputs {
    genesis: OutPoint,
    /// `None`: neither alkanes nor base runes were sent to it before the block.
    rows: HashMap<OutPoint, Option<SpentOutput>, KeyHashing>,
    /// Transactions of the block.
    own: HashSet<Txid, KeyHashing>,
}

/// What is known of a sheet without a read.
pub(super) enum SheetLookup<'a> {
    Unread,
    Absent,
    Present(&'a [u8]),
}

/// An output that the block spends.
struct SpentOutput {
    facts: Option<OutputFacts>,
    /// `None`: not remembered.
    sheets: Option<SavedSheets>,
}

impl SpentOutputs {
    /// Looks up every spent output once.
    pub(super) fn of_inputs(block: &ConnectedBlock, rows: &ModuleWriter<'_>) -> Result<Self, StateError> {
        let own: HashSet<Txid, KeyHashing> = block.txids.iter().copied().collect();
        let inputs = block.block.txdata.iter().flat_map(|transaction| &transaction.input);
        let outpoints: Vec<OutPoint> = inputs.map(|input| input.previous_output).collect();
        let bytes = AtomicUsize::new(0);
        let found = read_together(&outpoints, SPENT_BY_ONE, |outpoint| {
            // Outputs of the block itself held nothing before it.
            let is_own = outpoint.is_null() || own.contains(&outpoint.txid);
            let row = if is_own { None } else { rows.get(&OUTPUTS, &outpoint_key(outpoint))? };
            let Some(row) = row else { return Ok::<_, StateError>(None) };
            let OutputRow { output, sheets } = OutputRow::decode(&row)?;
            // It was not spent before, so its sheets are as they were saved first.
            let is_remembered = bytes.fetch_add(sheets.len(), Ordering::Relaxed) <= SHEETS_BYTES_MAX;
            Ok(Some(SpentOutput { facts: output, sheets: is_remembered.then_some(sheets) }))
        })?;
        Ok(Self {
            genesis: Parameters::of(paraffin_primitives::Network::Mainnet).genesis_outpoint(),
            rows: outpoints.into_iter().zip(found).collect(),
            own,
        })
    }

    /// A sheet before the block, where it is known without another read: of outputs of the block itself, which held nothing, and of inputs.
    /// The genesis outpoint holds something on networks that never had such an output.
    pub(super) fn sheet(&self, kind: SheetKind, outpoint: &OutPoint) -> SheetLookup<'_> {
        if *outpoint == self.genesis {
            return SheetLookup::Unread;
        }
        if self.own.contains(&outpoint.txid) {
            return SheetLookup::Absent;
        }
        match self.rows.get(outpoint) {
            None | Some(Some(SpentOutput { sheets: None, .. })) => SheetLookup::Unread,
            Some(None) => SheetLookup::Absent,
            Some(Some(SpentOutput { sheets: Some(sheets), .. })) => match sheets.get(kind) {
                None => SheetLookup::Absent,
                Some(SavedBytes::Inline(bytes)) => SheetLookup::Present(bytes),
                Some(SavedBytes::Parts(_)) => SheetLookup::Unread,
            },
        }
    }

    /// Whether alkanes or base runes were sent to an output before the block; `None` if it is no input.
    fn has_row(&self, outpoint: &OutPoint) -> Option<bool> {
        self.rows.get(outpoint).map(Option::is_some)
    }

    /// Whether the block spends the output.
    fn is_spent(&self, outpoint: &OutPoint) -> bool {
        self.rows.contains_key(outpoint)
    }

    /// A spent output that alkanes or base runes were sent to.
    pub(super) fn facts(&self, outpoint: &OutPoint) -> Option<&OutputFacts> {
        self.rows.get(outpoint)?.as_ref()?.facts.as_ref()
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
        && let Some(output) = output_facts(block, index, genesis.vout, true)
    {
        let row = OutputRow { output: Some(output), sheets: SavedSheets::default() };
        rows.put(&TOTALS, GENESIS_OUTPUT, &row.encode())?;
    }
    let inputs = block.block.txdata.iter().flat_map(|transaction| &transaction.input);
    if inputs.map(|input| input.previous_output).any(|outpoint| outpoint == genesis) {
        rows.delete(&TOTALS, GENESIS_OUTPUT)?;
    }
    Ok(())
}

fn output_facts(block: &ConnectedBlock, index: usize, vout: u32, is_listed: bool) -> Option<OutputFacts> {
    let output = block.block.txdata.get(index)?.output.get(vout as usize)?;
    Some(OutputFacts {
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
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    for input in block.block.txdata.iter().flat_map(|transaction| &transaction.input) {
        let outpoint = input.previous_output;
        let Some(output) = known.facts(&outpoint).filter(|output| output.is_listed) else { continue };
        let script = ScriptKey::of(&output.script);
        let listing = output.listing(outpoint);
        rows.delete(&LIVE, &listing.key(script, None))?;
        rows.put(&SPENT, &listing.key(script, Some(block.id.height)), &listing.value())?;
        let sheet = WriterState { rows, known }.get(&StateKey::Sheet(outpoint))?.unwrap_or_default();
        for (id, amount) in SavedSheet::decode(&sheet)?.load().iter() {
            holdings.remove(Holder::Script(script), id, amount);
        }
    }
    Ok(())
}

/// Writes the sheets that the block changes, and lists the outputs that got alkanes and that no later transaction of the block spends.
/// Returns the scripts of all outputs that got alkanes.
pub(super) fn write_funded(
    parameters: &Parameters,
    block: &ConnectedBlock,
    (effects, indices): (&BlockEffects, &TransactionIndices),
    known: &SpentOutputs,
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<BTreeMap<ScriptKey, ScriptBuf>, StateError> {
    let funded: HashSet<&OutPoint> = effects.funded.iter().collect();
    let mut scripts: BTreeMap<ScriptKey, ScriptBuf> = BTreeMap::new();
    for (outpoint, changed) in changed_sheets(effects) {
        let mut row = OutputRow { output: None, sheets: SavedSheets::new(block.id.height) };
        for (kind, bytes) in changed {
            row.sheets.set(kind, bytes.to_vec());
        }
        for (part_key, part) in row.sheets.split(&outpoint) {
            rows.put(&SHEET_PARTS, &part_key, &part)?;
        }
        if let Some(index) = indices.get(&outpoint.txid) {
            row.output = output_facts(block, *index as usize, outpoint.vout, funded.contains(&outpoint));
        } else if has_row(&outpoint, known, rows)? {
            rows.put(&CHANGED_SHEETS, &outpoint_key(&outpoint), &row.sheets.encode())?;
            continue;
        } else if outpoint == parameters.genesis_outpoint()
            && let Some(bytes) = rows.get(&TOTALS, GENESIS_OUTPUT)?
        {
            rows.delete(&TOTALS, GENESIS_OUTPUT)?;
            row.output = OutputRow::decode(&bytes)?.output;
            let alkanes = alkanes_of(&outpoint, effects);
            if let (Some(output), Some(sheet), false) = (&row.output, alkanes, known.is_spent(&outpoint)) {
                list(output, outpoint, &SavedSheet::decode(sheet)?.load(), holdings, rows)?;
            }
        }
        rows.put(&OUTPUTS, &outpoint_key(&outpoint), &row.encode())?;
        if let Some(output) = row.output.filter(|output| output.is_listed) {
            scripts.insert(ScriptKey::of(&output.script), output.script);
        }
    }
    for outpoint in &effects.funded {
        if known.is_spent(outpoint) {
            continue;
        }
        let index = indices.get(&outpoint.txid);
        let output = index.and_then(|index| output_facts(block, *index as usize, outpoint.vout, true));
        let (Some(output), Some(sheet)) = (output, alkanes_of(outpoint, effects)) else {
            return Err(StateError::Damaged(format!("the engine funded {outpoint}, which is no output of the block")));
        };
        list(&output, *outpoint, &SavedSheet::decode(sheet)?.load(), holdings, rows)?;
    }
    Ok(scripts)
}

/// The sheets that the block saves, by output; not copied, since all of a block together can be large.
fn changed_sheets(effects: &BlockEffects) -> BTreeMap<OutPoint, Vec<(SheetKind, &[u8])>> {
    let mut changed: BTreeMap<OutPoint, Vec<(SheetKind, &[u8])>> = BTreeMap::new();
    for (key, value) in &effects.writes {
        if let Some((kind, outpoint)) = SheetKind::of(key) {
            changed.entry(*outpoint).or_default().push((kind, value));
        }
    }
    changed
}

/// The alkanes of an output as the block saves them.
fn alkanes_of<'e>(outpoint: &OutPoint, effects: &'e BlockEffects) -> Option<&'e Vec<u8>> {
    let key = StateKey::Sheet(*outpoint);
    let found = effects.writes.binary_search_by(|(other, _)| other.cmp(&key)).ok()?;
    effects.writes.get(found).map(|(_, value)| value)
}

/// Whether an output of an earlier block has a row.
fn has_row(outpoint: &OutPoint, known: &SpentOutputs, rows: &ModuleWriter<'_>) -> Result<bool, StateError> {
    match known.has_row(outpoint) {
        Some(has_row) => Ok(has_row),
        None => Ok(rows.get(&OUTPUTS, &outpoint_key(outpoint))?.is_some()),
    }
}

fn list(
    output: &OutputFacts,
    outpoint: OutPoint,
    sheet: &Sheet,
    holdings: &mut Holdings,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let script = ScriptKey::of(&output.script);
    let listing = output.listing(outpoint);
    rows.put(&LIVE, &listing.key(script, None), &listing.value())?;
    for (id, amount) in sheet.iter() {
        holdings.add(Holder::Script(script), id, amount);
    }
    Ok(())
}
