//! How much of a deposit may be converted into BTC.

use alloy_primitives::U256;

use crate::bridge_data::BPS_WHOLE;

/// A conversion may ask for this part of the pool's USD reserve, in basis points (docs/bridge.md).
const CAP_BPS: u32 = 1_000;

/// The USD token has 8 decimals, the stablecoins 6.
const MINT_PER_BASE_UNIT: u32 = 100;

/// A deposit beside the pool that would convert it.
///
/// Over the cap the coordinator refuses the conversion and pays plain USD token; the deposit still succeeds and no error is
/// raised. The coordinator reads the reserve at its own time, which may be smaller than the one given here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversionCap {
    /// The pool's reserve of the USD token, in its base units (8 decimals).
    pub reserve: U256,
    /// The deposit in base units of the stablecoin (6 decimals), before fees, so that the answer errs on the safe side.
    pub amount: U256,
}

/// Why a conversion is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CapError {
    /// A deposit of nothing.
    #[error("the amount is zero")]
    AmountZero,
    /// `convert_bps` above 10000.
    #[error("convert_bps {0} is out of range: 0 to 10000")]
    ConvertBps(u32),
    /// More than any stablecoin has.
    #[error("the amount or the reserve is larger than any supply")]
    TooLarge,
    /// Above a tenth of the reserve.
    #[error(
        "converting {asked_bps} bps is over the cap of a tenth of the pool's USD reserve: plain USD token would be paid; \
         at most {largest_bps} bps pass"
    )]
    OverCap {
        /// The requested share.
        asked_bps: u32,
        /// The largest share that passes now; 0 when none does.
        largest_bps: u32,
    },
}

impl ConversionCap {
    /// What the deposit mints, fees aside, in base units of the USD token.
    ///
    /// # Errors
    /// [`CapError::AmountZero`], [`CapError::TooLarge`].
    pub fn mint(&self) -> Result<U256, CapError> {
        if self.amount.is_zero() {
            return Err(CapError::AmountZero);
        }
        self.amount.checked_mul(U256::from(MINT_PER_BASE_UNIT)).ok_or(CapError::TooLarge)
    }

    /// The largest `convert_bps` that is not over the cap, 0 to 10000.
    ///
    /// # Errors
    /// [`CapError::AmountZero`], [`CapError::TooLarge`].
    pub fn largest_bps(&self) -> Result<u32, CapError> {
        let mint = self.mint()?;
        let allowed = self.reserve.checked_mul(U256::from(CAP_BPS)).ok_or(CapError::TooLarge)?;
        let largest = (allowed / mint).min(U256::from(BPS_WHOLE));
        Ok(largest.wrapping_to::<u32>())
    }

    /// Whether a share passes: over the cap means mint * `convert_bps` > reserve * 1000.
    ///
    /// # Errors
    /// [`CapError::OverCap`] names the largest share that passes; nothing is lowered to it.
    pub fn check(&self, convert_bps: u32) -> Result<(), CapError> {
        if convert_bps > BPS_WHOLE {
            return Err(CapError::ConvertBps(convert_bps));
        }
        let largest_bps = self.largest_bps()?;
        if convert_bps > largest_bps { Err(CapError::OverCap { asked_bps: convert_bps, largest_bps }) } else { Ok(()) }
    }

    /// What a conversion takes of the reserve, in basis points, rounded down.
    ///
    /// # Errors
    /// [`CapError::TooLarge`], also for an empty reserve.
    pub fn depth_bps(&self, convert_bps: u32) -> Result<U256, CapError> {
        let taken = self.mint()?.checked_mul(U256::from(convert_bps)).ok_or(CapError::TooLarge)?;
        taken.checked_div(self.reserve).ok_or(CapError::TooLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(reserve: u64, amount: u64) -> ConversionCap {
        ConversionCap { reserve: U256::from(reserve), amount: U256::from(amount) }
    }

    /// row BR05
    #[test]
    fn the_published_cases() {
        assert_eq!(cap(585_400_000_000, 100_000_000).largest_bps(), Ok(10_000));
        assert_eq!(cap(585_400_000_000, 100_000_000_000).largest_bps(), Ok(58));
        assert_eq!(cap(1_881_214_389_078, 1_000_000_000).depth_bps(10_000), Ok(U256::from(531)));
    }

    /// row BR05
    #[test]
    fn exactly_a_tenth_passes_and_one_more_does_not() {
        let even = cap(1_000_000_000_000, 1_000_000_000);
        assert_eq!(even.check(10_000), Ok(()));
        let over = cap(1_000_000_000_000, 1_000_000_001);
        assert_eq!(over.check(10_000), Err(CapError::OverCap { asked_bps: 10_000, largest_bps: 9_999 }));
        assert_eq!(over.check(9_999), Ok(()));
    }

    /// row BR05
    #[test]
    fn nothing_is_clamped() {
        let small = cap(585_400_000_000, 100_000_000_000);
        assert_eq!(small.check(59), Err(CapError::OverCap { asked_bps: 59, largest_bps: 58 }));
        assert_eq!(cap(0, 1).check(1), Err(CapError::OverCap { asked_bps: 1, largest_bps: 0 }));
        assert_eq!(cap(0, 1).check(0), Ok(()));
        assert_eq!(cap(1, 0).check(1), Err(CapError::AmountZero));
    }

    /// row BR04
    #[test]
    fn a_share_above_the_whole_is_refused() {
        assert_eq!(cap(u64::MAX, 1).check(10_001), Err(CapError::ConvertBps(10_001)));
        assert_eq!(cap(u64::MAX, 1).check(10_000), Ok(()));
    }

    #[test]
    fn amounts_beyond_any_supply_are_refused() {
        let huge = ConversionCap { reserve: U256::from(1), amount: U256::MAX };
        assert_eq!(huge.check(1), Err(CapError::TooLarge));
        let deep = ConversionCap { reserve: U256::MAX, amount: U256::from(1) };
        assert_eq!(deep.check(1), Err(CapError::TooLarge));
        assert_eq!(cap(0, 1).depth_bps(1), Err(CapError::TooLarge));
    }
}
