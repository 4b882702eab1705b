//! GET routes about markets (docs/api.md, "Markets").

use hyper::HeaderMap;
use paraffin_primitives::AlkaneId;

use super::super::RestResult;
use super::super::alkanes::{priced, validated};
use super::{histories, pools};
use crate::errors::RestError;
use crate::state::{BoxFuture, RequestContext};

fn id(context: &RequestContext) -> Result<AlkaneId, RestError> {
    let wrong = |_| RestError::bad_request("the id of a pool in a path is block:tx, for example 2:5");
    context.segments().get(1).map_or("", String::as_str).parse().map_err(wrong)
}

/// GET `/pools`: those of the network's factory.
pub(in crate::rest) fn all<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, pools::of_own_factory(context)))
}

/// GET `/pools/{id}`, with details.
pub(in crate::rest) fn one<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(priced(context, headers, async move { pools::details_of(context, id(context)?, None).await }))
}

/// GET `/pools/{id}/history`: the newest 50 events.
pub(in crate::rest) fn history<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, async move { histories::of_pool(context, id(context)?).await }))
}

/// GET `/pools/{id}/swaps`: the newest 50 trades.
pub(in crate::rest) fn swaps<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, async move { histories::swaps_of_pool(context, id(context)?).await }))
}
