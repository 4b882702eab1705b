//! All pools and what they hold.

use paraffin_amm::{PoolState, Scope, pool_state};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::ask::{Ask, WALK_MAX};
use super::failure::Refusal;
use super::{Outcome, read_markets, to_raw};
use crate::markets::failed;
use crate::state::RequestContext;

/// A pool, with the members of every kind of client.
#[derive(Serialize)]
struct Pool {
    token0: String,
    token1: String,
    reserve0: String,
    reserve1: String,
    total_supply: String,
    base: String,
    quote: String,
    base_reserve: String,
    quote_reserve: String,
    fee_per_1000: String,
    factory: String,
    name: String,
    source: &'static str,
}

impl Pool {
    fn new(state: PoolState) -> Self {
        let [token0, token1] = state.pool.tokens.map(|token| token.to_string());
        let [reserve0, reserve1] = state.reserves.map(|reserve| reserve.to_string());
        Self {
            base: token0.clone(),
            quote: token1.clone(),
            base_reserve: reserve0.clone(),
            quote_reserve: reserve1.clone(),
            token0,
            token1,
            reserve0,
            reserve1,
            total_supply: state.supply.to_string(),
            fee_per_1000: state.fee_per_1000.to_string(),
            factory: state.pool.factory.to_string(),
            name: state.name,
            source: "index",
        }
    }
}

/// Pools by id, in the order in which they were created.
struct Pools(Vec<PoolState>);

impl Serialize for Pools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for state in &self.0 {
            map.serialize_entry(&state.pool.id.to_string(), &Pool::new(state.clone()))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Answer {
    ok: bool,
    page: u64,
    limit: u32,
    total: u32,
    has_more: bool,
    pools: Pools,
}

/// `ammdata.get_pools`
pub(super) async fn page(context: &RequestContext, ask: &Ask) -> Outcome {
    let part = ask.part()?;
    let factory = ask.optional_id("factory", "missing_or_invalid_factory")?;
    let (states, total) = read_markets(context, ask, move |moment| {
        let scope = factory.map_or(Scope::All, Scope::Factory);
        let page = moment.markets.pools(scope, part.offset_32(), part.limit).map_err(failed)?;
        let mut states = Vec::with_capacity(page.items.len());
        for record in page.items {
            moment.chain.check()?;
            states.push(pool_state(&moment.contracts, record.pool).map_err(failed)?);
        }
        Ok((states, page.total))
    })
    .await?;
    let has_more = part.has_more(states.len(), u64::from(total));
    let pools = Pools(states);
    Ok(to_raw(&Answer { ok: true, page: part.page, limit: part.limit, total, has_more, pools })?)
}

/// `ammdata.get_amm_factories`
pub(super) async fn factories(context: &RequestContext, ask: &Ask) -> Outcome {
    let part = ask.part()?;
    let all =
        read_markets(context, ask, move |moment| moment.markets.factories(None, WALK_MAX as usize + 1).map_err(failed))
            .await?;
    if all.len() as u64 > WALK_MAX {
        return Err(Refusal::new("too_many_factories", format!("there are more than {WALK_MAX} factories")).into());
    }
    let total = all.len() as u64;
    let factories = part.of(all.into_iter().map(|(id, _)| id.to_string()));
    Ok(to_raw(&json!({
        "ok": true,
        "page": part.page,
        "limit": part.limit,
        "total": total,
        "has_more": part.has_more(factories.len(), total),
        "factories": factories,
    }))?)
}
