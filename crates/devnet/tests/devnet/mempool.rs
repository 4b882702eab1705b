//! What the mempool takes, replaces, refuses and drops.

use bitcoin::{Amount, ScriptBuf, Sequence, Transaction};
use paraffin_devnet::{NodeEvent, RejectionKind};

use crate::support::{Ground, HEIGHT, coin_of, output};

fn refuses(ground: &Ground, tx: &Transaction, kind: RejectionKind, text: &str) {
    let before = ground.node.mempool_txids();
    let rejection = ground.node.submit_transaction(tx.clone()).expect_err(text);
    assert_eq!(rejection.kind, kind, "{rejection}");
    assert!(rejection.to_string().contains(text), "expected {text}, got {rejection}");
    assert_eq!(ground.node.mempool_txids(), before);
}

#[test]
fn a_payment_is_taken_announced_and_mined() {
    let ground = Ground::new();
    let mut events = ground.node.subscribe();
    let tx = ground.payment(&[ground.coinbase(1)], 1, 10_000_000, 2_000);
    let txid = ground.node.submit_transaction(tx.clone()).unwrap();
    assert!(matches!(events.try_recv(), Ok(NodeEvent::Transaction(sent)) if *sent == tx));
    assert_eq!(ground.node.mempool_txids(), [txid]);
    refuses(&ground, &tx, RejectionKind::Policy, "txn-already-in-mempool");
    let hash = ground.node.mine_block(&ground.script(0)).unwrap();
    assert_eq!(ground.node.block(&hash).unwrap().txdata[1], tx);
    assert!(ground.node.mempool_txids().is_empty());
}

#[test]
fn what_cannot_be_mined_next_is_refused() {
    let ground = Ground::new();
    let spend = |height: u32, sequence: Sequence, lock_time: u32| {
        let (outpoint, coin) = ground.coinbase(height);
        ground.exact(&[(outpoint, coin, sequence)], vec![output(1_000_000, ground.script(2))], lock_time)
    };
    let consensus = RejectionKind::Consensus;
    let policy = RejectionKind::Policy;
    refuses(
        &ground,
        &spend(12, Sequence::MAX, 0),
        consensus,
        "bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99",
    );
    refuses(&ground, &spend(1, Sequence::ZERO, HEIGHT + 1), policy, "non-final");
    refuses(&ground, &spend(5, Sequence::from_height(107), 0), policy, "non-BIP68-final");
    let mut stolen = spend(1, Sequence::MAX, 0);
    stolen.output[0].value = Amount::from_sat(2_000_000);
    refuses(&ground, &stolen, consensus, "mempool-script-verify-flag-failed");
    let coinbase = ground.node.block(&ground.node.tip().hash).unwrap().txdata[0].clone();
    refuses(&ground, &coinbase, consensus, "coinbase");
    let mut unknown = spend(1, Sequence::MAX, 0);
    unknown.input[0].previous_output.vout = 9;
    refuses(&ground, &unknown, RejectionKind::MissingInputs, "bad-txns-inputs-missingorspent");
    let mut tiny = spend(1, Sequence::MAX, 0);
    tiny.output[0].script_pubkey = ScriptBuf::new();
    assert!(tiny.base_size() < 65);
    refuses(&ground, &tiny, policy, "tx-size-small");
    let confirmed = spend(1, Sequence::MAX, 0);
    ground.node.mine_block_with(vec![confirmed.clone()], &ground.script(0), true).unwrap();
    refuses(&ground, &confirmed, policy, "txn-already-known");
}

#[test]
fn the_relay_fee_is_asked_for_to_the_satoshi() {
    let ground = Ground::new();
    let (outpoint, coin) = ground.coinbase(1);
    let paying = |fee: u64| {
        let outputs = vec![output(coin.value.to_sat() - fee, ground.script(1))];
        ground.exact(&[(outpoint, coin.clone(), Sequence::MAX)], outputs, 0)
    };
    let required = (paying(0).vsize() as u64).div_ceil(10);
    refuses(
        &ground,
        &paying(required - 1),
        RejectionKind::Policy,
        &format!("min relay fee not met, {} < {required}", required - 1),
    );
    ground.node.submit_transaction(paying(required)).unwrap();
}

#[test]
fn a_replacement_pays_more_per_byte_more_in_all_and_its_own_relay() {
    let ground = Ground::new();
    let (outpoint, coin) = ground.coinbase(1);
    let paying = |fee: u64, sequence: Sequence| {
        let outputs = vec![output(coin.value.to_sat() - fee, ground.script(1))];
        ground.exact(&[(outpoint, coin.clone(), sequence)], outputs, 0)
    };
    let vsize = paying(0, Sequence::MAX).vsize() as u64;
    // No signalling: replacement is full.
    let first = paying(10_000, Sequence::MAX);
    ground.node.submit_transaction(first.clone()).unwrap();
    let child = ground.payment(&[coin_of(&first, &ground.script(1))], 2, 1_000_000, 5_000);
    let child_fee = 5 * child.vsize() as u64;
    ground.node.submit_transaction(child).unwrap();

    let policy = RejectionKind::Policy;
    refuses(&ground, &paying(10_000, Sequence::ZERO), policy, "insufficient fee, rejecting replacement");
    refuses(&ground, &paying(10_000 + child_fee - 1, Sequence::ZERO), policy, "less fees than conflicting txs");
    let enough = 10_000 + child_fee + vsize.div_ceil(10);
    refuses(&ground, &paying(enough - 1, Sequence::ZERO), policy, "not enough additional fees to relay");
    let replacement = paying(enough, Sequence::ZERO);
    let txid = ground.node.submit_transaction(replacement).unwrap();
    assert_eq!(ground.node.mempool_txids(), [txid], "the descendants of what is replaced go with it");
}

#[test]
fn a_transaction_cannot_spend_what_it_replaces() {
    let ground = Ground::new();
    let first = ground.payment(&[ground.coinbase(1)], 0, 10_000_000, 1_000);
    ground.node.submit_transaction(first.clone()).unwrap();
    let both = ground.payment(&[ground.coinbase(1), coin_of(&first, &ground.script(0))], 1, 10_000_000, 50_000);
    refuses(&ground, &both, RejectionKind::Consensus, "bad-txns-spends-conflicting-tx");
}

#[test]
fn a_block_evicts_what_conflicts_with_it_together_with_its_descendants() {
    let ground = Ground::new();
    let pending = ground.payment(&[ground.coinbase(1)], 1, 10_000_000, 9_000);
    let child = ground.payment(&[coin_of(&pending, &ground.script(1))], 2, 1_000_000, 9_000);
    let bystander = ground.payment(&[ground.coinbase(2)], 1, 10_000_000, 9_000);
    for tx in [pending, child, bystander.clone()] {
        ground.node.submit_transaction(tx).unwrap();
    }
    let rival = ground.payment(&[ground.coinbase(1)], 3, 10_000_000, 1_000);
    ground.node.mine_block_with(vec![rival], &ground.script(0), true).unwrap();
    assert_eq!(ground.node.mempool_txids(), [bystander.compute_txid()]);
}

#[test]
fn at_most_64_transactions_hang_together() {
    let ground = Ground::new();
    let mut coin = ground.coinbase(1);
    for _ in 0..64 {
        let tx = ground.payment(&[coin], 0, 1_000_000, 1_000);
        coin = (0..)
            .zip(&tx.output)
            .max_by_key(|(_, output)| output.value)
            .map(|(vout, output)| (bitcoin::OutPoint { txid: tx.compute_txid(), vout }, output.clone()))
            .unwrap();
        ground.node.submit_transaction(tx).unwrap();
    }
    let one_more = ground.payment(&[coin], 0, 1_000_000, 1_000);
    refuses(&ground, &one_more, RejectionKind::Policy, "too-large-cluster");
    ground.node.mine_block(&ground.script(0)).unwrap();
    assert!(ground.node.mempool_txids().is_empty(), "a whole chain fits into one block");
    ground.node.submit_transaction(one_more).unwrap();
}

#[test]
fn a_child_that_pays_for_its_parent_brings_it_into_the_block_first() {
    let ground = Ground::new();
    let parent = ground.payment(&[ground.coinbase(1)], 1, 10_000_000, 200);
    let middle = ground.payment(&[ground.coinbase(2)], 1, 10_000_000, 2_000);
    let child = ground.payment(&[coin_of(&parent, &ground.script(1))], 2, 1_000_000, 9_000);
    for tx in [&parent, &middle, &child] {
        ground.node.submit_transaction(tx.clone()).unwrap();
    }
    let hash = ground.node.mine_block(&ground.script(0)).unwrap();
    let order: Vec<_> = ground.node.block(&hash).unwrap().txdata[1..].iter().map(Transaction::compute_txid).collect();
    assert_eq!(order, [parent, child, middle].map(|tx| tx.compute_txid()));
}

#[test]
fn a_full_mempool_drops_what_pays_least_and_refuses_what_pays_less() {
    let ground = Ground::new();
    let paying = |height: u32, feerate: u64| ground.payment(&[ground.coinbase(height)], 1, 10_000_000, feerate);
    let (low, middle, high, lowest) = (paying(1, 1_000), paying(2, 2_000), paying(3, 3_000), paying(4, 500));
    ground.node.set_mempool_limit(low.total_size() * 2 + 10);
    for tx in [&low, &middle, &high] {
        ground.node.submit_transaction(tx.clone()).unwrap();
    }
    let mut remaining = ground.node.mempool_txids();
    remaining.sort_unstable();
    let mut expected = [middle.compute_txid(), high.compute_txid()];
    expected.sort_unstable();
    assert_eq!(remaining, expected);
    refuses(&ground, &lowest, RejectionKind::Policy, "mempool full");
}

#[test]
fn what_a_reorganisation_made_immature_or_unfinal_leaves_the_mempool() {
    let ground = Ground::new();
    let (outpoint, coin) = ground.coinbase(11);
    let young = ground.exact(&[(outpoint, coin, Sequence::MAX)], vec![output(1_000_000, ground.script(1))], 0);
    let (outpoint, coin) = ground.coinbase(1);
    let locked = ground.exact(&[(outpoint, coin, Sequence::ZERO)], vec![output(1_000_000, ground.script(1))], HEIGHT);
    let steady = ground.payment(&[ground.coinbase(2)], 1, 10_000_000, 1_000);
    for tx in [young, locked, steady.clone()] {
        ground.node.submit_transaction(tx).unwrap();
    }
    ground.node.invalidate(&ground.node.tip().hash).unwrap();
    assert_eq!(ground.node.mempool_txids(), [steady.compute_txid()]);
}
