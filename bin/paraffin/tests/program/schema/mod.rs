//! schemathesis against every REST route of a running `paraffin dev`.
//!
//! It reads the instance's own description and sends what fits it and what does not. Every answer must be one of those that
//! are described, with the status, the headers and the members given there, and none may be a failure of the server. Two of its
//! checks are left out: input that fits a schema may still be refused, for a checksum that is wrong or a pool that does not
//! exist, and the description says so.
//!
//! The first run takes the description as it is. Few of its requests name something that exists, so the second one takes it
//! with the ids and addresses of this chain put in.

mod known;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::http;

/// What is not checked; see above.
const CHECKS_LEFT_OUT: &str = "positive_data_acceptance,negative_data_rejection";

/// Chooses the requests, so that what one run finds the next one finds too. `PARAFFIN_SCHEMA_SEED` gives another.
const SEED: &str = "1";

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
/// Another verb than those that are described is 404 there, as it is with Blockstream's server.
const ESPLORA: Run = Run { name: "esplora", phases: "examples,coverage,fuzzing", examples_max: "20" };
const WITH_KNOWN: Run = Run { name: "with-known", phases: "fuzzing,stateful", examples_max: "50" };

#[test]
fn every_route_answers_as_its_description_says() {
    let Some(tool) = std::env::var_os("PARAFFIN_SCHEMATHESIS") else {
        return paraffin_testkit::missing("`cargo xtask schema` installs schemathesis and runs this test");
    };
    let seed = std::env::var("PARAFFIN_SCHEMA_SEED").unwrap_or_else(|_| SEED.to_owned());
    let dev = Dev::start();
    let folder = tempfile::tempdir().unwrap();
    let description = |path: &str| {
        let answer = http::get(dev.listen(), path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    };
    let described = description("/v4/openapi.json");
    let known = known::with_known(&described, &dev.described).unwrap();
    let base = dev.text("/base_url");
    // The admin key has no limits and may feed the order book.
    let keyed = format!("{base}/v4/{}", dev.text("/keys/admin"));
    let explorer = format!("{base}/api/v1/{}", dev.text("/keys/business"));
    let esplora = format!("{keyed}/esplora");
    let history = dev.call("esplora_address::txs:chain", json!([dev.text("/accounts/4/address")]));
    let of_esplora =
        known::with_parameters(description("/v4/openapi/esplora.json"), &dev.described, &history[0]["txid"]);
    let of_explorer = description("/api/v1/openapi.json");
    let mut tried = Tried::default();
    let mut findings = Vec::new();
    let runs = [
        (AS_IT_IS, &described, &keyed),
        (WITH_KNOWN, &known, &keyed),
        (ESPLORA, &of_esplora, &esplora),
        (EXPLORER, &of_explorer, &explorer),
    ];
    for (run, document, url) in runs {
        let report = folder.path().join(format!("{}-report.json", run.name));
        let path = folder.path().join(format!("{}.json", run.name));
        std::fs::write(&path, document.to_string()).unwrap();
        let status = Command::new(&tool)
            .current_dir(folder.path())
            .arg("run")
            .arg(&path)
            .args(["--url", url, "--checks", "all", "--exclude-checks"])
            .arg(if run.name == ESPLORA.name {
                format!("{CHECKS_LEFT_OUT},unsupported_method")
            } else {
                CHECKS_LEFT_OUT.to_owned()
            })
            // One worker: two threads that compile at once bring Python 3.11 down now and then.
            .args(["--phases", run.phases, "--max-examples", run.examples_max, "--workers", "1", "--seed", &seed])
            .args(["--continue-on-failure", "--warnings", "off", "--generation-database", "none"])
            .args(["--report", "json", "--report-json-path"])
            .arg(&report)
            .status()
            .unwrap();
        if !status.success() {
            findings.push(run.name);
        }
        if run.name != EXPLORER.name {
            tried.read(&report);
        }
    }
    print!("{}", tried.table());
    assert!(
        findings.is_empty(),
        "schemathesis with seed {seed} has findings in {findings:?}, each above with a curl line"
    );
    // Transactions that the node takes are not made up by chance.
    let is_sent = |route: &&str| ["GET /broadcast", "POST /tx", "POST /txs/package"].contains(route);
    let unanswered: Vec<&str> = tried.unanswered().into_iter().filter(|route| !is_sent(route)).collect();
    assert!(unanswered.is_empty(), "no request got an answer other than an error: {}", unanswered.join(", "));
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
    fn read(&mut self, path: &Path) {
        let report: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        self.add(&report).unwrap_or_else(|| panic!("{} has no `valid_rates`", path.display()));
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
