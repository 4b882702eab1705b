//! What the index is and how far it is, as plain text.

use hyper::StatusCode;
use paraffin_ordinals_index::brc20::TABLES_VERSION;

use super::{Request, newest};
use crate::respond::Reply;
use crate::rest::RestResult;
use crate::state::BoxFuture;

/// The form of event strings: tickers as written stand in them since 2 (OPI's `EVENT_HASH_VERSION`).
const EVENT_HASH_VERSION: u32 = 2;

/// GET `/block_height` and `/extras_block_height`: what OPI keeps in tables of their own is never behind here.
pub(super) fn block_height(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Ok(Reply::text(StatusCode::OK, newest(request.context.snapshot())?.to_string())) })
}

/// GET `/db_version`: of our own rows.
pub(super) fn db_version(_request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Ok(Reply::text(StatusCode::OK, TABLES_VERSION.to_string())) })
}

/// GET `/event_hash_version`.
pub(super) fn event_hash_version(_request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Ok(Reply::text(StatusCode::OK, EVENT_HASH_VERSION.to_string())) })
}

/// GET `/ip`: the address that this request is counted under.
pub(super) fn ip(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Ok(Reply::text(StatusCode::OK, request.context.client().to_string())) })
}

/// Who made the hashes.
pub(super) fn version() -> String {
    format!("paraffin v{}", env!("CARGO_PKG_VERSION"))
}
