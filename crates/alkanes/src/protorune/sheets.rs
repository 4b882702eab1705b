use std::collections::BTreeMap;

use paraffin_primitives::AlkaneId;

use super::{Fault, Void};
use crate::codec::RUNTIME_VOUT;
use crate::state::StateError;
use crate::work::cost;
use crate::{Overlay, Sheet, SheetOverflow, StateKey};

/// Most entries of all sheets of one transaction. The reference, which copies them for every message in its 4 GiB, ends
/// before (decision 0038).
const ENTRIES_MAX: usize = 4_000_000;

/// The sheets of one transaction, by output, shadow outputs and the runtime included (protocol B5).
///
/// The sheet of [`RUNTIME_VOUT`] holds only ids that this transaction has touched; the stored amount of an id is read when the id
/// is touched for the first time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheets {
    by_vout: BTreeMap<u32, Sheet>,
    entries: usize,
}

impl Sheets {
    pub(crate) fn get(&self, vout: u32) -> Option<&Sheet> {
        self.by_vout.get(&vout)
    }

    /// Removes the sheet of an output; an empty one when there is none.
    pub(crate) fn take(&mut self, vout: u32) -> Sheet {
        let taken = self.by_vout.remove(&vout).unwrap_or_default();
        self.entries -= taken.entry_count();
        taken
    }

    /// Counts the work of copying all sheets.
    ///
    /// # Errors
    /// The transaction has done more than it may.
    pub(crate) fn count_copy(&self, state: &Overlay<'_>) -> Result<(), Fault> {
        state.work.add_times(2 * (self.entries + self.by_vout.len()), cost::SHEET_ENTRY);
        check(state, self.entries)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Sheet> {
        self.by_vout.values()
    }

    /// All sheets by output; the runtime's is always there.
    pub(crate) fn into_outputs(mut self) -> BTreeMap<u32, Sheet> {
        self.by_vout.entry(RUNTIME_VOUT).or_default();
        self.by_vout
    }

    /// Adds an amount to the sheet of an output.
    pub(crate) fn add(&mut self, state: &Overlay<'_>, vout: u32, id: AlkaneId, amount: u128) -> Result<(), Fault> {
        if vout == RUNTIME_VOUT {
            self.touch_runtime(state, id)?;
        }
        state.work.add(cost::SHEET_ENTRY);
        let sheet = self.by_vout.entry(vout).or_default();
        let before = sheet.entry_count();
        sheet.add(id, amount)?;
        self.entries += sheet.entry_count() - before;
        check(state, self.entries)
    }

    /// Adds a sheet to that of an output; every sum is checked before the first is applied.
    pub(crate) fn add_sheet(&mut self, state: &Overlay<'_>, vout: u32, sheet: &Sheet) -> Result<(), Fault> {
        if vout == RUNTIME_VOUT {
            for (id, _) in sheet.iter() {
                self.touch_runtime(state, id)?;
            }
        }
        state.work.add_times(2 * sheet.entry_count(), cost::SHEET_ENTRY);
        check(state, self.entries)?;
        Ok(self.merge(vout, sheet)?)
    }

    /// As [`Self::add_sheet`], of an output that is not the runtime.
    pub(crate) fn merge(&mut self, vout: u32, sheet: &Sheet) -> Result<(), SheetOverflow> {
        let merged = self.by_vout.entry(vout).or_default();
        let before = merged.entry_count();
        let ended = merged.merge(sheet);
        self.entries += merged.entry_count() - before;
        ended
    }

    /// Replaces the runtime sheet.
    pub(crate) fn set_runtime(&mut self, runtime: Sheet) {
        drop(self.take(RUNTIME_VOUT));
        self.entries += runtime.entry_count();
        self.by_vout.insert(RUNTIME_VOUT, runtime);
    }

    /// The touched entries of the runtime sheet, with `ids` among them.
    pub(crate) fn runtime(
        &mut self,
        state: &Overlay<'_>,
        ids: impl Iterator<Item = AlkaneId>,
    ) -> Result<Sheet, StateError> {
        for id in ids {
            self.touch_runtime(state, id)?;
        }
        Ok(self.by_vout.get(&RUNTIME_VOUT).cloned().unwrap_or_default())
    }

    fn touch_runtime(&mut self, state: &Overlay<'_>, id: AlkaneId) -> Result<(), StateError> {
        let runtime = self.by_vout.entry(RUNTIME_VOUT).or_default();
        let before = runtime.entry_count();
        runtime.set(id, runtime_amount(state, runtime, id)?);
        self.entries += runtime.entry_count() - before;
        Ok(())
    }
}

fn check(state: &Overlay<'_>, entries: usize) -> Result<(), Fault> {
    if entries > ENTRIES_MAX || state.work.is_over_in_ledger() { Err(Void::TooMuch.into()) } else { Ok(()) }
}

/// The amount of `id` in a runtime sheet of touched ids alone: that of the sheet, else the stored one.
///
/// # Errors
/// Reading failed.
pub fn runtime_amount(state: &Overlay<'_>, runtime: &Sheet, id: AlkaneId) -> Result<u128, StateError> {
    if runtime.contains(id) {
        return Ok(runtime.get(id));
    }
    let Some(bytes) = state.get(&StateKey::Runtime(id))? else { return Ok(0) };
    let bytes = <[u8; 16]>::try_from(&bytes[..])
        .map_err(|_| StateError::Damaged(format!("the runtime amount of {id} has {} bytes", bytes.len())))?;
    Ok(u128::from_le_bytes(bytes))
}
