//! Submissions and the runs that follow from them.

use hyper::StatusCode;
use paraffin_access::time_text;
use paraffin_verify::{Outcome, Run, Stage, Submission, SubmitError, Verifier};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use super::{deployed, fields, key_id};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::rest::RestBody;
use crate::state::RequestContext;

/// Fields that are kept with a run and change nothing of the build: dependencies come with the source, so there is nothing
/// for them to pin (`docs/decisions/0020`).
const NOTED: [&str; 6] = ["clang_version", "freeze_commit", "git_url", "alkanes_rev", "git_source_form", "git_pins"];
/// Digits of a run's id.
const RUN_ID_DIGITS: usize = 32;

/// `POST /verify`.
pub(super) async fn submit(
    context: &RequestContext,
    verifier: &Arc<Verifier>,
    body: &[u8],
) -> Result<Reply, RestError> {
    let key = key_id(context)?;
    let body = RestBody::parse(body, context.limits().json_depth_max)?;
    let alkane = fields::text(&body, "alkane")?
        .and_then(|text| fields::alkane(&text))
        .ok_or_else(|| RestError::bad_request("alkane must be block:tx, both numbers"))?;
    let repo_url = fields::text(&body, "repo_url")?.ok_or_else(|| RestError::bad_request("repo_url is required"))?;
    let mut noted = Map::new();
    for name in NOTED.into_iter().chain(["git_date"]) {
        if let Some(text) = fields::text(&body, name)? {
            noted.insert(name.to_owned(), text.into());
        }
    }
    if let Some(flag) = fields::flag(&body, "typo_fix")? {
        noted.insert("typo_fix".to_owned(), flag.into());
    }
    let archive = fields::long_text(&body, "inline_src_b64")?.map(decoded).transpose()?;
    let submission = Submission {
        alkane,
        deployed: Vec::new(),
        repo_url,
        commit: fields::text(&body, "commit")?,
        subdir: fields::text(&body, "subdir")?,
        package: fields::text(&body, "package")?,
        rustc: fields::text(&body, "rustc")?,
        home_dir: fields::text(&body, "home_dir")?,
        build_env: fields::lines(&body, "build_env")?,
        archive,
        noted: noted.into(),
    };
    let submission = Submission { deployed: deployed(context, alkane).await?, ..submission };
    let run = verifier.submit(submission, key).await.map_err(|error| refused(&error))?;
    Reply::bare(&started(&run))
}

fn decoded(text: &str) -> Result<Vec<u8>, RestError> {
    let bytes = data_encoding::BASE64.decode(text.as_bytes());
    bytes.map_err(|_| RestError::bad_request("inline_src_b64 must be base64 of a tar.gz"))
}

fn refused(error: &SubmitError) -> RestError {
    match error {
        SubmitError::Field(_) | SubmitError::Repository(_) => RestError::bad_request(error.to_string()),
        SubmitError::Busy(_) | SubmitError::Unavailable => {
            RestError::new(StatusCode::SERVICE_UNAVAILABLE, "VERIFICATION_UNAVAILABLE", error.to_string())
        }
    }
}

/// What every answer about a run begins with.
fn started(run: &Run) -> Map<String, Value> {
    let status = match (&run.outcome, run.stage) {
        (Some(Outcome::Built(_)), _) => "done",
        (Some(Outcome::Failed(_)), _) | (None, Stage::Finished) => "failed",
        (None, _) => "building",
    };
    let mut told = Map::new();
    told.insert("run_id".to_owned(), run.id.clone().into());
    told.insert("alkane".to_owned(), json!({ "block": run.alkane.block.to_string(), "tx": run.alkane.tx.to_string() }));
    for name in ["repo_url", "commit", "package"] {
        told.insert(name.to_owned(), run.submission[name].clone());
    }
    told.insert("status".to_owned(), status.into());
    told.insert("stage".to_owned(), run.stage.name().into());
    told
}

/// `GET /verify/<run>`: where a run is, and how it ended.
pub(super) async fn run(verifier: &Verifier, id: &str) -> Result<Reply, RestError> {
    let unknown = || RestError::not_found("there is no such run");
    if id.len() != RUN_ID_DIGITS || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(unknown());
    }
    let run = verifier.run(&id.to_ascii_lowercase()).await?.ok_or_else(unknown)?;
    let mut told = started(&run);
    told.insert("created_at".to_owned(), time_text(run.created_at).into());
    told.insert("ended_at".to_owned(), run.ended_at.and_then(time_text).into());
    for name in ["build_env", "home_dir"] {
        if let Some(value) = run.submission.get(name) {
            told.insert(name.to_owned(), value.clone());
        }
    }
    told.insert("deployed_sha256".to_owned(), run.wasm_sha256.clone().into());
    match run.outcome {
        Some(Outcome::Built(built)) => {
            let comparison = &built.comparison;
            let result = json!({
                "verdict": comparison.verdict,
                "match_pct": percent(comparison.similarity),
                "built_sha256": comparison.built_sha256,
                "code_identical": comparison.code_identical,
                "sections": comparison.sections,
                "package": built.package,
                "commit": built.commit,
                "rustc": built.rustc,
                "isolated": built.isolated,
                "programs": built.programs,
                "repeated": built.repeated,
                "ignored": built.ignored,
                "source_stored": built.sources.is_some(),
            });
            told.insert("result".to_owned(), result);
            told.insert("log".to_owned(), built.log.into());
        }
        Some(Outcome::Failed(failure)) => {
            told.insert("failure".to_owned(), json!({ "code": failure.code, "reason": failure.reason }));
            told.insert("log".to_owned(), failure.log.into());
        }
        None => {}
    }
    Reply::bare(&json!({ "ok": true, "run": told }))
}

/// Every attempt at one module, as it stands beside its source.
pub(super) fn attempt(run: &Run) -> Value {
    let mut told = json!({
        "run_id": run.id,
        "ended_at": run.ended_at.and_then(time_text),
        "repo": run.submission["repo_url"],
        "commit": run.submission["commit"],
    });
    match &run.outcome {
        Some(Outcome::Built(built)) => {
            told["verdict"] = json!(built.comparison.verdict);
            told["match_pct"] = percent(built.comparison.similarity).into();
            told["programs"] = built.programs.len().into();
        }
        Some(Outcome::Failed(failure)) => told["failure"] = json!(failure.code),
        None => {}
    }
    told
}

/// `GET /verify`: the compilers of this instance.
pub(super) fn toolchains(verifier: &Verifier) -> Result<Reply, RestError> {
    let toolchains: Vec<Value> = verifier
        .toolchains()
        .iter()
        .map(|toolchain| {
            json!({
                "name": toolchain.name,
                "rustc": toolchain.told,
                "version": toolchain.version,
                "builds_library": !toolchain.has_target,
            })
        })
        .collect();
    Reply::bare(&json!({ "ok": true, "accepts": !toolchains.is_empty(), "toolchains": toolchains }))
}

/// Hundredths of a per cent as a number with two places.
pub(super) fn percent(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}
