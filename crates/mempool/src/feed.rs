//! Synchronization of the set with the node: announcements of peers, the node's own list, and the indexed blocks.

mod blocks;
mod fill;
mod peers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use paraffin_chain::NodeClient;
use paraffin_store::Store;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Mempool;

/// Milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Options of a feed.
#[derive(Clone)]
pub struct FeedOptions {
    /// Nodes that announce transactions by the peer-to-peer protocol; without one the node's list alone is followed.
    pub peers: Vec<SocketAddr>,
    /// Name and release that are announced to them.
    pub user_agent: String,
    /// Longest time between two polls of the node's list of its mempool; a small one is polled once a second.
    pub list_every: Duration,
    /// Time between two polls of the index.
    pub blocks_every: Duration,
    /// Time between two sweeps of expired transactions.
    pub sweep_every: Duration,
    /// Time now.
    pub clock: Clock,
}

impl FeedOptions {
    /// The usual periods.
    pub fn new(peers: Vec<SocketAddr>, clock: Clock) -> Self {
        Self {
            peers,
            user_agent: concat!("/paraffin:", env!("CARGO_PKG_VERSION"), "/").to_owned(),
            list_every: Duration::from_secs(15),
            blocks_every: Duration::from_millis(200),
            sweep_every: Duration::from_secs(5),
            clock,
        }
    }
}

/// Shared state of the tasks of a feed.
#[derive(Clone)]
struct Feed {
    mempool: Arc<Mempool>,
    client: NodeClient,
    store: Store,
    options: FeedOptions,
}

/// Feeds the set until `stop` holds `true`.
pub fn feed(
    mempool: Arc<Mempool>,
    client: NodeClient,
    store: Store,
    options: FeedOptions,
    mut stop: watch::Receiver<bool>,
) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let feed = Feed { mempool, client, store, options };
        feed.mempool.agreement().set_fed(true);
        let mut tasks = JoinSet::new();
        tasks.spawn(blocks::follow(feed.clone()));
        tasks.spawn(fill::follow(feed.clone()));
        for address in &feed.options.peers {
            tasks.spawn(peers::follow(feed.clone(), *address));
        }
        let mempool = Arc::clone(&feed.mempool);
        tasks.spawn(sweep(feed));
        // The sender may be gone already; then it is over as well.
        let _ = stop.wait_for(|stop| *stop).await;
        mempool.agreement().set_fed(false);
        tasks.shutdown().await;
    })
}

async fn sweep(feed: Feed) {
    /// Transactions whose inputs are looked up again at once.
    const RESOLVED_MAX: usize = 2_000;
    let mut every = tokio::time::interval(feed.options.sweep_every);
    loop {
        every.tick().await;
        let feed = feed.clone();
        let swept = tokio::task::spawn_blocking(move || {
            feed.mempool.sweep((feed.options.clock)());
            feed.mempool.resolve(RESOLVED_MAX)
        });
        // It fails only when the process stops.
        let _ = swept.await;
    }
}
