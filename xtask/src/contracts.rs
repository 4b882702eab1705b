//! The compiled contracts: `cargo xtask contracts` rebuilds every module of `contracts/wasm/` and compares byte for byte.
//!
//! The modules are committed, so that building the product needs no wasm compiler. `contracts/wasm/BUILD.toml` names what
//! made them: compiler and linker, a hash of the sources, and size and SHA-256 of each file. Without the compiler it is still
//! known whether the committed files fit each other and the sources: that check is a test of this crate.

mod broken;
mod toolchain;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use toolchain::Toolchain;
use xtask::process::{Failure, Outcome, capture, run};
use xtask::repository;

/// Folder of the modules and their description, from the root.
const MODULES: &str = "contracts/wasm";
/// Sources of the product that contracts are made of as well.
const SHARED: &str = "crates/cryptoswap-math/src/";
const TARGET: &str = "wasm32-unknown-unknown";

/// Smaller code, and nothing in it that depends on the machine: a panic is a trap without a text, so no source path is kept.
const FLAGS: &[&str] = &[
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Zlocation-detail=none",
    "-Zfmt-debug=none",
    "-Clink-arg=--stack-first",
    "-Clink-arg=-zstack-size=65536",
];

/// What to do with what was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Built {
    /// It must equal the committed files.
    Compare,
    /// It takes their place.
    Write,
}

/// Rebuilds all modules.
pub(crate) fn rebuild(root: &Path, then: Built) -> Outcome {
    let committed = fs::read_to_string(root.join(MODULES).join("BUILD.toml")).ok();
    let named = committed.as_deref().map(Description::parse).transpose()?;
    let found = Toolchain::find(root)?;
    if then == Built::Compare {
        let named = named.ok_or_else(|| Failure::new("contracts/wasm/BUILD.toml is missing"))?;
        found.require(&named.compiler, &named.linker)?;
        check_committed(root)?;
        let differing = differing(root, &build(root, &found)?);
        if !differing.is_empty() {
            return Err(Failure::new(format!(
                "built from the sources, these are other bytes than the committed ones: {}\n\
                 After a change of a contract, `cargo xtask contracts --write` takes the new bytes over.",
                differing.join(", ")
            )));
        }
        println!("{} modules are the bytes that {} makes of the sources", named.modules.len(), named.compiler);
        return Ok(());
    }
    let modules = build(root, &found)?;
    let folder = root.join(MODULES);
    fs::create_dir_all(folder.join("broken")).map_err(|error| unwritable(&folder, &error))?;
    for (name, bytes) in modules.iter().chain(&broken::modules()) {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))?;
    }
    let description = Description {
        compiler: found.compiler_version,
        linker: found.linker_version,
        sources: sources_hash(root)?,
        modules: modules.iter().map(|(name, bytes)| (name.clone(), (bytes.len(), hash(bytes)))).collect(),
    };
    let path = folder.join("BUILD.toml");
    fs::write(&path, description.to_toml()).map_err(|error| unwritable(&path, &error))?;
    println!("{} modules written", modules.len());
    Ok(())
}

/// Why the modules cannot be rebuilt and compared here; `None` where they can.
pub(crate) fn missing_compiler(root: &Path) -> Option<String> {
    let comparable = || {
        let text = fs::read_to_string(root.join(MODULES).join("BUILD.toml"))
            .map_err(|error| Failure::new(format!("contracts/wasm/BUILD.toml: {error}")))?;
        let named = Description::parse(&text)?;
        Toolchain::find(root)?.require(&named.compiler, &named.linker)
    };
    comparable().err().map(|failure: Failure| failure.to_string())
}

/// Where the contracts are built for this machine, beside the other builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    xtask::repository::target(root).join("contracts")
}

/// Lints of the workspace of the contracts, which those of the root do not reach.
pub(crate) fn lint(root: &Path) -> Outcome {
    let mut clippy = Command::new("cargo");
    clippy.current_dir(root.join("contracts")).args(["clippy", "--workspace", "--all-targets", "--quiet", "--locked"]);
    run(clippy.arg("--target-dir").arg(target(root)).args(["--", "-D", "warnings"]))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

/// Checks without any compiler that the committed files are those that the description names, and that it names the sources as
/// they are.
pub(crate) fn check_committed(root: &Path) -> Outcome {
    let folder = root.join(MODULES);
    let text = fs::read_to_string(folder.join("BUILD.toml"))
        .map_err(|error| Failure::new(format!("contracts/wasm/BUILD.toml: {error}")))?;
    let description = Description::parse(&text)?;
    for (name, (size, sha256)) in &description.modules {
        let bytes = fs::read(folder.join(name)).map_err(|error| Failure::new(format!("{MODULES}/{name}: {error}")))?;
        if bytes.len() != *size || hash(&bytes) != *sha256 {
            return Err(Failure::new(format!("{MODULES}/{name} is not the file that BUILD.toml describes")));
        }
    }
    let named: Vec<String> = description.modules.keys().cloned().collect();
    let crates: Vec<String> = contracts(root)?.iter().map(|name| format!("{name}.wasm")).collect();
    if named != crates {
        return Err(Failure::new(format!("BUILD.toml describes {named:?}, the contracts are {crates:?}")));
    }
    let differing = differing(root, &broken::modules());
    if !differing.is_empty() {
        return Err(Failure::new(format!("not what the generator makes: {}", differing.join(", "))));
    }
    if sources_hash(root)? != description.sources {
        return Err(Failure::new(
            "the contracts' sources changed and their modules were not rebuilt: run `cargo xtask contracts --write`",
        ));
    }
    Ok(())
}

/// Names of the given modules whose committed bytes are others, or missing.
fn differing(root: &Path, modules: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let committed = |name: &str| fs::read(root.join(MODULES).join(name)).ok();
    let differing = modules.iter().filter(|(name, bytes)| committed(name).as_ref() != Some(bytes));
    differing.map(|(name, _)| name.clone()).collect()
}

/// The crates that are modules: those whose library declares a contract, and indexer programs, which name where they begin.
fn contracts(root: &Path) -> Outcome<Vec<String>> {
    let files = repository::files(root)?;
    let libraries = files.iter().filter_map(|file| {
        let (name, source) = file.path.strip_prefix("contracts/")?.split_once("/src/")?;
        let declares = match source {
            "lib.rs" => file.text.lines().any(|line| line == "contract! {"),
            "host.rs" => file.text.contains("extern \"C\" fn _start()"),
            _ => false,
        };
        declares.then(|| name.to_owned())
    });
    let mut names: Vec<String> = libraries.collect();
    names.sort();
    if names.is_empty() { Err(Failure::new("contracts/ holds no contract")) } else { Ok(names) }
}

/// Builds every contract and answers the modules by file name.
fn build(root: &Path, toolchain: &Toolchain) -> Outcome<BTreeMap<String, Vec<u8>>> {
    let folder = root.join("contracts");
    let place = folder.join("target");
    let mut modules = BTreeMap::new();
    for name in contracts(root)? {
        let mut command = Command::new("cargo");
        command.current_dir(&folder).args([
            "rustc",
            "--quiet",
            "--locked",
            "--release",
            "--lib",
            "--crate-type",
            "cdylib",
        ]);
        command.args(["--target", TARGET, "-Zbuild-std=core,alloc", "--package", &name]);
        command.arg("--target-dir").arg(&place);
        // The unstable switches are those of a released compiler, pinned by its version.
        command.env("RUSTC", &toolchain.compiler).env("RUSTC_BOOTSTRAP", "1");
        command.env("RUSTFLAGS", FLAGS.join(" "));
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &toolchain.linker);
        for variable in ["RUSTC_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "RUSTUP_TOOLCHAIN"] {
            command.env_remove(variable);
        }
        run(&mut command)?;
        let path = place.join(TARGET).join("release").join(name.replace('-', "_")).with_extension("wasm");
        let bytes = fs::read(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        modules.insert(format!("{name}.wasm"), bytes);
    }
    Ok(modules)
}

fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// One hash over everything that the modules are made of: sources, manifests and the lock file, by path.
fn sources_hash(root: &Path) -> Outcome<String> {
    let mut all = Vec::new();
    for file in repository::files(root)? {
        let shared = file.path.starts_with(SHARED).then_some(file.path.as_str());
        let Some(path) = file.path.strip_prefix("contracts/").or(shared) else { continue };
        let made_of = file.is_rust() || matches!(file.name(), "Cargo.toml" | "Cargo.lock");
        // Tests, the harness and the library's test world are not part of any module.
        let of_tests = path.starts_with("harness/") || path.starts_with("sdk/src/testing") || path.contains("/tests/");
        if made_of && !of_tests {
            all.extend_from_slice(format!("{path}\0{}\0{}", file.text.len(), file.text).as_bytes());
        }
    }
    Ok(hash(&all))
}

/// What `BUILD.toml` says.
#[derive(Debug, PartialEq, Eq)]
struct Description {
    compiler: String,
    linker: String,
    sources: String,
    /// Size and SHA-256 by file name.
    modules: BTreeMap<String, (usize, String)>,
}

impl Description {
    fn parse(text: &str) -> Outcome<Self> {
        let broken = |what: &str| Failure::new(format!("contracts/wasm/BUILD.toml: {what}"));
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| broken(&error.to_string()))?;
        let word = |table: &toml::Table, key: &str| {
            table
                .get(key)
                .and_then(toml::Value::as_str)
                .map(str::to_owned)
                .ok_or_else(|| broken(&format!("no `{key}`")))
        };
        let mut modules = BTreeMap::new();
        for (name, entry) in table.get("modules").and_then(toml::Value::as_table).into_iter().flatten() {
            let entry = entry.as_table().ok_or_else(|| broken(&format!("`{name}` is no table")))?;
            let size = entry.get("size").and_then(toml::Value::as_integer).and_then(|size| usize::try_from(size).ok());
            let size = size.ok_or_else(|| broken(&format!("`{name}` has no size")))?;
            modules.insert(name.clone(), (size, word(entry, "sha256")?));
        }
        Ok(Self {
            compiler: word(&table, "compiler")?,
            linker: word(&table, "linker")?,
            sources: word(&table, "sources")?,
            modules,
        })
    }

    fn to_toml(&self) -> String {
        let mut text =
            String::from("# Written by `cargo xtask contracts --write`: what made the modules beside this file.\n");
        let _ = writeln!(text, "compiler = \"{}\"\nlinker = \"{}\"", self.compiler, self.linker);
        let _ = writeln!(
            text,
            "sources = \"{}\" # SHA-256 over the sources, manifests and lock file\n\n[modules]",
            self.sources
        );
        for (name, (size, sha256)) in &self.modules {
            let _ = writeln!(text, "\"{name}\" = {{ size = {size}, sha256 = \"{sha256}\" }}");
        }
        text
    }
}

/// First line of what a program prints about its version.
fn version(program: &PathBuf, arguments: &[&str]) -> Outcome<String> {
    let output = capture(Command::new(program).args(arguments))?;
    Ok(output.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_modules_fit_the_sources() {
        if let Err(failure) = check_committed(&repository::root()) {
            panic!("{failure}");
        }
    }

    #[test]
    fn a_description_reads_back_as_written() {
        let description = Description {
            compiler: "rustc 1.2.3".to_owned(),
            linker: "LLD 4.5.6".to_owned(),
            sources: "ab".to_owned(),
            modules: BTreeMap::from([("a.wasm".to_owned(), (7, "cd".to_owned()))]),
        };
        assert_eq!(Description::parse(&description.to_toml()).unwrap(), description);
        assert!(Description::parse("compiler = 1").is_err());
    }
}
