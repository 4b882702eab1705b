//! What an instance answers: one module per surface of the API, which parses, calls one crate, and renders. `paraffin-gateway` has the
//! connections, callers, limits and envelopes around it.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

#[cfg(test)]
mod documents;
mod electrum;
mod rest;
mod surfaces;

use std::sync::Arc;

use paraffin_gateway::describe::Descriptions;
use paraffin_gateway::surface::RoutesBeside;
use paraffin_gateway::{HEALTH, Surfaces};
use paraffin_gateway::{
    alkanes, bounded, byte_budget, describe, erased, errors, events, fairness, families, hosted, interrupt, jsonrpc,
    markets, methods, metrics, respond, routes, scripts, sessions, state, websocket,
};

use crate::rest::listings;
use crate::surfaces::{DECLARED, MainRpc, esplora, main_rpc, opi, orderbook, verify};

pub use electrum::ElectrumParts;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use rest::fuzzing;
pub use surfaces::esplora::NodeTransactions;
pub use surfaces::handlers;

/// The surfaces of the API.
pub static SURFACES: Surfaces = Surfaces {
    main: || Arc::new(MainRpc),
    families: &main_rpc::FAMILIES,
    http_family: &esplora::ESPLORA,
    own_family: &surfaces::ADMIN,
    keyed: &DECLARED,
    rest: &rest::GROUPS,
    beside: RoutesBeside {
        groups: &opi::GROUPS,
        refusal: opi::refusal,
        is_about_caller: opi::is_about_caller,
        is_served: opi::is_served,
    },
    others: &[&orderbook::GROUPS, &verify::GROUPS, &HEALTH, &listings::GROUPS],
    webhooks: handlers::webhooks,
    state: || {
        vec![
            Box::new(esplora::Unconfirmed::default()),
            Box::new(esplora::FeeEstimates::default()),
            Box::new(opi::BalancesHash::default()),
        ]
    },
    descriptions: Descriptions::new(),
};
