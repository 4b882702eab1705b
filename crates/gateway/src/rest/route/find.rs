//! Routing of requests.

use hyper::Method;

use super::{Endpoint, Group, RestResult, Verb};
use crate::errors::{ApiError, Refusal};
use crate::respond::Reply;
use crate::routes::ErrorForm;
use crate::state::RequestContext;
use crate::surface::HttpRequest;

/// Why no route matches.
#[derive(Debug, PartialEq, Eq)]
pub enum NoRoute {
    /// There is no such path.
    Path,
    /// The path exists with these verbs only.
    Verb(&'static str),
}

/// The route for a path and a verb.
///
/// # Errors
/// [`NoRoute`].
pub fn find(groups: &[&'static Group], segments: &[String], verb: &Method) -> Result<Endpoint, NoRoute> {
    let (mut takes_get, mut takes_post) = (false, false);
    for endpoint in groups.iter().flat_map(|group| group.paths()).filter(|endpoint| endpoint.fits(segments)) {
        if endpoint.verb.takes(verb) {
            return Ok(endpoint);
        }
        takes_get |= endpoint.verb == Verb::Get;
        takes_post |= endpoint.verb == Verb::Post;
    }
    Err(match (takes_get, takes_post) {
        (false, false) => NoRoute::Path,
        (true, false) => NoRoute::Verb("GET, HEAD, OPTIONS"),
        (false, true) => NoRoute::Verb("POST, OPTIONS"),
        (true, true) => NoRoute::Verb("GET, HEAD, POST, OPTIONS"),
    })
}

impl Endpoint {
    /// Whether the segments are those of its path.
    fn fits(self, given: &[String]) -> bool {
        let mut given = given.iter();
        let all_fit =
            self.segments().all(|wanted| given.next().is_some_and(|given| wanted.starts_with('{') || wanted == given));
        all_fit && given.next().is_none()
    }
}

/// Answers a request to a surface below a key with the routes of its groups.
///
/// # Errors
/// 404 for an unknown path, and those of the route.
pub async fn serve(
    groups: &[&'static Group],
    context: &RequestContext,
    HttpRequest { verb, query, headers, body, .. }: HttpRequest,
) -> RestResult {
    match find(groups, context.segments(), &verb) {
        Ok(endpoint) => endpoint.answer(context, &headers, query.as_deref(), body).await,
        Err(NoRoute::Verb(verbs)) => Ok(Reply::refusal(Refusal::WrongVerb(verbs), ErrorForm::Rest)),
        Err(NoRoute::Path) => {
            let mut paths: Vec<&str> =
                groups.iter().flat_map(|group| group.paths()).map(|endpoint| endpoint.path).collect();
            paths.dedup();
            Err(ApiError::not_found(format!("There is no such route: there are {}", paths.join(", "))))
        }
    }
}

/// Largest body of such a request in bytes. The body of a request that needs none is read up to a limit, so that the client gets the
/// answer.
pub fn body_limit(groups: &[&'static Group], segments: &[String], verb: &Method) -> usize {
    const OTHER_BODY_BYTES_MAX: usize = 64 << 10;
    let endpoint = find(groups, segments, verb).ok().filter(|endpoint| endpoint.verb == Verb::Post);
    endpoint.and_then(Endpoint::body_bytes_max).unwrap_or(OTHER_BODY_BYTES_MAX)
}
