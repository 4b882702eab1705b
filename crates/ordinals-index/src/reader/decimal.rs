use std::fmt;

use serde::{Serialize, Serializer};

/// An amount with its decimals, without zeros at the end; written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) value: u128,
    /// At most 38.
    pub(super) scale: u8,
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.value, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let fraction = fraction.trim_end_matches('0');
        formatter.write_str(whole)?;
        if fraction.is_empty() { Ok(()) } else { write!(formatter, ".{fraction}") }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn decimals_are_exact_and_end_in_no_zero() {
        for (value, scale, text) in [
            (0, 0, "0"),
            (0, 38, "0"),
            (1, 0, "1"),
            (10, 1, "1"),
            (15, 1, "1.5"),
            (1, 3, "0.001"),
            (u128::MAX, 38, "3.40282366920938463463374607431768211455"),
            (u128::MAX, 0, "340282366920938463463374607431768211455"),
        ] {
            assert_eq!(Decimal { value, scale }.to_string(), text);
        }
    }
}
