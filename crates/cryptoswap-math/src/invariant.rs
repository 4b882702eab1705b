//! The curve: its invariant `D`, and one balance from the other. Both are Newton iterations over integers.

use ruint::aliases::U256;

use super::exact::{add, div, int, mul, mul_div, sub, ten_to};
use super::parameters::Curve;
use super::{A_MULTIPLIER, Coin, MathError, PRECISION};

/// An iteration of ours settles within twenty rounds; one that needs more than this does not settle.
const ROUNDS_MAX: usize = 255;

/// A balance relative to `D` must lie between a hundredth and a hundredfold.
const SHARE_MIN: U256 = ten_to(16);
const SHARE_MAX: U256 = U256::from_limbs([7_766_279_631_452_241_920, 5, 0, 0]);

/// The smallest of two normalised balances may be this part of the larger, over 1e18.
const RATIO_MIN: U256 = ten_to(14);

/// The geometric mean of two numbers by Newton's rule from the larger one; may stop one unit beside the floored root.
///
/// # Errors
/// [`MathError::DivisionByZero`] when both are zero, [`MathError::NotConverged`] when 255 rounds do not settle it.
pub fn geometric_mean(x: [U256; 2]) -> Result<U256, MathError> {
    let [large, small] = descending(x);
    let mut mean = large;
    for _ in 0..ROUNDS_MAX {
        let before = mean;
        mean = add(mean, mul_div(large, small, mean)?)? >> 1;
        let step = mean.abs_diff(before);
        if step <= int(1) || mul(step, PRECISION)? < mean {
            return Ok(mean);
        }
    }
    Err(MathError::NotConverged("the geometric mean"))
}

/// The invariant of two normalised balances.
///
/// # Errors
/// When the larger balance is outside 1e9 to 1e33, the smaller one below a ten-thousandth of it, either outside a hundredth
/// to a hundredfold of the result, the curve's parameters out of bounds, or the iteration does not settle.
pub fn newton_d(curve: Curve, x: [U256; 2]) -> Result<U256, MathError> {
    let Curve { ann, gamma } = curve.checked()?;
    let [large, small] = descending(x);
    if large < ten_to(9) || large > ten_to(33) {
        return Err(MathError::BalanceOutOfRange(large));
    }
    if mul_div(small, PRECISION, large)? < RATIO_MIN {
        return Err(MathError::BalanceOutOfRange(small));
    }
    let sum = add(large, small)?;
    let mut d = mul(int(2), geometric_mean([large, small])?)?;
    for _ in 0..ROUNDS_MAX {
        let before = d;
        let k0 = mul_div(mul_div(mul(int(4), PRECISION)?, large, d)?, small, d)?;
        let distance = distance_to_balance(gamma, k0)?;
        let m1 = m1(ann, gamma, d, distance)?;
        let m2 = mul_div(mul(int(4), PRECISION)?, k0, distance)?;
        let slope = add(sum, mul_div(sum, m2, PRECISION)?)?;
        let slope = add(slope, mul_div(m1, int(2), k0)?)?;
        let slope = sub(slope, mul_div(m2, d, PRECISION)?)?;

        let plus = mul_div(d, add(slope, sum)?, slope)?;
        let minus = mul_div(d, d, slope)?;
        let correction = mul_div(d, div(m1, slope)?, PRECISION)?;
        let correction = mul_div(correction, k0.abs_diff(PRECISION), k0)?;
        let minus = if k0 < PRECISION { add(minus, correction)? } else { sub(minus, correction)? };

        d = if plus > minus { plus - minus } else { (minus - plus) >> 1 };
        if mul(d.abs_diff(before), ten_to(14))? < d.max(ten_to(16)) {
            for balance in [large, small] {
                check_share(balance, d)?;
            }
            return Ok(d);
        }
    }
    Err(MathError::NotConverged("the invariant"))
}

/// The normalised balance of `coin` that goes with the other balance in `x` on the curve of invariant `d`.
///
/// # Errors
/// When `d` is outside 1e17 to 1e33, either balance outside a hundredth to a hundredfold of it, the curve's parameters out of
/// bounds, or the iteration does not settle.
pub fn newton_y(curve: Curve, x: [U256; 2], d: U256, coin: Coin) -> Result<U256, MathError> {
    let Curve { ann, gamma } = curve.checked()?;
    if d < ten_to(17) || d > ten_to(33) {
        return Err(MathError::InvariantOutOfRange(d));
    }
    let other = x[coin.other().index()];
    let mut y = mul_div(d, d, mul(other, int(4))?)?;
    let k0_other = mul_div(mul(int(2), PRECISION)?, other, d)?;
    if k0_other < SHARE_MIN << 1 || k0_other > SHARE_MAX << 1 {
        return Err(MathError::BalanceOutOfRange(other));
    }
    let tolerance = (other / ten_to(14)).max(d / ten_to(14)).max(int(100));
    for _ in 0..ROUNDS_MAX {
        let before = y;
        let k0 = mul_div(mul(k0_other, y)?, int(2), d)?;
        let sum = add(other, y)?;
        let distance = distance_to_balance(gamma, k0)?;
        let m1 = m1(ann, gamma, d, distance)?;
        let m2 = add(PRECISION, mul_div(mul(int(2), PRECISION)?, k0, distance)?)?;

        let value = add(add(mul(PRECISION, y)?, mul(sum, m2)?)?, m1)?;
        let target = mul(d, m2)?;
        if value < target {
            y = before >> 1;
            continue;
        }
        let value = value - target;
        let slope = div(value, y)?;
        let share = div(m1, slope)?;
        let plus = add(div(add(value, mul(PRECISION, d)?)?, slope)?, mul_div(share, PRECISION, k0)?)?;
        let minus = add(share, mul_div(PRECISION, sum, slope)?)?;
        y = if plus < minus { before >> 1 } else { plus - minus };

        if y.abs_diff(before) < tolerance.max(y / ten_to(14)) {
            check_share(y, d)?;
            return Ok(y);
        }
    }
    Err(MathError::NotConverged("a balance on the curve"))
}

fn descending([a, b]: [U256; 2]) -> [U256; 2] {
    if a < b { [b, a] } else { [a, b] }
}

/// |gamma + 1 - K0| + 1, over 1e18.
fn distance_to_balance(gamma: U256, k0: U256) -> Result<U256, MathError> {
    add(add(gamma, PRECISION)?.abs_diff(k0), int(1))
}

/// D * distance^2 / gamma^2 / A, floored after each of the four divisions.
fn m1(ann: U256, gamma: U256, d: U256, distance: U256) -> Result<U256, MathError> {
    let m1 = mul_div(PRECISION, d, gamma)?;
    let m1 = mul_div(m1, distance, gamma)?;
    mul_div(m1, mul(distance, int(A_MULTIPLIER))?, ann)
}

fn check_share(balance: U256, d: U256) -> Result<(), MathError> {
    let share = mul_div(balance, PRECISION, d)?;
    if share < SHARE_MIN || share > SHARE_MAX {
        return Err(MathError::BalanceOutOfRange(balance));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve = Curve { ann: int(400_000), gamma: int(145_000_000_000_000) };

    fn wei(units: u64) -> U256 {
        int(units) * PRECISION
    }

    #[test]
    fn the_bounds_are_the_powers_of_ten_that_they_are_named_for() {
        assert_eq!(SHARE_MAX, int(10).pow(int(20)));
        assert_eq!(SHARE_MIN, int(10).pow(int(16)));
    }

    #[test]
    fn the_geometric_mean_does_not_depend_on_the_order() {
        assert_eq!(geometric_mean([wei(4), wei(9)]), Ok(wei(6)));
        assert_eq!(geometric_mean([wei(9), wei(4)]), Ok(wei(6)));
        assert_eq!(geometric_mean([U256::ZERO, int(5)]), Ok(int(1)), "it stops one unit beside");
        assert_eq!(geometric_mean([U256::ZERO; 2]), Err(MathError::DivisionByZero));
    }

    #[test]
    fn a_balanced_pool_has_the_sum_as_its_invariant() {
        assert_eq!(newton_d(CURVE, [wei(50), wei(50)]), Ok(wei(100)));
    }

    #[test]
    fn a_curve_out_of_bounds_is_refused_by_both_iterations() {
        for ann in [int(3_999), int(4_000_000_001)] {
            let curve = Curve { ann, ..CURVE };
            assert_eq!(newton_d(curve, [wei(1), wei(1)]), Err(MathError::AnnOutOfRange(ann)));
            assert_eq!(newton_y(curve, [wei(1), wei(1)], wei(2), Coin::One), Err(MathError::AnnOutOfRange(ann)));
        }
        for gamma in [int(9_999_999_999), int(20_000_000_000_000_001)] {
            let curve = Curve { gamma, ..CURVE };
            assert_eq!(newton_d(curve, [wei(1), wei(1)]), Err(MathError::GammaOutOfRange(gamma)));
            assert_eq!(newton_y(curve, [wei(1), wei(1)], wei(2), Coin::One), Err(MathError::GammaOutOfRange(gamma)));
        }
    }

    #[test]
    fn balances_outside_the_curve_are_refused() {
        let refused = |x| matches!(newton_d(CURVE, x), Err(MathError::BalanceOutOfRange(_)));
        assert!(refused([U256::ZERO; 2]));
        assert!(refused([ten_to(9) - int(1); 2]));
        assert!(refused([ten_to(33) + int(1), wei(1)]));
        assert!(refused([wei(10_000), wei(1) - int(1)]), "a ten-thousandth");
        assert!(newton_d(CURVE, [ten_to(9); 2]).is_ok());
        assert!(newton_d(CURVE, [U256::MAX; 2]).is_err());
    }

    #[test]
    fn an_invariant_outside_the_curve_is_refused() {
        let outside = |d| matches!(newton_y(CURVE, [d, d], d, Coin::Zero), Err(MathError::InvariantOutOfRange(_)));
        assert!(outside(ten_to(17) - int(1)));
        assert!(outside(ten_to(33) + int(1)));
        assert!(outside(U256::MAX));
        assert!(!outside(ten_to(17)));
        let small = newton_y(CURVE, [wei(1), wei(1)], wei(101), Coin::Zero);
        assert_eq!(small, Err(MathError::BalanceOutOfRange(wei(1))));
        let large = newton_y(CURVE, [wei(1_001), wei(1_001)], wei(10), Coin::Zero);
        assert_eq!(large, Err(MathError::BalanceOutOfRange(wei(1_001))));
    }
}
