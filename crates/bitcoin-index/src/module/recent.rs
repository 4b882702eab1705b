use std::collections::HashMap;

use bitcoin::{BlockHash, Txid};

/// Transactions per generation; two generations are held, about 10 MiB in all.
const GENERATION: usize = 100_000;

/// Numbers of the newest transactions, for most inputs spend young outputs. Bounded, and valid only while blocks follow
/// one another: the module is not told of undone blocks, it sees that the next one has another predecessor.
#[derive(Debug, Default)]
pub(super) struct RecentNumbers {
    tip: Option<BlockHash>,
    young: HashMap<Txid, u32>,
    old: HashMap<Txid, u32>,
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
