//! Debian's PostgreSQL, on a port and in a folder of its own.

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::signal::{runs, signal};
use crate::{free_port, missing};

/// Longest time that a start takes.
const START: Duration = Duration::from_secs(30);

/// A server that a test starts, kills, pauses and starts again; its folder outlives each process, which ends with the test.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    owner: Option<(u32, u32)>,
    settings: Vec<String>,
    process: Option<Child>,
}

impl PostgresServer {
    /// A server that keeps its files in `folder` and does not run yet; `None` after a message that the programs are missing.
    ///
    /// # Panics
    /// The programs are missing in CI, or the folder cannot be written.
    pub fn prepare(folder: &Path) -> Option<Self> {
        let programs = programs()?;
        let owner = owner();
        let template = template(&programs, owner);
        // The server's user must be able to reach its folder.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let own = folder.join("postgres");
        let mut copy = Command::new("cp");
        run(copy.arg("-a").arg(template).arg(&own));
        Some(Self { programs, folder: own, port: free_port(), owner, settings: Vec::new(), process: None })
    }

    /// Has the server encrypt connections from its next start on, with a certificate and its key.
    ///
    /// # Panics
    /// The files cannot be read, or its folder cannot be written.
    pub fn encrypt(&mut self, certificate: &Path, key: &Path) {
        for (file, name) in [(certificate, "server.crt"), (key, "server.key")] {
            let copy = self.folder.join(name);
            let copied = fs::copy(file, &copy)
                .and_then(|_| fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)))
                .and_then(|()| self.owner.map_or(Ok(()), |(user, group)| chown(&copy, Some(user), Some(group))));
            copied.unwrap_or_else(|error| panic!("{}: {error}", copy.display()));
        }
        self.settings.push("ssl=on".to_owned());
    }

    /// Starts the process and waits until it answers.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(&mut self) {
        assert!(self.process.is_none(), "the server runs already");
        // A PID file of a killed process is stale.
        let _ = fs::remove_file(self.folder.join("postmaster.pid"));
        let log = File::options().create(true).append(true).open(self.folder.with_extension("log"));
        let process = log.and_then(|log| {
            let mut command = Command::new(self.programs.join("postgres"));
            command.arg("-D").arg(&self.folder).args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
            // Tests kill processes and do not simulate losses of power.
            for setting in ["unix_socket_directories=", "fsync=off", "shared_buffers=16MB", "max_connections=100"] {
                command.args(["-c", setting]);
            }
            for setting in &self.settings {
                command.args(["-c", setting]);
            }
            own(&mut command, self.owner);
            command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
        });
        self.process = Some(process.unwrap_or_else(|error| panic!("postgres: {error}")));
        let began = Instant::now();
        while !self.answers() {
            let ended = self.process.as_mut().map(Child::try_wait);
            let is_late = !matches!(ended, Some(Ok(None))) || began.elapsed() > START;
            assert!(!is_late, "postgres ({ended:?}) does not answer:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.with_extension("log")).unwrap_or_default()
    }

    fn answers(&self) -> bool {
        let mut ask = Command::new(self.programs.join("pg_isready"));
        ask.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).stdin(Stdio::null());
        TcpStream::connect(("127.0.0.1", self.port)).is_ok() && ask.status().is_ok_and(|status| status.success())
    }

    /// Kills the process and its children with `SIGKILL`, if it runs, and waits until they have ended.
    ///
    /// # Panics
    /// One of them does not end.
    pub fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        // A server that runs while its processes are killed starts new ones, which would hold its memory after it.
        signal("STOP", process.id());
        let children = children(process.id());
        for id in &children {
            signal("KILL", *id);
        }
        // It may have ended by itself.
        let _ = process.kill();
        let _ = process.wait();
        let began = Instant::now();
        while children.iter().any(|id| runs(*id)) {
            assert!(began.elapsed() < START, "postgres was killed and does not end:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal by its name, such as `STOP`, to the process and to those that it started, one for each connection.
    ///
    /// # Panics
    /// It does not run.
    pub fn signal(&self, name: &str) {
        let id = self.process.as_ref().map_or(0, Child::id);
        assert!(id != 0 && signal(name, id), "no signal {name} to {id}");
        for id in children(id) {
            signal(name, id);
        }
    }

    /// The port on which it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Address of its database.
    pub fn url(&self) -> String {
        format!("postgres://postgres:unused@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Debian's folder of the programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").is_file()).max();
    if newest.is_none() {
        missing("no initdb in /usr/lib/postgresql: apt-get install postgresql");
    }
    newest
}

/// The server refuses to run as root, so root runs it as the user of the package.
fn owner() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = |line: &str| {
        let mut fields = line.split(':');
        (fields.next()? == "postgres").then_some(())?;
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    if is_root { users.lines().find_map(fields) } else { None }
}

fn own(command: &mut Command, owner: Option<(u32, u32)>) {
    if let Some((user, group)) = owner {
        command.uid(user).gid(group).current_dir("/");
    }
}

/// A folder with an empty database, made once for a machine, since making one takes seconds.
fn template(programs: &Path, owner: Option<(u32, u32)>) -> PathBuf {
    let user = owner.map_or(0, |(user, _)| user);
    let version = programs.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("paraffin-test-postgres-{version}-{user}"));
    let failed = |error: std::io::Error| -> ! { panic!("{}: {error}", folder.display()) };
    fs::create_dir_all(&folder).unwrap_or_else(|error| failed(error));
    let lock = File::create(folder.join("lock")).unwrap_or_else(|error| failed(error));
    lock.lock().unwrap_or_else(|error| failed(error));
    let (made, making) = (folder.join("made"), folder.join("making"));
    if !made.is_dir() {
        // A test that was killed may have left half of one.
        let _ = fs::remove_dir_all(&making);
        fs::create_dir(&making).unwrap_or_else(|error| failed(error));
        if let Some((user, group)) = owner {
            chown(&making, Some(user), Some(group)).unwrap_or_else(|error| failed(error));
        }
        let mut command = Command::new(programs.join("initdb"));
        command.arg("-D").arg(&making).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        own(&mut command, owner);
        run(&mut command);
        fs::rename(&making, &made).unwrap_or_else(|error| failed(error));
    }
    made
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", command.get_program().display()));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The processes that a process has started and that have not ended.
fn children(id: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}
