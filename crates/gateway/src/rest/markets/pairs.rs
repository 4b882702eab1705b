//! Pairs of alkanes that pools trade, and ways from one alkane to another.

use std::collections::HashMap;
use std::sync::Arc;

use paraffin_alkanes::views::{TokenFacts, ViewError};
use paraffin_amm::{Book, BookPool};
use paraffin_primitives::{AlkaneId, Network};
use serde_json::{Value, json};

use super::super::alkanes::fields::ID_FIELDS;
use super::super::{RestBody, RestResult};
use super::fields::{factory_id, optional_id, require_factory, require_token, token_id};
use super::paths::{Paths, paths};
use super::pool_record::record;
use super::problem::{Problem, read};
use super::record::Record;
use crate::alkanes::{DECIMALS, facts, id_object};
use crate::errors::RestError;
use crate::markets::MarketMoment;
use crate::markets::worth::Dollars;
use crate::respond::Reply;
use crate::rest::part::{LIMIT_MAX, Part};
use crate::state::{BoxFuture, RequestContext};

/// Pairs in one answer; with more a limit is needed.
const PAIRS_MAX: usize = 20_000;
/// Pairs of a page where nothing is said and pages can be asked for.
const LIMIT_DEFAULT: usize = 50;

/// Renders pairs, and reads the facts of each alkane once.
struct Teller<'m, 'c> {
    moment: &'m MarketMoment<'c>,
    dollars: Dollars,
    facts: HashMap<AlkaneId, Arc<TokenFacts>>,
}

impl<'m, 'c> Teller<'m, 'c> {
    fn new(moment: &'m MarketMoment<'c>) -> Self {
        Self { moment, dollars: Dollars::now(moment), facts: HashMap::new() }
    }

    fn facts(&mut self, id: AlkaneId) -> Result<Arc<TokenFacts>, Problem> {
        if let Some(known) = self.facts.get(&id) {
            return Ok(Arc::clone(known));
        }
        self.moment.chain.check()?;
        let found = match self.moment.chain.state.creation(id)? {
            Some(creation) => facts(self.moment.chain, creation)?,
            None => Arc::default(),
        };
        self.facts.insert(id, Arc::clone(&found));
        Ok(found)
    }

    fn token(&mut self, pool: &BookPool, place: usize) -> Result<Value, Problem> {
        let id = pool.record.pool.tokens[place];
        let amount = pool.state.reserves[place].to_string();
        let facts = self.facts(id)?;
        let mut token = json!({
            "alkaneId": id_object(id),
            "name": facts.name,
            "symbol": facts.symbol,
            "decimals": facts.decimals.unwrap_or(DECIMALS),
            "amount": amount,
        });
        token[if place == 0 { "token0Amount" } else { "token1Amount" }] = amount.into();
        Ok(token)
    }

    /// A pair (docs/api.md, "Markets").
    fn pair(&mut self, pool: &BookPool) -> Result<Value, Problem> {
        let [first, second] = pool.state.reserves;
        let record = Record::default()
            .with_id("poolId", pool.record.pool.id)
            .with("poolName", pool.state.name.clone())
            .with("token0", self.token(pool, 0)?)
            .with("token1", self.token(pool, 1)?)
            .with_amount("reserve0", first)
            .with_amount("reserve1", second)
            .with("poolTvlInSats", json!(pool.worth.tvl))
            .with("poolTvlInUsd", self.dollars.of(pool.worth.tvl))
            .with("poolVolume1dInSats", json!(pool.worth.volume_day))
            .with("poolVolume1dInUsd", self.dollars.of(pool.worth.volume_day));
        Ok(record.finish(false))
    }

    fn pairs(&mut self, pools: &[&BookPool]) -> Result<Vec<Value>, Problem> {
        pools.iter().map(|pool| self.pair(pool)).collect()
    }
}

/// A page of pairs.
fn page(moment: &MarketMoment<'_>, pools: &[&BookPool], part: Part) -> Result<Value, Problem> {
    let shown = part.of(pools.to_vec());
    if shown.len() > PAIRS_MAX {
        return Err(ViewError::TooLarge.into());
    }
    let pairs = Teller::new(moment).pairs(&shown)?;
    Ok(json!({
        "total": pools.len(),
        "count": pairs.len(),
        "limit": part.limit,
        "offset": part.offset,
        "pairs": pairs,
    }))
}

/// Pools of a factory with an alkane, the oldest first.
fn with_token(book: &Book, factory: AlkaneId, token: AlkaneId) -> Vec<&BookPool> {
    book.pools_with(token).filter(|pool| pool.record.pool.factory == factory).collect()
}

/// POST `/get-all-token-pairs`.
pub(in crate::rest) fn all_pairs(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let factory = factory_id(context, &body)?;
        let part = Part::read(&body, None, PAIRS_MAX)?;
        let answer = read(context, move |moment| {
            require_factory(moment, factory)?;
            let book = moment.book()?;
            page(moment, &book.pools_of(factory).collect::<Vec<_>>(), part)
        });
        Reply::enveloped(&answer.await?)
    })
}

/// POST `/get-token-pairs`: those with one alkane on either side.
pub(in crate::rest) fn token_pairs(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let factory = factory_id(context, &body)?;
        let token = token_id(&body)?;
        let part = Part::read(&body, None, PAIRS_MAX)?;
        let answer = read(context, move |moment| {
            require_factory(moment, factory)?;
            require_token(moment, token)?;
            let book = moment.book()?;
            page(moment, &with_token(&book, factory, token), part)
        });
        Reply::enveloped(&answer.await?)
    })
}

/// Between what ways are asked for.
enum Ends {
    /// From one alkane to each that a pool trades it for.
    From(AlkaneId),
    /// Between two.
    Between([AlkaneId; 2]),
}

impl Ends {
    fn of(body: &RestBody) -> Result<Self, RestError> {
        let first = optional_id(body, &["tokenAId", "token_a_id"])?;
        let second = optional_id(body, &["tokenBId", "token_b_id"])?;
        let one = optional_id(body, &ID_FIELDS)?;
        match (first, second, one) {
            (Some(first), Some(_), Some(one)) if first != one => {
                Err(RestError::bad_request("tokenAId and tokenId differ"))
            }
            (Some(first), Some(second), _) if first == second => {
                Err(RestError::bad_request("tokenAId and tokenBId are the same"))
            }
            (Some(first), Some(second), _) => Ok(Self::Between([first, second])),
            (None, None, Some(one)) => Ok(Self::From(one)),
            (None, None, None) => Err(RestError::bad_request("tokenId is required, or tokenAId and tokenBId")),
            (Some(_), None, _) => Err(RestError::bad_request("tokenBId is required beside tokenAId")),
            (None, Some(_), _) => Err(RestError::bad_request("tokenAId is required beside tokenBId")),
        }
    }
}

/// POST `/get-alkane-swap-pair-details`: the pairs of an alkane by pages, each with its direct way; or the ways between two
/// alkanes, through at most three pools.
pub(in crate::rest) fn swap_pairs(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let factory = factory_id(context, &body)?;
        let ends = Ends::of(&body)?;
        let part = Part::read(&body, Some(LIMIT_DEFAULT), LIMIT_MAX)?;
        let network = context.network();
        let answer = read(context, move |moment| {
            require_factory(moment, factory)?;
            match ends {
                Ends::From(token) => from(moment, factory, token, part, network),
                Ends::Between(tokens) => between(moment, factory, tokens, part, network),
            }
        });
        Reply::enveloped(&answer.await?)
    })
}

/// A path as answers show it.
fn way(moment: &MarketMoment<'_>, tokens: &[AlkaneId], pools: &[&BookPool], network: Network) -> Value {
    let twins = moment.parts.snake_case_twins;
    json!({
        "type": if pools.len() == 1 { "direct" } else { "multi" },
        "path": tokens.iter().map(|token| id_object(*token)).collect::<Vec<_>>(),
        "pools": pools.iter().map(|pool| record(pool, network).finish(twins)).collect::<Vec<_>>(),
    })
}

fn from(
    moment: &MarketMoment<'_>,
    factory: AlkaneId,
    token: AlkaneId,
    part: Part,
    network: Network,
) -> Result<Value, Problem> {
    require_token(moment, token)?;
    let book = moment.book()?;
    let pools = with_token(&book, factory, token);
    let mut answer = page(moment, &pools, part)?;
    let ways = part.of(pools).into_iter().filter(|pool| !pool.state.reserves.contains(&0)).map(|pool| {
        let [first, second] = pool.record.pool.tokens;
        let other = if first == token { second } else { first };
        way(moment, &[token, other], &[pool], network)
    });
    answer["paths"] = ways.collect();
    Ok(answer)
}

fn between(
    moment: &MarketMoment<'_>,
    factory: AlkaneId,
    tokens: [AlkaneId; 2],
    part: Part,
    network: Network,
) -> Result<Value, Problem> {
    for token in tokens {
        require_token(moment, token)?;
    }
    let book = moment.book()?;
    let [first, second] = tokens;
    let mut direct = with_token(&book, factory, first);
    direct.retain(|pool| pool.record.pool.tokens.contains(&second));
    let Paths { ways, is_whole } = paths(&book, factory, tokens);
    let total = ways.len();
    let shown = part.of(ways);
    let told: Vec<Value> = shown.iter().map(|(tokens, pools)| way(moment, tokens, pools, network)).collect();
    let pairs = Teller::new(moment).pairs(&direct)?;
    Ok(json!({
        "pairs": pairs,
        "total": total,
        "isWhole": is_whole,
        "count": told.len(),
        "limit": part.limit,
        "offset": part.offset,
        "paths": told,
    }))
}
