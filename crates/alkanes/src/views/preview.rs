//! Views after one more block, which is run without lasting effects (protocol A6).

use std::collections::{BTreeSet, HashMap, HashSet};

use bitcoin::{Block, OutPoint, Script, Transaction, Txid};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};

use super::{PlacedOutput, ViewChain, ViewContext, ViewError, ViewState, call};
use crate::{BlockEffects, BlockTrace, Etching, SavedSheet, StateError, StateKey, StateReader, Trace, Transfer};

/// Answers a view as of the block after the view's height, were that block `block`. Nothing is checked of the block but
/// that its transactions are numbered; its work, its links and its inputs may be anything.
///
/// # Errors
/// [`ViewError`]; [`ViewError::Halt`] when the engine refuses the block.
pub fn preview(block: &Block, name: &str, payload: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    if !super::is_known(name) {
        return Err(ViewError::Unknown);
    }
    if block.weight() > bitcoin::Weight::MAX_BLOCK {
        return Err(ViewError::Meaningless("the block is heavier than blocks may be".to_owned()));
    }
    context.check()?;
    let height = context.height.saturating_add(1);
    let connected = ConnectedBlock::new(height, block.clone());
    let effects = super::run::run_block(&connected, context)?;
    let state = PreviewState::new(context.state, &connected, &effects);
    let chain = PreviewChain::new(context.chain, &connected, height);
    let raw = bitcoin::consensus::serialize(block);
    let is_this = super::block_wanted(name, payload) == Some(height);
    let block = if is_this { Some(&raw[..]) } else { context.block };
    call(name, payload, &ViewContext { height, state: &state, chain: &chain, block, ..*context })
}

/// The state with the changes of one block.
struct PreviewState<'a> {
    below: &'a dyn ViewState,
    block: &'a ConnectedBlock,
    effects: &'a BlockEffects,
    writes: HashMap<&'a StateKey, &'a Vec<u8>>,
    spent: HashSet<OutPoint>,
}

impl<'a> PreviewState<'a> {
    fn new(below: &'a dyn ViewState, block: &'a ConnectedBlock, effects: &'a BlockEffects) -> Self {
        let writes = effects.writes.iter().map(|(key, value)| (key, value)).collect();
        Self { below, block, effects, writes, spent: spent_by(block) }
    }

    fn is_this(&self, height: Height) -> bool {
        height == self.block.id.height
    }

    fn amount(&self, what: AlkaneId, who: AlkaneId) -> Result<u128, StateError> {
        let stored = self.get(&StateKey::Balance { what, who })?.unwrap_or_default();
        if stored.is_empty() {
            return Ok(0);
        }
        let bytes = <[u8; 16]>::try_from(stored.as_slice());
        bytes.map(u128::from_le_bytes).map_err(|_| StateError::Damaged(format!("the balance of {who}")))
    }
}

fn spent_by(block: &ConnectedBlock) -> HashSet<OutPoint> {
    block.block.txdata.iter().flat_map(|transaction| &transaction.input).map(|input| input.previous_output).collect()
}

impl StateReader for PreviewState<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        match self.writes.get(key) {
            Some(value) => Ok(Some((*value).clone())),
            None => self.below.get(key),
        }
    }
}

impl ViewState for PreviewState<'_> {
    fn trace(&self, shadow: &OutPoint) -> Result<Option<Trace>, StateError> {
        let new = self.effects.traces.iter().rev().find(|(outpoint, _)| outpoint == shadow);
        match new {
            Some((_, trace)) => Ok(Some(trace.clone())),
            None => self.below.trace(shadow),
        }
    }

    fn traces_of_block(&self, height: Height, bytes_max: u64) -> Result<Option<Vec<BlockTrace>>, StateError> {
        if !self.is_this(height) {
            return self.below.traces_of_block(height, bytes_max);
        }
        if self.effects.traces.iter().map(|(_, trace)| trace.bytes()).sum::<u64>() > bytes_max {
            return Ok(None);
        }
        let indices: HashMap<&Txid, u32> = self.block.txids.iter().zip(0..).collect();
        let traces = self.effects.traces.iter().map(|(outpoint, trace)| BlockTrace {
            outpoint: *outpoint,
            transaction_index: indices.get(&outpoint.txid).copied().unwrap_or(0),
            stands: !self.effects.undone.contains(outpoint),
            trace: trace.clone(),
        });
        Ok(Some(traces.collect()))
    }

    fn first_seen(&self, height: Height) -> Result<Vec<AlkaneId>, StateError> {
        if !self.is_this(height) {
            return self.below.first_seen(height);
        }
        let mut seen: Vec<(&[u8], AlkaneId)> = Vec::new();
        for (key, value) in &self.effects.writes {
            if let StateKey::FirstSeen(id) = key {
                // Height u64, then its index, u32, both little-endian.
                seen.push((value.get(8..).unwrap_or_default(), *id));
            }
        }
        seen.sort_by_key(|(rank, _)| rank.iter().rev().copied().collect::<Vec<u8>>());
        Ok(seen.into_iter().map(|(_, id)| id).collect())
    }

    fn etched(&self, height: Height) -> Result<Vec<(AlkaneId, Etching)>, StateError> {
        if !self.is_this(height) {
            return self.below.etched(height);
        }
        let etched = self.effects.writes.iter().filter_map(|(key, value)| match key {
            StateKey::Etching(id) => Some(Etching::decode(value).map(|etching| (*id, etching))),
            _ => None,
        });
        etched.collect()
    }

    fn inventory(&self, who: AlkaneId, limit: usize) -> Result<Vec<Transfer>, StateError> {
        let mut held: BTreeSet<AlkaneId> = self.below.inventory(who, limit)?.into_iter().map(|held| held.id).collect();
        held.extend(self.effects.writes.iter().filter_map(|(key, _)| match key {
            StateKey::Inventory { who: holder, what } if *holder == who => Some(*what),
            _ => None,
        }));
        held.into_iter().take(limit).map(|id| Ok(Transfer { id, value: self.amount(id, who)? })).collect()
    }

    fn funded(&self, script: &Script, limit: usize) -> Result<Vec<OutPoint>, StateError> {
        let mut funded = self.below.funded(script, limit)?;
        funded.retain(|outpoint| !self.spent.contains(outpoint));
        for (transaction, txid) in self.block.block.txdata.iter().zip(&self.block.txids) {
            for (vout, output) in (0..).zip(&transaction.output) {
                let outpoint = OutPoint { txid: *txid, vout };
                let is_ours = output.script_pubkey.as_script() == script && !self.spent.contains(&outpoint);
                if let Some(saved) = self.writes.get(&StateKey::Sheet(outpoint)).filter(|_| is_ours)
                    && !SavedSheet::decode(saved)?.load().is_empty()
                {
                    funded.push(outpoint);
                }
            }
        }
        funded.truncate(limit);
        Ok(funded)
    }
}

/// The chain with one more block.
struct PreviewChain<'a> {
    below: &'a dyn ViewChain,
    transactions: HashMap<Txid, (u32, &'a Transaction)>,
    block: &'a ConnectedBlock,
    spent: HashSet<OutPoint>,
    height: Height,
}

impl<'a> PreviewChain<'a> {
    fn new(below: &'a dyn ViewChain, block: &'a ConnectedBlock, height: Height) -> Self {
        let placed = block.txids.iter().zip((0..).zip(&block.block.txdata));
        let transactions = placed.map(|(txid, placed)| (*txid, placed)).collect();
        Self { below, transactions, block, spent: spent_by(block), height }
    }
}

impl ViewChain for PreviewChain<'_> {
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        match self.transactions.get(&outpoint.txid) {
            None => self.below.output(outpoint),
            Some((index, transaction)) => {
                let output = transaction.output.get(outpoint.vout as usize).cloned();
                Ok(output.map(|output| PlacedOutput { output, height: self.height, index: *index }))
            }
        }
    }

    fn unspent(&self, script: &Script) -> Result<Vec<OutPoint>, ViewError> {
        let mut unspent = self.below.unspent(script)?;
        for (transaction, txid) in self.block.block.txdata.iter().zip(&self.block.txids) {
            let outputs = (0..).zip(&transaction.output);
            let ours = outputs.filter(|(_, output)| output.script_pubkey.as_script() == script);
            unspent.extend(ours.map(|(vout, _)| OutPoint { txid: *txid, vout }));
        }
        unspent.retain(|outpoint| !self.spent.contains(outpoint));
        Ok(unspent)
    }

    fn is_unspent(&self, outpoint: &OutPoint) -> Result<bool, ViewError> {
        if self.spent.contains(outpoint) {
            return Ok(false);
        }
        match self.transactions.get(&outpoint.txid) {
            Some((_, transaction)) => Ok(transaction.output.len() > outpoint.vout as usize),
            None => self.below.is_unspent(outpoint),
        }
    }
}
