//! Runs chains, as many at once as there are cores, until enough blocks are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{MessageContextParcel, SimulateResponse};
use paraffin_primitives::{AlkaneId, Height};
use prost::Message as _;

use crate::answers::Compared;
use crate::asks::{Ask, VIEWS};
use crate::chain::{Chain, Rules, Step};
use crate::generator::Generator;
use crate::lane::{Lane, Outcome, Reference};
use crate::minimise::{Case, Difference, minimise};

/// Heights of mainnet at which a rule changes (protocol B2).
const FORKS: [Height; 10] = [880_000, 899_087, 908_888, 913_301, 917_888, 943_500, 950_000, 950_564, 957_000, 960_000];

/// Results of the chains.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    blocks: usize,
    messages: usize,
    undone: usize,
    /// Blocks that the reference does not go on with, by its reason.
    refused: BTreeMap<String, usize>,
    /// Questions by view.
    views: BTreeMap<String, usize>,
    /// Of these, requests at which the reference traps.
    trapped: BTreeMap<String, usize>,
    /// Blocks around each fork of mainnet.
    forks: BTreeMap<Height, usize>,
    differences: Vec<Difference>,
}

impl Tally {
    fn summary(&self) -> serde_json::Value {
        let kinds: BTreeSet<&str> = self.differences.iter().map(|difference| &difference.kind[..]).collect();
        serde_json::json!({
            "blocks": self.blocks, "messages": self.messages, "undone": self.undone, "views": self.views,
            "trapped": self.trapped, "refused": self.refused, "forks": self.forks,
            "differences": self.differences.len(), "kinds": kinds,
        })
    }

    fn add(&mut self, chain: Self) {
        fn add<K: Ord>(to: &mut BTreeMap<K, usize>, from: BTreeMap<K, usize>) {
            for (key, count) in from {
                *to.entry(key).or_default() += count;
            }
        }
        self.blocks += chain.blocks;
        self.messages += chain.messages;
        self.undone += chain.undone;
        add(&mut self.refused, chain.refused);
        add(&mut self.views, chain.views);
        add(&mut self.trapped, chain.trapped);
        add(&mut self.forks, chain.forks);
        self.differences.extend(chain.differences);
    }

    fn sum(counts: &BTreeMap<String, usize>) -> usize {
        counts.values().sum()
    }
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
        if seed.is_multiple_of(2) {
            // Block 0 of a real chain has no transaction but its coinbase.
            return Self { seed, rules: Rules::Regtest, start: 1, blocks };
        }
        let fork = FORKS[(seed / 2) as usize % FORKS.len()];
        // Some blocks before the fork, so that there is state from before.
        let start = if fork == FORKS[0] { fork } else { fork - 6 };
        Self { seed, rules: Rules::Mainnet, start, blocks }
    }
}

impl Plan {
    /// The fork that a chain of mainnet is around.
    fn fork(&self) -> Height {
        FORKS.into_iter().find(|fork| *fork >= self.start).unwrap_or(FORKS[0])
    }
}

/// Kinds of differences that have been cut down.
type Minimised = Mutex<BTreeSet<String>>;

/// Runs one chain; its first difference ends it.
pub(crate) fn run(plan: Plan, views_per_block: usize, reference: &Reference, minimised: &Minimised) -> Tally {
    let mut tally = Tally::default();
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
                if plan.rules == Rules::Mainnet {
                    *tally.forks.entry(plan.fork()).or_default() += 1;
                }
                tally.messages += effects.traces.len();
                generator.learn(&recipes, &effects, &lane.blocks);
            }
            Outcome::Parted(text) => {
                tally.blocks += 1;
                let case = Case { chain, ask: None };
                report(case, Difference::of_block(text), plan, reference, minimised, &mut tally);
                return tally;
            }
            Outcome::Refused(why) if !why.contains("the hosted indexer program halts") => {
                let difference = Difference { kind: "block refused".to_owned(), text: why };
                report(Case { chain, ask: None }, difference, plan, reference, minimised, &mut tally);
                return tally;
            }
            // Where the reference halts there is nothing to be equal to (decision 0038): the chain goes on without the block.
            Outcome::Refused(why) => {
                let path = keep(&Case { chain: chain.clone(), ask: None }, &format!("halt-{}-{number}", plan.seed));
                chain.steps.pop();
                let why = why.split_once("halts: ").map_or(&why[..], |(_, why)| why);
                let why = why.split_once(". Its state").map_or(why, |(why, _)| why).to_owned();
                eprintln!("seed {}: refused: {why}: {}", plan.seed, path.display());
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
            match ask.compare(&lane) {
                Compared::Same => {}
                Compared::Trapped => *tally.trapped.entry(view.to_owned()).or_default() += 1,
                Compared::Parted(text) => {
                    // The chain goes on: an answer of a view changes nothing.
                    let difference = Difference::of_view(&ask, text);
                    let case = Case { chain: chain.clone(), ask: Some(ask) };
                    report(case, difference, plan, reference, minimised, &mut tally);
                }
            }
        }
    }
    tally
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

/// Writes a case to the temporary folder.
fn keep(case: &Case, name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("reference-{name}.json"));
    std::fs::write(&path, serde_json::to_string_pretty(&(&case.chain, &case.ask)).unwrap()).unwrap();
    path
}

fn report(
    case: Case,
    difference: Difference,
    plan: Plan,
    reference: &Reference,
    minimised: &Minimised,
    tally: &mut Tally,
) {
    eprintln!("seed {}: {}\n{}", plan.seed, difference.kind, difference.text.chars().take(3_000).collect::<String>());
    // One of each kind is cut down.
    if !minimised.lock().unwrap().insert(difference.kind.clone()) {
        tally.differences.push(difference);
        return;
    }
    let case = minimise(case, &difference.kind, reference);
    let found = crate::minimise::first_difference(&case, reference);
    let path = keep(&case, &format!("{}-{}", difference.kind.replace(' ', "-"), plan.seed));
    eprintln!("minimal: {}\n{:?}", path.display(), found);
    tally.differences.push(found.unwrap_or(difference));
}

#[test]
fn generated_chains_are_equal_in_both_engines() {
    let given = |name| std::env::var(name).ok().map(|text: String| text.parse::<usize>().expect("a number"));
    let is_long = std::env::var_os("PARAFFIN_REFERENCE_LONG").is_some();
    let blocks = given("PARAFFIN_REFERENCE_BLOCKS").unwrap_or(200);
    let first_seed = given("PARAFFIN_REFERENCE_SEED").unwrap_or(1) as u64;
    let (chain_len, views_per_block) = if is_long { (24, 5) } else { (20, 2) };
    if [Rules::Regtest, Rules::Mainnet].into_iter().any(|rules| Reference::of(rules).is_none()) {
        return;
    }
    let next_seed = AtomicU64::new(first_seed);
    let minimised = Minimised::default();
    let header = "seed,rules,start,blocks,undone,messages,views,trapped,refused,differences,seconds\n".to_owned();
    let whole = Mutex::new((Tally::default(), header));
    let work = || {
        while whole.lock().unwrap().0.blocks < blocks {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            let plan = Plan::of(seed, chain_len);
            let Some(reference) = Reference::of(plan.rules) else { return };
            let begun = Instant::now();
            let chain = run(plan, views_per_block, &reference, &minimised);
            let row = format!(
                "{seed},{:?},{},{},{},{},{},{},{},{},{:.2}",
                plan.rules,
                plan.start,
                chain.blocks,
                chain.undone,
                chain.messages,
                Tally::sum(&chain.views),
                Tally::sum(&chain.trapped),
                Tally::sum(&chain.refused),
                chain.differences.len(),
                begun.elapsed().as_secs_f64()
            );
            let (tally, rows) = &mut *whole.lock().unwrap();
            tally.add(chain);
            eprintln!("{row} ({} of {blocks} blocks)", tally.blocks);
            rows.push_str(&row);
            rows.push('\n');
            if let Some(path) = std::env::var_os("PARAFFIN_REFERENCE_CSV") {
                std::fs::write(path, format!("# {}\n{rows}", tally.summary())).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (tally, _) = whole.into_inner().unwrap();
    eprintln!("{:#}", tally.summary());
    assert!(tally.differences.is_empty(), "{} differences", tally.differences.len());
}
