//! Submissions that have another file taken for the module: by symbolic links, by dates of files, and by a second artefact of the same name.

use std::fs;

use paraffin_verify::{FailureCode, Outcome, Submission};

use super::hostile::{ended, submission, verifier};
use super::rebuilt::Compiler;
use super::source::commit;
use super::substitutes::{
    LIBRARY, TARGET, built, deployed, failed, guest, library, lock_with, manifest_with, mismatch, package, script,
    submitted,
};

/// A library that compiles to a contract in which little is as in the guest.
const OTHER: &str = "pub extern \"C\" fn something_else(_: u32, b: u32, _: u32) -> u32 { b }\n#[no_mangle]\npub extern \"C\" fn and_more(a: u32) -> u32 { a }\n";

#[tokio::test]
async fn a_symbolic_link_does_not_stand_in_for_the_module() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let with = |body: &str| guest(&verifier).with("build.rs", script(body));
    // Where the compiler writes, before it does: the linker replaces the link, or writes through it.
    let before = format!(
        r#"for place in ["{TARGET}", "{TARGET}/deps"] {{
            fs::create_dir_all(place).unwrap();
            std::os::unix::fs::symlink("/build/source/deployed.wasm", Path::new(place).join("guest.wasm")).unwrap();
        }}"#
    );
    mismatch(&verifier, "link to the deployed bytes", &with(&before)).await;
    // The module's folder is one that the script has filled.
    let elsewhere = format!(
        r#"fs::create_dir_all("/build/target/other").unwrap();
        fs::copy("deployed.wasm", "/build/target/other/guest.wasm").unwrap();
        fs::create_dir_all("{TARGET}").unwrap();
        let deps = Path::new("{TARGET}/deps");
        let _ = fs::remove_dir_all(deps);
        std::os::unix::fs::symlink("/build/target/other", deps).unwrap();"#
    );
    mismatch(&verifier, "link in the place of a folder", &with(&elsewhere)).await;
    // After the linker: a process that stays puts a link in the module's place.
    let after = format!(
        r#"Command::new("setsid").args(["sh", "-c", "while :; do ln -sf /build/source/deployed.wasm {TARGET}/deps/guest.wasm; ln -sf /build/source/deployed.wasm {TARGET}/guest.wasm; done"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();"#
    );
    let (code, log) = failed(&verifier, "link that stays", &with(&after)).await;
    assert!(matches!(code, FailureCode::BuildFailed | FailureCode::NotRepeatable), "{code:?} {log}");
    // Links of the tree itself: what they lead to is compiled, and is what the record shows.
    let repository = tempfile::tempdir().unwrap();
    guest(&verifier).with("src/real.rs", library(&verifier, LIBRARY)).repository(repository.path());
    fs::remove_file(repository.path().join("src/lib.rs")).unwrap();
    std::os::unix::fs::symlink("real.rs", repository.path().join("src/lib.rs")).unwrap();
    std::os::unix::fs::symlink("deployed.wasm", repository.path().join("guest.wasm")).unwrap();
    let (repo_url, _) = commit(repository.path());
    let run = ended(&verifier, Submission { repo_url, archive: None, ..submitted(&guest(&verifier), &[]) }).await;
    assert_eq!(built(&run).comparison.verdict.name(), "mismatch");
    // One that leads into the folder of the build is refused.
    std::os::unix::fs::symlink("/build/target", repository.path().join("target")).unwrap();
    let (repo_url, _) = commit(repository.path());
    let run = ended(&verifier, Submission { repo_url, deployed: deployed(), ..submission(None) }).await;
    assert!(
        matches!(&run.outcome, Some(Outcome::Failed(failure)) if failure.code == FailureCode::SourceRefused),
        "{run:?}"
    );
    verifier.close().await;
}

#[tokio::test]
async fn dates_of_files_do_not_make_cargo_take_a_module_for_built() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    // The module and cargo's notes of what it was built from, all of the next century; sources of the last one.
    let script = script(&format!(
        r#"let deps = Path::new("{TARGET}/deps");
        fs::create_dir_all(deps).unwrap();
        for place in [deps.join("guest.wasm"), Path::new("{TARGET}/guest.wasm").to_owned()] {{ fs::copy("deployed.wasm", place).unwrap(); }}
        fs::write("{TARGET}/guest.d", "{TARGET}/guest.wasm: src/lib.rs\n").unwrap();
        let found = Command::new("sh").args(["-c", "cp -a {TARGET}/.fingerprint/guest-* {TARGET}/.fingerprint/guest-0000000000000000 2>/dev/null; find /build/target -type f -exec touch -d 2099-01-01 {{}} +; touch -d 1990-01-01 /build/source/src/lib.rs 2>/dev/null; true"]).status().unwrap();
        assert!(found.success());
        println!("cargo:rerun-if-changed=nothing");"#
    ));
    mismatch(&verifier, "dates", &guest(&verifier).with("build.rs", script)).await;
    // The same from the tree: a whole folder of builds, with the notes of another machine.
    let mut source = guest(&verifier);
    for place in ["target", "target/wasm32-unknown-unknown"] {
        let release = format!("{place}/release");
        source = source
            .with(&format!("{release}/guest.wasm"), deployed())
            .with(&format!("{release}/deps/guest.wasm"), deployed())
            .with(
                &format!("{release}/.fingerprint/guest-0000000000000000/invoked.timestamp"),
                "This file has an mtime of when this was started.",
            )
            .with(&format!("{release}/.fingerprint/guest-0000000000000000/lib-guest"), "0000000000000000");
    }
    mismatch(&verifier, "a folder of builds", &source).await;
    verifier.close().await;
}

#[tokio::test]
async fn a_second_artefact_of_the_same_name_is_not_the_module() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let Some(compiler) = Compiler::find() else { return paraffin_testkit::missing("no Rust compiler for wasm") };
    // Another crate of the tree whose library has the same name and kind, and lands in the same folder.
    let other = package("other", "[lib]\nname = \"guest\"\ncrate-type = [\"cdylib\", \"rlib\"]\n");
    let tree = guest(&verifier)
        .with("Cargo.toml", manifest_with(&["other"]))
        .with("Cargo.lock", lock_with(&["other"]))
        .with("vendor/other/Cargo.toml", other)
        .with("vendor/other/Cargo.lock", "version = 3\n\n[[package]]\nname = \"other\"\nversion = \"1.0.0\"\n")
        .with("vendor/other/src/lib.rs", library(&verifier, OTHER));
    // It is what is deployed, and by itself it is reproducible.
    let alone = tree.clone().with(
        "vendor/other/Cargo.toml",
        format!("{}[workspace]\n", String::from_utf8_lossy(&tree.0["vendor/other/Cargo.toml"])),
    );
    let module = compiler.module_of(&alone, "vendor/other", "guest", &[("RUSTC_BOOTSTRAP", "1")]);
    let of = |package: &str, subdir: &str, tree| Submission {
        deployed: module.clone(),
        package: Some(package.to_owned()),
        subdir: (!subdir.is_empty()).then(|| subdir.to_owned()),
        ..submitted(tree, &[])
    };
    let run = ended(&verifier, of("other", "vendor/other", &alone)).await;
    assert_eq!(built(&run).comparison.verdict.name(), "reproducible");
    // As a dependency of the guest it is not the guest, though cargo writes both to one file.
    let run = ended(&verifier, of("guest", "", &tree)).await;
    match &run.outcome {
        Some(Outcome::Built(built)) => assert_eq!(built.comparison.verdict.name(), "mismatch"),
        Some(Outcome::Failed(failure)) => assert_eq!(failure.code, FailureCode::BuildFailed, "{failure:#?}"),
        None => panic!("{run:?}"),
    }
    verifier.close().await;
}
