//! Runs tests with nextest where it is installed and with plain `cargo test` where it is not, and counts skipped ones as skipped.
//!
//! A test that lacks something returns early, which every runner takes for a pass. It writes its name to the file of
//! `PARAFFIN_SKIPPED` first (`paraffin_testkit::skipped`), and the verdict counts it from there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cargo;
use xtask::process::{Failure, Outcome, answers, capture, run, typed};

/// How many of the slowest tests are named after a run.
const SLOWEST: usize = 20;

/// What is run.
#[derive(Default)]
pub(super) struct Tests {
    /// Packages; the whole workspace when there are none.
    pub(super) packages: Vec<String>,
    /// Features beside the default ones.
    pub(super) features: Option<&'static str>,
    /// Tests that take long are skipped.
    pub(super) quick: bool,
    /// A test whose part the project's scripts install fails without it: it sees `CI=true`.
    pub(super) strict: bool,
    /// Where schemathesis was installed.
    pub(super) schemathesis: Option<PathBuf>,
    /// Where the Python that has DuckDB was installed.
    pub(super) duckdb: Option<PathBuf>,
    /// Where the compiler of TypeScript was installed.
    pub(super) typescript: Option<PathBuf>,
}

/// How the tests ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Verdict {
    /// Prints the verdict, the last line of all; an error when a test failed.
    pub(super) fn end(self) -> Outcome {
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.failed == 0 { Ok(()) } else { Err(Failure::new("tests failed: see above")) }
    }

    /// Takes tests that were counted as passed and say that they were skipped.
    fn correct(mut self, skipped: &BTreeMap<String, String>) -> Self {
        let skipped = (skipped.len() as u64).min(self.passed);
        self.passed -= skipped;
        self.skipped += skipped;
        self
    }

    /// Understands `test result: ok. 12 passed; 0 failed; 3 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.trim_start().strip_prefix("test result:") else { return };
        let count = |word: &str| {
            let clause = result.split([';', '.']).find_map(|clause| clause.trim().strip_suffix(word))?;
            clause.trim().parse::<u64>().ok()
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
        self.skipped += count("ignored").unwrap_or(0);
    }
}

/// Runs the tests and answers how they ended; an error when they could not be run, such as for one that does not compile.
pub(super) fn test(root: &Path, tests: &Tests) -> Outcome<Verdict> {
    let names = xtask::repository::target(root).join("skipped-tests");
    // Names of an earlier run would be counted again.
    let _ = fs::remove_file(&names);
    let with_nextest = answers("cargo", &["nextest", "--version"]);
    let mut command = cargo(root);
    if with_nextest {
        // Many tests wait for other processes, so a few more than there are cores run at a time.
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        command.args(["nextest", "run", "--no-fail-fast", "--test-threads", &(cores + cores.div_ceil(2)).to_string()]);
    } else {
        println!("cargo-nextest is not installed: with `cargo test`");
        command.args(["test", "--no-fail-fast"]);
    }
    command.arg("--locked").args(tests.features.map(|features| format!("--features={features}")));
    if tests.packages.is_empty() {
        command.arg("--workspace");
    }
    for package in &tests.packages {
        command.args(["--package", package]);
    }
    command.env("PARAFFIN_SKIPPED", &names);
    if tests.quick {
        command.env("PARAFFIN_QUICK", "1");
    }
    if tests.strict {
        command.env("CI", "true");
    }
    if let Some(program) = &tests.schemathesis {
        command.env("PARAFFIN_SCHEMATHESIS", program);
    }
    if let Some(program) = &tests.duckdb {
        command.env("PARAFFIN_DUCKDB", program);
    }
    if let Some(program) = &tests.typescript {
        command.env("PARAFFIN_TSC", program);
    }
    let verdict = if with_nextest { with_report(root, &mut command)? } else { summed(&mut command)? };
    let skipped = skipped(&fs::read_to_string(&names).unwrap_or_default());
    for (why, tests) in by_reason(&skipped) {
        println!("skipped: {why}");
        for test in tests {
            println!("    {test}");
        }
    }
    Ok(verdict.correct(&skipped))
}

/// What one machine does not need, and the features bring.
const OPTIONAL: [&str; 6] = ["async-nats", "opentelemetry_sdk", "parquet", "redis", "sqlx-postgres", "wasmtime"];

/// Libraries that the features change, so that they are built twice, with the crates that need them.
const BUILT_TWICE: [&str; 3] = ["sqlx", "sqlx-core", "wasm-encoder"];

/// The default build: it compiles without the features that tests switch on and what they bring, and its `dev` keeps its contract.
pub(super) fn smoke(root: &Path) -> Outcome {
    let compiled = |features: &str, of: &[&str], format: &str| {
        let mut tree = cargo(root);
        tree.args(["tree", "--locked", "--prefix", "none", "--format", format, "--features", features]).args(of);
        let tree = capture(&mut tree)?;
        Ok::<_, Failure>(tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect::<BTreeSet<_>>())
    };
    let name = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
    let optional = |features: &str| {
        let shipped = compiled(features, &["--package", "paraffin", "--edges", "normal"], "{p}")?;
        Ok::<_, Failure>(
            shipped.iter().map(name).filter(|name| OPTIONAL.contains(&name.as_str())).collect::<BTreeSet<_>>(),
        )
    };
    let (plain, full) = (optional("")?, optional(super::FEATURES)?);
    if !plain.is_empty() || full.len() != OPTIONAL.len() {
        return Err(Failure::new(format!(
            "the default build has {plain:?} and should have none; with all features it has {full:?} and should have {OPTIONAL:?}"
        )));
    }
    let tested = |features: &str| compiled(features, &["--workspace", "--edges", "normal,build,dev"], "{p} [{f}]");
    let (plain, full) = (tested("")?, tested(super::FEATURES)?);
    let changed: BTreeSet<_> = plain.difference(&full).map(name).collect();
    let is_expected = |name: &String| name.starts_with("paraffin") || BUILT_TWICE.contains(&name.as_str());
    let unexpected: Vec<_> = changed.iter().filter(|name| !is_expected(name)).collect();
    if !unexpected.is_empty() {
        return Err(Failure::new(format!(
            "the features of the program change {unexpected:?}, so most crates are built twice: name what they switch on among the \
             dev-dependencies of bin/paraffin"
        )));
    }
    // The whole workspace with a filter: a single package would have libraries built again with fewer features.
    let mut command = cargo(root);
    command.args(["test", "--workspace", "--locked", "--quiet", "--test", "program", "dev_contract::"]);
    run(&mut command)
}

/// Runs the tests of `contracts/`, a workspace of its own with versions of its own.
pub(super) fn contracts(root: &Path) -> Outcome {
    let mut command = cargo(&root.join("contracts"));
    command.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"]);
    let verdict = summed(command.arg("--target-dir").arg(crate::contracts::target(root)))?;
    verdict.end()
}

/// Runs nextest and reads its report.
fn with_report(root: &Path, command: &mut Command) -> Outcome<Verdict> {
    let report = xtask::repository::target(root).join("nextest/default/junit.xml");
    let _ = fs::remove_file(&report);
    let outcome = run(command);
    // Without a report nothing was run: something does not compile.
    let Ok(report) = fs::read_to_string(&report) else { return outcome.map(|()| Verdict::default()) };
    let report = Report::read(&report);
    println!("\nthe slowest tests:");
    for (seconds, name) in report.slowest.iter().take(SLOWEST) {
        println!("{seconds:>8.1} s  {name}");
    }
    let verdict = Verdict { passed: report.tests - report.failed.min(report.tests), failed: report.failed, skipped: 0 };
    match outcome {
        Err(failure) if verdict.failed == 0 => Err(failure),
        _ => Ok(verdict),
    }
}

/// What the `JUnit` file of nextest says.
#[derive(Debug, Default, PartialEq)]
struct Report {
    tests: u64,
    failed: u64,
    /// Seconds and name of each test, slowest first.
    slowest: Vec<(f64, String)>,
}

impl Report {
    fn read(xml: &str) -> Self {
        let mut report = Self::default();
        for tag in xml.split('<') {
            let value = |name: &str| {
                let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
                rest.split_once('"').map(|(value, _)| value)
            };
            let number = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            if tag.starts_with("testsuites ") {
                report.tests = number("tests");
                report.failed = number("failures") + number("errors");
            } else if tag.starts_with("testcase ") {
                let seconds = value("time").and_then(|text| text.parse().ok()).unwrap_or(0.0);
                let name = format!("{} {}", value("classname").unwrap_or(""), value("name").unwrap_or(""));
                report.slowest.push((seconds, name));
            }
        }
        report.slowest.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        report
    }
}

/// Why each test was skipped, by its name; the first reason counts.
fn skipped(lines: &str) -> BTreeMap<String, String> {
    let mut skipped = BTreeMap::new();
    for (name, why) in lines.lines().filter_map(|line| line.split_once('\t')) {
        skipped.entry(name.to_owned()).or_insert_with(|| why.to_owned());
    }
    skipped
}

fn by_reason(skipped: &BTreeMap<String, String>) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, why) in skipped {
        reasons.entry(why).or_default().push(name);
    }
    reasons
}

/// Shows what `cargo test` prints and adds up the verdicts of its test programs.
fn summed(command: &mut Command) -> Outcome<Verdict> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("`{}` does not start: {error}", typed(command))))?;
    let mut total = Verdict::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            total.add(&line);
        }
    }
    let status = child.wait().map_err(|error| Failure::new(format!("`{}`: {error}", typed(command))))?;
    if !status.success() && total.failed == 0 {
        return Err(Failure::new(format!("`{}` ended with {status}", typed(command))));
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_several_test_programs_are_added_up() {
        let mut total = Verdict::default();
        total.add("running 3 tests");
        total.add("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        total.add("test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.50s");
        assert_eq!(total, Verdict { passed: 13, failed: 2, skipped: 1 });
    }

    #[test]
    fn a_test_that_says_it_was_skipped_is_no_pass_whatever_the_times_it_says_so() {
        let skipped = skipped("store a\tno disk\nstore a\tno node\nchain b\tno node\n");
        assert_eq!(by_reason(&skipped)["no node"], ["chain b"]);
        let verdict = Verdict { passed: 5, failed: 1, skipped: 0 }.correct(&skipped);
        assert_eq!(verdict, Verdict { passed: 3, failed: 1, skipped: 2 });
        assert!(verdict.end().is_err());
    }

    #[test]
    fn a_report_gives_counts_and_the_slowest_tests() {
        let xml = "<?xml version=\"1.0\"?>\n<testsuites name=\"nextest-run\" tests=\"3\" failures=\"1\" errors=\"0\" \
                   time=\"9.1\">\n<testsuite name=\"store\" tests=\"3\">\n\
                   <testcase name=\"a\" classname=\"store\" time=\"0.5\"></testcase>\n\
                   <testcase name=\"b\" classname=\"store::x\" time=\"7.25\"><failure type=\"f\"/></testcase>\n";
        let report = Report::read(xml);
        assert_eq!((report.tests, report.failed), (3, 1));
        assert_eq!(report.slowest, [(7.25, "store::x b".to_owned()), (0.5, "store a".to_owned())]);
    }
}
