//! Rules about single files: length, leftovers, names, white space, and nothing about the machine they were written on.

use super::Finding;
use xtask::repository::SourceFile;

/// A file covers one subject; past this many lines it covers two.
const LINES_MAX: usize = 800;

/// What a program writes covers what its source does.
const GENERATED: &str = "/src/generated/";

/// Written in two parts so that this file does not hold what it refuses.
const LEFTOVERS: &[&str] = &[
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
];

/// Folders of one particular machine, which mean nothing on the reader's.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Hosts of package registries: which one serves a build is the machine's business.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("artif", "actory"),
    concat!("registry.", "npmjs"),
    concat!("pypi", ".org"),
    concat!("proxy.", "golang"),
    concat!("deb.", "debian.org"),
];

const VAGUE_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "manager", "misc"];

/// Where `Cargo.lock` says that a package comes from.
const LOCK_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(every_file(file));
        if file.is_rust() {
            findings.extend(rust(file));
        }
        if file.path == "Cargo.lock" {
            findings.extend(lock_sources(file));
        }
    }
    findings
}

fn every_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for folder in MACHINE_PATHS.iter().filter(|folder| line.contains(**folder)) {
            findings.push(Finding::at(&file.path, index, format!("names the machine's folder {folder}")));
        }
        for host in REGISTRY_HOSTS.iter().filter(|host| line.contains(**host)) {
            findings.push(Finding::at(&file.path, index, format!("names the registry host {host}")));
        }
    }
    findings
}

fn rust(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > LINES_MAX && !file.path.contains(GENERATED) {
        let what = format!("{lines} lines, more than {LINES_MAX}: look for the second story in it");
        findings.push(Finding::whole(&file.path, what));
    }
    let parts = file.path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    for part in parts.filter(|part| VAGUE_NAMES.contains(part)) {
        findings.push(Finding::whole(&file.path, format!("`{part}` names nothing: say what it does")));
    }
    for (index, line) in file.text.lines().enumerate() {
        for leftover in LEFTOVERS.iter().filter(|leftover| line.contains(**leftover)) {
            findings.push(Finding::at(&file.path, index, format!("`{leftover}` was left in the code")));
        }
        if line.ends_with([' ', '\t', '\r']) {
            findings.push(Finding::at(&file.path, index, "white space at the end of the line"));
        }
        if line.contains('\t') {
            findings.push(Finding::at(&file.path, index, "a tab: indent with spaces, write `\\t` in a string"));
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.push(Finding::whole(&file.path, "the last line has no end"));
    }
    findings
}

fn lock_sources(file: &SourceFile) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    let strange = lines.filter(|(_, line)| line.starts_with("source = ") && *line != LOCK_SOURCE);
    strange.map(|(index, line)| Finding::at(&file.path, index, format!("a package from elsewhere: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    fn judge(path: &str, text: &str) -> Vec<String> {
        check(&[sample(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_ordinary_file_passes() {
        assert_eq!(judge("crates/a/src/lib.rs", "//! A crate.\nfn open() {}\n"), [""; 0]);
    }

    #[test]
    fn every_kind_of_leftover_is_found() {
        for leftover in LEFTOVERS {
            let found = judge("crates/a/src/lib.rs", &format!("fn open() {{\n    {leftover}\n}}\n"));
            assert_eq!(found.len(), 1, "{leftover}: {found:?}");
            assert!(found[0].starts_with("crates/a/src/lib.rs:2: "), "{found:?}");
        }
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(judge("crates/a/src/lib.rs", &"//\n".repeat(LINES_MAX)), [""; 0]);
        assert!(judge("crates/a/src/lib.rs", &"//\n".repeat(LINES_MAX + 1))[0].contains("801 lines"));
        assert_eq!(judge("crates/a/src/generated/b.rs", &"//\n".repeat(LINES_MAX + 1)), [""; 0]);
    }

    #[test]
    fn a_vague_name_is_found_as_file_and_as_folder() {
        for path in ["crates/a/src/utils.rs", "crates/a/tests/common/mod.rs", "crates/manager/src/lib.rs"] {
            assert_eq!(judge(path, "//! A\n").len(), 1, "{path}");
        }
        assert_eq!(judge("crates/a/src/management.rs", "//! A\n"), [""; 0]);
    }

    #[test]
    fn machine_folders_and_registry_hosts_are_found_in_any_text() {
        for word in MACHINE_PATHS.iter().chain(REGISTRY_HOSTS) {
            assert_eq!(judge("docs/page.md", &format!("See {word}x for more.\n")).len(), 1, "{word}");
        }
        assert_eq!(judge("docs/page.md", "the network/store folder\n"), [""; 0]);
    }

    #[test]
    fn white_space_faults_are_found() {
        assert_eq!(judge("crates/a/src/lib.rs", "fn open() {} \n").len(), 1);
        assert_eq!(judge("crates/a/src/lib.rs", "\tfn open() {}\n").len(), 1);
        assert_eq!(judge("crates/a/src/lib.rs", "fn open() {}").len(), 1);
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        assert_eq!(judge("Cargo.lock", &format!("{LOCK_SOURCE}\n")), [""; 0]);
        assert_eq!(judge("Cargo.lock", "source = \"git+https://example.org/fork\"\n").len(), 1);
    }
}
