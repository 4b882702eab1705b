use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, Txid};
use paraffin_primitives::ConnectedBlock;

use crate::rows::is_unspendable;

/// A map by txid.
pub(super) type TxidMap<T> = HashMap<Txid, T, DigestHashing>;

/// Hashes txids and digests of scripts, which are hashes already: eight of their bytes and a secret are enough, and an attacker cannot make
/// many that agree in eight bytes.
#[derive(Debug, Clone)]
pub(super) struct DigestHashing(u64);

impl Default for DigestHashing {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for DigestHashing {
    type Hasher = DigestHasher;

    fn build_hasher(&self) -> DigestHasher {
        DigestHasher(self.0)
    }
}

pub(super) struct DigestHasher(u64);

impl Hasher for DigestHasher {
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

/// Transactions of a set: those that could be stored in the same slots. Two lines of memory.
const SET: usize = 8;
/// Least sets of a map that may have as many: half a MiB.
const SETS_MIN: usize = 4096;
/// How many times larger a map becomes.
const GROWTH: usize = 4;
/// Transactions for each set from which on a map grows: by then one set of some hundreds has lost one.
const FULL: usize = 3;
/// Sets that are fetched from memory together; one after the other, each would be waited for.
const TOGETHER: usize = 32;
/// Bits of an entry below its tag: number, outputs not yet spent.
const TAG_SHIFT: u32 = 40;
const NUMBER_SHIFT: u32 = 8;
/// Low bits of a tag that are bytes of the txid, not under the secret.
const PLAIN_BITS: u32 = 24;
/// So many unspent outputs and more are not counted down.
const UNSPENT_MAX: u8 = u8::MAX;

/// A transaction in 16 bytes: 88 bits of its txid, 64 of them under a secret, so that no two transactions of a chain have the same by chance
/// or by design; its number; how many of its outputs are unspent. Zero is a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry(u128);

impl Entry {
    const fn new(tag: u128, number: u32, unspent: u8) -> Self {
        Self(tag << TAG_SHIFT | (number as u128) << NUMBER_SHIFT | unspent as u128)
    }

    const fn tag(self) -> u128 {
        self.0 >> TAG_SHIFT
    }

    const fn number(self) -> u32 {
        (self.0 >> NUMBER_SHIFT) as u32
    }

    const fn unspent(self) -> u8 {
        self.0 as u8
    }

    /// What of the tag gives the set.
    const fn keyed(self) -> u64 {
        (self.tag() >> PLAIN_BITS) as u64
    }
}

/// First slot of the set of a transaction, and its tag.
type Position = (usize, u128);

/// Numbers of the newest transactions with unspent outputs, for most inputs spend young ones. Bounded, and valid only while blocks follow
/// one another: the module is not notified of undone blocks, it detects that the next one has another predecessor.
#[derive(Debug)]
pub(super) struct RecentNumbers {
    tip: Option<BlockHash>,
    key: RandomState,
    /// Sets of slots, each transaction in one of the set that its hash gives. Empty until the first block; grows with the transactions, so that
    /// a short chain takes little memory.
    slots: Vec<u128>,
    /// Slots that are not free.
    held: usize,
    sets_max: usize,
}

impl RecentNumbers {
    /// Takes `bytes` of memory at most, and a quarter more while it grows.
    pub(super) fn new(bytes: usize) -> Self {
        let sets_max = bytes / (SET * size_of::<u128>());
        Self { tip: None, key: RandomState::new(), slots: Vec::new(), held: 0, sets_max }
    }

    /// Forgets everything unless the next block follows the last one remembered.
    pub(super) fn follow(&mut self, previous: BlockHash) {
        if self.tip.take() != Some(previous) {
            (self.slots, self.held) = (Vec::new(), 0);
        }
    }

    /// The numbers of transactions, in their order; `None` for those that are not remembered.
    pub(super) fn get<'t>(&self, txids: impl Iterator<Item = &'t Txid>) -> Vec<Option<u32>> {
        let positions = self.positions(txids);
        let mut numbers = Vec::with_capacity(positions.len());
        for positions in positions.chunks(TOGETHER) {
            self.fetch(positions);
            numbers.extend(positions.iter().map(|(set, tag)| {
                let set = self.slots.get(*set..set + SET)?;
                let found = set.iter().copied().map(Entry).find(|entry| entry.tag() == *tag && entry.unspent() > 0);
                found.map(Entry::number)
            }));
        }
        numbers
    }

    /// To be called when the outputs that the block spends are found. Of a block that fails afterwards nothing is used: no block follows it.
    pub(super) fn remember(&mut self, tip: BlockHash, first_number: u32, block: &ConnectedBlock) {
        self.grow(block.txids.len());
        let transactions = &block.block.txdata;
        let mut numbered = (first_number..).zip(transactions);
        for positions in self.positions(block.txids.iter()).chunks(TOGETHER) {
            self.fetch(positions);
            for (position, (number, transaction)) in positions.iter().zip(&mut numbered) {
                let spendable = transaction.output.iter().filter(|output| !is_unspendable(&output.script_pubkey));
                let unspent = spendable.take(UNSPENT_MAX.into()).count();
                self.insert(*position, number, unspent as u8);
            }
        }
        let inputs = transactions.iter().skip(1).flat_map(|transaction| &transaction.input);
        for positions in self.positions(inputs.map(|input| &input.previous_output.txid)).chunks(TOGETHER) {
            self.fetch(positions);
            for position in positions {
                self.spend(*position);
            }
        }
        self.tip = Some(tip);
    }

    /// Makes the map larger while it would be fuller than [`FULL`] with so many `more`, as far as it may.
    fn grow(&mut self, more: usize) {
        // The sizes are the largest and each a quarter of the next one.
        let larger = |than: usize| {
            let sizes = std::iter::successors(Some(self.sets_max), |sets| Some(sets / GROWTH));
            sizes.take_while(|sets| *sets > than && (*sets >= SETS_MIN || *sets == self.sets_max)).last()
        };
        let sets = self.slots.len() / SET;
        let mut wanted = if sets == 0 { larger(0).unwrap_or(0) } else { sets };
        while self.held + more > wanted * FULL
            && let Some(next) = larger(wanted)
        {
            wanted = next;
        }
        if wanted == sets {
            return;
        }
        let slots = std::mem::replace(&mut self.slots, vec![0; wanted * SET]);
        self.held = 0;
        // In order: the sets of a map are pieces of those of a smaller one.
        for entry in slots.into_iter().filter(|slot| *slot > 0).map(Entry) {
            self.insert((self.first_slot(entry.keyed()), entry.tag()), entry.number(), entry.unspent());
        }
    }

    /// In place of a free slot, or of the oldest transaction of the set.
    fn insert(&mut self, (set, tag): Position, number: u32, unspent: u8) {
        let Some(set) = self.slots.get_mut(set..set + SET) else { return };
        let same = set.iter().position(|slot| *slot > 0 && Entry(*slot).tag() == tag);
        // A free slot has the lowest number.
        let oldest = (0..SET).min_by_key(|slot| Entry(set[*slot]).number());
        if let Some(slot) = same.or(oldest) {
            let new = if unspent > 0 { Entry::new(tag, number, unspent).0 } else { 0 };
            let old = std::mem::replace(&mut set[slot], new);
            self.held = self.held + usize::from(new > 0) - usize::from(old > 0);
        }
    }

    /// An output of the transaction is spent; one without others is not looked for again.
    fn spend(&mut self, (set, tag): Position) {
        let Some(set) = self.slots.get_mut(set..set + SET) else { return };
        let Some(slot) = set.iter_mut().find(|slot| **slot > 0 && Entry(**slot).tag() == tag) else { return };
        match Entry(*slot).unspent() {
            UNSPENT_MAX => {}
            1 => {
                *slot = 0;
                self.held -= 1;
            }
            _ => *slot -= 1,
        }
    }

    /// Reads a word of both lines of each set, which the processor so waits for at the same time.
    fn fetch(&self, positions: &[Position]) {
        let word = |slot: usize| self.slots.get(slot).copied().unwrap_or_default();
        let words = positions.iter().fold(0, |words, (set, _)| words ^ word(*set) ^ word(set + SET / 2));
        std::hint::black_box(words);
    }

    /// Of the set that a hash gives.
    fn first_slot(&self, keyed: u64) -> usize {
        let sets = self.slots.len() / SET;
        ((u128::from(keyed) * sets as u128) >> 64) as usize * SET
    }

    fn positions<'t>(&self, txids: impl Iterator<Item = &'t Txid>) -> Vec<Position> {
        let position = |txid: &Txid| {
            let keyed = self.key.hash_one(txid);
            let bytes = txid.as_byte_array();
            let plain = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            (self.first_slot(keyed), u128::from(keyed) << PLAIN_BITS | u128::from(plain))
        };
        txids.map(position).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use bitcoin::hashes::Hash;
    use bitcoin::{Amount, Block, OutPoint, ScriptBuf, Transaction, TxIn, TxOut, absolute, transaction};
    use paraffin_primitives::BlockId;

    use super::*;

    fn hash(byte: u8) -> BlockHash {
        BlockHash::from_byte_array([byte; 32])
    }

    fn txid(number: u32) -> Txid {
        Txid::hash(&number.to_be_bytes())
    }

    fn get(recent: &RecentNumbers, txid: &Txid) -> Option<u32> {
        recent.get(std::iter::once(txid))[0]
    }

    /// Transactions with so many spendable outputs each and one that is not, which have other txids than real ones; the second one spends
    /// the outpoints.
    fn block(txids: Vec<Txid>, outputs: usize, spends: &[Txid]) -> ConnectedBlock {
        let output = |script_pubkey| TxOut { value: Amount::ONE_SAT, script_pubkey };
        let spendable = (0..outputs).map(|_| output(ScriptBuf::from(vec![0x51])));
        let transaction = Transaction {
            version: transaction::Version::TWO,
            lock_time: absolute::LockTime::ZERO,
            input: Vec::new(),
            output: spendable.chain([output(ScriptBuf::new_op_return([]))]).collect(),
        };
        let mut transactions = vec![transaction; txids.len()];
        let input = |txid: &Txid| TxIn { previous_output: OutPoint { txid: *txid, vout: 0 }, ..TxIn::default() };
        if let Some(second) = transactions.get_mut(1) {
            second.input = spends.iter().map(input).collect();
        }
        let header = bitcoin::constants::genesis_block(bitcoin::Network::Regtest).header;
        ConnectedBlock {
            id: BlockId { height: 0, hash: hash(0) },
            block: Block { header, txdata: transactions },
            size: 0,
            txids,
            offsets: Vec::new(),
            spent: None,
            script_digests: None,
        }
    }

    #[test]
    fn a_block_with_another_predecessor_empties_the_cache() {
        let mut recent = RecentNumbers::new(4 << 20);
        recent.follow(hash(0));
        recent.remember(hash(1), 7, &block(vec![txid(1)], 1, &[]));
        recent.follow(hash(1));
        assert_eq!(get(&recent, &txid(1)), Some(7));
        // Block 2 failed half-way, so it is not remembered; the next block starts empty.
        recent.follow(hash(1));
        assert_eq!(get(&recent, &txid(1)), None);
    }

    #[test]
    fn a_number_leaves_with_the_last_output_and_the_oldest_ones_when_there_is_no_memory() {
        let mut recent = RecentNumbers::new(64 << 10);
        recent.remember(hash(1), 0, &block((0..100).map(txid).collect(), 2, &[txid(3), txid(4), txid(4), txid(1_000)]));
        assert_eq!(get(&recent, &txid(2)), Some(2));
        assert_eq!(get(&recent, &txid(3)), Some(3), "it has another output");
        assert_eq!(get(&recent, &txid(4)), None);
        recent.remember(hash(2), 100, &block(vec![txid(5), txid(200)], 0, &[]));
        assert_eq!(get(&recent, &txid(200)), None, "nothing of it can be spent");
        assert_eq!(get(&recent, &txid(5)), None, "the newer transaction of this txid has no outputs");
        let many = block(vec![txid(300), txid(301)], 1_000, &vec![txid(300); 999]);
        recent.remember(hash(3), 102, &many);
        assert_eq!(get(&recent, &txid(300)), Some(102));
        // 4,096 slots.
        for number in 0..40 {
            let txids = (0..1_000).map(|index| txid(10_000 + number * 1_000 + index)).collect();
            recent.remember(hash(4), 1_000 + number * 1_000, &block(txids, 1, &[]));
        }
        let held: Vec<u32> = (0..40_000).filter(|index| get(&recent, &txid(10_000 + index)).is_some()).collect();
        assert!((3_500..=4_096).contains(&held.len()), "{}", held.len());
        let young = held.iter().filter(|index| **index >= 34_000).count();
        assert!(young > held.len() * 9 / 10, "{young} of {}", held.len());
        assert_eq!(get(&recent, &txid(0)), None);
        assert_eq!(get(&RecentNumbers::new(0), &txid(0)), None);
    }

    #[test]
    fn the_map_grows_with_its_transactions_and_loses_few() {
        let mut recent = RecentNumbers::new(40 << 20);
        let mut sizes = vec![recent.slots.len()];
        for number in 0..600 {
            let txids = (0..1_000).map(|index| txid(number * 1_000 + index)).collect();
            recent.remember(hash(1), number * 1_000, &block(txids, 1, &[]));
            if sizes.last() != Some(&recent.slots.len()) {
                sizes.push(recent.slots.len());
            }
            assert_eq!(recent.held, recent.slots.iter().filter(|slot| **slot > 0).count());
        }
        assert!(sizes.len() == 5 && sizes[1] * size_of::<u128>() <= 1 << 20, "{sizes:?}");
        assert_eq!(sizes[4] * size_of::<u128>(), 40 << 20);
        let held = (0..600_000).filter(|number| get(&recent, &txid(*number)) == Some(*number)).count();
        // A full set loses its oldest, rarely where there are three for each set.
        assert!(held > 599_000, "{held}");
        recent.follow(hash(2));
        assert_eq!((recent.slots.len(), recent.held), (0, 0));
    }

    #[test]
    fn a_number_is_that_of_its_transaction_or_none() {
        let mut recent = RecentNumbers::new(16 << 10);
        let mut numbers = HashMap::new();
        let mut state = 1_u64;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as u32 % below
        };
        for round in 0..200 {
            let first = round * 64;
            let txids: Vec<Txid> = (0..64).map(|_| txid(draw(5_000))).collect();
            let spends: Vec<Txid> = (0..100).map(|_| txid(draw(5_000))).collect();
            recent.remember(hash(1), first, &block(txids.clone(), draw(4) as usize, &spends));
            numbers.extend(txids.into_iter().zip(first..));
            for (txid, number) in &numbers {
                assert!(get(&recent, txid).is_none_or(|found| found == *number));
            }
        }
    }
}
