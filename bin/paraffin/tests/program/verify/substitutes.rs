//! Submissions that carry the bytes of a contract which their source does not make, and try to have them come out of the build: by programs in the
//! place of compiler, linker or runner, by build scripts and macros that write the module, and by data. None may come to more than a mismatch.

use std::sync::Arc;

use paraffin_verify::{Built, FailureCode, Outcome, Program, ProgramKind, Run, Submission, Verifier};

use super::hostile::{ended, submission, verifier};
use super::rebuilt::Compiler;
use super::source::Source;

/// A contract that answers 42; none of the sources makes it.
const DEPLOYED: &str = r#"(module (memory (export "memory") 1) (func (export "answer") (result i32) i32.const 42))"#;
pub const LIBRARY: &str = "pub extern \"C\" fn answer() -> u32 { 7 }\n";
pub const LOCK: &str = "version = 3\n\n[[package]]\nname = \"guest\"\nversion = \"1.0.0\"\n";
/// Path of the finished module inside a build.
pub const TARGET: &str = "/build/target/wasm32-unknown-unknown/release";
/// A linker that copies, and a compiler that copies over what the real one makes.
const FAKE: &str = r#"#!/bin/sh
case "$1" in
    -flavor) ;;
    */rustc) "$@" || exit 1 ;;
    *) rustc "$@" || exit 1 ;;
esac
for word; do
    [ "$last" = -o ] && cp /build/source/deployed.wasm "$word"
    [ "$last" = --out-dir ] && cp /build/source/deployed.wasm "$word/guest.wasm"
    last=$word
done
exit 0
"#;

pub fn deployed() -> Vec<u8> {
    wat::parse_str(DEPLOYED).unwrap()
}

pub fn manifest(more: &str) -> String {
    format!("{more}\n[workspace]\n")
}

pub const PACKAGE: &str =
    "[package]\nname = \"guest\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"cdylib\"]\n";

/// Macros of the compiler's own, which the standard library names.
const MACROS: &str = "#[rustc_builtin_macro]\nmacro_rules! include { () => {} }\n#[rustc_builtin_macro]\nmacro_rules! include_bytes { () => {} }\n\
                      #[rustc_builtin_macro]\nmacro_rules! concat { () => {} }\n#[rustc_builtin_macro]\nmacro_rules! env { () => {} }\n";

/// What a library needs to be compiled in a moment: the standard library, where the compiler has it for wasm, and else the little without which
/// there is no language.
pub fn library(verifier: &Verifier, code: &str) -> String {
    if verifier.toolchains()[0].has_target {
        return format!(
            "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}\n#[no_mangle]\n{code}"
        );
    }
    format!(
        "#![feature(no_core, lang_items, auto_traits, rustc_attrs, decl_macro)]\n#![no_core]\n#![allow(internal_features)]\n\
         {MACROS}\
         #[lang = \"pointee_sized\"]\npub trait PointeeSized {{}}\n#[lang = \"meta_sized\"]\npub trait MetaSized: PointeeSized {{}}\n\
         #[lang = \"sized\"]\npub trait Sized: MetaSized {{}}\n#[lang = \"copy\"]\npub trait Copy {{}}\nimpl Copy for u32 {{}}\n\
         #[lang = \"sync\"]\npub unsafe trait Sync {{}}\nunsafe impl<T: PointeeSized> Sync for &T {{}}\n\
         #[lang = \"freeze\"]\npub unsafe auto trait Freeze {{}}\n#[no_mangle]\n{code}"
    )
}

/// A source that makes another module, with the deployed one and the fake tool in it.
pub fn guest(verifier: &Verifier) -> Source {
    Source::default()
        .with("Cargo.toml", manifest(PACKAGE))
        .with("Cargo.lock", LOCK)
        .with("src/lib.rs", library(verifier, LIBRARY))
        .with("deployed.wasm", deployed())
        .with("fake.sh", FAKE)
}

pub fn submitted(source: &Source, environment: &[&str]) -> Submission {
    let mut build_env = vec!["RUSTC_BOOTSTRAP=1".to_owned()];
    build_env.extend(environment.iter().map(|line| (*line).to_owned()));
    Submission { deployed: deployed(), build_env, package: Some("guest".to_owned()), ..submission(Some(source)) }
}

pub fn built(run: &Run) -> &Built {
    match &run.outcome {
        Some(Outcome::Built(built)) => built,
        other => panic!("{other:#?}"),
    }
}

/// Runs a submission; what was built, which is not what is deployed.
pub async fn mismatch(verifier: &Arc<Verifier>, what: &str, source: &Source) -> Built {
    let run = ended(verifier, submitted(source, &[])).await;
    let built = built(&run);
    assert_eq!(built.comparison.verdict.name(), "mismatch", "{what}");
    built.clone()
}

/// Runs a submission that fails; what is said about it.
pub async fn failed(verifier: &Arc<Verifier>, what: &str, source: &Source) -> (FailureCode, String) {
    let run = ended(verifier, submitted(source, &[])).await;
    match run.outcome {
        Some(Outcome::Failed(failure)) => (failure.code, format!("{}\n{}", failure.reason, failure.log)),
        other => panic!("{what}: {other:#?}"),
    }
}

#[tokio::test]
async fn no_setting_puts_a_program_in_the_place_of_a_tool() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let fake = "\"/build/source/fake.sh\"";
    // Cargo's configuration, of the tree and of folders below it, by the present name and the older one.
    for (what, path, text, ignored) in [
        (
            "linker",
            ".cargo/config.toml",
            format!("[target.wasm32-unknown-unknown]\nlinker = {fake}\n"),
            "target.wasm32-unknown-unknown.linker",
        ),
        ("older name", ".cargo/config", format!("[build]\nrustc = {fake}\n"), "build.rustc"),
        (
            "wrapper",
            ".cargo/config.toml",
            format!("[build]\nrustc-wrapper = {fake}\nrustc-workspace-wrapper = {fake}\n"),
            "build.rustc-wrapper",
        ),
        (
            "variables",
            ".cargo/config.toml",
            format!("[env]\nRUSTC_WRAPPER = {{ value = {fake}, force = true }}\nLD_PRELOAD = {fake}\n"),
            "env.LD_PRELOAD",
        ),
        ("include", ".cargo/config.toml", "include = [\"../more.toml\"]\n".to_owned(), "include"),
        (
            "unstable settings",
            ".cargo/config.toml",
            format!("[unstable]\nhost-config = true\ntarget-applies-to-host = true\n[host]\nlinker = {fake}\n"),
            "host",
        ),
    ] {
        let more = format!("[target.wasm32-unknown-unknown]\nlinker = {fake}\n");
        let built = mismatch(&verifier, what, &guest(&verifier).with(path, text).with("more.toml", more)).await;
        assert!(built.ignored.iter().any(|name| name == ignored), "{what}: {:?}", built.ignored);
        assert!(built.programs.is_empty(), "{what}");
    }
    // Settings that mean nothing here: a runner, another name for a command, a target of the source's own, a toolchain of the source's own.
    let specification = "{\"llvm-target\": \"wasm32-unknown-unknown\", \"linker\": \"/build/source/fake.sh\"}";
    let source = guest(&verifier)
        .with(
            ".cargo/config.toml",
            format!("[build]\ntarget = \"evil.json\"\n[target.wasm32-unknown-unknown]\nrunner = {fake}\n[alias]\nbuild = \"rustc -- -Clinker=/build/source/fake.sh\"\nmetadata = \"run\"\n"),
        )
        .with("evil.json", specification)
        .with("rust-toolchain.toml", "[toolchain]\npath = \"/build/source/toolchain\"\n")
        .with("toolchain/bin/rustc", FAKE)
        .with("toolchain/bin/cargo", FAKE);
    mismatch(&verifier, "without a meaning", &source).await;
    // Flags that would be obeyed are refused.
    for text in [
        format!("[build]\nrustflags = [\"-C\", \"linker={}\"]\n", "/build/source/fake.sh"),
        "[target.wasm32-unknown-unknown]\nrustflags = \"-Clinker=/build/source/fake.sh\"\n".to_owned(),
        "[target.'cfg(all())']\nrustflags = \"--codegen=linker=/build/source/fake.sh\"\n".to_owned(),
    ] {
        let (code, log) = failed(&verifier, &text, &guest(&verifier).with(".cargo/config.toml", text.clone())).await;
        assert!(code == FailureCode::SourceRefused && log.contains("is not allowed"), "{code:?} {log}");
    }
    // Variables are refused at once.
    for line in [
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=/build/source/fake.sh",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=/build/source/fake.sh",
        "RUSTFLAGS=-Clinker=/build/source/fake.sh",
        "CARGO_BUILD_RUSTFLAGS=-C linker=/build/source/fake.sh",
        "RUSTC=/build/source/fake.sh",
        "RUSTC_WRAPPER=/build/source/fake.sh",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER=/build/source/fake.sh",
        "CARGO_BUILD_TARGET=/build/source/evil.json",
        "CARGO_UNSTABLE_CODEGEN_BACKEND=true",
        "CARGO_HOST_LINKER=/build/source/fake.sh",
        "LD_PRELOAD=/build/source/fake.sh",
    ] {
        assert!(verifier.submit(submitted(&guest(&verifier), &[line]), 1).await.is_err(), "{line}");
    }
    verifier.close().await;
}

#[tokio::test]
async fn no_manifest_and_no_source_reaches_past_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    // Flags by a profile and a target by a package, both unsettled features of cargo; whether this one has them or not.
    for (manifest, refusal) in [
        (
            format!(
                "cargo-features = [\"profile-rustflags\"]\n{PACKAGE}[profile.release]\nrustflags = [\"-Clinker=/build/source/fake.sh\"]\n[workspace]\n"
            ),
            "is not called with",
        ),
        (
            format!(
                "cargo-features = [\"per-package-target\"]\n{}[workspace]\n",
                PACKAGE.replace("edition", "forced-target = \"/build/source/evil.json\"\nedition")
            ),
            "json",
        ),
    ] {
        let specification = r#"{"arch": "wasm32", "data-layout": "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20", "llvm-target": "wasm32-unknown-unknown", "target-pointer-width": 32, "linker": "/build/source/fake.sh", "linker-flavor": "wasm-lld"}"#;
        let source = guest(&verifier).with("Cargo.toml", manifest.as_str()).with("evil.json", specification);
        let (_, log) = failed(&verifier, &manifest, &source).await;
        assert!(log.contains(refusal), "{log}");
    }
    // An attribute of the source by which the linker takes an object that was not compiled here.
    let attribute =
        "#[link(name = \"/build/source/blob.o\", kind = \"link-arg\", modifiers = \"+verbatim\")]\nextern \"C\" {}\n";
    let text = format!("#![feature(link_arg_attribute)]\n{}{attribute}", library(&verifier, LIBRARY));
    let (code, log) =
        failed(&verifier, "object", &guest(&verifier).with("src/lib.rs", text).with("blob.o", deployed())).await;
    assert!(
        code == FailureCode::BuildFailed && log.contains("the linker is not called with `/build/source/blob.o`"),
        "{log}"
    );
    // The deployed bytes as data, a finished target folder, a second module of the same name, and dates that make cargo take it for done.
    let data = "pub extern \"C\" fn answer() -> u32 { 7 }\n#[no_mangle]\npub extern \"C\" fn deployed() -> &'static [u8; SIZE] { include_bytes!(\"../deployed.wasm\") }\n";
    let data = data.replace("SIZE", &deployed().len().to_string());
    let manifest = manifest(&format!("{PACKAGE}[[bin]]\nname = \"guest\"\npath = \"src/bin.rs\"\n"));
    let mut source = guest(&verifier)
        .with("src/lib.rs", library(&verifier, &data))
        .with("Cargo.toml", manifest)
        .with("src/bin.rs", "fn main() {}\n");
    for place in [
        "target/wasm32-unknown-unknown/release/guest.wasm",
        "target/wasm32-unknown-unknown/release/deps/guest.wasm",
        "guest.wasm",
    ] {
        source = source.with(place, deployed());
    }
    mismatch(&verifier, "data", &source).await;
    // A crate with the name of a library for contracts is one of this tree.
    let source = guest(&verifier)
        .with("Cargo.toml", manifest_with(&["paraffin-contract"]))
        .with("Cargo.lock", lock_with(&["paraffin-contract"]))
        .with("vendor/paraffin-contract/Cargo.toml", package("paraffin-contract", ""))
        .with("vendor/paraffin-contract/src/lib.rs", library(&verifier, "pub extern \"C\" fn other() -> u32 { 8 }\n").replace("#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n", ""))
        .with("vendor/paraffin-contract/build.rs", script(&format!("fs::create_dir_all(\"{TARGET}\").unwrap(); fs::copy(\"/build/source/deployed.wasm\", \"{TARGET}/guest.wasm\").unwrap();")));
    let built = mismatch(&verifier, "named like a library", &source).await;
    assert_eq!(names(&built.programs), ["paraffin-contract 1.0.0"]);
    verifier.close().await;
}

fn names(programs: &[Program]) -> Vec<String> {
    programs.iter().map(|program| format!("{} {}", program.name, program.version)).collect()
}

pub fn package(name: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n{more}")
}

/// The manifest and the lock file of the guest with crates of the tree.
pub fn manifest_with(crates: &[&str]) -> String {
    let all = joined(crates, |name| format!("{name} = {{ path = \"vendor/{name}\" }}\n"));
    manifest(&format!("{PACKAGE}[dependencies]\n{all}"))
}

pub fn lock_with(crates: &[&str]) -> String {
    let listed = joined(crates, |name| format!(" \"{name}\",\n"));
    let packages = joined(crates, |name| format!("\n[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n"));
    format!("{LOCK}dependencies = [\n{listed}]\n{packages}")
}

fn joined<T: AsRef<str>>(all: &[T], text: impl Fn(&str) -> String) -> String {
    all.iter().map(|one| text(one.as_ref())).collect::<Vec<_>>().concat()
}

pub fn script(body: &str) -> String {
    format!("#![allow(unused)]\nuse std::{{fs, path::Path, process::{{Command, Stdio}}}};\nfn main() {{\n{body}\n}}\n")
}

/// A process that outlives the one that starts it, and writes the deployed bytes over the module until the build ends.
fn overwriter(places: &[&str]) -> String {
    let copies = joined(places, |place| {
        format!("cp /build/source/deployed.wasm {place}.x 2>/dev/null && mv {place}.x {place}; ")
    });
    format!(
        "Command::new(\"setsid\").args([\"sh\", \"-c\", \"while :; do {copies} done\"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();"
    )
}

#[tokio::test]
async fn a_build_script_does_not_write_the_module() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let with = |body: &str| guest(&verifier).with("build.rs", script(body));
    // Before the compiler does, wherever it may be; settings for cargo beside it.
    let before = format!(
        r#"for place in ["{TARGET}", "{TARGET}/deps", "/build/target/release", "/build/target/release/deps"] {{
            fs::create_dir_all(place).unwrap();
            fs::copy("deployed.wasm", Path::new(place).join("guest.wasm")).unwrap();
        }}
        let home = std::env::var("CARGO_HOME").unwrap();
        fs::write(Path::new(&home).join("config.toml"), "[target.wasm32-unknown-unknown]\nlinker = \"/build/source/fake.sh\"\n").unwrap();"#
    );
    let built = mismatch(&verifier, "before", &with(&before)).await;
    assert_eq!(
        built.programs,
        [Program { kind: ProgramKind::BuildScript, name: "guest".to_owned(), version: "1.0.0".to_owned() }]
    );
    // Arguments for the linker.
    let (code, log) =
        failed(&verifier, "argument", &with("println!(\"cargo:rustc-cdylib-link-arg=/build/source/blob.o\");")).await;
    assert!(
        code == FailureCode::BuildFailed && log.contains("the linker's argument `/build/source/blob.o` is not allowed"),
        "{log}"
    );
    // After the linker: the first build makes the deployed bytes, and the second one does not.
    let over = overwriter(&[&format!("{TARGET}/deps/guest.wasm"), &format!("{TARGET}/guest.wasm")]);
    let after = failed(&verifier, "after", &with(&over)).await;
    assert_eq!(after.0, FailureCode::NotRepeatable, "{}", after.1);
    // Without a word of the calls of the compiler.
    let forgetful = format!(
        "{over} for _ in 0..20 {{ for file in fs::read_dir(\"/build/record\").unwrap() {{ let _ = fs::remove_file(file.unwrap().path()); }} }}"
    );
    let quiet = forgetful.replace("while :; do", "while :; do rm -f /build/record/*; ");
    let (code, reason) = failed(&verifier, "forgetful", &with(&quiet)).await;
    assert!(code == FailureCode::NotRepeatable && reason.contains("no call of the compiler"), "{reason}");
    // A library that the loader puts before the compiler's own.
    let preload = r#"let out = std::env::var("OUT_DIR").unwrap();
        let library = format!("{out}/libevil.so");
        let made = Command::new(std::env::var("RUSTC").unwrap()).args(["--edition=2021", "--crate-type=cdylib", "evil.rs", "-o", &library]).status().unwrap();
        assert!(made.success());
        println!("cargo:rustc-env=LD_PRELOAD={library}");"#;
    let evil = format!(
        r#"extern "C" {{ fn atexit(function: extern "C" fn()) -> i32; }}
        extern "C" fn last() {{ let _ = std::fs::copy("/build/source/deployed.wasm", "{TARGET}/deps/guest.wasm"); let _ = std::fs::copy("/build/source/deployed.wasm", "/build/written/guest.wasm"); }}
        extern "C" fn first() {{ unsafe {{ atexit(last); }} }}
        #[used]
        #[link_section = ".init_array"]
        static FIRST: extern "C" fn() = first;
        "#
    );
    let (code, reason) = failed(&verifier, "loader", &with(preload).with("evil.rs", evil)).await;
    assert_eq!(code, FailureCode::NotRepeatable, "{reason}");
    verifier.close().await;
}

/// A crate with a macro, whose body this is, that the guest calls.
fn with_macro(verifier: &Verifier, body: &str) -> Source {
    let code = format!(
        "extern crate proc_macro;\nuse std::process::{{Command, Stdio}};\n#[proc_macro]\npub fn look(_: proc_macro::TokenStream) -> proc_macro::TokenStream {{\n{body}\nproc_macro::TokenStream::new()\n}}\n"
    );
    guest(verifier)
        .with("Cargo.toml", manifest_with(&["look"]))
        .with("Cargo.lock", lock_with(&["look"]))
        .with("vendor/look/Cargo.toml", package("look", "[lib]\nproc-macro = true\n"))
        .with("vendor/look/src/lib.rs", code)
        .with("src/lib.rs", format!("{}\nlook::look!();\n", library(verifier, LIBRARY)))
}

#[tokio::test]
async fn a_macro_does_not_write_the_module() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let places = [format!("{TARGET}/deps/guest.wasm"), "/build/written/guest.wasm".to_owned()];
    let copies =
        joined(&places, |place| format!("let _ = std::fs::copy(\"/build/source/deployed.wasm\", \"{place}\");"));
    let built = mismatch(&verifier, "before", &with_macro(&verifier, &copies)).await;
    assert_eq!(
        built.programs,
        [Program { kind: ProgramKind::Macro, name: "look".to_owned(), version: "1.0.0".to_owned() }]
    );
    // After the linker: by a process that stays, and by the compiler's own last breath.
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let last = format!(
        "extern \"C\" {{ fn atexit(function: extern \"C\" fn()) -> i32; }}\nextern \"C\" fn last() {{ {copies} }}\nunsafe {{ atexit(last); }}"
    );
    for (what, body) in [("stays", overwriter(&places)), ("last", last)] {
        let (code, reason) = failed(&verifier, what, &with_macro(&verifier, &body)).await;
        assert_eq!(code, FailureCode::NotRepeatable, "{what}: {reason}");
    }
    verifier.close().await;
}

/// The other side: a build script and a macro that do what they are for are named, and the module counts.
#[tokio::test]
async fn what_is_generated_counts_and_its_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let Some(compiler) = Compiler::find() else { return paraffin_testkit::missing("no Rust compiler for wasm") };
    let code = "include!(concat!(env!(\"OUT_DIR\"), \"/answer.rs\"));\nlook::answer!();\n";
    let library = library(&verifier, LIBRARY).replace(LIBRARY, code).replace("#[no_mangle]\ninclude", "include");
    let generate = "let out = std::env::var(\"OUT_DIR\").unwrap();\nfs::write(Path::new(&out).join(\"answer.rs\"), \"#[no_mangle] pub extern \\\"C\\\" fn seven() -> u32 { 7 }\").unwrap();\nprintln!(\"cargo:rustc-cfg=generated\");";
    let expand = "return \"#[no_mangle] pub extern \\\"C\\\" fn answer() -> u32 { 42 }\".parse().unwrap();";
    let tree = with_macro(&verifier, "").with("build.rs", script(generate)).with("src/lib.rs", library);
    let code = String::from_utf8(tree.0["vendor/look/src/lib.rs"].clone()).unwrap();
    let tree = tree.with(
        "vendor/look/src/lib.rs",
        code.replace("pub fn look", "pub fn answer").replace("proc_macro::TokenStream::new()", expand),
    );
    let module = compiler.module_of(&tree, "", "guest", &[("RUSTC_BOOTSTRAP", "1")]);
    let submission = Submission { deployed: module, ..submitted(&tree, &["CONTRACT_NETWORK=test"]) };
    let run = ended(&verifier, submission).await;
    let built = built(&run);
    assert_eq!((built.comparison.verdict.name(), built.repeated), ("reproducible", true));
    assert_eq!(names(&built.programs), ["guest 1.0.0", "look 1.0.0"]);
    // How it was built stands beside the source, for all who look at it.
    let record = verifier.record(&run.wasm_sha256).await.unwrap().unwrap();
    let how_built = record.how_built.unwrap();
    assert_eq!((how_built.programs.len(), how_built.build_env["CONTRACT_NETWORK"].as_str()), (2, "test"));
    verifier.close().await;
}
