use super::*;
use crate::archive::SourceFile;
#[cfg(feature = "postgres")]
use crate::job::Built;
use crate::submission::tests::submission;

/// A verifier whose worker is any program; it is able to build as far as it knows.
async fn verifier(folder: &Path, program: &str, change: impl FnOnce(&mut Settings)) -> Arc<Verifier> {
    let mut settings = Settings { isolation: Isolation::Limits, local_repositories: true, ..Settings::default() };
    change(&mut settings);
    let options = VerifierOptions {
        folder: folder.to_owned(),
        server: None,
        settings,
        program: PathBuf::from(program),
        clock: || 1_000,
    };
    opened(options).await
}

/// One that takes itself to be able to build, with a compiler of its own making.
async fn opened(options: VerifierOptions) -> Arc<Verifier> {
    let mut verifier = Verifier::open(options).await.unwrap();
    let inner = Arc::get_mut(&mut verifier).unwrap();
    inner.is_able = true;
    inner.toolchains = vec![toolchain_of_tests()];
    verifier
}

fn toolchain_of_tests() -> Toolchain {
    Toolchain {
        name: "test".to_owned(),
        version: "1.2.3".to_owned(),
        version_line: "rustc 1.2.3".to_owned(),
        commit: None,
        has_target: true,
        rustc: PathBuf::new(),
        cargo: PathBuf::new(),
        linker: PathBuf::new(),
        libraries: Vec::new(),
        folders: Vec::new(),
        library_vendor: None,
    }
}

/// A program that reads its job and then runs the script.
fn worker(folder: &Path, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("worker");
    std::fs::write(&path, format!("#!/bin/sh\nread -r job\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

async fn ended(verifier: &Verifier, id: &str) -> Run {
    for _ in 0..1_000 {
        let run = verifier.run(id).await.unwrap().unwrap();
        if run.ended_at.is_some() {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the run never ended");
}

fn failure(run: &Run) -> (FailureCode, &str) {
    match &run.outcome {
        Some(Outcome::Failed(failure)) => (failure.code, failure.reason.as_str()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_worker_that_ends_says_nothing_or_nonsense_is_a_failed_run() {
    for script in ["exit 0", "echo nonsense", "kill -9 $$", "head -c 20000000 /dev/zero | tr '\\0' x; echo"] {
        let folder = tempfile::tempdir().unwrap();
        let program = worker(folder.path(), script);
        let verifier = verifier(folder.path(), &program, |_| {}).await;
        let run = verifier.submit(submission(|_| {}), 1).await.unwrap();
        assert_eq!(failure(&ended(&verifier, &run.id).await).0, FailureCode::Internal, "{script}");
        verifier.close().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let verifier = verifier(folder.path(), "/nowhere/worker", |_| {}).await;
    let run = verifier.submit(submission(|_| {}), 1).await.unwrap();
    assert_eq!(failure(&ended(&verifier, &run.id).await).0, FailureCode::Internal);
    // Nothing of it is left on the disk.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(std::fs::read_dir(folder.path().join("runs")).unwrap().count(), 0);
}

#[tokio::test]
async fn the_stage_is_told_and_the_queue_refuses_when_it_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let program = worker(folder.path(), r#"echo '{"stage":"building"}'; sleep 600"#);
    let verifier = verifier(folder.path(), &program, |settings| {
        settings.queue_max = 2;
        settings.runs_per_key_max = 2;
    })
    .await;
    let first = verifier.submit(submission(|_| {}), 1).await.unwrap();
    assert_eq!(first.stage, Stage::Queued);
    verifier.submit(submission(|_| {}), 1).await.unwrap();
    let busy = |error: SubmitError| matches!(error, SubmitError::Busy(_)).then(|| error.to_string());
    let refused = verifier.submit(submission(|_| {}), 1).await.unwrap_err();
    assert!(busy(refused).unwrap().starts_with("this key"));
    let third = verifier.submit(submission(|_| {}), 2).await.unwrap();
    let refused = verifier.submit(submission(|_| {}), 3).await.unwrap_err();
    assert!(busy(refused).unwrap().starts_with("as many"));
    for _ in 0..500 {
        if verifier.run(&first.id).await.unwrap().unwrap().stage == Stage::Building {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(verifier.run(&first.id).await.unwrap().unwrap().stage, Stage::Building);
    assert_eq!(verifier.run(&third.id).await.unwrap().unwrap().stage, Stage::Queued);

    // A stop ends the workers at once, and the next start reports the runs as failed.
    tokio::time::timeout(Duration::from_secs(10), verifier.close()).await.unwrap();
    assert!(matches!(verifier.submit(submission(|_| {}), 9).await, Err(SubmitError::Unavailable)));
    let again = self::verifier(folder.path(), &program, |_| {}).await;
    for id in [&first.id, &third.id] {
        let run = again.run(id).await.unwrap().unwrap();
        assert_eq!((failure(&run).0, run.stage), (FailureCode::Interrupted, Stage::Finished));
    }
    again.close().await;
}

#[tokio::test]
async fn an_unknown_compiler_is_refused_with_those_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let verifier = verifier(folder.path(), "/bin/true", |_| {}).await;
    let error = verifier.submit(submission(|s| s.rustc = Some("9.9.9".to_owned())), 1).await.unwrap_err();
    assert_eq!(error.to_string(), "rustc: this instance has 1.2.3");
    assert!(verifier.submit(submission(|s| s.rustc = Some("1.2.3".to_owned())), 1).await.is_ok());
    verifier.close().await;
}

/// What one gateway has built all others show, from its records and its files.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn the_sources_that_one_gateway_has_built_are_shown_by_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut server) = paraffin_testkit::PostgresServer::prepare(folder.path()) else { return };
    server.run();
    let gateway = async |name: &str| {
        let options = VerifierOptions {
            folder: folder.path().join(name),
            server: Some(server.url().parse().unwrap()),
            settings: Settings { isolation: Isolation::Limits, ..Settings::default() },
            program: folder.path().join("worker"),
            clock: || 1_000,
        };
        opened(options).await
    };
    let (one, other) = (gateway("one").await, gateway("other").await);
    // A worker that puts a tree into the folder of the first and reports a build.
    let tree = tempfile::tempdir().unwrap();
    std::fs::write(tree.path().join("lib.rs"), "// all").unwrap();
    let file = SourceFile { path: "lib.rs".to_owned(), size: 6, sha256: sha256_hex(b"// all") };
    std::fs::create_dir_all(folder.path().join("one/blobs")).unwrap();
    let (list, stored_bytes) = one.blobs.put_tree(tree.path(), std::slice::from_ref(&file), 1 << 20).unwrap().unwrap();
    let built = Built {
        comparison: crate::verdict::compare(b"module", b"module"),
        package: "p".to_owned(),
        commit: None,
        rustc: "rustc 1.2.3".to_owned(),
        sources: Some(list.clone()),
        stored_bytes,
        isolated: false,
        programs: Vec::new(),
        ignored: Vec::new(),
        repeated: false,
        log: String::new(),
    };
    let report = serde_json::to_string(&Report::Built(Box::new(built))).unwrap();
    std::fs::write(folder.path().join("report"), format!("{report}\n")).unwrap();
    worker(folder.path(), &format!("cat {}", folder.path().join("report").display()));
    assert!(matches!(other.list(&list).await, Err(ReadError::Sources(_))), "no gateway has shared it yet");
    let run = one.submit(submission(|_| {}), 1).await.unwrap();
    assert!(matches!(ended(&one, &run.id).await.outcome, Some(Outcome::Built(_))));

    let record = other.record(&run.wasm_sha256).await.unwrap().unwrap();
    assert_eq!(record.sources.as_deref(), Some(list.as_str()));
    assert_eq!(other.list(&list).await.unwrap().files, std::slice::from_ref(&file));
    assert_eq!(other.blob(&file.sha256).await.unwrap(), b"// all");
    // Nor does the first lose what its disk has lost.
    std::fs::remove_dir_all(folder.path().join("one/blobs")).unwrap();
    assert_eq!(one.blob(&file.sha256).await.unwrap(), b"// all");
    assert!(matches!(other.blob(&"0".repeat(64)).await, Err(ReadError::Sources(_))));
    // A start keeps what a record names.
    let again = gateway("third").await;
    assert_eq!(again.blob(&file.sha256).await.unwrap(), b"// all");
    for verifier in [one, other, again] {
        verifier.close().await;
    }
}

#[tokio::test]
async fn sources_that_no_record_names_make_room_while_no_run_is_about_to_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let verifier = verifier(folder.path(), "/bin/true", |settings| {
        settings.sources_mib = 2;
        settings.source_mib = 1;
    })
    .await;
    let tree = tempfile::tempdir().unwrap();
    std::fs::write(tree.path().join("a"), "text").unwrap();
    let file = SourceFile { path: "a".to_owned(), size: 4, sha256: sha256_hex(b"text") };
    let (digest, added) = verifier.blobs.put_tree(tree.path(), &[file], 1 << 20).unwrap().unwrap();
    verifier.stored_bytes.store(added, Ordering::Relaxed);
    let storing = verifier.storing.read().await;
    verifier.sweep_sources().await;
    assert!(verifier.list(&digest).await.is_ok());
    drop(storing);
    verifier.sweep_sources().await;
    assert!(verifier.list(&digest).await.is_err());
    assert_eq!(verifier.blob_bytes_left(), 2 << 20);
    verifier.close().await;
}

#[tokio::test]
async fn the_standard_error_of_a_worker_is_one_line_without_commands_of_a_terminal() {
    let line = stderr_line(&b"remote: \x1b[2J\n2026-01-01 ERROR forged\r\n"[..]).await;
    assert_eq!(line, "remote:  [2J 2026-01-01 ERROR forged");
}
