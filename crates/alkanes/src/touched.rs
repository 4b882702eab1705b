//! Storage writes of contracts while a transaction is tried, by protostone (`docs/protocol/trial-views.md`).

use std::collections::BTreeMap;

use paraffin_primitives::AlkaneId;

/// Values by contract and key.
pub(crate) type ByContract = BTreeMap<AlkaneId, BTreeMap<Vec<u8>, Vec<u8>>>;

/// The storage that the calls of a transaction have handed over. Each call counts that ended well, with an empty map too, whatever
/// becomes of it afterwards.
#[derive(Debug, Default)]
pub(crate) struct TouchedStorage {
    protostone: usize,
    by_protostone: Vec<ByContract>,
    bytes_left: usize,
    is_over: bool,
}

/// The size of a pair beside its bytes, and of a contract.
const PAIR_BYTES: usize = 64;

impl TouchedStorage {
    /// Nothing yet, and at most so many bytes.
    pub(crate) fn within(bytes: usize) -> Self {
        Self { bytes_left: bytes, ..Self::default() }
    }

    /// Storage writes since the last call, and whether they are complete.
    pub(crate) fn take(&mut self) -> (Vec<ByContract>, bool) {
        (std::mem::take(&mut self.by_protostone), !self.is_over)
    }

    pub(crate) fn begin_protostone(&mut self, index: usize) {
        self.protostone = index;
    }

    pub(crate) fn record(&mut self, contract: AlkaneId, pairs: &[(Vec<u8>, Vec<u8>)]) {
        if self.by_protostone.len() <= self.protostone {
            self.by_protostone.resize_with(self.protostone + 1, BTreeMap::new);
        }
        let contracts = &mut self.by_protostone[self.protostone];
        if !contracts.contains_key(&contract) && !take(&mut self.bytes_left, PAIR_BYTES) {
            self.is_over = true;
            return;
        }
        let values = contracts.entry(contract).or_default();
        for (key, value) in pairs {
            if let Some(older) = values.remove(key) {
                self.bytes_left += key.len() + older.len() + PAIR_BYTES;
            }
            if !take(&mut self.bytes_left, key.len() + value.len() + PAIR_BYTES) {
                self.is_over = true;
                return;
            }
            values.insert(key.clone(), value.clone());
        }
    }
}

/// Takes bytes from the rest; false when there are not enough.
fn take(left: &mut usize, bytes: usize) -> bool {
    left.checked_sub(bytes).map(|rest| *left = rest).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: usize) -> (Vec<u8>, Vec<u8>) {
        (key.into(), vec![0; value])
    }

    #[test]
    fn the_newest_value_counts_and_only_its_bytes() {
        let contract = AlkaneId { block: 2, tx: 1 };
        let mut touched = TouchedStorage::within(2 * (1 + 10 + PAIR_BYTES) + 2 * PAIR_BYTES);
        touched.begin_protostone(1);
        for _ in 0..100 {
            touched.record(contract, &[pair("a", 10)]);
        }
        touched.record(contract, &[pair("b", 9)]);
        touched.record(AlkaneId::default(), &[]);
        let (by_protostone, is_whole) = touched.take();
        assert!(is_whole && by_protostone[0].is_empty());
        assert_eq!(by_protostone[1][&contract], BTreeMap::from([pair("a", 10), pair("b", 9)]));
        assert_eq!(by_protostone[1][&AlkaneId::default()], BTreeMap::new());
        touched.record(contract, &[pair("c", 2)]);
        assert!(!touched.take().1);
        // Contracts that store nothing count as well.
        let mut touched = TouchedStorage::within(2 * PAIR_BYTES);
        touched.begin_protostone(0);
        for tx in 0..3 {
            touched.record(AlkaneId { block: 2, tx }, &[]);
        }
        let (by_protostone, is_whole) = touched.take();
        assert!(!is_whole && by_protostone[0].len() == 2);
    }
}
