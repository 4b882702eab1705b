//! Side by side with Bitcoin Core: it accepts the chain, gives the same answers, and is a good peer.
//!
//! Where there is none, these tests are counted as skipped.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use paraffin_devnet::{Devnet, DevnetOptions, OutputKind};
use paraffin_testkit::{bitcoind, free_port};
use serde_json::{Value, json};

use crate::support::{address, call, plain_coin, post, rest, result};

/// Members that describe the process, its clock or its version rather than about the chain.
const OWN_MEMBERS: [&str; 21] = [
    "bip125-replaceable",
    "currentblocktx",
    "currentblockweight",
    "curtime",
    "fullrbf",
    "initialblockdownload",
    "localservices",
    "localservicesnames",
    "longpollid",
    "maxmempool",
    "protocolversion",
    "size_on_disk",
    "subversion",
    "time",
    "unbroadcast",
    "unbroadcastcount",
    "usage",
    "vbavailable",
    "verificationprogress",
    "version",
    "warnings",
];

/// A running `bitcoind`; ended when dropped.
struct Core {
    process: Child,
    address: String,
    _directory: tempfile::TempDir,
}

impl Drop for Core {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn start_core() -> Option<Core> {
    let binary = bitcoind()?;
    let directory = tempfile::tempdir().unwrap();
    let (rpc, p2p) = (free_port(), free_port());
    let process = Command::new(binary)
        .args(["-regtest", "-rest=1", "-txindex=1", "-rpcuser=dev", "-rpcpassword=dev", "-printtoconsole=0"])
        .arg(format!("-datadir={}", directory.path().display()))
        .arg(format!("-rpcport={rpc}"))
        .arg(format!("-bind=127.0.0.1:{p2p}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let core = Core { process, address: format!("127.0.0.1:{rpc}"), _directory: directory };
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < Duration::from_secs(60), "bitcoind answers within a minute");
        if tokio::net::TcpStream::connect(&core.address).await.is_ok()
            && call(&core.address, "getblockcount", json!([])).await.0 == 200
        {
            return Some(core);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Hands every block of the devnet to Core.
async fn copy_chain(devnet: &Devnet, core: &str) {
    let node = devnet.node();
    for height in 1..=devnet.tip().height {
        let block = node.block(&node.block_hash(height).unwrap()).unwrap();
        let hex = bitcoin::consensus::encode::serialize_hex(&*block);
        assert_eq!(result(core, "submitblock", json!([hex])).await, Value::Null, "height {height}");
    }
    assert_eq!(result(core, "getbestblockhash", json!([])).await, devnet.tip().hash.to_string());
}

/// Takes out what is the process's own.
fn chain_part(value: Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.into_iter().map(chain_part).collect()),
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(name, _)| !OWN_MEMBERS.contains(&name.as_str()))
                .map(|(name, value)| (name, chain_part(value)))
                .collect(),
        ),
        value => value,
    }
}

async fn same_call(devnet: &str, core: &str, method: &str, params: Value) -> Value {
    let (status, ours) = call(devnet, method, params.clone()).await;
    let (core_status, theirs) = call(core, method, params.clone()).await;
    let (ours, theirs) = (chain_part(ours), chain_part(theirs));
    assert_eq!((status, &ours), (core_status, &theirs), "{method} {params}");
    ours["result"].clone()
}

async fn same_rest(devnet: &str, core: &str, path: &str) {
    let (ours, theirs) = (rest(devnet, path).await, rest(core, path).await);
    assert_eq!((ours.status, &ours.content_type), (theirs.status, &theirs.content_type), "{path}");
    if ours.status == 200 && path.contains(".json") {
        assert_eq!(chain_part(ours.json()), chain_part(theirs.json()), "{path}");
    } else {
        assert!(ours.body == theirs.body, "{path}: {} {}", ours.text(), theirs.text());
    }
}

#[tokio::test]
async fn core_accepts_the_chain_and_gives_the_same_answers() {
    let Some(core) = start_core().await else { return };
    let devnet = Devnet::start(DevnetOptions::default()).await.unwrap();
    let (ours, theirs) = (&address(&devnet), &core.address);
    copy_chain(&devnet, theirs).await;
    for txid in devnet.node().mempool_txids() {
        let hex = result(ours, "getrawtransaction", json!([txid.to_string()])).await;
        result(theirs, "sendrawtransaction", json!([hex])).await;
    }
    let started = Instant::now();
    while result(theirs, "getindexinfo", json!([])).await != result(ours, "getindexinfo", json!([])).await {
        assert!(started.elapsed() < Duration::from_secs(30), "Core indexes the chain");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    for height in (0..=160).filter(|height| *height < 2 || *height > 130) {
        let hash = same_call(ours, theirs, "getblockhash", json!([height])).await;
        let hash = hash.as_str().unwrap();
        for verbosity in 0..=3 {
            same_call(ours, theirs, "getblock", json!([hash, verbosity])).await;
        }
        same_call(ours, theirs, "getblockheader", json!([hash])).await;
        same_call(ours, theirs, "getblockheader", json!([hash, false])).await;
        if height > 0 {
            same_call(ours, theirs, "getblockstats", json!([height])).await;
        }
        for path in [
            format!("block/{hash}.bin"),
            format!("block/{hash}.json"),
            format!("block/notxdetails/{hash}.json"),
            format!("headers/{hash}.bin?count=7"),
            format!("headers/3/{hash}.hex"),
            format!("headers/{hash}.json"),
            format!("spenttxouts/{hash}.bin"),
            format!("spenttxouts/{hash}.json"),
            format!("blockpart/{hash}.bin?offset=80&size=50"),
            format!("blockhashbyheight/{height}.bin"),
            format!("blockhashbyheight/{height}.json"),
        ] {
            same_rest(ours, theirs, &format!("/rest/{path}")).await;
        }
    }
    for height in [20, 140, 155, 160] {
        let hash = devnet.node().block_hash(height).unwrap();
        for tx in &devnet.node().block(&hash).unwrap().txdata {
            let txid = tx.compute_txid();
            for verbosity in 0..=2 {
                same_call(ours, theirs, "getrawtransaction", json!([txid.to_string(), verbosity])).await;
            }
            same_call(ours, theirs, "gettxoutproof", json!([[txid.to_string()]])).await;
            for vout in 0..2 {
                same_call(ours, theirs, "gettxout", json!([txid.to_string(), vout])).await;
            }
            same_rest(ours, theirs, &format!("/rest/tx/{txid}.bin")).await;
            same_rest(ours, theirs, &format!("/rest/tx/{txid}.json")).await;
            same_rest(ours, theirs, &format!("/rest/getutxos/checkmempool/{txid}-0/{txid}-1.bin")).await;
        }
    }
    for txid in devnet.node().mempool_txids() {
        let txid = txid.to_string();
        for (method, params) in [
            ("getmempoolentry", json!([txid])),
            ("getmempoolancestors", json!([txid])),
            ("getmempooldescendants", json!([txid, true])),
            ("getrawtransaction", json!([txid, 2])),
            ("gettxout", json!([txid, 0])),
        ] {
            same_call(ours, theirs, method, params).await;
        }
    }
    for (method, params) in [
        ("getrawmempool", json!([true])),
        ("getmempoolinfo", json!([])),
        ("getblockchaininfo", json!([])),
        ("getchaintips", json!([])),
        ("getmininginfo", json!([])),
        ("getnetworkinfo", json!([])),
        ("getdifficulty", json!([])),
        ("getblocktemplate", json!([{"rules": ["segwit"]}])),
    ] {
        same_call(ours, theirs, method, params).await;
    }
    same_rest(ours, theirs, "/rest/mempool/info.json").await;
    same_rest(ours, theirs, "/rest/mempool/contents.json").await;
    same_rest(ours, theirs, "/rest/chaininfo.json").await;
}

#[tokio::test]
async fn core_refuses_with_the_same_words() {
    let Some(core) = start_core().await else { return };
    let devnet = Devnet::start(DevnetOptions { pending_transactions: 0, ..DevnetOptions::default() }).await.unwrap();
    let (ours, theirs) = (&address(&devnet), &core.address);
    copy_chain(&devnet, theirs).await;
    let tip = devnet.tip().hash.to_string();
    let unknown = "11".repeat(32);
    let coinbase =
        bitcoin::consensus::encode::serialize_hex(&devnet.node().block(&devnet.tip().hash).unwrap().txdata[0]);
    let wallet = devnet.wallet();
    let coins = devnet.node().spendable(&wallet.scripts(0));
    let plain = plain_coin(&devnet, 0);
    let immature = coins.iter().find(|(_, coin)| coin.coinbase && coin.height > 100).unwrap();
    let pay = |coin: (bitcoin::OutPoint, bitcoin::TxOut), feerate: u64| {
        let script = wallet.script(0, OutputKind::Taproot);
        bitcoin::consensus::encode::serialize_hex(&wallet.pay(&[coin], &[], &script, feerate).unwrap())
    };
    let (cheap, dear) = (pay(plain.clone(), 50), pay(plain.clone(), 11_000_000));
    let good = pay(plain.clone(), 2_000);
    let early = pay((immature.0, immature.1.output.clone()), 2_000);
    for (method, params) in [
        ("getblockhash", json!([-1])),
        ("getblockhash", json!(["x"])),
        ("getblockhash", json!([null])),
        ("getblockhash", json!({"h": 1})),
        ("getblock", json!([unknown])),
        ("getblock", json!(["zz"])),
        ("getblock", json!([tip, "a"])),
        ("getrawtransaction", json!([unknown])),
        ("getrawtransaction", json!([unknown, 1, tip])),
        ("getmempoolentry", json!([unknown])),
        ("sendrawtransaction", json!(["00"])),
        ("sendrawtransaction", json!([coinbase])),
        ("sendrawtransaction", json!([cheap])),
        ("sendrawtransaction", json!([dear])),
        ("sendrawtransaction", json!([early])),
        ("sendrawtransaction", json!([coinbase, 2])),
        ("testmempoolaccept", json!([[cheap]])),
        ("testmempoolaccept", json!([[dear]])),
        ("testmempoolaccept", json!([[early]])),
        ("testmempoolaccept", json!([[good]])),
        ("testmempoolaccept", json!([[]])),
        ("sendrawtransaction", json!([good])),
        ("testmempoolaccept", json!([[good]])),
        ("gettxout", json!([unknown, 0])),
        ("gettxoutproof", json!([[unknown]])),
        ("invalidateblock", json!([unknown])),
        ("submitblock", json!(["00"])),
        ("generatetoaddress", json!([1, "x"])),
        ("generateblock", json!(["raw(51)", [unknown]])),
        ("generateblock", json!(["raw(51)", [coinbase]])),
        ("generatetodescriptor", json!([0, "raw(51)#aaaaaaaa"])),
        ("estimatesmartfee", json!([0])),
        ("validateaddress", json!(["bcrt1pfeesnyr2tx"])),
        ("decodescript", json!(["51"])),
        ("getblockstats", json!([9999])),
        ("nosuch", json!([])),
    ] {
        same_call(ours, theirs, method, params).await;
    }
    for body in [
        "{",
        "[]",
        "5",
        r#"{"jsonrpc":"2.0","method":"nosuch","id":1}"#,
        r#"{"jsonrpc":"2.0","id":3}"#,
        r#"[{"method":"getblockcount"},{"method":"nosuch","id":1},5,{"jsonrpc":"2.0","method":"nosuch","id":2}]"#,
    ] {
        let (a, b) = (post(ours, body).await, post(theirs, body).await);
        assert_eq!((a.status, a.json()), (b.status, b.json()), "{body}");
    }
    for path in [
        format!("block/{unknown}.bin"),
        format!("block/{tip}"),
        format!("headers/{tip}.bin?count=0"),
        "blockhashbyheight/999.hex".to_owned(),
        format!("spenttxouts/{unknown}.bin"),
        format!("blockpart/{tip}.bin?offset=0&size=99999999"),
        "getutxos.json".to_owned(),
        "mempool/x.json".to_owned(),
    ] {
        same_rest(ours, theirs, &format!("/rest/{path}")).await;
    }
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn core_is_a_peer_that_gives_and_takes_blocks_and_transactions() {
    let Some(core) = start_core().await else { return };
    let devnet = Devnet::start(DevnetOptions { pending_transactions: 0, ..DevnetOptions::default() }).await.unwrap();
    let (ours, theirs) = (&address(&devnet), &core.address);
    result(theirs, "addnode", json!([devnet.p2p_addr().to_string(), "onetry"])).await;
    let same_tip = async || result(theirs, "getbestblockhash", json!([])).await == devnet.tip().hash.to_string();
    until("Core loads the chain", same_tip).await;

    // A block dated now ends Core's initial download; from then on it relays transactions.
    let alice = devnet.accounts()[0].address.to_string();
    let hash = result(theirs, "generatetoaddress", json!([1, alice])).await[0].clone();
    until("the devnet takes Core's block", async || devnet.tip().hash.to_string() == hash).await;

    let wallet = devnet.wallet();
    let pay = |account: usize| {
        let script = wallet.script(account, OutputKind::Taproot);
        wallet.pay(&[plain_coin(&devnet, account)], &[], &script, 2_000).unwrap()
    };
    let tx = pay(0);
    devnet.node().submit_transaction(tx.clone()).unwrap();
    until("Core takes the devnet's transaction", async || {
        result(theirs, "getrawmempool", json!([])).await == json!([tx.compute_txid().to_string()])
    })
    .await;
    let tx = pay(1);
    let hex = bitcoin::consensus::encode::serialize_hex(&tx);
    result(theirs, "sendrawtransaction", json!([hex])).await;
    until("the devnet takes Core's transaction", async || devnet.node().mempool_txids().contains(&tx.compute_txid()))
        .await;

    result(ours, "generatetoaddress", json!([3, alice])).await;
    until("Core follows", same_tip).await;
    assert_eq!(result(theirs, "getrawmempool", json!([])).await, json!([]));
    let fork = devnet.node().block_hash(devnet.tip().height - 2).unwrap().to_string();
    result(ours, "invalidateblock", json!([fork])).await;
    assert_eq!(devnet.node().mempool_txids().len(), 2);
    // Two blocks longer, so that Core does not go back to the branch that the devnet holds invalid.
    result(ours, "generatetoaddress", json!([5, alice])).await;
    until("Core follows a reorganisation", same_tip).await;

    // And the other way: Core reorganises, the devnet follows.
    let tip = result(theirs, "getbestblockhash", json!([])).await;
    result(theirs, "invalidateblock", json!([tip])).await;
    let hashes = result(theirs, "generatetoaddress", json!([2, alice])).await;
    until("the devnet follows a reorganisation", async || hashes[1] == devnet.tip().hash.to_string()).await;
}
