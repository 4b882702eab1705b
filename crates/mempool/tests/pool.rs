//! The set against a plain model, and mirrors of it that connect and disconnect.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use bytes::Bytes;
use paraffin_mempool::{Change, Entry, Frame, Limits, Origin, Reason, Refused, ScriptHash, TransactionSet};
use proptest::prelude::*;

const START: u64 = 1_700_000_000_000;

fn script(number: u8) -> ScriptBuf {
    ScriptBuf::from_bytes(vec![0x51, 0x01, number])
}

/// An output of a confirmed transaction, worth 100,000.
fn coin(number: u8) -> OutPoint {
    OutPoint { txid: Txid::from_byte_array([number; 32]), vout: u32::from(number % 3) }
}

fn confirmed(outpoint: &OutPoint) -> Option<TxOut> {
    let bytes = outpoint.txid.to_byte_array();
    let is_coin = bytes.iter().all(|byte| *byte == bytes[0]);
    is_coin.then(|| TxOut { value: Amount::from_sat(100_000), script_pubkey: script(200) })
}

fn spend(inputs: &[OutPoint], outputs: &[(u64, u8)], signals: bool) -> Transaction {
    let sequence = if signals { Sequence::ENABLE_RBF_NO_LOCKTIME } else { Sequence::MAX };
    let input = |outpoint: &OutPoint| TxIn {
        previous_output: *outpoint,
        script_sig: ScriptBuf::new(),
        sequence,
        witness: Witness::new(),
    };
    let output =
        |(value, number): &(u64, u8)| TxOut { value: Amount::from_sat(*value), script_pubkey: script(*number) };
    Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: inputs.iter().map(input).collect(),
        output: outputs.iter().map(output).collect(),
    }
}

fn raw(transaction: &Transaction) -> Bytes {
    bitcoin::consensus::serialize(transaction).into()
}

fn block(transactions: Vec<Transaction>, nonce: u32) -> Block {
    let mut coinbase = spend(&[OutPoint::null()], &[(5_000_000_000, 0)], false);
    coinbase.lock_time = LockTime::from_consensus(nonce);
    let header = Header {
        version: BlockVersion::ONE,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: nonce,
        bits: CompactTarget::from_consensus(0),
        nonce,
    };
    Block { header, txdata: std::iter::once(coinbase).chain(transactions).collect() }
}

fn insert(pool: &mut TransactionSet, transaction: &Transaction, now: u64) -> Result<Arc<Entry>, Refused> {
    pool.insert(transaction, raw(transaction), Origin::P2p, now, &confirmed).map(|inserted| inserted.entry)
}

/// The texts of the frames after a number.
fn texts(pool: &TransactionSet, since: u64) -> Vec<String> {
    pool.ring()
        .after(since, usize::MAX)
        .unwrap()
        .iter()
        .map(|frame| String::from_utf8(frame.text(false).to_vec()).unwrap())
        .collect()
}

#[test]
fn a_fee_is_known_when_all_inputs_are() {
    let mut pool = TransactionSet::new(Limits::default());
    let unknown = OutPoint { txid: Txid::from_byte_array(std::array::from_fn(|byte| byte as u8)), vout: 0 };
    let parent = spend(&[unknown, coin(1)], &[(90_000, 1), (5_000, 2)], false);
    let child = spend(&[OutPoint { txid: parent.compute_txid(), vout: 1 }], &[(4_000, 3)], false);
    // The child comes first: what it spends is unknown.
    assert_eq!(insert(&mut pool, &child, START).unwrap().fee, None);
    assert_eq!(insert(&mut pool, &parent, START).unwrap().fee, None);
    let known = pool.get(&child.compute_txid()).unwrap();
    assert_eq!((known.fee, known.seq), (Some(1_000), 1));
    let summary = pool.summary();
    assert_eq!((summary.fee_known, summary.count, summary.total_fee), (1, 2, 1_000));
    assert!((summary.fee_coverage() - 0.5).abs() < 1e-9);
    let value = serde_json::to_value(known.shown(false)).unwrap();
    assert!((value["feerate"].as_f64().unwrap() - 1_000.0 / f64::from(known.vsize())).abs() < 1e-9);
    let without = serde_json::to_value(pool.get(&parent.compute_txid()).unwrap().shown(true)).unwrap();
    assert!(without.get("fee").is_none() && without.get("feerate").is_none());
    assert_eq!(without["hex"].as_str().unwrap().len(), raw(&parent).len() * 2);
    // Later the index has it.
    let all = |outpoint: &OutPoint| {
        confirmed(outpoint)
            .or_else(|| (*outpoint == unknown).then(|| TxOut { value: Amount::from_sat(7), script_pubkey: script(9) }))
    };
    assert_eq!(pool.resolve(10, &all), 1);
    assert_eq!(pool.get(&parent.compute_txid()).unwrap().fee, Some(5_007));
    assert!(texts(&pool, 3).iter().all(|text| text.contains("\"update\"")));
    assert_eq!(pool.of_script(&ScriptHash::of(&script(9)), 9).len(), 1);
}

#[test]
fn a_replacement_takes_the_family_of_what_it_replaces() {
    let mut pool = TransactionSet::new(Limits::default());
    let first = spend(&[coin(1)], &[(50_000, 1), (40_000, 2)], true);
    let child = spend(&[OutPoint { txid: first.compute_txid(), vout: 0 }], &[(45_000, 3)], false);
    let grandchild = spend(&[OutPoint { txid: child.compute_txid(), vout: 0 }], &[(44_000, 3)], false);
    let other = spend(&[coin(2)], &[(99_000, 4)], false);
    for transaction in [&first, &child, &grandchild, &other] {
        insert(&mut pool, transaction, START).unwrap();
    }
    // An ancestor that may be replaced makes all of them replaceable.
    let rbf = |transaction: &Transaction| pool.get(&transaction.compute_txid()).unwrap().rbf;
    assert_eq!([rbf(&first), rbf(&child), rbf(&grandchild), rbf(&other)], [true, true, true, false]);
    let replacement = spend(&[coin(1), coin(3)], &[(1_000, 9)], false);
    insert(&mut pool, &replacement, START).unwrap();
    let frames = pool.ring().after(4, 99).unwrap();
    let removed: Vec<(Txid, Reason)> = frames
        .iter()
        .filter_map(|frame| match frame.change {
            Change::Remove { txid, reason, .. } => Some((txid, reason)),
            _ => None,
        })
        .collect();
    let expected = [&grandchild, &child, &first].map(|transaction| (transaction.compute_txid(), Reason::Replaced));
    assert_eq!(removed, expected);
    assert!(matches!(frames.last().unwrap().change, Change::Add(_)));
    assert_eq!(pool.summary().count, 2);

    // The transactions that conflicted are remembered, not what left with them.
    let id = |transaction: &Transaction| transaction.compute_txid();
    let noted = |of: Option<Txid>| -> Vec<(Txid, Txid)> {
        pool.replacements(of, 9).iter().map(|one| (one.replaced.txid, one.by.txid)).collect()
    };
    let one = vec![(id(&first), id(&replacement))];
    assert_eq!((noted(None), noted(Some(id(&first))), noted(Some(id(&replacement)))), (one.clone(), one.clone(), one));
    assert_eq!((noted(Some(id(&child))), pool.replacements(None, 0)), (vec![], vec![]));
    assert_eq!(pool.replacements(None, 1)[0].at, START);
}

/// Endless replacements take bounded memory.
#[test]
fn a_thousand_replacements_are_remembered() {
    let mut pool = TransactionSet::new(Limits::default());
    let mut last = None;
    for fee in 0..1_100 {
        let next = spend(&[coin(1)], &[(50_000 - fee, 1)], true);
        insert(&mut pool, &next, START + fee).unwrap();
        last = Some(next.compute_txid());
    }
    let all = pool.replacements(None, usize::MAX);
    assert_eq!((all.len(), all[0].at, Some(all[0].by.txid)), (1_000, START + 1_099, last));
    assert!(all.windows(2).all(|pair| pair[0].replaced.txid == pair[1].by.txid));
}

#[test]
fn a_submitted_transaction_is_provisional_until_a_peer_announces_it_and_never_replaces_relayed_ones() {
    let mut pool = TransactionSet::new(Limits::default());
    let seen = spend(&[coin(1)], &[(50_000, 1)], false);
    let submitted = pool.insert(&seen, raw(&seen), Origin::Edge, START, &confirmed).unwrap();
    assert!(submitted.entry.provisional && !submitted.known && submitted.entry.origin == Origin::Edge);
    let again = pool.insert(&seen, raw(&seen), Origin::Edge, START, &confirmed).unwrap();
    assert!(again.known && again.entry.provisional);
    let relayed = pool.insert(&seen, raw(&seen), Origin::P2p, START, &confirmed).unwrap();
    assert!(relayed.known && !relayed.entry.provisional && relayed.entry.origin == Origin::P2p);
    assert_eq!(relayed.entry.seq, submitted.entry.seq);
    // It never goes back.
    assert!(!pool.insert(&seen, raw(&seen), Origin::Edge, START, &confirmed).unwrap().entry.provisional);
    let rival = spend(&[coin(1)], &[(1_000, 1)], false);
    let refused = pool.insert(&rival, raw(&rival), Origin::Edge, START, &confirmed);
    assert_eq!(refused.unwrap_err(), Refused::Conflict { with: seen.compute_txid() });
    // A submitted one that no peer relays is removed after ten minutes, a relayed one after two weeks.
    let rumour = spend(&[coin(5)], &[(1_000, 1)], false);
    pool.insert(&rumour, raw(&rumour), Origin::Edge, START + 5, &confirmed).unwrap();
    pool.sweep(START + 600_005);
    assert!(pool.contains(&rumour.compute_txid()));
    pool.sweep(START + 600_006);
    assert!(!pool.contains(&rumour.compute_txid()) && pool.contains(&seen.compute_txid()));
    pool.sweep(START + 336 * 3_600_000 + 1);
    assert_eq!(pool.summary().count, 0);
    let last = pool.ring().after(0, 99).unwrap();
    assert!(matches!(last.last().unwrap().change, Change::Remove { reason: Reason::Expired, .. }));
}

#[test]
fn a_full_set_evicts_the_lowest_feerate_and_refuses_lower_ones() {
    let size = raw(&spend(&[coin(1)], &[(50_000, 1)], false)).len();
    let mut pool = TransactionSet::new(Limits { raw_bytes_max: size * 3, ..Limits::default() });
    let pays = |number: u8, fee: u64| spend(&[coin(number)], &[(100_000 - fee, 1)], false);
    for (number, fee) in [(1, 500), (2, 300), (3, 400)] {
        insert(&mut pool, &pays(number, fee), START).unwrap();
    }
    assert_eq!(insert(&mut pool, &pays(4, 200), START).unwrap_err(), Refused::PaysTooLittle);
    insert(&mut pool, &pays(5, 450), START).unwrap();
    assert!(!pool.contains(&pays(2, 300).compute_txid()));
    assert!(pool.summary().bytes <= size * 3);
}

#[test]
fn transactions_that_no_node_relays_are_refused() {
    let mut pool = TransactionSet::new(Limits { weight_max: 500, ..Limits::default() });
    let mut refuse = |transaction: &Transaction| insert(&mut pool, transaction, START).unwrap_err();
    assert_eq!(refuse(&spend(&[OutPoint::null()], &[(1, 1)], false)), Refused::Coinbase);
    assert_eq!(refuse(&spend(&[], &[(1, 1)], false)), Refused::Empty);
    assert_eq!(refuse(&spend(&[coin(1)], &[], false)), Refused::Empty);
    assert_eq!(refuse(&spend(&[coin(1), coin(1)], &[(1, 1)], false)), Refused::SpendsTwice);
    let large = spend(&[coin(1)], &[(1, 1); 20], false);
    assert!(matches!(refuse(&large), Refused::TooLarge { max: 500, .. }));
    assert_eq!(pool.summary().seq, 0);
}

/// State of a client that only reads pages and frames.
#[derive(Default)]
struct Mirror {
    set: BTreeSet<Txid>,
    at: u64,
}

impl Mirror {
    /// Takes the set page by page, while it changes, then the changes since the first page.
    fn seed(pool: &mut TransactionSet, page: usize, mut meanwhile: impl FnMut(&mut TransactionSet)) -> Self {
        let mut mirror = Self { at: pool.summary().seq, ..Self::default() };
        let mut cursor = 0;
        loop {
            let read = pool.page(cursor, page);
            assert!(read.entries.iter().is_sorted_by_key(|entry| entry.seq));
            mirror.set.extend(read.entries.iter().map(|entry| entry.txid));
            cursor = read.cursor;
            if !read.has_more {
                return mirror;
            }
            meanwhile(pool);
        }
    }

    fn follow(&mut self, frames: &[Arc<Frame>]) {
        for frame in frames {
            assert_eq!(frame.seq, self.at + 1, "a change is missing or sent twice");
            self.at = frame.seq;
            match &frame.change {
                Change::Add(entry) => _ = self.set.insert(entry.txid),
                Change::Remove { txid, .. } => _ = self.set.remove(txid),
                Change::Update(_) | Change::Block { .. } => {}
            }
        }
    }

    fn checksum(&self) -> u64 {
        self.set.iter().fold(0, |sum, txid| {
            let shown = txid.to_string();
            sum ^ u64::from_str_radix(&shown[..16], 16).unwrap()
        })
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// Spends some of the outputs that exist.
    Send {
        picks: Vec<u8>,
        fee: u16,
        outputs: u8,
        signals: bool,
        edge: bool,
    },
    /// Mines some of the set, and a transaction that conflicts with it.
    Mine {
        every: u8,
        rival: bool,
    },
    Reorganise,
    Sweep {
        minutes: u16,
    },
    /// A mirror goes, and comes back later.
    Leave {
        mirror: u8,
    },
    Seed {
        mirror: u8,
        page: u8,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (prop::collection::vec(any::<u8>(), 1..4), any::<u16>(), 1u8..4, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(picks, fee, outputs, signals, edge)| Step::Send { picks, fee, outputs, signals, edge }),
        2 => (1u8..5, any::<bool>()).prop_map(|(every, rival)| Step::Mine { every, rival }),
        1 => Just(Step::Reorganise),
        1 => (0u16..2_000).prop_map(|minutes| Step::Sweep { minutes }),
        2 => (0u8..4).prop_map(|mirror| Step::Leave { mirror }),
        2 => (0u8..4, 1u8..9).prop_map(|(mirror, page)| Step::Seed { mirror, page }),
    ]
}

/// The expected set, derived only from the inputs of transactions.
fn check(pool: &TransactionSet, sent: &BTreeMap<Txid, Transaction>) {
    let set: Vec<Txid> = pool.txids(usize::MAX);
    let summary = pool.summary();
    assert_eq!((summary.count, summary.added_total - summary.removed_total), (set.len(), set.len() as u64));
    let mut spends: HashMap<OutPoint, Txid> = HashMap::new();
    let (mut bytes, mut vbytes, mut fees, mut known) = (0, 0, 0, 0);
    for txid in &set {
        let entry = pool.get(txid).unwrap();
        let transaction = &sent[txid];
        assert_eq!(entry.raw, raw(transaction));
        for input in &transaction.input {
            let outpoint = input.previous_output;
            assert_eq!(spends.insert(outpoint, *txid), None, "two of the set spend {outpoint}");
            assert_eq!(pool.spender(&outpoint).unwrap().0, *txid);
        }
        bytes += entry.raw.len();
        vbytes += transaction.vsize() as u64;
        let value = |input: &TxIn| {
            let outpoint = input.previous_output;
            let parent = pool.get(&outpoint.txid).map(|_| sent[&outpoint.txid].output[outpoint.vout as usize].clone());
            parent.or_else(|| confirmed(&outpoint)).map(|output| output.value.to_sat())
        };
        let spent: Option<u64> = transaction.input.iter().map(value).sum();
        if let Some(spent) = spent {
            let paid: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
            assert_eq!(entry.fee, Some(spent.saturating_sub(paid)), "{txid}");
        }
        if let Some(fee) = entry.fee {
            (fees, known) = (fees + fee, known + 1);
        }
        for output in &transaction.output {
            let of_script = pool.of_script(&ScriptHash::of(&output.script_pubkey), usize::MAX);
            assert!(of_script.iter().any(|other| other.txid == *txid));
        }
    }
    assert_eq!((summary.bytes, summary.vbytes, summary.total_fee, summary.fee_known), (bytes, vbytes, fees, known));
    let floors: Vec<f64> = pool.default_histogram().iter().map(|(floor, _)| *floor).collect();
    assert_eq!(pool.histogram(&floors), pool.default_histogram());
    assert_eq!(pool.recent(usize::MAX).iter().rev().cloned().collect::<Vec<_>>(), pool.page(0, usize::MAX).entries);
}

fn run(steps: Vec<Step>, ring: usize) {
    let mut pool = TransactionSet::new(Limits { ring_frames_max: ring, raw_bytes_max: 4_000, ..Limits::default() });
    let mut mirrors: [Option<Mirror>; 4] = Default::default();
    let mut away: [Option<Mirror>; 4] = Default::default();
    let mut sent: BTreeMap<Txid, Transaction> = BTreeMap::new();
    let mut outputs: Vec<OutPoint> = (1..=8).map(coin).collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut now = START;
    for (number, step) in (0u32..).zip(steps) {
        match step {
            Step::Send { picks, fee, outputs: count, signals, edge } => {
                let mut inputs: Vec<OutPoint> =
                    picks.iter().map(|pick| outputs[usize::from(*pick) % outputs.len()]).collect();
                inputs.dedup();
                let each = 100_000u64.saturating_sub(u64::from(fee)) / u64::from(count);
                let paid: Vec<(u64, u8)> = (0..count).map(|vout| (each, vout)).collect();
                let mut transaction = spend(&inputs, &paid, signals);
                transaction.lock_time = LockTime::from_consensus(number);
                let origin = if edge { Origin::Edge } else { Origin::P2p };
                if pool.insert(&transaction, raw(&transaction), origin, now, &confirmed).is_ok() {
                    let txid = transaction.compute_txid();
                    outputs.extend((0..u32::from(count)).map(|vout| OutPoint { txid, vout }));
                }
                sent.insert(transaction.compute_txid(), transaction);
            }
            Step::Mine { every, rival } => {
                let picked = pool.page(0, usize::MAX).entries;
                let mut mined: Vec<Transaction> =
                    picked.iter().step_by(usize::from(every)).map(|entry| sent[&entry.txid].clone()).collect();
                if rival
                    && let Some(entry) =
                        picked.iter().find(|entry| !mined.iter().any(|one| one.compute_txid() == entry.txid))
                {
                    let mut other = sent[&entry.txid].clone();
                    other.lock_time = LockTime::from_consensus(1_000_000 + number);
                    sent.insert(other.compute_txid(), other.clone());
                    mined.push(other);
                }
                let mined = block(mined, number);
                pool.connect_block(number, &mined);
                for transaction in &mined.txdata {
                    assert!(!pool.contains(&transaction.compute_txid()));
                }
                blocks.push(mined);
            }
            Step::Reorganise => {
                if let Some(last) = blocks.pop() {
                    pool.disconnect_block(&last, now, &confirmed);
                }
            }
            Step::Sweep { minutes } => {
                now += u64::from(minutes) * 60_000;
                pool.sweep(now);
            }
            Step::Leave { mirror } => away[usize::from(mirror)] = mirrors[usize::from(mirror)].take(),
            Step::Seed { mirror, page } => {
                let index = usize::from(mirror);
                // A mirror that reconnects resumes at its position, if that is still kept.
                let resumed = away[index].take().filter(|mirror| pool.ring().after(mirror.at, 1).is_ok());
                mirrors[index] = Some(resumed.unwrap_or_else(|| {
                    let mut other = 0u8;
                    Mirror::seed(&mut pool, usize::from(page), |pool| {
                        other += 1;
                        if other < 3 {
                            let transaction = spend(&[coin(20 + other)], &[(u64::from(number), other)], false);
                            sent.insert(transaction.compute_txid(), transaction.clone());
                            let _ = insert(pool, &transaction, now);
                        }
                    })
                }));
            }
        }
        for mirror in &mut mirrors {
            let Some(reader) = mirror else { continue };
            match pool.ring().after(reader.at, usize::MAX) {
                Ok(frames) => {
                    reader.follow(&frames);
                    assert_eq!(reader.at, pool.summary().seq);
                    assert_eq!(reader.set, pool.txids(usize::MAX).into_iter().collect());
                    assert_eq!(reader.checksum(), pool.checksum());
                }
                // Too far behind: it has to start over.
                Err(missed) => {
                    assert!(missed.oldest > reader.at + 1);
                    *mirror = None;
                }
            }
        }
        check(&pool, &sent);
    }
}

/// So many schedules; with `PARAFFIN_LONG=1` more than the 10,000 that are asked for.
fn schedules() -> u32 {
    if std::env::var_os("PARAFFIN_LONG").is_some() { 12_000 } else { 256 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: schedules(), ..ProptestConfig::default() })]

    #[test]
    fn mirrors_that_come_and_go_end_with_the_set(
        steps in prop::collection::vec(step(), 1..60),
        ring in prop_oneof![Just(4usize), Just(40), Just(1_000_000)],
    ) {
        run(steps, ring);
    }
}

/// Scripts of what comes and goes are collected for one reader, with those of the children, whose parent is then confirmed or not.
#[test]
fn touched_scripts_are_those_of_what_came_and_went_and_of_its_children() {
    use paraffin_mempool::TouchedScripts;
    let mut pool = TransactionSet::new(Limits::default());
    assert_eq!(pool.take_touched(), TouchedScripts::All, "of the first call any may be");
    assert!(pool.take_touched().is_empty());
    let touched =
        |numbers: &[u8]| TouchedScripts::Scripts(numbers.iter().map(|one| ScriptHash::of(&script(*one))).collect());
    let parent = spend(&[coin(1)], &[(90_000, 10)], false);
    let child = spend(&[OutPoint { txid: parent.compute_txid(), vout: 0 }], &[(80_000, 11)], false);
    insert(&mut pool, &parent, START).unwrap();
    assert_eq!(pool.take_touched(), touched(&[200, 10]));
    insert(&mut pool, &child, START).unwrap();
    assert_eq!(pool.take_touched(), touched(&[10, 11]));
    pool.connect_block(1, &block(vec![parent], 1));
    assert_eq!(pool.take_touched(), touched(&[200, 10, 11]), "the child has no unconfirmed parent any more");
    pool.drop_unknown(child.compute_txid());
    assert_eq!(pool.take_touched(), touched(&[10, 11]));
}
