//! A view of the pool index beside the health route: the bench of the gateway, whose line becomes a bar.
//!
//! Catches: an answer that is computed again although nothing was indexed since. Needs neither a node nor a chain.

use std::path::Path;
use std::process::Command;

use crate::vm::{read, rows_behind};
use xtask::bar::{Bar, Floor};
use xtask::process::{Outcome, capture};

const COMMAND: &str = "cargo bench -p paraffin-gateway --bench views";

pub(crate) fn measure(root: &Path) -> Outcome<Vec<Bar>> {
    let mut bench = Command::new("cargo");
    bench.current_dir(root).args(["bench", "--quiet", "--package", "paraffin-gateway", "--bench", "views"]);
    let told = capture(&mut bench)?;
    let (bar, _) = read(&told, COMMAND, "pool views", Floor::AtLeast)?;
    bar.report(root, "pool-views", COMMAND, &rows_behind(&told))?;
    Ok(vec![bar])
}
