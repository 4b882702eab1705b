//! Pages of inscriptions, runes and BRC-20, over an API whose answers are hostile.
#![allow(clippy::unwrap_used)]

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use data_encoding::{BASE64, HEXLOWER};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, X_CONTENT_TYPE_OPTIONS};
use hyper::{Request, Response, StatusCode};
use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore, OwnershipProver, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, Site, SiteParts, Tip};
use paraffin_users::UserStore;
use serde_json::{Value, json};

const MARKUP: &str = "<script>alert(1)</script>\u{202e}";

/// Answers with one inscription, one rune and one token.
#[derive(Clone)]
struct Fake {
    content_type: Option<&'static str>,
    effective_content_type: Option<&'static str>,
    content: Vec<u8>,
    /// The content encoding and the delegate of the envelope.
    encoding: Option<&'static str>,
    delegate: bool,
    metadata: Option<String>,
    /// The error that every call answers, with its status.
    error: Option<(u16, Value)>,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            content_type: Some("text/plain"),
            effective_content_type: Some("text/plain"),
            content: b"hello".to_vec(),
            encoding: None,
            delegate: false,
            metadata: None,
            error: None,
        }
    }
}

fn id() -> String {
    format!("{}i0", "ab".repeat(32))
}

fn missing(what: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32004, "message": what, "data": { "code": "NOT_FOUND" } } })
}

impl Fake {
    fn of(content_type: &'static str, content: impl Into<Vec<u8>>) -> Self {
        Self {
            content_type: Some(content_type),
            effective_content_type: Some(content_type),
            content: content.into(),
            ..Self::default()
        }
    }

    fn inscription(&self) -> Value {
        json!({
            "address": MARKUP, "charms": ["coin", MARKUP], "child_count": 1, "children": [id()],
            "content_length": self.content_type.map(|_| self.content.len()), "content_type": self.content_type,
            "effective_content_type": self.effective_content_type, "fee": u64::MAX, "height": 102, "id": id(),
            "metaprotocol": MARKUP, "next": null, "number": -7, "parents": [id(), MARKUP], "previous": MARKUP,
            "rune": "A•B", "sat": null, "satpoint": MARKUP, "timestamp": i64::MAX, "value": null
        })
    }

    /// The reveal transaction: an envelope with the fields of this fake.
    fn transaction(&self) -> Value {
        let push = |bytes: &[u8]| [&[u8::try_from(bytes.len()).unwrap()][..], bytes].concat();
        let mut script = [&[0, 0x63][..], &push(b"ord")].concat();
        if let Some(encoding) = self.encoding {
            script.extend([push(&[9]), push(encoding.as_bytes())].concat());
        }
        if self.delegate {
            script.extend([push(&[11]), push(&[0xab; 32])].concat());
        }
        script.push(0x68);
        json!({ "transaction": { "input": [{ "witness": ["00", HEXLOWER.encode(&script), "c0"] }] } })
    }

    fn result(&self, method: &str, params: &Value) -> Option<Value> {
        Some(match method {
            "sandshrew_multicall" => {
                let calls = params.as_array().unwrap();
                let answer = |call: &Value| match self.result(call[0].as_str().unwrap(), &call[1]) {
                    Some(result) => json!({ "result": result }),
                    None => json!({ "error": { "code": -32004, "message": "m" } }),
                };
                calls.iter().map(answer).collect()
            }
            "ord_inscriptions" => json!({ "ids": vec![id(); 100], "more": false, "page_index": 0 }),
            "ord_inscription" => self.inscription(),
            "ord_content" => json!(BASE64.encode(&self.content)),
            "ord_tx" => self.transaction(),
            "ord_metadata" => json!(self.metadata.clone()?),
            "ord_children" => json!({ "ids": [id(), MARKUP], "more": true, "page": 0 }),
            "ord_rune" => json!({ "entry": rune(), "id": MARKUP, "mintable": true, "parent": id() }),
            "ord_runes" => json!({ "entries": [["107:6", rune()]], "more": true }),
            _ => return None,
        })
    }

    fn answer(&self, call: &Call) -> ApiAnswer {
        let (status, body) = match (&self.error, &call.body) {
            (Some((status, body)), _) => (*status, body.clone()),
            (None, Some(body)) => {
                let request: Value = serde_json::from_str(body).unwrap();
                let result = self.result(request["method"].as_str().unwrap(), &request["params"]);
                (200, result.map_or_else(|| missing("there is none"), |result| json!({ "result": result })))
            }
            (None, None) => opi(&call.path),
        };
        // Numbers above 64 bits are written by hand: the fake has them as texts.
        let text = body.to_string().replace("\"U128\"", &u128::MAX.to_string());
        ApiAnswer { status: StatusCode::from_u16(status).unwrap(), retry_after: Some(9), body: Bytes::from(text) }
    }
}

fn rune() -> Value {
    json!({
        "block": 107, "burned": 5, "divisibility": 255, "etching": "cd".repeat(32), "mints": 13, "number": 0,
        "premine": "U128", "spaced_rune": MARKUP, "symbol": "<", "timestamp": 0, "turbo": true,
        "terms": { "amount": "U128", "cap": 1_000_000, "height": [null, null], "offset": [null, 9] }
    })
}

fn opi(path: &str) -> (u16, Value) {
    let wallet = "bcrt1qholder";
    let result = match path.strip_prefix("/v4/opi/v1/brc20/").unwrap().split('?').next().unwrap() {
        _ if path.contains("ticker=nope") => {
            return (
                400,
                json!({ "error": "no ticker found", "result": null, "statusCode": 400, "code": "NOT_FOUND" }),
            );
        }
        "token_summary" => json!({
            "tick": "x", "original_tick": MARKUP, "max_supply": "21000000000000000000000000", "minted_supply": "2000000000000000000",
            "remaining_supply": "x", "burned_supply": "0", "limit_per_mint": "1000000000000000000", "decimals": 255,
            "is_self_mint": true, "deploy_inscription_id": id(), "deploy_block_height": 102, "deployer_pkScript": "51",
            "deployer_wallet": "", "holders": 1_234, "mints": 2, "transfers": 1, "block_height": 160
        }),
        "holders" => json!({ "unused_txes": vec![json!({
            "pkscript": "6a", "wallet": wallet, "overall_balance": "1500000000000000000", "available_balance": "1"
        }); 51], "block_height": 160 }),
        "get_valid_tx_notes_of_ticker" => json!({ "unused_txes": [{
            "current_holder_wallet": MARKUP, "inscription_id": MARKUP, "amount": "-1", "genesis_height": 106
        }] }),
        "event" => json!([{ "event_type": MARKUP, "inscription_id": id(), "height": 104, "txid": null }]),
        "history" => json!({ "cursor": "5&x=<", "block_height": 160, "events": [{
            "event_type": "transfer-transfer", "inscription_id": id(), "source_wallet": wallet, "spent_wallet": null,
            "original_tick": "a/?\"", "amount": "750000000000000000000", "height": 105, "txid": "cd".repeat(32)
        }] }),
        other => panic!("{other}"),
    };
    (200, json!({ "error": null, "result": result }))
}

impl Api for Fake {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        Box::pin(async move { self.answer(&call) })
    }

    fn tip(&self) -> Tip {
        Tip { network: "regtest".to_owned(), height: Some(160), hash: None, time: Some(0) }
    }

    fn tip_other_than(&self, known: String) -> ApiFuture<'_, Tip> {
        panic!("{known}")
    }
}

/// Requests a page as a browser with `Sec-Fetch-Dest` of `destination`.
async fn ask(fake: Fake, path: &str, destination: &str) -> Response<Bytes> {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseLocation::File(folder.path().join("accounts.sqlite"));
    let site = Site::new(SiteParts {
        users: Arc::new(UserStore::open(&database).await.unwrap()),
        keys: Arc::new(DatabaseKeyStore::open_at(&database, Plans::default()).await.unwrap()) as Arc<dyn KeyStore>,
        prover: OwnershipProver::default(),
        plans: Plans::default(),
        public_url: None,
        explorer: ExplorerAccess::Open,
    });
    let request = Request::get(path).header("host", "node:8080").header("sec-fetch-dest", destination);
    let client: IpAddr = "192.0.2.7".parse().unwrap();
    site.answer(request.body(Bytes::new()).unwrap(), client, 1_800_000_000_000, Arc::new(fake)).await
}

async fn page(fake: Fake, path: &str) -> String {
    let response = ask(fake, path, "document").await;
    let text = String::from_utf8(response.body().to_vec()).unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{path}: {text}");
    assert!(!text.contains("<script>alert") && !text.contains('\u{202e}'), "{path}: {text}");
    assert_eq!(text.matches("<h1").count(), 1, "{path}");
    text
}

async fn content(fake: Fake, query: &str, destination: &str) -> Response<Bytes> {
    let response = ask(fake, &format!("/explorer/content/{}{query}", id()), destination).await;
    assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
    let policy = response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("sandbox") && !policy.contains("allow-same-origin"), "{policy}");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"), "{policy}");
    response
}

fn header(response: &Response<Bytes>, name: hyper::header::HeaderName) -> String {
    let all: Vec<_> = response.headers().get_all(name).iter().collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn hostile_values_are_text_on_every_page() {
    let inscription = page(Fake::of("text/plain", MARKUP), &format!("/explorer/inscription/{}", id())).await;
    for shown in ["Inscription -7", "&#60;script&#62;alert(1)", "18,446,744,073,709,551,615 sats", "children=1"] {
        assert!(inscription.contains(shown), "{shown} in {inscription}");
    }
    let rune = page(Fake::default(), "/explorer/rune/A.B").await;
    assert!(rune.contains("minting is open") && rune.contains("3.40282366920938463463374607431768211455"), "{rune}");
    assert!(rune.contains("before block 116"), "{rune}");
    let runes = page(Fake::default(), "/explorer/runes?page=x").await;
    assert!(runes.contains("/explorer/rune/%3Cscript%3E") && runes.contains("/explorer/runes?page=1"), "{runes}");
    let token = page(Fake::default(), "/explorer/brc20/x").await;
    for shown in ["75.00 %", "21,000,000", "page=1&#38;transfers=0", "by its deployer alone", "1,234"] {
        assert!(token.contains(shown), "{shown} in {token}");
    }
    let events = page(Fake::default(), "/explorer/brc20?block=105").await;
    for shown in ["/explorer/brc20/a%2F%3F%22", ">750<", "from=5%26x%3D%3C"] {
        assert!(events.contains(shown), "{shown} in {events}");
    }
}

#[tokio::test]
async fn the_list_has_previews_and_pages() {
    let texts = page(Fake::of("text/plain", MARKUP), "/explorer/inscriptions?page=3").await;
    assert_eq!(texts.matches("class=\"snippet\"").count(), 20);
    assert!(texts.contains("?page=2\" rel=\"prev\"") && texts.contains("?page=4\" rel=\"next\""), "{texts}");
    let images = page(Fake::of("image/png", "x"), "/explorer/inscriptions?page=4").await;
    assert_eq!(images.matches("<img class=\"pixels\" src=\"/explorer/content/").count(), 20);
    assert!(!images.contains("rel=\"next\""), "{images}");
    let photographs = page(Fake::of("image/jpeg", vec![0; 10_001]), "/explorer/inscriptions").await;
    assert_eq!(photographs.matches("<img src=\"/explorer/content/").count(), 20);
    let far = page(Fake::default(), "/explorer/inscriptions?page=4294967295").await;
    assert!(far.contains("rel=\"prev\""), "{far}");
}

#[tokio::test]
async fn html_has_an_opaque_origin_and_scripts_only_where_they_are_asked_for() {
    let html = || Fake::of("text/html;charset=utf-8", "<script>parent.document</script>");
    let framed = content(html(), "", "iframe").await;
    assert_eq!(header(&framed, CONTENT_TYPE), "text/html; charset=utf-8");
    assert!(!header(&framed, CONTENT_SECURITY_POLICY).contains("script"));
    let run = content(html(), "?run", "iframe").await;
    assert!(header(&run, CONTENT_SECURITY_POLICY).starts_with("sandbox allow-scripts;"));
    let opened = content(html(), "?run", "document").await;
    assert_eq!(header(&opened, CONTENT_TYPE), "text/plain; charset=utf-8");
    assert!(!header(&opened, CONTENT_SECURITY_POLICY).contains("script"));

    let path = format!("/explorer/inscription/{}", id());
    let response = ask(html(), &path, "document").await;
    assert!(header(&response, CONTENT_SECURITY_POLICY).ends_with("; frame-src 'self'; media-src 'self'"));
    let still = page(html(), &path).await;
    assert!(still.contains("sandbox=\"\"") && still.contains("?run\" rel=\"nofollow\">Run them"), "{still}");
    assert!(page(html(), &format!("{path}?run")).await.contains("?run\" sandbox=\"allow-scripts\""));
}

#[tokio::test]
async fn types_are_served_as_what_they_cannot_harm_as() {
    for (named, served, disposition) in [
        ("image/svg+xml", "image/svg+xml", "inline"),
        ("image/png", "image/png", "inline"),
        ("text/javascript", "text/plain; charset=utf-8", "inline"),
        ("text/css", "text/plain; charset=utf-8", "inline"),
        ("application/pdf", "application/octet-stream", "attachment"),
        ("application/xhtml+xml", "application/octet-stream", "attachment"),
        ("x/y\r\nset-cookie: a=b", "application/octet-stream", "attachment"),
    ] {
        let response = content(Fake::of(named, "<svg onload=alert(1)>"), "?run", "iframe").await;
        assert_eq!(header(&response, CONTENT_TYPE), served, "{named}");
        assert!(header(&response, CONTENT_DISPOSITION).starts_with(disposition), "{named}");
        assert!(!header(&response, CONTENT_SECURITY_POLICY).contains("script"), "{named}");
        assert_eq!(&response.body()[..], b"<svg onload=alert(1)>");
    }
}

#[tokio::test]
async fn encodings_are_undone_and_unknown_ones_downloaded() {
    let packed = || Fake { encoding: Some("br"), ..Fake::of("text/plain", *b"\x0b\x02\x80hello\x03") };
    assert_eq!(&content(packed(), "", "iframe").await.body()[..], b"hello");
    assert!(page(packed(), &format!("/explorer/inscription/{}", id())).await.contains("<bdi>hello</bdi>"));
    let unknown = content(Fake { encoding: Some("zstd"), ..packed() }, "", "iframe").await;
    assert_eq!(header(&unknown, CONTENT_TYPE), "application/octet-stream");
    assert!(header(&unknown, CONTENT_DISPOSITION).starts_with("attachment"));
    let plain = content(Fake { encoding: None, ..packed() }, "", "iframe").await;
    assert_eq!(&plain.body()[..], b"\x0b\x02\x80hello\x03");
}

#[tokio::test]
async fn delegates_are_named_and_a_loop_of_them_ends() {
    // The inscription is its own delegate.
    let looped =
        Fake { content_type: None, delegate: true, encoding: Some("br"), ..Fake::of("text/plain", [0xff, 0xfe]) };
    let looped = Fake { content_type: None, ..looped };
    let text = page(looped.clone(), &format!("/explorer/inscription/{}", id())).await;
    assert!(text.contains("<dt>Delegate</dt>") && text.contains("none of its own"), "{text}");
    assert_eq!(content(looped, "", "iframe").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn large_content_is_served_and_too_large_content_refused() {
    let large = content(Fake::of("image/png", vec![b'x'; 4_000_000]), "", "image").await;
    assert_eq!((large.status(), large.body().len()), (StatusCode::OK, 4_000_000));
    let too_large = content(Fake::of("image/png", vec![b'x'; 9 << 20]), "", "image").await;
    assert_eq!(too_large.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let text = page(Fake::of("text/plain", vec![b'x'; 300_000]), &format!("/explorer/inscription/{}", id())).await;
    assert!(text.len() < 40_000 && text.contains("All of it"), "{}", text.len());
}

#[tokio::test]
async fn metadata_is_decoded() {
    let metadata = format!("a1616b78{:02x}{}", MARKUP.len(), HEXLOWER.encode(MARKUP.as_bytes()));
    let fake = Fake { metadata: Some(metadata), ..Fake::of("image/png", "x") };
    let text = page(fake, &format!("/explorer/inscription/{}", id())).await;
    assert!(text.contains("&#34;k&#34;: &#34;&#60;script&#62;"), "{text}");
}

#[tokio::test]
async fn errors_are_pages_with_their_status() {
    for path in [
        "/explorer/inscription/-",
        "/explorer/content/x",
        "/explorer/brc20/nope",
        "/explorer/brc20?ticker=aaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert_eq!(ask(Fake::default(), path, "document").await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let redirect = ask(Fake::default(), "/explorer/brc20?ticker=%20a/b%0d", "document").await;
    assert_eq!(header(&redirect, LOCATION), "/explorer/brc20/a%2Fb");
    let away = json!({ "statusCode": 503, "code": "SURFACE_NOT_AVAILABLE", "error": "no index" });
    let refused = json!({ "error": { "code": -32602, "message": "cannot be read" } });
    for (error, status) in [
        ((200, missing("there is none")), StatusCode::NOT_FOUND),
        ((503, away), StatusCode::SERVICE_UNAVAILABLE),
        ((200, refused), StatusCode::UNPROCESSABLE_ENTITY),
        ((429, json!({ "code": "RATE_LIMITED", "error": "m" })), StatusCode::TOO_MANY_REQUESTS),
    ] {
        let id = id();
        for path in [
            format!("/explorer/inscription/{id}"),
            format!("/explorer/content/{id}"),
            "/explorer/inscriptions".to_owned(),
            "/explorer/runes".to_owned(),
            "/explorer/rune/A".to_owned(),
            "/explorer/brc20/wick".to_owned(),
        ] {
            let fake = Fake { error: Some(error.clone()), ..Fake::default() };
            let response = ask(fake, &path, "document").await;
            assert_eq!(response.status(), status, "{path}");
            assert!(response.body().starts_with(b"<!doctype html>"), "{path}");
        }
    }
}
