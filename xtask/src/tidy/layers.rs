//! The layering: no crate imports one of its own layer or of a higher one, and every crate has the workspace's lints.

use super::{Finding, manifests};
use xtask::repository::SourceFile;

/// Every crate of `ARCHITECTURE.md` with its layer. Only the program is above the top layer.
const LAYERS: &[(&str, u8)] = &[
    ("allocator", 0),
    ("primitives", 0),
    ("bridge", 0),
    ("testkit", 0),
    ("web", 0),
    ("log", 0),
    ("spans", 0),
    ("confine", 0),
    ("client", 1),
    ("cryptoswap-math", 1),
    ("otlp", 1),
    ("store", 1),
    ("database", 1),
    ("chain", 1),
    ("bitcoin-index", 2),
    ("alkanes", 2),
    ("mempool", 2),
    ("forex", 2),
    ("prices", 2),
    ("orderbook", 2),
    ("access", 2),
    ("users", 2),
    ("builtin-contracts", 3),
    ("ordinals-index", 3),
    ("amm", 3),
    ("hosted", 3),
    ("lua", 3),
    ("verify", 3),
    ("wallet", 3),
    ("electrum", 3),
    ("webhooks", 3),
    ("cryptoswap", 4),
    ("events", 4),
    ("indexer", 4),
    ("export", 5),
    ("site", 5),
    ("devnet", 5),
    ("gateway", 6),
    ("bitcoin-surfaces", 7),
    ("price-surfaces", 7),
    ("program", 7),
    ("data-surfaces", 8),
    ("contract-surfaces", 8),
    ("service-surfaces", 8),
    ("surfaces", 9),
];

const PROGRAM_LAYER: u8 = 10;

/// Imports within one layer that the architecture allows: (who, whom).
const SAME_LAYER: &[(&str, &str)] = &[];

/// Imports for tests alone that go up or stay level: (who, whom, why).
const FOR_TESTS: &[(&str, &str, &str)] = &[
    ("log", "testkit", "kills and cuts are drawn by the generator of the other tests"),
    ("chain", "devnet", "the follower is tested against a node that reorganises on demand"),
    ("indexer", "devnet", "blocks come from the same node"),
    ("hosted", "devnet", "both engines run its blocks"),
    ("surfaces", "client-generator", "the types of the clients are compared with what its documents give"),
    ("amm", "devnet", "pools and trades are those of its market"),
    ("cryptoswap", "devnet", "so are those of its pool"),
    ("events", "devnet", "events are those of its chain"),
    ("events", "cryptoswap", "trades with its pools are compared with traces"),
    ("export", "devnet", "rows are those of its market"),
];

/// Crates that cannot do without `unsafe`: each has lints of its own (docs/decisions/0050).
const UNSAFE: &[&str] = &["crates/allocator"];

/// Libraries that serve HTTP: surfaces answer through the gateway, which alone knows connections (docs/decisions/0076).
const SERVERS: &[&str] = &["hyper", "hyper-util", "axum", "tower-service"];

/// The page that explains the crates.
const PAGE: &str = "ARCHITECTURE.md";

const PREFIX: &str = "paraffin-";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(files);
    let crates: Vec<&str> = manifests.iter().filter_map(|(folder, _)| folder.strip_prefix("crates/")).collect();
    if let Some(page) = files.iter().find(|file| file.path == PAGE) {
        findings.extend(drawn(&page.text, &crates));
    }
    for (folder, manifest) in &manifests {
        let path = format!("{folder}/Cargo.toml");
        findings.extend(lints(files, folder, &path, manifest));
        let package = text_of(manifest, "package", "name").unwrap_or_default();
        if folder.starts_with("xtask") {
            findings.extend(crates_of(manifest, Kind::Any).map(|name| {
                Finding::whole(&path, format!("xtask is outside the layers: it must not import `{name}`"))
            }));
        } else if folder.starts_with("bin/") {
            // The program knows every crate; it is above all layers.
            debug_assert!(LAYERS.iter().all(|(_, layer)| *layer < PROGRAM_LAYER));
        } else if let Some(name) = folder.strip_prefix("crates/") {
            if package != format!("{PREFIX}{name}") {
                findings.push(Finding::whole(&path, format!("the package of crate {name} is called {PREFIX}{name}")));
            }
            findings.extend(imports(name, &path, manifest));
            findings.extend(servers(name, &path, manifest));
        }
    }
    findings
}

/// Surfaces know statuses and verbs, of the crate `http`, and no server.
fn servers(name: &str, path: &str, manifest: &toml::Table) -> Vec<Finding> {
    let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table) else { return Vec::new() };
    let named = SERVERS.iter().filter(|server| name.ends_with("surfaces") && dependencies.contains_key(**server));
    named
        .map(|server| Finding::whole(path, format!("crate {name} answers through the gateway: no `{server}`")))
        .collect()
}

fn imports(name: &str, path: &str, manifest: &toml::Table) -> Vec<Finding> {
    let Some(own) = layer(name) else {
        let what = format!("crate {name} has no layer: name it in xtask/src/tidy/layers.rs and ARCHITECTURE.md");
        return vec![Finding::whole(path, what)];
    };
    let mut findings = Vec::new();
    for (kind, word) in [(Kind::Normal, "imports"), (Kind::Test, "imports for tests")] {
        for other in crates_of(manifest, kind) {
            let level = layer(&other).unwrap_or(PROGRAM_LAYER);
            let listed = SAME_LAYER.contains(&(name, other.as_str()));
            let for_tests = FOR_TESTS.iter().any(|(who, whom, _)| *who == name && *whom == other);
            if level < own || (level == own && listed) || (kind == Kind::Test && for_tests) {
                continue;
            }
            let where_to = if level > own { "above its own" } else { "its own" };
            findings.push(Finding::whole(
                path,
                format!("crate {name} (layer {own}) {word} `{other}`, whose layer {level} is {where_to}"),
            ));
        }
    }
    findings
}

/// The table of the page, `| layer | crate | stands | …`, has the same layers, and says which crates exist.
fn drawn(page: &str, crates: &[&str]) -> Vec<Finding> {
    let mut drawn = Vec::new();
    let mut findings = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, level, name, stands, ..] = cells[..] else { continue };
        let (Ok(level), Some(name)) =
            (level.parse::<u8>(), name.strip_prefix('`').and_then(|name| name.strip_suffix('`')))
        else {
            continue;
        };
        if name.starts_with("bin/") {
            continue;
        }
        drawn.push(name);
        if layer(name) != Some(level) {
            findings.push(Finding::at(
                PAGE,
                index,
                format!("crate {name} belongs to layer {:?}, not {level}", layer(name)),
            ));
        }
        if (stands == "yes") != crates.contains(&name) {
            findings.push(Finding::at(PAGE, index, format!("the column `stands` is wrong for crate {name}")));
        }
    }
    let missing = LAYERS.iter().filter(|(name, _)| !drawn.contains(name));
    findings.extend(missing.map(|(name, _)| Finding::whole(PAGE, format!("crate {name} is missing from the table"))));
    findings
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(listed, _)| *listed == name).map(|(_, layer)| *layer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Test,
    Any,
}

/// The crates that a manifest names, without the prefix; tables per target platform count too.
fn crates_of(manifest: &toml::Table, kind: Kind) -> impl Iterator<Item = String> {
    let sections: &[&str] = match kind {
        Kind::Normal => &["dependencies", "build-dependencies"],
        Kind::Test => &["dev-dependencies"],
        Kind::Any => &["dependencies", "build-dependencies", "dev-dependencies"],
    };
    let per_target = manifest.get("target").and_then(toml::Value::as_table);
    let per_target = per_target.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    let mut crates = Vec::new();
    for table in std::iter::once(manifest).chain(per_target) {
        for section in sections {
            let Some(entries) = table.get(*section).and_then(toml::Value::as_table) else { continue };
            for (name, value) in entries {
                // A dependency may be renamed; its `package` has its real name.
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                crates.extend(package.strip_prefix(PREFIX).map(str::to_owned));
            }
        }
    }
    crates.into_iter()
}

fn lints(files: &[SourceFile], folder: &str, path: &str, manifest: &toml::Table) -> Vec<Finding> {
    if UNSAFE.contains(&folder) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let inherited = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
    if inherited != Some(true) {
        findings.push(Finding::whole(path, "lacks `[lints] workspace = true`"));
    }
    for root in ["src/lib.rs", "src/main.rs"] {
        let root = format!("{folder}/{root}");
        let Some(file) = files.iter().find(|file| file.path == root) else { continue };
        // libFuzzer calls its target by name, and an exported name counts as unsafe code.
        if root == "fuzz/src/main.rs" {
            continue;
        }
        if !file.text.lines().any(|line| line.trim_end() == "#![forbid(unsafe_code)]") {
            findings.push(Finding::whole(&root, "lacks `#![forbid(unsafe_code)]`"));
        }
    }
    findings
}

fn text_of<'a>(manifest: &'a toml::Table, section: &str, key: &str) -> Option<&'a str> {
    manifest.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    fn judge(folder: &str, rest: &str) -> Vec<String> {
        let name = folder.rsplit('/').next().unwrap();
        let text = format!("[package]\nname = \"{PREFIX}{name}\"\n[lints]\nworkspace = true\n{rest}");
        check(&[sample(&format!("{folder}/Cargo.toml"), &text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_crate_imports_lower_layers_only() {
        assert_eq!(judge("crates/indexer", "[dependencies]\nparaffin-store.workspace = true\n"), [""; 0]);
        let up = judge("crates/store", "[dependencies]\nparaffin-gateway.workspace = true\n");
        assert_eq!(
            up,
            ["crates/store/Cargo.toml: crate store (layer 1) imports `gateway`, whose layer 6 is above its own"]
        );
        let level = judge("crates/store", "[dependencies]\nparaffin-chain.workspace = true\n");
        assert_eq!(level, ["crates/store/Cargo.toml: crate store (layer 1) imports `chain`, whose layer 1 is its own"]);
    }

    #[test]
    fn an_import_cannot_hide_behind_another_name_a_target_or_a_build_script() {
        for rest in [
            "[dependencies]\ninner = { package = \"paraffin-gateway\", path = \"../gateway\" }\n",
            "[target.'cfg(unix)'.dependencies]\nparaffin-gateway.workspace = true\n",
            "[build-dependencies]\nparaffin-gateway.workspace = true\n",
            "[dev-dependencies]\nparaffin-gateway.workspace = true\n",
        ] {
            assert_eq!(judge("crates/store", rest).len(), 1, "{rest}");
        }
    }

    #[test]
    fn tests_may_climb_only_where_it_is_listed() {
        assert_eq!(judge("crates/chain", "[dev-dependencies]\nparaffin-devnet.workspace = true\n"), [""; 0]);
        assert_eq!(judge("crates/chain", "[dependencies]\nparaffin-devnet.workspace = true\n").len(), 1);
        assert_eq!(judge("crates/access", "[dev-dependencies]\nparaffin-devnet.workspace = true\n").len(), 1);
    }

    #[test]
    fn the_page_has_the_same_layers_and_crates() {
        let row = |(name, level): &(&str, u8)| {
            format!("| {level} | `{name}` | {} | x | y |\n", if *name == "store" { "yes" } else { "" })
        };
        let page: String = LAYERS.iter().map(row).collect();
        assert_eq!(drawn(&page, &["store"]), []);
        assert_eq!(drawn(&page, &[]).len(), 1);
        assert_eq!(drawn(&page, &["store", "chain"]).len(), 1);
        assert_eq!(drawn(&page.replace("| 4 | `indexer`", "| 3 | `indexer`"), &["store"]).len(), 1);
        assert_eq!(drawn(&page.replace("`indexer`", "`index`"), &["store"]).len(), 2);
    }

    #[test]
    fn an_unknown_crate_and_an_import_by_xtask_are_findings() {
        assert!(judge("crates/unlisted", "")[0].contains("has no layer"));
        assert!(judge("xtask", "[dependencies]\nparaffin-store.workspace = true\n")[0].contains("outside the layers"));
    }

    #[test]
    fn a_surface_that_names_a_server_is_a_finding() {
        let names = |section: &str| format!("[{section}]\nhyper.workspace = true\nhttp.workspace = true\n");
        let found = judge("crates/price-surfaces", &names("dependencies"));
        assert_eq!(
            found,
            ["crates/price-surfaces/Cargo.toml: crate price-surfaces answers through the gateway: no `hyper`"]
        );
        assert_eq!(judge("crates/surfaces", &names("dev-dependencies")), [""; 0]);
        assert_eq!(judge("crates/gateway", &names("dependencies")), [""; 0]);
    }

    #[test]
    fn a_crate_without_the_common_lints_is_a_finding() {
        let files = [
            sample("crates/store/Cargo.toml", "[package]\nname = \"paraffin-store\"\n"),
            sample("crates/store/src/lib.rs", "//! A store.\n// #![forbid(unsafe_code)]\n"),
        ];
        let findings: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].contains("[lints]") && findings[1].contains("forbid(unsafe_code)"), "{findings:?}");
    }
}
