//! Sats by their numbers: which ranges of them every output of a block gets.

use std::collections::HashMap;

use bitcoin::{OutPoint, Transaction, Txid};
use ordinals::{Height as OrdinalsHeight, Sat, SatPoint};
use paraffin_primitives::Height;
use paraffin_store::{ModuleError, ModuleWriter};

use crate::error::ReadError;
use crate::rows::{decode_ranges, encode_ranges, put_varint};
use crate::tables::{RANGES, RARE, outpoint_key};

/// First sat, and the one after the last.
pub(super) type Range = (u64, u64);

/// The ranges of a block while it is applied.
pub(super) struct BlockRanges {
    /// Of outputs that the block made and has not spent.
    fresh: HashMap<OutPoint, Vec<Range>>,
    /// What the coinbase may take: the subsidy, then the fees.
    coinbase: Vec<Range>,
}

impl BlockRanges {
    pub(super) fn new(height: Height) -> Self {
        let height = OrdinalsHeight(height);
        let start = height.starting_sat().n();
        let subsidy = height.subsidy();
        let coinbase = if subsidy > 0 { vec![(start, start + subsidy)] } else { Vec::new() };
        Self { fresh: HashMap::new(), coinbase }
    }

    /// The ranges of what a transaction spends, in order. Takes them out of the outputs.
    pub(super) fn inputs(
        &mut self,
        transaction: &Transaction,
        is_coinbase: bool,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<Vec<Range>, ModuleError> {
        if is_coinbase {
            return Ok(std::mem::take(&mut self.coinbase));
        }
        let mut ranges = Vec::new();
        for input in &transaction.input {
            if let Some(mut fresh) = self.fresh.remove(&input.previous_output) {
                ranges.append(&mut fresh);
                continue;
            }
            let key = outpoint_key(&input.previous_output);
            if let Some(row) = rows.get(&RANGES, &key)? {
                ranges.append(&mut decode_ranges(&row).map_err(ReadError::of(&RANGES))?);
                rows.delete(&RANGES, &key)?;
            }
        }
        Ok(ranges)
    }

    /// Gives the outputs of a transaction their ranges; what is left is a fee, or lost when the coinbase leaves it.
    pub(super) fn assign(
        &mut self,
        transaction: &Transaction,
        txid: Txid,
        inputs: &[Range],
        lost_before: Option<u64>,
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        let mut waiting = inputs.iter().copied();
        let mut begun: Option<Range> = None;
        for (vout, output) in (0u32..).zip(&transaction.output) {
            let outpoint = OutPoint { txid, vout };
            let value = output.value.to_sat();
            let (mut ranges, mut filled) = (Vec::new(), 0);
            while filled < value {
                // Only in an isolated block: the inputs are not known.
                let Some((start, end)) = begun.take().or_else(|| waiting.next()) else { break };
                note_rare(start, SatPoint { outpoint, offset: filled }, rows)?;
                let middle = end.min(start.saturating_add(value - filled));
                if middle < end {
                    begun = Some((middle, end));
                }
                ranges.push((start, middle));
                filled += middle - start;
            }
            self.fresh.insert(outpoint, ranges);
        }
        let left: Vec<Range> = begun.into_iter().chain(waiting).collect();
        match lost_before {
            None => self.coinbase.extend(left),
            Some(lost_before) => lose(&left, lost_before, rows)?,
        }
        Ok(())
    }

    pub(super) fn finish(self, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        for (outpoint, ranges) in &self.fresh {
            rows.put(&RANGES, &outpoint_key(outpoint), &encode_ranges(ranges))?;
        }
        Ok(())
    }
}

/// Lost sats gather under the outpoint that cannot exist.
fn lose(left: &[Range], lost_before: u64, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
    if left.is_empty() {
        return Ok(());
    }
    let (key, mut offset) = (outpoint_key(&OutPoint::null()), lost_before);
    let mut row = rows.get(&RANGES, &key)?.unwrap_or_default();
    for (start, end) in left {
        note_rare(*start, SatPoint { outpoint: OutPoint::null(), offset }, rows)?;
        offset += end - start;
    }
    row.extend(encode_ranges(left));
    Ok(rows.put(&RANGES, &key, &row)?)
}

/// Where a sat is that is not common, when it begins a range; no such sat lies within one.
fn note_rare(sat: u64, satpoint: SatPoint, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
    if Sat(sat).common() {
        return Ok(());
    }
    let mut row = outpoint_key(&satpoint.outpoint).to_vec();
    put_varint(&mut row, satpoint.offset);
    Ok(rows.put(&RARE, &sat.to_be_bytes(), &row)?)
}

/// The sat at an offset.
pub(super) fn sat_at(ranges: &[Range], offset: u64) -> Option<u64> {
    let mut before = 0;
    for (start, end) in ranges {
        let size = end - start;
        if offset - before < size {
            return Some(start + (offset - before));
        }
        before += size;
    }
    None
}
