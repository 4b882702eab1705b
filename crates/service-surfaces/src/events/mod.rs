//! `/v4/<KEY>/events`: what happens on the chain, as a WebSocket or as server-sent events (docs/events.md).

mod query;
mod sent;
mod socket;

use std::sync::Arc;

use http::{Method, StatusCode};
use serde_json::json;

use self::query::Question;
use paraffin_gateway::errors::{ApiError, ErrorKind, kind};
use paraffin_gateway::events::{FeedError, Follower};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{Forwarding, HttpRequest, HttpSurface, KeyedSurface};
use paraffin_gateway::websocket;

/// Bodies of requests that are refused are read up to this, bytes, so that the answer arrives.
const REFUSED_BODY_BYTES_MAX: usize = 64 << 10;

/// `/v4/<KEY>/events`.
pub static SURFACE: KeyedSurface = KeyedSurface { forwarded: Forwarding::WebSockets, ..KeyedSurface::http("events") };

/// The surface.
pub(crate) struct EventsHttp;

impl HttpSurface for EventsHttp {
    fn body_limit(&self, _verb: &Method, _segments: &[String]) -> Option<usize> {
        Some(REFUSED_BODY_BYTES_MAX)
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            if !context.segments().is_empty() {
                return Err(ApiError::not_found("There is nothing at this path"));
            }
            if request.verb != Method::GET {
                return Err(ApiError::new(kind::METHOD_NOT_ALLOWED, "events take GET"));
            }
            let question = Question::of(request.query.as_deref(), &request.headers)?;
            let feed = Arc::clone(&context.shared().events);
            if request.upgrade.is_some() {
                let own = context.again();
                return websocket::accept(context, &request.headers, request.upgrade, move |socket| {
                    Box::pin(socket::serve(feed, own, question, socket))
                });
            }
            let Question { filter, from } = question.unwrap_or_default();
            let follower = Follower::begin(feed, context, filter, from).await.map_err(|error| refusal(&error))?;
            sent::answer(context, request.credential, follower)
        })
    }
}

/// An error as the answer of a request.
fn refusal(error: &FeedError) -> ApiError {
    let kind = match error {
        FeedError::UnknownCursor => ErrorKind::new("UNKNOWN_CURSOR", StatusCode::GONE),
        FeedError::HistoryNotKept(_) => ErrorKind::new("HISTORY_NOT_KEPT", StatusCode::GONE),
        FeedError::NotIndexed(_) => ErrorKind::new("NOT_INDEXED", StatusCode::SERVICE_UNAVAILABLE),
        FeedError::NodeAway => kind::UPSTREAM_UNAVAILABLE,
        FeedError::Overloaded => kind::OVERLOADED,
        FeedError::Starting => return ApiError::starting(),
        FeedError::Internal => return ApiError::panicked(),
        _ => return ApiError::invalid(error.to_string()),
    };
    ApiError::new(kind, error.to_string())
}

/// An error as a message.
fn error_text(error: &FeedError) -> String {
    error_message(error.code(), &error.to_string())
}

fn error_message(code: &str, message: &str) -> String {
    json!({ "type": "error", "code": code, "message": message }).to_string()
}

/// The first message of a stream, with the normalised filter.
fn subscribed(follower: &Follower) -> String {
    json!({ "type": "subscribed", "filter": follower.filter().canonical() }).to_string()
}
