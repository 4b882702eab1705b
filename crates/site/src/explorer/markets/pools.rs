//! The list of pools.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Coin, Links, PageOf, change, encoded, worth};
use super::super::contracts::Pairs;
use super::super::{Part, Reader, View, text};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

const ROWS: u64 = 50;
/// Pools whose alkanes are looked up by one call.
const PAIRS: u64 = 500;

/// Orders: their words in the address, titles, and how the API names them.
const ORDERS: [(&str, &str, &str); 5] = [
    ("tvl", "TVL", "tvl"),
    ("volume", "Volume", "volume1d"),
    ("apr", "APR", "apr"),
    ("name", "Name", "name"),
    ("age", "Age", "height"),
];

#[derive(Deserialize)]
pub(super) struct PageQuery {
    page: Option<String>,
    sort: Option<String>,
    q: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listing {
    total: u64,
    pools: Vec<Record>,
    total_tvl: Option<f64>,
    total_tvl_in_sats: Option<f64>,
    total_pool_volume24h: Option<f64>,
    total_pool_volume24h_in_sats: Option<f64>,
}

/// A pool, with the data of its row and its page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) pool_id: AlkaneId,
    pub(super) token0: AlkaneId,
    pub(super) token1: AlkaneId,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) factory_id: Option<AlkaneId>,
    pub(super) pool_name: Option<String>,
    pub(super) token0_amount: String,
    pub(super) token1_amount: String,
    pub(super) token_supply: Option<String>,
    pub(super) fee_per1000: Option<u32>,
    pub(super) creator_address: Option<String>,
    pub(super) creation_block_height: Option<u32>,
    pub(super) pool_tvl_in_sats: Option<f64>,
    pub(super) pool_tvl_in_usd: Option<f64>,
    pub(super) pool_volume1d_in_sats: Option<f64>,
    pub(super) pool_volume1d_in_usd: Option<f64>,
    pub(super) pool_volume30d_in_sats: Option<f64>,
    pub(super) pool_volume30d_in_usd: Option<f64>,
    pub(super) trades1d: Option<u64>,
    pub(super) trades_all_time: Option<u64>,
    pub(super) pool_apr: Option<f64>,
    pub(super) price: Option<f64>,
    pub(super) price_change24h: Option<f64>,
    pub(super) tvl_change24h: Option<f64>,
}

impl Record {
    /// The name of the pool, or the names of its alkanes.
    pub(super) fn name(&self, coin0: &Coin, coin1: &Coin) -> String {
        let own = self.pool_name.as_deref().map(|name| text::clean(name, 60)).filter(|name| !name.trim().is_empty());
        own.unwrap_or_else(|| format!("{} / {}", coin0.symbol, coin1.symbol))
    }

    /// The price of the first alkane in the second, in whole units.
    pub(super) fn price(&self, coin0: &Coin, coin1: &Coin) -> Option<f64> {
        let price = self.price? * coin1.unit() / coin0.unit();
        (price.is_finite() && price > 0.0).then_some(price)
    }
}

struct Row {
    id: String,
    name: String,
    reserve0: String,
    reserve1: String,
    price: String,
    change: Option<String>,
    tvl: String,
    volume: String,
    apr: String,
}

#[derive(Template)]
#[template(path = "explorer/markets/pools.html")]
struct PoolsPage {
    view: View,
    rows: Vec<Row>,
    links: Links,
    total: String,
    tvl: String,
    volume: String,
    sort: &'static str,
    q: String,
    encoded_q: String,
}

/// All pools of the network's factory, largest first.
pub(super) async fn page(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    let query = query.0;
    let page = PageOf::new(query.page.as_deref(), ROWS);
    let chosen = ORDERS.iter().find(|(word, ..)| query.sort.as_deref() == Some(*word));
    let (sort, _, sort_by) = chosen.copied().unwrap_or(("tvl", "", "tvl"));
    let q: String = query.q.unwrap_or_default().trim().chars().take(100).collect();
    let order = if matches!(sort, "name" | "age") { "asc" } else { "desc" };
    let mut body = json!({ "limit": ROWS, "offset": page.offset(), "sortBy": sort_by, "order": order });
    if !q.is_empty()
        && let Some(members) = body.as_object_mut()
    {
        members.insert("searchQuery".to_owned(), json!(q));
    }
    let pools: Listing = reader.ask(Call::rest("get-all-pools-details", &body)).await?;
    let pairs: Part<Pairs> = reader.part(Call::rest("get-all-token-pairs", &json!({ "limit": PAIRS }))).await?;
    let mut coins = BTreeMap::new();
    for pair in pairs.iter().flat_map(|pairs| &pairs.pairs) {
        for side in [&pair.token0, &pair.token1] {
            coins.entry(side.alkane_id).or_insert_with(|| side.coin());
        }
    }
    let encoded_q = encoded(&q);
    let address = format!("/explorer/pools?sort={sort}&q={encoded_q}&page=");
    Ok(Page(PoolsPage {
        rows: pools.pools.iter().map(|pool| row(pool, &coins)).collect(),
        links: page.links(&address, pools.total, ""),
        total: grouped(pools.total),
        tvl: worth(pools.total_tvl, pools.total_tvl_in_sats),
        volume: worth(pools.total_pool_volume24h, pools.total_pool_volume24h_in_sats),
        sort,
        q,
        encoded_q,
        view: reader.view("pools"),
    })
    .into_response())
}

fn row(pool: &Record, coins: &BTreeMap<AlkaneId, Coin>) -> Row {
    let side = |id: AlkaneId, digits: &str| match coins.get(&id) {
        Some(coin) => (coin.clone(), coin.amount(digits)),
        None => (Coin::unknown(id), format!("{} base units", text::amount_text(digits, 0))),
    };
    let (coin0, reserve0) = side(pool.token0, &pool.token0_amount);
    let (coin1, reserve1) = side(pool.token1, &pool.token1_amount);
    let is_known = coins.contains_key(&pool.token0) && coins.contains_key(&pool.token1);
    let price = pool.price(&coin0, &coin1).filter(|_| is_known);
    Row {
        id: pool.pool_id.to_string(),
        name: pool.name(&coin0, &coin1),
        reserve0,
        reserve1,
        price: price.map_or_else(|| "—".to_owned(), |price| format!("{} {}", text::number(price), coin1.symbol)),
        change: change(pool.price_change24h),
        tvl: worth(pool.pool_tvl_in_usd, pool.pool_tvl_in_sats),
        volume: worth(pool.pool_volume1d_in_usd, pool.pool_volume1d_in_sats),
        apr: percent(pool.pool_apr),
    }
}

/// A percentage; a dash for none.
pub(super) fn percent(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        Some(value) if value.abs() < 1e6 => format!("{value:.2} %"),
        Some(value) => format!("{} %", text::number(value)),
        None => "—".to_owned(),
    }
}
