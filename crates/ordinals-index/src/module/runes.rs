//! Runes of a block: etchings, mints, edicts, and what each output holds after them.

mod allocation;
mod etching;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use bitcoin::{OutPoint, Transaction, Txid};
use ordinals::{Artifact, Rune, RuneId, Runestone};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{ModuleError, ModuleWriter};

pub(super) use self::allocation::SharedList;
use self::allocation::{Allocated, Allocation};
use super::holdings::Holdings;
use super::spent::SpentOutputs;
use crate::error::ReadError;
use crate::parameters::Parameters;
use crate::rows::{RuneEntry, encode_rune_id};
use crate::tables::RUNES;

/// A sum of balances above 128 bits. No etching can issue that much, so it means that rows are damaged.
struct Overflow;

pub(super) struct BlockRunes<'a> {
    block: &'a ConnectedBlock,
    spent: &'a SpentOutputs<'a>,
    /// Names below it cannot be etched yet.
    minimum: Rune,
    /// Entries that the block changes.
    entries: BTreeMap<RuneId, RuneEntry>,
}

impl<'a> BlockRunes<'a> {
    pub(super) fn new(block: &'a ConnectedBlock, parameters: Parameters, spent: &'a SpentOutputs<'a>) -> Self {
        let minimum = Rune::minimum_at_height(parameters.network.bitcoin(), ordinals::Height(block.id.height));
        Self { block, spent, minimum, entries: BTreeMap::new() }
    }

    pub(super) fn run(mut self, holdings: &mut Holdings, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        for (index, (transaction, txid)) in self.block.block.txdata.iter().zip(&self.block.txids).enumerate() {
            self.transaction(index, transaction, *txid, holdings, rows)?;
        }
        for (id, entry) in &self.entries {
            rows.put(&RUNES, &encode_rune_id(*id), &entry.encode())?;
        }
        Ok(())
    }

    fn transaction(
        &mut self,
        index: usize,
        transaction: &Transaction,
        txid: Txid,
        holdings: &mut Holdings,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let overflow =
            |Overflow| ModuleError::Block(format!("transaction {txid} has more of a rune than there can be"));
        let artifact = Runestone::decipher(transaction);
        let mut unallocated: BTreeMap<RuneId, u128> = BTreeMap::new();
        for input in &transaction.input {
            for (id, amount) in holdings.take_runes(&input.previous_output, rows)? {
                add(&mut unallocated, id, amount).map_err(overflow)?;
            }
        }
        if artifact.is_none() && unallocated.is_empty() {
            return Ok(());
        }
        if let Some(id) = artifact.as_ref().and_then(Artifact::mint)
            && let Some(amount) = self.mint(id, rows)?
        {
            add(&mut unallocated, id, amount).map_err(overflow)?;
        }
        let etched = match &artifact {
            None => None,
            Some(artifact) => self.etch(index, transaction, txid, artifact, rows)?,
        };
        if let (Some(Artifact::Runestone(runestone)), Some(id)) = (&artifact, etched) {
            let premine = runestone.etching.and_then(|etching| etching.premine).unwrap_or_default();
            add(&mut unallocated, id, premine).map_err(overflow)?;
        }
        let mut allocation = Allocation::new(&transaction.output, unallocated);
        match &artifact {
            Some(Artifact::Cenotaph(_)) => allocation.burn_the_rest().map_err(overflow)?,
            Some(Artifact::Runestone(runestone)) => {
                for edict in &runestone.edicts {
                    allocation.apply(edict, etched).map_err(overflow)?;
                }
                allocation.give_the_rest(runestone.pointer).map_err(overflow)?;
            }
            None => allocation.give_the_rest(None).map_err(overflow)?,
        }
        let Allocated { held, shared, burned } = allocation.finish().map_err(overflow)?;
        for (vout, runes) in held {
            holdings.put_runes(OutPoint { txid, vout }, runes);
        }
        if let Some(list) = shared {
            holdings.put_shared(txid, list);
        }
        for (id, amount) in burned.into_iter().filter(|(_, amount)| *amount > 0) {
            let entry = self.entry(id, rows)?.ok_or_else(|| ReadError::missing(&RUNES))?;
            entry.burned = entry.burned.checked_add(amount).ok_or(Overflow).map_err(overflow)?;
        }
        Ok(())
    }

    /// The entry of a rune, to be changed.
    fn entry(&mut self, id: RuneId, rows: &ModuleWriter<'_>) -> Result<Option<&mut RuneEntry>, ReadError> {
        match self.entries.entry(id) {
            Entry::Occupied(entry) => Ok(Some(entry.into_mut())),
            Entry::Vacant(vacant) => {
                let Some(row) = rows.get(&RUNES, &encode_rune_id(id))? else { return Ok(None) };
                Ok(Some(vacant.insert(RuneEntry::decode(&row).map_err(ReadError::of(&RUNES))?)))
            }
        }
    }

    /// Takes one mint; `None` when there is none to be had.
    fn mint(&mut self, id: RuneId, rows: &ModuleWriter<'_>) -> Result<Option<u128>, ReadError> {
        let height = u64::from(self.block.id.height);
        let Some(entry) = self.entry(id, rows)? else { return Ok(None) };
        let Some(amount) = entry.mint_amount(height) else { return Ok(None) };
        entry.mints = entry.mints.saturating_add(1);
        Ok(Some(amount))
    }
}

fn add(balances: &mut BTreeMap<RuneId, u128>, id: RuneId, amount: u128) -> Result<(), Overflow> {
    let balance = balances.entry(id).or_default();
    *balance = balance.checked_add(amount).ok_or(Overflow)?;
    Ok(())
}
