//! All alkanes, one alkane, and alkanes that match a text.

use std::collections::HashMap;

use paraffin_alkanes::views::{TokenKey, TokenQuery, ViewError};
use paraffin_alkanes::{Creation, Order};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fields::{ALKANE_ID, Names, PAGES};
use paraffin_gateway::alkanes::{Lane, Moment};
use paraffin_gateway::api_types::AlkaneIdParam;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{Pricing, read_priced, read_priced_in};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Changes, Route, Verb};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::tokens::{Token, token, tokens, words};

/// Contracts read from the index at once.
const PAGE: usize = 1_000;

/// All alkanes, the newest first or in the requested order.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listing {
    /// Height when absent; volume sorts by the trade of the newest day, then week, month and all time.
    sort_by: Option<SortBy>,
    /// desc when absent, names asc.
    order: Option<Direction>,
    /// Part of a name or symbol, or an id.
    search_query: Option<String>,
}

/// Sort order of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum SortBy {
    Height,
    Holders,
    Volume,
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Direction {
    Asc,
    Desc,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct TokenPage {
    tokens: Vec<Token>,
    total: u64,
    count: usize,
    limit: usize,
    offset: usize,
}

impl Route for Listing {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkanes")];
    const EXAMPLE: &'static str = r#"{"sortBy":"holders","limit":10}"#;
    const OTHER_NAMES: &'static [Names] = &[("sortBy", &["sort_by"]), ("searchQuery", &["search", "query"])];
    const PAGES: Option<Pages> = Some(PAGES);
    type Answer = TokenPage;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<TokenPage, ApiError> {
        let sort_by = self.sort_by.unwrap_or(SortBy::Height);
        // Descending, but names ascending.
        let ascending = self.order.map_or(sort_by == SortBy::Name, |order| order == Direction::Asc);
        let query = self.search_query.filter(|text| !text.is_empty());
        // A search or a sort by name calls every contract for its name, including those that use up their fuel.
        let asks_all = query.is_some() || sort_by == SortBy::Name;
        let lane = if asks_all { Lane::Simulations } else { Lane::Views };
        let page = read_priced_in(context, lane, move |moment, pricing| match query {
            Some(query) => {
                let (found, _) = ranked(moment, &query)?;
                let total = found.len() as u64;
                filled(moment, pricing, &part.of(found), total, part)
            }
            None => listed(moment, pricing, sort_by, ascending, part),
        });
        Ok(page.await?)
    }
}

/// The newest 50 alkanes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Newest {}

impl Route for Newest {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "alkanes")];
    const CHANGES: Changes = Changes::WithPrices;
    type Answer = TokenPage;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TokenPage, ApiError> {
        let part = Part { offset: 0, limit: PAGES.default };
        let page = read_priced(context, move |moment, pricing| listed(moment, pricing, SortBy::Height, false, part));
        Ok(page.await?)
    }
}

fn listed(
    moment: &Moment<'_>,
    pricing: Option<&Pricing>,
    sort_by: SortBy,
    ascending: bool,
    part: Part,
) -> Result<TokenPage, ViewError> {
    let total = moment.state.alkane_count()?;
    let limit = part.limit.unwrap_or(usize::MAX);
    let creations = match sort_by {
        SortBy::Height => {
            let order = if ascending { Order::Oldest } else { Order::Newest };
            part.of(creations(moment, order, part.offset.saturating_add(limit))?)
        }
        SortBy::Holders => sorted(moment, ascending, part, |creation| {
            moment.check()?;
            Ok(TokenKey::Holders(moment.state.holder_counts(creation.id)?.scripts))
        })?,
        SortBy::Volume => sorted(moment, ascending, part, |creation| {
            let volumes = pricing.map(|pricing| pricing.book.volumes_of_token(creation.id));
            Ok(TokenKey::Trade(volumes.unwrap_or_default()))
        })?,
        SortBy::Name => sorted(moment, ascending, part, |creation| Ok(TokenKey::name(&*words(moment, creation)?)))?,
    };
    filled(moment, pricing, &creations, total, part)
}

/// A part of the contracts sorted by their keys, equal ones from the newest.
fn sorted(
    moment: &Moment<'_>,
    ascending: bool,
    part: Part,
    key: impl Fn(Creation) -> Result<TokenKey, ViewError>,
) -> Result<Vec<Creation>, ViewError> {
    let all = creations(moment, Order::Newest, usize::MAX)?.into_iter();
    let keyed = all.map(|creation| Ok((key(creation)?, creation))).collect::<Result<_, ViewError>>()?;
    Ok(part.of(TokenKey::sort(keyed, ascending)))
}

fn filled(
    moment: &Moment<'_>,
    pricing: Option<&Pricing>,
    creations: &[Creation],
    total: u64,
    part: Part,
) -> Result<TokenPage, ViewError> {
    let tokens = tokens(moment, pricing, creations)?;
    Ok(TokenPage { count: tokens.len(), tokens, total, limit: part.limit.unwrap_or(usize::MAX), offset: part.offset })
}

/// The first `count` contracts.
fn creations(moment: &Moment<'_>, order: Order, count: usize) -> Result<Vec<Creation>, ViewError> {
    let mut found = Vec::new();
    let mut after = None;
    while found.len() < count {
        moment.check()?;
        let page = moment.state.alkanes(order, after.as_ref(), PAGE.min(count - found.len()))?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(found)
}

/// One alkane.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Details {
    alkane_id: AlkaneIdParam,
}

impl Route for Details {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-alkane-details"), (Verb::Get, "alkanes/{id}")];
    const EXAMPLE: &'static str = r#"{"alkaneId":"2:0"}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE_ID;
    const CHANGES: Changes = Changes::WithPrices;
    const MAY_BE_MISSING: bool = true;
    type Answer = Token;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Token, ApiError> {
        let AlkaneIdParam(id) = self.alkane_id;
        let found = read_priced(context, move |moment, pricing| token(moment, pricing, id)).await?;
        found.ok_or_else(|| ApiError::not_found(format!("there is no alkane {id}")))
    }
}

/// Contracts that match a text, the best match first, equal matches from the oldest. Also all symbols, in lower case.
pub(crate) fn ranked(
    moment: &Moment<'_>,
    query: &str,
) -> Result<(Vec<Creation>, HashMap<AlkaneId, String>), ViewError> {
    let query = TokenQuery::new(query);
    let mut symbols = HashMap::new();
    if query.is_empty() {
        return Ok((Vec::new(), symbols));
    }
    let mut found = Vec::new();
    for creation in creations(moment, Order::Oldest, usize::MAX)? {
        moment.check()?;
        let words = words(moment, creation)?;
        if let Some(symbol) = &words.symbol {
            symbols.insert(creation.id, symbol.to_lowercase());
        }
        if let Some(rank) = query.rank(creation.id, &words) {
            found.push((rank, creation));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    Ok((found.into_iter().map(|(_, creation)| creation).collect(), symbols))
}
