//! Subscribers of the set, and the position of each.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::Mempool;

/// Position of a paused subscriber.
const ASIDE: u64 = u64::MAX;

/// All open subscriptions.
#[derive(Default)]
pub struct Subscribers(Mutex<Positions>);

#[derive(Default)]
struct Positions {
    next: u64,
    open: HashMap<u64, Arc<AtomicU64>>,
}

impl Subscribers {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.0.lock().open.len()
    }

    /// Changes that the slowest active subscriber has yet to receive, when `newest` is the newest one.
    pub fn lag(&self, newest: u64) -> u64 {
        let positions = self.0.lock();
        let numbers = positions.open.values().map(|position| position.load(Ordering::Relaxed));
        numbers.filter(|position| *position != ASIDE).map(|position| newest.saturating_sub(position)).max().unwrap_or(0)
    }

    fn enter(&self) -> (u64, Arc<AtomicU64>) {
        let mut positions = self.0.lock();
        let number = positions.next;
        positions.next += 1;
        let position = Arc::new(AtomicU64::new(ASIDE));
        positions.open.insert(number, Arc::clone(&position));
        (number, position)
    }

    fn leave(&self, number: u64) {
        self.0.lock().open.remove(&number);
    }
}

/// Wakes its holder when there are changes.
pub struct Subscription {
    mempool: Arc<Mempool>,
    newest: watch::Receiver<u64>,
    number: u64,
    position: Arc<AtomicU64>,
}

impl Subscription {
    pub(crate) fn new(mempool: Arc<Mempool>, newest: watch::Receiver<u64>) -> Self {
        let (number, position) = mempool.subscribers().enter();
        Self { mempool, newest, number, position }
    }

    /// Waits until there is a change with a number above `since`; may be dropped and called again.
    pub async fn changed(&mut self, since: u64) {
        // The sender lives in the set, which this holds.
        let _ = self.newest.wait_for(|newest| *newest > since).await;
    }

    /// Sets the number of the last change that was sent; `None` pauses the subscriber.
    pub fn has_heard(&self, position: Option<u64>) {
        self.position.store(position.unwrap_or(ASIDE), Ordering::Relaxed);
    }

    /// The set.
    pub fn mempool(&self) -> &Arc<Mempool> {
        &self.mempool
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.mempool.subscribers().leave(self.number);
    }
}
