use hyper::HeaderMap;
use serde_json::json;

use super::{RestResult, cached};
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// GET `/indexer/height`: a bare object (`decisions` 4.8).
pub(super) fn height<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::bare(&json!({ "height": tip.height }))) })
}

/// GET `/blockhash`: hash of the newest indexed block.
pub(super) fn block_hash<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::enveloped(&tip.hash.to_string())) })
}

/// GET `/indexer-position`: height and hash of the newest indexed block.
pub(super) fn position<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move {
        cached(context, headers, |tip| Reply::enveloped(&json!({ "height": tip.height, "hash": tip.hash.to_string() })))
    })
}
