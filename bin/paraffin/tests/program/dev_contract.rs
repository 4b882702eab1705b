//! The `dev` contract: scripts rely on it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::process::{Running, paraffin};
use crate::support::{free_port, http, wait_for};
use serde_json::{Value, json};

const READY: Duration = Duration::from_secs(15);
const STOPPED: Duration = Duration::from_secs(5);

fn start(folder: &Path, extra: &[&str]) -> (Running, Value) {
    let listen = format!("127.0.0.1:{}", free_port());
    let started = Instant::now();
    let mut process =
        Running::start(paraffin().args(["dev", "--listen", &listen, "--data-dir"]).arg(folder).args(extra));
    process.wait_for_output("ready", READY);
    assert!(started.elapsed() < READY);
    let text = std::fs::read_to_string(folder.join("dev.json")).unwrap();
    (process, serde_json::from_str(&text).unwrap())
}

/// Path of the main endpoint with a key whose plan has no limit.
fn main_path(dev: &Value) -> String {
    format!("/v4/{}", dev["keys"]["business"].as_str().unwrap())
}

fn address(dev: &Value) -> String {
    dev["base_url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned()
}

#[test]
fn dev_json_holds_every_member_and_what_it_names_answers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut process, dev) = start(folder.path(), &[]);
    let (address, path) = (address(&dev), main_path(&dev));

    assert_eq!(dev["network"], "regtest");
    assert_eq!(dev["explorer_url"], dev["base_url"]);
    assert_eq!(dev["height"], 160);
    assert_eq!(dev["seed"], 1);
    for member in ["console_url", "tip_hash", "alias", "origin", "alkanes", "samples"] {
        assert!(dev.get(member).is_some(), "{member} is missing");
    }
    for member in ["diesel", "frbtc", "factory", "pools", "usd", "btcusd_pool", "btcusd_impl", "tokens"] {
        assert!(dev["alkanes"].get(member).is_some(), "alkanes.{member} is missing");
    }
    for (member, id) in [("usd", "4:1776"), ("btcusd_pool", "4:1778"), ("btcusd_impl", "4:1786")] {
        assert_eq!(dev["alkanes"][member], id);
    }
    for member in ["txid", "block_hash", "inscription_id", "rune", "brc20_ticker", "unwrap_txid", "order", "market"] {
        assert!(dev["samples"].get(member).is_some(), "samples.{member} is missing");
    }

    // Every key works, also that of the admin.
    for name in ["free", "pro", "business", "admin"] {
        let key = dev["keys"][name].as_str().unwrap();
        assert_eq!(key.len(), 32);
        assert_eq!(http::result(&address, &format!("/v4/{key}"), "btc_getblockcount", json!([])), json!(160), "{name}");
    }

    // Five taproot accounts with balances, which the index and the node agree upon.
    let accounts = dev["accounts"].as_array().unwrap();
    assert!(accounts.len() >= 5);
    for account in accounts {
        let of = account["address"].as_str().unwrap();
        assert!(of.starts_with("bcrt1p"), "{of} is not a taproot address");
        assert!(account["wif"].as_str().unwrap().len() >= 51);
        let answer = http::post(&address, "/v4/api/get-taproot-balance", &json!({"address": of})).json();
        assert!(answer["data"]["balance"].as_u64().unwrap() > 0, "{account}");
    }

    // The samples exist.
    let txid = dev["samples"]["txid"].as_str().unwrap();
    assert_eq!(http::result(&address, &path, "esplora_tx", json!([txid]))["txid"], *txid);
    let hash = dev["samples"]["block_hash"].as_str().unwrap();
    assert_eq!(http::result(&address, &path, "esplora_block", json!([hash]))["id"], *hash);

    // Prices of the pools have moved apart, so that a cycle of trades pays.
    assert_eq!(dev["alkanes"]["pools"].as_array().unwrap().len(), 4);
    let cycle = json!({"token": dev["alkanes"]["diesel"]});
    let cycle = http::result(&address, &format!("{path}/espo"), "ammdata.get_best_mev_swap", cycle);
    assert_eq!(cycle["ok"], true, "{cycle}");

    // What is inscribed answers as well.
    let call = |method: &str, params: Value| http::result(&address, &path, method, params);
    let samples = &dev["samples"];
    let id = samples["inscription_id"].as_str().unwrap();
    assert_eq!(samples["inscriptions"]["image"], id);
    let image = call("ord_inscription", json!([id]));
    assert_eq!((&image["id"], &image["content_type"]), (&json!(id), &json!("image/png")));
    assert_eq!((&image["child_count"], &image["charms"]), (&json!(1), &json!([])));
    assert!(call("ord_content", json!([id])).as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG in base64");
    let rune = call("ord_rune", json!([samples["rune"]]));
    assert_eq!(rune["entry"]["spaced_rune"], samples["rune"]);
    assert_eq!((&rune["mintable"], &rune["parent"]), (&json!(true), &samples["inscriptions"]["rune"]));
    let alice = accounts[0]["address"].as_str().unwrap();
    let opi = |route: &str| http::get(&address, &format!("/v4/opi/v1/brc20/{route}")).json()["result"].clone();
    let ticker = samples["brc20_ticker"].as_str().unwrap();
    assert_eq!(opi(&format!("token_summary?ticker={ticker}"))["tick"], *ticker);
    let script = accounts[0]["script"].as_str().unwrap();
    for wallet in [format!("address={alice}"), format!("pkscript={script}")] {
        let balance = opi(&format!("balance?ticker={ticker}&{wallet}"));
        assert_eq!(balance["overall_balance"], "750000000000000000000", "{balance}");
    }

    // The node answers what clients use, and what is mined there is indexed.
    let node =
        dev["node"]["rpc_url"].as_str().unwrap().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let credentials = ["authorization", &format!("Basic {}", credentials(&dev))].map(str::to_owned);
    let rpc = |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = [(credentials[0].as_str(), credentials[1].as_str())];
        http::try_request(&node, "POST", "/", &headers, body.as_bytes()).unwrap().json()
    };
    let mined = rpc("generatetoaddress", json!([2, accounts[0]["address"]]));
    assert_eq!(mined["result"].as_array().unwrap().len(), 2, "{mined}");
    wait_for("the index to follow", Duration::from_secs(5), || {
        (http::result(&address, &path, "btc_getblockcount", json!([])) == json!(162)).then_some(())
    });
    rpc("invalidateblock", json!([mined["result"][1]]));
    wait_for("the index to undo", Duration::from_secs(5), || {
        (http::result(&address, &path, "btc_getblockcount", json!([])) == json!(161)).then_some(())
    });
    rpc("reconsiderblock", json!([mined["result"][1]]));
    wait_for("the index to redo", Duration::from_secs(5), || {
        (http::result(&address, &path, "btc_getblockcount", json!([])) == json!(162)).then_some(())
    });
    assert!(std::net::TcpStream::connect(dev["node"]["p2p_addr"].as_str().unwrap()).is_ok());

    assert!(process.terminate(STOPPED).success());
}

/// What an `Authorization` header of the node says after `Basic`.
fn credentials(dev: &Value) -> String {
    let text = |name: &str| dev["node"][name].as_str().unwrap();
    data_encoding::BASE64.encode(format!("{}:{}", text("user"), text("password")).as_bytes())
}

#[test]
fn the_same_seed_gives_the_same_chain_and_another_seed_another() {
    let tip = |seed: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (mut process, dev) = start(folder.path(), &["--seed", seed, "--blocks", "120"]);
        assert!(process.terminate(STOPPED).success());
        (dev["tip_hash"].clone(), dev["accounts"].clone())
    };
    let first = tip("7");
    assert_eq!(first, tip("7"));
    assert_ne!(first, tip("8"));
}

#[test]
fn the_printed_curl_lines_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (mut process, _) = start(folder.path(), &["--blocks", "120"]);
    let output = process.output();
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| line.starts_with("curl ")).collect();
    assert!(lines.len() >= 4, "{output}");
    for line in lines {
        let run = std::process::Command::new("sh").arg("-c").arg(line).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status.success(), "{line}\n{text}");
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"));
        assert!(answer.get("error").is_none_or(Value::is_null), "{line}: {answer}");
    }
    assert!(process.terminate(STOPPED).success());
}

#[test]
fn a_folder_is_used_again_with_its_chain_and_keys_and_fresh_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (mut process, first) = start(folder.path(), &["--blocks", "120"]);
    let key = first["keys"]["free"].as_str().unwrap().to_owned();
    let hash = http::post(
        first["node"]["rpc_url"].as_str().unwrap().strip_prefix("http://").unwrap().trim_end_matches('/'),
        "/",
        &json!({}),
    );
    assert_eq!(hash.status, 401, "the node of dev asks for its password");
    assert!(process.terminate(STOPPED).success());

    let (mut process, second) = start(folder.path(), &["--blocks", "120"]);
    assert_eq!(second["keys"], first["keys"]);
    assert_eq!(second["tip_hash"], first["tip_hash"]);
    assert_eq!(http::result(&address(&second), &format!("/v4/{key}"), "btc_getblockcount", json!([])), json!(120));
    assert!(process.terminate(STOPPED).success());

    let (mut process, third) = start(folder.path(), &["--blocks", "120", "--fresh"]);
    assert_ne!(third["keys"], first["keys"]);
    let refused = http::post(&address(&third), &format!("/v4/{key}"), &json!({"id": 1, "method": "btc_getblockcount"}));
    assert_eq!(refused.status, 401);
    assert!(process.terminate(STOPPED).success());
}

#[test]
fn blocks_mined_in_one_run_are_there_in_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (mut process, dev) = start(folder.path(), &["--blocks", "120"]);
    let (api, path) = (address(&dev), main_path(&dev));
    let node =
        dev["node"]["rpc_url"].as_str().unwrap().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let authorization = format!("Basic {}", credentials(&dev));
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "generatetoaddress", "params": [5, dev["accounts"][0]["address"]]})
            .to_string();
    let mined =
        http::try_request(&node, "POST", "/", &[("authorization", &authorization)], body.as_bytes()).unwrap().json();
    let tip = mined["result"][4].clone();
    wait_for("the index to follow", Duration::from_secs(5), || {
        (http::result(&api, &path, "btc_getbestblockhash", json!([])) == tip).then_some(())
    });
    process.kill();
    drop(process);

    let (mut process, again) = start(folder.path(), &["--blocks", "120"]);
    assert_eq!(again["tip_hash"], tip);
    assert_eq!(http::result(&address(&again), &main_path(&again), "btc_getblockcount", json!([])), json!(125));
    assert!(process.terminate(STOPPED).success());
}

#[test]
fn without_a_folder_everything_is_temporary_and_removed_at_the_end() {
    let listen = format!("127.0.0.1:{}", free_port());
    let mut process = Running::start(paraffin().args(["dev", "--blocks", "110", "--listen", &listen]));
    process.wait_for_output("ready", READY);
    let output = process.output();
    let line = output.lines().find(|line| line.trim_end().ends_with("dev.json")).unwrap();
    let manifest = Path::new(line.split_whitespace().last().unwrap()).to_owned();
    assert!(manifest.is_file(), "{line}");
    assert!(process.terminate(STOPPED).success());
    assert!(!manifest.parent().unwrap().exists());
}

#[test]
fn an_interval_mines_blocks_with_traffic_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (mut process, dev) = start(folder.path(), &["--blocks", "120", "--interval", "1"]);
    let (address, path) = (address(&dev), main_path(&dev));
    let transactions = wait_for("a block with traffic", Duration::from_secs(20), || {
        let tip = http::call(&address, &path, "btc_getbestblockhash", json!([]))["result"].clone();
        let block = http::call(&address, &path, "esplora_block", json!([tip]))["result"].clone();
        (block["height"].as_u64()? > 121).then(|| block["tx_count"].as_u64()).flatten().filter(|count| *count > 1)
    });
    assert!(transactions > 1);
    assert!(process.terminate(STOPPED).success());
}
