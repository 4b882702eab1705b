//! What a surface is to the core: JSON-RPC, plain HTTP or REST routes, handed in as a list when a gateway is assembled.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use paraffin_webhooks::Webhooks;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::describe::Descriptions;
use crate::errors::ApiError;
use crate::jsonrpc::{Flavour, Params};
use crate::methods::{Described, Surface};
use crate::metrics::Meter;
use crate::respond::Reply;
use crate::rest::Group;
use crate::routes::Credential;
use crate::state::{BoxFuture, RequestContext, Shared};
use crate::websocket::Upgrade;

/// State that surfaces keep for an instance, found by its type.
pub type SurfaceState = Vec<Box<dyn Any + Send + Sync>>;

/// All surfaces of a build: requests are answered by these lists, and the documents describe them.
pub struct Surfaces {
    /// The main JSON-RPC.
    pub main: fn() -> Arc<dyn RpcSurface>,
    /// The families of its methods, in the order in which they are described.
    pub families: &'static [&'static Surface<()>],
    /// The family whose methods are also paths of plain HTTP.
    pub http_family: &'static Surface<()>,
    /// The family that a gateway without a store answers itself.
    pub own_family: &'static Surface<()>,
    /// JSON-RPC surfaces below a key.
    pub keyed: &'static [&'static dyn Described],
    /// Routes of the REST data API.
    pub rest: &'static [&'static Group],
    /// Routes beside it, below the segment `opi`.
    pub beside: RoutesBeside,
    /// Routes of the other surfaces, which serve them by [`crate::rest::serve`].
    pub others: &'static [&'static [&'static Group]],
    /// The surface of webhooks.
    pub webhooks: fn(Arc<Webhooks>) -> KeyedHandler,
    /// Makes the state of the surfaces.
    pub state: fn() -> SurfaceState,
    /// The documents about all of them.
    pub descriptions: Descriptions,
}

/// Routes beside the REST data API, with error bodies of their own.
pub struct RoutesBeside {
    /// The routes.
    pub groups: &'static [&'static Group],
    /// The body of an error.
    pub refusal: fn(&ApiError) -> Reply,
    /// Whether a path is about its caller, so that it is never forwarded.
    pub is_about_caller: fn(&[String]) -> bool,
    /// Whether the instance has what they answer from.
    pub is_served: fn(&Shared) -> bool,
}

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
    pub credential: Credential,
}

/// A surface that speaks plain HTTP.
pub trait HttpSurface: Any + Send + Sync {
    /// Largest body for this verb and path in bytes; `None`: not a request for this surface.
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize>;

    /// State of the durable stream that it writes to, for health: anything but `ready` makes the instance degraded. `None`: it has none.
    fn durable_stream(&self) -> Option<&'static str> {
        None
    }

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

/// Writes a number, the most frequent result, without spare capacity.
///
/// # Errors
/// -32603 when it cannot be written as JSON.
pub fn integer_to_raw(number: u32) -> RpcResult {
    let mut digits = number.to_string();
    digits.shrink_to_fit();
    RawValue::from_string(digits).map_err(|error| ApiError::internal(&error))
}

/// Writes a result.
///
/// # Errors
/// -32603 when the value cannot be written as JSON.
pub fn to_raw(value: &impl Serialize) -> RpcResult {
    serde_json::value::to_raw_value(value).map_err(|error| ApiError::internal(&error))
}
