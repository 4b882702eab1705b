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

use paraffin_bitcoin_surfaces::{ELECTRUM, ESPLORA_HTTP, MEMPOOL, REORG, esplora, opi};
use paraffin_contract_surfaces::{ESPO, VERIFY, VERIFY_DOCUMENT};
use paraffin_data_surfaces::{COINGECKO, DEXSCREENER, GROUPS, UDF};
use paraffin_gateway::describe::Descriptions;
use paraffin_gateway::rest::Group;
use paraffin_gateway::{HEALTH, KeyedSurface, Surfaces};
use paraffin_price_surfaces::{BTCUSD, FOREX, ORDERBOOK, PRICES};
use paraffin_service_surfaces::{ADMIN, EVENTS, WEBHOOKS};

use crate::main_rpc::MainRpc;

/// The surfaces below a key.
static KEYED: [&KeyedSurface; 14] = [
    &ESPO,
    &BTCUSD,
    &MEMPOOL,
    &FOREX,
    &REORG,
    &WEBHOOKS,
    &ORDERBOOK,
    &VERIFY,
    &UDF,
    &DEXSCREENER,
    &COINGECKO,
    &ESPLORA_HTTP,
    &ELECTRUM,
    &EVENTS,
];

/// All routes of the REST data API: requests are answered by this list, and the OpenAPI document describes it.
static REST: [&Group; 7] = {
    let [address, indexer, alkanes, pools, history, trading] = GROUPS;
    [address, indexer, alkanes, pools, history, trading, &PRICES]
};

/// The surfaces of the API.
pub static SURFACES: Surfaces = Surfaces {
    main: || Arc::new(MainRpc),
    families: &main_rpc::FAMILIES,
    own_family: &ADMIN,
    changing: &main_rpc::CHANGING,
    keyed: &KEYED,
    rest: &REST,
    beside: opi::BESIDE,
    others: &[ORDERBOOK.routes, VERIFY.routes, &HEALTH, UDF.routes, DEXSCREENER.routes, COINGECKO.routes],
    webhooks: handlers::webhooks,
    state: || {
        vec![
            Box::new(esplora::Unconfirmed::default()),
            Box::new(esplora::FeeEstimates::default()),
            Box::new(opi::BalancesHash::default()),
        ]
    },
    documents: &[&esplora::DOCUMENT, &VERIFY_DOCUMENT],
    descriptions: Descriptions::new(),
};
