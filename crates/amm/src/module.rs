//! The indexer module: events of each block, and what is kept of them.

use std::collections::BTreeMap;

use paraffin_primitives::{AlkaneId, ConnectedBlock};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter};
use ruint::aliases::U256;

use crate::candles::candle_key;
use crate::lists::lists_of;
use crate::rows::{
    Parser, append_volumes, decode_count, decode_pool, encode_event, encode_pool, id_key, kind_number, place_key,
};
use crate::tables::{CANDLES, EVENTS, FACTORIES, LIST_LENGTHS, LISTS, POOLS, SCHEMA, SUMS, TOTALS};
use crate::{
    Action, AmmError, BlockContracts, Candle, ContractReads, Event, PoolIdentity, PoolLookup, Timeframe, pools, series,
    transaction_events,
};

/// Scripts longer than this own nothing here: no address has one, and every event would hold it.
const ACTOR_BYTES_MAX: usize = 520;

/// What differs between networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// The contract that wraps bitcoin.
    pub wrapped_bitcoin: AlkaneId,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { wrapped_bitcoin: AlkaneId { block: 32, tx: 0 } }
    }
}

/// The indexer module of markets. It runs after the module of alkanes. Undo is the store's.
#[derive(Debug, Clone, Copy, Default)]
pub struct AmmModule {
    parameters: Parameters,
}

impl AmmModule {
    /// A module for a network.
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters }
    }
}

impl Module for AmmModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let events = {
            let contracts = BlockContracts::new(rows.earlier());
            events_of(self.parameters, block, &contracts, rows)?
        };
        write(&events, rows)?;
        Ok(())
    }
}

/// Pools that earlier blocks created, in the rows; registration in the contracts' state.
struct Lookup<'r, 'w> {
    rows: &'r ModuleWriter<'w>,
    contracts: &'r dyn ContractReads,
}

impl PoolLookup for Lookup<'_, '_> {
    fn pool(&self, id: AlkaneId) -> Result<Option<PoolIdentity>, AmmError> {
        let stored = self.rows.get(&POOLS, &id_key(id))?;
        stored.map(|stored| decode_pool(&stored).map(|(pool, _)| pool)).transpose()
    }

    fn is_registered(&self, pool: &PoolIdentity) -> Result<bool, AmmError> {
        pools::is_registered(self.contracts, pool)
    }
}

/// Pools created earlier in the same block come before those in the rows.
struct WithNew<'l> {
    created: &'l BTreeMap<AlkaneId, PoolIdentity>,
    stored: &'l dyn PoolLookup,
}

impl PoolLookup for WithNew<'_> {
    fn pool(&self, id: AlkaneId) -> Result<Option<PoolIdentity>, AmmError> {
        match self.created.get(&id) {
            Some(pool) => Ok(Some(*pool)),
            None => self.stored.pool(id),
        }
    }

    fn is_registered(&self, pool: &PoolIdentity) -> Result<bool, AmmError> {
        self.stored.is_registered(pool)
    }
}

fn events_of(
    parameters: Parameters,
    block: &ConnectedBlock,
    contracts: &dyn ContractReads,
    rows: &ModuleWriter<'_>,
) -> Result<Vec<Event>, AmmError> {
    let height = block.id.height;
    let traces = contracts.traces(height)?;
    let stored = Lookup { rows, contracts };
    let mut created = BTreeMap::new();
    let mut events = Vec::new();
    for messages in traces.chunk_by(|a, b| a.transaction_index == b.transaction_index) {
        let index = messages[0].transaction_index;
        let transaction = block.block.txdata.get(index as usize);
        let transaction = transaction.ok_or_else(|| AmmError::Mismatch {
            height,
            what: format!("there is no transaction {index} for {}", messages[0].outpoint),
        })?;
        let lookup = WithNew { created: &created, stored: &stored };
        let time = block.block.header.time;
        let mut found = transaction_events(height, time, transaction, messages, parameters.wrapped_bitcoin, &lookup)?;
        for event in &mut found {
            if event.actor.as_ref().is_some_and(|script| script.len() > ACTOR_BYTES_MAX) {
                event.actor = None;
            }
            if let Action::Creation { pool, .. } = &event.action {
                created.insert(pool.id, *pool);
            }
        }
        events.extend(found);
    }
    Ok(events)
}

pub(crate) fn write(events: &[Event], rows: &mut ModuleWriter<'_>) -> Result<(), AmmError> {
    for event in events {
        let place = place_key(event.place);
        rows.put(&EVENTS, &place, &encode_event(event))?;
        for list in lists_of(event) {
            let length = decode_count("list_lengths", rows.get(&LIST_LENGTHS, &list)?.as_deref())?;
            let mut key = list.clone();
            key.extend_from_slice(&length.to_be_bytes());
            rows.put(&LISTS, &key, &place)?;
            let length = length.checked_add(1).ok_or_else(|| AmmError::Damaged("a list is full".to_owned()))?;
            rows.put(&LIST_LENGTHS, &list, &length.to_be_bytes())?;
        }
        if !event.successful {
            continue;
        }
        match &event.action {
            Action::Creation { pool, .. } => {
                rows.put(&POOLS, &id_key(pool.id), &encode_pool(pool, event.place))?;
                let key = id_key(pool.factory);
                let count = decode_count("factories", rows.get(&FACTORIES, &key)?.as_deref())?;
                rows.put(&FACTORIES, &key, &count.saturating_add(1).to_be_bytes())?;
            }
            Action::Swap { pool, .. } => write_trade(event, pool, rows)?,
            Action::Wrap { amount } | Action::Unwrap { amount } => {
                let key = [kind_number(event.action.kind())];
                let sum = rows.get(&SUMS, &key)?.map(|stored| Parser::new("sums", &stored).wide()).transpose()?;
                let sum = sum.unwrap_or_default().saturating_add(U256::from(*amount));
                rows.put(&SUMS, &key, &sum.to_be_bytes::<32>())?;
            }
            Action::Mint { .. } | Action::Burn { .. } => {}
        }
    }
    Ok(())
}

/// Candles and totals of a swap.
fn write_trade(event: &Event, pool: &PoolIdentity, rows: &mut ModuleWriter<'_>) -> Result<(), AmmError> {
    let Some((amounts, price)) = event.action.traded().zip(event.action.price()) else { return Ok(()) };
    for timeframe in Timeframe::ALL {
        let start = timeframe.start(event.time);
        let key = candle_key(pool.id, timeframe, start);
        let trade = Candle::of(start, price, amounts);
        let candle = match rows.get(&CANDLES, &key)? {
            None => {
                series::insert(pool.id, timeframe, start, rows)?;
                trade
            }
            Some(stored) => {
                let mut candle = Candle::decode(start, &stored)?;
                candle.merge(&trade);
                candle
            }
        };
        rows.put(&CANDLES, &key, &candle.encode())?;
    }
    let key = id_key(pool.id);
    let (mut volumes, mut trades) = ([U256::ZERO; 2], 0u32);
    if let Some(stored) = rows.get(&TOTALS, &key)? {
        let mut parser = Parser::new("totals", &stored);
        (volumes, trades) = ([parser.wide()?, parser.wide()?], parser.number()?);
    }
    for (volume, amount) in volumes.iter_mut().zip(amounts) {
        *volume = volume.saturating_add(U256::from(amount));
    }
    let mut value = Vec::with_capacity(68);
    append_volumes(volumes, trades.saturating_add(1), &mut value);
    rows.put(&TOTALS, &key, &value)?;
    Ok(())
}
