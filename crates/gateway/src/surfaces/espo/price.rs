//! The price of bitcoin.

use super::ask::Ask;
use super::failure::{Failure, Refusal};
use super::{Outcome, to_raw};
use crate::errors::RpcError;
use crate::state::RequestContext;

/// `ammdata.get_btc_usd_price`: dollars for one bitcoin times 10^16, as text; with a height those of its block's time, never
/// later ones.
pub(super) async fn bitcoin(context: &RequestContext, ask: &Ask) -> Outcome {
    let Some(tip) = context.tip() else { return Err(RpcError::starting().into()) };
    let height = ask.height(tip.height)?;
    let none = |hint| Failure::from(Refusal::new("price_unavailable", hint));
    let prices = context.shared().prices.clone();
    let prices = prices.ok_or_else(|| none("this instance has no source of prices"))?;
    let price = if ask.member("height").is_none_or(|height| height == "latest") {
        prices.current().ok_or_else(|| none("the source of prices has not answered yet"))?.newest.price
    } else {
        let read = context.read(move |snapshot| snapshot.block(height)).await;
        let block = read.map_err(|error| RpcError::internal(&error))?.map_err(|error| RpcError::internal(&error))?;
        let time = block.map_or(0, |block| u64::from(block.time));
        prices.at(time).ok_or_else(|| none("no price is known for the time of this block"))?.price
    };
    Ok(to_raw(&price.to_scaled_string())?)
}
