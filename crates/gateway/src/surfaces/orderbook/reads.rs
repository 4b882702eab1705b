//! What any key may read.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use paraffin_orderbook::{EventsError, EventsPage, Market, Order, Orderbook, Snapshot, checksum_text};
use serde_json::json;

use crate::errors::RestError;
use crate::respond::Reply;
use crate::rest::RestBody;
use crate::state::RequestContext;

/// Events of a page when nothing is said.
const EVENTS_DEFAULT: usize = 1_000;
/// Most events of a page.
const EVENTS_MAX: usize = 10_000;
/// Bytes of a snapshot that are written at a time, about.
const PART_BYTES: usize = 64 << 10;

pub(super) fn markets(orderbook: &Orderbook) -> Result<Reply, RestError> {
    let markets = orderbook.read(paraffin_orderbook::Book::markets);
    Reply::bare(&json!({ "markets": markets }))
}

pub(super) async fn snapshot(
    context: &RequestContext,
    orderbook: &Arc<Orderbook>,
    query: Option<&str>,
) -> Result<Reply, RestError> {
    let query = RestBody::of_query(query)?;
    let market = query.text("market")?.to_owned();
    Market::parse(&market).map_err(|error| RestError::bad_request(error.to_string()))?;
    let orderbook = Arc::clone(orderbook);
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
    let written = written.await.map_err(|_| RestError::panicked())?;
    Ok(Reply::json(StatusCode::OK, written.ok_or_else(RestError::response_too_large)?))
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
    // The brace that ends it.
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

pub(super) fn order(orderbook: &Orderbook, source: &str, id: &str) -> Result<Reply, RestError> {
    let found = orderbook.read(|book| book.order(source, id).map(|order: &Arc<Order>| order.text().clone()));
    let text = found.ok_or_else(|| RestError::not_found("there is no such order"))?;
    Ok(Reply::json(StatusCode::OK, text))
}

pub(super) async fn events(orderbook: &Arc<Orderbook>, query: Option<&str>) -> Result<Reply, RestError> {
    let query = RestBody::of_query(query)?;
    let since = query.natural("since", usize::MAX)?.unwrap_or(0) as u64;
    let limit = query.positive("limit", EVENTS_MAX)?.unwrap_or(EVENTS_DEFAULT);
    match orderbook.events(since, limit).await {
        Ok(page) => Ok(Reply::json(StatusCode::OK, written(&page))),
        Err(error @ EventsError::Gone { .. }) => {
            Err(RestError::new(StatusCode::GONE, "EVENTS_GONE", error.to_string()))
        }
        Err(error @ EventsError::Unavailable) => {
            Err(RestError::new(StatusCode::SERVICE_UNAVAILABLE, "EVENTS_UNAVAILABLE", error.to_string()))
        }
    }
}

/// A page as JSON; the events stand in it as they came.
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
