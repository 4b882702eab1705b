//! Minimal chains that have shown a difference once, each with the recorded results of the reference.
//!
//! `PARAFFIN_REFERENCE_RECORD=1` records the results again where both engines are equal.

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
struct RecordedChain {
    /// The rule that the chain shows.
    shows: String,
    /// Whether it needs the built-in contracts of the release, so that it is skipped without the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    needs_program: bool,
    chain: Chain,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<Ask>,
    /// The reference's effects that do not depend on the code of built-in contracts, by step of the chain.
    #[serde(default)]
    recorded: BTreeMap<usize, Vec<String>>,
    /// The answer of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

/// The results of a chain.
struct Run {
    lines: BTreeMap<usize, Vec<String>>,
    answer: Option<String>,
    difference: Option<Difference>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/lane/kept")
}

fn files() -> BTreeMap<PathBuf, RecordedChain> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        files.insert(path, case);
    }
    assert!(files.len() >= 4, "the chains of the differences that were found first are there");
    files
}

/// The part of a block's effects that does not depend on the code of built-in contracts.
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

fn run(case: &RecordedChain, mut lane: Lane, has_reference: bool) -> Run {
    let mut run = Run { lines: BTreeMap::new(), answer: None, difference: None };
    for (number, step) in case.chain.steps.iter().enumerate() {
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
            Outcome::Refused(why) => panic!("{}: {why}", case.shows),
        }
    }
    if let Some(ask) = &case.ask {
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
    for (path, case) in files() {
        if case.needs_program {
            continue;
        }
        let ran = run(&case, Lane::native_alone(case.chain.rules, case.chain.start, &builtins), false);
        assert!(!case.recorded.is_empty(), "{}: nothing is recorded", path.display());
        if (&ran.lines, &ran.answer) != (&case.recorded, &case.answer) {
            eprintln!("{}: {}\nleft:  {:#?}\nright: {:#?}", path.display(), case.shows, ran.lines, case.recorded);
            differ.push(case.shows);
        }
    }
    assert!(differ.is_empty(), "not as the reference: {differ:#?}");
}

#[test]
fn kept_chains_are_equal_beside_the_release_program() {
    let is_recording = std::env::var_os("PARAFFIN_REFERENCE_RECORD").is_some();
    for (path, mut case) in files() {
        let Some(reference) = Reference::of(case.chain.rules) else { return };
        let ran = run(&case, Lane::new(case.chain.rules, case.chain.start, &reference), true);
        let name = path.display();
        if let Some(found) = &ran.difference {
            panic!("{name}: {}\n{}", case.shows, found.text);
        }
        if is_recording {
            (case.recorded, case.answer) = (ran.lines, ran.answer);
            std::fs::write(&path, serde_json::to_string_pretty(&case).unwrap() + "\n").unwrap();
        } else {
            assert_eq!((ran.lines, ran.answer), (case.recorded, case.answer), "{name}: {}", case.shows);
        }
    }
}
