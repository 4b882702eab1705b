//! `/api/v1/<KEY>/…`: verification of contracts against their source (docs/verification.md).

mod attest;
mod fields;
mod source;
mod submit;

use std::sync::Arc;

use hyper::{Method, StatusCode};
use paraffin_alkanes::views;
use paraffin_primitives::AlkaneId;
use paraffin_verify::{RecordsError, Verifier};

use super::{HttpRequest, HttpSurface};
use crate::alkanes;
use crate::errors::{Refusal, RestError};
use crate::respond::Reply;
use crate::routes::ErrorForm;
use crate::state::{BoxFuture, Caller, RequestContext};

/// Largest submission in bytes: it carries an archive.
const VERIFY_BYTES_MAX: usize = 32 << 20;
/// Largest attestation in bytes: it carries a description of a build.
const ATTEST_BYTES_MAX: usize = 4 << 20;
/// Bodies of all other requests are read up to this, bytes, so that the answer arrives.
const OTHER_BODY_BYTES_MAX: usize = 64 << 10;

/// The surface over one verifier.
#[derive(Clone)]
pub(super) struct VerifyHttp(pub(super) Arc<Verifier>);

impl HttpSurface for VerifyHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        let is_post = *verb == Method::POST;
        Some(match segments {
            [only] if is_post && only == "verify" => VERIFY_BYTES_MAX,
            [only] if is_post && only == "attest" => ATTEST_BYTES_MAX,
            _ => OTHER_BODY_BYTES_MAX,
        })
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, RestError>> {
        Box::pin(async move {
            let segments: Vec<&str> = context.segments().iter().map(String::as_str).collect();
            let is_get = request.verb == Method::GET;
            let is_post = request.verb == Method::POST;
            match segments[..] {
                ["verify"] if is_post => submit::submit(context, &self.0, &request.body).await,
                ["verify"] if is_get => Ok(submit::toolchains(&self.0)?),
                ["verify", run] if is_get => submit::run(&self.0, run).await,
                ["attest"] if is_post => attest::attest(context, &self.0, &request.body).await,
                ["source", block, tx] if is_get => source::metadata(context, &self.0, block, tx).await,
                ["source", block, tx, "tree"] if is_get => source::tree(context, &self.0, block, tx).await,
                ["source", block, tx, "blob"] if is_get => {
                    source::blob(context, &self.0, block, tx, request.query.as_deref()).await
                }
                ["verify"] => Ok(wrong_verb("GET, HEAD, POST, OPTIONS")),
                ["attest"] => Ok(wrong_verb("POST, OPTIONS")),
                ["verify", _] | ["source", _, _] | ["source", _, _, "tree" | "blob"] => {
                    Ok(wrong_verb("GET, HEAD, OPTIONS"))
                }
                _ => Err(RestError::not_found(
                    "verification has verify, verify/{run_id}, attest, source/{block}/{tx}, and its tree and blob?path=",
                )),
            }
        })
    }
}

/// 405 with the verbs that the path takes.
fn wrong_verb(verbs: &'static str) -> Reply {
    Reply::refusal(Refusal::WrongVerb(verbs), ErrorForm::Rest)
}

/// The number of the caller's key, for records; the explorer is open to keys alone.
fn key_id(context: &RequestContext) -> Result<i64, RestError> {
    match context.caller() {
        Caller::Key(record) => Ok(record.id.0),
        _ => Err(RestError::new(StatusCode::UNAUTHORIZED, "INVALID_API_KEY", "Invalid or missing API key")),
    }
}

/// The module of a contract as the newest block has it, unpacked.
///
/// # Errors
/// 404 when there is none; 503 while nothing is indexed.
async fn deployed(context: &RequestContext, id: AlkaneId) -> Result<Vec<u8>, RestError> {
    let code = alkanes::read(context, None, None, move |moment| views::bytecode(id, &moment.view)).await?;
    if code.is_empty() { Err(RestError::not_found("there is no contract with code under this id")) } else { Ok(code) }
}

/// 502: the records of verification do not answer.
fn unreachable(error: &dyn std::fmt::Display) -> RestError {
    tracing::error!(%error, "verification could not be consulted");
    RestError::new(StatusCode::BAD_GATEWAY, "VERIFIER_UNREACHABLE", "the records of verification cannot be read")
}

impl From<RecordsError> for RestError {
    fn from(error: RecordsError) -> Self {
        unreachable(&error)
    }
}
