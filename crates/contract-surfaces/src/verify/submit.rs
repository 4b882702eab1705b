//! Submissions and the runs that follow from them.

use http::StatusCode;
use paraffin_access::time_text;
use paraffin_verify::{FailureCode, Outcome, Program, Run, SectionComparison, Stage, Submission, SubmitError, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{ContractText, Lines, ShortText, WRONG_TYPE, given};
use super::{REFUSALS, REFUSALS_OF_BODY, deployed, key_id, of, unreachable};
use paraffin_gateway::api_types::{IdObject, OkTrue};
use paraffin_gateway::errors::{ApiError, ErrorKind};
use paraffin_gateway::methods::schema;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Digits of a run's id.
const RUN_ID_DIGITS: usize = 32;

/// The id of a run.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct RunId(String);

schema!(RunId, "RunId", inline { "type": "string", "pattern": "^[0-9a-f]{32}$" });

/// Submits a contract's source for verification.
///
/// Dependencies come with the source. Fields that name them are recorded with the run and have no effect on the build.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Submit {
    /// The contract, block:tx.
    alkane: ContractText,
    /// An https URL of a host that this instance fetches from.
    repo_url: ShortText,
    /// 40 hex digits, or the name of a branch or tag; the default branch when absent.
    commit: Option<ShortText>,
    /// The package of the workspace.
    package: Option<ShortText>,
    /// Folder of the workspace or package inside the source.
    subdir: Option<ShortText>,
    /// Version of the compiler, one of those that GET /verify lists.
    rustc: Option<ShortText>,
    /// Home folder that the build sees.
    home_dir: Option<ShortText>,
    /// Lines of KEY=VALUE, or a list of them.
    build_env: Option<Lines>,
    /// Base64 of a tar.gz with the source; the repository then only says where it comes from.
    inline_src_b64: Option<String>,
    /// Recorded with the run; has no effect on the build.
    clang_version: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    freeze_commit: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    git_url: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    alkanes_rev: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    git_source_form: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    git_pins: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    git_date: Option<ShortText>,
    /// Recorded with the run; has no effect on the build.
    typo_fix: Option<bool>,
}

impl Route for Submit {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "verify")];
    const EXAMPLE: &'static str = r#"{"alkane":"2:1000000","repo_url":"https://github.com/example/contract"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const TYPE_ERROR: Option<ErrorKind> = WRONG_TYPE;
    const REFUSALS: &'static [StatusCode] = REFUSALS_OF_BODY;
    /// It carries an archive.
    const BODY_BYTES_MAX: Option<usize> = Some(32 << 20);
    type Answer = RunStart;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<RunStart, ApiError> {
        let key = key_id(context)?;
        let noted = [
            ("clang_version", self.clang_version),
            ("freeze_commit", self.freeze_commit),
            ("git_url", self.git_url),
            ("alkanes_rev", self.alkanes_rev),
            ("git_source_form", self.git_source_form),
            ("git_pins", self.git_pins),
            ("git_date", self.git_date),
        ];
        let mut noted: Map<String, Value> =
            noted.into_iter().filter_map(|(name, text)| Some((name.to_owned(), given(text)?.into()))).collect();
        noted.extend(self.typo_fix.map(|flag| ("typo_fix".to_owned(), flag.into())));
        let archive = self.inline_src_b64.filter(|text| !text.is_empty()).map(|text| decoded(&text)).transpose()?;
        let submission = Submission {
            alkane: self.alkane.0,
            repo_url: given(Some(self.repo_url)).ok_or_else(|| ApiError::missing(&["repo_url"]))?,
            deployed: deployed(context, self.alkane.0).await?,
            commit: given(self.commit),
            subdir: given(self.subdir),
            package: given(self.package),
            rustc: given(self.rustc),
            home_dir: given(self.home_dir),
            build_env: self.build_env.unwrap_or_default().0,
            archive,
            noted: noted.into(),
        };
        let run = of(context)?.submit(submission, key).await.map_err(|error| refused(&error))?;
        Ok(RunStart::of(&run))
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, ApiError> {
    let bytes = data_encoding::BASE64.decode(text.as_bytes());
    bytes.map_err(|_| ApiError::invalid("inline_src_b64 must be base64 of a tar.gz"))
}

fn refused(error: &SubmitError) -> ApiError {
    match error {
        SubmitError::Field(_) | SubmitError::Repository(_) => ApiError::invalid(error.to_string()),
        SubmitError::Busy(_) | SubmitError::Unavailable => ApiError::new(
            ErrorKind::new("VERIFICATION_UNAVAILABLE", StatusCode::SERVICE_UNAVAILABLE),
            error.to_string(),
        ),
    }
}

/// Members that every answer about a run begins with.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunStart {
    run_id: RunId,
    alkane: IdObject,
    repo_url: Option<String>,
    commit: Option<String>,
    package: Option<String>,
    status: RunStatus,
    stage: Stage,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum RunStatus {
    Building,
    Done,
    Failed,
}

impl RunStart {
    fn of(run: &Run) -> Self {
        let status = match (&run.outcome, run.stage) {
            (Some(Outcome::Built(_)), _) => RunStatus::Done,
            (Some(Outcome::Failed(_)), _) | (None, Stage::Finished) => RunStatus::Failed,
            (None, _) => RunStatus::Building,
        };
        Self {
            run_id: RunId(run.id.clone()),
            alkane: run.alkane.into(),
            repo_url: submitted(run, "repo_url"),
            commit: submitted(run, "commit"),
            package: submitted(run, "package"),
            status,
            stage: run.stage,
        }
    }
}

/// A text of a submission.
fn submitted(run: &Run, name: &str) -> Option<String> {
    run.submission[name].as_str().map(str::to_owned)
}

/// State and result of a run.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RunById {
    /// The id that the submission answered.
    run_id: RunId,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct RunAnswer {
    ok: OkTrue,
    run: RunRecord,
}

/// A run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Run")]
struct RunRecord {
    #[serde(flatten)]
    start: RunStart,
    created_at: Option<String>,
    ended_at: Option<String>,
    /// Variables that the submission set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    build_env: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    home_dir: Option<Value>,
    deployed_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<RunResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<RunFailure>,
    /// End of the build's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
#[allow(clippy::struct_excessive_bools)] // the members of the answer
struct RunResult {
    verdict: Verdict,
    /// Share of bytes in equal sections, per cent.
    match_pct: f64,
    built_sha256: String,
    code_identical: bool,
    sections: Vec<SectionComparison>,
    package: String,
    commit: Option<String>,
    rustc: String,
    isolated: bool,
    /// Programs of the submission that ran.
    programs: Vec<Program>,
    /// Whether a second build without build scripts made the same module.
    repeated: bool,
    /// Settings of the submission that had no effect.
    ignored: Vec<String>,
    source_stored: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct RunFailure {
    code: FailureCode,
    reason: String,
}

impl Route for RunById {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "verify/{run_id}")];
    const EXAMPLE: &'static str = r#"{"run_id":"0123456789abcdef0123456789abcdef"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const REFUSALS: &'static [StatusCode] = REFUSALS;
    type Answer = RunAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<RunAnswer, ApiError> {
        let (RunId(id), unknown) = (self.run_id, || ApiError::not_found("there is no such run"));
        if id.len() != RUN_ID_DIGITS || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let run = of(context)?
            .run(&id.to_ascii_lowercase())
            .await
            .map_err(|error| unreachable(&error))?
            .ok_or_else(unknown)?;
        let start = RunStart::of(&run);
        let (result, failure, log) = match run.outcome {
            Some(Outcome::Built(built)) => {
                let comparison = built.comparison;
                let result = RunResult {
                    verdict: comparison.verdict,
                    match_pct: percent(comparison.similarity),
                    built_sha256: comparison.built_sha256,
                    code_identical: comparison.code_identical,
                    sections: comparison.sections,
                    package: built.package,
                    commit: built.commit,
                    rustc: built.rustc,
                    isolated: built.isolated,
                    programs: built.programs,
                    repeated: built.repeated,
                    ignored: built.ignored,
                    source_stored: built.sources.is_some(),
                };
                (Some(result), None, Some(built.log))
            }
            Some(Outcome::Failed(failure)) => {
                (None, Some(RunFailure { code: failure.code, reason: failure.reason }), Some(failure.log))
            }
            None => (None, None, None),
        };
        let run = RunRecord {
            start,
            created_at: time_text(run.created_at),
            ended_at: run.ended_at.and_then(time_text),
            build_env: run.submission.get("build_env").cloned(),
            home_dir: run.submission.get("home_dir").cloned(),
            deployed_sha256: run.wasm_sha256,
            result,
            failure,
            log,
        };
        Ok(RunAnswer { ok: OkTrue, run })
    }
}

/// An attempt at one module, as listed with its source.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Attempt {
    run_id: RunId,
    ended_at: Option<String>,
    repo: Option<String>,
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_pct: Option<f64>,
    /// Programs of the submission that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    programs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureCode>,
}

impl From<&Run> for Attempt {
    fn from(run: &Run) -> Self {
        let (built, failure) = match &run.outcome {
            Some(Outcome::Built(built)) => (Some(built), None),
            Some(Outcome::Failed(failure)) => (None, Some(failure.code)),
            None => (None, None),
        };
        Self {
            run_id: RunId(run.id.clone()),
            ended_at: run.ended_at.and_then(time_text),
            repo: submitted(run, "repo_url"),
            commit: submitted(run, "commit"),
            verdict: built.map(|built| built.comparison.verdict),
            match_pct: built.map(|built| percent(built.comparison.similarity)),
            programs: built.map(|built| built.programs.len()),
            failure,
        }
    }
}

/// The compilers of this instance.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Compilers {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct CompilerList {
    ok: OkTrue,
    /// Whether submissions are accepted.
    accepts: bool,
    toolchains: Vec<Compiler>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Compiler {
    name: String,
    rustc: String,
    version: String,
    builds_library: bool,
}

impl Route for Compilers {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "verify")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = CompilerList;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<CompilerList, ApiError> {
        let compilers = of(context)?.toolchains().iter().map(|toolchain| Compiler {
            name: toolchain.name.clone(),
            rustc: toolchain.version_line.clone(),
            version: toolchain.version.clone(),
            builds_library: !toolchain.has_target,
        });
        let toolchains: Vec<Compiler> = compilers.collect();
        Ok(CompilerList { ok: OkTrue, accepts: !toolchains.is_empty(), toolchains })
    }
}

/// Hundredths of a per cent as a number with two places.
pub(super) fn percent(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}
