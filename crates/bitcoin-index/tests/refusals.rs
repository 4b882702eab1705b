//! What the module refuses, and that nothing is lost by it.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use bitcoin::{Block, BlockHash, OutPoint, TxOut};
use paraffin_bitcoin_index::{
    BitcoinIndex, BitcoinModule, MODULE, RawTransactions, ScriptKey, SourceError, StoredTransactions, TransactionSource,
};
use paraffin_primitives::{BlockId, ConnectedBlock, ScriptDigests};
use paraffin_store::{Module, ModuleError};
use support::chain::{RandomChain, block, coinbase, output, script, spend, transaction};
use support::naive::Naive;
use support::{Instance, NETWORK, connected};

fn two_blocks() -> [Block; 2] {
    let previous = BlockHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros());
    let first = block(previous, 1, 0, vec![coinbase(1, vec![output(50, script(2)), output(9, script(5))])]);
    let funding = OutPoint { txid: first.txdata[0].compute_txid(), vout: 1 };
    let paying = transaction(vec![spend(funding)], vec![output(8, script(3))], 2);
    let second = block(first.block_hash(), 2, 0, vec![coinbase(2, vec![output(51, script(2))]), paying]);
    [first, second]
}

fn refusal(instance: &mut Instance, block: &ConnectedBlock) -> String {
    match instance.apply(block) {
        Err(ModuleError::Block(message)) => message,
        other => panic!("the block must be refused, not {other:?}"),
    }
}

/// A store reports its settings when the configuration differs, at start and at the next block.
#[test]
fn the_choice_of_raw_transactions_is_fixed_when_the_store_is_created() {
    let [first, second] = two_blocks();
    let mut instance = Instance::new(BitcoinModule::new(RawTransactions::Node), 64);
    assert_eq!(instance.index().raw_transactions().unwrap(), None);
    BitcoinModule::new(RawTransactions::Store).check_settings(&instance.store.snapshot()).unwrap();
    instance.connect(1, &first, None);
    instance.commit();
    assert_eq!(instance.index().raw_transactions().unwrap(), Some(RawTransactions::Node));

    let changed = BitcoinModule::new(RawTransactions::Store);
    let message = changed.check_settings(&instance.store.snapshot()).unwrap_err().to_string();
    assert!(
        message.contains("raw_transactions") && message.contains("\"node\"") && message.contains("new folder"),
        "{message}"
    );
    let original = std::mem::replace(&mut instance.module, changed);
    assert_eq!(refusal(&mut instance, &connected(2, &second, None)), message);
    original.check_settings(&instance.store.snapshot()).unwrap();
    instance.module = original;
    instance.connect(2, &second, None);
    instance.commit();
    assert_eq!(instance.index().tip().unwrap().unwrap().height, 2);
}

#[test]
fn bytes_that_the_store_does_not_keep_are_named() {
    let [first, _] = two_blocks();
    let mut instance = Instance::new(BitcoinModule::new(RawTransactions::Node), 64);
    instance.connect(1, &first, None);
    instance.commit();
    let txid = first.txdata[0].compute_txid();
    let location = instance.index().transaction_location(&txid).unwrap().unwrap();
    let source: Box<dyn TransactionSource> = Box::new(StoredTransactions::new(instance.store.snapshot()));
    let mut fetch = source.fetch(vec![location]);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match fetch.as_mut().poll(&mut context) {
        std::task::Poll::Ready(Err(SourceError::NotStored(named))) => assert_eq!(named, txid),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_block_that_came_with_wrong_spent_outputs_txids_or_offsets_is_refused_and_the_right_one_follows() {
    let [first, second] = two_blocks();
    let mut instance = Instance::storing_raw();
    instance.connect(1, &first, None);
    instance.commit();
    let right = connected(2, &second, None);
    let some = || TxOut { value: bitcoin::Amount::ONE_SAT, script_pubkey: script(2) };
    for spent in [
        vec![],
        vec![vec![]],
        vec![vec![], vec![]],
        vec![vec![], vec![some(), some()]],
        vec![vec![some()], vec![some()]],
    ] {
        let wrong = ConnectedBlock { spent: Some(spent), ..right.clone() };
        let message = refusal(&mut instance, &wrong);
        assert!(message.contains("spent outputs") && message.starts_with("block 2:"), "{message}");
    }
    let digests = ScriptDigests::of(&second, None);
    let with_digests = |digests: ScriptDigests| ConnectedBlock { script_digests: Some(digests), ..right.clone() };
    let wrongs = [
        with_digests(ScriptDigests { outputs: Vec::new(), ..digests.clone() }),
        with_digests(ScriptDigests { spent: vec![[0; 32]], ..digests }),
        ConnectedBlock { txids: right.txids[..1].to_vec(), ..right.clone() },
        ConnectedBlock { offsets: vec![81], ..right.clone() },
        ConnectedBlock { offsets: vec![right.offsets[1], right.offsets[0]], ..right.clone() },
        ConnectedBlock { offsets: vec![right.offsets[0], right.offsets[1] + 40], ..right.clone() },
        ConnectedBlock { size: 81, ..right.clone() },
        connected(2, &Block { txdata: vec![], ..second.clone() }, None),
        connected(2, &Block { txdata: second.txdata[1..].to_vec(), ..second.clone() }, None),
    ];
    for wrong in &wrongs {
        refusal(&mut instance, wrong);
    }
    assert_eq!(instance.index().tip().unwrap().unwrap().height, 1);
    instance.apply(&right).unwrap();
    instance.commit();
    assert_eq!(instance.index().tip().unwrap().unwrap().hash, second.block_hash());
}

#[test]
fn an_input_of_an_unknown_transaction_or_output_is_named() {
    let [first, second] = two_blocks();
    let mut instance = Instance::storing_raw();
    instance.connect(1, &first, None);
    let known = first.txdata[0].compute_txid();
    let unknown = second.txdata[0].compute_txid();
    for funding in [OutPoint { txid: known, vout: 2 }, OutPoint { txid: unknown, vout: 0 }] {
        let paying = transaction(vec![spend(funding)], vec![output(8, script(3))], 2);
        let wrong = block(first.block_hash(), 2, 0, vec![coinbase(7, vec![output(51, script(2))]), paying.clone()]);
        let message = refusal(&mut instance, &connected(2, &wrong, None));
        assert!(
            message.contains(&funding.to_string()) && message.contains(&paying.compute_txid().to_string()),
            "{message}"
        );
    }
    // A transaction cannot spend one that comes after it in the same block.
    let later = transaction(vec![spend(OutPoint { txid: known, vout: 0 })], vec![output(8, script(3))], 2);
    let funding = OutPoint { txid: later.compute_txid(), vout: 0 };
    let earlier = transaction(vec![spend(funding)], vec![output(7, script(3))], 2);
    let wrong = block(first.block_hash(), 2, 0, vec![coinbase(7, vec![output(51, script(2))]), earlier, later]);
    assert!(refusal(&mut instance, &connected(2, &wrong, None)).contains(&funding.to_string()));
    instance.connect(2, &second, None);
}

/// The module keeps numbers of recent transactions; they must not outlive the rows, whichever way the rows go.
#[test]
fn numbers_of_undone_or_abandoned_blocks_are_forgotten() {
    let mut chain = RandomChain::new(3, 20);
    for _ in 1..10 {
        chain.grow(5);
    }
    let mut other = chain.clone();
    other.reseed(77);
    for _ in 0..3 {
        other.grow(5);
    }
    for _ in 0..20 {
        chain.grow(5);
    }
    let naive = Naive::new(&chain.blocks);
    let mut straight = Instance::storing_raw();
    let mut winding = Instance::storing_raw();
    for (height, block) in (0u32..).zip(&chain.blocks) {
        straight.connect(height, block, None);
        // Abandoned: connected by this module, then given up as if another module had failed.
        winding
            .writer
            .begin_block(BlockId { height, hash: block.block_hash() }, block.header.prev_blockhash, 0)
            .unwrap();
        let mut rows = winding.writer.module(MODULE).unwrap();
        winding.module.connect(&connected(height, block, None), &mut rows).unwrap();
        winding.writer.abandon_block();
        if height == 10 {
            for (fork, block) in (10u32..).zip(&other.blocks[10..]) {
                winding.connect(fork, block, None);
            }
            winding.commit();
            for _ in &other.blocks[10..] {
                winding.undo();
            }
        }
        winding.connect(height, block, Some(naive.spent_of_block(height)));
    }
    straight.commit();
    winding.commit();
    let cumulative = |instance: &Instance| instance.store.snapshot().tip().unwrap().cumulative;
    assert_eq!(cumulative(&straight), cumulative(&winding));
}

/// After its block was undone, a transaction is as unknown as if it had never been; a node that builds on it is refused.
#[test]
fn a_transaction_of_an_undone_or_abandoned_block_cannot_be_spent() {
    let [first, second] = two_blocks();
    let undone = second.txdata[1].compute_txid();
    let funding = OutPoint { txid: undone, vout: 0 };
    let paying = transaction(vec![spend(funding)], vec![output(7, script(3))], 2);
    let build = |previous: &Block| {
        let txdata = vec![coinbase(9, vec![output(51, script(2))]), paying.clone()];
        connected(2, &block(previous.block_hash(), 3, 0, txdata), None)
    };
    let mut instance = Instance::storing_raw();
    instance.connect(1, &first, None);
    instance.connect(2, &second, None);
    instance.commit();
    instance.undo();
    assert!(refusal(&mut instance, &build(&first)).contains(&funding.to_string()));

    let id = BlockId { height: 2, hash: second.block_hash() };
    instance.writer.begin_block(id, first.block_hash(), 2).unwrap();
    let mut rows = instance.writer.module(MODULE).unwrap();
    instance.module.connect(&connected(2, &second, None), &mut rows).unwrap();
    instance.writer.abandon_block();
    assert!(refusal(&mut instance, &build(&first)).contains(&funding.to_string()));
}

/// `paraffin reindex bitcoin --from H`: the module alone goes back and sees the same blocks again.
#[test]
fn a_module_that_is_run_again_alone_writes_the_same_rows() {
    let mut chain = RandomChain::new(13, 30);
    for _ in 0..40 {
        chain.grow(6);
    }
    let mut instance = Instance::storing_raw();
    for (height, block) in (0u32..).zip(&chain.blocks) {
        instance.connect(height, block, None);
    }
    instance.commit();
    let digest = instance.store.snapshot().tip().unwrap().cumulative;
    for to in [Some(20), Some(0), None] {
        instance.writer.rewind_module(MODULE, to).unwrap();
        let index = BitcoinIndex::new(instance.store.snapshot(), NETWORK);
        assert_eq!(index.tip().unwrap().map(|tip| tip.height), to);
        while let Some(id) = instance.writer.next_replay(MODULE).unwrap() {
            instance.writer.replay_block(MODULE, id).unwrap();
            let block = connected(id.height, &chain.blocks[id.height as usize], None);
            let mut rows = instance.writer.module(MODULE).unwrap();
            instance.module.connect(&block, &mut rows).unwrap();
            instance.writer.end_block().unwrap();
            instance.writer.commit(false).unwrap();
        }
        assert_eq!(instance.store.snapshot().tip().unwrap().cumulative, digest, "{to:?}");
    }
    let key = ScriptKey::from_script(&script(0));
    let naive = Naive::new(&chain.blocks);
    assert_eq!(instance.index().history(&key, None, usize::MAX).unwrap().len(), naive.history(&script(0)).len());
}
