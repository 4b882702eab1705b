//! The side of the process that runs scripts: one at a time, from standard input to standard output, until the input ends.

use std::io::{self, StdinLock, StdoutLock};

use rustix::process::{Resource, Rlimit, nice, setrlimit};
use serde_json::value::RawValue;

use crate::frames::{CallMethod, CheckSource, Frame, Kind, RunScript};
use crate::sandbox::{self, CallError, Calls, Script};

/// Stack of the thread that runs scripts. Lua stops at 200 frames of its own in each other.
const STACK_BYTES: usize = 16 << 20;
/// Memory of the whole process beyond which the system gives no more: the script's own, and what turning JSON takes.
const ADDRESS_BYTES_MAX: u64 = 4 << 30;
/// Scripts give way to the server.
const NICENESS: i32 = 10;

/// Runs scripts until standard input ends. Nothing else may write to standard output.
///
/// # Errors
/// The server is gone, or sends what is no frame.
pub fn work() -> io::Result<()> {
    limit();
    let thread = std::thread::Builder::new().name("script".to_owned()).stack_size(STACK_BYTES).spawn(serve)?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread of the script panicked")))
}

/// What a script that broke out of Lua would still be held by. Not every system knows every limit; the budgets of the
/// script do not depend on them.
fn limit() {
    // Of all values 1 alone also keeps a crash from the program that the system hands crashes to.
    let limits = [(Resource::Core, 1), (Resource::Fsize, 0), (Resource::As, ADDRESS_BYTES_MAX)];
    for (resource, most) in limits {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
    let _ = nice(NICENESS);
    #[cfg(target_os = "linux")]
    {
        // A server that is killed takes its workers along even while a script runs.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    }
}

fn serve() -> io::Result<()> {
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

/// The server, asked by a script that waits for the answer.
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
        // Without a server there is nobody to run for.
        Self::ask(method, params).unwrap_or_else(|_| std::process::exit(1))
    }
}

fn out_of_turn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame out of turn")
}
