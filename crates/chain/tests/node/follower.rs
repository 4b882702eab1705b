//! The follower: order, reorgs, outages, and invalid responses of a node.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bitcoin::BlockHash;
use bitcoin::consensus::serialize;
use bitcoin::hashes::Hash;
use paraffin_chain::{ChainEvent, Follower, FollowerOptions, LocalChain, NodeClient, NodeError};
use paraffin_primitives::Network;

use crate::chain_maker::{Chain, mine};
use crate::fake_node::{FakeNode, Reply, json_reply, ok};
use crate::local_chain::MemoryChain;

/// Long enough for several polls and at least one retry.
const A_WHILE: Duration = Duration::from_millis(700);

fn follow(client: NodeClient) -> Follower {
    Follower::new(client, FollowerOptions { prefetch: 8, spent_outputs: true, poll: Duration::from_millis(20) })
}

struct Followed {
    node: FakeNode,
    client: NodeClient,
    follower: Follower,
    local: MemoryChain,
}

impl Followed {
    fn start(node: FakeNode) -> Self {
        let client = node.client();
        Self { node, follower: follow(client.clone()), client, local: MemoryChain::default() }
    }

    /// A follower that has reached the tip of `chain`.
    async fn synced(chain: &Chain) -> Self {
        let mut followed = Self::start(FakeNode::start(chain.clone()).await);
        followed.reaches(chain).await;
        followed
    }

    async fn reaches(&mut self, chain: &Chain) {
        assert_eq!(self.local.sync(&mut self.follower).await, Ok(chain.height()));
        assert_eq!(self.local.hashes, chain.blocks.iter().map(bitcoin::Block::block_hash).collect::<Vec<_>>());
    }

    async fn is_left_alone(&mut self) -> bool {
        self.local.is_left_alone(&mut self.follower, A_WHILE).await
    }

    fn error(&self) -> String {
        self.client.status().borrow().error.clone().unwrap_or_default()
    }
}

#[tokio::test]
async fn blocks_come_in_order_from_the_genesis_with_txids_offsets_and_spent_outputs() {
    let chain = Chain::new(30);
    let followed = Followed::synced(&chain).await;
    assert_eq!(followed.follower.best_header(), followed.local.tip());
    assert_eq!(followed.local.connected.len(), 31);
    for (height, connected) in followed.local.connected.iter().enumerate() {
        let block = &chain.blocks[height];
        let bytes = serialize(block);
        assert_eq!(&connected.block, block);
        assert_eq!(connected.size as usize, bytes.len());
        assert_eq!(connected.txids, block.txdata.iter().map(bitcoin::Transaction::compute_txid).collect::<Vec<_>>());
        for (offset, transaction) in connected.offsets.iter().zip(&block.txdata) {
            let encoded = serialize(transaction);
            assert_eq!(&bytes[*offset as usize..][..encoded.len()], encoded);
        }
        assert_eq!(connected.offsets.len(), block.txdata.len());
        assert_eq!(connected.spent, Some(chain.spent(height as u32)));
    }
    assert_eq!(followed.client.status().borrow().height, Some(30));
}

#[tokio::test]
async fn without_rest_the_same_blocks_come_without_spent_outputs() {
    let chain = Chain::new(1100);
    let node = FakeNode::start(chain.clone()).await;
    node.state.lock().serves_rest = false;
    let mut followed = Followed::start(node);
    followed.reaches(&chain).await;
    assert!(followed.local.connected.iter().all(|block| block.spent.is_none()));
    let other = chain.fork(1090, 20, 1);
    followed.node.set_chain(&other);
    followed.reaches(&other).await;
    assert_eq!(followed.local.disconnected.len(), 10);
}

#[tokio::test]
async fn more_headers_than_one_answer_holds_are_followed() {
    let chain = Chain::new(4100);
    let mut followed = Followed::start(FakeNode::start(chain.clone()).await);
    let first = followed.follower.next(&followed.local).await.unwrap();
    assert!(matches!(&first, ChainEvent::Connect(block) if block.id.height == 0));
    assert_eq!(followed.follower.best_header().unwrap().hash, chain.tip(), "headers first");
    followed.local.apply(first);
    for height in 1..50 {
        let event = followed.follower.next(&followed.local).await.unwrap();
        assert!(matches!(&event, ChainEvent::Connect(block) if block.id.height == height));
        followed.local.apply(event);
    }
}

#[tokio::test]
async fn spent_outputs_that_do_not_fit_the_block_are_left_out() {
    let chain = Chain::new(10);
    let node = FakeNode::start(chain.clone()).await;
    // One list too few; one output too few; outputs that are worth less than what they pay for.
    let wrong: [Vec<u8>; 3] = [vec![1, 0], vec![2, 0, 0], vec![2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]];
    let mut turn = 0;
    node.hook(move |seen, _| {
        turn += 1;
        seen.what.starts_with("/rest/spenttxouts").then(|| ok(wrong[turn % 3].clone()))
    });
    let mut followed = Followed::start(node);
    followed.reaches(&chain).await;
    assert!(followed.local.connected[2..].iter().all(|block| block.spent.is_none()));
}

#[tokio::test]
async fn reorgs_of_depth_1_10_and_100_disconnect_down_to_the_fork_and_connect_the_other_branch() {
    for depth in [1, 10, 100] {
        let chain = Chain::new(120);
        let mut followed = Followed::synced(&chain).await;
        let other = chain.fork(120 - depth, depth + 1, 1);
        followed.node.set_chain(&other);
        followed.reaches(&other).await;
        assert_eq!(followed.local.disconnected.len() as u32, depth);
        assert_eq!(followed.local.connected.len() as u32, 121 + depth + 1);
    }
}

#[tokio::test]
async fn a_reorg_down_to_the_genesis_keeps_only_the_genesis() {
    let chain = Chain::new(20);
    let mut followed = Followed::synced(&chain).await;
    let other = chain.fork(0, 25, 1);
    followed.node.set_chain(&other);
    followed.reaches(&other).await;
    assert_eq!(followed.local.disconnected.len(), 20);
}

#[tokio::test]
async fn a_restart_with_a_stale_tip_finds_the_fork() {
    for stale in [1, 2, 3, 7, 50] {
        let chain = Chain::new(60);
        let mut followed = Followed::synced(&chain).await;
        let other = chain.fork(60 - stale, stale + 3, 1);
        followed.node.set_chain(&other);
        followed.follower = follow(followed.client.clone());
        followed.reaches(&other).await;
        assert_eq!(followed.local.disconnected.len() as u32, stale);
    }
}

#[tokio::test]
async fn the_best_chain_may_change_while_blocks_are_fetched() {
    let chain = Chain::new(200);
    let other = chain.fork(50, 160, 1);
    let node = FakeNode::start(chain.clone()).await;
    let (mut blocks, switched) = (0, other.clone());
    node.hook(move |seen, state| {
        blocks += usize::from(seen.what.starts_with("/rest/block/"));
        if blocks == 100 && state.chain.tip() != switched.tip() {
            state.set_chain(switched.clone());
        }
        None
    });
    let mut followed = Followed::start(node);
    followed.reaches(&other).await;
    // And back again, while the first switch is half done.
    let back = chain.fork(200, 50, 2);
    followed.node.set_chain(&back);
    let event = followed.follower.next(&followed.local).await.unwrap();
    assert!(matches!(event, ChainEvent::Disconnect(_)));
    followed.local.apply(event);
    let onward = other.fork(210, 60, 3);
    followed.node.set_chain(&onward);
    followed.reaches(&onward).await;
}

#[tokio::test]
async fn invalidated_blocks_are_undone_although_less_work_remains() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    let shorter = Chain { blocks: chain.blocks[..=22].to_vec() };
    followed.node.set_chain(&shorter);
    followed.reaches(&shorter).await;
    assert_eq!(followed.local.disconnected.len(), 8);
    // A branch of the same length counts, too, once the node has dropped the old one.
    let same = chain.fork(20, 2, 5);
    followed.node.set_chain(&same);
    followed.reaches(&same).await;
}

#[tokio::test]
async fn a_node_that_still_connects_its_headers_is_waited_for() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    let behind = Chain { blocks: chain.blocks[..=12].to_vec() };
    followed.node.set_chain(&behind);
    followed.node.state.lock().headers_ahead = 18;
    assert!(followed.is_left_alone().await);
    assert!(followed.error().contains("catch up"), "{}", followed.error());
    followed.node.state.lock().headers_ahead = 0;
    followed.node.set_chain(&chain);
    assert!(followed.is_left_alone().await, "the tip has been reported already");
    assert_eq!(followed.error(), "");
    assert!(followed.local.disconnected.is_empty());
}

#[tokio::test]
async fn a_node_that_never_saw_our_tip_must_have_more_work() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    for height in 21..=30 {
        followed.node.state.lock().unknown.insert(chain.hash(height));
    }
    for weaker in [chain.fork(20, 5, 1), chain.fork(20, 10, 1)] {
        followed.node.set_chain(&weaker);
        assert!(followed.is_left_alone().await, "not more work: {}", weaker.height());
        assert!(followed.error().contains("without more work"), "{}", followed.error());
    }
    let stronger = chain.fork(20, 11, 1);
    followed.node.set_chain(&stronger);
    followed.reaches(&stronger).await;
}

#[tokio::test]
async fn a_branch_with_a_header_without_work_is_never_followed() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    let mut other = chain.fork(25, 10, 1);
    let last = other.blocks.last_mut().unwrap();
    while last.header.target().is_met_by(last.block_hash()) {
        last.header.nonce += 1;
    }
    followed.node.set_chain(&other);
    assert!(followed.is_left_alone().await);
    assert!(followed.error().contains("proof of work"), "{}", followed.error());
    assert_eq!(followed.local.tip().unwrap().hash, chain.tip());
    let good = chain.fork(25, 11, 2);
    followed.node.set_chain(&good);
    followed.reaches(&good).await;
}

#[tokio::test]
async fn a_branch_whose_blocks_are_bad_is_never_switched_to() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    let mut other = chain.fork(28, 1, 1);
    let mut bad = other.next_block(1);
    bad.txdata[1].input[0].witness = bitcoin::Witness::from_slice(&[[9u8; 64]]);
    other.blocks.push(mine(bad));
    other.extend(3, 1);
    followed.node.set_chain(&other);
    assert!(followed.is_left_alone().await);
    assert!(followed.error().contains("witness commitment"), "{}", followed.error());
    assert_eq!(followed.local.tip().unwrap().hash, chain.tip());
    assert!(followed.local.disconnected.is_empty());
}

#[tokio::test]
async fn a_branch_that_is_abandoned_before_it_is_connected_may_vanish() {
    let chain = Chain::new(200);
    let other = chain.fork(20, 190, 1);
    let mut followed = Followed::start(FakeNode::start(chain.clone()).await);
    for _ in 0..50 {
        let event = followed.follower.next(&followed.local).await.unwrap();
        followed.local.apply(event);
    }
    followed.node.state.lock().unknown.extend((50..=200).map(|height| chain.hash(height)));
    followed.node.set_chain(&other);
    followed.reaches(&other).await;
    assert!(followed.local.connected.len() < 280, "the abandoned branch was not connected to its end");
}

#[tokio::test]
async fn a_block_whose_witnesses_were_stripped_is_refused() {
    let chain = Chain::new(10);
    let node = FakeNode::start(chain.clone()).await;
    node.hook(|seen, state| {
        let mut block = state.chain.blocks[5].clone();
        for input in block.txdata.iter_mut().flat_map(|transaction| &mut transaction.input) {
            input.witness.clear();
        }
        (seen.what == format!("/rest/block/{}.bin", block.block_hash())).then(|| ok(serialize(&block)))
    });
    let mut followed = Followed::start(node);
    let stuck = tokio::time::timeout(A_WHILE, followed.local.sync(&mut followed.follower)).await;
    assert!(stuck.is_err());
    assert_eq!(followed.local.hashes.len(), 5);
    assert!(followed.error().contains("witness commitment"), "{}", followed.error());
}

#[tokio::test]
async fn an_invalid_response_is_recovered_from_once_the_node_responds_correctly() {
    let chain = Chain::new(20);
    let node = FakeNode::start(chain.clone()).await;
    let wrong = serialize(&chain.blocks[3]);
    let mut faults = 2;
    node.hook(move |seen, state| {
        let path = format!("/rest/block/{}.bin", state.chain.hash(10));
        (seen.what == path && std::mem::replace(&mut faults, 0) > 0).then(|| ok(wrong.clone()))
    });
    let mut followed = Followed::start(node);
    followed.reaches(&chain).await;
    assert_eq!(followed.error(), "");
}

#[tokio::test]
async fn headers_that_do_not_link_are_refused() {
    let chain = Chain::new(20);
    let node = FakeNode::start(chain.clone()).await;
    let broken: Vec<u8> = [0, 1, 3].iter().flat_map(|height| serialize(&chain.blocks[*height].header)).collect();
    node.hook(move |seen, _| seen.what.starts_with("/rest/headers").then(|| ok(broken.clone())));
    let mut followed = Followed::start(node);
    assert!(followed.is_left_alone().await);
    assert!(followed.error().contains("follows"), "{}", followed.error());
    followed.node.unhook();
    followed.reaches(&chain).await;
}

#[tokio::test]
async fn an_outage_is_reported_and_survived() {
    let mut chain = Chain::new(20);
    let mut followed = Followed::synced(&chain).await;
    followed.node.stop().await;
    assert!(followed.is_left_alone().await);
    assert!(!followed.client.status().borrow().reachable);
    assert!(followed.error().contains("cannot connect"), "{}", followed.error());
    chain.extend(5, 0);
    followed.node.set_chain(&chain);
    followed.node.restart().await;
    followed.reaches(&chain).await;
    assert!(followed.client.status().borrow().reachable);
    assert_eq!(followed.error(), "");
}

#[tokio::test]
async fn an_outage_in_the_middle_of_a_sync_loses_nothing() {
    let chain = Chain::new(60);
    let mut followed = Followed::start(FakeNode::start(chain.clone()).await);
    for _ in 0..10 {
        let event = followed.follower.next(&followed.local).await.unwrap();
        followed.local.apply(event);
    }
    followed.node.stop().await;
    // Blocks that are ready still come; then there are no events.
    while let Ok(event) = tokio::time::timeout(A_WHILE, followed.follower.next(&followed.local)).await {
        followed.local.apply(event.unwrap());
    }
    assert!(followed.local.hashes.len() < 61);
    followed.node.restart().await;
    followed.reaches(&chain).await;
    assert_eq!(followed.local.connected.len(), 61, "nothing came twice");
}

#[tokio::test]
async fn a_node_that_starts_later_is_waited_for() {
    let chain = Chain::new(5);
    let mut node = FakeNode::start(chain.clone()).await;
    node.stop().await;
    let directory = tempfile::tempdir().unwrap();
    let cookie = directory.path().join(".cookie");
    let client = node.client_with_cookie(cookie.clone());
    let mut follower = follow(client.clone());
    let mut local = MemoryChain::default();
    assert!(local.is_left_alone(&mut follower, A_WHILE).await);
    node.state.lock().credentials = Some("__cookie__:new".into());
    node.restart().await;
    std::fs::write(&cookie, "__cookie__:old").unwrap();
    assert!(local.is_left_alone(&mut follower, A_WHILE).await);
    assert!(client.status().borrow().error.as_ref().unwrap().contains("credentials"));
    std::fs::write(&cookie, "__cookie__:new").unwrap();
    let starting =
        serde_json::json!({"result": null, "error": {"code": -28, "message": "Loading wallet…"}, "id": null});
    node.hook(move |seen, _| (seen.what == "getblockchaininfo").then(|| json_reply(500, &starting)));
    assert!(local.is_left_alone(&mut follower, Duration::from_secs(3)).await);
    assert!(client.status().borrow().error.as_ref().unwrap().contains("Loading wallet"));
    node.unhook();
    assert_eq!(local.sync(&mut follower).await, Ok(5));
}

#[tokio::test]
async fn another_network_ends_the_follower_with_a_clear_text() {
    let node = FakeNode::start(Chain::new(5)).await;
    node.state.lock().chain_name = "test";
    let outcome = follow(node.client()).next(&MemoryChain::default()).await;
    let Err(NodeError::WrongNetwork(text)) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains("`test`") && text.contains("change `network`"), "{text}");
}

#[tokio::test]
async fn chains_without_a_common_block_are_another_network() {
    let mut foreign = Chain::new(0);
    foreign.blocks[0].header.time += 1;
    foreign.blocks[0] = mine(foreign.blocks[0].clone());
    foreign.extend(5, 0);
    let node = FakeNode::start(foreign.clone()).await;
    let outcome = follow(node.client()).next(&MemoryChain::default()).await;
    assert!(matches!(outcome, Err(NodeError::WrongNetwork(_))), "{outcome:?}");

    let hashes = Chain::new(9).blocks.iter().map(bitcoin::Block::block_hash).collect();
    let local = MemoryChain { hashes, ..MemoryChain::default() };
    let outcome = follow(node.client()).next(&local).await;
    let Err(NodeError::WrongNetwork(text)) = outcome else { panic!("{outcome:?}") };
    assert!(text.contains(&foreign.hash(0).to_string()), "{text}");
}

#[tokio::test]
async fn a_missing_block_of_a_pruned_node_is_reported() {
    let chain = Chain::new(20);
    let node = FakeNode::start(chain.clone()).await;
    node.state.lock().pruned_below = 10;
    let mut followed = Followed::start(node);
    assert!(followed.is_left_alone().await);
    assert!(followed.error().contains("pruned block 0:"), "{}", followed.error());
    assert!(followed.error().contains("snapshot"), "{}", followed.error());
}

#[tokio::test]
async fn synced_is_reported_once_for_a_tip_and_a_new_block_is_detected() {
    let mut chain = Chain::new(3);
    let mut followed = Followed::synced(&chain).await;
    assert!(followed.is_left_alone().await);
    chain.extend(1, 0);
    followed.node.set_chain(&chain);
    let event = followed.follower.next(&followed.local).await.unwrap();
    assert!(matches!(&event, ChainEvent::Connect(block) if block.id.height == 4));
    followed.local.apply(event);
    followed.reaches(&chain).await;
}

#[tokio::test]
async fn an_event_that_is_not_applied_comes_again() {
    let chain = Chain::new(12);
    let mut followed = Followed::start(FakeNode::start(chain.clone()).await);
    for _ in 0..3 {
        let event = followed.follower.next(&followed.local).await.unwrap();
        assert!(matches!(&event, ChainEvent::Connect(block) if block.id.height == 0));
    }
    followed.reaches(&chain).await;
    followed.node.set_chain(&chain.fork(8, 9, 1));
    for _ in 0..3 {
        let event = followed.follower.next(&followed.local).await.unwrap();
        assert!(matches!(&event, ChainEvent::Disconnect(id) if id.height == 12));
    }
}

#[tokio::test]
async fn a_wait_that_is_cancelled_at_any_time_loses_nothing() {
    let chain = Chain::new(80);
    let other = chain.fork(60, 30, 1);
    let mut followed = Followed::start(FakeNode::start(chain.clone()).await);
    for target in [&chain, &other] {
        followed.node.set_chain(target);
        followed.node.hook(|_, _| Some(Reply::Later(Duration::from_millis(1))));
        let mut patience = 0;
        while followed.local.tip().is_none_or(|tip| tip.hash != target.tip()) {
            // Longer and longer, so that in the end even the longest step fits.
            patience += 1;
            let wait = Duration::from_micros(500 * patience);
            if let Ok(event) = tokio::time::timeout(wait, followed.follower.next(&followed.local)).await {
                followed.local.apply(event.unwrap());
            }
            assert!(patience < 20_000);
        }
    }
    assert_eq!(followed.local.connected.len(), 81 + 30);
    assert_eq!(followed.local.disconnected.len(), 20);
}

#[tokio::test]
async fn no_more_blocks_are_fetched_ahead_than_allowed() {
    let node = FakeNode::start(Chain::new(100)).await;
    let most = Arc::new(AtomicUsize::new(0));
    let client = node.client();
    let options = FollowerOptions { prefetch: 3, spent_outputs: false, poll: Duration::from_mins(1) };
    let mut follower = Follower::new(client, options);
    let mut local = MemoryChain::default();
    for height in 0..20 {
        let event = follower.next(&local).await.unwrap();
        local.apply(event);
        tokio::time::sleep(Duration::from_millis(5)).await;
        most.fetch_max(node.count("/rest/block/") - height, Ordering::Relaxed);
    }
    assert_eq!(most.load(Ordering::Relaxed), 3);
    assert_eq!(node.count("/rest/spenttxouts"), 0, "not requested");
}

#[tokio::test]
async fn a_slow_block_does_not_change_the_order() {
    let chain = Chain::new(40);
    let node = FakeNode::start(chain.clone()).await;
    let mut turn = 0u64;
    node.hook(move |seen, _| {
        turn += 1;
        seen.what.starts_with("/rest/block/").then(|| Reply::Later(Duration::from_millis(turn * 7 % 20)))
    });
    let mut followed = Followed::start(node);
    followed.reaches(&chain).await;
}

#[tokio::test]
async fn a_local_chain_that_was_rolled_back_is_followed_again() {
    let chain = Chain::new(30);
    let mut followed = Followed::synced(&chain).await;
    followed.local.hashes.truncate(11);
    followed.reaches(&chain).await;
    followed.local.hashes.clear();
    followed.reaches(&chain).await;
}

#[tokio::test]
async fn a_tip_that_no_node_ever_had_is_kept_until_there_is_more_work() {
    let chain = Chain::new(10);
    let node = FakeNode::start(chain.clone()).await;
    let mut followed = Followed::start(node);
    followed.reaches(&chain).await;
    followed.local.hashes.push(BlockHash::from_byte_array([7; 32]));
    assert!(followed.is_left_alone().await);
    let longer = chain.fork(10, 2, 1);
    followed.node.set_chain(&longer);
    followed.reaches(&longer).await;
}

#[tokio::test]
async fn defaults_follow_the_network() {
    assert_eq!(FollowerOptions::for_network(Network::Mainnet).poll, Duration::from_secs(1));
    assert_eq!(FollowerOptions::for_network(Network::Regtest).poll, Duration::from_millis(200));
}

/// A follower with a polling interval of a minute, at the tip of a chain.
async fn synced_patiently(chain: &Chain) -> Followed {
    let node = FakeNode::start(chain.clone()).await;
    let client = node.client();
    let options = FollowerOptions { prefetch: 8, spent_outputs: true, poll: Duration::from_mins(1) };
    let follower = Follower::new(client.clone(), options);
    let mut followed = Followed { node, client, follower, local: MemoryChain::default() };
    followed.reaches(chain).await;
    followed
}

#[tokio::test]
async fn an_announced_block_is_fetched_at_once() {
    let mut chain = Chain::new(10);
    let Followed { node, client, mut follower, local } = synced_patiently(&chain).await;
    let mut next = follower.next(&local);
    assert!(tokio::time::timeout(A_WHILE, &mut next).await.is_err(), "there is nothing new");
    chain.extend(1, 0);
    node.set_chain(&chain);
    assert!(tokio::time::timeout(A_WHILE, &mut next).await.is_err(), "the block has not been announced");
    client.clone().announce_block();
    let event = tokio::time::timeout(Duration::from_secs(20), next).await.unwrap();
    assert!(matches!(event, Ok(ChainEvent::Connect(block)) if block.id.height == 11));
}

#[tokio::test]
async fn a_flood_of_announcements_causes_few_queries() {
    let chain = Chain::new(10);
    let mut followed = synced_patiently(&chain).await;
    let before = followed.node.count("getbestblockhash");
    let client = followed.client.clone();
    let flood = tokio::spawn(async move {
        loop {
            client.announce_block();
            tokio::task::yield_now().await;
        }
    });
    assert!(followed.is_left_alone().await);
    flood.abort();
    let queries = followed.node.count("getbestblockhash") - before;
    // Once in 50 ms.
    assert!((3..=16).contains(&queries), "{queries} queries in {A_WHILE:?}");
}
