//! Contracts and the alkanes that they issue.

mod bytes;
mod contract;
mod list;
mod source;
mod storage;
mod token;
mod views;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use serde::Deserialize;

use super::alkane::{AlkaneId, Coin};
use crate::SiteParts;

pub(crate) use bytes::decode;

/// The pages of this area.
pub(crate) fn routes() -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer/contracts", get(list::contracts))
        .route("/explorer/tokens", get(list::tokens))
        .route("/explorer/contract/{id}", get(contract::page))
        .route("/explorer/token/{id}", get(token::page))
}

/// An alkane and its contract, as the API returns them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    pub(crate) id: AlkaneId,
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<u32>,
    max: Option<String>,
    cap: Option<String>,
    minted: Option<String>,
    premine: Option<String>,
    total_supply: Option<String>,
    holders: Option<u64>,
    created_at_height: Option<u32>,
    price_usd: Option<f64>,
    frbtc_pool_price_in_sats: Option<f64>,
    price_change24h: Option<f64>,
    marketcap: Option<f64>,
    marketcap_in_sats: Option<f64>,
    fdv: Option<f64>,
    fdv_in_sats: Option<f64>,
    #[serde(rename = "tokenPoolsVolume1dInUsd")]
    volume1d_in_usd: Option<f64>,
    #[serde(rename = "tokenPoolsVolume1dInSats")]
    volume1d_in_sats: Option<f64>,
    #[serde(rename = "tokenPoolsVolume30dInUsd")]
    volume30d_in_usd: Option<f64>,
    #[serde(rename = "tokenPoolsVolume30dInSats")]
    volume30d_in_sats: Option<f64>,
}

impl Token {
    pub(crate) fn coin(&self) -> Coin {
        Coin::new(self.id, self.name.as_deref(), self.symbol.as_deref(), self.decimals)
    }

    /// Factor from prices of the API, which are of 10^8 base units, to prices of a whole unit.
    fn price_factor(&self) -> f64 {
        1e-8 / self.coin().unit()
    }

    fn price(&self) -> String {
        let whole = |price: Option<f64>| price.map(|price| price * self.price_factor());
        super::alkane::worth(whole(self.price_usd), whole(self.frbtc_pool_price_in_sats))
    }

    fn supply(&self, coin: &Coin) -> String {
        self.total_supply.as_deref().map_or_else(|| "—".to_owned(), |supply| coin.digits(supply))
    }
}

/// A pool that trades an alkane.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pair {
    pub(crate) pool_id: AlkaneId,
    pub(crate) pool_name: Option<String>,
    pub(crate) token0: PairToken,
    pub(crate) token1: PairToken,
    pub(crate) pool_tvl_in_sats: Option<f64>,
    pub(crate) pool_tvl_in_usd: Option<f64>,
    pub(crate) pool_volume1d_in_sats: Option<f64>,
    pub(crate) pool_volume1d_in_usd: Option<f64>,
}

/// One side of a pool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PairToken {
    pub(crate) alkane_id: AlkaneId,
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<u32>,
    pub(crate) amount: String,
}

impl PairToken {
    pub(crate) fn coin(&self) -> Coin {
        Coin::new(self.alkane_id, self.name.as_deref(), self.symbol.as_deref(), self.decimals)
    }
}

/// A page of pools.
#[derive(Deserialize)]
pub(crate) struct Pairs {
    pub(crate) pairs: Vec<Pair>,
}

/// A pool that trades an alkane, as a row.
pub(crate) struct PairRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) amount0: String,
    pub(crate) amount1: String,
    pub(crate) tvl: String,
    pub(crate) volume: String,
}

impl From<&Pair> for PairRow {
    fn from(pair: &Pair) -> Self {
        use super::alkane::worth;
        let (coin0, coin1) = (pair.token0.coin(), pair.token1.coin());
        let name = pair.pool_name.as_deref().map(|name| super::text::clean(name, 60));
        Self {
            id: pair.pool_id.to_string(),
            name: name
                .filter(|name| !name.trim().is_empty())
                .unwrap_or_else(|| format!("{} / {}", coin0.symbol, coin1.symbol)),
            amount0: coin0.amount(&pair.token0.amount),
            amount1: coin1.amount(&pair.token1.amount),
            tvl: worth(pair.pool_tvl_in_usd, pair.pool_tvl_in_sats),
            volume: worth(pair.pool_volume1d_in_usd, pair.pool_volume1d_in_sats),
        }
    }
}
