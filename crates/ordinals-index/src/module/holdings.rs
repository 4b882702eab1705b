//! What outputs hold, while a block is applied.

use std::collections::{BTreeMap, HashMap, HashSet};

use bitcoin::{OutPoint, Txid};
use ordinals::RuneId;
use paraffin_primitives::ConnectedBlock;
use paraffin_store::ModuleWriter;

use crate::error::ReadError;
use crate::rows::{Held, HeldInscription};
use crate::tables::{HELD, outpoint_key};

/// The outputs that a block spends, as they were before it, and those that it makes.
#[derive(Default)]
pub(super) struct Holdings {
    /// Rows that the block removes.
    spent: Vec<OutPoint>,
    outputs: HashMap<OutPoint, Held>,
}

impl Holdings {
    /// Looks every spent output up, once.
    pub(super) fn load(block: &ConnectedBlock, rows: &ModuleWriter<'_>) -> Result<Self, ReadError> {
        let own: HashSet<&Txid> = block.txids.iter().collect();
        let mut holdings = Self::default();
        for input in block.block.txdata.iter().skip(1).flat_map(|transaction| &transaction.input) {
            let outpoint = input.previous_output;
            if own.contains(&outpoint.txid) {
                continue;
            }
            if let Some(row) = rows.get(&HELD, &outpoint_key(&outpoint))? {
                holdings.spent.push(outpoint);
                holdings.outputs.insert(outpoint, Held::decode(&row).map_err(ReadError::of(&HELD))?);
            }
        }
        Ok(holdings)
    }

    /// Takes the inscriptions out of an output that is spent, in the order of their numbering.
    pub(super) fn take_inscriptions(&mut self, outpoint: &OutPoint) -> Vec<HeldInscription> {
        let held = self.outputs.get_mut(outpoint).map(|held| std::mem::take(&mut held.inscriptions));
        let mut inscriptions = held.unwrap_or_default();
        inscriptions.sort_unstable_by_key(|held| held.sequence);
        inscriptions
    }

    /// Takes the runes out of an output that is spent.
    pub(super) fn take_runes(&mut self, outpoint: &OutPoint) -> BTreeMap<RuneId, u128> {
        self.outputs.get_mut(outpoint).map(|held| std::mem::take(&mut held.runes)).unwrap_or_default()
    }

    pub(super) fn put_inscription(&mut self, outpoint: OutPoint, inscription: HeldInscription) {
        self.outputs.entry(outpoint).or_default().inscriptions.push(inscription);
    }

    pub(super) fn put_runes(&mut self, outpoint: OutPoint, runes: BTreeMap<RuneId, u128>) {
        self.outputs.entry(outpoint).or_default().runes = runes;
    }

    /// Writes what the outputs hold after the block.
    pub(super) fn write(self, rows: &mut ModuleWriter<'_>) -> Result<(), ReadError> {
        for outpoint in &self.spent {
            rows.delete(&HELD, &outpoint_key(outpoint))?;
        }
        for (outpoint, held) in self.outputs.iter().filter(|(_, held)| !held.is_empty()) {
            rows.put(&HELD, &outpoint_key(outpoint), &held.encode())?;
        }
        Ok(())
    }
}
