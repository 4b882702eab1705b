//! How GET routes that are not declared know who has their answer already.

use hyper::HeaderMap;
use serde::Serialize;

use super::super::{RestResult, Validator};
use crate::alkanes;
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::RequestContext;

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
