//! Exact quotes: the outcome of a trade in the next block, computed from the slots alone.

use paraffin_primitives::{AlkaneId, Height};
use ruint::aliases::U256;

use super::rows::Identity;
use super::slots::Slot;
use super::state::{PoolState, mul_div};
use paraffin_cryptoswap_math::{Coin, MathError, PRECISION};

/// Parts of 10,000 of the USD token's reserve that a deposit may convert (docs/bridge.md).
const CONVERSION_CAP_BPS: u64 = 1_000;

/// Parts in one.
const BPS: u64 = 10_000;

/// The outcome of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quote {
    /// The token received.
    pub token_out: AlkaneId,
    /// Its amount, base units, after the fee.
    pub amount_out: U256,
    /// The fee, base units of the same.
    pub fee_amount: U256,
    /// The fee of this trade, over 1e10.
    pub fee: U256,
    /// Token 1 for token 0 as this trade pays it, over 1e18, rounded down, fee included; `None` when no token 0 would move.
    pub effective_price_q: Option<U256>,
    /// Token 1 for token 0 for the smallest trade, without the fee, over 1e18.
    pub spot_price_q: Option<U256>,
    /// Price impact: how much less the trade pays than the smallest trade, without the fee, over 1e18.
    pub price_impact: U256,
    /// Where the USD token (the contract's coin 1) is sold: the most of it that the bridge converts for one deposit, base
    /// units. A trade with the pool itself has no such cap.
    pub conversion_cap: Option<U256>,
    /// Whether the amount is above the cap.
    pub exceeds_conversion_cap: bool,
}

/// The reason why there is no quote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteRefusal {
    /// The token is none of the pool's.
    #[error("the pool does not trade this token")]
    NoSuchToken,
    /// The contract has not written its numbers yet.
    #[error("the pool has no state yet")]
    NoState,
    /// The contract would refuse the trade.
    #[error(transparent)]
    Refused(#[from] MathError),
}

/// Quotes the sale of `amount_in` base units of `token_in` in the block after `height`, from the newest state.
///
/// # Errors
/// [`QuoteRefusal`] states why the contract would refuse. That trading is killed is one of the reasons.
pub fn quote(
    identity: &Identity,
    state: Option<&PoolState>,
    height: Height,
    token_in: AlkaneId,
    amount_in: U256,
) -> Result<Quote, QuoteRefusal> {
    let state = state.ok_or(QuoteRefusal::NoState)?;
    let index = identity.coins.iter().position(|coin| *coin == token_in).ok_or(QuoteRefusal::NoSuchToken)?;
    let (sold, token_out) = (Coin::from_index(index as u128)?, identity.coins[1 - index]);
    let pool = state.pool(identity);
    if pool.is_killed {
        return Err(MathError::Killed.into());
    }
    if amount_in.is_zero() {
        return Err(MathError::AmountZero.into());
    }
    let now = u64::from(height) + 1;
    let trade = pool.priced_trade(sold, amount_in, now)?;
    // Coin 0 for coin 1 between normalised balances, as the price slots.
    let spot = pool.spot_price(now)?;
    let ideal = ideal_out(identity, sold, amount_in, spot).ok_or(MathError::Overflow)?;
    let before_fee = trade.amount_out.saturating_add(trade.fee_amount);
    let price_impact = mul_div(ideal.saturating_sub(before_fee), PRECISION, ideal).unwrap_or_default();
    let moved = match sold {
        Coin::Zero => [amount_in, trade.amount_out],
        Coin::One => [trade.amount_out, amount_in],
    };
    let [token0, token1] = identity.to_tokens(moved);
    let reserve = state.number(Slot::Balance1);
    let cap = mul_div(reserve, U256::from(CONVERSION_CAP_BPS), U256::from(BPS)).filter(|_| sold == Coin::One);
    Ok(Quote {
        token_out,
        amount_out: trade.amount_out,
        fee_amount: trade.fee_amount,
        fee: trade.fee,
        effective_price_q: mul_div(token1, PRECISION, token0),
        spot_price_q: identity.price_q(spot),
        price_impact,
        conversion_cap: cap,
        exceeds_conversion_cap: cap.is_some_and(|cap| amount_in > cap),
    })
}

/// The outcome of the sale at a constant price, without a fee.
fn ideal_out(identity: &Identity, sold: Coin, amount: U256, price: U256) -> Option<U256> {
    let [zero, one] = identity.precisions;
    match sold {
        Coin::Zero => mul_div(mul_div(amount, zero, one)?, PRECISION, price),
        Coin::One => mul_div(mul_div(amount, one, zero)?, price, PRECISION),
    }
}
