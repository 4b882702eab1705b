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
pub mod handlers;
mod listings;
mod lua;
pub(crate) mod main_rpc;
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

pub(crate) use paraffin_gateway::surface::{
    HttpRequest, HttpSurface, KeyedHandler, RpcResult, RpcSurface, integer_to_raw, to_raw,
};

use crate::methods::Described;

pub(crate) use admin::ADMIN;
pub(crate) use btc::pass as pass_to_node;
pub(crate) use esplora::{raw_transactions, unconfirmed_transaction};
pub(crate) use main_rpc::MainRpc;

/// JSON-RPC surfaces below a key whose methods are declared.
pub(crate) static DECLARED: [&dyn Described; 6] =
    [&espo::ESPO, &btcusd::BTCUSD, &mempool::MEMPOOL, &forex::FOREX, &reorg::REORG, &webhooks::WEBHOOKS];
