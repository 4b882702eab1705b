//! The indexer module: the effects of a block on pools, as rows.

use paraffin_alkanes::BlockState;
use paraffin_primitives::{AlkaneId, ConnectedBlock};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter};
use ruint::aliases::U256;

use super::candle::{BUCKET_WIDTHS, Candle, candle_key};
use super::facts::IndexedContracts;
use super::find::{BlockContext, BlockFindings, Contract, News, POOL_COUNT, find};
use super::rows::{BlockSummary, Identity, SwapRow, Totals, decode_count, encode_slot, id_key, slot_key, swap_key};
use super::state::executed_price_q;
use super::tables::{CANDLES, COUNTS, JOURNAL, POOL_LIST, POOLS, SCHEMA, SLOTS, STATES, SUMMARIES, SWAPS, TOTALS};
use super::{ContractFacts, IndexError, PoolProbe, PoolRules};

/// The indexer module of pools. It runs after the module of alkanes. Undo is the store's.
pub struct CryptoSwapModule {
    rules: PoolRules,
    probe: PoolProbe,
}

impl CryptoSwapModule {
    /// A module that follows `rules` and calls contracts with `probe`.
    pub fn new(rules: PoolRules, probe: PoolProbe) -> Self {
        Self { rules, probe }
    }

    /// Writes the rows of a block whose contracts are those of `facts`.
    ///
    /// # Errors
    /// Reading or writing failed, or facts and block do not belong together.
    pub fn connect_with(
        rules: &PoolRules,
        block: &ConnectedBlock,
        facts: &dyn ContractFacts,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), IndexError> {
        let found = find(rules, context_of(block), facts, rows)?;
        write(block.id.height, &found, rows)
    }
}

fn context_of(block: &ConnectedBlock) -> BlockContext<'_> {
    BlockContext {
        height: block.id.height,
        time: block.block.header.time,
        txids: &block.txids,
        transactions: &block.block.txdata,
    }
}

impl Module for CryptoSwapModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let found = {
            let state = BlockState::new(rows.earlier());
            let facts = IndexedContracts { state, probe: &self.probe, block: &block.block, height: block.id.height };
            find(&self.rules, context_of(block), &facts, rows)?
        };
        write(block.id.height, &found, rows)?;
        Ok(())
    }
}

fn write(height: u32, found: &BlockFindings, rows: &mut ModuleWriter<'_>) -> Result<(), IndexError> {
    for (id, contract) in &found.contracts {
        write_contract(*id, contract, rows)?;
    }
    for event in &found.events {
        JOURNAL.append(event, rows)?;
    }
    if found.summary != BlockSummary::default() {
        rows.put(&SUMMARIES, &height.to_be_bytes(), &found.summary.encode())?;
    }
    Ok(())
}

fn write_contract(id: AlkaneId, contract: &Contract, rows: &mut ModuleWriter<'_>) -> Result<(), IndexError> {
    let key = id_key(id);
    if contract.news != News::Nothing {
        rows.put(&POOLS, &key, &contract.row.encode())?;
    }
    for (name, (txid, value)) in &contract.slots {
        rows.put(&SLOTS, &slot_key(id, name), &encode_slot(*txid, value))?;
    }
    let Some(identity) = contract.row.identity else { return Ok(()) };
    if contract.news == News::IsPool {
        rows.put(&POOL_LIST, &identity.number.to_be_bytes(), &key)?;
        let count = decode_count("counts", rows.get(&COUNTS, POOL_COUNT)?.as_deref())?;
        rows.put(&COUNTS, POOL_COUNT, &count.saturating_add(1).to_be_bytes())?;
    }
    if let Some(state) = &contract.state {
        rows.put(&STATES, &key, &state.encode())?;
    }
    if contract.swaps.is_empty() {
        return Ok(());
    }
    let stored = rows.get(&TOTALS, &key)?;
    let mut totals = stored.as_deref().map(Totals::decode).transpose()?.unwrap_or_default();
    for swap in &contract.swaps {
        write_swap(id, &identity, swap, &mut totals, rows)?;
    }
    rows.put(&TOTALS, &key, &totals.encode())?;
    Ok(())
}

fn write_swap(
    id: AlkaneId,
    identity: &Identity,
    swap: &SwapRow,
    totals: &mut Totals,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), IndexError> {
    rows.put(&SWAPS, &swap_key(id, totals.swaps), &swap.encode())?;
    let amounts = swap.amounts();
    let price = executed_price_q(amounts);
    if price.is_some() {
        totals.newest_priced = Some(totals.swaps);
    }
    let full = || IndexError::Damaged(format!("pool {id} with coins {:?} has too many swaps", identity.coins));
    totals.swaps = totals.swaps.checked_add(1).ok_or_else(full)?;
    let volumes = amounts.map(U256::from);
    for (volume, more) in totals.volumes.iter_mut().zip(volumes) {
        *volume = volume.saturating_add(more);
    }
    let Some(price) = price else { return Ok(()) };
    for width in BUCKET_WIDTHS {
        let start = Candle::bucket(width, u64::from(swap.time));
        let key = candle_key(id, width, start);
        let trade = Candle::of(start, price, volumes);
        let candle = match rows.get(&CANDLES, &key)? {
            None => trade,
            Some(stored) => {
                let mut candle = Candle::decode(&key, &stored)?;
                candle.merge(&trade);
                candle
            }
        };
        rows.put(&CANDLES, &key, &candle.encode())?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "module/tests.rs"]
mod tests;
