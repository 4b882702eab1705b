//! `cargo xtask test`: everything that has to hold before a change goes in, cheap steps first, the test runner last.
//!
//! On somebody's own computer the steps that download or take minutes (the licence check, the real node, fuzzing) are left
//! out and named; with `--full`, and on a build machine (`CI=true`), they are done, and a missing part is an error.

mod runner;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bitcoind::{self, MissingPackages};
use crate::browser;
use crate::contracts;
use crate::debian;
use crate::fuzz;
use crate::process::{Failure, Outcome, capture, run};
use crate::rows::{self, Page};
use crate::wasm_compiler;
use crate::{licences, schema, tidy};

/// Names an operator's indexer program, whose built-in contracts a test compares with the published figures.
const OPERATOR_FILE: &str = "PARAFFIN_ALKANES_WASM";

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What Rust and a C compiler can do.
    Local,
    /// Everything; nothing may be missing.
    Full,
}

/// Runs every step and stops at the first that fails.
pub(crate) fn run_all(root: &Path, extent: Extent) -> Outcome {
    println!("machine: {}", machine());
    let mut steps = Steps { root, left_out: Vec::new(), began: Instant::now() };
    steps.step("format", |root| run(cargo(root).args(["fmt", "--all", "--check"])))?;
    steps.step("tidy", tidy::check)?;
    steps.step("rows", |root| rows::report(root, Page::Check))?;
    steps.step("clippy", |root| {
        let mut clippy = cargo(root);
        run(clippy.args(["clippy", "--workspace", "--all-targets", "--quiet", "--locked", "--", "-D", "warnings"]))
    })?;
    steps.step("documentation", |root| {
        let mut doc = cargo(root);
        doc.args(["doc", "--workspace", "--no-deps", "--quiet", "--locked", "--document-private-items"]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.step("contracts", |root| {
        contracts::check_committed(root)?;
        runner::contracts(root)
    })?;
    contracts_rebuilt(&mut steps, extent)?;
    if extent == Extent::Full {
        steps.step("licences, bans, sources", licences::check)?;
    } else {
        steps.leave_out(
            "licences, bans, sources",
            "`cargo xtask deny`, which first builds cargo-deny, about three minutes, once",
        );
    }
    let node = real_node(&mut steps, extent)?;
    if extent == Extent::Full {
        steps.step("browser", |_| browser::install())?;
    } else if !browser::is_found() {
        steps.leave_out("the test with a real browser", browser::HOW);
    }
    if extent == Extent::Full {
        steps.step("message server", |_| debian::NATS.install())?;
    } else if !debian::NATS.are_found() {
        steps.leave_out("tests of the orderbook with a message server", &debian::NATS.how());
    }
    for (what, needs) in [("database server", &debian::POSTGRES), ("cache server", &debian::REDIS)] {
        if extent == Extent::Full {
            steps.step(what, |_| needs.install())?;
        } else if !needs.are_found() {
            steps.leave_out(&format!("tests of many gateways with a {what}"), &needs.how());
        }
    }
    if extent == Extent::Full {
        steps.step("balancer", |_| debian::NGINX.install())?;
    } else if !debian::NGINX.are_found() {
        steps.leave_out("a rolling upgrade behind nginx", &debian::NGINX.how());
    }
    if extent == Extent::Full {
        steps.step("compiler for wasm", |_| wasm_compiler::install())?;
    } else if !wasm_compiler::is_found() {
        steps.leave_out("builds of the tests of verification", wasm_compiler::HOW);
    }
    if extent == Extent::Full {
        steps.step("fuzz", |root| fuzz::run_targets(root, fuzz::SECONDS_DEFAULT, None))?;
    } else {
        steps.leave_out("fuzz", "`cargo xtask fuzz`");
    }
    if extent == Extent::Full {
        steps.step("schema", schema::check)?;
    } else {
        steps.leave_out("every REST route as its description tells", "`cargo xtask schema`, about three minutes");
    }
    let fixtures = fixtures(root);
    if fixtures.is_none() {
        if std::env::var_os("PARAFFIN_FIXTURES").is_some() {
            return Err(Failure::new("PARAFFIN_FIXTURES names a folder that does not exist"));
        }
        // They are nobody's to hand out with the sources, so a machine that builds a clone need not have them.
        steps.leave_out("tests on real mainnet blocks", "set PARAFFIN_FIXTURES to the folder that holds `blocks/`");
    }
    if std::env::var_os(OPERATOR_FILE).is_none() {
        steps.leave_out(
            "fuel and results of the released built-in contracts",
            &format!("set {OPERATOR_FILE} to an operator's alkanes.wasm, which is not ours to hand out"),
        );
    }
    steps.report();
    let environment = runner::Environment { node, fixtures, strict: extent == Extent::Full };
    runner::test(root, &environment)
}

/// The committed modules against the sources, where the compiler that made them is at hand. That sources and modules were not
/// changed apart from each other is a test of this crate and needs no compiler.
fn contracts_rebuilt(steps: &mut Steps<'_>, extent: Extent) -> Outcome {
    const NAME: &str = "contracts built again";
    match contracts::missing_compiler(steps.root) {
        None if extent == Extent::Full => steps.step(NAME, |root| contracts::rebuild(root, contracts::Built::Compare)),
        None => {
            steps.leave_out(NAME, "`cargo xtask contracts`, about a minute");
            Ok(())
        }
        Some(why) => {
            steps.leave_out(NAME, &format!("`cargo xtask contracts`, with the compiler that made them: {why}"));
            Ok(())
        }
    }
}

/// The real node: built in a full run, used wherever it is there.
fn real_node(steps: &mut Steps<'_>, extent: Extent) -> Outcome<Option<std::path::PathBuf>> {
    let mut node = bitcoind::found(steps.root);
    if extent == Extent::Full && std::env::var_os("PARAFFIN_BITCOIND").is_none() {
        steps.step("bitcoind", |root| {
            node = Some(bitcoind::build(root, MissingPackages::Install)?);
            Ok(())
        })?;
    }
    match &node {
        Some(path) if path.is_file() => {}
        Some(path) => return Err(Failure::new(format!("PARAFFIN_BITCOIND: there is no file {}", path.display()))),
        None => steps.leave_out("tests against a real bitcoind", "`cargo xtask bitcoind`, up to ten minutes, once"),
    }
    Ok(node)
}

/// The folder of real blocks that some tests read: given, or beside the clone.
fn fixtures(root: &Path) -> Option<std::path::PathBuf> {
    let given = std::env::var_os("PARAFFIN_FIXTURES").map(std::path::PathBuf::from);
    let folder = given.or_else(|| Some(root.parent()?.join("shared/fixtures")))?;
    folder.is_dir().then_some(folder)
}

pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root);
    command
}

/// One line that tells what the figures of this run were made on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let rustc = capture(Command::new("rustc").arg("--version")).unwrap_or_default();
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let memory = kib.map_or_else(|| "memory unknown".to_owned(), |kib: u64| format!("{} GiB", kib / 1024 / 1024));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    format!("{cores} cores, {memory}, {system}, {}", rustc.trim())
}

/// The steps of one run, with their times and what was left out.
struct Steps<'a> {
    root: &'a Path,
    left_out: Vec<String>,
    began: Instant,
}

impl Steps<'_> {
    fn step(&mut self, name: &str, work: impl FnOnce(&Path) -> Outcome) -> Outcome {
        println!("\n=== {name}");
        let began = Instant::now();
        let outcome = work(self.root);
        let took = seconds(began.elapsed());
        match outcome {
            Ok(()) => {
                println!("=== {name}: ok, {took}");
                Ok(())
            }
            Err(failure) => Err(Failure::new(format!("step `{name}` failed after {took}\n{failure}"))),
        }
    }

    fn leave_out(&mut self, name: &str, how: &str) {
        println!("\n=== {name}: left out");
        self.left_out.push(format!("{name}: {how}"));
    }

    fn report(&self) {
        println!("\n=== checks done after {}", seconds(self.began.elapsed()));
        for line in &self.left_out {
            println!("not done here: {line}");
        }
        println!();
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_names_itself_and_ends_the_run() {
        let mut steps = Steps { root: Path::new("."), left_out: Vec::new(), began: Instant::now() };
        assert!(steps.step("first", |_| Ok(())).is_ok());
        let failure = steps.step("second", |_| Err(Failure::new("a tile is loose"))).unwrap_err().to_string();
        assert!(failure.contains("step `second` failed") && failure.contains("a tile is loose"), "{failure}");
    }

    #[test]
    fn the_machine_line_names_cores_and_compiler() {
        let line = machine();
        assert!(line.contains("cores") && line.contains("rustc 1."), "{line}");
    }
}
