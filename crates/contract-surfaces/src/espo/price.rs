//! The price of bitcoin.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ask::AtHeight;
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::Form;
use paraffin_gateway::state::RequestContext;

/// Dollars for one bitcoin times 10^16, as text.
#[derive(Deserialize, JsonSchema)]
pub(super) struct BitcoinPrice {
    /// A block height, for the latest price at or before the time of the block; the newest price when absent.
    height: Option<AtHeight>,
}

impl EspoMethod for BitcoinPrice {
    const NAME: &'static str = "ammdata.get_btc_usd_price";
    const FORM: Form = Form::NamedInArray;
    const EXAMPLE: &'static str = "{}";
    type Answer = String;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<String, Failure> {
        let Some(tip) = context.tip() else { return Err(ApiError::starting().into()) };
        let height = AtHeight::resolve(self.height.as_ref(), tip.height)?;
        let none = |hint| Failure::from(Refusal::new("price_unavailable", hint));
        let prices = context.shared().prices.clone();
        let prices = prices.ok_or_else(|| none("this instance has no source of prices"))?;
        let price = if self.height.as_ref().is_none_or(AtHeight::is_latest) {
            prices.current().ok_or_else(|| none("the source of prices has not answered yet"))?.newest.price
        } else {
            let read = context.read(move |snapshot| snapshot.block(height)).await;
            let block =
                read.map_err(|error| ApiError::internal(&error))?.map_err(|error| ApiError::internal(&error))?;
            let time = block.map_or(0, |block| u64::from(block.time));
            prices.at(time).ok_or_else(|| none("no price is known for the time of this block"))?.price
        };
        Ok(price.to_scaled_string())
    }
}
