//! The set of unconfirmed transactions.

mod reads;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use bitcoin::{Block, OutPoint, Transaction, TxOut, Txid};
use bytes::Bytes;

use crate::entry::effect;
use crate::histogram::{bucket, default_floors};
use crate::{Change, DEFAULT_FLOORS, Effect, Entry, Frame, Origin, Reason, Ring, ScriptHash, TouchedScripts};

pub use reads::{Page, Summary};

/// Limits of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of raw transactions; beyond it those with the lowest feerate are evicted.
    pub raw_bytes_max: usize,
    /// Weight units of one transaction (policy of nodes).
    pub weight_max: u64,
    /// Changes kept for subscribers that reconnect.
    pub ring_frames_max: usize,
    /// Bytes of those changes.
    pub ring_bytes_max: usize,
    /// Milliseconds after which a transaction leaves.
    pub age_max: u64,
    /// Milliseconds after which a transaction that only an admin submitted leaves.
    pub provisional_age_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const HOUR: u64 = 3_600_000;
        Self {
            raw_bytes_max: 300_000_000,
            weight_max: 400_000,
            ring_frames_max: 1_000_000,
            ring_bytes_max: 256 << 20,
            age_max: 336 * HOUR,
            provisional_age_max: 600_000,
        }
    }
}

/// Why a transaction is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is a coinbase transaction.
    #[error("a coinbase transaction is never unconfirmed")]
    Coinbase,
    /// It has no inputs or no outputs.
    #[error("the transaction has no inputs or no outputs")]
    Empty,
    /// It names an output twice.
    #[error("the transaction spends an output twice")]
    SpendsTwice,
    /// It is larger than nodes relay.
    #[error("the transaction has {weight} weight units, at most {max} are taken")]
    TooLarge {
        /// Its weight units.
        weight: u64,
        /// The limit.
        max: u64,
    },
    /// A transaction that an admin submits conflicts with a relayed one.
    #[error("{with}, which the node has, spends the same output")]
    Conflict {
        /// The other transaction.
        with: Txid,
    },
    /// It would be the first to leave a full set.
    #[error("the set is full, and the transaction pays less than all others")]
    PaysTooLittle,
}

/// A transaction that is in the set now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inserted {
    /// The entry.
    pub entry: Arc<Entry>,
    /// Whether it was there before.
    pub known: bool,
}

/// Effect of a block on the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockEffect {
    /// Transactions of the set that it holds.
    pub mined: u32,
    /// Transactions that conflict with it.
    pub replaced: u32,
}

/// The set of unconfirmed transactions of this process.
pub struct TransactionSet {
    limits: Limits,
    entries: HashMap<Txid, Arc<Entry>>,
    by_seq: BTreeMap<u64, Txid>,
    /// Spender of each output.
    spends: HashMap<OutPoint, Txid>,
    /// By millionths of a satoshi for one virtual byte; between equals the newest first.
    by_rate: BTreeSet<(u64, std::cmp::Reverse<u64>)>,
    by_script: HashMap<ScriptHash, BTreeSet<u64>>,
    /// Virtual bytes by bucket of the default floors, of entries whose fee is known.
    vbytes_by_bucket: [u64; DEFAULT_FLOORS],
    floors: [f64; DEFAULT_FLOORS],
    /// Entries whose fee is not known.
    without_fee: BTreeSet<u64>,
    provisional: BTreeSet<u64>,
    raw_bytes: usize,
    vbytes: u64,
    total_fee: u64,
    added: u64,
    removed: u64,
    /// By [`Reason::ALL`].
    removed_by_reason: [u64; Reason::ALL.len()],
    returned: u64,
    blocks: u64,
    checksum: u64,
    /// The newest, at most [`REPLACEMENTS_MAX`], the newest last.
    replacements: VecDeque<Replacement>,
    ring: Ring,
    /// Collected once a reader takes them.
    touched: Option<TouchedScripts>,
}

/// Replacements that are remembered.
const REPLACEMENTS_MAX: usize = 1_000;

/// A transaction that left because another one, which came later, spends the same output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// Time of the replacement, milliseconds since 1970.
    pub at: u64,
    /// The one that left.
    pub replaced: ReplacementSide,
    /// The transaction that replaced it.
    pub by: ReplacementSide,
}

/// A transaction of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacementSide {
    /// Its id.
    pub txid: Txid,
    /// Virtual bytes.
    pub vsize: u32,
    /// Satoshis, where it was known.
    pub fee: Option<u64>,
}

impl ReplacementSide {
    fn of(entry: &Entry) -> Self {
        Self { txid: entry.txid, vsize: entry.vsize(), fee: entry.fee }
    }
}

impl TransactionSet {
    /// An empty set.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: HashMap::new(),
            by_seq: BTreeMap::new(),
            spends: HashMap::new(),
            by_rate: BTreeSet::new(),
            by_script: HashMap::new(),
            vbytes_by_bucket: [0; DEFAULT_FLOORS],
            floors: default_floors(),
            without_fee: BTreeSet::new(),
            provisional: BTreeSet::new(),
            raw_bytes: 0,
            vbytes: 0,
            total_fee: 0,
            added: 0,
            removed: 0,
            removed_by_reason: [0; Reason::ALL.len()],
            returned: 0,
            blocks: 0,
            checksum: 0,
            replacements: VecDeque::new(),
            ring: Ring::new(limits.ring_frames_max, limits.ring_bytes_max),
            touched: None,
        }
    }

    /// Adds a transaction that a peer announces (or an admin submits), at `now` in milliseconds. `confirmed` looks up
    /// an output of a confirmed transaction; `None` where it is not indexed. Transactions that spend one of its inputs leave
    /// the set, with all that spends theirs. `raw` is its consensus encoding.
    ///
    /// # Errors
    /// It is refused; nothing has changed.
    pub fn insert(
        &mut self,
        transaction: &Transaction,
        raw: Bytes,
        origin: Origin,
        now: u64,
        confirmed: &dyn Fn(&OutPoint) -> Option<TxOut>,
    ) -> Result<Inserted, Refused> {
        let txid = transaction.compute_txid();
        if let Some(known) = self.entries.get(&txid).cloned() {
            let entry = if origin == Origin::P2p && known.provisional { self.corroborate(&known) } else { known };
            return Ok(Inserted { entry, known: true });
        }
        self.check(transaction)?;
        let conflicts = self.conflicts(transaction);
        if origin == Origin::Edge
            && let Some(with) =
                conflicts.iter().find(|with| self.entries.get(*with).is_some_and(|entry| !entry.provisional))
        {
            return Err(Refused::Conflict { with: *with });
        }
        let mut entry = Entry::new(transaction, raw, origin, now, 0);
        self.fill(&mut entry, confirmed);
        entry.settle_fee();
        if self.raw_bytes + entry.raw.len() > self.limits.raw_bytes_max
            && self.by_rate.first().is_some_and(|(lowest, _)| entry.rate() < *lowest)
        {
            return Err(Refused::PaysTooLittle);
        }
        let by = ReplacementSide::of(&entry);
        for conflict in conflicts {
            self.note_replacement(conflict, &by, now);
            self.remove_with_descendants(conflict, Reason::Replaced);
        }
        let entry = self.add(entry);
        self.adopt_children(&entry);
        self.evict();
        Ok(Inserted { entry, known: false })
    }

    /// Marks a transaction as relayed by a peer.
    pub fn confirm_relayed(&mut self, txid: &Txid) {
        if let Some(entry) = self.entries.get(txid).filter(|entry| entry.provisional).cloned() {
            self.corroborate(&entry);
        }
    }

    /// Applies a block of the best chain: removes its transactions and those that conflict with it.
    pub fn connect_block(&mut self, height: u32, block: &Block) -> BlockEffect {
        let mut effect = BlockEffect::default();
        for transaction in &block.txdata {
            let txid = transaction.compute_txid();
            if self.entries.contains_key(&txid) {
                self.remove(txid, Reason::Mined);
                effect.mined += 1;
            }
            for conflict in self.conflicts(transaction) {
                effect.replaced += self.remove_with_descendants(conflict, Reason::Replaced);
            }
        }
        let removed = effect.mined + effect.replaced;
        self.blocks += 1;
        self.emit(Change::Block { height, hash: block.block_hash(), removed, checksum: self.checksum });
        effect
    }

    /// Returns the transactions of a disconnected block to the set, as far as possible.
    pub fn disconnect_block(&mut self, block: &Block, now: u64, confirmed: &dyn Fn(&OutPoint) -> Option<TxOut>) {
        for transaction in block.txdata.iter().skip(1) {
            let raw = Bytes::from(bitcoin::consensus::serialize(transaction));
            // A transaction that conflicts with the set stays out: the node decides which of the two it relays.
            if self.conflicts(transaction).is_empty() {
                let is_back = self.insert(transaction, raw, Origin::P2p, now, confirmed).is_ok_and(|back| !back.known);
                self.returned += u64::from(is_back);
            }
        }
    }

    /// Removes transactions that have expired at `now`, milliseconds.
    pub fn sweep(&mut self, now: u64) {
        let too_old = |since: u64, age: u64| now.saturating_sub(since) > age;
        let seen = |pool: &Self, seq: u64| {
            let entry = pool.by_seq.get(&seq).and_then(|txid| pool.entries.get(txid));
            entry.map(|entry| (entry.txid, entry.first_seen))
        };
        // Numbers follow the time of adding, so the oldest come first.
        while let Some((txid, since)) = self.provisional.first().and_then(|seq| seen(self, *seq))
            && too_old(since, self.limits.provisional_age_max)
        {
            self.remove_with_descendants(txid, Reason::ProvisionalExpired);
        }
        while let Some((txid, since)) = self.by_seq.first_key_value().and_then(|(seq, _)| seen(self, *seq))
            && too_old(since, self.limits.age_max)
        {
            self.remove_with_descendants(txid, Reason::Expired);
        }
    }

    /// Removes a transaction that the node does not have any more, with all that spends it.
    pub fn drop_unknown(&mut self, txid: Txid) {
        self.remove_with_descendants(txid, Reason::Evicted);
    }

    /// Looks up missing inputs of at most `limit` transactions. Returns how many fees became known.
    pub fn resolve(&mut self, limit: usize, confirmed: &dyn Fn(&OutPoint) -> Option<TxOut>) -> usize {
        let waiting: Vec<u64> = self.without_fee.iter().copied().take(limit).collect();
        let mut resolved = 0;
        for seq in waiting {
            let Some(entry) = self.by_seq.get(&seq).and_then(|txid| self.entries.get(txid)).cloned() else { continue };
            let mut changed = Entry::clone(&entry);
            self.fill(&mut changed, confirmed);
            changed.settle_fee();
            if changed != *entry {
                resolved += usize::from(changed.fee.is_some());
                let is_told = changed.fee.is_some();
                self.exchange(&entry, changed, is_told);
            }
        }
        resolved
    }

    fn check(&self, transaction: &Transaction) -> Result<(), Refused> {
        if transaction.is_coinbase() {
            return Err(Refused::Coinbase);
        }
        if transaction.input.is_empty() || transaction.output.is_empty() {
            return Err(Refused::Empty);
        }
        let weight = transaction.weight().to_wu();
        if weight > self.limits.weight_max {
            return Err(Refused::TooLarge { weight, max: self.limits.weight_max });
        }
        let spent: HashSet<&OutPoint> = transaction.input.iter().map(|input| &input.previous_output).collect();
        if spent.len() != transaction.input.len() {
            return Err(Refused::SpendsTwice);
        }
        Ok(())
    }

    /// Transactions of the set that spend an output of which this one spends, each once.
    fn conflicts(&self, transaction: &Transaction) -> Vec<Txid> {
        let mut is_new = HashSet::new();
        let spenders = transaction.input.iter().filter_map(|input| self.spends.get(&input.previous_output));
        spenders.copied().filter(|txid| is_new.insert(*txid)).collect()
    }

    /// The known spent outputs: from the set first, then from the chain.
    fn fill(&self, entry: &mut Entry, confirmed: &dyn Fn(&OutPoint) -> Option<TxOut>) {
        for (prevout, outpoint) in entry.prevouts.iter_mut().zip(&entry.inputs) {
            if prevout.is_none() {
                *prevout = match self.entries.get(&outpoint.txid) {
                    Some(parent) => parent.output(outpoint.vout),
                    None => confirmed(outpoint),
                };
            }
        }
        let inherits = |txid: &Txid| self.entries.get(txid).is_some_and(|parent| parent.rbf);
        entry.rbf = entry.signals || entry.inputs.iter().any(|outpoint| inherits(&outpoint.txid));
    }

    /// Updates the inputs of transactions that came before their parent.
    fn adopt_children(&mut self, parent: &Arc<Entry>) {
        let outpoints = (0u32..).zip(parent.outputs.iter()).map(|(vout, _)| OutPoint { txid: parent.txid, vout });
        let children: BTreeSet<u64> = outpoints
            .filter_map(|outpoint| self.spends.get(&outpoint).and_then(|txid| self.entries.get(txid)))
            .map(|child| child.seq)
            .collect();
        let mut waiting = VecDeque::from_iter(children);
        while let Some(seq) = waiting.pop_front() {
            let Some(entry) = self.by_seq.get(&seq).and_then(|txid| self.entries.get(txid)).cloned() else { continue };
            let mut changed = Entry::clone(&entry);
            self.fill(&mut changed, &|_| None);
            changed.settle_fee();
            if changed == *entry {
                continue;
            }
            if changed.rbf != entry.rbf {
                waiting.extend(self.children(&entry));
            }
            let is_told = (changed.fee, changed.rbf) != (entry.fee, entry.rbf);
            self.exchange(&entry, changed, is_told);
        }
    }

    /// Numbers of the transactions that spend an output of this one.
    fn children(&self, entry: &Entry) -> Vec<u64> {
        let outpoints = (0u32..).zip(entry.outputs.iter()).map(|(vout, _)| OutPoint { txid: entry.txid, vout });
        let spenders = outpoints.filter_map(|outpoint| self.spends.get(&outpoint));
        spenders.filter_map(|txid| self.entries.get(txid)).map(|child| child.seq).collect()
    }

    fn note_replacement(&mut self, replaced: Txid, by: &ReplacementSide, at: u64) {
        // A descendant of an earlier one of the same list has been removed with it.
        let Some(entry) = self.entries.get(&replaced) else { return };
        if self.replacements.len() == REPLACEMENTS_MAX {
            self.replacements.pop_front();
        }
        self.replacements.push_back(Replacement { at, replaced: ReplacementSide::of(entry), by: by.clone() });
    }

    fn corroborate(&mut self, known: &Arc<Entry>) -> Arc<Entry> {
        let changed = Entry { origin: Origin::P2p, provisional: false, ..Entry::clone(known) };
        self.exchange(known, changed, true)
    }

    fn add(&mut self, mut entry: Entry) -> Arc<Entry> {
        entry.seq = self.ring.newest() + 1;
        let entry = Arc::new(entry);
        self.added += 1;
        self.raw_bytes += entry.bytes();
        self.vbytes += u64::from(entry.vsize());
        self.checksum ^= checksum_of(&entry.txid);
        self.by_seq.insert(entry.seq, entry.txid);
        for outpoint in &entry.inputs {
            self.spends.insert(*outpoint, entry.txid);
        }
        self.enlist(&entry);
        self.touch_children(&entry);
        self.entries.insert(entry.txid, Arc::clone(&entry));
        self.emit(Change::Add(Arc::clone(&entry)));
        entry
    }

    /// Replaces an entry by a changed one.
    fn exchange(&mut self, old: &Arc<Entry>, changed: Entry, is_told: bool) -> Arc<Entry> {
        let changed = Arc::new(changed);
        self.delist(old);
        self.enlist(&changed);
        self.entries.insert(changed.txid, Arc::clone(&changed));
        if is_told {
            self.emit(Change::Update(Arc::clone(&changed)));
        }
        changed
    }

    /// Updates the indexes of values that may change: fee, inputs, provisional.
    fn enlist(&mut self, entry: &Arc<Entry>) {
        self.by_rate.insert((entry.rate(), std::cmp::Reverse(entry.seq)));
        match (entry.fee, entry.feerate()) {
            (Some(fee), Some(feerate)) => {
                self.total_fee = self.total_fee.saturating_add(fee);
                self.vbytes_by_bucket[bucket(&self.floors, feerate)] += u64::from(entry.vsize());
            }
            _ => {
                self.without_fee.insert(entry.seq);
            }
        }
        if entry.provisional {
            self.provisional.insert(entry.seq);
        }
        let scripts = scripts(entry);
        if let Some(touched) = &mut self.touched {
            touched.add(scripts.iter().copied());
        }
        for script in scripts {
            self.by_script.entry(script).or_default().insert(entry.seq);
        }
    }

    /// Marks spenders of a transaction that is added or removed, whose inputs become unconfirmed or confirmed.
    fn touch_children(&mut self, entry: &Entry) {
        if self.touched.is_none() {
            return;
        }
        let children = self.children(entry).into_iter().filter_map(|seq| self.entries.get(self.by_seq.get(&seq)?));
        let scripts: Vec<ScriptHash> = children.flat_map(|child| scripts(child)).collect();
        if let Some(touched) = &mut self.touched {
            touched.add(scripts.into_iter());
        }
    }

    /// Scripts of the transactions that came, changed or went since the last call, and of those that spend their outputs; of the
    /// first call any. Nothing is collected before it. One reader alone may take them.
    pub fn take_touched(&mut self) -> TouchedScripts {
        self.touched.replace(TouchedScripts::default()).unwrap_or(TouchedScripts::All)
    }

    fn delist(&mut self, entry: &Arc<Entry>) {
        self.by_rate.remove(&(entry.rate(), std::cmp::Reverse(entry.seq)));
        match (entry.fee, entry.feerate()) {
            (Some(fee), Some(feerate)) => {
                self.total_fee = self.total_fee.saturating_sub(fee);
                self.vbytes_by_bucket[bucket(&self.floors, feerate)] -= u64::from(entry.vsize());
            }
            _ => {
                self.without_fee.remove(&entry.seq);
            }
        }
        self.provisional.remove(&entry.seq);
        let scripts = scripts(entry);
        if let Some(touched) = &mut self.touched {
            touched.add(scripts.iter().copied());
        }
        for script in scripts {
            if let Some(seqs) = self.by_script.get_mut(&script) {
                seqs.remove(&entry.seq);
                if seqs.is_empty() {
                    self.by_script.remove(&script);
                }
            }
        }
    }

    fn remove(&mut self, txid: Txid, reason: Reason) {
        let Some(entry) = self.entries.remove(&txid) else { return };
        self.delist(&entry);
        self.touch_children(&entry);
        self.removed += 1;
        if let Some(index) = Reason::ALL.iter().position(|other| *other == reason) {
            self.removed_by_reason[index] += 1;
        }
        self.raw_bytes -= entry.bytes();
        self.vbytes -= u64::from(entry.vsize());
        self.checksum ^= checksum_of(&txid);
        self.by_seq.remove(&entry.seq);
        for outpoint in &entry.inputs {
            if self.spends.get(outpoint) == Some(&txid) {
                self.spends.remove(outpoint);
            }
        }
        self.emit(Change::Remove { txid, vsize: entry.vsize(), reason });
    }

    /// Removes a transaction and its descendants, children before their parents. Returns how many.
    fn remove_with_descendants(&mut self, txid: Txid, reason: Reason) -> u32 {
        let Some(entry) = self.entries.get(&txid) else { return 0 };
        let mut family = vec![entry.seq];
        let mut known: HashSet<u64> = family.iter().copied().collect();
        let mut next = 0;
        while let Some(seq) = family.get(next) {
            if let Some(member) = self.by_seq.get(seq).and_then(|txid| self.entries.get(txid)) {
                let children = self.children(member);
                family.extend(children.into_iter().filter(|child| known.insert(*child)));
            }
            next += 1;
        }
        let mut removed = 0;
        for seq in family.into_iter().rev() {
            if let Some(txid) = self.by_seq.get(&seq).copied() {
                self.remove(txid, reason);
                removed += 1;
            }
        }
        removed
    }

    /// Evicts transactions with the lowest feerate, with their descendants, until the set is within its limit.
    fn evict(&mut self) {
        while self.raw_bytes > self.limits.raw_bytes_max {
            let Some((_, std::cmp::Reverse(seq))) = self.by_rate.first().copied() else { break };
            let Some(txid) = self.by_seq.get(&seq).copied() else { break };
            self.remove_with_descendants(txid, Reason::Evicted);
        }
    }

    fn emit(&mut self, change: Change) {
        let seq = self.ring.newest() + 1;
        self.ring.push(Frame::new(seq, change));
    }
}

/// Scripts that a transaction pays or spends from, as far as known.
fn scripts(entry: &Entry) -> HashSet<ScriptHash> {
    let spent = entry.prevouts.iter().flatten().map(effect);
    spent.chain(entry.outputs.iter().copied()).map(|Effect { script, .. }| script).collect()
}

/// The first 8 bytes of an id in the order in which it is shown (docs/mempool.md, "The stream").
fn checksum_of(txid: &Txid) -> u64 {
    use bitcoin::hashes::Hash as _;
    let mut bytes = [0; 8];
    for (byte, shown) in bytes.iter_mut().zip(txid.as_byte_array().iter().rev()) {
        *byte = *shown;
    }
    u64::from_be_bytes(bytes)
}
