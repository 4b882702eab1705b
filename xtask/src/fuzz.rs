//! Coverage-guided runs of the targets of `fuzz/`, one for each parser of bytes from outside. The tests replay its corpora.
//!
//! The program is built by plain cargo on the stable compiler: coverage is a matter of flags, and a memory sanitizer would add
//! nothing where `unsafe` is forbidden.

use std::fs;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use xtask::process::{Failure, Outcome, capture, run};
use xtask::repository::target as target_folder;

/// Seconds that a run takes for which no time is given; on two cores each target has four of them.
pub(crate) const SECONDS_DEFAULT: u64 = 60;

/// What cargo-fuzz passes as well, without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A parser that needs more than this for one input is a finding.
const MEMORY_MIB_MAX: u32 = 1024;
const INPUT_SECONDS_MAX: u32 = 10;

/// Inputs of a target that are committed, and the longest of them: the corpora are read by every run of the tests.
const KEPT_MAX: usize = 60;
const KEPT_BYTES_MAX: u64 = 4096;

/// Builds the program and runs all targets, or the one that is named, sharing `seconds`.
pub(crate) fn run_targets(root: &Path, seconds: u64, only: Option<&str>, keep: bool) -> Outcome {
    let mut targets = targets(root)?;
    if let Some(only) = only {
        targets.retain(|target| target == only);
        if targets.is_empty() {
            return Err(Failure::new(format!("there is no target `{only}`: see fuzz/src/targets/")));
        }
    }
    let program = build(root)?;
    // libFuzzer keeps one core busy, so as many targets run at once as there are cores.
    let at_once = thread::available_parallelism().map_or(1, NonZero::get).min(targets.len());
    let each = (seconds * at_once as u64 / targets.len() as u64).max(1);
    let waiting = Mutex::new(targets.iter());
    thread::scope(|scope| {
        let runners: Vec<_> = (0..at_once)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let Some(target) = next(&waiting) else { return Ok(()) };
                        run_one(root, &program, target, each)?;
                        if keep {
                            keep_new(root, &program, target)?;
                        }
                    }
                })
            })
            .collect();
        let ended = runners.into_iter().map(|runner| runner.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // Every target is waited for, so that what is found last is kept as well.
        ended.collect::<Vec<_>>().into_iter().collect::<Outcome>()
    })?;
    println!("{} targets, {each} s each, no finding", targets.len());
    Ok(())
}

fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Names of the targets, which are those of their sources.
fn targets(root: &Path) -> Outcome<Vec<String>> {
    let folder = root.join("fuzz/src/targets");
    let failed = |error| Failure::new(format!("{}: {error}", folder.display()));
    let files = fs::read_dir(&folder).map_err(failed)?.flatten();
    let mut names: Vec<String> =
        files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".rs")?.to_owned())).collect();
    names.sort();
    Ok(names)
}

/// Builds the program of all targets.
fn build(root: &Path) -> Outcome<PathBuf> {
    let host = host()?;
    let target_dir = target_folder(root).join("fuzz");
    let mut command = crate::test::cargo(root);
    command.args(["build", "--quiet", "--locked", "--profile", "fuzz", "--package", "paraffin-fuzz"]);
    command.args(["--features", "libfuzzer", "--bin", "fuzz"]);
    // Naming the host as target keeps the flags away from build scripts and macros, which lack the coverage runtime.
    command.args(["--target", &host]).arg("--target-dir").arg(&target_dir);
    run(command.env("RUSTFLAGS", FLAGS))?;
    Ok(target_dir.join(host).join("fuzz/fuzz"))
}

fn host() -> Outcome<String> {
    let printed = capture(Command::new("rustc").arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` names no host"))
}

/// Inputs that a target has reached new code with, on this machine.
fn found(root: &Path, target: &str) -> PathBuf {
    target_folder(root).join("fuzz/corpus").join(target)
}

fn committed(root: &Path, target: &str) -> PathBuf {
    root.join("fuzz/corpus").join(target)
}

fn fuzzer(program: &Path, target: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PARAFFIN_FUZZ_TARGET", target).stdin(Stdio::null());
    command
}

fn run_one(root: &Path, program: &Path, target: &str, seconds: u64) -> Outcome {
    let corpus = found(root, target);
    let findings = target_folder(root).join("fuzz/findings").join(target);
    for folder in [&corpus, &findings] {
        fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    }
    let mut command = fuzzer(program, target);
    command.arg(&corpus).arg(committed(root, target));
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"));
    command.arg(format!("-timeout={INPUT_SECONDS_MAX}"));
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    command.args(["-print_final_stats=1", "-verbosity=1"]);
    let output =
        command.output().map_err(|error| Failure::new(format!("{} does not start: {error}", program.display())))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        println!("{target}: {} inputs tried", executions(&printed).unwrap_or_else(|| "?".to_owned()));
        return Ok(());
    }
    let last: Vec<&str> = printed.lines().rev().take(40).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(Failure::new(format!(
        "fuzz target `{target}` has a finding:\n{}\n\nThe input is in {}; to see it again: PARAFFIN_FUZZ_TARGET={target} {} <input>",
        last.join("\n"),
        findings.display(),
        program.display()
    )))
}

/// Adds to the committed corpus what was found and reaches code that it does not, the shortest inputs first.
fn keep_new(root: &Path, program: &Path, target: &str) -> Outcome {
    let (goal, from) = (committed(root, target), found(root, target));
    let failed = |error| Failure::new(format!("{}: {error}", goal.display()));
    fs::create_dir_all(&goal).map_err(failed)?;
    let merged = target_folder(root).join("fuzz/merged").join(target);
    let _ = fs::remove_dir_all(&merged);
    fs::create_dir_all(&merged).map_err(failed)?;
    let seeds = fs::read_dir(&goal).map_err(failed)?.flatten();
    let mut before = 0;
    for seed in seeds {
        fs::copy(seed.path(), merged.join(seed.file_name())).map_err(failed)?;
        before += 1;
    }
    capture(fuzzer(program, target).args(["-merge=1"]).arg(&merged).arg(from))?;
    let mut fresh: Vec<(u64, PathBuf)> = fs::read_dir(&merged)
        .map_err(failed)?
        .flatten()
        .filter(|file| !goal.join(file.file_name()).exists())
        .filter_map(|file| Some((file.metadata().ok()?.len(), file.path())))
        .filter(|(length, _)| *length <= KEPT_BYTES_MAX)
        .collect();
    fresh.sort();
    fresh.truncate(KEPT_MAX.saturating_sub(before));
    for (_, path) in &fresh {
        fs::copy(path, goal.join(path.file_name().unwrap_or_default())).map_err(failed)?;
    }
    println!("{target}: {} inputs added to {before}", fresh.len());
    Ok(())
}

/// The number in `stat::number_of_executed_units: 12345`.
fn executions(printed: &str) -> Option<String> {
    printed.lines().find_map(|line| Some(line.strip_prefix("stat::number_of_executed_units:")?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_inputs_is_read_from_the_final_report() {
        assert_eq!(executions("Done\nstat::number_of_executed_units: 48211\n").as_deref(), Some("48211"));
        assert_eq!(executions("Done\n"), None);
    }
}
