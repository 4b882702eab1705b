//! Short runs of the fuzz targets in `fuzz/`, one per parser of bytes from outside.
//!
//! The targets are libFuzzer programs, built by plain cargo on the stable compiler: coverage is a matter of flags, and a memory
//! sanitizer would add nothing where `unsafe` is forbidden. The folder is a workspace of its own, so that these flags and
//! libFuzzer never touch the ordinary build; it takes the versions of everything else from the root's lock file.

use std::fs;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::process::{Failure, Outcome, capture, run};

/// Seconds that a run takes for which no time is given; on two cores each target has four of them.
pub(crate) const SECONDS_DEFAULT: u64 = 60;

/// What cargo-fuzz passes as well, without a sanitizer.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A parser that needs more than this for one input is a finding.
const MEMORY_MIB_MAX: u32 = 1024;
const INPUT_SECONDS_MAX: u32 = 10;

/// Builds the targets and runs all of them, or the one that is named, sharing `seconds`.
pub(crate) fn run_targets(root: &Path, seconds: u64, only: Option<&str>) -> Outcome {
    let mut targets = targets(root)?;
    if let Some(only) = only {
        targets.retain(|target| target == only);
        if targets.is_empty() {
            return Err(Failure::new(format!("fuzz/Cargo.toml has no target `{only}`")));
        }
    }
    let programs = build(root)?;
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
                        run_one(root, &programs.join(target), target, each)?;
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

fn targets(root: &Path) -> Outcome<Vec<String>> {
    let path = root.join("fuzz/Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let table: toml::Table = text.parse().map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let listed = table.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    let names: Vec<String> =
        listed.filter_map(|target| target.get("name").and_then(toml::Value::as_str).map(str::to_owned)).collect();
    if names.is_empty() { Err(Failure::new("fuzz/Cargo.toml names no target")) } else { Ok(names) }
}

/// Builds all targets and returns the folder of the programs.
fn build(root: &Path) -> Outcome<PathBuf> {
    let folder = root.join("fuzz");
    // The same versions as the ordinary build; cargo adds what only the targets need.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| Failure::new(format!("fuzz/Cargo.lock: {error}")))?;
    let host = host()?;
    let place = root.join("target/fuzz");
    let mut command = Command::new("cargo");
    command.current_dir(&folder).args(["build", "--quiet", "--release", "--bins"]);
    // Naming the host as target keeps the flags away from build scripts and macros, which lack the coverage runtime.
    command.args(["--target", &host]).arg("--target-dir").arg(&place);
    run(command.env("RUSTFLAGS", FLAGS))?;
    Ok(place.join(host).join("release"))
}

fn host() -> Outcome<String> {
    let told = capture(Command::new("rustc").arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` names no host"))
}

fn run_one(root: &Path, program: &Path, target: &str, seconds: u64) -> Outcome {
    let corpus = root.join("target/fuzz/corpus").join(target);
    let findings = root.join("target/fuzz/findings").join(target);
    for folder in [&corpus, &findings] {
        fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    }
    let mut command = Command::new(program);
    command.arg(&corpus);
    let seeds = root.join("fuzz/seeds").join(target);
    if seeds.is_dir() {
        command.arg(seeds);
    }
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"));
    command.arg(format!("-timeout={INPUT_SECONDS_MAX}"));
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    command.args(["-print_final_stats=1", "-verbosity=1"]);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("{} does not start: {error}", program.display())))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        println!("{target}: {} inputs tried", executions(&told).unwrap_or_else(|| "?".to_owned()));
        return Ok(());
    }
    let last: Vec<&str> = told.lines().rev().take(40).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(Failure::new(format!(
        "fuzz target `{target}` has a finding:\n{}\n\nThe input lies in {}; to see it again: {} <input>",
        last.join("\n"),
        findings.display(),
        program.display()
    )))
}

/// The number in `stat::number_of_executed_units: 12345`.
fn executions(told: &str) -> Option<String> {
    told.lines().find_map(|line| Some(line.strip_prefix("stat::number_of_executed_units:")?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_inputs_is_read_from_the_final_report() {
        assert_eq!(executions("Done\nstat::number_of_executed_units: 48211\n").as_deref(), Some("48211"));
        assert_eq!(executions("Done\n"), None);
    }

    #[test]
    fn every_target_has_its_source() {
        let root = crate::repository::root();
        let targets = targets(&root).unwrap();
        for target in &targets {
            assert!(root.join(format!("fuzz/targets/{target}.rs")).is_file(), "{target}");
        }
        let sources = fs::read_dir(root.join("fuzz/targets")).unwrap().count();
        assert_eq!(sources, targets.len(), "a source in fuzz/targets is not listed in fuzz/Cargo.toml");
    }
}
