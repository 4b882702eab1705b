use super::scene::{ONE, Scene, deploy, id, mint, moved_to, reveal, revealed_with, script};
use crate::brc20::{Action, Amount};
use crate::event::Destination;

#[test]
fn the_first_deploy_of_a_ticker_wins_in_any_spelling() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("ORDI", r#""max":"21000000","lim":"1000""#)));
    assert!(!scene.counts(10, 2, &deploy("ordi", r#""max":"5""#)));
    let token = scene.token("ordi");
    assert_eq!((token.ticker.original(), token.decimals, token.deployment), ("ORDI", 18, id(1)));
    assert_eq!(token.max_supply, Amount(21_000_000 * ONE));
    assert_eq!(token.limit_per_mint, Amount(1000 * ONE));
    assert_eq!(token.remaining, token.max_supply);
    assert!(!token.is_self_mint);
}

#[test]
fn nothing_counts_before_the_first_height() {
    let mut scene = Scene::default();
    assert!(!scene.counts(9, 1, &deploy("ordi", r#""max":"1""#)));
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"1""#)));
}

#[test]
fn a_limit_that_is_absent_is_the_supply() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"500""#)));
    assert_eq!(scene.token("ordi").limit_per_mint, Amount(500 * ONE));
}

#[test]
fn a_limit_above_the_supply_is_taken_as_it_is() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"5","lim":"10""#)));
    assert_eq!(scene.token("ordi").limit_per_mint, Amount(10 * ONE));
}

#[test]
fn supplies_and_limits_of_zero_and_numbers_out_of_range_are_void() {
    let mut scene = Scene::default();
    for rest in [
        r#""max":"0""#,
        r#""max":"0.0""#,
        r#""max":"1","lim":"0""#,
        r#""max":"18446744073709551616""#,
        r#""max":"1","lim":"18446744073709551616""#,
        r#""max":"1","dec":"19""#,
        r#""max":"1","dec":"-1""#,
        r#""max":"1","dec":"""#,
        r#""max":"1.5","dec":"0""#,
        r#""max":"1","lim":"0.01","dec":"1""#,
        r#""max":"1e3""#,
        r#""max":"+1""#,
        r#""max":"""#,
        r#""lim":"1""#,
    ] {
        assert!(!scene.counts(10, 1, &deploy("ordi", rest)), "{rest}");
    }
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"18446744073709551615","dec":"0""#)));
    assert_eq!(scene.token("ordi").max_supply, Amount::MAX);
}

/// OPI reads `dec` only where it is a text, and takes 18 otherwise.
#[test]
fn decimals_that_are_no_text_mean_18() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("ordi", r#""max":"1","dec":8"#)));
    assert_eq!(scene.token("ordi").decimals, 18);
}

#[test]
fn cursed_inscriptions_never_count_and_neither_do_vindicated_ones() {
    let mut scene = Scene::default();
    let body = deploy("ordi", r#""max":"1""#);
    let reveal = || reveal(1, script(1), body.as_bytes());
    assert!(scene.block(10, &[revealed_with(reveal(), |number, _, _, _| *number = -1)]).is_empty());
    assert!(scene.block(10, &[revealed_with(reveal(), |_, is_vindicated, _, _| *is_vindicated = true)]).is_empty());
    assert!(!scene.block(10, &[reveal()]).is_empty());
}

#[test]
fn content_types_other_than_text_and_json_do_not_count() {
    let mut scene = Scene::default();
    let body = deploy("ordi", r#""max":"1""#);
    let typed = |bytes: Option<&'static [u8]>| {
        revealed_with(reveal(1, script(1), body.as_bytes()), |_, _, _, content_type| {
            *content_type = bytes.map(bytes::Bytes::from_static);
        })
    };
    for content_type in [None, Some(&b"text/html"[..]), Some(b"image/png"), Some(b"text/plain \xff"), Some(b"")] {
        assert!(scene.block(10, &[typed(content_type)]).is_empty());
    }
    assert!(!scene.block(10, &[typed(Some(b"application/json"))]).is_empty());
}

#[test]
fn an_inscription_revealed_into_fees_counts_for_nobody() {
    let mut scene = Scene::default();
    let body = deploy("ordi", r#""max":"1""#);
    for destination in [Destination::Fee, Destination::Lost] {
        let mut event = reveal(1, script(1), body.as_bytes());
        event.destination = destination;
        // Its way to the coinbase is no transfer either.
        assert!(scene.block(10, &[event, moved_to(1, script(7))]).is_empty());
    }
}

#[test]
fn a_deploy_that_moves_does_nothing_more() {
    let mut scene = Scene::default();
    let body = deploy("ordi", r#""max":"1""#);
    let events = scene.block(10, &[reveal(1, script(1), body.as_bytes()), moved_to(1, script(2))]);
    assert!(matches!(&events[..], [event] if event.action.name() == "deploy-inscribe"));
}

#[test]
fn five_byte_tickers_come_with_their_height_and_only_for_self_mint() {
    let mut scene = Scene::default();
    let self_mint = r#""max":"100","self_mint":"true""#;
    assert!(!scene.counts(19, 1, &deploy("ordi5", self_mint)));
    for rest in [r#""max":"1""#, r#""max":"1","self_mint":true"#, r#""max":"1","self_mint":"false""#] {
        assert!(!scene.counts(20, 1, &deploy("ordi5", rest)), "{rest}");
    }
    assert!(scene.counts(20, 1, &deploy("ordi5", self_mint)));
    assert!(scene.token("ordi5").is_self_mint);
}

#[test]
fn four_byte_tickers_ignore_self_mint() {
    let mut scene = Scene::default();
    assert!(scene.counts(20, 1, &deploy("ordi", r#""max":"100","self_mint":"true""#)));
    assert!(!scene.token("ordi").is_self_mint);
    assert!(!scene.counts(20, 1, &deploy("abcd", r#""max":"0","self_mint":"true""#)));
}

#[test]
fn a_supply_of_zero_has_no_end_where_the_deployer_mints() {
    for (rest, limit) in [
        (r#""max":"0","self_mint":"true""#, Amount::MAX),
        (r#""max":"0","lim":"7","self_mint":"true""#, Amount(7 * ONE)),
    ] {
        let mut scene = Scene::default();
        assert!(scene.counts(20, 1, &deploy("ordi5", rest)), "{rest}");
        let token = scene.token("ordi5");
        assert_eq!((token.max_supply, token.limit_per_mint), (Amount::MAX, limit));
    }
    assert!(!Scene::default().counts(20, 1, &deploy("ordi5", r#""max":"0","lim":"0","self_mint":"true""#)));
}

#[test]
fn the_lower_case_of_a_longer_name_may_be_a_token_of_four_bytes() {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 1, &deploy("kabc", r#""max":"10""#)));
    // Six bytes with the Kelvin sign, which is a plain k in lower case.
    assert!(!scene.counts(39, 1, &mint("\u{212a}abc", "1")));
    let (_, events) = scene.inscribe(40, 1, &mint("\u{212a}abc", "1"));
    let Action::Mint { ticker, .. } = &events[0].action else { panic!("{events:?}") };
    assert_eq!((ticker.lower(), ticker.original()), ("kabc", "\u{212a}abc"));
}
