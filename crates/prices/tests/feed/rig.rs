//! A feed with its folder, its clock and its endpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_prices::{BitcoinPrices, Clock, PriceFeed, PriceReport, PricesConfig, SourceError};

use crate::endpoint::{Endpoint, World};

pub(crate) const NOW: u64 = 1_795_000_000;
/// Longest wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Rig {
    pub(crate) endpoint: Endpoint,
    pub(crate) folder: tempfile::TempDir,
    clock: Arc<AtomicU64>,
    pub(crate) config: PricesConfig,
}

impl Rig {
    /// Over a world whose time is `NOW`.
    pub(crate) async fn new(change: impl FnOnce(&mut World)) -> Self {
        let mut world = World::new(NOW);
        change(&mut world);
        let endpoint = Endpoint::start(world).await;
        let config = PricesConfig {
            poll: Duration::from_millis(100),
            timeout: Duration::from_millis(500),
            backfill_days: 0,
            ..PricesConfig::wbtc_usdc(endpoint.url())
        };
        Self { endpoint, folder: tempfile::tempdir().unwrap(), clock: Arc::new(AtomicU64::new(NOW)), config }
    }

    pub(crate) fn clock(&self) -> Clock {
        let clock = Arc::clone(&self.clock);
        Arc::new(move || clock.load(Ordering::Relaxed))
    }

    /// Lets clock and chain go on.
    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
        self.endpoint.change(|world| world.head += seconds / 12);
    }

    /// Lets the clock go on while the chain stands still.
    pub(crate) fn pass_alone(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) fn start(&self) -> PriceFeed {
        PriceFeed::start(self.config.clone(), &self.folder.path().join("prices"), self.clock()).unwrap()
    }
}

/// Waits until `look` returns a value.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn first_price(feed: &PriceFeed) -> PriceReport {
    let prices = feed.prices();
    until("a price", || prices.current()).await
}

/// Waits until a reading fails.
pub(crate) async fn failure(feed: &PriceFeed) -> SourceError {
    until("a failure", || feed.failure()).await
}

/// Waits for a price of about so many dollars.
pub(crate) async fn price_of(prices: &Arc<dyn BitcoinPrices>, dollars: f64) -> PriceReport {
    until("the price", || {
        prices.current().filter(|report| (report.newest.price.to_f64() / dollars - 1.0).abs() < 0.000_2)
    })
    .await
}
