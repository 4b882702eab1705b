//! The folders of a build, their preparation, and how one program of it is run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use paraffin_confine::{Confinement, Isolation, Shown, seen, system_folders};
use serde::Deserialize;

use crate::allowed::ToolPaths;
use crate::configuration::{self, Configuration};
use crate::git::command;
use crate::job::{Failure, FailureCode, Job};
use crate::package::Target;
use crate::supervise::{self, Ended, Finished, Watch};
use crate::toolchain::TARGET;
use crate::{removal, tools};

/// Largest module that is read, bytes.
const MODULE_BYTES_MAX: u64 = 16 << 20;
/// `/tmp` of a build, bytes.
const TMP_BYTES: u64 = 512 << 20;
/// Largest answer of cargo that is read, bytes: descriptions of a workspace and of its units, messages of a build.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// Folder of dependencies that `cargo vendor` makes.
const VENDOR: &str = "vendor";
/// Folders of a run that builds write into.
const WRITABLE: [&str; 3] = ["target", "home", "record"];
/// Path of this program where builds have their own root.
const PROGRAM: &str = "/build/paraffin";
/// File with the allowed part of the source's configuration, below the home folder of cargo.
const CONFIGURATION: &str = "configuration";
const MANIFEST: &str = "Cargo.toml";

fn internal(error: &std::io::Error) -> Failure {
    Failure {
        code: FailureCode::Internal,
        reason: format!("the build could not be prepared: {}", error.kind()),
        log: String::new(),
    }
}

fn refused(reason: String) -> Failure {
    Failure { code: FailureCode::SourceRefused, reason, log: String::new() }
}

/// What a program printed, without control characters.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|letter| if letter.is_control() && letter != '\n' && letter != '\t' { '\u{fffd}' } else { letter })
        .collect()
}

/// One program of a build.
pub(crate) struct Step {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Its working folder and its mounts.
    pub(crate) folder: PathBuf,
    pub(crate) shown: Vec<Shown>,
    /// Folders of this machine that it may write.
    pub(crate) watched: Vec<PathBuf>,
    /// Its name in the message of a failure.
    pub(crate) name: &'static str,
    pub(crate) output_bytes: usize,
}

/// The folders of a build, with their paths on this machine and inside of the build.
pub(crate) struct BuildFolders<'a> {
    job: &'a Job,
    home: PathBuf,
    has_vendor: bool,
    /// This program as builds see it, and as it is here.
    program: (PathBuf, PathBuf),
}

impl<'a> BuildFolders<'a> {
    pub(crate) fn prepare(job: &'a Job) -> Result<(Self, Vec<String>), Failure> {
        let failed = |error: std::io::Error| internal(&error);
        let here = std::env::current_exe().map_err(failed)?;
        let mut folders = Self { job, home: PathBuf::new(), has_vendor: false, program: (here.clone(), here) };
        folders.home = folders.inside("home");
        if folders.is_isolated() {
            folders.program.0 = PathBuf::from(PROGRAM);
            folders.home = job.options.home_dir.as_ref().map_or(folders.home, PathBuf::from);
        }
        for name in ["root", VENDOR] {
            fs::create_dir_all(folders.here(name)).map_err(failed)?;
        }
        for name in WRITABLE {
            folders.open_to_builds(&folders.here(name)).map_err(failed)?;
        }
        folders.open_to_builds(&folders.here("home/.cargo")).map_err(failed)?;
        tools::install(&folders.here("tools"), &folders.inside("tools"), &folders.program.0, &folders.tool_paths())
            .map_err(failed)?;
        folders.has_vendor = folders.gather_dependencies().map_err(failed)?;
        let ignored = folders.configure()?;
        Ok((folders, ignored))
    }

    fn is_isolated(&self) -> bool {
        self.job.settings.isolation == Isolation::Required
    }

    /// A folder of the run by its name, on this machine.
    pub(crate) fn here(&self, name: &str) -> PathBuf {
        self.job.folder.join(name)
    }

    /// The path of that folder inside of the build.
    pub(crate) fn inside(&self, name: &str) -> PathBuf {
        if self.is_isolated() { Path::new("/build").join(name) } else { self.here(name) }
    }

    pub(crate) fn compiler(&self) -> &Path {
        &self.job.toolchain.rustc
    }

    pub(crate) fn log_bytes(&self) -> usize {
        self.job.settings.log_kib << 10
    }

    #[allow(clippy::unused_self)] // reads as what went wrong with these folders
    pub(crate) fn internal(&self, error: &std::io::Error) -> Failure {
        internal(error)
    }

    /// An empty folder that builds write into.
    pub(crate) fn open_to_builds(&self, folder: &Path) -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        match self.job.settings.build_user() {
            Some((user, group)) => std::os::unix::fs::chown(folder, Some(user), Some(group)),
            None => Ok(()),
        }
    }

    /// Empties a folder that builds write into.
    pub(crate) fn clear(&self, name: &str) -> std::io::Result<()> {
        let folder = self.here(name);
        if folder.symlink_metadata().is_ok() {
            removal::remove(&folder)?;
        }
        self.open_to_builds(&folder)
    }

    pub(crate) fn tool_paths(&self) -> ToolPaths {
        let toolchain = &self.job.toolchain;
        let entry = self.inside("tools").join(toolchain.linker.file_name().unwrap_or_default());
        let mut inputs = vec![self.inside("target"), self.inside("written"), self.tmp()];
        inputs.extend(toolchain.libraries.iter().cloned());
        ToolPaths {
            compiler: toolchain.rustc.clone(),
            linker: toolchain.linker.clone(),
            linker_entry: entry,
            record: self.inside("record"),
            inputs,
        }
    }

    fn tmp(&self) -> PathBuf {
        if self.is_isolated() { PathBuf::from("/tmp") } else { self.home.clone() }
    }

    /// Where the toolchain has the sources of the standard library.
    pub(crate) fn library_sources(&self) -> Vec<PathBuf> {
        let libraries = self.job.toolchain.libraries.iter().map(|folder| folder.join("src"));
        libraries.clone().chain(libraries.filter_map(|folder| folder.canonicalize().ok())).collect()
    }

    fn tree(&self) -> PathBuf {
        self.here("source")
    }

    pub(crate) fn inside_folder(&self) -> PathBuf {
        self.inside("source").join(&self.job.options.subdir)
    }

    /// Folders of the tree from the one that is built up to its root, relative to that.
    fn folders_above(&self) -> impl Iterator<Item = &Path> {
        Path::new(&self.job.options.subdir).ancestors()
    }

    /// The manifest that cargo would find from the folder that is built.
    pub(crate) fn manifest(&self) -> Result<String, Failure> {
        let tree = self.tree();
        let package = self.folders_above().find(|folder| tree.join(folder).join(MANIFEST).is_file());
        let package = package.ok_or_else(|| refused("there is no Cargo.toml".to_owned()))?;
        Ok(self.inside("source").join(package).join(MANIFEST).display().to_string())
    }

    /// Files with cargo's configuration, that of the tree's root first.
    fn configurations(&self) -> Vec<(PathBuf, PathBuf)> {
        let mut folders: Vec<&Path> = self.folders_above().collect();
        folders.reverse();
        let named = |folder: &Path| {
            // The older name comes first, as with cargo.
            let file = ["config", "config.toml"].iter().map(|name| self.tree().join(folder).join(".cargo").join(name));
            Some((self.inside("source").join(folder), file.into_iter().find(|file| file.is_file())?))
        };
        folders.into_iter().filter_map(named).collect()
    }

    /// Writes the allowed part of the source's configuration where cargo reads it; returns the names of the ignored settings.
    fn configure(&self) -> Result<Vec<String>, Failure> {
        let source = self.inside("source");
        let mut ignored = Vec::new();
        for (number, (folder, file)) in self.configurations().into_iter().enumerate() {
            let bytes = fs::read(file).map_err(|error| internal(&error))?;
            let text = String::from_utf8(bytes).map_err(|_| refused("cargo's configuration is no text".to_owned()))?;
            let Configuration { allowed, ignored: more } =
                configuration::read(&text, &folder, &source).map_err(refused)?;
            let name = format!("{CONFIGURATION}-{number}.toml");
            fs::write(self.here("tools").join(name), allowed.to_string()).map_err(|error| internal(&error))?;
            ignored.extend(more);
        }
        Ok(ignored)
    }

    /// Makes one folder of links to all available crates: those beside the source, and those of the library. Returns
    /// whether the build takes its crates from there.
    fn gather_dependencies(&self) -> std::io::Result<bool> {
        let tree = self.tree();
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let beside =
            self.folders_above().map(|folder| folder.join(VENDOR)).find(|folder| is_folder(&tree.join(folder)));
        let has_settings = !self.configurations().is_empty();
        if beside.is_none() && (has_settings || self.job.toolchain.library_vendor.is_none()) {
            return Ok(false);
        }
        let library = self.job.toolchain.library_vendor.clone();
        let seen_beside = beside.as_ref().map(|folder| self.inside("source").join(folder));
        let beside = beside.map(|folder| tree.join(folder));
        for (prefix, folder, seen) in [("source", beside, seen_beside), ("library", library.clone(), library)] {
            let (Some(folder), Some(seen)) = (folder, seen) else { continue };
            for entry in fs::read_dir(folder)?.flatten() {
                let name = entry.file_name();
                let link = format!("{prefix}-{}", name.to_string_lossy());
                std::os::unix::fs::symlink(seen.join(&name), self.here(VENDOR).join(link))?;
            }
        }
        Ok(true)
    }

    /// Runs cargo to its end; a failure unless it succeeds. It starts outside of the source, so that it finds no configuration there.
    pub(crate) fn cargo(
        &self,
        arguments: &[&str],
        deadline: Instant,
        more: &[(&str, &str)],
    ) -> Result<Finished, Failure> {
        let mut given: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        for number in 0..self.configurations().len() {
            let file = self.inside("tools").join(format!("{CONFIGURATION}-{number}.toml"));
            given.extend(["--config".to_owned(), file.display().to_string()]);
        }
        if self.has_vendor {
            let vendor = self.inside(VENDOR);
            given.extend(["--config".to_owned(), "source.crates-io.replace-with='paraffin-vendor'".to_owned()]);
            given.extend(["--config".to_owned(), format!("source.paraffin-vendor.directory='{}'", vendor.display())]);
        }
        let mut environment = self.environment();
        environment.extend(self.settings_of_cargo());
        environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut shown = self.shown_to_all();
        for name in ["target", "record"] {
            shown.push(Shown { from: self.here(name), to: self.inside(name), writable: true });
        }
        let step = Step {
            program: self.job.toolchain.cargo.clone(),
            arguments: given,
            environment,
            folder: self.home.clone(),
            shown,
            watched: WRITABLE.map(|name| self.here(name)).to_vec(),
            name: "cargo",
            output_bytes: ANSWER_BYTES_MAX,
        };
        self.run(&step, deadline)
    }

    /// Runs one program of the build to its end; a failure unless it succeeds.
    pub(crate) fn run(&self, step: &Step, deadline: Instant) -> Result<Finished, Failure> {
        let settings = &self.job.settings;
        let watch = Watch {
            deadline,
            memory_bytes: settings.memory_bytes(),
            folders: step.watched.clone(),
            disk_bytes: settings.disk_bytes(),
            disk_entries: settings.disk_entries_max,
            output_bytes: step.output_bytes,
            errors_bytes: self.log_bytes(),
        };
        let confinement = Confinement {
            isolation: settings.isolation,
            network: false,
            root: self.here("root"),
            shown: step.shown.clone(),
            tmp_bytes: TMP_BYTES,
            limits: settings.process_limits(),
            user: settings.build_user(),
            program: step.program.clone(),
            arguments: step.arguments.clone(),
            environment: step.environment.clone(),
            folder: step.folder.clone(),
        };
        let finished = command(&confinement, &self.job.folder, "step.json")
            .and_then(|command| supervise::run(command, &watch))
            .map_err(|error| internal(&error))?;
        let log = text(&finished.errors);
        let failed = |code, reason: String| Err(Failure { code, reason, log: log.clone() });
        match finished.ended {
            Ended::Code(0) => Ok(finished),
            Ended::Code(code)
                if code == i32::from(paraffin_confine::NOT_CONFINED) && log.contains(paraffin_confine::COMPLAINT) =>
            {
                eprintln!("a build could not be shut in: {log}");
                Err(Failure {
                    code: FailureCode::NotIsolated,
                    reason: "this machine cannot shut the build in, so it was not run".to_owned(),
                    log: String::new(),
                })
            }
            Ended::Code(_) | Ended::Signal(_) => {
                let what = if step.name == "cargo" { step.arguments.first().map_or("", String::as_str) } else { "" };
                failed(FailureCode::BuildFailed, format!("`{}` failed", format!("{} {what}", step.name).trim()))
            }
            Ended::Time => {
                failed(FailureCode::TimeLimit, format!("the build took more than {} s", settings.build_seconds))
            }
            Ended::Memory => {
                let reason =
                    format!("the build took more than {} MiB, or all that this machine had left", settings.memory_mib);
                failed(FailureCode::MemoryLimit, reason)
            }
            Ended::Disk => failed(
                FailureCode::DiskLimit,
                format!(
                    "the build wrote more than {} MiB or {} files, or into folders that cannot be read",
                    settings.disk_mib, settings.disk_entries_max
                ),
            ),
        }
    }

    /// The mounts of every program of a build.
    pub(crate) fn shown_to_all(&self) -> Vec<Shown> {
        let mut shown = system_folders();
        shown.extend(self.job.toolchain.folders.iter().map(|folder| seen(folder)));
        for (name, to, writable) in [
            ("source", self.inside("source"), false),
            ("home", self.home.clone(), true),
            ("tools", self.inside("tools"), false),
        ] {
            shown.push(Shown { from: self.here(name), to, writable });
        }
        shown.push(Shown { from: self.program.1.clone(), to: self.program.0.clone(), writable: false });
        if self.has_vendor {
            shown.push(Shown { from: self.here(VENDOR), to: self.inside(VENDOR), writable: false });
        }
        shown
    }

    /// The environment variables of every program of a build.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let toolchain = &self.job.toolchain;
        let mut environment = self.job.options.environment.clone();
        let beside = toolchain.cargo.parent().map(|folder| format!("{}:", folder.display())).unwrap_or_default();
        for (name, value) in [
            ("PATH", format!("{beside}/usr/local/bin:/usr/bin:/bin")),
            ("HOME", self.home.display().to_string()),
            ("TMPDIR", self.tmp().display().to_string()),
        ] {
            environment.insert(name.to_owned(), value);
        }
        environment.entry("LANG".to_owned()).or_insert_with(|| "C.UTF-8".to_owned());
        environment
    }

    fn settings_of_cargo(&self) -> BTreeMap<String, String> {
        let paths = self.tool_paths();
        [
            ("RUSTC", paths.compiler.display().to_string()),
            ("RUSTC_WRAPPER", self.inside("tools").join(tools::COMPILER_ENTRY).display().to_string()),
            ("RUSTC_WORKSPACE_WRAPPER", String::new()),
            ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", paths.linker_entry.display().to_string()),
            ("CARGO_HOME", self.home.join(".cargo").display().to_string()),
            ("CARGO_TARGET_DIR", self.inside("target").display().to_string()),
            ("CARGO_NET_OFFLINE", "true".to_owned()),
            ("CARGO_TERM_COLOR", "never".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// The module that cargo reports to have made of the library.
    pub(crate) fn reported(&self, messages: &[u8], library: &Target) -> Result<PathBuf, Failure> {
        #[derive(Deserialize)]
        struct Message {
            reason: String,
            target: MessageTarget,
            filenames: Vec<PathBuf>,
        }
        #[derive(Deserialize)]
        struct MessageTarget {
            src_path: PathBuf,
        }
        let name = format!("{}.wasm", library.name.replace('-', "_"));
        let path = Path::new(TARGET).join("release").join(name);
        let expected = self.inside("target").join(&path);
        let is_it = |message: Message| {
            message.reason == "compiler-artifact"
                && message.target.src_path == library.src_path
                && message.filenames.contains(&expected)
        };
        let lines = messages.split(|byte| *byte == b'\n');
        if lines.filter_map(|line| serde_json::from_slice(line).ok()).any(is_it) {
            Ok(self.here("target").join(path))
        } else {
            Err(no_module("the build made no module"))
        }
    }

    /// Reads what was built. All processes of the build have ended; their files may be links to anywhere, so the module
    /// must be a plain file at its path.
    pub(crate) fn read_module(&self, file: &Path) -> Result<Vec<u8>, Failure> {
        let folder = self.job.folder.canonicalize().map_err(|error| internal(&error))?;
        let expected = file.strip_prefix(&self.job.folder).map_or_else(|_| file.to_owned(), |path| folder.join(path));
        let metadata = expected.symlink_metadata().map_err(|_| no_module("the build made no module"))?;
        if expected.canonicalize().ok().as_ref() != Some(&expected) || !metadata.is_file() {
            return Err(no_module("the build made something else than a module"));
        }
        if metadata.len() > MODULE_BYTES_MAX {
            return Err(no_module("the module is too large"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&expected).map_err(|error| internal(&error))?;
        file.take(MODULE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| internal(&error))?;
        Ok(bytes)
    }
}

fn no_module(reason: &str) -> Failure {
    Failure { code: FailureCode::BuildFailed, reason: reason.to_owned(), log: String::new() }
}
