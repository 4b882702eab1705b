use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_store::{StoreError, Table};

use super::{Parser, ScriptKey};
use crate::codec::append_varint;
use crate::tables::SHEET_PARTS;
use crate::{StateError, StateKey};

/// Length of an outpoint as a key: txid in wire order, vout.
const OUTPOINT_LEN: usize = 36;

/// Key of an outpoint: the txid in wire order, the number of the output, the highest byte first.
pub(crate) fn outpoint_key(outpoint: &OutPoint) -> [u8; OUTPOINT_LEN] {
    let mut key = [0; OUTPOINT_LEN];
    key[..32].copy_from_slice(outpoint.txid.as_byte_array());
    key[32..].copy_from_slice(&outpoint.vout.to_be_bytes());
    key
}

/// Decodes a key of [`outpoint_key`].
pub(crate) fn parse_outpoint_key(parser: &mut Parser<'_>) -> Result<OutPoint, StateError> {
    Ok(OutPoint { txid: Txid::from_byte_array(parser.array()?), vout: parser.number()? })
}

/// Which of the two sheets of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SheetKind {
    Alkanes,
    BaseRunes,
}

impl SheetKind {
    /// The sheet that is a value of the state; `None` for values of other kinds.
    pub(crate) const fn of(key: &StateKey) -> Option<(Self, &OutPoint)> {
        match key {
            StateKey::Sheet(outpoint) => Some((Self::Alkanes, outpoint)),
            StateKey::BaseSheet(outpoint) => Some((Self::BaseRunes, outpoint)),
            _ => None,
        }
    }
}

/// Longest sheet that is in the row of its output, bytes. Longer ones are in table `sheet_parts`, because no row may have 64 MiB.
const INLINE_MAX: usize = 1 << 20;
/// Bytes of a part of a longer one.
const PART_LEN: usize = 4 << 20;

/// A sheet as a value of the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SavedBytes {
    /// All of it.
    Inline(Vec<u8>),
    /// Its length; its bytes are in parts.
    Parts(usize),
}

impl SavedBytes {
    /// Length of the sheet, bytes.
    const fn len(&self) -> usize {
        match self {
            Self::Inline(bytes) => bytes.len(),
            Self::Parts(length) => *length,
        }
    }
}

/// The sheets of an output that one block saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SavedSheets {
    /// Height of the block.
    pub(crate) height: u32,
    /// By kind; `None`: it was not saved, which is not the same as without entries.
    sheets: [Option<SavedBytes>; 2],
}

impl SavedSheets {
    pub(crate) const fn new(height: u32) -> Self {
        Self { height, sheets: [None, None] }
    }

    /// Sets a sheet.
    pub(crate) fn set(&mut self, kind: SheetKind, bytes: Vec<u8>) {
        self.sheets[kind as usize] = Some(SavedBytes::Inline(bytes));
    }

    pub(crate) const fn get(&self, kind: SheetKind) -> Option<&SavedBytes> {
        self.sheets[kind as usize].as_ref()
    }

    /// Bytes of both.
    pub(crate) fn len(&self) -> usize {
        self.sheets.iter().flatten().map(SavedBytes::len).sum()
    }

    /// Moves sheets that are too long for a row out of it: keys and values of table `sheet_parts`.
    pub(crate) fn split(&mut self, outpoint: &OutPoint) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut parts = Vec::new();
        for kind in [SheetKind::Alkanes, SheetKind::BaseRunes] {
            let sheet = &mut self.sheets[kind as usize];
            if let Some(SavedBytes::Inline(bytes)) = sheet
                && bytes.len() > INLINE_MAX
            {
                let part_key = |number| part_key(outpoint, self.height, kind, number);
                parts.extend((0..).zip(bytes.chunks(PART_LEN)).map(|(number, part)| (part_key(number), part.to_vec())));
                *sheet = Some(SavedBytes::Parts(bytes.len()));
            }
        }
        parts
    }

    /// A sheet of `outpoint`, if it was saved by the end of the block at `height`; `get` reads rows.
    pub(crate) fn load(
        self,
        kind: SheetKind,
        outpoint: &OutPoint,
        height: u32,
        get: impl Fn(&Table, &[u8]) -> Result<Option<Vec<u8>>, StoreError>,
    ) -> Result<Option<Vec<u8>>, StateError> {
        let [alkanes, base_runes] = self.sheets;
        let sheet = match kind {
            SheetKind::Alkanes => alkanes,
            SheetKind::BaseRunes => base_runes,
        };
        match sheet.filter(|_| self.height <= height) {
            None => Ok(None),
            Some(SavedBytes::Inline(bytes)) => Ok(Some(bytes)),
            Some(SavedBytes::Parts(length)) => {
                let mut bytes = Vec::new();
                for number in 0..length.div_ceil(PART_LEN) {
                    let part = get(&SHEET_PARTS, &part_key(outpoint, self.height, kind, number as u32))?;
                    bytes.extend(part.unwrap_or_default());
                }
                if bytes.len() == length { Ok(Some(bytes)) } else { Err(Parser::new("sheet_parts", &[]).damaged()) }
            }
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.len().min(2 * INLINE_MAX));
        self.append_to(&mut bytes);
        bytes
    }

    /// Height; of each sheet 0 where there is none, else twice its length and one, one more if it is in parts, and its bytes if it is not.
    fn append_to(&self, bytes: &mut Vec<u8>) {
        append_varint(u128::from(self.height), bytes);
        for sheet in &self.sheets {
            let Some(sheet) = sheet else {
                append_varint(0, bytes);
                continue;
            };
            append_varint(2 * sheet.len() as u128 + 1 + u128::from(matches!(sheet, SavedBytes::Parts(_))), bytes);
            if let SavedBytes::Inline(sheet) = sheet {
                bytes.extend_from_slice(sheet);
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        Self::parse(&mut Parser::new("changed_sheets", bytes))
    }

    fn parse(parser: &mut Parser<'_>) -> Result<Self, StateError> {
        let mut saved = Self::new(parser.small()?);
        for sheet in &mut saved.sheets {
            let Some(form) = parser.small::<usize>()?.checked_sub(1) else { continue };
            let length = form / 2;
            let is_inline = form.is_multiple_of(2);
            *sheet = Some(if is_inline {
                SavedBytes::Inline(parser.take(length)?.to_vec())
            } else {
                SavedBytes::Parts(length)
            });
        }
        if parser.rest().is_empty() { Ok(saved) } else { Err(parser.damaged()) }
    }
}

/// Key in table `sheet_parts`.
fn part_key(outpoint: &OutPoint, height: u32, kind: SheetKind, number: u32) -> Vec<u8> {
    let mut key = outpoint_key(outpoint).to_vec();
    key.extend_from_slice(&height.to_be_bytes());
    key.push(kind as u8);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// A row of table `outputs`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OutputRow {
    /// `None` on networks that never had the output, for the outpoint that the genesis contracts issue to.
    pub(crate) output: Option<OutputFacts>,
    /// Its sheets when the first of them was saved.
    pub(crate) sheets: SavedSheets,
}

impl OutputRow {
    /// Length of the script and one, 0 without an output; height, twice the index and whether it is listed, value: varints; the script;
    /// the sheets.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let script = self.output.as_ref().map_or(&[][..], |output| output.script.as_bytes());
        let mut bytes = Vec::with_capacity(24 + script.len() + self.sheets.len());
        match &self.output {
            None => append_varint(0, &mut bytes),
            Some(output) => {
                append_varint(script.len() as u128 + 1, &mut bytes);
                append_varint(u128::from(output.height), &mut bytes);
                append_varint(u128::from(output.index) << 1 | u128::from(output.is_listed), &mut bytes);
                append_varint(u128::from(output.value), &mut bytes);
                bytes.extend_from_slice(script);
            }
        }
        self.sheets.append_to(&mut bytes);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("outputs", bytes);
        let mut output = None;
        if let Some(length) = parser.small::<usize>()?.checked_sub(1) {
            let height = parser.small()?;
            let index_and_listed: u64 = parser.small()?;
            output = Some(OutputFacts {
                height,
                index: u32::try_from(index_and_listed >> 1).map_err(|_| parser.damaged())?,
                is_listed: index_and_listed & 1 == 1,
                value: parser.small()?,
                script: ScriptBuf::from_bytes(parser.take(length)?.to_vec()),
            });
        }
        Ok(Self { output, sheets: SavedSheets::parse(&mut parser)? })
    }
}

/// An output that alkanes or base runes were ever sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputFacts {
    /// Height of its transaction.
    pub(crate) height: u32,
    /// Index of its transaction in the block.
    pub(crate) index: u32,
    /// Satoshi.
    pub(crate) value: u64,
    /// Whether it is listed under its script while unspent: it holds alkanes, not base runes alone.
    pub(crate) is_listed: bool,
    /// The script.
    pub(crate) script: ScriptBuf,
}

impl OutputFacts {
    /// The row of this output in the listing of its script.
    pub(crate) fn listing(&self, outpoint: OutPoint) -> Listing {
        Listing { height: self.height, index: self.index, outpoint, value: self.value }
    }
}

/// An output in the listing of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) height: u32,
    pub(crate) index: u32,
    pub(crate) outpoint: OutPoint,
    pub(crate) value: u64,
}

impl Listing {
    /// Key in table `live`; with `spent_at` in table `spent`.
    pub(crate) fn key(&self, script: ScriptKey, spent_at: Option<u32>) -> Vec<u8> {
        let mut key = Vec::with_capacity(48);
        key.extend_from_slice(&script.0);
        key.extend(spent_at.into_iter().flat_map(u32::to_be_bytes));
        for number in [self.height, self.index, self.outpoint.vout] {
            key.extend_from_slice(&number.to_be_bytes());
        }
        key
    }

    /// The value of the row.
    pub(crate) fn value(&self) -> Vec<u8> {
        let mut bytes = self.outpoint.txid.as_byte_array().to_vec();
        append_varint(u128::from(self.value), &mut bytes);
        bytes
    }

    /// Reads a row, `key` from its last three numbers on.
    pub(crate) fn parse(key: &[u8], value: &[u8]) -> Result<Self, StateError> {
        let (mut key, mut value) = (Parser::new("live", key), Parser::new("live", value));
        let [height, index, vout] = [key.number()?, key.number()?, key.number()?];
        let outpoint = OutPoint { txid: Txid::from_byte_array(value.array()?), vout };
        Ok(Self { height, index, outpoint, value: value.small()? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn facts() -> OutputFacts {
        OutputFacts {
            height: 900_000,
            index: 77,
            value: 546,
            is_listed: true,
            script: ScriptBuf::from_bytes(vec![0x51, 0x20]),
        }
    }

    #[test]
    fn rows_of_outputs_round_trip() {
        let mut sheets = SavedSheets::new(900_000);
        for sheets in [
            sheets.clone(),
            {
                sheets.set(SheetKind::BaseRunes, vec![1, 2, 3]);
                sheets.clone()
            },
            {
                sheets.set(SheetKind::Alkanes, Vec::new());
                sheets
            },
        ] {
            assert_eq!(SavedSheets::decode(&sheets.encode()).unwrap(), sheets);
            for output in [None, Some(facts())] {
                let row = OutputRow { output, sheets: sheets.clone() };
                assert_eq!(OutputRow::decode(&row.encode()).unwrap(), row);
                let mut long = row.encode();
                long.push(0);
                assert!(OutputRow::decode(&long).is_err());
                assert!(OutputRow::decode(&row.encode()[..row.encode().len() - 1]).is_err());
            }
        }
        let (facts, outpoint) = (facts(), OutPoint { txid: Txid::from_byte_array([7; 32]), vout: 3 });
        let (listing, script) = (facts.listing(outpoint), ScriptKey::of(&facts.script));
        assert_eq!(Listing::parse(&listing.key(script, None)[32..], &listing.value()).unwrap(), listing);
        assert_eq!(Listing::parse(&listing.key(script, Some(5))[36..], &listing.value()).unwrap(), listing);
    }

    #[test]
    fn a_sheet_is_there_from_its_block_on_and_long_ones_are_in_parts() {
        let outpoint = OutPoint { txid: Txid::from_byte_array([7; 32]), vout: 3 };
        let long: Vec<u8> = (0..=2 * PART_LEN as u32).map(|number| number as u8).collect();
        let mut sheets = SavedSheets::new(7);
        sheets.set(SheetKind::Alkanes, vec![9]);
        sheets.set(SheetKind::BaseRunes, long.clone());
        let parts: HashMap<_, _> = sheets.split(&outpoint).into_iter().collect();
        assert_eq!(parts.len(), 3);
        let stored = sheets.encode();
        assert!(stored.len() < 16);
        let load = |kind, height| {
            let saved = SavedSheets::decode(&stored).unwrap();
            saved.load(kind, &outpoint, height, |_, key| Ok(parts.get(key).cloned()))
        };
        assert_eq!(load(SheetKind::Alkanes, 6).unwrap(), None);
        assert_eq!(load(SheetKind::Alkanes, 7).unwrap(), Some(vec![9]));
        assert_eq!(load(SheetKind::BaseRunes, 8).unwrap(), Some(long));
        assert_eq!(load(SheetKind::BaseRunes, 6).unwrap(), None);
        let lost = SavedSheets::decode(&stored).unwrap().load(SheetKind::BaseRunes, &outpoint, 7, |_, _| Ok(None));
        assert!(lost.is_err());
    }
}
