use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

use bitcoin::{BlockHash, Txid};

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

/// A txid under a secret: of 96 bits, so that no two transactions of a chain have the same, by chance or by design.
type Fingerprint = [u32; 3];

/// Hashes fingerprints, which are hashes already.
#[derive(Debug, Default)]
struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.first_chunk::<8>().map_or(0, |head| u64::from_le_bytes(*head));
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

type Numbers = HashMap<Fingerprint, u32, BuildHasherDefault<FingerprintHasher>>;

/// Numbers of the newest transactions, for most inputs spend young outputs. Bounded, and valid only while blocks follow
/// one another: the module is not notified of undone blocks, it detects that the next one has another predecessor.
#[derive(Debug)]
pub(super) struct RecentNumbers {
    tip: Option<BlockHash>,
    keys: [RandomState; 2],
    young: Numbers,
    old: Numbers,
    /// Transactions of a generation; two are held.
    generation: usize,
}

impl RecentNumbers {
    /// Takes `bytes` of memory at most, but for one block.
    pub(super) fn new(bytes: usize) -> Self {
        // A map takes 17 bytes for each of its buckets, a power of two, and fills seven eighths of them.
        let buckets = 1_usize << (bytes / 2 / 17).max(16).ilog2();
        Self {
            tip: None,
            keys: [RandomState::new(), RandomState::new()],
            young: Numbers::default(),
            old: Numbers::default(),
            generation: buckets / 8 * 7,
        }
    }

    /// Forgets everything unless the next block follows the last one remembered.
    pub(super) fn follow(&mut self, previous: BlockHash) {
        if self.tip.take() != Some(previous) {
            self.young.clear();
            self.old.clear();
        }
    }

    pub(super) fn get(&self, txid: &Txid) -> Option<u32> {
        let fingerprint = self.fingerprint(txid);
        self.young.get(&fingerprint).or_else(|| self.old.get(&fingerprint)).copied()
    }

    /// To be called when all rows of the block are written.
    pub(super) fn remember(&mut self, tip: BlockHash, first_number: u32, txids: &[Txid]) {
        if self.young.len() + txids.len() > self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        for (number, txid) in (first_number..).zip(txids) {
            let fingerprint = self.fingerprint(txid);
            self.young.insert(fingerprint, number);
        }
        self.tip = Some(tip);
    }

    fn fingerprint(&self, txid: &Txid) -> Fingerprint {
        let [first, second] = self.keys.each_ref().map(|key| key.hash_one(txid));
        [first as u32, (first >> 32) as u32, second as u32]
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
        let mut recent = RecentNumbers::new(4 << 20);
        recent.follow(hash(0));
        recent.remember(hash(1), 7, &[txid(1)]);
        recent.follow(hash(1));
        assert_eq!(recent.get(&txid(1)), Some(7));
        // Block 2 failed half-way, so it is not remembered; the next block starts empty.
        recent.follow(hash(1));
        assert_eq!(recent.get(&txid(1)), None);
    }

    #[test]
    fn memory_is_bounded_by_two_generations_and_one_block() {
        let mut recent = RecentNumbers::new(4 << 20);
        let mut number = 0;
        for block in 0u32..60 {
            let txids: Vec<Txid> = (0..10_000).map(|index| txid(block * 10_000 + index)).collect();
            recent.follow(hash(block as u8));
            recent.remember(hash(block as u8 + 1), number, &txids);
            number += 10_000;
            assert!(recent.young.len() + recent.old.len() <= 2 * 114_688);
        }
        assert_eq!(recent.get(&txid(number - 1)), Some(number - 1));
        assert_eq!(recent.get(&txid(0)), None);
    }
}
