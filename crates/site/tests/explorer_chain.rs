//! The pages of the chain over a faked API, whose answers have the shapes of a running instance and hostile values.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::LOCATION;
use hyper::{Request, Response, StatusCode};
use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore, OwnershipProver, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, Site, SiteParts, Tip};
use paraffin_users::{PasswordCost, UserSettings, UserStore};
use serde_json::{Value, json};

const TXID: &str = "860a22551e476f5f04a6f8d1a3c7865f80f25e00223df5d396300ea22daa8e71";
const BLOCK: &str = "316a68a7b89229afef9ba945124912f3f683ec86095aae3c3f82f838142badda";
const ADDRESS: &str = "bcrt1p2wlj6nenxelthxvchaclk8xqd3x9gv6tztu989em8xa9dm743mdscuz96h";
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}";
const ESCAPED: &str = "&#60;script&#62;alert(1)";

/// Answers by the name of a method or route; without an answer it is 404.
struct FakeApi(fn(&str, &Value) -> Option<Value>);

impl Api for FakeApi {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        let request: Value = call.body.as_deref().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        let name = request["method"].as_str().map_or_else(|| call.path.clone(), str::to_owned);
        let params = if request["params"].is_null() { &request } else { &request["params"] };
        let body = match (self.0)(&name, params) {
            Some(answer) if call.path.starts_with("/v4/api/health") => answer,
            Some(answer) if answer.get("error").is_some() => answer,
            Some(answer) => json!({ "result": answer }),
            None => {
                json!({ "error": { "code": -32004, "message": format!("No {HOSTILE}"), "data": { "code": "NOT_FOUND" } } })
            }
        };
        Box::pin(
            async move { ApiAnswer { status: StatusCode::OK, retry_after: None, body: Bytes::from(body.to_string()) } },
        )
    }

    fn tip(&self) -> Tip {
        Tip { network: "regtest".to_owned(), height: Some(160), hash: Some("ab".repeat(32)), time: Some(1_700_096_000) }
    }

    fn tip_other_than(&self, _known: String) -> ApiFuture<'_, Tip> {
        Box::pin(async { self.tip() })
    }
}

async fn ask(access: ExplorerAccess, answers: fn(&str, &Value) -> Option<Value>, path: &str) -> Response<Bytes> {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseLocation::File(folder.path().join("accounts.sqlite"));
    let keys = Arc::new(DatabaseKeyStore::open_at(&database, Plans::default()).await.unwrap());
    let cheap =
        UserSettings { password_cost: PasswordCost { memory_kib: 8, passes: 1, lanes: 1 }, ..Default::default() };
    let site = Site::new(SiteParts {
        users: Arc::new(UserStore::open_with(&database, cheap).await.unwrap()),
        keys: keys as Arc<dyn KeyStore>,
        prover: OwnershipProver::default(),
        plans: Plans::default(),
        public_url: None,
        explorer: access,
    });
    let client: IpAddr = "192.0.2.7".parse().unwrap();
    let request = Request::get(path).header("host", "node:8080").body(Bytes::new()).unwrap();
    site.answer(request, client, 1_700_096_060_000, Arc::new(FakeApi(answers))).await
}

async fn get(answers: fn(&str, &Value) -> Option<Value>, path: &str) -> (StatusCode, String) {
    let response = ask(ExplorerAccess::Open, answers, path).await;
    let page = String::from_utf8(response.body().to_vec()).unwrap();
    assert!(!page.contains("<script>alert") && !page.contains('\u{202e}'), "{path}: {page}");
    assert!(!page.contains(" style="), "{path}");
    (response.status(), page)
}

/// The page with one heading of the first level.
async fn shown(answers: fn(&str, &Value) -> Option<Value>, path: &str) -> String {
    let (status, page) = get(answers, path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {page}");
    assert_eq!(page.matches("<h1").count(), 1, "{path}");
    assert!(page.matches("<th ").count() == page.matches("<th scope=").count(), "{path}");
    page
}

fn output(address: &str, value: u64) -> Value {
    json!({ "scriptpubkey": "5120aa", "scriptpubkey_asm": HOSTILE, "scriptpubkey_type": "v1_p2tr",
        "scriptpubkey_address": address, "value": value })
}

/// A transaction of the development chain: an edict of 32:0, and a call of 32:0 with the operation 78.
fn transaction(confirmed: bool) -> Value {
    let status = if confirmed {
        json!({ "confirmed": true, "block_height": 151, "block_hash": BLOCK, "block_time": 1_700_090_600 })
    } else {
        json!({ "confirmed": false })
    };
    let note = json!({ "scriptpubkey": "6a5d24ff7f818eec8280808880d387b2a6e0a080835bff7f80ba81888594a0dc92e1ea87ea9c01",
        "scriptpubkey_asm": "OP_RETURN", "scriptpubkey_type": "op_return", "value": 0 });
    json!({ "txid": TXID, "version": 2, "locktime": 0, "size": 403, "weight": 1210, "fee": 909, "status": status,
        "vin": [{ "txid": "ab".repeat(32), "vout": 0, "prevout": output(ADDRESS, 2_909), "scriptsig": "",
            "witness": ["00"], "is_coinbase": false, "sequence": 4_294_967_293_u32 }],
        "vout": [output(ADDRESS, 1_000), note, output("\"><b>not an address</b>", 500), output(ADDRESS, 500)] })
}

fn trace() -> Value {
    let id = |tx: &str| json!({ "block": "32", "tx": tx });
    let invoke = |kind: &str, tx: &str, inputs: Value| {
        json!({ "event": "invoke", "data": { "type": kind, "fuel": 3_500_000, "context": { "myself": id(tx),
            "caller": { "block": "0", "tx": "0" }, "inputs": inputs, "vout": 6,
            "incomingAlkanes": [{ "id": id("0"), "value": u128::MAX.to_string() }] } } })
    };
    let end = |status: &str, data: &str| {
        json!({ "event": "return", "data": { "status": status, "fuelUsed": 1_234, "response": { "data": data,
            "alkanes": [], "storage": [{ "key": format!("/key{HOSTILE}"), "value": "0x3c623e6b6570743c2f623e" }] } } })
    };
    json!([
        invoke("call", "0", json!(["78", "2", "9634259"])),
        invoke("staticcall", "1", json!([HOSTILE])),
        end("revert", "0x08c379a0414c4b414e45533a203c623e6e6f3c2f623e"),
        end("success", "0x0a000000000000000000000000000000"),
    ])
}

fn chain(method: &str, params: &Value) -> Option<Value> {
    Some(match method {
        "esplora_tx" if params[0] == json!(TXID) => transaction(true),
        "esplora_tx::outspends" => json!([{ "spent": true, "txid": "cd".repeat(32), "vin": 0 }, { "spent": false },
            { "spent": false }, { "spent": false }]),
        "alkanes_trace" if params[0]["vout"] == json!(6) => trace(),
        "/v4/api/get-alkane-details" => {
            json!({ "name": format!("frBTC {HOSTILE}"), "symbol": "FR\u{202e}", "decimals": 8 })
        }
        "alkanes_meta" => json!({ "contract": HOSTILE, "methods": [{ "name": "unwrap", "opcode": 78,
            "params": [{ "name": format!("vout{HOSTILE}"), "type": "u128" }] }] }),
        "esplora_block-height" if params[0] == json!(151) => json!(BLOCK),
        "esplora_block" if params[0] == json!(BLOCK) => block(),
        "esplora_block::txs" => json!([transaction(true)]),
        "esplora_blocks" => json!([block()]),
        "esplora_mempool" => {
            json!({ "count": 6, "vsize": 1_098, "total_fee": 7_803, "fee_histogram": [[1.56, 1_098]] })
        }
        "esplora_fee-estimates" => json!({ "1": 7.077, "6": 3.0 }),
        "esplora_mempool:recent" => json!([{ "txid": TXID, "fee": 724, "vsize": 154, "value": 1 },
            { "txid": HOSTILE, "fee": 1, "vsize": 0, "value": 1 }]),
        "btc_getmempoolinfo" => {
            json!({ "usage": 1_551, "maxmempool": 67_108_864, "mempoolminfee": 0.000_001, "fullrbf": true })
        }
        "/v4/api/get-alkanes" => json!({ "total": 24 }),
        "/v4/api/get-pools" => json!({ "total": 4 }),
        _ => return None,
    })
}

fn block() -> Value {
    json!({ "id": BLOCK, "height": 151, "version": 536_870_912, "timestamp": 1_700_090_600, "tx_count": 60, "size": 5_776,
        "weight": 15_910, "merkle_root": HOSTILE, "mediantime": 1_700_093_000, "nonce": 0, "bits": 545_259_519_u32,
        "difficulty": 4.656e-10, "previousblockhash": "ef".repeat(32) })
}

#[tokio::test]
async fn a_transaction_has_its_trace_runestone_inputs_and_outputs() {
    let page = shown(chain, &format!("/explorer/tx/{TXID}")).await;
    for text in [
        "10 confirmation",
        "909 sat",
        "3 sat/vB",
        "staticcall",
        "id=\"call-2-1\" open",
        "<bdi>unwrap</bdi> (78)",
        "3,402,823,669,209,384,634,633,746,074,317.68211455",
        "1,234 of 3,500,000",
        "ALKANES: &#60;b&#62;no&#60;/b&#62;",
        "&#60;b&#62;kept&#60;/b&#62;",
        "9,634,259 base units of 32:0 to protostone 2 (shadow output 6)",
        "78, 2, 9634259, 7 zeros",
        "P2TR key path",
        "spent by",
        "unspent",
        "signalled (BIP 125)",
        "href=\"/explorer/contract/32:0\"",
        &format!("href=\"/explorer/address/{ADDRESS}\""),
        &format!("href=\"/explorer/tx/{}\"", "cd".repeat(32)),
        ESCAPED,
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("/explorer/address/&#34;") && !page.contains("<b>not an address"), "{page}");
}

#[tokio::test]
async fn an_unconfirmed_transaction_waits_for_its_trace() {
    let waiting = |method: &str, params: &Value| match method {
        "esplora_tx" => Some(transaction(false)),
        "alkanes_trace" => panic!("asked for the trace of a transaction without a block"),
        other => chain(other, params),
    };
    let page = shown(waiting, &format!("/explorer/tx/{TXID}")).await;
    assert!(page.contains("enough for one of the next 6 blocks"), "{page}");
    assert!(page.contains("The message is run when a block holds the transaction."), "{page}");
}

#[tokio::test]
async fn a_transaction_with_very_many_outputs_has_pages_and_few_calls() {
    let large = |method: &str, params: &Value| match method {
        "esplora_tx" => {
            let mut large = transaction(true);
            large["vout"] = Value::Array((0..3_000).map(|value| output(ADDRESS, value)).collect());
            Some(large)
        }
        "esplora_tx::outspends" => None,
        other => chain(other, params),
    };
    let path = format!("/explorer/tx/{TXID}");
    let page = shown(large, &path).await;
    assert!(page.contains("Outputs 1 to 50 of 3,000") && page.contains("?outputs=50#outputs"), "{page}");
    assert!(page.len() < 100_000, "{}", page.len());
    let last = shown(large, &format!("{path}?outputs=2950")).await;
    assert!(last.contains("2,951 to 3,000 of 3,000") && !last.contains("?outputs=3000"), "{last}");
    // An offset beyond the list shows its beginning.
    assert!(shown(large, &format!("{path}?outputs=-1&outputs=7&x=%ff")).await.contains("Outputs 1 to 50"));
}

#[tokio::test]
async fn blocks_have_pages_and_neighbours() {
    let page = shown(chain, "/explorer/block/151?page=2").await;
    for text in
        [BLOCK, "26 to 50", "?page=1", "?page=3", "/explorer/block/150", "/explorer/block/152", "calls 32:0 · 78"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(shown(chain, &format!("/explorer/block/{BLOCK}")).await.contains("Block 151"));
    let list = shown(chain, "/explorer/blocks?from=151").await;
    assert!(list.contains("?from=160") && list.contains("?from=150"), "{list}");
    let overview = shown(chain, "/explorer").await;
    for text in ["Newest contract traces", "opcode 78", "7.077", "1,098 vB wait", "/explorer/blocks?from=150"] {
        assert!(overview.contains(text), "{text}: {overview}");
    }
}

#[tokio::test]
async fn what_is_not_there_has_a_page_with_its_status() {
    let long = format!("/explorer/tx/{}", "a".repeat(50_000));
    for path in ["/explorer/tx/zz", "/explorer/block/x", "/explorer/block/7", "/explorer/address/%3Cb%3E", &long] {
        let (status, page) = get(chain, path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.contains("<h1"), "{page}");
    }
    let unknown = "cd".repeat(32);
    assert_eq!(get(chain, &format!("/explorer/tx/{unknown}")).await.0, StatusCode::NOT_FOUND);
    let away = |_: &str, _: &Value| {
        Some(json!({ "error": { "code": -32603, "message": HOSTILE, "data": { "code": "STARTING" } } }))
    };
    let busy = |_: &str, _: &Value| {
        Some(json!({ "error": { "code": -32603, "message": "m", "data": { "code": "BUDGET_EXCEEDED" } } }))
    };
    // Reorganisations of the index and branches of the node are read separately: one may be unavailable.
    let (status, page) = get(away, "/explorer/reorgs").await;
    assert!(status == StatusCode::OK && page.contains(ESCAPED), "{page}");
    assert_eq!(get(busy, "/explorer/reorgs").await.0, StatusCode::TOO_MANY_REQUESTS);
    for path in [&*format!("/explorer/tx/{TXID}"), "/explorer", "/explorer/mempool", "/explorer/block/1"] {
        assert_eq!(get(away, path).await.0, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert_eq!(get(busy, path).await.0, StatusCode::TOO_MANY_REQUESTS, "{path}");
    }
}

#[tokio::test]
async fn an_address_has_what_it_holds_and_its_history() {
    let answers = |method: &str, params: &Value| match method {
        "esplora_address" => Some(json!({ "address": ADDRESS,
            "chain_stats": { "funded_txo_sum": 300_000_000, "spent_txo_sum": 100_000_000, "tx_count": 129 },
            "mempool_stats": { "funded_txo_sum": 0, "spent_txo_sum": 50_000_000, "tx_count": 3 } })),
        "esplora_address::txs" => Some(Value::Array(vec![transaction(true); 25])),
        "/v4/api/get-alkanes-by-address" => Some(json!([{ "alkaneId": { "block": "2", "tx": "3" }, "name": HOSTILE,
            "symbol": null, "decimals": 255, "balance": u128::MAX.to_string() }])),
        "ord_address" => {
            Some(json!({ "outputs": [], "sat_balance": 1, "runes_balances": [["PARAFFIN•CANDLES", "126.26", "🕯"]],
            "inscriptions": [format!("{TXID}i0")] }))
        }
        path if path.starts_with("/v4/opi/v1/brc20/history") => {
            Some(json!({ "events": [{ "tick": "wi<k" }], "cursor": null }))
        }
        path if path.starts_with("/v4/opi/v1/brc20/balance?ticker=wi%3Ck") => {
            Some(json!({ "overall_balance": "750000000000000000000", "available_balance": "500000000000000000000" }))
        }
        other => chain(other, params),
    };
    let page = shown(answers, &format!("/explorer/address/{ADDRESS}")).await;
    for text in [
        "2.00000000 BTC",
        "−0.50000000 BTC",
        "132",
        "/explorer/token/2:3",
        "/explorer/rune/PARAFFIN%E2%80%A2CANDLES",
        "126.26",
        "/explorer/brc20/wi%3Ck",
        "wi&#60;k",
        "750, 500 of it available",
        &format!("/explorer/inscription/{TXID}i0"),
        "−0.00001409",
        &format!("?after={TXID}#history"),
        ESCAPED,
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // The other parts are shown without a part that is unavailable.
    let without = |method: &str, params: &Value| match method {
        "esplora_address" => Some(json!({ "chain_stats": { "funded_txo_sum": 1, "spent_txo_sum": 2, "tx_count": 0 },
            "mempool_stats": { "funded_txo_sum": 0, "spent_txo_sum": 0, "tx_count": 0 } })),
        "esplora_address::txs" => Some(json!([])),
        other => chain(other, params),
    };
    let page = shown(without, &format!("/explorer/address/{ADDRESS}")).await;
    assert!(page.contains("No transactions") && page.contains("No &#60;script"), "{page}");
}

#[tokio::test]
async fn the_mempool_has_a_histogram_fees_and_newest_transactions() {
    let page = shown(chain, "/explorer/mempool").await;
    for text in [
        "class=\"histogram\"",
        "1 to 2 sat/vB: 1,098 vB",
        "7.077",
        "about 1 hour",
        "full RBF",
        "data-refresh=\"5\"",
        "Sign in to see",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains(&format!("/explorer/tx/{TXID}")) && !page.contains("href=\"/explorer/tx/&#60;"), "{page}");
}

#[tokio::test]
async fn the_status_names_heights_lag_and_branches() {
    let answers = |method: &str, _: &Value| match method {
        "/v4/api/health" => Some(json!({ "status": "degraded", "network": "regtest", "height": 160,
            "node": { "reachable": false, "height": 165, "error": null }, "orderbook": { "stream": HOSTILE },
            "contracts": { "answered": true } })),
        "esplora_blocks:tip:height" => Some(json!(160)),
        "metashrew_height" => Some(json!("165")),
        "metashrew_blockdigest" => Some(json!({ "modules": { "alkanes": { "version": 5 } } })),
        path if path.starts_with("/v4/api/reorgs") => Some(json!({ "count": 2, "reorgs": [{ "forkHeight": 161,
            "forkHash": BLOCK, "depth": 2, "blocks": [
                { "height": 163, "hash": HOSTILE, "time": 1_700_090_600, "replacedBy": BLOCK },
                { "height": 162, "hash": TXID, "time": 1_700_090_600, "replacedBy": null }] }] })),
        "btc_getchaintips" => Some(json!([{ "height": 160, "hash": BLOCK, "branchlen": 0, "status": "active" },
            { "height": 158, "hash": TXID, "branchlen": 2, "status": "valid-fork" }])),
        "btc_getblockheader" => Some(json!({ "time": 1_700_090_600 })),
        _ => None,
    };
    let page = shown(answers, "/explorer/status").await;
    for text in [
        "degraded",
        "5 blocks behind",
        "at the node&#39;s height",
        "alkanes 5",
        "The index followed 2 reorganisations.",
        "away",
        "Sign in to see this",
        ESCAPED,
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let reorgs = shown(answers, "/explorer/reorgs").await;
    for text in [
        "href=\"/explorer/block/161\"",
        ">163<",
        "none yet",
        ESCAPED,
        "href=\"/explorer/block/156\"",
        "was valid, and left",
        TXID,
        "1 hour ago",
    ] {
        assert!(reorgs.contains(text), "{text}: {reorgs}");
    }
}

fn names(method: &str, params: &Value) -> Option<Value> {
    match method {
        "/v4/api/global-alkanes-search" => Some(json!({
            "tokens": [{ "alkaneId": { "block": "2", "tx": "0" }, "name": HOSTILE, "symbol": "DIESEL" },
                { "alkaneId": { "block": "2", "tx": "8" }, "name": "LP", "symbol": null }],
            "pools": [{ "poolId": { "block": "2", "tx": "8" }, "poolName": "LP" }] })),
        "ord_rune" if params[0] == json!("PARAFFIN•CANDLES") => {
            Some(json!({ "entry": { "spaced_rune": "PARAFFIN•CANDLES" } }))
        }
        "ord_inscription" if params[0] == json!("3") || params[0] == json!(format!("{TXID}i0")) => {
            Some(json!({ "id": format!("{TXID}i0") }))
        }
        "esplora_address" if params[0] == json!(ADDRESS) => Some(json!({})),
        path if path.ends_with("token_summary?ticker=wick") => Some(json!({ "tick": "wick" })),
        other => chain(other, params),
    }
}

fn without_names(method: &str, params: &Value) -> Option<Value> {
    if method.contains("global-alkanes-search") { None } else { names(method, params) }
}

#[tokio::test]
async fn search_leads_to_the_only_hit() {
    let upper = TXID.to_uppercase();
    let inscription = format!("{TXID}i0");
    for (wanted, path) in [
        ("151", "/explorer/block/151".to_owned()),
        (BLOCK, format!("/explorer/block/{BLOCK}")),
        (&*upper, format!("/explorer/tx/{TXID}")),
        (ADDRESS, format!("/explorer/address/{ADDRESS}")),
        ("%202:0%20", "/explorer/contract/2:0".to_owned()),
        (&*inscription, format!("/explorer/inscription/{TXID}i0")),
        ("paraffin.candles", "/explorer/rune/PARAFFIN%E2%80%A2CANDLES".to_owned()),
        ("wick", "/explorer/brc20/wick".to_owned()),
    ] {
        let response = ask(ExplorerAccess::Open, without_names, &format!("/explorer/search?q={wanted}")).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{wanted}");
        assert_eq!(response.headers()[LOCATION].to_str().unwrap(), path, "{wanted}");
    }
}

#[tokio::test]
async fn search_lists_several_hits_and_helps_without_one() {
    let page = shown(names, "/explorer/search?q=DIESEL").await;
    assert!(
        page.contains("/explorer/token/2:0") && page.contains("/explorer/pool/2:8") && page.contains(ESCAPED),
        "{page}"
    );
    assert!(!page.contains("/explorer/token/2:8"), "a pool is listed once: {page}");
    let both = shown(names, "/explorer/search?q=3").await;
    assert!(both.contains("/explorer/block/3") && both.contains(&format!("/explorer/inscription/{TXID}i0")), "{both}");
    assert!(shown(names, "/explorer/search").await.contains("What is understood"));
    let hostile = format!("%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE{}", "x".repeat(60_000));
    for wanted in [
        "%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE",
        &*hostile,
        "2:99999999999999999999999999999999999999999999",
        "%ff%00",
    ] {
        let (status, page) = get(without_names, &format!("/explorer/search?q={wanted}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{}", &wanted[..20.min(wanted.len())]);
        assert!(page.contains("What is understood") && page.len() < 10_000, "{}", page.len());
    }
}

#[tokio::test]
async fn who_has_to_sign_in_is_led_back() {
    let response = ask(ExplorerAccess::SignedIn, chain, "/explorer/search?q=a%26b").await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let path = response.headers()[LOCATION].to_str().unwrap();
    assert_eq!(path, "/console/sign-in?next=%2Fexplorer%2Fsearch%3Fq%3Da%2526b");
    let page = ask(ExplorerAccess::SignedIn, chain, path).await;
    let page = String::from_utf8(page.body().to_vec()).unwrap();
    assert!(page.contains("name=\"next\" value=\"/explorer/search?q=a%26b\""), "{page}");
    let elsewhere = ask(ExplorerAccess::SignedIn, chain, "/console/sign-in?next=//other.example/explorer").await;
    assert!(!String::from_utf8(elsewhere.body().to_vec()).unwrap().contains("other.example"));
    // A return path that is too long is dropped.
    let long = ask(ExplorerAccess::SignedIn, chain, &format!("/explorer/search?q={}", "x".repeat(5_000))).await;
    assert_eq!(long.headers()[LOCATION].to_str().unwrap(), "/console/sign-in");
}
