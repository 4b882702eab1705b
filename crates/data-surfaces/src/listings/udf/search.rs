//! Search for symbols.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use paraffin_amm::{BookPool, PoolIdentity, PoolQuery};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::names::{Names, pair_symbol, printable};
use super::super::number::HowMany;
use super::{SYMBOL_TYPE, describe};
use crate::markets::{Problem, read};
use paraffin_gateway::api_types::IdText;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::MarketMoment;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Paths;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Default and largest number of symbols of a search: each takes calls of two contracts for their symbols.
const RESULTS_DEFAULT: usize = 30;
const RESULTS_MAX: usize = 50;
/// How many of the deepest pools are compared by the symbols of their alkanes: each contract is called once for many blocks.
const WITH_SYMBOLS_MAX: usize = 500;
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
        let query = squeezed(&self.query.unwrap_or_default());
        if query.chars().count() > QUERY_CHARACTERS_MAX {
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
            let found = best(moment, pools, &query)?.into_iter().take(limit);
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

/// Text as searches compare it: in lower case, without spaces, so that `A/B` finds the pool `A / B LP`.
fn squeezed(text: &str) -> String {
    let printable = printable(text, 4 * QUERY_CHARACTERS_MAX).unwrap_or_default();
    printable.chars().filter(|character| !character.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// The pools that match a normalised text, the best match first, then the deepest. Names of pools are compared, and the symbols of
/// the alkanes of the deepest ones.
fn best<'b>(
    moment: &MarketMoment<'_>,
    mut pools: Vec<&'b BookPool>,
    query: &str,
) -> Result<Vec<&'b BookPool>, Problem> {
    pools.sort_by_key(|pool| Reverse(pool.worth.tvl));
    if query.is_empty() {
        return Ok(pools);
    }
    let asked = PoolQuery::new(query.to_owned());
    let mut symbols: HashMap<AlkaneId, String> = HashMap::new();
    let mut ranked = Vec::new();
    for (number, pool) in pools.into_iter().enumerate() {
        let PoolIdentity { id: pool_id, tokens, .. } = pool.record.pool;
        let rank_of = |name: &str, symbols| asked.rank(pool_id, tokens, name, symbols);
        let by_name = rank_of(&squeezed(&pool.state.name), [None, None]);
        let by_symbols = if number < WITH_SYMBOLS_MAX {
            for token in tokens {
                if let Entry::Vacant(vacant) = symbols.entry(token) {
                    vacant.insert(squeezed(&Names::of(moment, token)?.symbol));
                }
            }
            let [base, quote] = tokens.map(|token| symbols.get(&token).map_or("", String::as_str));
            rank_of(&format!("{base}/{quote}"), [Some(base), Some(quote)])
        } else {
            None
        };
        ranked.extend(by_name.into_iter().chain(by_symbols).min().map(|rank| (rank, pool)));
    }
    // Stable: the deepest stay first.
    ranked.sort_by_key(|(rank, _)| *rank);
    Ok(ranked.into_iter().map(|(_, pool)| pool).collect())
}
