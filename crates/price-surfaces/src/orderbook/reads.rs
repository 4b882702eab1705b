//! Reads, open to any key.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use paraffin_orderbook::{EventsError, EventsPage, MarketRecord, Snapshot, checksum_text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::of;
use super::shapes::{EventPage, Market, MarketOrders, Order, OrderId, OrderMarketRecord, OrderSource};
use paraffin_gateway::api_types::{Count, Offset};
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Bytes of a snapshot that are written at a time, about.
const PART_BYTES: usize = 64 << 10;

/// The main markets that have active orders.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Markets {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct MarketList {
    #[schemars(with = "Vec<OrderMarketRecord>")]
    markets: Vec<MarketRecord>,
}

impl Route for Markets {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "orderbook/markets")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = MarketList;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<MarketList, ApiError> {
        Ok(MarketList { markets: of(context)?.read(paraffin_orderbook::MarketBook::markets) })
    }
}

/// The active orders of a market.
#[derive(Deserialize, JsonSchema)]
pub(super) struct MarketSnapshot {
    /// The market.
    market: Market,
}

impl Route for MarketSnapshot {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "orderbook/snapshot")];
    const EXAMPLE: &'static str = r#"{"market":"orbitals:mainnet:book:*"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<MarketOrders>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<MarketOrders>, ApiError> {
        let Market(market) = self.market;
        paraffin_orderbook::Market::parse(&market).map_err(|error| ApiError::invalid(error.to_string()))?;
        let orderbook = Arc::clone(of(context)?);
        let bytes_max = context.limits().response_bytes_max;
        // A large book is copied, but no more of it than an answer may hold; a stream gets all of it, part by part.
        let written = context.work(move || {
            let snapshot = orderbook.read(|book| book.snapshot(&market));
            let mut whole = Vec::new();
            for part in parts(&json!({}), &market, snapshot) {
                if whole.len() + part.len() > bytes_max {
                    return None;
                }
                whole.extend_from_slice(&part);
            }
            Some(whole)
        });
        let written = written.await.map_err(|_| ApiError::panicked())?;
        Ok(Reply::json(StatusCode::OK, written.ok_or_else(ApiError::response_too_large)?).into())
    }
}

/// A snapshot as JSON in parts: the members of `first`, then its own, the orders last.
pub(super) fn parts(
    first: &serde_json::Value,
    market: &str,
    snapshot: Snapshot,
) -> impl Iterator<Item = Bytes> + use<> {
    let mut head = first.clone();
    head["seq"] = snapshot.seq.into();
    head["market"] = market.into();
    head["checksum"] = checksum_text(snapshot.checksum).into();
    let mut head = head.to_string();
    // The closing brace.
    head.pop();
    head.push_str(",\"orders\":[");
    let mut orders = snapshot.orders.into_iter().peekable();
    let mut part = head.into_bytes();
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        while part.len() < PART_BYTES {
            let Some(order) = orders.next() else {
                is_over = true;
                part.extend_from_slice(b"]}");
                break;
            };
            part.extend_from_slice(order.text());
            if orders.peek().is_some() {
                part.push(b',');
            }
        }
        Some(std::mem::take(&mut part).into())
    })
}

/// One order, ended or not.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OneOrder {
    /// Source of the order.
    source: OrderSource,
    /// Its id at the source.
    id: OrderId,
}

impl Route for OneOrder {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "orderbook/order/{source}/{id}")];
    const EXAMPLE: &'static str = r#"{"source":"orbitals","id":"example"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<Order>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Order>, ApiError> {
        let found = of(context)?.read(|book| book.order(&self.source.0, &self.id.0).map(|order| order.text().clone()));
        let text = found.ok_or_else(|| ApiError::not_found("there is no such order"))?;
        Ok(Reply::json(StatusCode::OK, text).into())
    }
}

/// The durable stream of change events.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Events {
    /// Number of the last event that the caller has; 0 when absent.
    since: Option<Offset>,
    /// Events of a page: 1,000 when absent; more than 10,000 is taken as 10,000.
    limit: Option<Count>,
}

impl Route for Events {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "orderbook/events")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const REFUSALS: &'static [StatusCode] = &[StatusCode::GONE];
    type Answer = Made<EventPage>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<EventPage>, ApiError> {
        let (since, limit) =
            (self.since.map_or(0, |since| since.0), self.limit.map_or(1_000, |limit| limit.at_most(10_000)));
        match of(context)?.events(since, limit).await {
            Ok(page) => Ok(Reply::json(StatusCode::OK, written(&page)).into()),
            Err(error @ EventsError::Gone { .. }) => {
                Err(ApiError::new(ErrorKind::new("EVENTS_GONE", StatusCode::GONE), error.to_string()))
            }
            Err(error @ EventsError::Unavailable) => Err(ApiError::new(
                ErrorKind::new("EVENTS_UNAVAILABLE", StatusCode::SERVICE_UNAVAILABLE),
                error.to_string(),
            )),
        }
    }
}

/// A page as JSON; events are included verbatim.
fn written(page: &EventsPage) -> Vec<u8> {
    let mut text = b"{\"events\":[".to_vec();
    for (place, event) in page.events.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let head = format!("{comma}{{\"seq\":{},\"received_at\":{},\"event\":", event.seq, event.received_at);
        text.extend_from_slice(head.as_bytes());
        text.extend_from_slice(event.text.as_bytes());
        text.push(b'}');
    }
    text.extend_from_slice(format!("],\"next\":{},\"has_more\":{}}}", page.next, page.has_more).as_bytes());
    text
}
