//! `cargo xtask test`: checks and tests, cheap steps first, the test runner last.
//!
//! Without arguments it does what a newcomer can afford: everything that Rust and a C compiler can show in some minutes, with the
//! features of the default build; what it leaves out it names. With names of crates it lints and tests these. With `--full` it
//! does everything, with all features, and what the project's scripts can install may not be missing.

mod runner;

use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::rows::{self, Page};
use crate::{contracts, duckdb, licences, schema, tidy, typescript};
use runner::Tests;
use xtask::debian;
use xtask::process::{self, Failure, Outcome, capture};

/// Features of the program that the default build lacks; they bring those of the crates below it.
pub(crate) const FEATURES: &str =
    "paraffin/cluster,paraffin/hosted,paraffin/machine-code,paraffin/otel,paraffin/parquet";

/// How much is done.
pub(crate) enum Scope {
    /// What Rust and a C compiler can show in some minutes.
    Quick,
    /// Lints and tests of some crates.
    Crates(Vec<String>),
    /// Everything.
    Full,
}

/// Runs every step and stops at the first that fails.
pub(crate) fn run(root: &Path, scope: &Scope) -> Outcome {
    println!("machine: {}", machine());
    match scope {
        Scope::Quick => quick(root),
        Scope::Crates(crates) => some(root, crates),
        Scope::Full => full(root),
    }
}

fn quick(root: &Path) -> Outcome {
    let mut steps = Steps::new(root, 5);
    sources(&mut steps)?;
    steps.step("committed contracts", contracts::check_committed)?;
    steps.leave_out("lints and documentation", "cargo xtask test <crate> for the crate that you change");
    steps.leave_out("tests that take long", "--full");
    steps.leave_out(
        "clusters of gateways, indexer programs of an operator, exports as Parquet (features of the build)",
        "--full",
    );
    steps.leave_out("licences of the dependencies, the contracts' own tests", "--full");
    for part in debian::missing() {
        steps.leave_out(part.tests, &part.how());
    }
    steps.tests(&Tests { quick: true, ..Tests::default() })
}

fn some(root: &Path, crates: &[String]) -> Outcome {
    let packages = crates.iter().map(|name| package(root, name)).collect::<Outcome<Vec<_>>>()?;
    let mut steps = Steps::new(root, 2);
    steps.step("lints", |root| {
        let mut clippy = cargo(root);
        clippy.args(["clippy", "--all-targets", "--quiet", "--locked"]);
        for package in &packages {
            clippy.args(["--package", package]);
        }
        process::run(clippy.args(["--", "-D", "warnings"]))
    })?;
    steps.tests(&Tests { packages, ..Tests::default() })
}

/// A crate by its package name, its folder, or that without the prefix.
fn package(root: &Path, name: &str) -> Outcome<String> {
    let folder = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let known = |path: &str| root.join(path).join("Cargo.toml").is_file();
    match folder {
        "paraffin" | "xtask" => Ok(folder.to_owned()),
        _ if known(&format!("crates/{folder}")) => Ok(format!("paraffin-{folder}")),
        _ => match folder.strip_prefix("paraffin-") {
            Some(bare) if known(&format!("crates/{bare}")) => Ok(folder.to_owned()),
            _ => Err(Failure::new(format!("there is no crate `{name}`: see crates/"))),
        },
    }
}

fn full(root: &Path) -> Outcome {
    let mut steps = Steps::new(root, 10);
    // Downloads take none of the compiler's time.
    let parts = Background::start("Debian packages", || debian::install(&debian::missing()));
    sources(&mut steps)?;
    steps.step("lints", |root| {
        let mut clippy = cargo(root);
        clippy.args(["clippy", "--workspace", "--all-targets", "--quiet", "--locked", "--features", FEATURES]);
        process::run(clippy.args(["--", "-D", "warnings"]))
    })?;
    steps.step("documentation", |root| {
        let mut doc = cargo(root);
        doc.args(["doc", "--workspace", "--no-deps", "--quiet", "--locked", "--document-private-items"]);
        process::run(doc.args(["--features", FEATURES]).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.step("licences, bans, sources", licences::check)?;
    steps.step("contracts", |root| {
        contracts::check_committed(root)?;
        contracts::lint(root)?;
        runner::contracts(root)
    })?;
    match contracts::missing_compiler(root) {
        None => steps.step("contracts built again", |root| contracts::rebuild(root, contracts::Built::Compare))?,
        Some(why) => steps.leave_out(
            "contracts built again",
            &format!("cargo xtask contracts, with the compiler that made them: {why}"),
        ),
    }
    steps.leave_out("long fuzzing", "cargo xtask fuzz; the committed corpora are replayed below");
    steps.leave_out("speed, size and memory", "cargo xtask bars");
    parts.join()?;
    // After the packages: the virtual environment may need one of them.
    let schemathesis = Some(schema::provide(root)?);
    let duckdb = Some(duckdb::provide(root)?);
    let typescript = Some(typescript::provide(root)?);
    steps.step("default features", runner::smoke)?;
    steps.tests(&Tests { features: Some(FEATURES), strict: true, schemathesis, duckdb, typescript, ..Tests::default() })
}

/// What needs the sources alone.
fn sources(steps: &mut Steps<'_>) -> Outcome {
    steps.step("format", |root| {
        for folder in [root.to_path_buf(), root.join("contracts")] {
            process::run(cargo(&folder).args(["fmt", "--all", "--check"]))?;
        }
        Ok(())
    })?;
    steps.step("tidy", tidy::check)?;
    steps.step("rows", |root| rows::report(root, Page::Check))
}

pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root);
    command
}

/// One line that says what the figures of this run were made on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let rustc = capture(Command::new("rustc").arg("--version")).unwrap_or_default();
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let memory = kib.map_or_else(|| "memory unknown".to_owned(), |kib: u64| format!("{} GiB", kib / 1024 / 1024));
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    format!("{cores} cores, {memory}, {system}, {}", rustc.trim())
}

/// Work beside the steps whose output is shown only when it fails.
struct Background {
    name: &'static str,
    work: JoinHandle<Outcome>,
}

impl Background {
    fn start(name: &'static str, work: impl FnOnce() -> Outcome + Send + 'static) -> Self {
        Self { name, work: thread::spawn(work) }
    }

    fn join(self) -> Outcome {
        let name = self.name;
        let outcome = self.work.join().unwrap_or_else(|_| Err(Failure::new("it panicked")));
        outcome.map_err(|failure| Failure::new(format!("{name}: {failure}")))
    }
}

/// The steps of one run, with their times and what was left out.
struct Steps<'a> {
    root: &'a Path,
    left_out: Vec<String>,
    began: Instant,
    number: usize,
    all: usize,
}

impl<'a> Steps<'a> {
    fn new(root: &'a Path, all: usize) -> Self {
        Self { root, left_out: Vec::new(), began: Instant::now(), number: 0, all }
    }

    fn step(&mut self, name: &str, work: impl FnOnce(&Path) -> Outcome) -> Outcome {
        self.number += 1;
        println!("\n=== [{}/{}] {name}", self.number, self.all);
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
        self.left_out.push(format!("{name}: {how}"));
    }

    /// The last step. What was left out is named before it, for the last line is the verdict.
    fn tests(mut self, tests: &Tests) -> Outcome {
        println!("\n=== {} after {}", self.root.display(), seconds(self.began.elapsed()));
        for line in &self.left_out {
            println!("not done here: {line}");
        }
        let began = self.began;
        let mut verdict = None;
        self.step("tests", |root| {
            verdict = Some(runner::test(root, tests)?);
            Ok(())
        })?;
        println!("=== all of it took {}", seconds(began.elapsed()));
        verdict.map_or(Ok(()), runner::Verdict::end)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
