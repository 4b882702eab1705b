//! The indexer module: the market events of each block, as rows.

use std::collections::BTreeMap;

use paraffin_primitives::{AlkaneId, ConnectedBlock};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter};
use ruint::aliases::U256;

use crate::rows::{Parser, decode_count, decode_pool, encode_pool, id_key, kind_number};
use crate::tables::{FACTORIES, JOURNAL, POOLS, SCHEMA, SUMS};
use crate::{
    Action, AmmError, BlockContracts, ContractReads, Event, PoolIdentity, PoolLookup, pools, transaction_events,
};

/// Parameters of a network.
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
        let found = transaction_events(height, time, transaction, messages, parameters.wrapped_bitcoin, &lookup)?;
        for event in &found {
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
        JOURNAL.append(event, rows)?;
        if !event.successful {
            continue;
        }
        match &event.action {
            Action::Creation { pool, .. } => {
                rows.put(&POOLS, &id_key(pool.id), &encode_pool(pool, event.position))?;
                let key = id_key(pool.factory);
                let count = decode_count("factories", rows.get(&FACTORIES, &key)?.as_deref())?;
                rows.put(&FACTORIES, &key, &count.saturating_add(1).to_be_bytes())?;
            }
            Action::Wrap { amount } | Action::Unwrap { amount } => {
                let key = [kind_number(event.action.kind())];
                let sum = rows.get(&SUMS, &key)?.map(|stored| Parser::new("sums", &stored).wide()).transpose()?;
                let sum = sum.unwrap_or_default().saturating_add(U256::from(*amount));
                rows.put(&SUMS, &key, &sum.to_be_bytes::<32>())?;
            }
            Action::Swap { .. } | Action::Mint { .. } | Action::Burn { .. } => {}
        }
    }
    Ok(())
}
