//! What an instance answers: the list of its surfaces, which are in crates by family. `paraffin-gateway` has the connections, callers, limits
//! and envelopes around them. Nothing but the list is here, because it is compiled anew after a change of any surface.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

#[cfg(test)]
mod documents;
pub mod handlers;
mod main_rpc;

use std::sync::Arc;

use paraffin_bitcoin_surfaces::{MEMPOOL, REORG, esplora, opi};
use paraffin_contract_surfaces::{ESPO, VERIFY};
use paraffin_data_surfaces::{GROUPS, LISTINGS};
use paraffin_gateway::describe::Descriptions;
use paraffin_gateway::methods::Described;
use paraffin_gateway::rest::Group;
use paraffin_gateway::surface::RoutesBeside;
use paraffin_gateway::{HEALTH, Surfaces};
use paraffin_price_surfaces::{BTCUSD, FOREX, ORDERBOOK, PRICES};
use paraffin_service_surfaces::{ADMIN, WEBHOOKS};

use crate::main_rpc::MainRpc;

/// JSON-RPC surfaces below a key whose methods are declared.
static DECLARED: [&dyn Described; 6] = [&ESPO, &BTCUSD, &MEMPOOL, &FOREX, &REORG, &WEBHOOKS];

/// All routes of the REST data API: requests are answered by this list, and the OpenAPI document describes it.
static REST: [&Group; 7] = {
    let [address, indexer, alkanes, pools, history, trading] = GROUPS;
    [address, indexer, alkanes, pools, history, trading, &PRICES]
};

/// The surfaces of the API.
pub static SURFACES: Surfaces = Surfaces {
    main: || Arc::new(MainRpc),
    families: &main_rpc::FAMILIES,
    http_family: &esplora::ESPLORA,
    own_family: &ADMIN,
    keyed: &DECLARED,
    rest: &REST,
    beside: RoutesBeside {
        groups: &opi::GROUPS,
        refusal: opi::refusal,
        is_about_caller: opi::is_about_caller,
        is_served: opi::is_served,
    },
    others: &[&ORDERBOOK, &VERIFY, &HEALTH, &LISTINGS],
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
