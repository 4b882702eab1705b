use super::varint::{put_varint, take_varint_u32};
use super::{RowError, take, take_u32};

/// How many bits of a hash are in a key; the rest of the 8 bytes is zero. Always 64 outside tests, which narrow it to
/// meet collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PrefixWidth(u32);

impl PrefixWidth {
    pub(crate) const FULL: Self = Self(64);

    /// Keeps `bits` of every prefix, at most 64.
    pub(crate) fn narrowed(bits: u32) -> Self {
        Self(bits.min(64))
    }

    /// Prefix of a SHA-256 of a script.
    pub(crate) fn prefix(self, hash: &[u8; 32]) -> [u8; 8] {
        let mut prefix = [0; 8];
        prefix.copy_from_slice(&hash[..8]);
        let mask = u64::MAX.checked_shl(64 - self.0).unwrap_or(0);
        (u64::from_be_bytes(prefix) & mask).to_be_bytes()
    }
}

/// Key of table `history`: script prefix (8) | number of the first transaction of the row (4, big-endian).
pub(crate) fn history_key(prefix: [u8; 8], first_number: u32) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&prefix);
    key[8..].copy_from_slice(&first_number.to_be_bytes());
    key
}

/// Value of table `history`: the further transactions of the same script in the same block, each as the count of
/// numbers skipped since the one before (varint). `numbers` ascend strictly.
pub(crate) fn history_value(numbers: &[u32]) -> Vec<u8> {
    let mut value = Vec::new();
    for pair in numbers.windows(2) {
        put_varint(&mut value, u64::from(pair[1] - pair[0] - 1));
    }
    value
}

/// One row of table `history`: the transactions of one block that fund a script or spend from it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HistoryRow(Vec<u32>);

impl HistoryRow {
    pub(crate) fn decode(mut key: &[u8], mut value: &[u8]) -> Result<Self, RowError> {
        take(&mut key, 8)?;
        let mut last = take_u32(&mut key)?;
        super::finished(key)?;
        let mut numbers = vec![last];
        while !value.is_empty() {
            let step = take_varint_u32(&mut value)?;
            last = last
                .checked_add(step)
                .and_then(|number| number.checked_add(1))
                .ok_or(RowError("a transaction number exceeds 32 bits"))?;
            numbers.push(last);
        }
        Ok(Self(numbers))
    }

    /// Ascending.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_round_trip(numbers in proptest::collection::btree_set(any::<u32>(), 1..40)) {
            let numbers: Vec<u32> = BTreeSet::into_iter(numbers).collect();
            let row = HistoryRow::decode(&history_key([1; 8], numbers[0]), &history_value(&numbers)).unwrap();
            prop_assert_eq!(row.numbers(), numbers);
        }
    }

    #[test]
    fn a_lone_transaction_needs_no_value() {
        assert!(history_value(&[7]).is_empty());
    }

    #[test]
    fn a_narrowed_prefix_keeps_the_first_bits_alone() {
        let hash = [0xff; 32];
        assert_eq!(PrefixWidth::FULL.prefix(&hash), [0xff; 8]);
        assert_eq!(PrefixWidth::narrowed(4).prefix(&hash), [0xf0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(PrefixWidth::narrowed(0).prefix(&hash), [0; 8]);
    }
}
