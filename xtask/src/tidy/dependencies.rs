//! Third-party crates: each named once in the root manifest, explained in `docs/dependencies.md`, and present in one version.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, manifests};
use xtask::repository::SourceFile;

const PAGE: &str = "docs/dependencies.md";

/// Direct dependencies of which the lock file holds a second version because another crate still wants the older one:
/// (crate, who wants it). An entry that is no longer needed is a finding as well.
const SECOND_COPIES: &[(&str, &str)] = &[
    ("esplora-client", "bdk_esplora wants 0.12; tests alone"),
    ("getrandom", "tempfile and proptest want 0.4, fjall's tree 0.3"),
    ("hashbrown", "wasmi wants 0.14, sqlx and quick_cache 0.16, indexmap 0.17, which ours is"),
    ("itertools", "named for its features alone, in the version that prost has"),
    ("rand", "named for its features alone, in the version that secp256k1 has"),
    ("schemars", "0.9 is another option of serde_with; switched off, so it is in the lock file and never built"),
    ("sha2", "totp-rs and sqlx's log-in to PostgreSQL want 0.11, bitcoin's tree 0.10"),
    ("wasmi_core", "ours has the place of 0.37.2, and its tests compare it with 0.38.0, whose sources are the same"),
    ("rand_chacha", "an older rand that ruint can work with; switched off, so it is in the lock file and never built"),
];

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(root) = files.iter().find(|file| file.path == "Cargo.toml") else { return Vec::new() };
    let wanted = match third_party(&root.text) {
        Ok(wanted) => wanted,
        Err(what) => return vec![Finding::whole("Cargo.toml", what)],
    };
    let text_of = |path: &str| files.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
    let mut findings = named_once(files);
    findings.extend(used(&wanted, files));
    findings.extend(explained(&wanted, text_of(PAGE)));
    findings.extend(single_version(&wanted, text_of("Cargo.lock"), SECOND_COPIES));
    findings
}

/// The crates of `[workspace.dependencies]` that are not ours, with the version asked for.
fn third_party(root: &str) -> Result<BTreeMap<String, String>, String> {
    let table: toml::Table = root.parse().map_err(|error| format!("not TOML: {error}"))?;
    let listed = table.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let listed = listed.and_then(toml::Value::as_table).ok_or("no [workspace.dependencies]")?;
    let mut crates = BTreeMap::new();
    for (name, value) in listed {
        if value.get("path").is_some() {
            continue;
        }
        let version = value.as_str().or_else(|| value.get("version").and_then(toml::Value::as_str));
        let version = version.ok_or_else(|| format!("{name} has no version"))?;
        let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
        crates.insert(package.to_owned(), version.to_owned());
    }
    Ok(crates)
}

/// A crate's own manifest says `workspace = true` and leaves the version to the root.
fn named_once(files: &[SourceFile]) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(files);
    for (folder, manifest) in &manifests {
        for (name, value) in sections(manifest).flatten() {
            let inherited = value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
            if !inherited {
                let what = format!("`{name}` does not take its version from the root: write `{name}.workspace = true`");
                findings.push(Finding::whole(&format!("{folder}/Cargo.toml"), what));
            }
        }
    }
    findings
}

/// The tables of dependencies of a manifest, those for target platforms included.
fn sections(manifest: &toml::Table) -> impl Iterator<Item = &toml::Table> {
    let per_target = manifest.get("target").and_then(toml::Value::as_table);
    let per_target = per_target.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    std::iter::once(manifest).chain(per_target).flat_map(|table| {
        let names = ["dependencies", "dev-dependencies", "build-dependencies"];
        names.into_iter().filter_map(|section| table.get(section)?.as_table())
    })
}

/// A crate that the root names and no member uses is left over.
fn used(wanted: &BTreeMap<String, String>, files: &[SourceFile]) -> Vec<Finding> {
    let (manifests, _) = manifests(files);
    let renamed = renamed(files);
    let taken: BTreeSet<&String> = manifests
        .iter()
        .flat_map(|(_, manifest)| sections(manifest))
        .flat_map(toml::Table::keys)
        .map(|name| renamed.get(name).unwrap_or(name))
        .collect();
    let unused = wanted.keys().filter(|name| !taken.contains(name));
    unused.map(|name| Finding::whole("Cargo.toml", format!("`{name}` is named and used by no crate"))).collect()
}

/// The crates that the root gives another name: that name, and the crate's.
fn renamed(files: &[SourceFile]) -> BTreeMap<String, String> {
    let root =
        files.iter().find(|file| file.path == "Cargo.toml").and_then(|file| file.text.parse::<toml::Table>().ok());
    let listed = root.as_ref().and_then(|root| root.get("workspace")?.get("dependencies")?.as_table());
    let packages = listed.into_iter().flatten();
    packages.filter_map(|(name, value)| Some((name.clone(), value.get("package")?.as_str()?.to_owned()))).collect()
}

/// The page has a row `| name | version | licence | for what, why |` for each crate, and for nothing else.
fn explained(wanted: &BTreeMap<String, String>, page: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut listed = BTreeMap::new();
    for (index, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let Some(name) = cells[0].strip_prefix('`').and_then(|cell| cell.strip_suffix('`')) else { continue };
        if cells.len() < 4 || cells.iter().any(|cell| cell.is_empty()) {
            findings.push(Finding::at(
                PAGE,
                index,
                format!("the row of `{name}` lacks a version, a licence or a reason"),
            ));
            continue;
        }
        match wanted.get(name) {
            None => findings.push(Finding::at(PAGE, index, format!("`{name}` is not a dependency any more"))),
            Some(version) if version != cells[1] => {
                let what = format!("`{name}` is asked for as {version}, the page says {}", cells[1]);
                findings.push(Finding::at(PAGE, index, what));
            }
            Some(_) => {}
        }
        listed.insert(name, index);
    }
    for name in wanted.keys().filter(|name| !listed.contains_key(name.as_str())) {
        findings.push(Finding::whole(PAGE, format!("`{name}` is a dependency and has no row with a reason")));
    }
    findings
}

fn single_version(wanted: &BTreeMap<String, String>, lock: &str, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let parsed: toml::Table = match lock.parse() {
        Ok(parsed) => parsed,
        Err(error) => return vec![Finding::whole("Cargo.lock", format!("not TOML: {error}"))],
    };
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in parsed.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
        let name = package.get("name").and_then(toml::Value::as_str);
        let version = package.get("version").and_then(toml::Value::as_str);
        if let (Some(name), Some(version)) = (name, version) {
            versions.entry(name).or_default().push(version);
        }
    }
    let mut findings = Vec::new();
    for name in wanted.keys() {
        let found = versions.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        let listed = allowed.iter().any(|(allowed, _)| allowed == name);
        if found.len() > 1 && !listed {
            findings.push(Finding::whole("Cargo.lock", format!("`{name}` is there as {}", found.join(" and "))));
        }
        if found.len() < 2 && listed {
            let what = format!("`{name}` has one version: take it off the list in xtask/src/tidy/dependencies.rs");
            findings.push(Finding::whole("Cargo.lock", what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    const ROOT: &str = "[workspace.dependencies]\nparaffin-store = { path = \"crates/store\" }\nbytes = \"1\"\n\
                        hyper = { version = \"1.4\", features = [\"http1\"] }\n";

    fn wanted() -> BTreeMap<String, String> {
        third_party(ROOT).unwrap()
    }

    fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn our_own_crates_are_not_third_party() {
        let wanted = wanted();
        assert_eq!(
            wanted.into_iter().collect::<Vec<_>>(),
            [("bytes".to_owned(), "1".to_owned()), ("hyper".to_owned(), "1.4".to_owned())]
        );
    }

    #[test]
    fn a_dependency_needs_a_row_with_its_version_and_a_reason() {
        let good = "| `bytes` | 1 | MIT | shared slices |\n| `hyper` | 1.4 | MIT | HTTP |\n";
        assert_eq!(texts(&explained(&wanted(), good)), [""; 0]);
        assert_eq!(explained(&wanted(), "| `bytes` | 1 | MIT | shared slices |\n").len(), 1);
        assert_eq!(explained(&wanted(), &good.replace("HTTP", "")).len(), 2);
        assert_eq!(explained(&wanted(), &good.replace("1.4", "1.5")).len(), 1);
        assert_eq!(explained(&wanted(), &format!("{good}| `old` | 1 | MIT | gone |\n")).len(), 1);
    }

    #[test]
    fn a_second_version_needs_its_reason_and_a_stale_reason_is_found() {
        let package = |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        let one = format!("{}{}", package("bytes", "1.2.0"), package("other", "1.0.0"));
        let two = format!("{one}{}", package("bytes", "0.4.0"));
        assert_eq!(texts(&single_version(&wanted(), &one, &[])), [""; 0]);
        assert_eq!(texts(&single_version(&wanted(), &two, &[])), ["Cargo.lock: `bytes` is there as 1.2.0 and 0.4.0"]);
        assert_eq!(texts(&single_version(&wanted(), &two, &[("bytes", "an old crate")])), [""; 0]);
        assert_eq!(single_version(&wanted(), &one, &[("bytes", "an old crate")]).len(), 1);
    }

    #[test]
    fn an_unused_crate_is_found() {
        let manifest = "[dependencies]\nbytes.workspace = true\n[dev-dependencies]\nhyper.workspace = true\n";
        assert_eq!(texts(&used(&wanted(), &[sample("crates/store/Cargo.toml", manifest)])), [""; 0]);
        let per_target = manifest.replace("[dependencies]", "[target.'cfg(unix)'.dependencies]");
        assert_eq!(texts(&used(&wanted(), &[sample("crates/store/Cargo.toml", &per_target)])), [""; 0]);
        assert_eq!(used(&wanted(), &[sample("crates/store/Cargo.toml", "[dependencies]\n")]).len(), 2);
        let root = ROOT.replace("hyper = { ", "web = { package = \"hyper\", ");
        let files = [sample("Cargo.toml", &root), sample("crates/store/Cargo.toml", &manifest.replace("hyper", "web"))];
        assert_eq!(texts(&used(&third_party(&root).unwrap(), &files)), [""; 0]);
    }

    #[test]
    fn a_version_outside_the_root_manifest_is_found() {
        for section in ["dependencies", "target.'cfg(unix)'.dependencies"] {
            let manifest = format!("[{section}]\nbytes = \"1\"\nhyper.workspace = true\n");
            let findings = named_once(&[sample("crates/store/Cargo.toml", &manifest)]);
            assert_eq!(texts(&findings).len(), 1);
            assert!(texts(&findings)[0].contains("`bytes`"));
        }
    }
}
