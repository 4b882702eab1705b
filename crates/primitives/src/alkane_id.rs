use std::fmt;
use std::str::FromStr;

/// Identifier of an alkanes contract, written `block:tx` in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AlkaneId {
    /// First part; 128 bits on the wire.
    pub block: u128,
    /// Second part; 128 bits on the wire.
    pub tx: u128,
}

/// The text is not two decimal integers joined by a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an alkane id is written block:tx, two decimal integers joined by a colon, for example 2:0")]
pub struct ParseAlkaneIdError;

impl fmt::Display for AlkaneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.block, self.tx)
    }
}

impl FromStr for AlkaneId {
    type Err = ParseAlkaneIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (block, tx) = text.split_once(':').ok_or(ParseAlkaneIdError)?;
        Ok(Self { block: parse_part(block)?, tx: parse_part(tx)? })
    }
}

fn parse_part(text: &str) -> Result<u128, ParseAlkaneIdError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseAlkaneIdError);
    }
    text.parse().map_err(|_| ParseAlkaneIdError)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_signs_spaces_hex_and_overflow() {
        for text in [
            "",
            ":",
            "2",
            "2:",
            ":0",
            "2:0:0",
            "+2:0",
            "-2:0",
            " 2:0",
            "0x2:0",
            "2:340282366920938463463374607431768211456",
        ] {
            assert!(text.parse::<AlkaneId>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(block: u128, tx: u128) {
            let id = AlkaneId { block, tx };
            prop_assert_eq!(id.to_string().parse::<AlkaneId>(), Ok(id));
        }
    }
}
