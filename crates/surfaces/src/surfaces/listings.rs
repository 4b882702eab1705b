//! `/v4/<KEY>/udf/…`, `/v4/<KEY>/dexscreener/…` and `/v4/<KEY>/coingecko/…`: markets in the formats of listing services
//! (docs/listings.md). The routes are declared in `rest/listings`.

use hyper::Method;
use serde_json::json;

use super::{HttpRequest, HttpSurface};
use crate::errors::ApiError;
use crate::respond::Reply;
use crate::rest::{Group, body_limit, listings, serve};
use crate::state::{BoxFuture, RequestContext};

/// The surface of one of them.
#[derive(Clone)]
pub(super) struct Listing {
    groups: [&'static Group; 1],
    /// How an error is answered.
    refuse: fn(&ApiError) -> Reply,
}

/// [`paraffin_gateway::KeyedSurface::Udf`].
pub(super) static UDF: Listing = Listing { groups: [&listings::UDF], refuse: udf_error };
/// [`paraffin_gateway::KeyedSurface::Dexscreener`].
pub(super) static DEXSCREENER: Listing = Listing { groups: [&listings::DEXSCREENER], refuse: Reply::rest_error };
/// [`paraffin_gateway::KeyedSurface::Coingecko`].
pub(super) static COINGECKO: Listing = Listing { groups: [&listings::COINGECKO], refuse: Reply::rest_error };

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
pub(super) struct ListingHttp(pub(super) Listing);

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
