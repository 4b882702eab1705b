//! Pages of a long history: runs the bench of the index, which prints its figures, and compares them.
//!
//! Catches: a history that is read from its beginning, a page token that is looked for by scanning.

use std::process::Command;

use serde_json::Value;

use xtask::bar::{Bar, Floor};

use crate::Bench;
use xtask::process::{Failure, Outcome, capture};

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let mut command = Command::new("cargo");
    command.current_dir(&bench.root).args(["bench", "--quiet", "-p", "paraffin-indexer", "--bench", "history_page"]);
    let output = capture(&mut command)?;
    let line = output.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = line.ok_or_else(|| Failure::new("the bench `history_page` printed no line of JSON"))?;
    let of = |name: &str| line[name].as_f64().ok_or_else(|| Failure::new(format!("`history_page` lacks `{name}`")));
    let (long, short, deep) = (of("long_first_micros")?, of("short_first_micros")?, of("long_deep_micros")?);
    let transactions = of("transactions")?;
    let bars = vec![
        Bar {
            name: "history page",
            value: long / short,
            floor: Floor::AtMost(1.5),
            how: format!(
                "first 25 of {transactions:.0} transactions {long:.1} us, of 100 transactions {short:.1} us (medians)"
            ),
        },
        Bar {
            name: "history page 10,000",
            value: deep / long,
            floor: Floor::AtMost(2.0),
            how: format!("page 10,000 {deep:.1} us, page 1 {long:.1} us (medians)"),
        },
    ];
    for bar in &bars {
        let name = bar.name.replace([' ', ','], "-");
        bar.report(&bench.root, &name, "cargo bench -p paraffin-indexer --bench history_page", &format!("{line}\n"))?;
    }
    Ok(bars)
}
