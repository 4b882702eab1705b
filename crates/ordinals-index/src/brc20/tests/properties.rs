//! Random blocks of inscriptions, good and bad, against a second opinion.

use std::collections::BTreeMap;

use bitcoin::ScriptBuf;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::naive::Sums;
use super::scene::{Scene, child_of, deploy, id, mint, moved, moved_to, reveal, revealed_with, script, transfer};
use crate::brc20::{Action, Amount, BlockHashes, Brc20Event};
use crate::event::{Destination, InscriptionEvent};

/// What a random inscription does.
#[derive(Debug, Clone)]
pub(in crate::brc20) enum Step {
    Deploy {
        who: u8,
        ticker: usize,
        max: u32,
        limit: u32,
        decimals: u8,
    },
    Mint {
        who: u8,
        ticker: usize,
        amount: u32,
        parent: Option<u8>,
    },
    Transfer {
        who: u8,
        ticker: usize,
        amount: u32,
    },
    /// Moves a transfer, or any of the inscriptions so far.
    Move {
        which: prop::sample::Index,
        of_all: bool,
        to: Target,
    },
    /// The inscription before, again, cursed.
    Cursed {
        who: u8,
        ticker: usize,
    },
    Noise(Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
pub(in crate::brc20) enum Target {
    Somebody(u8),
    Fee,
    Burn,
    Nowhere,
}

const TICKERS: [&str; 5] = ["ordi", "ORDI", SELF_MINTED, "\u{212a}a", "none"];
const SELF_MINTED: &str = "self1";
const OPEN_END: &str = r#""max":"0","self_mint":"true""#;
/// The number of its deployment.
const SELF_MINTED_BY: u32 = 2;

pub(in crate::brc20) fn step() -> impl Strategy<Value = Step> {
    let (who, ticker) = (|| 0..4u8, || 0..TICKERS.len());
    let target = prop_oneof![
        6 => (0..4u8).prop_map(Target::Somebody),
        1 => Just(Target::Fee),
        1 => Just(Target::Burn),
        1 => Just(Target::Nowhere),
    ];
    prop_oneof![
        2 => (who(), ticker(), 0..500u32, 0..200u32, 0..20u8)
            .prop_map(|(who, ticker, max, limit, decimals)| Step::Deploy { who, ticker, max, limit, decimals }),
        4 => (who(), ticker(), 0..120u32, prop::option::of(1..4u8))
            .prop_map(|(who, ticker, amount, parent)| Step::Mint { who, ticker, amount, parent }),
        6 => (who(), ticker(), 0..70u32).prop_map(|(who, ticker, amount)| Step::Transfer { who, ticker, amount }),
        6 => (any::<prop::sample::Index>(), prop::bool::weighted(0.2), target)
            .prop_map(|(which, of_all, to)| Step::Move { which, of_all, to }),
        1 => (who(), ticker()).prop_map(|(who, ticker)| Step::Cursed { who, ticker }),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Noise),
    ]
}

/// What every run begins with: three tokens, one of which only its deployer mints, and some of each for everybody.
fn prologue(reveals: &mut Reveals) -> Vec<InscriptionEvent> {
    let deployed =
        [("ordi", r#""max":"5000","lim":"100","dec":"2""#), (SELF_MINTED, OPEN_END), ("\u{212a}a", r#""max":"900""#)];
    let mut events: Vec<_> =
        deployed.iter().map(|(ticker, rest)| reveals.add(script(9), &deploy(ticker, rest))).collect();
    for who in 0..4 {
        for (ticker, _) in deployed {
            let event = reveals.add(script(who), &mint(ticker, "100"));
            events.push(if ticker == SELF_MINTED { child_of(event, SELF_MINTED_BY) } else { event });
        }
    }
    events
}

/// The reveals so far, numbered from 1.
#[derive(Default)]
struct Reveals {
    count: u32,
    transfers: Vec<u32>,
}

impl Reveals {
    fn add(&mut self, owner: ScriptBuf, body: &str) -> InscriptionEvent {
        self.count += 1;
        reveal(self.count, owner, body.as_bytes())
    }

    /// One of the transfers, or one of all when `of_all`.
    fn pick(&self, which: prop::sample::Index, of_all: bool) -> u32 {
        if of_all || self.transfers.is_empty() {
            u32::try_from(which.index(self.count as usize)).unwrap() + 1
        } else {
            self.transfers[which.index(self.transfers.len())]
        }
    }
}

/// The blocks as events; inscriptions are numbered from 1 in the order of their reveals.
pub(in crate::brc20) fn blocks(steps: &[Vec<Step>]) -> Vec<Vec<InscriptionEvent>> {
    let mut reveals = Reveals::default();
    let mut blocks = Vec::new();
    for (index, steps) in steps.iter().enumerate() {
        let mut events = if index == 0 { prologue(&mut reveals) } else { Vec::new() };
        for step in steps {
            let event = match step {
                Step::Deploy { who, ticker, max, limit, decimals } => {
                    let rest = format!(r#""max":"{max}","lim":"{limit}","dec":"{decimals}","self_mint":"true""#);
                    reveals.add(script(*who), &deploy(TICKERS[*ticker], &rest))
                }
                Step::Mint { who, ticker, amount, parent } => {
                    let event = reveals.add(script(*who), &mint(TICKERS[*ticker], &amount.to_string()));
                    match parent {
                        Some(parent) => child_of(event, u32::from(*parent)),
                        None => event,
                    }
                }
                Step::Transfer { who, ticker, amount } => {
                    let event = reveals.add(script(*who), &transfer(TICKERS[*ticker], &amount.to_string()));
                    reveals.transfers.push(reveals.count);
                    event
                }
                Step::Cursed { who, ticker } => {
                    let event = reveals.add(script(*who), &mint(TICKERS[*ticker], "5"));
                    revealed_with(event, |number, _, _, _| *number = -1)
                }
                Step::Noise(bytes) => {
                    reveals.count += 1;
                    reveal(reveals.count, script(0), bytes)
                }
                Step::Move { which, of_all, to } => {
                    let number = reveals.pick(*which, *of_all);
                    match to {
                        Target::Somebody(who) => moved_to(number, script(*who)),
                        Target::Burn => moved_to(number, ScriptBuf::from(vec![0x6a])),
                        Target::Nowhere => moved_to(number, ScriptBuf::new()),
                        Target::Fee => {
                            events.push(moved(number, Destination::Fee));
                            moved_to(number, script(200))
                        }
                    }
                }
            };
            events.push(event);
        }
        blocks.push(events);
    }
    blocks
}

/// Applies the blocks from height 20 and gives the events of each.
fn run(blocks: &[Vec<InscriptionEvent>]) -> (Scene, Vec<Vec<Brc20Event>>) {
    let mut scene = Scene::default();
    let events = (20..).zip(blocks).map(|(height, block)| scene.block(height, block)).collect();
    (scene, events)
}

fn check_sums(scene: &Scene, events: &[Vec<Brc20Event>]) {
    let mut sums = Sums::default();
    for event in events.iter().flatten() {
        sums.add(event);
        for ((script, ticker), (overall, available)) in &sums.balances {
            assert!(available <= overall, "{script} {ticker}: {available} of {overall}");
        }
    }
    let mut owned: BTreeMap<&str, u128> = BTreeMap::new();
    let mut holders: BTreeMap<&str, u64> = BTreeMap::new();
    for (script, tokens) in &scene.ledger.balances {
        for (ticker, balance) in tokens {
            let naive = sums.balances.get(&(script.clone(), ticker.clone())).copied().unwrap_or_default();
            assert_eq!((balance.overall.0, balance.available.0), naive, "{script} {ticker}");
            *owned.entry(ticker).or_default() += balance.overall.0;
            *holders.entry(ticker).or_default() += u64::from(balance.overall.0 > 0);
        }
    }
    for (ticker, token) in &scene.ledger.tokens {
        let ticker = ticker.as_str();
        let burned = sums.burned.get(ticker).copied().unwrap_or_default();
        assert_eq!((token.minted().0, token.burned.0), (sums.minted[ticker], burned), "{ticker}");
        assert_eq!(owned.get(ticker).copied().unwrap_or_default() + burned, sums.minted[ticker], "{ticker}");
        assert_eq!(token.holders, holders.get(ticker).copied().unwrap_or_default(), "{ticker}");
        assert!(token.minted() <= token.max_supply);
    }
    assert_eq!(scene.ledger.notes.len(), sums.open.len());
    for (id, (source, ticker, amount)) in &sums.open {
        let note = &scene.ledger.notes[id];
        assert_eq!((&*note.source, note.ticker.lower(), note.amount.0), (source.as_script(), ticker.as_str(), *amount));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_ledger_is_what_the_events_say(
        steps in prop::collection::vec(prop::collection::vec(step(), 0..20), 1..8)
    ) {
        let (scene, events) = run(&blocks(&steps));
        check_sums(&scene, &events);
    }

    /// Where a block ends does not matter, only the order of what happened; the hash of a block does depend on it.
    #[test]
    fn the_borders_of_blocks_change_nothing_but_hashes(steps in prop::collection::vec(step(), 0..40), at in 0..40usize) {
        let at = at.min(steps.len());
        let whole = blocks(std::slice::from_ref(&steps));
        let parts = blocks(&[steps[..at].to_vec(), steps[at..].to_vec()]);
        prop_assert_eq!(&whole[0], &parts.concat());
        let (mut one, mut two) = (Scene::default(), Scene::default());
        let events = one.block(20, &whole[0]);
        let (first, second) = (two.block(20, &parts[0]), two.block(20, &parts[1]));
        prop_assert_eq!(&events, &[first.clone(), second].concat());
        prop_assert_eq!(one.ledger.balances, two.ledger.balances);
        let hashes = BlockHashes::of(None, &events);
        prop_assert_eq!(hashes.block == BlockHashes::of(None, &first).block, events == first);
    }

    #[test]
    fn no_body_and_no_content_type_panics(
        body in prop::collection::vec(any::<u8>(), 0..300),
        content_type in prop::option::of(prop::collection::vec(any::<u8>(), 0..20)),
        height in any::<u32>(),
    ) {
        let event = revealed_with(reveal(1, script(1), &body), |_, _, _, stored| {
            *stored = content_type.map(bytes::Bytes::from);
        });
        Scene::default().block(height, &[event]);
    }

    #[test]
    fn hostile_members_never_panic(
        op in prop::sample::select(vec!["deploy", "mint", "transfer", "predeploy"]),
        ticker in "\\PC{0,6}",
        values in prop::collection::vec("[0-9.eE+-]{0,60}|\\PC{0,10}", 6),
        height in 0..100u32,
    ) {
        let text = |value: &str| serde_json::Value::String(value.to_owned()).to_string();
        let body = format!(
            r#"{{"p":"brc-20","op":"{op}","tick":{},"amt":{},"max":{},"lim":{},"dec":{},"salt":{},"hash":{}}}"#,
            text(&ticker), text(&values[0]), text(&values[1]), text(&values[2]), text(&values[3]), text(&values[4]),
            text(&values[5]),
        );
        let mut scene = with_token();
        scene.inscribe(height, 1, &body);
        prop_assert!(scene.ledger.tokens.values().all(|token| token.max_supply <= Amount::MAX));
    }
}

/// Random blocks are worth something only while they do everything that there is to do.
#[test]
fn random_blocks_do_everything() {
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(prop::collection::vec(step(), 0..20), 1..8);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = |name| *counts.entry(name).or_default() += 1;
    for _ in 0..100 {
        let steps = strategy.new_tree(&mut runner).unwrap().current();
        for event in run(&blocks(&steps)).1.iter().flatten() {
            count(event.action.name());
            if let Action::TransferTransfer { target, .. } = &event.action {
                count(match target.as_ref().map(|target| target.len()) {
                    None => "fee",
                    Some(0) => "nowhere",
                    Some(1) => "burn",
                    Some(_) => "somebody",
                });
            }
        }
    }
    for name in [
        "deploy-inscribe",
        "mint-inscribe",
        "transfer-inscribe",
        "transfer-transfer",
        "fee",
        "nowhere",
        "burn",
        "somebody",
    ] {
        assert!(counts.get(name).is_some_and(|count| *count >= 20), "{name}: {counts:?}");
    }
}

fn with_token() -> Scene {
    let mut scene = Scene::default();
    scene.inscribe(10, 1, &deploy("ordi", r#""max":"18446744073709551615""#));
    scene
}

#[test]
fn ten_thousand_inscriptions_in_a_block_are_as_good_as_few() {
    let mut scene = with_token();
    let body = mint("ordi", "1");
    let events: Vec<_> = (0..10_000).map(|number| reveal(100 + number, script(1), body.as_bytes())).collect();
    assert_eq!(scene.block(11, &events).len(), 10_000);
    assert_eq!(scene.token("ordi").mints, 10_000);
    let noise: Vec<_> = (0..10_000).map(|number| reveal(20_000 + number, script(1), b"{\"p\":[[[[[[")).collect();
    assert!(scene.block(12, &noise).is_empty());
    let moves: Vec<_> = (0..10_000).map(|number| moved_to(100 + number, script(2))).collect();
    assert!(scene.block(13, &moves).is_empty());
    assert_eq!(scene.ledger.notes.get(&id(100)), None);
}

#[test]
fn a_body_of_four_megabytes_is_read_in_one_pass() {
    let mut scene = with_token();
    for body in [
        "[".repeat(4_000_000),
        "{\"a\":".repeat(800_000),
        format!("{{\"p\":\"brc-20\",\"x\":\"{}\"}}", "\\u0041".repeat(600_000)),
        format!("{{{}\"p\":1}}", "\"p\":\"brc-20\",".repeat(200_000)),
        format!("{{\"p\":{}}}", "9".repeat(4_000_000)),
    ] {
        assert!(!scene.counts(11, 1, &body));
    }
}
