//! The live mempool beside a node, a real Bitcoin Core and the devnet alike: a client that reads nothing but a snapshot and
//! the stream has what the node has, after replacements, blocks and reorgs.

use std::collections::{BTreeSet, HashMap};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::bitcoind::Bitcoind;
use crate::support::devnet::DevnetNode;
use crate::support::node::TestNode;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use bitcoin::absolute::LockTime;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::transaction::Version;
use bitcoin::{Address, Amount, Network, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Witness};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// What is paid here is anyone-can-spend, by showing this script.
const ANYONE: &[u8] = &[0x51];

fn script() -> ScriptBuf {
    ScriptBuf::from_bytes(ANYONE.to_vec()).to_p2wsh()
}

fn address() -> String {
    Address::from_script(&script(), Network::Regtest).unwrap().to_string()
}

/// Spends outputs of [`script`] into `count` equal ones and a fee.
fn spend(coins: &[(OutPoint, u64)], count: u64, fee: u64) -> Transaction {
    let value = (coins.iter().map(|(_, value)| value).sum::<u64>() - fee) / count;
    let input = |(outpoint, _): &(OutPoint, u64)| TxIn {
        previous_output: *outpoint,
        script_sig: ScriptBuf::new(),
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness: Witness::from_slice(&[ANYONE]),
    };
    Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: coins.iter().map(input).collect(),
        output: (0..count).map(|_| TxOut { value: Amount::from_sat(value), script_pubkey: script() }).collect(),
    }
}

fn outputs(transaction: &Transaction) -> Vec<(OutPoint, u64)> {
    let txid = transaction.compute_txid();
    let outputs = (0u32..).zip(&transaction.output);
    outputs.map(|(vout, output)| (OutPoint { txid, vout }, output.value.to_sat())).collect()
}

struct Instance {
    folder: tempfile::TempDir,
    address: String,
    path: String,
    /// When it was started, Unix milliseconds.
    started: u64,
    _process: Running,
}

/// The time of this machine, Unix milliseconds.
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

impl Instance {
    /// Beside a node, with further lines of the configuration behind `[gateway]`.
    fn beside(node: &dyn TestNode, further: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let text = format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n{further}",
            folder.path().join("data").display(),
            node.config()
        );
        let config = write_config(folder.path(), &text);
        let started = now();
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
        process.wait_for_output("listening on", Duration::from_secs(20));
        let data = folder.path().join("data");
        let created =
            paraffin().args(["keys", "create", "test", "--plan", "business", "--data-dir"]).arg(data).output().unwrap();
        let path = format!("/v4/{}/mempool", String::from_utf8_lossy(&created.stdout).trim());
        Self { folder, address, path, started, _process: process }
    }

    /// A further key with a flag of `paraffin keys create`.
    fn key(&self, flag: &str) -> String {
        let data = self.folder.path().join("data");
        let created = paraffin().args(["keys", "create", "further", flag, "--data-dir"]).arg(data).output().unwrap();
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        String::from_utf8(created.stdout).unwrap().trim().to_owned()
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        http::result(&self.address, &self.path, method, params)
    }
}

/// A client that knows only what the surface answers.
struct Mirror {
    socket: WebSocket<TcpStream>,
    set: BTreeSet<String>,
    at: u64,
    checksum: Option<String>,
}

impl Mirror {
    fn of(instance: &Instance) -> Self {
        let stream = TcpStream::connect(&instance.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let url = format!("ws://{}{}/ws", instance.address, instance.path);
        let request = format!(
            "GET {}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            instance.path
        );
        let mut stream = stream;
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "), "{url}");
        let socket = WebSocket::from_raw_socket(stream, Role::Client, None);
        let mut mirror = Self { socket, set: BTreeSet::new(), at: 0, checksum: None };
        let hello = mirror.next().unwrap();
        assert_eq!(hello["type"], "hello");
        mirror.seed(instance, hello["instance"].as_str().unwrap());
        mirror
    }

    /// A snapshot in small pages, then the stream from the first page on.
    fn seed(&mut self, instance: &Instance, name: &str) {
        self.set.clear();
        let (mut cursor, mut since) = (0, None);
        loop {
            let page = instance.ask("mempool_snapshot", json!({"limit": 7, "cursor": cursor, "instance": name}));
            since.get_or_insert(page["seq"].as_u64().unwrap());
            self.set.extend(
                page["entries"].as_array().unwrap().iter().map(|entry| entry["txid"].as_str().unwrap().to_owned()),
            );
            cursor = page["cursor"].as_u64().unwrap();
            if !page["has_more"].as_bool().unwrap() {
                break;
            }
        }
        self.at = since.unwrap();
        let subscribe = json!({"op": "subscribe", "since_seq": self.at, "instance": name});
        self.socket.send(Message::text(subscribe.to_string())).unwrap();
    }

    fn next(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(_) => {}
                Err(tokio_tungstenite::tungstenite::Error::Io(error))
                    if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
                {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Takes what has come.
    fn follow(&mut self) {
        while let Some(frame) = self.next() {
            let kind = frame["type"].as_str().unwrap();
            if matches!(kind, "hello" | "pong") {
                continue;
            }
            assert_ne!(kind, "reset", "{frame}");
            let seq = frame["seq"].as_u64().unwrap();
            // What was added while the pages were read is sent a second time, nothing is left out.
            assert_eq!(seq, self.at + 1, "{frame}");
            self.at = seq;
            match kind {
                "add" => _ = self.set.insert(frame["txid"].as_str().unwrap().to_owned()),
                "remove" => assert!(self.set.remove(frame["txid"].as_str().unwrap()), "{frame}"),
                "block" => self.checksum = Some(frame["checksum"].as_str().unwrap().to_owned()),
                "update" => {}
                _ => panic!("{frame}"),
            }
        }
    }

    fn checksum(&self) -> String {
        let sum = self.set.iter().fold(0, |sum, txid| sum ^ u64::from_str_radix(&txid[..16], 16).unwrap());
        format!("{sum:016x}")
    }
}

fn is_unspent(node: &dyn TestNode, outpoint: &OutPoint) -> bool {
    !node.rpc("gettxout", json!([outpoint.txid, outpoint.vout, true])).is_null()
}

fn node_set(node: &dyn TestNode) -> BTreeSet<String> {
    let listed = node.rpc("getrawmempool", json!([]));
    listed.as_array().unwrap().iter().map(|txid| txid.as_str().unwrap().to_owned()).collect()
}

/// Waits until the mirror equals the node; how many transactions there are.
fn equal(node: &dyn TestNode, instance: &Instance, mirror: &mut Mirror, when: &str) -> usize {
    wait_for(&format!("the mirror to equal the node {when}"), Duration::from_secs(40), || {
        mirror.follow();
        (mirror.set == node_set(node)).then_some(())
    });
    let info = instance.ask("mempool_info", json!({}));
    assert_eq!(info["checksum"], mirror.checksum());
    assert_eq!(info["fee_coverage"], 1.0, "every input is known: {info}");
    // Times are of the instance, whenever a transaction was made.
    let recent = instance.ask("mempool_recent", json!({"limit": 5_000}));
    let seen: Vec<u64> =
        recent["entries"].as_array().unwrap().iter().map(|entry| entry["first_seen"].as_u64().unwrap()).collect();
    let lifetime = instance.started..=now();
    assert!(seen.iter().all(|time| lifetime.contains(time)), "{lifetime:?}: {seen:?}");
    seen.len()
}

fn a_mirror_equals_the_node(node: &dyn TestNode) {
    a_mirror_beside_others_equals_the_node(node, "");
}

fn a_mirror_beside_others_equals_the_node(node: &dyn TestNode, further: &str) {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let address = address();
    let blocks = node.mine(104, &address);
    // Coins for the whole run.
    let block = node.rpc("getblock", json!([blocks[0], 2]));
    let coinbase = block["tx"][0]["txid"].as_str().unwrap().parse().unwrap();
    let fan = spend(&[(OutPoint { txid: coinbase, vout: 0 }, 5_000_000_000)], 40, 10_000);
    let send =
        |transaction: &Transaction| node.try_rpc("sendrawtransaction", json!([serialize_hex(transaction)])).unwrap();
    assert!(send(&fan)["error"].is_null());
    node.mine(1, &address);

    let instance = Instance::beside(node, further);
    wait_for("the index", Duration::from_secs(30), || {
        let answer = http::try_request(&instance.address, "GET", "/v4/api/indexer/height", &[], b"")?;
        (answer.json()["height"] == 105).then_some(())
    });
    let mut coins = outputs(&fan);
    let mut values: HashMap<OutPoint, u64> = coins.iter().copied().collect();
    let mut pending: Vec<Transaction> = Vec::new();
    let mut mirror = Mirror::of(&instance);
    let (mut sent, mut compared) = (0, 0);
    for step in 0..60u8 {
        match random.next_u64() % 12 {
            0..=5 => {
                let count = 1 + random.next_u64() as usize % 2;
                if coins.len() >= count {
                    let taken: Vec<_> =
                        (0..count).map(|_| coins.remove(random.next_u64() as usize % coins.len())).collect();
                    let transaction = spend(&taken, 1 + random.next_u64() % 3, 2_000);
                    if send(&transaction)["error"].is_null() {
                        coins.extend(outputs(&transaction));
                        values.extend(outputs(&transaction));
                        pending.push(transaction);
                        sent += 1;
                    }
                }
            }
            6..=8 if !pending.is_empty() => {
                let replaced = pending.remove(random.next_u64() as usize % pending.len());
                let coin: Vec<_> =
                    replaced.input.iter().map(|input| input.previous_output).map(|at| (at, values[&at])).collect();
                let fee = 60_000 + random.next_u64() % 1_000;
                if coin.iter().map(|(_, value)| value).sum::<u64>() > 2 * fee {
                    let other = spend(&coin, 1, fee);
                    if send(&other)["error"].is_null() {
                        coins.retain(|(outpoint, _)| outpoint.txid != replaced.compute_txid());
                        coins.extend(outputs(&other));
                        values.extend(outputs(&other));
                        pending.push(other);
                        sent += 1;
                    }
                }
            }
            9 => {
                node.mine(1, &address);
                pending.clear();
                coins.retain(|(outpoint, _)| is_unspent(node, outpoint));
            }
            10 if step % 3 == 0 => {
                // A branch without the newest two blocks, one longer.
                let height = node.rpc("getblockcount", json!([])).as_u64().unwrap();
                let hash = node.rpc("getblockhash", json!([height - 1]));
                node.rpc("invalidateblock", json!([hash]));
                // Each to another address: Bitcoin Core does not take a block again that it has invalidated.
                for number in 0..3u8 {
                    let other = ScriptBuf::from_bytes(vec![0x51, 0x01, step, 0x01, number]).to_p2wsh();
                    let other = Address::from_script(&other, Network::Regtest).unwrap().to_string();
                    node.rpc("generateblock", json!([other, []]));
                }
                coins.retain(|(outpoint, _)| is_unspent(node, outpoint));
            }
            _ => mirror.follow(),
        }
        if step % 20 == 19 {
            compared += equal(node, &instance, &mut mirror, &format!("after step {step}"));
        }
    }
    assert!(sent >= 10, "only {sent} transactions were sent");
    assert!(compared > 0, "the set was empty whenever it was compared");
    node.mine(1, &address);
    equal(node, &instance, &mut mirror, "at the end");
    assert!(mirror.checksum.is_some());
    // A new client that begins now has the same.
    let mut late = Mirror::of(&instance);
    equal(node, &instance, &mut late, "for a newcomer");
}

/// A transaction that the node would take, shown by an admin alone: the instance has it, and its node never hears of it, although
/// both are connected as peers and by RPC.
fn what_an_admin_shows_goes_to_no_node(node: &dyn TestNode) {
    let blocks = node.mine(104, &address());
    let block = node.rpc("getblock", json!([blocks[0], 2]));
    let coinbase = block["tx"][0]["txid"].as_str().unwrap().parse().unwrap();
    let shown = spend(&[(OutPoint { txid: coinbase, vout: 0 }, 5_000_000_000)], 1, 10_000);
    let txid = shown.compute_txid().to_string();
    let instance = Instance::beside(node, "");
    wait_for("the index", Duration::from_secs(30), || {
        let answer = http::try_request(&instance.address, "GET", "/v4/api/indexer/height", &[], b"")?;
        (answer.json()["height"] == 104).then_some(())
    });
    let entry = || instance.ask("mempool_entry", json!({ "txid": txid }));
    let observe = format!("/v4/{}/mempool/observe", instance.key("--admin"));
    let answer = http::post(&instance.address, &observe, &json!({ "hex": serialize_hex(&shown) }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!((&entry()["origin"], &entry()["provisional"]), (&json!("edge"), &json!(true)));
    // Longer than the set takes to be compared with the node's, which must not send it either.
    std::thread::sleep(Duration::from_secs(3));
    assert!(node_set(node).is_empty(), "the node has what only the instance was shown");
    assert_eq!(entry()["provisional"], true);
    // The node would have taken it, and the instance would have heard of it.
    assert!(node.try_rpc("sendrawtransaction", json!([serialize_hex(&shown)])).unwrap()["error"].is_null());
    wait_for("the announcement", Duration::from_secs(30), || (entry()["provisional"] == false).then_some(()));
}

/// row MP15
#[test]
fn what_an_admin_shows_does_not_reach_the_devnet() {
    what_an_admin_shows_goes_to_no_node(&DevnetNode::start());
}

/// row MP15
#[test]
fn what_an_admin_shows_does_not_reach_a_real_node() {
    let Some(node) = Bitcoind::start() else { return };
    what_an_admin_shows_goes_to_no_node(&node);
}

/// row MP10
#[test]
fn a_mirror_equals_the_devnet() {
    let node = DevnetNode::start();
    a_mirror_equals_the_node(&node);
}

/// Another node that follows the same chain and never hears of a transaction, one whose address does not answer, and the own
/// one once more: none of them changes what the set is.
#[test]
fn a_mirror_with_several_peers_equals_the_devnet() {
    let (node, other) = (DevnetNode::start(), DevnetNode::start());
    let metrics = format!("127.0.0.1:{}", free_port());
    let further = format!(
        "metrics_listen = \"{metrics}\"\n[mempool]\npeers = [\"{}\", \"{}\", \"127.0.0.1:{}\"]\n",
        node.p2p(),
        other.p2p(),
        free_port()
    );
    let connected = std::thread::spawn(move || {
        wait_for("two peers", Duration::from_secs(60), || {
            let answer = http::try_request(&metrics, "GET", "/metrics", &[], b"")?;
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            text.lines().any(|line| line == "paraffin_mempool_peers 2").then_some(())
        });
    });
    a_mirror_beside_others_equals_the_node(&node, &further);
    connected.join().unwrap();
}

#[test]
fn a_mirror_equals_a_real_node() {
    let Some(node) = Bitcoind::start() else { return };
    a_mirror_equals_the_node(&node);
}
