//! Runs a program of a stranger in a confined place.
//!
//! Three processes take part. The first ([`enter`]) ties its life to the worker's and becomes `unshare`, which makes the
//! namespaces: no network but a loopback that is down, its own processes, mounts, host name and IPC. Inside, `unshare` starts
//! the second ([`inside_of`]), process 1 of the new world: it builds a root of nothing but read-only system folders, the folders that
//! the description names and a small `/tmp`, moves into it, gives up every privilege and some system calls, sets the limits and
//! starts the third, the program itself. When process 1 ends, the kernel ends everything that is left in its world. Without
//! namespaces the first process starts the program itself, and ends what it leaves behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};
use serde::{Deserialize, Serialize};

use crate::supervise;

mod calls;
mod root;

/// What [`enter`] and [`inside_of`] answer when the place could not be made.
pub(crate) const NOT_CONFINED: u8 = 125;
/// Added to the number of the signal that ended the program.
const SIGNALLED: i32 = 128;
/// Time between two looks for the worker.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// Programs of strangers give way to the server, and still come to their end on a busy machine.
const NICENESS: i32 = 5;
/// The kernel ends this one before all others.
const OUT_OF_MEMORY_FIRST: &str = "1000";
/// Begins the line on standard error that says why a place could not be made.
pub(crate) const COMPLAINT: &str = "paraffin-confine: ";
/// The subcommand of the program that leads here.
pub(crate) const SUBCOMMAND: &str = "verify-confine";

/// How far a program is shut in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Namespaces, a root of its own and limits; where the kernel refuses, nothing is built.
    Required,
    /// Limits alone: the program sees the files and the network of this machine. For machines that belong to the builder.
    Limits,
}

/// What a process may take.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ProcessLimits {
    /// Processor time of one process in seconds.
    pub(crate) cpu_seconds: u64,
    /// Address space of one process in bytes.
    pub(crate) memory_bytes: u64,
    /// Largest file in bytes.
    pub(crate) file_bytes: u64,
    /// Processes and threads of the user in this place.
    pub(crate) processes: u64,
    /// Open files of one process.
    pub(crate) open_files: u64,
}

/// A folder or file that is seen inside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Shown {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) writable: bool,
}

/// A program and the place to run it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) isolation: Isolation,
    /// An empty folder over which the new root is mounted.
    pub(crate) root: PathBuf,
    pub(crate) shown: Vec<Shown>,
    /// Bytes of `/tmp`, which is memory.
    pub(crate) tmp_bytes: u64,
    pub(crate) limits: ProcessLimits,
    /// User and group of the program where this process is root's; otherwise it stays who it is.
    pub(crate) user: Option<(u32, u32)>,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// All variables; nothing is taken over.
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
}

/// The program of this process, for the next one.
fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The hidden subcommand: `verify-confine <description> <pid of the parent>`, and inside `verify-confine --inside <description>`.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let outcome = match arguments {
        [inside, description] if inside == "--inside" => {
            read(description).and_then(|confinement| inside_of(&confinement))
        }
        [description, parent] => read(description).and_then(|confinement| enter(&confinement, description, parent)),
        _ => Err(io::Error::other("it is for the build worker alone")),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{COMPLAINT}{error}");
        ExitCode::from(NOT_CONFINED)
    })
}

fn read(description: &OsString) -> io::Result<Confinement> {
    Ok(serde_json::from_slice(&std::fs::read(description)?)?)
}

/// Says what failed.
fn at<T>(what: &str, outcome: Result<T, impl std::fmt::Display>) -> io::Result<T> {
    outcome.map_err(|error| io::Error::other(format!("{what}: {error}")))
}

/// The first process. Comes back only with an error, or with the exit code where nothing is isolated.
fn enter(confinement: &Confinement, description: &OsString, parent: &OsString) -> io::Result<ExitCode> {
    yield_to_others();
    if confinement.isolation == Isolation::Limits {
        return beside(confinement, parent);
    }
    at("the life of the parent", rustix::process::set_parent_process_death_signal(Some(Signal::KILL)))?;
    if !is_child_of(parent) {
        return Err(io::Error::other("the worker has gone"));
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child=KILL"]);
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--").arg(this_program()?).args([SUBCOMMAND, "--inside"]).arg(description);
    Err(io::Error::other(format!("unshare: {}", command.exec())))
}

/// Whether the process that this one was started for is still there.
fn is_child_of(parent: &OsString) -> bool {
    let alive = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.to_string());
    alive.as_deref().map(AsRef::as_ref) == Some(parent.as_os_str())
}

/// Runs the program without namespaces, in which nobody but this process ends what it starts: also when the worker goes.
fn beside(confinement: &Confinement, parent: &OsString) -> io::Result<ExitCode> {
    // Processes that leave their parents come to this one instead of the machine's first.
    at("orphans", rustix::process::set_child_subreaper(Some(rustix::process::getpid())))?;
    let parent = parent.clone();
    std::thread::spawn(move || {
        while is_child_of(&parent) {
            std::thread::sleep(LOOK_INTERVAL);
        }
        supervise::end_all_below();
        std::process::exit(i32::from(NOT_CONFINED));
    });
    limit(&confinement.limits)?;
    let code = program(confinement);
    supervise::end_all_below();
    code
}

/// A program of a stranger comes after the server where both want the processor, and first where memory runs out. Neither is a
/// guard, so a system that knows neither is as good.
fn yield_to_others() {
    let _ = rustix::process::nice(NICENESS);
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_FIRST);
}

/// The second process, process 1 of the new world.
fn inside_of(confinement: &Confinement) -> io::Result<ExitCode> {
    let is_root_outside = confinement.user.is_some();
    root::make(confinement)?;
    at("the host name", rustix::system::sethostname(b"build"))?;
    if !is_root_outside {
        root::forbid_namespaces()?;
    }
    root::close(&confinement.folder)?;
    root::give_up_privileges()?;
    limit(&confinement.limits)?;
    at("no new privileges", rustix::thread::set_no_new_privs(true))?;
    calls::take_away()?;
    program(confinement)
}

/// Sets the limits of this process and of all that follow from it.
fn limit(limits: &ProcessLimits) -> io::Result<()> {
    for (resource, most) in [
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::As, limits.memory_bytes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nproc, limits.processes),
        (Resource::Nofile, limits.open_files),
        // Of all values this one alone also keeps a crash from the program that the system hands crashes to.
        (Resource::Core, 1),
        (Resource::Memlock, 64 << 10),
        (Resource::Msgqueue, 64 << 10),
    ] {
        // What is stricter already stays so.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        at(&format!("the limit {resource:?}"), rustix::process::setrlimit(resource, limit))?;
    }
    Ok(())
}

/// Starts the program, takes in every process that its parents left behind, and answers how the program ended.
fn program(confinement: &Confinement) -> io::Result<ExitCode> {
    at("no new privileges", rustix::thread::set_no_new_privs(true))?;
    let mut command = Command::new(&confinement.program);
    command.args(&confinement.arguments).current_dir(&confinement.folder);
    command.env_clear().envs(&confinement.environment).stdin(std::process::Stdio::null());
    if let Some((user, group)) = confinement.user {
        // The standard library gives up all further groups with it.
        command.uid(user).gid(group);
    }
    let child = at(&confinement.program.display().to_string(), command.spawn())?;
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return Err(io::Error::other("no process id"));
    };
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended == pid => {
                let code = status.exit_status().or_else(|| Some(SIGNALLED + status.terminating_signal()?));
                return Ok(exit_code(code));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_code(code: Option<i32>) -> ExitCode {
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Whether this process is root's on this machine.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The system folders that every program needs, as they are on this machine: read-only, and links stay links.
pub(crate) fn system_folders() -> Vec<Shown> {
    const FOLDERS: [&str; 9] = [
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/etc/alternatives",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf.d",
    ];
    FOLDERS.iter().filter(|path| Path::new(path).symlink_metadata().is_ok()).map(|path| seen(Path::new(path))).collect()
}

/// A folder seen at its own place, read-only.
pub(crate) fn seen(path: &Path) -> Shown {
    Shown { from: path.to_owned(), to: path.to_owned(), writable: false }
}
