//! Pages of contracts, tokens and markets, over an API that answers with what a development chain answered, and with hostile
//! values.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{COOKIE, SET_COOKIE};
use hyper::{Request, StatusCode};
use paraffin_access::{DatabaseKeyStore, KeyStore, OwnershipProver, Place, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, Site, SiteParts, Tip};
use paraffin_users::{PasswordCost, UserSettings, UserStore};
use parking_lot::Mutex;
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000_000;
const PASSWORD: &str = "correct horse battery";
/// A name that is markup, turns the direction of text, and is far too long.
const MARKUP: &str = "<script>alert(1)</script>";

fn hostile() -> String {
    format!("{MARKUP}\u{202e}\"'&{}", "x".repeat(100_000))
}

/// Answers by the end of a path, or the name of a method; what is not there is 404.
struct Answers {
    answers: Vec<(&'static str, u16, Value)>,
    asked: Mutex<Vec<Call>>,
}

impl Api for Answers {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        let body: Value = call.body.as_deref().map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let method = body["method"].as_str().unwrap_or_default().to_owned();
        let path = call.path.split('?').next().unwrap_or_default().to_owned();
        self.asked.lock().push(call);
        let found = self.answers.iter().find(|(name, ..)| method == *name || path.ends_with(name));
        let (status, body) = found.map_or_else(
            || (404, json!({ "statusCode": 404, "code": "NOT_FOUND", "error": "there is no such thing" })),
            |(_, status, body)| (*status, body.clone()),
        );
        let body = Bytes::from(body.to_string());
        let status = StatusCode::from_u16(status).unwrap();
        Box::pin(async move { ApiAnswer { status, retry_after: None, body } })
    }

    fn tip(&self) -> Tip {
        Tip { network: "regtest".to_owned(), height: Some(160), hash: Some("ab".repeat(32)), time: Some(1_700_096_000) }
    }

    fn tip_other_than(&self, _: String) -> ApiFuture<'_, Tip> {
        Box::pin(async { self.tip() })
    }
}

struct World {
    site: Site,
    cookie: String,
    answers: Arc<Answers>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new(answers: Vec<(&'static str, u16, Value)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::File(folder.path().join("accounts.sqlite"));
        let keys = Arc::new(DatabaseKeyStore::open_at(&place, Plans::default()).await.unwrap());
        let cheap =
            UserSettings { password_cost: PasswordCost { memory_kib: 8, passes: 1, lanes: 1 }, ..Default::default() };
        let users = Arc::new(UserStore::open_with(&place, cheap).await.unwrap());
        let link = users.setup_link(NOW).await.unwrap().unwrap();
        users.accept_link(&link.token, "owner", PASSWORD, "test", NOW).await.unwrap();
        let site = Site::new(SiteParts {
            users,
            keys: keys as Arc<dyn KeyStore>,
            prover: OwnershipProver::default(),
            plans: Plans::default(),
            public_url: None,
            explorer: ExplorerAccess::Open,
        });
        let answers = Arc::new(Answers { answers, asked: Mutex::default() });
        Self { site, cookie: String::new(), answers, _folder: folder }
    }

    async fn sign_in(&mut self) {
        let body = format!("name=owner&password={}", PASSWORD.replace(' ', "+"));
        let request = Request::post("/console/sign-in")
            .header("host", "node:8080")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin");
        let api = Arc::clone(&self.answers) as Arc<dyn Api>;
        let client = "192.0.2.7".parse().unwrap();
        let response = self.site.answer(request.body(body.into()).unwrap(), client, NOW, api).await;
        let cookie = response.headers().get(SET_COOKIE).unwrap().to_str().unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut self.cookie);
    }

    /// A page, of which some things hold whatever it shows.
    async fn get(&self, path: &str) -> (StatusCode, String) {
        self.answers.asked.lock().clear();
        let request = Request::get(path).header("host", "node:8080").header(COOKIE, &self.cookie);
        let api = Arc::clone(&self.answers) as Arc<dyn Api>;
        let client = "192.0.2.7".parse().unwrap();
        let response = self.site.answer(request.body(Bytes::new()).unwrap(), client, NOW, api).await;
        let (status, page) = (response.status(), String::from_utf8(response.body().to_vec()).unwrap());
        assert!(!page.contains(MARKUP) && !page.contains('\u{202e}'), "{path}");
        assert!(!page.contains(" style=") && !page.contains("NaN") && !page.contains("onclick"), "{path}");
        assert_eq!(page.matches("<h1").count(), 1, "{path}: {page}");
        assert_eq!(page.matches("<table>").count(), page.matches("<thead><tr><th scope=\"col\"").count(), "{path}");
        assert!(page.len() < 400_000, "{path}: {} bytes", page.len());
        assert!(self.answers.asked.lock().len() <= 12, "{path}: {:?}", self.answers.asked.lock());
        (status, page)
    }

    async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        page
    }

    fn bodies(&self, name: &str) -> Vec<Value> {
        let asked = self.answers.asked.lock();
        let of = asked
            .iter()
            .filter(|call| call.path.ends_with(name) || call.body.as_deref().is_some_and(|body| body.contains(name)));
        of.map(|call| serde_json::from_str(call.body.as_deref().unwrap_or("null")).unwrap()).collect()
    }
}

fn id(text: &str) -> Value {
    let (block, tx) = text.split_once(':').unwrap();
    json!({ "block": block, "tx": tx })
}

fn enveloped(data: Value) -> Value {
    json!({ "statusCode": 200, "data": data })
}

fn result(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

fn token(of: &str, name: Option<&str>, decimals: u32, supply: &str) -> Value {
    json!({ "id": id(of), "alkaneId": id(of), "name": name, "symbol": name, "decimals": decimals, "max": null, "cap": null,
        "minted": null, "premine": null, "totalSupply": supply, "holders": 10, "createdAtHeight": 104,
        "priceUsd": 144.592, "frbtcPoolPriceInSats": 198_958.4, "priceChange24h": null, "marketcap": 2_891_843.9,
        "marketcapInSats": 3_979_169_140_u64, "fdv": null, "fdvInSats": null, "tokenPoolsVolume1dInUsd": 211_805.6,
        "tokenPoolsVolume1dInSats": 291_443_967, "tokenPoolsVolume30dInUsd": null, "tokenPoolsVolume30dInSats": null })
}

fn side(of: &str, symbol: &str, amount: &str) -> Value {
    json!({ "alkaneId": id(of), "name": symbol, "symbol": symbol, "decimals": 8, "amount": amount, "token0Amount": amount })
}

fn pairs() -> Value {
    enveloped(json!({ "total": 1, "count": 1, "limit": 50, "offset": 0, "pairs": [{ "poolId": id("2:6"),
        "poolName": "Paraffin Dollar / frBTC LP", "token0": side("2:3", "PUSD", "45583412459"), "token1": side("32:0", "frBTC", "99331058"),
        "poolTvlInSats": 190_023_112, "poolTvlInUsd": 138_098.4, "poolVolume1dInSats": 183_979_704, "poolVolume1dInUsd": null }] }))
}

fn pool(name: &str, amount: &str) -> Value {
    json!({ "id": "2:6", "poolId": id("2:6"), "factoryId": id("4:65522"), "token0": id("2:3"), "token1": id("32:0"),
        "poolName": name, "token0Amount": amount, "token1Amount": "99331058", "tokenSupply": "2107130750", "feePer1000": 10,
        "creatorAddress": "bcrt1pmrc2", "creationBlockHeight": 109, "poolTvlInSats": 190_023_112, "poolTvlInUsd": 138_098.4,
        "poolVolume1dInSats": 183_979_704, "poolVolume1dInUsd": 133_706.4, "trades1d": 24, "tradesAllTime": 24,
        "poolApr": 9.42, "price": 0.002_022_559_7, "priceChange24h": -6.166, "tvlChange24h": null })
}

fn swaps() -> Value {
    enveloped(
        json!({ "total": 24, "count": 1, "limit": 25, "offset": 0, "swaps": [{ "id": "3d:0", "transactionId": "3d".repeat(32),
        "blockHeight": 155, "timestamp": "2023-11-16T00:03:20Z", "successful": true, "address": "bcrt1pmrc2rjach7vgjj7hf328",
        "poolId": id("2:6"), "pay": { "tokenId": id("32:0"), "amount": "8057836" },
        "receive": { "tokenId": id("2:3"), "amount": "3983979280" }, "price": 0.002 }] }),
    )
}

fn candles(prices: [&str; 4]) -> Value {
    json!({ "ok": true, "pool": "2:6", "interval": "1h", "candles": [{ "open_time": "2023-11-16T00:00:00Z",
        "close_time": "2023-11-16T01:00:00Z", "open": prices[0], "high": prices[1], "low": prices[2], "close": prices[3],
        "volume0": "3983979280", "volume1": "8057836", "trade_count": 1 }] })
}

fn trades() -> Value {
    json!({ "ok": true, "pool": "2:6", "trades": [{ "txid": "09", "timestamp": "2023-11-16T00:53:20Z",
        "reserve0_after": "4264565691674", "reserve1_after": "69813822" }] })
}

fn contract() -> Vec<(&'static str, u16, Value)> {
    vec![
        ("get-alkane-details", 200, enveloped(token("2:0", Some("DIESEL"), 8, "50049866168"))),
        ("alkanes_getdeployment", 200, result(json!({ "outpoint": { "txid": "e8".repeat(32), "vout": 5 } }))),
        ("alkanes_getbytecode", 200, result(json!("0x0061736d01"))),
        (
            "alkanes_meta",
            200,
            result(json!({ "contract": "GenesisToken", "methods": [
            { "name": "get_name", "opcode": 99, "params": [], "returns": "String" }] })),
        ),
        ("alkanes_getinventory", 200, result(json!({ "alkanes": [{ "id": id("2:3"), "value": "45583412459" }] }))),
        ("get-token-pairs", 200, pairs()),
        (
            "get-keys",
            200,
            json!({ "ok": true, "alkane": "2:0", "keys": { "/name": { "key": "/name", "key_hex": "0x2f6e616d65",
            "value": "0x44494553454c", "value_str": "DIESEL", "last_txid": null } } }),
        ),
        ("alkanes_getstorageat", 200, result(json!("0xb85934a70b0000000000000000000000"))),
        (
            "alkanes_simulate",
            200,
            result(json!({ "status": 0, "gasUsed": 2607, "execution": { "alkanes": [], "storage": [],
            "data": "0x44494553454c", "error": null }, "trace": [] })),
        ),
    ]
}

#[tokio::test]
async fn a_contract_is_shown_with_views_and_storage() {
    let world = World::new(contract()).await;
    let page = world.page("/explorer/contract/2:0?view=99&inputs=2:7&key=/totalsupply").await;
    for text in [
        "DIESEL",
        "GenesisToken",
        "5 bytes",
        "500.49866168 DIESEL",
        "2,607",
        "0x44494553454c",
        "50,049,866,168",
        "/name",
        "45,583,412,459",
        "Sign in to see this",
        "/explorer/pool/2:6",
        "block/104",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains(&format!("/explorer/tx/{}", "e8".repeat(32))));
    let call = &world.bodies("alkanes_simulate")[0]["params"][0];
    assert_eq!(call["inputs"], json!(["99", "2", "7"]));
    assert_eq!(world.bodies("alkanes_getstorageat")[0]["params"][0]["path"], "/totalsupply");
}

#[tokio::test]
async fn a_call_that_reverts_shows_its_text_and_wrong_inputs_name_their_field() {
    let mut answers = contract();
    answers.retain(|(name, ..)| *name != "alkanes_simulate");
    let error = format!("ALKANES: revert: {}", hostile());
    answers.push((
        "alkanes_simulate",
        200,
        result(json!({ "status": 1, "gasUsed": 0, "execution": { "alkanes": [],
        "storage": [], "data": "0x", "error": error }, "trace": [] })),
    ));
    let world = World::new(answers).await;
    let page = world.page("/explorer/contract/2:0?view=5").await;
    assert!(page.contains("revert") && page.contains("ALKANES: revert: &#60;script&#62;"), "{page}");
    let page = world.page("/explorer/contract/2:0?view=abc&inputs=%22%3E").await;
    assert!(
        page.contains("Opcode: this is no number")
            && page.contains("value=\"abc\"")
            && page.contains("value=\"&#34;&#62;\"")
    );
    assert!(world.bodies("alkanes_simulate").is_empty());
    let page = world.page("/explorer/contract/2:0?view=1&inputs=x").await;
    assert!(page.contains("Inputs: “x” is no number"));
    let page = world.page("/explorer/contract/2:0?key=0xzz").await;
    assert!(page.contains("Key: after 0x stand hexadecimal digits") && world.bodies("alkanes_getstorageat").is_empty());
}

#[tokio::test]
async fn a_verified_source_is_shown_to_people_who_are_signed_in() {
    let mut answers = contract();
    answers.push((
        "/source/2/0",
        200,
        json!({ "ok": true, "source": { "verified": true, "verdict": "reproducible", "match_pct": 100,
        "repo": hostile(), "commit": "ab12", "built": { "rustc": "1.96.0" } } }),
    ));
    answers.push((
        "/source/2/0/tree",
        200,
        json!({ "ok": true, "tree": { "nodes": [{ "path": "src/<b>.rs", "type": "file", "size": 5 },
        { "path": "src", "type": "dir", "size": null }] } }),
    ));
    answers.push((
        "/source/2/0/blob",
        200,
        json!({ "ok": true, "blob": { "binary": false, "text": format!("fn a() {{}}\n{MARKUP}") } }),
    ));
    answers.push((
        "essentials.get_keys",
        200,
        result(json!({ "ok": true, "total": 60, "items": { "0x2f61": { "hex": "0x2f61",
        "value_hex": "0x01", "last_txid": "cd".repeat(32) } } })),
    ));
    let mut world = World::new(answers).await;
    world.sign_in().await;
    let page = world.page("/explorer/contract/2:0?file=src/%3Cb%3E.rs&keys=2").await;
    for text in [
        "Verified",
        "reproducible",
        "1.96.0",
        "1 files",
        "src/&#60;b&#62;.rs",
        "file=src%2F%3Cb%3E.rs",
        "fn a() {}",
        "26 to 50 of 60",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(world.bodies("get_keys")[0]["params"]["page"], 1);
    assert!(
        world.answers.asked.lock().iter().any(|call| call.path == "/api/v1/KEY/source/2/0/blob?path=src%2F%3Cb%3E.rs")
    );
}

#[tokio::test]
async fn what_is_not_there_or_not_served_has_its_status() {
    let world = World::new(Vec::new()).await;
    for path in ["contract/9:9", "contract/x", "contract/%3Cb%3E", "token/9:9", "token/2:", "pool/9:9", "pool/-1:0"] {
        let (status, page) = world.get(&format!("/explorer/{path}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.contains("There is") || page.contains("there is") || page.contains("This is no id"), "{page}");
    }
    let starting = json!({ "statusCode": 503, "code": "STARTING", "error": "the index is being built" });
    let paths = ["get-alkanes", "get-all-pools-details", "get-pool-details", "get-alkane-details"];
    let world = World::new(paths.into_iter().map(|path| (path, 503, starting.clone())).collect()).await;
    for path in ["contracts", "tokens", "pools", "pool/2:6", "token/2:0", "contract/2:0"] {
        let (status, page) = world.get(&format!("/explorer/{path}")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(page.contains("the index is being built"));
    }
    let limited = json!({ "statusCode": 429, "code": "RATE_LIMITED", "error": "slow down" });
    let world = World::new(vec![("get-bitcoin-price", 429, limited)]).await;
    for path in ["markets", "bitcoin-price"] {
        assert_eq!(world.get(&format!("/explorer/{path}")).await.0, StatusCode::TOO_MANY_REQUESTS);
    }
}

#[tokio::test]
async fn lists_have_pages_orders_and_filters() {
    let tokens = json!({ "total": 120, "tokens": [token("2:3", Some("Paraffin Dollar"), 8, "2000000000000"), token("4:1", None, 255, "5")] });
    let pools =
        json!({ "total": 4, "pools": [pool("Paraffin Dollar / frBTC LP", "45583412459")], "totalTvl": 5_000.5 });
    let world = World::new(vec![
        ("get-alkanes", 200, enveloped(tokens)),
        ("get-all-pools-details", 200, enveloped(pools)),
        ("get-all-token-pairs", 200, pairs()),
    ])
    .await;
    let page = world.page("/explorer/tokens?page=2&q=a%26b").await;
    assert!(page.contains("$144.59") && page.contains("20,000") && page.contains("51 to 100 of 120"));
    assert!(
        page.contains("sort=volume&#38;q=a%26b&#38;page=3") || page.contains("sort=volume&amp;q=a%26b&amp;page=3"),
        "{page}"
    );
    let asked = &world.bodies("get-alkanes")[0];
    assert_eq!(
        (&asked["offset"], &asked["sortBy"], &asked["searchQuery"]),
        (&json!(50), &json!("volume"), &json!("a&b"))
    );
    let page = world.page("/explorer/contracts?sort=oldest&page=99999999999999999999").await;
    assert!(page.contains("/explorer/contract/4:1") && world.bodies("get-alkanes")[0]["order"] == "asc");
    let page = world.page("/explorer/pools").await;
    for text in ["455.83412459 PUSD", "0.99331058 frBTC", "0.0020226 frBTC", "-6.17 %", "9.42 %", "$5,000"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn a_token_has_holders_with_their_shares() {
    let holders = json!({ "total": 30, "holders": [{ "address": "bcrt1pn9hpf04", "balance": "500000000000" },
        { "address": MARKUP, "balance": "5" }] });
    let world = World::new(vec![
        ("get-alkane-details", 200, enveloped(token("2:3", Some("Paraffin Dollar"), 8, "2000000000000"))),
        ("get-holders", 200, enveloped(holders)),
        ("get-token-pairs", 200, pairs()),
        ("get-token-swap-history", 200, swaps()),
    ])
    .await;
    let page = world.page("/explorer/token/2:3?page=2").await;
    for text in [
        "Paraffin Dollar",
        "25 %",
        "&#60; 0.01 %",
        "26 to 30 of 30",
        "0.08057836 frBTC",
        "39.8397928 PUSD",
        "2023-11-16 00:03 UTC",
    ] {
        assert!(page.contains(text) || page.contains(&text.replace("PUSD", "Paraffin Dollar")), "{text}: {page}");
    }
    assert_eq!(world.bodies("get-holders")[0]["offset"], 25);
}

fn of_pool(name: &str, amount: &str, prices: [&str; 4]) -> Vec<(&'static str, u16, Value)> {
    vec![
        ("get-pool-details", 200, enveloped(pool(name, amount))),
        ("get-alkane-details", 200, enveloped(token("2:3", Some("PUSD"), 8, "5"))),
        ("get-candles", 200, candles(prices)),
        ("get-trades", 200, trades()),
        ("get-pool-swap-history", 200, swaps()),
    ]
}

#[tokio::test]
async fn a_pool_has_candles_history_and_both_prices() {
    let world =
        World::new(of_pool("Paraffin Dollar / frBTC LP", "45583412459", ["0.002", "0.004", "0.001", "0.002"])).await;
    let page = world.page("/explorer/pool/2:6?interval=1d&from=1700000000&to=1700086400").await;
    for text in [
        "1 PUSD = 0.0020226 PUSD",
        "494.42",
        "high 0.004, low 0.001",
        "/console/chart.js",
        "Earlier",
        "Reserve of PUSD",
        "39.8397928",
        "1 %",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let asked = &world.bodies("get-candles")[0];
    assert_eq!((&asked["interval"], &asked["start_time"]), (&json!("1d"), &json!(1_700_000_000)));
    let page = world.page("/explorer/pool/2:6?side=1&kind=burns").await;
    assert!(page.contains("high 1,000, low 250") && page.contains("there is no such thing"));
    assert_eq!(world.bodies("get-pool-burn-history").len(), 1);
}

#[tokio::test]
async fn hostile_values_of_markets_are_plain() {
    let most = u128::MAX.to_string();
    let name = hostile();
    let mut answers = of_pool(&name, &most, ["1e400", "-1", "NaN", "0"]);
    answers[1].2 = enveloped(token("2:3", Some(&name), 255, &most));
    let tokens = json!({ "total": u64::MAX, "tokens": [token("2:3", Some(&name), 255, &most)] });
    answers.push(("get-alkanes", 200, enveloped(tokens)));
    answers.push((
        "get-holders",
        200,
        enveloped(json!({ "total": u64::MAX, "holders": [{ "address": name, "balance": most }] })),
    ));
    let world = World::new(answers).await;
    for path in [
        "pool/2:6",
        "pool/2:6?side=1",
        "tokens",
        "contracts?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "token/2:3",
        "contract/2:3",
    ] {
        let page = world.page(&format!("/explorer/{path}")).await;
        assert!(page.contains("&#60;script&#62;"), "{path}");
    }
}

#[tokio::test]
async fn routes_are_found_and_compared() {
    let two = |id_of: &str, token0: &str, token1: &str, r0: &str, r1: &str| json!({ "poolId": id(id_of), "token0": id(token0), "token1": id(token1), "token0Amount": r0, "token1Amount": r1, "feePer1000": 10 });
    let direct = two("2:9", "2:0", "32:0", "2219168741", "52288270");
    let paths = json!({ "paths": [
        { "type": "direct", "path": [id("2:0"), id("32:0")], "pools": [direct] },
        { "type": "multi", "path": [id("2:0"), id("2:3"), id("32:0")], "pools": [
            two("2:8", "2:0", "2:3", "1805210965", "27494932743"), two("2:6", "2:3", "32:0", "45583412459", "99331058")] }] });
    let best = json!({ "ok": true, "paths": [{ "estimated_output": "32500", "pools": ["2:8", "2:6"], "hops": [
        { "pool": "2:8", "token_in": "2:0", "token_out": "2:3", "kind": "factory" },
        { "pool": "2:6", "token_in": "2:3", "token_out": "32:0", "kind": "factory" }] }] });
    let tokens =
        json!({ "total": 2, "tokens": [token("2:0", Some("DIESEL"), 8, "5"), token("32:0", Some("frBTC"), 8, "5")] });
    let world = World::new(vec![
        ("get-alkanes", 200, enveloped(tokens)),
        ("pathfind", 200, best),
        ("get-alkane-swap-pair-details", 200, enveloped(paths)),
    ])
    .await;
    let page = world.page("/explorer/routes?from=diesel&to=32:0&amount=0.01").await;
    for text in ["0.000325 frBTC", "/explorer/pool/2:8", ">best<", "0.00023316 frBTC", "28.25 % less"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(world.bodies("pathfind")[0]["amount_in"], "1000000");
    for (query, sentence) in [
        ("from=2:0&to=2:0", "To: this is the same token."),
        ("from=2:0&to=32:0&amount=-1", "Amount: The amount is a number"),
        ("from=2:0&to=32:0&amount=0", "Amount: it is more than nothing."),
        ("from=none&to=32:0", "From: there is no such token."),
    ] {
        assert!(world.page(&format!("/explorer/routes?{query}")).await.contains(sentence), "{query}");
        assert!(world.bodies("pathfind").is_empty());
    }
}

const PRICES: &str = "0x08011205080410f20d1a05080410f00d220208202a1331303030303030303030303030303030303030320e31363531343639383532363834373880d0d5aa0640a0014a2009d81d8632001ec80deef0a38ae5b17615a511d67c072ede1ce17a7e42c7f023520e31353037383636373539353135315a0e313531363538323036323434363660a001";

#[tokio::test]
async fn bitcoin_has_the_price_of_the_feed_and_three_of_the_pool() {
    let feed = json!({ "bitcoin": { "usd": 72_674.566 }, "source": hostile(), "timestamp": "2026-11-28T03:55:32Z", "stale": true });
    let mut answers = of_pool("", "5", ["0.00001", "0.00002", "0.00001", "0.00001"]);
    answers.push(("get-bitcoin-price", 200, enveloped(feed)));
    answers.push((
        "get-bitcoin-market-chart",
        200,
        enveloped(json!({ "prices": [[1_795_751_996_000_i64, 71_099.9], [1_795_752_596_000_i64, 71_200.5]] })),
    ));
    answers.push(("metashrew_view", 200, result(json!(PRICES))));
    let mut world = World::new(answers).await;
    let page = world.page("/explorer/bitcoin-price?days=7").await;
    assert!(page.contains("$72,674.57") && page.contains("stale") && page.contains("Sign in to see the marginal"));
    assert_eq!(world.bodies("get-bitcoin-market-chart")[0]["days"], "7");
    world.sign_in().await;
    let page = world.page("/explorer/bitcoin-price").await;
    for text in ["$60,552.12", "$66,318.86", "$65,937.74", "/explorer/block/160", "high 100,000, low 50,000"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn the_order_book_and_rates_are_shown_or_their_sentence() {
    let order = |side: &str, price: &str| {
        json!({ "id": hostile(), "side": side, "status": "open", "price": price,
        "priceUnit": "DIESEL", "makerAddress": MARKUP, "assets": [{ "tokenId": "2:1387", "amountRaw": "3" }], "updatedAt": 1_754_000_000_000_000_i64 })
    };
    let key = "orbitals:regtest:module:<b>&x";
    let answers = vec![
        ("orderbook/markets", 200, json!({ "markets": [{ "market_key": key, "open_orders": 7 }] })),
        (
            "orderbook/snapshot",
            200,
            json!({ "seq": 80, "orders": [order("buy", "400"), order("buy", "300"), order("sell", "500")] }),
        ),
        (
            "forex_status",
            200,
            result(json!({ "available": ["USD", "EUR"], "sources": [{ "name": "ecb", "kind": "ecb", "currencies": 16,
            "as_of": "2026-11-18", "answered_at": null, "failure": hostile() }] })),
        ),
        (
            "forex_rates",
            200,
            result(
                json!({ "base": "USD", "rates": { "USD": "1", "EUR": "0.8631" }, "age_seconds_by_currency": { "EUR": 7200 },
            "stale": false, "as_of_unix": 1_795_836_304, "missing_reasons": { "XXX": "no_quotes" }, "provenance": { "EUR": { "method": "median",
            "sources": [{ "source": "ecb", "role": "used" }] } } }),
            ),
        ),
    ];
    let mut world = World::new(answers).await;
    for path in ["orderbook", "rates", "markets"] {
        assert!(world.page(&format!("/explorer/{path}")).await.contains("Sign in to see this"), "{path}");
    }
    world.sign_in().await;
    let page = world.page("/explorer/orderbook").await;
    for text in [
        "6 bid for from 300",
        "3 asked for up to 500",
        "3 × 2:1387",
        "market=orbitals%3Aregtest%3Amodule%3A%3Cb%3E%26x",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.find("400 DIESEL").unwrap() < page.find("300 DIESEL").unwrap());
    let page = world.page("/explorer/rates?base=eur").await;
    for text in ["0.8631", "1.1586", "2 hours ago", "ecb", "no quotes"] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(world.bodies("forex_rates")[0]["params"]["base"], "EUR");
    assert!(world.page("/explorer/markets").await.contains("7 open orders"));
    let mut away = World::new(Vec::new()).await;
    away.sign_in().await;
    for path in ["orderbook", "rates", "markets", "bitcoin-price"] {
        assert!(away.page(&format!("/explorer/{path}")).await.contains("there is no such thing"), "{path}");
    }
}
