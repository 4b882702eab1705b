//! Runs an untrusted program in a sandbox.
//!
//! Three processes take part. The first ([`enter`]) ties its life to the worker's and becomes `unshare`, which makes the
//! namespaces: no network but a loopback that is down, its own processes, mounts, host name and IPC. Inside, `unshare` starts
//! the second ([`inside_of`]), process 1 of the new namespaces: it builds a root of read-only system folders, the folders that
//! the description names and a small `/tmp`, moves into it, gives up every privilege and some system calls, sets the limits and
//! starts the third, the program itself. When process 1 ends, the kernel ends everything that is left in its namespaces. Without
//! namespaces the first process starts the program itself, and ends processes that it leaves behind.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};
use serde::{Deserialize, Serialize};

use crate::processes::end_all_below;
use crate::{absent, at, root};

/// The exit code of [`run`] when the isolation could not be made.
pub const NOT_CONFINED: u8 = 125;
/// Added to the number of the signal that ended the program.
const SIGNALLED: i32 = 128;
/// Interval of checking that the worker is alive.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// Untrusted programs give way to the server, and still come to their end on a busy machine.
const NICENESS: i32 = 5;
/// Out-of-memory score: the kernel ends this process before all others.
const OUT_OF_MEMORY_FIRST: &str = "1000";
/// Prefix of the line on standard error with the reason why the sandbox could not be made.
pub const COMPLAINT: &str = "paraffin-confine: ";
/// The subcommand of the program that runs `enter`.
pub const SUBCOMMAND: &str = "verify-confine";
/// The argument of process 1 of the new namespaces, with a user namespace and without.
const INSIDE: &str = "--inside";
const INSIDE_AS_ROOT: &str = "--inside-as-root";

/// Degree of isolation of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Namespaces, a root of its own and limits; where the kernel refuses, nothing is built.
    Required,
    /// Limits alone: the program sees the files and the network of this machine. For machines that belong to the builder.
    Limits,
}

/// Resource limits of a process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Processor time of one process in seconds.
    pub cpu_seconds: u64,
    /// Address space of one process in bytes.
    pub memory_bytes: u64,
    /// Largest file in bytes.
    pub file_bytes: u64,
    /// Processes and threads of the user in the sandbox.
    pub processes: u64,
    /// Open files of one process.
    pub open_files: u64,
}

/// A folder or file that is visible inside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    /// Its path on this machine.
    pub from: PathBuf,
    /// Its path inside.
    pub to: PathBuf,
    /// Whether the program may change it.
    pub writable: bool,
}

/// A program and the sandbox to run it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Confinement {
    /// Degree of isolation.
    pub isolation: Isolation,
    /// Whether the program has the network of this machine; otherwise it has a loopback that is down.
    pub network: bool,
    /// An empty folder over which the new root is mounted.
    pub root: PathBuf,
    /// All folders and files that are visible inside, beside devices, `/proc` and `/tmp`.
    pub shown: Vec<Shown>,
    /// Bytes of `/tmp`, which is memory.
    pub tmp_bytes: u64,
    /// Limits of each process.
    pub limits: ProcessLimits,
    /// User and group of the program where this process is root's; otherwise they are unchanged.
    pub user: Option<(u32, u32)>,
    /// Path of the program inside, or a name that `PATH` leads to.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// All environment variables; none are inherited.
    pub environment: BTreeMap<String, String>,
    /// Its working directory.
    pub folder: PathBuf,
}

/// The program of this process, for the next one.
fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// The hidden subcommand: `verify-confine <description> <pid of the parent>`, and inside `verify-confine --inside <description>`,
/// or `--inside-as-root` where there is no user namespace.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // The server's own mask would keep a program of another user out of the root that is made for it.
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let outcome = match arguments {
        [inside, description] if inside == INSIDE || inside == INSIDE_AS_ROOT => {
            read(description).and_then(|confinement| inside_of(&confinement, inside == INSIDE))
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

/// The first process. Returns only with an error, or with the exit code where nothing is isolated.
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
    command.args(["--mount", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child=KILL"]);
    if !confinement.network {
        command.arg("--net");
    }
    let inside = if is_root() {
        INSIDE_AS_ROOT
    } else {
        command.args(["--user", "--map-root-user"]);
        INSIDE
    };
    command.arg("--").arg(this_program()?).args([SUBCOMMAND, inside]).arg(description);
    Err(io::Error::other(format!("unshare: {}", command.exec())))
}

/// Whether the parent process is still alive.
fn is_child_of(parent: &OsString) -> bool {
    let alive = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|pid| pid.to_string());
    alive.as_deref().map(AsRef::as_ref) == Some(parent.as_os_str())
}

/// Runs the program without namespaces, where only this process can end what it starts: also when the worker ends.
fn beside(confinement: &Confinement, parent: &OsString) -> io::Result<ExitCode> {
    // Orphaned processes are reparented to this one instead of the machine's process 1.
    at("orphans", rustix::process::set_child_subreaper(Some(rustix::process::getpid())))?;
    let parent = parent.clone();
    std::thread::spawn(move || {
        while is_child_of(&parent) {
            std::thread::sleep(LOOK_INTERVAL);
        }
        end_all_below();
        std::process::exit(i32::from(NOT_CONFINED));
    });
    limit(&confinement.limits)?;
    let code = program(confinement);
    end_all_below();
    code
}

/// An untrusted program comes after the server where both want the processor, and first where memory runs out. Neither is a
/// barrier, so errors are ignored.
fn yield_to_others() {
    let _ = rustix::process::nice(NICENESS);
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_FIRST);
}

/// The second process, process 1 of the new namespaces.
fn inside_of(confinement: &Confinement, has_user_namespace: bool) -> io::Result<ExitCode> {
    root::make(confinement)?;
    at("the host name", rustix::system::sethostname(b"build"))?;
    if has_user_namespace {
        root::forbid_namespaces()?;
    }
    root::close(&confinement.folder)?;
    root::give_up_privileges()?;
    limit(&confinement.limits)?;
    at("no new privileges", rustix::thread::set_no_new_privs(true))?;
    absent::take_away()?;
    program(confinement)
}

/// Sets the limits of this process and of its descendants.
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
        // Stricter limits stay.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        at(&format!("the limit {resource:?}"), rustix::process::setrlimit(resource, limit))?;
    }
    Ok(())
}

/// Starts the program, takes in every process that its parents left behind, and returns how the program ended.
fn program(confinement: &Confinement) -> io::Result<ExitCode> {
    at("no new privileges", rustix::thread::set_no_new_privs(true))?;
    let mut command = Command::new(&confinement.program);
    command.args(&confinement.arguments).current_dir(&confinement.folder);
    command.env_clear().envs(&confinement.environment).stdin(std::process::Stdio::null());
    if let Some((user, group)) = confinement.user {
        // The standard library drops all supplementary groups with it.
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
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The system folders that every program needs, as they are on this machine: read-only, and links stay links.
pub fn system_folders() -> Vec<Shown> {
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

/// A folder that is visible at the same path, read-only.
pub fn seen(path: &Path) -> Shown {
    Shown { from: path.to_owned(), to: path.to_owned(), writable: false }
}
