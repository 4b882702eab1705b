//! How each operation changes a pool.
//!
//! An operation works on a copy and replaces the pool when it has succeeded, as a contract call that fails leaves no trace.

use ruint::aliases::U256;

use super::exact::{add, int, mul, mul_div, sub};
use super::invariant::{newton_d, newton_y};
use super::parameters::{Coin, Curve};
use super::pool::Pool;
use super::views::{balanced_value, virtual_price};
use super::{FEE_PRECISION, MathError, PRECISION, PRICED_ABOVE};

/// What a trade gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traded {
    /// The coin that the trader received.
    pub bought: Coin,
    /// How much of it, in base units, fee taken.
    pub amount_out: U256,
}

impl Pool {
    /// Sells `amount` of a coin (contract opcode 5, `exchange`). Pays what [`Pool::get_dy`] told at the same time.
    ///
    /// # Errors
    /// [`MathError::Killed`], [`MathError::AmountZero`], [`MathError::Slippage`] below `amount_out_min`, [`MathError::Loss`],
    /// and whatever the curve refuses.
    pub fn exchange(&mut self, sold: Coin, amount: U256, amount_out_min: U256, now: u64) -> Result<Traded, MathError> {
        let mut next = self.clone();
        let traded = next.exchange_in_place(sold, amount, amount_out_min, now)?;
        *self = next;
        Ok(traded)
    }

    fn exchange_in_place(
        &mut self,
        sold: Coin,
        amount: U256,
        amount_out_min: U256,
        now: u64,
    ) -> Result<Traded, MathError> {
        if self.is_killed {
            return Err(MathError::Killed);
        }
        if amount.is_zero() {
            return Err(MathError::AmountZero);
        }
        let bought = sold.other();
        let amount_out = self.get_dy(sold, amount, now)?;
        if amount_out < amount_out_min {
            return Err(MathError::Slippage { outcome: amount_out, limit: amount_out_min });
        }
        if self.ramp.is_pending() {
            self.d = self.invariant(now)?;
            self.ramp.note_end(now);
        }
        self.balances[sold.index()] = add(self.balances[sold.index()], amount)?;
        self.balances[bought.index()] = sub(self.balances[bought.index()], amount_out)?;

        let threshold = int(PRICED_ABOVE);
        let price = if amount > threshold && amount_out > threshold {
            let sold_value = mul(amount, self.parameters.precisions[sold.index()])?;
            let bought_value = mul(amount_out, self.parameters.precisions[bought.index()])?;
            Some(match sold {
                Coin::Zero => mul_div(sold_value, PRECISION, bought_value)?,
                Coin::One => mul_div(bought_value, PRECISION, sold_value)?,
            })
        } else {
            None
        };
        self.tweak_price(self.normalised_balances()?, price, None, now)?;
        Ok(Traded { bought, amount_out })
    }

    /// Deposits both coins or one (contract opcode 1, `add_liquidity`); returns the liquidity tokens minted.
    ///
    /// # Errors
    /// [`MathError::Killed`], [`MathError::AmountZero`], [`MathError::NothingMinted`], [`MathError::Slippage`] below
    /// `minted_min`, [`MathError::Loss`], and whatever the curve refuses.
    pub fn add_liquidity(&mut self, amounts: [U256; 2], minted_min: U256, now: u64) -> Result<U256, MathError> {
        let mut next = self.clone();
        let minted = next.add_in_place(amounts, now)?;
        if minted < minted_min {
            return Err(MathError::Slippage { outcome: minted, limit: minted_min });
        }
        *self = next;
        Ok(minted)
    }

    fn add_in_place(&mut self, amounts: [U256; 2], now: u64) -> Result<U256, MathError> {
        if self.is_killed {
            return Err(MathError::Killed);
        }
        if amounts[0].is_zero() && amounts[1].is_zero() {
            return Err(MathError::AmountZero);
        }
        let before = self.normalised_balances()?;
        let d_before = self.invariant(now)?;
        if self.ramp.is_pending() {
            self.ramp.note_end(now);
        }
        for (balance, amount) in self.balances.iter_mut().zip(amounts) {
            *balance = add(*balance, amount)?;
        }
        let x = self.normalised_balances()?;
        let d = newton_d(self.curve(now)?, x)?;
        if d_before.is_zero() {
            let minted = balanced_value(d, self.price_scale)?;
            if minted.is_zero() {
                return Err(MathError::NothingMinted);
            }
            self.d = d;
            self.virtual_price = PRECISION;
            self.xcp_profit = PRECISION;
            self.total_supply = add(self.total_supply, minted)?;
            return Ok(minted);
        }
        let added = [sub(x[0], before[0])?, sub(x[1], before[1])?];
        let minted = self.minted(d_before, d, added, x)?;
        self.total_supply = add(self.total_supply, minted)?;
        let price = self.price_of_deposit(amounts, minted)?;
        self.tweak_price(x, price, Some(d), now)?;
        Ok(minted)
    }

    /// A deposit of one coin trades a part of it: the share of the pool that it buys holds the other coin too.
    fn price_of_deposit(&self, amounts: [U256; 2], minted: U256) -> Result<Option<U256>, MathError> {
        let coin = match (amounts[0].is_zero(), amounts[1].is_zero()) {
            (true, false) => Coin::One,
            (false, true) => Coin::Zero,
            _ => return Ok(None),
        };
        if minted <= int(PRICED_ABOVE) {
            return Ok(None);
        }
        let other = coin.other().index();
        let gained = mul(self.balances[other], self.parameters.precisions[other])?;
        let gained = mul_div(gained, minted, self.total_supply)?;
        let precision = self.parameters.precisions[coin.index()];
        let kept = mul_div(minted, mul(self.balances[coin.index()], precision)?, self.total_supply)?;
        let given = sub(mul(amounts[coin.index()], precision)?, kept)?;
        one_sided_price(coin, gained, given).map(Some)
    }

    /// Withdraws both coins in the pool's proportion (contract opcode 2, `remove_liquidity`). No price changes, and a killed
    /// pool allows it too.
    ///
    /// # Errors
    /// [`MathError::AmountZero`], [`MathError::BurnAboveSupply`], [`MathError::Slippage`] below one of the minima.
    pub fn remove_liquidity(&mut self, burned: U256, minima: [U256; 2]) -> Result<[U256; 2], MathError> {
        let out = self.calc_withdraw(burned)?;
        for (outcome, limit) in out.into_iter().zip(minima) {
            if outcome < limit {
                return Err(MathError::Slippage { outcome, limit });
            }
        }
        let share = self.rounded_burn(burned)?;
        let mut next = self.clone();
        for (balance, amount) in next.balances.iter_mut().zip(out) {
            *balance = sub(*balance, amount)?;
        }
        next.d = sub(self.d, mul_div(self.d, share, self.total_supply)?)?;
        next.total_supply = sub(self.total_supply, burned)?;
        *self = next;
        Ok(out)
    }

    /// Withdraws one coin alone (contract opcode 3, `remove_liquidity_one_coin`); returns its amount.
    ///
    /// # Errors
    /// [`MathError::Killed`], [`MathError::AmountZero`], [`MathError::BurnAboveSupply`], [`MathError::Slippage`] below
    /// `amount_min`, and whatever the curve refuses.
    pub fn remove_liquidity_one_coin(
        &mut self,
        burned: U256,
        coin: Coin,
        amount_min: U256,
        now: u64,
    ) -> Result<U256, MathError> {
        if self.is_killed {
            return Err(MathError::Killed);
        }
        if burned.is_zero() {
            return Err(MathError::AmountZero);
        }
        let withdrawal = self.one_coin(burned, coin, now)?;
        let amount = withdrawal.amount;
        if amount < amount_min {
            return Err(MathError::Slippage { outcome: amount, limit: amount_min });
        }
        let price = if amount > int(PRICED_ABOVE) && burned > int(PRICED_ABOVE) {
            let (own, other) = (coin.index(), coin.other().index());
            let precisions = self.parameters.precisions;
            let part = |value| mul_div(value, withdrawal.d_burned, withdrawal.d_before);
            let given = part(mul(self.balances[other], precisions[other])?)?;
            let kept = part(mul(self.balances[own], precisions[own])?)?;
            let gained = sub(mul(amount, precisions[own])?, kept)?;
            Some(one_sided_price(coin, given, gained)?)
        } else {
            None
        };
        let mut next = self.clone();
        // Noted even when no ramp was on: this operation alone is never refused for a loss.
        next.ramp.note_end(now);
        next.balances[coin.index()] = sub(next.balances[coin.index()], amount)?;
        next.total_supply = sub(next.total_supply, burned)?;
        next.tweak_price(withdrawal.x, price, Some(withdrawal.d), now)?;
        *self = next;
        Ok(amount)
    }

    /// Mints the protocol's part of the profit as liquidity tokens and takes in what the contract holds beyond its balances;
    /// returns the tokens minted.
    ///
    /// # Errors
    /// Whatever the curve refuses.
    pub fn claim_admin_fees(&mut self, now: u64) -> Result<U256, MathError> {
        let mut next = self.clone();
        let minted = next.claim_in_place(now)?;
        *self = next;
        Ok(minted)
    }

    fn claim_in_place(&mut self, now: u64) -> Result<U256, MathError> {
        for (balance, surplus) in self.balances.iter_mut().zip(&mut self.surplus) {
            *balance = add(*balance, *surplus)?;
            *surplus = U256::ZERO;
        }
        let mut minted = U256::ZERO;
        let profit_before = self.xcp_profit;
        if let Some(profit) = profit_before.checked_sub(self.xcp_profit_a).filter(|profit| !profit.is_zero()) {
            let fees = mul_div(profit, self.parameters.admin_fee, mul(int(2), FEE_PRECISION)?)?;
            if !fees.is_zero() && self.parameters.admin_fee_is_paid {
                let left = sub(self.virtual_price, fees)?;
                let share = sub(mul_div(self.virtual_price, PRECISION, left)?, PRECISION)?;
                minted = mul_div(self.total_supply, share, PRECISION)?;
                self.total_supply = add(self.total_supply, minted)?;
                self.xcp_profit = sub(profit_before, mul(fees, int(2))?)?;
            }
        }
        self.d = newton_d(self.curve(now)?, self.normalised_balances()?)?;
        self.virtual_price = self.get_virtual_price()?;
        self.xcp_profit_a = self.xcp_profit_a.max(self.xcp_profit);
        Ok(minted)
    }

    /// What follows every operation that moves the price: the average, the last price, the profit, and, when there is
    /// enough profit, a step of the price scale towards the average.
    ///
    /// `x` are the normalised balances at the present price scale; `price` is `None` when the operation was too small to
    /// tell one; `d` is given where it is known already.
    fn tweak_price(&mut self, x: [U256; 2], price: Option<U256>, d: Option<U256>, now: u64) -> Result<(), MathError> {
        let curve = self.curve(now)?;
        if now > self.last_prices_time {
            self.price_oracle = self.price_oracle(now)?;
            self.last_prices_time = now;
        }
        let d = match d {
            Some(d) if !d.is_zero() => d,
            _ => newton_d(curve, x)?,
        };
        self.last_prices = match price {
            Some(price) if !price.is_zero() => price,
            _ => self.marginal_price(curve, x, d)?,
        };

        let before = self.virtual_price;
        let mut after = PRECISION;
        self.xcp_profit = if before.is_zero() {
            PRECISION
        } else {
            after = virtual_price(d, self.price_scale, self.total_supply)?;
            let profit = mul_div(self.xcp_profit, after, before)?;
            if after < before && !self.ramp.is_pending() {
                return Err(MathError::Loss { before, after });
            }
            if self.ramp.end == 1 {
                self.ramp.end = 0;
            }
            profit
        };

        let distance = mul_div(self.price_oracle, PRECISION, self.price_scale)?.abs_diff(PRECISION);
        let relative = distance / int(self.parameters.adjustment_divisor.max(1));
        let step = self.parameters.adjustment_step.max(relative);
        let far = distance > step && !before.is_zero();
        if !self.not_adjusted {
            let profit = sub(mul(after, int(2))?, PRECISION)?;
            let needed = add(self.xcp_profit, mul(self.parameters.allowed_extra_profit, int(2))?)?;
            self.not_adjusted = far && profit > needed;
        }
        if self.not_adjusted && far && self.move_price_scale(curve, x, distance, step)? {
            return Ok(());
        }
        self.d = d;
        self.virtual_price = after;
        if self.not_adjusted {
            // The scale has come as far as the profit carries it.
            self.not_adjusted = false;
            self.claim_in_place(now)?;
        }
        Ok(())
    }

    /// The price of a millionth of coin 0's balance, for operations that do not tell one.
    pub(super) fn marginal_price(&self, curve: Curve, x: [U256; 2], d: U256) -> Result<U256, MathError> {
        let sold = x[0] / int(1_000_000);
        let left = newton_y(curve, [add(x[0], sold)?, x[1]], d, Coin::One)?;
        mul_div(self.price_scale, sold, sub(x[1], left)?)
    }

    /// Moves the price scale by `step` of `distance` towards the average if at least half of the profit survives it.
    fn move_price_scale(&mut self, curve: Curve, x: [U256; 2], distance: U256, step: U256) -> Result<bool, MathError> {
        let kept = mul(self.price_scale, sub(distance, step)?)?;
        let scale = mul_div(add(kept, mul(step, self.price_oracle)?)?, int(1), distance)?;
        let d = newton_d(curve, [x[0], mul_div(x[1], scale, self.price_scale)?])?;
        let price = virtual_price(d, scale, self.total_supply)?;
        if price <= PRECISION || sub(mul(int(2), price)?, PRECISION)? <= self.xcp_profit {
            return Ok(false);
        }
        self.price_scale = scale;
        self.d = d;
        self.virtual_price = price;
        Ok(true)
    }
}

/// Coin 0 per coin 1, over 1e18, from the values exchanged by an operation in `coin` alone.
fn one_sided_price(coin: Coin, other: U256, own: U256) -> Result<U256, MathError> {
    let price = mul_div(other, PRECISION, own)?;
    match coin {
        Coin::One => Ok(price),
        Coin::Zero => mul_div(PRECISION, PRECISION, price),
    }
}
