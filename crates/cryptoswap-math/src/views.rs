//! What a pool answers without changing.

use ruint::aliases::U256;

use super::exact::{add, div, int, mul, mul_div, sub};
use super::invariant::{geometric_mean, newton_d, newton_y};
use super::oracle::{self, moving_average};
use super::parameters::{Coin, Curve, Parameters};
use super::pool::Pool;
use super::{FEE_PRECISION, MathError, NOISE_FEE, PRECISION};

/// The fee over 1e10 at two normalised balances: `mid_fee` in balance, towards `out_fee` away from it.
///
/// # Errors
/// [`MathError::DivisionByZero`] for an empty pool.
pub fn fee(parameters: &Parameters, x: [U256; 2]) -> Result<U256, MathError> {
    let sum = add(x[0], x[1])?;
    let balance = mul_div(mul_div(mul(int(4), PRECISION)?, x[0], sum)?, x[1], sum)?;
    let fee_gamma = parameters.fee_gamma;
    let weight = mul_div(fee_gamma, PRECISION, sub(add(fee_gamma, PRECISION)?, balance)?)?;
    let fee = add(mul(parameters.mid_fee, weight)?, mul(parameters.out_fee, sub(PRECISION, weight)?)?)?;
    div(fee, PRECISION)
}

/// The fee over 1e10 of a deposit of normalised `amounts` that leads to normalised balances `x`: for its imbalance, plus
/// [`NOISE_FEE`].
///
/// # Errors
/// [`MathError::DivisionByZero`] for a deposit of nothing.
pub fn deposit_fee(parameters: &Parameters, amounts: [U256; 2], x: [U256; 2]) -> Result<U256, MathError> {
    let half_fee = mul_div(fee(parameters, x)?, int(2), int(4))?;
    let sum = add(amounts[0], amounts[1])?;
    let average = sum >> 1;
    let spread = add(amounts[0].abs_diff(average), amounts[1].abs_diff(average))?;
    add(mul_div(half_fee, spread, sum)?, int(NOISE_FEE))
}

/// The virtual price over 1e18 of `supply` liquidity tokens at invariant `d` and price scale `price_scale`.
///
/// # Errors
/// [`MathError::DivisionByZero`] when there are no tokens or no price.
pub fn virtual_price(d: U256, price_scale: U256, supply: U256) -> Result<U256, MathError> {
    mul_div(PRECISION, balanced_value(d, price_scale)?, supply)
}

/// The geometric mean of the balances that the invariant would have at the price scale.
pub(super) fn balanced_value(d: U256, price_scale: U256) -> Result<U256, MathError> {
    geometric_mean([d >> 1, mul_div(d, PRECISION, mul(int(2), price_scale)?)?])
}

/// What a trade would give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricedTrade {
    /// In base units of the coin bought, fee taken.
    pub amount_out: U256,
    /// What the fee takes of it, base units.
    pub fee_amount: U256,
    /// The fee over 1e10.
    pub fee: U256,
}

/// What a withdrawal in one coin does, before it is done.
pub(super) struct OneCoin {
    pub(super) amount: U256,
    /// The invariant afterwards.
    pub(super) d: U256,
    /// The normalised balances afterwards.
    pub(super) x: [U256; 2],
    /// The invariant before.
    pub(super) d_before: U256,
    /// The part of the invariant that the burned tokens stand for.
    pub(super) d_burned: U256,
}

impl Pool {
    /// The curve at `now`.
    ///
    /// # Errors
    /// [`MathError::Underflow`] for a time before a ramp that has begun.
    pub fn curve(&self, now: u64) -> Result<Curve, MathError> {
        self.ramp.at(now)
    }

    /// The invariant to compute with: the stored one, or a new one while a ramp is pending.
    ///
    /// # Errors
    /// As [`newton_d`].
    pub fn invariant(&self, now: u64) -> Result<U256, MathError> {
        if self.ramp.is_pending() { newton_d(self.curve(now)?, self.normalised_balances()?) } else { Ok(self.d) }
    }

    /// What selling `amount` of a coin gives of the other, fee taken (contract opcode 107, `get_dy`).
    ///
    /// The fee is the one of the balances after the trade, so a trade away from balance pays more than the fee of now.
    ///
    /// # Errors
    /// Whatever makes the contract refuse: balances or invariant outside the curve, amounts that do not fit, an output of
    /// nothing. An amount of zero is answered as the contract answers it, and [`Pool::exchange`] refuses it.
    pub fn get_dy(&self, sold: Coin, amount: U256, now: u64) -> Result<U256, MathError> {
        let (out, x) = self.output(sold, amount, now)?;
        self.after_fee(out, x)
    }

    /// The same with the fee told apart.
    ///
    /// # Errors
    /// As [`Pool::get_dy`].
    pub fn priced_trade(&self, sold: Coin, amount: U256, now: u64) -> Result<PricedTrade, MathError> {
        let (out, x) = self.output(sold, amount, now)?;
        let amount_out = self.after_fee(out, x)?;
        Ok(PricedTrade { amount_out, fee_amount: out - amount_out, fee: fee(&self.parameters, x)? })
    }

    /// What a trade gives before the fee, and the normalised balances that the fee is taken at.
    fn output(&self, sold: Coin, amount: U256, now: u64) -> Result<(U256, [U256; 2]), MathError> {
        let bought = sold.other();
        let d = self.invariant(now)?;
        let mut balances = self.balances;
        balances[sold.index()] = add(balances[sold.index()], amount)?;
        let mut x = self.normalise(balances)?;
        let y = newton_y(self.curve(now)?, x, d, bought)?;
        let out = sub(sub(x[bought.index()], y)?, int(1))?;
        x[bought.index()] = y;
        Ok((mul_div(out, PRECISION, self.unit_of(bought)?)?, x))
    }

    /// The price of the smallest trade, without the fee: coin 0 for coin 1 between normalised balances, over 1e18. It is taken
    /// over a millionth of coin 0's balance, as the contract does for operations that do not tell a price.
    ///
    /// # Errors
    /// As [`newton_y`]; [`MathError::DivisionByZero`] for a pool so small that a millionth is nothing.
    pub fn spot_price(&self, now: u64) -> Result<U256, MathError> {
        self.marginal_price(self.curve(now)?, self.normalised_balances()?, self.invariant(now)?)
    }

    /// What is left of an output in base units when the fee at `x` is taken.
    pub(super) fn after_fee(&self, out: U256, x: [U256; 2]) -> Result<U256, MathError> {
        sub(out, mul_div(fee(&self.parameters, x)?, out, FEE_PRECISION)?)
    }

    /// The liquidity tokens that a deposit would mint (contract opcode 108, `calc_token_amount`).
    ///
    /// Before the first deposit this is what the first deposit mints. [`Pool::add_liquidity`] rounds the deposit together with
    /// the balance, so it may mint some units more or less.
    ///
    /// # Errors
    /// [`MathError::NothingMinted`] when the fee takes it all; otherwise as [`newton_d`].
    pub fn calc_token_amount(&self, amounts: [U256; 2], now: u64) -> Result<U256, MathError> {
        let added = self.normalise(amounts)?;
        let x = self.normalised_balances()?;
        let x = [add(x[0], added[0])?, add(x[1], added[1])?];
        let d = newton_d(self.curve(now)?, x)?;
        if self.d.is_zero() {
            return balanced_value(d, self.price_scale);
        }
        self.minted(self.invariant(now)?, d, added, x)
    }

    /// What a deposit mints that moves the invariant from `before` to `after`.
    pub(super) fn minted(
        &self,
        before: U256,
        after: U256,
        amounts: [U256; 2],
        x: [U256; 2],
    ) -> Result<U256, MathError> {
        let minted = sub(mul_div(self.total_supply, after, before)?, self.total_supply)?;
        let fee = add(mul_div(deposit_fee(&self.parameters, amounts, x)?, minted, FEE_PRECISION)?, int(1))?;
        minted.checked_sub(fee).ok_or(MathError::NothingMinted)
    }

    /// What `burned` liquidity tokens give of both coins (what opcode 2 pays).
    ///
    /// # Errors
    /// [`MathError::AmountZero`], [`MathError::BurnAboveSupply`].
    pub fn calc_withdraw(&self, burned: U256) -> Result<[U256; 2], MathError> {
        let share = self.rounded_burn(burned)?;
        let part = |balance| mul_div(balance, share, self.total_supply);
        Ok([part(self.balances[0])?, part(self.balances[1])?])
    }

    /// One unit less than is burned, so that rounding never takes from those who stay.
    pub(super) fn rounded_burn(&self, burned: U256) -> Result<U256, MathError> {
        if burned > self.total_supply {
            return Err(MathError::BurnAboveSupply { burned, supply: self.total_supply });
        }
        burned.checked_sub(int(1)).ok_or(MathError::AmountZero)
    }

    /// What `burned` liquidity tokens give in one coin alone (what opcode 3 pays): the fee for the imbalance is in it.
    ///
    /// # Errors
    /// [`MathError::BurnAboveSupply`]; otherwise as [`newton_y`].
    pub fn calc_withdraw_one_coin(&self, burned: U256, coin: Coin, now: u64) -> Result<U256, MathError> {
        Ok(self.one_coin(burned, coin, now)?.amount)
    }

    pub(super) fn one_coin(&self, burned: U256, coin: Coin, now: u64) -> Result<OneCoin, MathError> {
        if burned > self.total_supply {
            return Err(MathError::BurnAboveSupply { burned, supply: self.total_supply });
        }
        let mut x = self.normalised_balances()?;
        let d_before = self.invariant(now)?;
        // The fee is taken on the invariant: it falls by less than the burned tokens stand for.
        let d_burned = mul_div(burned, d_before, self.total_supply)?;
        let fee = mul_div(fee(&self.parameters, x)?, d_burned, mul(int(2), FEE_PRECISION)?)?;
        let d = sub(d_before, sub(d_burned, add(fee, int(1))?)?)?;
        let y = newton_y(self.curve(now)?, x, d, coin)?;
        let amount = mul_div(sub(x[coin.index()], y)?, PRECISION, self.unit_of(coin)?)?;
        x[coin.index()] = y;
        Ok(OneCoin { amount, d, x, d_before, d_burned })
    }

    /// The virtual price over 1e18 (contract opcode 100).
    ///
    /// # Errors
    /// [`MathError::DivisionByZero`] when there is no liquidity.
    pub fn get_virtual_price(&self) -> Result<U256, MathError> {
        virtual_price(self.d, self.price_scale, self.total_supply)
    }

    /// The average price at `now`, coin 0 per coin 1, over 1e18 (contract opcode 104).
    ///
    /// # Errors
    /// As [`moving_average`].
    pub fn price_oracle(&self, now: u64) -> Result<U256, MathError> {
        let elapsed = now.saturating_sub(self.last_prices_time);
        moving_average(self.price_oracle, self.last_prices, elapsed, self.parameters.ma_half_time)
    }

    /// The price of a liquidity token in coin 0 at `now`, over 1e18 (contract opcode 106).
    ///
    /// # Errors
    /// As [`oracle::lp_price`].
    pub fn lp_price(&self, now: u64) -> Result<U256, MathError> {
        oracle::lp_price(self.virtual_price, self.price_oracle(now)?)
    }

    /// The fee over 1e10 at the balances of now; a trade pays the one of the balances that it leads to.
    ///
    /// # Errors
    /// [`MathError::DivisionByZero`] for an empty pool.
    pub fn fee(&self) -> Result<U256, MathError> {
        fee(&self.parameters, self.normalised_balances()?)
    }
}
