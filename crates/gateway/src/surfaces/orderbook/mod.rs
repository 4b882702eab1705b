//! `/v4/<KEY>/orderbook/…`: the active book, single orders, change events and the stream (docs/orderbook.md).
//! The surface is beta: its shapes may change.

mod reads;
mod stream;

use std::sync::Arc;

use hyper::{Method, StatusCode};
use paraffin_orderbook::{EventError, Figures, IngestError, Orderbook, StreamState};
use serde_json::json;

use super::{HttpRequest, HttpSurface};
use crate::errors::{Refusal, RestError};
use crate::metrics::Meter;
use crate::respond::Reply;
use crate::routes::ErrorForm;
use crate::state::{BoxFuture, RequestContext, unix_millis};
use crate::websocket;

/// Largest body of change events: 10,000 of them with their schemas; the gateway's own limit may be lower.
const INGEST_BYTES_MAX: usize = 32 << 20;
/// Bodies of all other requests are read up to this, bytes, so that the answer arrives.
const OTHER_BODY_BYTES_MAX: usize = 64 << 10;

/// The surface over one book.
#[derive(Clone)]
pub(super) struct OrderbookHttp(pub(super) Arc<Orderbook>);

impl HttpSurface for OrderbookHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        let is_ingest = *verb == Method::POST && matches!(segments, [only] if only == "ingest");
        Some(if is_ingest { INGEST_BYTES_MAX } else { OTHER_BODY_BYTES_MAX })
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, RestError>> {
        Box::pin(async move {
            let segments: Vec<&str> = context.segments().iter().map(String::as_str).collect();
            let is_get = request.verb == Method::GET;
            let query = request.query.as_deref();
            match segments[..] {
                ["ingest"] if request.verb == Method::POST => ingest(context, &self.0, request).await,
                ["markets"] if is_get => reads::markets(&self.0),
                ["snapshot"] if is_get => reads::snapshot(context, &self.0, query).await,
                ["order", source, id] if is_get => reads::order(&self.0, source, id),
                ["events"] if is_get => reads::events(&self.0, query).await,
                ["ws"] if is_get => {
                    let orderbook = Arc::clone(&self.0);
                    websocket::accept(context, &request.headers, request.upgrade, move |socket| {
                        Box::pin(stream::serve(orderbook, socket))
                    })
                }
                ["ingest"] => Ok(wrong_verb("POST, OPTIONS")),
                ["markets" | "snapshot" | "events" | "ws"] | ["order", _, _] => Ok(wrong_verb("GET, HEAD, OPTIONS")),
                _ => Err(RestError::not_found(
                    "the orderbook has markets, snapshot?market=, order/{source}/{id}, events, ingest and ws",
                )),
            }
        })
    }

    fn measure(&self, meter: &Meter<'_>) {
        measure(&self.0.figures(), meter);
    }

    fn durable_stream(&self) -> Option<StreamState> {
        Some(self.0.stream_state())
    }
}

/// 405 with the verbs that the path takes.
fn wrong_verb(verbs: &'static str) -> Reply {
    Reply::refusal(Refusal::WrongVerb(verbs), ErrorForm::Rest)
}

#[allow(clippy::cast_precision_loss)] // orders in memory are far fewer than 2^52
fn measure(told: &Figures, meter: &Meter<'_>) {
    meter.count("paraffin_orderbook_events_total", "Change events that were acknowledged", &[], told.events);
    let refused =
        [("invalid", told.refused_invalid), ("unavailable", told.refused_unavailable), ("full", told.refused_full)];
    for (reason, total) in refused {
        let text = "Requests with change events that were refused, by the reason";
        meter.count("paraffin_orderbook_requests_refused_total", text, &[("reason", reason)], total);
    }
    let text = "Messages of the shared stream that are no change events";
    meter.count("paraffin_orderbook_messages_skipped_total", text, &[], told.skipped);
    let text = "Number of the newest change of the book";
    meter.count("paraffin_orderbook_changes_total", text, &[], told.newest_change);
    let gauge = |name, text, value| meter.gauge(name, text, &[], value);
    let is_ready = if told.stream == StreamState::Ready { 1.0 } else { 0.0 };
    gauge("paraffin_orderbook_stream_ready", "1 when the durable stream takes change events", is_ready);
    gauge("paraffin_orderbook_active_orders", "Orders that are active", told.active_orders as f64);
    gauge("paraffin_orderbook_subscribers", "Open streams of changes", told.subscribers as f64);
}

async fn ingest(context: &RequestContext, orderbook: &Orderbook, request: HttpRequest) -> Result<Reply, RestError> {
    context.require_admin()?;
    let received_at = u64::try_from(unix_millis()).unwrap_or_default().saturating_mul(1_000);
    let unavailable =
        |error: &IngestError| RestError::new(StatusCode::SERVICE_UNAVAILABLE, "INGEST_UNAVAILABLE", error.to_string());
    match orderbook.ingest(request.body, received_at).await {
        Ok(events) => {
            Ok(Reply::json(StatusCode::ACCEPTED, json!({ "status": "queued", "events": events }).to_string()))
        }
        Err(IngestError::Event(error @ (EventError::Body(_) | EventError::Event { .. }))) => {
            Err(RestError::bad_request(error.to_string()))
        }
        Err(error @ (IngestError::Unavailable | IngestError::Full)) => Err(unavailable(&error)),
    }
}
