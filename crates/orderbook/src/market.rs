//! Names of markets: `<source>:<network>:<scope>:<key>`.

use std::fmt;

/// Longest name, bytes.
pub const MARKET_BYTES_MAX: usize = 512;

/// A name is no name of a market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a market is named <source>:<network>:<scope>:<key>, as orbitals:mainnet:book:*")]
pub struct MarketError;

/// The parts of a market's name. The key may hold colons of its own, as those of alkane ids do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Market<'n> {
    /// Where the orders come from.
    pub source: &'n str,
    /// Bitcoin network.
    pub network: &'n str,
    /// Kind of the market: `book`, `module`, `collection`, `loan-token`, `pair`.
    pub scope: &'n str,
    /// Which of its kind; `*` for the whole book.
    pub key: &'n str,
}

impl<'n> Market<'n> {
    /// Splits a name at its first three colons.
    ///
    /// # Errors
    /// A part is missing or empty, or the name is longer than [`MARKET_BYTES_MAX`].
    pub fn parse(name: &'n str) -> Result<Self, MarketError> {
        let mut parts = name.splitn(4, ':');
        let mut part = || parts.next().filter(|part| !part.is_empty()).ok_or(MarketError);
        let market = Self { source: part()?, network: part()?, scope: part()?, key: part()? };
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        let are_words = is_word(market.source) && is_word(market.network) && is_word(market.scope);
        let is_shown = !market.key.chars().any(char::is_control);
        if are_words && is_shown && name.len() <= MARKET_BYTES_MAX { Ok(market) } else { Err(MarketError) }
    }
}

impl fmt::Display for Market<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}:{}", self.source, self.network, self.scope, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row OB07
    #[test]
    fn a_name_is_split_at_its_first_three_colons() {
        for (name, scope, key) in [
            ("orbitals:mainnet:book:*", "book", "*"),
            ("orbitals:mainnet:module:fire-pos", "module", "fire-pos"),
            ("orbitals:mainnet:collection:2:100", "collection", "2:100"),
            ("lending:mainnet:loan-token:2:0", "loan-token", "2:0"),
            ("lending:mainnet:pair:2:0_32:0", "pair", "2:0_32:0"),
            ("lending:mainnet:pair:a:b:c", "pair", "a:b:c"),
        ] {
            let market = Market::parse(name).unwrap();
            assert_eq!((market.scope, market.key, market.to_string().as_str()), (scope, key, name));
        }
        let long = format!("orbitals:mainnet:module:{}", "x".repeat(MARKET_BYTES_MAX));
        for name in [
            "",
            "*",
            "orbitals",
            "orbitals:mainnet:book",
            "orbitals:mainnet:book:",
            ":mainnet:book:*",
            "a:b c:book:*",
            &long,
        ] {
            assert_eq!(Market::parse(name), Err(MarketError), "{name}");
        }
    }
}
