//! The part in the serving process: it accepts submissions, runs workers for them, and answers from the records. It never
//! unpacks, builds or compares anything itself.

use data_encoding::HEXLOWER;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use paraffin_confine::Isolation;
use paraffin_database::{DatabaseLocation, ServerUrl};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{RwLock, Semaphore, watch};
use tokio::task::JoinSet;

use crate::blobs::{BlobError, Blobs, SourceList};
use crate::job::{DEPLOYED, Failure, FailureCode, HowBuilt, Job, Report, Source, Stage, UPLOAD, WORKER_SUBCOMMAND};
use crate::probe::{self, NotIsolated};
use crate::records::{Attestation, Outcome, Record, Records, RecordsError, Run, UnixMillis};
use crate::removal;
use crate::settings::Settings;
use crate::submission::{Submission, SubmitError, check, described, leaves_compiler};
use crate::toolchain::{self, Toolchain, ToolchainError};
use crate::verdict::sha256_hex;

/// Longest report of a worker, bytes.
const REPORTS_BYTES_MAX: u64 = 16 << 20;
/// Most text that a worker may report to the operator, bytes.
const STDERR_BYTES_MAX: u64 = 16 << 10;

/// A run of another folder that has not ended after this time never will; milliseconds.
const FORGOTTEN_MS: i64 = 48 * 3_600_000;

/// How a verifier is opened.
#[derive(Debug, Clone)]
pub struct VerifierOptions {
    /// Folder of sources and runs, and of the records where they are on no server.
    pub folder: PathBuf,
    /// The database server of the records; without one they are in a file in the folder.
    pub server: Option<ServerUrl>,
    /// Settings of the operator.
    pub settings: Settings,
    /// The program whose subcommand is the worker.
    pub program: PathBuf,
    /// The clock.
    pub clock: fn() -> UnixMillis,
}

/// The verifier cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The records.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The folder.
    #[error("the folder of verification {folder}: {source}")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
}

impl From<RecordsError> for SubmitError {
    fn from(error: RecordsError) -> Self {
        tracing::error!(%error, "a submission was not taken");
        Self::Unavailable
    }
}

/// A read failed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The records.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The stored sources.
    #[error("the stored sources cannot be read: {0}")]
    Sources(String),
}

impl From<BlobError> for ReadError {
    fn from(error: BlobError) -> Self {
        Self::Sources(error.to_string())
    }
}

/// Why nothing can be built here.
#[derive(Debug, thiserror::Error)]
enum Unable {
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    #[error(transparent)]
    Isolation(#[from] NotIsolated),
    #[error(
        "builds without isolation run as user {user} here, who cannot pass through {folder} to the folders of builds or to this \
         program: `chmod o+x` it"
    )]
    OutOfReach { user: u32, folder: PathBuf },
}

/// The user of builds, if it differs from that of this process and builds use the folders of this machine.
fn foreign_user(settings: &Settings) -> Option<u32> {
    let (user, _) = settings.build_user().filter(|_| settings.isolation == Isolation::Limits)?;
    (user != 0).then_some(user)
}

/// Lets a foreign user of builds pass through a folder, without access to its content.
async fn let_pass(settings: &Settings, folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if foreign_user(settings).is_none() {
        return Ok(());
    }
    tokio::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).await
}

/// Whether a foreign user of builds gets to the folder of verification, and to this program, which wraps the tools.
fn check_reach(settings: &Settings, folder: &Path, program: &Path) -> Result<(), Unable> {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(user) = foreign_user(settings) else { return Ok(()) };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, program) = (whole(folder), whole(program));
    let is_closed = |path: &&Path| path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 == 0);
    match folder.ancestors().chain(program.ancestors().skip(1)).find(is_closed) {
        Some(closed) => Err(Unable::OutOfReach { user, folder: closed.to_owned() }),
        None => Ok(()),
    }
}

/// Verification in one data folder.
pub struct Verifier {
    options: VerifierOptions,
    records: Records,
    blobs: Blobs,
    toolchains: Vec<Toolchain>,
    is_able: bool,
    run_permits: Arc<Semaphore>,
    /// Held by every run from its worker's start until its record is written; exclusively by the sweep of the stored sources.
    storing: RwLock<()>,
    under_way: Mutex<UnderWay>,
    stored_bytes: AtomicU64,
    stop: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

/// Runs that have not ended.
#[derive(Default)]
struct UnderWay {
    /// Key of each run.
    keys: HashMap<String, i64>,
    closed: bool,
}

/// A request to a verifier. Boxed, so that its work is compiled here alone.
pub type VerifierFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Verifier {
    /// Opens the records. Runs that an earlier process left under way are reported as failed from now on.
    ///
    /// # Errors
    /// [`OpenError`]. Where nothing can be built, reads and attestations go on and submissions are refused; the reason is logged.
    pub fn open(options: VerifierOptions) -> VerifierFuture<'static, Result<Arc<Self>, OpenError>> {
        Box::pin(async move {
            let failed = |source| OpenError::Folder { folder: options.folder.clone(), source };
            let runs = options.folder.join("runs");
            // Leftovers of runs that have ended. A failure to remove them must not prevent the start.
            remove(runs.clone()).await;
            tokio::fs::create_dir_all(&runs).await.map_err(failed)?;
            for folder in [&options.folder, &runs] {
                let_pass(&options.settings, folder).await.map_err(failed)?;
            }
            let place = match &options.server {
                Some(url) => DatabaseLocation::Server(url.clone()),
                None => DatabaseLocation::File(options.folder.join("verify.sqlite")),
            };
            let records = Records::open(&place, owner(&options.folder).await.map_err(failed)?).await?;
            let interrupted = Failure {
                code: FailureCode::Interrupted,
                reason: "the server stopped while the run was under way; submit it again".to_owned(),
                log: String::new(),
            };
            let now = (options.clock)();
            let ended = records.end_interrupted(&Outcome::Failed(interrupted), now - FORGOTTEN_MS, now).await?;
            if ended > 0 {
                tracing::warn!(ended, "verifications were under way when the last process ended");
            }
            let blobs = Blobs::new(options.folder.join("blobs"));
            let lists = records.lists().await?;
            if options.server.is_some() {
                records.sweep_shared(&lists, now).await?;
            }
            let swept = blocking({
                let blobs = blobs.clone();
                move || blobs.sweep(&lists)
            });
            let stored = swept.await.and_then(|swept| swept.map_err(std::io::Error::other)).map_err(failed)?;
            let (toolchains, is_able) = Self::prepare(&options).await.map_err(failed)?;
            Ok(Arc::new(Self {
                records,
                blobs,
                toolchains,
                is_able,
                run_permits: Arc::new(Semaphore::new(options.settings.runs_max.max(1))),
                storing: RwLock::default(),
                under_way: Mutex::default(),
                stored_bytes: AtomicU64::new(stored),
                stop: watch::Sender::new(false),
                tasks: Mutex::default(),
                options,
            }))
        })
    }

    /// Compilers, and whether builds can be isolated.
    async fn prepare(options: &VerifierOptions) -> std::io::Result<(Vec<Toolchain>, bool)> {
        let (settings, program, folder) = (options.settings.clone(), options.program.clone(), options.folder.clone());
        let usable = blocking(move || -> Result<Vec<Toolchain>, Unable> {
            let toolchains = toolchain::toolchains(&settings)?;
            if settings.isolation == Isolation::Required {
                probe::isolation(&settings, &program, &folder)?;
            }
            check_reach(&settings, &folder, &program)?;
            Ok(toolchains)
        })
        .await?;
        match usable {
            Ok(toolchains) => {
                if options.settings.isolation == Isolation::Limits {
                    tracing::warn!(
                        "builds of submitted code are not isolated from this machine: [verify] isolation = \"limits\""
                    );
                }
                Ok((toolchains, true))
            }
            Err(reason) => {
                tracing::warn!(%reason, "contracts cannot be built here; submissions for verification are refused");
                Ok((Vec::new(), false))
            }
        }
    }

    /// The compilers that a submission can request.
    pub fn toolchains(&self) -> &[Toolchain] {
        &self.toolchains
    }

    /// Accepts a submission and returns its run at once; a worker does the rest.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub fn submit(
        self: &Arc<Self>,
        submission: Submission,
        key_id: i64,
    ) -> VerifierFuture<'_, Result<Run, SubmitError>> {
        Box::pin(async move {
            if !self.is_able {
                return Err(SubmitError::Unavailable);
            }
            let settings = &self.options.settings;
            let (source, options) = check(&submission, settings)?;
            let toolchain = toolchain::choose(&self.toolchains, submission.rustc.as_deref(), &submission.deployed);
            let toolchain = toolchain.cloned().ok_or_else(|| {
                let versions: Vec<&str> = self.toolchains.iter().map(|toolchain| toolchain.version.as_str()).collect();
                SubmitError::Field(format!("rustc: this instance has {}", versions.join(", ")))
            })?;
            if settings.isolation == Isolation::Required
                && options.home_dir.as_deref().is_some_and(|home| !leaves_compiler(home, &toolchain.folders))
            {
                return Err(SubmitError::Field("home_dir: this instance has its compilers there".to_owned()));
            }
            let id = new_id()?;
            let turn = self.take_turn(&id, key_id)?;
            let folder = self.options.folder.join("runs").join(&id);
            let run = Run {
                id,
                created_at: (self.options.clock)(),
                ended_at: None,
                key_id,
                alkane: submission.alkane,
                wasm_sha256: sha256_hex(&submission.deployed),
                stage: Stage::Queued,
                submission: described(&submission, &source, &options),
                outcome: None,
            };
            let written = write_run(settings, &folder, submission).await.map_err(|error| {
                tracing::error!(%error, "a submission could not be written");
                SubmitError::Unavailable
            });
            let added = match written {
                Ok(()) => self.records.add_run(&run).await.map_err(SubmitError::from),
                error => error,
            };
            if let Err(error) = added {
                remove(folder).await;
                return Err(error);
            }
            let job = Job {
                folder,
                blobs: self.options.folder.join("blobs"),
                blob_bytes_left: 0,
                source,
                options,
                toolchain,
                settings: settings.clone(),
            };
            let (this, started) = (Arc::clone(self), run.clone());
            let mut tasks = self.tasks.lock();
            // Removes tasks that have ended, so that the set does not grow.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                this.carry_out(started, job).await;
                drop(turn);
            });
            Ok(run)
        })
    }

    fn take_turn(self: &Arc<Self>, id: &str, key_id: i64) -> Result<Turn, SubmitError> {
        let settings = &self.options.settings;
        let mut under_way = self.under_way.lock();
        if under_way.closed {
            return Err(SubmitError::Unavailable);
        }
        if under_way.keys.len() >= settings.queue_max + settings.runs_max.max(1) {
            return Err(SubmitError::Busy("as many verifications are waiting as may wait"));
        }
        if under_way.keys.values().filter(|key| **key == key_id).count() >= settings.runs_per_key_max {
            return Err(SubmitError::Busy("this key has as many verifications under way as it may have"));
        }
        under_way.keys.insert(id.to_owned(), key_id);
        Ok(Turn { verifier: Arc::clone(self), id: id.to_owned() })
    }

    /// Waits for a permit, runs a worker for the job, and records its result.
    async fn carry_out(&self, run: Run, mut job: Job) {
        let mut stop = self.stop.subscribe();
        let folder = job.folder.clone();
        let worked = async {
            let permit = self.run_permits.acquire().await;
            self.sweep_sources().await;
            let storing = self.storing.read().await;
            job.blob_bytes_left = self.blob_bytes_left();
            (self.run_worker(&run.id, &job).await, storing, permit)
        };
        let (outcome, _storing, _permit) = tokio::select! {
            ended = worked => ended,
            // The next start reports it as interrupted.
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        let now = (self.options.clock)();
        if let Outcome::Built(built) = &outcome {
            self.stored_bytes.fetch_add(built.stored_bytes, Ordering::Relaxed);
            if let Some(list) = &built.sources {
                self.share(list, now).await;
            }
        }
        let record = record_of(&run, &job, &outcome, now);
        let recorded = self.records.end_run(&run.id, &outcome, record.as_ref(), now).await;
        let recorded = match recorded {
            Ok(()) => self.records.forget_runs(self.options.settings.runs_kept).await,
            error => error,
        };
        if let Err(error) = recorded {
            tracing::error!(%error, run = run.id, "the end of a verification could not be written");
        }
        remove(folder).await;
    }

    /// Bytes that sources may still take.
    fn blob_bytes_left(&self) -> u64 {
        (self.options.settings.sources_mib << 20).saturating_sub(self.stored_bytes.load(Ordering::Relaxed))
    }

    /// Removes stored sources that no record names any more, when a further tree might not fit and no run is about to
    /// name one.
    async fn sweep_sources(&self) {
        let settings = &self.options.settings;
        if self.blob_bytes_left() >= settings.sources_reserved() + (settings.source_mib << 20) {
            return;
        }
        let Ok(_alone) = self.storing.try_write() else { return };
        let lists = match self.records.lists().await {
            Ok(lists) => lists,
            Err(error) => return tracing::warn!(%error, "the stored sources could not be swept"),
        };
        let blobs = self.blobs.clone();
        match blocking(move || blobs.sweep(&lists)).await.and_then(|swept| swept.map_err(std::io::Error::other)) {
            Ok(left) => self.stored_bytes.store(left, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "the stored sources could not be swept"),
        }
    }

    /// Copies stored sources to the server, where the other gateways can read them.
    async fn share(&self, list: &str, now: UnixMillis) {
        if self.options.server.is_none() {
            return;
        }
        let bytes_max = self.options.settings.sources_mib << 20;
        if let Err(error) = self.records.share(&self.blobs, list, bytes_max, now).await {
            tracing::warn!(%error, "the sources of a contract can be shown by this gateway alone");
        }
    }

    /// One worker, from its start to its last report.
    async fn run_worker(&self, id: &str, job: &Job) -> Outcome {
        let internal = |reason: &str| {
            Outcome::Failed(Failure { code: FailureCode::Internal, reason: reason.to_owned(), log: String::new() })
        };
        let mut worker = match self.start_worker(job).await {
            Ok(worker) => worker,
            Err(error) => {
                tracing::error!(%error, "the build worker could not be started");
                return internal("the build worker could not be started");
            }
        };
        let stderr = worker.stderr.take().map(|pipe| tokio::spawn(stderr_line(pipe)));
        let limit = job.settings.worker_timeout();
        let reported = tokio::time::timeout(limit, self.reports(id, &mut worker)).await;
        let outcome = match reported {
            Ok(Some(outcome)) => outcome,
            Ok(None) => internal("the build worker ended without a result"),
            Err(_) => internal("the build worker did not come back"),
        };
        // Closing its input and killing it both end it, and with it all that it started.
        let _ = worker.kill().await;
        if let Some(stderr) = stderr
            && let Ok(Ok(stderr)) = tokio::time::timeout(Duration::from_secs(1), stderr).await
            && !stderr.is_empty()
        {
            tracing::warn!(run = id, %stderr, "the build worker wrote to standard error");
        }
        outcome
    }

    async fn start_worker(&self, job: &Job) -> std::io::Result<Child> {
        let mut command = Command::new(&self.options.program);
        command.arg(WORKER_SUBCOMMAND).env_clear().kill_on_drop(true).process_group(0);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut worker = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        if let Some(input) = worker.stdin.as_mut() {
            input.write_all(&line).await?;
            input.flush().await?;
        }
        Ok(worker)
    }

    /// Follows the reports; the last one, or `None` when there is none.
    async fn reports(&self, id: &str, worker: &mut Child) -> Option<Outcome> {
        let output = worker.stdout.take()?;
        let mut lines = BufReader::new(output.take(REPORTS_BYTES_MAX)).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            match serde_json::from_str(&line).ok()? {
                Report::Stage(stage) => {
                    if let Err(error) = self.records.set_stage(id, stage).await {
                        tracing::warn!(%error, "the stage of a verification could not be written");
                    }
                }
                Report::Built(built) => return Some(Outcome::Built(built)),
                Report::Failed(failure) => return Some(Outcome::Failed(failure)),
            }
        }
        None
    }

    /// A run.
    ///
    /// # Errors
    /// [`RecordsError`].
    pub fn run<'a>(&'a self, id: &'a str) -> VerifierFuture<'a, Result<Option<Run>, RecordsError>> {
        Box::pin(async move { self.records.run(id).await })
    }

    /// The newest runs for a module that have ended, up to so many.
    ///
    /// # Errors
    /// [`RecordsError`].
    pub fn attempts<'a>(
        &'a self,
        wasm_sha256: &'a str,
        most: usize,
    ) -> VerifierFuture<'a, Result<Vec<Run>, RecordsError>> {
        Box::pin(async move { self.records.attempts(wasm_sha256, most).await })
    }

    /// The best result of building a module.
    ///
    /// # Errors
    /// [`RecordsError`].
    pub fn record<'a>(&'a self, wasm_sha256: &'a str) -> VerifierFuture<'a, Result<Option<Record>, RecordsError>> {
        Box::pin(async move { self.records.record(wasm_sha256).await })
    }

    /// The attestation of an admin for a module.
    ///
    /// # Errors
    /// [`RecordsError`].
    pub fn attestation<'a>(
        &'a self,
        wasm_sha256: &'a str,
    ) -> VerifierFuture<'a, Result<Option<Attestation>, RecordsError>> {
        Box::pin(async move { self.records.attestation(wasm_sha256).await })
    }

    /// Stores the attestation of an admin for a module; it replaces an earlier one.
    ///
    /// # Errors
    /// [`RecordsError`].
    pub fn attest<'a>(
        &'a self,
        attestation: &'a Attestation,
        key_id: i64,
    ) -> VerifierFuture<'a, Result<(), RecordsError>> {
        Box::pin(async move { self.records.attest(attestation, key_id, (self.options.clock)()).await })
    }

    /// The files of a stored source.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn list<'a>(&'a self, digest: &'a str) -> VerifierFuture<'a, Result<SourceList, ReadError>> {
        Box::pin(async move {
            let list = self.blob(digest).await?;
            serde_json::from_slice(&list).map_err(|error| ReadError::Sources(error.to_string()))
        })
    }

    /// The content of a stored file: of this gateway's folder, or where it is not there or damaged, of the server.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn blob<'a>(&'a self, digest: &'a str) -> VerifierFuture<'a, Result<Vec<u8>, ReadError>> {
        Box::pin(async move {
            let (blobs, name) = (self.blobs.clone(), digest.to_owned());
            let bytes = read(move || blobs.get(&name)).await;
            if bytes.is_err()
                && self.options.server.is_some()
                && let Some(bytes) = self.records.shared(digest).await?
            {
                return Ok(bytes);
            }
            bytes
        })
    }

    /// Ends all workers and closes the records. Runs that were under way are reported as interrupted by the next start.
    pub fn close(&self) -> VerifierFuture<'_, ()> {
        Box::pin(async move {
            self.under_way.lock().closed = true;
            self.stop.send_replace(true);
            let mut tasks = std::mem::take(&mut *self.tasks.lock());
            while tasks.join_next().await.is_some() {}
            self.records.close().await;
        })
    }
}

/// The entry of a run among those under way; removed when it is dropped.
struct Turn {
    verifier: Arc<Verifier>,
    id: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.verifier.under_way.lock().keys.remove(&self.id);
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)
}

/// Removes folders of runs, and reports to the operator what cannot be removed.
async fn remove(folder: PathBuf) {
    let shown = folder.display().to_string();
    let removed = blocking(move || removal::remove(&folder)).await;
    if let Err(error) = removed.and_then(|removed| removed) {
        tracing::warn!(%error, folder = shown, "files of verification runs could not be removed");
    }
}

async fn read<T: Send + 'static>(work: impl FnOnce() -> Result<T, BlobError> + Send + 'static) -> Result<T, ReadError> {
    match blocking(work).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(ReadError::Sources(error.to_string())),
    }
}

async fn stderr_line(pipe: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let mut pipe = pipe.take(STDERR_BYTES_MAX);
    let _ = pipe.read_to_end(&mut bytes).await;
    // It may contain texts of a repository, which must not look like lines of the operator's log.
    String::from_utf8_lossy(&bytes).trim().replace(char::is_control, " ")
}

async fn write_run(settings: &Settings, folder: &Path, submission: Submission) -> std::io::Result<()> {
    tokio::fs::create_dir(folder).await?;
    let_pass(settings, folder).await?;
    tokio::fs::write(folder.join(DEPLOYED), submission.deployed).await?;
    if let Some(archive) = submission.archive {
        tokio::fs::write(folder.join(UPLOAD), archive).await?;
    }
    Ok(())
}

/// The name of a folder among those whose runs are in the same records; the same after every start.
async fn owner(folder: &Path) -> std::io::Result<String> {
    let file = folder.join("owner");
    match tokio::fs::read_to_string(&file).await {
        Ok(name) if name.len() == 32 => Ok(name),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => {
            let name = new_id().map_err(std::io::Error::other)?;
            tokio::fs::write(&file, &name).await?;
            Ok(name)
        }
    }
}

fn new_id() -> Result<String, SubmitError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| SubmitError::Unavailable)?;
    Ok(HEXLOWER.encode(&bytes))
}

/// The record of a run that ended with a comparison.
fn record_of(run: &Run, job: &Job, outcome: &Outcome, now: UnixMillis) -> Option<Record> {
    let Outcome::Built(built) = outcome else { return None };
    Some(Record {
        wasm_sha256: run.wasm_sha256.clone(),
        run: run.id.clone(),
        verdict: built.comparison.verdict,
        similarity: built.comparison.similarity,
        repo_url: run.submission["repo_url"].as_str().unwrap_or_default().to_owned(),
        commit: built.commit.clone().or_else(|| run.submission["commit"].as_str().map(str::to_owned)),
        subdir: job.options.subdir.clone(),
        package: built.package.clone(),
        private: match &job.source {
            Source::Repository(repository, _) => Some(repository.is_private()),
            Source::Archive => None,
        },
        sources: built.sources.clone(),
        how_built: Some(HowBuilt {
            rustc: built.rustc.clone(),
            build_env: job.options.environment.clone(),
            home_dir: job.options.home_dir.clone(),
            programs: built.programs.clone(),
            ignored: built.ignored.clone(),
            repeated: built.repeated,
            isolated: built.isolated,
        }),
        updated_at: now,
    })
}

#[cfg(test)]
mod tests;
