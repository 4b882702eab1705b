//! What a block did to the unspent outputs that hold inscriptions and runes, as long as the block can be undone.
//!
//! The index has no history of what outputs held. The undo record of a block has: it names the rows that the block removed and those
//! that it made. The content of a row that the block made and a later one removed is in the undo record of the later one.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, Txid};
use ordinals::{RuneId, SatPoint, SpacedRune};
use paraffin_primitives::Height;

use super::OrdinalsIndex;
use crate::error::ReadError;
use crate::event::InscriptionId;
use crate::rows::{Held, Location, get_whole};
use crate::tables::{HELD, LOCATIONS, outpoint_key};

/// About what a row of an undo record takes beside its bytes.
const ROW_BYTES: usize = 96;
/// Undo records cached for the blocks that follow.
const RECORDS_CACHED: usize = 16;

/// An inscription that a block revealed or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InscriptionMove {
    /// The inscription.
    pub id: InscriptionId,
    /// Its number; negative when it is cursed.
    pub number: i32,
    /// Where it was before the block; `None` when the block revealed it.
    pub from: Option<SatPoint>,
    /// Where it is after the block; `None` when its sat was lost, or it was bound to none.
    pub to: Option<SatPoint>,
}

/// Runes of an output that a block spent, or that it made and did not spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuneHolding {
    /// The output.
    pub outpoint: OutPoint,
    /// Whether the block spent it.
    pub is_spent: bool,
    /// Its runes with their names, by their ids.
    pub runes: Vec<(RuneId, SpacedRune, u128)>,
}

/// What a block did to the outputs that were unspent before it or are so after it. What it made and spent itself is not seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockMoves {
    /// In the order of their numbering.
    pub inscriptions: Vec<InscriptionMove>,
    /// By outpoint.
    pub runes: Vec<RuneHolding>,
}

/// Rows of the undo record of one block: each row that the block changed, with its earlier content.
#[derive(Default)]
struct ChangedRows {
    held: HashMap<Vec<u8>, Option<Vec<u8>>>,
    locations: BTreeMap<u32, Option<Vec<u8>>>,
}

/// Reads the moves of blocks that are near each other, with a cache of undo records.
pub struct MovesReader {
    index: OrdinalsIndex,
    records: Vec<(Height, Rc<ChangedRows>)>,
}

/// Which moves of a block to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovesWanted {
    /// Inscriptions.
    pub inscriptions: bool,
    /// Runes.
    pub runes: bool,
}

impl OrdinalsIndex {
    /// A reader of what blocks did.
    pub fn moves(self) -> MovesReader {
        MovesReader { index: self, records: Vec::new() }
    }
}

impl MovesReader {
    /// What the block at `height` did; `None` when its undo record is gone.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of_block(&mut self, height: Height, wanted: MovesWanted) -> Result<Option<BlockMoves>, ReadError> {
        let Some(changed) = self.changed(height)? else { return Ok(None) };
        let (mut before, mut after): (BTreeMap<OutPoint, Held>, BTreeMap<OutPoint, Held>) = Default::default();
        for (key, value) in &changed.held {
            // Longer keys are those of parts.
            let Some(outpoint) = outpoint_of(key) else { continue };
            if value.is_some() {
                let get = |key: &[u8]| Ok(changed.held.get(key).cloned().flatten());
                before.extend(self.decode(&outpoint, get)?.map(|held| (outpoint, held)));
            } else if let Some(held) = self.made(&outpoint, height)? {
                after.insert(outpoint, held);
            }
        }
        let mut moves = BlockMoves::default();
        if wanted.inscriptions {
            moves.inscriptions = self.inscriptions(&changed, &after)?;
        }
        if wanted.runes {
            let spent = before.iter().map(|(outpoint, held)| (outpoint, held, true));
            for (outpoint, held, is_spent) in spent.chain(after.iter().map(|(outpoint, held)| (outpoint, held, false)))
            {
                if !held.runes.is_empty() {
                    let runes = self.named(held)?;
                    moves.runes.push(RuneHolding { outpoint: *outpoint, is_spent, runes });
                }
            }
        }
        Ok(Some(moves))
    }

    fn inscriptions(
        &self,
        changed: &ChangedRows,
        after: &BTreeMap<OutPoint, Held>,
    ) -> Result<Vec<InscriptionMove>, ReadError> {
        let mut arrived: HashMap<u32, SatPoint> = HashMap::new();
        for (outpoint, held) in after {
            let positions = held.inscriptions.iter();
            arrived
                .extend(positions.map(|held| (held.sequence, SatPoint { outpoint: *outpoint, offset: held.offset })));
        }
        let mut moves = Vec::new();
        for (sequence, before) in &changed.locations {
            let row = self.index.inscription_row(*sequence)?.ok_or_else(|| ReadError::missing(&LOCATIONS))?;
            let from = match before {
                None => None,
                Some(row) => Some(Location::decode(row).map_err(ReadError::of(&LOCATIONS))?.satpoint()),
            };
            let to = arrived.get(sequence).copied();
            moves.push(InscriptionMove { id: row.id, number: row.number, from, to });
        }
        Ok(moves)
    }

    fn named(&self, held: &Held) -> Result<Vec<(RuneId, SpacedRune, u128)>, ReadError> {
        let named = held.runes.iter().map(|(id, amount)| Ok((*id, self.index.rune_name(*id)?, *amount)));
        named.collect()
    }

    /// What an output held that the block at `height` made and did not spend.
    fn made(&mut self, outpoint: &OutPoint, height: Height) -> Result<Option<Held>, ReadError> {
        let snapshot = self.index.snapshot.clone();
        if let Some(held) = self.decode(outpoint, |key| snapshot.get(&HELD, key))? {
            return Ok(Some(held));
        }
        let spender = self.index.bitcoin.outspend(outpoint)?;
        let spent_at = spender.map(|spender| spender.confirmation.height).filter(|spent_at| *spent_at > height);
        let Some(changed) = spent_at.map(|spent_at| self.changed(spent_at)).transpose()?.flatten() else {
            return Err(ReadError::missing(&HELD));
        };
        self.decode(outpoint, |key| Ok(changed.held.get(key).cloned().flatten()))
    }

    fn decode(
        &self,
        outpoint: &OutPoint,
        get: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, paraffin_store::StoreError>,
    ) -> Result<Option<Held>, ReadError> {
        let Some(row) = get_whole(&HELD, &outpoint_key(outpoint), get)? else { return Ok(None) };
        self.index.held_of_row(&row.bytes, usize::MAX).map(Some)
    }

    /// The rows that the block at `height` changed.
    fn changed(&mut self, height: Height) -> Result<Option<Rc<ChangedRows>>, ReadError> {
        if let Some((_, changed)) = self.records.iter().find(|(of, _)| *of == height) {
            return Ok(Some(Rc::clone(changed)));
        }
        let mut changed = ChangedRows::default();
        let is_known = self.index.snapshot.visit_rows_before(&HELD, height, |key, before| {
            self.index.keep(ROW_BYTES + key.len() + before.map_or(0, <[u8]>::len))?;
            changed.held.insert(key.to_vec(), before.map(<[u8]>::to_vec));
            Ok::<_, ReadError>(())
        })?;
        if !is_known {
            return Ok(None);
        }
        self.index.snapshot.visit_rows_before(&LOCATIONS, height, |key, before| {
            self.index.keep(ROW_BYTES + before.map_or(0, <[u8]>::len))?;
            let sequence = key.try_into().map(u32::from_be_bytes).map_err(|_| ReadError::missing(&LOCATIONS))?;
            changed.locations.insert(sequence, before.map(<[u8]>::to_vec));
            Ok::<_, ReadError>(())
        })?;
        if self.records.len() == RECORDS_CACHED {
            self.records.remove(0);
        }
        let changed = Rc::new(changed);
        self.records.push((height, Rc::clone(&changed)));
        Ok(Some(changed))
    }
}

fn outpoint_of(key: &[u8]) -> Option<OutPoint> {
    let (txid, vout) = key.split_first_chunk::<32>()?;
    Some(OutPoint { txid: Txid::from_byte_array(*txid), vout: u32::from_be_bytes(vout.try_into().ok()?) })
}
