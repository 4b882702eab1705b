use std::collections::BTreeMap;

use ordinals::RuneId;

use super::{Fields, RowError, put_varint};

/// An inscription in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldInscription {
    pub(crate) sequence: u32,
    /// Sats of the output before it.
    pub(crate) offset: u64,
}

/// Row of table `held`: what an unspent output holds.
///
/// ```text
/// inscription count | distance of the sequence number from the one before, offset … | block, tx, amount …
/// ```
///
/// An output may hold millions of inscriptions, most of them numbered in a row, for two bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// In any order; a row has them in that of their numbers.
    pub(crate) inscriptions: Vec<HeldInscription>,
    /// No amount is zero.
    pub(crate) runes: BTreeMap<RuneId, u128>,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.inscriptions.is_empty() && self.runes.is_empty()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, self.inscriptions.len() as u64);
        let mut inscriptions = self.inscriptions.clone();
        inscriptions.sort_unstable_by_key(|held| held.sequence);
        let mut before = 0;
        for held in inscriptions {
            put_varint(&mut bytes, held.sequence.saturating_sub(before));
            put_varint(&mut bytes, held.offset);
            before = held.sequence;
        }
        for (id, amount) in &self.runes {
            put_varint(&mut bytes, id.block);
            put_varint(&mut bytes, id.tx);
            put_varint(&mut bytes, *amount);
        }
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let mut held = Self::default();
        let count: u32 = fields.varint()?;
        let mut sequence = 0u32;
        for _ in 0..count {
            sequence = sequence.checked_add(fields.varint()?).ok_or(RowError("a number is out of range"))?;
            held.inscriptions.push(HeldInscription { sequence, offset: fields.varint()? });
        }
        while !fields.is_empty() {
            let id = RuneId { block: fields.varint()?, tx: fields.varint()? };
            held.runes.insert(id, fields.varint()?);
        }
        Ok(held)
    }
}

/// Row of table `ranges`: first sat and how many, of each range in order.
pub(crate) fn encode_ranges(ranges: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (start, end) in ranges {
        put_varint(&mut bytes, *start);
        put_varint(&mut bytes, end.saturating_sub(*start));
    }
    bytes
}

/// Ranges as first sat and the one after the last.
pub(crate) fn decode_ranges(row: &[u8]) -> Result<Vec<(u64, u64)>, RowError> {
    let mut fields = Fields::of(row);
    let mut ranges = Vec::new();
    while !fields.is_empty() {
        let (start, count): (u64, u64) = (fields.varint()?, fields.varint()?);
        ranges.push((start, start.checked_add(count).ok_or(RowError("a range beyond all sats"))?));
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            inscriptions in proptest::collection::btree_map(any::<u32>(), any::<u64>(), 0..5),
            runes in proptest::collection::btree_map((any::<u64>(), any::<u32>()), any::<u128>(), 0..5),
            ranges in proptest::collection::vec((0..u64::MAX / 2, 0..u64::MAX / 2), 0..5),
            noise in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut held = Held {
                inscriptions: inscriptions.into_iter().rev().map(|(sequence, offset)| HeldInscription { sequence, offset }).collect(),
                runes: runes.into_iter().map(|((block, tx), amount)| (RuneId { block, tx }, amount)).collect(),
            };
            let row = held.encode();
            held.inscriptions.sort_by_key(|held| held.sequence);
            prop_assert_eq!(Held::decode(&row), Ok(held));
            let ranges: Vec<_> = ranges.into_iter().map(|(start, count)| (start, start + count)).collect();
            prop_assert_eq!(decode_ranges(&encode_ranges(&ranges)), Ok(ranges));
            let _ = (Held::decode(&noise), decode_ranges(&noise));
        }
    }
}
