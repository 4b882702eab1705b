//! `/v4/<KEY>/udf/…`, `/v4/<KEY>/dexscreener/…` and `/v4/<KEY>/coingecko/…`: markets in the formats of listing services
//! (docs/listings.md). The routes are declared beside this file.

use hyper::Method;
use serde_json::json;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::{Group, body_limit, serve};
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface};

/// The surface of one of them.
#[derive(Clone)]
pub(crate) struct Listing {
    groups: [&'static Group; 1],
    /// How an error is answered.
    refuse: fn(&ApiError) -> Reply,
}

/// [`paraffin_gateway::KeyedSurface::Udf`].
pub(crate) static UDF: Listing = Listing { groups: [&super::UDF], refuse: udf_error };
/// [`paraffin_gateway::KeyedSurface::Dexscreener`].
pub(crate) static DEXSCREENER: Listing = Listing { groups: [&super::DEXSCREENER], refuse: Reply::rest_error };
/// [`paraffin_gateway::KeyedSurface::Coingecko`].
pub(crate) static COINGECKO: Listing = Listing { groups: [&super::COINGECKO], refuse: Reply::rest_error };

/// An error as the charting library reads it, with our own members beside its own.
fn udf_error(error: &ApiError) -> Reply {
    let body = json!({
        "s": "error",
        "errmsg": error.message,
        "statusCode": error.kind.status.as_u16(),
        "code": error.kind.name,
        "error": error.message,
    });
    Reply::json(error.kind.status, body.to_string())
}

/// Answers by the routes of a group.
pub(crate) struct ListingHttp(pub(crate) Listing);

impl HttpSurface for ListingHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        Some(body_limit(&self.0.groups, segments, verb))
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            let answered = serve(&self.0.groups, context, request).await;
            Ok(answered.unwrap_or_else(|error| (self.0.refuse)(&error)))
        })
    }
}
