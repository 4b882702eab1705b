//! Sorting tokens.

use super::TokenNames;

/// By what a token is sorted. All tokens of a list have the same kind of key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenKey {
    /// Scripts that hold it; contracts do not count.
    Holders(u64),
    /// Its trade in satoshis: of the newest day, then of week, month and all time. What is unknown is less than all that is known.
    Trade([Option<u128>; 4]),
    /// Its name in lower case, [`Self::name`].
    Name(Option<String>),
}

impl TokenKey {
    /// The name of a token. Letters count in either case.
    pub fn name(names: &TokenNames) -> Self {
        Self::Name(names.name.as_ref().map(|name| name.to_lowercase()))
    }

    /// Tokens in the order of their keys. Equal ones stay in their order, and those without a name come last in either direction.
    pub fn sort<T>(mut keyed: Vec<(Self, T)>, ascending: bool) -> Vec<T> {
        let is_nameless = |key: &Self| *key == Self::Name(None);
        keyed.sort_by(|(one, _), (other, _)| {
            let order = if ascending { one.cmp(other) } else { other.cmp(one) };
            is_nameless(one).cmp(&is_nameless(other)).then(order)
        });
        keyed.into_iter().map(|(_, token)| token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[TokenKey], ascending: bool) -> Vec<usize> {
        TokenKey::sort(keys.iter().cloned().zip(0..).collect(), ascending)
    }

    #[test]
    fn names_count_in_either_case_and_none_comes_last_in_either_direction() {
        let keys = [Some("b"), None, Some("A"), Some("C"), Some("B"), None]
            .map(|name| TokenKey::name(&TokenNames { name: name.map(str::to_owned), symbol: Some("Z".to_owned()) }));
        assert_eq!(sorted(&keys, true), [2, 0, 4, 3, 1, 5]);
        assert_eq!(sorted(&keys, false), [3, 0, 4, 2, 1, 5]);
        let empty = [None, Some(String::new())].map(|name| TokenKey::name(&TokenNames { name, symbol: None }));
        assert_eq!(sorted(&empty, true), [1, 0], "an empty name is one");
    }

    #[test]
    fn equal_numbers_of_holders_stay_in_their_order() {
        let keys = [3, 9, 3, 0].map(TokenKey::Holders);
        assert_eq!(sorted(&keys, false), [1, 0, 2, 3]);
        assert_eq!(sorted(&keys, true), [3, 0, 2, 1]);
    }

    #[test]
    fn trade_counts_by_the_newest_span_in_which_it_differs() {
        let keys = [
            [None; 4],
            [Some(0), Some(5), Some(5), Some(9)],
            [Some(1), Some(1), Some(1), Some(1)],
            [Some(0), Some(5), Some(7), Some(7)],
            [None, None, None, Some(100)],
        ]
        .map(TokenKey::Trade);
        assert_eq!(sorted(&keys, false), [2, 3, 1, 4, 0]);
        assert_eq!(sorted(&keys, true), [0, 4, 1, 3, 2]);
    }
}
