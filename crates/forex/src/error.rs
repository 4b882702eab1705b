//! What can go wrong between us and a feed. No text holds an address, whose query may be a secret, or anything that a feed wrote.

use std::path::PathBuf;

use crate::currency::Currency;
use crate::decimal::DecimalError;

/// Why one rate of a feed is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// Not digits with at most one point or comma.
    #[error("its rate is not a number")]
    NotANumber,
    /// Below zero.
    #[error("its rate is negative")]
    Negative,
    /// Zero.
    #[error("its rate is zero")]
    Zero,
    /// More digits than any rate has.
    #[error("its rate has more than 24 digits")]
    TooLong,
    /// The number of units that the rate is for.
    #[error("the number of its units is not from 1 to 1,000,000")]
    Units,
    /// Not a date.
    #[error("its date is not a date")]
    Date,
    /// The source's own time is in the future.
    #[error("its date is in the future")]
    Future,
    /// Twice in one answer, with two rates for one date.
    #[error("it stands there twice with different rates")]
    Contradiction,
}

impl From<DecimalError> for RowError {
    fn from(error: DecimalError) -> Self {
        match error {
            DecimalError::NotANumber => Self::NotANumber,
            DecimalError::Negative => Self::Negative,
            DecimalError::TooLong => Self::TooLong,
        }
    }
}

/// Why a feed gave no new rates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    /// The feed cannot be reached or gave no whole answer in time. It is tried again.
    #[error("not available: {0}")]
    Unavailable(String),
    /// Another HTTP status than 200.
    #[error("HTTP {0}")]
    Status(u16),
    /// The feed has moved. Redirects are not followed: an answer from elsewhere is no answer of this source.
    #[error("HTTP {0} points elsewhere, and redirects are not followed: write the final address to its url in [forex]")]
    Redirect(u16),
    /// More bytes than any feed sends.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The answer is not of the form of this feed, a web page for instance.
    #[error("the answer is not that of this feed: {0}")]
    Form(&'static str),
    /// The feed has nothing today, as on a holiday.
    #[error("the feed has no rates at the moment")]
    Empty,
    /// Its rates are in a currency that is not covered.
    #[error("its base is not one of the twenty currencies")]
    Base,
    /// Without the dollar its rates cannot be compared with those of others.
    #[error("the US dollar is not among its usable rates")]
    NoDollar,
    /// No rate can be used; one example.
    #[error("no rate can be used ({currency}: {error})")]
    NoUsableRate {
        /// An example.
        currency: Currency,
        /// What is wrong with it.
        error: RowError,
    },
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    File(String),
    /// The EVM endpoint answered with an error of its own.
    #[error("the EVM endpoint refused the call ({0})")]
    Refused(i64),
}

/// The feeds cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ForexError {
    /// A setting cannot be used.
    #[error("[forex] {0}")]
    Setting(String),
    /// The history cannot be used.
    #[error("the history of rates: {0}")]
    History(#[from] paraffin_log::LogError),
    /// A damaged history cannot be put aside.
    #[error("the damaged history of rates in {folder} cannot be moved aside: {source}; move it away by hand")]
    Aside {
        /// The folder of the history.
        folder: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
}
