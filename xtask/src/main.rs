//! The tasks of the repository: `cargo xtask <task>`. Without a task it prints the list.
#![forbid(unsafe_code)]

mod aarch64;
mod contracts;
mod duckdb;
mod fuzz;
mod hostile;
mod licences;
mod python;
mod reference;
mod rows;
mod schema;
mod soak;
mod test;
mod tidy;
mod typescript;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use rows::Page;
use test::Scope;
use xtask::package;
use xtask::peers::{self, Peer};
use xtask::process::{Outcome, run};
use xtask::repository;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The tasks of the repository", version = None::<&str>)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks and tests: what needs nothing but Rust and a C compiler, one crate, or everything
    Test {
        /// Everything that `.ci/run` does; installs Debian packages as root where they are missing
        #[arg(long, conflicts_with = "crates")]
        full: bool,
        /// Lints and tests of these crates alone, such as `store` or `gateway`
        crates: Vec<String>,
    },
    /// `test --full` as the build machine runs it
    Ci,
    /// The rules that no compiler checks: layers, circles between folders, names, leftovers, dependencies
    Tidy,
    /// Which test pins which row of the specification; writes docs/rows.md
    Rows {
        /// Only compares with the committed page
        #[arg(long)]
        check: bool,
    },
    /// Licences, bans and sources of the dependencies with cargo-deny, and advisories where they can be had
    Deny,
    /// Measures speed, size, memory and start; results go to benches/results/
    Bars {
        /// Groups of figures; all but `large` when none is named. `large` stands alone with its settings
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        groups: Vec<String>,
    },
    /// Rebuilds the contracts and compares them with the committed modules
    Contracts {
        /// Replaces the committed modules
        #[arg(long)]
        write: bool,
    },
    /// Writes the Rust types of the messages in `proto/` into the crates that use them
    Proto,
    /// Published programs of others, built or compared with ours
    #[command(subcommand)]
    Peers(Peers),
    /// Runs the fuzz targets, as many at once as there are cores
    Fuzz {
        /// Seconds in all
        #[arg(long, default_value_t = fuzz::SECONDS_DEFAULT, value_parser = clap::value_parser!(u64).range(1..))]
        seconds: u64,
        /// Adds inputs that reach new code to the committed corpora
        #[arg(long)]
        keep: bool,
        /// One target instead of all
        target: Option<String>,
    },
    /// Three instances under faults beside an undisturbed one
    Soak {
        /// How long
        #[arg(long, default_value_t = soak::MINUTES_DEFAULT, value_parser = clap::value_parser!(u64).range(1..=10_080))]
        minutes: u64,
    },
    /// Everything that hostile callers and contracts can do, at once, and the dearest and greatest blocks; three quarters of an hour
    Hostile {
        /// How long each run lasts
        #[arg(long, default_value_t = hostile::SECONDS_DEFAULT, value_parser = clap::value_parser!(u64).range(1..=86_400))]
        seconds: u64,
        /// Memory that is given, instead of the default and half of it
        #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
        total_mib: Option<u64>,
    },
    /// Generated hostile chains in the native engine and in the reference's release program at once
    Reference {
        /// Blocks to compare; 200, with `--long` 10,000
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        blocks: Option<u64>,
        /// Seed of the first chain
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Each difference is cut down for longer, and more views are asked
        #[arg(long)]
        long: bool,
    },
    /// Makes the Debian package, the archive and what an image needs, in target/packages; 25 minutes on two cores
    Package {
        /// Another folder for them
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Tries every REST route as its description says, about three minutes
    Schema,
    /// Reads exports of a `paraffin dev` with DuckDB and compares every row with the answers of the API
    Duckdb,
    /// Compiles the TypeScript client against real answers of every method and route
    Typescript,
    /// Makes the pictures of the site for the documentation anew, with Chromium
    Screenshots,
    /// Runs the float tests for aarch64 under qemu, with Debian's compiler
    Aarch64,
}

#[derive(Subcommand)]
enum Peers {
    /// Builds them into target/peers/bin, up to a quarter of an hour each
    Build {
        /// Installs Debian packages that are missing, as root
        #[arg(long)]
        install: bool,
        /// Which; all when none is named
        programs: Vec<Peer>,
    },
    /// Compares every answer of ord with ours on the same node and chain
    Ord,
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(task: Task) -> Outcome {
    let root = repository::root();
    match task {
        Task::Test { full: true, .. } | Task::Ci => test::run(&root, &Scope::Full),
        Task::Test { crates, .. } if crates.is_empty() => test::run(&root, &Scope::Quick),
        Task::Test { crates, .. } => test::run(&root, &Scope::Crates(crates)),
        Task::Tidy => tidy::check(&root),
        Task::Rows { check } => rows::report(&root, if check { Page::Check } else { Page::Write }),
        Task::Deny => licences::deny(&root),
        Task::Bars { groups } => {
            let mut bars = test::cargo(&root);
            run(bars.args(["run", "--quiet", "--release", "--locked", "--package", "paraffin-bars", "--"]).args(groups))
        }
        Task::Contracts { write: false } => contracts::rebuild(&root, contracts::Built::Compare),
        Task::Contracts { write: true } => contracts::rebuild(&root, contracts::Built::Write),
        Task::Proto => run(test::cargo(&root).args(["run", "--quiet", "--locked", "--package", "paraffin-proto"])),
        Task::Peers(Peers::Build { install, programs }) => peers::build(&root, &programs, install),
        Task::Peers(Peers::Ord) => compare_with_ord(&root),
        Task::Fuzz { seconds, keep, target } => fuzz::run_targets(&root, seconds, target.as_deref(), keep),
        Task::Soak { minutes } => soak::run(&root, minutes),
        Task::Hostile { seconds, total_mib } => hostile::run(&root, seconds, total_mib),
        Task::Reference { blocks, seed, long } => reference::run(&root, blocks, seed, long),
        Task::Package { out } => package::build(&root, out.as_deref()),
        Task::Schema => schema::check(&root),
        Task::Duckdb => duckdb::check(&root),
        Task::Typescript => typescript::check(&root),
        Task::Screenshots => {
            let mut pictures = test::cargo(&root);
            pictures.args(["test", "--locked", "--package", "paraffin", "--test", "program", "screenshots::"]);
            run(pictures.args(["--", "--ignored"]).env("PARAFFIN_SCREENSHOTS", root.join("docs/images")))
        }
        Task::Aarch64 => aarch64::check(&root),
    }
}

/// Compares every answer with the published `ord`: of our index on random chains, before and after a reorg, and of a gateway that
/// asks it on the development chain.
fn compare_with_ord(root: &Path) -> Outcome {
    for peer in [Peer::Bitcoind, Peer::Ord] {
        peers::find(root, peer)?;
    }
    for (package, tests, name) in [
        ("paraffin-ordinals-index", "ordinals", "peer::every_answer_equals"),
        ("paraffin-surfaces", "gateway", "families::peer::every_method_answers_alike"),
    ] {
        run(test::cargo(root).args(["test", "-p", package, "--test", tests, "--", name, "--nocapture"]))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["xtask", "fuzz", "--seconds", "0"]).is_err());
        assert!(Arguments::try_parse_from(["xtask", "test", "--full", "store"]).is_err());
        assert!(Arguments::try_parse_from(["xtask", "hostile", "--seconds", "0"]).is_err());
    }

    #[test]
    fn settings_of_the_large_bar_are_handed_on() {
        let words = ["large", "--gib", "1", "--lean"];
        let read = Arguments::try_parse_from(["xtask", "bars"].into_iter().chain(words)).unwrap();
        assert!(matches!(read.task, Task::Bars { groups } if groups == words));
    }
}
