//! The slow change of the curve from one shape to another.

use ruint::aliases::U256;

use super::exact::{add, int, mul, mul_div, ten_to};
use super::parameters::Curve;
use super::{MathError, PRECISION};

/// At most ten times up or down in one ramp.
const CHANGE_MAX: u64 = 10;

/// The curve as a function of time: constant, or on a straight line from one shape to the next.
///
/// The end time is kept after the end, because the invariant must be computed anew once with the final curve. A trade, a
/// deposit or a one-sided withdrawal then sets it to 1 and, when the price has been dealt with, to 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ramp {
    /// The shape at `begin`.
    pub initial: Curve,
    /// The shape from `end` on.
    pub future: Curve,
    /// When the line begins.
    pub begin: u64,
    /// When the line ends; 0 when nothing moves, 1 for the rest of the operation that saw the end.
    pub end: u64,
}

impl Ramp {
    /// A curve that does not move.
    #[must_use]
    pub fn still(curve: Curve) -> Self {
        Ramp { initial: curve, future: curve, begin: 0, end: 0 }
    }

    /// The curve at a time.
    ///
    /// # Errors
    /// [`MathError::Underflow`] for a time before `begin` of a ramp that has not ended.
    pub fn at(&self, now: u64) -> Result<Curve, MathError> {
        if now >= self.end {
            return Ok(self.future);
        }
        let elapsed = now.checked_sub(self.begin).ok_or(MathError::Underflow)?;
        let (elapsed, left, whole) = (int(elapsed), int(self.end - now), int(self.end - self.begin));
        let between = |from, to| mul_div(add(mul(from, left)?, mul(to, elapsed)?)?, int(1), whole);
        Ok(Curve {
            ann: between(self.initial.ann, self.future.ann)?,
            gamma: between(self.initial.gamma, self.future.gamma)?,
        })
    }

    /// Whether the invariant must be computed anew before it is used.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.end > 0
    }

    /// Whether the curve still moves at this time: what the pool index tells as `ramping`.
    #[must_use]
    pub fn is_moving(&self, now: u64) -> bool {
        now < self.end
    }

    /// Begins a ramp at `now` that reaches `future` at `end`.
    ///
    /// `shortest` is the least time that a ramp may last, and that must have passed since the last one began (a day in the
    /// contract's clock).
    ///
    /// # Errors
    /// [`MathError::RampTooShort`], [`MathError::RampTooSteep`], or `future` outside the curve's bounds.
    pub fn begin(&self, now: u64, future: Curve, end: u64, shortest: u64) -> Result<Self, MathError> {
        let initial = self.at(now)?;
        for (begin, end) in [(self.begin, now), (now, end)] {
            if end < begin.saturating_add(shortest) {
                return Err(MathError::RampTooShort { begin, end, shortest });
            }
        }
        let future = future.checked()?;
        for (name, from, to) in [("ann", initial.ann, future.ann), ("gamma", initial.gamma, future.gamma)] {
            let ratio = mul_div(PRECISION, to, from)?;
            if ratio > mul(PRECISION, int(CHANGE_MAX))? || ratio < ten_to(17) {
                return Err(MathError::RampTooSteep { name, from, to });
            }
        }
        Ok(Ramp { initial, future, begin: now, end })
    }

    /// Stops a ramp where it is.
    ///
    /// # Errors
    /// As [`Ramp::at`].
    pub fn stop(&self, now: u64) -> Result<Self, MathError> {
        let curve = self.at(now)?;
        Ok(Ramp { initial: curve, future: curve, begin: now, end: now })
    }

    /// Notes at `now` that an operation saw the end, if there was one to see.
    pub(super) fn note_end(&mut self, now: u64) {
        if now >= self.end {
            self.end = 1;
        }
    }
}

/// The curve with `ann` and `gamma` as plain numbers.
impl From<(u64, u64)> for Curve {
    fn from((ann, gamma): (u64, u64)) -> Self {
        Curve { ann: U256::from(ann), gamma: U256::from(gamma) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(ann: u64, gamma: u64) -> Curve {
        Curve::from((ann, gamma))
    }

    const FROM: (u64, u64) = (400_000, 145_000_000_000_000);

    #[test]
    fn a_still_curve_never_moves() {
        let ramp = Ramp::still(FROM.into());
        for now in [0, 1, u64::MAX] {
            assert_eq!(ramp.at(now), Ok(FROM.into()));
            assert!(!ramp.is_moving(now));
        }
        assert!(!ramp.is_pending());
    }

    #[test]
    fn a_ramp_is_a_straight_line_with_both_ends() {
        let ramp = Ramp::still(FROM.into()).begin(1_000, curve(800_000, 290_000_000_000_000), 1_400, 144).unwrap();
        assert_eq!(ramp.at(1_000), Ok(FROM.into()));
        assert_eq!(ramp.at(1_100), Ok(curve(500_000, 181_250_000_000_000)));
        assert_eq!(ramp.at(1_399), Ok(curve(799_000, 289_637_500_000_000)));
        assert_eq!(ramp.at(1_400), Ok(curve(800_000, 290_000_000_000_000)));
        assert!(ramp.is_moving(1_399) && !ramp.is_moving(1_400));
        assert_eq!(ramp.at(999), Err(MathError::Underflow));
    }

    #[test]
    fn a_ramp_downwards_floors() {
        let ramp = Ramp::still(FROM.into()).begin(1_000, curve(200_000, 100_000_000_000_000), 1_003, 0).unwrap();
        assert_eq!(ramp.at(1_001), Ok(curve(333_333, 130_000_000_000_000)));
        assert_eq!(ramp.at(1_002), Ok(curve(266_666, 115_000_000_000_000)));
    }

    #[test]
    fn a_stopped_ramp_stays_where_it_is_and_is_seen_once_more() {
        let ramp = Ramp::still(FROM.into()).begin(1_000, curve(800_000, 290_000_000_000_000), 1_400, 144).unwrap();
        let stopped = ramp.stop(1_100).unwrap();
        assert_eq!(stopped.at(5_000), Ok(curve(500_000, 181_250_000_000_000)));
        assert!(stopped.is_pending() && !stopped.is_moving(1_100));
    }

    #[test]
    fn short_and_steep_ramps_are_refused() {
        let still = Ramp::still(FROM.into());
        let to = curve(500_000, FROM.1);
        assert!(matches!(still.begin(1_000, to, 1_143, 144), Err(MathError::RampTooShort { end: 1_143, .. })));
        let ramp = still.begin(1_000, to, 1_144, 144).unwrap();
        assert!(matches!(ramp.begin(1_143, to, 9_999, 144), Err(MathError::RampTooShort { begin: 1_000, .. })));
        for (name, to) in [
            ("ann", curve(4_000_001, FROM.1)),
            ("ann", curve(39_999, FROM.1)),
            ("gamma", curve(FROM.0, 14_499_999_999_999)),
        ] {
            match still.begin(1_000, to, 2_000, 144) {
                Err(MathError::RampTooSteep { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{other:?}"),
            }
        }
        assert!(still.begin(1_000, curve(4_000_000, 1_450_000_000_000_000), 2_000, 144).is_ok());
        assert!(still.begin(1_000, curve(40_000, 14_500_000_000_000), 2_000, 144).is_ok());
        let outside = curve(3_999, FROM.1);
        assert_eq!(still.begin(1_000, outside, 2_000, 144), Err(MathError::AnnOutOfRange(int(3_999))));
    }
}
