//! The explorer: pages of what the instance knows of its chain, each made from answers of the API ([`crate::Api`]).
//!
//! Invariant: what the API asks a key for is shown to people who are signed in alone ([`Reader::ask`]); every name, symbol and
//! text that the chain has is cleaned ([`text::clean`]) and escaped.

mod alkane;
mod chain;
mod chart;
mod contracts;
mod feed;
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

/// All pages; the one place for them.
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

/// Whom a page asks to sign in comes back to it.
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
