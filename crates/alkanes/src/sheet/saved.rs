//! A sheet as it is saved with an output (protocol B16).

use paraffin_primitives::AlkaneId;

use super::Sheet;
use crate::StateError;
use crate::codec::{append_varint, decode_varint};

/// A sheet as saved: a list to which every save appends and of which clearing leaves the ids.
///
/// Written as three varints an entry: both parts of the id, the amount.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedSheet {
    /// In the order of saving. Of entries with the same id the last counts.
    pub entries: Vec<(AlkaneId, u128)>,
}

impl SavedSheet {
    /// Decodes a list of [`Self::encode`]; no bytes are an empty list.
    ///
    /// # Errors
    /// The bytes are not a saved sheet.
    pub fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut rest = bytes;
        let mut next = || -> Result<Option<u128>, StateError> {
            if rest.is_empty() {
                return Ok(None);
            }
            let (value, length) =
                decode_varint(rest).map_err(|error| StateError::Damaged(format!("a sheet: {error}")))?;
            rest = &rest[length..];
            Ok(Some(value))
        };
        let mut entries = Vec::new();
        while let Some(block) = next()? {
            let (Some(tx), Some(amount)) = (next()?, next()?) else {
                return Err(StateError::Damaged("a sheet ends within an entry".to_owned()));
            };
            entries.push((AlkaneId { block, tx }, amount));
        }
        Ok(Self { entries })
    }

    /// The bytes of the list.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.entries.len() * 16);
        for (id, amount) in &self.entries {
            for number in [id.block, id.tx, *amount] {
                append_varint(number, &mut bytes);
            }
        }
        bytes
    }

    /// Appends the positive entries of `sheet`. Returns whether there were any.
    pub fn append(&mut self, sheet: &Sheet) -> bool {
        let before = self.entries.len();
        self.entries.extend(sheet.iter().filter(|(_, amount)| *amount > 0));
        self.entries.len() > before
    }

    /// Sets every amount to 0 and keeps the ids.
    pub fn clear(&mut self) {
        for (_, amount) in &mut self.entries {
            *amount = 0;
        }
    }

    /// The sheet: of entries with the same id the last counts.
    pub fn load(&self) -> Sheet {
        let mut sheet = Sheet::new();
        for (id, amount) in &self.entries {
            sheet.set(*id, *amount);
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
    const SIGIL: AlkaneId = AlkaneId { block: 32, tx: 1 };

    #[test]
    fn a_second_save_appends_and_the_later_entry_counts() {
        let mut sheet = Sheet::new();
        sheet.set(DIESEL, 5);
        sheet.set(SIGIL, 0);
        let mut saved = SavedSheet::default();
        assert!(saved.append(&sheet));
        sheet.set(DIESEL, 7);
        sheet.set(SIGIL, 1);
        saved.append(&sheet);
        assert_eq!(saved.entries, [(DIESEL, 5), (DIESEL, 7), (SIGIL, 1)]);
        assert_eq!(saved.load(), sheet);
        assert_eq!(SavedSheet::decode(&saved.encode()).unwrap(), saved);
    }

    #[test]
    fn clearing_keeps_the_ids() {
        let mut saved = SavedSheet { entries: vec![(DIESEL, u128::MAX)] };
        saved.clear();
        assert_eq!(saved.entries, [(DIESEL, 0)]);
        assert!(saved.load().is_empty());
        assert!(!saved.append(&Sheet::new()));
    }

    #[test]
    fn broken_bytes_are_an_error() {
        for bytes in [&[2][..], &[2, 0], &[2, 0, 0x80]] {
            assert!(SavedSheet::decode(bytes).is_err());
        }
    }
}
