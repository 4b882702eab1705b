//! `/v4/opi/v1/brc20/…` and the same below a key: the BRC-20 index as OPI's own API renders it (docs/api.md, "BRC-20";
//! bestinslot-xyz/OPI, `modules/brc20_api`). GET alone, parameters in the query, `{error, result}` around every answer but the
//! four that are plain text. Answers come from our own index or from a server of OPI.

mod activity;
mod ask;
mod balances;
mod balances_hash;
mod indexer;
mod proxied;
mod render;
mod tokens;

use http::StatusCode;
use paraffin_ordinals_index::OPI_SERVER;
use paraffin_ordinals_index::brc20::{Brc20Index, LedgerError, MODULE};
use paraffin_primitives::Height;
use paraffin_store::Snapshot;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use paraffin_gateway::errors::{ApiError, ErrorKind, kind};
use paraffin_gateway::interrupt::{HeldRows, Interrupt};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::{Answer as _, Base, Changes, Declared, Group, Made, Wrapping};
use paraffin_gateway::state::{RequestContext, Shared};
use paraffin_gateway::surface::RoutesBeside;

use self::proxied::Query;
pub use balances_hash::BalancesHash;

/// The routes below `/v4/opi` and `/v4/<KEY>/opi`.
pub const BESIDE: RoutesBeside = RoutesBeside { name: "opi", groups: &GROUPS, refusal, is_about_caller, is_served };

/// Their answers to GET change with the BRC-20 index, unless another server answers.
const CHANGES: Changes = Changes::WithModule { module: MODULE, unless: OPI_SERVER };

static GROUPS: [&Group; 1] = [&Group {
    tag: "BRC-20",
    base: Base::BesideApi,
    admit: |_| Ok(()),
    routes: &[
        Declared::of::<indexer::NewestHeight>(),
        Declared::of::<indexer::ExtrasHeight>(),
        Declared::of::<indexer::RowsVersion>(),
        Declared::of::<indexer::EventsVersion>(),
        Declared::of::<indexer::CallerAddress>(),
        Declared::of::<balances::CurrentBalance>(),
        Declared::of::<balances::BalanceOnBlock>(),
        Declared::of::<balances_hash::HashOfBalances>(),
        Declared::of::<activity::History>(),
        Declared::of::<activity::ActivityOnBlock>(),
        Declared::of::<activity::EventsOf>(),
        Declared::of::<activity::NodeResults>(),
        Declared::of::<activity::HashesOfActivity>(),
        Declared::of::<tokens::TokenSummary>(),
        Declared::of::<tokens::Holders>(),
        Declared::of::<tokens::NotesOfWallet>(),
        Declared::of::<tokens::NotesOfTicker>(),
    ],
}];

/// Whether the path is about its caller and not about indexed data.
fn is_about_caller(segments: &[String]) -> bool {
    segments.iter().map(String::as_str).eq(["v1", "brc20", "ip"])
}

/// The body of an error: OPI's members, and those that errors have everywhere here.
fn refusal(error: &ApiError) -> Reply {
    let body = serde_json::json!({
        "error": error.message,
        "result": Value::Null,
        "statusCode": error.kind.status.as_u16(),
        "code": error.kind.name,
    });
    Reply::json(error.kind.status, body.to_string())
}

/// 400 with OPI's own message, for missing records.
fn absent(words: &'static str) -> ApiError {
    ApiError::new(ErrorKind { status: StatusCode::BAD_REQUEST, ..kind::NOT_FOUND }, words)
}

fn failed(error: &LedgerError) -> ApiError {
    ApiError::internal(error)
}

/// The newest block of the BRC-20 index.
///
/// # Errors
/// 503 while nothing is indexed, and where this instance does not index BRC-20.
fn newest(snapshot: &Snapshot) -> Result<Height, ApiError> {
    if snapshot.tip().is_none() {
        return Err(ApiError::starting());
    }
    let height = Brc20Index::new(snapshot).height().map_err(|error| failed(&error))?;
    height.ok_or_else(|| {
        let words = "this instance does not index BRC-20";
        ApiError::new(kind::BRC20_NOT_INDEXED, words)
    })
}

/// Whether the routes answer: this instance has a BRC-20 index with at least one block, or another server answers for it.
fn is_served(shared: &Shared) -> bool {
    shared.families.of(OPI_SERVER).is_some() || shared.upstreams.is_some() || newest(&shared.chain.snapshot()).is_ok()
}

/// Answers with a read of our own index, off the async threads and with its newest block, or with the answer of a server of OPI to
/// the same `query`.
async fn answer<T: Serialize + JsonSchema + Send + 'static>(
    context: &RequestContext,
    query: &Query,
    read: impl FnOnce(Brc20Index<'_>, Height, &Interrupt) -> Result<T, ApiError> + Send + 'static,
) -> Result<Made<T>, ApiError> {
    if let Some(server) = context.shared().families.of(OPI_SERVER) {
        return proxied::result(server, context, query, false).await.map(Made::from);
    }
    let read =
        move |snapshot: &Snapshot, interrupt: &Interrupt| read(Brc20Index::new(snapshot), newest(snapshot)?, interrupt);
    let (answer, _rows): (_, HeldRows) = context.read_rows(read).await.map_err(|error| ApiError::internal(&error))?;
    answer?.into_reply(StatusCode::OK, Wrapping::WithError).map(Made::from)
}
