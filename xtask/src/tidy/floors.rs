//! The layering: no room imports one on its own floor or above, and every room keeps the common lints.

use super::{Finding, manifests};
use xtask::repository::SourceFile;

/// Every room of `ARCHITECTURE.md` with its floor. The program is the only thing above the top floor.
const FLOORS: &[(&str, u8)] = &[
    ("allocator", 0),
    ("primitives", 0),
    ("bridge", 0),
    ("testkit", 0),
    ("web", 0),
    ("confine", 0),
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
    ("ordinals-index", 3),
    ("amm", 3),
    ("hosted", 3),
    ("lua", 3),
    ("verify", 3),
    ("wallet", 3),
    ("cryptoswap", 4),
    ("indexer", 4),
    ("gateway", 5),
    ("console", 5),
    ("devnet", 5),
];

const PROGRAM_FLOOR: u8 = 6;

/// Imports within one floor that the architecture names: (who, whom).
const SAME_FLOOR: &[(&str, &str)] = &[];

/// Imports for tests alone that go up or stay level: (who, whom, why).
const FOR_TESTS: &[(&str, &str, &str)] = &[
    ("chain", "devnet", "the follower is tested against a node that reorganises on demand"),
    ("indexer", "devnet", "blocks come from the same node"),
    ("hosted", "devnet", "both engines run its blocks"),
    ("gateway", "devnet", "requests are answered from its chain"),
    ("amm", "devnet", "pools and trades are those of its market"),
    ("cryptoswap", "devnet", "so are those of its pool"),
];

/// Crates that cannot do without `unsafe`: each has lints of its own (docs/decisions/0050).
const UNSAFE: &[&str] = &["crates/allocator"];

/// Where the rooms are explained.
const PAGE: &str = "ARCHITECTURE.md";

const PREFIX: &str = "paraffin-";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(files);
    let rooms: Vec<&str> = manifests.iter().filter_map(|(folder, _)| folder.strip_prefix("crates/")).collect();
    if let Some(page) = files.iter().find(|file| file.path == PAGE) {
        findings.extend(drawn(&page.text, &rooms));
    }
    for (folder, manifest) in &manifests {
        let path = format!("{folder}/Cargo.toml");
        findings.extend(lints(files, folder, &path, manifest));
        let name = text_of(manifest, "package", "name").unwrap_or_default();
        if *folder == "xtask" {
            findings.extend(rooms_of(manifest, Kind::Any).map(|room| {
                Finding::whole(&path, format!("the tasks stand outside the house: they must not import `{room}`"))
            }));
        } else if folder.starts_with("bin/") {
            // The program knows every room; it is above all floors.
            debug_assert!(FLOORS.iter().all(|(_, floor)| *floor < PROGRAM_FLOOR));
        } else if let Some(room) = folder.strip_prefix("crates/") {
            if name != format!("{PREFIX}{room}") {
                findings.push(Finding::whole(&path, format!("the package of room {room} is called {PREFIX}{room}")));
            }
            findings.extend(imports(room, &path, manifest));
        }
    }
    findings
}

fn imports(room: &str, path: &str, manifest: &toml::Table) -> Vec<Finding> {
    let Some(own) = floor(room) else {
        let what = format!("room {room} has no floor: name it in xtask/src/tidy/floors.rs and ARCHITECTURE.md");
        return vec![Finding::whole(path, what)];
    };
    let mut findings = Vec::new();
    for (kind, word) in [(Kind::Normal, "imports"), (Kind::Test, "imports for tests")] {
        for other in rooms_of(manifest, kind) {
            let level = floor(&other).unwrap_or(PROGRAM_FLOOR);
            let listed = SAME_FLOOR.contains(&(room, other.as_str()));
            let for_tests = FOR_TESTS.iter().any(|(who, whom, _)| *who == room && *whom == other);
            if level < own || (level == own && listed) || (kind == Kind::Test && for_tests) {
                continue;
            }
            let where_to = if level > own { "above its own" } else { "its own" };
            findings.push(Finding::whole(
                path,
                format!("room {room} (floor {own}) {word} `{other}`, whose floor {level} is {where_to}"),
            ));
        }
    }
    findings
}

/// The table of the page, `| floor | room | stands | …`, tells the same floors, and which rooms exist.
fn drawn(page: &str, rooms: &[&str]) -> Vec<Finding> {
    let mut drawn = Vec::new();
    let mut findings = Vec::new();
    for (index, line) in page.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, level, room, stands, ..] = cells[..] else { continue };
        let (Ok(level), Some(room)) =
            (level.parse::<u8>(), room.strip_prefix('`').and_then(|room| room.strip_suffix('`')))
        else {
            continue;
        };
        if room.starts_with("bin/") {
            continue;
        }
        drawn.push(room);
        if floor(room) != Some(level) {
            findings.push(Finding::at(
                PAGE,
                index,
                format!("room {room} stands on floor {:?}, not {level}", floor(room)),
            ));
        }
        if (stands == "yes") != rooms.contains(&room) {
            findings.push(Finding::at(PAGE, index, format!("whether room {room} stands is told wrong")));
        }
    }
    let missing = FLOORS.iter().filter(|(room, _)| !drawn.contains(room));
    findings.extend(missing.map(|(room, _)| Finding::whole(PAGE, format!("room {room} is missing from the table"))));
    findings
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Test,
    Any,
}

/// The rooms that a manifest names, without the prefix; tables per target platform count too.
fn rooms_of(manifest: &toml::Table, kind: Kind) -> impl Iterator<Item = String> {
    let sections: &[&str] = match kind {
        Kind::Normal => &["dependencies", "build-dependencies"],
        Kind::Test => &["dev-dependencies"],
        Kind::Any => &["dependencies", "build-dependencies", "dev-dependencies"],
    };
    let per_target = manifest.get("target").and_then(toml::Value::as_table);
    let per_target = per_target.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    let mut rooms = Vec::new();
    for table in std::iter::once(manifest).chain(per_target) {
        for section in sections {
            let Some(entries) = table.get(*section).and_then(toml::Value::as_table) else { continue };
            for (name, value) in entries {
                // A dependency may be renamed; its `package` tells the truth.
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                rooms.extend(package.strip_prefix(PREFIX).map(str::to_owned));
            }
        }
    }
    rooms.into_iter()
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
    fn a_room_imports_downwards_alone() {
        assert_eq!(judge("crates/indexer", "[dependencies]\nparaffin-store.workspace = true\n"), [""; 0]);
        let up = judge("crates/store", "[dependencies]\nparaffin-gateway.workspace = true\n");
        assert_eq!(
            up,
            ["crates/store/Cargo.toml: room store (floor 1) imports `gateway`, whose floor 5 is above its own"]
        );
        let level = judge("crates/store", "[dependencies]\nparaffin-chain.workspace = true\n");
        assert_eq!(level, ["crates/store/Cargo.toml: room store (floor 1) imports `chain`, whose floor 1 is its own"]);
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
    fn the_page_tells_the_same_floors_and_rooms() {
        let row = |(room, level): &(&str, u8)| {
            format!("| {level} | `{room}` | {} | x | y |\n", if *room == "store" { "yes" } else { "" })
        };
        let page: String = FLOORS.iter().map(row).collect();
        assert_eq!(drawn(&page, &["store"]), []);
        assert_eq!(drawn(&page, &[]).len(), 1);
        assert_eq!(drawn(&page, &["store", "chain"]).len(), 1);
        assert_eq!(drawn(&page.replace("| 4 | `indexer`", "| 3 | `indexer`"), &["store"]).len(), 1);
        assert_eq!(drawn(&page.replace("`indexer`", "`index`"), &["store"]).len(), 2);
    }

    #[test]
    fn an_unknown_room_and_a_task_that_imports_a_room_are_findings() {
        assert!(judge("crates/cellar", "")[0].contains("has no floor"));
        assert!(judge("xtask", "[dependencies]\nparaffin-store.workspace = true\n")[0].contains("outside the house"));
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
