//! `/v4/<KEY>/udf/…`, `/v4/<KEY>/dexscreener/…` and `/v4/<KEY>/coingecko/…`: markets in the formats of listing services
//! (docs/listings.md). The routes are declared beside this file.

use http::Method;
use serde_json::json;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::{body_limit, serve};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface};

/// An error as the charting library reads it, with our own members beside its own.
pub(crate) fn udf_error(error: &ApiError) -> Reply {
    let body = json!({
        "s": "error",
        "errmsg": error.message,
        "statusCode": error.kind.status.as_u16(),
        "code": error.kind.name,
        "error": error.message,
    });
    Reply::json(error.kind.status, body.to_string())
}

/// Answers by the routes of a surface.
pub(crate) struct ListingHttp {
    pub(crate) surface: &'static KeyedSurface,
    /// How an error is answered.
    pub(crate) refuse: fn(&ApiError) -> Reply,
}

impl HttpSurface for ListingHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        Some(body_limit(self.surface.routes, segments, verb))
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            let answered = serve(self.surface.routes, context, request).await;
            Ok(answered.unwrap_or_else(|error| (self.refuse)(&error)))
        })
    }
}
