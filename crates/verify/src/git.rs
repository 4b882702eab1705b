//! Fetches one commit of a repository and unpacks it, without ever checking it out: no hook, no filter and no attribute of the
//! repository takes part, and its paths are checked like those of any archive.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use paraffin_confine::{Confinement, Isolation, Shown, seen, system_folders};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

use crate::archive::{ArchiveError, SourceFile, unpack};
use crate::removal;
use crate::repository::{PORT, Repository, RepositoryError, public_address};
use crate::settings::Settings;
use crate::supervise::{self, Ended, Watch};

/// Bytes per second below which a transfer counts as stuck, for so many seconds.
const SLOW_BYTES: u64 = 1_000;
const SLOW_SECONDS: u64 = 30;
/// Overrides attributes of the repository that would change the unpacked files.
const ATTRIBUTES: &str = "* -export-ignore -export-subst -text -eol -ident -filter -working-tree-encoding\n";
const OUTPUT_BYTES: usize = 16 << 10;
/// `/tmp` of git, bytes.
const TMP_BYTES: u64 = 16 << 20;
/// In the folder of a run: an empty one, over which the root is mounted.
const ROOT: &str = "root";
/// In the folder that git may write: the fetched repository, and the archive of its tree.
const REPOSITORY: &str = "repository.git";
const ARCHIVE: &str = "repository.tar";
/// Paths of the system's CA certificates, and of the rules by which libraries for TLS choose ciphers.
const AUTHORITIES: [&str; 8] = [
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/crypto-policies",
];

/// A repository could not be fetched. The messages are for the submitter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(
        "git could not fetch the commit: it or the repository does not exist, is private, or the host did not answer"
    )]
    Git(String),
    #[error("the repository is too large, or fetching it took too long")]
    TooMuch,
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("git could not be run: {0}")]
    Io(#[from] std::io::Error),
}

/// Fetches into an empty folder beside `into`; returns the id of the commit, 40 hex digits, and the files of its tree.
pub(crate) fn fetch(
    repository: &Repository,
    commit: &str,
    run_folder: &Path,
    into: &Path,
    settings: &Settings,
) -> Result<(String, Vec<SourceFile>), FetchError> {
    let local = match repository {
        Repository::Local { path } => Some(path.as_path()),
        Repository::Https { .. } => None,
    };
    let git = Git::prepare(run_folder, local, settings)?;
    let inside = git.inside_folder();
    let folder = inside.join(REPOSITORY).display().to_string();
    git.run(&["init", "--quiet", "--bare", "--template=", &folder])?;
    fs::create_dir_all(git.folder.join(REPOSITORY).join("info"))?;
    fs::write(git.folder.join(REPOSITORY).join("info/attributes"), ATTRIBUTES)?;

    let mut arguments: Vec<String> = Vec::new();
    let address = match repository {
        Repository::Https { host, url } => {
            let address = public_address(host)?;
            arguments.extend(["-c".to_owned(), format!("http.curloptResolve={host}:{PORT}:{address}")]);
            url.clone()
        }
        Repository::Local { path } => git.inside_local(path).display().to_string(),
    };
    arguments.push(format!("--git-dir={folder}"));
    let fetch = [
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--end-of-options",
    ];
    arguments.extend(fetch.map(str::to_owned));
    arguments.extend([address, commit.to_owned()]);
    git.run(&arguments)?;
    let git_dir = format!("--git-dir={folder}");
    let id = git.run(&[&git_dir, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}"])?;
    let id = String::from_utf8_lossy(&id).trim().to_owned();

    let tar = format!("--output={}", inside.join(ARCHIVE).display());
    git.run(&[&git_dir, "archive", "--format=tar", &tar, &id])?;
    let files = unpack(open(&git.folder.join(ARCHIVE))?, false, into, &settings.archive_limits())?;
    // No longer needed, and it would count against the disk limit of the build.
    removal::remove(&git.folder)?;
    Ok((id, files))
}

/// Opens a file that an untrusted program has written. A link is not followed, and a pipe, on which this process would wait, is refused.
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("it is something else than a file")) }
}

struct Git<'a> {
    /// The folder that git may write.
    folder: PathBuf,
    run_folder: PathBuf,
    /// The repository that is fetched, where it is a folder of this machine.
    local: Option<&'a Path>,
    settings: &'a Settings,
    deadline: Instant,
}

impl<'a> Git<'a> {
    fn prepare(run_folder: &Path, local: Option<&'a Path>, settings: &'a Settings) -> std::io::Result<Self> {
        let folder = run_folder.join("fetch");
        fs::create_dir_all(&folder)?;
        fs::create_dir_all(run_folder.join(ROOT))?;
        let deadline = Instant::now() + settings.fetch_timeout();
        Ok(Self { folder, run_folder: run_folder.to_owned(), local, settings, deadline })
    }

    fn is_isolated(&self) -> bool {
        self.settings.isolation == Isolation::Required
    }

    /// The folder as git sees it.
    fn inside_folder(&self) -> PathBuf {
        if self.is_isolated() { PathBuf::from("/fetch") } else { self.folder.clone() }
    }

    /// A local repository as git sees it.
    fn inside_local(&self, path: &Path) -> PathBuf {
        if self.is_isolated() { PathBuf::from("/repository") } else { path.to_owned() }
    }

    /// All that git sees: programs, trusted certificate authorities, its folder, and the local repository if it fetches one.
    fn shown(&self) -> Vec<Shown> {
        let mut shown = system_folders();
        let authorities = AUTHORITIES.iter().map(Path::new).filter(|path| path.symlink_metadata().is_ok());
        shown.extend(authorities.map(seen));
        shown.push(Shown { from: self.folder.clone(), to: self.inside_folder(), writable: true });
        // One that does not exist is for git to report.
        if let Some(path) = self.local.and_then(|path| path.canonicalize().ok()) {
            shown.push(Shown { to: self.inside_local(&path), from: path, writable: false });
        }
        shown
    }

    /// Runs git isolated but for the network, with limits and nothing of this machine's settings; returns its output.
    fn run(&self, arguments: &[impl AsRef<str>]) -> Result<Vec<u8>, FetchError> {
        let protocols = if self.settings.local_repositories { "https:file" } else { "https" };
        let all = [
            "credential.helper=",
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "core.symlinks=false",
            "http.followRedirects=false",
            "http.proxy=",
            "protocol.version=2",
            "safe.directory=*",
            "submodule.recurse=false",
            "fetch.writeCommitGraph=false",
            "gc.auto=0",
        ];
        let mut given: Vec<String> = all.iter().flat_map(|setting| ["-c".to_owned(), (*setting).to_owned()]).collect();
        given.extend(["-c".to_owned(), format!("http.lowSpeedLimit={SLOW_BYTES}")]);
        given.extend(["-c".to_owned(), format!("http.lowSpeedTime={SLOW_SECONDS}")]);
        given.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        let environment: BTreeMap<String, String> = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", self.inside_folder().display().to_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_ASKPASS", "/bin/false".to_owned()),
            ("GIT_ALLOW_PROTOCOL", protocols.to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            ("LC_ALL", "C".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let confinement = Confinement {
            isolation: self.settings.isolation,
            network: true,
            root: self.run_folder.join(ROOT),
            shown: self.shown(),
            tmp_bytes: TMP_BYTES,
            limits: self.settings.process_limits(),
            user: None,
            program: PathBuf::from("git"),
            arguments: given,
            environment,
            folder: self.inside_folder(),
        };
        let watch = Watch {
            deadline: self.deadline,
            memory_bytes: self.settings.memory_bytes(),
            folders: vec![self.run_folder.clone()],
            disk_bytes: self.settings.disk_bytes(),
            disk_entries: self.settings.disk_entries_max,
            output_bytes: OUTPUT_BYTES,
            errors_bytes: OUTPUT_BYTES,
        };
        let finished = supervise::run(command(&confinement, &self.run_folder, "git.json")?, &watch)?;
        match finished.ended {
            Ended::Code(0) => Ok(finished.output),
            Ended::Code(code) if code == i32::from(paraffin_confine::NOT_CONFINED) => {
                Err(FetchError::Io(std::io::Error::other(String::from_utf8_lossy(&finished.errors).into_owned())))
            }
            Ended::Code(_) => {
                let errors = String::from_utf8_lossy(&finished.errors).into_owned();
                Err(if met_a_limit(&errors) { FetchError::TooMuch } else { FetchError::Git(errors) })
            }
            _ => Err(FetchError::TooMuch),
        }
    }
}

/// Whether git ended because a program of it met a limit before the watch saw it: whichever of the two is first depends on the
/// machine. Git reports the signal of a child by its number, and errors of the system in English (`LC_ALL` is `C`).
fn met_a_limit(errors: &str) -> bool {
    let signals = [Signal::XFSZ, Signal::XCPU, Signal::KILL];
    let is_signal = |line: &str| {
        let number = line.rsplit_once("died of signal ").and_then(|(_, number)| number.trim().parse().ok());
        number.is_some_and(|number: i32| signals.iter().any(|signal| signal.as_raw() == number))
    };
    let words = ["File too large", "No space left on device", "Disk quota exceeded", "Cannot allocate memory"];
    errors.lines().any(|line| is_signal(line) || words.iter().any(|word| line.ends_with(word)))
}

/// The command that runs a program isolated; the description is written into a file of the run.
pub(crate) fn command(confinement: &Confinement, run_folder: &Path, name: &str) -> std::io::Result<Command> {
    let description = run_folder.join(name);
    fs::write(&description, serde_json::to_vec(confinement)?)?;
    let mut command = Command::new(std::env::current_exe()?);
    let parent = OsString::from(std::process::id().to_string());
    command.arg(paraffin_confine::SUBCOMMAND).arg(description).arg(parent);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::met_a_limit;

    /// The first is what git 2.47 printed when its pack grew beyond the limit of a file; the others are of the forms that its
    /// sources have for errors of the system and of its children.
    #[test]
    fn limits_of_a_fetch_are_told_from_repositories_that_are_not_there() {
        for errors in [
            "error: --shallow-file died of signal 25\nfatal: unpack-objects failed\n",
            "error: index-pack died of signal 9\nfatal: fetch-pack: invalid index-pack output\n",
            "fatal: write error: File too large\n",
            "error: file write error: No space left on device\nfatal: unable to write loose object file\n",
            "fatal: Out of memory, malloc failed: Cannot allocate memory\n",
        ] {
            assert!(met_a_limit(errors), "{errors}");
        }
        for errors in [
            "",
            "fatal: couldn't find remote ref File too large yet\n",
            "error: index-pack died of signal 11\n",
            "error: index-pack died of signal \n",
            "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com\n",
        ] {
            assert!(!met_a_limit(errors), "{errors}");
        }
    }
}
