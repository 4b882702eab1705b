//! `cargo xtask schema`: schemathesis against every REST route of a running `paraffin dev`.
//!
//! It reads the instance's own description and sends what fits it and what does not. Every answer must be one of those that
//! are described, with the status, the headers and the members told, and none may be a failure of the server. Two of its
//! checks are left out: input that fits a schema may still be refused, for a checksum that is wrong or a pool that does not
//! exist, and the description tells that.
//!
//! The first run takes the description as it is. Few of its requests name something that exists, so the second one takes it
//! with the ids and addresses of this chain put in.

mod known;
mod platform;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process::{Failure, Outcome, answers, capture, run};
use crate::versions::{pinned, pinned_list};
use platform::Platform;

/// What is not checked; see above.
const CHECKS_LEFT_OUT: &str = "positive_data_acceptance,negative_data_rejection";

/// What Debian has apart from Python itself.
const VENV_PACKAGE: &str = "python3-venv";

/// One run of schemathesis.
struct Run {
    name: &'static str,
    phases: &'static str,
    /// Requests for one route in its phase of random ones.
    examples_max: &'static str,
}

const AS_IT_IS: Run = Run { name: "as-it-is", phases: "examples,coverage,fuzzing", examples_max: "10" };
/// Verification has a description and a base of its own. On a fresh chain no source is verified, so few routes have an answer.
const EXPLORER: Run = Run { name: "explorer", phases: "examples,coverage,fuzzing", examples_max: "20" };
const WITH_KNOWN: Run = Run { name: "with-known", phases: "fuzzing,stateful", examples_max: "50" };

/// Runs both and prints what was tried; an error when there is a finding, or a route that never gave an answer.
pub(crate) fn check(root: &Path) -> Outcome {
    let tool = provide(root)?;
    let place = root.join("target/schema");
    let platform = Platform::start(root, &place.join("dev"))?;
    let described = platform.description()?;
    let mut tried = Tried::default();
    let mut findings = Vec::new();
    let known = known::with_known(&described, platform.manifest())?;
    let (keyed, explorer) = (platform.keyed_url(), platform.explorer_url());
    let of_explorer = platform.explorer_description()?;
    for (task, document, url) in
        [(AS_IT_IS, &described, &keyed), (WITH_KNOWN, &known, &keyed), (EXPLORER, &of_explorer, &explorer)]
    {
        let report = place.join(format!("{}-report.json", task.name));
        let path = place.join(format!("{}.json", task.name));
        write(&path, &document.to_string())?;
        let outcome = run(Command::new(&tool)
            .current_dir(&place)
            .arg("run")
            .arg(&path)
            .args(["--url", url, "--checks", "all", "--exclude-checks", CHECKS_LEFT_OUT])
            // One worker: two threads that compile at once bring Python 3.11 down now and then.
            .args(["--phases", task.phases, "--max-examples", task.examples_max, "--workers", "1"])
            .args(["--continue-on-failure", "--warnings", "off", "--generation-database", "none"])
            .args(["--report", "json", "--report-json-path"])
            .arg(&report));
        findings.extend(outcome.err());
        if task.name != EXPLORER.name {
            tried.read(&report)?;
        }
    }
    print!("{}", tried.table());
    if let Some(finding) = findings.into_iter().next() {
        return Err(Failure::new(format!(
            "schemathesis has findings, told above with a curl line for each\n{finding}"
        )));
    }
    let unanswered = tried.unanswered();
    if unanswered.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("no request got an answer other than an error: {}", unanswered.join(", "))))
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// The program, installed into `target/tools` with exactly the packages that are pinned.
fn provide(root: &Path) -> Outcome<PathBuf> {
    let version = pinned(root, "schemathesis", "version")?;
    let place = root.join("target/tools/schemathesis");
    let program = place.join("bin/schemathesis");
    let mut packages = vec![format!("schemathesis=={version}")];
    packages.extend(pinned_list(root, "schemathesis", "with")?);
    let wanted = packages.join("\n") + "\n";
    let list = place.join("packages.txt");
    let is_there = std::fs::read_to_string(&list).is_ok_and(|installed| installed == wanted);
    if is_there && answers(&program.to_string_lossy(), &["--version"]) {
        return Ok(program);
    }
    println!("installing schemathesis {version} into target/tools, once");
    if place.exists() {
        std::fs::remove_dir_all(&place).map_err(|error| Failure::new(format!("{}: {error}", place.display())))?;
    }
    provide_venv(&place)?;
    let requirements = place.join("requirements.txt");
    write(&requirements, &wanted)?;
    let pip = place.join("bin/pip");
    // What is not on the list is not installed, so that nothing comes in a version of its own.
    let mut install = Command::new(&pip);
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "-r"]);
    run(install.arg(&requirements))?;
    run(Command::new(&pip).args(["--disable-pip-version-check", "check"]))?;
    write(&list, &wanted)?;
    Ok(program)
}

fn provide_venv(place: &Path) -> Outcome {
    let venv = || {
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(place);
        command
    };
    if capture(&mut venv()).is_ok() {
        return Ok(());
    }
    if std::env::var_os("CI").is_none_or(|value| value != "true") {
        return Err(Failure::new(format!(
            "schemathesis needs Python 3.11 or newer with `venv`. On Debian or Ubuntu:  sudo apt-get install {VENV_PACKAGE}"
        )));
    }
    let mut update = Command::new("apt-get");
    run(update.args(["update", "-q"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends", VENV_PACKAGE]);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    run(&mut venv())
}

/// How the requests to each route were answered, over both runs.
#[derive(Default)]
struct Tried(BTreeMap<String, Answers>);

/// Answers to requests that fit the schema.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Answers {
    good: u64,
    missing: u64,
    refused: u64,
}

impl Tried {
    /// Adds what a report of schemathesis counts.
    fn read(&mut self, path: &Path) -> Outcome {
        let wrong = |reason: String| Failure::new(format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let report: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        self.add(&report).ok_or_else(|| wrong("it has no `valid_rates`".to_owned()))
    }

    fn add(&mut self, report: &Value) -> Option<()> {
        for (route, phases) in report["valid_rates"].as_object()? {
            let answers = self.0.entry(route.clone()).or_default();
            for phase in phases.as_object()?.values() {
                let count = |name: &str| phase[name].as_u64().unwrap_or(0);
                answers.good += count("accepted");
                answers.missing += count("unreachable");
                answers.refused += count("rejected") + count("conflicts");
            }
        }
        Some(())
    }

    /// Routes of which nothing but refusals is known.
    fn unanswered(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, answers)| answers.good == 0).map(|(route, _)| route.as_str()).collect()
    }

    fn table(&self) -> String {
        let width = self.0.keys().map(String::len).max().unwrap_or(0).max(5);
        let mut table = format!("{:width$}  {:>7} {:>7} {:>7}\n", "route", "good", "404", "400");
        for (route, Answers { good, missing, refused }) in &self.0 {
            let _ = writeln!(table, "{route:width$}  {good:>7} {missing:>7} {refused:>7}");
        }
        let _ = writeln!(table, "{} routes; requests that fit the schema, by how they were answered", self.0.len());
        table
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_route_without_a_good_answer_is_named() {
        let mut tried = Tried::default();
        let phase = |accepted: u64, unreachable: u64| json!({ "fuzzing": { "accepted": accepted, "unreachable": unreachable, "rejected": 1, "conflicts": 0 } });
        tried.add(&json!({ "valid_rates": { "POST /a": phase(0, 2), "GET /b": phase(0, 1) } })).unwrap();
        assert_eq!(tried.unanswered(), ["GET /b", "POST /a"]);
        tried.add(&json!({ "valid_rates": { "POST /a": phase(3, 0) } })).unwrap();
        assert_eq!(tried.unanswered(), ["GET /b"]);
        assert_eq!(tried.0["POST /a"], Answers { good: 3, missing: 2, refused: 2 });
        assert!(tried.table().contains("POST /a        3       2       2"), "{}", tried.table());
        assert!(tried.add(&json!({})).is_none());
    }
}
