//! Serves the pages over a running instance for development, with only this crate to compile after a change:
//! `cargo run -p paraffin-site --example pages -- <base url> <key> <listen>`, the first two as a `paraffin dev` prints them.
//!
//! The API is called by `curl`. The explorer is open; the user `owner` signs in with the password that is printed.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use paraffin_access::{DatabaseKeyStore, DatabaseLocation, KeyStore, OwnershipProver, Plans};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, ExplorerAccess, KEY_PLACEHOLDER, Site, SiteParts, Tip};
use paraffin_users::UserStore;
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse battery";

struct OverHttp {
    base: String,
    key: String,
}

impl OverHttp {
    fn curl(&self, call: &Call) -> ApiAnswer {
        let mut path = call.path.replace("/v4/jsonrpc", "/v4/KEY");
        if path != "/v4/api/health" {
            path = path.replace("/v4/api/", "/v4/KEY/");
        }
        let path = path.replace(KEY_PLACEHOLDER, &self.key);
        let mut command = std::process::Command::new("curl");
        command.args(["-s", "-w", "\n%{http_code}"]).arg(format!("{}{path}", self.base));
        if let Some(body) = &call.body {
            command.args(["-d", body]);
        }
        let output = command.output().unwrap().stdout;
        let end = output.iter().rposition(|byte| *byte == b'\n').unwrap();
        let status = std::str::from_utf8(&output[end + 1..]).unwrap().parse().unwrap();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        ApiAnswer { status, retry_after: None, body: Bytes::copy_from_slice(&output[..end]) }
    }
}

impl Api for OverHttp {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        Box::pin(async move { self.curl(&call) })
    }

    fn tip(&self) -> Tip {
        let answer: Value = serde_json::from_slice(&self.curl(&Call::rpc("esplora_blocks", json!([]))).body).unwrap();
        let newest = &answer["result"][0];
        Tip {
            network: "regtest".to_owned(),
            height: newest["height"].as_u64().and_then(|height| u32::try_from(height).ok()),
            hash: newest["id"].as_str().map(str::to_owned),
            time: newest["timestamp"].as_i64(),
        }
    }

    fn tip_other_than(&self, known: String) -> ApiFuture<'_, Tip> {
        Box::pin(async move {
            loop {
                let tip = self.tip();
                if tip.id() != known {
                    return tip;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        })
    }
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, base, key, listen] = &arguments[..] else { panic!("a base url, a key and where to listen are needed") };
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseLocation::File(folder.path().join("accounts.sqlite"));
    let keys = Arc::new(DatabaseKeyStore::open_at(&database, Plans::default()).await.unwrap());
    let users = Arc::new(UserStore::open(&database).await.unwrap());
    let link = users.setup_link(now()).await.unwrap().unwrap();
    users.accept_link(&link.token, "owner", PASSWORD, "example", now()).await.unwrap();
    let site = Arc::new(Site::new(SiteParts {
        users,
        keys: keys as Arc<dyn KeyStore>,
        prover: OwnershipProver::default(),
        plans: Plans::default(),
        public_url: None,
        explorer: ExplorerAccess::Open,
    }));
    let api: Arc<dyn Api> = Arc::new(OverHttp { base: base.clone(), key: key.clone() });
    let listener = tokio::net::TcpListener::bind(listen.parse::<SocketAddr>().unwrap()).await.unwrap();
    println!("http://{listen}/explorer, owner, {PASSWORD}");
    loop {
        let (stream, peer) = listener.accept().await.unwrap();
        let (site, api) = (Arc::clone(&site), Arc::clone(&api));
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(Arc::clone(&site), Arc::clone(&api), request, peer.ip()));
            let stream = hyper_util::rt::TokioIo::new(stream);
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(stream, answer).await;
        });
    }
}

async fn answer(
    site: Arc<Site>,
    api: Arc<dyn Api>,
    request: Request<Incoming>,
    client: IpAddr,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(site.answer(Request::from_parts(head, body), client, now(), api).await.map(Full::new))
}
