//! Readers of bytes from outside that are private otherwise, for the fuzz targets of `fuzz/`. Not part of the product: it
//! needs the feature `fuzzing`, which only the targets enable.

pub use crate::jsonrpc::fuzzing::{Entry, nests_deeper_than, read as read_envelope, top_level_method};

use crate::rest::RestBody;
use crate::routes::{self, Credential, Route, Target};
use crate::surface::Surfaces;

/// A parsed path.
#[derive(Debug, PartialEq, Eq)]
pub struct PathMeaning {
    /// Whether a segment has the form of a key.
    pub has_key: bool,
    /// The segment that could be an alias.
    pub alias: Option<String>,
    /// Name of the surface in metrics.
    pub surface: &'static str,
    /// Segments handed to the surface.
    pub tail: Vec<String>,
}

/// Parses the path of a request.
pub fn route(surfaces: &Surfaces, path: &str) -> PathMeaning {
    let route = Route::parse(surfaces, path);
    let surface = route.surface_name();
    let (has_key, alias) = match route.credential {
        Credential::PathKey(_) => (true, None),
        Credential::PathAlias(alias) => (false, Some(alias)),
        _ => (false, None),
    };
    let tail = match route.target {
        Target::Rest(tail) | Target::Beside(_, tail) | Target::Surface(_, tail) => tail,
        Target::Main
        | Target::Health
        | Target::PlainHealth
        | Target::Description(_)
        | Target::Site
        | Target::Nothing => Vec::new(),
    };
    PathMeaning { has_key, alias, surface, tail }
}

/// Percent-decodes a segment; `None` when it cannot be.
pub fn decode_segment(segment: &str) -> Option<String> {
    routes::decode_segment(segment)
}

/// Reads the body of a REST request and the members that routes of Bitcoin data read: the texts, and the capped count.
///
/// # Errors
/// The sentence for the caller.
pub fn rest_body(body: &[u8], depth_max: usize, cap: usize) -> Result<(Vec<String>, Option<usize>), String> {
    let body = RestBody::parse(body, depth_max).map_err(|error| error.message.into_owned())?;
    let limit = body.positive("limit", cap).map_err(|error| error.message.into_owned())?;
    let members = body.into_members();
    let texts = ["address", "account", "taprootAddress"].into_iter().filter_map(|name| members.get(name)?.as_str());
    Ok((texts.map(ToOwned::to_owned).collect(), limit))
}
