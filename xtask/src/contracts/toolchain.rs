//! The compiler and linker that make the modules.
//!
//! rustup's own wasm32 target is a download that is not to be had everywhere; Debian packages a compiler with its library
//! sources, and every rustup toolchain brings a linker for wasm.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::version;
use xtask::process::{Failure, Outcome, capture};

/// Names another compiler than Debian's.
const COMPILER_VARIABLE: &str = "PARAFFIN_WASM_RUSTC";
/// Where Debian's compiler is.
const COMPILER: &str = "/usr/bin/rustc";
const INSTALL: &str = "apt-get install rustc-web rust-web-src";

/// What was found on this machine.
pub(super) struct Toolchain {
    pub(super) compiler: PathBuf,
    /// As `rustc --version` says it.
    pub(super) compiler_version: String,
    pub(super) linker: PathBuf,
    /// Name and number of the linker.
    pub(super) linker_version: String,
}

impl Toolchain {
    /// Looks for compiler, library sources and linker.
    pub(super) fn find(root: &Path) -> Outcome<Self> {
        let named = named_versions(root);
        let compiler = std::env::var_os(COMPILER_VARIABLE).map_or_else(|| PathBuf::from(COMPILER), PathBuf::from);
        let missing = |what: &str| {
            Failure::new(format!(
                "{what}. The contracts are built by Debian's compiler ({INSTALL}), or by the one that {COMPILER_VARIABLE} \
                 names, with its library sources{named}"
            ))
        };
        if !compiler.is_file() {
            return Err(missing(&format!("there is no compiler at {}", compiler.display())));
        }
        let sysroot = capture(Command::new(&compiler).args(["--print", "sysroot"]))?;
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core");
        if !library.is_dir() {
            return Err(missing(&format!("{} has no library sources", compiler.display())));
        }
        let linker = linker()?;
        let linker_text = version(&linker, &["-flavor", "wasm", "--version"])?;
        let linker_version = linker_text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        Ok(Self { compiler_version: version(&compiler, &["--version"])?, compiler, linker, linker_version })
    }

    /// Refuses versions other than those that made the committed modules: they would make other bytes.
    pub(super) fn require(&self, compiler: &str, linker: &str) -> Outcome {
        if self.compiler_version != compiler {
            return Err(Failure::new(format!(
                "the committed modules were made by `{compiler}`, here is `{}`: {INSTALL} of that version, or name it in \
                 {COMPILER_VARIABLE}",
                self.compiler_version
            )));
        }
        if self.linker_version != linker {
            return Err(Failure::new(format!(
                "the committed modules were linked by `{linker}`, here is `{}`: use the rustup toolchain that brings it",
                self.linker_version
            )));
        }
        Ok(())
    }
}

/// `: the committed modules name …`, for the one who has nothing yet.
fn named_versions(root: &Path) -> String {
    let text = std::fs::read_to_string(root.join(super::MODULES).join("BUILD.toml")).unwrap_or_default();
    match super::Description::parse(&text) {
        Ok(named) => {
            format!(". The committed modules were made by `{}` and linked by `{}`", named.compiler, named.linker)
        }
        Err(_) => String::new(),
    }
}

/// The linker that the rustup toolchain brings.
fn linker() -> Outcome<PathBuf> {
    let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib");
    let hosts = std::fs::read_dir(&libraries).into_iter().flatten().flatten();
    let found = hosts.map(|host| host.path().join("bin/rust-lld")).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::new(format!("{} holds no rust-lld: install the Rust toolchain with rustup", libraries.display()))
    })
}
