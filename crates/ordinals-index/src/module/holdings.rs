//! What outputs hold, while a block is applied.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bitcoin::{OutPoint, Txid};
use ordinals::RuneId;
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{KeyHashing, ModuleWriter, read_together};

use super::runes::SharedList;
use crate::error::ReadError;
use crate::rows::{
    Held, HeldInscription, Location, SharedRunes, delete_whole, encode_shared, get_whole, put_whole, shared_entries,
};
use crate::tables::{HELD, LOCATIONS, SHARED_RUNES, outpoint_key};

/// Spent outputs that are worth a thread that looks for what they hold; most hold nothing, and no file is read for them.
const LOOKED_UP_BY_ONE: usize = 256;

/// Balances that outputs of a transaction share.
type Entries = Arc<[(RuneId, u128)]>;

/// The outputs that a block spends, as they were before it, and those that it makes.
pub(super) struct Holdings {
    /// Rows that the block removes, with their numbers of parts.
    spent: Vec<(OutPoint, u32)>,
    outputs: HashMap<OutPoint, Held, KeyHashing>,
    /// Lists of balances that outputs of transactions of this block share.
    lists: HashMap<Txid, Entries>,
    /// The list of an earlier transaction that was read last.
    earlier_list: Option<(Txid, Entries)>,
    part_bytes_max: usize,
}

impl Holdings {
    /// Looks every spent output up, once.
    pub(super) fn load(
        block: &ConnectedBlock,
        rows: &ModuleWriter<'_>,
        part_bytes_max: usize,
    ) -> Result<Self, ReadError> {
        let own: HashSet<&Txid, KeyHashing> = block.txids.iter().collect();
        let mut holdings = Self {
            spent: Vec::new(),
            outputs: HashMap::default(),
            lists: HashMap::new(),
            earlier_list: None,
            part_bytes_max,
        };
        let inputs = block.block.txdata.iter().skip(1).flat_map(|transaction| &transaction.input);
        let outpoints: Vec<OutPoint> =
            inputs.map(|input| input.previous_output).filter(|outpoint| !own.contains(&outpoint.txid)).collect();
        let held = read_together(&outpoints, LOOKED_UP_BY_ONE, |outpoint| {
            let Some(row) = get_whole(&HELD, &outpoint_key(outpoint), |key| rows.get(&HELD, key))? else {
                return Ok::<_, ReadError>(None);
            };
            let held = Held::decode(&row.bytes).map_err(ReadError::of(&HELD))?;
            Ok(Some((row.parts, held)))
        })?;
        for (outpoint, held) in outpoints.into_iter().zip(held) {
            if let Some((parts, held)) = held {
                holdings.spent.push((outpoint, parts));
                holdings.outputs.insert(outpoint, held);
            }
        }
        Ok(holdings)
    }

    /// Takes the inscriptions out of an output that is spent, in the order of their numbering.
    pub(super) fn take_inscriptions(&mut self, outpoint: &OutPoint) -> Vec<HeldInscription> {
        let held = self.outputs.get_mut(outpoint).map(|held| std::mem::take(&mut held.inscriptions));
        let mut inscriptions = held.unwrap_or_default();
        inscriptions.sort_unstable_by_key(|held| held.sequence);
        inscriptions
    }

    /// Takes the runes out of an output that is spent.
    pub(super) fn take_runes(
        &mut self,
        outpoint: &OutPoint,
        rows: &ModuleWriter<'_>,
    ) -> Result<BTreeMap<RuneId, u128>, ReadError> {
        let Some(held) = self.outputs.get_mut(outpoint) else { return Ok(BTreeMap::new()) };
        let mut taken = Held { runes: std::mem::take(&mut held.runes), ..Held::default() };
        if let Some(SharedRunes { txid, len }) = held.shared.take() {
            let list = self.list(txid, rows)?;
            taken.add_shared(list.get(..len as usize).ok_or_else(|| ReadError::missing(&SHARED_RUNES))?);
        }
        Ok(taken.runes)
    }

    fn list(&mut self, txid: Txid, rows: &ModuleWriter<'_>) -> Result<Entries, ReadError> {
        let earlier = self.earlier_list.as_ref().filter(|(of, _)| *of == txid).map(|(_, list)| list);
        if let Some(list) = self.lists.get(&txid).or(earlier) {
            return Ok(Arc::clone(list));
        }
        let row = rows.get(&SHARED_RUNES, txid.as_ref())?.ok_or_else(|| ReadError::missing(&SHARED_RUNES))?;
        let list: Entries = shared_entries(&row).collect::<Result<_, _>>().map_err(ReadError::of(&SHARED_RUNES))?;
        self.earlier_list = Some((txid, Arc::clone(&list)));
        Ok(list)
    }

    pub(super) fn put_inscription(&mut self, outpoint: OutPoint, inscription: HeldInscription) {
        self.outputs.entry(outpoint).or_default().inscriptions.push(inscription);
    }

    pub(super) fn put_runes(&mut self, outpoint: OutPoint, runes: BTreeMap<RuneId, u128>) {
        self.outputs.entry(outpoint).or_default().runes = runes;
    }

    /// Gives outputs of a transaction their parts of a list.
    pub(super) fn put_shared(&mut self, txid: Txid, list: SharedList) {
        self.lists.insert(txid, list.entries.into());
        for (vout, len) in list.lens {
            self.outputs.entry(OutPoint { txid, vout }).or_default().shared = Some(SharedRunes { txid, len });
        }
    }

    /// Writes what the outputs hold after the block.
    pub(super) fn write(self, rows: &mut ModuleWriter<'_>) -> Result<(), ReadError> {
        for (outpoint, parts) in &self.spent {
            delete_whole(rows, &HELD, &outpoint_key(outpoint), *parts)?;
        }
        for (outpoint, held) in self.outputs.iter().filter(|(_, held)| !held.is_empty()) {
            write_locations(*outpoint, &held.inscriptions, rows)?;
            put_whole(rows, &HELD, &outpoint_key(outpoint), &held.encode(), self.part_bytes_max)?;
        }
        for (txid, list) in &self.lists {
            // Only a coinbase can have the id of an earlier one, and then its list is the same.
            if rows.get(&SHARED_RUNES, txid.as_ref())?.is_none() {
                rows.put(&SHARED_RUNES, txid.as_ref(), &encode_shared(list))?;
            }
        }
        Ok(())
    }
}

/// Of inscriptions that the block has moved. A chain of thousands of transactions may move all that an output holds, so where
/// they were on the way is not written.
fn write_locations(
    outpoint: OutPoint,
    inscriptions: &[HeldInscription],
    rows: &mut ModuleWriter<'_>,
) -> Result<(), ReadError> {
    for HeldInscription { sequence, offset, moves, arrival, .. } in inscriptions {
        if let Some(is_burned) = *arrival {
            let location = Location { outpoint, offset: *offset, moves: *moves, is_burned };
            rows.put(&LOCATIONS, &sequence.to_be_bytes(), &location.encode())?;
        }
    }
    Ok(())
}
