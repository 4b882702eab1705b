//! Pools: all of them, and one (docs/api.md, "Markets").

use std::collections::{HashMap, HashSet};

use bitcoin::ScriptBuf;
use paraffin_alkanes::views::ViewError;
use paraffin_amm::{BookPool, MarketBook, PoolOrder, PoolQuery, PoolTotals};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::alkanes::fields::script;
use super::super::alkanes::sums;
use super::events::Counts;
use super::fields::{FACTORY, POOL, admit, factory_of, require_factory};
use super::pool_record::{Pool, PoolDetails, details, record};
use super::problem::{Problem, read};
use super::record::Record;
use super::sort::{Order, SortBy};
use super::{cryptoswap, get, pairs, positions};
use paraffin_gateway::api_types::{AddressText, FactoryIdParam, PoolIdParam};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{self, MarketMoment, Pricing, percent};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::{OtherNames, Pages, Paths};
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "Pools",
    base: Base::Api,
    admit,
    routes: &[
        Declared::of::<Pools>(),
        Declared::of::<PoolsDetails>(),
        Declared::of::<OnePool>(),
        Declared::of::<pairs::AllPairs>(),
        Declared::of::<pairs::TokenPairs>(),
        Declared::of::<positions::Positions>(),
        Declared::of::<positions::LiquidityOutputs>(),
        Declared::of::<pairs::SwapPairs>(),
        Declared::of::<get::OwnPools>(),
        Declared::of::<get::OnePool>(),
        Declared::of::<get::PoolHistory>(),
        Declared::of::<get::PoolSwaps>(),
    ],
};

/// Pools in one answer; with more a limit is needed.
const POOLS_MAX: usize = 20_000;

/// Which pools are listed, and in what order.
struct Listing {
    factory: AlkaneId,
    part: Part,
    /// The order, and whether the least stands first.
    sort: Option<(PoolOrder, bool)>,
    query: Option<PoolQuery>,
    holder: Option<ScriptBuf>,
}

/// Routes that list pools of a factory.
macro_rules! listings {
    ($($(#[$about:meta])* $name:ident($path:literal) -> $answer:ty as $answered_by:ident;)*) => {$(
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        struct $name {
            /// The factory; the network's own when absent.
            factory_id: Option<FactoryIdParam>,
            /// The factory's own order when absent.
            sort_by: Option<SortBy>,
            /// The greatest first when absent, but the oldest, and names from A.
            order: Option<Order>,
            /// Part of a name, or the id of a pool or of one of its alkanes.
            search_query: Option<String>,
            /// Only pools whose liquidity this address holds.
            address: Option<AddressText>,
        }

        impl $name {
            fn listing(self, context: &RequestContext, part: Part) -> Result<Listing, ApiError> {
                let order = self.sort_by.map_or(PoolOrder::Age, PoolOrder::from);
                let ascending = self.order.map_or_else(|| order.is_ascending(), |asked| asked == Order::Asc);
                let query = self.search_query.map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty());
                let query = query.map(PoolQuery::new);
                // Of what a search finds the best stands first, unless an order is asked for.
                let sort = (self.sort_by.is_some() || !ascending).then_some((order, ascending));
                let holder = self.address.map(|address| script(context, &address.0)).transpose()?;
                Ok(Listing { factory: factory_of(context, self.factory_id)?, part, sort, query, holder })
            }
        }

        impl Route for $name {
            const PATHS: Paths = &[(Verb::Post, $path)];
            const EXAMPLE: &'static str = r#"{"sortBy":"tvl","order":"desc","limit":10}"#;
            const OTHER_NAMES: OtherNames = &[FACTORY, ("sortBy", &["sort_by"]), ("searchQuery", &["search", "query"])];
            const PAGES: Option<Pages> = Some(Pages { default: None, max: POOLS_MAX });
            const MAY_BE_MISSING: bool = true;
            type Answer = $answer;

            async fn answer(self, context: &RequestContext, part: Part) -> Result<$answer, ApiError> {
                $answered_by(context, self.listing(context, part)?).await
            }
        }
    )*};
}

listings! {
    /// Pools of a factory.
    Pools("get-pools") -> PoolPage as listed;
    /// Pools of a factory with what they are worth.
    PoolsDetails("get-all-pools-details") -> DetailsPage as listed_with_details;
}

impl Listing {
    /// The pools, all of them in their order.
    fn pools<'b>(&self, moment: &MarketMoment<'_>, book: &'b MarketBook) -> Result<Vec<&'b BookPool>, Problem> {
        require_factory(moment, self.factory)?;
        let mut pools: Vec<&BookPool> = match &self.query {
            None => book.pools_of(self.factory).collect(),
            Some(query) => query.find(book.pools_of(self.factory), &HashMap::new()),
        };
        if let Some(holder) = &self.holder {
            let held: HashSet<AlkaneId> = sums(moment.chain, holder)?.into_iter().map(|held| held.id).collect();
            pools.retain(|pool| held.contains(&pool.record.pool.id));
        }
        if let Some((order, ascending)) = self.sort {
            pools.sort_by(|one, other| order.compare(one, other, ascending));
        }
        Ok(pools)
    }

    /// The part that is shown.
    fn part<'b>(&self, pools: &[&'b BookPool]) -> Result<Vec<&'b BookPool>, Problem> {
        let shown = self.part.of(pools.to_vec());
        if shown.len() > POOLS_MAX { Err(ViewError::TooLarge.into()) } else { Ok(shown) }
    }
}

/// A page of pools.
#[derive(Serialize, JsonSchema)]
pub(super) struct PoolPage {
    #[serde(flatten)]
    counts: Counts,
    pools: Vec<Record<Pool>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct DetailsPage {
    #[serde(flatten)]
    counts: Counts,
    pools: Vec<Record<PoolDetails>>,
    total_tvl: Option<f64>,
    total_tvl_in_sats: u128,
    #[serde(rename = "totalPoolVolume24h")]
    total_volume: Option<f64>,
    #[serde(rename = "totalPoolVolume24hInSats")]
    total_volume_in_sats: u128,
    largest_pool: Option<Record<PoolDetails>>,
    trending_pools: Option<Trending>,
}

/// The pool whose value rose most.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Trending {
    #[serde(rename = "1d")]
    day: Record<PoolDetails>,
}

/// All pools of the network's factory, as GET routes give them.
pub(super) async fn of_own_factory(context: &RequestContext, part: Part) -> Result<PoolPage, ApiError> {
    let factory = markets::of(context)?.factory;
    listed(context, Listing { factory, part, sort: None, query: None, holder: None }).await
}

async fn listed(context: &RequestContext, listing: Listing) -> Result<PoolPage, ApiError> {
    let network = context.network();
    read(context, move |moment| {
        let book = moment.book()?;
        let all = listing.pools(moment, &book)?;
        let twins = moment.parts.snake_case_twins;
        let pools = listing.part(&all)?.into_iter().map(|pool| record(pool, network).finish(twins));
        let pools: Vec<Record<Pool>> = pools.collect();
        Ok(PoolPage { counts: Counts::new(all.len(), pools.len(), listing.part), pools })
    })
    .await
}

async fn listed_with_details(context: &RequestContext, listing: Listing) -> Result<DetailsPage, ApiError> {
    let network = context.network();
    read(context, move |moment| {
        let book = moment.book()?;
        let all = listing.pools(moment, &book)?;
        let (twins, dollars) = (moment.parts.snake_case_twins, moment.dollars());
        let rendered = |pool: &BookPool| details(pool, network, dollars).finish(twins);
        let pools: Vec<Record<PoolDetails>> = listing.part(&all)?.into_iter().map(rendered).collect();
        let PoolTotals { tvl, volume_day, largest, trending } = PoolTotals::of(&all);
        Ok(DetailsPage {
            counts: Counts::new(all.len(), pools.len(), listing.part),
            pools,
            total_tvl: dollars.of(Some(tvl)),
            total_tvl_in_sats: tvl,
            total_volume: dollars.of(Some(volume_day)),
            total_volume_in_sats: volume_day,
            largest_pool: largest.map(rendered),
            trending_pools: trending.map(|pool| {
                let record = details(pool, network, dollars).with("trend", percent(pool.worth.tvl_change_day));
                Trending { day: record.finish(twins) }
            }),
        })
    })
    .await
}

/// One pool with what it is worth.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OnePool {
    pool_id: PoolIdParam,
    /// 404 when it did not create the pool.
    factory_id: Option<FactoryIdParam>,
}

impl Route for OnePool {
    const PATHS: Paths = &[(Verb::Post, "get-pool-details"), (Verb::Post, "get-pool-by-id")];
    const EXAMPLE: &'static str = r#"{"poolId":"2:5"}"#;
    const OTHER_NAMES: OtherNames = &[POOL, FACTORY];
    const MAY_BE_MISSING: bool = true;
    type Answer = Record<PoolDetails>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Record<PoolDetails>, ApiError> {
        details_of(context, self.pool_id.get(), self.factory_id.map(FactoryIdParam::get)).await
    }
}

/// A pool with details.
pub(super) async fn details_of(
    context: &RequestContext,
    id: AlkaneId,
    factory: Option<AlkaneId>,
) -> Result<Record<PoolDetails>, ApiError> {
    let network = context.network();
    read(context, move |moment| {
        let book = moment.book()?;
        let Some(pool) = book.pool(id) else {
            // No factory owns a pool of that kind.
            return match cryptoswap::find(moment, id)? {
                Some(pool) => pool.details(moment, moment.dollars()),
                None => Err(ApiError::not_found(format!("there is no pool {id}")).into()),
            };
        };
        if let Some(factory) = factory.filter(|factory| *factory != pool.record.pool.factory) {
            return Err(ApiError::not_found(format!("there is no pool {id} of factory {factory}")).into());
        }
        Ok(details(pool, network, moment.dollars()).finish(moment.parts.snake_case_twins))
    })
    .await
}

/// A page of the pools that a search finds: first the `CryptoSwap` pools of this network, then those of factories.
pub(crate) async fn search(
    context: &RequestContext,
    pricing: Option<Pricing>,
    query: String,
    symbols: HashMap<AlkaneId, String>,
    part: Part,
) -> Result<Vec<Record<PoolDetails>>, ApiError> {
    let query = query.to_lowercase();
    if query.is_empty() || markets::of(context).is_err() {
        return Ok(Vec::new());
    }
    let query = PoolQuery::new(query);
    let network = context.network();
    read(context, move |moment| {
        let first = cryptoswap::found(moment, &query, &symbols)?;
        let count = first.len();
        let (twins, dollars) = (moment.parts.snake_case_twins, moment.dollars());
        let mut shown = Vec::new();
        for pool in part.of(first) {
            shown.push(pool.details(moment, dollars)?);
        }
        // The page is of one list: what the first pools leave of it.
        let rest = Part {
            offset: part.offset.saturating_sub(count),
            limit: part.limit.map(|limit| limit.saturating_sub(shown.len())),
        };
        if let Some(pricing) = &pricing {
            let pools = rest.of(query.find(pricing.book.pools().iter(), &symbols)).into_iter();
            shown.extend(pools.map(|pool| details(pool, network, pricing.dollars).finish(twins)));
        }
        Ok(shown)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_gateway::rest::route::read_text;

    #[test]
    fn a_pool_has_three_names_that_must_mean_the_same() {
        let pool = |text: &str| {
            read_text::<OnePool>(text).map(|asked| asked.pool_id.get()).map_err(|error| error.message.into_owned())
        };
        let expected = Ok(AlkaneId { block: 2, tx: 9 });
        for text in [
            r#"{"poolId":{"block":"2","tx":"9"}}"#,
            r#"{"pool_id":"2:9","poolId":null}"#,
            r#"{"id":{"block":2,"tx":9},"poolId":"2:9","pool_id":{"block":"2","tx":"0x9"}}"#,
        ] {
            assert_eq!(pool(text), expected, "{text}");
        }
        assert_eq!(pool("{}").unwrap_err(), "poolId, pool_id or id is required");
        assert_eq!(pool(r#"{"poolId":"2:9","id":"2:8"}"#).unwrap_err(), "poolId and id differ");
        assert!(pool(r#"{"pool_id":7}"#).unwrap_err().starts_with("pool_id must be"));
    }
}
