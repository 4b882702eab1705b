//! The price of bitcoin.

use super::Outcome;
use super::ask::Ask;
use super::failure::Refusal;
use crate::state::RequestContext;

/// `ammdata.get_btc_usd_price`: USD for one bitcoin times 10^16, as text.
pub(super) async fn bitcoin(_context: &RequestContext, _ask: &Ask) -> Outcome {
    Err(Refusal::new("price_unavailable", "this instance has no source of prices, or it has not answered yet").into())
}
