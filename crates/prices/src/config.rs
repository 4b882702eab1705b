//! Settings of a price feed and what they default to.

use std::time::Duration;

use crate::activity::DAY;
use crate::address::EvmAddress;
use crate::endpoint::Endpoint;
use crate::error::PricesError;
use crate::pool::PoolRules;

/// Most points before they are thinned out.
const YOUNG_POINTS_MAX: u64 = 60_000;

/// Settings of a price feed.
#[derive(Clone)]
pub struct PricesConfig {
    /// `https://…` or `http://…` of the EVM endpoint; its path may hold a key, so it is never shown.
    pub url: String,
    /// The chain that the endpoint must serve.
    pub chain_id: u64,
    /// The pool that trades the two tokens.
    pub pool: EvmAddress,
    /// The token that stands for bitcoin.
    pub bitcoin_token: EvmAddress,
    /// The token that stands for the US dollar.
    pub usd_token: EvmAddress,
    /// Blocks between the newest block and the one that is read.
    pub confirmations: u64,
    /// Time between two readings.
    pub poll: Duration,
    /// Longest time for one answer.
    pub timeout: Duration,
    /// Span of the time-weighted mean, seconds; 0 uses the spot price.
    pub mean_seconds: u32,
    /// Greatest distance of the price of the moment from the mean, percent of the mean.
    pub spread_percent_max: u32,
    /// Greatest distance of a price from the one before while that is younger than an hour, percent.
    pub jump_percent_max: u32,
    /// Age from which on a price is reported as stale, seconds.
    pub stale_seconds: u64,
    /// Least time between two points of the history, seconds; at least 60.
    pub point_seconds: u64,
    /// Age from which on one point an hour stays in memory, days.
    pub thin_days: u32,
    /// How far back the history is filled in, days; 0 for none.
    pub backfill_days: u32,
    /// Calls a second while the past is filled in; 0 for no limit.
    pub backfill_calls_per_second: u32,
}

/// Shows everything but the URL.
impl std::fmt::Debug for PricesConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PricesConfig")
            .field("chain_id", &self.chain_id)
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}

impl PricesConfig {
    /// The default pool (WBTC and USDC on Ethereum, docs/configuration.md) behind an endpoint.
    pub fn wbtc_usdc(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            chain_id: 1,
            pool: EvmAddress(*b"\x99\xac\x8c\xa7\x08\x7f\xa4\xa2\xa1\xfb\x63\x57\x26\x99\x65\xa2\x01\x4a\xbc\x35"),
            bitcoin_token: EvmAddress(
                *b"\x22\x60\xfa\xc5\xe5\x54\x2a\x77\x3a\xa4\x4f\xbc\xfe\xdf\x7c\x19\x3b\xc2\xc5\x99",
            ),
            usd_token: EvmAddress(*b"\xa0\xb8\x69\x91\xc6\x21\x8b\x36\xc1\xd1\x9d\x4a\x2e\x9e\xb0\xce\x36\x06\xeb\x48"),
            confirmations: 2,
            poll: Duration::from_secs(60),
            timeout: Duration::from_secs(10),
            mean_seconds: 600,
            spread_percent_max: 5,
            jump_percent_max: 20,
            stale_seconds: 3_600,
            point_seconds: 600,
            thin_days: 30,
            backfill_days: 365,
            backfill_calls_per_second: 5,
        }
    }

    /// Checks ranges and returns the endpoint and the rules.
    pub(crate) fn checked(&self) -> Result<(Endpoint, PoolRules), PricesError> {
        let refuse = |message: &str| Err(PricesError::Setting(message.to_owned()));
        if self.bitcoin_token == self.usd_token {
            return refuse("bitcoin_token and usd_token must be two tokens");
        }
        if self.poll < Duration::from_millis(100) || self.poll > Duration::from_secs(DAY) {
            return refuse("poll_seconds must be from 1 to 86400");
        }
        if self.timeout.is_zero() || self.timeout > Duration::from_secs(600) {
            return refuse("answer_seconds_max must be from 1 to 600");
        }
        if u64::from(self.mean_seconds) > DAY {
            return refuse("mean_seconds must be at most 86400");
        }
        if !(1..=100).contains(&self.spread_percent_max) {
            return refuse("spread_percent_max must be from 1 to 100");
        }
        if !(1..=1_000).contains(&self.jump_percent_max) {
            return refuse("jump_percent_max must be from 1 to 1000");
        }
        if self.stale_seconds == 0 {
            return refuse("stale_seconds must be at least 1");
        }
        if !(60..=DAY).contains(&self.point_seconds) {
            return refuse("point_seconds must be from 60 to 86400");
        }
        if u64::from(self.thin_days) * DAY / self.point_seconds > YOUNG_POINTS_MAX {
            return refuse(
                "thin_days and point_seconds together keep more than 60,000 points: lower the one or raise the other",
            );
        }
        if self.backfill_days > 3_650 {
            return refuse("backfill_days must be at most 3650");
        }
        let endpoint = Endpoint::new(&self.url, self.timeout).map_err(PricesError::Setting)?;
        let rules = PoolRules {
            chain_id: self.chain_id,
            pool: self.pool,
            bitcoin_token: self.bitcoin_token,
            usd_token: self.usd_token,
            confirmations: self.confirmations,
            mean_seconds: self.mean_seconds,
            spread_percent_max: self.spread_percent_max,
        };
        Ok((endpoint, rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row RB12
    #[test]
    fn the_default_pool_is_that_of_wbtc_and_usdc() {
        let config = PricesConfig::wbtc_usdc("https://host.example/v3/secret");
        assert_eq!(config.pool.to_string(), "0x99ac8ca7087fa4a2a1fb6357269965a2014abc35");
        assert_eq!(config.bitcoin_token.to_string(), "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599");
        assert_eq!(config.usd_token.to_string(), "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
        assert!(config.checked().is_ok());
        assert!(!format!("{config:?}").contains("secret"));
    }

    #[test]
    fn a_setting_out_of_range_is_named() {
        type Change = fn(&mut PricesConfig);
        let changes: [(&str, Change); 11] = [
            ("usd_token", |config| config.usd_token = config.bitcoin_token),
            ("poll_seconds", |config| config.poll = Duration::ZERO),
            ("answer_seconds_max", |config| config.timeout = Duration::ZERO),
            ("mean_seconds", |config| config.mean_seconds = 86_401),
            ("spread_percent_max", |config| config.spread_percent_max = 0),
            ("jump_percent_max", |config| config.jump_percent_max = 0),
            ("stale_seconds", |config| config.stale_seconds = 0),
            ("point_seconds", |config| config.point_seconds = 0),
            ("thin_days", |config| config.thin_days = 417),
            ("backfill_days", |config| config.backfill_days = 3_651),
            ("evm_url", |config| config.url = "ftp://x".to_owned()),
        ];
        for (name, change) in changes {
            let mut config = PricesConfig::wbtc_usdc("http://127.0.0.1:1");
            change(&mut config);
            let error = config.checked().err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(name), "{name}: {error}");
        }
    }
}
