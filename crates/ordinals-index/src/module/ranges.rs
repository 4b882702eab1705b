//! Sats by their numbers: which ranges of them every output of a block gets.

use std::collections::HashMap;

use bitcoin::{OutPoint, Transaction, Txid};
use ordinals::{Height as OrdinalsHeight, Sat, SatPoint};
use paraffin_primitives::Height;
use paraffin_store::{ModuleError, ModuleWriter};

use crate::error::ReadError;
use crate::rows::{append, decode_ranges, delete_whole, encode_ranges, get_whole, put_varint, put_whole};
use crate::tables::{RANGES, RARE, outpoint_key};

/// First sat, and the one after the last.
pub(super) type Range = (u64, u64);

/// The ranges of a block while it is applied.
pub(super) struct BlockRanges {
    /// Of outputs that the block made and has not spent.
    fresh: HashMap<OutPoint, Vec<Range>>,
    /// What the coinbase may take: the subsidy, then the fees.
    coinbase: Vec<Range>,
    part_bytes_max: usize,
}

impl BlockRanges {
    pub(super) fn new(height: Height, part_bytes_max: usize) -> Self {
        let height = OrdinalsHeight(height);
        let start = height.starting_sat().n();
        let subsidy = height.subsidy();
        let coinbase = if subsidy > 0 { vec![(start, start + subsidy)] } else { Vec::new() };
        Self { fresh: HashMap::new(), coinbase, part_bytes_max }
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
            if let Some(row) = get_whole(&RANGES, &key, |key| rows.get(&RANGES, key))? {
                ranges.append(&mut decode_ranges(&row.bytes, |_| true).map_err(ReadError::of(&RANGES))?);
                delete_whole(rows, &RANGES, &key, row.parts)?;
            }
        }
        Ok(ranges)
    }

    /// Gives the outputs of a transaction their ranges; the rest is a fee, or lost when the coinbase does not claim it.
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
                // Only in an isolated block: the inputs are unknown.
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
            Some(lost_before) => lose(&left, lost_before, rows, self.part_bytes_max)?,
        }
        Ok(())
    }

    pub(super) fn finish(self, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        for (outpoint, ranges) in &self.fresh {
            put_whole(rows, &RANGES, &outpoint_key(outpoint), &encode_ranges(ranges), self.part_bytes_max)?;
        }
        Ok(())
    }
}

/// Lost sats gather under the outpoint that cannot exist, for all time: only the end of that row is read and written.
fn lose(
    left: &[Range],
    lost_before: u64,
    rows: &mut ModuleWriter<'_>,
    part_bytes_max: usize,
) -> Result<(), ModuleError> {
    if left.is_empty() {
        return Ok(());
    }
    let (key, mut offset) = (outpoint_key(&OutPoint::null()), lost_before);
    for (start, end) in left {
        note_rare(*start, SatPoint { outpoint: OutPoint::null(), offset }, rows)?;
        offset += end - start;
    }
    Ok(append(rows, &RANGES, &key, &encode_ranges(left), part_bytes_max)?)
}

/// Records the location of a sat that is not common. Such a sat always begins a range.
fn note_rare(sat: u64, satpoint: SatPoint, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
    if Sat(sat).common() {
        return Ok(());
    }
    let mut row = outpoint_key(&satpoint.outpoint).to_vec();
    put_varint(&mut row, satpoint.offset);
    Ok(rows.put(&RARE, &sat.to_be_bytes(), &row)?)
}

/// Finds the sats at offsets that mostly ascend, each range looked at once: there may be millions of ranges and half a million
/// inscriptions to find the sats of.
pub(super) struct SatWalk<'a> {
    ranges: &'a [Range],
    /// The range looked at last, and the sats before it.
    index: usize,
    before: u64,
}

impl<'a> SatWalk<'a> {
    pub(super) fn new(ranges: &'a [Range]) -> Self {
        Self { ranges, index: 0, before: 0 }
    }

    /// The sat at an offset.
    pub(super) fn at(&mut self, offset: u64) -> Option<u64> {
        if offset < self.before {
            (self.index, self.before) = (0, 0);
        }
        while let Some((start, end)) = self.ranges.get(self.index) {
            let size = end - start;
            if offset - self.before < size {
                return Some(start + (offset - self.before));
            }
            self.before += size;
            self.index += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sat_at(ranges: &[Range], offset: u64) -> Option<u64> {
        ranges.iter().flat_map(|(start, end)| *start..*end).nth(offset as usize)
    }

    proptest! {
        #[test]
        fn the_sats_of_a_walk_are_those_of_the_ranges(
            ranges in proptest::collection::vec((0u64..1000, 0u64..5), 0..8),
            offsets in proptest::collection::vec(0u64..30, 0..12),
        ) {
            let ranges: Vec<Range> = ranges.into_iter().map(|(start, size)| (start, start + size)).collect();
            let mut walk = SatWalk::new(&ranges);
            for offset in offsets {
                prop_assert_eq!(walk.at(offset), sat_at(&ranges, offset));
            }
        }
    }

    /// A million sats in a million ranges: from the beginning for each of them it would be 500 thousand million steps.
    #[test]
    fn the_time_does_not_grow_with_ranges_times_inscriptions() {
        let ranges: Vec<Range> = (0..1_000_000).map(|index| (3 * index, 3 * index + 1)).collect();
        let mut walk = SatWalk::new(&ranges);
        let begin = std::time::Instant::now();
        assert!((0..1_000_000).all(|offset| walk.at(offset) == Some(3 * offset)));
        assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
    }
}
