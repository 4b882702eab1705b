//! Every block ever accepted, the best chain among them, and how the node moves from one chain to another.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bitcoin::consensus::serialize;
use bitcoin::constants::genesis_block;
use bitcoin::{Block, BlockHash, Network, OutPoint, Transaction, Txid, Work};
use bytes::Bytes;

use super::rejection::{Rejection, RejectionKind};
use super::scripts::{ScriptCache, failing_input};
use super::utxo::{Coin, Coins, CoinsView};
use super::validate::{self, HeaderContext};

/// A block of the tree with all that is derived from it.
#[derive(Debug)]
pub(crate) struct BlockEntry {
    pub(crate) block: Arc<Block>,
    /// Consensus encoding.
    pub(crate) bytes: Bytes,
    pub(crate) txids: Vec<Txid>,
    pub(crate) height: u32,
    /// Work of the chain that ends here.
    pub(crate) work: Work,
    /// Median time of this block and the ten before it.
    pub(crate) median_time_past: u32,
    /// Order of arrival: at equal work the lower one wins.
    pub(crate) sequence: i64,
    /// This block or one before it is invalid, by rule or by `invalidateblock`.
    pub(crate) invalid: bool,
    /// What the transactions after the coinbase spend; there once the block has been on the best chain.
    pub(crate) spent: Option<Arc<Vec<Vec<Coin>>>>,
}

/// What a move from one chain to another changed.
#[derive(Debug, Default)]
pub(crate) struct Activation {
    /// Transactions of blocks that left the chain, in chain order, without coinbases.
    pub(crate) returned: Vec<Arc<Transaction>>,
    /// Blocks that joined the chain, in order.
    pub(crate) connected: Vec<BlockHash>,
    /// Number of blocks that left the chain.
    pub(crate) disconnected: usize,
    /// The last block that could not be connected, and why.
    pub(crate) failed: Option<(BlockHash, Rejection)>,
}

/// Outcome of a submitted block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOutcome {
    /// It is on the best chain.
    Connected,
    /// No fault was found, but another chain has at least as much work.
    SideChain,
    /// The tree had it already.
    Known,
}

struct Checked {
    changes: HashMap<OutPoint, Option<Coin>>,
    spent: Vec<Vec<Coin>>,
}

pub(crate) struct Chain {
    blocks: HashMap<BlockHash, BlockEntry>,
    main: Vec<BlockHash>,
    pub(crate) coins: Coins,
    /// Block that last held a transaction, like Bitcoin Core's transaction index (not removed when the block leaves the chain).
    transactions: HashMap<Txid, BlockHash>,
    pub(crate) scripts: ScriptCache,
    next_sequence: i64,
    next_precious: i64,
    /// Bytes of all blocks of the tree.
    bytes: usize,
}

impl Chain {
    pub(crate) fn new() -> Self {
        let genesis = genesis_block(Network::Regtest);
        let hash = genesis.block_hash();
        let entry = BlockEntry {
            bytes: serialize(&genesis).into(),
            txids: genesis.txdata.iter().map(Transaction::compute_txid).collect(),
            height: 0,
            work: genesis.header.work(),
            median_time_past: genesis.header.time,
            sequence: 0,
            invalid: false,
            spent: Some(Arc::default()),
            block: Arc::new(genesis),
        };
        Self {
            bytes: entry.bytes.len(),
            blocks: HashMap::from([(hash, entry)]),
            main: vec![hash],
            coins: Coins::default(),
            transactions: HashMap::new(),
            scripts: ScriptCache::default(),
            next_sequence: 1,
            next_precious: -1,
        }
    }

    pub(crate) fn height(&self) -> u32 {
        u32::try_from(self.main.len() - 1).expect("fewer than 2^32 blocks fit into memory")
    }

    pub(crate) fn tip_hash(&self) -> BlockHash {
        *self.main.last().expect("the genesis block never leaves the chain")
    }

    pub(crate) fn tip(&self) -> &BlockEntry {
        self.blocks.get(&self.tip_hash()).expect("every hash of the best chain is in the tree")
    }

    pub(crate) fn block(&self, hash: &BlockHash) -> Option<&BlockEntry> {
        self.blocks.get(hash)
    }

    pub(crate) fn hash_at(&self, height: u32) -> Option<BlockHash> {
        self.main.get(height as usize).copied()
    }

    pub(crate) fn is_main(&self, hash: &BlockHash) -> bool {
        self.blocks.get(hash).is_some_and(|entry| self.hash_at(entry.height) == Some(*hash))
    }

    /// Bytes of all blocks of the tree.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Height of the highest block that is not known to be invalid.
    pub(crate) fn best_header_height(&self) -> u32 {
        if self.blocks.len() == self.main.len() {
            return self.height();
        }
        let valid = self.blocks.values().filter(|entry| !entry.invalid);
        valid.map(|entry| entry.height).max().unwrap_or(0)
    }

    pub(crate) fn main(&self) -> &[BlockHash] {
        &self.main
    }

    pub(crate) fn median_time_past_at(&self, height: u32) -> u32 {
        let hash = self.hash_at(height.min(self.height())).unwrap_or_else(|| self.tip_hash());
        self.blocks.get(&hash).map_or(0, |entry| entry.median_time_past)
    }

    pub(crate) fn transaction_block(&self, txid: &Txid) -> Option<BlockHash> {
        self.transactions.get(txid).copied()
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = (&BlockHash, &BlockEntry)> {
        self.blocks.iter()
    }

    /// Height at which the branch of `hash` leaves the best chain.
    pub(crate) fn fork_height(&self, hash: &BlockHash) -> u32 {
        let mut hash = *hash;
        while !self.is_main(&hash) {
            match self.blocks.get(&hash) {
                Some(entry) => hash = entry.block.header.prev_blockhash,
                None => return 0,
            }
        }
        self.blocks.get(&hash).map_or(0, |entry| entry.height)
    }

    /// Adds a block to the tree after the checks that need no coins. Returns `false` if it was there already.
    pub(crate) fn add(&mut self, block: Arc<Block>, now: u64) -> Result<bool, Rejection> {
        let hash = block.block_hash();
        if let Some(known) = self.blocks.get(&hash) {
            if known.invalid {
                return Err(Rejection::new(RejectionKind::Duplicate, "duplicate-invalid", ""));
            }
            return Ok(false);
        }
        validate::check_proof_of_work(&block.header)?;
        let Some(parent) = self.blocks.get(&block.header.prev_blockhash) else {
            return Err(Rejection::consensus("prev-blk-not-found"));
        };
        if parent.invalid {
            return Err(Rejection::consensus("bad-prevblk"));
        }
        let context = HeaderContext { median_time_past: parent.median_time_past, now };
        validate::check_header(&block.header, &context)?;
        let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
        validate::check_block(&block, &txids)?;
        let height = parent.height + 1;
        validate::check_block_in_chain(&block, height, parent.median_time_past)?;
        let entry = BlockEntry {
            bytes: serialize(&*block).into(),
            txids,
            height,
            work: parent.work + block.header.work(),
            median_time_past: self.median_time(&block),
            sequence: self.next_sequence,
            invalid: false,
            spent: None,
            block,
        };
        self.next_sequence += 1;
        self.bytes += entry.bytes.len();
        self.blocks.insert(hash, entry);
        Ok(true)
    }

    fn median_time(&self, block: &Block) -> u32 {
        let mut times = vec![block.header.time];
        let mut previous = block.header.prev_blockhash;
        while times.len() < 11 {
            let Some(entry) = self.blocks.get(&previous) else { break };
            times.push(entry.block.header.time);
            previous = entry.block.header.prev_blockhash;
        }
        times.sort_unstable();
        times[times.len() / 2]
    }

    /// Moves to the best chain after `hash` was added; cheap when it extends the tip or has too little work.
    pub(crate) fn activate_added(&mut self, hash: BlockHash) -> Activation {
        let Some(entry) = self.blocks.get(&hash) else { return Activation::default() };
        if entry.work <= self.tip().work {
            return Activation::default();
        }
        if entry.block.header.prev_blockhash != self.tip_hash() {
            return self.activate_best();
        }
        match self.connect(hash) {
            Ok(()) => Activation { connected: vec![hash], ..Activation::default() },
            Err(rejection) => {
                self.mark_invalid(hash);
                Activation { failed: Some((hash, rejection)), ..Activation::default() }
            }
        }
    }

    /// Moves to the valid chain with the most work.
    pub(crate) fn activate_best(&mut self) -> Activation {
        let mut activation = Activation::default();
        let mut returned: Vec<Vec<Arc<Transaction>>> = Vec::new();
        while let Some(path) = self.path_to_best() {
            let fork = self.blocks.get(&path[0]).map_or(0, |entry| entry.height - 1);
            while self.height() > fork {
                returned.push(self.disconnect_tip());
                activation.disconnected += 1;
            }
            for hash in path {
                if let Err(rejection) = self.connect(hash) {
                    self.mark_invalid(hash);
                    activation.failed = Some((hash, rejection));
                    break;
                }
                activation.connected.push(hash);
            }
        }
        activation.connected.retain(|hash| self.is_main(hash));
        activation.returned = returned.into_iter().rev().flatten().collect();
        activation
    }

    /// The blocks to connect to reach the best chain; `None` when the tip is the best already.
    fn path_to_best(&self) -> Option<Vec<BlockHash>> {
        let (best, _) = self
            .blocks
            .iter()
            .filter(|(_, entry)| !entry.invalid)
            .max_by_key(|(hash, entry)| (entry.work, Reverse(entry.sequence), Reverse(**hash)))?;
        if self.is_main(best) && *best == self.tip_hash() {
            return None;
        }
        let mut path = Vec::new();
        let mut hash = *best;
        while !self.is_main(&hash) {
            path.push(hash);
            hash = self.blocks.get(&hash)?.block.header.prev_blockhash;
        }
        path.reverse();
        // Empty only if the best block is below the tip, and no block below the tip has as much work.
        (!path.is_empty()).then_some(path)
    }

    fn connect(&mut self, hash: BlockHash) -> Result<(), Rejection> {
        let entry = self.blocks.get(&hash).expect("only blocks of the tree are connected");
        let (block, height) = (Arc::clone(&entry.block), entry.height);
        let txids = entry.txids.clone();
        let checked = self.check_spends(&block, &txids, height)?;
        for tx in &block.txdata[1..] {
            self.scripts.remember(tx.compute_wtxid());
        }
        self.coins.apply(checked.changes);
        for txid in txids {
            self.transactions.insert(txid, hash);
        }
        if let Some(entry) = self.blocks.get_mut(&hash) {
            entry.spent = Some(Arc::new(checked.spent));
        }
        self.main.push(hash);
        Ok(())
    }

    /// Every rule that needs the outputs that a block on top of the tip spends.
    fn check_spends(&self, block: &Block, txids: &[Txid], height: u32) -> Result<Checked, Rejection> {
        let mut view = CoinsView::new(&self.coins);
        let mut spent = Vec::with_capacity(block.txdata.len());
        let (mut fees, mut sigops) = (0_u64, 0_usize);
        for (tx, txid) in block.txdata.iter().zip(txids) {
            let overwrites = (0..).zip(&tx.output).any(|(vout, _)| view.get(&OutPoint { txid: *txid, vout }).is_some());
            if overwrites {
                return Err(Rejection::consensus("bad-txns-BIP30").with_detail("tried to overwrite transaction"));
            }
            if !tx.is_coinbase() {
                let coins = spend(tx, &mut view)?;
                let in_transaction = |rejection: Rejection| {
                    let detail = format!("{} in transaction {txid}", rejection.detail);
                    rejection.with_detail(detail)
                };
                let fee = validate::check_amounts(tx, &coins, height).map_err(in_transaction)?;
                fees = fees.saturating_add(fee);
                if fees > validate::MAX_MONEY {
                    return Err(Rejection::consensus("bad-txns-accumulated-fee-outofrange"));
                }
                let heights: Vec<u32> = coins.iter().map(|coin| coin.height).collect();
                if !validate::relative_locks_hold(tx, &heights, height, |at| self.median_time_past_at(at)) {
                    return Err(Rejection::consensus("bad-txns-nonfinal")
                        .with_detail(format!("contains a non-BIP68-final transaction {txid}")));
                }
                spent.push(coins);
            }
            let coins: &[Coin] = if tx.is_coinbase() { &[] } else { spent.last().map_or(&[], Vec::as_slice) };
            sigops += sigop_cost(tx, coins);
            if sigops > validate::MAX_BLOCK_SIGOPS_COST {
                return Err(Rejection::consensus("bad-blk-sigops").with_detail("too many sigops"));
            }
            view.add_outputs(tx, *txid, height);
        }
        let reward = fees + validate::subsidy(height);
        let paid: u64 = block.txdata[0].output.iter().map(|output| output.value.to_sat()).sum();
        if paid > reward {
            return Err(Rejection::consensus("bad-cb-amount")
                .with_detail(format!("coinbase pays too much (actual={paid} vs limit={reward})")));
        }
        for (tx, coins) in block.txdata[1..].iter().zip(&spent) {
            let wtxid = tx.compute_wtxid();
            self.scripts.verify(tx, wtxid, coins).map_err(|index| {
                Rejection::consensus("block-script-verify-flag-failed (script verification failed)")
                    .with_detail(failing_input(tx, wtxid, index))
            })?;
        }
        Ok(Checked { changes: view.into_changes(), spent })
    }

    /// Whether `block` could follow the tip; neither proof of work nor the merkle root is looked at.
    pub(crate) fn test_block(&self, block: &Block, now: u64) -> Result<(), Rejection> {
        if block.header.prev_blockhash != self.tip_hash() {
            return Err(Rejection::consensus("inconclusive-not-best-prevblk"));
        }
        let tip = self.tip();
        let height = tip.height + 1;
        validate::check_header(&block.header, &HeaderContext { median_time_past: tip.median_time_past, now })?;
        validate::check_block_content(block)?;
        validate::check_block_in_chain(block, height, tip.median_time_past)?;
        let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
        self.check_spends(block, &txids, height).map(|_| ())
    }

    fn disconnect_tip(&mut self) -> Vec<Arc<Transaction>> {
        let hash = self.main.pop().expect("the genesis block is never disconnected");
        let entry = self.blocks.get(&hash).expect("every hash of the best chain is in the tree");
        let spent = entry.spent.clone().unwrap_or_default();
        for index in (0..entry.block.txdata.len()).rev() {
            let coins = if index == 0 { &[] } else { spent[index - 1].as_slice() };
            self.coins.undo(&entry.block.txdata[index], entry.txids[index], coins);
        }
        entry.block.txdata[1..].iter().cloned().map(Arc::new).collect()
    }

    fn mark_invalid(&mut self, hash: BlockHash) {
        for descendant in self.descendants(hash) {
            if let Some(entry) = self.blocks.get_mut(&descendant) {
                entry.invalid = true;
            }
        }
    }

    /// `hash` and every block built on it.
    fn descendants(&self, hash: BlockHash) -> HashSet<BlockHash> {
        let mut by_height: Vec<_> = self.blocks.iter().map(|(hash, entry)| (entry.height, *hash)).collect();
        by_height.sort_unstable();
        let mut found = HashSet::from([hash]);
        for (_, candidate) in by_height {
            if self.blocks.get(&candidate).is_some_and(|entry| found.contains(&entry.block.header.prev_blockhash)) {
                found.insert(candidate);
            }
        }
        found
    }

    /// Marks a block and all that follows as invalid and moves to the best chain that is left.
    /// `None`: no such block, or the genesis block.
    pub(crate) fn invalidate(&mut self, hash: BlockHash) -> Option<Activation> {
        let entry = self.blocks.get(&hash)?;
        if entry.height == 0 {
            return None;
        }
        let (height, on_main) = (entry.height, self.is_main(&hash));
        let mut left: Vec<Vec<Arc<Transaction>>> = Vec::new();
        if on_main {
            while self.height() >= height {
                left.push(self.disconnect_tip());
            }
        }
        self.mark_invalid(hash);
        let mut activation = self.activate_best();
        activation.disconnected += left.len();
        let mut returned: Vec<Arc<Transaction>> = std::mem::take(&mut activation.returned);
        returned.extend(left.into_iter().rev().flatten());
        activation.returned = returned;
        Some(activation)
    }

    /// Takes the invalid mark from a block, its ancestors and its descendants.
    pub(crate) fn reconsider(&mut self, hash: BlockHash) -> Option<Activation> {
        self.blocks.get(&hash)?;
        let mut cleared = self.descendants(hash);
        let mut ancestor = hash;
        while let Some(entry) = self.blocks.get(&ancestor) {
            cleared.insert(ancestor);
            ancestor = entry.block.header.prev_blockhash;
        }
        for hash in cleared {
            if let Some(entry) = self.blocks.get_mut(&hash) {
                entry.invalid = false;
            }
        }
        Some(self.activate_best())
    }

    /// Treats a block as if it had arrived before all others of equal work.
    pub(crate) fn precious(&mut self, hash: BlockHash) -> Option<Activation> {
        let tip_work = self.tip().work;
        let sequence = self.next_precious;
        let entry = self.blocks.get_mut(&hash)?;
        if entry.work >= tip_work {
            entry.sequence = sequence;
            self.next_precious -= 1;
        }
        Some(self.activate_best())
    }
}

/// Takes the outputs that `tx` spends out of the view.
fn spend(tx: &Transaction, view: &mut CoinsView<'_>) -> Result<Vec<Coin>, Rejection> {
    let mut coins = Vec::with_capacity(tx.input.len());
    for input in &tx.input {
        let Some(coin) = view.get(&input.previous_output).cloned() else {
            let detail = format!("CheckTxInputs: inputs missing/spent in transaction {}", tx.compute_txid());
            return Err(validate::missing_inputs().with_detail(detail));
        };
        view.spend(input.previous_output);
        coins.push(coin);
    }
    Ok(coins)
}

/// Signature operation cost of a transaction that spends `coins`.
pub(crate) fn sigop_cost(tx: &Transaction, coins: &[Coin]) -> usize {
    let spent: HashMap<OutPoint, &Coin> = tx.input.iter().map(|input| input.previous_output).zip(coins).collect();
    tx.total_sigop_cost(|outpoint| spent.get(outpoint).map(|coin| coin.output.clone()))
}
