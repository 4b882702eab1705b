//! Messages between the server and a worker, one JSON text per line: the job, then a report for every stage and a last one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::repository::Repository;
use crate::settings::Settings;
use crate::toolchain::Toolchain;
use crate::verdict::Comparison;

/// The subcommand of the program that is a worker.
pub const WORKER_SUBCOMMAND: &str = "verify-worker";
/// File of a run's folder that holds the deployed module.
pub(crate) const DEPLOYED: &str = "deployed.wasm";
/// File of a run's folder that holds the uploaded archive.
pub(crate) const UPLOAD: &str = "upload.tar.gz";

/// Where the source is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// In a repository, at a commit, branch or tag.
    Repository(Repository, String),
    /// Uploaded.
    Archive,
}

/// What to build of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildOptions {
    /// Folder of the workspace or crate inside the source; empty for the root.
    pub(crate) subdir: String,
    /// The package, where there are several.
    pub(crate) package: Option<String>,
    /// Home folder of the build; its path may be part of the module.
    pub(crate) home_dir: Option<String>,
    /// Environment variables.
    pub(crate) environment: BTreeMap<String, String>,
}

/// One run, as the worker needs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Folder of the run, which holds the deployed module; only the worker uses it.
    pub(crate) folder: PathBuf,
    /// Where source trees are stored.
    pub(crate) blobs: PathBuf,
    /// Bytes that further source trees may take there.
    pub(crate) blob_bytes_left: u64,
    pub(crate) source: Source,
    pub(crate) options: BuildOptions,
    pub(crate) toolchain: Toolchain,
    pub(crate) settings: Settings,
}

/// Stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Stage {
    /// It waits for its turn.
    Queued,
    /// The repository is being fetched.
    Fetching,
    /// The archive is being unpacked.
    Unpacking,
    /// The compiler works.
    Building,
    /// The modules are compared and the source is stored.
    Comparing,
    /// It has ended.
    Finished,
}

impl Stage {
    /// Its name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Fetching => "fetching",
            Self::Unpacking => "unpacking",
            Self::Building => "building",
            Self::Comparing => "comparing",
            Self::Finished => "finished",
        }
    }

    /// The stage with a name.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Queued, Self::Fetching, Self::Unpacking, Self::Building, Self::Comparing, Self::Finished]
            .into_iter()
            .find(|stage| stage.name() == word)
    }
}

/// A build that was compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// The comparison.
    pub comparison: Comparison,
    /// The package that was built.
    pub package: String,
    /// The commit that was built, 40 hex digits; of a repository alone.
    pub commit: Option<String>,
    /// `rustc --version` of the compiler.
    pub rustc: String,
    /// Digest of the list of source files; `None` when the store of sources was full.
    pub sources: Option<String>,
    /// Bytes by which the store grew.
    pub stored_bytes: u64,
    /// Whether the build was isolated from this machine.
    pub isolated: bool,
    /// Programs of the submission that ran while it was built.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// Settings of the submission that had no effect.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// Whether a second build without build scripts gave the same module.
    #[serde(default)]
    pub repeated: bool,
    /// End of the build's output.
    pub log: String,
}

/// What a program of a submission is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ProgramKind {
    /// It runs before its package is compiled, and may generate files for it.
    BuildScript,
    /// It runs inside of the compiler and generates a part of the code.
    Macro,
}

/// A program that came with a submission and was allowed to run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// What it is.
    pub kind: ProgramKind,
    /// Its package.
    pub name: String,
    /// The version of the package.
    pub version: String,
}

/// How a submission was built, shown beside its source so that others can check and repeat the build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HowBuilt {
    /// `rustc --version` of the compiler.
    pub rustc: String,
    /// Variables that the submission set.
    pub build_env: BTreeMap<String, String>,
    /// Home folder that the build saw, where the submission chose one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// Programs of the submission that ran.
    pub programs: Vec<Program>,
    /// Settings of the submission that had no effect.
    pub ignored: Vec<String>,
    /// Whether a second build without build scripts gave the same module.
    pub repeated: bool,
    /// Whether the build was isolated from the machine.
    pub isolated: bool,
}

/// A run that ended without a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Stable code.
    pub code: FailureCode,
    /// Message as text, without any path of this machine.
    pub reason: String,
    /// End of the build's output, where there is one.
    pub log: String,
}

/// Why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
pub enum FailureCode {
    /// The repository could not be fetched.
    FetchFailed,
    /// The source tree is refused.
    SourceRefused,
    /// There is no such package, or none that can be built.
    PackageNotFound,
    /// The compiler or a build script ended with an error.
    BuildFailed,
    /// The module is made by programs of the submission and not by the compiler alone.
    NotRepeatable,
    /// The build took too long.
    TimeLimit,
    /// The build took too much memory.
    MemoryLimit,
    /// The build filled its part of the disk.
    DiskLimit,
    /// The machine cannot isolate a build as the operator requires.
    NotIsolated,
    /// The server stopped while the run was under way.
    Interrupted,
    /// Something failed on the operator's side.
    Internal,
}

/// A line of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Report {
    Stage(Stage),
    Built(Box<Built>),
    Failed(Failure),
}
