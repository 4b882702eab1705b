//! Where this instance takes the rates between currencies from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paraffin_forex::{ForexConfig, ForexError, ForexFeed, SourceConfig, SourceKind};
use paraffin_primitives::Network;
use serde::{Deserialize, Serialize};

/// `[forex]`: rates between currencies.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ForexSection {
    /// Age from which on rates are reported as stale, hours.
    pub stale_after_hours: u64,
    /// Age from which on a rate is no rate any more, hours; 0 for no limit. The sample has none.
    pub limit_hours: u64,
    /// Longest time for one answer of a source, seconds.
    pub answer_seconds_max: u64,
    /// Where rates come from; without any it is the dated sample that is part of the program.
    pub sources: Vec<ForexSource>,
}

/// `[[forex.sources]]`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForexSource {
    /// Form of the source.
    pub kind: SourceKind,
    /// Name in provenance; absent: the kind.
    #[serde(default)]
    pub name: Option<String>,
    /// Address; absent: the public one of the kind.
    #[serde(default)]
    pub url: Option<String>,
    /// The file of kind `file`.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// Minutes between two questions; absent: those of the kind.
    #[serde(default)]
    pub poll_minutes: Option<u64>,
    /// Contracts of kind `chainlink` by currency.
    #[serde(default)]
    pub feeds: BTreeMap<String, String>,
}

/// Shows everything but the address, which may hold a key.
impl std::fmt::Debug for ForexSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, is_given) = (self.kind, self.url.is_some());
        formatter.debug_struct("ForexSource").field("kind", &kind).field("url", &is_given).finish_non_exhaustive()
    }
}

impl Default for ForexSection {
    fn default() -> Self {
        let ForexConfig { stale_after, limit, timeout, sources: _ } = ForexConfig::default();
        Self {
            stale_after_hours: stale_after / 3_600,
            limit_hours: limit.unwrap_or_default() / 3_600,
            answer_seconds_max: timeout.as_secs(),
            sources: Vec::new(),
        }
    }
}

impl ForexSection {
    fn config(&self) -> ForexConfig {
        let source = |source: &ForexSource| SourceConfig {
            kind: source.kind,
            name: source.name.clone(),
            url: source.url.clone(),
            path: source.path.clone(),
            poll: source.poll_minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            feeds: source.feeds.clone(),
        };
        ForexConfig {
            stale_after: self.stale_after_hours.saturating_mul(3_600),
            limit: (self.limit_hours > 0).then(|| self.limit_hours.saturating_mul(3_600)),
            timeout: Duration::from_secs(self.answer_seconds_max),
            sources: self.sources.iter().map(source).collect(),
        }
    }
}

/// Folder of the history in a data folder.
pub(crate) const FOLDER: &str = "forex";

/// The log message where there are no sources.
const SAMPLE: &str =
    "[forex] names no sources: its rates are those of the dated sample, which is not for use with money";

/// Begins to read rates; what sources returned is stored in the data folder. The feed is stopped by [`ForexFeed::stop`].
///
/// # Errors
/// A setting cannot be used, or the history cannot be used.
pub(crate) fn start(section: &ForexSection, network: Network, data_dir: &Path) -> Result<ForexFeed, ForexError> {
    match (section.sources.is_empty(), network) {
        (true, Network::Mainnet) => tracing::warn!("{SAMPLE}: name sources (docs/forex.md)"),
        (true, _) => tracing::info!("{SAMPLE}"),
        (false, _) => {}
    }
    ForexFeed::start(&section.config(), &data_dir.join(FOLDER), &crate::prices::clock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_from_the_configuration_and_addresses_are_not_shown() {
        let text = "limit_hours = 0\n[[sources]]\nkind = \"ecb\"\n[[sources]]\nkind = \"openexchangerates\"\nname = \"oxr\"\n\
                    url = \"https://host.example/latest.json?app_id=secret\"\npoll_minutes = 30\n[[sources]]\nkind = \"chainlink\"\n\
                    url = \"https://host.example/secret\"\nfeeds = { EUR = \"0xab\" }\n";
        let section: ForexSection = toml_of(text);
        let config = section.config();
        assert_eq!((config.limit, config.sources.len(), config.stale_after), (None, 3, 345_600));
        assert_eq!(config.sources[1].poll, Some(Duration::from_secs(1_800)));
        assert_eq!(config.sources[2].feeds["EUR"], "0xab");
        assert!(!format!("{section:?}").contains("secret"));
        assert_eq!(ForexSection::default().config(), ForexConfig::default());
    }

    fn toml_of(text: &str) -> ForexSection {
        use figment::providers::{Format as _, Toml};
        figment::Figment::from(Toml::string(text)).extract().unwrap()
    }

    #[tokio::test]
    async fn a_source_that_cannot_be_used_stops_the_start_and_none_means_the_sample() {
        let folder = tempfile::tempdir().unwrap();
        let error = start(&toml_of("[[sources]]\nkind = \"file\"\n"), Network::Regtest, folder.path())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("[forex]") && error.contains("path"), "{error}");
        let feed = start(&ForexSection::default(), Network::Mainnet, folder.path()).unwrap();
        assert_eq!(feed.board().coverage(0).available.len(), 20);
        feed.stop().await;
    }
}
