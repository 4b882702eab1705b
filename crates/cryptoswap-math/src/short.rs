//! Products, and division by one limb, digit by digit. Most numbers here have one limb or two, and in a contract, where every
//! instruction is paid for and none divides 128 bits, passing over the others costs a third of the general way.

/// Half a limb: what one machine division gives at a time.
const HALF: u32 = 32;
const LOW: u64 = 0xffff_ffff;

/// The whole product; limbs begin with the lowest.
pub(super) fn multiply(a: [u64; 4], b: [u64; 4]) -> [u64; 8] {
    let mut product = [0; 8];
    let lengths = [a, b].map(|limbs| limbs.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1));
    for (place, limb) in a[..lengths[0]].iter().enumerate() {
        let mut carried = 0;
        for (sum, other) in product[place..].iter_mut().zip(&b[..lengths[1]]) {
            // At most 2^128 - 1: (2^64 - 1)^2 and twice 2^64 - 1.
            let wide = u128::from(*limb) * u128::from(*other) + u128::from(*sum) + u128::from(carried);
            *sum = low(wide);
            carried = low(wide >> 64);
        }
        product[place + lengths[1]] = carried;
    }
    product
}

/// The lower 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "the upper half is taken separately")]
const fn low(wide: u128) -> u64 {
    wide as u64
}

/// `limbs / divisor`, rounded down; limbs begin with the lowest. The divisor must not be 0.
pub(super) fn divide<const N: usize>(mut limbs: [u64; N], divisor: u64) -> [u64; N] {
    let shift = divisor.leading_zeros();
    let divisor = divisor << shift;
    // Shifting dividend and divisor alike leaves the quotient as it is.
    let length = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1);
    let mut rest = 0;
    if shift > 0 {
        for limb in &mut limbs[..length] {
            let carried = *limb >> (64 - shift);
            *limb = (*limb << shift) | rest;
            rest = carried;
        }
    }
    for limb in limbs[..length].iter_mut().rev() {
        // Until the first digit of the quotient there is nothing to divide.
        if rest == 0 && *limb < divisor {
            rest = *limb;
            *limb = 0;
        } else {
            (*limb, rest) = step(rest, *limb, divisor);
        }
    }
    limbs
}

/// Quotient and rest of two limbs by one whose highest bit is set and that is larger than the higher limb.
fn step(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    let (first, rest) = half_step(high, low >> HALF, divisor);
    let (second, rest) = half_step(rest, low & LOW, divisor);
    ((first << HALF) | second, rest)
}

/// Quotient of half a limb, and rest, of `high` with the half limb `next` behind it.
fn half_step(high: u64, next: u64, divisor: u64) -> (u64, u64) {
    let (upper, lower) = (divisor >> HALF, divisor & LOW);
    let mut quotient = high / upper;
    let mut over = high - quotient * upper;
    // The estimate is at most two too large.
    while quotient > LOW || quotient * lower > ((over << HALF) | next) {
        quotient -= 1;
        over += upper;
        if over > LOW {
            break;
        }
    }
    let rest = ((high << HALF) | next).wrapping_sub(quotient.wrapping_mul(divisor));
    (quotient, rest)
}
