//! Both engines side by side on blocks of the development network: our own contracts, trades, and a reorganisation.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bitcoin::BlockHash;
use paraffin_alkanes::{BlockEffects, EffectsPart, StateError, StateKey, StateReader};
use paraffin_hosted::{BlockRow, Flush, HostedViews, OnDifference, Program, Serves, ViewLimits, difference, translate};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};
use paraffin_store::Store;

use support::{EffectsByBlock, Index, Scripted, TRADING, branches, flushes, modules, run_natively};

/// One chain, run natively once for all tests.
struct Fixture {
    branches: Vec<Vec<ConnectedBlock>>,
    effects: EffectsByBlock,
    flushes: HashMap<BlockHash, Flush>,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let branches = branches(5, TRADING);
        let (effects, _) = run_natively(&branches);
        let flushes = flushes(&branches, &effects);
        Fixture { branches, effects, flushes }
    })
}

fn scripted(flushes: HashMap<BlockHash, Flush>) -> Arc<Scripted> {
    Arc::new(Scripted(flushes))
}

/// What the program writes passes from one module to the other beside rows, so they must not apply a large block at the same time.
#[test]
fn an_engine_with_a_program_follows_the_module_that_runs_it() {
    let program: Arc<dyn Program> = scripted(HashMap::new());
    for native_too in [None, Some(OnDifference::Halt)] {
        Index::of(|store| {
            let modules = modules(store, &program, Serves::Hosted, native_too);
            assert_eq!(modules[0].schema().id, paraffin_hosted::MODULE);
            assert_eq!(modules[1].follows(), Some(paraffin_hosted::MODULE));
            modules
        });
    }
}

#[test]
fn equal_engines_run_to_the_end_through_a_reorganisation() {
    let fixture = fixture();
    // The chain shows what is compared: every part but base runes is written somewhere.
    for part in EffectsPart::ALL {
        let writes = |effects: &BlockEffects| match part {
            EffectsPart::Traces => !effects.traces.is_empty(),
            _ => effects.writes.iter().any(|(key, _)| EffectsPart::of(key) == part),
        };
        assert!(part == EffectsPart::BaseRunes || fixture.effects.values().any(writes), "{part}");
    }
    for serves in [Serves::Native, Serves::Hosted] {
        let (mut index, differences) = Index::shadowed(scripted(fixture.flushes.clone()), serves, OnDifference::Halt);
        for branch in &fixture.branches {
            index.follow(branch).unwrap();
        }
        assert_eq!((differences.count(), differences.last()), (0, None), "{serves:?}");
        let followed: usize = fixture.branches[0].len() + 7;
        assert_eq!((differences.compared(), differences.is_over()), (followed as u64, false));
        let tip = fixture.branches[1].last().unwrap();
        assert_eq!(index.height(), Some(tip.id.height));
        let row = BlockRow::at(&index.store.snapshot(), tip.id.height).unwrap().unwrap();
        assert_eq!(row.digest, fixture.flushes[&tip.id.hash].digest());
    }
}

#[test]
fn what_a_program_alone_has_filled_is_refused_by_the_native_engine() {
    let fixture = fixture();
    let program: Arc<dyn Program> = scripted(fixture.flushes.clone());
    let chain = &fixture.branches[0];
    let engines = |serves, native_too| {
        let program = Arc::clone(&program);
        move |store: &Store| support::modules(store, &program, serves, native_too)
    };
    let mut index = Index::of(engines(Serves::Hosted, None));
    index.follow(&chain[..115]).unwrap();
    // The native engine, alone or beside a program that does not serve, says how to go on.
    index.replace(engines(Serves::Native, Some(OnDifference::Report)));
    let error = index.follow(&chain[..116]).unwrap_err().to_string();
    assert!(
        error.contains("filled from the hosted indexer program alone") && error.contains("reindex alkanes"),
        "{error}"
    );
    // Beside a program that serves, it stays stopped.
    index.replace(engines(Serves::Hosted, Some(OnDifference::Halt)));
    index.follow(&chain[..120]).unwrap();
    // Run again, everything is there.
    index.replace(engines(Serves::Native, Some(OnDifference::Halt)));
    index.run_again(1, chain).unwrap();
    index.follow(chain).unwrap();
}

/// Changes one byte of the first pair, in the order of the chain, whose key satisfies `is_meant`; answers the height.
fn alter(flushes: &mut HashMap<BlockHash, Flush>, is_meant: impl Fn(&[u8]) -> bool) -> Height {
    for block in &fixture().branches[0] {
        let flush = flushes.get_mut(&block.id.hash).unwrap();
        if let Some((_, value)) = flush.pairs.iter_mut().find(|(key, value)| is_meant(key) && !value.is_empty()) {
            let last = value.len() - 1;
            value[last] ^= 1;
            return block.id.height;
        }
    }
    panic!("no block has such a key");
}

fn contains(key: &[u8], part: &[u8]) -> bool {
    key.windows(part.len()).any(|window| window == part)
}

/// An alteration: its name, the keys it applies to, and texts that the message must contain.
type Alteration = (&'static str, fn(&[u8]) -> bool, &'static [&'static str]);

const ALTERATIONS: [Alteration; 8] = [
    ("sequence", |key| key == b"/alkanes/sequence", &["sequence: Sequence", "left:", "right:"]),
    ("balances", |key| contains(key, b"/balances/") && key.starts_with(b"/alkanes/"), &["balance of ", " held by "]),
    ("storage", |key| contains(key, b"/storage/"), &["storage: storage of ", " under "]),
    // The first code that is no built-in's.
    ("code", |key| key.len() == 41 && key.starts_with(b"/alkanes/") && key[9] == 4, &["code: code of 4:"]),
    (
        "sheets",
        |key| key.starts_with(b"/runes/proto/1/byoutpoint/") && contains(key, b"/balances/0"),
        &["sheets: alkanes of ", " of 2:0"],
    ),
    ("creation", |key| key.starts_with(b"/alkanes_id_to_outpoint/"), &["code: creation of "]),
    ("first sight", |key| key.starts_with(b"/runes/proto/1/byheight/") && key.ends_with(b"/0"), &["first sight of "]),
    ("traces", |key| key.starts_with(b"/trace/") && key.len() == 43, &["traces: message ", "left:", "right:", "Exit"]),
];

#[test]
fn one_altered_byte_halts_the_native_engine_and_names_the_difference() {
    for (name, is_meant, named) in ALTERATIONS {
        let mut flushes = fixture().flushes.clone();
        let height = alter(&mut flushes, is_meant);
        let (mut index, differences) = Index::shadowed(scripted(flushes), Serves::Native, OnDifference::Halt);
        let error = index.follow(&fixture().branches[0]).unwrap_err().to_string();
        assert!(
            error.contains("the native alkanes engine halts") && error.contains("part (left: native"),
            "{name}: {error}"
        );
        for word in named {
            assert!(error.contains(word), "{name}: {word:?} is missing in: {error}");
        }
        // Nothing of the block is stored, and the state before it is served.
        assert_eq!(index.height(), height.checked_sub(1), "{name}");
        assert_eq!((differences.count(), differences.is_over()), (1, true), "{name}");
    }
}

#[test]
fn reported_differences_are_counted_and_both_go_on() {
    for (name, is_meant, named) in ALTERATIONS {
        if !matches!(name, "storage" | "traces") {
            continue;
        }
        let mut flushes = fixture().flushes.clone();
        alter(&mut flushes, is_meant);
        let (mut index, differences) = Index::shadowed(scripted(flushes), Serves::Native, OnDifference::Report);
        index.follow(&fixture().branches[0]).unwrap();
        assert_eq!((differences.count(), differences.is_over()), (1, false), "{name}");
        assert_eq!(differences.compared(), fixture().branches[0].len() as u64, "{name}");
        let last = differences.last().unwrap();
        assert!(last.starts_with("block ") && named.iter().all(|word| last.contains(word)), "{last}");
    }
}

#[test]
fn beside_a_program_that_serves_the_native_engine_stops_and_the_program_goes_on() {
    let mut flushes = fixture().flushes.clone();
    alter(&mut flushes, ALTERATIONS[2].1);
    let (mut index, differences) = Index::shadowed(scripted(flushes), Serves::Hosted, OnDifference::Halt);
    index.follow(&fixture().branches[0]).unwrap();
    assert_eq!(index.height(), Some(TRADING));
    assert_eq!((differences.count(), differences.is_over()), (1, true));
    assert!(differences.compared() < fixture().branches[0].len() as u64, "the rest was not compared");
}

#[test]
fn what_cannot_be_read_is_a_difference_and_does_not_end_a_report() {
    let altered = || {
        let mut flushes = fixture().flushes.clone();
        let tip = fixture().branches[0].last().unwrap().id;
        // An entry that follows no other: so it looks when an earlier block, where engines parted, made a longer list.
        let key = [b"/runes/proto/1/byoutpoint/", &[9; 36][..], b"/balances/77"].concat();
        flushes.get_mut(&tip.hash).unwrap().pairs.insert(key, vec![0; 16]);
        scripted(flushes)
    };
    let named = "cannot be read: the program writes entry 77 of the list";
    let (mut index, differences) = Index::shadowed(altered(), Serves::Native, OnDifference::Report);
    index.follow(&fixture().branches[0]).unwrap();
    assert_eq!((index.height(), differences.count()), (Some(TRADING), 1));
    assert!(differences.last().unwrap().contains(named));
    for serves in [Serves::Native, Serves::Hosted] {
        let (mut index, _) = Index::shadowed(altered(), serves, OnDifference::Halt);
        let error = index.follow(&fixture().branches[0]).unwrap_err().to_string();
        assert!(error.contains(named), "{serves:?}: {error}");
        assert_eq!(index.height(), Some(TRADING - 1));
    }
}

#[test]
fn at_a_height_whose_rules_it_does_not_know_the_native_engine_stops_and_a_program_that_serves_goes_on() {
    let fixture = fixture();
    let until = |serves| {
        let native = support::native().with_known_until(Some(119));
        let program = scripted(fixture.flushes.clone());
        Index::shadowed_beside(native, program, serves, OnDifference::Halt)
    };
    let (mut index, _) = until(Serves::Native);
    let error = index.follow(&fixture.branches[0]).unwrap_err().to_string();
    assert!(
        error.contains("the rules of height 120 are not known") && error.contains("engine = \"hosted\""),
        "{error}"
    );
    assert_eq!(index.height(), Some(119));
    let (mut index, differences) = until(Serves::Hosted);
    index.follow(&fixture.branches[0]).unwrap();
    assert_eq!((index.height(), differences.compared(), differences.count()), (Some(TRADING), 121, 1));
    let last = differences.last().unwrap();
    assert!(last.contains("the native engine halts: the rules of height 120") && differences.is_over(), "{last}");
}

/// An empty state.
struct Nothing;

impl StateReader for Nothing {
    fn get(&self, _: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(None)
    }
}

#[test]
fn base_runes_are_compared_by_their_ids_and_the_mints_that_remain() {
    let block = &fixture().branches[0][9];
    let id = |tx: u128| AlkaneId { block: 840_000, tx };
    let of = |remaining: &[(u128, u128)], etched: &[u128]| {
        let etched = etched.iter().map(|tx| (StateKey::Etching(id(*tx)), b"terms".to_vec()));
        let named = [(StateKey::EtchedName(7), vec![1; 32])];
        let remaining =
            remaining.iter().map(|(tx, left)| (StateKey::MintsRemaining(id(*tx)), left.to_le_bytes().to_vec()));
        BlockEffects { writes: etched.chain(named).chain(remaining).collect(), ..BlockEffects::default() }
    };
    let native = of(&[(1, 300), (5, 2)], &[1, 2]);
    let compared = |flush: &Flush| difference(&native, &translate(flush, block, &Nothing).unwrap());
    let translated = support::encode(block.id.height, &native);
    assert_eq!(compared(&translated), None);

    let etched = support::encode(block.id.height, &of(&[(1, 300), (5, 2)], &[1]));
    let text = compared(&etched).unwrap();
    assert_eq!(text, "base runes: etched in this block\nleft:  840000:1, 840000:2\nright: 840000:1");
    let minted = support::encode(block.id.height, &of(&[(1, 300), (5, 1)], &[1, 2]));
    let text = compared(&minted).unwrap();
    assert!(text.starts_with("base runes: mints that remain\nleft:  ") && text.contains("right: 1, 300"), "{text}");
    let mut short = translated;
    short.pairs.insert(b"/runes/mints-remaining/NAME".to_vec(), vec![1]);
    assert!(compared(&short).unwrap().contains("1 bytes"));
    let mut unknown = short;
    unknown.pairs.insert(b"/etching/byruneid/short".to_vec(), vec![1]);
    assert!(compared(&unknown).unwrap().contains("a key of no known kind: /etching/byruneid/short"));
}

#[test]
fn a_key_that_nobody_knows_and_a_value_that_cannot_be_are_named() {
    let tip = fixture().branches[0][0].id.hash;
    let mut flushes = fixture().flushes.clone();
    flushes.get_mut(&tip).unwrap().pairs.insert(b"/new\x00kind".to_vec(), vec![1]);
    let (mut index, _) = Index::shadowed(scripted(flushes), Serves::Native, OnDifference::Halt);
    let error = index.follow(&fixture().branches[0]).unwrap_err().to_string();
    assert!(error.contains("a key of no known kind: /new\\00kind"), "{error}");

    let mut flushes = fixture().flushes.clone();
    flushes.get_mut(&tip).unwrap().pairs.insert(b"/alkanes/sequence".to_vec(), vec![1]);
    let (mut index, _) = Index::shadowed(scripted(flushes), Serves::Native, OnDifference::Halt);
    let error = index.follow(&fixture().branches[0]).unwrap_err().to_string();
    assert!(error.contains("/alkanes/sequence, which cannot be an amount of 16 bytes"), "{error}");
}

#[test]
fn a_program_that_fails_halts_and_what_was_is_still_read() {
    let fixture = fixture();
    let mut flushes = fixture.flushes.clone();
    let last = fixture.branches[0].last().unwrap();
    flushes.remove(&last.id.hash);
    let program = scripted(flushes);
    let (mut index, _) = Index::shadowed(Arc::clone(&program) as _, Serves::Hosted, OnDifference::Halt);
    let error = index.follow(&fixture.branches[0]).unwrap_err().to_string();
    assert!(error.contains("the hosted indexer program halts: the program ended without a flush"), "{error}");
    assert_eq!(index.height(), Some(last.id.height - 1));
    let views = HostedViews::new(program, ViewLimits::default());
    let snapshot = index.store.snapshot();
    let sequence = |height| views.view(&snapshot, height, "value", b"/alkanes/sequence", &|| false).unwrap();
    assert_eq!(sequence(0), 1u128.to_le_bytes());
    assert_ne!(sequence(last.id.height - 1), sequence(0));
}

#[test]
fn the_alkanes_module_alone_is_run_again_with_the_state_that_the_program_left() {
    let fixture = fixture();
    let program = scripted(fixture.flushes.clone());
    let (mut index, differences) = Index::shadowed(program, Serves::Hosted, OnDifference::Halt);
    index.follow(&fixture.branches[0]).unwrap();
    let content = index.content();
    index.run_again(1, &fixture.branches[0]).unwrap();
    assert_eq!(index.content(), content);
    assert_eq!((differences.count(), differences.last()), (0, None));
}
