//! The currencies that are covered (docs/forex.md).

use std::fmt;

/// In the order of docs/forex.md.
const CODES: [&str; 20] = [
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "CHF", "BRL", "MXN", "ARS", "NGN", "ZAR", "TRY", "RUB",
    "KRW", "IDR", "PHP", "VND",
];

/// One of the twenty currencies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(u8);

impl Currency {
    /// How many there are.
    pub const COUNT: usize = CODES.len();
    /// The base when none is named, and the currency through which sources are compared.
    pub const USD: Self = Self(0);
    pub(crate) const EUR: Self = Self(1);
    pub(crate) const ARS: Self = Self(11);
    pub(crate) const RUB: Self = Self(15);

    /// All of them, in the order of docs/forex.md.
    pub fn all() -> impl Iterator<Item = Self> {
        // There are twenty.
        (0..CODES.len() as u8).map(Self)
    }

    /// The currency of a code in upper or lower case; `None` when it is not covered.
    pub fn of_code(code: &str) -> Option<Self> {
        Self::all().find(|currency| currency.code().eq_ignore_ascii_case(code))
    }

    /// Three upper-case letters (ISO 4217).
    pub fn code(self) -> &'static str {
        CODES[self.index()]
    }

    /// Index in [`Currency::all`].
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row FX09
    #[test]
    fn the_twenty_currencies_are_those_of_the_seed_and_no_other() {
        let codes: Vec<&str> = Currency::all().map(Currency::code).collect();
        assert_eq!(codes.join(" "), "USD EUR GBP JPY CNY INR CAD AUD CHF BRL MXN ARS NGN ZAR TRY RUB KRW IDR PHP VND");
        assert!(Currency::all().all(|currency| Currency::of_code(&currency.code().to_lowercase()) == Some(currency)));
        for other in ["XXX", "SEK", "", "US", "USDT", "€", "usd "] {
            assert_eq!(Currency::of_code(other), None, "{other}");
        }
        let named = [(Currency::USD, "USD"), (Currency::EUR, "EUR"), (Currency::ARS, "ARS"), (Currency::RUB, "RUB")];
        assert!(named.iter().all(|(currency, code)| currency.code() == *code));
    }
}
