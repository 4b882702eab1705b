//! Which route a request is for.

use hyper::Method;

use super::{Asked, Group, RestResult, Verb};
use crate::errors::{ApiError, Refusal};
use crate::respond::Reply;
use crate::routes::ErrorForm;
use crate::state::RequestContext;
use crate::surfaces::HttpRequest;

/// Why no route of some groups answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    /// There is nothing at the path.
    Path,
    /// The path takes these verbs.
    Verb(&'static str),
}

/// The route for a path and a verb.
pub(crate) fn find(groups: &[&'static Group], segments: &[String], verb: &Method) -> Result<Asked, NoRoute> {
    let (mut takes_get, mut takes_post) = (false, false);
    for asked in groups.iter().flat_map(|group| group.paths()).filter(|asked| asked.fits(segments)) {
        if asked.verb.takes(verb) {
            return Ok(asked);
        }
        takes_get |= asked.verb == Verb::Get;
        takes_post |= asked.verb == Verb::Post;
    }
    Err(match (takes_get, takes_post) {
        (false, false) => NoRoute::Path,
        (true, false) => NoRoute::Verb("GET, HEAD, OPTIONS"),
        (false, true) => NoRoute::Verb("POST, OPTIONS"),
        (true, true) => NoRoute::Verb("GET, HEAD, POST, OPTIONS"),
    })
}

impl Asked {
    /// Whether the segments are those of its path.
    fn fits(self, given: &[String]) -> bool {
        let mut given = given.iter();
        let all_fit =
            self.segments().all(|wanted| given.next().is_some_and(|given| wanted.starts_with('{') || wanted == given));
        all_fit && given.next().is_none()
    }
}

/// Answers a request to a surface below a key with the routes of its groups.
pub(crate) async fn serve(
    groups: &[&'static Group],
    context: &RequestContext,
    HttpRequest { verb, query, headers, body, .. }: HttpRequest,
) -> RestResult {
    match find(groups, context.segments(), &verb) {
        Ok(asked) => asked.answer(context, &headers, query.as_deref(), body).await,
        Err(NoRoute::Verb(verbs)) => Ok(Reply::refusal(Refusal::WrongVerb(verbs), ErrorForm::Rest)),
        Err(NoRoute::Path) => {
            let mut paths: Vec<&str> = groups.iter().flat_map(|group| group.paths()).map(|asked| asked.path).collect();
            paths.dedup();
            Err(ApiError::not_found(format!("There is no such route: there are {}", paths.join(", "))))
        }
    }
}

/// Largest body of such a request in bytes. That of a request which takes none is read up to a limit, so that the answer arrives.
pub(crate) fn body_limit(groups: &[&'static Group], segments: &[String], verb: &Method) -> usize {
    const OTHER_BODY_BYTES_MAX: usize = 64 << 10;
    let asked = find(groups, segments, verb).ok().filter(|asked| asked.verb == Verb::Post);
    asked.and_then(Asked::body_bytes_max).unwrap_or(OTHER_BODY_BYTES_MAX)
}
