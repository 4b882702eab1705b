//! The figures that the project holds itself to, measured on this machine: `cargo xtask bars [GROUP…]`, and `cargo xtask bars large` alone.
//! `cargo xtask package` calls `train` with a program that counts.
//!
//! What passes or fails is a ratio inside one run or a count; seconds and megabytes are reported with the machine. Every
//! run leaves its raw figures in `benches/results/`.
#![forbid(unsafe_code)]

mod benches;
mod chain;
mod electrs;
mod electrum;
mod import;
mod large;
mod node;
mod start;
mod tip;
mod train;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xtask::bar;
use xtask::peers::{self, Peer};
use xtask::process::{Failure, Outcome};
use xtask::{profiled, repository};

/// Blocks of real shape in the chain, when nothing else is asked for.
const SHAPED_BLOCKS: u32 = 100;
/// Seed of the chain.
const SEED: u64 = 1;

/// The groups that need a node and the chain; the others are benches of crates.
const WITH_NODE: [&str; 5] = ["electrs", "electrum", "import", "start", "tip"];

/// What all bars need.
pub(crate) struct Bench {
    /// Root of the repository.
    pub(crate) root: PathBuf,
    /// `target/bars`.
    pub(crate) place: PathBuf,
    /// The program under test, optimised.
    pub(crate) paraffin: PathBuf,
    /// The node.
    pub(crate) bitcoind: PathBuf,
    pub(crate) chain: chain::ChainFile,
    /// Folder of the real blocks whose shape chains have.
    pub(crate) fixtures: PathBuf,
}

impl Bench {
    /// Builds what is missing.
    pub(crate) fn prepare(root: &Path) -> Outcome<Self> {
        let place = root.join("target/bars");
        let paraffin = program(root)?;
        let bitcoind = peers::find(root, Peer::Bitcoind)?;
        let fixtures =
            std::env::var_os("PARAFFIN_FIXTURES").map_or_else(|| root.join("../shared/fixtures"), PathBuf::from);
        let blocks = std::env::var("PARAFFIN_BARS_BLOCKS").ok().and_then(|text| text.parse().ok());
        let fixtures = fixtures.join("blocks");
        let chain = chain::provide(&place, &fixtures, blocks.unwrap_or(SHAPED_BLOCKS), SEED)?;
        Ok(Self { root: root.to_path_buf(), place, paraffin, bitcoind, chain, fixtures })
    }
}

/// The program under test, built as it is packaged unless `PARAFFIN_BIN` names one.
pub(crate) fn program(root: &Path) -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os("PARAFFIN_BIN") {
        return Ok(PathBuf::from(given));
    }
    profiled::build(root, &[])
}

fn main() -> ExitCode {
    let groups: Vec<String> = std::env::args().skip(1).collect();
    let root = repository::root();
    // Hours long, so it runs alone and only when it is named.
    let outcome = match groups.split_first() {
        Some((first, rest)) if first == "large" => large::measure(&root, rest),
        Some((first, [program])) if first == "train" => train::train(&root, Path::new(program)),
        _ => measure(&root, &groups),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("bars: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the groups named, or all, and prints a table; an error when a bar is missed.
fn measure(root: &Path, groups: &[String]) -> Outcome {
    let all = || WITH_NODE.into_iter().chain(benches::all().map(|bench| bench.group));
    if let Some(unknown) = groups.iter().find(|name| !all().any(|group| group == name.as_str())) {
        return Err(Failure::new(format!("`{unknown}` is none of: {}", all().collect::<Vec<_>>().join(", "))));
    }
    let wanted = |name: &str| groups.is_empty() || groups.iter().any(|group| group == name);
    let mut bars = Vec::new();
    if WITH_NODE.into_iter().any(wanted) {
        let bench = Bench::prepare(root)?;
        if wanted("import") {
            bars.extend(import::measure(&bench)?);
        }
        if wanted("start") {
            bars.extend(start::measure(&bench)?);
        }
        if wanted("tip") {
            bars.extend(tip::measure(&bench)?);
        }
        if wanted("electrs") {
            bars.extend(electrs::measure(&bench)?);
        }
        if wanted("electrum") {
            bars.extend(electrum::measure(&bench)?);
        }
    }
    for bench in benches::all().filter(|bench| wanted(bench.group)) {
        bars.extend(benches::measure(root, bench)?);
    }
    bar::table(&bars);
    let missed: Vec<&str> = bars.iter().filter(|bar| !bar.is_met()).map(|bar| bar.name.as_str()).collect();
    if missed.is_empty() { Ok(()) } else { Err(Failure::new(format!("missed: {}", missed.join(", ")))) }
}
