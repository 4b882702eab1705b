//! The live set of unconfirmed transactions, fed from the node.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use paraffin_bitcoin_index::BitcoinIndex;
use paraffin_chain::NodeClient;
use paraffin_mempool::{Clock, Confirmed, FeedOptions, Limits, Mempool, feed};
use paraffin_primitives::Network;
use paraffin_store::Store;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// `[mempool]`: the live set. It listens to `[node] p2p` first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MempoolSection {
    /// Whether there is one. Without it the mempool surface is not served, and Esplora's answers come from the node.
    pub enabled: bool,
    /// Whether Esplora's answers about unconfirmed transactions come from the set; the node is then asked only while the two do
    /// not agree.
    pub esplora: bool,
    /// Further nodes to listen to, which may announce a transaction earlier. A transaction that the own node does not accept is soon removed.
    pub peers: Vec<SocketAddr>,
    /// Megabytes of raw transactions; beyond it those with the lowest fee rate are evicted.
    pub size_mb: usize,
    /// Hours after which a transaction is removed.
    pub expiry_hours: u64,
    /// Minutes after which a transaction that only an admin announced is removed.
    pub provisional_minutes: u64,
    /// Changes kept for clients of the stream that come back.
    pub replay_events: usize,
    /// Megabytes of those changes.
    pub replay_mb: usize,
}

impl Default for MempoolSection {
    fn default() -> Self {
        let Limits { raw_bytes_max, ring_frames_max, ring_bytes_max, age_max, provisional_age_max, .. } =
            Limits::default();
        Self {
            enabled: true,
            esplora: true,
            peers: Vec::new(),
            size_mb: raw_bytes_max / 1_000_000,
            expiry_hours: age_max / 3_600_000,
            provisional_minutes: provisional_age_max / 60_000,
            replay_events: ring_frames_max,
            replay_mb: ring_bytes_max >> 20,
        }
    }
}

impl MempoolSection {
    fn limits(&self) -> Limits {
        Limits {
            raw_bytes_max: self.size_mb.saturating_mul(1_000_000),
            ring_frames_max: self.replay_events,
            ring_bytes_max: self.replay_mb << 20,
            age_max: self.expiry_hours.saturating_mul(3_600_000),
            provisional_age_max: self.provisional_minutes.saturating_mul(60_000),
            ..Limits::default()
        }
    }
}

/// The set with the task that feeds it.
pub(crate) struct LiveSet {
    mempool: Arc<Mempool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl LiveSet {
    /// Starts to follow the node; `None` where it is switched off.
    pub(crate) fn start(
        section: &MempoolSection,
        network: Network,
        store: &Store,
        client: &NodeClient,
    ) -> Option<Self> {
        if !section.enabled {
            return None;
        }
        let mempool = Mempool::new(section.limits(), instance(), confirmed(store.clone(), network));
        let mut peers: Vec<SocketAddr> = client.config().p2p.into_iter().collect();
        for peer in &section.peers {
            if !peers.contains(peer) {
                peers.push(*peer);
            }
        }
        let options = FeedOptions::new(peers, clock());
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(feed(Arc::clone(&mempool), client.clone(), store.clone(), options, stopped));
        Some(Self { mempool, stop, task })
    }

    /// The set.
    pub(crate) fn mempool(&self) -> &Arc<Mempool> {
        &self.mempool
    }

    /// Stops following.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// What the index knows of an output. A failed read is one that does not know: the fee is looked up again later.
fn confirmed(store: Store, network: Network) -> Confirmed {
    Arc::new(move |outpoint| {
        let index = BitcoinIndex::new(store.snapshot(), network);
        index.output(outpoint).inspect_err(|error| tracing::debug!(%error, "an output was not read")).ok().flatten()
    })
}

fn clock() -> Clock {
    Arc::new(|| {
        // A clock before 1970 counts as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Another number for each start of the process.
fn instance() -> u32 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u32::from_be_bytes(bytes),
        // Without a source of chance the time distinguishes starts.
        Err(_) => clock()() as u32,
    }
}
