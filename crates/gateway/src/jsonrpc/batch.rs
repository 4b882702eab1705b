use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use hyper::StatusCode;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::envelope::{BadRequest, Body, Flavour, Request, read_body, read_request, write_answer};
use super::params::Params;
use crate::deadline::within;
use crate::errors::{ApiError, kind};
use crate::state::RequestContext;
use crate::surface::{RpcResult, RpcSurface};
use crate::trace::{self, CallSpan};

/// The answer to a whole body; no text means 204, for notifications only.
pub struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Option<String>,
}

/// Runs a body: one request or a batch (docs/api.md, "JSON-RPC").
pub async fn answer(surface: &Arc<dyn RpcSurface>, context: &Arc<RequestContext>, body: &[u8]) -> Answer {
    let limits = context.limits();
    let flavour = surface.flavour();
    match read_body(body, limits.json_depth_max, limits.batch_entries_max) {
        Err(error) => Answer { status: StatusCode::OK, body: Some(write_one(flavour, None, &Err(error))) },
        Ok(Body::Single(request)) => single(surface.as_ref(), context, request).await,
        Ok(Body::Batch(entries)) => {
            let entries: Vec<Box<RawValue>> = entries.into_iter().map(ToOwned::to_owned).collect();
            // Boxed, so that the future of the more frequent single requests stays small.
            let body = Box::pin(batch(Arc::clone(surface), context, entries)).await;
            let status = if body.is_some() { StatusCode::OK } else { StatusCode::NO_CONTENT };
            Answer { status, body }
        }
    }
}

/// Approximate size of an answer, bytes.
fn answer_bytes(id: Option<&RawValue>, outcome: &RpcResult) -> usize {
    /// Everything but the result and the id.
    const ENVELOPE_BYTES: usize = 64;
    ENVELOPE_BYTES + outcome.as_ref().map_or(0, |result| result.get().len()) + id.map_or(0, |id| id.get().len())
}

fn write_one(flavour: Flavour, id: Option<&RawValue>, outcome: &RpcResult) -> String {
    let mut out = String::with_capacity(answer_bytes(id, outcome));
    write_answer(&mut out, flavour, id, outcome);
    out
}

/// Runs one request within its time limit. `None` for a notification, which has no answer.
async fn run<'a>(
    surface: &dyn RpcSurface,
    context: &RequestContext,
    request: Result<Request<'a>, BadRequest<'a>>,
    time: Result<Duration, ApiError>,
    span: &mut CallSpan,
) -> Option<(Option<&'a RawValue>, RpcResult)> {
    let request = match request {
        Ok(request) => request,
        Err(bad) => return Some((bad.id, Err(bad.error))),
    };
    let outcome = match time.and_then(|time| Ok((time, Params::parse(request.params)?))) {
        Err(error) => Err(error),
        Ok((time, params)) => call(surface, context, &request.method, params, time, span).await,
    };
    let outcome = outcome.and_then(|result| {
        if result.get().len() > context.limits().response_bytes_max {
            return Err(ApiError::response_too_large());
        }
        Ok(result)
    });
    span.end(&request.method, outcome.as_ref().err());
    context.metrics().call(surface.family(&request.method), outcome.as_ref().err().map(|error| error.kind.rpc_code));
    request.id.map(|id| (Some(id), outcome))
}

async fn call(
    surface: &dyn RpcSurface,
    context: &RequestContext,
    method: &str,
    params: Params,
    time: Duration,
    span: &CallSpan,
) -> RpcResult {
    let called = pin!(async move { surface.call(context, method, params).await });
    let guarded = pin!(catch_panic(called));
    match within(time, span.scope(guarded)).await {
        Err(_) => Err(ApiError::timeout()),
        Ok(Err(Panicked)) => {
            context.metrics().panic();
            Err(ApiError::panicked())
        }
        Ok(Ok(outcome)) => outcome,
    }
}

async fn single(
    surface: &dyn RpcSurface,
    context: &RequestContext,
    request: Result<Request<'_>, BadRequest<'_>>,
) -> Answer {
    let mut span = CallSpan::alone();
    let Some((id, outcome)) = run(surface, context, request, Ok(context.limits().handler_timeout()), &mut span).await
    else {
        return Answer { status: StatusCode::NO_CONTENT, body: None };
    };
    drop(span);
    let timed_out = outcome.as_ref().is_err_and(|error| error.kind == kind::TIMEOUT);
    let status = if timed_out { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::OK };
    Answer { status, body: Some(write_one(surface.flavour(), id, &outcome)) }
}

/// Runs the entries, a few at a time, and writes the answers in the order of the entries.
async fn batch(
    surface: Arc<dyn RpcSurface>,
    context: &Arc<RequestContext>,
    entries: Vec<Box<RawValue>>,
) -> Option<String> {
    let count = entries.len();
    trace::note_batch(count);
    let entries = Arc::new(entries);
    let answers: Arc<Mutex<Vec<Option<String>>>> = Arc::new(Mutex::new(vec![None; count]));
    let next = Arc::new(AtomicUsize::new(0));
    let flavour = surface.flavour();
    let mut workers = JoinSet::new();
    for _ in 0..context.limits().batch_parallel_max.clamp(1, count) {
        let (surface, context) = (Arc::clone(&surface), Arc::clone(context));
        let (entries, answers, next) = (Arc::clone(&entries), Arc::clone(&answers), Arc::clone(&next));
        let worker = async move {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(raw) = entries.get(index) else { return };
                let budget = context.budget();
                let time = budget.take_call(&context).map(|()| budget.time_left(context.limits()));
                let mut span = CallSpan::in_batch();
                let answered = run(surface.as_ref(), &context, read_request(raw), time, &mut span).await;
                drop(span);
                if let Some((id, mut outcome)) = answered {
                    // Answers are counted before they are held. Errors are short and at most one for each entry, so that they are not counted.
                    if outcome.is_ok() && !budget.take_bytes(&context, answer_bytes(id, &outcome)).await {
                        outcome = Err(ApiError::response_too_large());
                    }
                    answers.lock()[index] = Some(write_one(flavour, id, &outcome));
                }
                // Calls that are ready at once never wait: without this the task would keep its thread until the last of them.
                tokio::task::yield_now().await;
            }
        };
        workers.spawn(paraffin_spans::in_current(worker.in_current_span()));
    }
    // Every call ends by the deadline, so this does too; dropping the set cancels the rest when the caller disconnects.
    while workers.join_next().await.is_some() {}
    let answers = std::mem::take(&mut *answers.lock());
    if context.budget().is_overloaded() {
        return None;
    }
    join(answers)
}

/// Joins the answers. Each is freed as soon as it has been copied.
fn join(answers: Vec<Option<String>>) -> Option<String> {
    let bytes: usize = answers.iter().flatten().map(|answer| answer.len() + 1).sum();
    let mut out = String::with_capacity(bytes + 1);
    for answer in answers.into_iter().flatten() {
        out.push(if out.is_empty() { '[' } else { ',' });
        out.push_str(&answer);
    }
    if out.is_empty() {
        return None;
    }
    out.push(']');
    Some(out)
}

/// A future panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Turns a panic of a future into its output, so that one broken call takes nothing else with it.
///
/// # Errors
/// It panicked.
pub async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        // After a panic the future is dropped and never polled again, so nothing sees a broken state.
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    })
    .await
}
