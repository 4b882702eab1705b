//! The unconfirmed transactions and how they depend on each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bitcoin::{OutPoint, Transaction, TxOut, Txid, Wtxid};

/// Most bytes of all transactions, as serialized.
pub(crate) const MEMPOOL_BYTES_MAX: usize = 64 << 20;

/// An unconfirmed transaction.
#[derive(Debug, Clone)]
pub(crate) struct MempoolEntry {
    pub(crate) tx: Arc<Transaction>,
    pub(crate) txid: Txid,
    pub(crate) wtxid: Wtxid,
    /// In satoshis.
    pub(crate) fee: u64,
    pub(crate) weight: u64,
    /// In virtual bytes.
    pub(crate) vsize: u64,
    pub(crate) sigop_cost: usize,
    /// Unix seconds of admission.
    pub(crate) time: u64,
    /// Height of the chain at admission.
    pub(crate) height: u32,
    /// Order of admission.
    pub(crate) order: u64,
}

/// Count, virtual bytes and fees of a set of entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) vsize: u64,
    pub(crate) fees: u64,
}

#[derive(Debug)]
pub(crate) struct Mempool {
    entries: BTreeMap<Txid, MempoolEntry>,
    by_wtxid: HashMap<Wtxid, Txid>,
    spenders: HashMap<OutPoint, Txid>,
    bytes: usize,
    bytes_max: usize,
    next_order: u64,
    /// Grows with every addition and every removal other than by a block; starts at 1, like Bitcoin Core's.
    sequence: u64,
}

impl Default for Mempool {
    fn default() -> Self {
        Self::with_limit(MEMPOOL_BYTES_MAX)
    }
}

impl Mempool {
    pub(crate) fn with_limit(bytes_max: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            by_wtxid: HashMap::new(),
            spenders: HashMap::new(),
            bytes: 0,
            bytes_max,
            next_order: 0,
            sequence: 1,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn get(&self, txid: &Txid) -> Option<&MempoolEntry> {
        self.entries.get(txid)
    }

    pub(crate) fn get_by_wtxid(&self, wtxid: &Wtxid) -> Option<&MempoolEntry> {
        self.by_wtxid.get(wtxid).and_then(|txid| self.entries.get(txid))
    }

    /// The transaction that spends `outpoint`.
    pub(crate) fn spender(&self, outpoint: &OutPoint) -> Option<Txid> {
        self.spenders.get(outpoint).copied()
    }

    /// An output of an unconfirmed transaction.
    pub(crate) fn output(&self, outpoint: &OutPoint) -> Option<&TxOut> {
        self.entries.get(&outpoint.txid)?.tx.output.get(outpoint.vout as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &MempoolEntry> {
        self.entries.values()
    }

    /// Txids in order of admission.
    pub(crate) fn txids(&self) -> Vec<Txid> {
        let mut entries: Vec<_> = self.entries.values().map(|entry| (entry.order, entry.txid)).collect();
        entries.sort_unstable();
        entries.into_iter().map(|(_, txid)| txid).collect()
    }

    pub(crate) fn parents<'a>(&'a self, tx: &'a Transaction) -> impl Iterator<Item = Txid> + 'a {
        tx.input.iter().map(|input| input.previous_output.txid).filter(|txid| self.entries.contains_key(txid))
    }

    pub(crate) fn children<'a>(&'a self, entry: &'a MempoolEntry) -> impl Iterator<Item = Txid> + 'a {
        (0..)
            .zip(&entry.tx.output)
            .filter_map(|(vout, _)| self.spenders.get(&OutPoint { txid: entry.txid, vout }).copied())
    }

    /// The unconfirmed transactions that `tx` depends on, without itself.
    pub(crate) fn ancestors(&self, tx: &Transaction) -> BTreeSet<Txid> {
        self.reach(self.parents(tx).collect(), |entry, next| next.extend(self.parents(&entry.tx)))
    }

    /// The transactions that depend on `txid`, and itself.
    pub(crate) fn descendants(&self, txid: Txid) -> BTreeSet<Txid> {
        self.reach(vec![txid], |entry, next| next.extend(self.children(entry)))
    }

    /// Everything connected with `from` through unconfirmed parents and children.
    pub(crate) fn cluster(&self, from: Vec<Txid>) -> BTreeSet<Txid> {
        self.reach(from, |entry, next| {
            next.extend(self.parents(&entry.tx));
            next.extend(self.children(entry));
        })
    }

    fn reach(&self, from: Vec<Txid>, expand: impl Fn(&MempoolEntry, &mut Vec<Txid>)) -> BTreeSet<Txid> {
        let mut found = BTreeSet::new();
        let mut open = from;
        while let Some(txid) = open.pop() {
            if let Some(entry) = self.entries.get(&txid)
                && found.insert(txid)
            {
                expand(entry, &mut open);
            }
        }
        found
    }

    pub(crate) fn totals<'a>(&self, txids: impl IntoIterator<Item = &'a Txid>) -> Totals {
        txids.into_iter().filter_map(|txid| self.entries.get(txid)).fold(Totals::default(), |sum, entry| Totals {
            count: sum.count + 1,
            vsize: sum.vsize + entry.vsize,
            fees: sum.fees + entry.fee,
        })
    }

    /// Adds an entry that has passed every check; its `order` is set here.
    pub(crate) fn insert(&mut self, mut entry: MempoolEntry) {
        entry.order = self.next_order;
        self.next_order += 1;
        self.sequence += 1;
        self.bytes += entry.tx.total_size();
        for input in &entry.tx.input {
            self.spenders.insert(input.previous_output, entry.txid);
        }
        self.by_wtxid.insert(entry.wtxid, entry.txid);
        self.entries.insert(entry.txid, entry);
    }

    fn remove_one(&mut self, txid: &Txid) -> Option<MempoolEntry> {
        let entry = self.entries.remove(txid)?;
        self.bytes -= entry.tx.total_size();
        for input in &entry.tx.input {
            self.spenders.remove(&input.previous_output);
        }
        self.by_wtxid.remove(&entry.wtxid);
        Some(entry)
    }

    /// Removes a transaction and all that depend on it; returns their txids.
    pub(crate) fn remove_with_descendants(&mut self, txid: Txid) -> BTreeSet<Txid> {
        let removed = self.descendants(txid);
        for txid in &removed {
            self.remove_one(txid);
            self.sequence += 1;
        }
        removed
    }

    /// Removes what a block confirmed and what conflicts with it.
    pub(crate) fn remove_for_block(&mut self, transactions: &[Transaction], txids: &[Txid]) {
        for (tx, txid) in transactions.iter().zip(txids) {
            self.remove_one(txid);
            for input in &tx.input {
                if let Some(conflict) = self.spender(&input.previous_output) {
                    self.remove_with_descendants(conflict);
                }
            }
        }
    }

    /// Takes out every entry, in order of admission.
    pub(crate) fn drain(&mut self) -> Vec<MempoolEntry> {
        let mut entries: Vec<_> = std::mem::take(&mut self.entries).into_values().collect();
        entries.sort_by_key(|entry| entry.order);
        self.by_wtxid.clear();
        self.spenders.clear();
        self.bytes = 0;
        entries
    }

    /// Evicts the transactions that pay least until the limit holds; returns their txids.
    pub(crate) fn trim(&mut self) -> BTreeSet<Txid> {
        let mut evicted = BTreeSet::new();
        while self.bytes > self.bytes_max {
            let Some(worst) = self
                .entries
                .values()
                .min_by(|a, b| {
                    let (left, right) =
                        (u128::from(a.fee) * u128::from(b.vsize), u128::from(b.fee) * u128::from(a.vsize));
                    left.cmp(&right).then(b.order.cmp(&a.order))
                })
                .map(|entry| entry.txid)
            else {
                break;
            };
            evicted.extend(self.remove_with_descendants(worst));
        }
        evicted
    }
}
