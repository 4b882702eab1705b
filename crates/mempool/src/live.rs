//! The set shared by tasks: exclusive changes, concurrent readers, subscribers woken by sequence numbers.

use std::collections::HashMap;
use std::sync::Arc;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Block, OutPoint, Transaction, TxOut, Txid};
use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::watch;

use crate::agreement::Agreement;
use crate::figures::Figures;
use crate::subscription::{Subscribers, Subscription};
use crate::{BlockEffect, Inserted, Limits, Origin, Refused, TouchedScripts, TransactionSet};

/// Looks up an output of a confirmed transaction.
pub type Confirmed = Arc<dyn Fn(&OutPoint) -> Option<TxOut> + Send + Sync>;

/// A transaction that an admin submitted is refused.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The bytes are no transaction.
    #[error("the bytes are no transaction: {0}")]
    Undecodable(String),
    /// The transaction is refused.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The live set of this process.
pub struct Mempool {
    pool: RwLock<TransactionSet>,
    newest: watch::Sender<u64>,
    instance: String,
    subscribers: Subscribers,
    agreement: Agreement,
    figures: Figures,
    confirmed: Confirmed,
}

impl Mempool {
    /// An empty set. `instance` names this process: sequence numbers of another process are not valid here.
    pub fn new(limits: Limits, instance: u32, confirmed: Confirmed) -> Arc<Self> {
        Arc::new(Self {
            pool: RwLock::new(TransactionSet::new(limits)),
            newest: watch::Sender::new(0),
            instance: format!("{instance:08x}"),
            subscribers: Subscribers::default(),
            agreement: Agreement::default(),
            figures: Figures::default(),
            confirmed,
        })
    }

    /// Name of this process, 8 hexadecimal digits.
    pub fn instance(&self) -> &str {
        &self.instance
    }

    /// Reads under a lock that blocks changes, so it should be short.
    pub fn read<T>(&self, read: impl FnOnce(&TransactionSet) -> T) -> T {
        read(&self.pool.read())
    }

    /// A subscription; the set counts them.
    pub fn subscribe(self: &Arc<Self>) -> Subscription {
        Subscription::new(Arc::clone(self), self.newest.subscribe())
    }

    /// The subscribers.
    pub fn subscribers(&self) -> &Subscribers {
        &self.subscribers
    }

    /// State of the set relative to the node.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// Counters since the start, for operators.
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Adds a transaction that an admin saw elsewhere, at `now` in milliseconds. It is not sent to a node.
    ///
    /// # Errors
    /// The bytes are no transaction, or it is refused.
    pub fn observe(&self, raw: Bytes, now: u64) -> Result<Inserted, ObserveError> {
        let transaction: Transaction =
            deserialize(&raw).map_err(|error| ObserveError::Undecodable(error.to_string()))?;
        Ok(self.insert(&transaction, raw, Origin::Edge, now)?)
    }

    /// Adds a transaction.
    ///
    /// # Errors
    /// See [`TransactionSet::insert`].
    pub fn insert(&self, transaction: &Transaction, raw: Bytes, origin: Origin, now: u64) -> Result<Inserted, Refused> {
        // The index is read before the lock is taken, so that no other caller waits for it.
        let known = self.known(transaction);
        let inserted =
            self.change(|pool| pool.insert(transaction, raw, origin, now, &|outpoint| known.get(outpoint).cloned()));
        if inserted.is_err() {
            self.figures.add_refused();
        }
        inserted
    }

    /// See [`TransactionSet::confirm_relayed`].
    pub fn confirm_relayed(&self, txid: &Txid) {
        self.change(|pool| pool.confirm_relayed(txid));
    }

    /// See [`TransactionSet::connect_block`].
    pub fn connect_block(&self, height: u32, block: &Block) -> BlockEffect {
        self.change(|pool| pool.connect_block(height, block))
    }

    /// See [`TransactionSet::disconnect_block`].
    pub fn disconnect_block(&self, block: &Block, now: u64) {
        let mut known = HashMap::new();
        for transaction in block.txdata.iter().skip(1) {
            known.extend(self.known(transaction));
        }
        self.change(|pool| pool.disconnect_block(block, now, &|outpoint| known.get(outpoint).cloned()));
    }

    /// See [`TransactionSet::sweep`].
    pub fn sweep(&self, now: u64) {
        self.change(|pool| pool.sweep(now));
    }

    /// See [`TransactionSet::drop_unknown`].
    pub fn drop_unknown(&self, txids: &[Txid]) {
        self.change(|pool| txids.iter().for_each(|txid| pool.drop_unknown(*txid)));
    }

    /// See [`TransactionSet::take_touched`].
    pub fn take_touched(&self) -> TouchedScripts {
        self.pool.write().take_touched()
    }

    /// See [`TransactionSet::resolve`].
    pub fn resolve(&self, limit: usize) -> usize {
        self.change(|pool| pool.resolve(limit, &*self.confirmed))
    }

    fn known(&self, transaction: &Transaction) -> HashMap<OutPoint, TxOut> {
        let outpoints = transaction.input.iter().map(|input| input.previous_output);
        outpoints.filter_map(|outpoint| Some((outpoint, (self.confirmed)(&outpoint)?))).collect()
    }

    fn change<T>(&self, change: impl FnOnce(&mut TransactionSet) -> T) -> T {
        let (answer, newest) = {
            let mut pool = self.pool.write();
            let answer = change(&mut pool);
            (answer, pool.ring().newest())
        };
        self.newest.send_if_modified(|number| {
            let is_new = *number < newest;
            *number = (*number).max(newest);
            is_new
        });
        answer
    }
}
