//! What tokens are worth, beside what their contracts report.

use std::sync::Arc;

use paraffin_alkanes::views::{TokenFacts, ViewError};
use paraffin_amm::{Dollars, MarketBook, TokenWorth, WHOLE};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::Serialize;

use super::{newest, percent, read_in};
use crate::alkanes::{self, Fault, Lane, Moment};
use crate::state::RequestContext;

/// Prices of tokens at one block.
#[derive(Clone)]
pub struct Pricing {
    /// All pools.
    pub book: Arc<MarketBook>,
    /// What makes dollars of satoshis.
    pub dollars: Dollars,
}

/// What a token is worth, `null` where it has no price. Prices are of a whole token, 10^8 base units.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenMarket {
    /// Dollars that pools ask: the lowest price that this instance knows.
    floor_price: Option<f64>,
    price_usd: Option<f64>,
    busd_pool_price_in_usd: Option<f64>,
    /// Whole satoshis, rounded down; at most 2^64 - 1.
    price_in_satoshi: Option<u64>,
    /// Satoshis with their fractions.
    frbtc_pool_price_in_sats: Option<f64>,
    /// Percent.
    price_change24h: Option<f64>,
    /// Percent.
    price_change7d: Option<f64>,
    /// Of the supply that there is.
    marketcap: Option<f64>,
    marketcap_in_sats: Option<u128>,
    /// Of all that can be minted.
    fdv: Option<f64>,
    fdv_in_sats: Option<u128>,
    /// Trade in all pools.
    token_pools_volume1d_in_usd: Option<f64>,
    token_pools_volume7d_in_usd: Option<f64>,
    token_pools_volume30d_in_usd: Option<f64>,
    token_pools_volume_all_time_in_usd: Option<f64>,
    token_pools_volume1d_in_sats: Option<u128>,
    token_pools_volume7d_in_sats: Option<u128>,
    token_pools_volume30d_in_sats: Option<u128>,
    token_pools_volume_all_time_in_sats: Option<u128>,
}

impl Pricing {
    /// What a token is worth whose contract reports these facts.
    #[expect(clippy::cast_precision_loss, reason = "a price for people")]
    pub fn of(&self, id: AlkaneId, facts: &TokenFacts) -> TokenMarket {
        let dollars = self.dollars;
        let TokenWorth { price: known, market_cap, fully_diluted, volumes } = self.book.token_worth(id, facts);
        let [day, week, month, all] = volumes;
        let volumes = TokenMarket {
            token_pools_volume1d_in_usd: dollars.of(day),
            token_pools_volume7d_in_usd: dollars.of(week),
            token_pools_volume30d_in_usd: dollars.of(month),
            token_pools_volume_all_time_in_usd: dollars.of(all),
            token_pools_volume1d_in_sats: day,
            token_pools_volume7d_in_sats: week,
            token_pools_volume30d_in_sats: month,
            token_pools_volume_all_time_in_sats: all,
            ..TokenMarket::default()
        };
        let Some(known) = known else { return volumes };
        let price = dollars.at(known.price, WHOLE);
        TokenMarket {
            floor_price: price,
            price_usd: price,
            busd_pool_price_in_usd: price,
            price_in_satoshi: Some(u64::try_from(known.price.value(WHOLE)).unwrap_or(u64::MAX)),
            frbtc_pool_price_in_sats: Some(known.price.to_f64() * WHOLE as f64),
            price_change24h: percent(known.change_day),
            price_change7d: percent(known.change_week),
            marketcap: dollars.of(market_cap),
            marketcap_in_sats: market_cap,
            fdv: dollars.of(fully_diluted),
            fdv_in_sats: fully_diluted,
            ..volumes
        }
    }
}

/// Reads contracts as of the newest block, with prices where this instance indexes markets and they are level with the
/// contracts.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn read_priced<T: Send + 'static>(
    context: &RequestContext,
    work: impl FnOnce(&Moment<'_>, Option<&Pricing>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    read_priced_in(context, Lane::Views, work).await
}

/// As [`read_priced`], in the lane of the caller's choice.
///
/// # Errors
/// A [`Fault`], for each reason why there is no answer.
pub async fn read_priced_in<T: Send + 'static>(
    context: &RequestContext,
    lane: Lane,
    work: impl FnOnce(&Moment<'_>, Option<&Pricing>) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Fault> {
    let contracts = alkanes::newest(context)?;
    if newest(context).is_ok_and(|markets| markets == contracts) {
        let priced = read_in(context, lane, None, |moment| {
            let pricing = Pricing { book: moment.book()?, dollars: moment.dollars() };
            work(moment.chain, Some(&pricing))
        });
        return priced.await;
    }
    alkanes::in_lane(context, lane, None, None, |moment| work(moment, None)).await
}
