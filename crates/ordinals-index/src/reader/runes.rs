use std::collections::BTreeMap;

use bitcoin::Txid;
use bitcoin::hashes::Hash as _;
use ordinals::{Rune, RuneId, SpacedRune};
use paraffin_primitives::Height;
use serde::Serialize;

use super::{OrdinalsIndex, PAGE_RUNES};
use crate::error::ReadError;
use crate::event::InscriptionId;
use crate::module::id_key;
use crate::rows::{RuneEntry, decode_rune_id, encode_rune_id};
use crate::tables::{ETCHINGS, IDS, RUNE_NAMES, RUNE_NUMBERS, RUNES};

/// Letters of the longest name that fits 128 bits.
const NAME_LETTERS_MAX: usize = 28;

/// How a rune is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuneQuery {
    /// By name, with spacers or without.
    Name(Rune),
    /// By id: block and transaction of its etching.
    Id(RuneId),
    /// By how many came before it.
    Number(u64),
}

impl std::str::FromStr for RuneQuery {
    type Err = &'static str;

    /// A name, spacers allowed; an id `block:tx`; or a number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "the name of a rune is capital letters with bullets between";
        if text.contains(':') {
            return text.parse().map(Self::Id).map_err(|_| "the id of a rune is <block>:<transaction>");
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(Self::Number).map_err(|_| "no rune has a number beyond 64 bits");
        }
        // The library shifts by the number of letters, so that there must not be many.
        if text.chars().filter(char::is_ascii_uppercase).count() > NAME_LETTERS_MAX {
            return Err(WRONG);
        }
        text.parse::<SpacedRune>().map(|spaced| Self::Name(spaced.rune)).map_err(|_| WRONG)
    }
}

/// A rune as `ord` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct RuneRecord {
    pub entry: RuneEntry,
    pub id: RuneId,
    /// In the next block.
    pub mintable: bool,
    pub parent: Option<InscriptionId>,
}

/// A page of runes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct RunesPage {
    pub entries: Vec<(RuneId, RuneEntry)>,
    pub more: bool,
    pub prev: Option<u32>,
    pub next: Option<u32>,
}

/// Estimated bytes of a rune balance with its name in an answer: in memory and serialized.
pub(super) const PILE_BYTES: usize = 288;

/// An amount of a rune.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct RunePile {
    pub amount: u128,
    pub divisibility: u8,
    pub symbol: Option<char>,
}

/// Errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl OrdinalsIndex {
    /// One rune.
    pub fn rune(&self, query: &RuneQuery) -> Result<Option<RuneRecord>, ReadError> {
        let id = match query {
            RuneQuery::Id(id) => Some(*id),
            RuneQuery::Name(rune) => {
                let row = self.snapshot.get(&RUNE_NAMES, &rune.0.to_be_bytes())?;
                row.map(|row| decode_rune_id(&row).map_err(ReadError::of(&RUNE_NAMES))).transpose()?
            }
            RuneQuery::Number(number) => match u32::try_from(*number) {
                Err(_) => None,
                Ok(number) => {
                    let row = self.snapshot.get(&RUNE_NUMBERS, &number.to_be_bytes())?;
                    row.map(|row| decode_rune_id(&row).map_err(ReadError::of(&RUNE_NUMBERS))).transpose()?
                }
            },
        };
        let Some(id) = id else { return Ok(None) };
        let Some(entry) = self.rune_entry(id)? else { return Ok(None) };
        let parent = InscriptionId { txid: entry.etching, index: 0 };
        let parent = self.snapshot.get(&IDS, &id_key(&parent))?.map(|_| parent);
        let next = self.height()?.map_or(0, |height| u64::from(height) + 1);
        Ok(Some(RuneRecord { entry, id, mintable: entry.mint_amount(next).is_some(), parent }))
    }

    /// A page of all runes, newest first.
    pub fn runes(&self, page: u32) -> Result<RunesPage, ReadError> {
        let count = self.snapshot.sequence_len(&RUNE_NUMBERS)?;
        let end = count.saturating_sub(page.saturating_mul(PAGE_RUNES));
        let start = end.saturating_sub(PAGE_RUNES);
        let mut entries = Vec::new();
        for number in (start..end).rev() {
            let row = self.snapshot.get(&RUNE_NUMBERS, &number.to_be_bytes())?;
            let id = decode_rune_id(&row.unwrap_or_default()).map_err(ReadError::of(&RUNE_NUMBERS))?;
            entries.push((id, self.rune_entry(id)?.ok_or_else(|| ReadError::missing(&RUNES))?));
        }
        let more = start > 0;
        let next = page.checked_add(1).filter(|_| more);
        Ok(RunesPage { entries, more, prev: page.checked_sub(1), next })
    }

    /// Names of the runes etched in a block.
    pub fn runes_of_block(&self, height: Height) -> Result<Vec<SpacedRune>, ReadError> {
        let rows = self.snapshot.prefix(&RUNES, &u64::from(height).to_be_bytes());
        let name = |row: Vec<u8>| {
            self.keep(PILE_BYTES)?;
            Ok(RuneEntry::decode(&row).map_err(ReadError::of(&RUNES))?.spaced_rune)
        };
        rows.map(|row| name(row?.1)).collect()
    }

    /// Name of the rune that a transaction etched.
    pub fn etched_by(&self, txid: &Txid) -> Result<Option<SpacedRune>, ReadError> {
        let Some(row) = self.snapshot.get(&ETCHINGS, txid.as_byte_array())? else { return Ok(None) };
        let id = decode_rune_id(&row).map_err(ReadError::of(&ETCHINGS))?;
        Ok(self.rune_entry(id)?.map(|entry| entry.spaced_rune))
    }

    /// With their names, the amounts that an output holds.
    pub(super) fn piles(&self, runes: &BTreeMap<RuneId, u128>) -> Result<BTreeMap<SpacedRune, RunePile>, ReadError> {
        let mut piles = BTreeMap::new();
        for (id, amount) in runes {
            let entry = self.rune_entry(*id)?.ok_or_else(|| ReadError::missing(&RUNES))?;
            let pile = RunePile { amount: *amount, divisibility: entry.divisibility, symbol: entry.symbol };
            piles.insert(entry.spaced_rune, pile);
        }
        Ok(piles)
    }

    /// Name of a rune that an output holds.
    pub(super) fn rune_name(&self, id: RuneId) -> Result<SpacedRune, ReadError> {
        Ok(self.rune_entry(id)?.ok_or_else(|| ReadError::missing(&RUNES))?.spaced_rune)
    }

    fn rune_entry(&self, id: RuneId) -> Result<Option<RuneEntry>, ReadError> {
        let row = self.snapshot.get(&RUNES, &encode_rune_id(id))?;
        row.map(|row| RuneEntry::decode(&row).map_err(ReadError::of(&RUNES))).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runes_are_named_in_three_ways() {
        let name = |text: &str| text.parse::<RuneQuery>();
        let uncommon = Rune(2_055_900_680_524_219_742);
        assert_eq!(name("UNCOMMON•GOODS"), Ok(RuneQuery::Name(uncommon)));
        assert_eq!(name("UNCOMMON.GOODS"), Ok(RuneQuery::Name(uncommon)));
        assert_eq!(name("UNCOMMONGOODS"), Ok(RuneQuery::Name(uncommon)));
        assert_eq!(name("840000:1"), Ok(RuneQuery::Id(RuneId { block: 840_000, tx: 1 })));
        assert_eq!(name("7"), Ok(RuneQuery::Number(7)));
        let long = "A".repeat(40);
        let spaced = format!("{}•A", "A".repeat(39));
        for bad in
            ["", "•A", "A•", "A••B", "a", "-1", "1:", ":1", "1:1:1", "99999999999999999999", "A B", &long, &spaced]
        {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
