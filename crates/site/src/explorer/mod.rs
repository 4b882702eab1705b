//! The explorer: pages about the chain, each rendered from answers of the API ([`crate::Api`]).
//!
//! Invariant: data for which the API requires a key is shown only to signed-in users ([`Reader::ask`]); every name, symbol and
//! text of the chain is cleaned ([`text::clean`]) and escaped.

mod alkane;
mod chain;
mod chart;
mod contracts;
mod feed;
mod history;
mod markets;
mod ordinals;
mod overview;
mod reader;
mod text;

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use hyper::header::{HeaderValue, LOCATION};

use crate::SiteParts;
use crate::failure::{Failure, SIGN_IN, return_path};
use crate::visitor::recognise;

pub(crate) use reader::{AskError, Part, Reader, View};

/// The router of all pages.
pub(crate) fn router(parts: &Arc<SiteParts>) -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer", get(overview::page))
        .route("/explorer/feed", get(feed::tips))
        .merge(ordinals::routes())
        .merge(chain::routes())
        .merge(contracts::routes())
        .merge(markets::routes())
        .route("/explorer/{*other}", get(async || Failure::Missing))
        .layer(Extension(Arc::new(feed::Feeds::default())))
        .layer(from_fn(lead_back))
        .layer(from_fn_with_state(Arc::clone(parts), recognise))
}

/// Returns a visitor to the page after signing in.
async fn lead_back(request: Request, next: Next) -> Response {
    let path = request.uri().path_and_query().map(|path| path.as_str().to_owned());
    let mut response = next.run(request).await;
    if response.headers().get(LOCATION).is_some_and(|location| location == SIGN_IN)
        && let Some(path) = path.as_deref().and_then(return_path)
        && let Ok(location) = HeaderValue::from_str(&format!("{SIGN_IN}?next={}", chain::percent(path)))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}
