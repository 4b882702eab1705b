//! The set as many tasks share it: one change at a time, readers beside each other, subscribers woken by numbers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Block, OutPoint, Transaction, TxOut, Txid};
use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::watch;

use crate::{BlockEffect, Inserted, Limits, Origin, Pool, Refused};

/// Answers what an output of a confirmed transaction is.
pub type Confirmed = Arc<dyn Fn(&OutPoint) -> Option<TxOut> + Send + Sync>;

/// An admin told of something that is not taken in.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The bytes are no transaction.
    #[error("the bytes are no transaction: {0}")]
    Undecodable(String),
    /// The transaction is not taken in.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The live set of this process.
pub struct Mempool {
    pool: RwLock<Pool>,
    newest: watch::Sender<u64>,
    instance: String,
    subscribers: AtomicUsize,
    filled: AtomicBool,
    confirmed: Confirmed,
}

impl Mempool {
    /// An empty set. `instance` names this process: numbers of another process mean nothing here.
    pub fn new(limits: Limits, instance: u32, confirmed: Confirmed) -> Arc<Self> {
        Arc::new(Self {
            pool: RwLock::new(Pool::new(limits)),
            newest: watch::Sender::new(0),
            instance: format!("{instance:08x}"),
            subscribers: AtomicUsize::new(0),
            filled: AtomicBool::new(false),
            confirmed,
        })
    }

    /// Name of this process, 8 hexadecimal digits.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Reads of one moment; nothing changes meanwhile, so it should be short.
    pub fn read<T>(&self, read: impl FnOnce(&Pool) -> T) -> T {
        read(&self.pool.read())
    }

    /// A subscription; the set counts them.
    pub fn subscribe(self: &Arc<Self>) -> Subscription {
        self.subscribers.fetch_add(1, Ordering::Relaxed);
        Subscription { mempool: Arc::clone(self), newest: self.newest.subscribe() }
    }

    /// Whether it has been compared with the node's whole mempool once; before that much may be missing.
    pub fn is_filled(&self) -> bool {
        self.filled.load(Ordering::Acquire)
    }

    /// Notes that it has been compared with the node's whole mempool.
    pub fn set_filled(&self) {
        self.filled.store(true, Ordering::Release);
    }

    /// Subscriptions that are open.
    pub fn subscribers(&self) -> usize {
        self.subscribers.load(Ordering::Relaxed)
    }

    /// Takes in a transaction that an admin saw elsewhere, at `now` in milliseconds. It goes to no node.
    ///
    /// # Errors
    /// The bytes are no transaction, or it is not taken in.
    pub fn observe(&self, raw: Bytes, now: u64) -> Result<Inserted, ObserveError> {
        let transaction: Transaction =
            deserialize(&raw).map_err(|error| ObserveError::Undecodable(error.to_string()))?;
        Ok(self.insert(&transaction, raw, Origin::Edge, now)?)
    }

    /// Takes in a transaction.
    ///
    /// # Errors
    /// See [`Pool::insert`].
    pub fn insert(&self, transaction: &Transaction, raw: Bytes, origin: Origin, now: u64) -> Result<Inserted, Refused> {
        // The index is asked before anybody has to wait.
        let known = self.known(transaction);
        self.change(|pool| pool.insert(transaction, raw, origin, now, &|outpoint| known.get(outpoint).cloned()))
    }

    /// See [`Pool::confirm_relayed`].
    pub fn confirm_relayed(&self, txid: &Txid) {
        self.change(|pool| pool.confirm_relayed(txid));
    }

    /// See [`Pool::connect_block`].
    pub fn connect_block(&self, height: u32, block: &Block) -> BlockEffect {
        self.change(|pool| pool.connect_block(height, block))
    }

    /// See [`Pool::disconnect_block`].
    pub fn disconnect_block(&self, block: &Block, now: u64) {
        let mut known = HashMap::new();
        for transaction in block.txdata.iter().skip(1) {
            known.extend(self.known(transaction));
        }
        self.change(|pool| pool.disconnect_block(block, now, &|outpoint| known.get(outpoint).cloned()));
    }

    /// See [`Pool::sweep`].
    pub fn sweep(&self, now: u64) {
        self.change(|pool| pool.sweep(now));
    }

    /// See [`Pool::drop_unknown`].
    pub fn drop_unknown(&self, txids: &[Txid]) {
        self.change(|pool| txids.iter().for_each(|txid| pool.drop_unknown(*txid)));
    }

    /// See [`Pool::resolve`].
    pub fn resolve(&self, limit: usize) -> usize {
        self.change(|pool| pool.resolve(limit, &*self.confirmed))
    }

    fn known(&self, transaction: &Transaction) -> HashMap<OutPoint, TxOut> {
        let outpoints = transaction.input.iter().map(|input| input.previous_output);
        outpoints.filter_map(|outpoint| Some((outpoint, (self.confirmed)(&outpoint)?))).collect()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Pool) -> T) -> T {
        let (answer, newest) = {
            let mut pool = self.pool.write();
            let answer = change(&mut pool);
            (answer, pool.ring().newest())
        };
        self.newest.send_if_modified(|told| {
            let is_new = *told < newest;
            *told = (*told).max(newest);
            is_new
        });
        answer
    }
}

/// Wakes its holder when there are changes.
pub struct Subscription {
    mempool: Arc<Mempool>,
    newest: watch::Receiver<u64>,
}

impl Subscription {
    /// Waits until there is a change with a number above `since`; may be dropped and called again.
    pub async fn changed(&mut self, since: u64) {
        // The sender lives in the set, which this holds.
        let _ = self.newest.wait_for(|newest| *newest > since).await;
    }

    /// The set.
    pub fn mempool(&self) -> &Arc<Mempool> {
        &self.mempool
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.mempool.subscribers.fetch_sub(1, Ordering::Relaxed);
    }
}
