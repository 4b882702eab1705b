//! Values of pools, of volumes and of liquidity.
//!
//! Nothing is worth more than could be sold: a reserve counts for at most the depth behind the price of its alkane, a trade
//! likewise. So an alkane whose owner prints it at will makes no pool rich.

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;
use ruint::UintTryFrom as _;
use ruint::aliases::{U256, U512};

use super::prices::Priced;
use super::{PoolWorth, UnitPrice};
use crate::{Figures, PoolIdentity, PoolState, Volumes};

/// Of a pool's fee the protocol takes this many parts of 1,000 of the trade (docs/contracts.md).
const PROTOCOL_PER_1000: u128 = 2;

pub(super) type Prices = HashMap<AlkaneId, Priced>;

impl Priced {
    /// Satoshis for `amount`, bounded by the depth of the price.
    pub(super) fn value(&self, amount: u128) -> u128 {
        self.price.value(amount).min(self.depth)
    }

    /// Volume in satoshis of `amount` in a number of trades.
    fn traded(&self, amount: U256, trades: u32) -> u128 {
        self.price.value_of(amount).min(self.depth.saturating_mul(u128::from(trades)))
    }
}

/// Value of each reserve of a pool, and their sum.
pub(super) fn held(tokens: [AlkaneId; 2], reserves: [u128; 2], prices: &Prices) -> ([Option<u128>; 2], Option<u128>) {
    let side = |index: usize| prices.get(&tokens[index]).map(|priced| priced.value(reserves[index]));
    let [first, second] = [side(0), side(1)];
    ([first, second], first.zip(second).map(|(first, second)| first.saturating_add(second)))
}

/// Volume: both sides of a trade have the same value, so it counts once, by the lower one where they differ.
pub(super) fn traded(pool: &PoolIdentity, volumes: &Volumes, prices: &Prices) -> Option<u128> {
    let side = |index: usize| {
        let priced = prices.get(&pool.tokens[index])?;
        Some(priced.traded(volumes.amounts[index], volumes.trades))
    };
    [side(0), side(1)].into_iter().flatten().min()
}

/// The change from one amount to another in parts of one; `None` when there was nothing before.
#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
pub(super) fn change(then: Option<u128>, now: Option<u128>) -> Option<f64> {
    let (then, now) = (then.filter(|then| *then > 0)?, now?);
    let difference = now.abs_diff(then) as f64 / then as f64;
    Some(if now < then { -difference } else { difference })
}

/// The change of a price in parts of one.
pub(super) fn price_change(then: Option<&Priced>, now: Option<&Priced>) -> Option<f64> {
    let (then, now) = (then?.price.scaled(), now?.price.scaled());
    let difference = f64::from(now.abs_diff(then)) / f64::from(then);
    Some(if now < then { -difference } else { difference })
}

/// Everything but the changes of a pool's worth.
pub(super) fn worth(state: &PoolState, figures: &Figures, prices: &Prices) -> PoolWorth {
    let (token_tvl, tvl) = held(state.pool.tokens, state.reserves, prices);
    let traded = |volumes| traded(&state.pool, volumes, prices);
    let volume_month = traded(&figures.month);
    PoolWorth {
        tvl,
        token_tvl,
        volume_day: traded(&figures.day),
        volume_week: traded(&figures.week),
        volume_month,
        volume_all: traded(&figures.all_time),
        tvl_change_day: None,
        tvl_change_week: None,
        apr: apr(state.fee_per_1000, volume_month, tvl),
        liquidity_price: liquidity_price(state.supply, tvl),
    }
}

/// Yield of liquidity in a year, in percent, if every 30 days have the volume of the newest.
fn apr(fee_per_1000: u128, volume_month: Option<u128>, tvl: Option<u128>) -> Option<f64> {
    let (volume, tvl) = (volume_month?, tvl.filter(|tvl| *tvl > 0)?);
    let fee = fee_per_1000.min(1_000).saturating_sub(PROTOCOL_PER_1000);
    let earned = U256::from(volume) * U256::from(fee) * U256::from(365 * 100);
    Some(f64::from(earned) / f64::from(U256::from(tvl) * U256::from(1_000 * 30)))
}

/// Satoshis for one unit of liquidity: value of the reserves by the supply.
fn liquidity_price(supply: u128, tvl: Option<u128>) -> Option<UnitPrice> {
    let worth = U512::from(tvl?) * U512::from(UnitPrice::ONE.scaled());
    UnitPrice::from_scaled(U256::uint_try_from(worth.checked_div(U512::from(supply))?).ok()?)
}
