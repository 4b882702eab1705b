//! The status of the instance: the heights of its parts, and their data sources.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::calls::integer;
use super::reorgs::{Followed, followed_call};
use crate::api::{Call, MemoryBudget};
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped};

/// Sources of rates that are shown.
const SOURCES_SHOWN: usize = 20;

#[derive(Deserialize)]
struct Health {
    status: String,
    #[serde(default)]
    network: String,
    #[serde(default)]
    height: Option<u32>,
    #[serde(default)]
    node: Option<Node>,
    #[serde(default)]
    orderbook: Option<Orderbook>,
    #[serde(default)]
    upstreams: Option<Upstreams>,
    #[serde(default)]
    contracts: Option<Answered>,
    #[serde(default)]
    shadow: Option<Shadow>,
}

#[derive(Deserialize)]
struct Node {
    reachable: bool,
    #[serde(default)]
    height: Option<u32>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Orderbook {
    stream: String,
}

#[derive(Deserialize)]
struct Upstreams {
    reachable: u64,
    configured: u64,
}

#[derive(Deserialize)]
struct Answered {
    answered: bool,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Shadow {
    compared: u64,
    differences: u64,
    comparing: bool,
}

#[derive(Deserialize)]
struct Forex {
    age_seconds: Option<u64>,
    stale: bool,
    #[serde(default)]
    sources: Vec<Source>,
}

#[derive(Deserialize)]
struct Source {
    name: String,
    #[serde(default)]
    currencies: u64,
    #[serde(default)]
    as_of: Option<String>,
    #[serde(default)]
    failure: Option<String>,
}

#[derive(Deserialize)]
struct Digest {
    #[serde(default)]
    modules: serde_json::Map<String, Value>,
}

/// A part of the instance with its height.
struct Indexed {
    name: &'static str,
    height: String,
    lag: String,
    is_behind: bool,
}

/// A feed or a server from which the instance reads.
struct Feed {
    name: String,
    state: String,
    is_good: bool,
    detail: String,
}

#[derive(Template)]
#[template(path = "explorer/chain/status.html")]
struct StatusPage {
    view: View,
    status: String,
    is_good: bool,
    sentence: String,
    parts: Vec<Indexed>,
    feeds: Vec<Feed>,
    modules: String,
    reorgs: String,
    budgets: Vec<Budget>,
}

/// Memory that a part of the instance may take.
struct Budget {
    name: &'static str,
    used: String,
    max: String,
    share: String,
    is_good: bool,
}

pub(super) async fn page(reader: Reader) -> Result<Response, Failure> {
    let health = reader.part::<Health>(Call::get("/v4/api/health")).await?;
    let node_height = health.as_ref().ok().and_then(|health| health.node.as_ref()?.height);
    let mut parts = Vec::new();
    for (name, call) in [
        ("Bitcoin index", Call::rpc("esplora_blocks:tip:height", json!([]))),
        ("Alkanes", Call::rpc("metashrew_height", json!([]))),
        ("Inscriptions and runes", Call::rpc("ord_blockheight", json!([]))),
        ("BRC-20", Call::get("/v4/opi/v1/brc20/block_height")),
        ("Analytics", Call::keyed_rpc("espo", "essentials.get_espo_height", json!({}))),
        ("BTC/USD pool index", Call::keyed_rpc("btcusd", "metashrew_height", json!([]))),
    ] {
        let height = reader.part::<Value>(call).await?;
        parts.push(Indexed::of(name, height.as_ref().map(height_of), node_height));
    }
    let mut feeds = Vec::new();
    if let Ok(health) = &health {
        feeds.extend(health_feeds(health));
    }
    match reader.part::<Forex>(Call::keyed_rpc("forex", "forex_status", json!({}))).await? {
        Ok(forex) => feeds.extend(forex_feeds(&forex)),
        Err(sentence) => feeds.push(Feed::new("Exchange rates", "not shown", true, &sentence)),
    }
    let digest = reader.part::<Digest>(Call::rpc("metashrew_blockdigest", json!(["latest"]))).await?;
    let reorgs = match reader.part::<Followed>(followed_call(1)).await? {
        Ok(followed) => followed.sentence(),
        Err(sentence) => sentence,
    };
    let budgets = reader.memory_budgets().iter().map(Budget::of).collect();
    let (status, is_good, sentence) = match &health {
        Ok(health) => (text::clean(&health.status, 20), health.status == "ok", about(health)),
        Err(_) => {
            let sentence = "The instance is starting, has stopped indexing, or is about to stop.";
            ("not ready".to_owned(), false, sentence.to_owned())
        }
    };
    let modules = digest.map(|digest| modules(&digest)).unwrap_or_default();
    Ok(Page(StatusPage {
        status,
        is_good,
        sentence,
        parts,
        feeds,
        modules,
        reorgs,
        budgets,
        view: reader.view("status"),
    })
    .into_response())
}

/// A height as a number, as digits, or as the member of an object.
fn height_of(answer: &Value) -> Option<u32> {
    let height = answer.get("height").unwrap_or(answer);
    match height {
        Value::String(digits) => digits.parse().ok(),
        number => u32::try_from(number.as_u64()?).ok(),
    }
}

impl Indexed {
    fn of(name: &'static str, height: Result<Option<u32>, &String>, node: Option<u32>) -> Self {
        let sentence = |lag: &str| Self { name, height: "—".to_owned(), lag: lag.to_owned(), is_behind: false };
        let height = match height {
            Ok(Some(height)) => height,
            Ok(None) => return sentence("nothing is indexed yet"),
            Err(reason) => return sentence(reason),
        };
        let lag = node.map(|node| i64::from(node) - i64::from(height));
        let text = match lag {
            None => "the node does not answer".to_owned(),
            Some(..=0) => "at the node's height".to_owned(),
            Some(1) => "1 block behind".to_owned(),
            Some(lag) => format!("{} blocks behind", grouped(lag)),
        };
        Self { name, height: height.to_string(), lag: text, is_behind: lag.is_some_and(|lag| lag > 2) }
    }
}

impl Feed {
    fn new(name: &str, state: &str, is_good: bool, detail: &str) -> Self {
        Self { name: text::clean(name, 60), state: text::clean(state, 40), is_good, detail: text::clean(detail, 300) }
    }
}

impl Budget {
    /// Bytes as MiB, and the part of the budget that is taken in whole percent, rounded up.
    fn of(budget: &MemoryBudget) -> Self {
        let mebibytes = |bytes: u64| format!("{} MiB", grouped(bytes.div_ceil(1 << 20)));
        let percent = budget.used.saturating_mul(100).div_ceil(budget.max.max(1));
        Self {
            name: budget.name,
            used: mebibytes(budget.used),
            max: mebibytes(budget.max),
            share: format!("{percent} %"),
            is_good: percent < 90,
        }
    }
}

fn about(health: &Health) -> String {
    let network = text::clean(&health.network, 20);
    let height = health.height.map_or_else(|| "nothing".to_owned(), |height| format!("block {height}"));
    format!("Network {network}; indexed up to {height}.")
}

fn health_feeds(health: &Health) -> Vec<Feed> {
    let mut feeds = Vec::new();
    if let Some(node) = &health.node {
        let detail = node
            .error
            .clone()
            .unwrap_or_else(|| node.height.map(|height| format!("at block {height}")).unwrap_or_default());
        let state = if node.reachable { "reachable" } else { "away" };
        feeds.push(Feed::new("Bitcoin node", state, node.reachable, &detail));
    }
    if let Some(contracts) = &health.contracts {
        let state = if contracts.answered { "answered" } else { "not answered" };
        let detail = contracts.reason.clone().unwrap_or_default();
        feeds.push(Feed::new("Contracts", state, contracts.answered, &detail));
    }
    if let Some(orderbook) = &health.orderbook {
        let is_good = orderbook.stream == "ready";
        feeds.push(Feed::new("Stream of the order book", &orderbook.stream, is_good, ""));
    }
    if let Some(upstreams) = &health.upstreams {
        let is_good = upstreams.reachable == upstreams.configured;
        let state = format!("{} of {} reachable", upstreams.reachable, upstreams.configured);
        feeds.push(Feed::new("Upstreams", &state, is_good, ""));
    }
    if let Some(shadow) = &health.shadow {
        let state = if shadow.comparing { "comparing" } else { "stopped" };
        let detail = format!("{} blocks compared, {} differences", shadow.compared, shadow.differences);
        feeds.push(Feed::new("Second engine", state, shadow.comparing && shadow.differences == 0, &detail));
    }
    feeds
}

fn forex_feeds(forex: &Forex) -> Vec<Feed> {
    let age = forex.age_seconds.map(|age| format!("{} seconds old", grouped(age))).unwrap_or_default();
    let mut feeds = vec![Feed::new("Exchange rates", if forex.stale { "stale" } else { "fresh" }, !forex.stale, &age)];
    for source in forex.sources.iter().take(SOURCES_SHOWN) {
        let failure = source.failure.as_deref();
        let as_of = source.as_of.as_deref().map(|at| format!(", as of {at}")).unwrap_or_default();
        let detail = failure.map_or_else(|| format!("{} currencies{as_of}", source.currencies), str::to_owned);
        let state = if failure.is_none() { "answers" } else { "fails" };
        feeds.push(Feed::new(&format!("Source {}", source.name), state, failure.is_none(), &detail));
    }
    feeds
}

/// Versions of the parts of the index.
fn modules(digest: &Digest) -> String {
    let modules = digest.modules.iter().take(20).map(|(name, module)| {
        let version = module.get("version").map(Value::to_string).unwrap_or_default();
        format!("{} {}", text::clean(name, 40), integer(&version))
    });
    modules.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_of_all_forms_are_read() {
        assert_eq!(height_of(&json!("160")), Some(160));
        assert_eq!(height_of(&json!(160)), Some(160));
        assert_eq!(height_of(&json!({ "height": 160 })), Some(160));
        for answer in [json!(-1), json!("x"), json!(null), json!([1]), json!(1e30)] {
            assert_eq!(height_of(&answer), None, "{answer}");
        }
    }

    #[test]
    fn budgets_are_shown_in_mebibytes_and_percent() {
        let of = |used, max| Budget::of(&MemoryBudget { name: "x", used, max });
        let half = of(1 << 20, 2 << 20);
        assert_eq!((&*half.used, &*half.max, &*half.share, half.is_good), ("1 MiB", "2 MiB", "50 %", true));
        assert!(!of(19, 20).is_good);
        assert_eq!((&*of(0, 0).share, &*of(u64::MAX, 1).used), ("0 %", "17,592,186,044,416 MiB"));
    }

    #[test]
    fn lags_are_counted_from_the_node() {
        let part = |height, node| Indexed::of("x", Ok(height), node);
        assert_eq!(
            (&*part(Some(160), Some(160)).lag, part(Some(160), Some(160)).is_behind),
            ("at the node's height", false)
        );
        assert_eq!(part(Some(159), Some(160)).lag, "1 block behind");
        assert!(part(Some(100), Some(160)).is_behind);
        assert_eq!(part(None, Some(160)).height, "—");
        assert_eq!(Indexed::of("x", Err(&"Sign in".to_owned()), None).lag, "Sign in");
    }
}
