use super::{Fields, RowError, put_varint};

/// How many inscriptions of a block are recorded as those that paid the highest fees.
pub(crate) const HIGHEST_MAX: usize = 8;

/// Row of table `revealed`: the inscriptions of a block.
///
/// ```text
/// first sequence number | count | those that paid the highest fees, the highest first, as distances from the first
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RevealedRow {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Sequence numbers; of equal fees the later one comes first.
    pub(crate) highest: Vec<u32>,
}

impl RevealedRow {
    /// The sequence number after the last.
    pub(crate) fn end(&self) -> u32 {
        self.first.saturating_add(self.count)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, self.first);
        put_varint(&mut bytes, self.count);
        for sequence in &self.highest {
            put_varint(&mut bytes, sequence.saturating_sub(self.first));
        }
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let mut revealed = Self { first: fields.varint()?, count: fields.varint()?, highest: Vec::new() };
        while !fields.is_empty() {
            let distance: u32 = fields.varint()?;
            revealed.highest.push(revealed.first.checked_add(distance).ok_or(RowError("a number is out of range"))?);
        }
        Ok(revealed)
    }
}

/// Collects the inscriptions that paid the highest fees.
#[derive(Default)]
pub(crate) struct HighestFees(Vec<(u64, u32)>);

impl HighestFees {
    pub(crate) fn add(&mut self, fee: u64, sequence: u32) {
        let position = self.0.partition_point(|(higher, _)| *higher > fee);
        if position < HIGHEST_MAX {
            self.0.insert(position, (fee, sequence));
            self.0.truncate(HIGHEST_MAX);
        }
    }

    /// Their sequence numbers, the highest fee first.
    pub(crate) fn sequences(&self) -> Vec<u32> {
        self.0.iter().map(|(_, sequence)| *sequence).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            first in 0..u32::MAX / 2, count: u32, distances in proptest::collection::vec(0..u32::MAX / 2, 0..9),
            noise in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let highest = distances.into_iter().map(|distance| first + distance).collect();
            let row = RevealedRow { first, count, highest };
            prop_assert_eq!(RevealedRow::decode(&row.encode()), Ok(row));
            let _ = RevealedRow::decode(&noise);
        }

        /// The reference sorts by fee, keeps the order of equal ones, and reads from the end.
        #[test]
        fn the_highest_fees_are_those_at_the_end_of_a_stable_sort(fees in proptest::collection::vec(0..20u64, 0..60)) {
            let mut highest = HighestFees::default();
            (0u32..).zip(&fees).for_each(|(sequence, fee)| highest.add(*fee, sequence));
            let mut sorted: Vec<(u32, u64)> = (0u32..).zip(fees).collect();
            sorted.sort_by_key(|(_, fee)| *fee);
            let expected: Vec<u32> = sorted.into_iter().rev().take(8).map(|(sequence, _)| sequence).collect();
            prop_assert_eq!(highest.sequences(), expected);
        }
    }
}
