//! Search for the chart of a pool.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use paraffin_primitives::AlkaneId;

use crate::{BookPool, PoolIdentity, PoolQuery};

/// How many of the deepest pools are compared by the symbols of their alkanes: each symbol is a call of its contract.
const WITH_SYMBOLS_MAX: usize = 500;
/// Characters of a text that are compared.
const CHARACTERS_MAX: usize = 512;

/// A text that charts are searched by: the id of a pool or of one of its alkanes, or part of the pool's name or of its symbol,
/// `BASE/QUOTE`. Letters count in either case and spaces not at all, so that `A/B` finds the pool `A / B LP`.
#[derive(Debug, Clone)]
pub struct ChartQuery {
    text: String,
}

impl ChartQuery {
    /// Of what a caller typed; what cannot be printed and spaces are left out.
    pub fn new(text: &str) -> Self {
        Self { text: squeezed(text) }
    }

    /// Characters that are searched for, at most 512 typed ones.
    pub fn characters(&self) -> usize {
        self.text.chars().count()
    }

    /// The pools that fit, the best match first, then the deepest; without a text all of them, the deepest first. Names of pools
    /// are compared, and the symbols of the alkanes of the 500 deepest: `symbol` is asked once for each of these.
    ///
    /// # Errors
    /// That of `symbol`.
    pub fn find<'b, E>(
        &self,
        mut pools: Vec<&'b BookPool>,
        mut symbol: impl FnMut(AlkaneId) -> Result<String, E>,
    ) -> Result<Vec<&'b BookPool>, E> {
        pools.sort_by_key(|pool| Reverse(pool.worth.tvl));
        if self.text.is_empty() {
            return Ok(pools);
        }
        let asked = PoolQuery::new(self.text.clone());
        let mut symbols: HashMap<AlkaneId, String> = HashMap::new();
        let mut ranked = Vec::new();
        for (number, pool) in pools.into_iter().enumerate() {
            let PoolIdentity { id: pool_id, tokens, .. } = pool.record.pool;
            let rank_of = |name: &str, symbols| asked.rank(pool_id, tokens, name, symbols);
            let by_name = rank_of(&squeezed(&pool.state.name), [None, None]);
            let by_symbols = if number < WITH_SYMBOLS_MAX {
                for token in tokens {
                    if let Entry::Vacant(vacant) = symbols.entry(token) {
                        vacant.insert(squeezed(&symbol(token)?));
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
}

/// Text as searches compare it.
fn squeezed(text: &str) -> String {
    let printable = text.chars().filter(|character| !character.is_control()).take(CHARACTERS_MAX);
    printable.filter(|character| !character.is_whitespace()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::list::tests::{numbers, pool};
    use super::*;

    /// The symbol of an alkane is `T` and its number.
    fn symbol(id: AlkaneId) -> String {
        format!("T{}", id.tx)
    }

    fn find(pools: &[BookPool], text: &str) -> Vec<u128> {
        let Ok(found) = ChartQuery::new(text).find(pools.iter().collect(), |id| Ok::<_, Infallible>(symbol(id)));
        numbers(&found)
    }

    #[test]
    fn the_best_match_comes_first_then_the_deepest() {
        let pools = [
            pool(1, "WAX / BTC LP", Some(5)),
            pool(2, "WAX", Some(1)),
            pool(3, "BTC / WAX LP", None),
            pool(4, "W A X / GAS LP", Some(9)),
        ];
        assert_eq!(find(&pools, ""), [4, 1, 2, 3]);
        assert_eq!(find(&pools, " \t\u{7}"), [4, 1, 2, 3], "nothing that can be printed");
        assert_eq!(find(&pools, "wax"), [2, 4, 1, 3]);
        assert_eq!(find(&pools, "w ax/b\u{0}TC"), [1]);
        assert_eq!(find(&pools, "2:3"), [3]);
        assert_eq!(find(&pools, "2:0"), [4, 1, 2, 3], "an alkane of all of them");
        assert_eq!(find(&pools, "nothing"), [] as [u128; 0]);
    }

    #[test]
    fn symbols_of_both_alkanes_are_the_symbol_of_a_chart() {
        let pools = [pool(1, "one", Some(1)), pool(2, "T1000001", Some(2)), pool(10, "ten", Some(3))];
        assert_eq!(find(&pools, "t0/t1000001"), [1]);
        assert_eq!(find(&pools, "T1000001"), [2, 1], "a name and a symbol count alike");
        assert_eq!(find(&pools, "t1"), [10, 2, 1]);
    }

    #[test]
    fn symbols_are_asked_for_the_deepest_pools_and_once() {
        let pools: Vec<BookPool> = (1..=600).map(|number| pool(number, "x", Some(1_000 - number))).collect();
        let mut asked = Vec::new();
        let found = ChartQuery::new("t0/").find(pools.iter().collect(), |id| {
            asked.push(id.tx);
            Ok::<_, Infallible>(symbol(id))
        });
        let Ok(found) = found;
        assert_eq!(numbers(&found), (1..=500).collect::<Vec<u128>>());
        assert_eq!(asked.len(), 501, "the alkane that all have in common, and their others");
        let failed = ChartQuery::new("a").find(pools.iter().collect(), |_| Err("the contract cannot be read"));
        assert!(failed.is_err());
        assert!(ChartQuery::new("").find(pools.iter().collect(), |_| Err(())).is_ok(), "nothing to compare");
    }

    #[test]
    fn what_was_typed_counts_without_spaces_and_to_a_bound() {
        assert_eq!(ChartQuery::new(" A b\u{0}\n").characters(), 2);
        assert_eq!(ChartQuery::new(&"a".repeat(10_000)).characters(), 512);
        assert_eq!(ChartQuery::new("İ").characters(), 2, "in lower case it is two");
    }
}
