//! Debian's `redis-server`, on a port and in a folder of its own.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::signal::signal;
use crate::{free_port, installed};

/// Longest time that a start takes.
const START: Duration = Duration::from_secs(20);

/// A server that a test starts, kills, pauses and starts again. Its folder has the snapshot of [`RedisServer::save`] and
/// nothing else; its process ends with the test.
#[derive(Debug)]
pub struct RedisServer {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl RedisServer {
    /// A server that keeps its files in `folder` and does not run yet; `None` after a message that the program is missing.
    ///
    /// # Panics
    /// The program is missing in CI.
    pub fn prepare(folder: &Path) -> Option<Self> {
        let [program] = installed(["redis-server"], "redis-server")?;
        Some(Self { program, folder: folder.to_owned(), port: free_port(), process: None })
    }

    /// Starts the process and waits until it answers.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(&mut self) {
        assert!(self.process.is_none(), "the server runs already");
        let log = fs::File::options().create(true).append(true).open(self.folder.join("redis.log"));
        let process = log.and_then(|log| {
            let mut command = Command::new(&self.program);
            command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
            command.args(["--appendonly", "no", "--dir"]).arg(&self.folder);
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
        });
        self.process = Some(process.unwrap_or_else(|error| panic!("{}: {error}", self.program.display())));
        let began = Instant::now();
        while self.try_ask(&["PING"]).as_deref() != Some("+PONG\r\n") {
            assert!(began.elapsed() < START, "redis-server does not answer: see {}", self.folder.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends one command; returns the raw reply.
    ///
    /// # Panics
    /// There is no reply.
    pub fn ask(&self, words: &[&str]) -> String {
        self.try_ask(words).unwrap_or_else(|| panic!("redis-server does not answer {words:?}"))
    }

    fn try_ask(&self, words: &[&str]) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        let mut text = format!("*{}\r\n", words.len());
        for word in words {
            // Writing to a string cannot fail.
            let _ = write!(text, "${}\r\n{word}\r\n", word.len());
        }
        stream.write_all(text.as_bytes()).ok()?;
        let mut answer = vec![0; 64 << 10];
        let length = stream.read(&mut answer).ok()?;
        Some(String::from_utf8_lossy(&answer[..length]).into_owned())
    }

    /// Writes a snapshot to disk, which the next start loads.
    pub fn save(&self) {
        self.ask(&["SAVE"]);
    }

    /// Kills the process with `SIGKILL`, if it runs.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Sends the process a signal by its name, such as `STOP`.
    ///
    /// # Panics
    /// It does not run.
    pub fn signal(&self, name: &str) {
        let id = self.process.as_ref().map_or(0, Child::id);
        assert!(id != 0 && signal(name, id), "no signal {name} to {id}");
    }

    /// The port on which it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
