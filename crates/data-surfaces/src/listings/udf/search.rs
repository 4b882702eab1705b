//! Search for symbols.

use paraffin_amm::{BookPool, ChartQuery};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::{Names, pair_symbol};
use super::super::number::HowMany;
use super::{SYMBOL_TYPE, describe};
use crate::markets::read;
use paraffin_gateway::api_types::IdText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Default and largest number of symbols of a search: each takes calls of two contracts for their symbols.
const RESULTS_DEFAULT: usize = 30;
const RESULTS_MAX: usize = 50;
/// Longest text of a search, characters.
const QUERY_CHARACTERS_MAX: usize = 128;

/// Pools by a text: the id of a pool or of one of its alkanes, or part of the pool's name or of its symbol; the best match first, then the deepest.
/// Without a text the deepest pools.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Search {
    /// The search text.
    query: Option<String>,
    /// Only symbols of this type; all symbols are `crypto`.
    r#type: Option<String>,
    /// Only pools of this factory.
    exchange: Option<String>,
    /// 30 when absent or 0; more than 50 is taken as 50.
    limit: Option<HowMany>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct FoundSymbol {
    /// The symbols of both alkanes.
    symbol: String,
    /// The ids of factory and pool.
    full_name: String,
    description: String,
    exchange: IdText,
    /// The id of the pool.
    ticker: IdText,
    r#type: &'static str,
}

impl Route for Search {
    const PATHS: Paths = &[(Verb::Get, "udf/search")];
    const EXAMPLE: &'static str = r#"{"query":"diesel","limit":"10"}"#;
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = Vec<FoundSymbol>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Vec<FoundSymbol>, ApiError> {
        let limit = self.limit.and_then(|limit| limit.at_most(RESULTS_MAX)).unwrap_or(RESULTS_DEFAULT);
        let query = ChartQuery::new(&self.query.unwrap_or_default());
        if query.characters() > QUERY_CHARACTERS_MAX {
            return Err(ApiError::invalid(format!("query must have at most {QUERY_CHARACTERS_MAX} characters")));
        }
        let exchange = self.exchange.filter(|exchange| !exchange.is_empty());
        // A filter that is no factory's id matches nothing, as one of a factory without pools.
        let factory = exchange.map(|exchange| exchange.parse::<AlkaneId>());
        let is_other = self.r#type.is_some_and(|kind| !kind.is_empty() && kind != SYMBOL_TYPE);
        if is_other || matches!(factory, Some(Err(_))) {
            return Ok(Vec::new());
        }
        let factory = factory.and_then(Result::ok);
        read(context, move |moment| {
            let book = moment.book()?;
            let pools: Vec<&BookPool> = match factory {
                Some(factory) => book.pools_of(factory).collect(),
                None => book.pools().iter().collect(),
            };
            let found = query.find(pools, |token| Names::of(moment, token).map(|names| names.symbol))?;
            let found = found.into_iter().take(limit);
            found
                .map(|BookPool { record, .. }| {
                    let symbol = pair_symbol(moment, &record.pool)?;
                    Ok(FoundSymbol {
                        full_name: format!("{}:{}", record.pool.factory, record.pool.id),
                        description: describe(&symbol, record.pool.id),
                        exchange: IdText(record.pool.factory),
                        ticker: IdText(record.pool.id),
                        r#type: SYMBOL_TYPE,
                        symbol,
                    })
                })
                .collect()
        })
        .await
    }
}
