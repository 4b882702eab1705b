//! What a surface is to the core: JSON-RPC, plain HTTP or REST routes, handed in as a list when a gateway is assembled.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use paraffin_webhooks::Webhooks;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::describe::{Descriptions, Document};
use crate::errors::ApiError;
use crate::jsonrpc::{Flavour, Params};
use crate::methods::{Described, Surface};
use crate::metrics::Meter;
use crate::respond::Reply;
use crate::rest::{Base, Group};
use crate::routes::{Credential, ErrorForm};
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
    /// The family that a gateway without a store answers itself.
    pub own_family: &'static Surface<()>,
    /// Parts of the names of all methods of the families that may change state: a request with one of them is forwarded once.
    pub changing: &'static [&'static str],
    /// Surfaces below a key, in the order in which they are described.
    pub keyed: &'static [&'static KeyedSurface],
    /// Routes of the REST data API.
    pub rest: &'static [&'static Group],
    /// Routes beside it.
    pub beside: RoutesBeside,
    /// Routes of the surfaces below a key and of the instance itself, in the order in which documents list them.
    pub others: &'static [&'static [&'static Group]],
    /// The surface of webhooks.
    pub webhooks: fn(Arc<Webhooks>) -> KeyedHandler,
    /// Makes the state of the surfaces.
    pub state: fn() -> SurfaceState,
    /// Documents about single ones, beside those that are written from all lists.
    pub documents: &'static [&'static Document],
    /// The documents about all of them.
    pub descriptions: Descriptions,
}

impl Surfaces {
    /// The surface of that name below a key.
    pub(crate) fn named(&self, name: &str) -> Option<&'static KeyedSurface> {
        self.keyed.iter().copied().find(|surface| surface.base == Base::Keyed && surface.name == name)
    }

    /// The surface at `/api/v1/<key>`.
    pub(crate) fn apart(&self) -> Option<&'static KeyedSurface> {
        self.keyed.iter().copied().find(|surface| surface.base == Base::Apart)
    }

    /// The methods of the surfaces below a key.
    pub fn described(&self) -> impl Iterator<Item = &'static dyn Described> {
        self.keyed.iter().filter_map(|surface| surface.methods)
    }
}

/// What a crate declares of a surface below a key: its paths, who may call it, the form of its errors, what is forwarded of it.
pub struct KeyedSurface {
    /// The segment of its paths, and its name in metrics, logs and aliases.
    pub name: &'static str,
    /// [`Base::Keyed`] or [`Base::Apart`]; the latter has no segment of its name.
    pub base: Base,
    /// The JSON-RPC methods at the first of its paths.
    pub methods: Option<&'static dyn Described>,
    /// Routes that it serves by [`crate::rest::serve`].
    pub routes: &'static [&'static Group],
    /// The form of error bodies at the paths below its first one.
    pub below: ErrorForm,
    /// Whether an alias may stand for the key, where the operator allows it.
    pub takes_alias: bool,
    /// Whether bodies may be large where errors have the form of REST; its handler has the exact limit.
    pub takes_large_bodies: bool,
    /// The segment after its name where a POST is for admins, which an instance cannot check of a caller whose request is forwarded.
    pub for_admins: Option<&'static str>,
    /// The segment after its name where a GET changes state.
    pub changed_by_get: Option<&'static str>,
    /// What a gateway without a store forwards of it.
    pub forwarded: Forwarding,
}

/// What a gateway without a store forwards of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// All requests.
    All,
    /// Requests for a WebSocket: other answers are endless, would not be counted and would not end with the key.
    WebSockets,
    /// Nothing: what it answers belongs to accounts of the instance, and all of our callers are one account there.
    Nothing,
}

impl KeyedSurface {
    /// A surface that speaks plain HTTP, forwarded, and open to aliases.
    pub const fn http(name: &'static str) -> Self {
        Self {
            name,
            base: Base::Keyed,
            methods: None,
            routes: &[],
            below: ErrorForm::Rest,
            takes_alias: true,
            takes_large_bodies: false,
            for_admins: None,
            changed_by_get: None,
            forwarded: Forwarding::All,
        }
    }

    /// A surface that speaks JSON-RPC, forwarded, and open to aliases.
    pub const fn rpc(name: &'static str, methods: &'static dyn Described) -> Self {
        Self { methods: Some(methods), below: ErrorForm::JsonRpc, ..Self::http(name) }
    }

    /// The form of error bodies at a path, by the segments after its name.
    pub(crate) fn form(&self, tail: &[String]) -> ErrorForm {
        if tail.is_empty() && self.methods.is_some() { ErrorForm::JsonRpc } else { self.below }
    }
}

impl PartialEq for KeyedSurface {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for KeyedSurface {}

impl fmt::Debug for KeyedSurface {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Routes beside the REST data API, with error bodies of their own.
pub struct RoutesBeside {
    /// The first segment of their paths, and their name in metrics, logs and aliases.
    pub name: &'static str,
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

/// The handlers of a surface below a key: plain HTTP first, then JSON-RPC for a POST.
#[derive(Clone)]
pub struct KeyedHandler {
    /// The surface.
    pub surface: &'static KeyedSurface,
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
