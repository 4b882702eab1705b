//! Change events that become durable: the bench of the orderbook room, whose line becomes a bar.
//!
//! Catches: a flush for every event or request where one serves many. Needs neither a node nor a chain.

use std::path::Path;
use std::process::Command;

use crate::vm::read;
use xtask::bar::{Bar, Floor};
use xtask::process::{Outcome, capture};

const COMMAND: &str = "cargo bench -p paraffin-orderbook --bench ingest";

pub(crate) fn measure(root: &Path) -> Outcome<Vec<Bar>> {
    let told = capture(Command::new("cargo").current_dir(root).args(["bench", "--quiet"]).args([
        "--package",
        "paraffin-orderbook",
        "--bench",
        "ingest",
    ]))?;
    let (bar, rows) = read(&told, COMMAND, "orderbook ingest", Floor::AtLeast)?;
    bar.report(root, "orderbook-ingest", COMMAND, &rows)?;
    Ok(vec![bar])
}
