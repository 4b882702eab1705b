//! Answers to readers. Times are Unix seconds, ages seconds.

use crate::adapters::SourceKind;
use crate::currency::Currency;

/// Why a currency has no price (docs/forex.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No source reports one.
    NoQuotes,
    /// It is not one of the twenty.
    Unsupported,
    /// What sources reported is older than rates may be.
    StaleBeyondLimit,
}

impl Reason {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoQuotes => "no_quotes",
            Self::Unsupported => "unsupported",
            Self::StaleBeyondLimit => "stale_beyond_limit",
        }
    }
}

/// How old rates are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    /// Age of every rate in the answer; the base has none.
    pub ages: Vec<(Currency, u64)>,
    /// Time of the freshest rate; `None` when there is no rate at all.
    pub as_of: Option<u64>,
    /// Whether even the freshest is older than the configured time.
    pub is_stale: bool,
}

/// Rates of a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rates {
    /// One unit of this costs …
    pub base: Currency,
    /// … so many units of these, as decimal text; the base itself first, with `1`.
    pub rates: Vec<(Currency, String)>,
    /// Requested codes that have no price.
    pub missing: Vec<(String, Reason)>,
    /// How old they are.
    pub freshness: Freshness,
    /// Where the prices of these currencies come from, if requested.
    pub provenance: Option<Vec<(Currency, Provenance)>>,
}

/// Where a currency's price comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Units for one US dollar, as decimal text: the median of what is used.
    pub per_usd: String,
    /// What every source reports, in the order of the configuration.
    pub offers: Vec<Offer>,
}

/// What a source reports for a currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Name of the source.
    pub source: String,
    /// Units for one US dollar, as decimal text.
    pub per_usd: String,
    /// The source's own time.
    pub time: u64,
    /// Seconds since then.
    pub age: u64,
    /// Its role in the price.
    pub role: Role,
}

/// Role of a source's rate in the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The price is the median of these.
    Used,
    /// Too far from the others.
    Outlier,
    /// Older than the configured time, and there are fresher ones.
    Stale,
    /// Older than rates may be.
    BeyondLimit,
}

impl Role {
    /// The word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Outlier => "outlier",
            Self::Stale => "stale",
            Self::BeyondLimit => "stale_beyond_limit",
        }
    }
}

/// A converted amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// From this currency …
    pub from: Currency,
    /// … to this one …
    pub to: Currency,
    /// … at this rate, rounded as in [`Rates`]; the result is made with the exact one.
    pub rate: String,
    /// Decimal text.
    pub result: String,
    /// How old the rate is.
    pub freshness: Freshness,
}

/// A pair or a base cannot be priced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no price for {}", .missing.iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>().join(" and "))]
pub struct Unpriced {
    /// The codes without a price, at least one.
    pub missing: Vec<(String, Reason)>,
}

/// State of the rates and sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Age of the freshest rate.
    pub age: Option<u64>,
    /// Its time.
    pub as_of: Option<u64>,
    /// Whether it is older than the configured time, or there is none.
    pub is_stale: bool,
    /// Currencies that have a price.
    pub available: Vec<Currency>,
    /// Every source, in the order of the configuration.
    pub sources: Vec<SourceStatus>,
}

/// State of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// Its form.
    pub kind: SourceKind,
    /// Currencies that it reports.
    pub currencies: usize,
    /// Its own time of the freshest rate.
    pub as_of: Option<u64>,
    /// Time of its last valid answer.
    pub answered_at: Option<u64>,
    /// Why the newest poll failed; `None` after a success.
    pub failure: Option<String>,
    /// Polls since the start.
    pub polls: u64,
    /// How many of them failed.
    pub failures: u64,
    /// Currencies of its newest answer whose rate cannot be used, with the reason.
    pub refused: Vec<(Currency, String)>,
}

/// Which currencies there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Those that have a price.
    pub available: Vec<Currency>,
    /// Those that have none.
    pub missing: Vec<(Currency, Reason)>,
}
