//! The explorer: pages of what the instance knows of its chain, each made from answers of the API ([`crate::Api`]).
//!
//! Invariant: what the API asks a key for is shown to people who are signed in alone ([`Reader::ask`]); every name, symbol and
//! text that the chain has is cleaned ([`text::clean`]) and escaped.

mod alkane;
mod chart;
mod contracts;
mod feed;
mod markets;
mod overview;
mod reader;
mod text;

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Extension, Router};

use crate::SiteParts;
use crate::failure::Failure;
use crate::visitor::recognise;

pub(crate) use reader::{AskError, Part, Reader, View};

/// All pages; the one place for them.
pub(crate) fn router(parts: &Arc<SiteParts>) -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer", get(overview::page))
        .route("/explorer/feed", get(feed::tips))
        .merge(contracts::routes())
        .merge(markets::routes())
        .route("/explorer/{*other}", get(async || Failure::Missing))
        .layer(Extension(Arc::new(feed::Feeds::default())))
        .layer(from_fn_with_state(Arc::clone(parts), recognise))
}
