//! Paraffin contract verification.
// Written from the declarations: docs/clients.md says how.

use crate::route::{Base, Route, Verb, Wrapping};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// States the source of a module; needs an admin key.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Attest {
    /// Revision of the library that it is built with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkanes_rev: Option<String>,
    /// Of the id of a contract that has the module, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Commit of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Description of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<std::collections::BTreeMap<String, serde_json::Value>>,
    /// Share of equal bytes, per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_pct: Option<serde_json::Number>,
    /// Free-form note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// URL of the repository.
    pub repo_url: String,
    /// Compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Folder of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// Second half of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<String>,
    /// `verified` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// SHA-256 of the module, 64 hex digits; this, or `block` and `tx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wasm_sha256: Option<String>,
}

impl Attest {
    /// With what must be given.
    #[must_use]
    pub fn new(repo_url: impl Into<String>) -> Self {
        Self { alkanes_rev: None, block: None, commit: None, manifest: None, match_pct: None, note: None, repo_url: repo_url.into(), rustc: None, subdir: None, tx: None, verdict: None, wasm_sha256: None }
    }
}

impl Route for Attest {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "attest";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Attestation;
}

/// The record of a contract's source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadSourceBlockTx {
    /// The first half of the contract's id.
    pub block: Amount,
    /// The second half.
    pub tx: Amount,
}

impl ReadSourceBlockTx {
    /// With what must be given.
    #[must_use]
    pub fn new(block: Amount, tx: Amount) -> Self {
        Self { block, tx }
    }
}

impl Route for ReadSourceBlockTx {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "source/{block}/{tx}";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadSourceBlockTxAnswer;
}

/// One file of a contract's source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadSourceBlockTxBlob {
    /// The first half of the contract's id.
    pub block: Amount,
    /// The second half.
    pub tx: Amount,
    /// Path of the file.
    pub path: String,
    /// `1` or `true`: the bytes themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl ReadSourceBlockTxBlob {
    /// With what must be given.
    #[must_use]
    pub fn new(block: Amount, tx: Amount, path: impl Into<String>) -> Self {
        Self { block, tx, path: path.into(), raw: None }
    }
}

impl Route for ReadSourceBlockTxBlob {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "source/{block}/{tx}/blob";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadSourceBlockTxBlobAnswer;
}

/// The files of a contract's source.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadSourceBlockTxTree {
    /// The first half of the contract's id.
    pub block: Amount,
    /// The second half.
    pub tx: Amount,
}

impl ReadSourceBlockTxTree {
    /// With what must be given.
    #[must_use]
    pub fn new(block: Amount, tx: Amount) -> Self {
        Self { block, tx }
    }
}

impl Route for ReadSourceBlockTxTree {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "source/{block}/{tx}/tree";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadSourceBlockTxTreeAnswer;
}

/// The compilers of this instance.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct ReadVerify {}

impl ReadVerify {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Route for ReadVerify {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "verify";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadVerifyAnswer;
}

/// Submits a contract's source for verification.
///
/// Dependencies come with the source. Fields that name them are recorded with the run and have no effect on the build.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Verify {
    /// The contract, block:tx.
    pub alkane: String,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkanes_rev: Option<String>,
    /// Lines of KEY=VALUE, or a list of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_env: Option<VerifyBuildEnv>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clang_version: Option<String>,
    /// 40 hex digits, or the name of a branch or tag; the default branch when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze_commit: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_date: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_pins: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_source_form: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_url: Option<String>,
    /// Home folder that the build sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// Base64 of a tar.gz with the source; the repository then only says where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_src_b64: Option<String>,
    /// The package of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// An https URL of a host that this instance fetches from.
    pub repo_url: String,
    /// Version of the compiler, one of those that GET /verify lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Folder of the workspace or package inside the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// Recorded with the run; has no effect on the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typo_fix: Option<bool>,
}

impl Verify {
    /// With what must be given.
    #[must_use]
    pub fn new(alkane: impl Into<String>, repo_url: impl Into<String>) -> Self {
        Self { alkane: alkane.into(), alkanes_rev: None, build_env: None, clang_version: None, commit: None, freeze_commit: None, git_date: None, git_pins: None, git_source_form: None, git_url: None, home_dir: None, inline_src_b64: None, package: None, repo_url: repo_url.into(), rustc: None, subdir: None, typo_fix: None }
    }
}

impl Route for Verify {
    const VERB: Verb = Verb::Post;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "verify";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = RunStart;
}

/// State and result of a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReadVerifyRunId {
    /// The id that the submission answered.
    pub run_id: String,
}

impl ReadVerifyRunId {
    /// With what must be given.
    #[must_use]
    pub fn new(run_id: impl Into<String>) -> Self {
        Self { run_id: run_id.into() }
    }
}

impl Route for ReadVerifyRunId {
    const VERB: Verb = Verb::Get;
    const BASE: Base = Base::Explorer;
    const PATH: &'static str = "verify/{run_id}";
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = ReadVerifyRunIdAnswer;
}

/// The statement of an admin about the source of a module.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Attestation {
    /// Revision of the library that it is built with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alkanes_rev: Option<String>,
    /// Commit of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Description of the build, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<serde_json::Value>,
    /// As it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_pct: Option<serde_json::Number>,
    /// Note for human readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where its source is.
    pub repo_url: String,
    /// Compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Folder of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// `verified` when not stated.
    pub verdict: String,
    /// The alkane by which the module was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_via: Option<String>,
    /// SHA-256 of the module.
    pub wasm_sha256: String,
}

/// How a submission was built, shown beside its source so that others can check and repeat the build.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HowBuilt {
    /// Variables that the submission set.
    pub build_env: std::collections::BTreeMap<String, String>,
    /// Home folder that the build saw, where the submission chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// Settings of the submission that had no effect.
    pub ignored: Vec<String>,
    /// Whether the build was isolated from the machine.
    pub isolated: bool,
    /// Programs of the submission that ran.
    pub programs: Vec<Program>,
    /// Whether a second build without build scripts gave the same module.
    pub repeated: bool,
    /// `rustc --version` of the compiler.
    pub rustc: String,
}

/// An id as an object.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Id {
    /// `block`.
    pub block: Amount,
    /// `tx`.
    pub tx: Amount,
}

/// `IdText` of the descriptions.
pub type IdText = String;

/// A program that came with a submission and was allowed to run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Program {
    /// What it is.
    pub kind: ProgramKind,
    /// Its package.
    pub name: String,
    /// The version of the package.
    pub version: String,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ProgramKind {
    /// `build-script`.
    #[serde(rename = "build-script")]
    BuildScript,
    /// `macro`.
    #[serde(rename = "macro")]
    Macro,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `ReadSourceBlockTxAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxAnswer {
    /// `ok`.
    pub ok: bool,
    /// Members that the description and the tree share.
    pub source: ReadSourceBlockTxAnswerSource,
}

/// Members that the description and the tree share.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxAnswerSource {
    /// `alkane`.
    pub alkane: IdText,
    /// The newest runs for the module, whatever their verdict.
    pub attempts: Vec<ReadSourceBlockTxAnswerSourceAttemptsItem>,
    /// An admin's attestation of the same module; it does not cover these files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
    /// `block`.
    pub block: Amount,
    /// How it was built, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<HowBuilt>,
    /// `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The file to look at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// `fileCount`.
    #[serde(rename = "fileCount")]
    pub file_count: u64,
    /// `match_pct`.
    pub match_pct: serde_json::Number,
    /// `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `origin`.
    pub origin: String,
    /// `owner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// `package`.
    pub package: String,
    /// `private`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<bool>,
    /// `repo`.
    pub repo: String,
    /// `subdir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// `tx`.
    pub tx: Amount,
    /// `verdict`.
    pub verdict: Verdict,
    /// `verified`.
    pub verified: bool,
}

/// An attempt at one module, as listed with its source.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxAnswerSourceAttemptsItem {
    /// `commit`.
    #[serde(default)]
    pub commit: Option<String>,
    /// `ended_at`.
    #[serde(default)]
    pub ended_at: Option<String>,
    /// `failure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ReadSourceBlockTxAnswerSourceAttemptsItemFailure>,
    /// `match_pct`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_pct: Option<serde_json::Number>,
    /// Programs of the submission that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<u64>,
    /// `repo`.
    #[serde(default)]
    pub repo: Option<String>,
    /// `run_id`.
    pub run_id: String,
    /// `verdict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadSourceBlockTxAnswerSourceAttemptsItemFailure {
    /// `FETCH_FAILED`.
    #[serde(rename = "FETCH_FAILED")]
    FetchFailed,
    /// `SOURCE_REFUSED`.
    #[serde(rename = "SOURCE_REFUSED")]
    SourceRefused,
    /// `PACKAGE_NOT_FOUND`.
    #[serde(rename = "PACKAGE_NOT_FOUND")]
    PackageNotFound,
    /// `BUILD_FAILED`.
    #[serde(rename = "BUILD_FAILED")]
    BuildFailed,
    /// `NOT_REPEATABLE`.
    #[serde(rename = "NOT_REPEATABLE")]
    NotRepeatable,
    /// `TIME_LIMIT`.
    #[serde(rename = "TIME_LIMIT")]
    TimeLimit,
    /// `MEMORY_LIMIT`.
    #[serde(rename = "MEMORY_LIMIT")]
    MemoryLimit,
    /// `DISK_LIMIT`.
    #[serde(rename = "DISK_LIMIT")]
    DiskLimit,
    /// `NOT_ISOLATED`.
    #[serde(rename = "NOT_ISOLATED")]
    NotIsolated,
    /// `INTERRUPTED`.
    #[serde(rename = "INTERRUPTED")]
    Interrupted,
    /// `INTERNAL`.
    #[serde(rename = "INTERNAL")]
    Internal,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `ReadSourceBlockTxBlobAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxBlobAnswer {
    /// `blob`.
    pub blob: ReadSourceBlockTxBlobAnswerBlob,
    /// `ok`.
    pub ok: bool,
}

/// `ReadSourceBlockTxBlobAnswerBlob` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxBlobAnswerBlob {
    /// `alkane`.
    pub alkane: IdText,
    /// Of binary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// `binary`.
    pub binary: bool,
    /// `bytes`.
    pub bytes: u64,
    /// `path`.
    pub path: String,
    /// `text`.
    #[serde(default)]
    pub text: Option<String>,
    /// `truncated`.
    pub truncated: bool,
}

/// `ReadSourceBlockTxTreeAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxTreeAnswer {
    /// `ok`.
    pub ok: bool,
    /// Members that the description and the tree share.
    pub tree: ReadSourceBlockTxTreeAnswerTree,
}

/// Members that the description and the tree share.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxTreeAnswerTree {
    /// `alkane`.
    pub alkane: IdText,
    /// `commit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The file to look at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// `nodes`.
    pub nodes: Vec<ReadSourceBlockTxTreeAnswerTreeNodesItem>,
    /// `origin`.
    pub origin: String,
    /// `repo`.
    pub repo: String,
    /// `subdir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
}

/// One line of a tree.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadSourceBlockTxTreeAnswerTreeNodesItem {
    /// Path from the root.
    pub path: String,
    /// Bytes, of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What it is.
    pub r#type: ReadSourceBlockTxTreeAnswerTreeNodesItemType,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum ReadSourceBlockTxTreeAnswerTreeNodesItemType {
    /// `blob`.
    #[serde(rename = "blob")]
    Blob,
    /// `tree`.
    #[serde(rename = "tree")]
    Tree,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `ReadVerifyAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadVerifyAnswer {
    /// Whether submissions are accepted.
    pub accepts: bool,
    /// `ok`.
    pub ok: bool,
    /// `toolchains`.
    pub toolchains: Vec<ReadVerifyAnswerToolchainsItem>,
}

/// `ReadVerifyAnswerToolchainsItem` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadVerifyAnswerToolchainsItem {
    /// `builds_library`.
    pub builds_library: bool,
    /// `name`.
    pub name: String,
    /// `rustc`.
    pub rustc: String,
    /// `version`.
    pub version: String,
}

/// `ReadVerifyRunIdAnswer` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReadVerifyRunIdAnswer {
    /// `ok`.
    pub ok: bool,
    /// `run`.
    pub run: Run,
}

/// A run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Run {
    /// `alkane`.
    pub alkane: Id,
    /// Variables that the submission set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_env: Option<std::collections::BTreeMap<String, String>>,
    /// `commit`.
    #[serde(default)]
    pub commit: Option<String>,
    /// `created_at`.
    #[serde(default)]
    pub created_at: Option<String>,
    /// `deployed_sha256`.
    pub deployed_sha256: String,
    /// `ended_at`.
    #[serde(default)]
    pub ended_at: Option<String>,
    /// `failure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RunFailure>,
    /// `home_dir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_dir: Option<String>,
    /// End of the build's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// `package`.
    #[serde(default)]
    pub package: Option<String>,
    /// `repo_url`.
    #[serde(default)]
    pub repo_url: Option<String>,
    /// `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<RunResult>,
    /// `run_id`.
    pub run_id: String,
    /// Stage of a run.
    pub stage: RunStartStage,
    /// `status`.
    pub status: RunStartStatus,
}

/// `RunFailure` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunFailure {
    /// Why a run failed.
    pub code: ReadSourceBlockTxAnswerSourceAttemptsItemFailure,
    /// `reason`.
    pub reason: String,
}

/// `RunResult` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunResult {
    /// `built_sha256`.
    pub built_sha256: String,
    /// `code_identical`.
    pub code_identical: bool,
    /// `commit`.
    #[serde(default)]
    pub commit: Option<String>,
    /// Settings of the submission that had no effect.
    pub ignored: Vec<String>,
    /// `isolated`.
    pub isolated: bool,
    /// Share of bytes in equal sections, per cent.
    pub match_pct: serde_json::Number,
    /// `package`.
    pub package: String,
    /// Programs of the submission that ran.
    pub programs: Vec<Program>,
    /// Whether a second build without build scripts made the same module.
    pub repeated: bool,
    /// `rustc`.
    pub rustc: String,
    /// `sections`.
    pub sections: Vec<RunResultSectionsItem>,
    /// `source_stored`.
    pub source_stored: bool,
    /// `verdict`.
    pub verdict: Verdict,
}

/// One section of the two modules.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunResultSectionsItem {
    /// Bytes in the built module; 0 when it has none.
    pub built_size: u64,
    /// Bytes in the deployed module.
    pub deployed_size: u64,
    /// Whether both hold the same bytes.
    pub identical: bool,
    /// Name of the section as the WebAssembly specification has it.
    pub name: String,
}

/// Members that every answer about a run begins with.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunStart {
    /// `alkane`.
    pub alkane: Id,
    /// `commit`.
    #[serde(default)]
    pub commit: Option<String>,
    /// `package`.
    #[serde(default)]
    pub package: Option<String>,
    /// `repo_url`.
    #[serde(default)]
    pub repo_url: Option<String>,
    /// `run_id`.
    pub run_id: String,
    /// Stage of a run.
    pub stage: RunStartStage,
    /// `status`.
    pub status: RunStartStatus,
}

/// Stage of a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum RunStartStage {
    /// `queued`.
    #[serde(rename = "queued")]
    Queued,
    /// `fetching`.
    #[serde(rename = "fetching")]
    Fetching,
    /// `unpacking`.
    #[serde(rename = "unpacking")]
    Unpacking,
    /// `building`.
    #[serde(rename = "building")]
    Building,
    /// `comparing`.
    #[serde(rename = "comparing")]
    Comparing,
    /// `finished`.
    #[serde(rename = "finished")]
    Finished,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// `RunStartStatus` of the descriptions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum RunStartStatus {
    /// `building`.
    #[serde(rename = "building")]
    Building,
    /// `done`.
    #[serde(rename = "done")]
    Done,
    /// `failed`.
    #[serde(rename = "failed")]
    Failed,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// How similar a built module is to the deployed one; worst first, so that the better one is the greater.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum Verdict {
    /// `mismatch`.
    #[serde(rename = "mismatch")]
    Mismatch,
    /// `partial`.
    #[serde(rename = "partial")]
    Partial,
    /// `verified`.
    #[serde(rename = "verified")]
    Verified,
    /// `reproducible`.
    #[serde(rename = "reproducible")]
    Reproducible,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

one_of! {
/// `VerifyBuildEnv` of the descriptions.
VerifyBuildEnv {
    Text(String),
    List(Vec<String>),
} }
