//! Licences, bans and sources of everything that is linked in, by the rules of `deny.toml`.
//!
//! `cargo xtask deny` runs cargo-deny, which takes minutes to build. The checks of every run apply the same file to what
//! `cargo metadata` lists, with the crate that cargo-deny itself reads licence expressions with. They take a second, and
//! refuse whatever they do not understand.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::test::FEATURES;
use xtask::process::{Failure, Outcome, capture, run};
use xtask::versions::pinned;

/// The registry of published crates, as cargo names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Applies `deny.toml` to the whole tree.
pub(crate) fn check(root: &Path) -> Outcome {
    let text =
        fs::read_to_string(root.join("deny.toml")).map_err(|error| Failure::new(format!("deny.toml: {error}")))?;
    let rules = Rules::read(&text)?;
    let mut crates = BTreeMap::new();
    for platform in &rules.platforms {
        let mut metadata = Command::new("cargo");
        metadata.current_dir(root).args(["metadata", "--format-version", "1", "--locked", "--features", FEATURES]);
        let listing = capture(metadata.args(["--filter-platform", platform]))?;
        let listing: Value =
            serde_json::from_str(&listing).map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
        let compiled = compiled(root, platform)?;
        crates.extend(third_party(&listing).into_iter().filter(|(_, one)| compiled.contains(&one.label())));
    }
    let findings: Vec<String> = crates.values().flat_map(|one| rules.judge(one)).collect();
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} crates on {} platforms, {} findings", crates.len(), rules.platforms.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err(Failure::new("deny.toml refuses what is listed above")) }
}

/// Name and version of every crate that is compiled for a platform. `cargo metadata` also lists what optional features alone
/// would bring.
fn compiled(root: &Path, platform: &str) -> Outcome<BTreeSet<String>> {
    let mut tree = Command::new("cargo");
    tree.current_dir(root).args(["tree", "--workspace", "--locked", "--features", FEATURES, "--target", platform]);
    let tree = capture(tree.args(["--prefix", "none", "--format", "{p}"]))?;
    let label = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    let crates: BTreeSet<String> = tree.lines().filter_map(label).collect();
    if crates.is_empty() { Err(Failure::new("cargo tree lists no crate")) } else { Ok(crates) }
}

/// Runs cargo-deny, installing the pinned version into `target/tools` first when it is not at hand.
pub(crate) fn deny(root: &Path) -> Outcome {
    let program = provide(root)?;
    let check = |what: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(root).args([
            "--locked",
            "--workspace",
            "--all-features",
            "check",
            "--hide-inclusion-graph",
        ]);
        run(command.args(what))
    };
    check(&["licenses", "bans", "sources"])?;
    // The database of advisories is a download of its own.
    check(&["advisories"]).map_err(|failure| {
        Failure::new(format!("licences, bans and sources hold; advisories do not, or are out of reach: {failure}"))
    })
}

fn provide(root: &Path) -> Outcome<PathBuf> {
    let version = pinned(root, "cargo-deny", "version")?;
    let tools = root.join("target/tools");
    let own = tools.join("bin/cargo-deny");
    for program in [PathBuf::from("cargo-deny"), own.clone()] {
        let printed = capture(Command::new(&program).arg("--version")).unwrap_or_default();
        if printed.split_whitespace().any(|word| word == version) {
            return Ok(program);
        }
    }
    println!("installing cargo-deny {version} into target/tools, once; this takes minutes");
    // It runs for seconds, so it is not worth the minutes that its authors let the compiler think.
    let quick = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "1")];
    let mut install = Command::new("cargo");
    install.current_dir(root).args(["install", "cargo-deny", "--locked", "--quiet", "--version", &version]);
    // Its own target folder is kept out of the workspace's, whose profile it does not share.
    install.arg("--root").arg(&tools).env("CARGO_TARGET_DIR", tools.join("build"));
    install.envs(quick.map(|(setting, value)| (format!("CARGO_PROFILE_RELEASE_{setting}"), value)));
    run(&mut install)?;
    // What was compiled on the way is of no further use.
    let _ = fs::remove_dir_all(tools.join("build"));
    Ok(own)
}

/// A third-party crate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Linked {
    name: String,
    version: String,
    licence: Option<String>,
    source: Option<String>,
}

impl Linked {
    fn label(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// The crates of the listing, by id, without those of the workspace.
fn third_party(listing: &Value) -> BTreeMap<String, Linked> {
    let own: Vec<&str> =
        listing["workspace_members"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let packages = listing["packages"].as_array().into_iter().flatten();
    let crates = packages.filter_map(|package| {
        let id = package["id"].as_str().filter(|id| !own.contains(id))?;
        let one = Linked {
            name: text(package, "name")?,
            version: text(package, "version")?,
            licence: text(package, "license"),
            source: text(package, "source"),
        };
        Some((id.to_owned(), one))
    });
    crates.collect()
}

/// The part of `deny.toml` that is applied here.
struct Rules {
    platforms: Vec<String>,
    allowed: Vec<String>,
    /// Licences that one crate may have beside the allowed ones.
    exceptions: BTreeMap<String, Vec<String>>,
    banned: BTreeMap<String, String>,
}

impl Rules {
    fn read(text: &str) -> Outcome<Self> {
        let table: toml::Table = text.parse().map_err(|error| Failure::new(format!("deny.toml: {error}")))?;
        let part = |section: &str, key: &str| {
            let found = table.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
            found.ok_or_else(|| Failure::new(format!("deny.toml lacks `{key}` under [{section}]")))
        };
        let texts = |values: &[toml::Value]| -> Vec<String> {
            values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let field =
            |entry: &toml::Value, key: &str| entry.get(key).and_then(toml::Value::as_str).unwrap_or("").to_owned();
        let exceptions = part("licenses", "exceptions")?.iter().map(|entry| {
            let allowed = entry.get("allow").and_then(toml::Value::as_array).map_or_else(Vec::new, |list| texts(list));
            (field(entry, "crate"), allowed)
        });
        let banned = part("bans", "deny")?.iter().map(|entry| (field(entry, "crate"), field(entry, "reason")));
        Ok(Self {
            platforms: texts(part("graph", "targets")?),
            allowed: texts(part("licenses", "allow")?),
            exceptions: exceptions.collect(),
            banned: banned.collect(),
        })
    }

    fn judge(&self, one: &Linked) -> Vec<String> {
        let mut findings = Vec::new();
        let mut find = |what: String| findings.push(format!("{}: {what}", one.label()));
        if let Some(reason) = self.banned.get(&one.name) {
            find(format!("banned: {reason}"));
        }
        if one.source.as_deref() != Some(REGISTRY) {
            find(format!("comes from {}, not from the registry", one.source.as_deref().unwrap_or("a path")));
        }
        let own = self.exceptions.get(&one.name).map_or(&[][..], Vec::as_slice);
        let allows = |required: &LicenseReq| {
            let required = required.to_string();
            self.allowed.iter().chain(own).any(|allowed| *allowed == required)
        };
        // Older manifests write `MIT/Apache-2.0`.
        match one.licence.as_deref().map(|text| Expression::parse_mode(text, ParseMode::LAX)) {
            None => find("states no licence".to_owned()),
            Some(Err(error)) => find(format!("states a licence that cannot be read: {}", error.reason)),
            Some(Ok(expression)) if !expression.evaluate(allows) => find(format!("`{expression}` is not allowed")),
            Some(Ok(_)) => {}
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[graph]\ntargets = [\"x\"]\n[licenses]\nallow = [\"MIT\", \"Apache-2.0\", \
                         \"Apache-2.0 WITH LLVM-exception\"]\nexceptions = [{ crate = \"odd\", allow = [\"MITNFA\"] }]\n\
                         [bans]\ndeny = [{ crate = \"openssl\", reason = \"rustls\" }]\n";

    fn judge(name: &str, licence: &str, source: &str) -> Vec<String> {
        let one = Linked {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some(licence.to_owned()).filter(|text| !text.is_empty()),
            source: Some(source.to_owned()),
        };
        Rules::read(RULES).unwrap().judge(&one)
    }

    #[test]
    fn licences_bans_and_sources_are_judged() {
        for good in ["MIT", "MIT OR GPL-3.0", "MIT/Apache-2.0", "Apache-2.0 WITH LLVM-exception", "MIT AND Apache-2.0"]
        {
            assert_eq!(judge("a", good, REGISTRY), [""; 0], "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "MITNFA", "", "my own"] {
            assert_eq!(judge("a", bad, REGISTRY).len(), 1, "{bad}");
        }
        assert_eq!(judge("odd", "MITNFA", REGISTRY), [""; 0]);
        assert_eq!(judge("openssl", "MIT", REGISTRY).len(), 1);
        assert_eq!(judge("a", "MIT", "git+https://example.org/a").len(), 1);
    }

    #[test]
    fn crates_of_the_workspace_are_not_judged() {
        let package = |name: &str| serde_json::json!({ "id": name, "name": name, "version": "1", "license": null });
        let listing =
            serde_json::json!({ "packages": [package("own"), package("other")], "workspace_members": ["own"] });
        let names: Vec<String> = third_party(&listing).into_keys().collect();
        assert_eq!(names, ["other"]);
    }
}
