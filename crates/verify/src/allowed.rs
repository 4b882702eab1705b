//! What a submission may pass to compiler and linker: lists of options that choose how code is generated. Options that
//! name a program, a file outside of the build or a path are on none of them. The lists are the same for variables,
//! configuration, manifests, build scripts and attributes in the source, because the last two functions check the final
//! arguments of the tools.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::toolchain::TARGET;

/// Variables that choose how a module is made.
const VARIABLES: [&str; 11] = [
    "RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
    "RUSTC_BOOTSTRAP",
    "CARGO_UNSTABLE_BUILD_STD",
    "CARGO_UNSTABLE_BUILD_STD_FEATURES",
    "CARGO_INCREMENTAL",
    "SOURCE_DATE_EPOCH",
    "LANG",
    "LC_ALL",
    "TZ",
];
/// Variables whose values are flags of the compiler.
const FLAG_VARIABLES: [&str; 3] =
    ["RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS"];
/// Before the settings of a profile, and these settings.
const PROFILE: &str = "CARGO_PROFILE_RELEASE_";
const PROFILE_SETTINGS: [&str; 9] = [
    "OPT_LEVEL",
    "LTO",
    "CODEGEN_UNITS",
    "PANIC",
    "STRIP",
    "DEBUG",
    "OVERFLOW_CHECKS",
    "DEBUG_ASSERTIONS",
    "INCREMENTAL",
];
/// Beginnings of names that neither a tool nor the system reads, for `env!` in a contract.
const CONTRACT_PREFIXES: [&str; 4] = ["CONTRACT_", "ALKANE_", "ALKANES_", "VERGEN_"];
/// Beginnings of names by which build scripts, named in the verdict themselves, find a C compiler and its flags.
const C_PREFIXES: [&str; 8] =
    ["CC_wasm32", "AR_wasm32", "CXX_wasm32", "CFLAGS", "CXXFLAGS", "TARGET_C", "TARGET_AR", "HOST_C"];
/// Beginnings of names that the loader of programs, a compiler or a linker reads: a build script may not set them for the compiler.
const TOOL_PREFIXES: [&str; 18] = [
    "LD_",
    "DYLD_",
    "GLIBC_",
    "GCONV_",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_",
    "RUST",
    "CARGO",
    "LLD_",
    "LLVM_",
    "GCC_",
    "COLLECT_",
    "COMPILER_",
    "LIBRARY_",
    "CCC_",
    "PATH",
    "TMP",
];

const CODEGEN: [&str; 20] = [
    "opt-level",
    "lto",
    "codegen-units",
    "panic",
    "strip",
    "debuginfo",
    "overflow-checks",
    "debug-assertions",
    "embed-bitcode",
    "target-cpu",
    "target-feature",
    "relocation-model",
    "inline-threshold",
    "force-unwind-tables",
    "symbol-mangling-version",
    "prefer-dynamic",
    "split-debuginfo",
    "link-dead-code",
    "link-arg",
    "link-args",
];
/// Options of `-Z` that change what the compiler writes, and none that loads or runs anything.
const UNSTABLE: [&str; 17] = [
    "unstable-options",
    "location-detail",
    "fmt-debug",
    "force-unstable-if-unmarked",
    "binary-dep-depinfo",
    "share-generics",
    "wasm-c-abi",
    "remap-cwd-prefix",
    "remap-path-scope",
    "mir-opt-level",
    "inline-mir",
    "virtual-function-elimination",
    "function-sections",
    "trap-unreachable",
    "embed-metadata",
    "default-visibility",
    "randomize-layout",
];
/// Options that flags may have beside `-C` and `-Z`, and those that cargo itself gives besides.
const FLAGS: [&str; 11] = [
    "cfg",
    "check-cfg",
    "cap-lints",
    "allow",
    "warn",
    "deny",
    "forbid",
    "force-warn",
    "remap-path-prefix",
    "remap-path-scope",
    "diagnostic-width",
];
const OPTIONS_OF_CARGO: [&str; 11] = [
    "crate-name",
    "edition",
    "error-format",
    "json",
    "crate-type",
    "emit",
    "out-dir",
    "target",
    "extern",
    "print",
    "color",
];
/// Kinds of output (`--emit`), without a path; the last ones are requested by build scripts that test for features of the
/// compiler.
const EMITTED: [&str; 8] = ["dep-info", "metadata", "link", "obj", "llvm-bc", "llvm-ir", "asm", "mir"];
const SWITCHES: [&str; 2] = ["-O", "-g"];
const SWITCHES_OF_CARGO: [&str; 7] = ["-vV", "-V", "-v", "--version", "--verbose", "--test", "-"];

/// Options of `wasm-ld`, in the order in which its manual has them; values are names or numbers.
const LINKER_OPTIONS: [&str; 42] = [
    "export",
    "export-all",
    "export-dynamic",
    "export-if-defined",
    "export-memory",
    "export-table",
    "growable-table",
    "import-memory",
    "import-table",
    "import-undefined",
    "allow-undefined",
    "initial-memory",
    "initial-heap",
    "max-memory",
    "no-growable-memory",
    "global-base",
    "table-base",
    "entry",
    "no-entry",
    "gc-sections",
    "no-gc-sections",
    "print-gc-sections",
    "strip-all",
    "strip-debug",
    "demangle",
    "no-demangle",
    "stack-first",
    "no-stack-first",
    "shared-memory",
    "compress-relocations",
    "merge-data-segments",
    "no-merge-data-segments",
    "fatal-warnings",
    "no-fatal-warnings",
    "features",
    "extra-features",
    "keep-section",
    "build-id",
    "unresolved-symbols",
    "error-limit",
    "whole-archive",
    "no-whole-archive",
];
const LINKER_LETTERS: [&str; 9] = ["-s", "-S", "-O0", "-O1", "-O2", "-O3", "--lto-O0", "--lto-O2", "--lto-O3"];

/// Paths of the tools of one build, as the build sees them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ToolPaths {
    /// The compiler, and the linker behind ours.
    pub(crate) compiler: PathBuf,
    pub(crate) linker: PathBuf,
    /// The path by which the linker is passed to the compiler.
    pub(crate) linker_entry: PathBuf,
    /// Folder in which calls of the compiler are recorded.
    pub(crate) record: PathBuf,
    /// Folders that a compiler or linker may read its inputs from: those of the build and of the toolchain.
    pub(crate) inputs: Vec<PathBuf>,
}

/// Checks one variable that a submission sets.
///
/// # Errors
/// What is wrong, without the name.
pub(crate) fn variable(name: &str, value: &str) -> Result<(), String> {
    if !is_variable(name) {
        return Err("is not among the variables that a build may be given".to_owned());
    }
    if value.contains(char::is_control) {
        return Err("has a value that is not plain text".to_owned());
    }
    if FLAG_VARIABLES.contains(&name) {
        flags(value.split(' ').map(str::trim).filter(|word| !word.is_empty()))?;
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_profile = name.strip_prefix(PROFILE).is_some_and(|setting| PROFILE_SETTINGS.contains(&setting));
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    is_plain && (VARIABLES.contains(&name) || is_profile || begins(&CONTRACT_PREFIXES) || begins(&C_PREFIXES))
}

/// Whether the loader, the compiler or the linker may read a variable, so that only the worker and cargo may set it.
pub(crate) fn is_read_by_tools(name: &str) -> bool {
    TOOL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Checks flags of the compiler.
///
/// # Errors
/// The first that is not allowed.
pub(crate) fn flags<'a>(words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let words: Vec<&str> = words.collect();
    for item in items(&words)? {
        match item {
            Item::Codegen(name, value) if CODEGEN.contains(&name) => link_arguments(name, value)?,
            Item::Unstable(name) if UNSTABLE.contains(&name) => {}
            Item::Option(name, _) if FLAGS.contains(&name) => {}
            Item::Switch(name) if SWITCHES.contains(&name) => {}
            other => return Err(format!("the compiler's flag `{other}` is not allowed")),
        }
    }
    Ok(())
}

/// Checks one whole call of the compiler, no matter what composed it.
///
/// # Errors
/// The first argument that is not allowed.
pub(crate) fn compiler(arguments: &[String], paths: &ToolPaths) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for item in items(&words)? {
        let is_allowed = match item {
            Item::Codegen("linker", value) => value.map(Path::new) == Some(&paths.linker_entry),
            // Bitcode for an optimization over all crates; a value would be the path of a library that the linker loads.
            Item::Codegen("linker-plugin-lto", value) => value.is_none(),
            Item::Codegen("metadata" | "extra-filename", value) => value.is_some_and(is_plain),
            Item::Codegen("incremental", value) => value.is_some_and(|path| paths.is_input(path)),
            Item::Codegen(name, value) => {
                link_arguments(name, value)?;
                CODEGEN.contains(&name)
            }
            Item::Unstable(name) => UNSTABLE.contains(&name),
            Item::Option("target", value) => value == TARGET,
            Item::Option("out-dir" | "output", value) => paths.is_input(value),
            Item::Option("extern", value) => value.split_once('=').is_none_or(|(_, path)| paths.is_input(path)),
            Item::Option("emit", value) => value.split(',').all(|kind| EMITTED.contains(&kind)),
            Item::Option("search", value) => paths.is_input(value.split_once('=').map_or(value, |(_, path)| path)),
            Item::Option("library", value) => {
                value.chars().all(|letter| letter.is_ascii_alphanumeric() || "=:+,_-.".contains(letter))
            }
            Item::Option(name, _) => FLAGS.contains(&name) || OPTIONS_OF_CARGO.contains(&name),
            Item::Switch(name) => SWITCHES.contains(&name) || SWITCHES_OF_CARGO.contains(&name),
            Item::Input(path) => Path::new(path).extension().is_some_and(|kind| kind == "rs"),
        };
        if !is_allowed {
            return Err(format!("the compiler is not called with `{item}`"));
        }
    }
    Ok(())
}

/// Checks one whole call of the linker for wasm.
///
/// # Errors
/// The first argument that is not allowed.
pub(crate) fn linker(arguments: &[String], paths: &ToolPaths) -> Result<(), String> {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let is_allowed = match word {
            "-flavor" => words.next() == Some("wasm"),
            "-m" => words.next() == Some("wasm32"),
            "-o" | "-L" => words.next().is_some_and(|path| paths.is_input(path)),
            "-z" => words.next().is_some_and(is_stack_size),
            "--export" | "--entry" => words.next().is_some_and(is_symbol),
            _ => linker_word(word) || is_library(word) || paths.is_linked(word),
        };
        if !is_allowed {
            return Err(format!("the linker is not called with `{}`", shortened(word)));
        }
    }
    Ok(())
}

impl ToolPaths {
    /// Whether a path is in a folder of the build or of the toolchain, as written.
    fn is_input(&self, path: &str) -> bool {
        let path = Path::new(path);
        let is_direct = !path.components().any(|part| part == Component::ParentDir);
        is_direct && self.inputs.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether the path of an input, or of a search path (`-L`) in one word, is in such a folder.
    fn is_linked(&self, word: &str) -> bool {
        self.is_input(word.strip_prefix("-L").unwrap_or(word))
    }
}

/// Whether a word is an allowed option of the linker that takes no further word.
fn linker_word(word: &str) -> bool {
    if LINKER_LETTERS.contains(&word) {
        return true;
    }
    if let Some(setting) = word.strip_prefix("-z") {
        return is_stack_size(setting);
    }
    let Some(option) = word.strip_prefix("--") else { return false };
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    LINKER_OPTIONS.contains(&name) && (value.is_empty() || is_symbol(value))
}

/// `-lc`: a name that is searched in the allowed folders.
fn is_library(word: &str) -> bool {
    word.strip_prefix("-l").is_some_and(|name| !name.is_empty() && is_plain(name))
}

fn is_stack_size(setting: &str) -> bool {
    setting
        .strip_prefix("stack-size=")
        .is_some_and(|size| size.bytes().all(|digit| digit.is_ascii_hexdigit() || digit == b'x'))
}

/// Names of symbols and features, and numbers: nothing that could be a path.
fn is_symbol(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.$,+-:<>".contains(letter))
        && !value.starts_with('-')
}

fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Arguments for the linker among those of the compiler: none that is a file.
fn link_arguments(name: &str, value: Option<&str>) -> Result<(), String> {
    let words = match (name, value) {
        ("link-arg", Some(word)) => vec![word],
        ("link-args", Some(words)) => words.split(' ').filter(|word| !word.is_empty()).collect(),
        _ => return Ok(()),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let is_allowed = match word {
            "-z" => name == "link-arg" || words.next().is_some_and(is_stack_size),
            "--export" => name == "link-arg" || words.next().is_some_and(is_symbol),
            // What follows `-Clink-arg=-z`.
            _ => linker_word(word) || (name == "link-arg" && is_stack_size(word)),
        };
        if !is_allowed {
            return Err(format!("the linker's argument `{}` is not allowed", shortened(word)));
        }
    }
    Ok(())
}

/// One argument of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item<'a> {
    Codegen(&'a str, Option<&'a str>),
    Unstable(&'a str),
    Option(&'a str, &'a str),
    Switch(&'a str),
    Input(&'a str),
}

impl std::fmt::Display for Item<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Codegen(name, value) => {
                write!(out, "-C {}", shortened(&[*name, value.unwrap_or_default()].join("=")))
            }
            Self::Unstable(name) => write!(out, "-Z {}", shortened(name)),
            Self::Option(name, value) => write!(out, "--{name}={}", shortened(value)),
            Self::Switch(word) | Self::Input(word) => write!(out, "{}", shortened(word)),
        }
    }
}

/// A text of the submission, shortened for an error message.
fn shortened(text: &str) -> String {
    const LETTERS_MAX: usize = 80;
    text.chars().filter(|letter| !letter.is_control()).take(LETTERS_MAX).collect()
}

/// The options of a command line, in all forms that the compiler accepts: `-C x=y`, `-Cx=y`, `--codegen x=y`, `--codegen=x=y`.
fn items<'a>(words: &[&'a str]) -> Result<Vec<Item<'a>>, String> {
    let mut items = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value_of = |attached: &'a str| -> Result<&'a str, String> {
            match attached {
                "" => words.next().ok_or_else(|| format!("`{}` has no value", shortened(word))),
                attached => Ok(attached),
            }
        };
        let item = if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
            match long.split_once('=') {
                Some((name, value)) => named(name, value),
                None if SWITCHES_OF_CARGO.contains(&word) => Item::Switch(word),
                None => named(long, value_of("")?),
            }
        } else if SWITCHES.contains(&word) || SWITCHES_OF_CARGO.contains(&word) {
            Item::Switch(word)
        } else if let Some(short) = word.strip_prefix('-') {
            let letter = short.get(..1).unwrap_or_default();
            let attached = short.get(1..).unwrap_or_default();
            let name = match letter {
                "C" => "codegen",
                "Z" => "unstable",
                "A" => "allow",
                "W" => "warn",
                "D" => "deny",
                "F" => "forbid",
                "L" => "search",
                "l" => "library",
                "o" => "output",
                _ => return Err(format!("the compiler's flag `{}` is not allowed", shortened(word))),
            };
            named(name, value_of(attached)?)
        } else if word.starts_with('@') {
            return Err("the compiler's arguments are not read from a file".to_owned());
        } else {
            Item::Input(word)
        };
        items.push(item);
    }
    Ok(items)
}

fn named<'a>(name: &'a str, value: &'a str) -> Item<'a> {
    match name {
        "codegen" => match value.split_once('=') {
            Some((name, value)) => Item::Codegen(name, Some(value)),
            None => Item::Codegen(value, None),
        },
        "unstable" => Item::Unstable(value.split_once('=').map_or(value, |(name, _)| name)),
        _ => Item::Option(name, value),
    }
}

#[cfg(test)]
mod tests;
