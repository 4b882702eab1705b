//! What an index will need on the disk, estimated from the size of the node's chain.

use crate::config::RawTransactionsSetting;
use crate::disk::readable;

/// Bytes of tables for 1,000 bytes of blocks; measured 342 on blocks of mainnet's shape, and 21 more since keys of transaction numbers have
/// 18 bytes.
const INDEX_PER_MILLE: u64 = 380;
/// Bytes of rows of inscriptions, runes and BRC-20 for 1,000 bytes of those blocks in which they count.
///
/// Four real blocks (849,236, 849,250, 892,614 and one that a fixture is named after, 6.43 MB) hold 2,483 inscriptions, 386 in
/// a megabyte. An inscription with its BRC-20 event takes 482 bytes on the disk (`cargo bench -p paraffin-ordinals-index --bench
/// import -- disk`: 29,000 mints, before tables are merged and packed, so this is the most): 186 for 1,000 bytes of blocks. The
/// rest is for runes, whose balances come and go with the outputs that hold them.
const ORDINALS_PER_MILLE: u64 = 220;
/// Bytes of rows of sats for 1,000 bytes of the whole chain: a row of 36 bytes and 11 for each range of sats for every unspent
/// output. An estimate, not a measurement: mainnet has about one unspent output for 4,000 bytes, and 25 ranges in
/// it on average are thought to be more than enough.
const SATS_PER_MILLE: u64 = 80;
/// Bytes of undo records for 1,000 bytes of blocks, of those blocks that can be undone.
const UNDO_PER_MILLE: u64 = 250;
/// Merging tables writes new ones before the old ones go: this share of the tables, in thousandths. Transactions are not merged, the other
/// half is in two large keyspaces, one of which is merged at a time; measured 363 at 50 GB with all modules. A copy of the transactions is a keyspace as well.
const MERGE_PER_MILLE: u64 = 370;
/// Journal files, allocated ahead.
const JOURNAL_BYTES: u64 = 128 << 20;

/// What of inscriptions, runes and BRC-20 is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrdinalsNeed {
    /// First height at which inscriptions count.
    pub first_height: u32,
    /// Whether sats are followed.
    pub sats: bool,
}

/// Bytes that a whole index needs, by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiskNeed {
    /// Bytes of the blocks.
    pub chain: u64,
    /// Tables, without those of inscriptions, runes and BRC-20.
    pub index: u64,
    /// Tables of inscriptions, runes and BRC-20, and of sats where they are followed.
    pub ordinals: u64,
    /// Undo records.
    pub undo: u64,
    /// A copy of all transactions, where it is configured.
    pub copy: u64,
    /// What is there for a while only: tables being merged, the run being written, the journal.
    pub working: u64,
}

impl DiskNeed {
    /// The need for the `blocks` blocks of a chain of `chain_bytes`. `run_bytes`: rows of a sorted run. `ordinals`: none where
    /// inscriptions are not indexed.
    pub(crate) fn of(
        chain_bytes: u64,
        blocks: u32,
        undo_blocks: Option<u32>,
        raw_transactions: RawTransactionsSetting,
        run_bytes: u64,
        ordinals: Option<OrdinalsNeed>,
    ) -> Self {
        let share = |bytes: u64, per_mille: u64| (u128::from(bytes) * u128::from(per_mille) / 1000) as u64;
        let index = share(chain_bytes, INDEX_PER_MILLE);
        // New blocks are the largest: at least half of the limit of 4 MB each, unless there are not that many bytes.
        let newest = |blocks: u32| (u64::from(blocks) * 2_000_000).min(chain_bytes);
        let undone = undo_blocks.filter(|undone| *undone < blocks);
        let undone = undone.map_or(chain_bytes, newest);
        let ordinals = ordinals.map_or(0, |OrdinalsNeed { first_height, sats }| {
            let rows = share(newest(blocks.saturating_sub(first_height)), ORDINALS_PER_MILLE);
            rows + if sats { share(chain_bytes, SATS_PER_MILLE) } else { 0 }
        });
        let copy = if raw_transactions == RawTransactionsSetting::Store { chain_bytes } else { 0 };
        let run = run_bytes.min(index);
        let working = share(index + ordinals, MERGE_PER_MILLE).max(copy) + run + JOURNAL_BYTES;
        Self { chain: chain_bytes, index, ordinals, undo: share(undone, UNDO_PER_MILLE), copy, working }
    }

    /// All together.
    pub(crate) fn total(&self) -> u64 {
        self.index + self.ordinals + self.undo + self.copy + self.working
    }

    /// The message to the operator before an import. `used` bytes of the need are there already, `free` bytes are free.
    /// `Err`: the disk is too small.
    pub(crate) fn say(&self, used: u64, free: u64) -> Result<String, String> {
        let more = self.total().saturating_sub(used);
        let ordinals = if self.ordinals > 0 {
            format!(", inscriptions and runes {}", readable(self.ordinals))
        } else {
            String::new()
        };
        let copy =
            if self.copy > 0 { format!(", copy of transactions {}", readable(self.copy)) } else { String::new() };
        let need = format!(
            "the index of {} of blocks needs about {more} bytes ({}) more on the disk (tables {}{ordinals}, undo {}{copy}, working \
             space {}; {} are there), and {} are free",
            readable(self.chain),
            readable(more),
            readable(self.index),
            readable(self.undo),
            readable(self.working),
            readable(used),
            readable(free)
        );
        if free >= more {
            return Ok(need);
        }
        Err(format!(
            "the disk is too small for the whole index: {need}; free {} or move `data_dir` to a larger disk, the import then \
             goes on where it stopped",
            readable(more - free)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_need_is_reported_in_bytes_by_part_and_a_small_disk_with_a_remedy() {
        let need = DiskNeed::of(600 * GIB, 900_000, Some(5_000), RawTransactionsSetting::Node, 160 << 20, None);
        assert_eq!(need.index, 228 * GIB);
        assert_eq!(need.undo, 2_500_000_000);
        assert_eq!(need.working, 228 * GIB * 370 / 1_000 + (160 << 20) + (128 << 20));
        assert_eq!(need.total(), need.index + need.undo + need.working);
        let more = need.total() - 10 * GIB;
        let good = need.say(10 * GIB, more).unwrap();
        assert!(good.contains(&format!("needs about {more} bytes (305.0 GiB) more")), "{good}");
        assert!(
            good.contains("600.0 GiB of blocks") && good.contains("tables 228.0 GiB, undo 2.3 GiB, working"),
            "{good}"
        );
        let bad = need.say(10 * GIB, more - 5 * GIB).unwrap_err();
        assert!(bad.starts_with("the disk is too small for the whole index: "), "{bad}");
        assert!(bad.contains("free 5.0 GiB or move `data_dir`"), "{bad}");
        // What is there counts, so a resumed import asks for the rest only.
        assert!(need.say(need.total(), 0).is_ok());
    }

    #[test]
    fn a_copy_of_the_transactions_and_undo_down_to_the_first_block_are_counted() {
        let with = |undo, raw| DiskNeed::of(GIB, 1_000, undo, raw, 0, None);
        assert_eq!(with(None, RawTransactionsSetting::Store).copy, GIB);
        assert_eq!(with(None, RawTransactionsSetting::Node).undo, GIB / 4);
        assert_eq!(with(Some(2_000), RawTransactionsSetting::Node).undo, GIB / 4);
        assert_eq!(with(Some(10), RawTransactionsSetting::Node).undo, 5_000_000);
        let text = with(None, RawTransactionsSetting::Store).say(0, 9 * GIB).unwrap();
        assert!(text.contains("copy of transactions 1.0 GiB"), "{text}");
        // No overflow on figures that no chain has.
        assert!(DiskNeed::of(u64::MAX / 4, 1, None, RawTransactionsSetting::Store, u64::MAX, None).total() > 0);
    }

    #[test]
    fn inscriptions_are_counted_from_their_first_block_and_sats_from_the_beginning() {
        let with = |ordinals| DiskNeed::of(700 * GIB, 900_000, Some(10), RawTransactionsSetting::Node, 0, ordinals);
        let without = with(None);
        let need = with(Some(OrdinalsNeed { first_height: 767_430, sats: false }));
        // 132,570 blocks of 2 MB.
        assert_eq!((without.ordinals, need.ordinals), (0, 132_570 * 2_000_000 / 1_000 * 220));
        assert_eq!(need.total() - without.total(), need.ordinals + need.working - without.working);
        let sats = with(Some(OrdinalsNeed { first_height: 767_430, sats: true }));
        assert_eq!(sats.ordinals - need.ordinals, 700 * GIB * 80 / 1_000);
        let text = need.say(0, 999 * GIB).unwrap();
        assert!(text.contains("tables 266.0 GiB, inscriptions and runes 54.3 GiB, undo"), "{text}");
        assert!(!without.say(0, 999 * GIB).unwrap().contains("inscriptions"));
        // A chain that ends before them, and one that is all of them.
        assert_eq!(
            DiskNeed::of(
                GIB,
                100,
                None,
                RawTransactionsSetting::Node,
                0,
                Some(OrdinalsNeed { first_height: 767_430, sats: false })
            )
            .ordinals,
            0
        );
        let all = Some(OrdinalsNeed { first_height: 0, sats: false });
        assert_eq!(DiskNeed::of(GIB, 100_000, None, RawTransactionsSetting::Node, 0, all).ordinals, GIB * 220 / 1_000);
    }
}
