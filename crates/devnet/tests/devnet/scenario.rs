//! The seeded chain: the same every time, with traffic of every kind and money on every account.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bitcoin::consensus::serialize;
use bitcoin::key::Secp256k1;
use bitcoin::{Address, Network, PrivateKey, XOnlyPublicKey};
use paraffin_devnet::{Devnet, DevnetOptions, NodeEvent, OutputKind};

async fn start(seed: u64, blocks: u32) -> Devnet {
    Devnet::start(DevnetOptions { seed, blocks, ..DevnetOptions::default() }).await.unwrap()
}

fn bytes(devnet: &Devnet) -> Vec<u8> {
    let node = devnet.node();
    (0..=devnet.tip().height)
        .flat_map(|height| node.block_bytes(&node.block_hash(height).unwrap()).unwrap().to_vec())
        .collect()
}

#[tokio::test]
async fn the_same_seed_makes_the_same_chain_byte_for_byte_and_another_seed_another() {
    let (one, two, other) = (start(1, 160).await, start(1, 160).await, start(2, 160).await);
    assert_eq!(one.tip(), two.tip());
    assert_eq!(bytes(&one), bytes(&two));
    assert_eq!(one.node().mempool_txids(), two.node().mempool_txids());
    assert_eq!(one.accounts(), two.accounts());
    assert_ne!(one.tip().hash, other.tip().hash);
    assert_ne!(one.accounts(), other.accounts());
    // What is mined on demand follows from the chain as well.
    let script = one.wallet().script(0, OutputKind::Taproot);
    one.node().mine(3, &script).unwrap();
    two.node().mine(3, &script).unwrap();
    assert_eq!(one.tip(), two.tip());
}

#[tokio::test]
async fn a_shorter_chain_is_the_beginning_of_a_longer_one() {
    let (short, long) = (start(5, 130).await, start(5, 140).await);
    assert_eq!(long.node().block_hash(130), Some(short.tip().hash));
}

#[tokio::test]
async fn every_account_has_money_and_the_chain_has_every_kind_of_traffic() {
    let devnet = start(1, 160).await;
    let node = devnet.node();
    assert_eq!(devnet.tip().height, 160);
    let accounts = devnet.accounts();
    let names: Vec<_> = accounts.iter().map(|account| account.name.as_str()).collect();
    assert_eq!(names, ["alice", "bob", "carol", "dave", "erin"]);
    for (index, account) in accounts.iter().enumerate() {
        let script = devnet.wallet().script(index, OutputKind::Taproot);
        assert_eq!(account.address.script_pubkey(), script);
        let key = PrivateKey::from_wif(&account.wif).unwrap();
        let internal = XOnlyPublicKey::from(key.public_key(&Secp256k1::new()).inner);
        let from_key = Address::p2tr(&Secp256k1::new(), internal, None, Network::Regtest);
        assert_eq!(from_key, account.address, "the key as exported owns the address");
        let mature = node.spendable(&HashSet::from([script]));
        let mature = mature.iter().filter(|(_, coin)| !coin.coinbase || coin.height <= 61);
        let balance: u64 = mature.map(|(_, coin)| coin.output.value.to_sat()).sum();
        assert!(balance > 10_000_000_000, "{}: {balance}", account.name);
    }
    let mut chain = Vec::new();
    for height in 1..=160 {
        chain.push(node.block(&node.block_hash(height).unwrap()).unwrap());
    }
    let transactions: Vec<_> = chain.iter().flat_map(|block| &block.txdata[1..]).collect();
    assert!(transactions.len() > 100, "{}", transactions.len());
    let scripts: Vec<_> = transactions.iter().flat_map(|tx| &tx.output).map(|output| &output.script_pubkey).collect();
    assert!(scripts.iter().any(|script| script.is_p2wpkh()));
    assert!(scripts.iter().any(|script| script.is_p2pkh()));
    assert!(scripts.iter().any(|script| script.is_p2wsh()));
    assert!(scripts.iter().any(|script| script.is_p2sh()));
    assert!(scripts.iter().any(|script| script.is_op_return()));
    assert!(transactions.iter().any(|tx| tx.input.iter().any(|input| !input.script_sig.is_empty())), "legacy spends");
    assert!(transactions.iter().any(|tx| tx.input.len() >= 5), "consolidations");
    assert!(transactions.iter().any(|tx| tx.output.len() >= 5), "batches");
    let chained = chain.iter().any(|block| {
        let inside: HashSet<_> = block.txdata.iter().map(bitcoin::Transaction::compute_txid).collect();
        block.txdata[1..].iter().any(|tx| tx.input.iter().any(|input| inside.contains(&input.previous_output.txid)))
    });
    assert!(chained, "a chain of transactions inside one block");
    assert_eq!(node.mempool_txids().len(), 3, "pending transactions are left in the mempool");
    let sample = devnet.sample_txid().unwrap();
    assert!(transactions.iter().any(|tx| tx.compute_txid() == sample));
}

#[tokio::test]
async fn chains_of_any_length_start_and_the_shortest_have_no_sample() {
    for blocks in [0, 1, 50, 101] {
        let devnet = start(3, blocks).await;
        assert_eq!(devnet.tip().height, blocks);
        assert_eq!(devnet.sample_txid().is_some(), blocks > 0);
        assert!(serialize(&*devnet.node().block(&devnet.tip().hash).unwrap()).len() > 80);
        devnet.shutdown().await;
    }
}

#[tokio::test]
async fn replaced_transactions_reach_the_mempool_and_never_the_chain() {
    let devnet = Devnet::start(DevnetOptions { blocks: 110, pending_transactions: 0, ..DevnetOptions::default() });
    let devnet = devnet.await.unwrap();
    let node = devnet.node();
    let mut events = node.subscribe();
    let mut scenario = paraffin_devnet::Scenario::new(9, devnet.wallet());
    for height in 111..140 {
        scenario.step(&node).unwrap();
        node.mine_block(&scenario.miner_script(height)).unwrap();
    }
    let (mut announced, mut confirmed) = (HashSet::new(), HashSet::new());
    while let Ok(event) = events.try_recv() {
        match event {
            NodeEvent::Transaction(tx) => {
                announced.insert(tx.compute_txid());
            }
            NodeEvent::Chain { connected, .. } => {
                let block = node.block(&connected[0]).unwrap();
                confirmed.extend(block.txdata[1..].iter().map(bitcoin::Transaction::compute_txid));
            }
        }
    }
    assert!(confirmed.is_subset(&announced));
    assert!(announced.len() > confirmed.len(), "some were replaced");
    assert!(node.mempool_txids().is_empty());
}

#[tokio::test]
async fn with_an_interval_blocks_come_by_themselves_with_traffic_and_end_with_the_shutdown() {
    let options = DevnetOptions { blocks: 105, interval: Some(Duration::from_millis(20)), ..DevnetOptions::default() };
    let devnet = Devnet::start(options).await.unwrap();
    let node = devnet.node();
    let started = Instant::now();
    while node.tip().height < 115 {
        assert!(started.elapsed() < Duration::from_secs(30), "blocks come by themselves");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let with_traffic =
        (106..=115).filter(|height| node.block(&node.block_hash(*height).unwrap()).unwrap().txdata.len() > 1);
    assert!(with_traffic.count() > 3);
    let newest = node.block(&node.tip().hash).unwrap().header.time;
    assert!(newest > 1_750_000_000, "the clock dates the blocks");
    devnet.shutdown().await;
    let ended = node.tip();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(node.tip(), ended);
}

/// With its market, whose contracts run unoptimised here. `dev` has 15 seconds for everything (bar "start").
#[tokio::test]
async fn a_chain_of_160_blocks_is_there_within_six_seconds() {
    let started = Instant::now();
    let devnet = start(1, 160).await;
    let elapsed = started.elapsed();
    assert!(elapsed < Duration::from_secs(6), "{elapsed:?}");
    let started = Instant::now();
    devnet.shutdown().await;
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let first = start(1, 0).await;
    let taken = first.rpc_url().trim_start_matches("http://").parse().unwrap();
    let error = Devnet::start(DevnetOptions { rpc_listen: taken, ..DevnetOptions::default() }).await.unwrap_err();
    assert!(error.to_string().contains(&taken.to_string()), "{error}");
}
