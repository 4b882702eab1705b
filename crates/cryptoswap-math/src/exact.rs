//! Checked integer steps. Every function floors, none wraps, none panics.

use ruint::aliases::{U256, U512};

use super::{MathError, short};

pub(super) const fn int(value: u64) -> U256 {
    U256::from_limbs([value, 0, 0, 0])
}

/// A power of ten below 1e20.
pub(super) const fn ten_to(exponent: u32) -> U256 {
    let wide = 10u128.pow(exponent);
    U256::from_limbs([wide as u64, (wide >> 64) as u64, 0, 0])
}

pub(super) fn add(a: U256, b: U256) -> Result<U256, MathError> {
    a.checked_add(b).ok_or(MathError::Overflow)
}

pub(super) fn sub(a: U256, b: U256) -> Result<U256, MathError> {
    a.checked_sub(b).ok_or(MathError::Underflow)
}

pub(super) fn mul(a: U256, b: U256) -> Result<U256, MathError> {
    narrow(short::multiply(*a.as_limbs(), *b.as_limbs()))
}

pub(super) fn div(a: U256, b: U256) -> Result<U256, MathError> {
    match *b.as_limbs() {
        [0, 0, 0, 0] => Err(MathError::DivisionByZero),
        [divisor, 0, 0, 0] => Ok(U256::from_limbs(short::divide(*a.as_limbs(), divisor))),
        _ => a.checked_div(b).ok_or(MathError::DivisionByZero),
    }
}

/// floor(a * b / divisor) with the product in 512 bits.
pub(super) fn mul_div(a: U256, b: U256, divisor: U256) -> Result<U256, MathError> {
    let product = short::multiply(*a.as_limbs(), *b.as_limbs());
    match *divisor.as_limbs() {
        [0, 0, 0, 0] => Err(MathError::DivisionByZero),
        [divisor, 0, 0, 0] => narrow(short::divide(product, divisor)),
        _ => match narrow(product) {
            Ok(product) => div(product, divisor),
            Err(_) => narrow(*(U512::from_limbs(product) / U512::from(divisor)).as_limbs()),
        },
    }
}

/// The lower half, which must be all there is.
fn narrow(limbs: [u64; 8]) -> Result<U256, MathError> {
    match limbs {
        [a, b, c, d, 0, 0, 0, 0] => Ok(U256::from_limbs([a, b, c, d])),
        _ => Err(MathError::Overflow),
    }
}

#[cfg(test)]
mod tests {
    use ruint::UintTryFrom as _;

    use super::*;

    #[test]
    fn a_product_is_exact_beyond_256_bits() {
        let large = U256::MAX - int(5);
        assert_eq!(mul_div(large, large, large), Ok(large));
        assert_eq!(mul_div(U256::MAX, int(3), int(4)), Ok((U256::MAX >> 2) * int(3) + int(2)));
        assert_eq!(mul_div(U256::MAX, int(2), int(1)), Err(MathError::Overflow));
    }

    #[test]
    fn every_width_of_a_product_gives_the_same_quotient() {
        // Around the widths at which the way of computing changes.
        let widths = [1, 31, 32, 60, 63, 64, 65, 68, 96, 127, 128, 129, 160, 191, 192, 193, 255, 256];
        let of_width = |width: usize| {
            [U256::MAX >> (256 - width), U256::from(1) << (width - 1), (U256::MAX / int(3)) >> (256 - width)]
        };
        for a in widths.into_iter().flat_map(of_width) {
            for b in widths.into_iter().flat_map(of_width) {
                for divisor in widths.into_iter().flat_map(of_width).filter(|divisor| !divisor.is_zero()) {
                    let product: U512 = a.widening_mul(b);
                    let exact = U256::uint_try_from(product / U512::from(divisor)).map_err(|_| MathError::Overflow);
                    assert_eq!(mul_div(a, b, divisor), exact, "{a} * {b} / {divisor}");
                }
                let product: U512 = a.widening_mul(b);
                assert_eq!(mul(a, b), U256::uint_try_from(product).map_err(|_| MathError::Overflow), "{a} * {b}");
                assert_eq!(div(a, b), a.checked_div(b).ok_or(MathError::DivisionByZero), "{a} / {b}");
            }
        }
    }

    #[test]
    fn digits_at_their_ends_carry_and_borrow_as_they_must() {
        // Limbs of halves that are often all zeros, all ones or the highest bit alone: where an estimated digit is too large.
        let mut state = 1u64;
        let mut half = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match state >> 61 {
                0 | 1 => 0,
                2 | 3 => 0xffff_ffff,
                4 => 0x8000_0000,
                5 => 0x7fff_ffff,
                _ => (state >> 24) & 0xffff_ffff,
            }
        };
        let mut limb = || (half() << 32) | half();
        for _ in 0..100_000 {
            let [a, b] =
                [0; 2].map(|_: u8| U256::from_limbs([limb(), limb(), limb(), limb()]) >> (limb() % 256) as usize);
            let divisor = int(limb().max(1));
            let product: U512 = a.widening_mul(b);
            let exact = U256::uint_try_from(product / U512::from(divisor)).map_err(|_| MathError::Overflow);
            assert_eq!(mul_div(a, b, divisor), exact, "{a} * {b} / {divisor}");
            assert_eq!(div(a, divisor), Ok(a / divisor), "{a} / {divisor}");
        }
    }

    #[test]
    fn divisions_floor_and_zero_divisors_are_errors() {
        assert_eq!(mul_div(int(7), int(3), int(4)), Ok(int(5)));
        assert_eq!(mul_div(int(7), int(3), U256::ZERO), Err(MathError::DivisionByZero));
        assert_eq!(mul_div(U256::MAX, U256::MAX, U256::ZERO), Err(MathError::DivisionByZero));
        assert_eq!(div(int(1), U256::ZERO), Err(MathError::DivisionByZero));
    }

    #[test]
    fn sums_and_differences_outside_256_bits_are_errors() {
        assert_eq!(add(U256::MAX, int(1)), Err(MathError::Overflow));
        assert_eq!(mul(U256::MAX, int(2)), Err(MathError::Overflow));
        assert_eq!(sub(int(1), int(2)), Err(MathError::Underflow));
        assert_eq!(ten_to(33).to_string(), format!("1{}", "0".repeat(33)));
    }
}
