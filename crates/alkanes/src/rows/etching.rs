use super::Parser;
use crate::StateError;
use crate::codec::append_varint;

/// A base rune as it was etched (protocol B20). Its id contains the height of the etching.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Etching {
    /// The number that the name stands for.
    pub name: u128,
    /// Decimals; 0 when none were given.
    pub divisibility: u8,
    /// Units that the etching itself made.
    pub premine: u128,
    /// Bullets between letters.
    pub spacers: u32,
    /// Currency sign; `¤` when none was given.
    pub symbol: char,
    /// Units of each mint.
    pub amount: u128,
    /// Number of mints.
    pub cap: u128,
    /// First height of minting; 0 when none was given. So are the next three.
    pub height_start: u64,
    /// Height at which minting is over.
    pub height_end: u64,
    /// As [`Self::height_start`], counted from the etching.
    pub offset_start: u64,
    /// As [`Self::height_end`], counted from the etching.
    pub offset_end: u64,
}

impl Etching {
    /// Eleven varints.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let [height_start, height_end, offset_start, offset_end] =
            [self.height_start, self.height_end, self.offset_start, self.offset_end].map(u128::from);
        for number in [
            self.name,
            u128::from(self.divisibility),
            self.premine,
            u128::from(self.spacers),
            u128::from(u32::from(self.symbol)),
            self.amount,
            self.cap,
            height_start,
            height_end,
            offset_start,
            offset_end,
        ] {
            append_varint(number, &mut bytes);
        }
        bytes
    }

    /// Decodes a row of [`Self::encode`].
    ///
    /// # Errors
    /// The bytes are not an etching.
    pub fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("etchings", bytes);
        let etching = Self {
            name: parser.varint()?,
            divisibility: parser.small()?,
            premine: parser.varint()?,
            spacers: parser.small()?,
            symbol: char::from_u32(parser.small()?).ok_or_else(|| parser.damaged())?,
            amount: parser.varint()?,
            cap: parser.varint()?,
            height_start: parser.small()?,
            height_end: parser.small()?,
            offset_start: parser.small()?,
            offset_end: parser.small()?,
        };
        if parser.is_empty() { Ok(etching) } else { Err(parser.damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn etchings_round_trip(
            numbers: (u128, u128, u128, u128), symbol: char, divisibility: u8, spacers: u32, heights: [u64; 4],
        ) {
            let (name, premine, amount, cap) = numbers;
            let [height_start, height_end, offset_start, offset_end] = heights;
            let etching = Etching {
                name, divisibility, premine, spacers, symbol, amount, cap,
                height_start, height_end, offset_start, offset_end,
            };
            prop_assert_eq!(Etching::decode(&etching.encode()).unwrap(), etching);
        }
    }
}
