//! Lists of pools: which ones a text finds, in what order they stand, what they are worth together.

use std::cmp::Ordering;
use std::collections::HashMap;

use paraffin_primitives::AlkaneId;

use crate::{BookPool, MarketBook, PoolIdentity};

/// By what pools are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolOrder {
    /// Their creation, as factories list them.
    Age,
    /// Their name, in either case.
    Name,
    /// What they hold, satoshis.
    Tvl,
    /// Trade of the newest 24 hours, satoshis.
    VolumeDay,
    /// Trade of the newest 168 hours, satoshis.
    VolumeWeek,
    /// Trade of the newest 720 hours, satoshis.
    VolumeMonth,
    /// Trade of all time, satoshis.
    VolumeAll,
    /// What liquidity earns in a year.
    Apr,
    /// Change of what they hold in a day.
    TvlChange,
}

impl PoolOrder {
    /// Whether the least stands first where no direction is named: the oldest, and names from A; of all else the greatest does.
    pub fn is_ascending(self) -> bool {
        matches!(self, Self::Age | Self::Name)
    }

    /// How two pools stand to each other; what is unknown comes last in either direction.
    pub fn compare(self, one: &BookPool, other: &BookPool, ascending: bool) -> Ordering {
        let directed = |order: Ordering| if ascending { order } else { order.reverse() };
        let sats = |value: fn(&BookPool) -> Option<u128>| known_first(value(one), value(other), Ord::cmp, ascending);
        let part =
            |value: fn(&BookPool) -> Option<f64>| known_first(value(one), value(other), f64::total_cmp, ascending);
        match self {
            Self::Age => directed(one.record.created.cmp(&other.record.created)),
            Self::Name => directed(one.state.name.to_lowercase().cmp(&other.state.name.to_lowercase())),
            Self::Tvl => sats(|pool| pool.worth.tvl),
            Self::VolumeDay => sats(|pool| pool.worth.volume_day),
            Self::VolumeWeek => sats(|pool| pool.worth.volume_week),
            Self::VolumeMonth => sats(|pool| pool.worth.volume_month),
            Self::VolumeAll => sats(|pool| pool.worth.volume_all),
            Self::Apr => part(|pool| pool.worth.apr),
            Self::TvlChange => part(|pool| pool.worth.tvl_change_day),
        }
    }
}

fn known_first<T>(one: Option<T>, other: Option<T>, compare: fn(&T, &T) -> Ordering, ascending: bool) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if ascending => compare(&one, &other),
        (Some(one), Some(other)) => compare(&other, &one),
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}

/// A text that pools are searched by.
#[derive(Debug, Clone)]
pub struct PoolQuery {
    text: String,
    id: Option<AlkaneId>,
}

impl PoolQuery {
    /// Of a text in lower case.
    pub fn new(text: String) -> Self {
        Self { id: text.parse().ok(), text }
    }

    /// How well a pool fits, 0 best: it has this id, one of its alkanes has, its name or the symbol of one is the text, begins
    /// with it, or contains it. `None` where nothing fits. Symbols are in lower case.
    pub fn rank(&self, pool: AlkaneId, tokens: [AlkaneId; 2], name: &str, symbols: [Option<&str>; 2]) -> Option<u8> {
        let (query, name) = (self.text.as_str(), name.to_lowercase());
        let symbol = |fits: fn(&str, &str) -> bool| symbols.iter().flatten().any(|symbol| fits(symbol, query));
        if self.id == Some(pool) {
            Some(0)
        } else if self.id.is_some_and(|id| tokens.contains(&id)) {
            Some(1)
        } else if name == query || symbol(|symbol, query| symbol == query) {
            Some(2)
        } else if name.starts_with(query) || symbol(|symbol, query| symbol.starts_with(query)) {
            Some(3)
        } else if name.contains(query) || symbol(|symbol, query| symbol.contains(query)) {
            Some(4)
        } else {
            None
        }
    }

    /// The pools that fit, the best first; those that fit equally stay in their order. Symbols are in lower case.
    pub fn find<'b>(
        &self,
        pools: impl Iterator<Item = &'b BookPool>,
        symbols: &HashMap<AlkaneId, String>,
    ) -> Vec<&'b BookPool> {
        let mut found: Vec<(u8, &BookPool)> = pools
            .filter_map(|pool| {
                let PoolIdentity { id, tokens, .. } = pool.record.pool;
                let symbols = tokens.map(|token| symbols.get(&token).map(String::as_str));
                Some((self.rank(id, tokens, &pool.state.name, symbols)?, pool))
            })
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, pool)| pool).collect()
    }
}

/// What pools are worth together, and which of them stand out.
#[derive(Debug, Clone, Copy, Default)]
pub struct PoolTotals<'b> {
    /// What those with a price hold, satoshis, at most 2^128 - 1.
    pub tvl: u128,
    /// Their trade of the newest 24 hours, satoshis, at most 2^128 - 1.
    pub volume_day: u128,
    /// The one that holds most, the first of equal ones.
    pub largest: Option<&'b BookPool>,
    /// The one whose value rose most in a day, the first of equal ones.
    pub trending: Option<&'b BookPool>,
}

impl<'b> PoolTotals<'b> {
    /// Of these pools.
    pub fn of(pools: &[&'b BookPool]) -> Self {
        let mut totals = Self::default();
        for pool in pools {
            let worth = &pool.worth;
            totals.tvl = totals.tvl.saturating_add(worth.tvl.unwrap_or_default());
            totals.volume_day = totals.volume_day.saturating_add(worth.volume_day.unwrap_or_default());
            // What is unknown is less than everything that is known.
            if worth.tvl > totals.largest.and_then(|largest| largest.worth.tvl) {
                totals.largest = Some(pool);
            }
            if worth.tvl_change_day > totals.trending.and_then(|trending| trending.worth.tvl_change_day) {
                totals.trending = Some(pool);
            }
        }
        totals
    }
}

impl MarketBook {
    /// Pools of a factory with an alkane, the oldest first.
    pub fn pools_trading(&self, factory: AlkaneId, token: AlkaneId) -> impl Iterator<Item = &BookPool> {
        self.pools_with(token).filter(move |pool| pool.record.pool.factory == factory)
    }

    /// Which of the alkanes that someone holds are liquidity of a factory's pools, each with the base units held, the oldest pool
    /// first.
    pub fn liquidity_among(
        &self,
        factory: AlkaneId,
        held: impl Iterator<Item = (AlkaneId, u128)>,
    ) -> Vec<(&BookPool, u128)> {
        let mut pools: Vec<(&BookPool, u128)> = held
            .filter_map(|(id, held)| Some((self.pool(id)?, held)))
            .filter(|(pool, held)| pool.record.pool.factory == factory && *held > 0)
            .collect();
        pools.sort_unstable_by_key(|(pool, _)| pool.record.created);
        pools
    }
}

impl BookPool {
    /// Which part of all liquidity of the pool `liquidity` base units are, 1 for all of it; 0 where there is none.
    #[expect(clippy::cast_precision_loss, reason = "a part for people")]
    pub fn share_of(&self, liquidity: u128) -> f64 {
        if self.state.supply == 0 { 0.0 } else { liquidity as f64 / self.state.supply as f64 }
    }
}

impl PoolIdentity {
    /// The alkane that the pool trades `token` for.
    pub fn other(&self, token: AlkaneId) -> AlkaneId {
        let [first, second] = self.tokens;
        if first == token { second } else { first }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use bitcoin::Txid;
    use bitcoin::hashes::Hash as _;

    use super::*;
    use crate::{Action, ChainPosition, Event, Figures, PoolRecord, PoolState, PoolWorth};

    pub(in crate::book) fn pool(number: u128, name: &str, tvl: Option<u128>) -> BookPool {
        let id = |tx| AlkaneId { block: 2, tx };
        let identity = PoolIdentity {
            id: id(number),
            factory: AlkaneId { block: 4, tx: 65_522 },
            tokens: [id(0), id(number + 1_000_000)],
        };
        let created = ChainPosition { height: u32::try_from(number).unwrap(), transaction: 0, event: 0 };
        BookPool {
            record: PoolRecord { pool: identity, created },
            state: PoolState {
                pool: identity,
                reserves: [1, 1],
                supply: 1,
                fee_per_1000: 10,
                claimable_fees: 0,
                name: name.to_owned(),
            },
            figures: Figures::default(),
            worth: PoolWorth { tvl, ..PoolWorth::default() },
            creation: Event {
                position: created,
                txid: Txid::all_zeros(),
                time: 0,
                protostone: 0,
                vout: 0,
                actor: None,
                successful: true,
                action: Action::Creation { pool: identity, amounts: [1, 1], liquidity: 1 },
            },
        }
    }

    pub(in crate::book) fn numbers(pools: &[&BookPool]) -> Vec<u128> {
        pools.iter().map(|pool| pool.record.pool.id.tx).collect()
    }

    fn find<'b>(pools: &'b [BookPool], text: &str) -> Vec<&'b BookPool> {
        PoolQuery::new(text.to_owned()).find(pools.iter(), &HashMap::new())
    }

    /// row RA03
    #[test]
    fn a_search_ranks_ids_before_names_and_keeps_the_order_of_age() {
        let pools = [
            pool(1, "WAX / BTC LP", None),
            pool(2, "2:1 / BTC LP", None),
            pool(3, "WAX", None),
            pool(4, "BTC / WAX LP", None),
            pool(5, "GAS / BTC LP", None),
        ];
        assert_eq!(numbers(&find(&pools, "wax")), [3, 1, 4]);
        assert_eq!(numbers(&find(&pools, "2:1")), [1, 2]);
        assert_eq!(numbers(&find(&pools, "2:1000004")), [4]);
        assert_eq!(numbers(&find(&pools, "2:0")), [1, 2, 3, 4, 5], "an alkane of all of them");
        assert_eq!(numbers(&find(&pools, "nothing")), [] as [u128; 0]);
        let symbols = HashMap::from([(pools[4].record.pool.tokens[1], "nothing".to_owned())]);
        assert_eq!(numbers(&PoolQuery::new("noth".to_owned()).find(pools.iter(), &symbols)), [5]);
    }

    #[test]
    fn ten_thousand_pools_of_one_name_are_found_and_sorted() {
        let pools: Vec<BookPool> =
            (1..=10_000).map(|number| pool(number, "SAME / SAME LP", Some(number % 7))).collect();
        let mut sorted = find(&pools, "same / same lp");
        assert_eq!(numbers(&sorted), (1..=10_000).collect::<Vec<_>>());
        sorted.sort_by(|one, other| PoolOrder::Tvl.compare(one, other, false));
        assert!(sorted.iter().rev().is_sorted_by_key(|pool| pool.worth.tvl));
        let equal = sorted.chunk_by(|one, other| one.worth.tvl == other.worth.tvl);
        assert!(equal.into_iter().all(|equal| equal.iter().is_sorted_by_key(|pool| pool.record.created)), "stable");
    }

    #[test]
    fn what_has_no_price_stands_last_in_either_direction() {
        let pools = [pool(1, "b", None), pool(2, "a", Some(5)), pool(3, "C", Some(9))];
        let sorted = |order: PoolOrder, ascending| {
            let mut sorted: Vec<&BookPool> = pools.iter().collect();
            sorted.sort_by(|one, other| order.compare(one, other, ascending));
            numbers(&sorted)
        };
        assert_eq!((sorted(PoolOrder::Tvl, true), sorted(PoolOrder::Tvl, false)), (vec![2, 3, 1], vec![3, 2, 1]));
        assert_eq!((sorted(PoolOrder::Name, true), sorted(PoolOrder::Age, false)), (vec![2, 1, 3], vec![3, 2, 1]));
        assert!(PoolOrder::Name.is_ascending() && !PoolOrder::Apr.is_ascending());
    }

    #[test]
    fn totals_leave_out_what_has_no_price_and_name_the_first_of_equal_pools() {
        let mut pools =
            [pool(1, "a", None), pool(2, "b", Some(9)), pool(3, "c", Some(9)), pool(4, "d", Some(u128::MAX))];
        let totals = PoolTotals::of(&pools.each_ref()[..3]);
        assert_eq!((totals.tvl, totals.volume_day), (18, 0));
        assert_eq!(totals.largest.map(|pool| pool.record.pool.id.tx), Some(2));
        assert!(totals.trending.is_none());
        for (place, change) in [(0, -0.5), (1, 0.25), (3, 0.25)] {
            pools[place].worth.tvl_change_day = Some(change);
        }
        let totals = PoolTotals::of(&pools.each_ref());
        assert_eq!(totals.tvl, u128::MAX);
        assert_eq!(numbers(&[totals.largest.unwrap(), totals.trending.unwrap()]), [4, 2]);
        assert!(PoolTotals::of(&[&pools[0]]).trending.is_some(), "also one that fell least");
    }

    #[test]
    fn a_pool_names_the_other_alkane_and_the_part_of_its_liquidity() {
        let mut pool = pool(1, "a", None);
        let [first, second] = pool.record.pool.tokens;
        assert_eq!((pool.record.pool.other(first), pool.record.pool.other(second)), (second, first));
        pool.state.supply = 8;
        assert!((pool.share_of(2) - 0.25).abs() < f64::EPSILON);
        pool.state.supply = 0;
        assert!(pool.share_of(2).abs() < f64::EPSILON);
    }
}
