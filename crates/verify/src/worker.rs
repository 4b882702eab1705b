//! The build worker: a process for one run, that fetches, builds, compares, and ends. Nothing of a run happens in the serving
//! process, and its processes end with the worker or the server.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use paraffin_confine::Isolation;

use crate::archive::{ArchiveError, SourceFile, unpack};
use crate::blobs::{BlobError, Blobs};
use crate::compile;
use crate::git::{self, FetchError};
use crate::job::{Built, DEPLOYED, Failure, FailureCode, Job, Report, Source, Stage, UPLOAD};
use crate::verdict::{Verdict, compare};

/// Longest job in bytes.
const JOB_BYTES_MAX: u64 = 1 << 20;

/// The hidden subcommand: reads a job from standard input and reports on standard output. It ends when its input does,
/// because then the server has gone.
pub fn run() -> ExitCode {
    // Builds may have a user of their own, who must be able to read the unpacked files; the folder of the server shields
    // it from all others.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    match job() {
        Ok(job) => {
            let report = match work(&job) {
                Ok(built) => Report::Built(Box::new(built)),
                Err(failure) => Report::Failed(failure),
            };
            send(&report);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn job() -> io::Result<Job> {
    let mut line = String::new();
    io::stdin().lock().take(JOB_BYTES_MAX).read_line(&mut line)?;
    let job = serde_json::from_str(&line)?;
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        loop {
            match io::stdin().lock().read(&mut rest) {
                Ok(0) | Err(_) => {
                    // The children are tied to this process and end with it.
                    std::process::exit(1);
                }
                Ok(_) => {}
            }
        }
    });
    Ok(job)
}

/// Sends a report to the server; without a reader it is dropped.
fn send(report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let mut output = io::stdout().lock();
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}

fn work(job: &Job) -> Result<Built, Failure> {
    let tree = job.folder.join("source");
    fs::create_dir_all(&tree).map_err(|error| internal(&error))?;
    let (commit, files) = match &job.source {
        Source::Repository(repository, commit) => {
            send(&Report::Stage(Stage::Fetching));
            let (commit, files) =
                git::fetch(repository, commit, &job.folder, &tree, &job.settings).map_err(fetch_failed)?;
            (Some(commit), files)
        }
        Source::Archive => {
            send(&Report::Stage(Stage::Unpacking));
            (None, uploaded(job, &tree)?)
        }
    };
    // The name may be that of a file or a link.
    if !tree.join(&job.options.subdir).symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(refused("the source has no such folder as `subdir` names"));
    }
    send(&Report::Stage(Stage::Building));
    let build = compile::build(job)?;
    let deployed = fs::read(job.folder.join(DEPLOYED)).map_err(|error| internal(&error))?;
    let comparison = compare(&build.module.bytes, &deployed);
    // Programs of the submission can have made any module, so a result in their favour is repeated without them.
    let isolated = job.settings.isolation == Isolation::Required;
    let repeated = isolated && build.ran_programs() && comparison.verdict > Verdict::Mismatch;
    if repeated {
        build.repeat()?;
    }
    let module = build.module;
    send(&Report::Stage(Stage::Comparing));
    let bytes_max = job.settings.storable_bytes(comparison.verdict, job.blob_bytes_left);
    let stored = Blobs::new(job.blobs.clone()).put_tree(&tree, &files, bytes_max);
    let stored = stored.map_err(|error| match error {
        BlobError::Io(error) => internal(&error),
        BlobError::Damaged(_) => refused("the build changed its own source"),
    })?;
    let (sources, stored_bytes) = stored.map_or((None, 0), |(digest, bytes)| (Some(digest), bytes));
    Ok(Built {
        comparison,
        package: module.package,
        commit,
        rustc: job.toolchain.version_line.clone(),
        sources,
        stored_bytes,
        isolated,
        programs: module.programs,
        ignored: module.ignored,
        repeated,
        log: module.log,
    })
}

fn uploaded(job: &Job, tree: &Path) -> Result<Vec<SourceFile>, Failure> {
    let file = File::open(job.folder.join(UPLOAD)).map_err(|error| internal(&error))?;
    unpack(file, true, tree, &job.settings.archive_limits()).map_err(archive_refused)
}

fn archive_refused(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Write(error) => internal(&error),
        error => refused(&error.to_string()),
    }
}

fn fetch_failed(error: FetchError) -> Failure {
    let reason = error.to_string();
    match error {
        FetchError::Archive(error) => archive_refused(error),
        FetchError::Io(error) => internal(&error),
        FetchError::Git(log) => {
            // The output of git may contain addresses and folders of this machine, so only the operator gets it.
            eprintln!("git: {log}");
            Failure { code: FailureCode::FetchFailed, reason, log: String::new() }
        }
        FetchError::Repository(_) | FetchError::TooMuch => {
            Failure { code: FailureCode::FetchFailed, reason, log: String::new() }
        }
    }
}

fn refused(reason: &str) -> Failure {
    Failure { code: FailureCode::SourceRefused, reason: reason.to_owned(), log: String::new() }
}

fn internal(error: &io::Error) -> Failure {
    eprintln!("a verification failed on this machine: {error}");
    Failure {
        code: FailureCode::Internal,
        reason: format!("this machine failed: {}", error.kind()),
        log: String::new(),
    }
}
