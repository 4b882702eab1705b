use super::*;
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
    let mut verifier = Verifier::open(options).await.unwrap();
    let inner = Arc::get_mut(&mut verifier).unwrap();
    inner.is_able = true;
    inner.toolchains = vec![Toolchain {
        name: "test".to_owned(),
        version: "1.2.3".to_owned(),
        told: "rustc 1.2.3".to_owned(),
        commit: None,
        has_target: true,
        rustc: PathBuf::new(),
        cargo: PathBuf::new(),
        linker: None,
        folders: Vec::new(),
        library_vendor: None,
    }];
    verifier
}

/// A program that takes its job and then does what the script says.
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

    // A stop ends the workers at once, and the next start tells the runs as failed.
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
