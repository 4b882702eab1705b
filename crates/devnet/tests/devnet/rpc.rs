//! The JSON-RPC: envelope, results and errors as Bitcoin Core gives them.

use bitcoin::consensus::deserialize;
use bitcoin::hex::FromHex;
use bitcoin::{Block, MerkleBlock, Transaction};
use paraffin_devnet::{Devnet, DevnetOptions, OutputKind};
use serde_json::{Value, json};

use crate::support::{address, call, error, plain_coin, post, result};

async fn start() -> (Devnet, String) {
    let devnet = Devnet::start(DevnetOptions::default()).await.unwrap();
    let address = address(&devnet);
    (devnet, address)
}

const UNKNOWN: &str = "1111111111111111111111111111111111111111111111111111111111111111";

#[tokio::test]
async fn versions_1_and_2_answer_in_their_own_shapes() {
    let (devnet, node) = start().await;
    let height = devnet.tip().height;
    for (body, status, reply) in [
        (r#"{"method":"getblockcount","id":7}"#, 200, json!({"result": height, "error": null, "id": 7})),
        (
            r#"{"jsonrpc":"1.0","method":"getblockcount","params":[],"id":"a"}"#,
            200,
            json!({"result": height, "error": null, "id": "a"}),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"getblockcount","id":null}"#,
            200,
            json!({"jsonrpc": "2.0", "result": height, "id": null}),
        ),
        (r#"{"method":"getblockcount"}"#, 200, json!({"result": height, "error": null})),
        (
            r#"{"method":"nosuch","id":1}"#,
            404,
            json!({"result": null, "error": {"code": -32601, "message": "Method not found"}, "id": 1}),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"nosuch","id":1}"#,
            200,
            json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": 1}),
        ),
        (
            r#"{"method":"getblockhash","params":[-1],"id":1}"#,
            500,
            json!({"result": null, "error": {"code": -8, "message": "Block height out of range"}, "id": 1}),
        ),
        (
            r#"{"jsonrpc":"2.0","method":"getblockhash","params":[-1],"id":1}"#,
            200,
            json!({"jsonrpc": "2.0", "error": {"code": -8, "message": "Block height out of range"}, "id": 1}),
        ),
        (
            r#"{"jsonrpc":"3.0","method":"x","id":1}"#,
            400,
            json!({"result": null, "error": {"code": -32600, "message": "JSON-RPC version not supported"}, "id": 1}),
        ),
        (r#"{"id":1}"#, 400, json!({"result": null, "error": {"code": -32600, "message": "Missing method"}, "id": 1})),
        (
            r#"{"method":5,"id":1}"#,
            400,
            json!({"result": null, "error": {"code": -32600, "message": "Method must be a string"}, "id": 1}),
        ),
        (
            r#"{"method":"x","params":5,"id":1}"#,
            400,
            json!({"result": null, "error": {"code": -32600, "message": "Params must be an array or object"}, "id": 1}),
        ),
        ("{", 500, json!({"result": null, "error": {"code": -32700, "message": "Parse error"}, "id": null})),
        (
            "5",
            500,
            json!({"result": null, "error": {"code": -32700, "message": "Top-level object parse error"}, "id": null}),
        ),
        ("[]", 200, json!([])),
        (
            r#"[{"method":"getblockcount","id":1},{"jsonrpc":"2.0","method":"getblockcount"},{"method":"nosuch","id":2}]"#,
            200,
            json!([{"result": height, "error": null, "id": 1}, {"result": null, "error": {"code": -32601, "message": "Method not found"}, "id": 2}]),
        ),
    ] {
        let answer = post(&node, body).await;
        assert_eq!((answer.status, answer.json()), (status, reply), "{body}");
        assert_eq!(answer.content_type.as_deref(), Some("application/json"), "{body}");
        assert!(answer.body.ends_with(b"\n"));
    }
    for notification in [r#"{"jsonrpc":"2.0","method":"getblockcount"}"#, r#"[{"jsonrpc":"2.0","method":"nosuch"}]"#] {
        let answer = post(&node, notification).await;
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{notification}");
    }
}

#[tokio::test]
async fn parameters_may_be_named_and_wrong_ones_are_told() {
    let (devnet, node) = start().await;
    let third = devnet.node().block_hash(3).unwrap().to_string();
    assert_eq!(result(&node, "getblockhash", json!({"height": 3})).await, third);
    assert_eq!(result(&node, "getblockhash", json!({"args": [3]})).await, third);
    assert_eq!(result(&node, "echo", json!({"arg1": 2})).await, json!([null, 2]));
    for (method, params, code, message) in [
        ("getblockhash", json!({"h": 3}), -8, "Unknown named parameter h"),
        (
            "getblockhash",
            json!({"args": [3], "height": 4}),
            -8,
            "Parameter height specified twice both as positional and named argument",
        ),
        ("getblockhash", json!([]), -1, "getblockhash height"),
        ("getblockhash", json!([1, 2]), -1, "getblockhash height"),
        ("getblockhash", json!(["x"]), -3, "JSON value of type string is not of expected type number"),
        ("getblockhash", json!([1.5]), -1, "JSON integer out of range"),
        ("getblock", json!([5]), -3, "JSON value of type number is not of expected type string"),
        ("getblock", json!(["zz"]), -8, "blockhash must be of length 64 (not 2, for 'zz')"),
        ("getblock", json!(["zz".repeat(32)]), -8, "blockhash must be hexadecimal string (not 'zzzz"),
        ("getblock", json!([UNKNOWN]), -5, "Block not found"),
        ("getblockheader", json!([UNKNOWN]), -5, "Block not found"),
        ("invalidateblock", json!([UNKNOWN]), -5, "Block not found"),
        ("reconsiderblock", json!([UNKNOWN]), -5, "Block not found"),
        ("preciousblock", json!([UNKNOWN]), -5, "Block not found"),
        ("getblockhash", json!([1_000_000]), -8, "Block height out of range"),
        (
            "getrawtransaction",
            json!([UNKNOWN]),
            -5,
            "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
        ),
        ("getmempoolentry", json!([UNKNOWN]), -5, "Transaction not in mempool"),
        ("getrawmempool", json!([true, true]), -8, "Verbose results cannot contain mempool sequence values."),
        ("sendrawtransaction", json!(["00"]), -22, "TX decode failed. Make sure the tx has at least one input."),
        ("decoderawtransaction", json!([""]), -22, "TX decode failed"),
        ("submitblock", json!(["00"]), -22, "Block decode failed"),
        ("testmempoolaccept", json!([[]]), -8, "Array must contain between 1 and 25 transactions."),
        ("gettxoutproof", json!([[]]), -8, "Parameter 'txids' cannot be empty"),
        ("gettxoutproof", json!([[UNKNOWN]]), -5, "Transaction not yet in block"),
        ("generatetoaddress", json!([1, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"]), -5, "Error: Invalid address"),
        ("generateblock", json!(["nothing", []]), -5, "Error: Invalid address or descriptor"),
        (
            "generatetodescriptor",
            json!([1, "raw(51)#aaaaaaaa"]),
            -5,
            "Provided checksum 'aaaaaaaa' does not match computed checksum '8lvh9jxk'",
        ),
        ("estimatesmartfee", json!([0]), -8, "Invalid conf_target, must be between 1 and 1008"),
        ("setmocktime", json!([-1]), -8, "Mocktime must be in the range [0, 4294967295], not -1."),
        ("getblocktemplate", json!([{}]), -8, "getblocktemplate must be called with the segwit rule set"),
        ("stop", json!([]), -1, "stop that process instead"),
    ] {
        let (given_code, given) = error(&node, method, params.clone()).await;
        assert_eq!(given_code, code, "{method} {params}: {given}");
        assert!(given.contains(message), "{method} {params}: {given}");
    }
}

#[tokio::test]
async fn blocks_are_given_at_every_verbosity() {
    let (devnet, node) = start().await;
    let sample = devnet.sample_txid().unwrap().to_string();
    let hash = result(&node, "getrawtransaction", json!([sample, 1])).await["blockhash"].clone();
    let hex = result(&node, "getblock", json!([hash, 0])).await;
    let block: Block = deserialize(&Vec::from_hex(hex.as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(json!(block.block_hash().to_string()), hash);

    let brief = result(&node, "getblock", json!([hash])).await;
    let txids: Vec<String> = block.txdata.iter().map(|tx| tx.compute_txid().to_string()).collect();
    assert_eq!(brief["tx"], json!(txids));
    assert_eq!(brief["nTx"], txids.len());
    assert_eq!(brief["weight"], block.weight().to_wu());
    assert_eq!(brief["previousblockhash"], block.header.prev_blockhash.to_string());
    assert_eq!(brief["bits"], "207fffff");
    assert_eq!(brief["difficulty"].to_string(), "4.656542373906925e-10");

    let with_fees = result(&node, "getblock", json!([hash, 2])).await;
    let with_prevouts = result(&node, "getblock", json!([hash, 3])).await;
    assert!(with_fees["tx"][0].get("fee").is_none(), "a coinbase has no fee");
    assert!(with_fees["tx"][1]["vin"][0].get("prevout").is_none());
    let tx = &with_prevouts["tx"][1];
    assert_eq!(tx["fee"], with_fees["tx"][1]["fee"]);
    let sats = |value: &Value| value.to_string().replace('.', "").parse::<u64>().unwrap();
    let paid_in: u64 = tx["vin"].as_array().unwrap().iter().map(|input| sats(&input["prevout"]["value"])).sum();
    let paid_out: u64 = tx["vout"].as_array().unwrap().iter().map(|output| sats(&output["value"])).sum();
    assert_eq!(sats(&tx["fee"]), paid_in - paid_out, "amounts have exactly eight decimals");

    let header = result(&node, "getblockheader", json!([hash])).await;
    for (name, value) in header.as_object().unwrap() {
        assert_eq!(&brief[name], value, "{name}");
    }
    let stats = result(&node, "getblockstats", json!([hash, ["txs", "totalfee"]])).await;
    let fees: u64 = with_fees["tx"].as_array().unwrap()[1..].iter().map(|tx| sats(&tx["fee"])).sum();
    assert_eq!(stats, json!({"txs": txids.len(), "totalfee": fees}));
}

#[tokio::test]
async fn transactions_are_found_in_the_mempool_in_the_chain_and_in_a_named_block() {
    let (devnet, node) = start().await;
    let sample = devnet.sample_txid().unwrap().to_string();
    let confirmed = result(&node, "getrawtransaction", json!([sample, true])).await;
    assert!(confirmed["confirmations"].as_u64().unwrap() >= 1);
    assert!(confirmed.get("in_active_chain").is_none());
    let named = result(&node, "getrawtransaction", json!([sample, 1, confirmed["blockhash"]])).await;
    assert_eq!(named["in_active_chain"], true);
    let with_prevouts = result(&node, "getrawtransaction", json!([sample, 2])).await;
    assert!(with_prevouts["vin"][0]["prevout"]["height"].is_u64());
    let (code, message) =
        error(&node, "getrawtransaction", json!([sample, 1, devnet.node().block_hash(1).unwrap().to_string()])).await;
    assert_eq!(
        (code, message.as_str()),
        (-5, "No such transaction found in the provided block. Use gettransaction for wallet transactions.")
    );

    let pending = devnet.node().mempool_txids()[0].to_string();
    let unconfirmed = result(&node, "getrawtransaction", json!([pending, 1])).await;
    assert!(unconfirmed.get("blockhash").is_none());
    let hex = result(&node, "getrawtransaction", json!([pending])).await;
    let mut decoded = result(&node, "decoderawtransaction", json!([hex])).await;
    decoded["hex"] = hex.clone();
    assert_eq!(decoded, unconfirmed);
    assert_eq!(result(&node, "sendrawtransaction", json!([hex])).await, pending, "sending again is no error");

    // A transaction of a block that left the chain is still found, without confirmations.
    let tip = devnet.tip().hash.to_string();
    let coinbase = result(&node, "getblock", json!([tip])).await["tx"][0].clone();
    result(&node, "invalidateblock", json!([tip])).await;
    assert_eq!(result(&node, "getrawtransaction", json!([coinbase, 1])).await["confirmations"], 0);
    assert_eq!(result(&node, "getblock", json!([tip])).await["confirmations"], -1);
    let tips = result(&node, "getchaintips", json!([])).await;
    assert_eq!(tips[0]["status"], "invalid");
    assert_eq!(tips[0]["branchlen"], 1);
    assert_eq!(tips[1]["status"], "active");
    result(&node, "reconsiderblock", json!([tip])).await;
    assert_eq!(result(&node, "getbestblockhash", json!([])).await, tip);
}

#[tokio::test]
async fn the_mempool_is_listed_and_its_entries_add_up() {
    let (devnet, node) = start().await;
    let txids = result(&node, "getrawmempool", json!([])).await;
    assert_eq!(txids.as_array().unwrap().len(), 3);
    let with_sequence = result(&node, "getrawmempool", json!([false, true])).await;
    assert_eq!(with_sequence["txids"], txids);
    assert!(with_sequence["mempool_sequence"].as_u64().unwrap() > 3);
    let entries = result(&node, "getrawmempool", json!([true])).await;
    let info = result(&node, "getmempoolinfo", json!([])).await;
    let sum =
        |name: &str| entries.as_object().unwrap().values().map(|entry| entry[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(info["bytes"], sum("vsize"));
    assert_eq!(info["size"], 3);
    let first = txids[0].as_str().unwrap();
    assert_eq!(result(&node, "getmempoolentry", json!([first])).await, entries[first]);

    // A child of the first.
    let parent = result(&node, "getrawtransaction", json!([first, 1])).await;
    let tx: Transaction = deserialize(&Vec::from_hex(parent["hex"].as_str().unwrap()).unwrap()).unwrap();
    let wallet = devnet.wallet();
    let owner = (0..5).find(|account| wallet.scripts(*account).contains(&tx.output[0].script_pubkey)).unwrap();
    let coin = (bitcoin::OutPoint { txid: tx.compute_txid(), vout: 0 }, tx.output[0].clone());
    let child = wallet.pay(&[coin], &[], &wallet.script(owner, OutputKind::Taproot), 2_000).unwrap();
    let child_hex = bitcoin::consensus::encode::serialize_hex(&child);
    let test = result(&node, "testmempoolaccept", json!([[child_hex]])).await;
    assert_eq!(test[0]["allowed"], true);
    assert_eq!(test[0]["vsize"], child.vsize());
    let child = result(&node, "sendrawtransaction", json!([child_hex])).await;
    assert_eq!(result(&node, "getmempoolancestors", json!([child])).await, json!([first]));
    assert_eq!(result(&node, "getmempooldescendants", json!([first])).await, json!([child]));
    let entry = result(&node, "getmempoolentry", json!([first])).await;
    assert_eq!((&entry["descendantcount"], &entry["spentby"]), (&json!(2), &json!([child])));
    let entry = result(&node, "getmempoolentry", json!([child])).await;
    assert_eq!((&entry["ancestorcount"], &entry["depends"]), (&json!(2), &json!([first])));
    let spends = result(&node, "gettxspendingprevout", json!([[{"txid": first, "vout": 0}]])).await;
    assert_eq!(spends[0]["spendingtxid"], child);
    assert_eq!(result(&node, "gettxout", json!([first, 0])).await, Value::Null);
    assert!(result(&node, "gettxout", json!([child, 0])).await["confirmations"] == 0);
    assert_eq!(result(&node, "gettxout", json!([child, 0, false])).await, Value::Null);
    let replies = result(&node, "testmempoolaccept", json!([[child_hex]])).await;
    assert_eq!(replies[0]["reject-reason"], "txn-already-in-mempool");
}

#[tokio::test]
async fn sending_tells_core_s_reasons() {
    let (devnet, node) = start().await;
    let block = devnet.node().block(&devnet.tip().hash).unwrap();
    let (code, message) =
        error(&node, "sendrawtransaction", json!([bitcoin::consensus::encode::serialize_hex(&block.txdata[0])])).await;
    assert_eq!((code, message.as_str()), (-27, "Transaction outputs already in utxo set"));

    let wallet = devnet.wallet();
    let script = wallet.script(0, OutputKind::Taproot);
    let coin = plain_coin(&devnet, 0);
    let pay = |feerate: u64| wallet.pay(std::slice::from_ref(&coin), &[], &script, feerate).unwrap();
    let hex = |tx: &Transaction| bitcoin::consensus::encode::serialize_hex(tx);

    let mut unknown = pay(2_000);
    unknown.input[0].previous_output.txid = UNKNOWN.parse().unwrap();
    assert_eq!(
        error(&node, "sendrawtransaction", json!([hex(&unknown)])).await,
        (-25, "bad-txns-inputs-missingorspent".to_owned())
    );
    let replies = result(&node, "testmempoolaccept", json!([[hex(&unknown)]])).await;
    assert_eq!(replies[0]["reject-reason"], "missing-inputs");
    let (code, message) = error(&node, "sendrawtransaction", json!([hex(&pay(50))])).await;
    assert_eq!((code, message.starts_with("min relay fee not met, ")), (-26, true), "{message}");
    let (code, message) = error(&node, "sendrawtransaction", json!([hex(&pay(11_000_000))])).await;
    assert_eq!((code, message.as_str()), (-25, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"));
    let mut stolen = pay(2_000);
    stolen.output[0].value = bitcoin::Amount::from_sat(stolen.output[0].value.to_sat() - 1);
    let (code, message) = error(&node, "sendrawtransaction", json!([hex(&stolen)])).await;
    assert_eq!((code, message.starts_with("mempool-script-verify-flag-failed (")), (-26, true), "{message}");
    let generous = pay(11_000_000);
    assert_eq!(
        result(&node, "sendrawtransaction", json!([hex(&generous), 0])).await,
        generous.compute_txid().to_string()
    );
    let (code, message) = error(&node, "sendrawtransaction", json!([hex(&pay(2_000))])).await;
    assert_eq!((code, message.starts_with("insufficient fee, rejecting replacement ")), (-26, true), "{message}");

    let package = result(&node, "submitpackage", json!([[hex(&generous)]])).await;
    assert_eq!(package["package_msg"], "success");
    assert_eq!(
        package["tx-results"][generous.compute_wtxid().to_string()]["txid"],
        generous.compute_txid().to_string()
    );
}

#[tokio::test]
async fn blocks_are_generated_templated_and_submitted() {
    let (devnet, node) = start().await;
    let erin = devnet.accounts()[4].address.to_string();
    let hashes = result(&node, "generatetoaddress", json!([2, erin])).await;
    assert_eq!(devnet.tip().hash.to_string(), hashes[1].as_str().unwrap());
    assert!(devnet.node().mempool_txids().is_empty());
    let hashes = result(&node, "generatetodescriptor", json!([1, format!("addr({erin})")])).await;
    assert_eq!(hashes.as_array().unwrap().len(), 1);

    let unsubmitted = result(&node, "generateblock", json!([erin, [], false])).await;
    assert_eq!(devnet.tip().height, 163);
    assert_eq!(result(&node, "submitblock", json!([unsubmitted["hex"]])).await, Value::Null);
    assert_eq!(devnet.tip().hash.to_string(), unsubmitted["hash"].as_str().unwrap());
    assert_eq!(result(&node, "submitblock", json!([unsubmitted["hex"]])).await, "duplicate");
    let mut broken: Block = deserialize(&Vec::from_hex(unsubmitted["hex"].as_str().unwrap()).unwrap()).unwrap();
    broken.header.prev_blockhash = UNKNOWN.parse().unwrap();
    crate::support::grind(&mut broken);
    let hex = bitcoin::consensus::encode::serialize_hex(&broken);
    assert_eq!(result(&node, "submitblock", json!([hex])).await, "prev-blk-not-found");

    let template = result(&node, "getblocktemplate", json!([{"rules": ["segwit"]}])).await;
    assert_eq!(template["height"], 165);
    assert_eq!(template["previousblockhash"], unsubmitted["hash"]);
    assert_eq!(template["coinbasevalue"], 2_500_000_000_u64);
    assert!(template["default_witness_commitment"].as_str().unwrap().starts_with("6a24aa21a9ed"));
    let (code, message) = error(&node, "generateblock", json!([erin, [UNKNOWN]])).await;
    assert_eq!((code, message), (-5, format!("Transaction {UNKNOWN} not in mempool.")));
}

#[tokio::test]
async fn proofs_hold_and_name_what_they_prove() {
    let (devnet, node) = start().await;
    let sample = devnet.sample_txid().unwrap();
    let proof = result(&node, "gettxoutproof", json!([[sample.to_string()]])).await;
    let decoded: MerkleBlock = deserialize(&Vec::from_hex(proof.as_str().unwrap()).unwrap()).unwrap();
    let (mut matches, mut indexes) = (Vec::new(), Vec::new());
    decoded.extract_matches(&mut matches, &mut indexes).unwrap();
    assert_eq!(matches, [sample]);
    assert_eq!(result(&node, "verifytxoutproof", json!([proof])).await, json!([sample.to_string()]));
}

#[tokio::test]
async fn the_rest_of_the_methods_answers() {
    let (devnet, node) = start().await;
    let tip = devnet.tip();
    let info = result(&node, "getblockchaininfo", json!([])).await;
    assert_eq!((&info["chain"], &info["blocks"], &info["headers"]), (&json!("regtest"), &json!(160), &json!(160)));
    assert_eq!(info["bestblockhash"], tip.hash.to_string());
    assert_eq!(info["initialblockdownload"], false);
    assert_eq!(info["chainwork"].as_str().unwrap().trim_start_matches('0'), format!("{:x}", 2 * 161));
    assert_eq!(
        result(&node, "getindexinfo", json!([])).await,
        json!({"txindex": {"synced": true, "best_block_height": 160}})
    );
    assert_eq!(result(&node, "getdifficulty", json!([])).await.to_string(), "4.656542373906925e-10");
    assert_eq!(result(&node, "getconnectioncount", json!([])).await, 0);
    assert_eq!(result(&node, "getpeerinfo", json!([])).await, json!([]));
    assert_eq!(result(&node, "getmininginfo", json!([])).await["next"]["height"], 161);
    let network = result(&node, "getnetworkinfo", json!([])).await;
    assert_eq!(network["relayfee"].to_string(), "0.00000100");
    assert_eq!(network["localservicesnames"], json!(["NETWORK", "WITNESS", "NETWORK_LIMITED"]));
    assert!(result(&node, "uptime", json!([])).await.is_u64());
    assert_eq!(result(&node, "ping", json!([])).await, Value::Null);
    assert_eq!(result(&node, "echo", json!([1, "a"])).await, json!([1, "a"]));
    assert!(result(&node, "help", json!([])).await.as_str().unwrap().contains("getblockchaininfo"));
    assert_eq!(result(&node, "help", json!(["getblockhash"])).await, "getblockhash height");
    assert_eq!(result(&node, "help", json!(["x"])).await, "help: unknown command: x");
    let fee = result(&node, "estimatesmartfee", json!([2])).await;
    assert_eq!(fee["blocks"], 2);
    assert!(fee["feerate"].is_number());
    let alice = devnet.accounts()[0].address.to_string();
    let address = result(&node, "validateaddress", json!([alice])).await;
    assert_eq!((&address["isvalid"], &address["witness_version"]), (&json!(true), &json!(1)));
    assert_eq!(result(&node, "validateaddress", json!(["x"])).await["isvalid"], false);
    assert_eq!(result(&node, "decodescript", json!(["6a0568656c6c6f"])).await["asm"], "OP_RETURN 68656c6c6f");
}

#[tokio::test]
async fn the_mock_time_dates_blocks_until_it_is_taken_back() {
    let (devnet, node) = start().await;
    let alice = devnet.accounts()[0].address.to_string();
    let time = 1_800_000_000;
    assert_eq!(result(&node, "setmocktime", json!([time])).await, Value::Null);
    result(&node, "generatetoaddress", json!([1, alice])).await;
    assert_eq!(devnet.node().block(&devnet.tip().hash).unwrap().header.time, time);
    result(&node, "setmocktime", json!([0])).await;
    result(&node, "generatetoaddress", json!([1, alice])).await;
    assert!(devnet.node().block(&devnet.tip().hash).unwrap().header.time < time);
    // At the end of the 32 bits of time no block can follow; that is an error, not the end of the node.
    result(&node, "setmocktime", json!([u32::MAX])).await;
    let (code, message) = error(&node, "generatetoaddress", json!([20, alice])).await;
    assert_eq!((code, message.contains("time-too-old")), (-25, true), "{message}");
    result(&node, "getblocktemplate", json!([{"rules": ["segwit"]}])).await;
    let (status, _) = call(&node, "getblockchaininfo", json!([])).await;
    assert_eq!(status, 200);
}
