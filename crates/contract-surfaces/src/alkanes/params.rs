//! Parameters of `alkanes_*`, in every notation that clients use.

use std::borrow::Cow;

use bitcoin::consensus::encode::deserialize;
use paraffin_alkanes::Transfer;
use paraffin_primitives::{AlkaneId, Height};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use paraffin_gateway::api_types::{alkane_id, decimal};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::{BlockTag, HexBytes, TxidText, Verbatim, scalar};
use paraffin_gateway::state::RequestContext;

/// The id of an alkane in any notation, alone or as `target`, `alkaneId` or `id` of an object.
pub(super) struct IdParam(pub(super) AlkaneId);

impl IdParam {
    const WRONG: &'static str = "must be an alkane id: {block, tx}, or block:tx";

    fn read(value: &Value) -> Option<AlkaneId> {
        let inner = ["target", "alkaneId", "id"].iter().find_map(|name| value.get(name)).unwrap_or(value);
        alkane_id(inner).ok()
    }
}

impl<'de> Deserialize<'de> for IdParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Verbatim(value) = Verbatim::deserialize(deserializer)?;
        Self::read(&value).map(Self).ok_or_else(|| D::Error::custom(Self::WRONG))
    }
}

impl JsonSchema for IdParam {
    fn schema_name() -> Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let integer = generator.subschema_for::<Integer>();
        let id = json!({
            "type": "object",
            "required": ["block", "tx"],
            "properties": { "block": integer, "tx": integer },
        });
        let within = |name: &str| json!({ "type": "object", "required": [name] });
        json_schema!({
            "description": "An id, alone or as a member of an object",
            "anyOf": [
                { "type": "string", "pattern": "^([0-9]+|0x[0-9a-fA-F]+):([0-9]+|0x[0-9a-fA-F]+)$" },
                id, within("target"), within("alkaneId"), within("id"),
            ],
        })
    }
}

/// An integer of at most 128 bits: a number, its digits, or `0x` and hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) struct Integer(pub(super) u128);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decimal(&scalar(deserializer)?)
            .map(Self)
            .ok_or_else(|| D::Error::custom("must be an integer of at most 128 bits"))
    }
}

impl JsonSchema for Integer {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Integer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^([0-9]+|0x[0-9a-fA-F]+)$" },
            ],
        })
    }
}

/// An integer of at most 32 bits, in the same notations.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "Integer")]
#[schemars(inline, with = "Integer")]
pub(super) struct Small(pub(super) u32);

impl TryFrom<Integer> for Small {
    type Error = &'static str;

    fn try_from(number: Integer) -> Result<Self, &'static str> {
        u32::try_from(number.0).map(Self).map_err(|_| "must be a non-negative integer of 32 bits")
    }
}

/// Bytes in hexadecimal digits; some clients send them as numbers.
#[derive(JsonSchema, Default)]
#[schemars(inline, with = "HexBytes")]
pub(super) struct BytesParam(pub(super) Vec<u8>);

impl<'de> Deserialize<'de> for BytesParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match Verbatim::deserialize(deserializer)?.0 {
            text @ Value::String(_) => HexBytes::read(&text).ok().map(|bytes| bytes.0),
            Value::Array(bytes) => {
                let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
                bytes.iter().map(byte).collect()
            }
            _ => None,
        };
        bytes.map(Self).ok_or_else(|| D::Error::custom("must be hexadecimal digits"))
    }
}

impl BytesParam {
    /// Decodes the bytes; `None` when they are empty.
    pub(super) fn decoded<T: bitcoin::consensus::Decodable>(&self, name: &str) -> Result<Option<T>, ApiError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let wrong = |_| ApiError::invalid(format!("{name} must be a consensus encoding"));
        deserialize(&self.0).map(Some).map_err(wrong)
    }
}

/// An amount of an alkane: `{id, value}`.
pub(super) struct TransferParam(pub(super) Transfer);

impl<'de> Deserialize<'de> for TransferParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Verbatim(value) = Verbatim::deserialize(deserializer)?;
        let read = || {
            let id = value.get("id").and_then(|id| alkane_id(id).ok()).or_else(|| alkane_id(&value).ok())?;
            Some(Transfer { id, value: decimal(value.get("value").or_else(|| value.get("amount"))?)? })
        };
        read().map(Self).ok_or_else(|| D::Error::custom("must be {id, value}"))
    }
}

impl JsonSchema for TransferParam {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TransferParam".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["id", "value"],
            "properties": {
                "id": generator.subschema_for::<IdParam>(),
                "value": generator.subschema_for::<Integer>(),
            },
        })
    }
}

/// The shadow output of a message.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "OutpointObject")]
pub(super) struct OutpointParam {
    /// In either order of its bytes.
    pub(super) txid: TxidText,
    /// Its number.
    pub(super) vout: Small,
}

/// A block: a tag, or an object with `height` or `block`.
pub(super) struct HeightParam(pub(super) Value);

impl HeightParam {
    /// The height; `None` for that of `tag`, or the newest.
    pub(super) fn height(
        asked: Option<&Self>,
        tag: Option<&BlockTag>,
        context: &RequestContext,
    ) -> Result<Option<Height>, ApiError> {
        let Some(Self(value)) = asked else { return Ok(None) };
        if let Some(members) = value.as_object() {
            let named = ["height", "block"].iter().find_map(|name| members.get(*name)).filter(|one| !one.is_null());
            let Some(named) = named else { return BlockTag::height_of(tag, context) };
            let wrong = || ApiError::invalid("height must be an integer");
            return Ok(Some(Height::try_from(decimal(named).ok_or_else(wrong)?).unwrap_or(Height::MAX)));
        }
        let wrong = || ApiError::invalid(format!("height {}", BlockTag::WRONG));
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(wrong()),
        };
        BlockTag::read(&text).ok_or_else(wrong)?.height(context)
    }
}

impl<'de> Deserialize<'de> for HeightParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Verbatim::deserialize(deserializer).map(|value| Self(value.0))
    }
}

impl JsonSchema for HeightParam {
    fn schema_name() -> Cow<'static, str> {
        "HeightOrObject".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let integer = generator.subschema_for::<Option<Integer>>();
        let object = json!({ "type": "object", "properties": { "height": integer, "block": integer } });
        json_schema!({ "anyOf": [generator.subschema_for::<BlockTag>(), object] })
    }
}

/// A value in a contract's storage: its id as `id`, `target`, `alkaneId`, or as `block` and `tx`; its key as `path` or `key`, text, or
/// bytes in hexadecimal digits after `0x`.
pub(super) struct StorageRequest {
    pub(super) id: AlkaneId,
    pub(super) key: Vec<u8>,
}

impl<'de> Deserialize<'de> for StorageRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Verbatim(value) = Verbatim::deserialize(deserializer)?;
        if !value.is_object() {
            return Err(D::Error::custom("must be an object"));
        }
        let id = IdParam::read(&value);
        let id = id.ok_or_else(|| D::Error::custom("must have an alkane id: {block, tx}, or id as block:tx"))?;
        let path = ["path", "key"].iter().find_map(|name| value.get(name)).and_then(Value::as_str);
        let path = path.ok_or_else(|| D::Error::custom("must have a path, a string"))?;
        let key = if path.starts_with("0x") {
            let bytes = HexBytes::read(&Value::String(path.to_owned()));
            bytes.map_err(|_| D::Error::custom("must have a path, text or hexadecimal digits after 0x"))?.0
        } else {
            path.as_bytes().to_vec()
        };
        Ok(Self { id, key })
    }
}

impl JsonSchema for StorageRequest {
    fn schema_name() -> Cow<'static, str> {
        "StorageRequest".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (id, integer) = (generator.subschema_for::<IdParam>(), generator.subschema_for::<Integer>());
        json_schema!({
            "description": "The contract as one of `id`, `target`, `alkaneId`, or as `block` and `tx`; the key as `path` or `key`",
            "type": "object",
            "properties": {
                "id": id, "target": id, "alkaneId": id, "block": integer, "tx": integer,
                "path": { "type": "string", "description": "Text, or bytes in hexadecimal digits after 0x" },
                "key": { "type": "string", "description": "The same as path" },
            },
        })
    }
}

/// An output, or its txid.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema of a value that is read in several shapes")]
pub(super) enum OutpointOrTxid {
    Object(OutpointParam),
    Txid(TxidText),
}

/// An address, alone or in an object.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "the schema of a value that is read in several shapes")]
pub(super) enum AddressOrObject {
    Address(String),
    Object(AddressObject),
}

/// An address in an object.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "the schema of a value that is read in several shapes")]
pub(super) struct AddressObject {
    address: String,
    #[schemars(rename = "protocolTag")]
    protocol_tag: Option<Integer>,
}
