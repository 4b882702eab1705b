//! The benches of the crates, whose lines of JSON become bars. They need neither a node nor a chain.
//!
//! A bench prints for each figure one line with `bar`, `value`, `how` and its floor as `at_least` or `at_most` (or none), and
//! behind it the samples as comma-separated rows.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, capture, typed};

/// A bench and the group of figures that it gives.
pub(crate) struct CrateBench {
    pub(crate) group: &'static str,
    package: &'static str,
    bench: &'static str,
    /// What the bench is asked for, one run each.
    asked: &'static [&'static [&'static str]],
    /// Features of the package that the bench needs.
    features: &'static str,
}

const fn bench(group: &'static str, package: &'static str, bench: &'static str) -> CrateBench {
    CrateBench { group, package, bench, asked: &[&[]], features: "" }
}

static BENCHES: [CrateBench; 12] = [
    bench("gateway", "paraffin-surfaces", "gateway_cost"),
    bench("limiter", "paraffin-access", "limiter"),
    CrateBench {
        asked: &[&["--bar", "snapshot"], &["--bar", "observe"], &["--bar", "deliveries"]],
        ..bench("mempool", "paraffin-surfaces", "mempool")
    },
    // As in packages.
    CrateBench { features: "machine-code", ..bench("mints", "paraffin-alkanes", "mints") },
    bench("orderbook", "paraffin-orderbook", "ingest"),
    bench("ordinals", "paraffin-ordinals-index", "import"),
    bench("pages", "paraffin-indexer", "history_page"),
    bench("reads", "paraffin-indexer", "large_reads"),
    bench("routing", "paraffin-amm", "routing"),
    CrateBench { features: "postgres,redis", ..bench("shared", "paraffin-access", "shared") },
    bench("views", "paraffin-surfaces", "views"),
    bench("vm", "paraffin-alkanes", "vm"),
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static CrateBench> {
    BENCHES.iter()
}

/// Runs the bench and reports its figures.
pub(crate) fn measure(root: &Path, of: &CrateBench) -> Outcome<Vec<Bar>> {
    let mut all = Vec::new();
    for asked in of.asked {
        let mut command = Command::new("cargo");
        command.current_dir(root).args(["bench", "--quiet", "--package", of.package, "--bench", of.bench]);
        if !of.features.is_empty() {
            command.args(["--features", of.features]);
        }
        if !asked.is_empty() {
            command.arg("--").args(*asked);
        }
        let command_line = typed(&command);
        let output = capture(&mut command)?;
        let bars = read(&output)?;
        if bars.is_empty() {
            return Err(Failure::new(format!("`{command_line}` prints no figure:\n{output}")));
        }
        for (bar, rows) in bars {
            bar.report(root, &command_line, &rows)?;
            all.push(bar);
        }
    }
    Ok(all)
}

/// The figures in what a bench printed, each with the rows behind it.
fn read(output: &str) -> Outcome<Vec<(Bar, String)>> {
    let mut bars: Vec<(Bar, String)> = Vec::new();
    for line in output.lines().filter(|line| !line.trim().is_empty()) {
        let figure = serde_json::from_str::<Value>(line).ok().filter(|figure| figure["bar"].is_string());
        match (figure, bars.last_mut()) {
            (Some(figure), _) => bars.push((bar(&figure)?, String::new())),
            (None, Some((_, rows))) => {
                rows.push_str(line);
                rows.push('\n');
            }
            // What comes before the first figure belongs to none.
            (None, None) => {}
        }
    }
    Ok(bars)
}

fn bar(figure: &Value) -> Outcome<Bar> {
    let text = |member: &str| figure[member].as_str().unwrap_or_default().to_owned();
    let value = figure["value"].as_f64().ok_or_else(|| Failure::new(format!("no `value` in {figure}")))?;
    let floor = match (figure["at_least"].as_f64(), figure["at_most"].as_f64()) {
        (Some(floor), None) => Floor::AtLeast(floor),
        (None, Some(floor)) => Floor::AtMost(floor),
        (None, None) => Floor::None,
        (Some(_), Some(_)) => return Err(Failure::new(format!("two floors in {figure}"))),
    };
    Ok(Bar { name: text("bar"), value, floor, how: text("how") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_bench_become_bars_with_the_rows_behind_them() {
        let output = "running\n{\"bar\":\"contract call\",\"value\":0.026,\"at_most\":0.3,\"how\":\"median\"}\n\
                      {\"bar\":\"vm\",\"value\":440.1,\"at_least\":20.0,\"how\":\"mixed\"}\nround,ms\n1,0.05\n\n\
                      {\"bar\":\"size\",\"value\":3,\"how\":\"for information\"}\n";
        let bars = read(output).unwrap();
        let of = |place: usize| (bars[place].0.name.as_str(), bars[place].0.floor, bars[place].1.as_str());
        assert_eq!(bars.len(), 3);
        assert_eq!(of(0), ("contract call", Floor::AtMost(0.3), ""));
        assert_eq!(of(1), ("vm", Floor::AtLeast(20.0), "round,ms\n1,0.05\n"));
        assert_eq!(of(2), ("size", Floor::None, ""));
        assert!(read("{\"bar\":\"x\",\"value\":1,\"at_least\":1,\"at_most\":2}").is_err());
        assert!(read("{\"bar\":\"x\"}").is_err());
    }
}
