//! Types of values that several methods and routes share.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An integer of up to 128 bits, in JSON a text of decimal digits: an amount in base units, or a part of an id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Amount(pub u128);

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<u128> for Amount {
    fn from(value: u128) -> Self {
        Self(value)
    }
}

impl FromStr for Amount {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| serde::de::Error::custom("an amount that is no integer of 128 bits"))
    }
}

/// A value that may be a number or a text: a height, a limit, an amount in digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum NumberOrText {
    /// A number.
    Number(u64),
    /// Its digits, or a word.
    Text(String),
}

impl<'de> Deserialize<'de> for NumberOrText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Self::Text(text)),
            // A number beyond 64 bits keeps its digits.
            serde_json::Value::Number(number) => {
                Ok(number.as_u64().map_or_else(|| Self::Text(number.to_string()), Self::Number))
            }
            _ => Err(serde::de::Error::custom("neither a number nor a text")),
        }
    }
}

impl From<u64> for NumberOrText {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for NumberOrText {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u128> for NumberOrText {
    fn from(number: u128) -> Self {
        u64::try_from(number).map_or_else(|_| Self::Text(number.to_string()), Self::Number)
    }
}

impl From<Amount> for NumberOrText {
    fn from(amount: Amount) -> Self {
        Self::Text(amount.to_string())
    }
}

impl From<&str> for NumberOrText {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for NumberOrText {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A value that has one of several types, tried in their order. `serde` has `untagged` for it, which loses numbers that keep all
/// their digits (`arbitrary_precision`).
macro_rules! one_of {
    ($(#[$attribute:meta])* $name:ident { $($case:ident($kind:ty),)+ }) => {
        $(#[$attribute])*
        #[allow(missing_docs, reason = "cases are named after their types")]
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $name {
            $($case($kind),)+
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                $(
                    if let Ok(read) = <$kind as serde::Deserialize>::deserialize(&value) {
                        return Ok(Self::$case(read));
                    }
                )+
                Err(serde::de::Error::custom(concat!("a value that is no ", stringify!($name))))
            }
        }
    };
}
pub(crate) use one_of;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_exact_at_the_end_of_their_range() {
        let text = json!(u128::MAX.to_string());
        let amount: Amount = serde_json::from_value(text.clone()).unwrap();
        assert_eq!((amount.0, json!(amount)), (u128::MAX, text));
        for wrong in [json!("340282366920938463463374607431768211456"), json!("-1"), json!("1.0"), json!(1), json!("")]
        {
            assert!(serde_json::from_value::<Amount>(wrong).is_err());
        }
    }

    #[test]
    fn numbers_beyond_64_bits_keep_their_digits() {
        let long: NumberOrText = serde_json::from_str("18446744073709551616").unwrap();
        assert_eq!(long, "18446744073709551616".into());
        assert_eq!(serde_json::from_str::<NumberOrText>("7").unwrap(), 7_u64.into());
        assert_eq!(NumberOrText::from(u128::MAX), u128::MAX.to_string().into());
        assert!(serde_json::from_str::<NumberOrText>("null").is_err());
    }

    one_of! {
        #[allow(unreachable_pub, reason = "others are types of the crate")]
        IdOrCount { Id(String), Count(u64), }
    }

    #[test]
    fn a_value_of_several_types_is_the_first_that_fits() {
        assert_eq!(serde_json::from_str::<IdOrCount>("7").unwrap(), IdOrCount::Count(7));
        assert_eq!(serde_json::from_str::<IdOrCount>("\"7\"").unwrap(), IdOrCount::Id("7".to_owned()));
        assert!(serde_json::from_str::<IdOrCount>("[]").is_err());
        assert_eq!(json!(IdOrCount::Count(7)), json!(7));
    }
}
