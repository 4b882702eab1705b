//! Orders of the devnet's accounts: some in every state from the beginning, and as time goes by where the chain moves too.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paraffin_devnet::Devnet;
use paraffin_orderbook::Orderbook;
use paraffin_orderbook::sample::Sample;
use paraffin_primitives::Network;
use tokio::task::JoinHandle;

/// Time between two events.
const EVERY: Duration = Duration::from_secs(2);

/// The makers at work.
pub(crate) struct Orders {
    task: Option<JoinHandle<()>>,
    /// `source`, `id` and market of an order that stays active.
    pub(crate) example: Option<(String, String, String)>,
}

impl Orders {
    /// Sends the opening orders to the book; goes on sending where `goes_on`.
    pub(crate) async fn start(orderbook: Option<Arc<Orderbook>>, devnet: &Devnet, seed: u64, goes_on: bool) -> Self {
        let Some(orderbook) = orderbook else { return Self { task: None, example: None } };
        let makers = devnet.accounts().into_iter().map(|account| account.address.to_string()).collect();
        let mut sample = Sample::new(seed, Network::Regtest.name(), makers);
        let opening = sample.opening();
        if let Err(error) = orderbook.ingest(opening.into(), now()).await {
            tracing::warn!(%error, "the orders of development were not taken in");
        }
        let example = sample.example();
        let task = goes_on.then(|| tokio::spawn(go_on(orderbook, sample)));
        Self { task, example }
    }

    /// Ends the work.
    pub(crate) fn stop(self) {
        if let Some(task) = self.task {
            task.abort();
        }
    }
}

async fn go_on(orderbook: Arc<Orderbook>, mut sample: Sample) {
    loop {
        tokio::time::sleep(EVERY).await;
        let now = now();
        if let Err(error) = orderbook.ingest(sample.step(now).to_string().into(), now).await {
            tracing::debug!(%error, "an event of development was not taken in");
        }
    }
}

/// Unix time, microseconds.
fn now() -> u64 {
    // A clock before 1970 counts as 1970.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
