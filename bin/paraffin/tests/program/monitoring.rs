//! The dashboard and the alert rules of `packaging/` name nothing that the program does not report.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::support::dev::Dev;
use crate::support::{free_port, http, wait_for};

const DASHBOARD: &str = include_str!("../../../../packaging/grafana/paraffin.json");
const RULES: &str = include_str!("../../../../packaging/prometheus/alerts.yml");
/// What Prometheus adds to every figure, and histograms to their buckets.
const ADDED: [&str; 3] = ["instance", "job", "le"];

/// Figures with the labels that they have.
type Figures = BTreeMap<String, BTreeSet<String>>;

/// The figures of Prometheus's text form.
fn reported(text: &str) -> Figures {
    let mut figures = Figures::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let labels = line.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(labels, _)| labels);
        let names = labels.split("\",").filter_map(|label| label.split_once('=')).map(|(name, _)| name.to_owned());
        figures.entry(name.to_owned()).or_default().extend(names);
    }
    figures
}

/// The words of an expression, each with the text behind it.
fn words(expression: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = expression;
    std::iter::from_fn(move || {
        let begin = rest.find(is_part)?;
        let word = &rest[begin..];
        let end = word.find(|letter| !is_part(letter)).unwrap_or(word.len());
        rest = &word[end..];
        Some((&word[..end], rest))
    })
}

/// What an expression names that is not reported.
fn unknown(expression: &str, figures: &Figures) -> Vec<String> {
    let mut findings = Vec::new();
    let mut known: BTreeSet<&str> = ADDED.into();
    for (word, rest) in words(expression).filter(|(word, _)| word.starts_with("paraffin_")) {
        let Some(labels) = figures.get(word) else {
            findings.push(word.to_owned());
            continue;
        };
        known.extend(labels.iter().map(String::as_str));
        let matchers =
            rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(matchers, _)| matchers);
        for matcher in matchers.split("\",").filter_map(|matcher| matcher.split_once('=')) {
            let label = matcher.0.trim();
            if !labels.contains(label) && !ADDED.contains(&label) {
                findings.push(format!("{word}{{{label}}}"));
            }
        }
    }
    // `by (…)` and `on (…)` name labels of the figures in the expression.
    for (word, rest) in words(expression).filter(|(word, _)| ["by", "on"].contains(word)) {
        let list =
            rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(list, _)| list);
        let labels = list.split(',').map(str::trim);
        findings.extend(labels.filter(|label| !known.contains(label)).map(|label| format!("{word} ({label})")));
    }
    findings
}

fn expressions() -> Vec<String> {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut all: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    all.extend(dashboard["templating"]["list"][1]["query"].as_str().map(str::to_owned));
    // An expression of a rule stands on its line, or on those below `|`.
    for rule in RULES.split("- alert:").skip(1) {
        let expression = rule.split_once("expr:").unwrap().1;
        let end =
            ["\n        for:", "\n        labels:"].iter().filter_map(|word| expression.find(word)).min().unwrap();
        all.push(expression[..end].trim().trim_start_matches('|').to_owned());
    }
    all
}

#[test]
fn dashboard_and_alert_rules_name_figures_and_labels_that_exist() {
    let metrics = format!("127.0.0.1:{}", free_port());
    let dev = Dev::start_with(&["--metrics-listen", &metrics]);
    // Some figures have a label only after the first request, and some after the first change.
    dev.call("btc_getblockcount", serde_json::json!([]));
    dev.mine(1);
    let all = expressions();
    assert!(all.len() > 30, "{}", all.len());
    let findings = || -> Vec<String> {
        let figures = reported(&http::get(&metrics, "/metrics").text());
        all.iter().flat_map(|expression| unknown(expression, &figures)).collect()
    };
    wait_for("figures", Duration::from_secs(20), || {
        findings().is_empty().then_some(()).or_else(|| {
            eprintln!("not reported: {:?}", findings());
            None
        })
    });
}

#[test]
fn an_unknown_figure_or_label_is_found() {
    let figures = reported("# HELP a\nparaffin_a{kind=\"x\",of=\"y,z\"} 1\nparaffin_b 2\n");
    assert_eq!(
        unknown("sum by (kind, of) (rate(paraffin_a{kind=\"x\", of=~\"y\"}[5m])) / on (instance) paraffin_b", &figures),
        [""; 0]
    );
    assert_eq!(unknown("paraffin_c", &figures), ["paraffin_c"]);
    assert_eq!(unknown("paraffin_b{kind=\"x\"}", &figures), ["paraffin_b{kind}"]);
    assert_eq!(unknown("sum by (kind) (paraffin_b)", &figures), ["by (kind)"]);
}
