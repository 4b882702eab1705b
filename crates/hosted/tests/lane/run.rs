//! Runs chains, one after the other, until enough blocks are compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{MessageContextParcel, SimulateResponse};
use paraffin_primitives::{AlkaneId, Height};
use prost::Message as _;

use crate::asks::{Ask, VIEWS};
use crate::chain::{Chain, Rules, Step};
use crate::generator::Generator;
use crate::lane::{Lane, Outcome, Reference};
use crate::minimise::{Case, Difference, minimise};

/// Heights of mainnet at which a rule changes (protocol B2).
const FORKS: [Height; 10] = [880_000, 899_087, 908_888, 913_301, 917_888, 943_500, 950_000, 950_564, 957_000, 960_000];

/// What chains have come to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) blocks: usize,
    messages: usize,
    undone: usize,
    refused: BTreeMap<String, usize>,
    /// By view: questions, and answers with content.
    views: BTreeMap<String, usize>,
    differences: Vec<Difference>,
}

/// The plan of one chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rules: Rules,
    pub(crate) start: Height,
    pub(crate) blocks: usize,
}

impl Plan {
    /// The chain of a seed: regtest and mainnet in turns, mainnet around a fork.
    pub(crate) fn of(seed: u64, blocks: usize) -> Self {
        if seed % 2 == 0 {
            return Self { seed, rules: Rules::Regtest, start: 0, blocks };
        }
        let fork = FORKS[(seed / 2) as usize % FORKS.len()];
        // Some blocks before the fork, so that what stood before is there.
        let start = if fork == FORKS[0] { fork - 1 } else { fork - 6 };
        Self { seed, rules: Rules::Mainnet, start, blocks }
    }
}

/// Runs one chain; its first difference ends it.
pub(crate) fn run(plan: Plan, views_per_block: usize, reference: &Reference, tally: &mut Tally) {
    let mut generator = Generator::new(plan.rules, plan.seed);
    let mut lane = Lane::new(plan.rules, plan.start, reference);
    let mut chain = Chain { rules: plan.rules, start: plan.start, steps: Vec::new() };
    let mut next_view = plan.seed as usize;
    for number in 0..plan.blocks {
        let transactions = if number == 0 { 1 } else { generator.numbers.below(10) };
        let step = generator.step(transactions);
        chain.steps.push(step.clone());
        let recipes = match step {
            Step::Undo(count) => {
                lane.undo(count);
                tally.undone += count;
                continue;
            }
            Step::Block(recipes) => recipes,
        };
        match lane.connect(&recipes) {
            Outcome::Equal(effects) => {
                tally.blocks += 1;
                tally.messages += effects.traces.len();
                generator.learn(&recipes, &effects, &lane.blocks);
            }
            Outcome::Parted(text) => {
                tally.blocks += 1;
                let case = Case { chain, ask: None };
                return report(case, Difference::of_block(text), plan, reference, tally);
            }
            Outcome::Refused(why) => {
                chain.steps.pop();
                let why: String = why.split_once("halts").map_or(&why[..], |(_, why)| why).chars().take(160).collect();
                eprintln!("seed {}: refused: {why}", plan.seed);
                *tally.refused.entry(why).or_default() += 1;
                continue;
            }
        }
        if number == 0 {
            generator.pay_to(&signer(&lane));
        }
        for _ in 0..views_per_block {
            next_view += 1;
            let view = VIEWS[next_view % VIEWS.len()];
            let ask = Ask::draw(view, &lane, &mut generator);
            *tally.views.entry(view.to_owned()).or_default() += 1;
            if let Some(text) = ask.difference(&lane) {
                let difference = Difference::of_view(&ask, text);
                return report(Case { chain, ask: Some(ask) }, difference, plan, reference, tally);
            }
        }
    }
}

/// The key that wrapped bitcoin names as its signer's.
fn signer(lane: &Lane) -> Vec<u8> {
    let target = AlkaneId { block: 32, tx: 0 };
    let height = lane.blocks.next_height() - 1;
    let calldata = Cellpack { target, inputs: vec![103] }.encode();
    let parcel = MessageContextParcel { calldata, height: u64::from(height), ..MessageContextParcel::default() };
    let answer = lane.native_view(height, "simulate", &parcel.encode_to_vec()).unwrap_or_default();
    let response = SimulateResponse::decode(&answer[..]).unwrap_or_default();
    response.execution.map(|execution| execution.data).unwrap_or_default()
}

fn report(case: Case, difference: Difference, plan: Plan, reference: &Reference, tally: &mut Tally) {
    eprintln!("seed {}: {}\n{}", plan.seed, difference.kind, difference.text.chars().take(3_000).collect::<String>());
    let case = minimise(case, &difference.kind, reference);
    let found = crate::minimise::first_difference(&case, reference);
    let text = serde_json::to_string_pretty(&(&case.chain, &case.ask)).unwrap();
    let path = std::env::temp_dir().join(format!("reference-{}-{}.json", difference.kind.replace(' ', "-"), plan.seed));
    std::fs::write(&path, &text).unwrap();
    eprintln!("minimal: {}\n{:?}", path.display(), found);
    tally.differences.push(found.unwrap_or(difference));
}

#[test]
fn generated_chains_are_equal_in_both_engines() {
    let given = |name| std::env::var(name).ok().map(|text: String| text.parse::<usize>().expect("a number"));
    let blocks = given("PARAFFIN_REFERENCE_BLOCKS").unwrap_or(200);
    let first_seed = given("PARAFFIN_REFERENCE_SEED").unwrap_or(1) as u64;
    let mut tally = Tally::default();
    let begun = Instant::now();
    for seed in first_seed.. {
        let plan = Plan::of(seed, 20);
        let Some(reference) = Reference::of(plan.rules) else { return };
        let (before, start) = (tally.blocks, Instant::now());
        run(plan, 4, &reference, &mut tally);
        let mut line = String::new();
        let seconds = start.elapsed().as_secs_f64();
        write!(line, "{seed},{:?},{},{},{seconds:.2}", plan.rules, plan.start, tally.blocks - before).unwrap();
        eprintln!("{line}");
        if tally.blocks >= blocks {
            break;
        }
    }
    eprintln!("{} s; {tally:#?}", begun.elapsed().as_secs());
    assert!(tally.differences.is_empty(), "{} differences", tally.differences.len());
}
