use super::scene::{ONE, Scene, balance, child_of, deploy, mint, moved_to, reveal, script, with_ordi};
use crate::brc20::Amount;

#[test]
fn a_mint_gives_to_the_owner_of_the_reveal() {
    let scene = with_ordi(1);
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
    let token = scene.token("ordi");
    assert_eq!((token.minted(), token.holders, token.mints), (Amount(100 * ONE), 1, 1));
}

#[test]
fn a_mint_above_the_limit_is_void_and_not_cut() {
    let mut scene = with_ordi(1);
    assert!(!scene.counts(11, 1, &mint("ordi", "100.000000000000000001")));
    assert!(scene.counts(11, 1, &mint("ordi", "100")));
}

#[test]
fn the_last_mint_gets_what_is_left_and_then_none_counts() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"150","lim":"100""#)));
    assert!(scene.counts(10, 1, &mint("ordi", "100")));
    let (_, events) = scene.inscribe(10, 2, &mint("ordi", "100"));
    assert!(events[0].canonical().ends_with(";ordi;ordi;50.000000000000000000;"), "{}", events[0].canonical());
    assert_eq!(scene.balance(2, "ordi"), balance(50 * ONE, 50 * ONE));
    assert!(!scene.counts(10, 3, &mint("ordi", "1")));
    assert_eq!(scene.token("ordi").remaining, Amount::ZERO);
}

#[test]
fn mints_of_unknown_tokens_of_nothing_and_of_too_many_places_are_void() {
    let mut scene = Scene::default();
    assert!(!scene.counts(10, 1, &mint("ordi", "1")));
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"10","dec":"2""#)));
    for amount in ["0", "0.00", "0.001", "1.000", "-1", "", "1e1", "11"] {
        assert!(!scene.counts(10, 1, &mint("ordi", amount)), "{amount}");
    }
    assert!(scene.counts(10, 1, &mint("oRdI", "9.99")));
}

#[test]
fn a_mint_before_its_deploy_in_the_same_block_is_void_and_one_after_it_counts() {
    let (deploy, mint) = (deploy("ordi", r#""max":"10""#), mint("ordi", "1"));
    let deploy = || reveal(1, script(1), deploy.as_bytes());
    let mint = |number| reveal(number, script(2), mint.as_bytes());
    assert_eq!(Scene::default().block(10, &[mint(2), deploy()]).len(), 1);
    assert_eq!(Scene::default().block(10, &[deploy(), mint(2)]).len(), 2);
}

#[test]
fn a_mint_that_moves_leaves_the_balance_where_it_is() {
    let mut scene = with_ordi(1);
    assert!(scene.block(11, &[moved_to(2, script(7))]).is_empty());
    assert_eq!(scene.balance(1, "ordi"), balance(100 * ONE, 100 * ONE));
    assert_eq!(scene.balance(7, "ordi"), balance(0, 0));
}

#[test]
fn self_mint_needs_the_deployment_as_the_first_parent() {
    let mut scene = Scene::default();
    let (deployment, _) = scene.inscribe(20, 1, &deploy("ordi5", r#""max":"100","lim":"10","self_mint":"true""#));
    let body = mint("ordi5", "10");
    let mint = |number: u32| reveal(number, script(2), body.as_bytes());
    assert!(scene.block(20, &[mint(50)]).is_empty());
    assert!(scene.block(20, &[child_of(mint(51), 77)]).is_empty());
    assert!(scene.block(20, &[child_of(child_of(mint(52), 77), deployment)]).is_empty());
    let events = scene.block(20, &[child_of(child_of(mint(53), deployment), 77)]);
    let parent = super::scene::id(deployment).to_string();
    assert!(events[0].canonical().ends_with(&format!(";10.000000000000000000;{parent}")));
    // The parent decides, whichever script reveals it.
    assert_eq!(scene.balance(2, "ordi5"), balance(10 * ONE, 10 * ONE));
}

#[test]
fn the_parent_of_any_mint_stands_in_its_event() {
    let mut scene = with_ordi(1);
    let body = mint("ordi", "1");
    let events = scene.block(11, &[child_of(reveal(60, script(1), body.as_bytes()), 3)]);
    assert!(events[0].canonical().ends_with(&format!(";{}", super::scene::id(3))));
}
