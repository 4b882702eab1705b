//! What an import of another size would take, from those that were measured.
//!
//! A chain of any size has the same shape, so the time for each MB depends on the size alone: `a + b · ln(size)`, since every
//! doubling of a store adds a share of a level to merge and makes a read miss more often. Two sizes give the line, a third tests it.

use std::fmt::Write as _;
use std::path::Path;

use crate::import::float;
use xtask::process::{Failure, Outcome};

/// One import that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// What else must be equal: modules, memory, program.
    pub(crate) kind: String,
    pub(crate) megabytes: f64,
    /// Seconds for each MB.
    pub(crate) cost: f64,
}

/// The line through the costs of imports of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    a: f64,
    b: f64,
}

impl Line {
    /// The line that fits best; `None` for fewer than two sizes.
    pub(crate) fn through(runs: &[Measured]) -> Option<Self> {
        let count = float(runs.len() as u64);
        let mean = |of: &dyn Fn(&Measured) -> f64| runs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|run| run.megabytes.ln()), mean(&|run| run.cost));
        let spread = mean(&|run| (run.megabytes.ln() - x).powi(2));
        if runs.len() < 2 || spread < 0.01 {
            return None;
        }
        let b = mean(&|run| (run.megabytes.ln() - x) * (run.cost - y)) / spread;
        Some(Self { a: y - b * x, b })
    }

    /// Seconds for each MB of a chain of this size.
    pub(crate) fn cost(&self, megabytes: f64) -> f64 {
        self.a + self.b * megabytes.ln()
    }
}

/// Imports of `kind` that earlier calls left in `file`, of sizes that `keep` takes.
pub(crate) fn earlier(file: &Path, kind: &str, keep: impl Fn(f64) -> bool) -> Vec<Measured> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let parse = |line: &str| {
        let mut cells = line.split(',');
        let kind = cells.next()?.to_owned();
        Some(Measured { kind, megabytes: cells.next()?.parse().ok()?, cost: cells.next()?.parse().ok()? })
    };
    text.lines().filter_map(parse).filter(|run| run.kind == kind && keep(run.megabytes)).collect()
}

/// Adds an import to `file`.
pub(crate) fn keep(file: &Path, run: &Measured) -> Outcome {
    let mut text = std::fs::read_to_string(file).unwrap_or_default();
    let _ = writeln!(text, "{},{:.1},{:.6}", run.kind, run.megabytes, run.cost);
    std::fs::write(file, text).map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_foretell_a_third_on_the_line() {
        let run = |megabytes: f64| Measured { kind: "lean".to_owned(), megabytes, cost: 0.02 + 0.003 * megabytes.ln() };
        let line = Line::through(&[run(5_000.0), run(20_000.0)]).unwrap();
        assert!((line.cost(50_000.0) - run(50_000.0).cost).abs() < 1e-9);
        assert_eq!(Line::through(&[run(5_000.0)]), None);
        assert_eq!(Line::through(&[run(5_000.0), run(5_001.0)]), None, "two sizes that are one");
    }

    #[test]
    fn measured_imports_are_found_again_by_kind() {
        let file = std::env::temp_dir().join(format!("paraffin-bars-model-{}", std::process::id()));
        let run = Measured { kind: "lean 256".to_owned(), megabytes: 1024.5, cost: 0.0421 };
        keep(&file, &run).unwrap();
        keep(&file, &Measured { kind: "default 256".to_owned(), ..run.clone() }).unwrap();
        assert_eq!(earlier(&file, "lean 256", |_| true), [run]);
        assert_eq!(earlier(&file, "lean 256", |megabytes| megabytes < 1000.0), []);
        std::fs::remove_file(&file).unwrap();
    }
}
