//! `cargo xtask soak`: instances under faults beside an undisturbed one, for as long as its arguments say.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, capture};

/// Minutes when nothing else is asked for.
pub(crate) const MINUTES_DEFAULT: u64 = 30;

/// The one test that lasts so long.
const TEST: &str = "instances_that_are_disturbed";

/// Runs the soak, keeps its rows under `benches/results/`, and fails when an answer was wrong.
pub(crate) fn run(root: &Path, minutes: u64) -> Outcome {
    let rows = root.join("target/soak.csv");
    // Rows of an earlier run must not be taken for this one's.
    match std::fs::remove_file(&rows) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("{}: {error}", rows.display())));
        }
        _ => {}
    }
    let mut soak = Command::new("cargo");
    soak.current_dir(root).args([
        "test",
        "--package",
        "paraffin",
        "--features",
        "cluster",
        "--test",
        "program",
        "--",
        "--nocapture",
        TEST,
    ]);
    // The variables that cargo sets for this program would have some libraries built again.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        soak.env_remove(name);
    }
    soak.env("PARAFFIN_SOAK_SECONDS", (minutes * 60).to_string()).env("PARAFFIN_SOAK_CSV", &rows);
    let ended = capture(&mut soak);
    // The rows are there also when the soak has found something, and then they matter most.
    let text = std::fs::read_to_string(&rows).unwrap_or_default();
    let Some((bar, table)) = bar(&text) else {
        return ended.and(Err(Failure::new("the soak has left no figures")));
    };
    bar.report(root, &format!("cargo xtask soak --minutes {minutes}"), table)?;
    ended?;
    if bar.is_met() { Ok(()) } else { Err(Failure::new(format!("wrong answers and windows: {}", bar.value))) }
}

/// The figure of the first line, and the rows below it.
fn bar(text: &str) -> Option<(Bar, &str)> {
    let (line, table) = text.strip_prefix("# ")?.split_once('\n')?;
    let report: Value = serde_json::from_str(line).ok()?;
    let figure = |pointer: &str| report.pointer(pointer)?.as_f64();
    let value = figure("/answers/wrong")? + figure("/windows/above")?;
    let how =
        format!("faults every few seconds to three instances and what they share, beside an undisturbed one: {report}");
    Some((Bar { name: "soak".to_owned(), value, floor: Floor::AtMost(0.0), how }, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_and_windows_are_the_figure_and_the_rows_follow() {
        let line = |wrong: u64, above: u64| {
            let line =
                serde_json::json!({ "answers": { "compared": 9, "wrong": wrong }, "windows": { "above": above } });
            format!("# {line}\nsecond,fault\n1,kill\n")
        };
        let text = line(0, 0);
        let (good, table) = bar(&text).unwrap();
        assert!(good.is_met() && table == "second,fault\n1,kill\n");
        assert!(!bar(&line(1, 0)).unwrap().0.is_met() && !bar(&line(0, 1)).unwrap().0.is_met());
        assert!(bar("").is_none() && bar("# {}\n").is_none());
    }
}
