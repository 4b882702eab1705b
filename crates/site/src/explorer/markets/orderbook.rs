//! The order book: its markets, and bids and asks of one of them.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::super::alkane::encoded;
use super::super::chart::{Caption, Drawing, Level, depth};
use super::super::{Part, Reader, View, text};
use crate::api::{Call, KEY_PLACEHOLDER};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Shown orders of a side, and shown markets.
const ORDERS_MAX: usize = 50;
const MARKETS_MAX: usize = 200;
/// Longest accepted name of a market, characters.
const MARKET_MAX: usize = 300;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    market: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Markets {
    pub(super) markets: Vec<Market>,
}

#[derive(Deserialize)]
pub(super) struct Market {
    market_key: String,
    pub(super) open_orders: u64,
}

impl Markets {
    pub(super) async fn read(reader: &Reader) -> Result<Part<Self>, Failure> {
        reader.part(Call::get(format!("/v4/{KEY_PLACEHOLDER}/orderbook/markets"))).await
    }
}

#[derive(Deserialize)]
struct Snapshot {
    seq: u64,
    orders: Vec<Order>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    id: String,
    side: Option<String>,
    status: Option<String>,
    price: Option<String>,
    price_unit: Option<String>,
    maker_address: Option<String>,
    #[serde(default)]
    assets: Vec<Asset>,
    updated_at: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asset {
    token_id: Option<String>,
    amount_raw: Option<String>,
}

struct MarketRow {
    name: String,
    address: String,
    open: String,
    is_shown: bool,
}

struct Row {
    price: String,
    unit: String,
    assets: String,
    status: String,
    maker: String,
    short_maker: String,
    age: String,
    moment: String,
    id: String,
}

struct Side {
    title: &'static str,
    rows: Vec<Row>,
    left_out: String,
}

struct Shown {
    market: String,
    seq: String,
    sides: Vec<Side>,
    chart: Option<Drawing>,
    unit: String,
}

#[derive(Template)]
#[template(path = "explorer/markets/orderbook.html")]
struct OrderBookPage {
    view: View,
    markets: Part<Vec<MarketRow>>,
    shown: Option<Part<Shown>>,
}

/// The markets of the order book, and one of them.
pub(super) async fn page(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    let markets = Markets::read(&reader).await?;
    let first =
        markets.as_ref().ok().and_then(|markets| markets.markets.first()).map(|market| market.market_key.clone());
    let market = query.0.market.map(|market| market.chars().take(MARKET_MAX).collect()).or(first);
    let shown = match &market {
        Some(market) if markets.is_ok() => {
            let path = format!("/v4/{KEY_PLACEHOLDER}/orderbook/snapshot?market={}", encoded(market));
            let snapshot: Part<Snapshot> = reader.part(Call::get(path)).await?;
            Some(snapshot.map(|snapshot| shown(&reader, market, &snapshot)))
        }
        _ => None,
    };
    let markets = markets.map(|markets| {
        let row = |of: &Market| MarketRow {
            name: text::clean(&of.market_key, 120),
            address: encoded(&of.market_key),
            open: grouped(of.open_orders),
            is_shown: market.as_deref() == Some(of.market_key.as_str()),
        };
        markets.markets.iter().take(MARKETS_MAX).map(row).collect()
    });
    Ok(Page(OrderBookPage { markets, shown, view: reader.view("markets").refreshing(20) }).into_response())
}

fn shown(reader: &Reader, market: &str, snapshot: &Snapshot) -> Shown {
    let is_bid = |order: &&Order| matches!(order.side.as_deref(), Some("buy" | "debitor"));
    let (bids, asks): (Vec<&Order>, Vec<&Order>) = snapshot.orders.iter().partition(is_bid);
    let unit = common_unit(&snapshot.orders);
    let is_lending = snapshot.orders.iter().any(|order| matches!(order.side.as_deref(), Some("creditor" | "debitor")));
    let titles = if is_lending { ("Borrowers", "Lenders") } else { ("Bids", "Asks") };
    let caption = Caption {
        title: format!("Depth of {}", text::clean(market, 120)),
        description: "How much is bid for from a price on, and asked for up to a price.".to_owned(),
    };
    let levels = |orders: &[&Order]| orders.iter().filter_map(|order| order.level()).collect::<Vec<Level>>();
    let (bid_levels, ask_levels) = (levels(&bids), levels(&asks));
    let has_levels = !bid_levels.is_empty() || !ask_levels.is_empty();
    Shown {
        market: text::clean(market, 120),
        seq: grouped(snapshot.seq),
        chart: (unit.is_some() && has_levels).then(|| depth(&caption, &bid_levels, &ask_levels)),
        unit: unit.unwrap_or_default(),
        sides: vec![side(reader, titles.0, bids, true), side(reader, titles.1, asks, false)],
    }
}

/// The common unit of all prices; `None` where they differ and cannot be compared.
fn common_unit(orders: &[Order]) -> Option<String> {
    let mut units: BTreeSet<String> = BTreeSet::new();
    for order in orders.iter().filter(|order| order.price.is_some()) {
        units.insert(text::clean(order.price_unit.as_deref().unwrap_or_default(), 24));
    }
    if units.len() == 1 { units.into_iter().next() } else { None }
}

fn side(reader: &Reader, title: &'static str, mut orders: Vec<&Order>, highest_first: bool) -> Side {
    orders.sort_by(|one, other| {
        let price = |order: &Order| order.level().map_or(f64::NAN, |level| level.price);
        let order = price(one).total_cmp(&price(other));
        if highest_first { order.reverse() } else { order }
    });
    let left_out = orders.len().saturating_sub(ORDERS_MAX);
    Side {
        title,
        rows: orders.iter().take(ORDERS_MAX).map(|order| order.row(reader)).collect(),
        left_out: if left_out == 0 { String::new() } else { grouped(left_out as u64) },
    }
}

impl Order {
    /// Its level in the depth chart.
    fn level(&self) -> Option<Level> {
        let price: f64 = self.price.as_deref()?.parse().ok().filter(|price: &f64| price.is_finite())?;
        let amount = self.assets.first().and_then(|asset| asset.amount_raw.as_deref()).unwrap_or("1");
        Some(Level { price, amount: amount.parse().ok()? })
    }

    fn row(&self, reader: &Reader) -> Row {
        let asset = |asset: &Asset| {
            let amount = text::clean(asset.amount_raw.as_deref().unwrap_or("1"), 44);
            let amount = amount.parse().map_or(amount, |units| text::amount(units, 0));
            format!("{amount} × {}", text::clean(asset.token_id.as_deref().unwrap_or("—"), 80))
        };
        let assets: Vec<String> = self.assets.iter().take(4).map(asset).collect();
        let price = text::clean(self.price.as_deref().unwrap_or("—"), 44);
        let maker =
            self.maker_address.as_deref().filter(|maker| maker.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let maker = text::clean(maker.unwrap_or_default(), 100);
        let time = self.updated_at.map(|micros| micros.div_euclid(1_000_000));
        Row {
            price: price.parse().map_or(price, |units| text::amount(units, 0)),
            unit: text::clean(self.price_unit.as_deref().unwrap_or_default(), 24),
            assets: assets.join(", "),
            status: text::clean(self.status.as_deref().unwrap_or_default(), 24),
            short_maker: text::short(&maker),
            maker,
            age: time.map(|time| reader.age(time)).unwrap_or_default(),
            moment: time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
            id: text::clean(&self.id, 80),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(value: serde_json::Value) -> Order {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn prices_of_several_units_are_not_compared() {
        let of = |unit: &str| order(json!({ "id": "a", "price": "1", "priceUnit": unit }));
        assert_eq!(common_unit(&[of("DIESEL"), of("DIESEL")]).as_deref(), Some("DIESEL"));
        assert_eq!(common_unit(&[of("DIESEL"), of("sats")]), None);
        assert_eq!(common_unit(&[]), None);
    }

    #[test]
    fn levels_are_of_orders_with_a_price_alone() {
        let level =
            order(json!({ "id": "a", "price": "5.5", "assets": [{ "tokenId": "2:1", "amountRaw": "3" }] })).level();
        assert_eq!(level, Some(Level { price: 5.5, amount: 3.0 }));
        assert_eq!(order(json!({ "id": "a", "price": "5" })).level(), Some(Level { price: 5.0, amount: 1.0 }));
        for price in [json!(null), json!("x"), json!("NaN"), json!("9".repeat(400))] {
            assert_eq!(order(json!({ "id": "a", "price": price })).level(), None);
        }
    }
}
