//! Failures of the analytics methods.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use paraffin_bitcoin_surfaces::esplora;
use paraffin_gateway::alkanes::Fault;
use paraffin_gateway::errors::ApiError;

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of JSON-RPC.
    Call(ApiError),
    /// A result with `ok: false` and the reason.
    Domain(Refusal),
}

/// The result of a well-formed call that has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Refusal {
    /// `false`.
    ok: bool,
    /// Stable, machine-readable error word.
    error: &'static str,
    /// A more specific word, where the error word has several causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
    /// What to do about it.
    hint: Cow<'static, str>,
}

impl Refusal {
    pub(super) fn new(error: &'static str, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { ok: false, error, detail: None, hint: hint.into() }
    }

    pub(super) fn height(detail: &'static str, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: Some(detail), ..Self::new("missing_or_invalid_height", hint) }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Domain(refusal)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Call(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Call(fault.into())
    }
}

impl From<esplora::Fault> for Failure {
    fn from(fault: esplora::Fault) -> Self {
        Self::Call(match fault {
            esplora::Fault::Failed(error) => error,
            // Nothing of a caller's gets there unread.
            _ => ApiError::inconsistent("a read of the bitcoin index was refused"),
        })
    }
}
