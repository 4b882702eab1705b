//! Announcements of one peer.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use bitcoin::p2p::ServiceFlags;
use bitcoin::p2p::message_blockdata::Inventory;
use bytes::Bytes;
use paraffin_chain::p2p::{Peer, PeerError, PeerEvent, PeerOptions};

use super::Feed;
use crate::Origin;

/// Longest time for the handshake and for each answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pauses between two attempts to connect, from the first to the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));
/// Remembered announcements, so that none is requested twice; beyond it the older half is dropped.
const SEEN_MAX: usize = 100_000;
/// Transactions requested in one message.
const REQUEST_MAX: usize = 1_000;

/// Receives announcements of a peer, and reconnects whenever the connection ends.
pub(super) async fn follow(feed: Feed, address: SocketAddr) {
    let mut pause = PAUSE.0;
    loop {
        let began = tokio::time::Instant::now();
        match listen(&feed, address).await {
            Ok(()) => {}
            Err(error) => tracing::debug!(%address, %error, "the peer was lost"),
        }
        // A connection that lasted begins the pauses anew.
        pause = if began.elapsed() > PAUSE.1 { PAUSE.0 } else { (pause * 2).min(PAUSE.1) };
        tokio::time::sleep(pause).await;
    }
}

/// Announcements of the newest minutes, in two halves.
#[derive(Default)]
struct Seen {
    newer: HashSet<Inventory>,
    older: HashSet<Inventory>,
}

impl Seen {
    /// Whether it is new.
    fn note(&mut self, inventory: Inventory) -> bool {
        if self.older.contains(&inventory) || !self.newer.insert(inventory) {
            return false;
        }
        if self.newer.len() > SEEN_MAX / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
        true
    }
}

async fn listen(feed: &Feed, address: SocketAddr) -> Result<(), PeerError> {
    let tip = feed.store.snapshot().tip().map_or(0, |record| record.id.height);
    let options = PeerOptions {
        network: feed.client.network(),
        timeout: TIMEOUT,
        user_agent: feed.options.user_agent.clone(),
        start_height: i32::try_from(tip).unwrap_or(i32::MAX),
        relay: true,
        unix_time: i64::try_from((feed.options.clock)() / 1_000).unwrap_or(i64::MAX),
    };
    let (peer, mut events) = Peer::connect(address, options).await?;
    let _connection = feed.mempool.figures().connection();
    tracing::info!(%address, agent = peer.info().user_agent, "a peer announces transactions and blocks");
    // Other peers disconnect on it; their transactions come by the node's list.
    if peer.info().services.has(ServiceFlags::BLOOM) {
        peer.request_mempool().await?;
    }
    let mut seen = Seen::default();
    while let Some(event) = events.recv().await {
        match event {
            PeerEvent::Inventory(announced) => {
                if announced.iter().any(|one| matches!(one, Inventory::Block(_))) {
                    feed.client.announce_block();
                }
                let wanted: Vec<Inventory> =
                    announced.into_iter().filter_map(|one| wanted(feed, one)).filter(|one| seen.note(*one)).collect();
                for part in wanted.chunks(REQUEST_MAX) {
                    peer.request(part.to_vec()).await?;
                }
            }
            PeerEvent::Transaction(transaction) => {
                let feed = feed.clone();
                let taken = tokio::task::spawn_blocking(move || {
                    let raw = Bytes::from(bitcoin::consensus::serialize(&*transaction));
                    let taken = feed.mempool.insert(&transaction, raw, Origin::P2p, (feed.options.clock)());
                    if let Err(error) = taken {
                        tracing::debug!(%error, "a peer's transaction was not taken in");
                    }
                });
                // It fails only when the process stops.
                let _ = taken.await;
            }
            PeerEvent::Closed(error) => return Err(error),
            PeerEvent::Headers(_) => feed.client.announce_block(),
            PeerEvent::Block(_) | PeerEvent::NotFound(_) | PeerEvent::FeeFilter(_) => {}
        }
    }
    Ok(())
}

/// The request for an announced transaction; `None` for one that is in the set, which is marked as relayed, and for blocks.
fn wanted(feed: &Feed, announced: Inventory) -> Option<Inventory> {
    match announced {
        Inventory::WTx(_) => Some(announced),
        Inventory::Transaction(txid) | Inventory::WitnessTransaction(txid) => {
            if feed.mempool.read(|pool| pool.contains(&txid)) {
                feed.mempool.confirm_relayed(&txid);
                None
            } else {
                Some(Inventory::WitnessTransaction(txid))
            }
        }
        _ => None,
    }
}
