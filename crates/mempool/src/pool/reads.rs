//! Reads of the set.

use std::sync::Arc;

use bitcoin::{OutPoint, Txid};

use super::{Replacement, TransactionSet};
use crate::histogram::bucket;
use crate::{Entry, Reason, Ring, ScriptHash};

/// The set in numbers (`mempool_info`, docs/mempool.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Transactions.
    pub count: usize,
    /// Bytes of raw transactions.
    pub bytes: usize,
    /// Virtual bytes.
    pub vbytes: u64,
    /// Satoshis, of those whose fee is known.
    pub total_fee: u64,
    /// How many of them.
    pub fee_known: usize,
    /// Transactions that no peer has announced yet.
    pub provisional: usize,
    /// Number of the newest change.
    pub seq: u64,
    /// Oldest change that is kept.
    pub oldest_seq: u64,
    /// Transactions ever added.
    pub added_total: u64,
    /// Transactions ever removed.
    pub removed_total: u64,
    /// [`TransactionSet::checksum`].
    pub checksum: u64,
}

impl Summary {
    /// Share of transactions whose fee is known; of an empty set all are.
    #[allow(clippy::cast_precision_loss)] // a share for display
    pub fn fee_coverage(&self) -> f64 {
        if self.count == 0 { 1.0 } else { self.fee_known as f64 / self.count as f64 }
    }
}

/// Some entries in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Arc<Entry>>,
    /// The last one's number, or the cursor that was given when there are none.
    pub cursor: u64,
    /// Whether there are entries after them.
    pub has_more: bool,
}

impl TransactionSet {
    /// The set in numbers.
    pub fn summary(&self) -> Summary {
        Summary {
            count: self.entries.len(),
            bytes: self.raw_bytes,
            vbytes: self.vbytes,
            total_fee: self.total_fee,
            fee_known: self.entries.len() - self.without_fee.len(),
            provisional: self.provisional.len(),
            seq: self.ring.newest(),
            oldest_seq: self.ring.oldest(),
            added_total: self.added,
            removed_total: self.removed,
            checksum: self.checksum,
        }
    }

    /// The XOR over all transactions of the first 8 bytes of their ids as shown, the first byte highest (docs/mempool.md):
    /// two sets that have the same one are, but for an accident, the same.
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Changes.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// One transaction.
    pub fn get(&self, txid: &Txid) -> Option<&Arc<Entry>> {
        self.entries.get(txid)
    }

    /// Whether it is in the set.
    pub fn contains(&self, txid: &Txid) -> bool {
        self.entries.contains_key(txid)
    }

    /// Relayed entries with numbers up to `seq`, except those for which `keep` returns true.
    pub(crate) fn relayed_but(&self, seq: u64, keep: impl Fn(&Entry) -> bool) -> Vec<Txid> {
        let rows = self.by_seq.range(..=seq).filter_map(|(_, txid)| self.entries.get(txid));
        rows.filter(|entry| !entry.provisional && !keep(entry)).map(|entry| entry.txid).collect()
    }

    /// Transactions ever removed, by reason.
    pub fn removed_by_reason(&self) -> impl Iterator<Item = (Reason, u64)> {
        Reason::ALL.into_iter().zip(self.removed_by_reason)
    }

    /// Transactions that came back with a block that was undone, ever.
    pub fn returned_total(&self) -> u64 {
        self.returned
    }

    /// Blocks ever applied.
    pub fn blocks_total(&self) -> u64 {
        self.blocks
    }

    /// The lowest feerate in the set, satoshis for one virtual byte, of entries whose fee is known, which is the first to leave a
    /// full set. `None` while no fee is known.
    pub fn lowest_feerate(&self) -> Option<f64> {
        // Unknown fees count as 0 in the order, so they come first.
        let rows = self.by_rate.iter().filter_map(|(_, seq)| self.entries.get(self.by_seq.get(&seq.0)?)?.feerate());
        rows.into_iter().next()
    }

    /// At most `limit` ids in no order.
    pub fn txids(&self, limit: usize) -> Vec<Txid> {
        self.by_seq.values().take(limit).copied().collect()
    }

    /// At most `limit` entries, the newest first.
    pub fn recent(&self, limit: usize) -> Vec<Arc<Entry>> {
        self.by_seq.values().rev().take(limit).filter_map(|txid| self.entries.get(txid)).cloned().collect()
    }

    /// At most `limit` of the newest 1,000 replacements, the newest first; with `of` those alone by which this transaction left, or
    /// by which another one left for it.
    pub fn replacements(&self, of: Option<Txid>, limit: usize) -> Vec<Replacement> {
        let wanted = |replacement: &&Replacement| {
            of.is_none_or(|txid| replacement.replaced.txid == txid || replacement.by.txid == txid)
        };
        self.replacements.iter().rev().filter(wanted).take(limit).cloned().collect()
    }

    /// At most `limit` entries with numbers above `cursor`, ascending.
    pub fn page(&self, cursor: u64, limit: usize) -> Page {
        let mut rows = self.by_seq.range((std::ops::Bound::Excluded(cursor), std::ops::Bound::Unbounded));
        let entries: Vec<Arc<Entry>> =
            rows.by_ref().take(limit).filter_map(|(_, txid)| self.entries.get(txid)).cloned().collect();
        let cursor = entries.last().map_or(cursor, |entry| entry.seq);
        Page { entries, cursor, has_more: rows.next().is_some() }
    }

    /// The transaction and the input that spend an output.
    pub fn spender(&self, outpoint: &OutPoint) -> Option<(Txid, u32)> {
        let txid = self.spends.get(outpoint)?;
        let inputs = &self.entries.get(txid)?.inputs;
        let index = inputs.iter().position(|input| input == outpoint)?;
        Some((*txid, u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// Whether a transaction pays a script or spends from it.
    pub fn touches(&self, script: &ScriptHash) -> bool {
        self.by_script.contains_key(script)
    }

    /// Transactions that pay a script or spend from it, the newest first; at most `limit`.
    pub fn of_script(&self, script: &ScriptHash, limit: usize) -> Vec<Arc<Entry>> {
        let seqs = self.by_script.get(script).into_iter().flatten().rev().take(limit);
        seqs.filter_map(|seq| self.entries.get(self.by_seq.get(seq)?)).cloned().collect()
    }

    /// Fees in satoshis and virtual bytes of the transactions whose fee is known, in no order.
    pub fn fees(&self) -> Vec<(u64, u64)> {
        self.entries.values().filter_map(|entry| Some((entry.fee?, u64::from(entry.vsize())))).collect()
    }

    /// Virtual bytes by the default floors, of transactions whose fee is known.
    pub fn default_histogram(&self) -> Vec<(f64, u64)> {
        self.floors.iter().copied().zip(self.vbytes_by_bucket).collect()
    }

    /// Virtual bytes by these floors, which ascend; iterates over all transactions.
    pub fn histogram(&self, floors: &[f64]) -> Vec<(f64, u64)> {
        let mut vbytes = vec![0u64; floors.len()];
        for entry in self.entries.values() {
            if let Some(feerate) = entry.feerate()
                && let Some(bucket) = vbytes.get_mut(bucket(floors, feerate))
            {
                *bucket += u64::from(entry.vsize());
            }
        }
        floors.iter().copied().zip(vbytes).collect()
    }
}
