//! `cargo xtask hostile`: everything that hostile callers and contracts can do at once, in a release build and for as long as its
//! arguments say; the dearest blocks that messages can make, and those that take most memory to index.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, run as run_command, typed};

use crate::test::FEATURES;

/// Seconds of each run when nothing else is asked for.
pub(crate) const SECONDS_DEFAULT: u64 = 600;
/// Memory that is given when nothing else is asked for, in MiB: the default of `[memory] total_mib`, and half of it.
const TOTALS_MIB: [u64; 2] = [3_968, 1_984];
/// Runs of so many seconds and more are judged by the latency of the paying caller too.
const JUDGED_SECONDS: u64 = 300;

/// The one test of the program, that of the engine, and that of the indexer.
const LANE: &str = "a_paying_caller_is_served_and_memory_stays_bounded_under_all_attacks_at_once";
const DEAREST: &str = "a_full_block_of_the_dearest_messages_takes_less_than_600_seconds";
const MEMORY: &str = "the_block_that_takes_most_memory_is_indexed_below_the_stated_ceiling";

/// Most memory of a process that indexes any block, in MiB, as `docs/design/bounds.md` states it.
const MEMORY_MIB_MAX: f64 = 6144.0;

const LANE_COLUMNS: &str =
    "seconds,total_mib,before_mib,peak_mib,after_mib,poisoned_blocks,giants,paid_calls,refused,half_ms,99th_ms";
const DEAREST_COLUMNS: &str = "messages,count,work,seconds";
const MEMORY_COLUMNS: &str = "block,before_mib,peak_mib,after_mib,seconds";

/// Runs both, keeps their rows under `benches/results/`, and fails when one of them did.
pub(crate) fn run(root: &Path, seconds: u64, total_mib: Option<u64>) -> Outcome {
    let command = match total_mib {
        Some(total) => format!("cargo xtask hostile --seconds {seconds} --total-mib {total}"),
        None => format!("cargo xtask hostile --seconds {seconds}"),
    };
    // All are built before anything is measured.
    run_command(test(root, "paraffin", &["--test", "program"]).arg("--no-run"))?;
    run_command(test(root, "paraffin-alkanes", &["--test", "vm"]).arg("--no-run"))?;
    run_command(test(root, "paraffin-indexer", &["--test", "hostile_block"]).arg("--no-run"))?;
    let mut failures = Vec::new();
    let mut rows = format!("{LANE_COLUMNS}\n");
    let totals = total_mib.map_or(TOTALS_MIB.to_vec(), |total| vec![total]);
    for total in totals {
        let lane = lane(root, seconds, total, &mut rows);
        failures.extend(lane.err().map(|failure| format!("{total} MiB: {failure}")));
    }
    let worst = rows.lines().skip(1).filter_map(of_memory).fold(0.0, f64::max);
    let how = format!(
        "percent of the memory given that the process and its children took at most, {seconds} s of all attacks"
    );
    let bar = Bar { name: "hostile".to_owned(), value: worst, floor: Floor::AtMost(100.0), how };
    bar.report(root, &command, &rows)?;

    let mut dearest = test(root, "paraffin-alkanes", &["--test", "vm"]);
    let (rows, values, ended) = figures(dearest.args(["--", "--ignored", "--nocapture", DEAREST]), seconds_of)?;
    failures.extend(ended.err().map(|failure| failure.to_string()));
    let how = "seconds of the slowest block of the dearest messages".to_owned();
    let bar = Bar { name: "dearest".to_owned(), value: values, floor: Floor::AtMost(600.0), how };
    bar.report(root, &command, &format!("{DEAREST_COLUMNS}\n{rows}"))?;

    let mut memory = test(root, "paraffin-indexer", &["--test", "hostile_block"]);
    let (rows, values, ended) = figures(memory.args(["--", "--ignored", "--nocapture", MEMORY]), peak_of)?;
    failures.extend(ended.err().map(|failure| failure.to_string()));
    let how = "MiB of a process that indexes the block which takes most memory".to_owned();
    let bar = Bar { name: "hostile-block-memory".to_owned(), value: values, floor: Floor::AtMost(MEMORY_MIB_MAX), how };
    bar.report(root, &command, &format!("{MEMORY_COLUMNS}\n{rows}"))?;
    if failures.is_empty() { Ok(()) } else { Err(Failure::new(failures.join("\n"))) }
}

/// The rows that a test prints, the greatest figure of them, and how it ended: rows are there also when it has failed.
fn figures(command: &mut Command, figure_of: fn(&str) -> Option<f64>) -> Outcome<(String, f64, Outcome)> {
    let ended = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|error| Failure::new(format!("`{}` does not start: {error}", typed(command))))?;
    let printed = String::from_utf8_lossy(&ended.stdout);
    let rows: Vec<(&str, f64)> =
        printed.lines().filter_map(|line| figure_of(line).map(|figure| (line, figure))).collect();
    let greatest = rows.iter().map(|(_, figure)| *figure).fold(0.0, f64::max);
    let outcome = if rows.is_empty() {
        Err(Failure::new(format!("`{}` has left no figures", typed(command))))
    } else if ended.status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}` ended with {}", typed(command), ended.status)))
    };
    let rows = rows.iter().flat_map(|(line, _)| [*line, "\n"]).collect();
    Ok((rows, greatest, outcome))
}

/// One run of the lane; its row is there also when it has failed, and then it matters most.
fn lane(root: &Path, seconds: u64, total_mib: u64, rows: &mut String) -> Outcome {
    let file = root.join("target/hostile.csv");
    // The row of an earlier run must not be taken for this one's.
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("{}: {error}", file.display())));
        }
        _ => {}
    }
    let mut lane = test(root, "paraffin", &["--test", "program"]);
    lane.args(["--", "--nocapture", LANE]);
    lane.env("PARAFFIN_HOSTILE_SECONDS", seconds.to_string())
        .env("PARAFFIN_HOSTILE_TOTAL_MIB", total_mib.to_string())
        .env("PARAFFIN_HOSTILE_CSV", &file);
    if seconds < JUDGED_SECONDS {
        println!("{seconds} s are too few to judge the latency of the paying caller");
    }
    let ended = run_command(&mut lane);
    let row = std::fs::read_to_string(&file).unwrap_or_default();
    if row.is_empty() {
        return ended.and(Err(Failure::new("the lane has left no figures")));
    }
    let _ = writeln!(rows, "{}", row.trim_end());
    ended
}

/// A test program in the release build, with all that the program may have.
fn test(root: &Path, package: &str, which: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(["test", "--release", "--locked", "--package", package]).args(which);
    if package == "paraffin" {
        command.args(["--features", FEATURES]);
    }
    // The variables that cargo sets for this program would have some libraries built again.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_PKG_")) {
        command.env_remove(name);
    }
    command
}

/// Percent of its memory that a row of the lane took at most.
fn of_memory(row: &str) -> Option<f64> {
    let mut columns = row.split(',').map(|column| column.trim().parse::<f64>());
    let total = columns.nth(1)?.ok()?;
    let peak = columns.nth(1)?.ok()?;
    (total > 0.0).then(|| 100.0 * peak / total)
}

/// The seconds of a row of the dearest messages; `None` for every other line that tests print.
fn seconds_of(line: &str) -> Option<f64> {
    let columns: Vec<&str> = line.split(',').collect();
    let [_, count, work, seconds] = columns[..] else { return None };
    count.parse::<u64>().ok()?;
    work.parse::<u64>().ok()?;
    seconds.parse().ok()
}

/// The peak of a row of memory; `None` for every other line that tests print.
fn peak_of(line: &str) -> Option<f64> {
    let columns: Vec<&str> = line.split(',').collect();
    let [_, before, peak, after, seconds] = columns[..] else { return None };
    for column in [before, after, seconds] {
        column.parse::<f64>().ok()?;
    }
    peak.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_rows_and_from_nothing_else() {
        assert_eq!(of_memory("600,2000,300,1500,310,9,8,30000,0,3,90"), Some(75.0));
        assert!(of_memory("").is_none() && of_memory("600,0,1,1").is_none() && of_memory(LANE_COLUMNS).is_none());
        assert_eq!(seconds_of("copies of the block,9000,60000000000,123.456"), Some(123.456));
        assert_eq!(peak_of("rows and memories,50,4000,900,61.5"), Some(4000.0));
        assert!(peak_of(MEMORY_COLUMNS).is_none() && peak_of(LANE_COLUMNS).is_none() && peak_of("a,1,2").is_none());
        for line in ["running 1 test", DEAREST_COLUMNS, "test x, y ... ok", "a,b,c,1.0", ""] {
            assert_eq!(seconds_of(line), None, "{line}");
        }
    }
}
