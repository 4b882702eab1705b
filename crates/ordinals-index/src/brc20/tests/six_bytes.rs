use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::DisplayHex as _;

use super::scene::{Scene, child_of, deploy, reveal, script};
use crate::brc20::Amount;

fn announced(ticker: &str, salt: &[u8], who: u8) -> String {
    let salted = [ticker.as_bytes(), salt, script(who).as_bytes()].concat();
    let inner = sha256::Hash::hash(&salted).to_byte_array();
    sha256::Hash::hash(&inner).to_byte_array().to_lower_hex_string()
}

fn predeploy(hash: &str) -> String {
    format!(r#"{{"p":"brc-20","op":"predeploy","hash":"{hash}"}}"#)
}

/// A scene in which `Ticker` is announced with the salt `0abc` at a height; its inscription has number 1.
fn with_predeploy(height: u32) -> Scene {
    let mut scene = Scene::default();
    let body = predeploy(&announced("Ticker", &[0x0a, 0xbc], 1));
    assert_eq!(scene.block(height, &[reveal(1, script(1), body.as_bytes())]).len(), 1);
    scene
}

const REST: &str = r#""max":"100","salt":"0aBC""#;

fn deploys(scene: &mut Scene, height: u32, parent: Option<u32>, ticker: &str, rest: &str) -> bool {
    let event = reveal(2, script(3), deploy(ticker, rest).as_bytes());
    let event = match parent {
        Some(parent) => child_of(event, parent),
        None => event,
    };
    !scene.block(height, &[event]).is_empty()
}

#[test]
fn a_six_byte_ticker_needs_a_predeploy_as_its_parent_and_three_blocks() {
    let mut scene = with_predeploy(40);
    assert!(!deploys(&mut scene, 42, Some(1), "Ticker", REST));
    assert!(!deploys(&mut scene, 43, None, "Ticker", REST));
    assert!(!deploys(&mut scene, 43, Some(9), "Ticker", REST));
    // The script that announced it, not the one that deploys it, is part of the hash.
    assert!(deploys(&mut scene, 43, Some(1), "Ticker", REST));
    let token = scene.token("ticker");
    assert_eq!((token.ticker.original(), token.is_self_mint, token.deployed_at), ("Ticker", false, 43));
}

#[test]
fn the_hash_binds_spelling_salt_and_script() {
    for (ticker, rest) in [
        ("ticker", REST),
        ("Ticker", r#""max":"100","salt":"0abd""#),
        ("Ticker", r#""max":"100","salt":"abc""#),
        ("Ticker", r#""max":"100","salt":"zz""#),
        ("Ticker", r#""max":"100","salt":7"#),
        ("Ticker", r#""max":"100""#),
    ] {
        assert!(!deploys(&mut with_predeploy(40), 50, Some(1), ticker, rest), "{ticker} {rest}");
    }
    let mut scene = Scene::default();
    let stolen = predeploy(&announced("Ticker", &[0x0a, 0xbc], 1));
    scene.block(40, &[reveal(1, script(2), stolen.as_bytes())]);
    assert!(!deploys(&mut scene, 50, Some(1), "Ticker", REST));
}

#[test]
fn six_bytes_come_with_their_height_and_predeploys_ten_blocks_before() {
    let body = predeploy("anything; even |this|");
    assert!(!Scene::default().counts(29, 1, &body));
    let (_, events) = Scene::default().inscribe(30, 1, &body);
    assert!(events[0].canonical().ends_with(";anything; even |this|;30"));
    assert!(!deploys(&mut with_predeploy(30), 39, Some(1), "Ticker", REST));
    assert!(deploys(&mut with_predeploy(30), 40, Some(1), "Ticker", REST));
}

#[test]
fn a_six_byte_token_may_be_minted_by_all_or_by_its_deployer_alone() {
    let mut scene = with_predeploy(40);
    assert!(deploys(&mut scene, 43, Some(1), "Ticker", r#""max":"0","salt":"0abc","self_mint":"true""#));
    let token = scene.token("ticker");
    assert_eq!((token.is_self_mint, token.max_supply), (true, Amount::MAX));
    assert!(!deploys(&mut with_predeploy(40), 43, Some(1), "Ticker", r#""max":"0","salt":"0abc""#));
}

#[test]
fn a_predeploy_without_a_text_as_its_hash_does_not_count() {
    for body in [r#"{"p":"brc-20","op":"predeploy"}"#, r#"{"p":"brc-20","op":"predeploy","hash":5}"#] {
        assert!(!Scene::default().counts(40, 1, body), "{body}");
    }
}
