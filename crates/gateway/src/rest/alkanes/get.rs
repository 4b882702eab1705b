//! GET routes about alkanes (docs/api.md). Their answers depend on confirmed blocks alone.

use hyper::HeaderMap;
use paraffin_primitives::{AlkaneId, parse_outpoint};
use serde::Serialize;
use serde_json::json;

use super::super::{RestResult, Validator};
use super::{holders, listing, owned};
use crate::alkanes;
use crate::errors::RestError;
use crate::markets::read_priced;
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::state::{BoxFuture, RequestContext};

/// The answer in the envelope, or 304 for who has it already.
pub(in crate::rest) async fn validated<T: Serialize>(
    context: &RequestContext,
    headers: &HeaderMap,
    answer: impl Future<Output = Result<T, RestError>>,
) -> RestResult {
    alkanes::of(context)?;
    let validator = Validator::new(context).ok_or_else(RestError::starting)?;
    match validator.unchanged(headers) {
        Some(unchanged) => Ok(unchanged),
        None => Ok(validator.mark(Reply::enveloped(&answer.await?)?)),
    }
}

/// The same for answers that contain amounts in dollars where this instance knows them: those change between blocks, so they
/// have no `ETag` then (docs/api.md, "Headers").
pub(in crate::rest) async fn priced<T: Serialize>(
    context: &RequestContext,
    headers: &HeaderMap,
    answer: impl Future<Output = Result<T, RestError>>,
) -> RestResult {
    if context.shared().prices.is_none() {
        return validated(context, headers, answer).await;
    }
    alkanes::of(context)?;
    Reply::enveloped(&answer.await?)
}

fn segment(context: &RequestContext) -> &str {
    context.segments().get(1).map_or("", String::as_str)
}

fn id(context: &RequestContext) -> Result<AlkaneId, RestError> {
    let wrong = |_| RestError::bad_request("the id of an alkane in a path is block:tx, for example 2:0");
    segment(context).parse().map_err(wrong)
}

/// GET `/alkanes`: the newest 50.
pub(crate) fn alkanes<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    let answer = async move { Ok(read_priced(context, listing::first_page).await?) };
    Box::pin(priced(context, headers, answer))
}

/// GET `/alkanes/{id}`.
pub(crate) fn alkane<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(priced(context, headers, async move { listing::details_of(context, id(context)?).await }))
}

/// GET `/alkanes/{id}/holders`: the first 100.
pub(crate) fn alkane_holders<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, async move { holders::first_page(context, id(context)?).await }))
}

/// GET `/alkanes/{id}/holders/count`.
pub(crate) fn alkane_holders_count<'a>(
    context: &'a RequestContext,
    headers: &'a HeaderMap,
) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, async move { holders::count_of(context, id(context)?).await }))
}

/// GET `/address/{address}/balances`.
pub(crate) fn address_balances<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    Box::pin(validated(context, headers, async move { owned::named_balances(context, segment(context)).await }))
}

/// GET `/address/{address}/alkanes`.
pub(crate) fn address_alkanes<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    let all = Part { offset: 0, limit: None };
    Box::pin(priced(context, headers, async move { owned::tokens_of(context, segment(context), all).await }))
}

/// GET `/outpoint/{txid:vout}/balances`.
pub(crate) fn outpoint_balances<'a>(context: &'a RequestContext, headers: &'a HeaderMap) -> BoxFuture<'a, RestResult> {
    let answer = async move {
        let wrong = |_| RestError::bad_request("an outpoint in a path is txid:vout");
        let outpoint = parse_outpoint(segment(context)).map_err(wrong)?;
        let items = owned::items_of(context, outpoint).await?;
        Ok(json!({ "outpoint": segment(context), "items": items }))
    };
    Box::pin(validated(context, headers, answer))
}
