use std::collections::BTreeMap;

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use ordinals::RuneId;

use super::{Fields, RowError, put_varint};

/// Stands where the id of a rune would, before a [`SharedRunes`]: no rune has this id.
const SHARED: RuneId = RuneId { block: 0, tx: 1 };

/// Estimated bytes of an inscription in an answer: its entry in memory and its serialized form.
pub(crate) const INSCRIPTION_BYTES: usize = 192;
/// Estimated bytes of a rune balance before its name is looked up.
pub(crate) const RUNE_BYTES: usize = 64;
/// Estimated bytes of a range of sats in an answer, as [`INSCRIPTION_BYTES`].
pub(crate) const RANGE_BYTES: usize = 64;

fn ensure_memory(may_keep: bool) -> Result<(), RowError> {
    if may_keep { Ok(()) } else { Err(RowError::NO_MEMORY) }
}

/// An inscription in an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldInscription {
    pub(crate) sequence: u32,
    /// Sats of the output before it.
    pub(crate) offset: u64,
    /// As in its location, which then need not be read when it moves on.
    pub(crate) moves: u32,
    /// Its index among the inscriptions of its transaction while it has not moved, 0 afterwards. Until then the output is one of that
    /// transaction, so the id is known without its row.
    pub(crate) index: u32,
    /// Set when the block that is being applied moved it here: whether that burned it. Not part of the row.
    pub(crate) arrival: Option<bool>,
}

/// The first entries of a list of balances that outputs of one transaction share: a row of table `shared_runes`.
///
/// A transaction can give each of its hundred thousand outputs thousands of runes, with four bytes for each rune and nine for
/// each output. Such balances are written once and not once for each output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedRunes {
    /// The transaction.
    pub(crate) txid: Txid,
    /// So many entries from the first on.
    pub(crate) len: u32,
}

/// Row of table `held`: what an unspent output holds.
///
/// ```text
/// inscription count | distance of the sequence number from the one before, offset, moves, index where these are 0 …
///                   | block, tx, amount … | and, where some are shared: 0, 1, txid (32), entries
/// ```
///
/// An output may hold millions of inscriptions, most of them numbered in a row, for four bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// In any order; a row has them in that of their numbers.
    pub(crate) inscriptions: Vec<HeldInscription>,
    /// No amount is zero.
    pub(crate) runes: BTreeMap<RuneId, u128>,
    /// Balances on top of `runes`.
    pub(crate) shared: Option<SharedRunes>,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.inscriptions.is_empty() && self.runes.is_empty() && self.shared.is_none()
    }

    /// Adds the shared balances to the others.
    pub(crate) fn add_shared(&mut self, entries: &[(RuneId, u128)]) {
        for (id, amount) in entries {
            let balance = self.runes.entry(*id).or_default();
            *balance = balance.saturating_add(*amount);
        }
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
            put_varint(&mut bytes, held.moves);
            if held.moves == 0 {
                put_varint(&mut bytes, held.index);
            }
            before = held.sequence;
        }
        for (id, amount) in &self.runes {
            put_varint(&mut bytes, id.block);
            put_varint(&mut bytes, id.tx);
            put_varint(&mut bytes, *amount);
        }
        if let Some(shared) = &self.shared {
            put_varint(&mut bytes, SHARED.block);
            put_varint(&mut bytes, SHARED.tx);
            bytes.extend_from_slice(shared.txid.as_byte_array());
            put_varint(&mut bytes, shared.len);
        }
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        Self::decode_first(row, usize::MAX, |_| true)
    }

    /// The same with at most `limit` inscriptions, the first by their numbers, and one more where there are more. `may_keep`
    /// is called with the bytes of each entry before it is added.
    pub(crate) fn decode_first(row: &[u8], limit: usize, may_keep: impl Fn(usize) -> bool) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let mut held = Self::default();
        let count: u32 = fields.varint()?;
        let mut sequence = 0u32;
        for _ in 0..count {
            sequence = sequence.checked_add(fields.varint()?).ok_or(RowError("a number is out of range"))?;
            let (offset, moves) = (fields.varint()?, fields.varint()?);
            let index = if moves == 0 { fields.varint()? } else { 0 };
            if held.inscriptions.len() <= limit {
                ensure_memory(may_keep(INSCRIPTION_BYTES))?;
                held.inscriptions.push(HeldInscription { sequence, offset, moves, index, arrival: None });
            }
        }
        while !fields.is_empty() {
            let id = RuneId { block: fields.varint()?, tx: fields.varint()? };
            if id == SHARED {
                held.shared = Some(SharedRunes { txid: fields.txid()?, len: fields.varint()? });
            } else {
                ensure_memory(may_keep(RUNE_BYTES))?;
                held.runes.insert(id, fields.varint()?);
            }
        }
        Ok(held)
    }
}

/// Row of table `shared_runes`: block, tx and amount of each entry.
pub(crate) fn encode_shared(entries: &[(RuneId, u128)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, amount) in entries {
        put_varint(&mut bytes, id.block);
        put_varint(&mut bytes, id.tx);
        put_varint(&mut bytes, *amount);
    }
    bytes
}

/// Its entries, in their order. One that is damaged is the last.
pub(crate) fn shared_entries(row: &[u8]) -> impl Iterator<Item = Result<(RuneId, u128), RowError>> {
    let mut fields = Fields::of(row);
    std::iter::from_fn(move || {
        let entry =
            |fields: &mut Fields<'_>| Ok((RuneId { block: fields.varint()?, tx: fields.varint()? }, fields.varint()?));
        (!fields.is_empty()).then(|| entry(&mut fields).inspect_err(|_| fields = Fields::of(&[])))
    })
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

/// Ranges as first sat and the one after the last. `may_keep` is called with the bytes of each before it is added.
pub(crate) fn decode_ranges(row: &[u8], may_keep: impl Fn(usize) -> bool) -> Result<Vec<(u64, u64)>, RowError> {
    let mut fields = Fields::of(row);
    let mut ranges = Vec::new();
    while !fields.is_empty() {
        let (start, count): (u64, u64) = (fields.varint()?, fields.varint()?);
        ensure_memory(may_keep(RANGE_BYTES))?;
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
            inscriptions in proptest::collection::btree_map(any::<u32>(), (any::<u64>(), 0..3u32, any::<u32>()), 0..5),
            runes in proptest::collection::btree_map((1..u64::MAX, any::<u32>()), any::<u128>(), 0..5),
            shared in proptest::option::of((any::<[u8; 32]>(), any::<u32>())),
            ranges in proptest::collection::vec((0..u64::MAX / 2, 0..u64::MAX / 2), 0..5),
            noise in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut held = Held {
                inscriptions: inscriptions.into_iter().rev().map(|(sequence, (offset, moves, index))| {
                    HeldInscription { sequence, offset, moves, index: if moves == 0 { index } else { 0 }, arrival: None }
                }).collect(),
                runes: runes.into_iter().map(|((block, tx), amount)| (RuneId { block, tx }, amount)).collect(),
                shared: None,
            };
            held.shared = shared.map(|(txid, len)| SharedRunes { txid: Txid::from_byte_array(txid), len });
            let entries: Vec<_> = held.runes.iter().rev().map(|(id, amount)| (*id, *amount)).collect();
            prop_assert_eq!(shared_entries(&encode_shared(&entries)).collect::<Result<Vec<_>, _>>(), Ok(entries));
            let row = held.encode();
            held.inscriptions.sort_by_key(|held| held.sequence);
            prop_assert_eq!(Held::decode(&row), Ok(held.clone()));
            held.inscriptions.truncate(3);
            prop_assert_eq!(Held::decode_first(&row, 2, |_| true), Ok(held.clone()));
            let refused = Held::decode_first(&row, 2, |_| false);
            prop_assert_eq!(refused.is_err(), !held.inscriptions.is_empty() || !held.runes.is_empty());
            let ranges: Vec<_> = ranges.into_iter().map(|(start, count)| (start, start + count)).collect();
            prop_assert_eq!(decode_ranges(&encode_ranges(&ranges), |_| false).is_err(), !ranges.is_empty());
            prop_assert_eq!(decode_ranges(&encode_ranges(&ranges), |_| true), Ok(ranges));
            let _ = (Held::decode(&noise), decode_ranges(&noise, |_| true), shared_entries(&noise).count());
        }
    }
}
