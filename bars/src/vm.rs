//! What a call of a contract costs: the bench of the alkanes room, whose two lines become bars.
//!
//! Catches: a module that is compiled, unpacked or hashed at every call, a memory that is zeroed by hand. Needs neither a
//! node nor a chain.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, capture};

const COMMAND: &str = "cargo bench -p paraffin-alkanes --bench vm";

/// Which side of its floor is good.
pub(super) type Side = fn(f64) -> Floor;

/// The lines of the bench by the name that they carry there: file, and whether the floor is a least or a most.
const LINES: [(&str, &str, Side); 2] =
    [("contract call", "contract-call", Floor::AtMost), ("vm", "vm", Floor::AtLeast)];

pub(crate) fn measure(root: &Path) -> Outcome<Vec<Bar>> {
    let told = capture(Command::new("cargo").current_dir(root).args(["bench", "--quiet"]).args([
        "--package",
        "paraffin-alkanes",
        "--bench",
        "vm",
    ]))?;
    let mut bars = Vec::new();
    for (name, file, floor) in LINES {
        let (bar, rows) = read(&told, COMMAND, name, floor)?;
        bar.report(root, file, COMMAND, &rows)?;
        bars.push(bar);
    }
    Ok(bars)
}

/// The bar out of its line of JSON among what a command told, and the line as rows of a table.
pub(super) fn read(told: &str, command: &str, name: &'static str, floor: Side) -> Outcome<(Bar, String)> {
    let lines = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.into_iter().find(|line| line["bar"] == name);
    let line = line.ok_or_else(|| Failure::new(format!("`{command}` tells nothing about `{name}`:\n{told}")))?;
    let figure = |member: &str| {
        line[member].as_f64().ok_or_else(|| Failure::new(format!("`{command}`: `{name}` has no number `{member}`")))
    };
    let how = line["how"].as_str().unwrap_or_default().to_owned();
    let bar = Bar { name, value: figure("value")?, floor: floor(figure("floor")?), how };
    let mut rows = "figure,value\n".to_owned();
    for (member, value) in line.as_object().into_iter().flatten().filter(|(_, value)| value.is_number()) {
        let _ = writeln!(rows, "{member},{value}");
    }
    Ok((bar, rows))
}

/// The single figures that a bench prints behind its line of JSON, as a table.
pub(super) fn rows_behind(told: &str) -> String {
    let lines = told.lines().skip_while(|line| !line.starts_with("{\"bar\"")).skip(1);
    lines.filter(|line| !line.trim().is_empty()).fold(String::new(), |rows, line| rows + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_bench_become_bars() {
        let told = "running\n{\"bar\":\"contract call\",\"value\":0.026,\"floor\":0.3,\"how\":\"median\"}\n\
                    {\"bar\":\"vm\",\"value\":440.1,\"floor\":20.0,\"kept_ms\":0.05,\"how\":\"mixed\"}\n";
        let (call, _) = read(told, COMMAND, LINES[0].0, LINES[0].2).unwrap();
        assert_eq!((call.value, call.floor, call.is_met()), (0.026, Floor::AtMost(0.3), true));
        let (vm, rows) = read(told, COMMAND, LINES[1].0, LINES[1].2).unwrap();
        assert_eq!((vm.value, vm.floor, vm.is_met()), (440.1, Floor::AtLeast(20.0), true));
        assert!(rows.starts_with("figure,value\n") && rows.contains("kept_ms,0.05\n"), "{rows}");
        assert_eq!(rows_behind("x\n{\"bar\":\"a\"}\nseconds\n1.5\n\n"), "seconds\n1.5\n");
        assert!(read("", COMMAND, LINES[0].0, LINES[0].2).is_err());
    }
}
