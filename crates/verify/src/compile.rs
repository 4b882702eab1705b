//! Builds one package of a source tree for wasm, isolated, without network, with no tool replaced by the submission.

use std::time::Instant;

use serde::Deserialize;

use crate::folders::{BuildFolders, text};
use crate::graph::Graph;
use crate::job::{Failure, FailureCode, Job, Program};
use crate::package::Metadata;
use crate::second;
use crate::toolchain::TARGET;

/// A module, and how it was built.
pub(crate) struct Module {
    pub(crate) bytes: Vec<u8>,
    pub(crate) package: String,
    pub(crate) log: String,
    /// Programs of the submission that ran.
    pub(crate) programs: Vec<Program>,
    /// Settings of the submission that had no effect.
    pub(crate) ignored: Vec<String>,
}

/// A build that has ended, with everything that is needed to repeat it.
pub(crate) struct Build<'a> {
    pub(crate) module: Module,
    folders: BuildFolders<'a>,
    graph: Graph,
    deadline: Instant,
}

/// Builds the package of a job.
pub(crate) fn build(job: &Job) -> Result<Build<'_>, Failure> {
    let (folders, ignored) = BuildFolders::prepare(job)?;
    let deadline = Instant::now() + job.settings.build_timeout();
    let manifest = folders.manifest()?;
    let described = folders.cargo(
        &["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path", &manifest],
        deadline,
        &[],
    )?;
    let metadata: Metadata = answer(&described.output)?;
    let (package, library) = metadata.choose(job.options.package.as_deref(), &folders.inside_folder())?;
    let mut arguments = vec![if library.is_module() { "build" } else { "rustc" }];
    arguments.extend(["--release", "--locked", "--offline", "--lib", "--target", TARGET, "--package", &package.name]);
    arguments.extend(["--manifest-path", &manifest]);
    if !library.is_module() {
        // A library that is not declared as a `cdylib` is linked as one for this build.
        arguments.extend(["--crate-type", "cdylib"]);
    }
    // Cargo names what it is going to run before it runs anything. The format of that answer is unstable, so it needs these options.
    let planned = [&arguments[..], &["--unit-graph", "-Zunstable-options"]].concat();
    let planned = folders.cargo(&planned, deadline, &[("RUSTC_BOOTSTRAP", "1")])?;
    let graph: Graph = answer(&planned.output)?;
    let programs = graph.programs(&folders.library_sources());
    arguments.push("--message-format=json-render-diagnostics");
    let finished = folders.cargo(&arguments, deadline, &[])?;
    let file = folders.reported(&finished.output, library)?;
    let bytes = folders.read_module(&file)?;
    let module = Module { bytes, package: package.name.clone(), log: text(&finished.errors), programs, ignored };
    Ok(Build { module, folders, graph, deadline })
}

impl Build<'_> {
    /// Whether anything of the submission ran, so that the module proves little before the build was repeated.
    pub(crate) fn ran_programs(&self) -> bool {
        !self.module.programs.is_empty()
    }

    /// Builds again, without the programs that ran but for macros.
    ///
    /// # Errors
    /// That is not possible, or gives another module.
    pub(crate) fn repeat(&self) -> Result<(), Failure> {
        let again = second::build(&self.folders, &self.graph, self.deadline)?;
        if again == self.module.bytes {
            return Ok(());
        }
        Err(Failure {
            code: FailureCode::NotRepeatable,
            reason: "a second build, in which no build script runs and compilers see what they need and nothing else, makes another module"
                .to_owned(),
            log: self.module.log.clone(),
        })
    }
}

/// Parses a JSON answer of cargo.
fn answer<T: for<'a> Deserialize<'a>>(output: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(output).map_err(|_| {
        let reason = "cargo's description of the workspace is too large or cannot be read".to_owned();
        Failure { code: FailureCode::PackageNotFound, reason, log: String::new() }
    })
}
