//! `/v4/<KEY>/orderbook/…`: the active book, single orders, change events and the stream (docs/orderbook.md).
//! The surface is beta: its shapes may change.

mod reads;
mod shapes;
mod stream;

use std::future::ready;
use std::sync::Arc;

use http::{Method, StatusCode};
use paraffin_orderbook::{EventError, Figures, IngestError, Orderbook, StreamState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::shapes::{ChangeEvents, EXAMPLE};
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::metrics::Meter;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Base, Declared, Group, Route, Statuses, Verb, Wrapping, body_limit, serve};
use paraffin_gateway::state::{BoxFuture, RequestContext, unix_millis};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface};
use paraffin_gateway::websocket;

const TAG: &str = "Orderbook (beta)";

/// `/v4/<KEY>/orderbook`.
pub static SURFACE: KeyedSurface = KeyedSurface {
    routes: &GROUPS,
    takes_large_bodies: true,
    for_admins: Some("ingest"),
    ..KeyedSurface::http("orderbook")
};

/// All routes but the stream.
static GROUPS: [&Group; 2] = [
    &Group {
        tag: TAG,
        base: Base::Keyed,
        admit: |_| Ok(()),
        routes: &[
            Declared::of::<reads::Markets>(),
            Declared::of::<reads::MarketSnapshot>(),
            Declared::of::<reads::OneOrder>(),
            Declared::of::<reads::Events>(),
        ],
    },
    &Group {
        tag: TAG,
        base: Base::Keyed,
        admit: |context| context.require_admin().map(drop),
        routes: &[Declared::of::<Ingest>()],
    },
];

/// The surface over one book.
#[derive(Clone)]
pub(crate) struct OrderbookHttp(pub(crate) Arc<Orderbook>);

impl HttpSurface for OrderbookHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        Some(body_limit(&GROUPS, segments, verb))
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        if request.verb == Method::GET && context.segments() == ["ws"] {
            let orderbook = Arc::clone(&self.0);
            let accepted = websocket::accept(context, &request.headers, request.upgrade, move |socket| {
                Box::pin(stream::serve(orderbook, socket))
            });
            return Box::pin(ready(accepted));
        }
        Box::pin(serve(&GROUPS, context, request))
    }

    fn durable_stream(&self) -> Option<&'static str> {
        Some(self.0.stream_state().as_str())
    }

    fn measure(&self, meter: &Meter<'_>) {
        measure(&self.0.figures(), meter);
    }
}

/// The orderbook of the instance.
fn of(context: &RequestContext) -> Result<&Arc<Orderbook>, ApiError> {
    let surface: Option<&OrderbookHttp> = context.shared().surface(&SURFACE);
    surface.map(|surface| &surface.0).ok_or_else(|| ApiError::inconsistent("a route of a surface that is not there"))
}

#[allow(clippy::cast_precision_loss)] // orders in memory are far fewer than 2^52
fn measure(figures: &Figures, meter: &Meter<'_>) {
    meter.count("paraffin_orderbook_events_total", "Change events that were acknowledged", &[], figures.events);
    let refused = [
        ("invalid", figures.refused_invalid),
        ("unavailable", figures.refused_unavailable),
        ("full", figures.refused_full),
    ];
    for (reason, total) in refused {
        let text = "Requests with change events that were refused, by the reason";
        meter.count("paraffin_orderbook_requests_refused_total", text, &[("reason", reason)], total);
    }
    let text = "Messages of the shared stream that are no change events";
    meter.count("paraffin_orderbook_messages_skipped_total", text, &[], figures.skipped);
    let text = "Number of the newest change of the book";
    meter.count("paraffin_orderbook_changes_total", text, &[], figures.newest_change);
    let gauge = |name, text, value| meter.gauge(name, text, &[], value);
    let is_ready = if figures.stream == StreamState::Ready { 1.0 } else { 0.0 };
    gauge("paraffin_orderbook_stream_ready", "1 when the durable stream takes change events", is_ready);
    gauge("paraffin_orderbook_active_orders", "Orders that are active", figures.active_orders as f64);
    gauge("paraffin_orderbook_subscribers", "Open streams of changes", figures.subscribers as f64);
}

/// Takes change events in; needs an admin key.
#[derive(Deserialize, JsonSchema)]
struct Ingest {
    /// The events.
    #[schemars(with = "ChangeEvents")]
    events: Option<String>,
}

/// Result of accepting change events.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Accepted {
    status: Queued,
    /// Number of accepted events.
    events: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Queued {
    Queued,
}

impl Route for Ingest {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "orderbook/ingest")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const STATUSES: Statuses = &[(StatusCode::ACCEPTED, "The answer")];
    const WHOLE_BODY: Option<&'static str> = Some("events");
    /// 10,000 events with their schemas; the gateway's own limit may be lower.
    const BODY_BYTES_MAX: Option<usize> = Some(32 << 20);
    type Answer = Accepted;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Accepted, ApiError> {
        let events = self.events.ok_or_else(|| ApiError::invalid("the body is no UTF-8"))?;
        let received_at = u64::try_from(unix_millis()).unwrap_or_default().saturating_mul(1_000);
        match of(context)?.ingest(events.into(), received_at).await {
            Ok(events) => Ok(Accepted { status: Queued::Queued, events }),
            Err(IngestError::Event(error @ (EventError::Body(_) | EventError::Event { .. }))) => {
                Err(ApiError::invalid(error.to_string()))
            }
            Err(error @ (IngestError::Unavailable | IngestError::Full)) => Err(ApiError::new(
                ErrorKind::new("INGEST_UNAVAILABLE", StatusCode::SERVICE_UNAVAILABLE),
                error.to_string(),
            )),
        }
    }
}
