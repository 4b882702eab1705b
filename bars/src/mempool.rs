//! The live mempool under load: the bench of the gateway, whose lines become bars.
//!
//! Needs neither a node nor a chain.

use std::path::Path;
use std::process::Command;

use crate::vm::{Side, read, rows_behind};
use xtask::bar::{Bar, Floor};
use xtask::process::{Outcome, capture};

const COMMAND: &str = "cargo bench -p paraffin-gateway --bench mempool";

/// What the bench is asked for, the name in its line, the file, and whether the floor is a least or a most.
const LINES: [(&str, &str, &str, Side); 3] = [
    ("snapshot", "mempool snapshot", "mempool-snapshot", Floor::AtMost),
    ("observe", "mempool observe", "mempool-observe", Floor::AtMost),
    ("deliveries", "mempool deliveries", "mempool-deliveries", Floor::AtLeast),
];

pub(crate) fn measure(root: &Path) -> Outcome<Vec<Bar>> {
    let mut bars = Vec::new();
    for (asked, name, file, floor) in LINES {
        let mut bench = Command::new("cargo");
        bench.current_dir(root).args(["bench", "--quiet", "--package", "paraffin-gateway", "--bench", "mempool"]);
        let told = capture(bench.args(["--", "--bar", asked]))?;
        let command = format!("{COMMAND} -- --bar {asked}");
        let (bar, _) = read(&told, &command, name, floor)?;
        bar.report(root, file, &command, &rows_behind(&told))?;
        bars.push(bar);
    }
    Ok(bars)
}
