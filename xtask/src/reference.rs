//! `cargo xtask reference`: generated hostile chains through the native engine and the reference's release program at once.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::test::FEATURES;
use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, run as run_command};

/// Blocks when nothing else is asked for: what every CI runs.
pub(crate) const BLOCKS_DEFAULT: u64 = 200;
/// Blocks of the long run.
const BLOCKS_LONG: u64 = 10_000;

/// The one test; it runs as many blocks as its environment says.
const TEST: &str = "generated_chains_are_equal_in_both_engines";

/// Runs the lane, keeps its rows under `benches/results/`, and fails when the engines differ.
pub(crate) fn run(root: &Path, blocks: Option<u64>, seed: u64, is_long: bool) -> Outcome {
    let blocks = blocks.unwrap_or(if is_long { BLOCKS_LONG } else { BLOCKS_DEFAULT });
    let rows = root.join("target/reference.csv");
    // Rows of an earlier run must not be taken for this one's.
    match std::fs::remove_file(&rows) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("{}: {error}", rows.display())));
        }
        _ => {}
    }
    let mut lane = Command::new("cargo");
    lane.current_dir(root).args(["test", "--locked", "--workspace", "--features", FEATURES]);
    lane.args(["--test", "lane", "--", "--nocapture", TEST]);
    // The variables that cargo sets for this program would have some libraries built again.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        lane.env_remove(name);
    }
    lane.env("PARAFFIN_REFERENCE_BLOCKS", blocks.to_string());
    lane.env("PARAFFIN_REFERENCE_SEED", seed.to_string()).env("PARAFFIN_REFERENCE_CSV", &rows);
    if is_long {
        lane.env("PARAFFIN_REFERENCE_LONG", "1");
    }
    let ended = run_command(&mut lane);
    // The rows are there also when the engines differ, and then they matter most.
    let text = std::fs::read_to_string(&rows).unwrap_or_default();
    let Some((bar, table)) = bar(&text) else {
        return ended.and(Err(Failure::new(
            "the lane has left no figures: PARAFFIN_SHARED names the folder that holds `fixtures/alkanes/`",
        )));
    };
    let long = if is_long { " --long" } else { "" };
    bar.report(root, &format!("cargo xtask reference --blocks {blocks} --seed {seed}{long}"), table)?;
    ended?;
    if bar.is_met() { Ok(()) } else { Err(Failure::new(format!("differences: {}", bar.value))) }
}

/// The figure of the first line, and the rows below it.
fn bar(text: &str) -> Option<(Bar, &str)> {
    let (line, table) = text.strip_prefix("# ")?.split_once('\n')?;
    let tally: Value = serde_json::from_str(line).ok()?;
    let value = tally.get("differences")?.as_f64()?;
    let how = format!("generated chains in the native engine and in the reference's release program: {tally}");
    Some((Bar { name: "reference".to_owned(), value, floor: Floor::AtMost(0.0), how }, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_the_figure_and_the_rows_follow() {
        let text = |differences: u64| format!("# {{\"blocks\":9,\"differences\":{differences}}}\nseed,blocks\n1,9\n");
        let equal = text(0);
        let (good, table) = bar(&equal).unwrap();
        assert!(good.is_met() && table == "seed,blocks\n1,9\n");
        assert!(!bar(&text(1)).unwrap().0.is_met());
        assert!(bar("").is_none() && bar("# {}\n").is_none());
    }
}
