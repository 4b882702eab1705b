use bitcoin::ScriptBuf;

use super::scene::{
    ONE, Scene, balance, id, mint, moved, moved_to, reveal, revealed_with, script, transfer, with_ordi,
};
use crate::brc20::{Action, Amount};
use crate::event::Destination;

/// An owner of 100 `ordi`, 60 of which inscription 3 has set aside.
fn with_note() -> Scene {
    let mut scene = with_ordi(1);
    let (number, events) = scene.inscribe(11, 1, &transfer("ordi", "60"));
    assert_eq!((number, events.len()), (3, 1));
    scene
}

#[test]
fn inscribing_a_transfer_sets_a_part_of_the_balance_aside() {
    let scene = with_note();
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 40 * ONE));
}

#[test]
fn a_transfer_above_the_available_balance_is_void_for_ever() {
    let mut scene = with_note();
    assert!(!scene.counts(11, 1, &transfer("ordi", "40.000000000000000001")));
    assert!(!scene.counts(11, 2, &transfer("ordi", "1")));
    assert!(scene.counts(11, 1, &mint("ordi", "100")));
    // Inscription 4 was void when it was revealed; that there is enough now changes nothing.
    assert!(scene.block(12, &[moved_to(4, script(2))]).is_empty());
}

#[test]
fn the_first_move_carries_the_transfer_out_and_further_moves_do_nothing() {
    let mut scene = with_note();
    let events = scene.block(12, &[moved_to(3, script(2))]);
    assert_eq!(events.len(), 1);
    assert_eq!(scene.balance(1, "ordi"), balance(40 * ONE, 40 * ONE));
    assert_eq!(scene.balance(2, "ordi"), balance(60 * ONE, 60 * ONE));
    assert!(scene.block(13, &[moved_to(3, script(3)), moved_to(3, script(1))]).is_empty());
    let token = scene.token("ordi");
    assert_eq!((token.holders, token.transfers, token.minted()), (2, 1, Amount(100 * ONE)));
}

#[test]
fn a_transfer_may_be_revealed_and_moved_in_one_block() {
    let mut scene = with_ordi(1);
    let body = transfer("ordi", "60");
    let events = scene.block(11, &[reveal(9, script(1), body.as_bytes()), moved_to(9, script(2))]);
    assert_eq!(events.len(), 2);
    assert_eq!(scene.balance(2, "ordi"), balance(60 * ONE, 60 * ONE));
}

#[test]
fn the_one_whose_balance_was_set_aside_pays_whoever_moves_the_inscription() {
    let mut scene = with_note();
    scene.block(12, &[moved_to(3, script(1))]);
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
    assert_eq!(scene.token("ordi").holders, 1);
}

#[test]
fn a_transfer_paid_as_a_fee_returns_to_its_sender_and_the_miner_gets_nothing() {
    let mut scene = with_note();
    // The coinbase's own event follows; it finds nothing left to carry out.
    let events = scene.block(12, &[moved(3, Destination::Fee), moved_to(3, script(200))]);
    let [event] = &events[..] else { panic!("{events:?}") };
    assert!(matches!(&event.action, Action::TransferTransfer { target: None, .. }));
    assert_eq!(
        event.canonical(),
        format!("transfer-transfer;{};0014{};;ordi;ordi;60.000000000000000000", id(3), "01".repeat(20))
    );
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
    assert_eq!(scene.balance(200, "ordi"), balance(0, 0));
    assert!(scene.block(13, &[moved_to(3, script(2))]).is_empty());
}

#[test]
fn a_transfer_whose_sat_is_lost_returns_to_its_sender() {
    let mut scene = with_note();
    scene.block(12, &[moved(3, Destination::Lost)]);
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
}

/// OPI keeps scripts as text and takes the empty one for a fee.
#[test]
fn a_transfer_to_the_empty_script_returns_to_its_sender() {
    let mut scene = with_note();
    let events = scene.block(12, &[moved_to(3, ScriptBuf::new())]);
    assert!(matches!(&events[0].action, Action::TransferTransfer { target: Some(target), .. } if target.is_empty()));
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
}

#[test]
fn the_order_of_inscribe_and_mint_decides() {
    let (mint, transfer) = (mint("ordi", "100"), transfer("ordi", "150"));
    let mint = || reveal(20, script(1), mint.as_bytes());
    let transfer = || reveal(21, script(1), transfer.as_bytes());
    assert_eq!(with_ordi(1).block(11, &[mint(), transfer()]).len(), 2);
    assert_eq!(with_ordi(1).block(11, &[transfer(), mint()]).len(), 1);
}

#[test]
fn the_order_of_two_transfers_decides_which_one_stands() {
    let (large, small) = (transfer("ordi", "80"), transfer("ordi", "30"));
    let large = || reveal(20, script(1), large.as_bytes());
    let small = || reveal(21, script(1), small.as_bytes());
    let first =
        |events: &[_]| -> Vec<_> { with_ordi(1).block(11, events).iter().map(|event| event.inscription).collect() };
    assert_eq!(first(&[large(), small()]), [id(20)]);
    assert_eq!(first(&[small(), large()]), [id(21)]);
}

#[test]
fn a_cursed_transfer_sets_nothing_aside_and_its_move_does_nothing() {
    let mut scene = with_ordi(1);
    let body = transfer("ordi", "60");
    let cursed = revealed_with(reveal(9, script(1), body.as_bytes()), |number, _, _, _| *number = -5);
    assert!(scene.block(11, &[cursed, moved_to(9, script(2))]).is_empty());
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
}

#[test]
fn a_transfer_keeps_the_spelling_of_its_own_inscription() {
    let mut scene = with_ordi(1);
    let (number, inscribed) = scene.inscribe(11, 1, &transfer("OrDi", "1"));
    let moved = scene.block(12, &[moved_to(number, script(2))]);
    for event in [&inscribed[0], &moved[0]] {
        assert!(event.canonical().contains(";ordi;OrDi;"), "{}", event.canonical());
    }
}
