//! One of our own contracts, verified on a chain of our own: the committed source makes the deployed bytes. That other sources are
//! mismatches is shown by `rebuilt`, whose contract takes less time to build.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use paraffin_testkit::missing;
use serde_json::{Value, json};

use super::browse::{Verified, browse};
use super::source::{Source, ended, get, submit};
use crate::support::dev::Dev;

/// The template of ownership tokens, which every development chain deploys.
const ALKANE: &str = "4:65517";
const PACKAGE: &str = "auth-token";
/// As `cargo xtask contracts` builds.
const FLAGS: &str = "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none \
                     -Clink-arg=--stack-first -Clink-arg=-zstack-size=65536";
/// A build of the library and a contract, on a machine that does other things as well.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1_200);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The compiler that made the committed modules, where it is on this machine.
fn compiler() -> Option<PathBuf> {
    let compiler =
        std::env::var_os("PARAFFIN_WASM_RUSTC").map_or_else(|| PathBuf::from("/usr/bin/rustc"), PathBuf::from);
    let version = Command::new(&compiler).arg("--version").output().ok()?;
    let version = String::from_utf8(version.stdout).ok()?;
    let build = std::fs::read_to_string(root().join("contracts/wasm/BUILD.toml")).unwrap();
    build.contains(&format!("compiler = \"{}\"", version.trim())).then_some(compiler)
}

/// The contracts with everything that an offline build needs.
fn source(folder: &Path) -> Source {
    let contracts = root().join("contracts");
    let vendored = Command::new("cargo")
        .current_dir(&contracts)
        .args(["vendor", "--locked", "--quiet"])
        .arg(folder.join("vendor"))
        .output()
        .unwrap();
    assert!(vendored.status.success(), "{}", String::from_utf8_lossy(&vendored.stderr));
    Source::default()
        .with_folder("contracts", &contracts)
        .with_folder("contracts/vendor", &folder.join("vendor"))
        .with_folder("crates/cryptoswap-math/src", &root().join("crates/cryptoswap-math/src"))
}

fn submission(repo_url: &str) -> Value {
    json!({
        "alkane": ALKANE,
        "repo_url": repo_url,
        "subdir": "contracts",
        "package": PACKAGE,
        "build_env": format!("RUSTFLAGS={FLAGS}\nRUSTC_BOOTSTRAP=1\nCARGO_UNSTABLE_BUILD_STD=core,alloc"),
        "unknown": true,
        "note": null,
        "rustc": "",
    })
}

#[test]
fn our_own_contract_is_reproducible() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let Some(compiler) = compiler() else {
        // Another compiler makes other bytes. `rebuilt` has a contract that is compiled here.
        paraffin_testkit::skipped("not the compiler of contracts/wasm/BUILD.toml");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("verify.toml");
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let host = std::fs::read_dir(Path::new(sysroot.trim()).join("lib/rustlib")).unwrap().flatten();
    let linker = host.map(|host| host.path().join("bin/rust-lld")).find(|path| path.is_file());
    let Some(linker) = linker else { return missing("no rust-lld: install the Rust toolchain with rustup") };
    std::fs::write(
        &settings,
        format!(
            "[verify]\nlocal_repositories = true\nbuild_seconds = 1100\n[verify.toolchains.contracts]\nrustc = \"{}\"\ncargo = \"{}/bin/cargo\"\nlinker = \"{}\"\n",
            compiler.display(),
            sysroot.trim(),
            linker.display()
        ),
    )
    .unwrap();
    let dev = Dev::start_in(tempfile::tempdir().unwrap(), &["--verify-config", &settings.display().to_string()]);
    if get(&dev, "/verify").json()["accepts"] != true {
        return missing("the kernel does not let builds be isolated here");
    }
    assert_eq!(get(&dev, "/source/4/65517").status, 404);

    let tree = source(folder.path());
    // The source as it is, in an archive.
    let run = ended(&dev, &submit(&dev, submission("https://github.com/owner/name.git"), Some(&tree)), BUILD_TIMEOUT);
    assert_eq!(run["result"]["verdict"], "reproducible", "{run:#}");
    assert_eq!(run["result"]["built_sha256"], run["deployed_sha256"]);
    browse(
        &dev,
        &tree,
        &Verified {
            alkane: ["4", "65517"],
            subdir: "contracts",
            package: PACKAGE,
            entrypoint: "contracts/auth-token/src/lib.rs",
            folder: "contracts/auth-token/src",
        },
    );
}
