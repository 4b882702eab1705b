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

use hyper::{HeaderMap, StatusCode};
use paraffin_ordinals_index::brc20::{Brc20Index, LedgerError, MODULE};
use paraffin_primitives::Height;
use paraffin_store::Snapshot;
use serde::Serialize;
use serde_json::Value;

use crate::errors::RestError;
use crate::interrupt::{Interrupt, Kept};
use crate::respond::Reply;
use crate::rest::{RestBody, RestResult, Validator};
use crate::state::{BoxFuture, RequestContext, Shared};

pub(crate) use balances_hash::BalancesHash;

/// One request.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    context: &'a RequestContext,
    query: &'a RestBody,
}

type Handler = for<'a> fn(Request<'a>) -> BoxFuture<'a, RestResult>;

/// All routes and who answers them, the one place for them: requests are answered by this table, and `describe::rest`
/// describes each of its paths.
pub(crate) const ROUTES: &[(&str, Handler)] = &[
    ("opi/v1/brc20/block_height", indexer::block_height),
    ("opi/v1/brc20/extras_block_height", indexer::block_height),
    ("opi/v1/brc20/db_version", indexer::db_version),
    ("opi/v1/brc20/event_hash_version", indexer::event_hash_version),
    ("opi/v1/brc20/ip", indexer::ip),
    ("opi/v1/brc20/balance", balances::current),
    ("opi/v1/brc20/get_current_balance_of_wallet", balances::current),
    ("opi/v1/brc20/balance_on_block", balances::on_block),
    ("opi/v1/brc20/get_hash_of_all_current_balances", balances_hash::answer),
    ("opi/v1/brc20/history", activity::history),
    ("opi/v1/brc20/activity_on_block", activity::on_block),
    ("opi/v1/brc20/event", activity::of_inscription),
    ("opi/v1/brc20/bitcoin_rpc_results_on_block", activity::node_results),
    ("opi/v1/brc20/get_hash_of_all_activity", activity::hashes),
    ("opi/v1/brc20/token_summary", tokens::summary),
    ("opi/v1/brc20/holders", tokens::holders),
    ("opi/v1/brc20/get_valid_tx_notes_of_wallet", tokens::notes_of_wallet),
    ("opi/v1/brc20/get_valid_tx_notes_of_ticker", tokens::notes_of_ticker),
];

/// The handler of the path whose segments after `opi` these are.
fn find(segments: &[String]) -> Option<Handler> {
    let fits = |path: &str| path.split('/').skip(1).eq(segments.iter().map(String::as_str));
    ROUTES.iter().find(|(path, _)| fits(path)).map(|(_, handler)| *handler)
}

/// Whether there is something at the path.
pub(crate) fn is_known(segments: &[String]) -> bool {
    find(segments).is_some()
}

/// Routes whose answers follow from something else than the newest block: the program, the caller, or a block that was the newest
/// when a computation began.
const UNTAGGED: [&str; 4] = ["db_version", "event_hash_version", "ip", "get_hash_of_all_current_balances"];

/// Whether the answers of a path of [`ROUTES`] carry an `ETag` (docs/api.md, "Headers").
pub(crate) fn is_tagged(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| !UNTAGGED.contains(&name))
}

/// Whether the path is about its caller, and about nothing that is indexed.
pub(crate) fn is_about_caller(segments: &[String]) -> bool {
    segments.iter().map(String::as_str).eq(["v1", "brc20", "ip"])
}

/// Answers a GET.
pub(crate) async fn answer(context: &RequestContext, query: Option<&str>, headers: &HeaderMap) -> RestResult {
    let handler = find(context.segments()).ok_or_else(|| RestError::not_found("There is no such route"))?;
    let query = RestBody::of_query(query)?;
    let request = Request { context, query: &query };
    match (&context.shared().families.opi, context.segments()) {
        // How far the other server is, is not known here.
        (Some(server), [.., name]) => proxied::answer(server, name, request).await,
        (None, [.., name]) if is_tagged(name) => {
            let validator = Validator::of(context, &[MODULE]);
            // What does not exist, or cannot be answered, is never "unchanged".
            let reply = handler(request).await?;
            let Some(validator) = validator else { return Ok(reply) };
            Ok(validator.unchanged(headers).unwrap_or_else(|| validator.mark(reply)))
        }
        _ => handler(request).await,
    }
}

/// The body of an error: OPI's members, and those that errors have everywhere here.
pub(crate) fn refusal(error: &RestError) -> Reply {
    let body = serde_json::json!({
        "error": error.message,
        "result": Value::Null,
        "statusCode": error.status.as_u16(),
        "code": error.code,
    });
    Reply::json(error.status, body.to_string())
}

/// `{"error":null,"result":…}`.
fn enveloped(result: &impl Serialize) -> RestResult {
    #[derive(Serialize)]
    struct Envelope<'a, T> {
        error: Option<()>,
        result: &'a T,
    }
    Reply::bare(&Envelope { error: None, result })
}

/// 400 in OPI's own words, for what is not there.
fn absent(words: &'static str) -> RestError {
    RestError::new(StatusCode::BAD_REQUEST, "NOT_FOUND", words)
}

fn failed(error: &LedgerError) -> RestError {
    RestError::internal(error)
}

/// The newest block of the BRC-20 index.
///
/// # Errors
/// 503 while nothing is indexed, and where this instance does not index BRC-20.
fn newest(snapshot: &Snapshot) -> Result<Height, RestError> {
    if snapshot.tip().is_none() {
        return Err(RestError::starting());
    }
    let height = Brc20Index::new(snapshot).height().map_err(|error| failed(&error))?;
    height.ok_or_else(|| {
        let words = "this instance does not index BRC-20";
        RestError::new(StatusCode::SERVICE_UNAVAILABLE, "BRC20_NOT_INDEXED", words)
    })
}

/// Whether the routes answer: this instance has a BRC-20 index with at least one block, or another server answers for it.
pub(crate) fn is_served(shared: &Shared) -> bool {
    shared.families.opi.is_some() || shared.upstreams.is_some() || newest(&shared.chain.snapshot()).is_ok()
}

impl Request<'_> {
    /// Runs a read of the index away from the async threads, with the newest block that it holds.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Brc20Index<'_>, Height) -> Result<T, RestError> + Send + 'static,
    ) -> Result<T, RestError> {
        Ok(self.walk(move |index, newest, _| read(index, newest)).await?.0)
    }

    /// As [`Request::read`], for many rows: checks along the way whether it is cancelled, and counts those that it keeps.
    async fn walk<T: Send + 'static>(
        &self,
        read: impl FnOnce(Brc20Index<'_>, Height, &Interrupt) -> Result<T, RestError> + Send + 'static,
    ) -> Result<(T, Kept), RestError> {
        let read = move |snapshot: &Snapshot, interrupt: &Interrupt| {
            read(Brc20Index::new(snapshot), newest(snapshot)?, interrupt)
        };
        let (answer, kept) = self.context.read_kept(read).await.map_err(|error| RestError::internal(&error))?;
        Ok((answer?, kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_once_in_the_table_and_is_found_by_its_segments() {
        for (place, (path, _)) in ROUTES.iter().enumerate() {
            assert!(ROUTES[..place].iter().all(|(other, _)| other != path), "{path}");
            let segments: Vec<String> = path.split('/').skip(1).map(ToOwned::to_owned).collect();
            assert!(is_known(&segments), "{path}");
            assert!(!is_known(&segments[1..]) && !is_known(&segments[..2]), "{path}");
        }
    }
}
