//! Moving from one chain to another: by more work, by `invalidateblock`, and back.

use bitcoin::{Block, Txid};
use paraffin_devnet::{BlockOutcome, NodeEvent, Rejection};

use crate::support::{Ground, HEIGHT, coin_of};

/// What every account can spend, as one comparable value.
fn wealth(ground: &Ground) -> String {
    (0..5).map(|account| format!("{:?}", ground.node.spendable(&ground.wallet.scripts(account)))).collect()
}

/// Mines `depth` blocks with a payment in the first of every ten; returns the txids of the payments.
fn trade(ground: &Ground, depth: u32) -> Vec<Txid> {
    let mut txids = Vec::new();
    for index in 0..depth {
        if index % 10 == 0 {
            let payment = ground.payment(&[ground.coinbase(1 + index / 10)], 1, 10_000_000, 2_000);
            let (outpoint, coin) = coin_of(&payment, &ground.script(1));
            txids.push(ground.node.submit_transaction(payment).unwrap());
            let child = ground.payment(&[(outpoint, coin)], 2, 5_000_000, 3_000);
            txids.push(ground.node.submit_transaction(child).unwrap());
        }
        ground.node.mine_block(&ground.script(0)).unwrap();
    }
    txids
}

/// `count` blocks on top of the small chain that pay another account than the small chain does.
fn branch(count: u32) -> (Ground, Vec<Block>) {
    let other = Ground::new();
    let script = other.script(4);
    other.node.mine(count, &script).unwrap();
    let blocks = (HEIGHT + 1..=HEIGHT + count)
        .map(|height| Block::clone(&other.node.block(&other.node.block_hash(height).unwrap()).unwrap()))
        .collect();
    (other, blocks)
}

fn reorganises(depth: u32) {
    let ground = Ground::new();
    let payments = trade(&ground, depth);
    let old_tip = ground.node.tip();
    assert!(ground.node.mempool_txids().is_empty());
    let mut events = ground.node.subscribe();
    let (other, blocks) = branch(depth + 1);
    let (last, before) = blocks.split_last().unwrap();
    for block in before {
        assert_eq!(ground.node.submit_block(block.clone()), Ok(BlockOutcome::SideChain));
        assert_eq!(ground.node.tip(), old_tip, "equal work does not displace what was seen first");
    }
    assert_eq!(ground.node.submit_block(last.clone()), Ok(BlockOutcome::Connected));
    assert_eq!(ground.node.tip(), other.node.tip());
    match events.try_recv().unwrap() {
        NodeEvent::Chain { connected, disconnected } => {
            assert_eq!((connected.len(), disconnected), (depth as usize + 1, depth as usize));
        }
        event @ NodeEvent::Transaction(_) => panic!("{event:?}"),
    }
    assert_eq!(ground.node.mempool_txids(), payments, "in chain order, parents first");

    // The returned transactions confirm again, and from then on both nodes agree on every coin.
    ground.node.mine_block(&ground.script(3)).unwrap();
    assert!(ground.node.mempool_txids().is_empty());
    let newest = ground.node.block(&ground.node.tip().hash).unwrap();
    assert_eq!(newest.txdata.len(), payments.len() + 1);
    other.node.submit_block(Block::clone(&newest)).unwrap();
    assert_eq!(wealth(&ground), wealth(&other));
}

#[test]
fn a_longer_branch_wins_at_depth_1_and_the_mempool_gets_the_transactions_back() {
    reorganises(1);
}

#[test]
fn a_longer_branch_wins_at_depth_10_and_the_mempool_gets_the_transactions_back() {
    reorganises(10);
}

#[test]
fn a_longer_branch_wins_at_depth_100_and_the_mempool_gets_the_transactions_back() {
    reorganises(100);
}

#[test]
fn a_returned_transaction_that_the_new_branch_confirmed_stays_out_of_the_mempool() {
    let ground = Ground::new();
    let payment = ground.payment(&[ground.coinbase(1)], 1, 10_000_000, 2_000);
    let rival = ground.payment(&[ground.coinbase(2)], 1, 10_000_000, 2_000);
    ground.node.mine_block_with(vec![payment.clone(), rival], &ground.script(0), true).unwrap();
    let other = Ground::new();
    let conflicting = other.payment(&[other.coinbase(2)], 3, 20_000_000, 2_000);
    let first = other.node.mine_block_with(vec![payment, conflicting], &other.script(4), true).unwrap();
    let second = other.node.mine_block(&other.script(4)).unwrap();
    ground.node.submit_block(Block::clone(&first)).unwrap();
    ground.node.submit_block(Block::clone(&other.node.block(&second).unwrap())).unwrap();
    assert_eq!(ground.node.tip(), other.node.tip());
    assert!(ground.node.mempool_txids().is_empty(), "one is confirmed, the other conflicts");
    assert_eq!(wealth(&ground), wealth(&other));
}

#[test]
fn invalidating_and_reconsidering_a_block_ends_where_it_began() {
    let ground = Ground::new();
    let payments = trade(&ground, 20);
    let (tip, before) = (ground.node.tip(), wealth(&ground));
    let first = ground.node.block_hash(HEIGHT + 1).unwrap();
    ground.node.invalidate(&first).unwrap();
    assert_eq!(ground.node.tip().height, HEIGHT);
    assert_eq!(ground.node.mempool_txids(), payments);
    ground.node.reconsider(&first).unwrap();
    assert_eq!(ground.node.tip(), tip);
    assert!(ground.node.mempool_txids().is_empty());
    assert_eq!(wealth(&ground), before);
    let genesis = ground.node.block_hash(0).unwrap();
    assert!(ground.node.invalidate(&genesis).is_err());
    assert!(ground.node.invalidate(&"11".repeat(32).parse().unwrap()).is_err());
}

#[test]
fn the_whole_chain_can_be_taken_back_to_the_genesis_block_and_restored() {
    let ground = Ground::new();
    let (tip, before) = (ground.node.tip(), wealth(&ground));
    let first = ground.node.block_hash(1).unwrap();
    ground.node.invalidate(&first).unwrap();
    assert_eq!(ground.node.tip().height, 0);
    assert_eq!(wealth(&ground), wealth_of_nothing());
    ground.node.reconsider(&first).unwrap();
    assert_eq!((ground.node.tip(), wealth(&ground)), (tip, before));
}

fn wealth_of_nothing() -> String {
    "[]".repeat(5)
}

#[test]
fn invalidating_the_tip_goes_to_the_next_best_branch() {
    let ground = Ground::new();
    let (other, blocks) = branch(2);
    ground.node.mine(3, &ground.script(0)).unwrap();
    let third = ground.node.tip();
    for block in blocks {
        ground.node.submit_block(block).unwrap();
    }
    assert_eq!(ground.node.tip(), third);
    ground.node.invalidate(&ground.node.block_hash(HEIGHT + 1).unwrap()).unwrap();
    assert_eq!(ground.node.tip(), other.node.tip());
    ground.node.reconsider(&third.hash).unwrap();
    assert_eq!(ground.node.tip(), third, "an ancestor's mark is taken back as well");
}

#[test]
fn a_precious_block_wins_a_tie_and_a_later_one_wins_it_back() {
    let ground = Ground::new();
    let (other, blocks) = branch(1);
    let own = ground.node.mine_block(&ground.script(0)).unwrap();
    ground.node.submit_block(blocks[0].clone()).unwrap();
    assert_eq!(ground.node.tip().hash, own);
    ground.node.precious(&other.node.tip().hash).unwrap();
    assert_eq!(ground.node.tip(), other.node.tip());
    ground.node.precious(&own).unwrap();
    assert_eq!(ground.node.tip().hash, own);
}

#[test]
fn a_block_mined_again_after_invalidation_is_another_block() {
    let ground = Ground::new();
    let first = ground.node.mine_block(&ground.script(0)).unwrap();
    ground.node.invalidate(&first).unwrap();
    let second: Result<_, Rejection> = ground.node.mine_block(&ground.script(0));
    assert_ne!(second, Ok(first));
    assert_eq!(ground.node.tip().height, HEIGHT + 1);
}
