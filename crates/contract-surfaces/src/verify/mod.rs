//! `/api/v1/<KEY>/…`: verification of contracts against their source (docs/verification.md).

mod attest;
mod fields;
mod source;
mod submit;

use std::sync::Arc;

use http::{Method, StatusCode};
use paraffin_alkanes::views;
use paraffin_primitives::AlkaneId;
use paraffin_verify::Verifier;

use paraffin_gateway::alkanes;
use paraffin_gateway::describe::{Document, openapi};
use paraffin_gateway::errors::{ApiError, ErrorKind, kind};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::{Base, Declared, Group, body_limit, serve};
use paraffin_gateway::state::{BoxFuture, Caller, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface};

const TAG: &str = "Contract verification";
/// Refusals beyond those that all routes have.
const REFUSALS: &[StatusCode] = &[StatusCode::BAD_GATEWAY];
/// The same of routes that take a body.
const REFUSALS_OF_BODY: &[StatusCode] = &[StatusCode::BAD_GATEWAY, StatusCode::UNPROCESSABLE_ENTITY];

/// `/api/v1/openapi.json`.
pub static DOCUMENT: Document = Document::new(&["api", "v1", "openapi.json"], || {
    openapi::apart("Paraffin contract verification", INTRODUCTION, &GROUPS)
});

const INTRODUCTION: &str = "\
Whether the source that somebody shows is that of a deployed contract. Any active key may submit and read; it stands in the \
path and nowhere else. Unknown fields, nulls and empty texts are dropped.";

/// `/api/v1/<KEY>`. It takes a key and nothing else (docs/verification.md).
pub static SURFACE: KeyedSurface = KeyedSurface {
    base: Base::Apart,
    routes: &GROUPS,
    takes_alias: false,
    takes_large_bodies: true,
    for_admins: Some("attest"),
    ..KeyedSurface::http("explorer")
};

/// All routes.
static GROUPS: [&Group; 2] = [
    &Group {
        tag: TAG,
        base: Base::Apart,
        admit: |_| Ok(()),
        routes: &[
            Declared::of::<submit::Compilers>(),
            Declared::of::<submit::Submit>(),
            Declared::of::<submit::RunById>(),
            Declared::of::<source::SourceOf>(),
            Declared::of::<source::TreeOf>(),
            Declared::of::<source::BlobOf>(),
        ],
    },
    &Group {
        tag: TAG,
        base: Base::Apart,
        admit: |context| context.require_admin().map(drop),
        routes: &[Declared::of::<attest::Attest>()],
    },
];

/// The surface over one verifier.
#[derive(Clone)]
pub(crate) struct VerifyHttp(pub(crate) Arc<Verifier>);

impl HttpSurface for VerifyHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        Some(body_limit(&GROUPS, segments, verb))
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(serve(&GROUPS, context, request))
    }
}

/// The verifier of the instance.
fn of(context: &RequestContext) -> Result<&Arc<Verifier>, ApiError> {
    let surface: Option<&VerifyHttp> = context.shared().surface(&SURFACE);
    surface.map(|surface| &surface.0).ok_or_else(|| ApiError::inconsistent("a route of a surface that is not there"))
}

/// The number of the caller's key, for records; the explorer is open to keys alone.
fn key_id(context: &RequestContext) -> Result<i64, ApiError> {
    match context.caller() {
        Caller::Key(record) => Ok(record.id.0),
        _ => Err(ApiError::new(kind::INVALID_API_KEY, "Invalid or missing API key")),
    }
}

/// The module of a contract as the newest block has it, unpacked.
///
/// # Errors
/// 404 when there is none; 503 while nothing is indexed.
async fn deployed(context: &RequestContext, id: AlkaneId) -> Result<Vec<u8>, ApiError> {
    let code = alkanes::read(context, None, None, move |moment| views::bytecode(id, &moment.view)).await?;
    if code.is_empty() { Err(ApiError::not_found("there is no contract with code under this id")) } else { Ok(code) }
}

/// 502: the store of verification records is unavailable.
fn unreachable(error: &dyn std::fmt::Display) -> ApiError {
    tracing::error!(%error, "verification could not be consulted");
    ApiError::new(
        ErrorKind::new("VERIFIER_UNREACHABLE", StatusCode::BAD_GATEWAY),
        "the records of verification cannot be read",
    )
}
