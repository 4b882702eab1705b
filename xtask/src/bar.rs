//! One figure: printed as a line of JSON, kept as a file, compared with its floor.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::process::{Failure, Outcome, capture};

/// Which side of the floor is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Floor {
    /// The value may not be below it.
    AtLeast(f64),
    /// The value may not be above it.
    AtMost(f64),
    /// Reported for information.
    None,
}

/// One measured figure.
#[derive(Debug, Clone)]
pub struct Bar {
    /// As in `docs/performance.md`.
    pub name: String,
    /// In the unit that `how` states.
    pub value: f64,
    /// What is met or missed.
    pub floor: Floor,
    /// What was measured, and how.
    pub how: String,
}

impl Bar {
    /// Its name as that of a file.
    fn file(&self) -> String {
        let words = self.name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }

    /// Whether the value is on the good side of the floor.
    pub fn is_met(&self) -> bool {
        match self.floor {
            Floor::AtLeast(floor) => self.value >= floor,
            Floor::AtMost(floor) => self.value <= floor,
            Floor::None => true,
        }
    }

    /// Prints the line and adds the figure with the rows behind it to `benches/results/<date>-<name>.csv`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn report(&self, root: &Path, command: &str, rows: &str) -> Outcome {
        let (side, floor) = match self.floor {
            Floor::AtLeast(floor) => ("at_least", json!(floor)),
            Floor::AtMost(floor) => ("at_most", json!(floor)),
            Floor::None => ("floor", json!(null)),
        };
        let line = json!({"bar": self.name, "value": round(self.value), side: floor, "how": self.how});
        println!("{line}");
        let date = capture(Command::new("date").arg("+%F"))?;
        let commit = commit(root);
        let file = self.file();
        let folder = root.join("benches/results");
        let path = folder.join(format!("{}-{file}.csv", date.trim()));
        let failed = |error| Failure::new(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let mut text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = writeln!(text, "# commit: {commit}\n# command: {command}\n# machine: {}\n# {line}", machine());
        text.push_str(rows);
        std::fs::write(&path, text).map_err(failed)
    }
}

/// The commit that is measured, marked when the sources differ from it.
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| capture(Command::new("git").current_dir(root).args(arguments));
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|_| "unknown".to_owned());
    // Results of this very run are no change of the sources.
    let changes = git(&["status", "--porcelain", "--", ".", ":!benches/results"]).unwrap_or_default();
    format!("{}{}", commit.trim(), if changes.trim().is_empty() { "" } else { " with changes" })
}

/// The program that is measured: the newest commit that changed it, and whether it was changed since.
pub fn program(root: &Path) -> String {
    const SOURCES: [&str; 3] = ["crates", "bin", "Cargo.lock"];
    let git = |arguments: &[&str]| {
        capture(Command::new("git").current_dir(root).args(arguments).arg("--").args(SOURCES)).unwrap_or_default()
    };
    let commit = git(&["log", "-1", "--format=%h"]);
    let changes = git(&["status", "--porcelain"]);
    format!("{}{}", commit.trim(), if changes.trim().is_empty() { "" } else { " with changes" })
}

fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Processor, cores, memory and how busy the machine is.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let of = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        line.split_once(':').map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let cores = processors.lines().filter(|line| line.starts_with("processor")).count();
    let load = read("/proc/loadavg");
    format!(
        "{}; {cores} cores; {} memory; load {}",
        of(&processors, "model name"),
        of(&read("/proc/meminfo"), "MemTotal"),
        load.split(' ').take(3).collect::<Vec<_>>().join(" ")
    )
}

/// Prints all figures for people.
pub fn table(bars: &[Bar]) {
    println!("\n{:<44} {:>12} {:>10}  ", "bar", "value", "floor");
    for bar in bars {
        let judged = if bar.is_met() { "met" } else { "MISSED" };
        let (floor, mark) = match bar.floor {
            Floor::AtLeast(floor) => (format!(">= {floor}"), judged),
            Floor::AtMost(floor) => (format!("<= {floor}"), judged),
            Floor::None => ("none".to_owned(), ""),
        };
        println!("{:<44} {:>12.3} {:>10}  {mark:<7} {}", bar.name, bar.value, floor, bar.how);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_has_a_good_side() {
        let bar = |value, floor| Bar { name: "x, 10".to_owned(), value, floor, how: String::new() };
        assert!(bar(2.0, Floor::AtLeast(2.0)).is_met() && !bar(1.9, Floor::AtLeast(2.0)).is_met());
        assert!(bar(2.0, Floor::AtMost(2.0)).is_met() && !bar(2.1, Floor::AtMost(2.0)).is_met());
        assert!(bar(0.0, Floor::None).is_met());
        assert_eq!(bar(0.0, Floor::None).file(), "x-10");
    }
}
