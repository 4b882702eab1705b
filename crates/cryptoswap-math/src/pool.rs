//! The numbers that make up a pool.

use ruint::aliases::U256;

use super::exact::mul;
use super::exact::mul_div;
use super::parameters::{Coin, Curve, Parameters};
use super::ramp::Ramp;
use super::{MathError, PRECISION};

/// The state of a pool: what its contract stores, and nothing else.
///
/// Every view takes it as it is, so one read from storage answers as the contract would. The operations return an error and
/// leave it untouched, or change it as the contract would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// What the owner set.
    pub parameters: Parameters,
    /// The shape of the curve, now and to come.
    pub ramp: Ramp,
    /// Balances in base units, in the contract's coin order.
    pub balances: [U256; 2],
    /// What the contract holds beyond its balances (sent to it without an operation); the next claim of fees takes it in.
    pub surplus: [U256; 2],
    /// The stored invariant.
    pub d: U256,
    /// The supply of liquidity tokens.
    pub total_supply: U256,
    /// Where the liquidity is centred.
    pub price_scale: U256,
    /// The stored average price; [`Pool::price_oracle`] is the one of now.
    pub price_oracle: U256,
    /// The price of the last operation.
    pub last_prices: U256,
    /// When the average was last moved.
    pub last_prices_time: u64,
    /// The stored virtual price, over 1e18; 0 before the first deposit.
    pub virtual_price: U256,
    /// The profit since the beginning, over 1e18, less what was claimed.
    pub xcp_profit: U256,
    /// `xcp_profit` at the last claim.
    pub xcp_profit_a: U256,
    /// Set while the price scale is being moved.
    pub not_adjusted: bool,
    /// Set when everything but a withdrawal of both coins is refused.
    pub is_killed: bool,
}

impl Pool {
    /// A pool without liquidity, with the price that its first depositor is expected to meet.
    ///
    /// # Errors
    /// A parameter or the curve out of bounds; [`MathError::DivisionByZero`] for a price of zero.
    pub fn new(parameters: Parameters, curve: Curve, price: U256, now: u64) -> Result<Self, MathError> {
        if price.is_zero() {
            return Err(MathError::DivisionByZero);
        }
        Ok(Pool {
            parameters: parameters.checked()?,
            ramp: Ramp::still(curve.checked()?),
            balances: [U256::ZERO; 2],
            surplus: [U256::ZERO; 2],
            d: U256::ZERO,
            total_supply: U256::ZERO,
            price_scale: price,
            price_oracle: price,
            last_prices: price,
            last_prices_time: now,
            virtual_price: U256::ZERO,
            xcp_profit: PRECISION,
            xcp_profit_a: PRECISION,
            not_adjusted: false,
            is_killed: false,
        })
    }

    /// The balances in units of the invariant, at the price scale.
    ///
    /// # Errors
    /// [`MathError::Overflow`].
    pub fn normalised_balances(&self) -> Result<[U256; 2], MathError> {
        self.normalise(self.balances)
    }

    /// Amounts of the two coins in units of the invariant, at the price scale.
    pub(super) fn normalise(&self, [zero, one]: [U256; 2]) -> Result<[U256; 2], MathError> {
        Ok([mul(zero, self.parameters.precisions[0])?, mul_div(one, self.unit_of(Coin::One)?, PRECISION)?])
    }

    /// What one base unit of a coin counts in the invariant, times 1e18.
    pub(super) fn unit_of(&self, coin: Coin) -> Result<U256, MathError> {
        let price = match coin {
            Coin::Zero => PRECISION,
            Coin::One => self.price_scale,
        };
        mul(price, self.parameters.precisions[coin.index()])
    }
}
