//! A site over an API that answers from a table, and the shapes of its answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{COOKIE, SET_COOKIE};
use hyper::{Request, StatusCode};
use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore, OwnershipProver, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, MemoryBudget, Site, SiteParts, Tip};
use paraffin_users::{PasswordCost, UserSettings, UserStore};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub(crate) const NOW: i64 = 1_800_000_000_000;
pub(crate) const PASSWORD: &str = "correct horse battery";
/// A name that is markup, turns the direction of text, and is far too long.
pub(crate) const MARKUP: &str = "<script>alert(1)</script>";

pub(crate) fn hostile() -> String {
    format!("{MARKUP}\u{202e}\"'&{}", "x".repeat(100_000))
}

/// Answers by the end of a path, or the name of a method; without an answer it is 404.
pub(crate) struct Answers {
    answers: Vec<(&'static str, u16, Value)>,
    pub(crate) calls: Mutex<Vec<Call>>,
}

impl Api for Answers {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        let body: Value = call.body.as_deref().map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let method = body["method"].as_str().unwrap_or_default().to_owned();
        let path = call.path.split('?').next().unwrap_or_default().to_owned();
        self.calls.lock().push(call);
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

    fn memory_budgets(&self) -> Vec<MemoryBudget> {
        vec![MemoryBudget { name: "Scripts", used: 3 << 20, max: 4 << 20 }]
    }

    fn tip_other_than(&self, _: String) -> ApiFuture<'_, Tip> {
        Box::pin(async { self.tip() })
    }
}

pub(crate) struct World {
    site: Site,
    cookie: String,
    pub(crate) answers: Arc<Answers>,
    _folder: tempfile::TempDir,
}

impl World {
    pub(crate) async fn new(answers: Vec<(&'static str, u16, Value)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseLocation::File(folder.path().join("accounts.sqlite"));
        let keys = Arc::new(DatabaseKeyStore::open_at(&database, Plans::default()).await.unwrap());
        let cheap =
            UserSettings { password_cost: PasswordCost { memory_kib: 8, passes: 1, lanes: 1 }, ..Default::default() };
        let users = Arc::new(UserStore::open_with(&database, cheap).await.unwrap());
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
        let answers = Arc::new(Answers { answers, calls: Mutex::default() });
        Self { site, cookie: String::new(), answers, _folder: folder }
    }

    pub(crate) async fn sign_in(&mut self) {
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

    /// Requests a page and checks the invariants of all pages.
    pub(crate) async fn get(&self, path: &str) -> (StatusCode, String) {
        self.answers.calls.lock().clear();
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
        assert!(self.answers.calls.lock().len() <= 12, "{path}: {:?}", self.answers.calls.lock());
        (status, page)
    }

    pub(crate) async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        page
    }

    pub(crate) fn bodies(&self, name: &str) -> Vec<Value> {
        let calls = self.answers.calls.lock();
        let of = calls
            .iter()
            .filter(|call| call.path.ends_with(name) || call.body.as_deref().is_some_and(|body| body.contains(name)));
        of.map(|call| serde_json::from_str(call.body.as_deref().unwrap_or("null")).unwrap()).collect()
    }
}

pub(crate) fn id(text: &str) -> Value {
    let (block, tx) = text.split_once(':').unwrap();
    json!({ "block": block, "tx": tx })
}

pub(crate) fn enveloped(data: Value) -> Value {
    json!({ "statusCode": 200, "data": data })
}

pub(crate) fn result(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

pub(crate) fn token(of: &str, name: Option<&str>, decimals: u32, supply: &str) -> Value {
    json!({ "id": id(of), "alkaneId": id(of), "name": name, "symbol": name, "decimals": decimals, "max": null, "cap": null,
        "minted": null, "premine": null, "totalSupply": supply, "holders": 10, "createdAtHeight": 104,
        "priceUsd": 144.592, "frbtcPoolPriceInSats": 198_958.4, "priceChange24h": null, "marketcap": 2_891_843.9,
        "marketcapInSats": 3_979_169_140_u64, "fdv": null, "fdvInSats": null, "tokenPoolsVolume1dInUsd": 211_805.6,
        "tokenPoolsVolume1dInSats": 291_443_967, "tokenPoolsVolume30dInUsd": null, "tokenPoolsVolume30dInSats": null })
}

pub(crate) fn side(of: &str, symbol: &str, amount: &str) -> Value {
    json!({ "alkaneId": id(of), "name": symbol, "symbol": symbol, "decimals": 8, "amount": amount, "token0Amount": amount })
}

pub(crate) fn pairs() -> Value {
    enveloped(json!({ "total": 1, "count": 1, "limit": 50, "offset": 0, "pairs": [{ "poolId": id("2:6"),
        "poolName": "Paraffin Dollar / frBTC LP", "token0": side("2:3", "PUSD", "45583412459"), "token1": side("32:0", "frBTC", "99331058"),
        "poolTvlInSats": 190_023_112, "poolTvlInUsd": 138_098.4, "poolVolume1dInSats": 183_979_704, "poolVolume1dInUsd": null }] }))
}

pub(crate) fn pool(name: &str, amount: &str) -> Value {
    json!({ "id": "2:6", "poolId": id("2:6"), "factoryId": id("4:65522"), "token0": id("2:3"), "token1": id("32:0"),
        "poolName": name, "token0Amount": amount, "token1Amount": "99331058", "tokenSupply": "2107130750", "feePer1000": 10,
        "creatorAddress": "bcrt1pmrc2", "creationBlockHeight": 109, "poolTvlInSats": 190_023_112, "poolTvlInUsd": 138_098.4,
        "poolVolume1dInSats": 183_979_704, "poolVolume1dInUsd": 133_706.4, "trades1d": 24, "tradesAllTime": 24,
        "poolApr": 9.42, "price": 0.002_022_559_7, "priceChange24h": -6.166, "tvlChange24h": null })
}

pub(crate) fn swaps() -> Value {
    enveloped(
        json!({ "total": 24, "count": 1, "limit": 25, "offset": 0, "swaps": [{ "id": "3d:0", "transactionId": "3d".repeat(32),
        "blockHeight": 155, "timestamp": "2023-11-16T00:03:20Z", "successful": true, "address": "bcrt1pmrc2rjach7vgjj7hf328",
        "poolId": id("2:6"), "pay": { "tokenId": id("32:0"), "amount": "8057836" },
        "receive": { "tokenId": id("2:3"), "amount": "3983979280" }, "price": 0.002 }] }),
    )
}

pub(crate) fn candles(prices: [&str; 4]) -> Value {
    json!({ "ok": true, "pool": "2:6", "interval": "1h", "candles": [{ "open_time": "2023-11-16T00:00:00Z",
        "close_time": "2023-11-16T01:00:00Z", "open": prices[0], "high": prices[1], "low": prices[2], "close": prices[3],
        "volume0": "3983979280", "volume1": "8057836", "trade_count": 1 }] })
}

pub(crate) fn trades() -> Value {
    json!({ "ok": true, "pool": "2:6", "trades": [{ "txid": "09", "timestamp": "2023-11-16T00:53:20Z",
        "reserve0_after": "4264565691674", "reserve1_after": "69813822" }] })
}
