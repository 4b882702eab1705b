//! The page of a pool.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Coin, Links, PageOf, change, worth};
use super::super::chart::{Caption, Drawing, Point, line};
use super::super::contracts::Token;
use super::super::history::{Event, Events, unix_seconds};
use super::super::{Part, Reader, View, text};
use super::candles::{self, CandleChart, Window};
use super::pools::{Record, percent};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

const ROWS: u64 = 25;
/// Trades in the chart of reserves.
const TRADES: u64 = 500;

/// Kinds of events: their words in the address, titles, and routes of the API.
const KINDS: [(&str, &str, &str); 3] = [
    ("trades", "Trades", "get-pool-swap-history"),
    ("mints", "Liquidity added", "get-pool-mint-history"),
    ("burns", "Liquidity removed", "get-pool-burn-history"),
];

#[derive(Deserialize)]
pub(super) struct PageQuery {
    interval: Option<String>,
    from: Option<String>,
    to: Option<String>,
    side: Option<String>,
    kind: Option<String>,
    page: Option<String>,
}

#[derive(Deserialize)]
struct Trades {
    trades: Vec<Trade>,
}

#[derive(Deserialize)]
struct Trade {
    timestamp: String,
    reserve0_after: Option<String>,
    reserve1_after: Option<String>,
}

#[derive(Template)]
#[template(path = "explorer/markets/pool.html")]
struct PoolPage {
    view: View,
    id: String,
    name: String,
    coin0: Coin,
    coin1: Coin,
    price0: String,
    price1: String,
    change: Option<String>,
    facts: Vec<(&'static str, String)>,
    kind_of_pool: String,
    created: String,
    creator: String,
    chart: Part<CandleChart>,
    side_address: String,
    liquidity: Part<(Drawing, Drawing)>,
    kind: &'static str,
    events: Part<(Vec<Event>, Links)>,
}

/// A pool: prices, reserves, candles and history.
pub(super) async fn page(reader: Reader, id: Path<String>, query: Query<PageQuery>) -> Result<Response, Failure> {
    let id = AlkaneId::of_path(&id)?;
    let query = query.0;
    let pool: Record = reader.ask(Call::rest("get-pool-details", &json!({ "poolId": id.to_string() }))).await?;
    let coin0 = coin(&reader, pool.token0).await?;
    let coin1 = coin(&reader, pool.token1).await?;

    let turned = query.side.as_deref() == Some("1");
    let side = if turned { "side=1&" } else { "" };
    let window = Window::new(query.interval.as_deref(), query.from.as_deref(), query.to.as_deref(), turned);
    let address = format!("/explorer/pool/{id}?{side}");
    let chart = candles::read(&reader, id, window, (&coin0, &coin1), &address).await?;
    let trades: Part<Trades> =
        reader.part(Call::rest("get-trades", &json!({ "pool": id.to_string(), "limit": TRADES }))).await?;
    let liquidity = trades.map(|trades| {
        let draw = |coin: &Coin, reserve: fn(&Trade) -> Option<&String>| reserves(coin, &trades.trades, reserve);
        (draw(&coin0, |trade| trade.reserve0_after.as_ref()), draw(&coin1, |trade| trade.reserve1_after.as_ref()))
    });

    let chosen = KINDS.iter().find(|(word, ..)| query.kind.as_deref() == Some(*word));
    let (kind, _, route) = chosen.copied().unwrap_or(("trades", "", "get-pool-swap-history"));
    let page = PageOf::new(query.page.as_deref(), ROWS);
    let body = json!({ "poolId": id.to_string(), "limit": ROWS, "offset": page.offset() });
    let events: Part<Events> = reader.part(Call::rest(route, &body)).await?;
    let liquidity_decimals = if pool.kind.as_deref() == Some("cryptoswap") { 18 } else { 8 };
    let liquidity_coin = Coin::new(id, None, Some("LP"), Some(liquidity_decimals));
    let coins =
        BTreeMap::from([(pool.token0, coin0.clone()), (pool.token1, coin1.clone()), (id, liquidity_coin.clone())]);
    let events = events.map(|events| {
        let links = page.links(&format!("/explorer/pool/{id}?kind={kind}&page="), events.total, "#history");
        (events.rows(&reader, &coins), links)
    });

    let price = pool.price(&coin0, &coin1);
    let priced = |price: Option<f64>, one: &Coin, other: &Coin| {
        price.map_or_else(
            || "no trade yet".to_owned(),
            |price| format!("1 {} = {} {}", one.symbol, text::number(price), other.symbol),
        )
    };
    Ok(Page(PoolPage {
        name: pool.name(&coin0, &coin1),
        price0: priced(price, &coin0, &coin1),
        price1: priced(price.map(f64::recip), &coin1, &coin0),
        change: change(pool.price_change24h),
        facts: facts(&pool, &coin0, &coin1, &liquidity_coin),
        kind_of_pool: match (pool.kind.as_deref(), pool.factory_id) {
            (Some("cryptoswap"), _) => "CryptoSwap".to_owned(),
            (_, Some(factory)) => format!("constant product, of the factory {factory}"),
            _ => "constant product".to_owned(),
        },
        created: pool.creation_block_height.map(|height| height.to_string()).unwrap_or_default(),
        creator: pool.creator_address.map(|address| text::clean(&address, 100)).unwrap_or_default(),
        chart,
        side_address: format!(
            "/explorer/pool/{id}?{}interval={}",
            if turned { "" } else { "side=1&" },
            window.interval
        ),
        liquidity,
        kind,
        events,
        coin0,
        coin1,
        id: id.to_string(),
        view: reader.view("pools"),
    })
    .into_response())
}

/// Names and decimals of an alkane, or just its id.
pub(super) async fn coin(reader: &Reader, id: AlkaneId) -> Result<Coin, Failure> {
    let token: Part<Token> =
        reader.part(Call::rest("get-alkane-details", &json!({ "alkaneId": id.to_string() }))).await?;
    Ok(token.map_or_else(|_| Coin::unknown(id), |token| token.coin()))
}

fn facts(pool: &Record, coin0: &Coin, coin1: &Coin, liquidity: &Coin) -> Vec<(&'static str, String)> {
    let fee = pool.fee_per1000.map(|fee| format!("{} %", text::amount(u128::from(fee), 1)));
    let tvl_change = change(pool.tvl_change24h).map(|change| format!(" ({change} in a day)")).unwrap_or_default();
    [
        ("Reserves", Some(format!("{} and {}", coin0.amount(&pool.token0_amount), coin1.amount(&pool.token1_amount)))),
        ("TVL", Some(format!("{}{tvl_change}", worth(pool.pool_tvl_in_usd, pool.pool_tvl_in_sats)))),
        ("Volume, 1 day", Some(worth(pool.pool_volume1d_in_usd, pool.pool_volume1d_in_sats))),
        ("Volume, 30 days", Some(worth(pool.pool_volume30d_in_usd, pool.pool_volume30d_in_sats))),
        ("Fee", Some(fee.unwrap_or_else(|| "set by the curve".to_owned()))),
        ("APR of 30 days", pool.pool_apr.map(|apr| percent(Some(apr)))),
        (
            "Trades",
            pool.trades_all_time
                .map(|all| format!("{}, {} of the newest day", grouped(all), grouped(pool.trades1d.unwrap_or(0)))),
        ),
        ("Liquidity", pool.token_supply.as_deref().map(|supply| liquidity.amount(supply))),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .collect()
}

/// A reserve after each of the trades.
fn reserves(coin: &Coin, trades: &[Trade], reserve: fn(&Trade) -> Option<&String>) -> Drawing {
    let point = |trade: &Trade| {
        let value = coin.units(reserve(trade)?);
        Some(Point { time: unix_seconds(&trade.timestamp)?, value })
    };
    let points: Vec<Point> = trades.iter().rev().filter_map(point).collect();
    let caption = Caption {
        title: format!("Reserve of {}", coin.name),
        description: format!(
            "What the pool holds of {} after each of its newest {} trades.",
            coin.symbol,
            points.len()
        ),
    };
    line(&caption, &points)
}
