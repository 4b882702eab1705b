//! Configuration: one TOML file, overridden by `PARAFFIN_` environment variables; every default stands here.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use figment::Figment;
use figment::providers::{Env, Format, Toml};
use paraffin_access::Plans;
use paraffin_chain::{NodeAuth, NodeConfig};
use paraffin_electrum::ElectrumSettings;
use paraffin_gateway::{AccessConfig, GatewayConfig};
use paraffin_lua::LuaSettings;
use paraffin_otlp::TracingSettings;
use paraffin_primitives::Network;
use paraffin_webhooks::WebhookSettings;
use serde::{Deserialize, Serialize};

use crate::console::ConsoleSection;
use crate::contracts::AlkanesSection;
use crate::forex::ForexSection;
use crate::markets::MarketsSection;
use crate::memory::{self, MemorySection};
use crate::mempool::MempoolSection;
use crate::orderbook::OrderbookSection;
use crate::ordinals::OrdinalsSection;
use crate::pools::PoolsSection;
use crate::prices::PricesSection;
use crate::upstream::UpstreamSection;
use crate::verify::VerifySection;

/// The whole configuration of `paraffin serve` and `paraffin index`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Chain that this instance serves: `mainnet`, `signet` or `regtest`.
    #[serde(default = "mainnet")]
    pub network: Network,
    /// Folder of the store and the accounts; default `<user data folder>/paraffin/<network>`.
    #[serde(default)]
    pub data_dir: Option<PathBuf>,
    /// Address and credentials of the Bitcoin node.
    pub node: NodeSection,
    /// Instances that answer instead of an own store.
    #[serde(default)]
    pub upstream: UpstreamSection,
    /// HTTP server.
    #[serde(default)]
    pub gateway: GatewayConfig,
    /// Who may call beyond the holder of a key in the path.
    #[serde(default)]
    pub access: AccessConfig,
    /// Limits of each plan.
    #[serde(default)]
    pub plans: Plans,
    /// Pages on which people manage keys, origins and aliases.
    #[serde(default)]
    pub console: ConsoleSection,
    /// Memory of the program in all.
    #[serde(default)]
    pub memory: MemorySection,
    /// Index.
    #[serde(default)]
    pub index: IndexSection,
    /// The contract index.
    #[serde(default)]
    pub alkanes: AlkanesSection,
    /// The index of inscriptions and runes.
    #[serde(default)]
    pub ordinals: OrdinalsSection,
    /// Pools and prices of alkanes.
    #[serde(default)]
    pub markets: MarketsSection,
    /// `CryptoSwap` pools.
    #[serde(default)]
    pub pools: PoolsSection,
    /// The bitcoin price.
    #[serde(default)]
    pub prices: PricesSection,
    /// The live set of unconfirmed transactions.
    #[serde(default)]
    pub mempool: MempoolSection,
    /// The listener for the Electrum protocol.
    #[serde(default)]
    pub electrum: ElectrumSettings,
    /// Events that are delivered to servers of accounts.
    #[serde(default)]
    pub webhooks: WebhookSettings,
    /// Rates between currencies.
    #[serde(default)]
    pub forex: ForexSection,
    /// The book of orders.
    #[serde(default)]
    pub orderbook: OrderbookSection,
    /// Verification of contracts against their source.
    #[serde(default)]
    pub verify: VerifySection,
    /// Scripts that run at the server.
    #[serde(default)]
    pub lua: LuaSettings,
    /// Log output.
    #[serde(default)]
    pub log: LogSection,
    /// Spans of requests and blocks.
    #[serde(default)]
    pub tracing: TracingSettings,
}

const fn mainnet() -> Network {
    Network::Mainnet
}

/// `[node]`: where Bitcoin Core answers JSON-RPC and REST.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeSection {
    /// `http://host:port` of the node's JSON-RPC and REST server.
    pub url: String,
    /// JSON-RPC user; with `password`.
    #[serde(default)]
    pub user: Option<String>,
    /// JSON-RPC password.
    #[serde(default)]
    pub password: Option<String>,
    /// Path of the node's `.cookie`, read again after every restart of the node.
    #[serde(default)]
    pub cookie_file: Option<PathBuf>,
    /// Peer-to-peer address `host:port`, for the live mempool.
    #[serde(default)]
    pub p2p: Option<SocketAddr>,
    /// Longest time for one answer of the node, in seconds.
    #[serde(default = "node_timeout_seconds")]
    pub timeout_seconds: u64,
}

impl std::fmt::Debug for NodeSection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("NodeSection").field("url", &self.url).field("user", &self.user).finish_non_exhaustive()
    }
}

const fn node_timeout_seconds() -> u64 {
    30
}

/// `[index]`: the store and the import.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IndexSection {
    /// Ceiling for cache, write buffers, sorted runs and journal of the store, in MiB; at least 256. Absent, without `[memory] total_mib`: an
    /// eighth of the machine's memory, from 1,024 to 8,192.
    pub memory_mib: u64,
    /// Blocks that a reorg can undo; absent: 5,000, and down to height 0 on regtest.
    pub undo_blocks: Option<u32>,
    /// Rows that wait for one commit, in KiB; what waits is lost by a kill and fetched again.
    pub commit_kib: u64,
    /// Rows that are sorted and written together during the first import, in KiB, at most a share of `memory_mib`; as much
    /// again is being written meanwhile. Absent: that share. 0 commits block by block, as near the tip.
    pub import_kib: Option<u64>,
    /// Blocks fetched ahead of the writer.
    pub prefetch_blocks: usize,
    /// Where raw transactions come from: `node` asks the node for the bytes, `store` keeps a copy (about the size of the
    /// chain). Absent: `node` on mainnet, `store` elsewhere. Fixed when the store is created.
    pub raw_transactions: Option<RawTransactionsSetting>,
    /// Whether addresses can be searched by how they begin, about 50 bytes on disk for each address. Absent: off on mainnet,
    /// on elsewhere. Switched on later, the index catches up before it goes on.
    pub address_search: Option<bool>,
    /// Time between two questions for a new tip, in milliseconds; absent: 1,000, and 200 on regtest.
    pub poll_milliseconds: Option<u64>,
}

impl Default for IndexSection {
    fn default() -> Self {
        Self {
            memory_mib: 1024,
            undo_blocks: None,
            commit_kib: 48 << 10,
            import_kib: None,
            prefetch_blocks: 8,
            raw_transactions: None,
            address_search: None,
            poll_milliseconds: None,
        }
    }
}

/// See [`IndexSection::raw_transactions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawTransactionsSetting {
    /// Ask the node.
    Node,
    /// Keep a copy.
    Store,
}

/// `[log]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogSection {
    /// Filter such as `info` or `info,paraffin_chain=debug`.
    pub filter: String,
    /// `text` or `json`.
    pub format: LogFormat,
    /// Seconds between two lines about a long import.
    pub progress_seconds: u64,
}

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for LogSection {
    fn default() -> Self {
        Self {
            filter: "info,fjall=warn,lsm_tree=warn,async_nats=off".to_owned(),
            format: LogFormat::Text,
            progress_seconds: 30,
        }
    }
}

/// Members of the top level, as environment variables name them.
const SECTIONS: [&str; 23] = [
    "network",
    "data_dir",
    "node",
    "upstream",
    "gateway",
    "access",
    "plans",
    "memory",
    "index",
    "alkanes",
    "ordinals",
    "markets",
    "pools",
    "prices",
    "mempool",
    "electrum",
    "webhooks",
    "forex",
    "orderbook",
    "verify",
    "lua",
    "log",
    "tracing",
];

/// The configuration cannot be used; the message names the member.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file does not exist.
    #[error(
        "the configuration file {0} does not exist; it needs at least:\n\n[node]\nurl = \"http://127.0.0.1:8332\"\ncookie_file = \"/path/to/bitcoin/.cookie\""
    )]
    Missing(PathBuf),
    /// A member is missing, unknown or of the wrong type.
    #[error("configuration: {0}")]
    Invalid(Box<figment::Error>),
    /// Members contradict each other.
    #[error("configuration: {0}")]
    Contradiction(String),
}

/// The error without what was written: it may be a password that lacks its quotes, and errors are logged.
fn without_values(error: figment::Error) -> figment::Error {
    use figment::error::{Actual, Kind};
    let kind_of = |actual: Actual| {
        Actual::Other(match actual {
            Actual::Bool(_) => "a boolean".to_owned(),
            Actual::Unsigned(_) | Actual::Signed(_) => "an integer".to_owned(),
            Actual::Float(_) => "a number with a point".to_owned(),
            Actual::Char(_) | Actual::Str(_) | Actual::Bytes(_) => "a text".to_owned(),
            other => other.to_string(),
        })
    };
    // Below where it stands, a syntax error shows the line itself, behind its number and a bar.
    let is_quoted = |line: &&str| {
        line.trim_start().trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start().starts_with('|')
    };
    let clean = |mut error: figment::Error| {
        error.kind = match error.kind {
            Kind::Message(text) => {
                Kind::Message(text.lines().filter(|line| !is_quoted(line)).collect::<Vec<_>>().join(" "))
            }
            Kind::InvalidType(actual, expected) => Kind::InvalidType(kind_of(actual), expected),
            Kind::InvalidValue(actual, expected) => Kind::InvalidValue(kind_of(actual), expected),
            Kind::Unsupported(actual) => Kind::Unsupported(kind_of(actual)),
            Kind::UnsupportedKey(actual, key) => Kind::UnsupportedKey(kind_of(actual), key),
            kind => kind,
        };
        error
    };
    let mut errors: Vec<_> = error.into_iter().map(clean).collect();
    let Some(oldest) = errors.pop() else { return "the configuration cannot be read".to_owned().into() };
    errors.into_iter().rev().fold(oldest, figment::Error::chain)
}

impl Config {
    /// Reads `file`, then the environment (`PARAFFIN_NODE__URL` is `[node] url`).
    ///
    /// # Errors
    /// The file is missing or a member is missing, unknown, of the wrong type or contradicts another.
    pub(crate) fn load(file: &Path) -> Result<Self, ConfigError> {
        if !file.exists() {
            return Err(ConfigError::Missing(file.to_owned()));
        }
        // Other variables with the prefix (PARAFFIN_URL, PARAFFIN_API_KEY, …) belong to single commands.
        let environment = Env::prefixed("PARAFFIN_")
            .filter(|key| {
                let section = key.as_str().split("__").next().unwrap_or_default();
                SECTIONS.iter().any(|known| section.eq_ignore_ascii_case(known))
            })
            .split("__");
        let figment = Figment::from(Toml::file(file)).merge(environment);
        // A gateway without a store has no node, and its address is not used.
        let has_no_node = figment.contains("upstream") && !figment.contains("node");
        let figment = if has_no_node { figment.merge(("node.url", "")) } else { figment };
        let figment = MemorySection::share_out(figment, memory::host_mib()).map_err(|problem| match problem {
            memory::Problem::Type(error) => ConfigError::Invalid(error),
            memory::Problem::Value(sentence) => ConfigError::Contradiction(sentence),
        })?;
        let config: Self = figment.extract().map_err(|error| ConfigError::Invalid(Box::new(without_values(error))))?;
        config.checked()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        let refuse = |message: &str| Err(ConfigError::Contradiction(message.to_owned()));
        self.upstream.check().map_err(ConfigError::Contradiction)?;
        if self.upstream.is_used() {
            if !self.node.url.is_empty() {
                return refuse("give either [node] or [upstream]: a gateway without a store has no node");
            }
        } else if !self.node.url.starts_with("http://") {
            return refuse(
                "[node] url must start with http:// (the node listens without TLS; use a tunnel for a remote one)",
            );
        }
        if self.node.user.is_some() != self.node.password.is_some() {
            return refuse("[node] user and password come together");
        }
        if self.node.user.is_some() && self.node.cookie_file.is_some() {
            return refuse("[node] give either user and password or cookie_file, not both");
        }
        if self.index.memory_mib < 256 {
            return refuse("[index] memory_mib must be at least 256");
        }
        self.console.check().map_err(ConfigError::Contradiction)?;
        MemorySection::check(&self).map_err(ConfigError::Contradiction)?;
        if self.index.prefetch_blocks == 0 || self.index.prefetch_blocks > 256 {
            return refuse("[index] prefetch_blocks must be from 1 to 256");
        }
        if self.alkanes.wasm_path.is_some() && self.alkanes.builtins_folder.is_some() {
            return refuse("[alkanes] give either wasm_path or builtins_folder, not both");
        }
        if let Err(contradiction) = self.alkanes.check() {
            return refuse(contradiction);
        }
        if let Err(contradiction) = self.orderbook.nats() {
            return refuse(contradiction);
        }
        if self.orderbook.nats_url.is_some() {
            crate::cluster::needed_by("[orderbook] nats_url").map_err(ConfigError::Contradiction)?;
        }
        crate::accounts::check(&self.access).map_err(ConfigError::Contradiction)?;
        self.ordinals.families().map_err(ConfigError::Contradiction)?;
        self.lua.check().map_err(ConfigError::Contradiction)?;
        self.electrum.check().map_err(ConfigError::Contradiction)?;
        self.webhooks.check().map_err(ConfigError::Contradiction)?;
        self.tracing.check().map_err(|error| ConfigError::Contradiction(error.to_string()))?;
        if self.electrum.is_used() && (self.upstream.is_used() || !self.mempool.enabled) {
            return refuse("[electrum] needs the index of this instance and [mempool] enabled = true");
        }
        Ok(self)
    }

    /// Folder of the store and the accounts.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(|| default_data_dir(self.network))
    }

    /// The node's settings in the form of the crate `chain`.
    pub(crate) fn node_config(&self) -> NodeConfig {
        let auth = match (&self.node.user, &self.node.password, &self.node.cookie_file) {
            (Some(user), Some(password), _) => {
                NodeAuth::UserPassword { user: user.clone(), password: password.clone() }
            }
            (_, _, Some(cookie)) => NodeAuth::CookieFile(cookie.clone()),
            _ => NodeAuth::None,
        };
        NodeConfig {
            network: self.network,
            url: self.node.url.trim_end_matches('/').to_owned(),
            auth,
            p2p: self.node.p2p,
            timeout: Duration::from_secs(self.node.timeout_seconds.clamp(1, 600)),
        }
    }

    /// Blocks that can be undone: the configured number, all on regtest, 5,000 elsewhere.
    pub(crate) fn undo_blocks(&self) -> Option<u32> {
        match (self.index.undo_blocks, self.network) {
            (Some(blocks), _) => Some(blocks),
            (None, Network::Regtest) => None,
            (None, _) => Some(5_000),
        }
    }

    /// Where raw transactions come from.
    pub(crate) fn raw_transactions(&self) -> RawTransactionsSetting {
        self.index.raw_transactions.unwrap_or(match self.network {
            Network::Mainnet => RawTransactionsSetting::Node,
            Network::Signet | Network::Regtest => RawTransactionsSetting::Store,
        })
    }

    /// Whether the beginnings of addresses are indexed.
    pub(crate) fn address_search(&self) -> bool {
        self.index.address_search.unwrap_or(self.network != Network::Mainnet)
    }

    /// Time between two questions for a new tip.
    pub(crate) fn poll(&self) -> Duration {
        let default = if self.network == Network::Regtest { 200 } else { 1_000 };
        Duration::from_millis(self.index.poll_milliseconds.unwrap_or(default).clamp(20, 60_000))
    }
}

/// `$XDG_DATA_HOME/paraffin/<network>`, else `~/.local/share/paraffin/<network>`, else `./paraffin-data/<network>`.
pub(crate) fn default_data_dir(network: Network) -> PathBuf {
    let base = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    base.map_or_else(|| PathBuf::from("paraffin-data"), |base| base.join("paraffin")).join(network.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        std::fs::read_to_string(path).unwrap()
    }

    /// Rows `| `name` | value |…` of a page, the value without its marks.
    fn documented(page: &str, name: &str) -> Option<String> {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")))?;
        Some(row.split('|').nth(2)?.trim().trim_matches('`').replace([',', '"'], ""))
    }

    #[test]
    fn the_documented_limits_are_those_of_the_program() {
        let page = page("api.md");
        let limits = serde_json::to_value(GatewayConfig::default().limits).unwrap();
        let limits = limits.as_object().unwrap();
        for (name, value) in limits {
            assert_eq!(documented(&page, name), Some(value.to_string()), "docs/api.md, limit {name}");
        }
        let table = page.split("## Limits").nth(1).unwrap();
        assert_eq!(table.lines().filter(|line| line.starts_with("| `")).count(), limits.len());
    }

    #[test]
    fn no_error_repeats_what_was_written() {
        for secret in ["123456789123", "hunter2secret", "-4.75123", "true", "[\"hunter2secret\"]", "\"hunter2secret"] {
            let text = format!("[node]\nurl = \"http://127.0.0.1:8332\"\nuser = \"u\"\npassword = {secret}\n");
            let error = Figment::from(Toml::string(&text)).extract::<Config>().unwrap_err();
            let message = ConfigError::Invalid(Box::new(without_values(error))).to_string();
            let word = secret.trim_matches(['[', ']', '"']);
            assert!(!message.contains(word) || word == "true" && message.contains("password"), "{message}");
            assert!(message.contains("password") || message.contains("line 4"), "{message}");
        }
        let two = Figment::from(Toml::string("[node]\nurl = 1234567")).merge(Toml::string("a = hunter2secret"));
        let message = without_values(two.extract::<Config>().unwrap_err()).to_string();
        assert!(!message.contains("hunter2") && !message.contains("1234567"), "{message}");
    }

    #[test]
    fn plans_are_changed_and_added_by_name_and_the_others_stay() {
        let text = "[node]\nurl = \"http://127.0.0.1:8332\"\n[plans.free]\nper_minute = 5\n[plans.team]\nper_day = 9\nkeys_max = 2\n[access]\ntrusted_proxies = [\"10.0.0.0/8\"]";
        let config: Config = Figment::from(Toml::string(text)).extract().unwrap();
        let terms = |name: &str| config.plans.terms(&name.parse().unwrap()).unwrap();
        assert_eq!((terms("free").per_minute, terms("free").per_day), (Some(5), None));
        assert_eq!((terms("team").per_day, terms("team").keys_max), (Some(9), Some(2)));
        assert_eq!(terms("pro").per_minute, Some(600));
        assert_eq!(config.access.trusted_proxies.len(), 1);
        for bad in
            ["[plans.Free]\nper_minute = 5", "[plans.free]\nper_hour = 5", "[access]\ntrusted_proxies = [\"proxy\"]"]
        {
            let text = format!("[node]\nurl = \"http://127.0.0.1:8332\"\n{bad}");
            assert!(Figment::from(Toml::string(&text)).extract::<Config>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_documented_settings_are_those_of_the_program() {
        let page = page("configuration.md");
        let config: Config = Figment::from(Toml::string("[node]\nurl = \"http://127.0.0.1:8332\"")).extract().unwrap();
        let value = serde_json::to_value(&config).unwrap();
        for section in [
            "node",
            "upstream",
            "memory",
            "index",
            "alkanes",
            "ordinals",
            "markets",
            "pools",
            "prices",
            "gateway",
            "access",
            "mempool",
            "electrum",
            "webhooks",
            "forex",
            "orderbook",
            "verify",
            "lua",
            "log",
            "tracing",
        ] {
            let part = page.split(&format!("## `[{section}]`")).nth(1).and_then(|rest| rest.split("\n## ").next());
            let part = part.unwrap_or_else(|| panic!("docs/configuration.md lacks [{section}]"));
            for (name, value) in value[section].as_object().unwrap() {
                let row = part.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{name}`")));
                assert!(row.is_some(), "docs/configuration.md lacks [{section}] {name}");
                if let (Some(documented), true) = (documented(part, name), value.is_number() || value.is_boolean()) {
                    assert_eq!(documented, value.to_string(), "docs/configuration.md, [{section}] {name}");
                }
            }
        }
        assert_eq!(documented(&page, "filter"), Some(config.log.filter.replace(',', "")));
    }

    #[test]
    fn a_shared_stream_needs_the_feature_cluster() {
        let text = "[node]\nurl = \"http://127.0.0.1:8332\"\n[orderbook]\nnats_url = \"nats://u:hunter2@queue:4222\"";
        let checked = Figment::from(Toml::string(text)).extract::<Config>().unwrap().checked();
        if cfg!(feature = "cluster") {
            assert!(checked.is_ok());
        } else {
            let error = checked.unwrap_err().to_string();
            assert!(error.contains("[orderbook] nats_url") && error.contains("--features cluster"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn traces_need_the_feature_otel() {
        let text = "[node]\nurl = \"http://127.0.0.1:8332\"\n[tracing]\nendpoint = \"http://127.0.0.1:4318\"\n[tracing.headers]\nauthorization = \"hunter2\"";
        let checked = Figment::from(Toml::string(text)).extract::<Config>().unwrap().checked();
        if cfg!(feature = "otel") {
            assert!(checked.is_ok());
        } else {
            let error = checked.unwrap_err().to_string();
            assert!(error.contains("[tracing] endpoint") && error.contains("--features otel"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn defaults_follow_the_network() {
        let of = |network: &str| -> Config {
            let text = format!("network = \"{network}\"\n[node]\nurl = \"http://127.0.0.1:8332\"");
            Figment::from(Toml::string(&text)).extract().unwrap()
        };
        assert_eq!(of("mainnet").undo_blocks(), Some(5_000));
        assert_eq!(of("regtest").undo_blocks(), None);
        assert_eq!(of("mainnet").raw_transactions(), RawTransactionsSetting::Node);
        assert_eq!(of("signet").raw_transactions(), RawTransactionsSetting::Store);
        assert!(of("regtest").poll() < of("mainnet").poll());
    }
}
