//! One file per surface: it parses, calls one crate, and renders.

mod admin;
mod alkanes;
mod answer_cache;
mod btc;
mod btcusd;
pub(crate) mod esplora;
mod esplora_http;
mod espo;
mod events;
mod forex;
mod listings;
mod lua;
mod main_rpc;
mod mempool;
mod metashrew;
mod node_cost;
pub(crate) mod opi;
mod ord;
pub(crate) mod orderbook;
mod outputs;
mod reorg;
mod sandshrew;
pub(crate) mod verify;
mod webhooks;

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::errors::ApiError;
use crate::jsonrpc::{Flavour, Params};
use crate::methods::Described;
use crate::metrics::Meter;
use crate::respond::Reply;
use crate::routes::Credential;
use crate::state::{BoxFuture, RequestContext};
use crate::websocket::Upgrade;

pub(crate) use admin::ADMIN;
pub(crate) use btc::pass as pass_to_node;
pub(crate) use esplora::{raw_transactions, unconfirmed_transaction};
pub use lua::ScriptParts;
pub(crate) use lua::permits as script_permits;
pub(crate) use main_rpc::MainRpc;

/// JSON-RPC surfaces below a key whose methods are declared.
pub(crate) static DECLARED: [&dyn Described; 6] =
    [&espo::ESPO, &btcusd::BTCUSD, &mempool::MEMPOOL, &forex::FOREX, &reorg::REORG, &webhooks::WEBHOOKS];

/// The answer of a JSON-RPC call.
pub type RpcResult = Result<Box<RawValue>, ApiError>;

/// A JSON-RPC surface.
pub trait RpcSurface: Send + Sync {
    /// How answers are built.
    fn flavour(&self) -> Flavour {
        Flavour::Standard
    }

    /// Name for metrics, from a small closed set; never text of a caller.
    fn family(&self, method: &str) -> &'static str;

    /// Whether a request for `method` may have the larger body.
    fn takes_large_body(&self, _method: &str) -> bool {
        false
    }

    /// Reports its figures to operators, beside those of its requests.
    fn measure(&self, _meter: &Meter<'_>) {}

    /// Runs one call.
    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult>;
}

/// One request to an [`HttpSurface`].
#[derive(Debug)]
pub struct HttpRequest {
    /// `GET` also stands for `HEAD`.
    pub verb: Method,
    /// The query as it came, without `?`.
    pub query: Option<String>,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The pending upgrade, when the request asks for a WebSocket.
    pub upgrade: Option<Upgrade>,
    /// What a stream lives as long as.
    pub(crate) credential: Credential,
}

/// A surface that speaks plain HTTP.
pub trait HttpSurface: Any + Send + Sync {
    /// Largest body for this verb and path in bytes; `None`: not a request for this surface.
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize>;

    /// Answers one request; its path is [`RequestContext::segments`].
    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>>;

    /// Reports its figures to operators, beside those of its requests.
    fn measure(&self, _meter: &Meter<'_>) {}
}

/// The handlers of a keyed surface: plain HTTP first, then JSON-RPC for a POST.
#[derive(Clone, Default)]
pub struct KeyedHandler {
    /// Plain HTTP requests.
    pub http: Option<Arc<dyn HttpSurface>>,
    /// JSON-RPC requests.
    pub rpc: Option<Arc<dyn RpcSurface>>,
}

impl KeyedHandler {
    /// Plain HTTP Esplora, for [`crate::KeyedSurface::Esplora`].
    pub fn esplora() -> Self {
        Self { http: Some(Arc::new(esplora_http::EsploraHttp)), rpc: None }
    }

    /// Analytics, for [`crate::KeyedSurface::Espo`].
    pub fn espo() -> Self {
        Self { http: None, rpc: Some(Arc::new(espo::Espo::default())) }
    }

    /// Charts as the charting library of `TradingView` asks for them, for [`crate::KeyedSurface::Udf`].
    pub fn udf() -> Self {
        Self::listing(&listings::UDF)
    }

    /// Streams of what happens on the chain, for [`crate::KeyedSurface::Events`].
    pub fn events() -> Self {
        Self { http: Some(Arc::new(events::EventsHttp)), rpc: None }
    }

    /// Blocks and their events as DEX Screener reads them, for [`crate::KeyedSurface::Dexscreener`].
    pub fn dexscreener() -> Self {
        Self::listing(&listings::DEXSCREENER)
    }

    /// Tickers, depth and trades as `CoinGecko` reads them, for [`crate::KeyedSurface::Coingecko`].
    pub fn coingecko() -> Self {
        Self::listing(&listings::COINGECKO)
    }

    /// The Electrum protocol over WebSocket, for [`crate::KeyedSurface::Electrum`].
    pub fn electrum() -> Self {
        Self { http: Some(Arc::new(crate::electrum::ElectrumHttp)), rpc: None }
    }

    fn listing(listing: &listings::Listing) -> Self {
        Self { http: Some(Arc::new(listings::ListingHttp(listing.clone()))), rpc: None }
    }

    /// Rates between currencies, for [`crate::KeyedSurface::Forex`].
    pub fn forex(board: Arc<paraffin_forex::Board>) -> Self {
        Self { http: None, rpc: Some(Arc::new(forex::ForexRpc(board))) }
    }

    /// The pool index, for [`crate::KeyedSurface::Btcusd`].
    pub fn btcusd(rules: paraffin_cryptoswap::PoolRules) -> Self {
        Self { http: None, rpc: Some(Arc::new(btcusd::BtcusdRpc::new(rules))) }
    }

    /// The live set of unconfirmed transactions, for [`crate::KeyedSurface::Mempool`].
    pub fn mempool(mempool: Arc<paraffin_mempool::Mempool>) -> Self {
        let surface = Arc::new(mempool::MempoolSurface(mempool));
        Self { http: Some(Arc::clone(&surface) as Arc<dyn HttpSurface>), rpc: Some(surface) }
    }

    /// The orderbook fed by external sources, for [`crate::KeyedSurface::Orderbook`].
    pub fn orderbook(orderbook: Arc<paraffin_orderbook::Orderbook>) -> Self {
        Self { http: Some(Arc::new(orderbook::OrderbookHttp(orderbook))), rpc: None }
    }

    /// Contracts and their sources, for [`crate::KeyedSurface::Explorer`].
    pub fn verify(verifier: Arc<paraffin_verify::Verifier>) -> Self {
        Self { http: Some(Arc::new(verify::VerifyHttp(verifier))), rpc: None }
    }

    /// Webhooks, for [`crate::KeyedSurface::Webhooks`].
    pub(crate) fn webhooks(webhooks: Arc<paraffin_webhooks::Webhooks>) -> Self {
        Self { http: None, rpc: Some(Arc::new(webhooks::WebhooksRpc(webhooks))) }
    }

    /// The rollback endpoint, for [`crate::KeyedSurface::Reorg`].
    pub fn reorg() -> Self {
        Self { http: Some(Arc::new(reorg::ReorgHttp)), rpc: Some(Arc::new(reorg::ReorgRpc)) }
    }
}

/// Writes a number, the most frequent result, without spare capacity.
pub(crate) fn integer_to_raw(number: u32) -> RpcResult {
    let mut digits = number.to_string();
    digits.shrink_to_fit();
    RawValue::from_string(digits).map_err(|error| ApiError::internal(&error))
}

/// Writes a result.
///
/// # Errors
/// -32603 when the value cannot be written as JSON.
pub(crate) fn to_raw(value: &impl Serialize) -> RpcResult {
    serde_json::value::to_raw_value(value).map_err(|error| ApiError::internal(&error))
}
