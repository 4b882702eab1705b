//! One price out of what several sources report (docs/forex.md): the median of the fresh ones; with four or more, those are
//! left out that are farther from it than ten median deviations and five percent.

use std::cmp::Ordering;

use crate::answer::{Reason, Role};
use crate::ratio::Ratio;
use crate::sheet::Quote;

/// Sources from which on outliers can be recognized.
const OUTLIERS_FROM: usize = 4;
/// Median deviations that a rate may be away from the median.
const DEVIATIONS: u32 = 10;
/// Percent that it may be away in any case.
const PERCENT: u32 = 5;

/// How old rates may be, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Older ones are not fresh.
    pub(crate) stale_after: u64,
    /// Older ones are no rates any more; `None`: never.
    pub(crate) limit: Option<u64>,
}

/// A price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    /// Units for one US dollar.
    pub(crate) per_usd: Ratio,
    /// As old as the rates in the middle, of two the older, Unix seconds.
    pub(crate) time: u64,
}

/// The role of every quote, in their order, and the price.
pub(crate) fn judge(quotes: &[Quote], now: u64, rules: Rules) -> (Vec<Role>, Result<Price, Reason>) {
    let age = |quote: &Quote| now.saturating_sub(quote.time);
    let is_within = |quote: &Quote| rules.limit.is_none_or(|limit| age(quote) <= limit);
    let newest = quotes.iter().filter(|quote| is_within(quote)).map(|quote| quote.time).max();
    let has_fresh = quotes.iter().any(|quote| is_within(quote) && age(quote) <= rules.stale_after);
    let mut roles: Vec<Role> = quotes
        .iter()
        .map(|quote| {
            if !is_within(quote) {
                Role::BeyondLimit
            } else if has_fresh && age(quote) > rules.stale_after || !has_fresh && Some(quote.time) != newest {
                Role::Stale
            } else {
                Role::Used
            }
        })
        .collect();
    let used = |roles: &[Role]| -> Vec<Quote> {
        quotes.iter().zip(roles).filter(|(_, role)| **role == Role::Used).map(|(quote, _)| *quote).collect()
    };
    let chosen = used(&roles);
    if chosen.len() >= OUTLIERS_FROM
        && let Some((bound, middle)) = bound(&chosen)
    {
        for (role, quote) in roles.iter_mut().zip(quotes).filter(|(role, _)| **role == Role::Used) {
            if quote.per_usd.distance(&middle).compare(&bound) == Ordering::Greater {
                *role = Role::Outlier;
            }
        }
    }
    let reason = if quotes.is_empty() { Reason::NoQuotes } else { Reason::StaleBeyondLimit };
    (roles.clone(), median(used(&roles)).ok_or(reason))
}

/// Largest distance of a rate from the median, and the median.
fn bound(quotes: &[Quote]) -> Option<(Ratio, Ratio)> {
    let middle = median(quotes.to_vec())?.per_usd;
    let mut distances: Vec<Ratio> = quotes.iter().map(|quote| quote.per_usd.distance(&middle)).collect();
    distances.sort_by(Ratio::compare);
    let deviations = middle_of(&distances)?.times(&Ratio::whole(DEVIATIONS));
    let percent = middle.times(&Ratio::whole(PERCENT)).over(&Ratio::whole(100))?;
    let bound = if deviations.compare(&percent) == Ordering::Greater { deviations } else { percent };
    Some((bound, middle))
}

fn middle_of(sorted: &[Ratio]) -> Option<Ratio> {
    let upper = sorted.get(sorted.len() / 2)?;
    if sorted.len().is_multiple_of(2) { Some(sorted[sorted.len() / 2 - 1].mean(upper)) } else { Some(*upper) }
}

fn median(mut quotes: Vec<Quote>) -> Option<Price> {
    quotes.sort_by(|left, right| left.per_usd.compare(&right.per_usd).then(left.time.cmp(&right.time)));
    let upper = quotes.get(quotes.len() / 2)?;
    if !quotes.len().is_multiple_of(2) {
        return Some(Price { per_usd: upper.per_usd, time: upper.time });
    }
    let lower = &quotes[quotes.len() / 2 - 1];
    Some(Price { per_usd: lower.per_usd.mean(&upper.per_usd), time: lower.time.min(upper.time) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::currency::Currency;
    use crate::sheet::rate;

    const NOW: u64 = 1_800_000_000;
    const RULES: Rules = Rules { stale_after: 100, limit: Some(1_000) };

    fn quotes(given: &[(&str, u64)]) -> Vec<Quote> {
        let quote = |(text, age): &(&str, u64)| Quote {
            currency: Currency::EUR,
            per_usd: rate(text).unwrap(),
            time: NOW - age,
        };
        given.iter().map(quote).collect()
    }

    fn price(given: &[(&str, u64)]) -> Result<(String, u64), Reason> {
        judge(&quotes(given), NOW, RULES).1.map(|price| (price.per_usd.to_rate(), NOW - price.time))
    }

    #[test]
    fn the_price_is_the_median_and_as_old_as_what_it_is_made_of() {
        assert_eq!(price(&[("0.8", 7)]), Ok(("0.8".to_owned(), 7)));
        assert_eq!(price(&[("0.8", 7), ("0.9", 3)]), Ok(("0.85".to_owned(), 7)));
        assert_eq!(price(&[("0.9", 3), ("0.7", 1), ("0.8", 7)]), Ok(("0.8".to_owned(), 7)));
        assert_eq!(price(&[("1", 1), ("1.03", 2), ("1.01", 3), ("1.02", 4)]), Ok(("1.015".to_owned(), 4)));
    }

    #[test]
    fn stale_rates_count_only_where_there_is_no_fresh_one_and_none_beyond_the_limit() {
        assert_eq!(price(&[("0.8", 100), ("0.9", 101)]), Ok(("0.8".to_owned(), 100)));
        assert_eq!(price(&[("0.8", 300), ("0.9", 200), ("0.7", 900)]), Ok(("0.9".to_owned(), 200)));
        assert_eq!(price(&[("0.8", 1_000)]), Ok(("0.8".to_owned(), 1_000)));
        assert_eq!(price(&[("0.8", 1_001)]), Err(Reason::StaleBeyondLimit));
        assert_eq!(price(&[]), Err(Reason::NoQuotes));
        let (roles, _) = judge(&quotes(&[("0.8", 1), ("0.9", 101), ("0.7", 1_001)]), NOW, RULES);
        assert_eq!(roles, [Role::Used, Role::Stale, Role::BeyondLimit]);
    }

    /// row FX10
    #[test]
    fn with_four_sources_one_that_is_ten_times_off_never_counts() {
        for wrong in ["8.0", "0.08", "0.9", "0.7"] {
            let given = [("0.801", 1), ("0.8", 1), (wrong, 1), ("0.802", 1)];
            let (roles, price) = judge(&quotes(&given), NOW, RULES);
            assert_eq!(roles, [Role::Used, Role::Used, Role::Outlier, Role::Used], "{wrong}");
            assert_eq!(price.unwrap().per_usd.to_rate(), "0.801");
        }
        // Within five percent nothing is an outlier, however close the others are.
        let (roles, _) = judge(&quotes(&[("1", 1), ("1", 1), ("1", 1), ("1.05", 1)]), NOW, RULES);
        assert_eq!(roles, [Role::Used; 4]);
        // Where all differ much, ten median deviations are allowed.
        let (roles, _) = judge(&quotes(&[("1", 1), ("1.1", 1), ("1.2", 1), ("1.9", 1)]), NOW, RULES);
        assert_eq!(roles, [Role::Used; 4]);
        // Three cannot show which one is wrong; the median stands in the middle all the same.
        let (roles, price) = judge(&quotes(&[("0.8", 1), ("8", 1), ("0.801", 1)]), NOW, RULES);
        assert_eq!((roles, price.unwrap().per_usd.to_rate()), (vec![Role::Used; 3], "0.801".to_owned()));
    }

    proptest! {
        #[test]
        fn the_price_lies_among_the_rates_and_does_not_depend_on_their_order(
            given in prop::collection::vec((1_u32.., 0_u64..1_200), 1..9), turn in 0_usize..9,
        ) {
            let texts: Vec<(String, u64)> = given.iter().map(|(number, age)| (number.to_string(), *age)).collect();
            let given: Vec<(&str, u64)> = texts.iter().map(|(text, age)| (text.as_str(), *age)).collect();
            let quotes = quotes(&given);
            let (roles, price) = judge(&quotes, NOW, RULES);
            let mut turned = quotes.clone();
            turned.rotate_left(turn % quotes.len());
            let again = judge(&turned, NOW, RULES).1;
            prop_assert_eq!(price, again);
            if let Ok(price) = price {
                let used = || quotes.iter().zip(&roles).filter(|(_, role)| **role == Role::Used).map(|(quote, _)| quote);
                prop_assert!(used().any(|quote| quote.per_usd.compare(&price.per_usd) != Ordering::Greater));
                prop_assert!(used().any(|quote| quote.per_usd.compare(&price.per_usd) != Ordering::Less));
                prop_assert!(used().any(|quote| quote.time == price.time));
            } else {
                prop_assert!(roles.iter().all(|role| *role == Role::BeyondLimit));
            }
        }
    }
}
