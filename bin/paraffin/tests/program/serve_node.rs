//! `paraffin serve` beside a node, a real Bitcoin Core and the devnet alike: import, live blocks, reorgs, and a node that stops and comes back.

use std::time::Duration;

use crate::support::bitcoind::Bitcoind;
use crate::support::devnet::DevnetNode;
use crate::support::node::TestNode;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use serde_json::{Value, json};

const ADDRESS_A: &str = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
const ADDRESS_B: &str = "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry";

struct Instance {
    _folder: tempfile::TempDir,
    address: String,
    /// Path of the main endpoint with a key whose plan has no limit.
    path: String,
    process: Running,
}

impl Instance {
    fn call(&self, method: &str, params: Value) -> Value {
        http::call(&self.address, &self.path, method, params)
    }

    fn result(&self, method: &str, params: Value) -> Value {
        http::result(&self.address, &self.path, method, params)
    }
}

fn serve(node: &dyn TestNode) -> Instance {
    serve_with(node, "")
}

/// With further sections of the configuration.
fn serve_with(node: &dyn TestNode, further: &str) -> Instance {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n{further}\n",
            folder.path().join("data").display(),
            node.config()
        ),
    );
    let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
    process.wait_for_output("listening on", Duration::from_secs(20));
    let created = paraffin()
        .args(["keys", "create", "test", "--plan", "business", "--data-dir"])
        .arg(folder.path().join("data"))
        .output()
        .unwrap();
    let path = format!("/v4/{}", String::from_utf8_lossy(&created.stdout).trim());
    Instance { _folder: folder, address, path, process }
}

fn height(address: &str) -> Option<u64> {
    let answer = http::try_request(address, "GET", "/v4/api/indexer/height", &[], b"")?;
    answer.json()["height"].as_u64()
}

fn health(address: &str) -> (u16, Value) {
    let answer = http::get(address, "/v4/api/health");
    (answer.status, answer.json())
}

/// The answers must equal what the node itself says about its chain.
fn assert_equal_to_node(node: &dyn TestNode, instance: &Instance) {
    let tip = node.rpc("getbestblockhash", json!([]));
    let count = node.rpc("getblockcount", json!([])).as_u64().unwrap();
    wait_for("the index to reach the node's tip", Duration::from_secs(30), || {
        (instance.call("btc_getbestblockhash", json!([]))["result"] == tip).then_some(())
    });
    assert_eq!(instance.result("btc_getblockcount", json!([])), json!(count));
    for height in [0, 1, count / 2, count.saturating_sub(1), count] {
        let hash = node.rpc("getblockhash", json!([height]));
        assert_eq!(instance.result("esplora_block-height", json!([height])), hash);
        let theirs = node.rpc("getblock", json!([hash, 1]));
        let ours = instance.result("esplora_block", json!([hash]));
        for (our_name, their_name) in [
            ("id", "hash"),
            ("height", "height"),
            ("timestamp", "time"),
            ("size", "size"),
            ("weight", "weight"),
            ("tx_count", "nTx"),
            ("merkle_root", "merkleroot"),
            ("mediantime", "mediantime"),
            ("nonce", "nonce"),
        ] {
            assert_eq!(ours[our_name], theirs[their_name], "{our_name} of block {height}");
        }
        let txids = instance.result("esplora_block::txids", json!([hash]));
        assert_eq!(txids, theirs["tx"]);
        for txid in txids.as_array().unwrap() {
            let ours = instance.result("esplora_tx", json!([txid]));
            assert_eq!(ours["txid"], *txid);
            assert_eq!(ours["status"]["block_height"], json!(height));
            if height > 0 {
                let hex = node.rpc("getrawtransaction", json!([txid, false, hash]));
                assert_eq!(instance.result("esplora_tx::hex", json!([txid])), hex);
            }
        }
    }
}

fn balance(instance: &Instance, of: &str) -> u64 {
    let answer =
        http::post(&instance.address, &format!("{}/get-address-balance", instance.path), &json!({"address": of}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"]["balance"].as_u64().unwrap()
}

/// What coinbases of the whole chain paid to `of`, recomputed from the node's blocks.
fn mined_to(node: &dyn TestNode, of: &str) -> u64 {
    let count = node.rpc("getblockcount", json!([])).as_u64().unwrap();
    (1..=count)
        .map(|height| {
            let hash = node.rpc("getblockhash", json!([height]));
            let block = node.rpc("getblock", json!([hash, 2]));
            let outputs = block["tx"][0]["vout"].as_array().unwrap().clone();
            outputs
                .iter()
                .filter(|output| output["scriptPubKey"]["address"] == of)
                .map(|output| {
                    let text = output["value"].to_string();
                    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
                    whole.parse::<u64>().unwrap() * 100_000_000 + format!("{part:0<8}").parse::<u64>().unwrap()
                })
                .sum::<u64>()
        })
        .sum()
}

#[test]
fn follows_a_real_bitcoind_through_import_live_blocks_reorgs_and_a_restart() {
    let Some(mut node) = Bitcoind::start() else { return };
    follow_through_everything(&mut node);
}

#[test]
fn follows_the_devnet_through_import_live_blocks_reorgs_and_a_restart() {
    follow_through_everything(&mut DevnetNode::start());
}

fn follow_through_everything(node: &mut dyn TestNode) {
    node.mine(120, ADDRESS_A);
    let mut instance = serve(node);
    let address = instance.address.clone();

    // Import, then live blocks.
    assert_equal_to_node(node, &instance);
    assert_eq!(balance(&instance, ADDRESS_A), mined_to(node, ADDRESS_A));
    node.mine(3, ADDRESS_B);
    assert_equal_to_node(node, &instance);
    assert_eq!(balance(&instance, ADDRESS_B), mined_to(node, ADDRESS_B));

    // Reorgs of depth 1 and 10: the branch that wins pays another address.
    for depth in [1_u64, 10] {
        let count = node.rpc("getblockcount", json!([])).as_u64().unwrap();
        let fork = node.rpc("getblockhash", json!([count - depth + 1]));
        node.rpc("invalidateblock", json!([fork]));
        node.mine(u32::try_from(depth).unwrap() + 1, ADDRESS_A);
        assert_equal_to_node(node, &instance);
        assert_eq!(balance(&instance, ADDRESS_A), mined_to(node, ADDRESS_A), "depth {depth}");
        assert_eq!(balance(&instance, ADDRESS_B), mined_to(node, ADDRESS_B), "depth {depth}");
    }

    // A chain that only becomes shorter is followed, too.
    let count = node.rpc("getblockcount", json!([])).as_u64().unwrap();
    let top = node.rpc("getblockhash", json!([count]));
    node.rpc("invalidateblock", json!([top]));
    assert_equal_to_node(node, &instance);
    node.rpc("reconsiderblock", json!([top]));
    assert_equal_to_node(node, &instance);

    // The node goes away: reads go on, health says so, methods that need the node fail clearly.
    let tip = node.rpc("getbestblockhash", json!([]));
    node.stop();
    wait_for("health to report that the node is away", Duration::from_secs(30), || {
        let (status, body) = health(&address);
        (status == 200 && body["status"] == "degraded" && body["node"]["reachable"] == json!(false)).then_some(())
    });
    assert_eq!(instance.result("btc_getbestblockhash", json!([])), tip);
    assert_eq!(balance(&instance, ADDRESS_A), {
        let stats = instance.result("esplora_address", json!([ADDRESS_A]));
        stats["chain_stats"]["funded_txo_sum"].as_u64().unwrap()
            - stats["chain_stats"]["spent_txo_sum"].as_u64().unwrap()
    });
    let refused = instance.call("btc_getdifficulty", json!([]));
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert_eq!(refused["error"]["data"]["code"], "UPSTREAM_UNAVAILABLE");

    // It comes back and goes on.
    node.launch();
    node.mine(2, ADDRESS_B);
    assert_equal_to_node(node, &instance);
    wait_for("health to be good again", Duration::from_secs(30), || {
        (health(&address).1["status"] == "ok").then_some(())
    });

    // A clean stop, and a start that does not import again.
    assert!(instance.process.terminate(Duration::from_secs(5)).success());
    assert!(height(&address).is_none());
}

/// What an operator sees of a long import: what disk it will need, then rate, bytes and time that are left.
#[test]
fn a_block_is_indexed_as_soon_as_a_real_bitcoind_announces_it() {
    let Some(node) = Bitcoind::start() else { return };
    is_woken_by(&node);
}

#[test]
fn a_block_is_indexed_as_soon_as_the_devnet_announces_it() {
    is_woken_by(&DevnetNode::start());
}

/// The program asks by itself once in ten minutes, so that each block is one that the peer has announced.
fn is_woken_by(node: &dyn TestNode) {
    node.mine(101, ADDRESS_A);
    let mut instance = serve_with(node, "[index]\npoll_milliseconds = 600000");
    assert_equal_to_node(node, &instance);
    wait_for("the peer", Duration::from_secs(20), || {
        instance.process.errors().contains("a peer announces transactions and blocks").then_some(())
    });
    for block in 102..=105 {
        node.mine(1, ADDRESS_B);
        wait_for("the block that was announced", Duration::from_secs(20), || {
            assert!(instance.process.is_running(), "the program ended");
            (height(&instance.address) == Some(block)).then_some(())
        });
    }
}

#[test]
fn an_import_says_what_disk_it_needs_and_how_far_it_is() {
    let node = DevnetNode::start();
    node.mine(1_500, ADDRESS_A);
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[index]\ncommit_kib = 1\nprefetch_blocks = 1\n[log]\nprogress_seconds = 0\n",
            folder.path().join("data").display(),
            node.config()
        ),
    );
    let mut process = Running::start(paraffin().args(["index", "--config"]).arg(config));
    let lines = |process: &Running, text: &str| -> Vec<String> {
        process.errors().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    };
    let needed = wait_for("the need for disk", Duration::from_secs(30), || {
        lines(&process, "more on the disk").into_iter().next()
    });
    for part in ["INFO", "of blocks needs about", "bytes (", "tables ", "undo ", "working space", "are free"] {
        assert!(needed.contains(part), "{part}: {needed}");
    }
    let line = wait_for("a line about the progress", Duration::from_secs(30), || {
        lines(&process, " of 1500, ").into_iter().next()
    });
    for part in ["block ", "/s, ", " blocks/s, ", " left, about "] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(process.terminate(Duration::from_secs(10)).success());
}
