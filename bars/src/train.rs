//! What a program does while it counts its branches: an import in the shape of mainnet, and answers of its surfaces.
//!
//! It measures nothing. What is not done here is compiled as if it were never done, so what is asked for most in each family is among these.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::large;
use crate::node::request;
use crate::start::{DEV_PORT, Ended};
use xtask::process::{Failure, Outcome};

/// Longest time until the development chain is there; a program that counts takes several times as long as another.
const START_MAX: Duration = Duration::from_secs(180);
/// How often each request is sent.
const ROUNDS: usize = 100;
/// Rounds of which one has pages.
const PAGE_EVERY: usize = 10;

/// Trains `program`, which leaves its counts when it ends.
pub(crate) fn train(root: &Path, program: &Path) -> Outcome {
    large::import_small(root, program)?;
    serve(&root.join("target/bars/train/dev"), program)
}

/// Has it answer from its own development chain.
fn serve(folder: &Path, program: &Path) -> Outcome {
    let failed = |path: &Path, error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", path.display()));
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    let address = format!("127.0.0.1:{DEV_PORT}");
    let mut command = Command::new(program);
    command.args(["dev", "--listen", &address, "--data-dir"]).arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = Ended(command.spawn().map_err(|error| failed(program, &error))?);
    // It is written when the chain is indexed.
    let manifest = folder.join("dev.json");
    let begin = Instant::now();
    while !manifest.exists() && begin.elapsed() < START_MAX {
        std::thread::sleep(Duration::from_millis(100));
    }
    let text = std::fs::read(&manifest).map_err(|error| failed(&manifest, &error))?;
    let known: Value = serde_json::from_slice(&text).map_err(|error| failed(&manifest, &error))?;
    let key = known["keys"]["admin"].as_str().unwrap_or_default();
    let headers = format!("x-service-api-key: {key}\r\ncontent-type: application/json\r\n");
    let requests = requests(&known);
    for round in 0..ROUNDS {
        for (path, body) in &requests {
            // A caller of pages waits for its turn.
            if path.starts_with("/explorer") && !round.is_multiple_of(PAGE_EVERY) {
                continue;
            }
            let method = if body.is_empty() { "GET" } else { "POST" };
            let answer = request(&address, method, path, &headers, body);
            // Answers that fail would train nothing but errors.
            if round == 0 && answer.as_ref().is_none_or(|(status, text)| *status != 200 || text.contains("\"error\":{"))
            {
                return Err(Failure::new(format!("{path} {body}: {answer:?}")));
            }
        }
    }
    // Counts are written when it ends; one that is killed leaves none.
    if process.end() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} did not end when it was asked to", program.display())))
    }
}

/// Paths and bodies; without a body it is a GET.
fn requests(known: &Value) -> Vec<(String, String)> {
    let account = &known["accounts"][0]["address"];
    let samples = &known["samples"];
    let pool = &known["alkanes"]["pools"][0];
    let (txid, hash) = (&samples["txid"], &samples["block_hash"]);
    let methods = [
        ("btc_getblockcount", json!([])),
        ("btc_getblock", json!([hash])),
        ("esplora_address", json!([account])),
        ("esplora_address::utxo", json!([account])),
        ("esplora_address::txs", json!([account])),
        ("esplora_tx", json!([txid])),
        ("esplora_fee-estimates", json!([])),
        ("metashrew_height", json!([])),
        ("alkanes_simulate", json!([{"target": "2:0", "inputs": ["101"]}])),
        ("ord_inscription", json!([samples["inscription_id"]])),
        ("ord_rune", json!([samples["rune"]])),
        ("lua_evalscript", json!(["return _RPC.btc_getblockcount() + 1"])),
    ];
    let call = |(method, params): &(&str, Value)| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let mut requests: Vec<(String, String)> =
        methods.iter().map(|method| ("/v4/jsonrpc".to_owned(), call(method))).collect();
    let batch = methods.iter().map(call).collect::<Vec<_>>().join(",");
    requests.push(("/v4/jsonrpc".to_owned(), format!("[{batch}]")));
    for (path, body) in [
        ("get-address-utxos", json!({"address": account})),
        ("get-address-balance", json!({"address": account})),
        ("get-alkanes-by-address", json!({"address": account})),
        ("get-all-pools-details", json!({})),
        ("get-pool-swap-history", json!({"poolId": pool})),
    ] {
        requests.push((format!("/v4/api/{path}"), body.to_string()));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = text(&known["keys"]["admin"]);
    for (surface, method, params) in [
        ("espo", "ammdata.get_candles", json!({"pool": pool, "timeframe": "1h"})),
        ("btcusd", "metashrew_view", json!(["getpools", "0x", "latest"])),
        ("mempool", "mempool_info", json!({})),
        ("forex", "forex_convert", json!({"from": "EUR", "to": "JPY", "amount": "12.50"})),
    ] {
        requests.push((format!("/v4/{key}/{surface}"), call(&(method, params))));
    }
    for path in [
        "/v4/api/health".to_owned(),
        "/v4/api/indexer/height".to_owned(),
        format!("/v4/{key}/esplora/address/{}/utxo", text(account)),
        format!("/v4/{key}/udf/history?symbol={}&resolution=60&to=2000000000&countback=24", text(pool)),
        format!("/v4/{key}/orderbook/markets"),
        format!("/v4/{key}/dexscreener/latest-block"),
        format!("/v4/{key}/coingecko/tickers"),
        "/v4/opi/v1/brc20/block_height".to_owned(),
        "/v4/api/reorgs".to_owned(),
        format!("/explorer/address/{}", text(account)),
        format!("/explorer/tx/{}", text(txid)),
    ] {
        requests.push((path, String::new()));
    }
    requests
}
