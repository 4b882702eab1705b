//! What a script that broke out of Lua might try, so that tests and operators see that it fails: `--try`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::process::Pid;

/// Makes attempts of the form `<kind>:<what>` one after the other and prints for each a line, with `ok` or the error.
///
/// Kinds: `read` a file, `list` a folder, `run` a program, `tcp` and `unix` connect, `bind` an address, and
/// `see` a process by its number.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn make<'a>(attempts: impl Iterator<Item = &'a OsStr>) -> io::Result<()> {
    for attempt in attempts {
        let attempt = attempt.to_string_lossy();
        let ended = match make_one(&attempt) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        };
        let line = format!("{attempt} -> {ended}\n");
        io::stdout().lock().write_all(line.as_bytes())?;
    }
    io::stdout().flush()
}

fn make_one(attempt: &str) -> io::Result<()> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, "no such attempt");
    let (kind, what) = attempt.split_once(':').ok_or_else(unknown)?;
    match kind {
        "read" => File::open(what)?.read(&mut [0]).map(drop),
        "list" => std::fs::read_dir(what).map(drop),
        "run" => Command::new(what).status().map(drop),
        "tcp" => TcpStream::connect(what).map(drop),
        "unix" => UnixStream::connect(what).map(drop),
        "bind" => UdpSocket::bind(what).map(drop),
        "see" => {
            let id = what.parse().ok().and_then(Pid::from_raw).ok_or_else(unknown)?;
            Ok(rustix::process::test_kill_process(id)?)
        }
        _ => Err(unknown()),
    }
}
