//! Where this instance takes the bitcoin price from.

mod pool_index;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use paraffin_cryptoswap::PoolRules;
use paraffin_prices::{BitcoinPrices, Clock, EvmAddress, PriceFeed, PricesConfig, PricesError};
use paraffin_primitives::AlkaneId;
use paraffin_store::Store;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::hosted::EngineSetting;
use pool_index::PoolIndexPrices;

/// `[prices]`: the bitcoin price in US dollars.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PricesSection {
    /// JSON-RPC endpoint of an EVM chain; without one there are no prices in US dollars.
    pub evm_url: Option<String>,
    /// The chain that the endpoint must serve.
    pub chain_id: u64,
    /// The pool that trades the two tokens.
    pub pool: EvmAddress,
    /// The pool's token that stands for bitcoin.
    pub bitcoin_token: EvmAddress,
    /// The pool's token that stands for the US dollar.
    pub usd_token: EvmAddress,
    /// Blocks between the newest block of the endpoint and the one that is read.
    pub confirmations: u64,
    /// Seconds between two readings.
    pub poll_seconds: u64,
    /// Longest time for one answer of the endpoint, seconds.
    pub answer_seconds_max: u64,
    /// Span of the time-weighted mean, seconds; 0 takes the price of the moment.
    pub mean_seconds: u32,
    /// Greatest distance of the price of the moment from the mean, percent.
    pub spread_percent_max: u32,
    /// Greatest distance of a price from the one before while that is younger than an hour, percent.
    pub jump_percent_max: u32,
    /// Age from which on a price is reported as stale, seconds.
    pub stale_seconds: u64,
    /// Seconds between two points of the history.
    pub point_seconds: u64,
    /// Age from which on the history has one point an hour, days.
    pub thin_days: u32,
    /// How far back the endpoint is asked for what the history lacks, days; 0 for not at all.
    pub backfill_days: u32,
    /// Calls a second for that; 0 for no limit.
    pub backfill_calls_per_second: u32,
}

/// Shows everything but the URL, which may hold a key.
impl std::fmt::Debug for PricesSection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_given = self.evm_url.is_some();
        formatter
            .debug_struct("PricesSection")
            .field("evm_url", &is_given)
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}

impl Default for PricesSection {
    fn default() -> Self {
        let PricesConfig {
            url: _,
            chain_id,
            pool,
            bitcoin_token,
            usd_token,
            confirmations,
            poll,
            timeout,
            mean_seconds,
            spread_percent_max,
            jump_percent_max,
            stale_seconds,
            point_seconds,
            thin_days,
            backfill_days,
            backfill_calls_per_second,
        } = PricesConfig::wbtc_usdc("");
        Self {
            evm_url: None,
            chain_id,
            pool,
            bitcoin_token,
            usd_token,
            confirmations,
            poll_seconds: poll.as_secs(),
            answer_seconds_max: timeout.as_secs(),
            mean_seconds,
            spread_percent_max,
            jump_percent_max,
            stale_seconds,
            point_seconds,
            thin_days,
            backfill_days,
            backfill_calls_per_second,
        }
    }
}

impl PricesSection {
    /// The prices of the development network's own endpoint, read often and with their whole past at once, so that every block of
    /// the chain has a price.
    pub(crate) fn of_devnet(url: String) -> Self {
        Self {
            evm_url: Some(url),
            poll_seconds: 5,
            backfill_days: 3_650,
            backfill_calls_per_second: 0,
            ..Self::default()
        }
    }

    fn feed(&self) -> Option<PricesConfig> {
        Some(PricesConfig {
            url: self.evm_url.clone()?,
            chain_id: self.chain_id,
            pool: self.pool,
            bitcoin_token: self.bitcoin_token,
            usd_token: self.usd_token,
            confirmations: self.confirmations,
            poll: Duration::from_secs(self.poll_seconds),
            timeout: Duration::from_secs(self.answer_seconds_max),
            mean_seconds: self.mean_seconds,
            spread_percent_max: self.spread_percent_max,
            jump_percent_max: self.jump_percent_max,
            stale_seconds: self.stale_seconds,
            point_seconds: self.point_seconds,
            thin_days: self.thin_days,
            backfill_days: self.backfill_days,
            backfill_calls_per_second: self.backfill_calls_per_second,
        })
    }
}

/// Folder of the history in a data folder.
pub(crate) const FOLDER: &str = "prices";

/// Seconds since the Unix epoch, for code that takes the time as an argument.
pub(crate) fn clock() -> Clock {
    use std::time::{SystemTime, UNIX_EPOCH};
    // A clock before 1970 counts as 1970.
    Arc::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Begins to read prices where an endpoint is configured; the history is stored in the data folder. The feed is stopped by
/// [`PriceFeed::stop`].
///
/// # Errors
/// A setting is out of range, or the history cannot be used.
pub(crate) fn start(section: &PricesSection, data_dir: &Path) -> Result<Option<PriceFeed>, PricesError> {
    let Some(config) = section.feed() else {
        tracing::info!(
            "[prices] evm_url names no EVM endpoint: prices in US dollars are those of the pool index, if any"
        );
        return Ok(None);
    };
    PriceFeed::start(config, &data_dir.join(FOLDER), clock()).map(Some)
}

/// The prices that answers are made with: those of the feed, else those of the first main pool of the index that trades `bitcoin`, where
/// pools are indexed (docs/configuration.md, `[prices]`).
pub(crate) fn source(
    config: &Config,
    feed: Option<&PriceFeed>,
    store: &Store,
    pools: Option<&PoolRules>,
    bitcoin: AlkaneId,
) -> Option<Arc<dyn BitcoinPrices>> {
    if let Some(feed) = feed {
        return Some(feed.prices());
    }
    let pool = pools?.canonical.iter().find(|pool| pool.coins.contains(&bitcoin))?.id;
    let (store, stale_seconds, clock) = (store.clone(), config.prices.stale_seconds, clock());
    let program_serves = config.alkanes.engine == EngineSetting::Hosted;
    Some(Arc::new(PoolIndexPrices { store, pool, bitcoin, program_serves, stale_seconds, clock }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_not_shown_and_its_absence_means_no_prices() {
        assert!(PricesSection::default().feed().is_none());
        let section = PricesSection { evm_url: Some("https://host/secret".to_owned()), ..PricesSection::default() };
        assert!(!format!("{section:?}").contains("secret"));
        let feed = section.feed().unwrap();
        let default = PricesConfig::wbtc_usdc("https://host/secret");
        assert_eq!(
            (feed.url, feed.pool, feed.poll, feed.timeout),
            (default.url, default.pool, default.poll, default.timeout)
        );
        assert_eq!(feed.backfill_calls_per_second, default.backfill_calls_per_second);
    }

    #[tokio::test]
    async fn a_setting_out_of_range_stops_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let bad = PricesSection { poll_seconds: 0, ..PricesSection::of_devnet("http://127.0.0.1:1".to_owned()) };
        let error = start(&bad, folder.path()).err().unwrap().to_string();
        assert!(error.contains("[prices] poll_seconds"), "{error}");
        assert!(start(&PricesSection::default(), folder.path()).unwrap().is_none());
    }
}
