//! The tasks of the repository: `cargo xtask <task>`. Run it without a task for the list.
#![forbid(unsafe_code)]

mod bars;
mod bitcoind;
mod browser;
mod contracts;
mod debian;
mod fuzz;
mod hosted;
mod licences;
mod peers;
mod process;
mod repository;
mod rows;
mod schema;
mod soak;
mod test;
mod tidy;
mod versions;
mod wasm_compiler;

use std::process::ExitCode;

use bitcoind::MissingPackages;
use process::{Failure, Outcome};
use rows::Page;
use test::Extent;

const USAGE: &str = "\
usage: cargo xtask <task>

  test [--full]                   everything that must hold before a change goes in; --full adds what takes minutes
  ci                              test --full, as the build machine runs it
  tidy                            the rules of the house: floors, names, leftovers, dependencies
  rows [--check]                  which test pins which row of the specification; writes docs/rows.md
  bitcoind [--install] [--path]   build bitcoind and bitcoin-cli for the tests; --path only tells where they are
  deny                            licences, bans and sources of the dependencies
  bars [import] [pages] [start] [vm]
                                  measure speed, size, memory, start and calls of contracts; results in benches/results
  contracts [--write]             rebuild the contracts and compare with the committed modules; --write replaces them
  hosted [--test]                 build the program with the machine for indexer programs; --test runs its tests
  peers electrs                   build the published electrs and measure it on the same node and chain
  peers ord                       build the published ord and compare every answer on the same node and chain
  fuzz [--seconds N] [TARGET]     run the fuzz targets for N seconds in all (60)
  soak [--minutes N]              three instances under faults beside an undisturbed one, for N minutes (30)
  schema                          try every REST route as its description tells, about three minutes
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Outcome {
    let root = repository::root();
    let on_a_build_machine = std::env::var_os("CI").is_some_and(|value| value == "true");
    match words {
        ["test"] if !on_a_build_machine => test::run_all(&root, Extent::Local),
        ["test" | "ci"] | ["test", "--full"] => test::run_all(&root, Extent::Full),
        ["tidy"] => tidy::check(&root),
        ["rows"] => rows::report(&root, Page::Write),
        ["rows", "--check"] => rows::report(&root, Page::Check),
        ["bars", ..] => bars::measure(&root, words),
        ["peers", "electrs"] => peers::electrs(&root, words),
        ["peers", "ord"] => peers::ord(&root),
        ["contracts"] => contracts::rebuild(&root, contracts::Built::Compare),
        ["contracts", "--write"] => contracts::rebuild(&root, contracts::Built::Write),
        ["hosted"] => hosted::build(&root),
        ["hosted", "--test"] => hosted::test(&root),
        ["deny"] => licences::check(&root),
        ["soak"] => soak::run(&root, soak::MINUTES_DEFAULT),
        ["soak", "--minutes", number] => {
            let minutes = number.parse().ok().filter(|minutes| (1..=10_080).contains(minutes));
            let minutes = minutes.ok_or_else(|| Failure::new(format!("--minutes takes 1 to 10080, not `{number}`")))?;
            soak::run(&root, minutes)
        }
        ["schema"] => schema::check(&root),
        ["fuzz", options @ ..] => {
            let (seconds, target) = fuzz_options(options)?;
            fuzz::run_targets(&root, seconds, target)
        }
        ["bitcoind", "--path"] => {
            let path = bitcoind::found(&root)
                .ok_or_else(|| Failure::new("no bitcoind is built yet: run `cargo xtask bitcoind`"))?;
            println!("{}", path.display());
            Ok(())
        }
        ["bitcoind", options @ ..] if options.iter().all(|option| *option == "--install") => {
            let install = on_a_build_machine || !options.is_empty();
            let missing = if install { MissingPackages::Install } else { MissingPackages::Name };
            let path = bitcoind::build(&root, missing)?;
            println!("{}\n{}", path.display(), path.with_file_name("bitcoin-cli").display());
            Ok(())
        }
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::new(format!("`{}` is not a task\n\n{USAGE}", words.join(" ")))),
    }
}

fn fuzz_options<'a>(options: &[&'a str]) -> Outcome<(u64, Option<&'a str>)> {
    let mut seconds = fuzz::SECONDS_DEFAULT;
    let mut rest = options;
    if let ["--seconds", number, after @ ..] = rest {
        let parsed = number.parse().ok().filter(|seconds| *seconds > 0);
        seconds = parsed.ok_or_else(|| Failure::new(format!("--seconds takes a number above 0, not `{number}`")))?;
        rest = after;
    }
    match rest {
        [] => Ok((seconds, None)),
        [target] if !target.starts_with('-') => Ok((seconds, Some(target))),
        _ => Err(Failure::new(format!("not understood: {}\n\n{USAGE}", rest.join(" ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_options_are_a_time_and_a_target() {
        assert_eq!(fuzz_options(&[]).unwrap(), (fuzz::SECONDS_DEFAULT, None));
        assert_eq!(fuzz_options(&["--seconds", "7", "envelope"]).unwrap(), (7, Some("envelope")));
        assert!(fuzz_options(&["--seconds", "0"]).is_err());
        assert!(fuzz_options(&["--forever"]).is_err());
    }
}
