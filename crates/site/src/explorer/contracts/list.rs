//! Lists: of contracts, and of the alkanes that they issue.

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{Links, PageOf, change, encoded, worth};
use super::super::{Reader, View, text};
use super::Token;
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

const ROWS: u64 = 50;

#[derive(Deserialize)]
pub(super) struct PageQuery {
    page: Option<String>,
    sort: Option<String>,
    q: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    total: u64,
    tokens: Vec<Token>,
}

struct Row {
    id: String,
    name: String,
    symbol: String,
    height: String,
    holders: String,
    supply: String,
    price: String,
    change: Option<String>,
    volume: String,
    marketcap: String,
}

impl From<&Token> for Row {
    fn from(token: &Token) -> Self {
        let coin = token.coin();
        let symbol = token.symbol.as_deref().map(|symbol| text::clean(symbol, 16)).unwrap_or_default();
        Self {
            name: if coin.name == coin.id { String::new() } else { coin.name.clone() },
            symbol: if symbol == coin.name { String::new() } else { symbol },
            height: token.created_at_height.map(|height| height.to_string()).unwrap_or_default(),
            holders: token.holders.map_or_else(|| "—".to_owned(), grouped),
            supply: token.supply(&coin),
            price: token.price(),
            change: change(token.price_change24h),
            volume: worth(token.volume1d_in_usd, token.volume1d_in_sats),
            marketcap: worth(token.marketcap, token.marketcap_in_sats),
            id: coin.id,
        }
    }
}

/// An order: its value in the URL, its title, and its name in the API.
struct Order {
    word: &'static str,
    title: &'static str,
    sort_by: &'static str,
    direction: &'static str,
}

const NEWEST: Order = Order { word: "newest", title: "Newest", sort_by: "height", direction: "desc" };
const OLDEST: Order = Order { word: "oldest", title: "Oldest", sort_by: "height", direction: "asc" };
const NAME: Order = Order { word: "name", title: "Name", sort_by: "name", direction: "asc" };
const HOLDERS: Order = Order { word: "holders", title: "Holders", sort_by: "holders", direction: "desc" };
const VOLUME: Order = Order { word: "volume", title: "Volume", sort_by: "volume", direction: "desc" };

#[derive(Template)]
#[template(path = "explorer/contracts/list.html")]
struct List {
    view: View,
    is_tokens: bool,
    path: &'static str,
    orders: &'static [Order],
    sort: &'static str,
    q: String,
    encoded_q: String,
    rows: Vec<Row>,
    links: Links,
}

/// All contracts.
pub(super) async fn contracts(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    list(&reader, query.0, false, &[NEWEST, OLDEST, NAME, HOLDERS]).await
}

/// All alkanes, the most traded first.
pub(super) async fn tokens(reader: Reader, query: Query<PageQuery>) -> Result<Response, Failure> {
    list(&reader, query.0, true, &[VOLUME, HOLDERS, NAME, NEWEST]).await
}

async fn list(
    reader: &Reader,
    query: PageQuery,
    is_tokens: bool,
    orders: &'static [Order],
) -> Result<Response, Failure> {
    let page = PageOf::new(query.page.as_deref(), ROWS);
    let order = orders.iter().find(|order| query.sort.as_deref() == Some(order.word)).or_else(|| orders.first());
    let order = order.ok_or(Failure::Missing)?;
    let q: String = query.q.unwrap_or_default().trim().chars().take(100).collect();
    let mut body = json!({ "limit": ROWS, "offset": page.offset(), "sortBy": order.sort_by, "order": order.direction });
    if !q.is_empty()
        && let Some(members) = body.as_object_mut()
    {
        members.insert("searchQuery".to_owned(), json!(q));
    }
    let tokens: Tokens = reader.ask(Call::rest("get-alkanes", &body)).await?;
    let (section, path) = if is_tokens { ("tokens", "/explorer/tokens") } else { ("contracts", "/explorer/contracts") };
    let encoded_q = encoded(&q);
    let address = format!("{path}?sort={}&q={encoded_q}&page=", order.word);
    Ok(Page(List {
        rows: tokens.tokens.iter().map(Row::from).collect(),
        links: page.links(&address, tokens.total, ""),
        is_tokens,
        path,
        orders,
        sort: order.word,
        q,
        encoded_q,
        view: reader.view(section),
    })
    .into_response())
}
