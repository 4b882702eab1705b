//! Settings: how old rates may be, and where they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use hyper::Uri;

use crate::adapters::SourceKind;
use crate::currency::Currency;
use crate::error::ForexError;
use crate::policy::Rules;

/// Most sources.
const SOURCES_MAX: usize = 32;
/// Longest name of a source, bytes.
const NAME_LEN_MAX: usize = 32;
/// Least time between two polls.
const POLL_MIN: Duration = Duration::from_millis(50);
/// Longest time between two polls.
const POLL_MAX: Duration = Duration::from_secs(31 * 86_400);

/// Settings of the feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForexConfig {
    /// Age from which on a rate is stale, seconds.
    pub stale_after: u64,
    /// Age from which on a rate is no rate any more, seconds; `None`: never.
    pub limit: Option<u64>,
    /// Longest time for one answer.
    pub timeout: Duration,
    /// Where rates come from; none: the sample that is part of the program, at whatever age.
    pub sources: Vec<SourceConfig>,
}

impl Default for ForexConfig {
    /// Stale after 96 h (official feeds rest on weekends), no rates after two weeks, the sample alone.
    fn default() -> Self {
        Self {
            stale_after: 96 * 3_600,
            limit: Some(336 * 3_600),
            timeout: Duration::from_secs(10),
            sources: Vec::new(),
        }
    }
}

/// One source.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceConfig {
    /// Its form.
    pub kind: SourceKind,
    /// Its name in answers, `a-z0-9_-`; absent: that of its kind.
    pub name: Option<String>,
    /// Its address, which may hold a key and is never shown; absent: the public one of its kind.
    pub url: Option<String>,
    /// The file of [`SourceKind::File`].
    pub path: Option<PathBuf>,
    /// Time between two polls; absent: that of its kind.
    pub poll: Option<Duration>,
    /// For [`SourceKind::Chainlink`]: the contract (`0x` and 40 hex digits) that returns the dollars for one unit of a currency.
    pub feeds: BTreeMap<String, String>,
}

impl std::fmt::Debug for SourceConfig {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, is_given) = (self.kind, self.url.is_some());
        formatter.debug_struct("SourceConfig").field("kind", &kind).field("url", &is_given).finish_non_exhaustive()
    }
}

impl SourceConfig {
    /// A source of a kind with default settings.
    pub fn of_kind(kind: SourceKind) -> Self {
        Self { kind, name: None, url: None, path: None, poll: None, feeds: BTreeMap::new() }
    }
}

/// How a source is read.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    Get(Uri),
    Chainlink(Uri, Vec<(Currency, String)>),
    File(PathBuf),
    Sample,
}

/// A source whose settings are in order.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) kind: SourceKind,
    pub(crate) way: Way,
    pub(crate) poll: Duration,
}

impl ForexConfig {
    pub(crate) fn rules(&self) -> Rules {
        // Where there is nothing but the sample, its age shows and it goes on being served.
        let limit = self.limit.filter(|_| !self.sources.is_empty());
        Rules { stale_after: self.stale_after, limit }
    }

    /// Checks everything.
    pub(crate) fn checked(&self) -> Result<Vec<Checked>, ForexError> {
        let refuse = |message: String| Err(ForexError::Setting(message));
        if self.stale_after == 0 {
            return refuse("stale_after_hours must be at least 1".to_owned());
        }
        if self.limit.is_some_and(|limit| limit < self.stale_after) {
            return refuse("limit_hours must not be less than stale_after_hours; 0 is no limit".to_owned());
        }
        if self.timeout.is_zero() || self.timeout > Duration::from_secs(600) {
            return refuse("answer_seconds_max must be from 1 to 600".to_owned());
        }
        if self.sources.len() > SOURCES_MAX {
            return refuse(format!("there may be at most {SOURCES_MAX} sources"));
        }
        let sample = [SourceConfig::of_kind(SourceKind::Sample)];
        let sources = if self.sources.is_empty() { &sample[..] } else { &self.sources };
        let checked: Vec<Checked> = sources.iter().map(SourceConfig::checked).collect::<Result<_, _>>()?;
        let mut names = BTreeSet::new();
        match checked.iter().find(|source| !names.insert(&source.name)) {
            Some(twice) => refuse(format!("two sources are named {}: give one of them another name", twice.name)),
            None => Ok(checked),
        }
    }
}

impl SourceConfig {
    fn checked(&self) -> Result<Checked, ForexError> {
        let kind = self.kind.name();
        let setting = |message: String| ForexError::Setting(format!("sources, kind \"{kind}\": {message}"));
        let name = self.name.clone().unwrap_or_else(|| kind.to_owned());
        let is_name = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if name.is_empty() || name.len() > NAME_LEN_MAX || !name.bytes().all(is_name) {
            return Err(setting("name must have 1 to 32 of a-z, 0-9, _ and -".to_owned()));
        }
        let minutes = Duration::from_secs(self.kind.default_poll_minutes() * 60);
        let poll = self.poll.unwrap_or(minutes);
        if !(POLL_MIN..=POLL_MAX).contains(&poll) {
            return Err(setting("poll_minutes must be from 1 to 44640".to_owned()));
        }
        let uri = || {
            let url = self.url.as_deref().or(self.kind.default_url());
            let url = url.ok_or_else(|| setting("url is required".to_owned()))?;
            paraffin_web::checked(url).map_err(|what| setting(format!("url {what}")))
        };
        let way = match self.kind {
            SourceKind::Sample => Way::Sample,
            SourceKind::File => Way::File(self.path.clone().ok_or_else(|| setting("path is required".to_owned()))?),
            SourceKind::Chainlink => Way::Chainlink(uri()?, self.contracts().map_err(setting)?),
            _ => Way::Get(uri()?),
        };
        Ok(Checked { name, kind: self.kind, way, poll })
    }

    fn contracts(&self) -> Result<Vec<(Currency, String)>, String> {
        let contract = |(code, address): (&String, &String)| {
            let currency = Currency::of_code(code).filter(|currency| *currency != Currency::USD);
            let currency =
                currency.ok_or_else(|| format!("feeds: {code} is not one of the other nineteen currencies"))?;
            let digits = address.strip_prefix("0x").unwrap_or_default();
            if digits.len() != 40 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(format!("feeds: the contract of {code} must be 0x and 40 hex digits"));
            }
            Ok((currency, address.clone()))
        };
        if self.feeds.is_empty() {
            return Err("feeds is required: the contract of each currency".to_owned());
        }
        self.feeds.iter().map(contract).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(sources: Vec<SourceConfig>) -> ForexConfig {
        ForexConfig { sources, ..ForexConfig::default() }
    }

    #[test]
    fn the_sample_alone_has_no_limit_and_the_official_feeds_need_no_address() {
        let default = ForexConfig::default();
        assert_eq!(default.rules(), Rules { stale_after: 345_600, limit: None });
        assert_eq!(default.checked().unwrap()[0].name, "sample");
        let kinds = [
            SourceKind::Ecb,
            SourceKind::BankOfRussia,
            SourceKind::Bcra,
            SourceKind::OpenErApi,
            SourceKind::Frankfurter,
        ];
        let official = with(kinds.map(SourceConfig::of_kind).to_vec());
        assert_eq!((official.rules().limit, official.checked().unwrap().len()), (Some(1_209_600), 5));
    }

    #[test]
    fn a_setting_that_cannot_be_used_is_named() {
        let of = SourceConfig::of_kind;
        let chainlink = |code: &str, address: &str| SourceConfig {
            url: Some("https://host.example/v3/secret".to_owned()),
            feeds: BTreeMap::from([(code.to_owned(), address.to_owned())]),
            ..of(SourceKind::Chainlink)
        };
        let address = format!("0x{}", "ab".repeat(20));
        assert!(with(vec![chainlink("eur", &address)]).checked().is_ok());
        for (config, word) in [
            (ForexConfig { stale_after: 0, ..ForexConfig::default() }, "stale_after_hours"),
            (ForexConfig { limit: Some(1), ..ForexConfig::default() }, "limit_hours"),
            (ForexConfig { timeout: Duration::ZERO, ..ForexConfig::default() }, "answer_seconds_max"),
            (with(vec![of(SourceKind::Ecb), of(SourceKind::Ecb)]), "named ecb"),
            (with(vec![of(SourceKind::Openexchangerates)]), "url is required"),
            (with(vec![of(SourceKind::File)]), "path is required"),
            (with(vec![of(SourceKind::Ecb); 33]), "at most 32"),
            (with(vec![SourceConfig { name: Some("A b".to_owned()), ..of(SourceKind::Ecb) }]), "name must"),
            (with(vec![SourceConfig { poll: Some(Duration::ZERO), ..of(SourceKind::Ecb) }]), "poll_minutes"),
            (with(vec![SourceConfig { url: Some("ftp://x".to_owned()), ..of(SourceKind::Ecb) }]), "url must begin"),
            (with(vec![chainlink("USD", &address)]), "nineteen"),
            (with(vec![chainlink("EUR", "0x12")]), "40 hex digits"),
            (with(vec![SourceConfig { feeds: BTreeMap::new(), ..chainlink("EUR", "") }]), "feeds is required"),
        ] {
            let error = config.checked().err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(word) && !error.contains("secret"), "{word}: {error}");
            assert!(!format!("{config:?}").contains("secret"));
        }
    }
}
