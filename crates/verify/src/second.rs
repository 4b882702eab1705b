//! The second build of a source whose first one ran programs of the submission. No build script and no cargo runs in it:
//! each call of the compiler that leads to the module is made again, in an order that follows from what cargo had planned
//! before any of these programs ran, each isolated by itself, with one empty folder to write into and everything else
//! read-only. Of the first build it takes the generated files and the directives of build scripts. Macros run inside of the
//! compiler that needs them, and nowhere else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use paraffin_confine::Shown;

use crate::allowed;
use crate::folders::{BuildFolders, Step};
use crate::graph::{Graph, Unit};
use crate::job::{Failure, FailureCode};
use crate::tools::{self, Call};

/// Folders of the run: for the results of the second build, and for the output of the running compiler.
const MADE: &str = "second";
const WRITTEN: &str = "written";
/// What the last compiler wrote, before it is linked.
const COMPILED: &str = "compiled";
/// Folder of build scripts' runs, below `release` of the machine and of the target.
const SCRIPTS: &str = "build";

/// Builds again and returns the bytes of the module.
///
/// # Errors
/// A call of the first build is not one that cargo planned, or one ends otherwise than the first time.
pub(crate) fn build(folders: &BuildFolders<'_>, graph: &Graph, deadline: Instant) -> Result<Vec<u8>, Failure> {
    let calls = tools::calls(&folders.here("record")).map_err(|error| folders.internal(&error))?;
    let calls: Vec<Planned> = calls.into_iter().filter_map(|call| Planned::of(call, folders)).collect();
    let plan = Plan::of(graph, &calls)?;
    let second = Second::prepare(folders, deadline)?;
    let Some((last, before)) = plan.order.split_last() else { return Err(differs("cargo planned nothing")) };
    for call in before {
        second.compile(&calls[*call])?;
    }
    second.link(&calls[*last])
}

fn differs(reason: &str) -> Failure {
    Failure {
        code: FailureCode::NotRepeatable,
        reason: format!("the build cannot be made again without the programs that it ran: {reason}"),
        log: String::new(),
    }
}

/// A call of the compiler whose arguments are allowed, and what determines its position in the order.
struct Planned {
    call: Call,
    crate_name: String,
    crate_types: BTreeSet<String>,
    target: Option<String>,
    source: PathBuf,
    features: BTreeSet<String>,
    /// Names of its external crates, and their files.
    externs: BTreeMap<String, PathBuf>,
    out_folder: PathBuf,
    /// What comes after the name of the crate in the names of files.
    suffix: String,
}

impl Planned {
    fn of(call: Call, folders: &BuildFolders<'_>) -> Option<Self> {
        allowed::compiler(&call.arguments, &folders.tool_paths()).ok()?;
        let mut planned = Self {
            crate_name: String::new(),
            crate_types: BTreeSet::new(),
            target: None,
            source: PathBuf::new(),
            features: BTreeSet::new(),
            externs: BTreeMap::new(),
            out_folder: PathBuf::new(),
            suffix: String::new(),
            call,
        };
        let mut words = planned.call.arguments.iter();
        while let Some(word) = words.next() {
            let mut next = || words.next().cloned().unwrap_or_default();
            match word.as_str() {
                "--crate-name" => planned.crate_name = next(),
                "--crate-type" => planned.crate_types.extend(next().split(',').map(str::to_owned)),
                "--target" => planned.target = Some(next()),
                "--out-dir" => planned.out_folder = PathBuf::from(next()),
                "--cfg" => {
                    let cfg = next();
                    let feature = cfg.strip_prefix("feature=\"").and_then(|rest| rest.strip_suffix('"'));
                    planned.features.extend(feature.map(str::to_owned));
                }
                "--extern" => {
                    let word = next();
                    if let Some((name, path)) = word.split_once('=') {
                        // `noprelude:core=…`
                        let name = name.rsplit(':').next().unwrap_or(name);
                        planned.externs.insert(name.to_owned(), PathBuf::from(path));
                    }
                }
                "-C" => {
                    let setting = next();
                    if let Some(suffix) = setting.strip_prefix("extra-filename=") {
                        suffix.clone_into(&mut planned.suffix);
                    }
                }
                word if is_source(word) => planned.source = planned.call.folder.join(word),
                _ => {}
            }
        }
        let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
        let is_whole = !planned.crate_name.is_empty() && planned.source.is_absolute();
        (is_whole && !climbs(&planned.source) && !climbs(&planned.call.folder)).then_some(planned)
    }

    /// Whether it is what cargo planned for a unit.
    fn is_of(&self, unit: &Unit, graph: &Graph) -> bool {
        self.crate_name == unit.target.name.replace('-', "_")
            && self.source == unit.target.src_path
            && self.target == unit.platform
            && self.crate_types.iter().eq(unit.target.crate_types.iter().collect::<BTreeSet<_>>())
            && unit.features.iter().all(|feature| self.features.contains(feature))
            && (graph.has_build_script(unit) || self.has_no_more_features_than(unit))
    }

    /// A build script may enable further features, because it may set any condition.
    fn has_no_more_features_than(&self, unit: &Unit) -> bool {
        self.features.iter().all(|feature| unit.features.contains(feature))
    }

    fn is_one_of_its_files(&self, name: &str) -> bool {
        let stem = format!("{}{}", self.crate_name, self.suffix);
        let kinds = [".rlib", ".rmeta", ".so", ".wasm", ".a"];
        let rest = name.strip_prefix("lib").unwrap_or(name).strip_prefix(&stem).or_else(|| name.strip_prefix(&stem));
        rest.is_some_and(|kind| kinds.contains(&kind))
    }

    fn makes(&self, file: &Path) -> bool {
        file.parent() == Some(&self.out_folder)
            && file.file_name().and_then(|name| name.to_str()).is_some_and(|name| self.is_one_of_its_files(name))
    }
}

/// Calls in an order in which each finds the files that it needs; the last makes the module.
struct Plan {
    order: Vec<usize>,
}

impl Plan {
    /// Follows cargo's plan from its end. A call must be the only one for its unit, and may name no files but those of the
    /// dependencies of that unit.
    fn of(graph: &Graph, calls: &[Planned]) -> Result<Self, Failure> {
        let [root] = graph.roots[..] else { return Err(differs("cargo planned more than one module")) };
        let mut order = Vec::new();
        let mut made: HashMap<usize, usize> = HashMap::new();
        // Every unit is visited twice: first to visit its dependencies, then to find its call.
        let mut ahead = vec![(root, false)];
        while let Some((index, is_ready)) = ahead.pop() {
            let unit = graph.units.get(index).ok_or_else(|| differs("cargo's plan is not whole"))?;
            if made.contains_key(&index) {
                continue;
            }
            let needed = unit
                .dependencies
                .iter()
                .filter(|dependency| graph.units.get(dependency.index).is_some_and(Unit::is_compiled));
            if !is_ready {
                if ahead.len() > graph.units.len() * graph.units.len() {
                    return Err(differs("cargo's plan has no end"));
                }
                ahead.push((index, true));
                ahead.extend(needed.map(|dependency| (dependency.index, false)));
                continue;
            }
            let needed: HashMap<&str, usize> = needed
                .filter_map(|dependency| Some((dependency.extern_crate_name.as_str(), *made.get(&dependency.index)?)))
                .collect();
            let fits = |call: &(usize, &Planned)| {
                let knows = |(name, file): (&String, &PathBuf)| {
                    needed.get(name.as_str()).is_some_and(|call| calls[*call].makes(file))
                };
                call.1.is_of(unit, graph) && call.1.externs.iter().all(knows)
            };
            let mut fitting: Vec<(usize, &Planned)> = calls.iter().enumerate().filter(fits).collect();
            // Of several calls for one crate, the one with exactly the features of the unit.
            if fitting.len() > 1 {
                fitting.retain(|(_, call)| call.has_no_more_features_than(unit));
            }
            let call = *fitting.first().ok_or_else(|| {
                differs(&format!("no call of the compiler is the one that cargo planned for `{}`", unit.target.name))
            })?;
            if fitting.len() > 1 {
                return Err(differs(&format!("the compiler was called twice for `{}`", unit.target.name)));
            }
            made.insert(index, call.0);
            order.push(call.0);
        }
        Ok(Self { order })
    }
}

/// The folders of the second build.
struct Second<'a> {
    folders: &'a BuildFolders<'a>,
    deadline: Instant,
    /// Folders with the runs of build scripts, below the folder of the build.
    scripts: Vec<PathBuf>,
}

impl<'a> Second<'a> {
    fn prepare(folders: &'a BuildFolders<'a>, deadline: Instant) -> Result<Self, Failure> {
        let first = folders.here("target").canonicalize().map_err(|error| folders.internal(&error))?;
        let made = folders.here(MADE);
        // Files that the first build left in its home folder must not influence the second.
        folders.clear("home").map_err(|error| folders.internal(&error))?;
        fs::create_dir(&made).map_err(|error| folders.internal(&error))?;
        let mut scripts = Vec::new();
        for above in [Path::new("release").to_owned(), Path::new(crate::toolchain::TARGET).join("release")] {
            let run = above.join(SCRIPTS);
            fs::create_dir_all(made.join(&run)).map_err(|error| folders.internal(&error))?;
            // A build script may have replaced the folder by a link to anywhere.
            let from = first.join(&run);
            if from.canonicalize().ok().as_ref() == Some(&from) && from.is_dir() {
                scripts.push(run);
            }
        }
        Ok(Self { folders, deadline, scripts })
    }

    /// Makes one call of the compiler and adds its files to those that later calls can read.
    fn compile(&self, planned: &Planned) -> Result<(), Failure> {
        let folders = self.folders;
        let internal = |error: std::io::Error| folders.internal(&error);
        folders.clear(WRITTEN).map_err(internal)?;
        self.run(planned, arguments(&planned.call.arguments, &folders.inside(WRITTEN)))?;
        let target = planned
            .out_folder
            .strip_prefix(folders.inside("target"))
            .map(|path| folders.here(MADE).join(path))
            .map_err(|_| differs("a file is written elsewhere"))?;
        fs::create_dir_all(&target).map_err(internal)?;
        for file in self.written(|name| planned.is_one_of_its_files(name))? {
            fs::rename(&file, target.join(file.file_name().unwrap_or_default())).map_err(internal)?;
        }
        Ok(())
    }

    /// Makes the last call in two steps: one compiles, with the macros that it needs; the other links, without running anything
    /// of the submission. Returns the bytes of the module, which only the second step can have written.
    fn link(&self, planned: &Planned) -> Result<Vec<u8>, Failure> {
        let folders = self.folders;
        let internal = |error: std::io::Error| folders.internal(&error);
        folders.clear(WRITTEN).map_err(internal)?;
        let inside = folders.inside(WRITTEN);
        let mut compiling = arguments(&planned.call.arguments, &inside);
        compiling.push("-Zno-link".to_owned());
        self.run(planned, compiling)?;
        // The linker gets only objects and the compiler's list of them.
        let objects = self.written(|name| [".o", ".rlink", ".rmeta"].iter().any(|kind| name.ends_with(kind)))?;
        let compiled = folders.here(COMPILED);
        fs::rename(folders.here(WRITTEN), &compiled).map_err(internal)?;
        folders.clear(WRITTEN).map_err(internal)?;
        for object in objects {
            let name = object.file_name().unwrap_or_default();
            fs::rename(compiled.join(name), folders.here(WRITTEN).join(name)).map_err(internal)?;
        }
        let mut linking: Vec<String> = arguments(&planned.call.arguments, &inside);
        linking.retain(|word| !is_source(word));
        linking.push("-Zlink-only".to_owned());
        linking.push(inside.join(format!("{}{}.rlink", planned.crate_name, planned.suffix)).display().to_string());
        self.run(planned, linking)?;
        folders.read_module(&folders.here(WRITTEN).join(format!("{}{}.wasm", planned.crate_name, planned.suffix)))
    }

    /// Plain files of those names that a compiler wrote.
    fn written(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Failure> {
        let entries = fs::read_dir(self.folders.here(WRITTEN)).map_err(|error| self.folders.internal(&error))?;
        let is_plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        let wanted =
            entries.flatten().filter(|entry| is_plain(entry) && entry.file_name().to_str().is_some_and(&is_wanted));
        Ok(wanted.map(|entry| entry.path()).collect())
    }

    fn run(&self, planned: &Planned, arguments: Vec<String>) -> Result<(), Failure> {
        let folders = self.folders;
        let mut environment = self.environment(&planned.call.environment);
        // Compiling and linking separately needs unstable options.
        if arguments.iter().any(|word| word == "-Zno-link" || word == "-Zlink-only") {
            environment.insert("RUSTC_BOOTSTRAP".to_owned(), "1".to_owned());
        }
        let step = Step {
            program: folders.compiler().to_owned(),
            arguments,
            environment,
            folder: planned.call.folder.clone(),
            shown: self.shown(&folders.inside(WRITTEN)),
            watched: [WRITTEN, COMPILED, MADE, "home"].map(|name| folders.here(name)).to_vec(),
            name: "rustc",
            output_bytes: folders.log_bytes(),
        };
        let finished = folders.run(&step, self.deadline);
        finished.map(drop).map_err(|failure| match failure.code {
            FailureCode::BuildFailed => {
                Failure { log: failure.log, ..differs(&format!("`{}` is not compiled", planned.crate_name)) }
            }
            _ => failure,
        })
    }

    fn shown(&self, written: &Path) -> Vec<Shown> {
        let folders = self.folders;
        let target = folders.inside("target");
        let mut shown = folders.shown_to_all();
        shown.push(Shown { from: folders.here(MADE), to: target.clone(), writable: false });
        for run in &self.scripts {
            shown.push(Shown { from: folders.here("target").join(run), to: target.join(run), writable: false });
        }
        shown.push(Shown { from: folders.here(WRITTEN), to: written.to_owned(), writable: true });
        shown
    }

    /// What cargo and build scripts gave the compiler, without variables that the loader, the compiler or the linker reads.
    fn environment(&self, recorded: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        const OF_CARGO: [&str; 7] = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_CRATE_NAME",
            "CARGO_BIN_NAME",
            "CARGO_PRIMARY_PACKAGE",
            "CARGO_RUSTC_CURRENT_DIR",
            "RUSTC_BOOTSTRAP",
        ];
        let mut environment = self.folders.environment();
        for (name, value) in recorded {
            let is_of_cargo = name == "CARGO" || OF_CARGO.iter().any(|prefix| name.starts_with(prefix));
            if is_of_cargo || !allowed::is_read_by_tools(name) {
                environment.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        environment
    }
}

/// Whether a word is the file that is compiled: no option, and no value of one.
fn is_source(word: &str) -> bool {
    !word.starts_with('-') && !word.contains('=') && Path::new(word).extension().is_some_and(|kind| kind == "rs")
}

/// The arguments with another output folder, and human-readable messages.
fn arguments(recorded: &[String], written: &Path) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut words = recorded.iter();
    while let Some(word) = words.next() {
        if word.starts_with("--error-format=") || word.starts_with("--json=") || word.starts_with("--diagnostic-width=")
        {
            continue;
        }
        arguments.push(word.clone());
        match word.as_str() {
            "--out-dir" => {
                words.next();
                arguments.push(written.display().to_string());
            }
            "-C" => {
                let setting = words.next().cloned().unwrap_or_default();
                arguments.push(if setting.starts_with("incremental=") {
                    format!("incremental={}", written.join("incremental").display())
                } else {
                    setting
                });
            }
            _ => {}
        }
    }
    arguments
}
