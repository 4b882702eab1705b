//! What a script has of a token, now and at the beginning of a block.

use serde_json::json;

use super::render::{as_of, with_balance};
use super::{Request, absent, enveloped, failed};
use crate::rest::RestResult;
use crate::state::BoxFuture;

/// GET `/balance` and `/get_current_balance_of_wallet`.
pub(super) fn current(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, script) = (request.ticker()?, request.wallet()?);
        let answer = request.read(move |index, newest| {
            let balance = index.balance_at(&script, &ticker, newest).map_err(|error| failed(&error))?;
            let balance = balance.ok_or_else(|| absent("no balance found"))?;
            Ok(as_of(with_balance(json!({}), balance), newest))
        });
        enveloped(&answer.await?)
    })
}

/// GET `/balance_on_block`: before anything of the block has happened.
pub(super) fn on_block(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, height) = (request.ticker()?, request.block_height()?);
        let script =
            request.pkscript()?.ok_or_else(|| crate::errors::RestError::bad_request("pkscript is required"))?;
        let answer = request.read(move |index, newest| {
            if height > newest.saturating_add(1) {
                return Err(absent("block not indexed yet"));
            }
            let balance = match height.checked_sub(1) {
                None => None,
                Some(before) => index.balance_at(&script, &ticker, before).map_err(|error| failed(&error))?,
            };
            let balance = balance.ok_or_else(|| absent("no balance found"))?;
            Ok(with_balance(json!({}), balance))
        });
        enveloped(&answer.await?)
    })
}
