//! The side of the server: processes that run scripts, reused for the next script of the same caller, killed when a script is stuck.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::frames::{CallMethod, CheckSource, Frame, Kind, RunScript};
use crate::sandbox::{CallError, Script};
use crate::{Budget, LuaSettings, Outcome, ScriptError, WorkerIsolation, names};

/// How long after its time a script may go on before its process is ended: what Lua does between two checks of the clock.
const GRACE: Duration = Duration::from_millis(500);
/// How much later than a script's time a call is abandoned: the script's own clock has then run out in any case.
const CALL_GRACE: Duration = Duration::from_millis(250);
/// How long a process may take until it is ready for scripts.
const START_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest report of a process about itself in bytes.
const REPORT_BYTES_MAX: usize = 16 << 10;
/// Scripts that one process runs before it is replaced.
const SCRIPTS_PER_WORKER: u32 = 1_000;
/// Beyond the longest result: what a frame has around it, and a method's name.
const FRAME_EXTRA_BYTES: usize = 64 << 10;
/// Callers in the table before those that wait for nothing are forgotten.
const CALLERS_KEPT: usize = 1_024;

/// The type of the futures of this crate.
pub type ScriptFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers the calls of a running script.
pub trait Host: Send + Sync {
    /// Runs one method with an array of parameters.
    fn call<'a>(&'a self, method: &'a str, params: Box<RawValue>)
    -> ScriptFuture<'a, Result<Box<RawValue>, CallError>>;
}

/// Runs scripts; [`Workers`] in the product.
pub trait Runner: Send + Sync {
    /// The budgets.
    fn settings(&self) -> &LuaSettings;

    /// Runs a script of `caller`.
    fn run<'a>(
        &'a self,
        caller: &'a str,
        script: Script,
        host: &'a dyn Host,
    ) -> ScriptFuture<'a, Result<Outcome, NotRun>>;

    /// Whether a source of `caller` is Lua.
    fn check<'a>(
        &'a self,
        caller: &'a str,
        source: &'a str,
    ) -> ScriptFuture<'a, Result<Result<(), ScriptError>, NotRun>>;
}

/// A script was not run, for a reason outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// Its turn did not come in time.
    #[error("too many scripts are running")]
    Busy,
    /// No process could be started for it, or none with the isolation that it must have.
    #[error("the process for scripts cannot be started")]
    NoWorker,
}

/// How a worker is started: the program and its arguments. It must call [`crate::work`] and print nothing.
#[derive(Debug, Clone)]
pub struct WorkerProgram {
    /// Path of the program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Runs scripts in processes of their own.
pub struct Workers {
    settings: LuaSettings,
    program: WorkerProgram,
    /// Processes that wait for the next script of their caller; the one that has waited longest comes first.
    idle: Mutex<VecDeque<Worker>>,
    /// What the newest process reported, so that a change is logged.
    isolation: Mutex<Option<WorkerIsolation>>,
    permits: Arc<Semaphore>,
    callers: Mutex<HashMap<String, Weak<Semaphore>>>,
}

impl Workers {
    /// No process is started before the first script.
    pub fn new(settings: LuaSettings, program: WorkerProgram) -> Self {
        let permits = Arc::new(Semaphore::new(settings.scripts_max));
        let (idle, isolation) = (Mutex::default(), Mutex::default());
        Self { settings, program, idle, isolation, permits, callers: Mutex::default() }
    }

    /// Starts a process as for a script, ends it, and returns what isolates it; the log has it too.
    ///
    /// # Errors
    /// [`NotRun::NoWorker`]; the reason is logged.
    pub async fn check_isolation(&self) -> Result<WorkerIsolation, NotRun> {
        self.start("").await.map(|(_, isolation)| isolation)
    }

    /// Permits for a script of `caller`: one of its own, then one of all.
    async fn acquire_permits(&self, caller: &str) -> Result<(OwnedSemaphorePermit, OwnedSemaphorePermit), NotRun> {
        let deadline = Instant::now() + self.settings.wait();
        let own = self.permits_of(caller);
        let permits = async {
            let own = own.acquire_owned().await.map_err(|_| NotRun::Busy)?;
            let any = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| NotRun::Busy)?;
            Ok((own, any))
        };
        timeout_at(deadline, permits).await.map_err(|_| NotRun::Busy)?
    }

    fn permits_of(&self, caller: &str) -> Arc<Semaphore> {
        let mut callers = self.callers.lock();
        if let Some(permits) = callers.get(caller).and_then(Weak::upgrade) {
            return permits;
        }
        if callers.len() >= CALLERS_KEPT {
            callers.retain(|_, permits| permits.strong_count() > 0);
        }
        let permits = Arc::new(Semaphore::new(self.settings.scripts_per_caller_max));
        callers.insert(caller.to_owned(), Arc::downgrade(&permits));
        permits
    }

    /// A process that has run nothing, or nothing but scripts of this caller.
    async fn worker(&self, caller: &str) -> Result<Worker, NotRun> {
        while let Some(mut worker) = self.take_idle(caller) {
            if worker.lives() {
                return Ok(worker);
            }
        }
        self.start(caller).await.map(|(worker, _)| worker)
    }

    /// The idle process of a caller. Where there is none, so many others end that a new one makes no more than `scripts_max`.
    fn take_idle(&self, caller: &str) -> Option<Worker> {
        let mut idle = self.idle.lock();
        let newest = idle.iter().rposition(|worker| worker.caller == caller);
        if let Some(worker) = newest.and_then(|index| idle.remove(index)) {
            return Some(worker);
        }
        // This one is running by now.
        let running = self.settings.scripts_max.saturating_sub(self.permits.available_permits());
        let idle_max = self.settings.scripts_max.saturating_sub(running);
        let over = idle.len().saturating_sub(idle_max);
        idle.drain(..over);
        None
    }

    async fn start(&self, caller: &str) -> Result<(Worker, WorkerIsolation), NotRun> {
        let (worker, isolation) = Worker::start(&self.program, caller).await.map_err(|error| {
            tracing::error!(%error, "the process for scripts cannot be started");
            NotRun::NoWorker
        })?;
        let mut newest = self.isolation.lock();
        if newest.as_ref() != Some(&isolation) {
            if isolation.is_complete() {
                tracing::info!("scripts run in processes {isolation}");
            } else {
                tracing::warn!("scripts run in processes {isolation}");
            }
            *newest = Some(isolation.clone());
        }
        drop(newest);
        Ok((worker, isolation))
    }

    /// Sends a first frame to a worker and takes part in what follows until it has ended.
    ///
    /// A worker that is dropped is killed, so nothing is left of a script whose caller has gone away.
    async fn converse(&self, caller: &str, first: Frame, host: Option<&dyn Host>) -> Result<Outcome, NotRun> {
        let _permits = self.acquire_permits(caller).await?;
        let mut worker = self.worker(caller).await?;
        let started = Instant::now();
        let mut calls = 0;
        let ended = {
            let talk = self.talk(&mut worker, first, host, started + self.settings.time() + CALL_GRACE, &mut calls);
            timeout_at(started + self.settings.time() + GRACE, talk).await
        };
        let runtime_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let returns = match ended {
            Ok(Ok(returns)) => {
                worker.scripts += 1;
                if worker.scripts < SCRIPTS_PER_WORKER {
                    self.idle.lock().push_back(worker);
                }
                returns
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a script broke its process");
                Err(ScriptError::Broken)
            }
            Err(_) => Err(ScriptError::Exhausted(Budget::Time)),
        };
        Ok(Outcome { calls, returns, runtime_ms })
    }

    async fn talk(
        &self,
        worker: &mut Worker,
        first: Frame,
        host: Option<&dyn Host>,
        deadline: Instant,
        calls: &mut u32,
    ) -> io::Result<Result<Box<RawValue>, ScriptError>> {
        let frame_bytes_max = self.settings.result_bytes_max + FRAME_EXTRA_BYTES;
        first.send_to(&mut worker.input).await?;
        loop {
            let frame = Frame::receive_from(&mut worker.output, frame_bytes_max).await?;
            match (frame.kind, host) {
                (Kind::Returned, _) => {
                    let text = String::from_utf8(frame.payload).map_err(io::Error::other)?;
                    return Ok(Ok(RawValue::from_string(text)?));
                }
                (Kind::Ended, _) => return Ok(Err(frame.read()?)),
                (Kind::Call, Some(host)) if *calls < self.settings.rpc_calls_max => {
                    *calls += 1;
                    let answer = self.answer(host, frame.read()?, deadline).await;
                    Frame::answered(&answer)?.send_to(&mut worker.input).await?;
                }
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame out of turn")),
            }
        }
    }

    async fn answer(
        &self,
        host: &dyn Host,
        CallMethod { method, params }: CallMethod,
        deadline: Instant,
    ) -> Result<Box<RawValue>, CallError> {
        let refused = |code, message: &str| Err(CallError { code, message: message.to_owned() });
        // The sandbox asks for nothing else; a script that broke out of it still gets no more.
        if !names::is_callable(&method) {
            return refused(-32601, "Method not found");
        }
        match timeout_at(deadline, host.call(&method, params)).await {
            Err(_) => refused(-32603, "timeout"),
            Ok(Ok(answer)) if answer.get().len() > self.settings.rpc_answer_bytes_max => {
                refused(-32603, "the answer is too large")
            }
            Ok(answer) => answer,
        }
    }
}

impl Runner for Workers {
    fn settings(&self) -> &LuaSettings {
        &self.settings
    }

    fn run<'a>(
        &'a self,
        caller: &'a str,
        script: Script,
        host: &'a dyn Host,
    ) -> ScriptFuture<'a, Result<Outcome, NotRun>> {
        Box::pin(async move {
            if script.source.len() > self.settings.source_bytes_max {
                return Ok(Outcome { calls: 0, returns: Err(ScriptError::SourceTooLarge), runtime_ms: 0 });
            }
            let Script { source, arguments, methods } = script;
            let run = RunScript { settings: self.settings.clone(), source, arguments, methods };
            let first = Frame::of(Kind::Run, &run).map_err(|_| NotRun::NoWorker)?;
            drop(run);
            self.converse(caller, first, Some(host)).await
        })
    }

    fn check<'a>(
        &'a self,
        caller: &'a str,
        source: &'a str,
    ) -> ScriptFuture<'a, Result<Result<(), ScriptError>, NotRun>> {
        Box::pin(async move {
            if source.len() > self.settings.source_bytes_max {
                return Ok(Err(ScriptError::SourceTooLarge));
            }
            let check = CheckSource { settings: self.settings.clone(), source: source.to_owned() };
            let first = Frame::of(Kind::Check, &check).map_err(|_| NotRun::NoWorker)?;
            Ok(self.converse(caller, first, None).await?.returns.map(drop))
        })
    }
}

/// One process; it dies with this.
struct Worker {
    /// The one whose scripts it runs.
    caller: String,
    input: ChildStdin,
    output: ChildStdout,
    scripts: u32,
    process: Child,
}

impl Worker {
    /// Starts a process and waits until it is ready, so that no script meets one that is isolated in part.
    async fn start(program: &WorkerProgram, caller: &str) -> io::Result<(Self, WorkerIsolation)> {
        let mut process = Command::new(&program.path)
            .args(&program.arguments)
            // None of the server's environment variables, which may contain keys.
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let piped = || io::Error::other("the process has no pipes");
        let input = process.stdin.take().ok_or_else(piped)?;
        let mut output = process.stdout.take().ok_or_else(piped)?;
        let ready = timeout_at(Instant::now() + START_TIMEOUT, Frame::receive_from(&mut output, REPORT_BYTES_MAX));
        let ready = ready.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        if ready.kind != Kind::Ready {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame out of turn"));
        }
        let isolation = ready.read()?;
        Ok((Self { caller: caller.to_owned(), input, output, scripts: 0, process }, isolation))
    }

    /// Whether it was not ended while it waited.
    fn lives(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }
}
