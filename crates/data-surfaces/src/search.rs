//! Alkanes and pools that match a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alkanes::fields::{Names, PAGES};
use crate::alkanes::ranked;
use crate::markets::{PoolDetails, Record, search as search_pools};
use paraffin_gateway::alkanes::Lane;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::read_priced_in;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Route, Verb};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::tokens::{Token, tokens};

/// Longest search text, characters.
const QUERY_CHARS_MAX: usize = 200;

/// Alkanes and pools by id, symbol and name.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Search {
    search_query: SearchText,
}

/// Text of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline, with = "String", extend("maxLength" = QUERY_CHARS_MAX))]
struct SearchText(String);

impl TryFrom<String> for SearchText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.chars().count() > QUERY_CHARS_MAX {
            return Err(format!("must be at most {QUERY_CHARS_MAX} characters"));
        }
        Ok(Self(text.trim().to_owned()))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct SearchAnswer {
    tokens: Vec<Token>,
    pools: Vec<Record<PoolDetails>>,
}

impl Route for Search {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "global-alkanes-search")];
    const EXAMPLE: &'static str = r#"{"searchQuery":"diesel"}"#;
    const OTHER_NAMES: &'static [Names] = &[("searchQuery", &["query"])];
    const PAGES: Option<Pages> = Some(PAGES);
    type Answer = SearchAnswer;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<SearchAnswer, ApiError> {
        let SearchText(query) = self.search_query;
        let found = read_priced_in(context, Lane::Simulations, move |moment, pricing| {
            let (found, symbols) = ranked(moment, &query)?;
            let tokens = tokens(moment, pricing, &part.of(found))?;
            Ok((tokens, pricing.cloned(), symbols, query))
        });
        let (tokens, pricing, symbols, query) = found.await?;
        let pools = search_pools(context, pricing, query, symbols, part).await?;
        Ok(SearchAnswer { tokens, pools })
    }
}
