//! Optional programs and files of tests, and how a test that lacks one is counted.
//!
//! Debian's programs are installed by the project's own scripts, so a test that lacks one fails in CI. Programs and files that the scripts cannot
//! install (peers that take long to build, files that may not be redistributed) are in the shared folder: `PARAFFIN_SHARED`, else
//! `../shared` beside the clone. A test that lacks it is counted as skipped, by name, in CI as well.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Whether `CI=true`: programs that the project's scripts install are then required.
pub fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Ends a test because something is missing that the project's scripts install; `what` describes how to get it. The caller returns.
///
/// # Panics
/// In CI.
pub fn missing(what: &str) {
    assert!(!in_ci(), "{what}");
    skipped(what);
}

/// Counts the running test as skipped; `why` names the missing item and how to get it. The caller returns.
///
/// The name goes to the file in `PARAFFIN_SKIPPED`, from which `cargo xtask test` corrects the count of passed tests.
///
/// # Panics
/// The file cannot be written, so that no skip counts as a pass.
pub fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
    let Some(path) = std::env::var_os("PARAFFIN_SKIPPED") else { return };
    let line = format!("{}\t{}\n", test_name(), why.replace(['\n', '\t'], " "));
    let file = std::fs::File::options().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", Path::new(&path).display()));
}

/// Whether tests that take long are run. Where the quick run of a new contributor leaves them out, this one is counted as skipped and the caller
/// returns.
pub fn long_tests() -> bool {
    let is_quick = std::env::var_os("PARAFFIN_QUICK").is_some();
    if is_quick {
        skipped("takes long: cargo xtask test --full");
    }
    !is_quick
}

/// Program and name of the running test, as cargo-nextest prints them.
fn test_name() -> String {
    let of_nextest = ["NEXTEST_BINARY_ID", "NEXTEST_TEST_NAME"].map(|name| std::env::var(name).ok());
    if let [Some(binary), Some(test)] = of_nextest {
        return format!("{binary} {test}");
    }
    // The test harness names the thread of each test after it.
    let thread = std::thread::current();
    let program = std::env::args().next().unwrap_or_default();
    let program = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    format!("{program} {}", thread.name().unwrap_or("(unnamed)"))
}

/// A file or folder below the shared folder, if it is there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = std::env::var_os("PARAFFIN_SHARED").map_or(beside, PathBuf::from).join(path);
    found.exists().then_some(found)
}

/// A file or folder of test data: below `PARAFFIN_FIXTURES`, else below `fixtures/` of the shared folder.
fn fixture(path: &str) -> Option<PathBuf> {
    match std::env::var_os("PARAFFIN_FIXTURES") {
        Some(folder) => Some(PathBuf::from(folder).join(path)).filter(|found| found.exists()),
        None => shared(&format!("fixtures/{path}")),
    }
}

/// A published program: named by `variable`, else in `bin/` of the shared folder, else where `cargo xtask peers build` puts it.
fn peer(name: &str, variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/bin").join(name);
    let found = named.or_else(|| shared(&format!("bin/{name}"))).unwrap_or(built);
    if found.is_file() {
        return Some(found);
    }
    skipped(&format!("no {name}: `cargo xtask peers build {name}` makes one, {variable} or PARAFFIN_SHARED names it"));
    None
}

/// Bitcoin Core; `None` after counting the test as skipped.
pub fn bitcoind() -> Option<PathBuf> {
    peer("bitcoind", "PARAFFIN_BITCOIND")
}

/// The published indexer of inscriptions and runes; `None` after counting the test as skipped.
pub fn ord() -> Option<PathBuf> {
    peer("ord", "PARAFFIN_ORD")
}

/// The real mainnet blocks of the shared folder, raw, with their files and in the order of their names. Empty after counting the
/// test as skipped.
pub fn real_blocks() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fixture("blocks");
    let files = folder.iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
    let mut blocks: Vec<(PathBuf, Vec<u8>)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| {
            let bytes = read(&path);
            (path, bytes)
        })
        .collect();
    blocks.sort();
    if blocks.is_empty() {
        skipped("no real mainnet blocks: PARAFFIN_SHARED names the folder that holds `fixtures/blocks/`");
    }
    blocks
}

/// One of [`real_blocks`] by the name of its file without the ending; `None` after counting the test as skipped.
pub fn real_block(name: &str) -> Option<Vec<u8>> {
    let found = fixture(&format!("blocks/{name}.bin"));
    if found.is_none() {
        skipped(&format!("no real block {name}: PARAFFIN_SHARED names the folder that holds `fixtures/blocks/`"));
    }
    found.map(|path| read(&path))
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A program of the reference indexer by its file name; `None` after counting the test as skipped.
pub fn reference_program(name: &str) -> Option<PathBuf> {
    let found = fixture(&format!("alkanes/{name}"));
    if found.is_none() {
        skipped(&format!("no {name}: PARAFFIN_SHARED names the folder that holds `fixtures/alkanes/`"));
    }
    found
}

/// Programs of the Debian packages named, in the given order; `None` after a message that one is missing.
///
/// # Panics
/// One is missing in CI.
pub fn installed<const N: usize>(programs: [&str; N], packages: &str) -> Option<[PathBuf; N]> {
    /// Debian's folders of servers, which may be missing in the `PATH` of a user.
    const SERVERS: &str = "/usr/sbin";
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([PathBuf::from(SERVERS)]).collect();
    let mut found = Vec::with_capacity(N);
    for program in programs {
        let Some(file) = folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file()) else {
            missing(&format!("no {program}: apt-get install {packages}"));
            return None;
        };
        found.push(file);
    }
    found.try_into().ok()
}
