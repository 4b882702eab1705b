//! All pools and their reserves.

use paraffin_amm::{PoolState, Scope, pool_state};
use schemars::JsonSchema;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::ask::{AtHeight, Part, WALK_MAX, id};
use super::failure::{Failure, Refusal};
use super::{Espo, EspoMethod, read_markets};
use paraffin_gateway::markets::failed;
use paraffin_gateway::methods::Natural;
use paraffin_gateway::state::RequestContext;

/// A pool, with the members that the different clients read. Amounts are base units in decimal digits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedPool")]
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
#[derive(JsonSchema)]
#[schemars(inline, with = "std::collections::BTreeMap<String, Pool>")]
struct PoolsById(Vec<PoolState>);

impl Serialize for PoolsById {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for state in &self.0 {
            map.serialize_entry(&state.pool.id.to_string(), &Pool::new(state.clone()))?;
        }
        map.end()
    }
}

/// All pools and their reserves, in the order in which they were created.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Pools {
    /// The id of a factory, for its pools alone.
    factory: Option<String>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Pools of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of pools.
#[derive(Serialize, JsonSchema)]
pub(super) struct PoolsAnswer {
    ok: bool,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u32,
    has_more: bool,
    /// By id.
    pools: PoolsById,
}

impl EspoMethod for Pools {
    const NAME: &'static str = "ammdata.get_pools";
    const EXAMPLE: &'static str = r#"{"limit":10}"#;
    type Answer = PoolsAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<PoolsAnswer, Failure> {
        let part = Part::read(self.page, self.limit, self.size)?;
        let factory = self.factory.map(|text| id("factory", &text, "missing_or_invalid_factory")).transpose()?;
        let (states, total) = read_markets(context, self.height.as_ref(), move |moment| {
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
        let (page, limit, pools) = (part.page, part.limit, PoolsById(states));
        Ok(PoolsAnswer { ok: true, page, limit, total, has_more, pools })
    }
}

/// The factories that have made pools.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Factories {
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0.
    page: Option<Natural>,
    /// Factories of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of factories.
#[derive(Serialize, JsonSchema)]
pub(super) struct FactoriesAnswer {
    ok: bool,
    page: u64,
    limit: u32,
    /// Number of items on all pages.
    total: u64,
    has_more: bool,
    /// Ids.
    factories: Vec<String>,
}

impl EspoMethod for Factories {
    const NAME: &'static str = "ammdata.get_amm_factories";
    const EXAMPLE: &'static str = "{}";
    type Answer = FactoriesAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<FactoriesAnswer, Failure> {
        let part = Part::read(self.page, self.limit, self.size)?;
        let all = read_markets(context, self.height.as_ref(), move |moment| {
            moment.markets.factories(None, WALK_MAX as usize + 1).map_err(failed)
        })
        .await?;
        if all.len() as u64 > WALK_MAX {
            return Err(Refusal::new("too_many_factories", format!("there are more than {WALK_MAX} factories")).into());
        }
        let total = all.len() as u64;
        let factories = part.of(all.into_iter().map(|(id, _)| id.to_string()));
        let has_more = part.has_more(factories.len(), total);
        Ok(FactoriesAnswer { factories, has_more, limit: part.limit, ok: true, page: part.page, total })
    }
}
