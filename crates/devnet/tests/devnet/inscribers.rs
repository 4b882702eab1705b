//! The inscribers have made all samples at height 110, and go on from there.

use std::collections::BTreeSet;

use bitcoin::Transaction;
use ordinals::{Artifact, Runestone};
use paraffin_devnet::{Devnet, DevnetOptions};

async fn start(seed: u64, blocks: u32) -> Devnet {
    Devnet::start(DevnetOptions { seed, blocks, ..DevnetOptions::default() }).await.unwrap()
}

fn transactions(devnet: &Devnet) -> Vec<Transaction> {
    let node = devnet.node();
    let blocks = (1..=devnet.tip().height).map(|height| node.block(&node.block_hash(height).unwrap()).unwrap());
    blocks.flat_map(|block| block.txdata[1..].to_vec()).collect()
}

#[tokio::test]
async fn everything_is_made_and_confirmed_by_height_110_whatever_the_seed() {
    for seed in [1, 2, 99] {
        let devnet = start(seed, 110).await;
        let summary = devnet.inscribers();
        assert_eq!((summary.rune.as_deref(), summary.ticker), (Some("PARAFFIN•CANDLES"), Some("wick")));
        let kinds: Vec<&str> = summary.inscriptions.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            [
                "text",
                "image",
                "metadata",
                "brc20_deploy",
                "child",
                "delegate",
                "reinscription",
                "transferred",
                "brc20_transfer",
                "brc20_pending",
                "rune",
                "last"
            ]
        );
        let transactions = transactions(&devnet);
        let confirmed: BTreeSet<_> = transactions.iter().map(Transaction::compute_txid).collect();
        assert!(summary.inscriptions.iter().all(|(_, txid)| confirmed.contains(txid)));
        let minted = |transaction: &&Transaction| {
            matches!(Runestone::decipher(transaction), Some(Artifact::Runestone(Runestone { mint: Some(_), .. })))
        };
        assert!(transactions.iter().filter(minted).count() >= 3);
    }
}

#[tokio::test]
async fn a_shorter_chain_has_less_and_nothing_fails() {
    for blocks in [0, 100, 101, 102, 106] {
        let devnet = start(1, blocks).await;
        let summary = devnet.inscribers();
        assert_eq!(summary.rune, None);
        assert_eq!(summary.ticker.is_some(), blocks >= 102, "{blocks}");
    }
}

#[tokio::test]
async fn inscriptions_and_mints_go_on_after_the_founding() {
    let (short, long) = (start(3, 110).await, start(3, 160).await);
    assert_eq!(short.inscribers(), long.inscribers());
    let later = transactions(&long).split_off(transactions(&short).len());
    let contains = |text: &[u8]| {
        let has = |transaction: &&Transaction| {
            let witness = transaction.input.first().and_then(|input| input.witness.nth(1));
            witness.is_some_and(|script| script.windows(text.len()).any(|part| part == text))
        };
        later.iter().filter(has).count()
    };
    assert!(contains(b"Block ") >= 9 && contains(b"\"op\":\"mint\"") >= 9);
    let stones: Vec<Runestone> = later
        .iter()
        .filter_map(|transaction| match Runestone::decipher(transaction) {
            Some(Artifact::Runestone(stone)) => Some(stone),
            _ => None,
        })
        .collect();
    assert!(stones.iter().filter(|stone| stone.mint.is_some()).count() >= 9);
    assert!(stones.iter().filter(|stone| !stone.edicts.is_empty()).count() >= 9);
}
