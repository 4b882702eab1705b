//! `cargo xtask bars`: the figures that the project holds itself to, measured on this machine.
//!
//! What passes or fails is a ratio inside one run or a count; seconds and megabytes are reported with the machine. Every
//! run leaves its raw figures in `benches/results/`.

pub(crate) mod chain;
pub(crate) mod import;
mod mempool;
pub(crate) mod node;
mod orderbook;
mod pages;
mod result;
mod routing;
mod start;
mod views;
mod vm;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Failure, Outcome, run};
pub(crate) use result::{Bar, Floor};

/// Blocks of real shape in the chain, when nothing else is asked for.
const SHAPED_BLOCKS: u32 = 100;
/// Seed of the chain.
const SEED: u64 = 1;

/// The groups of figures that one run gives together.
const GROUPS: [&str; 8] = ["import", "mempool", "orderbook", "pages", "routing", "start", "views", "vm"];

/// Groups that are benches of their own: they are built optimised without this program being so.
const BENCHES: [&str; 5] = ["mempool", "orderbook", "routing", "views", "vm"];

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
}

impl Bench {
    /// Builds what is missing.
    pub(crate) fn prepare(root: &Path) -> Outcome<Self> {
        let place = root.join("target/bars");
        let paraffin = if let Some(given) = std::env::var_os("PARAFFIN_BIN") {
            PathBuf::from(given)
        } else {
            run(Command::new("cargo").current_dir(root).args(["build", "--release", "--quiet", "-p", "paraffin"]))?;
            target(root).join("release/paraffin")
        };
        let bitcoind = crate::bitcoind::found(root)
            .ok_or_else(|| Failure::new("the bars need a real node: run `cargo xtask bitcoind` first"))?;
        let fixtures =
            std::env::var_os("PARAFFIN_FIXTURES").map_or_else(|| root.join("../shared/fixtures"), PathBuf::from);
        let blocks = std::env::var("PARAFFIN_BARS_BLOCKS").ok().and_then(|text| text.parse().ok());
        let chain = chain::provide(&place, &fixtures.join("blocks"), blocks.unwrap_or(SHAPED_BLOCKS), SEED)?;
        Ok(Self { root: root.to_path_buf(), place, paraffin, bitcoind, chain })
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Runs the task again in an optimised build: parsing is one side of a ratio.
pub(crate) fn optimised(root: &Path, words: &[&str]) -> Option<Outcome> {
    cfg!(debug_assertions).then(|| {
        run(Command::new("cargo")
            .current_dir(root)
            .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
            .args(words))
    })
}

/// Measures the groups named, or all, and prints a table; an error when a bar is missed.
pub(crate) fn measure(root: &Path, words: &[&str]) -> Outcome {
    let names = &words[1..];
    if let Some(unknown) = names.iter().find(|name| !GROUPS.contains(name)) {
        return Err(Failure::new(format!("`{unknown}` is none of: {}", GROUPS.join(", "))));
    }
    if (names.is_empty() || names.iter().any(|name| !BENCHES.contains(name)))
        && let Some(outcome) = optimised(root, words)
    {
        return outcome;
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut bars = Vec::new();
    if wanted("import") || wanted("pages") || wanted("start") {
        let bench = Bench::prepare(root)?;
        if wanted("import") {
            bars.extend(import::measure(&bench)?);
        }
        if wanted("pages") {
            bars.extend(pages::measure(&bench)?);
        }
        if wanted("start") {
            bars.extend(start::measure(&bench)?);
        }
    }
    if wanted("mempool") {
        bars.extend(mempool::measure(root)?);
    }
    if wanted("orderbook") {
        bars.extend(orderbook::measure(root)?);
    }
    if wanted("routing") {
        bars.extend(routing::measure(root)?);
    }
    if wanted("views") {
        bars.extend(views::measure(root)?);
    }
    if wanted("vm") {
        bars.extend(vm::measure(root)?);
    }
    result::table(&bars);
    let missed: Vec<&str> = bars.iter().filter(|bar| !bar.is_met()).map(|bar| bar.name).collect();
    if missed.is_empty() { Ok(()) } else { Err(Failure::new(format!("missed: {}", missed.join(", ")))) }
}
