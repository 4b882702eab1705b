//! Amounts and prices as exact decimals, without floating-point numbers.

use std::fmt::Display;

use paraffin_amm::Ratio;
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use paraffin_gateway::api_types::decimal;
use paraffin_gateway::methods::scalar;

/// Decimal places of amounts: base units of an alkane are 10^-8 (docs/api.md).
pub(super) const AMOUNT_PLACES: usize = 8;

/// A decimal as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("pattern" = "^[0-9]+(\\.[0-9]+)?$"))]
pub(super) struct DecimalText(String);

/// A decimal as a JSON number with all its digits.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "f64", extend("minimum" = 0))]
pub(super) struct DecimalNumber(String);

impl DecimalText {
    /// Base units, an integer, as whole alkanes.
    pub(super) fn amount(units: impl Display) -> Self {
        Self(shifted(&units.to_string()))
    }

    /// A price with `places` decimal places, rounded half to even.
    pub(super) fn price(price: Ratio, places: u32) -> Self {
        Self(price.to_decimal_places(places))
    }

    /// Hundredths.
    pub(super) fn hundredths(hundredths: u128) -> Self {
        Self(format!("{}.{:02}", hundredths / 100, hundredths % 100))
    }
}

impl DecimalNumber {
    /// Base units, an integer, as whole alkanes.
    pub(super) fn amount(units: impl Display) -> Self {
        Self(shifted(&units.to_string()))
    }

    /// A price, rounded half to even at the 18th decimal place, as candles have it.
    pub(super) fn price(price: Ratio) -> Self {
        Self(price.to_decimal())
    }
}

impl Serialize for DecimalNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.clone()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Digits of an integer with the point before the last eight, without zeros at the end.
fn shifted(digits: &str) -> String {
    let padded = format!("{digits:0>width$}", width = AMOUNT_PLACES + 1);
    let (whole, fraction) = padded.split_at(padded.len() - AMOUNT_PLACES);
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// A time in Unix seconds; one before 1970 stands for its beginning, one beyond 32 bits for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "i64")]
pub(super) struct Seconds(pub(super) u32);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        integer(deserializer, "must be Unix seconds").map(|seconds| Self(u32::try_from(seconds).unwrap_or(u32::MAX)))
    }
}

/// A height; one beyond 32 bits stands for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockNumber(pub(super) u32);

impl JsonSchema for BlockNumber {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BlockNumber".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "minimum": 0, "description": "The height of a block" })
    }
}

impl<'de> Deserialize<'de> for BlockNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number =
            decimal(&scalar(deserializer)?).ok_or_else(|| D::Error::custom("must be the number of a block"))?;
        Ok(Self(u32::try_from(number).unwrap_or(u32::MAX)))
    }
}

/// A count; 0 is the same as absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "u32")]
pub(super) struct HowMany(usize);

impl HowMany {
    /// The number, at most `max`; `None` for 0.
    pub(super) fn at_most(self, max: usize) -> Option<usize> {
        (self.0 > 0).then(|| self.0.min(max))
    }
}

impl<'de> Deserialize<'de> for HowMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        integer(deserializer, "must be an integer").map(|number| Self(usize::try_from(number).unwrap_or(usize::MAX)))
    }
}

/// An integer; one below 0 stands for it.
fn integer<'de, D: Deserializer<'de>>(deserializer: D, wrong: &'static str) -> Result<u128, D::Error> {
    let given = scalar(deserializer)?;
    let is_negative = match &given {
        Value::Number(number) => number.as_i64().is_some_and(|number| number < 0),
        Value::String(text) => text.strip_prefix('-').is_some_and(|digits| {
            (1..=39).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
        }),
        _ => false,
    };
    if is_negative {
        return Ok(0);
    }
    decimal(&given).ok_or_else(|| D::Error::custom(wrong))
}

/// The id of an alkane, block:tx.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct IdParam(pub(super) AlkaneId);

impl TryFrom<String> for IdParam {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "must be an id as block:tx, for example 2:0")
    }
}

impl JsonSchema for IdParam {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AlkaneIdText".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^[0-9]{1,39}:[0-9]{1,39}$",
            "description": "An alkane's id, block:tx",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_gateway::methods::read_members;

    #[test]
    fn amounts_are_whole_alkanes_with_all_their_digits() {
        for (amount, expected) in [
            (0u128, "0"),
            (1, "0.00000001"),
            (100_000_000, "1"),
            (123_450_000_000, "1234.5"),
            (u128::MAX, "3402823669209384634633746074317.68211455"),
        ] {
            assert_eq!(DecimalText::amount(amount).0, expected);
        }
        let price = DecimalNumber::price(Ratio::new(1, 3).unwrap());
        assert_eq!(serde_json::to_string(&[price]).unwrap(), "[0.333333333333333333]");
        assert_eq!(DecimalText::hundredths(1_204).0, "12.04");
    }

    #[derive(Deserialize)]
    struct Members {
        from: Option<Seconds>,
        countback: Option<HowMany>,
        block: Option<BlockNumber>,
    }

    #[test]
    fn numbers_of_a_query_are_read_leniently_and_bounded() {
        let read = |text: &str| read_members::<Members>(serde_json::from_str(text).unwrap());
        let of = |text: &str| read(text).map_err(|error| error.to_string()).unwrap();
        assert_eq!(of(r#"{"from":"-5"}"#).from, Some(Seconds(0)));
        assert_eq!(of(r#"{"from":"1700000000"}"#).from, Some(Seconds(1_700_000_000)));
        assert_eq!(of(r#"{"from":"99999999999"}"#).from, Some(Seconds(u32::MAX)));
        assert_eq!(of(r#"{"countback":"0"}"#).countback.unwrap().at_most(5), None);
        assert_eq!(of(r#"{"countback":"7"}"#).countback.unwrap().at_most(5), Some(5));
        assert_eq!(of(r#"{"block":"18446744073709551616"}"#).block, Some(BlockNumber(u32::MAX)));
        for wrong in
            [r#"{"from":"x"}"#, r#"{"from":"1.5"}"#, r#"{"from":"--1"}"#, r#"{"countback":""}"#, r#"{"block":"-1"}"#]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
