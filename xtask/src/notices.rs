//! The licence notices of the crates that a packaged program is built from, out of the sources that cargo has fetched.
//!
//! A crate whose sources hold no licence text is listed with its authors beside the standard text of its licence. One whose licence
//! has no text here stops the packaging.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::process::{Failure, Outcome, capture};

/// What names of files with licence texts begin with, in small letters.
const NAMES: [&str; 6] = ["licen", "copying", "copyright", "notice", "unlicense", "authors"];
/// Extensions of such files; none is allowed as well.
const EXTENSIONS: [&str; 3] = ["txt", "md", "rst"];
/// Crates whose licence text is in another crate of the same authors and repository.
const SAME_TEXT: [(&str, &str); 10] = [
    ("alloc-stdlib", "alloc-no-stdlib"),
    ("cranelift-assembler-x64", "wasmtime"),
    ("cranelift-assembler-x64-meta", "wasmtime"),
    ("cranelift-bitset", "wasmtime"),
    ("cranelift-isle", "wasmtime"),
    ("cranelift-srcgen", "wasmtime"),
    ("pulley-interpreter", "wasmtime"),
    ("wasmtime-internal-component-util", "wasmtime"),
    ("wasmtime-internal-core", "wasmtime"),
    ("wasmtime-internal-jit-icache-coherence", "wasmtime"),
];
/// Crates without a text of which nothing is in the program: macros that the compiler evaluates.
const NOT_IN_PROGRAM: [&str; 1] = ["hex_lit"];
/// Licences that ask for no notice.
const WITHOUT_NOTICE: [&str; 3] = ["CC0-1.0", "0BSD", "Unlicense"];
/// The C sources of Lua that are compiled, and the header whose last comment is their licence.
const LUA: (&str, &str) = ("lua-src", "lua-5.4");

/// A crate, as `cargo metadata` lists it.
#[derive(Debug, Clone)]
struct Crate {
    label: String,
    name: String,
    licence: String,
    authors: String,
    repository: String,
    folder: PathBuf,
}

/// Everything that the licences of other people's crates in the program ask to be handed on with it.
///
/// # Errors
/// Cargo does not list the crates, the sources of one are not there, or its licence has no text.
pub fn third_party(root: &Path, features: &str) -> Outcome<String> {
    let host = host()?;
    let linked = linked(root, features, &host)?;
    let crates = crates(root, features, &host)?;
    let mut chosen = Vec::new();
    for label in linked {
        let one = crates.get(&label).ok_or_else(|| Failure::new(format!("cargo metadata does not list {label}")))?;
        chosen.push(one.clone());
    }
    write(root, &chosen)
}

fn host() -> Outcome<String> {
    let printed = capture(Command::new("rustc").arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("`rustc -vV` names no host"))
}

/// Name and version of each crate that is linked in or whose build script brings sources in. Macros, tests and our own crates are
/// left out.
fn linked(root: &Path, features: &str, host: &str) -> Outcome<BTreeSet<String>> {
    let mut tree = Command::new("cargo");
    tree.current_dir(root).args(["tree", "--package", "paraffin", "--locked", "--offline", "--features", features]);
    tree.args(["--edges", "normal,build,no-proc-macro", "--target", host, "--prefix", "none", "--format", "{p}"]);
    let listing = capture(&mut tree)?;
    let label = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    // A crate of the workspace has its folder behind its version.
    let crates: BTreeSet<String> = listing.lines().filter(|line| !line.contains("(/")).filter_map(label).collect();
    if crates.is_empty() { Err(Failure::new("cargo tree lists no crate")) } else { Ok(crates) }
}

/// All crates by name and version.
fn crates(root: &Path, features: &str, host: &str) -> Outcome<BTreeMap<String, Crate>> {
    let mut metadata = Command::new("cargo");
    metadata.current_dir(root).args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    let features: Vec<_> = features.split(',').map(|feature| format!("paraffin/{feature}")).collect();
    metadata.args(["--filter-platform", host, "--features", &features.join(",")]);
    let listing: Value = serde_json::from_str(&capture(&mut metadata)?)
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let crates = listing["packages"].as_array().into_iter().flatten().map(|package| {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let manifest = PathBuf::from(text(package, "manifest_path"));
        let one = Crate {
            label: format!("{name} {version}"),
            licence: text(package, "license"),
            authors: authors.collect::<Vec<_>>().join(", "),
            repository: text(package, "repository"),
            folder: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
            name,
        };
        (one.label.clone(), one)
    });
    Ok(crates.collect())
}

/// The list of the crates, then every text once with the crates that have it.
fn write(root: &Path, crates: &[Crate]) -> Outcome<String> {
    // The text as it is compared, and the text with its crates.
    let mut texts: BTreeMap<String, (String, BTreeSet<&str>)> = BTreeMap::new();
    for one in crates {
        for text in texts_of(root, one, crates)? {
            let compared = text.split_whitespace().collect::<Vec<_>>().join(" ");
            texts.entry(compared).or_insert_with(|| (text, BTreeSet::new())).1.insert(&one.label);
        }
    }
    let mut all = String::from(
        "The program `paraffin` is built with the crates below, each under the licence beside it, and with the standard library of\n\
         Rust (MIT OR Apache-2.0). SQLite, which is built in, is in the public domain.\n\n",
    );
    for Crate { label, licence, authors, repository, .. } in crates {
        let authors = if authors.is_empty() { "its contributors" } else { authors };
        let _ = writeln!(all, "{label}: {licence}; by {authors}; {repository}");
    }
    for (text, labels) in texts.values() {
        let labels: Vec<&str> = labels.iter().copied().collect();
        let _ = writeln!(all, "\n{}\nOf {}:\n\n{}", "-".repeat(80), labels.join(", "), text.trim_end());
    }
    Ok(all)
}

/// The licence texts of a crate: those of its sources, else the standard one.
fn texts_of(root: &Path, one: &Crate, crates: &[Crate]) -> Outcome<Vec<String>> {
    let mut texts = Vec::new();
    collect(&one.folder, &mut texts)?;
    if one.name == LUA.0 {
        texts.push(lua(&one.folder)?);
    }
    if texts.is_empty()
        && let Some((_, other)) = SAME_TEXT.iter().find(|(name, _)| *name == one.name)
        && let Some(other) = crates.iter().find(|candidate| candidate.name == *other)
    {
        collect(&other.folder, &mut texts)?;
    }
    if texts.is_empty() && !NOT_IN_PROGRAM.contains(&one.name.as_str()) {
        texts.extend(standard(root, one)?);
    }
    Ok(texts)
}

/// Licence files in a folder and below, by their names.
fn collect(folder: &Path, texts: &mut Vec<String>) -> Outcome {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(|error| failed(&error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts)?;
        } else if is_licence(&path) {
            let bytes = fs::read(&path).map_err(|error| failed(&error))?;
            texts.push(String::from_utf8_lossy(&bytes).replace('\r', ""));
        }
    }
    Ok(())
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    // `LICENSE-APACHE-2.0` has no extension that says anything.
    let is_text =
        extension.is_none_or(|extension| EXTENSIONS.contains(&&*extension) || extension.parse::<u32>().is_ok());
    is_text && NAMES.iter().any(|beginning| name.starts_with(beginning))
}

/// The comment at the end of Lua's header.
fn lua(folder: &Path) -> Outcome<String> {
    let missing = || Failure::new(format!("no licence of Lua in {}", folder.display()));
    let entries = fs::read_dir(folder).map_err(|_| missing())?;
    let version = entries.filter_map(Result::ok).find(|entry| entry.file_name().to_string_lossy().starts_with(LUA.1));
    let header = version.map(|version| version.path().join("lua.h")).ok_or_else(missing)?;
    let header = fs::read_to_string(header).map_err(|_| missing())?;
    let (_, comment) = header.rsplit_once("* Copyright (C)").ok_or_else(missing)?;
    let (comment, _) = comment.split_once("*****").ok_or_else(missing)?;
    let lines = comment.lines().map(|line| line.trim_start_matches('*').trim_start());
    Ok(format!("Copyright (C){}", lines.collect::<Vec<_>>().join("\n")))
}

/// The text of a licence that the crate may be used under; none where the licence asks for none.
fn standard(root: &Path, one: &Crate) -> Outcome<Option<String>> {
    let refused = |why: String| Failure::new(format!("{} has no licence text among its sources, and {why}", one.label));
    let expression = Expression::parse_mode(&one.licence, ParseMode::LAX)
        .map_err(|error| refused(format!("`{}` cannot be read: {}", one.licence, error.reason)))?;
    let allows = |licence: &str| expression.evaluate(|required| required.to_string() == licence);
    if WITHOUT_NOTICE.iter().any(|licence| allows(licence)) {
        return Ok(None);
    }
    let own =
        |name: &str| fs::read_to_string(root.join(name)).map_err(|error| Failure::new(format!("{name}: {error}")));
    if allows("Apache-2.0") {
        return own("LICENSE-APACHE").map(Some);
    }
    if allows("MIT") {
        let authors = if one.authors.is_empty() { "its contributors" } else { &one.authors };
        let text = own("LICENSE-MIT")?;
        let lines = text.lines().map(|line| {
            if line.starts_with("Copyright") { format!("Copyright (c) {authors}") } else { line.to_owned() }
        });
        return Ok(Some(lines.collect::<Vec<_>>().join("\n")));
    }
    Err(refused(format!("`{}` has none here: name where it is in xtask/src/notices.rs", one.licence)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiled::FEATURES;
    use crate::repository;

    #[test]
    fn every_crate_of_the_program_is_named_and_its_text_handed_on() {
        let root = repository::root();
        let notices = third_party(&root, FEATURES).unwrap();
        for label in linked(&root, FEATURES, &host().unwrap()).unwrap() {
            assert!(notices.contains(&format!("\n{label}: ")), "{label}");
        }
        // C code inside of crates, a licence that wants its copyright line, and crates of the feature.
        for text in [
            "Lua.org, PUC-Rio",
            "Copyright (c) Tokio Contributors",
            "Pieter Wuille",
            "\nsecp256k1-sys ",
            "\nasync-nats ",
            "\nwasmtime ",
        ] {
            assert!(notices.contains(text), "{text}");
        }
        for not_linked in ["\nsyn ", "\nproptest ", "\nparaffin"] {
            assert!(!notices.contains(not_linked), "{not_linked}");
        }
    }

    fn made(folder: &Path, licence: &str) -> Crate {
        Crate {
            label: "odd 1.0.0".to_owned(),
            name: "odd".to_owned(),
            licence: licence.to_owned(),
            authors: "A. Person".to_owned(),
            repository: String::new(),
            folder: folder.to_owned(),
        }
    }

    #[test]
    fn a_crate_without_a_text_has_the_standard_one_or_stops_the_packaging() {
        let (root, folder) = (repository::root(), tempfile::tempdir().unwrap());
        let texts = |licence: &str| {
            let one = made(folder.path(), licence);
            texts_of(&root, &one, std::slice::from_ref(&one))
        };
        assert!(texts("MIT").unwrap()[0].contains("Copyright (c) A. Person"));
        assert!(texts("MIT/Apache-2.0").unwrap()[0].contains("Apache License"));
        assert!(texts("CC0-1.0").unwrap().is_empty());
        for licence in ["BSD-3-Clause", "MIT AND BSD-3-Clause", "", "my own"] {
            let refusal = texts(licence).unwrap_err().to_string();
            assert!(refusal.starts_with("odd 1.0.0 has no licence text"), "{refusal}");
        }
        // Its own text, however deep, goes before the standard one; what is code or no licence is none.
        let deep = folder.path().join("depend/library");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("COPYING"), "all of it\r\n").unwrap();
        fs::write(folder.path().join("license.rs"), "fn main() {}").unwrap();
        fs::write(folder.path().join("README.md"), "no licence").unwrap();
        assert_eq!(texts("BSD-3-Clause").unwrap(), ["all of it\n"]);
    }
}
