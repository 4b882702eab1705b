//! Counters since the start, for operators.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Reasons of `reset` frames, after which a client of the stream has to start over.
pub const RESETS: [&str; 6] =
    ["too_old", "lagged", "unknown_instance", "unknown_op", "unknown_channel", "malformed_message"];

/// Counts that are not part of the set itself.
#[derive(Debug, Default)]
pub struct Figures {
    frames_sent: AtomicU64,
    resets: [AtomicU64; RESETS.len()],
    connections: AtomicUsize,
    connections_made: AtomicU64,
    comparisons: AtomicU64,
    comparisons_failed: AtomicU64,
    fetched: AtomicU64,
    refused: AtomicU64,
}

impl Figures {
    /// Counts frames that were sent to one subscriber.
    pub fn add_frames_sent(&self, count: u64) {
        self.frames_sent.fetch_add(count, Ordering::Relaxed);
    }

    /// Frames that were sent to subscribers, counted for each of them.
    pub fn frames_sent(&self) -> u64 {
        self.frames_sent.load(Ordering::Relaxed)
    }

    /// Counts a reset; a reason that is none of [`RESETS`] is ignored.
    pub fn add_reset(&self, reason: &str) {
        if let Some(index) = RESETS.iter().position(|other| *other == reason) {
            self.resets[index].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Resets by reason.
    pub fn resets(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RESETS.iter().zip(&self.resets).map(|(reason, count)| (*reason, count.load(Ordering::Relaxed)))
    }

    /// A connection to a peer, counted until it is dropped.
    pub(crate) fn connection(&self) -> Connection<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        self.connections_made.fetch_add(1, Ordering::Relaxed);
        Connection(self)
    }

    /// Peers that announce transactions now.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Connections to peers that were made.
    pub fn connections_made(&self) -> u64 {
        self.connections_made.load(Ordering::Relaxed)
    }

    pub(crate) fn add_comparison(&self, is_made: bool) {
        let count = if is_made { &self.comparisons } else { &self.comparisons_failed };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Comparisons with the node's list, made and failed.
    pub fn comparisons(&self) -> (u64, u64) {
        (self.comparisons.load(Ordering::Relaxed), self.comparisons_failed.load(Ordering::Relaxed))
    }

    pub(crate) fn add_fetched(&self, count: u64) {
        self.fetched.fetch_add(count, Ordering::Relaxed);
    }

    /// Transactions that the node's list had and peers had not announced.
    pub fn fetched(&self) -> u64 {
        self.fetched.load(Ordering::Relaxed)
    }

    pub(crate) fn add_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Transactions that were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// An open connection to a peer.
pub(crate) struct Connection<'f>(&'f Figures);

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
