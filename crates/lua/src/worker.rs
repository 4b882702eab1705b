//! The side of the process that runs scripts: one at a time, from standard input to standard output, until the input ends.
//!
//! Two processes are one worker where the kernel allows namespaces. The server starts the first, which makes the namespaces and starts
//! the second in them, with the pipes of the first; the second replaces its root by an empty one, gives up its privileges and most system
//! calls, reports that it is ready, and takes scripts. It ends with the first, and the first with the server.

use std::ffi::OsString;
use std::io::{self, StdinLock, StdoutLock};
use std::process::Command;

use paraffin_confine::own;
use rustix::process::{Resource, Rlimit, Signal, nice, setrlimit};
use serde_json::value::RawValue;

use crate::frames::{CallMethod, CheckSource, Frame, Kind, RunScript};
use crate::sandbox::{self, CallError, Calls, Script};
use crate::{WorkerIsolation, attempts};

/// Stack of the thread that runs scripts. Lua stops at 200 frames of its own in each other.
const STACK_BYTES: usize = 16 << 20;
/// Memory limit of the whole process: that of the script, and that of converting JSON.
const ADDRESS_BYTES_MAX: u64 = 4 << 30;
/// Niceness of scripts, so that the server has priority.
const NICENESS: i32 = 10;
/// The first argument of the second process.
const INSIDE: &str = "--inside";
/// `--try <barriers> <attempt>…`: makes attempts instead of running scripts, behind `all` barriers, `namespaces` alone, the `filter`
/// alone, or `none`.
const TRY: &str = "--try";

/// The purpose for which a worker was started.
struct Arguments<'a> {
    is_inside: bool,
    wants_namespaces: bool,
    wants_filter: bool,
    attempts: Option<&'a [OsString]>,
}

impl<'a> Arguments<'a> {
    fn read(mut given: &'a [OsString]) -> io::Result<Self> {
        let is_inside = given.first().is_some_and(|first| first == INSIDE);
        if is_inside {
            given = &given[1..];
        }
        let barriers = match given {
            [] => return Ok(Self { is_inside, wants_namespaces: true, wants_filter: true, attempts: None }),
            [word, barriers, ..] if word == TRY => barriers.to_str(),
            _ => None,
        };
        let (wants_namespaces, wants_filter) = match barriers {
            Some("all") => (true, true),
            Some("namespaces") => (true, false),
            Some("filter") => (false, true),
            Some("none") => (false, false),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is for the server alone")),
        };
        Ok(Self { is_inside, wants_namespaces, wants_filter, attempts: Some(&given[2..]) })
    }
}

/// Isolates this process, then runs scripts until standard input ends. Nothing else may write to standard output, and the process must
/// have one thread. `arguments` are those of a worker, none for the one that the server starts.
///
/// # Errors
/// This process cannot be isolated as far as it must be; or the server is gone, or sends what is no frame.
pub fn work(arguments: &[OsString]) -> io::Result<()> {
    let given = Arguments::read(arguments)?;
    // A server that is killed takes its workers along even while a script runs.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut isolation = WorkerIsolation { without_namespaces: None, without_empty_root: None, without_filter: None };
    if given.is_inside {
        isolation.without_empty_root = own::empty_root().err().map(|error| error.to_string());
    } else {
        if given.wants_namespaces {
            match own::enter_namespaces() {
                Ok(()) => {
                    limit();
                    return start_inside(arguments);
                }
                Err(error) => isolation.without_namespaces = Some(error.to_string()),
            }
        }
        isolation.without_empty_root = Some("it needs namespaces".to_owned());
    }
    limit();
    if given.wants_filter {
        own::give_up_privileges(given.is_inside)?;
    }
    // Threads have to be there before the filter: none can be started after it.
    std::thread::scope(|scope| {
        let work = || {
            // Only now, so that a busy machine does not delay the start.
            let _ = nice(NICENESS);
            if given.wants_filter && !own::keep_computing_only()? {
                isolation.without_filter = Some(format!("none is known for {}", std::env::consts::ARCH));
            }
            match given.attempts {
                Some(attempts) => attempts::make(attempts.iter().map(OsString::as_os_str)),
                None => serve(&isolation),
            }
        };
        let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the script panicked")))
    })
}

/// Starts the second process in the namespaces of this one, and waits for its end.
fn start_inside(arguments: &[OsString]) -> io::Result<()> {
    let all = std::env::args_os();
    // The arguments before ours lead the program to `work`.
    let leading = all.len().saturating_sub(arguments.len());
    let mut inside = Command::new("/proc/self/exe");
    inside.args(all.take(leading).skip(1)).arg(INSIDE).args(arguments);
    let mut started = inside.env_clear().spawn()?;
    let _ = nice(NICENESS);
    let ended = started.wait()?;
    if ended.success() { Ok(()) } else { Err(io::Error::other(format!("the process of scripts ended with {ended}"))) }
}

/// The limits that still hold for a script that broke out of Lua. Not every system knows every limit; the budgets of the
/// script do not depend on them.
fn limit() {
    // Of all values 1 alone also keeps a crash from the program that the system hands crashes to.
    let limits = [(Resource::Core, 1), (Resource::Fsize, 0), (Resource::As, ADDRESS_BYTES_MAX)];
    for (resource, most) in limits {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

fn serve(isolation: &WorkerIsolation) -> io::Result<()> {
    Frame::of(Kind::Ready, isolation)?.send(io::stdout().lock())?;
    loop {
        let Some(frame) = Frame::receive(io::stdin().lock())? else { return Ok(()) };
        let ended = match frame.kind {
            Kind::Run => {
                let RunScript { settings, source, arguments, methods } = frame.read()?;
                let script = Script { source, arguments, methods };
                sandbox::run(&settings, &script, Box::new(Server))
            }
            Kind::Check => {
                let CheckSource { settings, source } = frame.read()?;
                sandbox::check(&settings, &source).map(|()| RawValue::NULL.to_owned())
            }
            _ => return Err(out_of_turn()),
        };
        Frame::ended(&ended)?.send(io::stdout().lock())?;
    }
}

/// The server, called by a script that waits for the answer.
struct Server;

impl Server {
    fn ask(method: &str, params: Box<RawValue>) -> io::Result<Result<Box<RawValue>, CallError>> {
        let call = CallMethod { method: method.to_owned(), params };
        let (input, output): (StdinLock<'_>, StdoutLock<'_>) = (io::stdin().lock(), io::stdout().lock());
        Frame::of(Kind::Call, &call)?.send(output)?;
        let answer = Frame::receive(input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        match answer.kind {
            Kind::Answer => {
                let text = String::from_utf8(answer.payload).map_err(io::Error::other)?;
                Ok(Ok(RawValue::from_string(text)?))
            }
            Kind::Failure => Ok(Err(answer.read()?)),
            _ => Err(out_of_turn()),
        }
    }
}

impl Calls for Server {
    fn call(&mut self, method: &str, params: Box<RawValue>) -> Result<Box<RawValue>, CallError> {
        // Without a server the worker has nothing to run.
        Self::ask(method, params).unwrap_or_else(|_| std::process::exit(1))
    }
}

fn out_of_turn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame out of turn")
}
