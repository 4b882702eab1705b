//! `/v4/<KEY>/udf/…`, `/v4/<KEY>/dexscreener/…` and `/v4/<KEY>/coingecko/…`: markets in the forms of those who list them
//! (docs/listings.md). The routes are declared in `rest/listings`.

use hyper::Method;
use serde_json::json;

use super::{HttpRequest, HttpSurface};
use crate::errors::{Refusal, RestError};
use crate::respond::Reply;
use crate::rest::{self, Group, listings};
use crate::routes::ErrorForm;
use crate::state::{BoxFuture, RequestContext};

/// Bodies are read up to this, bytes, so that the answer arrives; no route takes one.
const BODY_BYTES_MAX: usize = 64 << 10;

/// The surface of one of them.
#[derive(Clone)]
pub(super) struct Listing {
    /// First segment of its paths in their declarations.
    name: &'static str,
    group: &'static Group,
    /// How an error is answered.
    refuse: fn(&RestError) -> Reply,
}

/// [`crate::KeyedSurface::Udf`].
pub(super) static UDF: Listing = Listing { name: "udf", group: &listings::UDF, refuse: udf_error };
/// [`crate::KeyedSurface::Dexscreener`].
pub(super) static DEXSCREENER: Listing =
    Listing { name: "dexscreener", group: &listings::DEXSCREENER, refuse: Reply::rest_error };
/// [`crate::KeyedSurface::Coingecko`].
pub(super) static COINGECKO: Listing =
    Listing { name: "coingecko", group: &listings::COINGECKO, refuse: Reply::rest_error };

/// An error as the charting library reads it, with our own members beside its own.
fn udf_error(error: &RestError) -> Reply {
    let body = json!({
        "s": "error",
        "errmsg": error.message,
        "statusCode": error.status.as_u16(),
        "code": error.code,
        "error": error.message,
    });
    Reply::json(error.status, body.to_string())
}

/// Answers by the routes of a group.
pub(super) struct ListingHttp(pub(super) Listing);

impl HttpSurface for ListingHttp {
    fn body_limit(&self, _: &Method, _: &[String]) -> Option<usize> {
        Some(BODY_BYTES_MAX)
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, RestError>> {
        Box::pin(async move {
            let Listing { name, group, refuse } = self.0;
            let segments: Vec<&str> =
                std::iter::once(name).chain(context.segments().iter().map(String::as_str)).collect();
            let Some(asked) = rest::find_in(&[group], &segments, &request.verb) else {
                return Ok(refuse(&RestError::not_found("There is no such route")));
            };
            if !asked.verb.takes(&request.verb) {
                return Ok(Reply::refusal(Refusal::WrongVerb("GET, HEAD, OPTIONS"), ErrorForm::Rest));
            }
            let members = match asked.query(request.query.as_deref()) {
                Ok(members) => members,
                Err(error) => return Ok(refuse(&error)),
            };
            let answered = asked.answer(context, &request.headers, members).await;
            Ok(answered.unwrap_or_else(|error| refuse(&error)))
        })
    }
}
