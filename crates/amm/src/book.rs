//! All pools as of the end of a block, valued in satoshis.

mod cache;
mod charts;
#[cfg(test)]
mod fake;
mod list;
mod moment;
mod paths;
#[cfg(test)]
mod price_tests;
mod prices;
#[cfg(test)]
mod tests;
mod unit_price;
mod value;
mod worth;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use paraffin_primitives::{AlkaneId, BlockId, Height};

pub use cache::MarketBooks;
pub use charts::ChartQuery;
pub use list::{PoolOrder, PoolQuery, PoolTotals};
pub use moment::ContractHistory;
pub use paths::{PoolPath, PoolPaths};
pub use prices::ROUTE_POOLS_MAX;
pub use unit_price::UnitPrice;
pub use value::{Dollars, TokenWorth, WHOLE};

use crate::routing::{FormulaPool, Graph};
use crate::{AmmError, Event, Figures, Markets, PoolRecord, PoolState, Scope, pool_state};
use moment::{Changes, Moment, block_at};
use prices::Priced;

const DAY: u32 = 86_400;
const WEEK: u32 = 7 * DAY;

/// The rules that pools are valued by (docs/markets.md, "Prices of alkanes").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookRules {
    /// The alkane that is worth one satoshi for each base unit.
    pub wrapped_bitcoin: AlkaneId,
    /// Only pools of these factories make prices; those of others are valued by them.
    pub trusted_factories: Vec<AlkaneId>,
    /// Routes of less depth make no price, satoshis.
    pub depth_min: u128,
    /// Routes of less than so many thousandths of the deepest one make no price.
    pub share_min_per_1000: u16,
}

impl BookRules {
    /// The rules of a network: its wrapped bitcoin and its trusted factory.
    pub fn of_network(wrapped_bitcoin: AlkaneId, factory: AlkaneId) -> Self {
        Self { wrapped_bitcoin, trusted_factories: vec![factory], ..Self::default() }
    }
}

impl Default for BookRules {
    fn default() -> Self {
        Self {
            wrapped_bitcoin: AlkaneId { block: 32, tx: 0 },
            trusted_factories: vec![AlkaneId { block: 4, tx: 65_522 }],
            depth_min: 10_000,
            share_min_per_1000: 10,
        }
    }
}

/// A pool with its reserves, volumes and value.
#[derive(Debug, Clone, PartialEq)]
pub struct BookPool {
    /// Its identity and the position of its creation.
    pub record: PoolRecord,
    /// Reserves, supply and fee at the end of the block.
    pub state: PoolState,
    /// Volumes, base units.
    pub figures: Figures,
    /// Reserves and volumes in satoshis.
    pub worth: PoolWorth,
    /// The event of its creation: first deposit, creator, time.
    pub creation: Event,
}

/// The value of a pool. Amounts are whole satoshis, rounded down; `None` where an alkane of the pool has no price.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PoolWorth {
    /// Value of both reserves.
    pub tvl: Option<u128>,
    /// Value of each reserve.
    pub token_tvl: [Option<u128>; 2],
    /// Volume of the newest 24 hours, at current prices; every trade counts once. `None` when neither alkane has a price.
    pub volume_day: Option<u128>,
    /// Volume of the newest 168 hours.
    pub volume_week: Option<u128>,
    /// Volume of the newest 720 hours.
    pub volume_month: Option<u128>,
    /// Volume since the creation.
    pub volume_all: Option<u128>,
    /// Change of `tvl` in a day, in parts of one (0.01 is 1 %), each valued at the prices of its time; `None` where there was
    /// nothing to compare with.
    pub tvl_change_day: Option<f64>,
    /// Change of `tvl` in seven days.
    pub tvl_change_week: Option<f64>,
    /// Yield of liquidity from fees in the newest 720 hours, per year, in percent of `tvl`.
    pub apr: Option<f64>,
    /// Satoshis for one unit of liquidity: `liquidity_price.value(100_000_000)` is the price of one in wallets.
    pub liquidity_price: Option<UnitPrice>,
}

/// The price of an alkane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    /// Satoshis for one base unit.
    pub price: UnitPrice,
    /// Satoshis of depth behind it; 2^128 - 1 for wrapped bitcoin itself.
    pub depth: u128,
    /// Change in a day, in parts of one; `None` when there was no price.
    pub change_day: Option<f64>,
    /// Change in seven days.
    pub change_week: Option<f64>,
}

/// All pools as of the end of one block: reserves, volumes and prices. Built once for a block and shared.
pub struct MarketBook {
    block: Option<BlockId>,
    time: u32,
    rules: BookRules,
    pools: Vec<BookPool>,
    by_id: HashMap<AlkaneId, usize>,
    by_factory: BTreeMap<AlkaneId, FactoryPools>,
    by_token: HashMap<AlkaneId, Vec<usize>>,
    prices: Arc<HashMap<AlkaneId, Priced>>,
    /// A day and a week before.
    before: [Option<Moment>; 2],
    graph: OnceLock<Graph>,
    mixed: OnceLock<(AlkaneId, Arc<Graph>)>,
    nothing: Graph,
}

/// Pools of one factory.
#[derive(Default)]
struct FactoryPools {
    pools: Vec<usize>,
    graph: OnceLock<Graph>,
}

/// Checks between steps whether the time is over.
struct Watch<'w>(&'w dyn Fn() -> bool);

impl Watch<'_> {
    fn check(&self) -> Result<(), AmmError> {
        if (self.0)() { Err(AmmError::Interrupted) } else { Ok(()) }
    }
}

impl MarketBook {
    /// The book at the end of the block of `markets`. Unchanged pools are taken from `previous`; any
    /// book of the same index will do, also one of another branch.
    ///
    /// # Errors
    /// The store cannot be read or is damaged; `is_over` returned true ([`AmmError::Interrupted`]).
    pub fn build(
        markets: &Markets,
        contracts: &dyn ContractHistory,
        rules: &BookRules,
        previous: Option<&Self>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, AmmError> {
        let watch = Watch(is_over);
        watch.check()?;
        let snapshot = markets.snapshot();
        let block = match snapshot.tip() {
            Some(tip) if tip.id.height > markets.height() => snapshot.block(markets.height())?,
            tip => tip.cloned(),
        };
        let Some(block) = block else { return Ok(Self::of(None, 0, rules, Vec::new())) };
        let previous = previous.filter(|previous| previous.rules == *rules);
        let changes = match previous.and_then(|previous| previous.block) {
            Some(from) => Changes::between(contracts, snapshot, from, block.id.height)?,
            None => Changes::Unknown,
        };
        let pools = read_pools(markets, contracts, block.id, previous, &changes, &watch)?;
        let mut book = Self::of(Some(block.id), block.time, rules, pools);

        let states: Vec<&PoolState> = book.pools.iter().map(|pool| &pool.state).collect();
        let prices = prices::prices(states.iter().map(|state| (*state, state.reserves)), rules);
        let mut before = [None, None];
        for (index, seconds) in [DAY, WEEK].into_iter().enumerate() {
            let Some(time) = block.time.checked_sub(seconds) else { continue };
            let Some(then) = block_at(snapshot, block.id.height, time)? else { continue };
            let count = book.pools.partition_point(|pool| pool.record.created.height <= then.height);
            let previous = previous.and_then(|previous| previous.before[index].as_ref());
            let moment = Moment::at(then, &states[..count], contracts, snapshot, rules, previous, &watch)?;
            before[index] = Some(moment);
        }
        for (index, pool) in book.pools.iter_mut().enumerate() {
            pool.worth = worth::worth(&pool.state, &pool.figures, &prices);
            let changes = [0, 1].map(|at: usize| {
                let moment = before[at].as_ref()?;
                let reserves = *moment.reserves.get(index)?;
                let (_, then) = worth::held(pool.record.pool.tokens, reserves, &moment.prices);
                worth::change(then, pool.worth.tvl)
            });
            [pool.worth.tvl_change_day, pool.worth.tvl_change_week] = changes;
        }
        (book.prices, book.before) = (Arc::new(prices), before);
        Ok(book)
    }

    fn of(block: Option<BlockId>, time: u32, rules: &BookRules, pools: Vec<BookPool>) -> Self {
        let mut by_factory: BTreeMap<AlkaneId, FactoryPools> = BTreeMap::new();
        let mut by_token: HashMap<AlkaneId, Vec<usize>> = HashMap::new();
        let mut by_id = HashMap::with_capacity(pools.len());
        for (index, BookPool { record, .. }) in pools.iter().enumerate() {
            by_id.insert(record.pool.id, index);
            by_factory.entry(record.pool.factory).or_default().pools.push(index);
            for token in record.pool.tokens {
                by_token.entry(token).or_default().push(index);
            }
        }
        let wrapped = Priced { price: UnitPrice::ONE, depth: u128::MAX };
        Self {
            block,
            time,
            rules: rules.clone(),
            pools,
            by_id,
            by_factory,
            by_token,
            prices: Arc::new(HashMap::from([(rules.wrapped_bitcoin, wrapped)])),
            before: [None, None],
            graph: OnceLock::new(),
            mixed: OnceLock::new(),
            nothing: Graph::default(),
        }
    }

    /// Height of the block; 0 before the first.
    pub fn height(&self) -> Height {
        self.block.map_or(0, |block| block.height)
    }

    /// The block; `None` in an empty index.
    pub fn block(&self) -> Option<BlockId> {
        self.block
    }

    /// Header time of the block, Unix seconds.
    pub fn time(&self) -> u32 {
        self.time
    }

    /// All pools, the oldest first.
    pub fn pools(&self) -> &[BookPool] {
        &self.pools
    }

    /// The pool with this id; `None` when there is none.
    pub fn pool(&self, id: AlkaneId) -> Option<&BookPool> {
        self.by_id.get(&id).map(|index| &self.pools[*index])
    }

    /// The factories that have pools, by id.
    pub fn factories(&self) -> impl Iterator<Item = AlkaneId> {
        self.by_factory.keys().copied()
    }

    /// Pools of a factory in its own order; none when it is no factory.
    pub fn pools_of(&self, factory: AlkaneId) -> impl ExactSizeIterator<Item = &BookPool> {
        let indices = self.by_factory.get(&factory).map_or(&[][..], |listed| &listed.pools);
        indices.iter().map(|index| &self.pools[*index])
    }

    /// Pools of an alkane, the oldest first.
    pub fn pools_with(&self, token: AlkaneId) -> impl ExactSizeIterator<Item = &BookPool> {
        let indices = self.by_token.get(&token).map_or(&[][..], Vec::as_slice);
        indices.iter().map(|index| &self.pools[*index])
    }

    /// The price of an alkane; `None` when no route to wrapped bitcoin is deep enough. Wrapped bitcoin's own is exactly 1.
    pub fn price(&self, token: AlkaneId) -> Option<TokenPrice> {
        let now = self.prices.get(&token)?;
        let [change_day, change_week] =
            self.before.each_ref().map(|moment| worth::price_change(moment.as_ref()?.prices.get(&token), Some(now)));
        Some(TokenPrice { price: now.price, depth: now.depth, change_day, change_week })
    }

    /// Trade of an alkane in all pools, satoshis: of the newest day, week, month, and of all time, each as in [`PoolWorth`].
    pub fn volumes_of_token(&self, token: AlkaneId) -> [Option<u128>; 4] {
        let mut sums = [None; 4];
        for BookPool { worth, .. } in self.pools_with(token) {
            let volumes = [worth.volume_day, worth.volume_week, worth.volume_month, worth.volume_all];
            for (sum, volume) in sums.iter_mut().zip(volumes) {
                *sum = match (*sum, volume) {
                    (Some(sum), Some(volume)) => Some(u128::saturating_add(sum, volume)),
                    (sum, volume) => sum.or(volume),
                };
            }
        }
        sums
    }

    /// The value of `liquidity` of a pool: base units of its alkanes, and satoshis where they have a price.
    pub fn position(&self, pool: &BookPool, liquidity: u128) -> Position {
        let amounts = pool.state.share(liquidity);
        let (values, value) = self.value(pool.record.pool.tokens, amounts);
        Position { amounts, values, value }
    }

    /// The pools to route through: of one factory, or all.
    pub fn graph(&self, factory: Option<AlkaneId>) -> &Graph {
        match factory {
            None => self.graph.get_or_init(|| graph_of(&mut self.pools.iter())),
            Some(factory) => match self.by_factory.get(&factory) {
                Some(listed) => listed.graph.get_or_init(|| graph_of(&mut self.pools_of(factory))),
                None => &self.nothing,
            },
        }
    }

    /// The pools of a factory together with others that trade by formulas of their own. The graph of the first call is cached
    /// with its factory; `others` must return the same for the whole life of the book.
    ///
    /// # Errors
    /// Those of `others`.
    pub fn graph_beside<E>(
        &self,
        factory: AlkaneId,
        others: impl FnOnce() -> Result<Vec<FormulaPool>, E>,
    ) -> Result<Arc<Graph>, E> {
        if let Some((_, graph)) = self.mixed.get().filter(|(known, _)| *known == factory) {
            return Ok(Arc::clone(graph));
        }
        let pools = self.pools_of(factory).map(|pool| pool.state.for_routes()).collect();
        let graph = Arc::new(Graph::with_formulas(pools, others()?));
        self.mixed.get_or_init(|| (factory, Arc::clone(&graph)));
        Ok(graph)
    }
}

/// The value of an amount of liquidity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Base units of the pool's alkanes, rounded down.
    pub amounts: [u128; 2],
    /// Each in satoshis, rounded down.
    pub values: [Option<u128>; 2],
    /// Both in satoshis.
    pub value: Option<u128>,
}

fn graph_of(pools: &mut dyn Iterator<Item = &BookPool>) -> Graph {
    Graph::new(pools.map(|pool| pool.state.for_routes()).collect())
}

/// The pools with state and figures; worth is left open.
fn read_pools(
    markets: &Markets,
    contracts: &dyn ContractHistory,
    block: BlockId,
    previous: Option<&MarketBook>,
    changes: &Changes,
    watch: &Watch<'_>,
) -> Result<Vec<BookPool>, AmmError> {
    let is_same_branch = match previous.and_then(|previous| previous.block) {
        Some(from) => {
            from.height <= block.height && markets.snapshot().block(from.height)?.is_some_and(|known| known.id == from)
        }
        None => false,
    };
    let known = previous.filter(|_| is_same_branch).map_or(&[][..], |previous| &previous.pools);
    let reads = contracts.at(block.height);
    let mut pools = Vec::with_capacity(known.len());
    for pool in known {
        let mut pool = pool.clone();
        let id = pool.record.pool.id;
        if changes.may_hold(id) {
            watch.check()?;
            pool.state = pool_state(&*reads, pool.record.pool)?;
            // On the same branch a total that did not move means that nothing was traded.
            if markets.totals(id)?.unwrap_or_default() != pool.figures.all_time {
                pool.figures = markets.figures(id)?;
            }
        }
        pools.push(pool);
    }
    for record in markets.pools(Scope::All, known.len() as u32, u32::MAX)?.items {
        watch.check()?;
        pools.push(BookPool {
            state: pool_state(&*reads, record.pool)?,
            figures: markets.figures(record.pool.id)?,
            worth: PoolWorth::default(),
            creation: markets.creation(&record)?,
            record,
        });
    }
    Ok(pools)
}
