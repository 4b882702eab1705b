use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use hyper::StatusCode;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::envelope::{Body, Flavour, read_body, read_request, write_answer};
use super::params::Params;
use crate::errors::{RpcError, rpc_code};
use crate::state::{BoxFuture, RequestContext};
use crate::surfaces::{RpcResult, RpcSurface};

/// The answer to a whole body; without a text there was nothing to answer (204).
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Option<String>,
}

/// Runs a body: one request or a batch (`decisions` 1.4).
pub(crate) async fn answer(surface: Arc<dyn RpcSurface>, context: Arc<RequestContext>, body: &[u8]) -> Answer {
    let limits = context.limits();
    let flavour = surface.flavour();
    match read_body(body, limits.json_depth_max, limits.batch_entries_max) {
        Err(error) => Answer { status: StatusCode::OK, body: Some(write_one(flavour, None, &Err(error))) },
        Ok(Body::Single(raw)) => single(surface.as_ref(), &context, raw).await,
        Ok(Body::Batch(entries)) => {
            let entries: Vec<Box<RawValue>> = entries.into_iter().map(ToOwned::to_owned).collect();
            let body = batch(surface, &context, entries).await;
            let status = if body.is_some() { StatusCode::OK } else { StatusCode::NO_CONTENT };
            Answer { status, body }
        }
    }
}

fn write_one(flavour: Flavour, id: Option<&RawValue>, outcome: &RpcResult) -> String {
    let mut out = String::new();
    write_answer(&mut out, flavour, id, outcome);
    out
}

/// One entry of a body, run. `None`: a notification, to which there is no answer.
async fn run(
    surface: &dyn RpcSurface,
    context: &RequestContext,
    raw: &RawValue,
    deadline: Instant,
) -> Option<(Option<Box<RawValue>>, RpcResult)> {
    let request = match read_request(raw) {
        Ok(request) => request,
        Err(bad) => return Some((bad.id.map(ToOwned::to_owned), Err(bad.error))),
    };
    let family = surface.family(&request.method);
    let outcome = match Params::parse(request.params) {
        Err(error) => Err(error),
        Ok(params) => call(surface, context, &request.method, params, deadline).await,
    };
    let outcome = outcome.and_then(|result| {
        if result.get().len() > context.limits().response_bytes_max {
            return Err(RpcError::response_too_large());
        }
        Ok(result)
    });
    context.metrics().call(family, outcome.as_ref().err().map(|error| error.code));
    request.id.map(|id| (Some(id.to_owned()), outcome))
}

async fn call(
    surface: &dyn RpcSurface,
    context: &RequestContext,
    method: &str,
    params: Params,
    deadline: Instant,
) -> RpcResult {
    let guarded = CatchPanic::new(Box::pin(async move { surface.call(context, method, params).await }));
    match tokio::time::timeout_at(deadline, guarded).await {
        Err(_) => Err(RpcError::timeout()),
        Ok(Err(_)) => {
            context.metrics().panic();
            Err(RpcError::panicked())
        }
        Ok(Ok(outcome)) => outcome,
    }
}

async fn single(surface: &dyn RpcSurface, context: &RequestContext, raw: &RawValue) -> Answer {
    let deadline = Instant::now() + context.limits().handler_timeout();
    let Some((id, outcome)) = run(surface, context, raw, deadline).await else {
        return Answer { status: StatusCode::NO_CONTENT, body: None };
    };
    let timed_out = matches!(&outcome, Err(error) if error.code == rpc_code::INTERNAL && error.message == "timeout");
    let status = if timed_out { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::OK };
    Answer { status, body: Some(write_one(surface.flavour(), id.as_deref(), &outcome)) }
}

/// Runs the entries, a few at a time, and writes the answers in the order of the entries.
async fn batch(
    surface: Arc<dyn RpcSurface>,
    context: &Arc<RequestContext>,
    entries: Vec<Box<RawValue>>,
) -> Option<String> {
    let deadline = Instant::now() + context.limits().handler_timeout();
    let count = entries.len();
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
                if let Some((id, outcome)) = run(surface.as_ref(), &context, raw, deadline).await {
                    answers.lock()[index] = Some(write_one(flavour, id.as_deref(), &outcome));
                }
            }
        };
        workers.spawn(worker.in_current_span());
    }
    // Every call ends by the deadline, so this does too; dropping the set ends what is left when the caller goes away.
    while workers.join_next().await.is_some() {}
    let answers = std::mem::take(&mut *answers.lock());
    join(answers, &entries, flavour, context.limits().response_bytes_max)
}

/// Joins the answers; those that would make the whole too large are replaced by an error.
fn join(answers: Vec<Option<String>>, entries: &[Box<RawValue>], flavour: Flavour, bytes_max: usize) -> Option<String> {
    let mut out = String::new();
    for (answer, raw) in answers.into_iter().zip(entries) {
        let Some(mut answer) = answer else { continue };
        if out.len() + answer.len() > bytes_max {
            let id = read_request(raw).map_or_else(|bad| bad.id, |request| request.id);
            answer = write_one(flavour, id, &Err(RpcError::response_too_large()));
        }
        out.push(if out.is_empty() { '[' } else { ',' });
        out.push_str(&answer);
    }
    if out.is_empty() {
        return None;
    }
    out.push(']');
    Some(out)
}

/// Turns a panic of a future into its output, so that one broken call takes nothing else with it.
pub(crate) struct CatchPanic<'a, T>(BoxFuture<'a, T>);

impl<'a, T> CatchPanic<'a, T> {
    pub(crate) fn new(future: BoxFuture<'a, T>) -> Self {
        Self(future)
    }
}

impl<T> Future for CatchPanic<'_, T> {
    type Output = Result<T, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The future is dropped after a panic and never polled again, so nothing sees a broken state.
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}
