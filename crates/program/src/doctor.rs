//! `paraffin doctor`: looks at everything an instance needs and says what is wrong and what to do.

use std::fmt;
use std::net::TcpListener;
use std::path::Path;

use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore as _, RESERVED_FOR_LATER, RESERVED_SINCE};
use paraffin_chain::{NodeClient, NodeError};
use paraffin_primitives::Network;
use paraffin_store::Store;
use serde_json::{Value, json};

use crate::config::Config;
use crate::import_time::ImportTime;
use crate::progress::duration_text;
use crate::{accounts, control, disk, instance};

mod contracts;
mod protection;

/// Verdict of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Warning,
    Bad,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Good => "ok     ",
            Self::Warning => "warning",
            Self::Bad => "WRONG  ",
        })
    }
}

struct Report {
    worst: Verdict,
}

impl Report {
    fn say(&mut self, verdict: Verdict, what: &str, text: impl fmt::Display) {
        if verdict == Verdict::Bad || (verdict == Verdict::Warning && self.worst == Verdict::Good) {
            self.worst = verdict;
        }
        println!("{verdict}  {what:<9}  {text}");
    }
}

/// Runs all checks and prints a line for each; true when nothing is wrong.
pub(crate) async fn run(config: &Config, file: &Path) -> bool {
    let mut report = Report { worst: Verdict::Good };
    report.say(
        Verdict::Good,
        "config",
        format_args!("network {}, data in {}", config.network, config.data_dir().display()),
    );
    check_limits(&mut report);
    if config.upstream.is_used() {
        report.say(Verdict::Good, "upstream", "a gateway without a store: no node and no index to look at");
    } else {
        let chain = check_node(&mut report, config).await;
        check_disk(&mut report, config, chain);
        contracts::check(&mut report, config);
        check_store(&mut report, config).await;
        protection::check_scripts(&mut report, config).await;
        protection::check_builds(&mut report, config);
    }
    protection::check_modes(&mut report, config, file);
    check_aliases(&mut report, config).await;
    check_sharing(&mut report, config).await;
    check_listen(&mut report, config);
    report.worst != Verdict::Bad
}

fn check_limits(report: &mut Report) {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit {
        Some(files) if files < 4096 => {
            report.say(
                Verdict::Warning,
                "files",
                format_args!("only {files} open files are allowed: raise it with `ulimit -n 65536`"),
            );
        }
        _ => report.say(Verdict::Good, "files", "enough open files are allowed"),
    }
}

/// Bytes and number of the node's blocks.
async fn check_node(report: &mut Report, config: &Config) -> Option<(u64, u32)> {
    let client = match NodeClient::new(config.node_config()) {
        Ok(client) => client,
        Err(error) => {
            report.say(Verdict::Bad, "node", error);
            return None;
        }
    };
    let info = match client.rpc("getblockchaininfo", json!([])).await {
        Ok(info) => info,
        Err(error) => {
            report.say(Verdict::Bad, "node", node_advice(&error, config));
            return None;
        }
    };
    let chain = info.get("chain").and_then(Value::as_str).unwrap_or_default();
    if chain != config.network.core_name() {
        report.say(
            Verdict::Bad,
            "node",
            format_args!("the node follows `{chain}`, the configuration says network = \"{}\"", config.network),
        );
        return None;
    }
    let blocks = info.get("blocks").and_then(Value::as_u64).unwrap_or_default();
    let headers = info.get("headers").and_then(Value::as_u64).unwrap_or_default();
    if blocks + 2 < headers {
        report.say(Verdict::Warning, "node", format_args!("still downloading: block {blocks} of {headers}"));
    } else {
        report.say(Verdict::Good, "node", format_args!("reachable, height {blocks}"));
    }
    if info.get("pruned").and_then(Value::as_bool).unwrap_or_default() {
        report.say(
            Verdict::Bad,
            "node",
            "the node is pruned: the index needs every block; set prune=0 and let the node download again",
        );
    }
    check_rest(report, &client, &info).await;
    let count = u32::try_from(blocks.saturating_add(1)).unwrap_or(u32::MAX);
    Some((info.get("size_on_disk").and_then(Value::as_u64)?, count))
}

async fn check_rest(report: &mut Report, client: &NodeClient, info: &Value) {
    let Some(best) = info.get("bestblockhash").and_then(Value::as_str).and_then(|hash| hash.parse().ok()) else {
        report.say(Verdict::Bad, "node", "the node does not report its best block");
        return;
    };
    match client.spent_outputs(best).await {
        Ok(Some(_)) => report.say(Verdict::Good, "rest", "the node hands over spent outputs: the fast path"),
        Ok(None) => report.say(
            Verdict::Warning,
            "rest",
            "the node does not hand over spent outputs: start it with -rest=1 (Bitcoin Core 30 or newer) for a faster import",
        ),
        Err(error) => report.say(Verdict::Warning, "rest", error),
    }
}

fn node_advice(error: &NodeError, config: &Config) -> String {
    match error {
        NodeError::Unavailable(reason) => format!(
            "{} does not answer ({reason}): is bitcoind running with -server=1, and is [node] url right?",
            config.node.url
        ),
        other => other.to_string(),
    }
}

fn check_disk(report: &mut Report, config: &Config, chain: Option<(u64, u32)>) {
    let folder = config.data_dir();
    if let Err(error) = std::fs::create_dir_all(&folder) {
        report.say(Verdict::Bad, "disk", format_args!("{} cannot be created: {error}", folder.display()));
        return;
    }
    let probe = folder.join(".paraffin-doctor");
    if let Err(error) = std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe)) {
        report.say(Verdict::Bad, "disk", format_args!("{} cannot be written: {error}", folder.display()));
        return;
    }
    let (Ok(free), Some((chain_bytes, blocks))) = (disk::free_bytes(&folder), chain) else {
        report.say(Verdict::Warning, "disk", "the need for disk is not known until the node answers");
        return;
    };
    if config.network != Network::Regtest {
        let (quick, slow) = ImportTime::of(config.network, chain_bytes).whole();
        let sats =
            if config.ordinals.sats { "; with `sats = true` the measured chain takes 1.7 times as long" } else { "" };
        report.say(
            Verdict::Good,
            "time",
            format_args!(
                "a first import of {} of blocks takes about {} to {}, reckoned from chains of up to 20 GB on two cores and a local \
                 disk{sats}",
                disk::readable(chain_bytes),
                duration_text(quick),
                duration_text(slow)
            ),
        );
    }
    let used = disk::folder_bytes(&folder);
    match instance::disk_need(config, chain_bytes, blocks).say(used, free) {
        Ok(text) => report.say(Verdict::Good, "disk", text),
        Err(text) => report.say(Verdict::Bad, "disk", text),
    }
}

async fn check_store(report: &mut Report, config: &Config) {
    let folder = config.data_dir().join("store");
    if !Path::new(&folder).exists() {
        report.say(Verdict::Good, "store", "no index yet: `paraffin index` or `paraffin serve` will build it");
        return;
    }
    if control::find(&config.data_dir()).await.is_ok_and(|running| running.is_some()) {
        report.say(Verdict::Good, "store", "a running instance has it, and takes requests on its control socket");
        return;
    }
    match Store::open(&folder, &crate::instance::store_options(config), &crate::instance::schemas(config)) {
        Ok(store) => match store.snapshot().tip() {
            Some(tip) => report.say(Verdict::Good, "store", format_args!("indexed up to block {}", tip.id)),
            None => report.say(Verdict::Good, "store", "empty"),
        },
        Err(error) => report.say(Verdict::Bad, "store", error),
    }
}

/// Names aliases whose words are those of surfaces, of this version or of a later one.
async fn check_aliases(report: &mut Report, config: &Config) {
    let place = accounts::place(&config.access, &config.data_dir());
    if matches!(&place, DatabaseLocation::File(file) if !file.exists()) {
        return;
    }
    // A database that cannot be opened is reported elsewhere.
    let Ok(store) = DatabaseKeyStore::open_at(&place, config.plans.clone()).await else { return };
    for alias in store.aliases().await.unwrap_or_default() {
        if RESERVED_FOR_LATER.contains(&alias.name.as_str()) {
            let advice = format_args!(
                "the alias {} has the name of a surface to come: make another one and remove it, as it will stop working",
                alias.name
            );
            report.say(Verdict::Warning, "aliases", advice);
        }
        if RESERVED_SINCE.contains(&alias.name.as_str()) {
            let advice = format_args!(
                "the alias {} has the name of a surface: it works on, but make another one and remove it, as it cannot be made again",
                alias.name
            );
            report.say(Verdict::Warning, "aliases", advice);
        }
    }
    if let Err(error) = store.close().await {
        report.say(Verdict::Warning, "aliases", error);
    }
}

/// Whether the servers answer that gateways share. What they say never has their addresses.
async fn check_sharing(report: &mut Report, config: &Config) {
    let Some(server) = accounts::server(&config.access) else { return };
    match DatabaseKeyStore::open_at(&DatabaseLocation::Server(server), config.plans.clone()).await {
        Ok(store) => {
            report.say(Verdict::Good, "accounts", "the database of [access] database_url answers");
            if let Err(error) = store.close().await {
                report.say(Verdict::Warning, "accounts", error);
            }
        }
        Err(error) => report.say(Verdict::Bad, "accounts", error),
    }
    #[cfg(feature = "cluster")]
    check_windows(report, config).await;
}

/// Whether Redis answers, where gateways count together.
#[cfg(feature = "cluster")]
async fn check_windows(report: &mut Report, config: &Config) {
    let Ok(Some(shared)) = accounts::shared(&config.access) else { return };
    match shared.probe().await {
        Ok(version) => report.say(
            Verdict::Good,
            "windows",
            format_args!("Redis {version} answers; {} gateways count together", config.access.gateways),
        ),
        Err(error) => report.say(
            Verdict::Bad,
            "windows",
            format_args!("{error}: until it answers, each of {} gateways grants its part", config.access.gateways),
        ),
    }
}

fn check_listen(report: &mut Report, config: &Config) {
    let address = config.gateway.listen;
    match TcpListener::bind(address) {
        Ok(_) => report.say(Verdict::Good, "listen", format_args!("{address} is free")),
        Err(error) => report.say(
            Verdict::Warning,
            "listen",
            format_args!("{address} cannot be used now ({error}): another process, perhaps this instance, has it"),
        ),
    }
}
