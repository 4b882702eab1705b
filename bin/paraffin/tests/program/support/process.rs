//! The program under test as a child process that never outlives its test.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The program built from this workspace, or the one that `PARAFFIN_BIN` names.
pub fn paraffin() -> Command {
    let program = std::env::var_os("PARAFFIN_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_paraffin").into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PARAFFIN_")) {
        command.env_remove(name);
    }
    // Most tests stop a process that serves no request any more.
    command.env("PARAFFIN_GATEWAY__DRAIN_SECONDS", "0");
    command.stdin(Stdio::null());
    command
}

/// A running child with its output collected; killed when dropped.
pub struct Running {
    child: Child,
    output: Arc<Mutex<String>>,
    errors: Arc<Mutex<String>>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = collect(child.stdout.take().unwrap());
        let errors = collect(child.stderr.take().unwrap());
        Self { child, output, errors }
    }

    pub fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    pub fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for a line of output that contains `text`.
    pub fn wait_for_output(&mut self, text: &str, limit: Duration) {
        let started = Instant::now();
        while !self.output().contains(text) {
            let running = self.is_running();
            assert!(
                running && started.elapsed() < limit,
                "no `{text}` within {limit:?} (running: {running})\n--- output\n{}\n--- errors\n{}",
                self.output(),
                self.errors()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// `SIGTERM`, then waits; panics when it takes longer than `limit`.
    pub fn terminate(&mut self, limit: Duration) -> ExitStatus {
        self.signal(rustix::process::Signal::TERM);
        self.wait(limit)
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// `SIGKILL`.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < limit, "still running after {limit:?}\n{}\n{}", self.output(), self.errors());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- output of the child\n{}\n--- errors\n{}", self.output(), self.errors());
        }
    }
}

fn collect(stream: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&text);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let mut text = shared.lock().unwrap();
            text.push_str(&String::from_utf8_lossy(&line));
            text.push('\n');
        }
    });
    text
}

/// Writes a configuration for a node at `url` into `folder` and answers its path.
pub fn write_config(folder: &Path, text: &str) -> std::path::PathBuf {
    let file = folder.join("paraffin.toml");
    std::fs::write(&file, text).unwrap();
    file
}
