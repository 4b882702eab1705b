//! `cargo xtask hostile`: everything that hostile callers and contracts can do at once, and the dearest blocks that messages can make,
//! in a release build and for as long as it is told.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, capture, run as run_command};

/// Seconds of each run when nothing else is asked for.
pub(crate) const SECONDS_DEFAULT: u64 = 600;
/// Memory that is given when nothing else is asked for, in MiB: the default of `[memory] total_mib`, and half of it.
const TOTALS_MIB: [u64; 2] = [3_712, 1_856];
/// Runs of so many seconds and more are judged by the latency of the paying caller too.
const JUDGED_SECONDS: u64 = 300;

/// The one test of the program, and that of the engine.
const LANE: &str = "a_paying_caller_is_served_and_memory_stays_bounded_under_all_attacks_at_once";
const DEAREST: &str = "a_full_block_of_the_dearest_messages_takes_less_than_600_seconds";

const LANE_COLUMNS: &str =
    "seconds,total_mib,before_mib,peak_mib,after_mib,poisoned_blocks,giants,paid_calls,refused,half_ms,99th_ms";
const DEAREST_COLUMNS: &str = "messages,count,work,seconds";

/// Runs both, keeps their rows under `benches/results/`, and fails when one of them did.
pub(crate) fn run(root: &Path, seconds: u64, total_mib: Option<u64>) -> Outcome {
    let command = match total_mib {
        Some(total) => format!("cargo xtask hostile --seconds {seconds} --total-mib {total}"),
        None => format!("cargo xtask hostile --seconds {seconds}"),
    };
    // Both are built before anything is measured.
    run_command(test(root, "paraffin", &["--test", "program"]).arg("--no-run"))?;
    run_command(test(root, "paraffin-alkanes", &["--test", "vm"]).arg("--no-run"))?;
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

    let dearest =
        capture(test(root, "paraffin-alkanes", &["--test", "vm"]).args(["--", "--ignored", "--nocapture", DEAREST]));
    match dearest {
        Ok(printed) => {
            let rows: Vec<&str> = printed.lines().filter(|line| seconds_of(line).is_some()).collect();
            let slowest = rows.iter().copied().filter_map(seconds_of).fold(0.0, f64::max);
            let how = "seconds of the slowest block of the dearest messages".to_owned();
            let bar = Bar { name: "dearest".to_owned(), value: slowest, floor: Floor::AtMost(600.0), how };
            bar.report(root, &command, &format!("{DEAREST_COLUMNS}\n{}\n", rows.join("\n")))?;
            if rows.is_empty() {
                failures.push("the test of the dearest messages has left no figures".to_owned());
            }
        }
        Err(failure) => failures.push(failure.to_string()),
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::new(failures.join("\n"))) }
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
        command.args(["--features", "cluster,hosted"]);
    }
    // What cargo tells of this program would have some libraries built again.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_rows_and_from_nothing_else() {
        assert_eq!(of_memory("600,2000,300,1500,310,9,8,30000,0,3,90"), Some(75.0));
        assert!(of_memory("").is_none() && of_memory("600,0,1,1").is_none() && of_memory(LANE_COLUMNS).is_none());
        assert_eq!(seconds_of("copies of the block,9000,60000000000,123.456"), Some(123.456));
        for line in ["running 1 test", DEAREST_COLUMNS, "test x, y ... ok", "a,b,c,1.0", ""] {
            assert_eq!(seconds_of(line), None, "{line}");
        }
    }
}
