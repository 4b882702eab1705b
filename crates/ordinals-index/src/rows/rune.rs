use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use ordinals::{Rune, RuneId, SpacedRune, Terms};
use serde::Serialize;

use super::{Fields, RowError, put_optional, put_varint};

/// A rune, with what was minted and burned of it. Written as JSON it is the entry of `ord`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuneEntry {
    /// Height of the etching.
    pub block: u64,
    /// Burned, in units of the last decimal.
    pub burned: u128,
    /// Decimals.
    pub divisibility: u8,
    /// Transaction that etched it.
    pub etching: Txid,
    /// How often it was minted.
    pub mints: u128,
    /// How many runes came before it.
    pub number: u64,
    /// What the etching issued.
    pub premine: u128,
    /// Its name.
    pub spaced_rune: SpacedRune,
    /// Its sign.
    pub symbol: Option<char>,
    /// How it can be minted; `None`: not at all.
    pub terms: Option<Terms>,
    /// Time of the block of its etching, in seconds.
    pub timestamp: u64,
    /// Whether its etcher opted into changes of the protocol.
    pub turbo: bool,
}

impl RuneEntry {
    /// What one mint in the block at `height` issues; `None` when it cannot be minted there.
    pub fn mint_amount(&self, height: u64) -> Option<u128> {
        let terms = self.terms?;
        let relative = |offset: Option<u64>| offset.map(|offset| self.block.saturating_add(offset));
        let start = relative(terms.offset.0).max(terms.height.0);
        let ends = [relative(terms.offset.1), terms.height.1];
        let has_begun = start.is_none_or(|start| height >= start);
        let has_ended = ends.into_iter().flatten().any(|end| height >= end);
        let is_left = self.mints < terms.cap.unwrap_or_default();
        (has_begun && !has_ended && is_left).then_some(terms.amount.unwrap_or_default())
    }

    /// Row of table `runes`.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.etching.as_byte_array().to_vec();
        put_varint(&mut bytes, self.block);
        put_varint(&mut bytes, self.burned);
        bytes.push(self.divisibility);
        put_varint(&mut bytes, self.mints);
        put_varint(&mut bytes, self.number);
        put_varint(&mut bytes, self.premine);
        put_varint(&mut bytes, self.spaced_rune.rune.0);
        put_varint(&mut bytes, self.spaced_rune.spacers);
        put_optional(&mut bytes, self.symbol.map(u32::from));
        put_varint(&mut bytes, self.timestamp);
        bytes.push(u8::from(self.turbo));
        bytes.push(u8::from(self.terms.is_some()));
        if let Some(terms) = self.terms {
            put_optional(&mut bytes, terms.amount);
            put_optional(&mut bytes, terms.cap);
            for height in [terms.height.0, terms.height.1, terms.offset.0, terms.offset.1] {
                put_optional(&mut bytes, height);
            }
        }
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let etching = fields.txid()?;
        let block = fields.varint()?;
        let burned = fields.varint()?;
        let [divisibility] = fields.array()?;
        let (mints, number, premine) = (fields.varint()?, fields.varint()?, fields.varint()?);
        let spaced_rune = SpacedRune { rune: Rune(fields.varint()?), spacers: fields.varint()? };
        let symbol = match fields.optional::<u32>()? {
            None => None,
            Some(symbol) => Some(char::from_u32(symbol).ok_or(RowError("not a character"))?),
        };
        let (timestamp, turbo) = (fields.varint()?, fields.flag()?);
        let terms = if fields.flag()? { Some(terms(&mut fields)?) } else { None };
        fields.end()?;
        Ok(Self {
            block,
            burned,
            divisibility,
            etching,
            mints,
            number,
            premine,
            spaced_rune,
            symbol,
            terms,
            timestamp,
            turbo,
        })
    }
}

fn terms(fields: &mut Fields<'_>) -> Result<Terms, RowError> {
    let (amount, cap) = (fields.optional()?, fields.optional()?);
    let height = (fields.optional()?, fields.optional()?);
    Ok(Terms { amount, cap, height, offset: (fields.optional()?, fields.optional()?) })
}

/// Key of a rune: in order of etching.
pub(crate) fn encode_rune_id(id: RuneId) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&id.block.to_be_bytes());
    key[8..].copy_from_slice(&id.tx.to_be_bytes());
    key
}

pub(crate) fn decode_rune_id(key: &[u8]) -> Result<RuneId, RowError> {
    let mut fields = Fields::of(key);
    let id = RuneId { block: u64::from_be_bytes(fields.array()?), tx: u32::from_be_bytes(fields.array()?) };
    fields.end()?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(terms: Option<Terms>) -> RuneEntry {
        RuneEntry {
            block: 100,
            burned: 1,
            divisibility: 38,
            etching: Txid::all_zeros(),
            mints: 2,
            number: 3,
            premine: u128::MAX,
            spaced_rune: SpacedRune { rune: Rune(u128::MAX), spacers: 7 },
            symbol: Some('\u{10ffff}'),
            terms,
            timestamp: 5,
            turbo: true,
        }
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            amount: Option<u128>, cap: Option<u128>, height: (Option<u64>, Option<u64>), offset: (Option<u64>, Option<u64>),
            has_terms: bool, noise in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let entry = entry(has_terms.then_some(Terms { amount, cap, height, offset }));
            prop_assert_eq!(RuneEntry::decode(&entry.encode()), Ok(entry));
            let _ = RuneEntry::decode(&noise);
        }
    }

    #[test]
    fn the_later_start_and_the_earlier_end_bound_the_mint() {
        let open = Terms { amount: Some(7), cap: Some(3), height: (None, None), offset: (None, None) };
        assert_eq!(entry(None).mint_amount(200), None);
        assert_eq!(entry(Some(open)).mint_amount(200), Some(7));
        assert_eq!(entry(Some(Terms { cap: Some(2), ..open })).mint_amount(200), None);
        assert_eq!(entry(Some(Terms { cap: None, ..open })).mint_amount(200), None);
        let bounded = Terms { height: (Some(110), Some(130)), offset: (Some(15), Some(20)), ..open };
        let at = |height| entry(Some(bounded)).mint_amount(height).is_some();
        assert_eq!([114, 115, 119, 120].map(at), [false, true, true, false]);
        let endless = Terms { offset: (None, Some(u64::MAX)), ..open };
        assert_eq!(entry(Some(endless)).mint_amount(u64::MAX - 1), Some(7));
        assert_eq!(entry(Some(Terms { amount: None, ..open })).mint_amount(200), Some(0));
    }
}
