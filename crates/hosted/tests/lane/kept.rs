//! Minimal chains that have shown a difference once, each with what the reference does on it.
//!
//! `PARAFFIN_REFERENCE_RECORD=1` writes anew what both engines did where they were equal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex as _;
use paraffin_alkanes::views::trace_to_proto;
use paraffin_alkanes::{BlockEffects, StateKey, TraceEvent};
use paraffin_devnet::market::builtins;
use paraffin_primitives::AlkaneId;
use prost::Message as _;
use serde::{Deserialize, Serialize};

use crate::asks::Ask;
use crate::chain::{Chain, Step};
use crate::lane::{Lane, Outcome, Reference};
use crate::minimise::Difference;

/// Contracts that are never on chain: ours are others than those of the release.
const BUILTINS: [AlkaneId; 3] =
    [AlkaneId { block: 2, tx: 0 }, AlkaneId { block: 32, tx: 0 }, AlkaneId { block: 32, tx: 1 }];

/// A file of the folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    /// What the chain shows.
    shows: String,
    /// Whether it needs the built-in contracts of the release, so that it says nothing without the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    needs_program: bool,
    chain: Chain,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<Ask>,
    /// What the reference did that does not hang on the code of built-in contracts, by step of the chain.
    #[serde(default)]
    recorded: BTreeMap<usize, Vec<String>>,
    /// The answer of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

/// What a chain has come to.
struct Run {
    lines: BTreeMap<usize, Vec<String>>,
    answer: Option<String>,
    difference: Option<Difference>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/lane/kept")
}

fn files() -> BTreeMap<PathBuf, Kept> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let kept = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        files.insert(path, kept);
    }
    assert!(files.len() >= 4, "the chains of the differences that were found first are there");
    files
}

/// What of a block's effects does not hang on the code of built-in contracts.
fn lines(effects: &BlockEffects, lane: &Lane) -> Vec<String> {
    let genesis = lane.rules.parameters().genesis_outpoint();
    let mut lines = Vec::new();
    for (key, value) in &effects.writes {
        let is_comparable = match key {
            StateKey::Code(id) => !BUILTINS.contains(id),
            StateKey::Storage(id, name) => !BUILTINS.contains(id) || name == b"/last_block",
            StateKey::Sheet(outpoint) => *outpoint != genesis,
            _ => true,
        };
        if is_comparable {
            lines.push(format!("{key:?} = {}", value.to_lower_hex_string()));
        }
    }
    for (outpoint, trace) in &effects.traces {
        let calls_builtin = trace.events.iter().any(|event| match event {
            TraceEvent::Enter { context, .. } => BUILTINS.contains(&context.myself),
            _ => false,
        });
        if !calls_builtin {
            let trace = trace_to_proto(trace).encode_to_vec().to_lower_hex_string();
            lines.push(format!("trace {} = {trace}", serialize_hex(outpoint)));
        }
    }
    lines
}

fn run(kept: &Kept, mut lane: Lane, has_reference: bool) -> Run {
    let mut run = Run { lines: BTreeMap::new(), answer: None, difference: None };
    for (number, step) in kept.chain.steps.iter().enumerate() {
        let recipes = match step {
            Step::Undo(count) => {
                lane.undo(*count);
                continue;
            }
            Step::Block(recipes) => recipes,
        };
        match lane.connect(recipes) {
            Outcome::Equal(effects) => _ = run.lines.insert(number, lines(&effects, &lane)),
            Outcome::Parted(text) => {
                run.difference = Some(Difference::of_block(text));
                return run;
            }
            Outcome::Refused(why) => panic!("{}: {why}", kept.shows),
        }
    }
    if let Some(ask) = &kept.ask {
        run.answer = Some(ask.native_answer(&lane));
        if has_reference {
            run.difference = ask.difference(&lane).map(|text| Difference::of_view(ask, text));
        }
    }
    run
}

#[test]
fn kept_chains_give_what_the_reference_has_given() {
    let builtins = Arc::new(builtins());
    let mut differ = Vec::new();
    for (path, kept) in files() {
        if kept.needs_program {
            continue;
        }
        let ran = run(&kept, Lane::native_alone(kept.chain.rules, kept.chain.start, &builtins), false);
        assert!(!kept.recorded.is_empty(), "{}: nothing is recorded", path.display());
        if (&ran.lines, &ran.answer) != (&kept.recorded, &kept.answer) {
            eprintln!("{}: {}\nleft:  {:#?}\nright: {:#?}", path.display(), kept.shows, ran.lines, kept.recorded);
            differ.push(kept.shows);
        }
    }
    assert!(differ.is_empty(), "not as the reference: {differ:#?}");
}

#[test]
fn kept_chains_are_equal_beside_the_release_program() {
    let is_recording = std::env::var_os("PARAFFIN_REFERENCE_RECORD").is_some();
    for (path, mut kept) in files() {
        let Some(reference) = Reference::of(kept.chain.rules) else { return };
        let ran = run(&kept, Lane::new(kept.chain.rules, kept.chain.start, &reference), true);
        let name = path.display();
        if let Some(found) = &ran.difference {
            panic!("{name}: {}\n{}", kept.shows, found.text);
        }
        if is_recording {
            (kept.recorded, kept.answer) = (ran.lines, ran.answer);
            std::fs::write(&path, serde_json::to_string_pretty(&kept).unwrap() + "\n").unwrap();
        } else {
            assert_eq!((ran.lines, ran.answer), (kept.recorded, kept.answer), "{name}: {}", kept.shows);
        }
    }
}
