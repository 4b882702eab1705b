//! One reader per form of feed: bytes in, rates out, nothing else.

mod bank_of_russia;
mod bcra;
pub(crate) mod chainlink;
mod ecb;
mod json;
#[cfg(test)]
mod tests;
mod xml;

use serde::{Deserialize, Serialize};

use crate::error::FeedError;
use crate::sheet::Reading;

/// Largest answer of a feed, bytes; the largest known has some 100 KiB.
pub(crate) const BODY_BYTES_MAX: usize = 2 << 20;

/// The rates that are served where no source is configured, of the day that they state.
pub const SAMPLE: &[u8] = include_bytes!("../../sample/rates.json");

/// A form of feed (docs/forex.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// European Central Bank, `format=csvdata`.
    Ecb,
    /// Bank of Russia, `XML_daily`.
    BankOfRussia,
    /// Banco Central de la República Argentina, v1.0 Cotizaciones.
    Bcra,
    /// open.er-api.com.
    OpenErApi,
    /// openexchangerates.org; its address holds the operator's key.
    Openexchangerates,
    /// frankfurter, v1 and v2.
    Frankfurter,
    /// Price feeds of Chainlink, read by `eth_call`.
    Chainlink,
    /// A file of the operator's.
    File,
    /// The rates that are part of the program.
    Sample,
}

impl SourceKind {
    /// Name in the configuration and in provenance.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ecb => "ecb",
            Self::BankOfRussia => "bank_of_russia",
            Self::Bcra => "bcra",
            Self::OpenErApi => "open_er_api",
            Self::Openexchangerates => "openexchangerates",
            Self::Frankfurter => "frankfurter",
            Self::Chainlink => "chainlink",
            Self::File => "file",
            Self::Sample => "sample",
        }
    }

    /// Where the feed is found, if it has one public address.
    pub(crate) fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Ecb => Some(
                "https://data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A?lastNObservations=1&format=csvdata&detail=dataonly",
            ),
            Self::BankOfRussia => Some("https://www.cbr.ru/scripts/XML_daily.asp"),
            Self::Bcra => Some("https://api.bcra.gob.ar/estadisticascambiarias/v1.0/Cotizaciones"),
            Self::OpenErApi => Some("https://open.er-api.com/v6/latest/USD"),
            Self::Frankfurter => Some("https://api.frankfurter.dev/v1/latest?base=USD"),
            Self::Openexchangerates | Self::Chainlink | Self::File | Self::Sample => None,
        }
    }

    /// Minutes between two questions when nothing is configured.
    pub(crate) fn default_poll_minutes(self) -> u64 {
        match self {
            Self::OpenErApi => 360,
            Self::Chainlink => 10,
            Self::File => 1,
            Self::Sample => 1_440,
            _ => 60,
        }
    }
}

/// The rates in an answer that came at `now` (Unix seconds). Chainlink is not read here, for its answers hold one number each.
pub(crate) fn read(kind: SourceKind, bytes: &[u8], now: u64) -> Result<Reading, FeedError> {
    if bytes.len() > BODY_BYTES_MAX {
        return Err(FeedError::TooLarge(BODY_BYTES_MAX));
    }
    match kind {
        SourceKind::Ecb => ecb::read(bytes, now),
        SourceKind::BankOfRussia => bank_of_russia::read(bytes, now),
        SourceKind::Bcra => bcra::read(bytes, now),
        SourceKind::OpenErApi => json::open_er_api(bytes, now),
        SourceKind::Openexchangerates => json::openexchangerates(bytes, now),
        SourceKind::Frankfurter => json::frankfurter(bytes, now),
        SourceKind::File | SourceKind::Sample => json::file(bytes, now),
        SourceKind::Chainlink => Err(FeedError::Form("Chainlink is read by eth_call")),
    }
}

/// The rates that are part of the program.
pub(crate) fn sample(now: u64) -> Result<Reading, FeedError> {
    // A clock that is behind the sample's day must not hide it.
    json::file(SAMPLE, now.max(SAMPLE_TIME))
}

/// The day of the sample, Unix seconds: 2026-11-18.
const SAMPLE_TIME: u64 = 1_794_960_000;

#[cfg(test)]
mod sample_tests {
    use super::*;
    use crate::currency::Currency;

    /// row FX09
    #[test]
    fn the_sample_has_all_twenty_currencies_and_its_day() {
        for now in [0, SAMPLE_TIME, 4_000_000_000] {
            let reading = sample(now).unwrap();
            assert_eq!((reading.quotes.len(), reading.refused.len()), (Currency::COUNT - 1, 0));
            assert!(reading.quotes.iter().all(|quote| quote.time == SAMPLE_TIME));
        }
        assert_eq!(crate::clock::iso_day("2026-11-18"), Some(SAMPLE_TIME));
    }
}
