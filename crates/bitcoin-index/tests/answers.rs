//! Random chains, with reorgs and with colliding prefixes: every answer equals a naive recomputation from the blocks.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use bitcoin::consensus::deserialize;
use bitcoin::{MerkleBlock, OutPoint, Transaction, TxOut, Txid};
use bytes::Bytes;
use paraffin_bitcoin_index::{
    BitcoinModule, MerkleProof, RawTransactions, ReadError, ScriptKey, StoredTransactions, TxLocation,
};
use paraffin_primitives::{ConnectedBlock, ScriptDigests};
use paraffin_store::Module as _;
use support::chain::{Random, RandomChain};
use support::naive::{Naive, script_hash};
use support::{Instance, connected};

/// Compares every answer about every block, transaction, output and script of the chain.
fn assert_all_answers(instance: &Instance, naive: &Naive<'_>) {
    let index = instance.index();
    assert_blocks(instance, naive);
    let source = StoredTransactions::new(instance.store.snapshot());
    for entry in naive.entries.iter().filter(|entry| naive.find(&entry.txid).unwrap().height == entry.height) {
        let txid = &entry.txid;
        let location = index.transaction_location(txid).unwrap().unwrap();
        assert_eq!((location.txid, location.height, location.index as usize), (*txid, entry.height, entry.index));
        assert_eq!(location.confirmation(), naive.confirmation(entry));
        assert_eq!(location.weight, entry.transaction.weight().to_wu());
        let raw = source.read(&[location]).unwrap();
        assert_eq!(deserialize::<Transaction>(&raw[0]).unwrap(), entry.transaction);
        let block = bitcoin::consensus::serialize(&naive.blocks[entry.height as usize]);
        let (start, end) = (location.offset as usize, (location.offset + location.size) as usize);
        assert_eq!(block[start..end], raw[0]);
        let mut visited = Vec::new();
        let visit = |_: &TxLocation, transaction: &Transaction, prevouts: &[Option<TxOut>]| {
            visited.push((transaction.clone(), prevouts.to_vec()));
        };
        index.visit_transactions(&[location], &raw, visit).unwrap();
        assert_eq!(visited, [(entry.transaction.clone(), naive.prevouts(txid))]);
        assert_eq!(index.transaction_outputs(txid).unwrap().as_ref(), Some(&entry.transaction.output));
        let outspends = naive.outspends(txid);
        assert_eq!(index.outspends(txid).unwrap().as_ref(), Some(&outspends));
        for (vout, expected) in (0u32..).zip(outspends) {
            let outpoint = OutPoint { txid: *txid, vout };
            assert_eq!(index.outspend(&outpoint).unwrap(), expected);
            assert_eq!(index.output(&outpoint).unwrap().as_ref(), entry.transaction.output.get(vout as usize));
        }
        assert_proofs(instance, naive, txid);
    }
    // One after the other, transactions that were looked at for other scripts serve again.
    let mut histories = index.whole_histories();
    for script in naive.scripts() {
        let whole = histories.of(&ScriptKey::from_script(&script), usize::MAX, |_| true).unwrap().unwrap();
        assert_eq!(whole.iter().rev().map(|entry| entry.txid).collect::<Vec<_>>(), naive.history(&script), "{script}");
        for key in [ScriptKey::from_script(&script), ScriptKey::from_script_hash(&script_hash(&script)).unwrap()] {
            assert_script(instance, naive, &script, &key);
        }
    }
}

fn assert_blocks(instance: &Instance, naive: &Naive<'_>) {
    let index = instance.index();
    let tip = index.tip().unwrap().unwrap();
    let newest = naive.blocks.len() as u32 - 1;
    assert_eq!((tip.height, tip.hash), (newest, naive.blocks[newest as usize].block_hash()));
    for (height, block) in (0u32..).zip(naive.blocks) {
        let hash = block.block_hash();
        assert_eq!(index.block_by_hash(&hash).unwrap(), Some(naive.block(height)));
        assert_eq!(index.block_hash(height).unwrap(), Some(hash));
        assert_eq!(index.block_height(&hash).unwrap(), Some(height));
        assert_eq!(index.block_header(height).unwrap(), Some(block.header));
        let next = naive.blocks.get(height as usize + 1).map(bitcoin::Block::block_hash);
        assert_eq!(index.block_position(&hash).unwrap(), Some((height, next)));
        let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
        assert_eq!(index.block_txids(height).unwrap().as_ref(), Some(&txids));
        for start in 0..txids.len() as u32 + 2 {
            let page = index.block_transactions(height, start, 3).unwrap().unwrap();
            let expected: Vec<Txid> = txids.iter().skip(start as usize).take(3).copied().collect();
            assert_eq!(page.iter().map(|location| location.txid).collect::<Vec<_>>(), expected);
            assert_eq!(index.block_txid(height, start).unwrap(), txids.get(start as usize).copied());
        }
    }
    for start in [0, 4, 9, newest] {
        let start = start.min(newest);
        let expected: Vec<_> = (start.saturating_sub(9)..=start).rev().map(|height| naive.block(height)).collect();
        assert_eq!(index.blocks(start, 10).unwrap(), expected);
    }
    assert!(index.blocks(newest + 1, 10).unwrap().is_empty());
}

fn assert_proofs(instance: &Instance, naive: &Naive<'_>, txid: &Txid) {
    let entry = naive.find(txid).unwrap();
    let MerkleProof { height, index, branch } = instance.index().merkle_proof(txid).unwrap().unwrap();
    assert_eq!((height, index), (entry.height, entry.index as u32));
    assert!(naive.branch_holds(txid, &branch, entry.index));
    let bytes = instance.index().merkle_block(txid).unwrap().unwrap();
    let proof: MerkleBlock = deserialize(&bytes).unwrap();
    let (mut matched, mut positions) = (Vec::new(), Vec::new());
    proof.extract_matches(&mut matched, &mut positions).unwrap();
    assert_eq!((matched, positions), (vec![*txid], vec![entry.index as u32]));
    let (named, by_position) = instance.index().merkle_proof_at(entry.height, entry.index as u32).unwrap().unwrap();
    assert_eq!((named, by_position), (*txid, branch));
}

fn assert_script(instance: &Instance, naive: &Naive<'_>, script: &bitcoin::Script, key: &ScriptKey) {
    let index = instance.index();
    assert_eq!(index.script_totals(key).unwrap(), naive.totals(script), "{script}");

    let expected = naive.history(script);
    let all: Vec<Txid> = index.history(key, None, usize::MAX).unwrap().iter().map(|location| location.txid).collect();
    assert_eq!(all, expected, "{script}");
    let whole = index.whole_histories().of(key, usize::MAX, |_| true).unwrap().unwrap();
    assert_eq!(whole.iter().rev().map(|entry| entry.txid).collect::<Vec<_>>(), expected, "{script}");
    assert!(whole.is_empty() || index.whole_histories().of(key, 0, |_| true).unwrap().is_none(), "{script}");
    for entry in &whole {
        let scripts = index.scripts_of_block(entry.height).unwrap().unwrap();
        assert!(scripts.contains(key.digest()), "{script} at {}", entry.height);
    }
    let mut paged = Vec::new();
    loop {
        assert!(paged.len() <= expected.len(), "the pages of {script} never end");
        let page = index.history(key, paged.last(), 7).unwrap();
        paged.extend(page.iter().map(|location| location.txid));
        if page.is_empty() {
            break;
        }
    }
    assert_eq!(paged, expected, "{script}");
    for location in index.history(key, None, 5).unwrap() {
        assert_effect(instance, naive, script, key, &location.txid);
    }

    let expected = naive.unspent(script);
    assert_eq!(index.unspent(key, None, None).unwrap(), expected, "{script}");
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        assert!(paged.len() <= expected.len(), "the pages of {script} never end");
        let page = index.unspent(key, after.as_ref(), Some(3)).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.outpoint);
        paged.extend(page);
    }
    assert_eq!(paged, expected, "{script}");
}

fn assert_effect(instance: &Instance, naive: &Naive<'_>, script: &bitcoin::Script, key: &ScriptKey, txid: &Txid) {
    let location = instance.index().transaction_location(txid).unwrap().unwrap();
    let effect = instance.index().script_effect(key, &location).unwrap();
    let sum = |outputs: &mut dyn Iterator<Item = &TxOut>| -> u64 {
        outputs.filter(|output| output.script_pubkey.as_script() == script).map(|output| output.value.to_sat()).sum()
    };
    let outputs = &naive.find(txid).unwrap().transaction.output;
    assert_eq!(effect.received, sum(&mut outputs.iter()));
    assert_eq!(effect.sent, sum(&mut naive.prevouts(txid).iter().flatten()));
    assert_eq!(effect.fee, Some(naive.fee(txid)));
}

/// Applies the blocks from `from` on, every other one with what it spends.
fn extend(instance: &mut Instance, naive: &Naive<'_>, from: usize) {
    for (height, block) in naive.blocks.iter().enumerate().skip(from) {
        let spent = (height % 2 == 0).then(|| naive.spent_of_block(height as u32));
        instance.connect(height as u32, block, spent);
        if height % 5 == 0 {
            instance.commit();
        }
    }
    instance.commit();
}

#[test]
fn every_answer_equals_a_recomputation_from_the_blocks() {
    for seed in 0..4 {
        let mut chain = RandomChain::new(seed, 60);
        for _ in 0..80 {
            chain.grow(9);
        }
        let naive = Naive::new(&chain.blocks);
        let mut instance = Instance::storing_raw();
        extend(&mut instance, &naive, 0);
        assert!(naive.entries.iter().any(|entry| entry.gone), "seed {seed} repeats a coinbase");
        let busiest = naive.scripts().iter().map(|script| naive.history(script).len()).max();
        assert!(busiest > Some(60), "seed {seed} has a busy script");
        assert_all_answers(&instance, &naive);
    }
}

/// Scripts that a block counts: their histories are read while the block before is applied, and used, whatever waits in memory.
#[test]
fn histories_that_were_read_ahead_are_not_read_again_and_change_nothing() {
    let mut chain = RandomChain::new(3, 60);
    for _ in 0..80 {
        chain.grow(9);
    }
    let naive = Naive::new(&chain.blocks);
    let blocks: Vec<ConnectedBlock> = (0..)
        .zip(&chain.blocks)
        .map(|(height, block)| {
            let spent = Some(naive.spent_of_block(height));
            let script_digests = Some(ScriptDigests::of(block, spent.as_ref()));
            ConnectedBlock { script_digests, ..connected(height, block, spent) }
        })
        .collect();
    let import = |is_ahead: bool| {
        let mut instance = Instance::storing_raw();
        let (mut reads, mut rows) = ((0, 0), None);
        for (block, next) in blocks.iter().zip(blocks.iter().skip(1).map(Some).chain([None])) {
            let before = instance.store.reads();
            instance.apply_with(block, rows.take()).unwrap();
            let after = instance.store.reads();
            reads = (reads.0 + after.gets - before.gets, reads.1 + after.seeks - before.seeks);
            if block.id.height % 5 == 0 {
                instance.commit();
            }
            if let Some(next) = next.filter(|_| is_ahead) {
                let module = &instance.module;
                rows = Some(instance.writer.read_ahead(|keys| module.reads_ahead(next, &[], keys)).unwrap().read());
            }
        }
        instance.commit();
        assert_all_answers(&instance, &naive);
        let tip = blocks.len() as u32 - 1;
        (reads, instance.store.snapshot().block_digests(tip).unwrap().unwrap().record.cumulative)
    };
    let ((gets, seeks), digest) = import(false);
    let ((gets_ahead, seeks_ahead), digest_ahead) = import(true);
    assert_eq!(digest, digest_ahead);
    // A script that is drawn for its further transactions in a block is read in its turn.
    assert!(seeks_ahead < seeks && gets_ahead < gets, "{gets_ahead} of {gets} gets, {seeks_ahead} of {seeks} seeks");
}

/// With 5 of 64 bits in every prefix, each row of the index belongs to several scripts and each txid has namesakes.
#[test]
fn scripts_and_txids_that_share_a_prefix_never_mix() {
    for (seed, bits) in [(10, 5), (11, 0), (12, 2)] {
        let mut chain = RandomChain::new(seed, 40);
        for _ in 0..40 {
            chain.grow(6);
        }
        let naive = Naive::new(&chain.blocks);
        let mut instance = Instance::new(BitcoinModule::new(RawTransactions::Store), bits);
        // Without the spent outputs, since a prefix of a few bits does not settle who is meant.
        for (height, block) in (0u32..).zip(&chain.blocks) {
            instance.connect(height, block, None);
        }
        instance.commit();
        assert_all_answers(&instance, &naive);
    }
}

#[test]
fn after_reorgs_of_depth_1_to_100_every_answer_is_that_of_the_new_chain() {
    let mut random = Random(99);
    let mut chain = RandomChain::new(7, 50);
    let mut states = vec![chain.clone()];
    for _ in 0..110 {
        chain.grow(5);
        states.push(chain.clone());
    }
    let mut instance = Instance::storing_raw();
    extend(&mut instance, &Naive::new(&chain.blocks), 0);
    for (round, depth) in [1, 2, 100, 1, 17, 60, 3, 99].into_iter().enumerate() {
        let fork = chain.blocks.len() - depth;
        let old = chain.clone();
        states.truncate(fork);
        chain = states[fork - 1].clone();
        chain.reseed(random.next());
        for _ in 0..depth + random.below(3) {
            chain.grow(5);
            states.push(chain.clone());
        }
        for _ in 0..depth {
            instance.undo();
        }
        extend(&mut instance, &Naive::new(&chain.blocks), fork);
        assert_all_answers(&instance, &Naive::new(&chain.blocks));
        let gone = old.blocks.last().unwrap();
        assert_eq!(instance.index().block_position(&gone.block_hash()).unwrap(), None, "round {round}");
    }
}

#[test]
fn undoing_and_applying_the_same_blocks_again_gives_the_same_digest_and_answers() {
    let mut chain = RandomChain::new(21, 50);
    for _ in 0..60 {
        chain.grow(6);
    }
    let naive = Naive::new(&chain.blocks);
    let mut instance = Instance::storing_raw();
    extend(&mut instance, &naive, 0);
    let digest = instance.store.snapshot().tip().unwrap().cumulative;
    for _ in 0..chain.blocks.len() {
        instance.undo();
    }
    assert!(instance.index().tip().unwrap().is_none());
    extend(&mut instance, &naive, 0);
    assert_eq!(instance.store.snapshot().tip().unwrap().cumulative, digest);
    assert_all_answers(&instance, &naive);
}

/// The rows are the same whether the node supplied the spent outputs of a block or the index looked them up, and whether the digests of
/// scripts came with the block or were computed here.
#[test]
fn spends_and_digests_that_came_with_a_block_write_the_same_rows_as_those_found_here() {
    let mut chain = RandomChain::new(33, 40);
    for _ in 0..50 {
        chain.grow(6);
    }
    let naive = Naive::new(&chain.blocks);
    let digests = [(true, false), (true, true), (false, false), (false, true)].map(|(is_supplied, is_hashed)| {
        let mut instance = Instance::storing_raw();
        for (height, block) in (0u32..).zip(&chain.blocks) {
            let spent = is_supplied.then(|| naive.spent_of_block(height));
            let script_digests = is_hashed.then(|| ScriptDigests::of(block, spent.as_ref()));
            instance.apply(&ConnectedBlock { script_digests, ..connected(height, block, spent) }).unwrap();
            if !is_supplied {
                instance.commit();
            }
        }
        instance.commit();
        instance.store.snapshot().tip().unwrap().cumulative
    });
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn unknown_things_are_none_or_the_error_that_names_them() {
    let mut chain = RandomChain::new(5, 20);
    for _ in 0..20 {
        chain.grow(6);
    }
    let naive = Naive::new(&chain.blocks);
    let mut instance = Instance::storing_raw();
    extend(&mut instance, &naive, 0);
    let index = instance.index();
    let unknown: Txid = "00000000000000000000000000000000000000000000000000000000000000aa".parse().unwrap();
    assert!(index.transaction_location(&unknown).unwrap().is_none());
    assert!(index.outspends(&unknown).unwrap().is_none());
    assert_eq!(index.outspend(&OutPoint { txid: unknown, vout: 0 }).unwrap(), None);
    assert!(index.transaction_outputs(&unknown).unwrap().is_none());
    assert!(index.merkle_proof(&unknown).unwrap().is_none());
    assert!(index.merkle_block(&unknown).unwrap().is_none());
    assert!(index.block_txids(1000).unwrap().is_none());
    assert!(index.block_transactions(1000, 0, 25).unwrap().is_none());
    assert!(index.block_by_height(u32::MAX).unwrap().is_none());

    let script = naive.scripts().into_iter().find(|script| naive.history(script).len() > 2).unwrap();
    let key = ScriptKey::from_script(&script);
    let own = naive.history(&script);
    let unrelated = naive.entries.iter().find(|entry| !own.contains(&entry.txid)).unwrap().txid;
    let genesis = naive.entries[0].txid;
    for txid in [unknown, unrelated, genesis] {
        assert!(matches!(index.history(&key, Some(&txid), 25), Err(ReadError::NotInHistory(named)) if named == txid));
    }
    let gone = OutPoint { txid: unknown, vout: 0 };
    assert!(matches!(index.unspent(&key, Some(&gone), None), Err(ReadError::NotInHistory(_))));
    assert!(index.history(&key, own.last(), 25).unwrap().is_empty(), "nothing comes after the oldest");

    let location = index.transaction_location(&own[0]).unwrap().unwrap();
    let other = index.transaction_location(&own[1]).unwrap().unwrap();
    let source = StoredTransactions::new(instance.store.snapshot());
    let raw = source.read(&[other]).unwrap();
    let visit = |locations: &[TxLocation], raw: &[Bytes]| index.visit_transactions(locations, raw, |_, _, _| ());
    assert!(matches!(visit(&[location], &raw), Err(ReadError::RawBytes { .. })));
    assert!(matches!(visit(&[location], &[raw[0].slice(1..)]), Err(ReadError::RawBytes { .. })));
    assert!(matches!(visit(&[location, other], &raw), Err(ReadError::RawBytes { .. })));
}
