//! What OPI publishes of itself in its README and its settings: the hashes, and the heights of mainnet.

use bitcoin::hex::DisplayHex as _;
use paraffin_primitives::Network;

use super::scene::{Scene, deploy, mint, moved, moved_to, reveal, script, transfer};
use crate::brc20::{BlockHashes, Rules};
use crate::event::Destination;

/// The event strings of three blocks were written down by hand, and hashed by a script that follows the pseudocode of the README
/// line by line: each string with `|` behind it, the last one cut off, the hash of nothing for the block in the middle.
#[test]
fn hashes_of_three_blocks_are_those_of_the_published_pseudocode() {
    let mut scene = Scene::default();
    let blocks = [
        vec![
            reveal(1, script(1), deploy("OrDi", r#""max":"1000","lim":"100.50","dec":"2""#).as_bytes()),
            reveal(2, script(2), mint("ORDI", "100.5").as_bytes()),
            reveal(3, script(2), transfer("ordi", "0.5").as_bytes()),
            reveal(4, script(2), transfer("oRDI", "1").as_bytes()),
            moved_to(3, script(3)),
            moved(4, Destination::Fee),
        ],
        Vec::new(),
        vec![reveal(5, script(4), deploy("aaaa", r#""max":"21","dec":"0""#).as_bytes())],
    ];
    let expected = [
        (
            "e9f0b6d7d80328d350e15fd35682011d9d4e2424e02b049b2ae94052d0f306dd",
            "e9f0b6d7d80328d350e15fd35682011d9d4e2424e02b049b2ae94052d0f306dd",
        ),
        (
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "729f0121e0fd1641ee5277b31b0e1f1ecc922b8332e801af9ce0d8eaadb1416e",
        ),
        (
            "15d406b545aeb5f8bdd1cf430297cee1845d24fe4cfdc91b29882afe06addcf8",
            "ee9b95f15d5b0a0e6cd8bfa0553f19446dc63b7bd4a6064b8918bb3d9daf7c89",
        ),
    ];
    let mut before = None;
    for ((height, events), (block, cumulative)) in (10..).zip(&blocks).zip(expected) {
        let hashes = BlockHashes::of(before, &scene.block(height, events));
        assert_eq!(hashes.block.to_lower_hex_string(), block, "block {height}");
        assert_eq!(hashes.cumulative.to_lower_hex_string(), cumulative, "block {height}");
        before = Some(hashes.cumulative);
    }
}

fn mainnet() -> Scene {
    let mut scene = Scene::default();
    scene.rules = Some(Rules::of(Network::Mainnet));
    scene
}

#[test]
fn the_first_event_of_mainnet_is_in_block_779832_and_the_first_hash_in_block_767430() {
    let body = deploy("ordi", r#""max":"21000000","lim":"1000""#);
    assert!(!mainnet().counts(779_831, 1, &body));
    assert!(mainnet().counts(779_832, 1, &body));
    assert_eq!(Rules::of(Network::Mainnet).first_hash, 767_430);
}

#[test]
fn self_mint_begins_in_block_837090_of_mainnet() {
    let body = deploy("mines", r#""max":"0","self_mint":"true""#);
    assert!(!mainnet().counts(837_089, 1, &body));
    assert!(mainnet().counts(837_090, 1, &body));
}

#[test]
fn six_byte_tickers_begin_in_block_912690_of_mainnet_and_predeploys_ten_blocks_before() {
    let predeploy = r#"{"p":"brc-20","op":"predeploy","hash":"00"}"#;
    assert!(!mainnet().counts(912_679, 1, predeploy));
    assert!(mainnet().counts(912_680, 1, predeploy));
    // Only a name of six bytes can be the Kelvin sign and three letters.
    let mut scene = mainnet();
    assert!(scene.counts(779_832, 1, &deploy("kabc", r#""max":"10""#)));
    assert!(!scene.counts(912_689, 1, &mint("\u{212a}abc", "1")));
    assert!(scene.counts(912_690, 1, &mint("\u{212a}abc", "1")));
}
