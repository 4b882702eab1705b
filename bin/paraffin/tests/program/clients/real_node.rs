//! The chain of `paraffin dev` beside a real Bitcoin Core: what clients of every kind read there is what they read from `dev`.

use std::collections::BTreeMap;
use std::time::Duration;

use paraffin_client::{Client, MempoolEvent, MempoolMirror, jsonrpc, mempool};
use serde_json::{Value, json};

use super::{answers, described_part, run};
use crate::recorded::{Question, all_questions};
use crate::support::bitcoind::Bitcoind;
use crate::support::dev::Dev;
use crate::support::node::TestNode as _;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};

/// Questions whose answers may differ: what nodes say in their own words, times, and the feeds and orders that only `dev` has.
const OF_THE_INSTANCE: [&str; 16] = [
    " btc_",
    " getblock",
    // With how long they ran.
    "_evals",
    "fee-estimates",
    "mempool_",
    "esplora_mempool:",
    "esplora/mempool/",
    "bitcoin-price",
    "bitcoin-market",
    "market-chart",
    "get_btc_usd_price",
    "forex_",
    "orderbook",
    // Unconfirmed transactions in the order in which they came.
    "txs:mempool",
    "esplora_address::txs [",
    "/txs",
];
/// Members that are reckoned from the price in dollars, by parts of their names in lower case.
const IN_DOLLARS: [&str; 7] = ["usd", "price", "marketcap", "fdv", "tvl", "volume", "change"];

/// `serve` beside a Core that has the blocks and the unconfirmed transactions of `dev`.
struct Beside {
    node: Bitcoind,
    _folder: tempfile::TempDir,
    _process: Running,
    address: String,
    key: String,
}

impl Beside {
    fn start(dev: &Dev, node: Bitcoind) -> Self {
        for height in 1..=dev.height() {
            let hash = dev.node("getblockhash", json!([height]));
            let block = dev.node("getblock", json!([hash, 0]));
            assert_eq!(node.rpc("submitblock", json!([block])), Value::Null, "height {height}");
        }
        let unconfirmed = dev.node("getrawmempool", json!([])).as_array().unwrap().clone();
        let mut left = unconfirmed.clone();
        while !left.is_empty() {
            let before = left.len();
            // Parents first, in whatever order they come.
            left.retain(|txid| {
                let raw = dev.node("getrawtransaction", json!([txid]));
                !node.try_rpc("sendrawtransaction", json!([raw])).unwrap()["error"].is_null()
            });
            assert!(left.len() < before, "the node refuses {left:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let address = format!("127.0.0.1:{}", free_port());
        let create = ["keys", "create", "test", "--plan", "business", "--data-dir"];
        let created = paraffin().args(create).arg(&data).output().unwrap();
        let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n[index]\nmemory_mib = 256\n\
             poll_milliseconds = 50\n",
            data.display(),
            node.config()
        );
        let config = write_config(folder.path(), &text);
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(&config));
        process.wait_for_output("listening on", Duration::from_secs(30));
        let beside = Self { node, _folder: folder, _process: process, address, key };
        beside.wait_for(dev.height(), unconfirmed.len());
        beside
    }

    /// Waits until the index is there and the fees of all unconfirmed transactions are known.
    fn wait_for(&self, height: u64, unconfirmed: usize) {
        let path = format!("/v4/{}", self.key);
        wait_for("the index and the mempool to be the node's", Duration::from_secs(120), || {
            let reached = http::call(&self.address, &path, "metashrew_height", json!([]))["result"].clone();
            let info = http::result(&self.address, &format!("{path}/mempool"), "mempool_info", json!({}));
            let is_settled = info["count"] == unconfirmed && info["fee_known"] == info["count"];
            (is_settled && info["provisional"] == 0 && reached == height.to_string().as_str()).then_some(())
        });
    }

    /// The same question, of this instance.
    fn ask(&self, dev: &Dev, question: &Question) -> http::Answer {
        let path = question.path.replace(dev.text("/keys/business"), &self.key);
        ask(&self.address, question, &path)
    }
}

fn ask(address: &str, question: &Question, path: &str) -> http::Answer {
    let body = question.body.as_ref().map(Value::to_string).unwrap_or_default();
    let headers = [("content-type", "application/json")];
    http::try_request(address, question.verb, path, &headers, body.as_bytes()).unwrap()
}

fn without_dollars(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(without_dollars).collect(),
        Value::Object(members) => {
            let is_free = |name: &str| !IN_DOLLARS.iter().any(|part| name.to_ascii_lowercase().contains(part));
            members
                .into_iter()
                .filter(|(name, _)| is_free(name))
                .map(|(name, value)| (name, without_dollars(value)))
                .collect()
        }
        value => value,
    }
}

/// Text, or JSON without dollars.
fn comparable(answer: &http::Answer) -> (u16, Value) {
    let value = serde_json::from_slice(&answer.body).map_or_else(|_| json!(answer.text()), without_dollars);
    (answer.status, value)
}

#[test]
fn clients_read_the_same_beside_a_real_node() {
    let Some(node) = Bitcoind::start() else { return };
    let dev = Dev::start();
    let questions = all_questions(&dev);
    let beside = Beside::start(&dev, node);
    let mut equal = BTreeMap::<String, u32>::new();
    let mut findings = Vec::new();
    for question in questions {
        let theirs = beside.ask(&dev, &question);
        if !OF_THE_INSTANCE.iter().any(|part| question.name.contains(part)) {
            let ours = comparable(&ask(dev.listen(), &question, &question.path));
            if ours != comparable(&theirs) {
                findings.push(format!(
                    "{}: {ours:?} of dev, now {} {:.300}",
                    question.name,
                    theirs.status,
                    theirs.text()
                ));
            }
            let surface = question.described.as_ref().map_or("others", |(module, _)| module).to_owned();
            *equal.entry(surface).or_default() += 1;
        }
        // `btc_` may be left out of a name, which no description says of each.
        let Some((module, name)) = question.described.filter(|(_, name)| !name.starts_with("getblock")) else {
            continue;
        };
        if theirs.header("content-type") == Some("application/json")
            && let Some(answer) = described_part(&module, theirs.status, &theirs.json())
            && let Some(finding) = answers::finding(&module, &name, &answer)
        {
            findings.push(format!("{module} {name}: {finding} in {answer:.300}"));
        }
    }
    println!("equal answers by surface: {equal:?}");
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
    assert!(equal["rest"] > 400 && equal["jsonrpc"] > 500 && equal["espo"] > 50 && equal["others"] > 50, "{equal:?}");

    run(async {
        let client = Client::new(&format!("http://{}", beside.address)).unwrap().with_key(&beside.key).unwrap();
        let mut mirror = MempoolMirror::open(&client).await.unwrap();
        assert!(!mirror.entries().is_empty());
        let hashes = beside.node.mine(2, dev.text("/accounts/4/address"));
        let mut blocks = 0;
        while blocks < 2 {
            let event = tokio::time::timeout(Duration::from_secs(30), mirror.next()).await.unwrap().unwrap();
            blocks += u32::from(matches!(event, MempoolEvent::Block { .. }));
        }
        let info = client.call(&mempool::MempoolInfo::new()).await.unwrap();
        assert_eq!((mirror.checksum(), mirror.entries().len() as u64), (info.checksum, info.count));
        beside.wait_for(dev.height() + 2, 0);
        assert_eq!(client.call(&jsonrpc::BtcGetbestblockhash::new()).await.unwrap(), hashes[1]);
    });
}
