//! Builds of the worst kind, in real workers of the built program. Each is a build script that tries something and shows by its
//! failure how far it came.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_testkit::missing;
use paraffin_verify::{
    FailureCode, Isolation, Outcome, Run, Settings, Submission, Verifier, VerifierOptions, toolchains,
};

use super::source::{Source, commit};

/// A run on a machine that does other things as well.
const RUN_TIMEOUT: Duration = Duration::from_secs(900);

/// A verifier in a folder of its own, with the program's own workers; `None` where nothing can be built, and in a run without tests that take long.
pub async fn verifier(folder: &Path, change: impl FnOnce(&mut Settings)) -> Option<Arc<Verifier>> {
    if !paraffin_testkit::long_tests() {
        return None;
    }
    let mut settings = Settings { build_seconds: 240, local_repositories: true, ..Settings::default() };
    change(&mut settings);
    if let Err(error) = toolchains(&settings) {
        missing(&error.to_string());
        return None;
    }
    let program = PathBuf::from(env!("CARGO_BIN_EXE_paraffin"));
    let options = VerifierOptions { folder: folder.to_owned(), server: None, settings, program, clock: || 0 };
    let verifier = Verifier::open(options).await.unwrap();
    if verifier.toolchains().is_empty() {
        paraffin_testkit::missing("the kernel does not let builds be isolated here");
        return None;
    }
    Some(verifier)
}

/// A crate whose build script has this body.
pub fn source(script: &str) -> Source {
    Source::default()
        .with("Cargo.toml", "[package]\nname = \"guest\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n")
        .with("Cargo.lock", "version = 3\n\n[[package]]\nname = \"guest\"\nversion = \"1.0.0\"\n")
        .with("src/lib.rs", "#![no_std]\n")
        .with(
            "build.rs",
            format!("#![allow(unused)]\nuse std::{{fs, process::Command}};\nfn main() {{\n{script}\n}}\n"),
        )
}

pub fn submission(source: Option<&Source>) -> Submission {
    Submission {
        alkane: paraffin_primitives::AlkaneId { block: 2, tx: 1 },
        deployed: b"\0asm\x01\0\0\0".to_vec(),
        repo_url: "https://github.com/a/b".to_owned(),
        commit: None,
        subdir: None,
        package: None,
        rustc: None,
        home_dir: None,
        build_env: Vec::new(),
        archive: source.map(Source::archive),
        noted: serde_json::Value::Null,
    }
}

pub async fn ended(verifier: &Arc<Verifier>, submission: Submission) -> Run {
    let id = verifier.submit(submission, 1).await.unwrap().id;
    let started = Instant::now();
    loop {
        let run = verifier.run(&id).await.unwrap().unwrap();
        if run.ended_at.is_some() {
            return run;
        }
        assert!(started.elapsed() < RUN_TIMEOUT, "the run never ended");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub fn failure(run: &Run) -> (FailureCode, &str, &str) {
    match &run.outcome {
        Some(Outcome::Failed(failure)) => (failure.code, &failure.reason, &failure.log),
        other => panic!("{other:?}"),
    }
}

/// Runs one build script; how the run failed, and its log.
pub async fn tried(script: &str, change: impl FnOnce(&mut Settings)) -> Option<(FailureCode, String)> {
    let folder = tempfile::tempdir().unwrap();
    let verifier = verifier(folder.path(), change).await?;
    let run = ended(&verifier, submission(Some(&source(script)))).await;
    verifier.close().await;
    let (code, reason, log) = failure(&run);
    assert!(!log.contains(&folder.path().display().to_string()), "a path of this machine: {log}");
    Some((code, format!("{reason}\n{log}")))
}

/// Processes of this machine with a word in their command line.
pub fn processes(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(word)).count()
}

#[tokio::test]
async fn a_build_sees_neither_files_nor_network_nor_processes_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let secret = tempfile::tempdir().unwrap();
    let secret = secret.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    let script = format!(
        r#"let mut told = String::new();
        for path in ["/etc/passwd", "/etc/shadow", "/etc/hosts", "/home", "/srv", "/var", "/run", "/sys", "/proc/1/environ", "{}"] {{
            let seen = fs::read(path).is_ok() || fs::read_dir(path).is_ok();
            told += &format!("[{{path}} {{}}]", if seen && path != "/proc/1/environ" {{ "SEEN" }} else {{ "unseen" }});
        }}
        for path in ["/usr/x", "/x", "/build/source/x", "/proc/sys/kernel/hostname", "/dev/x"] {{
            told += &format!("[{{path}} {{}}]", if fs::write(path, "x").is_ok() {{ "WRITTEN" }} else {{ "unwritten" }});
        }}
        for address in ["127.0.0.1:{port}", "1.1.1.1:53", "169.254.169.254:80"] {{
            let address: std::net::SocketAddr = address.parse().unwrap();
            let joined = std::net::TcpStream::connect_timeout(&address, std::time::Duration::from_secs(5));
            told += &format!("[{{address}} {{}}]", if joined.is_ok() {{ "CONNECTED" }} else {{ "unconnected" }});
        }}
        let secrets = std::env::vars().filter(|(name, _)| name.starts_with("PARAFFIN") || name.contains("TOKEN")).count();
        let ids = fs::read_dir("/proc").unwrap().flatten().filter(|e| e.file_name().to_string_lossy().parse::<u32>().is_ok());
        let few = ids.count() < 40;
        let root = Command::new("mount").args(["-t", "tmpfs", "x", "/tmp"]).output().map_or(false, |out| out.status.success());
        panic!("TOLD {{told}} secrets={{secrets}} few={{few}} mounts={{root}}");"#,
        secret.display()
    );
    let Some((code, log)) = tried(&script, |_| {}).await else { return };
    assert_eq!(code, FailureCode::BuildFailed, "{log}");
    assert!(log.contains("TOLD") && log.contains("secrets=0 few=true mounts=false"), "{log}");
    for word in ["SEEN]", "WRITTEN", "CONNECTED"] {
        assert!(!log.replace("[TOLD", "").contains(&format!(" {word}")), "{word}: {log}");
    }
    assert!(listener.accept().is_err(), "the build reached a socket of this machine");
}

#[tokio::test]
async fn a_macro_is_shut_in_like_a_build_script() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let reads = "extern crate proc_macro;\n#[proc_macro]\npub fn look(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n\
                 let seen = std::fs::read(\"/etc/passwd\").is_ok();\npanic!(\"MACRO seen={seen}\")\n}\n";
    let source = Source::default()
        .with("Cargo.toml", "[package]\nname = \"guest\"\nversion = \"1.0.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n[build-dependencies]\nlook = { path = \"look\" }\n[workspace]\n")
        .with("Cargo.lock", "version = 3\n\n[[package]]\nname = \"guest\"\nversion = \"1.0.0\"\ndependencies = [\n \"look\",\n]\n\n[[package]]\nname = \"look\"\nversion = \"1.0.0\"\n")
        .with("src/lib.rs", "#![no_std]\n")
        .with("build.rs", "look::look!();\nfn main() {}\n")
        .with("look/Cargo.toml", "[package]\nname = \"look\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n")
        .with("look/src/lib.rs", reads);
    let submission = Submission { package: Some("guest".to_owned()), ..submission(Some(&source)) };
    let run = ended(&verifier, submission).await;
    assert!(failure(&run).2.contains("MACRO seen=false"), "{run:?}");
    verifier.close().await;
}

#[tokio::test]
async fn a_build_that_never_ends_is_ended_and_nothing_of_it_is_left() {
    let marker = format!("7{}{}", std::process::id(), 31);
    let script = format!(
        r#"Command::new("setsid").args(["sleep", "{marker}"]).spawn().unwrap();
        Command::new("sh").args(["-c", "(setsid nohup sleep {marker} >/dev/null 2>&1 &) &"]).status().unwrap();
        loop {{ std::thread::sleep(std::time::Duration::from_secs(1)); }}"#
    );
    let Some((code, log)) = tried(&script, |settings| settings.build_seconds = 25).await else { return };
    assert_eq!(code, FailureCode::TimeLimit, "{log}");
    assert_eq!(processes(&marker), 0);
}

#[tokio::test]
async fn a_build_that_burns_its_processor_time_is_ended() {
    let script = "let mut number = 0_u64; loop { number = std::hint::black_box(number.wrapping_add(1)); }";
    let Some((code, log)) = tried(script, |settings| settings.cpu_seconds = 5).await else { return };
    assert_eq!(code, FailureCode::BuildFailed, "{log}");
    assert!(log.contains("SIGKILL") || log.contains("SIGXCPU") || log.contains("signal"), "{log}");
}

#[tokio::test]
async fn a_build_that_forks_without_end_stops_at_its_limit() {
    let script = r#"let mut count = 0;
        loop {
            let quiet = std::process::Stdio::null;
            match Command::new("sleep").arg("600").stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn() {
                Ok(_) => count += 1,
                Err(error) => panic!("FORKED {count}: {error}"),
            }
            if count > 2000 { panic!("FORKED TOO MANY"); }
        }"#;
    let Some((code, log)) = tried(script, |settings| settings.processes_max = 100).await else { return };
    assert_eq!(code, FailureCode::BuildFailed, "{log}");
    let count = log.split("FORKED ").nth(1).and_then(|rest| rest.split(':').next()?.parse::<u32>().ok());
    assert!(count.is_some_and(|count| count < 100), "{log}");
}

#[tokio::test]
async fn a_build_that_fills_the_disk_or_the_memory_is_ended() {
    let disk = r#"let folder = std::env::var("OUT_DIR").unwrap();
        for number in 0.. { fs::write(format!("{folder}/f{number}"), vec![1_u8; 4 << 20]).unwrap(); }"#;
    let Some((code, log)) = tried(disk, |settings| settings.disk_mib = 256).await else { return };
    assert_eq!(code, FailureCode::DiskLimit, "{log}");
    let files = r#"let folder = std::env::var("OUT_DIR").unwrap();
        for number in 0.. { fs::write(format!("{folder}/f{number}"), "").unwrap(); }"#;
    let (code, log) = tried(files, |settings| settings.disk_entries_max = 5_000).await.unwrap();
    assert_eq!(code, FailureCode::DiskLimit, "{log}");
    let memory = r"let mut all = Vec::new();
        loop { all.push(vec![1_u8; 8 << 20]); std::thread::sleep(std::time::Duration::from_millis(5)); }";
    // The address space of one process ends it, or the memory of all together does.
    let (code, log) = tried(memory, |settings| settings.memory_mib = 1_024).await.unwrap();
    assert!(
        code == FailureCode::MemoryLimit || (code == FailureCode::BuildFailed && log.contains("memory allocation")),
        "{code:?} {log}"
    );
}

#[tokio::test]
async fn an_enormous_log_is_cut() {
    let script = r#"use std::io::Write;
        let line = vec![b'x'; 1 << 20];
        for _ in 0..200 { std::io::stderr().write_all(&line).unwrap(); }
        panic!("\u{1b}[2J LAST WORDS");"#;
    let Some((code, log)) = tried(script, |_| {}).await else { return };
    assert_eq!(code, FailureCode::BuildFailed);
    assert!(log.len() < 80 << 10, "{}", log.len());
    assert!(!log.contains('\u{1b}'), "what a terminal would obey is left out");
}

#[tokio::test]
async fn a_module_that_is_a_link_to_elsewhere_is_not_read() {
    let script = r#"let target = std::path::PathBuf::from(std::env::var("CARGO_TARGET_DIR").unwrap());
        let place = target.join("wasm32-unknown-unknown");
        let _ = fs::remove_dir_all(&place);
        std::os::unix::fs::symlink("/etc", &place).unwrap();"#;
    let Some((code, log)) = tried(script, |_| {}).await else { return };
    assert_eq!(code, FailureCode::BuildFailed, "{log}");
}

#[tokio::test]
async fn repositories_that_reach_out_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |_| {}).await else { return };
    let repository = tempfile::tempdir().unwrap();
    let tree = source("panic!(\"BUILT\")")
        .with(".gitattributes", "build.rs export-ignore\nCargo.lock export-subst\n")
        .with(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% /tmp/owned\n");
    let (url, _) = tree.repository(repository.path());
    let of = |url: &str, commit: Option<&str>| Submission {
        repo_url: url.to_owned(),
        commit: commit.map(str::to_owned),
        ..submission(None)
    };
    // The repository itself is fine, and its attributes hide nothing.
    let run = ended(&verifier, of(&url, None)).await;
    assert!(failure(&run).2.contains("BUILT"), "{run:?}");
    // What is not there, and what would be an option.
    let run = ended(&verifier, of(&url, Some(&"0".repeat(40)))).await;
    assert_eq!(failure(&run).0, FailureCode::FetchFailed);
    for (url, commit) in [
        (url.as_str(), Some("--upload-pack=touch /tmp/owned")),
        ("--upload-pack=touch /tmp/owned", None),
        ("ext::sh -c touch% /tmp/owned", None),
        ("https://127.0.0.1/a/b", None),
        ("https://localhost/a/b", None),
        ("http://github.com/a/b", None),
        ("git://github.com/a/b", None),
    ] {
        assert!(verifier.submit(of(url, commit), 1).await.is_err(), "{url}");
    }
    // A link out of the tree.
    std::os::unix::fs::symlink("../../../etc/passwd", repository.path().join("src/passwd.rs")).unwrap();
    let (url, _) = commit(repository.path());
    let run = ended(&verifier, of(&url, None)).await;
    let (code, reason, _) = failure(&run);
    assert_eq!((code, reason.contains("leads out of the tree")), (FailureCode::SourceRefused, true), "{reason}");
    assert!(!Path::new("/tmp/owned").exists());
    verifier.close().await;
}

/// A repository that keeps its objects in another folder of the machine: git finds them where it sees the machine's files.
#[tokio::test]
async fn git_sees_its_own_folder_and_the_network_alone() {
    let (original, borrower) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    source("").repository(original.path());
    let mut clone = std::process::Command::new("git");
    clone.args(["clone", "--quiet", "--bare", "--shared"]).arg(original.path()).arg(borrower.path());
    assert!(clone.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success());
    // A folder that is not there ends the run once it is fetched, before anything is built.
    let of = |folder: &Path| Submission {
        repo_url: format!("file://{}", folder.display()),
        subdir: Some("nowhere".to_owned()),
        ..submission(None)
    };
    for (isolation, expected) in
        [(Isolation::Limits, FailureCode::SourceRefused), (Isolation::Required, FailureCode::FetchFailed)]
    {
        let folder = tempfile::tempdir().unwrap();
        let settings = |settings: &mut Settings| {
            settings.isolation = isolation;
            (settings.user_id, settings.group_id) = (Some(0), Some(0));
        };
        let Some(verifier) = verifier(folder.path(), settings).await else { return };
        let run = ended(&verifier, of(borrower.path())).await;
        assert_eq!(failure(&run).0, expected, "{isolation:?}: {run:?}");
        let run = ended(&verifier, of(original.path())).await;
        assert_eq!(failure(&run).0, FailureCode::SourceRefused, "{isolation:?}: {run:?}");
        verifier.close().await;
    }
}

#[tokio::test]
async fn a_host_that_leads_into_this_machine_is_not_asked() {
    // The operator's own list names it, and still its address is no public one.
    let folder = tempfile::tempdir().unwrap();
    let change = |settings: &mut Settings| settings.git_hosts = vec!["localhost".to_owned()];
    let Some(verifier) = verifier(folder.path(), change).await else { return };
    let run = ended(&verifier, Submission { repo_url: "https://localhost/a/b".to_owned(), ..submission(None) }).await;
    let (code, reason, _) = failure(&run);
    assert_eq!((code, reason), (FailureCode::FetchFailed, "the host of the repository has no public address"));
    verifier.close().await;
}

#[tokio::test]
async fn archives_that_reach_out_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |settings| settings.source_mib = 1).await else { return };
    let bomb = Source::default().with("zeros", vec![0; 2 << 20]);
    let run = ended(&verifier, submission(Some(&bomb))).await;
    assert_eq!(failure(&run).0, FailureCode::SourceRefused);
    let run = ended(&verifier, Submission { archive: Some(b"no archive".to_vec()), ..submission(None) }).await;
    assert_eq!(failure(&run).0, FailureCode::SourceRefused);
    let elsewhere = Submission { subdir: Some("nowhere".to_owned()), ..submission(Some(&source(""))) };
    assert_eq!(failure(&ended(&verifier, elsewhere).await).0, FailureCode::SourceRefused);
    let other = Submission { package: Some("other".to_owned()), ..submission(Some(&source(""))) };
    let run = ended(&verifier, other).await;
    let (code, reason, _) = failure(&run);
    assert_eq!((code, reason.ends_with("guest")), (FailureCode::PackageNotFound, true), "{reason}");
    // Nothing of any run is left.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(std::fs::read_dir(folder.path().join("runs")).unwrap().count(), 0);
    verifier.close().await;
}
