//! The pages of markets, each with its figure.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::super::alkane::worth;
use super::super::{Part, Reader, View, text};
use super::bitcoin::Feed;
use super::orderbook::Markets;
use super::rates::Quotes;
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pools {
    total: u64,
    total_tvl: Option<f64>,
    total_tvl_in_sats: Option<f64>,
}

struct Card {
    title: &'static str,
    path: &'static str,
    figure: Part<String>,
    about: &'static str,
}

#[derive(Template)]
#[template(path = "explorer/markets/index.html")]
struct Index {
    view: View,
    cards: Vec<Card>,
}

/// All pages of markets.
pub(super) async fn page(reader: Reader) -> Result<Response, Failure> {
    let feed: Part<Feed> = reader.part(Call::rest("get-bitcoin-price", &json!({}))).await?;
    let pools: Part<Pools> = reader.part(Call::rest("get-all-pools-details", &json!({ "limit": 1 }))).await?;
    let markets = Markets::read(&reader).await?;
    let params = json!({ "quotes": ["EUR"] });
    let rates: Part<Quotes> = reader.part(Call::keyed_rpc("forex", "forex_rates", params)).await?;
    let tvl = pools.as_ref().map(|pools| format!("{} TVL", worth(pools.total_tvl, pools.total_tvl_in_sats)));
    let cards = vec![
        Card {
            title: "BTC/USD pool",
            path: "/explorer/bitcoin-price",
            figure: feed.map(|feed| feed.price()),
            about: "The price of the feed, and the three prices of the pool.",
        },
        Card {
            title: "Pools",
            path: "/explorer/pools",
            figure: tvl.map_err(Clone::clone),
            about: "Reserves, prices, candles and history.",
        },
        Card {
            title: "Routes",
            path: "/explorer/routes",
            figure: pools.map(|pools| format!("{} pools", grouped(pools.total))),
            about: "Ways from one token to another, and what they pay.",
        },
        Card {
            title: "Order book",
            path: "/explorer/orderbook",
            figure: markets.map(|markets| {
                let open: u64 = markets.markets.iter().fold(0, |sum, market| sum.saturating_add(market.open_orders));
                format!("{} open orders", grouped(open))
            }),
            about: "Bids and asks, with their depth.",
        },
        Card {
            title: "Exchange rates",
            path: "/explorer/rates",
            figure: rates.and_then(|rates| {
                let rate = rates.rates.get("EUR").map(|rate| format!("{} EUR/USD", text::clean(rate, 20)));
                rate.ok_or_else(|| "There is no rate of the euro at the moment.".to_owned())
            }),
            about: "Currencies, with ages and sources.",
        },
    ];
    Ok(Page(Index { cards, view: reader.view("markets") }).into_response())
}
