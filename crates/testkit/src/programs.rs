//! Programs that tests run beside the project, each of which may be missing on a laptop and never in CI.

use std::path::{Path, PathBuf};

/// Whether something that is missing must fail the test instead of leaving it out.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Says that a test is left out because something is missing, and how to get it.
///
/// # Panics
/// In CI, where nothing is left out.
pub fn left_out(missing: &str) {
    assert!(!in_ci(), "{missing}");
    eprintln!("SKIPPED: {missing}");
}

/// Bitcoin Core: `PARAFFIN_BITCOIND`, else what `cargo xtask bitcoind` built; `None` after saying that there is none.
///
/// # Panics
/// It is missing in CI.
pub fn bitcoind() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bitcoind/bin/bitcoind");
    let path = std::env::var_os("PARAFFIN_BITCOIND").map_or(built, PathBuf::from);
    if path.is_file() {
        return Some(path);
    }
    left_out(&format!(
        "no bitcoind at {}: build one with `cargo xtask bitcoind` or set PARAFFIN_BITCOIND",
        path.display()
    ));
    None
}

/// Programs of the Debian packages named, in the order asked for; `None` after saying which one is missing.
///
/// # Panics
/// One is missing in CI.
pub fn installed<const N: usize>(programs: [&str; N], packages: &str) -> Option<[PathBuf; N]> {
    /// Where Debian keeps servers, which the `PATH` of a user need not name.
    const SERVERS: &str = "/usr/sbin";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([PathBuf::from(SERVERS)]).collect();
    let mut found = Vec::with_capacity(N);
    for program in programs {
        let Some(file) = folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()) else {
            left_out(&format!("no {program}: apt-get install {packages}"));
            return None;
        };
        found.push(file);
    }
    found.try_into().ok()
}
