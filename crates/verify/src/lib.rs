//! Whether a submitted source is that of a deployed contract: submissions, builds, verdicts, attestations, and the
//! sources themselves.
//!
//! Invariant: builds never run in the serving process. A submission becomes a run; a worker process fetches or unpacks the
//! source, builds it isolated and without network, compares the module with the deployed one, and reports.
#![forbid(unsafe_code)]

mod allowed;
mod archive;
mod blobs;
mod compile;
mod configuration;
mod folders;
mod git;
mod graph;
mod job;
mod package;
mod paths;
mod probe;
mod records;
mod removal;
mod repository;
mod second;
mod settings;
mod sources;
mod submission;
mod supervise;
mod toolchain;
mod tools;
mod tree;
mod verdict;
mod verifier;
mod wasm;
mod worker;

pub use archive::{ArchiveError, ArchiveLimits, SourceFile, unpack};
pub use blobs::SourceList;
pub use job::{Built, Failure, FailureCode, HowBuilt, Program, ProgramKind, Stage, WORKER_SUBCOMMAND};
pub use paraffin_confine::{Isolation, run as run_confined};
pub use paths::PathError;
pub use probe::{NotIsolated, isolation as check_isolation};
pub use records::{Attestation, Outcome, Record, RecordsError, Run, UnixMillis};
pub use repository::{Repository, RepositoryError};
pub use settings::{Settings, ToolchainSettings};
pub use submission::{Submission, SubmitError};
pub use toolchain::{Toolchain, ToolchainError, toolchains};
pub use tools::{SUBCOMMAND as TOOL_SUBCOMMAND, run as run_tool};
pub use tree::{Node, NodeKind, entrypoint, nodes};
pub use verdict::{Comparison, SectionComparison, Verdict, compare, sha256_hex};
pub use verifier::{OpenError, ReadError, Verifier, VerifierFuture, VerifierOptions};
pub use worker::run as run_worker;

/// The subcommand of the program that isolates a build.
pub const CONFINE_SUBCOMMAND: &str = paraffin_confine::SUBCOMMAND;
