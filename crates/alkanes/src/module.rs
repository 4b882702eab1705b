//! The indexer module: runs an engine on each block and writes its effects, and what is derived from them, into tables.

mod activity;
mod creations;
mod holdings;
mod messages;
mod outputs;
mod state;

use std::collections::{HashMap, HashSet};

use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, Txid};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{KeyHashing, KeysAhead, Module, ModuleError, ModuleId, ModuleSchema, ModuleWriter, StoreError};

use self::holdings::Holdings;
use self::messages::Scripts;
use self::outputs::SpentOutputs;
use self::state::WriterState;
use crate::rows::{Parser, StateRow, encode_trace, id_key, outpoint_key, position_key, write_value};
use crate::state::RECENT_BLOCKS;
use crate::tables::{BLOCK_TRACES, EFFECTS, OUTPUTS, RECENT, SCHEMA, SEEN_AT, TOTALS, TRACES};
use crate::{BlockEffects, Engine, Parameters, StateError, StateKey};

/// Row of `totals`: the state lacks what only the native engine writes.
const PARTIAL: [u8; 1] = [3];

/// Rows that one thread looks up; each is looked for in all files.
const LOOKED_UP_BY_ONE: usize = 64;

/// Index of each transaction in its block.
type TransactionIndices = HashMap<Txid, u32, KeyHashing>;

/// The indexer module of alkanes.
///
/// Blocks below the network's first active one cost nothing but a comparison. Undo is the store's.
pub struct AlkanesModule {
    engine: Box<dyn Engine>,
    parameters: Parameters,
}

impl AlkanesModule {
    /// A module that runs `engine`.
    pub fn new(engine: Box<dyn Engine>, network: Network) -> Self {
        Self { engine, parameters: Parameters::of(network) }
    }

    /// The same module with other parameters than the network's.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }
}

impl Module for AlkanesModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn reads_ahead(
        &self,
        next: &ConnectedBlock,
        spent: &[OutPoint],
        keys: &mut KeysAhead<'_>,
    ) -> Result<(), StoreError> {
        if u64::from(next.id.height) < self.parameters.genesis_height {
            return Ok(());
        }
        spent.iter().try_for_each(|outpoint| keys.add(&OUTPUTS, &outpoint_key(outpoint)))
    }

    fn follows(&self) -> Option<ModuleId> {
        self.engine.follows()
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let height = block.id.height;
        if u64::from(height) < self.parameters.genesis_height {
            return outputs::watch_genesis(&self.parameters, block, rows).map_err(refuse);
        }
        if block.txids.len() != block.block.txdata.len() {
            return Err(ModuleError::Block(format!(
                "block {}: {} transactions came with {} txids",
                block.id,
                block.block.txdata.len(),
                block.txids.len()
            )));
        }
        let known = SpentOutputs::of_inputs(block, rows).map_err(refuse)?;
        let state = WriterState { rows, known: &known };
        let is_partial = rows.get(&TOTALS, &PARTIAL)?.is_some();
        let accepted = if is_partial { self.engine.accept_partial() } else { Ok(()) };
        let run = accepted.and_then(|()| self.engine.run_block(height, block, &state));
        let effects = run.map_err(|halt| {
            ModuleError::Block(format!(
                "block {}: the {} alkanes engine halts: {halt}. Indexing waits here, because contracts \
                 would go on with a state that no other index has; [alkanes] enabled = false indexes the rest",
                block.id,
                self.engine.name()
            ))
        })?;
        if !self.engine.is_whole() && !is_partial {
            rows.put(&TOTALS, &PARTIAL, &[])?;
        }
        write(&self.parameters, block, &effects, &known, rows).map_err(refuse)
    }
}

fn refuse(error: StateError) -> ModuleError {
    match error {
        StateError::Store(error) => ModuleError::Store(error),
        other @ (StateError::Damaged(_) | StateError::Interrupted) => ModuleError::Block(other.to_string()),
    }
}

/// Writes all rows of a block.
fn write(
    parameters: &Parameters,
    block: &ConnectedBlock,
    effects: &BlockEffects,
    known: &SpentOutputs,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let height = block.id.height;
    let mut indices = TransactionIndices::with_capacity_and_hasher(block.txids.len(), KeyHashing::default());
    indices.extend(block.txids.iter().copied().zip(0..));

    // First the rows that depend on the state before the block.
    let mut holdings = Holdings::default();
    holdings.contracts(effects, rows)?;
    outputs::write_spent(block, known, &mut holdings, rows)?;

    write_state(effects, rows)?;
    write_first_seen(height, effects, rows)?;
    write_traces(height, effects, &indices, rows)?;
    creations::write(height, effects, &indices, rows)?;
    let listed = outputs::write_funded(parameters, block, (effects, &indices), known, &mut holdings, rows)?;
    holdings.write(rows)?;
    let mut scripts = Scripts::of(effects, listed)?;
    activity::add(block, effects, &indices, known, &mut scripts);
    scripts.write(height, rows)?;
    write_recent(block, rows)?;
    rows.put(&EFFECTS, &height.to_be_bytes(), &effects.digest())?;
    Ok(())
}

fn write_state(effects: &BlockEffects, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
    for (key, value) in &effects.writes {
        let row = StateRow::of(key);
        // What outputs hold is written with the outputs.
        if let Some(table) = row.table {
            rows.put(table, &row.key, &write_value(key, value)?)?;
        }
    }
    Ok(())
}

/// Ids first seen, by their index in the block.
fn write_first_seen(height: Height, effects: &BlockEffects, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
    for (key, value) in &effects.writes {
        if let StateKey::FirstSeen(id) = key {
            let mut parser = Parser::new("first_seen", value);
            parser.take(8)?;
            let number = u32::from_le_bytes(parser.array()?);
            rows.put(&SEEN_AT, &position_key(height, number), &id_key(*id))?;
        }
    }
    Ok(())
}

fn write_traces(
    height: Height,
    effects: &BlockEffects,
    indices: &TransactionIndices,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let undone: HashSet<&OutPoint> = effects.undone.iter().collect();
    for (number, (outpoint, trace)) in (0u32..).zip(&effects.traces) {
        let index = indices.get(&outpoint.txid).copied().unwrap_or_default();
        let mut value = height.to_be_bytes().to_vec();
        value.extend_from_slice(&encode_trace(trace));
        rows.put(&TRACES, &outpoint_key(outpoint), &value)?;
        let mut entry = outpoint_key(outpoint).to_vec();
        entry.extend_from_slice(&index.to_be_bytes());
        entry.push(u8::from(!undone.contains(outpoint)));
        rows.put(&BLOCK_TRACES, &position_key(height, number), &entry)?;
    }
    Ok(())
}

/// Keeps the ids of the newest blocks' transactions, for the depth of commitments (protocol B20).
fn write_recent(block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
    let txids: Vec<u8> = block.txids.iter().flat_map(|txid| *txid.as_byte_array()).collect();
    rows.put(&RECENT, &block.id.height.to_be_bytes(), &txids)?;
    if let Some(old) = block.id.height.checked_sub(RECENT_BLOCKS) {
        rows.delete(&RECENT, &old.to_be_bytes())?;
    }
    Ok(())
}
