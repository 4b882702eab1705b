//! The site of an instance: requests for pages count as those of an anonymous caller, and chain data is read from the API in the same
//! process, with the same paths, limits and budgets as every caller's.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use paraffin_site::{Api, ApiAnswer, ApiFuture, Call, MemoryBudget, Site, Tip};
use paraffin_webhooks::Webhooks;

use crate::admission::{Admission, admit};
use crate::body::RequestBody;
use crate::callers::{Arrival, unavailable};
use crate::errors::{OVERLOADED_RETRY_SECONDS, Refusal};
use crate::request::{dispatch, held, read_plain};
use crate::request_id::RequestId;
use crate::respond::Reply;
use crate::routes::Route;
use crate::state::{Caller, Connection, RequestContext, unix_millis};

/// Polling interval of a feed of the newest block.
const TIP_EVERY: Duration = Duration::from_millis(200);

/// A page, or its answer to a form. The site limits sign-ins; all pages of one address are counted as requests without a
/// key, those of a signed-in user by the site.
pub(crate) async fn answer(
    connection: &Arc<Connection>,
    admission: &mut Admission<'_>,
    id: &RequestId,
    head: &Parts,
    body: &mut RequestBody,
) -> Result<Reply, Refusal> {
    let Arrival { shared, route, client, at } = admission.arrival();
    let site = shared.site.as_ref().ok_or(Refusal::NotFound)?;
    if !Site::is_file(head.uri.path()) {
        // Without the key store every request is refused, as on all paths.
        shared.keys.available().await.map_err(|error| unavailable(&error))?;
        match site.take(&head.headers, at) {
            None => admit(admission, &Caller::Keyless, body).await?,
            Some(Ok(())) => {}
            Some(Err(retry_after)) => {
                return Err(Refusal::RateLimited { retry_after, code: route.rate_limit_code() });
            }
        }
    }
    let page = Arc::new(RequestContext::new(Arc::clone(connection), Caller::Keyless, client, Vec::new()));
    let form = read_plain(&page, body, paraffin_site::FORM_BYTES_MAX).await?;
    let mut request = Request::new(form);
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = head.uri.clone();
    *request.headers_mut() = head.headers.clone();
    let api = InProcess { connection: Arc::clone(connection), client, id: id.clone(), page: Arc::clone(&page) };
    let answered =
        tokio::time::timeout(shared.config.limits.handler_timeout(), site.answer(request, client, at, Arc::new(api)))
            .await;
    let (head, body) = answered.map_err(|_| Refusal::HandlerTimeout)?.into_parts();
    let reply = Reply { headers: head.headers, body, ..Reply::empty(head.status) };
    Ok(Box::pin(held(&page, route.form, reply)).await)
}

/// The API for one page.
struct InProcess {
    connection: Arc<Connection>,
    client: IpAddr,
    id: RequestId,
    /// Counts the calls of the page as those of a batch are counted.
    page: Arc<RequestContext>,
}

impl InProcess {
    fn tip(&self) -> Tip {
        let shared = &self.connection.shared;
        let network = shared.chain.network().name().to_owned();
        if shared.upstreams.is_some() {
            return Tip { network, height: shared.height(), ..Tip::default() };
        }
        let snapshot = shared.chain.snapshot();
        let Some(record) = snapshot.tip() else { return Tip { network, ..Tip::default() } };
        Tip {
            network,
            height: Some(record.id.height),
            hash: Some(record.id.hash.to_string()),
            time: Some(i64::from(record.time)),
        }
    }
}

impl Api for InProcess {
    fn ask(&self, call: Call) -> ApiFuture<'_, ApiAnswer> {
        Box::pin(async move {
            if self.page.budget().take_call(&self.page).is_err() {
                return ApiAnswer {
                    status: StatusCode::TOO_MANY_REQUESTS,
                    retry_after: Some(OVERLOADED_RETRY_SECONDS),
                    body: Bytes::from_static(br#"{"code":"RATE_LIMITED","error":"Too many calls in this minute"}"#),
                };
            }
            let request = if call.body.is_some() { Request::post(&call.path) } else { Request::get(&call.path) };
            let Ok(request) = request.body(()) else { return ApiAnswer::refused(StatusCode::BAD_REQUEST) };
            let (head, ()) = request.into_parts();
            let shared = &self.connection.shared;
            let route = Route::parse(shared.surfaces, head.uri.path());
            let admission = Admission::of(shared, &route, self.client, unix_millis());
            let mut body = RequestBody::whole(call.body.map(Bytes::from).unwrap_or_default());
            let outcome = dispatch(&self.connection, &admission, Caller::Keyless, &self.id, &head, &mut body).await;
            if outcome.streamed.is_some() || outcome.reply.stream.is_some() {
                return ApiAnswer::refused(StatusCode::BAD_GATEWAY);
            }
            let mut reply = outcome.reply;
            let retry_after = reply.headers.remove(hyper::header::RETRY_AFTER);
            let retry_after = retry_after.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
            ApiAnswer { status: reply.status, retry_after, body: reply.body }
        })
    }

    fn tip(&self) -> Tip {
        InProcess::tip(self)
    }

    fn webhooks(&self) -> Option<Arc<Webhooks>> {
        self.connection.shared.webhooks.clone()
    }

    fn memory_budgets(&self) -> Vec<MemoryBudget> {
        let parts = self.connection.shared.memory_parts().into_iter();
        parts.map(|(_, name, (max, used))| MemoryBudget { name, used: used as u64, max: max as u64 }).collect()
    }

    fn tip_other_than(&self, known: String) -> ApiFuture<'_, Tip> {
        Box::pin(async move {
            loop {
                let tip = InProcess::tip(self);
                if tip.id() != known || self.connection.shared.draining.has_begun() {
                    return tip;
                }
                tokio::time::sleep(TIP_EVERY).await;
            }
        })
    }
}
