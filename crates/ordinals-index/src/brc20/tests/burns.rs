use bitcoin::ScriptBuf;

use super::scene::{ONE, Scene, balance, deploy, moved_to, rules, script, transfer, with_ordi};
use crate::brc20::{Amount, Brc20Event, Rules, SwapRefund};

fn bytes(script: &[u8]) -> ScriptBuf {
    ScriptBuf::from(script.to_vec())
}

fn sent_to(target: &ScriptBuf) -> Scene {
    let mut scene = with_ordi(1);
    let (number, _) = scene.inscribe(11, 1, &transfer("ordi", "60"));
    assert_eq!(scene.block(12, &[moved_to(number, target.clone())]).len(), 1);
    scene
}

#[test]
fn a_bare_op_return_burns() {
    let target = bytes(&[0x6a]);
    let scene = sent_to(&target);
    let token = scene.token("ordi");
    assert_eq!((token.burned, token.minted(), token.holders), (Amount(60 * ONE), Amount(100 * ONE), 1));
    assert_eq!(scene.balance(1, "ordi"), balance(40 * ONE, 40 * ONE));
    assert!(!scene.ledger.balances.contains_key(&target));
    // What is burned cannot be minted again.
    assert_eq!(token.remaining, Amount(900 * ONE));
}

#[test]
fn the_address_of_the_programmable_module_burns_because_it_is_switched_off() {
    let scene = sent_to(&bytes(b"\x6a\x09BRC20PROG"));
    assert_eq!(scene.token("ordi").burned, Amount(60 * ONE));
}

#[test]
fn any_other_op_return_script_becomes_the_owner() {
    let target = bytes(b"\x6a\x01x");
    let scene = sent_to(&target);
    assert_eq!(scene.token("ordi").burned, Amount::ZERO);
    assert_eq!(scene.ledger.balances[&target]["ordi"], balance(60 * ONE, 60 * ONE));
}

#[test]
fn the_swap_module_is_refunded_once_at_its_height_before_anything_else() {
    let module = bytes(b"\x6a\x04swap");
    let mut scene = sent_to(&module);
    assert!(scene.counts(12, 1, &deploy("ABCD", r#""max":"10""#)));
    assert!(scene.counts(12, 5, &super::scene::mint("abcd", "10")));
    let (number, _) = scene.inscribe(12, 5, &transfer("abcd", "10"));
    scene.block(12, &[moved_to(number, module.clone())]);
    let refund = SwapRefund { height: 30, module: module.clone(), receiver: script(9) };
    scene.rules = Some(Rules { swap_refund: Some(refund), ..rules() });

    let (_, events) = scene.inscribe(30, 9, &transfer("ordi", "60"));
    let texts: Vec<_> = events.iter().map(Brc20Event::canonical).collect();
    let (from, to) = ("6a0473776170", format!("0014{}", "09".repeat(20)));
    let id = |ticker: &str| format!("425243323053574150524546554e44{ticker}{}i0", "0".repeat(26));
    assert_eq!(texts.len(), 5);
    assert_eq!(texts[0], format!("transfer-inscribe;{};{from};abcd;ABCD;10.000000000000000000", id("61626364")));
    assert_eq!(texts[1], format!("transfer-transfer;{};{from};{to};abcd;ABCD;10.000000000000000000", id("61626364")));
    assert_eq!(texts[2], format!("transfer-inscribe;{};{from};ordi;ordi;60.000000000000000000", id("6f726469")));
    assert!(texts[3].starts_with("transfer-transfer;"));
    // The receiver could use it in the same block already.
    assert!(texts[4].ends_with(";ordi;ordi;60.000000000000000000"));
    assert_eq!(scene.ledger.balances[&module]["ordi"], balance(0, 0));
    assert_eq!(scene.balance(9, "abcd"), balance(10 * ONE, 10 * ONE));
    assert!(scene.block(31, &[]).is_empty());
}
