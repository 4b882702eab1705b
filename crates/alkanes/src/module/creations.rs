//! Contracts in the order of their creation.

use std::collections::HashMap;

use paraffin_primitives::{AlkaneId, Height};
use paraffin_store::ModuleWriter;

use super::TransactionIndices;
use crate::rows::{decode_amount, encode_amount, id_key, position_key};
use crate::state::decode_outpoint;
use crate::tables::{CREATED, CREATIONS, TOTALS};
use crate::{BlockEffects, StateError, StateKey};

/// Row of table `totals`: contracts created.
const CREATED_COUNT: &[u8] = &[1];

/// Lists the contracts that a block created: built-in ones first, then by transaction, message and id.
pub(super) fn write(
    height: Height,
    effects: &BlockEffects,
    indices: &TransactionIndices,
    rows: &mut ModuleWriter<'_>,
) -> Result<(), StateError> {
    let mut origins: HashMap<AlkaneId, (u32, u32)> = HashMap::new();
    for (key, value) in &effects.writes {
        if let StateKey::Deployment(id) = key {
            let outpoint = decode_outpoint(value)?;
            // One more than the index, so that contracts without an origin come first.
            let index = indices.get(&outpoint.txid).map_or(0, |index| index + 1);
            origins.insert(*id, (index, outpoint.vout));
        }
    }
    let mut created = Vec::new();
    for (key, _) in &effects.writes {
        if let StateKey::Code(id) = key
            && rows.get(&CREATIONS, &id_key(*id))?.is_none()
        {
            created.push((origins.get(id).copied().unwrap_or_default(), *id));
        }
    }
    if created.is_empty() {
        return Ok(());
    }
    created.sort_unstable();
    for (index, (_, id)) in (0u32..).zip(&created) {
        let position = position_key(height, index);
        rows.put(&CREATED, &position, &id_key(*id))?;
        rows.put(&CREATIONS, &id_key(*id), &position)?;
    }
    let before = decode_amount(&rows.get(&TOTALS, CREATED_COUNT)?.unwrap_or_default())?;
    Ok(rows.put(&TOTALS, CREATED_COUNT, &encode_amount(before + created.len() as u128))?)
}
