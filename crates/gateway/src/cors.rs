use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, ORIGIN, VARY,
};
use hyper::{HeaderMap, StatusCode};

use crate::respond::Reply;

const MAX_AGE_SECONDS: &str = "86400";
const EXPOSED: &str = "X-Request-Id, X-Indexed-Height, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, \
    X-RateLimit-Daily-Limit, X-RateLimit-Daily-Remaining, Retry-After, ETag";

/// The one `Origin` of a request; two of them count as none.
pub(crate) fn single_origin(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next()?;
    origins.next().is_none().then_some(origin)
}

/// The answer to a preflight. It is the same for all origins, since a preflight cannot carry the key that decides.
pub(crate) fn preflight(request: &HeaderMap, key_headers: &[String]) -> Reply {
    let mut reply = Reply::empty(StatusCode::NO_CONTENT);
    let allowed =
        std::iter::once("Content-Type").chain(key_headers.iter().map(String::as_str)).collect::<Vec<_>>().join(", ");
    reply.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, OPTIONS"));
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        reply.headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    reply.headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_SECONDS));
    echo(&mut reply.headers, single_origin(request));
    reply
}

/// Lets the page at the request's origin read the answer.
pub(crate) fn echo(response: &mut HeaderMap, origin: Option<&HeaderValue>) {
    if let Some(origin) = origin {
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

/// Informs caches that the answer may differ by origin.
pub(crate) fn vary(response: &mut HeaderMap) {
    response.insert(VARY, HeaderValue::from_static("Origin"));
}
