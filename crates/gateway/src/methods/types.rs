//! Types of parameters that several methods have.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use bitcoin::Txid;
use bitcoin::hex::FromHex as _;
use paraffin_primitives::Height;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::read::take_handed;
use crate::errors::ApiError;
use crate::jsonrpc::parse_unsigned;
use crate::state::RequestContext;

/// Name of a newtype for which the reader of parameters passes the value verbatim.
pub(super) const VERBATIM: &str = "$verbatim";
/// Name of a newtype for a scalar; arrays and objects are passed as `null`, without being parsed.
pub(super) const SCALAR: &str = "$scalar";
/// Name of a newtype for the JSON text of a value.
pub(super) const RAW: &str = "$raw";

/// Implements a schema of its own for a type, inline or in the components of the document.
#[macro_export]
macro_rules! schema {
    ($type:ty, $name:literal, inline $schema:tt) => {
        $crate::schema!($type, $name, true, $schema);
    };
    ($type:ty, $name:literal, $schema:tt) => {
        $crate::schema!($type, $name, false, $schema);
    };
    ($type:ty, $name:literal, $is_inline:literal, $schema:tt) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                $is_inline
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}
pub use crate::schema;

/// Takes the value that the reader of parameters has passed.
struct Handed;

impl Visitor<'_> for Handed {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        take_handed().ok_or_else(|| E::custom("is no parameter of a call"))
    }
}

/// A text, a number with all its digits, a flag, or `null` for an array or an object.
///
/// # Errors
/// Those of the deserializer.
pub fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    deserializer.deserialize_newtype_struct(SCALAR, Handed)
}

/// Any value, as it was written: numbers keep all their digits.
#[derive(Debug, Clone)]
pub struct Verbatim(pub Value);

impl<'de> Deserialize<'de> for Verbatim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VERBATIM, Handed).map(Self)
    }
}

/// Any value as JSON text, which is not parsed.
#[derive(Debug)]
pub struct RawParam(pub Box<RawValue>);

impl<'de> Deserialize<'de> for RawParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Json;

        impl Visitor<'_> for Json {
            type Value = RawParam;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_str<E: de::Error>(self, json: &str) -> Result<RawParam, E> {
                RawValue::from_string(json.to_owned()).map(RawParam).map_err(E::custom)
            }
        }

        deserializer.deserialize_newtype_struct(RAW, Json)
    }
}

schema!(RawParam, "Any", inline {});

schema!(Verbatim, "Any", inline {});

/// A non-negative integer. One above 64 bits stands for the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Natural(u64);

impl Natural {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Natural {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = scalar(deserializer)?;
        let digits = if let Value::Number(number) = &value { number.to_string() } else { String::new() };
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(de::Error::custom("must be a non-negative integer"));
        }
        Ok(Self(digits.parse().unwrap_or(u64::MAX)))
    }
}

schema!(Natural, "Natural", inline { "type": "integer", "minimum": 0 });

/// At most `MAX` items.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> List<T, MAX> {
    /// The members.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T, const MAX: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
            type Value = List<T, MAX>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List<T, MAX>, A::Error> {
                if items.size_hint().is_some_and(|len| len > MAX) {
                    return Err(de::Error::custom(format_args!("may hold at most {MAX}")));
                }
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(List(list))
            }
        }

        deserializer.deserialize_seq(Items(PhantomData))
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for List<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("List_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>(), "maxItems": MAX })
    }
}

/// A text; a number is taken as its digits, as many clients rely on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match scalar(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            _ => Err(de::Error::custom("must be a string")),
        }
    }
}

schema!(Text, "Text", inline { "type": "string" });

/// The id of a transaction: 64 hexadecimal digits in display order.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(inline, with = "String", extend("pattern" = "^[0-9a-fA-F]{64}$"))]
pub struct TxidText(pub Txid);

impl TryFrom<String> for TxidText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "must be 64 hexadecimal digits")
    }
}

/// A non-negative integer of at most 64 bits, as a number or as its digits.
#[derive(Debug, Clone, Copy)]
pub struct NaturalText(pub u64);

impl<'de> Deserialize<'de> for NaturalText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = match scalar(deserializer)? {
            Value::String(text) => parse_unsigned(&text),
            Value::Number(number) => parse_unsigned(&number.to_string()),
            _ => None,
        };
        number.map(Self).ok_or_else(|| de::Error::custom("must be a non-negative integer"))
    }
}

schema!(NaturalText, "NaturalText", inline {
    "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]+$" }],
});

/// 32 bytes in display order: the id of a transaction, the hash of a block.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Hash(String);

impl Hash {
    /// A hash as text.
    pub fn of(hash: impl fmt::Display) -> Self {
        Self(hash.to_string())
    }
}

schema!(Hash, "Hash", { "description": "32 bytes in display order", "type": "string", "pattern": "^[0-9a-f]{64}$" });

/// Bytes as text, or as hexadecimal digits after `0x`.
#[derive(Deserialize, JsonSchema, Default, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
#[schemars(inline, with = "String")]
pub struct TextOrHex(pub Vec<u8>);

impl TryFrom<String> for TextOrHex {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        match text.strip_prefix("0x") {
            None => Ok(Self(text.into_bytes())),
            Some(digits) => Vec::from_hex(digits).map(Self).map_err(|_| "must be text, or hexadecimal digits after 0x"),
        }
    }
}

/// Hexadecimal digits.
pub struct HexText;

schema!(HexText, "HexText", inline { "description": "Hexadecimal digits", "type": "string", "pattern": "^([0-9a-fA-F]{2})*$" });

/// An object of any members.
pub type Object = serde_json::Map<String, Value>;

/// Bytes as hexadecimal digits, `0x` before them or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HexBytes(pub Vec<u8>);

impl HexBytes {
    /// Reads the digits of a value.
    ///
    /// # Errors
    /// Rest of the sentence about a parameter that is not hexadecimal.
    pub fn read(value: &Value) -> Result<Self, &'static str> {
        let text = match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            Value::Number(number) => number.to_string().into(),
            _ => return Err("must be a string"),
        };
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        Vec::from_hex(digits).map(Self).map_err(|_| "must be hexadecimal digits")
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&scalar(deserializer)?).map_err(de::Error::custom)
    }
}

schema!(HexBytes, "HexBytes", inline { "type": "string", "pattern": "^(0x)?([0-9a-fA-F]{2})*$" });

/// A member that is `null` where there is none, in an answer whose kind may lack the member.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct OrNull<T>(pub Option<T>);

/// An object whose members have names that are not known beforehand, in an order of their own.
pub struct ByName<V>(pub Vec<(String, V)>);

impl<K: ToString, V> FromIterator<(K, V)> for ByName<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self(members.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    }
}

impl<V: Serialize> Serialize for ByName<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<V: JsonSchema> JsonSchema for ByName<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_by_name", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<V>() })
    }
}

/// The block as of which a view answers: a height, its digits, `height:hash` with the hash of that block in display order, or one
/// of the ways to say the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTag {
    /// `None` for the newest.
    height: Option<Height>,
    hash: Option<String>,
}

impl BlockTag {
    /// Rest of the sentence about an invalid tag.
    pub const WRONG: &'static str = "must be \"latest\", a height, or a height and a hash joined by a colon";

    /// Reads a text, or the digits of a number.
    pub fn read(text: &str) -> Option<Self> {
        let (height, hash) = text.split_once(':').map_or((text, None), |(height, hash)| (height, Some(hash)));
        if matches!(height, "latest" | "" | "0x") {
            return Some(Self { height: None, hash: None });
        }
        // A height beyond 32 bits is above every tip.
        let height = Height::try_from(parse_unsigned(height)?).unwrap_or(Height::MAX);
        Some(Self { height: Some(height), hash: hash.map(|hash| hash.trim_start_matches("0x").to_owned()) })
    }

    /// The height; `None` for the newest.
    ///
    /// # Errors
    /// -32602: the block at the height has another hash.
    pub fn height(&self, context: &RequestContext) -> Result<Option<Height>, ApiError> {
        let Some(height) = self.height else { return Ok(None) };
        if let Some(hash) = &self.hash {
            let record = context.snapshot().block(height).map_err(|error| ApiError::internal(&error))?;
            if record.is_some_and(|record| !record.id.hash.to_string().eq_ignore_ascii_case(hash)) {
                return Err(ApiError::invalid(format!("the block at height {height} has another hash")));
            }
        }
        Ok(Some(height))
    }

    /// The height of an optional tag.
    ///
    /// # Errors
    /// As [`Self::height`].
    pub fn height_of(tag: Option<&Self>, context: &RequestContext) -> Result<Option<Height>, ApiError> {
        tag.map_or(Ok(None), |tag| tag.height(context))
    }
}

impl<'de> Deserialize<'de> for BlockTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match scalar(deserializer)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            _ => return Err(de::Error::custom(Self::WRONG)),
        };
        Self::read(&text).ok_or_else(|| de::Error::custom(Self::WRONG))
    }
}

schema!(BlockTag, "BlockTag", {
    "description": "The height as of which a view answers: `latest`, a number, its digits, or `height:hash`",
    "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": "^(latest|0x|[0-9]*)(:(0x)?[0-9a-fA-F]*)?$" },
    ],
});

#[cfg(test)]
mod tests {
    use super::*;

    /// row MR09
    #[test]
    fn a_tag_is_a_height_in_any_writing_or_the_newest() {
        for newest in ["latest", "0x", "", "latest:00ab"] {
            assert_eq!(BlockTag::read(newest).unwrap().height, None, "{newest}");
        }
        for (text, wanted) in [("7", 7), ("7:00ab", 7), ("0", 0), ("99999999999", Height::MAX)] {
            assert_eq!(BlockTag::read(text).unwrap().height, Some(wanted), "{text}");
        }
        for text in ["-1", "1.5", "x", "+7", "earliest"] {
            assert_eq!(BlockTag::read(text), None, "{text}");
        }
    }
}
