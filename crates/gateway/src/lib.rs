//! The HTTP server of an instance: who may call, how requests and answers are wrapped, and one file per surface.
//!
//! Invariant: a surface parses, calls one crate, and renders; it holds no rule of the data that it serves.
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
mod alkanes;
mod auth_failures;
mod body;
mod bounded;
mod budget;
mod byte_budget;
mod call_windows;
mod callers;
mod clients;
mod config;
mod connections;
mod cors;
mod deadline;
mod describe;
mod drain;
mod electrum;
mod erased;
mod errors;
mod events;
mod fairness;
mod families;
mod forward;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod header_values;
mod health;
mod hosted;
mod interrupt;
mod jsonrpc;
mod limits;
mod log_thread;
mod markets;
mod methods;
mod metrics;
mod patient_stream;
mod redact;
mod request;
mod request_id;
mod respond;
mod rest;
mod routes;
mod server;
mod site;
mod state;
mod surfaces;
mod trace;
mod waiting;
mod webhooks;
mod websocket;

pub use alkanes::AlkanesParts;
pub use clients::{ParseProxyError, ProxyNet};
pub use config::{AccessConfig, GatewayConfig};
pub use electrum::ElectrumParts;
pub use errors::{ApiError, ErrorKind, kind, rpc_code};
pub use families::Families;
pub use forward::Upstreams;
pub use hosted::{HostedFault, HostedProgram, ShadowState};
pub use jsonrpc::{Flavour, Params};
pub use limits::Limits;
pub use log_thread::{LogForm, LogThread, LogWriter};
pub use markets::MarketsParts;
pub use metrics::{Meter, Metrics};
pub use redact::{redact, redacted_key};
pub use respond::Reply;
pub use routes::KeyedSurface;
pub use server::{Gateway, GatewayError};
pub use state::{BoxFuture, Caller, ChainState, GatewayParts, IndexingStatus, Node, ReadAbandoned, RequestContext};
pub use surfaces::esplora::NodeTransactions;
pub use surfaces::{HttpRequest, HttpSurface, KeyedHandler, RpcResult, RpcSurface, ScriptParts};
pub use webhooks::WebhooksParts;
pub use websocket::Upgrade;
