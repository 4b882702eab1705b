//! How REST routes are declared, how their bodies are read, and when answers are unchanged.

mod body;
pub mod part;
pub mod route;

use std::fmt::Write as _;

use hyper::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::{HeaderMap, StatusCode};
use paraffin_primitives::{BlockId, Height};
use paraffin_store::ModuleId;

use crate::errors::ApiError;
use crate::respond::Reply;
use crate::state::RequestContext;

pub use body::RestBody;
pub use route::{
    Answer, Base, Changes, Declared, Enveloped, Group, Made, NoRoute, Route, Statuses, Verb, Wrapping, body_limit,
    find, serve,
};

/// The answer of a REST handler.
pub type RestResult = Result<Reply, ApiError>;

/// Version of the shapes of answers; part of every `ETag`, so that clients fetch answers anew after an upgrade.
const SHAPES_VERSION: u32 = 2;

/// Validates cached answers of GET routes that depend on confirmed chain data alone (docs/api.md, "Headers").
pub struct Validator {
    tag: String,
}

impl Validator {
    /// Of the request's snapshot; `None` while nothing is indexed.
    pub fn new(context: &RequestContext) -> Option<Self> {
        Self::of(context, &[paraffin_alkanes::MODULE, paraffin_amm::MODULE, paraffin_cryptoswap::MODULE])
    }

    /// As [`Self::new`], for answers that read these modules.
    pub fn of(context: &RequestContext, modules: &[ModuleId]) -> Option<Self> {
        let tip = context.tip()?;
        let mut heights = Vec::new();
        for &module in modules {
            heights.extend(context.snapshot().module_height(module).ok()?.map(|height| (module, height)));
        }
        Some(Self { tag: tag(tip, &heights) })
    }

    /// 304 for a caller who has the answer already.
    pub fn unchanged(&self, headers: &HeaderMap) -> Option<Reply> {
        names_tag(headers, &self.tag).then(|| self.mark(Reply::empty(StatusCode::NOT_MODIFIED)))
    }

    /// The answer with its `ETag`.
    pub fn mark(&self, mut reply: Reply) -> Reply {
        reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            reply.headers.insert(ETAG, tag);
        }
        reply
    }
}

/// The tag of answers at a tip. It covers the heights of modules, as a module that is reindexed advances below an unchanged tip.
fn tag(tip: BlockId, heights: &[(ModuleId, Height)]) -> String {
    let mut tag = format!("\"{}-{SHAPES_VERSION}", tip.hash);
    for (module, height) in heights.iter().filter(|(_, height)| *height < tip.height) {
        let _ = write!(tag, "-{}.{height}", module.0);
    }
    tag.push('"');
    tag
}

/// Whether `If-None-Match` names the tag; a weak tag of the same text counts.
fn names_tag(headers: &HeaderMap, tag: &str) -> bool {
    let listed = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    listed.flat_map(|list| list.split(',')).any(|listed| {
        let listed = listed.trim();
        listed == "*" || listed.strip_prefix("W/").unwrap_or(listed) == tag
    })
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::Hash as _;

    use super::*;

    #[test]
    fn a_tag_changes_while_something_is_indexed_anew_below_the_same_tip() {
        let tip = BlockId { height: 9, hash: bitcoin::BlockHash::all_zeros() };
        let at = |first, second| tag(tip, &[(ModuleId(3), first), (ModuleId(4), second)]);
        assert_eq!(at(9, 9), format!("\"{}-{SHAPES_VERSION}\"", tip.hash));
        let tags: std::collections::HashSet<_> = [at(9, 9), at(9, 7), at(9, 8), at(8, 9), at(8, 8)].into();
        assert_eq!(tags.len(), 5);
    }
}
