//! A Bitcoin node on regtest, in memory: the block tree, the unspent outputs, the mempool and a miner behind one lock.
//!
//! No method waits or reads the clock by itself; the code that makes the node may give it a clock.

mod admission;
mod chain;
mod mempool;
mod miner;
mod rejection;
mod scripts;
mod utxo;
mod validate;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use bitcoin::{Block, BlockHash, OutPoint, ScriptBuf, Transaction, Txid};
use bytes::Bytes;
use paraffin_primitives::BlockId;
use parking_lot::{RwLock, RwLockReadGuard};
use tokio::sync::broadcast;

pub(crate) use admission::{
    CLUSTER_COUNT_MAX, CLUSTER_VSIZE_MAX, INCREMENTAL_SATS_PER_KVB, MIN_RELAY_SATS_PER_KVB, Waiver, fee_for,
};
pub use chain::BlockOutcome;
pub(crate) use chain::{Activation, BlockEntry, Chain};
pub(crate) use mempool::{Mempool, MempoolEntry};
pub(crate) use miner::Template;
pub use miner::{BLOCK_SPACING, BLOCK_TIME_EPOCH};
pub use rejection::{Rejection, RejectionKind};
pub(crate) use utxo::is_unspendable;
pub use utxo::{Coin, MEMPOOL_HEIGHT};
pub(crate) use validate::{SATS_PER_BTC, format_btc, subsidy};

/// Events that a slow subscriber may lag behind before it misses some.
const EVENTS_KEPT: usize = 4096;

/// A clock: Unix seconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Where the time of mined blocks comes from.
#[derive(Clone)]
pub enum BlockTime {
    /// A fixed epoch plus ten minutes for every height: the same chain every time.
    ByHeight,
    /// The clock.
    ByClock,
}

/// What changed in the node.
#[derive(Debug, Clone)]
pub enum NodeEvent {
    /// A transaction entered the mempool.
    Transaction(Arc<Transaction>),
    /// The best chain changed; `connected` are its new blocks in order, and `disconnected` blocks left it before.
    Chain {
        /// New blocks of the best chain.
        connected: Vec<BlockHash>,
        /// Number of blocks that left the best chain.
        disconnected: usize,
    },
}

/// The named block is not known (or is the genesis block, which cannot be invalidated).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Block not found")]
pub struct UnknownBlock;

pub(crate) struct State {
    pub(crate) chain: Chain,
    pub(crate) mempool: Mempool,
    clock: Option<Clock>,
    mock_time: Option<u64>,
    block_time: BlockTime,
}

impl State {
    /// The node's time: the mock time if set, else that of the newest block or the clock, whichever is later.
    pub(crate) fn now(&self) -> u64 {
        if let Some(time) = self.mock_time {
            return time;
        }
        let tip = u64::from(self.chain.tip().block.header.time);
        match (&self.block_time, &self.clock) {
            (BlockTime::ByClock, Some(clock)) => clock().max(tip),
            _ => tip,
        }
    }

    /// The time that the miner wants to use, if a clock or a mock time sets it.
    pub(crate) fn block_clock(&self) -> Option<u64> {
        match (&self.block_time, &self.clock) {
            (_, _) if self.mock_time.is_some() => self.mock_time,
            (BlockTime::ByClock, Some(clock)) => Some(clock()),
            _ => None,
        }
    }

    /// The latest of all clocks: the upper bound of block times.
    pub(crate) fn latest_time(&self) -> u64 {
        let clock = self.clock.as_ref().map_or(0, |clock| clock());
        let next = u64::from(BLOCK_TIME_EPOCH) + u64::from(BLOCK_SPACING) * u64::from(self.chain.height() + 1);
        clock.max(self.now()).max(next)
    }

    fn after_activation(&mut self, activation: &Activation) {
        for hash in &activation.connected {
            if let Some(entry) = self.chain.block(hash) {
                let block = Arc::clone(&entry.block);
                self.mempool.remove_for_block(&block.txdata, &entry.txids);
            }
        }
        if activation.disconnected > 0 {
            // What was final or mature before may not be any more: everything is admitted anew, the returned ones first.
            let pool = self.mempool.drain();
            for tx in &activation.returned {
                let _ = self.admit(tx, Waiver::Fees);
            }
            for entry in pool {
                let _ = self.admit(&entry.tx, Waiver::Fees);
            }
        }
    }
}

/// The node. Cheap to share; every method takes the lock for itself.
pub struct Node {
    state: RwLock<State>,
    events: broadcast::Sender<NodeEvent>,
}

impl fmt::Debug for Node {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Node").field("tip", &self.tip()).finish_non_exhaustive()
    }
}

impl Default for Node {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Node {
    /// A node with the genesis block alone. Blocks are dated by height unless [`Node::set_block_time`] changes that;
    /// `clock` bounds how new a submitted block may be.
    pub fn new(clock: Option<Clock>) -> Self {
        let state = State {
            chain: Chain::new(),
            mempool: Mempool::default(),
            clock,
            mock_time: None,
            block_time: BlockTime::ByHeight,
        };
        Self { state: RwLock::new(state), events: broadcast::channel(EVENTS_KEPT).0 }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read()
    }

    /// Sets where the time of mined blocks comes from.
    pub fn set_block_time(&self, block_time: BlockTime) {
        self.state.write().block_time = block_time;
    }

    /// Stops the node's time at `time` (Unix seconds); `None` lets it go on.
    pub fn set_mock_time(&self, time: Option<u64>) {
        self.state.write().mock_time = time;
    }

    /// Limits the mempool to `bytes` of serialized transactions, dropping what it holds.
    pub fn set_mempool_limit(&self, bytes: usize) {
        self.state.write().mempool = Mempool::with_limit(bytes);
    }

    /// Receives every change from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<NodeEvent> {
        self.events.subscribe()
    }

    /// The newest block of the best chain.
    pub fn tip(&self) -> BlockId {
        let state = self.state.read();
        BlockId { height: state.chain.height(), hash: state.chain.tip_hash() }
    }

    /// The hash at `height` of the best chain.
    pub fn block_hash(&self, height: u32) -> Option<BlockHash> {
        self.state.read().chain.hash_at(height)
    }

    /// A block of the tree, on the best chain or not.
    pub fn block(&self, hash: &BlockHash) -> Option<Arc<Block>> {
        self.state.read().chain.block(hash).map(|entry| Arc::clone(&entry.block))
    }

    /// The consensus encoding of a block of the tree.
    pub fn block_bytes(&self, hash: &BlockHash) -> Option<Bytes> {
        self.state.read().chain.block(hash).map(|entry| entry.bytes.clone())
    }

    /// Txids of the mempool in order of admission.
    pub fn mempool_txids(&self) -> Vec<Txid> {
        self.state.read().mempool.txids()
    }

    /// An unconfirmed transaction.
    pub fn mempool_transaction(&self, txid: &Txid) -> Option<Arc<Transaction>> {
        self.state.read().mempool.get(txid).map(|entry| Arc::clone(&entry.tx))
    }

    /// An output that no confirmed transaction spends.
    pub fn coin(&self, outpoint: &OutPoint) -> Option<Coin> {
        self.state.read().chain.coins.get(outpoint).cloned()
    }

    /// Confirmed outputs that pay one of `scripts` and that nothing spends, the mempool included, in outpoint order.
    pub fn spendable(&self, scripts: &HashSet<ScriptBuf>) -> Vec<(OutPoint, Coin)> {
        let state = self.state.read();
        let mut coins = state.chain.coins.paying(scripts);
        coins.retain(|(outpoint, _)| state.mempool.spender(outpoint).is_none());
        coins
    }

    /// Takes a transaction into the mempool.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn submit_transaction(&self, tx: Transaction) -> Result<Txid, Rejection> {
        self.admit(Arc::new(tx)).map(|entry| entry.txid)
    }

    pub(crate) fn admit(&self, tx: Arc<Transaction>) -> Result<MempoolEntry, Rejection> {
        self.admit_with_replaced(tx).map(|(entry, _)| entry)
    }

    pub(crate) fn admit_with_replaced(&self, tx: Arc<Transaction>) -> Result<(MempoolEntry, Vec<Txid>), Rejection> {
        let admitted = self.state.write().admit(&tx, Waiver::Nothing)?;
        let _ = self.events.send(NodeEvent::Transaction(tx));
        Ok((admitted.entry, admitted.replaced.into_iter().collect()))
    }

    /// Takes a block into the tree and moves to it if its chain has the most work.
    ///
    /// # Errors
    /// The rule that the block breaks.
    pub fn submit_block(&self, block: Block) -> Result<BlockOutcome, Rejection> {
        let mut state = self.state.write();
        self.take_block(&mut state, Arc::new(block))
    }

    fn take_block(&self, state: &mut State, block: Arc<Block>) -> Result<BlockOutcome, Rejection> {
        let hash = block.block_hash();
        let latest = state.latest_time();
        if !state.chain.add(block, latest)? {
            return Ok(BlockOutcome::Known);
        }
        let activation = state.chain.activate_added(hash);
        self.finish(state, &activation);
        if state.chain.is_main(&hash) {
            return Ok(BlockOutcome::Connected);
        }
        match activation.failed {
            // The block itself, or one before it on a branch that was never connected before.
            Some((_, rejection)) if state.chain.block(&hash).is_some_and(|entry| entry.invalid) => Err(rejection),
            _ => Ok(BlockOutcome::SideChain),
        }
    }

    fn finish(&self, state: &mut State, activation: &Activation) {
        state.after_activation(activation);
        if activation.disconnected > 0 || !activation.connected.is_empty() {
            let _ = self.events.send(NodeEvent::Chain {
                connected: activation.connected.clone(),
                disconnected: activation.disconnected,
            });
        }
    }

    /// Mines `count` blocks that pay `script`; the hashes in order.
    ///
    /// # Errors
    /// The rule that the mined block breaks, which only a script that no block may hold can cause.
    pub fn mine(&self, count: u32, script: &ScriptBuf) -> Result<Vec<BlockHash>, Rejection> {
        (0..count).map(|_| self.mine_block(script)).collect()
    }

    /// Mines one block.
    ///
    /// # Errors
    /// As [`Node::mine`].
    pub fn mine_block(&self, script: &ScriptBuf) -> Result<BlockHash, Rejection> {
        let mut state = self.state.write();
        let template = state.template(script);
        let block = state.solve(template, script);
        let hash = block.block_hash();
        self.take_block(&mut state, block)?;
        Ok(hash)
    }

    /// Mines a block with exactly `transactions`; with `submit` it is taken into the chain as well.
    ///
    /// # Errors
    /// The rule that the block breaks.
    pub fn mine_block_with(
        &self,
        transactions: Vec<Transaction>,
        script: &ScriptBuf,
        submit: bool,
    ) -> Result<Arc<Block>, Rejection> {
        let mut state = self.state.write();
        let template = state.template_with(transactions, script);
        state.chain.test_block(&template.block, state.latest_time())?;
        let block = state.solve(template, script);
        if submit {
            self.take_block(&mut state, Arc::clone(&block))?;
        }
        Ok(block)
    }

    /// Marks a block and all that follow as invalid.
    ///
    /// # Errors
    /// The block is not known.
    pub fn invalidate(&self, hash: &BlockHash) -> Result<(), UnknownBlock> {
        self.change_chain(|chain| chain.invalidate(*hash))
    }

    /// Takes the invalid mark from a block, its ancestors and its descendants.
    ///
    /// # Errors
    /// The block is not known.
    pub fn reconsider(&self, hash: &BlockHash) -> Result<(), UnknownBlock> {
        self.change_chain(|chain| chain.reconsider(*hash))
    }

    /// Treats a block as if it had arrived before all others of equal work.
    ///
    /// # Errors
    /// The block is not known.
    pub fn precious(&self, hash: &BlockHash) -> Result<(), UnknownBlock> {
        self.change_chain(|chain| chain.precious(*hash))
    }

    fn change_chain(&self, change: impl FnOnce(&mut Chain) -> Option<Activation>) -> Result<(), UnknownBlock> {
        let mut state = self.state.write();
        let activation = change(&mut state.chain).ok_or(UnknownBlock)?;
        self.finish(&mut state, &activation);
        Ok(())
    }
}
