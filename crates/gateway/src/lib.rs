//! The HTTP server of an instance: connections, who may call, limits, and how requests and answers are wrapped.
//!
//! Invariant: no surface is named here. [`Surfaces`] lists those that a gateway is given, with the paths and rules that their crates
//! declare.
//!
//! # Protocol rules of this implementation
//!
//! | question | answer |
//! |---|---|
//! | JSON nested deeper than the limit | -32600, `id` null, before anything else is looked at |
//! | bodies above the ordinary limit | a single JSON-RPC request for one of three methods whose `method` is within the first 4 MiB |
//! | an object that an `esplora_*` method did not find | -32004 with `data.code` `NOT_FOUND` |
//! | a surface of the table that this build lacks | HTTP 404 `SURFACE_NOT_AVAILABLE`, after the key has been checked |
//! | empty path segments | skipped, so `//` means `/`, and an empty key is no key |
//! | a call that takes too long | alone: HTTP 504 with -32603 `timeout`; in a batch: an entry -32603 `timeout` |
//! | `X-Request-Id` of the caller | kept when it has at most 64 harmless characters and could be no key |
#![forbid(unsafe_code)]

mod access_log;
mod admission;
pub mod alkanes;
pub mod api_types;
mod auth_failures;
mod body;
pub mod bounded;
pub mod budget;
pub mod byte_budget;
mod call_windows;
mod callers;
mod clients;
mod config;
mod connections;
mod cors;
mod deadline;
pub mod describe;
mod drain;
pub mod erased;
pub mod errors;
pub mod events;
pub mod fairness;
pub mod families;
mod forward;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod header_values;
mod health;
pub mod hosted;
pub mod interrupt;
pub mod jsonrpc;
mod limits;
mod log_thread;
pub mod markets;
pub mod methods;
pub mod metrics;
mod patient_stream;
mod redact;
mod request;
mod request_id;
pub mod respond;
pub mod rest;
pub mod routes;
mod schema;
pub mod scripts;
mod server;
pub mod sessions;
mod site;
pub mod state;
pub mod surface;
pub mod tokens;
mod trace;
mod waiting;
mod webhooks;
pub mod websocket;

pub use alkanes::AlkanesParts;
pub use clients::{ParseProxyError, ProxyNet};
pub use config::{AccessConfig, GatewayConfig};
pub use errors::{ApiError, ErrorKind, kind, rpc_code};
pub use families::Families;
pub use forward::Upstreams;
#[doc(hidden)]
pub use forward::rules;
pub use health::GROUPS as HEALTH;
pub use hosted::{HostedFault, HostedProgram, ShadowState};
pub use jsonrpc::{Flavour, Params};
pub use limits::Limits;
pub use log_thread::{LogForm, LogThread, LogWriter};
pub use markets::MarketsParts;
pub use metrics::{Meter, Metrics};
pub use redact::{redact, redacted_key};
pub use respond::Reply;
pub use scripts::ScriptParts;
pub use server::{Gateway, GatewayError};
pub use sessions::ListenerParts;
pub use state::{BoxFuture, Caller, ChainState, GatewayParts, IndexingStatus, Node, ReadAbandoned, RequestContext};
pub use surface::{Forwarding, HttpRequest, HttpSurface, KeyedHandler, KeyedSurface, RpcResult, RpcSurface, Surfaces};
#[doc(hidden)]
pub use trace::template;
pub use webhooks::WebhooksParts;
pub use websocket::Upgrade;
