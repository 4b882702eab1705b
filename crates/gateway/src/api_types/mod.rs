//! Types of members and answers shared by several routes, with the names of their schemas in the OpenAPI document.

mod ids;

use std::borrow::Cow;

use bitcoin::OutPoint;
use paraffin_primitives::{AlkaneId, format_outpoint, parse_outpoint};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::errors::ApiError;
use crate::methods::{Verbatim, scalar};

pub use ids::{alkane_id, decimal};

/// Gives a type a schema of its own under a name, or inline.
macro_rules! schema {
    ($type:ty, $name:literal, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

/// The id of an alkane in any notation that clients use.
#[derive(Debug, Clone, Copy)]
pub struct AlkaneIdParam(pub AlkaneId);

impl<'de> Deserialize<'de> for AlkaneIdParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Verbatim(value) = Verbatim::deserialize(deserializer)?;
        alkane_id(&value).map(Self).map_err(|_| D::Error::custom("must be {block, tx}, two integers, or block:tx"))
    }
}

impl JsonSchema for AlkaneIdParam {
    fn schema_name() -> Cow<'static, str> {
        "AlkaneId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let part = generator.subschema_for::<IdPart>();
        json_schema!({
            "description": "An alkane's id, in any of the ways in which clients write it",
            "anyOf": [
                { "type": "object", "required": ["block", "tx"], "properties": { "block": part, "tx": part } },
                { "type": "string", "pattern": "^\\s*[0-9]{1,39}:[0-9]{1,39}\\s*$" },
            ],
            "examples": [{ "block": "2", "tx": "0" }, "2:0"],
        })
    }
}

/// A half of an id.
struct IdPart;

schema!(IdPart, "IdPart", {
    "description": "An integer of up to 128 bits: a number, its digits, or hexadecimal digits after 0x",
    "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": "^([0-9]{1,39}|0x[0-9a-fA-F]{1,32})$" },
    ],
});

/// The id of an alkane in a path.
pub(crate) struct PathId;

schema!(PathId, "AlkaneIdText", {
    "description": "An alkane's id, block:tx",
    "type": "string",
    "pattern": "^[0-9]{1,39}:[0-9]{1,39}$",
});

/// The id of a pool.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct PoolIdParam(AlkaneIdParam);

/// The id of a factory.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct FactoryIdParam(AlkaneIdParam);

/// An id of a kind that has a schema of its own.
macro_rules! id_of {
    ($type:ty, $name:literal, $about:literal) => {
        impl $type {
            /// The id.
            pub fn get(self) -> AlkaneId {
                self.0.0
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = generator.subschema_for::<AlkaneIdParam>();
                schema.insert("description".to_owned(), $about.into());
                schema
            }
        }
    };
}

id_of!(PoolIdParam, "PoolId", "The id of a pool");
id_of!(FactoryIdParam, "FactoryId", "The id of a factory");

/// An address, parsed once the network is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct AddressText(pub String);

schema!(AddressText, "Address", {
    "description": "A Bitcoin address of this instance's network; anything else is 400",
    "type": "string",
});

/// An output of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct OutpointParam(pub OutPoint);

impl<'de> Deserialize<'de> for OutpointParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_outpoint(&text).map(Self).map_err(|_| D::Error::custom("must be txid:vout"))
    }
}

schema!(OutpointParam, "Outpoint", {
    "description": "txid:vout, the txid in display order",
    "type": "string",
    "pattern": "^[0-9a-fA-F]{64}:[0-9]+$",
});

/// An integer of up to 128 bits.
#[derive(Debug, Clone, Copy)]
pub struct Amount(pub u128);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("must be a non-negative integer below 2^128");
        decimal(&scalar(deserializer)?).map(Self).ok_or_else(wrong)
    }
}

schema!(Amount, "Amount", {
    "description": "An integer of up to 128 bits, as a number, its digits, or hexadecimal digits after 0x",
    "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": "^([0-9]{1,39}|0x[0-9a-fA-F]{1,32})$" },
    ],
});

/// A positive integer; one above 64 bits stands for the greatest.
#[derive(Debug, Clone, Copy)]
pub struct Count(u64);

impl Count {
    /// The number, at most `max`.
    pub fn at_most(self, max: usize) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX).min(max)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = natural(&scalar(deserializer)?).filter(|number| *number > 0);
        number.map(Self).ok_or_else(|| D::Error::custom("must be a positive integer"))
    }
}

schema!(Count, "Count", {
    "description": "A positive integer, as a number or its digits",
    "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^0*[1-9][0-9]*$" }],
});

/// An integer from 0; one above 64 bits stands for the greatest.
#[derive(Debug, Clone, Copy)]
pub struct Offset(pub u64);

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        natural(&scalar(deserializer)?).map(Self).ok_or_else(|| D::Error::custom("must be a non-negative integer"))
    }
}

schema!(Offset, "Offset", {
    "description": "An integer from 0, as a number or its digits",
    "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^(0|0*[1-9][0-9]*)$" }],
});

/// A number or its digits; one above 64 bits is the greatest.
fn natural(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => String::new(),
    };
    let is_integer = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_integer.then(|| text.parse().unwrap_or(u64::MAX))
}

/// An integer of up to 128 bits as its digits, exact; of amounts in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits(pub u128);

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

schema!(Digits, "Digits", {
    "description": "An integer of up to 128 bits, exact; of amounts in base units",
    "type": "string",
    "pattern": "^[0-9]{1,39}$",
});

/// An id as `block:tx`.
#[derive(Debug, Clone, Copy)]
pub struct IdText(pub AlkaneId);

impl Serialize for IdText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

schema!(IdText, "IdText", { "type": "string", "pattern": "^[0-9]{1,39}:[0-9]{1,39}$" });

/// An id as an object.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "Id")]
pub struct IdObject {
    block: Digits,
    tx: Digits,
}

impl From<AlkaneId> for IdObject {
    fn from(id: AlkaneId) -> Self {
        Self { block: Digits(id.block), tx: Digits(id.tx) }
    }
}

/// An output of a transaction as `txid:vout`.
#[derive(Debug, Clone, Copy)]
pub struct OutpointText(pub OutPoint);

impl Serialize for OutpointText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_outpoint(&self.0))
    }
}

schema!(OutpointText, "OutpointText", {
    "description": "txid:vout",
    "type": "string",
    "pattern": "^[0-9a-fA-F]{64}:[0-9]+$",
});

/// RFC 3339 in UTC.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Time(String);

impl Time {
    /// Of Unix seconds.
    ///
    /// # Errors
    /// 500 when there is no such year.
    pub fn of(seconds: u32) -> Result<Self, ApiError> {
        timestamp(seconds).map(Self)
    }
}

schema!(Time, "Time", {
    "description": "RFC 3339, UTC",
    "type": "string",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$",
});

/// `true`, in answers without envelope.
#[derive(Debug, Clone, Copy)]
pub struct OkTrue;

impl Serialize for OkTrue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl JsonSchema for OkTrue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "True".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": true })
    }
}

/// RFC 3339 in UTC.
fn timestamp(unix_seconds: u32) -> Result<String, ApiError> {
    let format = &time::format_description::well_known::Rfc3339;
    let instant = time::OffsetDateTime::from_unix_timestamp(i64::from(unix_seconds))
        .map_err(|error| ApiError::internal(&error))?;
    instant.format(format).map_err(|error| ApiError::internal(&error))
}
