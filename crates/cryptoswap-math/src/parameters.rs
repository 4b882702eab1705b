//! What the owner of a pool sets: which coin is which, the shape of the curve, the fees.

use ruint::aliases::U256;

use super::exact::int;
use super::{ANN_MAX, ANN_MIN, FEE_PRECISION, GAMMA_MAX, GAMMA_MIN, MathError, PRECISION};

/// One of the two coins, in the contract's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coin {
    /// Coin 0, in which prices are told. The BTC token in the BTC/USD pool.
    Zero,
    /// Coin 1, which `price_scale` converts. The USD token in the BTC/USD pool.
    One,
}

impl Coin {
    /// The coin with this index.
    ///
    /// # Errors
    /// [`MathError::NoSuchCoin`] for anything but 0 and 1.
    pub fn from_index(index: u128) -> Result<Self, MathError> {
        match index {
            0 => Ok(Coin::Zero),
            1 => Ok(Coin::One),
            _ => Err(MathError::NoSuchCoin(index)),
        }
    }

    /// The coin sold and the coin bought, from the contract's `i` and `j`.
    ///
    /// # Errors
    /// [`MathError::NoSuchCoin`], or [`MathError::SameCoin`] when they are equal.
    pub fn trade(i: u128, j: u128) -> Result<(Self, Self), MathError> {
        let (sold, bought) = (Self::from_index(i)?, Self::from_index(j)?);
        if sold == bought { Err(MathError::SameCoin(i)) } else { Ok((sold, bought)) }
    }

    /// 0 or 1.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Coin::Zero => 0,
            Coin::One => 1,
        }
    }

    /// The other coin.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Coin::Zero => Coin::One,
            Coin::One => Coin::Zero,
        }
    }
}

/// The shape of the curve at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curve {
    /// A times 4 times [`super::A_MULTIPLIER`].
    pub ann: U256,
    /// How far from balance the curve stays flat, over 1e18.
    pub gamma: U256,
}

impl Curve {
    /// The curve itself when both numbers are within the contract's bounds.
    ///
    /// # Errors
    /// [`MathError::AnnOutOfRange`] or [`MathError::GammaOutOfRange`].
    pub fn checked(self) -> Result<Self, MathError> {
        if self.ann < int(ANN_MIN) || self.ann > int(ANN_MAX) {
            return Err(MathError::AnnOutOfRange(self.ann));
        }
        if self.gamma < int(GAMMA_MIN) || self.gamma > int(GAMMA_MAX) {
            return Err(MathError::GammaOutOfRange(self.gamma));
        }
        Ok(self)
    }
}

/// What stays the same between the owner's changes, the curve excepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// What one base unit of each coin counts in 1e18: 1e10 for a coin of 8 decimals.
    pub precisions: [U256; 2],
    /// The fee in balance, over 1e10.
    pub mid_fee: U256,
    /// The fee far from balance, over 1e10.
    pub out_fee: U256,
    /// How quickly the fee goes from one to the other, over 1e18.
    pub fee_gamma: U256,
    /// The protocol's part of the fee, over 1e10.
    pub admin_fee: U256,
    /// Whether anybody receives the protocol's part; if not, a claim mints nothing.
    pub admin_fee_is_paid: bool,
    /// The profit, over 1e18, that must be there before the price scale may move.
    pub allowed_extra_profit: U256,
    /// The smallest relative step of the price scale, over 1e18.
    pub adjustment_step: U256,
    /// The step is at least the distance to the oracle divided by this number. Two releases of the contract have 5 and
    /// 10, and the live pool's only observed step fits both.
    pub adjustment_divisor: u64,
    /// In this time the oracle covers half the way to the last price.
    pub ma_half_time: u64,
}

impl Parameters {
    /// The smallest `out_fee`, over 1e10.
    pub const FEE_MIN: u64 = 500_000;

    /// The parameters themselves when each is within the contract's bounds.
    ///
    /// # Errors
    /// [`MathError::ParameterOutOfRange`] names the first that is not.
    pub fn checked(self) -> Result<Self, MathError> {
        let refuse = |name, value, allowed| Err(MathError::ParameterOutOfRange { name, value, allowed });
        for precision in self.precisions {
            if precision.is_zero() || precision > PRECISION {
                return refuse("precision", precision, "1 to 1e18");
            }
        }
        if self.out_fee < int(Self::FEE_MIN) || self.out_fee > FEE_PRECISION {
            return refuse("out_fee", self.out_fee, "500000 to 1e10");
        }
        if self.mid_fee > self.out_fee {
            return refuse("mid_fee", self.mid_fee, "at most out_fee");
        }
        if self.admin_fee > FEE_PRECISION {
            return refuse("admin_fee", self.admin_fee, "at most 1e10");
        }
        if self.fee_gamma.is_zero() || self.fee_gamma >= PRECISION {
            return refuse("fee_gamma", self.fee_gamma, "1 to 1e18 - 1");
        }
        if self.allowed_extra_profit > PRECISION {
            return refuse("allowed_extra_profit", self.allowed_extra_profit, "at most 1e18");
        }
        if self.adjustment_step > PRECISION {
            return refuse("adjustment_step", self.adjustment_step, "at most 1e18");
        }
        if self.adjustment_divisor == 0 {
            return refuse("adjustment_divisor", U256::ZERO, "at least 1");
        }
        if self.ma_half_time == 0 {
            return refuse("ma_half_time", U256::ZERO, "at least 1");
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Parameters {
        Parameters {
            precisions: [int(10_000_000_000); 2],
            mid_fee: int(20_000_000),
            out_fee: int(80_000_000),
            fee_gamma: int(230_000_000_000_000),
            admin_fee: int(5_000_000_000),
            admin_fee_is_paid: true,
            allowed_extra_profit: int(2_000_000_000_000),
            adjustment_step: int(146_000_000_000_000),
            adjustment_divisor: 10,
            ma_half_time: 4,
        }
    }

    #[test]
    fn the_live_parameters_pass() {
        assert_eq!(live().checked(), Ok(live()));
    }

    #[test]
    fn each_parameter_out_of_bounds_is_named() {
        type Change = fn(&mut Parameters);
        let changes: [(&str, Change); 10] = [
            ("precision", |p| p.precisions[0] = U256::ZERO),
            ("precision", |p| p.precisions[1] = PRECISION + int(1)),
            ("out_fee", |p| p.out_fee = int(499_999)),
            ("mid_fee", |p| p.mid_fee = p.out_fee + int(1)),
            ("admin_fee", |p| p.admin_fee = FEE_PRECISION + int(1)),
            ("fee_gamma", |p| p.fee_gamma = PRECISION),
            ("allowed_extra_profit", |p| p.allowed_extra_profit = PRECISION + int(1)),
            ("adjustment_step", |p| p.adjustment_step = PRECISION + int(1)),
            ("adjustment_divisor", |p| p.adjustment_divisor = 0),
            ("ma_half_time", |p| p.ma_half_time = 0),
        ];
        for (expected, change) in changes {
            let mut parameters = live();
            change(&mut parameters);
            match parameters.checked() {
                Err(MathError::ParameterOutOfRange { name, .. }) => assert_eq!(name, expected),
                other => panic!("{expected}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_trade_needs_two_different_coins_that_exist() {
        assert_eq!(Coin::trade(0, 1), Ok((Coin::Zero, Coin::One)));
        assert_eq!(Coin::trade(1, 0), Ok((Coin::One, Coin::Zero)));
        assert_eq!(Coin::trade(1, 1), Err(MathError::SameCoin(1)));
        assert_eq!(Coin::trade(0, 2), Err(MathError::NoSuchCoin(2)));
        assert_eq!(Coin::trade(u128::MAX, 0), Err(MathError::NoSuchCoin(u128::MAX)));
    }
}
