//! Quotes over many pools: the bench of the market room, whose line becomes a bar.
//!
//! Catches: every route or every pool tried for a quote. Needs neither a node nor a chain.

use std::path::Path;
use std::process::Command;

use crate::vm::read;
use xtask::bar::{Bar, Floor};
use xtask::process::{Outcome, capture};

const COMMAND: &str = "cargo bench -p paraffin-amm --bench routing";

pub(crate) fn measure(root: &Path) -> Outcome<Vec<Bar>> {
    let told = capture(Command::new("cargo").current_dir(root).args(["bench", "--quiet"]).args([
        "--package",
        "paraffin-amm",
        "--bench",
        "routing",
    ]))?;
    let (bar, rows) = read(&told, COMMAND, "routing", Floor::AtLeast)?;
    bar.report(root, "routing", COMMAND, &rows)?;
    Ok(vec![bar])
}
