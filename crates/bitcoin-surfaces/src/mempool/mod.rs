//! `/v4/<KEY>/mempool`: the live set of unconfirmed transactions (docs/mempool.md).

mod figures;
mod methods;
mod observe;
mod stream;

use std::sync::Arc;

use http::Method;
use paraffin_mempool::Mempool;

use self::methods::MEMPOOL;
use paraffin_gateway::errors::{ApiError, kind};
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::metrics::Meter;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::routes::ErrorForm;
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface, RpcResult, RpcSurface};
use paraffin_gateway::websocket;

/// Largest body of a transaction, bytes of text; the gateway's own limit may be lower.
const OBSERVE_BYTES_MAX: usize = 32 << 20;

/// Bodies of requests that are refused for their verb are read up to this, bytes, so that the answer arrives.
const REFUSED_BODY_BYTES_MAX: usize = 64 << 10;

/// `/v4/<KEY>/mempool`.
pub static SURFACE: KeyedSurface = KeyedSurface {
    below: ErrorForm::Rest,
    takes_large_bodies: true,
    for_admins: Some("observe"),
    ..KeyedSurface::rpc("mempool", &MEMPOOL)
};

/// The surface over one set.
#[derive(Clone)]
pub(crate) struct MempoolSurface(pub(crate) Arc<Mempool>);

impl RpcSurface for MempoolSurface {
    fn family(&self, _method: &str) -> &'static str {
        "mempool"
    }

    fn measure(&self, meter: &Meter<'_>) {
        figures::measure(&self.0, meter);
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        MEMPOOL.serve(context, &self.0, method, &params)
    }
}

impl HttpSurface for MempoolSurface {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        match segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["observe"] if *verb == Method::POST => Some(OBSERVE_BYTES_MAX),
            ["observe" | "ws"] => Some(REFUSED_BODY_BYTES_MAX),
            _ => None,
        }
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            match (context.segments().first().map(String::as_str), &request.verb) {
                (Some("observe"), &Method::POST) => observe::observe(context, &self.0, request.body).await,
                (Some("ws"), &Method::GET) => {
                    let mempool = Arc::clone(&self.0);
                    websocket::accept(context, &request.headers, request.upgrade, move |socket| {
                        Box::pin(stream::serve(mempool, socket))
                    })
                }
                _ => Err(ApiError::new(kind::METHOD_NOT_ALLOWED, "observe takes POST, ws takes GET")),
            }
        })
    }
}
