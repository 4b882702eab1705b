//! The state of the engine as of the node's tip, in memory, undone block by block.

use std::collections::HashMap;
use std::sync::Arc;

use bitcoin::{BlockHash, OutPoint, Txid};
use paraffin_alkanes::{
    Builtins, CodeCache, Engine as _, Halt, NativeEngine, SavedSheet, Sheet, SheetOverflow, StateError, StateKey,
    StateReader, TraceEvent,
};
use paraffin_primitives::{AlkaneId, BlockId, ConnectedBlock, Network};

use super::FACTORY;
use crate::node::{Node, Rejection};
use crate::wallet::WalletError;

/// Why the market cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// The engine halts on a block.
    #[error("the market's engine halts: {0}")]
    Halt(#[from] Halt),
    /// The state cannot be read.
    #[error("the market's state cannot be read: {0}")]
    State(#[from] StateError),
    /// Something that the market itself set up is missing.
    #[error("the market's state is inconsistent: {0}")]
    Inconsistent(String),
    /// The node refused a transaction.
    #[error("the node refused a transaction of the market: {0}")]
    Refused(#[from] Rejection),
    /// A transaction could not be signed.
    #[error("a transaction of the market could not be made: {0}")]
    Wallet(#[from] WalletError),
    /// Balances that overflow.
    #[error(transparent)]
    Overflow(#[from] SheetOverflow),
}

/// One pool and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pool {
    pub id: AlkaneId,
    pub tokens: [AlkaneId; 2],
    pub reserves: [u128; 2],
}

/// The newest values.
#[derive(Default)]
struct Values {
    now: HashMap<StateKey, Vec<u8>>,
}

impl StateReader for Values {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.now.get(key).cloned())
    }
}

/// The undo data of a block that was applied.
struct AppliedBlock {
    hash: BlockHash,
    before: Vec<(StateKey, Option<Vec<u8>>)>,
    /// Contracts that messages created themselves, by transaction.
    created: Vec<(Txid, AlkaneId)>,
}

/// The state as of a block of the node's chain.
pub(super) struct EngineState {
    engine: NativeEngine,
    values: Values,
    /// From the genesis block up.
    applied: Vec<AppliedBlock>,
}

impl EngineState {
    pub(super) fn new(builtins: Builtins) -> Self {
        let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins), Arc::new(CodeCache::default()));
        Self { engine, values: Values::default(), applied: Vec::new() }
    }

    /// Undoes blocks that are no longer of the best chain and applies those that are new.
    pub(super) fn follow(&mut self, node: &Node) -> Result<(), MarketError> {
        while let Some(block) = self.applied.last() {
            let height = self.applied.len() as u32 - 1;
            if node.block_hash(height) == Some(block.hash) {
                break;
            }
            self.undo();
        }
        while let Some(hash) = node.block_hash(self.applied.len() as u32) {
            let Some(block) = node.block(&hash) else { break };
            self.apply(BlockId { height: self.applied.len() as u32, hash }, &block)?;
        }
        Ok(())
    }

    fn undo(&mut self) {
        for (key, value) in self.applied.pop().into_iter().flat_map(|block| block.before) {
            match value {
                Some(value) => drop(self.values.now.insert(key, value)),
                None => drop(self.values.now.remove(&key)),
            }
        }
    }

    fn apply(&mut self, id: BlockId, block: &bitcoin::Block) -> Result<(), MarketError> {
        let connected = ConnectedBlock::new(id.height, block.clone());
        let effects = self.engine.run_block(id.height, &connected, &self.values)?;
        let created = effects.traces.iter().filter_map(|(outpoint, trace)| match trace.events.first() {
            Some(TraceEvent::Create(id)) => Some((outpoint.txid, *id)),
            _ => None,
        });
        let created = created.collect();
        let mut before = Vec::with_capacity(effects.writes.len());
        for (key, value) in effects.writes {
            let earlier = self.values.now.insert(key.clone(), value);
            before.push((key, earlier));
        }
        self.applied.push(AppliedBlock { hash: id.hash, before, created });
        Ok(())
    }

    /// The alkanes of an output.
    pub(super) fn sheet(&self, outpoint: OutPoint) -> Result<Sheet, MarketError> {
        let mut sheet = Sheet::new();
        if let Some(bytes) = self.values.get(&StateKey::Sheet(outpoint))? {
            for (id, amount) in SavedSheet::decode(&bytes)?.entries {
                sheet.set(id, amount);
            }
        }
        Ok(sheet)
    }

    /// The contract that a transaction created at its top level.
    pub(super) fn created(&self, txid: &Txid) -> Option<AlkaneId> {
        let mut entries = self.applied.iter().rev().flat_map(|block| &block.created);
        entries.find(|(creator, _)| creator == txid).map(|(_, id)| *id)
    }

    /// What a contract has stored.
    pub(super) fn storage(&self, contract: AlkaneId, key: &[u8]) -> Result<Option<Vec<u8>>, MarketError> {
        Ok(self.values.get(&StateKey::Storage(contract, key.to_vec()))?)
    }

    /// The script that keeps the bitcoin behind the wrapped ones.
    pub(super) fn signer_script(&self) -> Result<bitcoin::ScriptBuf, MarketError> {
        let script = self.storage(super::WRAPPED_BITCOIN, b"/signer_script_cached")?;
        script
            .map(bitcoin::ScriptBuf::from_bytes)
            .ok_or_else(|| MarketError::Inconsistent("32:0 has no signer".to_owned()))
    }

    /// The id that a contract has stored; `None` when there is none.
    pub(super) fn stored_id(&self, contract: AlkaneId, key: &[u8]) -> Result<Option<AlkaneId>, MarketError> {
        self.storage(contract, key)?.as_deref().map(identifier).transpose()
    }

    /// All pools of the factory, oldest first.
    pub(super) fn pools(&self) -> Result<Vec<Pool>, MarketError> {
        let Some(length) = self.storage(FACTORY, b"/all_pools_length")? else { return Ok(Vec::new()) };
        let length = number(&length)?;
        let mut pools = Vec::new();
        for index in 0..length {
            let key = [b"/all_pools/".as_slice(), &index.to_le_bytes()].concat();
            let id = self
                .storage(FACTORY, &key)?
                .ok_or_else(|| MarketError::Inconsistent(format!("pool {index} is missing")))?;
            let id = identifier(&id)?;
            let mut tokens = [AlkaneId::default(); 2];
            let mut reserves = [0; 2];
            for (index, name) in [b"/alkane/0", b"/alkane/1"].into_iter().enumerate() {
                let token =
                    self.storage(id, name)?.ok_or_else(|| MarketError::Inconsistent(format!("{id} is no pool")))?;
                tokens[index] = identifier(&token)?;
                let held = self.values.get(&StateKey::Balance { what: tokens[index], who: id })?;
                reserves[index] = held.map_or(Ok(0), |held| number(&held))?;
            }
            pools.push(Pool { id, tokens, reserves });
        }
        Ok(pools)
    }
}

fn number(bytes: &[u8]) -> Result<u128, MarketError> {
    let bytes = bytes.try_into().map_err(|_| MarketError::Inconsistent("a number is not 16 bytes long".to_owned()))?;
    Ok(u128::from_le_bytes(bytes))
}

fn identifier(bytes: &[u8]) -> Result<AlkaneId, MarketError> {
    let halves = bytes.split_at_checked(16);
    let (block, tx) = halves.ok_or_else(|| MarketError::Inconsistent("an id is not 32 bytes long".to_owned()))?;
    Ok(AlkaneId { block: number(block)?, tx: number(tx)? })
}
