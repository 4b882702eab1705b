//! Builds one package of a source tree for wasm, shut in, without network.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use paraffin_confine::{Confinement, Isolation, Shown, seen, system_folders};
use serde::Deserialize;

use crate::git::command;
use crate::job::{Failure, FailureCode, Job};
use crate::supervise::{self, Ended, Finished, Watch};
use crate::toolchain::TARGET;

/// Largest module that is looked at, bytes.
const MODULE_BYTES_MAX: u64 = 16 << 20;
/// `/tmp` of a build, bytes.
const TMP_BYTES: u64 = 512 << 20;
/// Largest description of a workspace by cargo, bytes.
const METADATA_BYTES_MAX: usize = 16 << 20;
/// What a build cannot change.
const RESERVED: [&str; 10] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_NET_OFFLINE",
    "CARGO_TERM_COLOR",
];
/// Longest name of a package or library in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Folder of dependencies that `cargo vendor` makes.
const VENDOR: &str = "vendor";

/// A module, and how it was made.
pub(crate) struct Module {
    pub(crate) bytes: Vec<u8>,
    pub(crate) package: String,
    pub(crate) log: String,
}

/// Whether a variable may be set by the one who asks for a build.
pub(crate) fn may_set(name: &str) -> bool {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain
        && !RESERVED.contains(&name)
        && !name.starts_with("LD_")
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether a text is the name of a package or library: nothing that could be an option or a path.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
}

/// Builds what the job asks for.
pub(crate) fn build(job: &Job) -> Result<Module, Failure> {
    let place = Place::prepare(job).map_err(|error| internal(&error))?;
    let deadline = Instant::now() + job.settings.build_timeout();
    let described =
        place.cargo(&["metadata", "--format-version=1", "--no-deps", "--offline"], deadline, METADATA_BYTES_MAX)?;
    let metadata: Metadata = serde_json::from_slice(&described.output).map_err(|_| {
        let reason = "cargo's description of the workspace is too large or cannot be read".to_owned();
        Failure { code: FailureCode::PackageNotFound, reason, log: String::new() }
    })?;
    let (package, library) = metadata.choose(job.options.package.as_deref(), &place.inside_folder())?;
    let mut arguments = vec![if library.is_module() { "build" } else { "rustc" }];
    arguments.extend(["--release", "--locked", "--offline", "--lib", "--target", TARGET, "--package", &package.name]);
    if !library.is_module() {
        // A library that is none by itself is linked as a module for this once.
        arguments.extend(["--crate-type", "cdylib"]);
    }
    let finished = place.cargo(&arguments, deadline, job.settings.log_kib << 10)?;
    let bytes = place.module(&library.name)?;
    Ok(Module { bytes, package: package.name.clone(), log: text(&finished.errors) })
}

fn internal(error: &std::io::Error) -> Failure {
    Failure {
        code: FailureCode::Internal,
        reason: format!("the build could not be prepared: {}", error.kind()),
        log: String::new(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|letter| if letter.is_control() && letter != '\n' && letter != '\t' { '\u{fffd}' } else { letter })
        .collect()
}

/// The folders of a build, as they are here and as it sees them.
struct Place<'a> {
    job: &'a Job,
    /// The build's own names of the folders.
    source: PathBuf,
    target: PathBuf,
    home: PathBuf,
    vendor: Option<PathBuf>,
}

impl<'a> Place<'a> {
    fn prepare(job: &'a Job) -> std::io::Result<Self> {
        let is_isolated = job.settings.isolation == Isolation::Required;
        let inside = |name: &str| if is_isolated { Path::new("/build").join(name) } else { job.folder.join(name) };
        for name in ["root", "target", "home/.cargo", VENDOR] {
            fs::create_dir_all(job.folder.join(name))?;
        }
        if let Some((user, group)) = job.settings.build_user() {
            for name in ["target", "home", "home/.cargo"] {
                std::os::unix::fs::chown(job.folder.join(name), Some(user), Some(group))?;
            }
        }
        let home = job.options.home_dir.as_ref().filter(|_| is_isolated).map_or_else(|| inside("home"), PathBuf::from);
        let mut place = Self { job, source: inside("source"), target: inside("target"), home, vendor: None };
        if place.gather_dependencies()? {
            place.vendor = Some(inside(VENDOR));
        }
        Ok(place)
    }

    /// One folder of links to all crates at hand: those beside the source, and those of the library. Answers whether the build
    /// takes its crates from there.
    fn gather_dependencies(&self) -> std::io::Result<bool> {
        let tree = self.job.folder.join("source");
        let from = tree.join(&self.job.options.subdir);
        let above: Vec<&Path> = from.ancestors().take_while(|folder| folder.starts_with(&tree)).collect();
        let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let beside = above.iter().map(|folder| folder.join(VENDOR)).find(|folder| is_folder(folder));
        let has_settings = above.iter().any(|folder| {
            ["config.toml", "config"].iter().any(|name| folder.join(".cargo").join(name).symlink_metadata().is_ok())
        });
        if beside.is_none() && (has_settings || self.job.toolchain.library_vendor.is_none()) {
            return Ok(false);
        }
        let library = self.job.toolchain.library_vendor.clone();
        let seen_beside =
            beside.as_ref().and_then(|folder| folder.strip_prefix(&tree).ok()).map(|path| self.source.join(path));
        for (prefix, folder, seen) in [("source", beside, seen_beside), ("library", library.clone(), library)] {
            let (Some(folder), Some(seen)) = (folder, seen) else { continue };
            for entry in fs::read_dir(folder)?.flatten() {
                let name = entry.file_name();
                let link = format!("{prefix}-{}", name.to_string_lossy());
                std::os::unix::fs::symlink(seen.join(&name), self.job.folder.join(VENDOR).join(link))?;
            }
        }
        Ok(true)
    }

    fn inside_folder(&self) -> PathBuf {
        self.source.join(&self.job.options.subdir)
    }

    /// Runs cargo to its end; a failure unless it succeeds.
    fn cargo(&self, arguments: &[&str], deadline: Instant, output_bytes: usize) -> Result<Finished, Failure> {
        let settings = &self.job.settings;
        let watch = Watch {
            deadline,
            memory_bytes: settings.memory_bytes(),
            folders: ["target", "home"].map(|name| self.job.folder.join(name)).to_vec(),
            disk_bytes: settings.disk_bytes(),
            disk_entries: settings.disk_entries_max,
            output_bytes,
        };
        let finished = command(&self.confinement(arguments), &self.job.folder, "cargo.json")
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
                failed(FailureCode::BuildFailed, format!("`cargo {}` failed", arguments.first().unwrap_or(&"")))
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
                    "the build wrote more than {} MiB or {} files, or where nobody can count them",
                    settings.disk_mib, settings.disk_entries_max
                ),
            ),
        }
    }

    fn confinement(&self, arguments: &[&str]) -> Confinement {
        let toolchain = &self.job.toolchain;
        let mut given: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        if let Some(vendor) = &self.vendor {
            given.extend(["--config".to_owned(), "source.crates-io.replace-with='paraffin-vendor'".to_owned()]);
            given.extend(["--config".to_owned(), format!("source.paraffin-vendor.directory='{}'", vendor.display())]);
        }
        Confinement {
            isolation: self.job.settings.isolation,
            network: false,
            root: self.job.folder.join("root"),
            shown: self.shown(),
            tmp_bytes: TMP_BYTES,
            limits: self.job.settings.process_limits(),
            user: self.job.settings.build_user(),
            program: toolchain.cargo.clone(),
            arguments: given,
            environment: self.environment(),
            folder: self.inside_folder(),
        }
    }

    fn shown(&self) -> Vec<Shown> {
        let mut shown = system_folders();
        shown.extend(self.job.toolchain.folders.iter().map(|folder| seen(folder)));
        for (name, to, writable) in
            [("source", &self.source, false), ("target", &self.target, true), ("home", &self.home, true)]
        {
            shown.push(Shown { from: self.job.folder.join(name), to: to.clone(), writable });
        }
        if let Some(vendor) = &self.vendor {
            shown.push(Shown { from: self.job.folder.join(VENDOR), to: vendor.clone(), writable: false });
        }
        shown
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let toolchain = &self.job.toolchain;
        let mut environment = self.job.options.environment.clone();
        let beside = toolchain.cargo.parent().map(|folder| format!("{}:", folder.display())).unwrap_or_default();
        let tmp = if self.job.settings.isolation == Isolation::Required {
            "/tmp".to_owned()
        } else {
            self.home.display().to_string()
        };
        for (name, value) in [
            ("PATH", format!("{beside}/usr/local/bin:/usr/bin:/bin")),
            ("HOME", self.home.display().to_string()),
            ("TMPDIR", tmp),
            ("RUSTC", toolchain.rustc.display().to_string()),
            // Empty, they take away what the settings of the source name: the compiler is the one that the run tells.
            ("RUSTC_WRAPPER", String::new()),
            ("RUSTC_WORKSPACE_WRAPPER", String::new()),
            ("CARGO_HOME", self.home.join(".cargo").display().to_string()),
            ("CARGO_TARGET_DIR", self.target.display().to_string()),
            ("CARGO_NET_OFFLINE", "true".to_owned()),
            ("CARGO_TERM_COLOR", "never".to_owned()),
        ] {
            environment.insert(name.to_owned(), value);
        }
        environment.entry("LANG".to_owned()).or_insert_with(|| "C.UTF-8".to_owned());
        if let Some(linker) = &toolchain.linker {
            let name = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER";
            environment.entry(name.to_owned()).or_insert_with(|| linker.display().to_string());
        }
        environment
    }

    /// Reads what was built. All processes of the build have ended; what they left may lead anywhere, so it must really lie
    /// in the folder of the build.
    fn module(&self, library: &str) -> Result<Vec<u8>, Failure> {
        let missing =
            |reason: &str| Failure { code: FailureCode::BuildFailed, reason: reason.to_owned(), log: String::new() };
        let target = self.job.folder.join("target").canonicalize().map_err(|error| internal(&error))?;
        let name = format!("{}.wasm", library.replace('-', "_"));
        let expected = target.join(TARGET).join("release").join(name);
        let found = expected.symlink_metadata().map_err(|_| missing("the build made no module"))?;
        if expected.canonicalize().ok().as_ref() != Some(&expected) || !found.is_file() {
            return Err(missing("the build made something else than a module"));
        }
        if found.len() > MODULE_BYTES_MAX {
            return Err(missing("the module is too large"));
        }
        let mut bytes = Vec::new();
        let file = File::open(&expected).map_err(|error| internal(&error))?;
        file.take(MODULE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| internal(&error))?;
        Ok(bytes)
    }
}

/// What `cargo metadata` tells, as far as it is needed.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    crate_types: Vec<String>,
}

impl Target {
    fn is_module(&self) -> bool {
        self.crate_types.iter().any(|kind| kind == "cdylib")
    }

    fn is_library(&self) -> bool {
        const LIBRARIES: [&str; 3] = ["lib", "rlib", "cdylib"];
        self.kind.iter().any(|kind| LIBRARIES.contains(&kind.as_str()))
    }
}

impl Metadata {
    /// The package of that name; without one, that of the folder, or the only one that makes modules, or the only one.
    fn choose(&self, name: Option<&str>, folder: &Path) -> Result<(&Package, &Target), Failure> {
        let libraries: Vec<(&Package, &Target)> = self
            .packages
            .iter()
            .filter_map(|package| Some((package, package.targets.iter().find(|target| target.is_library())?)))
            // The source names them, and where the module lies is told by such a name.
            .filter(|(package, library)| is_name(&package.name) && is_name(&library.name))
            .collect();
        let only = |mut found: Vec<(&'_ Package, &'_ Target)>| {
            if found.len() == 1 {
                found.pop().map(|(package, target)| (package.name.clone(), target.name.clone()))
            } else {
                None
            }
        };
        let chosen = match name {
            Some(name) => libraries.iter().find(|(package, _)| package.name == name).copied(),
            None => {
                let modules = libraries.iter().copied().filter(|(_, target)| target.is_module()).collect();
                let alone = only(modules).or_else(|| only(libraries.clone()));
                let here = folder.join("Cargo.toml");
                libraries
                    .iter()
                    .find(|(package, _)| package.manifest_path == here)
                    .or_else(|| {
                        libraries
                            .iter()
                            .find(|(package, _)| alone.as_ref().is_some_and(|(name, _)| package.name == *name))
                    })
                    .copied()
            }
        };
        chosen.ok_or_else(|| {
            const NAMES_MAX: usize = 50;
            let names: Vec<&str> = libraries.iter().take(NAMES_MAX).map(|(package, _)| package.name.as_str()).collect();
            Failure {
                code: FailureCode::PackageNotFound,
                reason: format!("name one of the libraries of the workspace in `package`: {}", names.join(", ")),
                log: String::new(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(packages: &[(&str, &str, &[&str])]) -> Metadata {
        let packages = packages.iter().map(|(name, folder, kinds)| Package {
            name: (*name).to_owned(),
            manifest_path: Path::new("/build/source").join(folder).join("Cargo.toml"),
            targets: vec![Target {
                name: name.replace('-', "_"),
                kind: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
                crate_types: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            }],
        });
        Metadata { packages: packages.collect() }
    }

    #[test]
    fn a_package_is_chosen_by_name_folder_or_because_it_is_alone() {
        let name = |metadata: &Metadata, asked, folder: &str| {
            metadata
                .choose(asked, &Path::new("/build/source").join(folder))
                .map(|(package, _)| package.name.clone())
                .map_err(|failure| failure.reason)
        };
        let several =
            metadata(&[("sdk", "sdk", &["lib"]), ("coin", "coin", &["cdylib", "rlib"]), ("tool", "tool", &["bin"])]);
        assert_eq!(name(&several, Some("sdk"), ""), Ok("sdk".to_owned()));
        assert_eq!(name(&several, None, ""), Ok("coin".to_owned()));
        assert_eq!(name(&several, None, "sdk"), Ok("sdk".to_owned()));
        assert!(name(&several, Some("tool"), "").unwrap_err().ends_with("sdk, coin"));
        let two = metadata(&[("a", "a", &["cdylib"]), ("b", "b", &["cdylib"])]);
        assert!(name(&two, None, "").is_err());
        assert_eq!(name(&metadata(&[("a", "a", &["lib"])]), None, ""), Ok("a".to_owned()));
        assert!(name(&metadata(&[]), None, "").is_err());
    }

    #[test]
    fn names_of_the_source_that_are_paths_options_or_endless_are_not_taken() {
        for bad in
            ["", "../../x", "/etc/x", "-Zx", "--config=x", "a b", "a\nb", "größe", &"x".repeat(NAME_BYTES_MAX + 1)]
        {
            let hostile = metadata(&[(bad, "x", &["cdylib"]), ("good", "good", &["rlib"])]);
            let told = hostile.choose(None, Path::new("/build/source")).map(|(package, _)| package.name.clone());
            assert_eq!(told.unwrap(), "good", "{bad:?}");
            let reason = hostile.choose(Some("other"), Path::new("/build/source")).unwrap_err().reason;
            assert!(reason.ends_with(": good"), "{reason}");
        }
        // A library may have another name than its package.
        let mut led_out = metadata(&[("coin", "coin", &["cdylib"])]);
        led_out.packages[0].targets[0].name = "/etc/secret".to_owned();
        assert!(led_out.choose(Some("coin"), Path::new("/build/source")).is_err());
        assert!(is_name("_coin") && is_name("my-coin_2"));
    }

    #[test]
    fn what_the_worker_decides_cannot_be_set() {
        for good in ["RUSTFLAGS", "RUSTC_BOOTSTRAP", "CARGO_UNSTABLE_BUILD_STD", "A1"] {
            assert!(may_set(good), "{good}");
        }
        for bad in ["", "PATH", "HOME", "RUSTC", "RUSTC_WRAPPER", "CARGO_HOME", "LD_PRELOAD", "A=B", "1A", "A-B", "ä"]
        {
            assert!(!may_set(bad), "{bad}");
        }
    }
}
