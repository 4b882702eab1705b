//! A contract that this test compiles with the compiler of this machine, whichever that is, deploys on a development chain and
//! has verified: the bytes that one compiler makes of one source are the same in both places.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use paraffin_testkit::missing;
use serde_json::{Value, json};

use super::browse::{Verified, browse};
use super::source::{Source, ended, get, submit};
use crate::support::dev::Dev;
use crate::support::process::paraffin;

const TARGET: &str = "wasm32-unknown-unknown";
/// Number of the contract, in the block of reserved ids.
const NUMBER: &str = "4711";
const ALKANE: &str = "4:4711";
const PACKAGE: &str = "seven";
const LIBRARY: &str = "nested/seven/src/lib.rs";
/// A build of the library and a contract, on a machine that does other things as well.
const BUILD_TIMEOUT: Duration = Duration::from_secs(900);

const MANIFEST: &str = r#"[package]
name = "seven"
version = "1.0.0"
edition = "2021"

[lib]
crate-type = ["cdylib"]

# The library is built quickly rather than well; no names and no paths in the module.
[profile.release]
opt-level = 0
panic = "abort"
debug = false
strip = true

[workspace]
"#;

/// Answers 7 to every call.
const SOURCE: &str = r#"#![no_std]

const ANSWER: u8 = 7;

/// Length of the response, no alkanes, no writes, and 16 bytes of data.
static RESPONSE: [u8; 40] = [
    36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ANSWER, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

#[no_mangle]
pub extern "C" fn __execute() -> usize {
    RESPONSE.as_ptr() as usize + 4
}

#[no_mangle]
pub extern "C" fn answer() -> u64 {
    ANSWER as u64
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

/// A compiler that can make modules.
pub struct Compiler {
    rustc: PathBuf,
    cargo: PathBuf,
    linker: Option<PathBuf>,
    /// Crates of the library, where it has to be built along.
    library_vendor: Option<PathBuf>,
}

fn sysroot(rustc: &Path) -> Option<PathBuf> {
    let printed = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    printed.status.success().then(|| PathBuf::from(String::from_utf8(printed.stdout).unwrap().trim()))
}

impl Compiler {
    /// That of rustup, else that of the system.
    pub fn find() -> Option<Self> {
        let rustup = sysroot(Path::new("rustc"))?;
        let system = std::env::var_os("PARAFFIN_WASM_RUSTC").map_or_else(|| "/usr/bin/rustc".into(), PathBuf::from);
        let hosts = std::fs::read_dir(rustup.join("lib/rustlib")).ok()?.flatten();
        let linker = hosts.map(|host| host.path().join("bin/rust-lld")).find(|path| path.is_file());
        [rustup.join("bin/rustc"), system].into_iter().find_map(|rustc| {
            let library = sysroot(&rustc)?.join("lib/rustlib");
            let has_target = library.join(TARGET).join("lib").is_dir();
            let sources = library.join("src/rust/library");
            (has_target || sources.join("core").is_dir()).then(|| Self {
                rustc,
                cargo: rustup.join("bin/cargo"),
                linker: linker.clone(),
                library_vendor: (!has_target).then(|| sources.join("vendor")),
            })
        })
    }

    /// What a build needs beside the source.
    fn environment(&self) -> Vec<(&'static str, &'static str)> {
        let library = self.library_vendor.as_ref();
        library.map(|_| vec![("RUSTC_BOOTSTRAP", "1"), ("CARGO_UNSTABLE_BUILD_STD", "core")]).unwrap_or_default()
    }

    fn settings(&self) -> String {
        let path = |path: &Path| path.display().to_string();
        let linker = self.linker.as_ref().map(|linker| format!("linker = \"{}\"\n", path(linker))).unwrap_or_default();
        format!(
            "[verify]\nlocal_repositories = true\nbuild_seconds = 800\n[verify.toolchains.own]\nrustc = \"{}\"\ncargo = \"{}\"\n{linker}",
            path(&self.rustc),
            path(&self.cargo)
        )
    }

    /// The module of a source, made by nothing but cargo.
    fn module(&self, source: &Source) -> Vec<u8> {
        self.module_of(source, "nested/seven", PACKAGE, &self.environment())
    }

    /// The same of a package in a folder of the source.
    pub fn module_of(&self, source: &Source, at: &str, package: &str, environment: &[(&str, &str)]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        source.repository(folder.path());
        let mut command = Command::new(&self.cargo);
        command.current_dir(folder.path().join(at));
        for variable in ["RUSTC_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
            command.env_remove(variable);
        }
        command.env("RUSTC", &self.rustc).envs(environment.iter().copied());
        command.args(["build", "--release", "--locked", "--offline", "--lib", "--target", TARGET, "--target-dir"]);
        command.arg(folder.path().join("target"));
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        if let Some(vendor) = &self.library_vendor {
            command.args(["--config", "source.crates-io.replace-with='library'"]);
            command.args(["--config", &format!("source.library.directory='{}'", vendor.display())]);
        }
        let built = command.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        std::fs::read(folder.path().join("target").join(TARGET).join(format!("release/{package}.wasm"))).unwrap()
    }
}

fn source() -> Source {
    Source::default()
        .with("README.md", "# Seven\n")
        .with("nested/seven/Cargo.toml", MANIFEST)
        .with("nested/seven/Cargo.lock", "version = 3\n\n[[package]]\nname = \"seven\"\nversion = \"1.0.0\"\n")
        .with(LIBRARY, SOURCE)
}

/// Deploys a module as [`ALKANE`] and has a block mined.
fn deploy(dev: &Dev, module: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seven.wasm");
    std::fs::write(&file, module).unwrap();
    let mut command = paraffin();
    command.args(["tx", "deploy"]).arg(&file).args(["--init", "0", "--reserved", NUMBER, "--yes", "--fee-rate", "2"]);
    command.args(["--json", "--url", dev.text("/base_url"), "--key", dev.text("/keys/business")]);
    let deployed = command.env("PARAFFIN_WIF", dev.text("/accounts/0/wif")).output().unwrap();
    assert!(deployed.status.success(), "{}", String::from_utf8_lossy(&deployed.stderr));
    dev.mine(1);
    let details = dev.post("get-alkane-details", json!({ "alkaneId": ALKANE }));
    assert_eq!(details["id"], json!({ "block": "4", "tx": NUMBER }), "{details}");
}

/// row VF01
/// row VF02
#[test]
fn a_contract_is_reproducible_from_its_source_and_a_mismatch_from_another_one() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let Some(compiler) = Compiler::find() else {
        return missing("no Rust compiler for wasm: apt-get install rustc-web rust-web-src");
    };
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("verify.toml");
    std::fs::write(&settings, compiler.settings()).unwrap();
    let dev = Dev::start_in(tempfile::tempdir().unwrap(), &["--verify-config", &settings.display().to_string()]);
    if get(&dev, "/verify").json()["accepts"] != true {
        return missing("the kernel does not let builds be isolated here");
    }
    let tree = source();
    let module = compiler.module(&tree);
    deploy(&dev, &module);
    for path in ["/source/4/4711", "/source/4/4711/tree", "/source/4/4711/blob?path=README.md"] {
        assert_eq!(get(&dev, path).status, 404, "{path}: nothing is verified yet");
    }
    let environment: Vec<String> =
        compiler.environment().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let submission = |repo_url: &str| {
        json!({
            "alkane": ALKANE,
            "repo_url": repo_url,
            "subdir": "nested/seven",
            "package": PACKAGE,
            "build_env": environment.join("\n"),
        })
    };

    // Another answer, from a repository, at a commit.
    let other = tree.clone().with(LIBRARY, SOURCE.replacen("ANSWER: u8 = 7", "ANSWER: u8 = 8", 1));
    let (url, commit) = other.repository(&folder.path().join("repository"));
    let mut body = submission(&url);
    body["commit"] = json!(commit);
    let run = ended(&dev, &submit(&dev, body, None), BUILD_TIMEOUT);
    assert_eq!(run["result"]["verdict"], "mismatch", "{run:#}");
    assert_eq!((&run["result"]["commit"], &run["result"]["isolated"]), (&json!(commit), &json!(true)));
    assert!(run["result"]["match_pct"].as_f64().unwrap() < 90.0);
    assert_ne!(run["result"]["built_sha256"], run["deployed_sha256"]);
    let shown = get(&dev, "/source/4/4711").json()["source"].clone();
    let expected = (&json!(false), &json!("mismatch"), &json!(true));
    assert_eq!((&shown["verified"], &shown["verdict"], &shown["private"]), expected);

    // The source as it is, in an archive.
    let url = "https://github.com/owner/name.git";
    let run = ended(&dev, &submit(&dev, submission(url), Some(&tree)), BUILD_TIMEOUT);
    assert_eq!(run["result"]["verdict"], "reproducible", "{run:#}");
    assert_eq!(run["result"]["match_pct"], Value::from(100.0));
    let hash = paraffin_verify::sha256_hex(&module);
    assert_eq!((&run["result"]["built_sha256"], &run["deployed_sha256"]), (&json!(hash), &json!(hash)));
    browse(
        &dev,
        &tree,
        &Verified {
            alkane: ["4", NUMBER],
            subdir: "nested/seven",
            package: PACKAGE,
            entrypoint: LIBRARY,
            folder: "nested/seven/src",
        },
    );
}
