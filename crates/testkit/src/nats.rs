//! Debian's `nats-server` with JetStream, on a port and in a folder of its own.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::signal::signal;
use crate::{free_port, installed};

/// Longest time that a start takes.
const START: Duration = Duration::from_secs(20);

/// A server that a test starts, kills, pauses and starts again; its folder outlives each process, which ends with the test.
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    config: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl NatsServer {
    /// A server that keeps its files in `folder` and does not run yet; `None` after a message that the program is missing. `lines`
    /// are added to its configuration.
    ///
    /// # Panics
    /// The program is missing in CI, or the folder cannot be written.
    pub fn prepare(folder: &Path, lines: &str) -> Option<Self> {
        let [program] = installed(["nats-server"], "nats-server")?;
        let port = free_port();
        let config = folder.join("server.conf");
        let store = folder.display();
        let text = format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{store}\" }}\n{lines}\n");
        fs::write(&config, text).unwrap_or_else(|error| panic!("{}: {error}", config.display()));
        Some(Self { program, config, port, process: None })
    }

    /// Starts the process and waits until it listens.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(&mut self) {
        assert!(self.process.is_none(), "the server runs already");
        let log = fs::File::options().create(true).append(true).open(self.config.with_extension("log"));
        let process = log.and_then(|log| {
            let mut command = Command::new(&self.program);
            command.arg("-c").arg(&self.config).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
        });
        self.process = Some(process.unwrap_or_else(|error| panic!("{}: {error}", self.program.display())));
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < START, "nats-server does not listen: see {}", self.config.display());
            std::thread::sleep(Duration::from_millis(20));
        }
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

    /// File of its configuration.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// URL of the server.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
