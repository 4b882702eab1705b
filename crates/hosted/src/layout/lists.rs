//! Sheets in the program's lists, and the integers in them.

use std::collections::BTreeMap;

use paraffin_alkanes::{SavedSheet, StateKey};
use paraffin_primitives::AlkaneId;

use super::LayoutError;

/// Entries of a sheet that a block wrote, by number.
#[derive(Debug, Default)]
pub(super) struct ListChange {
    pub(super) ids: BTreeMap<u32, AlkaneId>,
    pub(super) amounts: BTreeMap<u32, u128>,
}

impl ListChange {
    /// The sheet after the block, and whether it got entries.
    pub(super) fn apply(self, mut saved: SavedSheet, key: &StateKey) -> Result<(SavedSheet, bool), LayoutError> {
        let before = saved.entries.len();
        let hole = |index: u32, len| LayoutError::Hole { list: format!("{key:?}"), index: u64::from(index), len };
        for (index, id) in self.ids {
            let len = saved.entries.len();
            match index as usize {
                at if at < len => saved.entries[at].0 = id,
                at if at == len => saved.entries.push((id, 0)),
                _ => return Err(hole(index, len)),
            }
        }
        let len = saved.entries.len();
        for (index, amount) in self.amounts {
            saved.entries.get_mut(index as usize).ok_or_else(|| hole(index, len))?.1 = amount;
        }
        let grew = saved.entries.len() > before;
        Ok((saved, grew))
    }
}

/// An id of 32 bytes, the lowest byte of each part first.
pub(super) fn id(bytes: &[u8]) -> Option<AlkaneId> {
    let (block, tx) = bytes.split_at_checked(16)?;
    Some(AlkaneId { block: amount(block)?, tx: amount(tx)? })
}

/// An integer of 16 bytes, the lowest first.
pub(super) fn amount(bytes: &[u8]) -> Option<u128> {
    Some(u128::from_le_bytes(bytes.try_into().ok()?))
}
