//! The compilers of this machine that can build contracts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::settings::{Settings, ToolchainSettings};

/// The target of contracts.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Folder of the library's sources, below the root of a toolchain.
const LIBRARY_SOURCES: &str = "lib/rustlib/src/rust/library";
/// Prefix of the compiler's commit hash in the paths that it writes into modules.
const COMPILER_PATH: &[u8] = b"/rustc/";
const COMMIT_DIGITS: usize = 40;

/// A compiler with all that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// The operator's name for it.
    pub name: String,
    /// `1.95.0`.
    pub version: String,
    /// First line of `rustc --version`.
    pub version_line: String,
    /// Commit of the compiler, where it reports one.
    pub commit: Option<String>,
    /// Whether it has the library for wasm; without, the sources of the library are built along (`-Zbuild-std`).
    pub has_target: bool,
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: PathBuf,
    /// The linker for wasm.
    pub(crate) linker: PathBuf,
    /// Folders with the libraries of the toolchain.
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders that builds must see, beside the system's.
    pub(crate) folders: Vec<PathBuf>,
    /// Crates that the library itself is built with.
    pub(crate) library_vendor: Option<PathBuf>,
}

impl Toolchain {
    /// Folders that builds with it see, beside the system's.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }
}

/// A toolchain cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolchainError {
    /// A program of the settings does not run.
    #[error("[verify.toolchains.{name}]: {reason}")]
    Broken {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// No toolchain of this machine builds for wasm.
    #[error(
        "no Rust toolchain with the target {TARGET} or with the library's sources was found: `rustup target add {TARGET}`, \
         or name one in [verify.toolchains]"
    )]
    None,
}

/// All toolchains of the settings, or what this machine has where they name none.
///
/// # Errors
/// One that is named cannot be used, or there is none.
pub fn toolchains(settings: &Settings) -> Result<Vec<Toolchain>, ToolchainError> {
    let found: Vec<Toolchain> = if settings.toolchains.is_empty() {
        discovered()
    } else {
        let named = settings.toolchains.iter().map(|(name, settings)| of(name, settings));
        named.collect::<Result<_, _>>()?
    };
    if found.is_empty() { Err(ToolchainError::None) } else { Ok(found) }
}

/// The toolchain that a submission requests, by name, version, or the whole line; without a word, the one whose commit the module
/// names, then the first.
pub(crate) fn choose<'a>(all: &'a [Toolchain], requested: Option<&str>, deployed: &[u8]) -> Option<&'a Toolchain> {
    let Some(requested) = requested else {
        let commit = compiler_commit(deployed);
        let same = all.iter().find(|toolchain| commit.is_some() && toolchain.commit == commit);
        return same.or_else(|| all.first());
    };
    let requested = requested.trim().trim_start_matches("rustc ").trim();
    all.iter().find(|toolchain| {
        let line = toolchain.version_line.trim_start_matches("rustc ");
        toolchain.name == requested || toolchain.version == requested || line == requested
    })
}

/// The commit of the compiler, from the paths of the library that a module holds.
fn compiler_commit(module: &[u8]) -> Option<String> {
    module.windows(COMPILER_PATH.len() + COMMIT_DIGITS).find_map(|window| {
        let digits = window.strip_prefix(COMPILER_PATH)?;
        let is_hex = digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then(|| String::from_utf8_lossy(digits).into_owned())
    })
}

/// rustup's default toolchain, and the system's compiler.
fn discovered() -> Vec<Toolchain> {
    let rustup = output_of(Path::new("rustc"), &["--print", "sysroot"]).map(|root| PathBuf::from(root.trim()));
    let rustup = rustup.map(|root| ToolchainSettings {
        rustc: root.join("bin/rustc"),
        cargo: None,
        linker: None,
        folders: Vec::new(),
    });
    let system = ToolchainSettings {
        rustc: PathBuf::from("/usr/bin/rustc"),
        cargo: None,
        linker: rustup.as_ref().and_then(|rustup| linker(rustup.rustc.parent()?.parent()?)),
        folders: Vec::new(),
    };
    let beside = rustup.as_ref().map(|rustup| rustup.rustc.with_file_name("cargo"));
    let mut found: Vec<Toolchain> = Vec::new();
    for (name, settings) in [("rustup", rustup.clone()), ("system", Some(system))] {
        let Some(mut settings) = settings else { continue };
        if !settings.rustc.with_file_name("cargo").is_file() {
            settings.cargo.clone_from(&beside);
        }
        match of(name, &settings) {
            Ok(toolchain) if found.iter().all(|other| other.rustc != toolchain.rustc) => found.push(toolchain),
            _ => {}
        }
    }
    found
}

/// The linker for wasm that rustup's toolchains bring.
fn linker(root: &Path) -> Option<PathBuf> {
    let hosts = std::fs::read_dir(root.join("lib/rustlib")).ok()?.flatten();
    hosts.map(|host| host.path().join("bin/rust-lld")).find(|path| path.is_file())
}

/// A linker for wasm among the system's programs.
fn system_linker() -> Option<PathBuf> {
    let folders = ["/usr/local/bin", "/usr/bin"].iter();
    let named = folders.flat_map(|folder| ["rust-lld", "wasm-ld", "lld"].map(|name| Path::new(folder).join(name)));
    named.into_iter().find(|path| path.is_file())
}

fn of(name: &str, settings: &ToolchainSettings) -> Result<Toolchain, ToolchainError> {
    let broken = |reason: String| ToolchainError::Broken { name: name.to_owned(), reason };
    let version = output_of(&settings.rustc, &["-vV"]).ok_or_else(|| broken("rustc does not run".to_owned()))?;
    let line = |key: &str| version.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_owned());
    let sysroot = output_of(&settings.rustc, &["--print", "sysroot"]).ok_or_else(|| broken("no sysroot".to_owned()))?;
    let sysroot = PathBuf::from(sysroot.trim());
    let cargo = settings.cargo.clone().unwrap_or_else(|| settings.rustc.with_file_name("cargo"));
    output_of(&cargo, &["--version"]).ok_or_else(|| broken("cargo does not run".to_owned()))?;
    let has_target = sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir();
    let library = sysroot.join(LIBRARY_SOURCES);
    if !has_target && !library.join("core").is_dir() {
        return Err(broken(format!("it has neither the target {TARGET} nor the library's sources")));
    }
    let linker = settings.linker.clone().or_else(|| linker(&sysroot)).or_else(system_linker);
    let linker = linker.ok_or_else(|| broken("no linker for wasm is found: name one".to_owned()))?;
    let library_folder = sysroot.join("lib/rustlib");
    let libraries = [Some(library_folder.clone()), library_folder.canonicalize().ok()].into_iter().flatten().collect();
    let mut folders = settings.folders.clone();
    folders.push(sysroot);
    for program in [&settings.rustc, &cargo, &linker] {
        folders.extend(root_of(program));
    }
    folders.sort();
    folders.dedup();
    // A folder below another one is mounted with it, and those of the system always are.
    let all = folders.clone();
    folders.retain(|folder| {
        !folder.starts_with("/usr") && !all.iter().any(|above| above != folder && folder.starts_with(above))
    });
    let vendor = library.join("vendor");
    Ok(Toolchain {
        name: name.to_owned(),
        version: line("release:").unwrap_or_default(),
        version_line: version.lines().next().unwrap_or_default().to_owned(),
        commit: line("commit-hash:").filter(|commit| commit.len() == COMMIT_DIGITS),
        has_target,
        rustc: settings.rustc.clone(),
        cargo,
        linker,
        libraries,
        folders,
        library_vendor: vendor.is_dir().then_some(vendor),
    })
}

/// The folder that a program is installed in: the parent of its `bin`, or of the `lib` around it.
fn root_of(program: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = program.ancestors().skip(1).collect();
    let library = above.iter().position(|folder| folder.ends_with("lib"));
    let folder = match library {
        Some(index) => above.get(index + 1)?,
        None => above.iter().find(|folder| folder.ends_with("bin"))?.parent()?,
    };
    (folder.components().count() > 1).then(|| folder.to_path_buf())
}

/// Standard output of a program that succeeds. Only programs of the operator are run, so there is no timeout.
fn output_of(program: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toolchain(name: &str, version: &str, commit: &str) -> Toolchain {
        Toolchain {
            name: name.to_owned(),
            version: version.to_owned(),
            version_line: format!("rustc {version} ({} 2026-01-01)", &commit[..9]),
            commit: Some(commit.to_owned()),
            has_target: true,
            rustc: PathBuf::new(),
            cargo: PathBuf::new(),
            linker: PathBuf::new(),
            libraries: Vec::new(),
            folders: Vec::new(),
            library_vendor: None,
        }
    }

    #[test]
    fn a_compiler_is_chosen_by_name_version_line_or_by_what_the_module_names() {
        let (one, two) = ("a".repeat(40), "b".repeat(40));
        let all = [toolchain("stable", "1.95.0", &one), toolchain("older", "1.80.1", &two)];
        let name = |requested, module: &[u8]| choose(&all, requested, module).map(|toolchain| toolchain.name.as_str());
        assert_eq!(name(Some("1.80.1"), b""), Some("older"));
        assert_eq!(name(Some("rustc 1.80.1 (bbbbbbbbb 2026-01-01)"), b""), Some("older"));
        assert_eq!(name(Some("older"), b""), Some("older"));
        assert_eq!(name(Some("1.2.3"), b""), None);
        assert_eq!(name(None, format!("\0x/rustc/{two}/library/core/src/lib.rs").as_bytes()), Some("older"));
        assert_eq!(name(None, format!("/rustc/{}/x", "c".repeat(40)).as_bytes()), Some("stable"));
        assert_eq!(name(None, b"/rustc/short"), Some("stable"));
        assert_eq!(name(None, b""), Some("stable"));
    }

    #[test]
    fn the_root_of_a_program_is_the_parent_of_its_bin() {
        let of = |path: &str| root_of(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(of("/opt/rust/bin/cargo").as_deref(), Some("/opt/rust"));
        assert_eq!(of("/opt/rust/lib/rustlib/x/bin/rust-lld").as_deref(), Some("/opt/rust"));
        assert_eq!(of("/bin/cargo"), None);
        assert_eq!(of("/cargo"), None);
    }

    #[test]
    fn what_does_not_run_is_named() {
        let missing =
            ToolchainSettings { rustc: "/nowhere/rustc".into(), cargo: None, linker: None, folders: Vec::new() };
        let settings = Settings { toolchains: [("old".to_owned(), missing)].into(), ..Settings::default() };
        let error = toolchains(&settings).unwrap_err().to_string();
        assert!(error.starts_with("[verify.toolchains.old]: "), "{error}");
    }
}
