//! The amount of a conversion.

use crate::decimal::{AMOUNT_DIGITS_MAX, Decimal, DecimalError};

/// A non-negative amount of at most 64 digits, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(pub(crate) Decimal);

/// A text is no amount (docs/forex.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not decimal digits with at most one point.
    #[error("amount must be a decimal number such as \"12.5\"")]
    NotANumber,
    /// Below zero.
    #[error("amount must not be negative")]
    Negative,
    /// Too many digits.
    #[error("amount must have at most 64 digits")]
    TooLong,
}

impl std::str::FromStr for Amount {
    type Err = AmountError;

    /// Reads a decimal number, also one with an exponent.
    fn from_str(text: &str) -> Result<Self, AmountError> {
        Decimal::parse(text, AMOUNT_DIGITS_MAX).map(Self).map_err(|error| match error {
            DecimalError::NotANumber => AmountError::NotANumber,
            DecimalError::Negative => AmountError::Negative,
            DecimalError::TooLong => AmountError::TooLong,
        })
    }
}
