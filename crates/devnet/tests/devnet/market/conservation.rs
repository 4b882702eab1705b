//! After every block of the market nothing has appeared or vanished, for any seed and through reorganizations.

use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{ScriptBuf, WScriptHash};
use paraffin_devnet::market::{DIESEL, Market, MarketError, WRAPPED_BITCOIN};
use paraffin_devnet::{ACCOUNT_NAMES, Devnet, DevnetOptions, Node, OutputKind, Wallet};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

use super::ledger::Ledger;

/// First height at which the founding is over, so that a reorganisation cannot take its steps away.
const FOUNDED: u32 = 116;

/// A script without an owner, so that a block that was dropped is not made again.
fn elsewhere(random: &mut ChaCha8Rng) -> ScriptBuf {
    let mut hash = [0; 32];
    random.fill_bytes(&mut hash);
    ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash))
}

fn run(seed: u64, blocks: u32, with_reorganisations: bool) -> Ledger {
    let node = Node::new(None);
    let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
    let mut market = Market::new(seed, Arc::clone(&wallet));
    let mut ledger = Ledger::new();
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x00c0_ffee);
    let mut rounds = 0;
    while node.tip().height < blocks {
        rounds += 1;
        assert!(rounds < 4 * blocks, "the chain does not grow");
        market.observe(&node).unwrap();
        let height = node.tip().height;
        match market.step(&node) {
            Ok(_) => {}
            // Orders of a dropped block wait again, and a new one of the same trader can get in their way.
            Err(MarketError::Refused(_)) if with_reorganisations => {}
            Err(error) => panic!("seed {seed}, block {height}: {error}"),
        }
        node.mine_block(&wallet.script(0, OutputKind::Taproot)).unwrap();
        ledger.follow(&node);
        if with_reorganisations && height > FOUNDED && random.next_u32() % 5 == 0 {
            let depth = 1 + random.next_u32() % (height - FOUNDED).min(6);
            node.invalidate(&node.block_hash(node.tip().height + 1 - depth).unwrap()).unwrap();
            for _ in 0..=depth {
                node.mine_block(&elsewhere(&mut random)).unwrap();
            }
            ledger.follow(&node);
        }
    }
    let reckoning = &ledger.now().reckoning;
    assert!(
        reckoning.succeeded > 40 && reckoning.failed > 0,
        "seed {seed}: {} {}",
        reckoning.succeeded,
        reckoning.failed
    );
    let minted = &reckoning.books.minted;
    assert!(minted.len() > 8 && minted.contains_key(&DIESEL) && minted.contains_key(&WRAPPED_BITCOIN), "{minted:?}");
    ledger
}

#[test]
fn nothing_appears_or_vanishes_in_the_market_of_any_seed() {
    for seed in [1, 2, 3, 0xdead_beef, u64::MAX] {
        run(seed, 150, false);
    }
}

#[test]
fn nothing_appears_or_vanishes_when_the_chain_turns() {
    for seed in [11, 12, 13] {
        run(seed, 150, true);
    }
}

#[tokio::test]
async fn nothing_appears_or_vanishes_in_the_whole_devnet_and_who_inscribes_spends_no_alkanes() {
    for seed in [1, 4] {
        let devnet = Devnet::start(DevnetOptions { seed, ..DevnetOptions::default() }).await.unwrap();
        assert!(devnet.inscribers().rune.is_some());
        let mut ledger = Ledger::new();
        ledger.follow(&devnet.node());
        assert!(!ledger.now().reckoning.books.minted.is_empty());
        assert!(ledger.now().lost.is_empty(), "seed {seed}: {:?}", ledger.now().lost);
    }
}
