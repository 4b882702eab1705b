//! `metashrew_*`.

use bitcoin::hashes::Hash as _;
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{BlockResponse, MessageContextParcel, SimulateResponse};
use paraffin_alkanes::proto::protorune::{OutpointResponse, OutpointWithProtocol};
use paraffin_gateway::ChainState as _;
use paraffin_primitives::AlkaneId;
use prost::Message as _;
use serde_json::json;

use super::scenario::{CREATE, Scenario, TOKEN, calling, contract};
use crate::chain::{script_of, taproot};
use crate::instance::{Instance, Setup};

fn hex(bytes: &[u8]) -> String {
    use bitcoin::hex::DisplayHex as _;
    format!("0x{}", bytes.to_lower_hex_string())
}

fn bytes(result: &serde_json::Value) -> Vec<u8> {
    use bitcoin::hex::FromHex as _;
    Vec::from_hex(result.as_str().unwrap().strip_prefix("0x").unwrap()).unwrap()
}

fn parcel(target: AlkaneId, inputs: &[u128]) -> String {
    let calldata = Cellpack { target, inputs: inputs.to_vec() }.encode();
    hex(&MessageContextParcel { calldata, ..MessageContextParcel::default() }.encode_to_vec())
}

/// row MR09
/// row MR10
#[tokio::test]
async fn views_answer_in_hexadecimal_at_any_height_and_tag() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    assert_eq!(instance.result("metashrew_height", json!([])).await, "6");
    let name = parcel(TOKEN, &[99]);
    let tip = instance.chain.tip_hash();
    for tag in [json!("latest"), json!(6), json!("6"), json!(format!("6:{tip}")), json!("0x"), json!(null)] {
        let result = instance.result("metashrew_view", json!(["simulate", name, tag])).await;
        let answer = SimulateResponse::decode(&bytes(&result)[..]).unwrap();
        assert_eq!(answer.execution.unwrap().data, b"Paraffin Wax", "{tag}");
    }
    // The prefix may be left out, and so may the tag.
    assert!(instance.result("metashrew_view", json!(["simulate", &name[2..]])).await.is_string());
    let request = OutpointWithProtocol { txid: mint.to_byte_array().to_vec(), vout: 0, protocol: Some(1.into()) };
    let held = |height: u32| {
        let params = json!(["protorunesbyoutpoint", hex(&request.encode_to_vec()), height.to_string()]);
        let instance = &instance;
        async move {
            let result = instance.result("metashrew_view", params).await;
            OutpointResponse::decode(&bytes(&result)[..]).unwrap().balances.map_or(0, |sheet| sheet.entries.len())
        }
    };
    assert_eq!((held(4).await, held(5).await), (0, 1));
    assert_eq!(instance.result("metashrew_view", json!(["sequence", "0x", 3])).await, hex(&1_u128.to_le_bytes()));
    assert_eq!(instance.result("metashrew_view", json!(["unwrap", "0x", 6])).await, "0x");
    // The bytes of a block come from the node.
    let result = instance.result("metashrew_view", json!(["getblock", "0x0805", "latest"])).await;
    let block = BlockResponse::decode(&bytes(&result)[..]).unwrap();
    assert_eq!(block.block, bitcoin::consensus::serialize(&instance.chain.blocks[5]));
}

/// row MR09
#[tokio::test]
async fn every_wrong_view_call_has_its_code() {
    let Scenario { instance, .. } = Scenario::start().await;
    for (params, code) in [
        (json!(["nonsense", "0x", "latest"]), -32601),
        (json!(["_start", "0x", "latest"]), -32601),
        (json!(["sequence", "0x", 7]), -32602),
        (json!(["sequence", "0x", "7"]), -32602),
        (json!(["sequence", "0x", "99999999999999"]), -32602),
        (json!(["sequence", "0x", -1]), -32602),
        (json!(["sequence", "0x", "earliest"]), -32602),
        (json!(["simulate", "0xzz", "latest"]), -32602),
        (json!(["simulate", "0x123", "latest"]), -32602),
        (json!(["simulate", "0xffffff", "latest"]), -32602),
        (json!(["simulate", {}, "latest"]), -32602),
        (json!(["nonsense", {}, "latest"]), -32601),
        (json!(["protorunesbyaddress", {}, "latest"]), -32602),
        (json!(["protorunesbyaddress", { "address": "nobody" }, "latest"]), -32602),
        (json!([]), -32602),
        (json!([5.5]), -32601),
        (json!(["sequence", "0x", 0, 0]), -32602),
    ] {
        assert_eq!(instance.error("metashrew_view", params.clone()).await.0, code, "{params}");
    }
    assert_eq!(instance.error("metashrew_nonsense", json!([])).await.0, -32601);
    // While the node is unavailable only the bytes of a block are.
    instance.node.set_away(true);
    let answer = instance.call("metashrew_view", json!(["getblock", "0x0805"])).await;
    assert_eq!(answer["error"]["data"]["code"], "UPSTREAM_UNAVAILABLE");
    assert!(instance.result("metashrew_view", json!(["sequence", "0x"])).await.is_string());
}

/// row MR09
#[tokio::test]
async fn an_endless_contract_ends_and_harms_nobody() {
    let mut setup = Setup { alkanes: Some(super::scenario::parts()), ..Setup::default() };
    setup.config.limits.views_max = 1;
    let mut scenario = Scenario::with(setup).await;
    let instance = &mut scenario.instance;
    let network = instance.chain.network;
    let coin = bitcoin::OutPoint { txid: instance.chain.blocks[4].txdata[0].compute_txid(), vout: 0 };
    let script = script_of(network, &taproot(network, 2));
    let probe = calling(coin, script.clone(), CREATE, &[0], Some(&contract("probe")));
    instance.chain.mine(script, vec![probe]);
    let endless = parcel(AlkaneId { block: 2, tx: 2 }, &[80]);
    // Other requests do not wait for it meanwhile.
    let slow = instance.result("metashrew_view", json!(["simulate", endless]));
    let mut slow = std::pin::pin!(slow);
    let quick = async {
        for _ in 0..3 {
            assert_eq!(instance.result("metashrew_height", json!([])).await, "7");
        }
    };
    tokio::select! {
        biased;
        _ = &mut slow => panic!("an endless contract ended before three short answers"),
        () = quick => {}
    }
    let result = slow.await;
    assert!(SimulateResponse::decode(&bytes(&result)[..]).unwrap().error.contains("fuel"));
    let name = parcel(TOKEN, &[99]);
    assert!(instance.result("metashrew_view", json!(["simulate", name])).await.is_string());
}

/// Anonymous callers share half of the permits for simulations, so that they never block callers with a key.
#[tokio::test]
async fn endless_contracts_of_anonymous_callers_leave_simulations_to_keys() {
    let setup = Setup { alkanes: Some(super::scenario::parts()), ..Setup::default() };
    let mut scenario = Scenario::with(setup).await;
    let instance = &mut scenario.instance;
    let network = instance.chain.network;
    let coin = bitcoin::OutPoint { txid: instance.chain.blocks[4].txdata[0].compute_txid(), vout: 0 };
    let script = script_of(network, &taproot(network, 2));
    let probe = calling(coin, script.clone(), CREATE, &[0], Some(&contract("probe")));
    instance.chain.mine(script, vec![probe]);
    let body =
        |parcel: &str| json!({ "method": "metashrew_view", "params": ["simulate", parcel], "id": 1 }).to_string();
    let endless = body(&parcel(AlkaneId { block: 2, tx: 2 }, &[80]));
    let mut slow = futures_util::stream::FuturesUnordered::new();
    for _ in 0..4 {
        slow.push(instance.post("/v4/jsonrpc", endless.clone()));
    }
    let quick = async {
        // The others come first.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        for _ in 0..3 {
            assert!(instance.result("metashrew_view", json!(["simulate", parcel(TOKEN, &[99])])).await.is_string());
        }
    };
    tokio::select! {
        biased;
        _ = futures_util::StreamExt::next(&mut slow) => panic!("an endless contract ended before three short answers"),
        () = quick => {}
    }
    while let Some(answer) = futures_util::StreamExt::next(&mut slow).await {
        assert_eq!(answer.status, 200);
    }
}

/// What contracts may take is taken before they run, and shown.
#[tokio::test]
async fn contracts_that_run_for_callers_take_of_one_memory() {
    let mut setup = Setup { alkanes: Some(super::scenario::parts()), ..Setup::default() };
    setup.config.limits.simulation_bytes_max = 300 << 20;
    setup.config.limits.contracts_bytes_max = 500 << 20;
    let mut scenario = Scenario::with(setup).await;
    let instance = &mut scenario.instance;
    let network = instance.chain.network;
    let coin = bitcoin::OutPoint { txid: instance.chain.blocks[4].txdata[0].compute_txid(), vout: 0 };
    let script = script_of(network, &taproot(network, 2));
    let probe = calling(coin, script.clone(), CREATE, &[0], Some(&contract("probe")));
    instance.chain.mine(script, vec![probe]);
    let metrics = instance.metrics;
    let used = async || {
        let text = crate::client::request(metrics, "GET", "/metrics", &[], b"").await;
        let line = "paraffin_memory_used_bytes{part=\"contracts\"} ";
        text.text().lines().find_map(|found| found.strip_prefix(line)).unwrap().parse::<f64>().unwrap()
    };
    assert!(used().await < 1.0);
    let mut slow = std::pin::pin!(
        instance.result("metashrew_view", json!(["simulate", parcel(AlkaneId { block: 2, tx: 2 }, &[80])]))
    );
    let looked = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        used().await
    };
    tokio::select! {
        biased;
        _ = &mut slow => panic!("an endless contract ended at once"),
        bytes = looked => assert!(bytes >= f64::from(300_u32 << 20), "{bytes}"),
    }
    slow.await;
    assert!(used().await < 1.0);
}

#[tokio::test]
async fn object_views_answer_json() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let input = json!({ "address": instance.payee, "protocolTag": "1" });
    let result = instance.result("metashrew_view", json!(["protorunesbyaddress", input, "latest"])).await;
    let rows = result["outpoints"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["outpoint"], json!({ "txid": mint.to_string(), "vout": 0 }));
    assert_eq!(rows[0]["runes"][0]["id"], json!({ "block": 2, "tx": 1 }));
    assert_eq!(rows[0]["runes"][0]["amount"], "100");
    let result = instance.result("metashrew_view", json!(["spendablesbyaddress", input, "latest"])).await;
    assert_eq!(result["outpoints"].as_array().unwrap().len(), 2);
    let outpoint = json!({ "txid": mint.to_string(), "vout": 0, "protocolTag": "1" });
    let result = instance.result("metashrew_view", json!(["protorunesbyoutpoint", outpoint, "latest"])).await;
    assert_eq!(result["balance_sheet"]["cached"]["balances"], json!([{ "block": 2, "tx": 1, "amount": 100 }]));
    let rune = instance.result("metashrew_view", json!(["runebyid", { "block": 2, "tx": 1 }, "latest"])).await;
    assert_eq!((&rune["name"], &rune["symbol"]), (&json!("Paraffin Wax"), &json!("WAX")));
    let past = instance.result("metashrew_view", json!(["protorunesbyaddress", input, "4"])).await;
    assert_eq!(past["outpoints"], json!([]));
}

#[tokio::test]
async fn hashes_digests_and_snapshots_are_reported() {
    let Scenario { instance, .. } = Scenario::start().await;
    let hash = |height: usize| format!("0x{}", instance.chain.blocks[height].block_hash());
    for (params, height) in [(json!([3]), 3), (json!(["3"]), 3), (json!([]), 6), (json!(["latest"]), 6)] {
        assert_eq!(instance.result("metashrew_getblockhash", params).await, hash(height));
    }
    assert_eq!(instance.error("metashrew_getblockhash", json!([7])).await.0, -32602);
    let root = |params| instance.result("metashrew_stateroot", params);
    let (newest, four, five) = (root(json!(["latest"])).await, root(json!(["4"])).await, root(json!([5])).await);
    assert!(newest.as_str().unwrap().len() == 66 && four != five && five != newest);
    assert_eq!(root(json!([6])).await, newest);
    assert_eq!(instance.error("metashrew_stateroot", json!(["7"])).await.0, -32602);
    let digest = |params| instance.result("metashrew_blockdigest", params);
    let (five_told, newest_told) = (digest(json!([5])).await, digest(json!([])).await);
    assert_eq!(newest_told["modules"]["alkanes"]["digest"], newest);
    assert_eq!(five_told["modules"]["alkanes"]["digest"], five);
    let block = instance.chain.blocks[5].block_hash();
    assert_eq!((&five_told["height"], &five_told["hash"]), (&json!(5), &json!(block)));
    assert_eq!(digest(json!([format!("5:{block}")])).await, five_told);
    assert_eq!((&five_told["network"], &newest_told["height"]), (&json!("regtest"), &json!(6)));
    let tip = instance.state.snapshot().tip().unwrap().clone();
    for (name, bytes) in [("digest", tip.digest), ("cumulative", tip.cumulative)] {
        assert_eq!(newest_told[name], hex(&bytes), "{name}");
    }
    for (params, code) in
        [(json!([7]), -32602), (json!(["7"]), -32602), (json!(["x"]), -32602), (json!([5, 5]), -32602)]
    {
        assert_eq!(instance.error("metashrew_blockdigest", params.clone()).await.0, code, "{params}");
    }
    let reported: serde_json::Value =
        serde_json::from_str(instance.result("metashrew_snapshot", json!([])).await.as_str().unwrap()).unwrap();
    assert_eq!((&reported["indexed_height"], &reported["enabled"]), (&json!(6), &json!(false)));
}

#[tokio::test]
async fn a_preview_answers_as_if_the_block_were_there() {
    let Scenario { instance, .. } = Scenario::start().await;
    let network = instance.chain.network;
    let coin = bitcoin::OutPoint { txid: instance.chain.blocks[5].txdata[0].compute_txid(), vout: 0 };
    let mint = calling(coin, script_of(network, &taproot(network, 3)), TOKEN, &[77], None);
    let mut block = instance.chain.blocks[6].clone();
    block.header.prev_blockhash = instance.chain.tip_hash();
    block.txdata.push(mint);
    let block = hex(&bitcoin::consensus::serialize(&block));
    let supply = parcel(TOKEN, &[101]);
    let result = instance.result("metashrew_preview", json!([block, "simulate", supply, "latest"])).await;
    let previewed = SimulateResponse::decode(&bytes(&result)[..]).unwrap().execution.unwrap().data;
    let result = instance.result("metashrew_view", json!(["simulate", supply, "latest"])).await;
    let now = SimulateResponse::decode(&bytes(&result)[..]).unwrap().execution.unwrap().data;
    assert_eq!((previewed, now), (1_200_u128.to_le_bytes().to_vec(), 1_100_u128.to_le_bytes().to_vec()));
    for (params, code) in [
        (json!(["0x00", "simulate", supply, "latest"]), -32602),
        (json!([block, "nonsense", supply, "latest"]), -32601),
        (json!([block, "simulate", supply, "9"]), -32602),
    ] {
        assert_eq!(instance.error("metashrew_preview", params).await.0, code);
    }
}

#[tokio::test]
async fn an_instance_without_contracts_says_so() {
    let instance = Instance::start().await;
    assert_eq!(instance.result("metashrew_height", json!([])).await, "3");
    let digest = instance.result("metashrew_blockdigest", json!(["latest"])).await;
    assert_eq!((&digest["height"], digest["modules"].get("alkanes")), (&json!(3), None));
    for (method, params) in [
        ("metashrew_view", json!(["sequence", "0x"])),
        ("metashrew_preview", json!(["0x", "sequence", "0x"])),
        ("metashrew_stateroot", json!([])),
        ("alkanes_simulate", json!([{ "target": "2:0", "inputs": [99] }])),
        ("spendablesbyaddress", json!([instance.payee])),
        ("sandshrew_balances", json!([{ "address": instance.payee }])),
    ] {
        let answer = instance.call(method, params).await;
        assert_eq!(answer["error"]["data"]["code"], "ALKANES_NOT_INDEXED", "{method}: {answer}");
    }
    let response = instance.post("/v4/api/get-alkanes", "{}").await;
    assert_eq!((response.status, response.json()["code"].clone()), (503, json!("ALKANES_NOT_INDEXED")));
    assert_eq!(instance.get("/v4/api/alkanes").await.status, 503);
}
