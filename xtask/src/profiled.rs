//! The program as it is packaged: compiled with a profile of its own work (decision 0093).
//!
//! It is built twice. The first one counts how often each of its branches is taken while it imports a chain and answers requests; for the
//! second one the compiler has the counts, so it inlines what is often called and lets what is often taken follow on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Failure, Outcome, answers, capture, run};
use crate::repository;

/// Features of packaged programs.
pub const FEATURES: &str = "cluster,machine-code";
/// The profile in the root manifest.
const PROFILE: &str = "dist";
/// What separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// What has to be known of the compiler.
struct Compiler {
    /// The machine that it compiles for.
    host: String,
    /// Version of LLVM before the first dot, which writes and reads the counts.
    llvm: String,
}

/// Builds the program for packages, with `environment` for its build script. Twenty minutes on two cores, and longer where
/// `paraffin-bars` has to be built first.
///
/// # Errors
/// `llvm-profdata` is missing, or the program cannot be built or does not do its work; each says what to do.
pub fn build(root: &Path, environment: &[(&str, String)]) -> Outcome<PathBuf> {
    let compiler = Compiler::of(&capture(Command::new("rustc").arg("-vV"))?)?;
    let merge = compiler.merge()?;
    let folder = std::path::absolute(root.join(repository::target(root)).join("profiled"));
    let folder = folder.map_err(|error| Failure::new(format!("the target folder: {error}")))?;
    let (counts, profile) = (folder.join("counts"), folder.join("counts.profdata"));
    let counting = folder.join("counting");
    let mut cargo = compiler.cargo(root, &counting, &format!("-Cprofile-generate={}", counts.display()));
    // The compiler keeps all code where it counts, and some of Bitcoin Core's is not whole: what nothing refers to has to go.
    cargo.args(["--", "-Clink-arg=-Wl,--gc-sections", "-Clink-arg=-Wl,-z,nostart-stop-gc"]);
    run(&mut cargo)?;
    let counting = compiler.program(&counting);
    // Another profile would have everything compiled anew.
    if !is_newer(&profile, &counting) {
        if counts.exists() {
            fs::remove_dir_all(&counts).map_err(|error| Failure::new(format!("{}: {error}", counts.display())))?;
        }
        let mut train = Command::new("cargo");
        train.current_dir(root).args(["run", "--quiet", "--release", "--locked", "--package", "paraffin-bars"]);
        run(train.args(["--", "train"]).arg(counting))?;
        run(Command::new(merge).args(["merge", "-o"]).arg(&profile).arg(&counts))?;
    }
    let built = folder.join("built");
    let mut cargo = compiler.cargo(root, &built, &format!("-Cprofile-use={}", profile.display()));
    run(cargo.envs(environment.iter().map(|(name, value)| (name, value))))?;
    Ok(compiler.program(&built))
}

/// Whether a file was written after another one, and both are there.
fn is_newer(file: &Path, than: &Path) -> bool {
    let written = |file: &Path| fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    matches!((written(file), written(than)), (Some(file), Some(than)) if file > than)
}

impl Compiler {
    /// From what `rustc -vV` prints.
    fn of(printed: &str) -> Outcome<Self> {
        let line = |name: &str| printed.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        match (line("host:"), line("LLVM version:").and_then(|version| version.split('.').next())) {
            (Some(host), Some(llvm)) => Ok(Self { host: host.to_owned(), llvm: llvm.to_owned() }),
            _ => Err(Failure::new(format!("`rustc -vV` names no host or no LLVM:\n{printed}"))),
        }
    }

    /// The program that merges counts: that of the toolchain, or one of the same version.
    fn merge(&self) -> Outcome<PathBuf> {
        let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]))?;
        let own = Path::new(sysroot.trim()).join("lib/rustlib").join(&self.host).join("bin/llvm-profdata");
        if own.is_file() {
            return Ok(own);
        }
        let other = format!("llvm-profdata-{}", self.llvm);
        if answers(&other, &["merge", "--help"]) {
            return Ok(other.into());
        }
        Err(Failure::new(format!(
            "packages are built with a profile, which `llvm-profdata` of LLVM {} makes.\n\
             With rustup:  rustup component add llvm-tools\n\
             On Debian or Ubuntu, where it has this version:  sudo apt-get install -y llvm-{}",
            self.llvm, self.llvm
        )))
    }

    /// Builds the program in `target` with one flag more. With a target that is named, build scripts do not get the flag.
    fn cargo(&self, root: &Path, target: &Path, flag: &str) -> Command {
        let given = std::env::var("RUSTFLAGS").unwrap_or_default();
        let flags: Vec<&str> = given.split_whitespace().chain([flag]).collect();
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root).env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR));
        cargo.args(["rustc", "--locked", "--package", "paraffin", "--bin", "paraffin", "--profile", PROFILE]);
        cargo.args(["--features", FEATURES, "--target", &self.host, "--target-dir"]).arg(target);
        cargo
    }

    /// Where [`Compiler::cargo`] leaves the program.
    fn program(&self, target: &Path) -> PathBuf {
        target.join(&self.host).join(PROFILE).join("paraffin")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nhost: x86_64-unknown-linux-gnu\nLLVM version: 22.1.2\n";

    #[test]
    fn counts_are_merged_by_the_compilers_own_version() {
        let compiler = Compiler::of(PRINTED).unwrap();
        assert_eq!((compiler.host.as_str(), compiler.llvm.as_str()), ("x86_64-unknown-linux-gnu", "22"));
        assert!(Compiler::of("rustc 1.95.0\n").is_err());
        let nowhere = Compiler { host: "none".to_owned(), llvm: "999".to_owned() };
        let error = nowhere.merge().unwrap_err().to_string();
        assert!(error.contains("rustup component add llvm-tools") && error.contains("llvm-999"), "{error}");
    }

    #[test]
    fn a_profile_serves_until_the_program_that_counted_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let [program, profile, none] = ["program", "profile", "none"].map(|name| folder.path().join(name));
        let write = |path: &Path, seconds| {
            let file = fs::File::create(path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        write(&program, 1_000);
        assert!(!is_newer(&none, &program));
        write(&profile, 2_000);
        assert!(is_newer(&profile, &program) && !is_newer(&profile, &none));
        write(&program, 3_000);
        assert!(!is_newer(&profile, &program));
    }

    #[test]
    fn both_builds_are_of_one_program_and_the_flag_is_for_the_target_alone() {
        let compiler = Compiler::of(PRINTED).unwrap();
        let cargo = compiler.cargo(Path::new("/src"), Path::new("/out dir"), "-Cprofile-use=/out dir/p");
        let arguments: Vec<_> = cargo.get_args().map(|argument| argument.to_str().unwrap()).collect();
        assert!(arguments.windows(2).any(|pair| pair == ["--target", "x86_64-unknown-linux-gnu"]), "{arguments:?}");
        assert!(arguments.windows(2).any(|pair| pair == ["--profile", "dist"]), "{arguments:?}");
        let (_, flags) = cargo.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS").unwrap();
        // A path with a space stays one flag.
        assert!(flags.unwrap().to_str().unwrap().split(SEPARATOR).any(|flag| flag == "-Cprofile-use=/out dir/p"));
        let program = compiler.program(Path::new("/out dir"));
        assert_eq!(program, Path::new("/out dir/x86_64-unknown-linux-gnu/dist/paraffin"));
    }
}
