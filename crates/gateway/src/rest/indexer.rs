use hyper::HeaderMap;
use paraffin_primitives::BlockId;
use serde_json::{Value, json};

use super::{RestBody, RestResult, cached};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// GET `/indexer/height`: a bare object (docs/api.md).
pub(super) fn height<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::bare(&of_height(tip))) })
}

/// GET `/blockheight`: height of the newest indexed block.
pub(super) fn block_height<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::enveloped(&of_height(tip))) })
}

/// GET `/blockhash`: hash of the newest indexed block.
pub(super) fn block_hash<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::enveloped(&of_hash(tip))) })
}

/// GET `/indexer-position`: height and hash of the newest indexed block.
pub(super) fn position<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(async move { cached(context, headers, |tip| Reply::enveloped(&of_position(tip))) })
}

/// POST `/get-block-height` and `/blockheight`.
pub(super) fn post_block_height(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Reply::enveloped(&of_height(tip(context)?)) })
}

/// POST `/get-block-hash`.
pub(super) fn post_block_hash(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Reply::enveloped(&of_hash(tip(context)?)) })
}

/// POST `/get-indexer-position`.
pub(super) fn post_position(context: &RequestContext, _body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Reply::enveloped(&of_position(tip(context)?)) })
}

fn tip(context: &RequestContext) -> Result<BlockId, RestError> {
    context.tip().ok_or_else(RestError::starting)
}

fn of_height(tip: BlockId) -> Value {
    json!({ "height": tip.height })
}

fn of_hash(tip: BlockId) -> Value {
    json!({ "hash": tip.hash.to_string() })
}

fn of_position(tip: BlockId) -> Value {
    json!({ "height": tip.height, "hash": tip.hash.to_string() })
}
