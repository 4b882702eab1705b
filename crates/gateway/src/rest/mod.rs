//! The REST data API: its routes, and how their bodies are read.

mod account;
mod address;
mod alkanes;
mod body;
mod indexer;
mod markets;
pub(crate) mod part;
mod prices;
mod route;

use std::fmt::Write as _;

use hyper::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::{HeaderMap, Method, StatusCode};
use paraffin_primitives::{BlockId, Height};
use paraffin_store::ModuleId;

use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

#[cfg(feature = "fuzzing")]
pub(crate) use account::fuzzing;
pub(crate) use body::RestBody;
pub(crate) use route::{Asked, Digits, Group, IdObject, IdText, Verb};

/// What a REST handler answers.
pub(crate) type RestResult = Result<Reply, RestError>;

pub(crate) type PostHandler = for<'a> fn(&'a RequestContext, RestBody) -> BoxFuture<'a, RestResult>;
pub(crate) type GetHandler = for<'a> fn(&'a RequestContext, &'a HeaderMap) -> BoxFuture<'a, RestResult>;

#[derive(Clone, Copy)]
pub(crate) enum Found {
    Post(PostHandler),
    Get(GetHandler),
    Declared(Asked),
}

impl Found {
    fn takes(self, verb: &Method) -> bool {
        match self {
            Self::Post(_) => *verb == Method::POST,
            Self::Declared(asked) if asked.verb == Verb::Post => *verb == Method::POST,
            Self::Get(_) | Self::Declared(_) => matches!(*verb, Method::GET | Method::HEAD),
        }
    }
}

/// All REST routes and who answers them; a segment in braces stands for any one segment. The one place for them: requests
/// are answered by this table, and `describe::rest` describes each of its paths.
pub(crate) const ROUTES: &[(&str, Found)] = &[
    ("get-address-balance", Found::Post(address::balance)),
    ("get-taproot-balance", Found::Post(address::taproot_balance)),
    ("get-address-utxos", Found::Post(address::utxos)),
    ("get-account-balance", Found::Post(account::balance)),
    ("get-account-utxos", Found::Post(account::utxos)),
    ("get-taproot-history", Found::Post(address::taproot_history)),
    ("get-pool-swap-history", Found::Post(markets::pool_swaps)),
    ("get-swap-history", Found::Post(markets::pool_swaps)),
    ("get-token-swap-history", Found::Post(markets::token_swaps)),
    ("get-pool-mint-history", Found::Post(markets::pool_mints)),
    ("get-mint-history", Found::Post(markets::pool_mints)),
    ("get-pool-burn-history", Found::Post(markets::pool_burns)),
    ("get-burn-history", Found::Post(markets::pool_burns)),
    ("get-pool-creation-history", Found::Post(markets::creations)),
    ("get-pool-history", Found::Post(markets::activity)),
    ("get-all-history", Found::Post(markets::activity)),
    ("get-all-wrap-history", Found::Post(markets::wraps)),
    ("get-all-unwrap-history", Found::Post(markets::unwraps)),
    ("get-address-wrap-history", Found::Post(markets::address_wraps)),
    ("get-address-unwrap-history", Found::Post(markets::address_unwraps)),
    ("get-address-swap-history-for-pool", Found::Post(markets::address_swaps_on_pool)),
    ("get-address-swap-history-for-token", Found::Post(markets::address_swaps_with_token)),
    ("get-address-pool-creation-history", Found::Post(markets::address_creations)),
    ("get-address-pool-mint-history", Found::Post(markets::address_mints)),
    ("get-address-pool-burn-history", Found::Post(markets::address_burns)),
    ("get-all-amm-tx-history", Found::Post(markets::everything)),
    ("get-all-address-amm-tx-history", Found::Post(markets::everything_of_address)),
    ("get-total-unwrap-amount", Found::Post(markets::total_unwrapped)),
    ("get-amm-utxos", Found::Post(markets::utxos)),
    ("get-pools", Found::Post(markets::pools)),
    ("get-all-pools-details", Found::Post(markets::pools_details)),
    ("get-pool-details", Found::Post(markets::pool_details)),
    ("get-pool-by-id", Found::Post(markets::pool_details)),
    ("get-all-token-pairs", Found::Post(markets::all_pairs)),
    ("get-token-pairs", Found::Post(markets::token_pairs)),
    ("get-alkane-swap-pair-details", Found::Post(markets::swap_pairs)),
    ("address-positions", Found::Post(markets::positions)),
    ("get-trades", Found::Post(markets::trades)),
    ("get-candles", Found::Post(markets::candles)),
    ("get-reserves", Found::Post(markets::reserves)),
    ("pathfind", Found::Post(markets::pathfind)),
    ("pools", Found::Get(markets::get_pools)),
    ("pools/{id}", Found::Get(markets::get_pool)),
    ("pools/{id}/history", Found::Get(markets::get_pool_history)),
    ("pools/{id}/swaps", Found::Get(markets::get_pool_swaps)),
];

/// All declared routes.
pub(crate) const GROUPS: [&Group; 3] = [&indexer::GROUP, &prices::GROUP, &alkanes::GROUP];

/// The handler of a route for a verb; where none takes the verb, one that says which verb the route takes.
pub(crate) fn find(segments: &[&str], verb: &Method) -> Option<Found> {
    let declared = GROUPS.into_iter().flat_map(Group::paths).filter(|asked| fits(asked.path, segments));
    let found = ROUTES.iter().filter(|(path, _)| fits(path, segments)).map(|(_, found)| *found);
    let mut found = declared.map(Found::Declared).chain(found);
    let first = found.next()?;
    if first.takes(verb) { Some(first) } else { Some(found.find(|other| other.takes(verb)).unwrap_or(first)) }
}

/// Whether the segments are those of a path of the table.
fn fits(path: &str, segments: &[&str]) -> bool {
    let mut segments = segments.iter();
    let all_fit =
        path.split('/').all(|wanted| segments.next().is_some_and(|given| wanted.starts_with('{') || wanted == *given));
    all_fit && segments.next().is_none()
}

/// Version of the shapes of answers; part of every `ETag`, so that a new program's answers are fetched anew.
const SHAPES_VERSION: u32 = 2;

/// Lets callers know whether the answer of a GET route that depends on confirmed chain data alone is still what they have
/// (docs/api.md, "Headers").
pub(crate) struct Validator {
    tag: String,
}

impl Validator {
    /// Of the request's snapshot; `None` while nothing is indexed.
    pub(crate) fn new(context: &RequestContext) -> Option<Self> {
        Self::of(context, &[paraffin_alkanes::MODULE, paraffin_amm::MODULE, paraffin_cryptoswap::MODULE])
    }

    /// As [`Self::new`], for answers that read these modules.
    pub(crate) fn of(context: &RequestContext, modules: &[ModuleId]) -> Option<Self> {
        let tip = context.tip()?;
        let mut heights = Vec::new();
        for &module in modules {
            heights.extend(context.snapshot().module_height(module).ok()?.map(|height| (module, height)));
        }
        Some(Self { tag: tag(tip, &heights) })
    }

    /// 304 for a caller who has the answer already.
    pub(crate) fn unchanged(&self, headers: &HeaderMap) -> Option<Reply> {
        names_tag(headers, &self.tag).then(|| self.mark(Reply::empty(StatusCode::NOT_MODIFIED)))
    }

    /// The answer with its `ETag`.
    pub(crate) fn mark(&self, mut reply: Reply) -> Reply {
        reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            reply.headers.insert(ETAG, tag);
        }
        reply
    }
}

/// The tag of answers at a tip. What is indexed anew moves on below a tip that stays.
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
