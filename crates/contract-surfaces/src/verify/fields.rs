//! Fields of a submission or attestation: unknown ones, nulls and empty texts are dropped; a wrong type is 422.

use http::StatusCode;
use paraffin_primitives::AlkaneId;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use paraffin_gateway::errors::ErrorKind;
use paraffin_gateway::methods::{Verbatim, schema};

/// Longest text of a field that is only recorded, bytes.
const TEXT_BYTES_MAX: usize = 4 << 10;
/// Status for a value of a wrong type.
pub(super) const WRONG_TYPE: Option<ErrorKind> =
    Some(ErrorKind::new("INVALID_FIELD_TYPE", StatusCode::UNPROCESSABLE_ENTITY));

fn wrong_type<E: serde::de::Error>(wanted: &'static str) -> E {
    E::invalid_type(Unexpected::Other("another value"), &wanted)
}

/// A text that is only recorded.
pub(super) struct ShortText(String);

impl<'de> Deserialize<'de> for ShortText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_too_long = text.len() > TEXT_BYTES_MAX;
        if is_too_long {
            Err(D::Error::custom(format_args!("is longer than {TEXT_BYTES_MAX} bytes")))
        } else {
            Ok(Self(text))
        }
    }
}

schema!(ShortText, "ShortText", inline { "type": "string" });

/// The text of a field; an empty one counts as none.
pub(super) fn given(text: Option<ShortText>) -> Option<String> {
    text.map(|text| text.0).filter(|text| !text.is_empty())
}

/// `block:tx`, both of decimal digits.
pub(super) struct ContractText(pub(super) AlkaneId);

impl<'de> Deserialize<'de> for ContractText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        alkane(&text).map(Self).ok_or_else(|| D::Error::custom("must be block:tx, both numbers"))
    }
}

schema!(ContractText, "ContractText", inline { "type": "string", "pattern": "^[0-9]{1,39}:[0-9]{1,39}$" });

/// A half of the id of a contract, in decimal digits.
pub(super) struct IdDigits(pub(super) u128);

impl<'de> Deserialize<'de> for IdDigits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        digits(&text).map(Self).ok_or_else(|| D::Error::custom("must be a number"))
    }
}

schema!(IdDigits, "IdDigits", inline { "type": "string", "pattern": "^[0-9]{1,39}$" });

/// A number as it was sent.
pub(super) struct AnyNumber(pub(super) Number);

impl<'de> Deserialize<'de> for AnyNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Verbatim::deserialize(deserializer)?.0 {
            Value::Number(number) => Ok(Self(number)),
            _ => Err(wrong_type("a number")),
        }
    }
}

schema!(AnyNumber, "AnyNumber", inline { "type": "number" });

/// An object as it was sent.
pub(super) struct AnyObject(pub(super) Value);

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Verbatim(value) = Verbatim::deserialize(deserializer)?;
        if value.is_object() { Ok(Self(value)) } else { Err(wrong_type("an object")) }
    }
}

schema!(AnyObject, "AnyObject", inline { "type": "object" });

/// Lines of one text, or a list of texts, as one of the clients sends it.
#[derive(Default)]
pub(super) struct Lines(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text_of = |item| if let Value::String(text) = item { Some(text) } else { None };
        let lines = match Verbatim::deserialize(deserializer)?.0 {
            Value::String(text) => Some(text.lines().map(str::to_owned).collect()),
            Value::Array(items) => items.into_iter().map(text_of).collect(),
            _ => None,
        };
        lines.map(Self).ok_or_else(|| wrong_type("text, or a list of texts"))
    }
}

schema!(Lines, "Lines", inline { "type": ["string", "array"], "items": { "type": "string" } });

/// `block:tx`, both of decimal digits.
pub(super) fn alkane(text: &str) -> Option<AlkaneId> {
    let (block, tx) = text.split_once(':')?;
    Some(AlkaneId { block: digits(block)?, tx: digits(tx)? })
}

/// An integer of up to 128 bits in decimal digits and nothing else.
fn digits(text: &str) -> Option<u128> {
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}
