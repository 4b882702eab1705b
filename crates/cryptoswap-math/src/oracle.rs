//! The pool's own average of prices, and the price of a liquidity token that follows from it.

use ruint::aliases::U256;

use super::exact::{add, div, int, mul, mul_div, sub, ten_to};
use super::{MathError, PRECISION};

/// The series for a fractional power ends with the first term below this.
const TERM_MIN: U256 = ten_to(10);

/// From this many halvings on the result is zero.
const HALVINGS_MAX: u64 = 59;

/// 0.5 to the power of `power` / 1e18, over 1e18.
///
/// # Errors
/// [`MathError::NotConverged`] if 255 terms do not suffice (they always do below 1e18).
pub fn half_power(power: U256) -> Result<U256, MathError> {
    let (whole, fraction) = power.div_rem(PRECISION);
    if whole > int(HALVINGS_MAX) {
        return Ok(U256::ZERO);
    }
    let result = PRECISION >> whole.wrapping_to::<usize>();
    if fraction.is_zero() {
        return Ok(result);
    }
    // The binomial series of (1 - 1/2)^fraction. Each factor is (fraction - k) * (-1/2): the one for k = 0 turns the sign, the
    // others are positive and leave it.
    let half = PRECISION >> 1;
    let mut term = PRECISION;
    let mut sum = PRECISION;
    let mut negative = false;
    for k in 1u64..256 {
        let divisor = mul(int(k), PRECISION)?;
        let previous = divisor - PRECISION;
        if fraction > previous {
            negative = !negative;
        }
        term = mul_div(term, mul_div(fraction.abs_diff(previous), half, PRECISION)?, divisor)?;
        sum = if negative { sub(sum, term)? } else { add(sum, term)? };
        if term < TERM_MIN {
            return mul_div(result, sum, PRECISION);
        }
    }
    Err(MathError::NotConverged("a power of one half"))
}

/// The oracle after `elapsed` since it was last moved: it covers half the way to `last` in each `half_time`.
///
/// # Errors
/// [`MathError::DivisionByZero`] for a half time of zero; [`MathError::Overflow`] for prices outside any pool.
pub fn moving_average(oracle: U256, last: U256, elapsed: u64, half_time: u64) -> Result<U256, MathError> {
    if elapsed == 0 {
        return Ok(oracle);
    }
    let kept = half_power(mul_div(int(elapsed), PRECISION, int(half_time))?)?;
    div(add(mul(last, sub(PRECISION, kept)?)?, mul(oracle, kept)?)?, PRECISION)
}

/// The square root in 1e18 fixed point by the Babylonian rule.
///
/// # Errors
/// [`MathError::NotConverged`] when 256 rounds do not settle it, as happens when the rule swings between two neighbours.
pub fn square_root(x: U256) -> Result<U256, MathError> {
    if x.is_zero() {
        return Ok(U256::ZERO);
    }
    let mut next = add(x, PRECISION)? >> 1;
    let mut root = x;
    for _ in 0..256 {
        if next == root {
            return Ok(root);
        }
        root = next;
        next = add(mul_div(x, PRECISION, root)?, root)? >> 1;
    }
    Err(MathError::NotConverged("a square root"))
}

/// The price of a liquidity token in coin 0, over 1e18, from the *stored* virtual price and the oracle of now.
///
/// # Errors
/// As [`square_root`].
pub fn lp_price(virtual_price: U256, oracle: U256) -> Result<U256, MathError> {
    mul_div(mul(int(2), virtual_price)?, square_root(oracle)?, PRECISION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_of_one_half_are_exact() {
        assert_eq!(half_power(U256::ZERO), Ok(PRECISION));
        for halvings in 0..60u64 {
            assert_eq!(half_power(mul(int(halvings), PRECISION).unwrap()), Ok(PRECISION >> halvings as usize));
        }
        assert_eq!(half_power(mul(int(60), PRECISION).unwrap()), Ok(U256::ZERO));
        assert_eq!(half_power(U256::MAX), Ok(U256::ZERO));
    }

    #[test]
    fn a_fractional_power_is_close_to_the_true_one() {
        // 0.5^0.5 = 0.70710678118654752440...; the series ends at 1e-8 of its last term.
        let root = half_power(ten_to(17) * int(5)).unwrap();
        assert!(root.abs_diff(int(707_106_781_186_547_524)) < ten_to(10) * int(3), "{root}");
    }

    #[test]
    fn powers_fall_as_the_exponent_grows() {
        let mut last = U256::MAX;
        for step in 0..400u64 {
            let value = half_power(int(step) * ten_to(16)).unwrap();
            assert!(value <= last);
            last = value;
        }
    }

    #[test]
    fn the_average_goes_half_the_way_in_the_half_time() {
        let (oracle, last) = (ten_to(18), ten_to(18) * int(3));
        assert_eq!(moving_average(oracle, last, 0, 600), Ok(oracle));
        assert_eq!(moving_average(oracle, last, 600, 600), Ok(ten_to(18) * int(2)));
        assert_eq!(moving_average(oracle, last, 600 * 60, 600), Ok(last));
        assert_eq!(moving_average(oracle, last, 1, 0), Err(MathError::DivisionByZero));
    }

    #[test]
    fn square_roots_of_squares_are_exact() {
        for root in [1u64, 2, 3, 10, 12_345, 4_000_000_000] {
            let x = int(root) * int(root) * PRECISION;
            assert_eq!(square_root(x), Ok(int(root) * PRECISION));
        }
        assert_eq!(square_root(U256::ZERO), Ok(U256::ZERO));
        assert_eq!(square_root(U256::MAX), Err(MathError::Overflow));
    }
}
