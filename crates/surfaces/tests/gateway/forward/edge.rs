//! A gateway without a store with its own keys.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_access::{
    ApiKey, CreatedKey, DatabaseKeyStore, KeyStore as _, NewKey, Plan, Plans, ThrottleSettings, Windows,
};
use paraffin_gateway::{
    AccessConfig, ChainState, Families, Gateway, GatewayConfig, GatewayParts, Limits, Metrics, Node, Upstreams,
};
use paraffin_primitives::Network;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::client::{Response, request};
use crate::families::upstream::{Reaction, ReceivedRequest, Upstream};

/// The gateway's key at the servers of these tests.
pub(super) const THEIR_KEY: &str = "00112233445566778899aabbccddeeff";

pub(super) struct Edge {
    pub(super) address: SocketAddr,
    pub(super) key: CreatedKey,
    pub(super) keys: DatabaseKeyStore,
    stop: Option<oneshot::Sender<()>>,
    _folder: tempfile::TempDir,
}

impl Edge {
    /// A gateway in front of these instances, all of which accept `key`.
    pub(super) async fn start(addresses: &[SocketAddr], key: &str) -> Self {
        Self::with(addresses, key, |_| {}).await
    }

    /// With other limits.
    pub(super) async fn with(addresses: &[SocketAddr], key: &str, change: impl FnOnce(&mut Limits)) -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut config = GatewayConfig { listen, drain_seconds: 0, ..GatewayConfig::default() };
        config.limits.handler_timeout_ms = 6_000;
        change(&mut config.limits);
        let folder = tempfile::tempdir().unwrap();
        let keys = DatabaseKeyStore::open(&folder.path().join("access.sqlite")).await.unwrap();
        let own = keys.create(NewKey::on_plan("test", Plan::BUSINESS), "test", 0).await.unwrap();
        let uris: Vec<_> = addresses.iter().map(|address| format!("http://{address}").parse().unwrap()).collect();
        let key: ApiKey = key.parse().unwrap();
        let upstreams = Upstreams::start(Network::Regtest, &uris, key, &config.limits);
        let parts = GatewayParts {
            chain: Arc::clone(&upstreams) as Arc<dyn ChainState>,
            node: Arc::clone(&upstreams) as Arc<dyn Node>,
            alkanes: None,
            markets: None,
            prices: None,
            mempool: None,
            hosted: None,
            surfaces: &paraffin_surfaces::SURFACES,
            electrum: None,
            webhooks: None,
            families: Families::default(),
            upstreams: Some(upstreams),
            scripts: None,
            keys: Arc::new(keys.clone()),
            windows: Arc::new(keys.clone()) as Arc<dyn Windows>,
            plans: Plans::default(),
            access: AccessConfig {
                keyless: ThrottleSettings { burst: 100_000, ..ThrottleSettings::default() },
                ..AccessConfig::default()
            },
            keyed: Vec::new(),
            site: None,
            metrics: Metrics::new(),
            access_log: None,
            tracer: None,
        };
        let gateway = Gateway::bind(config, parts).await.unwrap();
        let address = gateway.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(gateway.serve(async move {
            let _ = stopped.await;
        }));
        let edge = Self { address, key: own, keys, stop: Some(stop), _folder: folder };
        edge.wait_for_health(|health| health["status"] != "starting").await;
        edge
    }

    /// Begins to stop.
    pub(super) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// `/v4/<KEY>` and what follows.
    pub(super) fn keyed(&self, below: &str) -> String {
        format!("/v4/{}{below}", self.key.key.reveal())
    }

    pub(super) async fn get(&self, path: &str) -> Response {
        request(self.address, "GET", path, &[], b"").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Response {
        request(self.address, "POST", path, &[], body.as_bytes()).await
    }

    /// A call of the main JSON-RPC.
    pub(super) async fn call(&self, method: &str, params: Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        self.post(&self.keyed(""), &body).await
    }

    pub(super) async fn health(&self) -> (u16, Value) {
        let answer = self.get("/v4/api/health").await;
        (answer.status, answer.json())
    }

    pub(super) async fn wait_for_health(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let (_, health) = self.health().await;
            if is_wanted(&health) {
                return health;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "{health}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Whether a request is a health check.
pub(super) fn is_health_check(received: &ReceivedRequest) -> bool {
    received.path == "/v4/api/health"
}

/// A whole answer of an instance: it repeats the id of the request.
pub(super) fn response_to(received: &ReceivedRequest, status: u16, head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let id = received.head.lines().find_map(|line| line.strip_prefix("x-request-id: ")).unwrap_or_default();
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\nx-request-id: {id}\r\n{head}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A server that reports good health, and answers all other requests with `react`.
pub(super) async fn well_but(react: impl Fn(ReceivedRequest) -> Reaction + Send + Sync + 'static) -> Upstream {
    Upstream::start(move |received| {
        let reaction = if is_health_check(&received) {
            let health = r#"{"status":"ok","network":"regtest","height":3,"timestamp":0}"#;
            Reaction::Bytes(response_to(&received, 200, "", health))
        } else {
            react(received)
        };
        Box::pin(async move { reaction })
    })
    .await
}

/// Requests to a server, without health checks.
pub(super) fn requests_to(server: &Upstream) -> Vec<ReceivedRequest> {
    server.requests().into_iter().filter(|received| !is_health_check(received)).collect()
}
