//! Moving from one chain to another: by more work, by `invalidateblock`, and back.

use std::sync::Arc;

use bitcoin::{Block, OutPoint, Txid};
use paraffin_devnet::{ACCOUNT_NAMES, BlockOutcome, Coin, NodeEvent, Rejection, Scenario, Wallet};
use proptest::prelude::*;

use crate::support::{Ground, HEIGHT, coin_of};

/// What every account owns.
fn wealth(ground: &Ground) -> Vec<Vec<(OutPoint, Coin)>> {
    (0..5).map(|account| ground.node.spendable(&ground.wallet.scripts(account))).collect()
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
    assert!(wealth(&ground).iter().all(Vec::is_empty));
    ground.node.reconsider(&first).unwrap();
    assert_eq!((ground.node.tip(), wealth(&ground)), (tip, before));
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

/// A move of the random walk below.
#[derive(Debug, Clone)]
enum Move {
    /// Payments and a block.
    Trade,
    /// Empty blocks for an account.
    Mine {
        count: u32,
        account: usize,
    },
    Invalidate {
        depth: u32,
    },
    Reconsider,
    Precious,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => Just(Move::Trade),
        2 => (1..4_u32, 0..5_usize).prop_map(|(count, account)| Move::Mine { count, account }),
        3 => (0..15_u32).prop_map(|depth| Move::Invalidate { depth }),
        2 => Just(Move::Reconsider),
        1 => Just(Move::Precious),
    ];
    prop::collection::vec(one, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_walk_through_the_tree_the_coins_are_those_of_a_straight_sync(moves in moves()) {
        let ground = Ground::new();
        let mut scenario = Scenario::new(11, Arc::new(Wallet::new(7, &ACCOUNT_NAMES)));
        let mut invalidated = Vec::new();
        for step in moves {
            let tip = ground.node.tip();
            match step {
                Move::Trade => {
                    // After a step back the traders' money may be immature or tied up; then they sit this one out.
                    let _ = scenario.step(&ground.node);
                    ground.node.mine_block(&scenario.miner_script(tip.height)).unwrap();
                }
                Move::Mine { count, account } => {
                    ground.node.mine(count, &ground.script(account)).unwrap();
                }
                // Many steps back in a row lead to the first block, which is there for good.
                Move::Invalidate { .. } if tip.height == 0 => {}
                Move::Invalidate { depth } => {
                    let hash = ground.node.block_hash(tip.height.saturating_sub(depth).max(1)).unwrap();
                    ground.node.invalidate(&hash).unwrap();
                    invalidated.push(hash);
                }
                Move::Reconsider => {
                    if let Some(hash) = invalidated.pop() {
                        ground.node.reconsider(&hash).unwrap();
                    }
                }
                Move::Precious => {
                    if let Some(hash) = invalidated.last() {
                        ground.node.precious(hash).unwrap();
                    }
                }
            }
        }
        let straight = Ground { node: Arc::default(), wallet: Wallet::new(7, &ACCOUNT_NAMES) };
        for height in 1..=ground.node.tip().height {
            let block = ground.node.block(&ground.node.block_hash(height).unwrap()).unwrap();
            prop_assert_eq!(straight.node.submit_block(Block::clone(&block)), Ok(BlockOutcome::Connected));
        }
        // What the mempool spends is not spendable, so it is confirmed on both sides first.
        let newest = ground.node.mine_block(&ground.script(0)).unwrap();
        let newest = ground.node.block(&newest).unwrap();
        prop_assert!(ground.node.mempool_txids().is_empty());
        prop_assert_eq!(straight.node.submit_block(Block::clone(&newest)), Ok(BlockOutcome::Connected));
        prop_assert_eq!(straight.node.tip(), ground.node.tip());
        prop_assert_eq!(wealth(&straight), wealth(&ground));
    }
}
