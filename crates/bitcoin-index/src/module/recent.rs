use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use bitcoin::{BlockHash, Txid};

/// Transactions per generation; two generations are held, about 10 MiB in all.
const GENERATION: usize = 100_000;

/// A map by txid.
pub(super) type TxidMap<T> = HashMap<Txid, T, TxidHashing>;

/// Hashes txids, which are hashes already: eight of their bytes and a secret are enough, and an attacker cannot make many txids
/// that agree in eight bytes.
#[derive(Debug, Clone)]
pub(super) struct TxidHashing(u64);

impl Default for TxidHashing {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for TxidHashing {
    type Hasher = TxidHasher;

    fn build_hasher(&self) -> TxidHasher {
        TxidHasher(self.0)
    }
}

pub(super) struct TxidHasher(u64);

impl Hasher for TxidHasher {
    fn write(&mut self, bytes: &[u8]) {
        let head = bytes.first_chunk::<8>().map_or(0, |head| u64::from_le_bytes(*head));
        let product = u128::from(self.0 ^ head) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Numbers of the newest transactions, for most inputs spend young outputs. Bounded, and valid only while blocks follow
/// one another: the module is not notified of undone blocks, it sees that the next one has another predecessor.
#[derive(Debug, Default)]
pub(super) struct RecentNumbers {
    tip: Option<BlockHash>,
    young: TxidMap<u32>,
    old: TxidMap<u32>,
}

impl RecentNumbers {
    /// Forgets everything unless the next block follows the last one remembered.
    pub(super) fn follow(&mut self, previous: BlockHash) {
        if self.tip.take() != Some(previous) {
            self.young.clear();
            self.old.clear();
        }
    }

    pub(super) fn get(&self, txid: &Txid) -> Option<u32> {
        self.young.get(txid).or_else(|| self.old.get(txid)).copied()
    }

    /// To be called when all rows of the block are written.
    pub(super) fn remember(&mut self, tip: BlockHash, first_number: u32, txids: &[Txid]) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.extend(txids.iter().copied().zip(first_number..));
        self.tip = Some(tip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitcoin::hashes::Hash;

    fn hash(byte: u8) -> BlockHash {
        BlockHash::from_byte_array([byte; 32])
    }

    fn txid(number: u32) -> Txid {
        Txid::hash(&number.to_be_bytes())
    }

    #[test]
    fn a_block_with_another_predecessor_empties_the_cache() {
        let mut recent = RecentNumbers::default();
        recent.follow(hash(0));
        recent.remember(hash(1), 7, &[txid(1)]);
        recent.follow(hash(1));
        assert_eq!(recent.get(&txid(1)), Some(7));
        // Block 2 failed half-way, so it is not remembered; whatever comes next starts empty.
        recent.follow(hash(1));
        assert_eq!(recent.get(&txid(1)), None);
    }

    #[test]
    fn memory_is_bounded_by_two_generations_and_one_block() {
        let mut recent = RecentNumbers::default();
        let mut number = 0;
        for block in 0u32..60 {
            let txids: Vec<Txid> = (0..10_000).map(|index| txid(block * 10_000 + index)).collect();
            recent.follow(hash(block as u8));
            recent.remember(hash(block as u8 + 1), number, &txids);
            number += 10_000;
            assert!(recent.young.len() + recent.old.len() <= 2 * GENERATION + 10_000);
        }
        assert_eq!(recent.get(&txid(number - 1)), Some(number - 1));
        assert_eq!(recent.get(&txid(0)), None);
    }
}
