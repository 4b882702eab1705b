//! Fields of a submission or attestation: unknown ones, nulls and empty texts are dropped; a wrong type is 422.

use hyper::StatusCode;
use paraffin_primitives::AlkaneId;
use serde_json::{Number, Value};

use crate::errors::RestError;
use crate::rest::RestBody;

/// Longest text of a field that is only kept, bytes.
const TEXT_BYTES_MAX: usize = 4 << 10;

fn wrong_type(name: &str, wanted: &str) -> RestError {
    RestError::new(StatusCode::UNPROCESSABLE_ENTITY, "INVALID_FIELD_TYPE", format!("{name} must be {wanted}"))
}

pub(super) fn value<'a>(body: &'a RestBody, name: &str) -> Option<&'a Value> {
    // One name cannot contradict itself.
    body.one_of(&[name]).ok().flatten()
}

/// A text of any length.
pub(super) fn long_text<'a>(body: &'a RestBody, name: &str) -> Result<Option<&'a str>, RestError> {
    match value(body, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(wrong_type(name, "a string")),
    }
}

/// A text that is kept.
pub(super) fn text(body: &RestBody, name: &str) -> Result<Option<String>, RestError> {
    let text = long_text(body, name)?;
    if text.is_some_and(|text| text.len() > TEXT_BYTES_MAX) {
        return Err(RestError::bad_request(format!("{name} is longer than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text.map(str::to_owned))
}

pub(super) fn number(body: &RestBody, name: &str) -> Result<Option<Number>, RestError> {
    match value(body, name) {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.clone())),
        Some(_) => Err(wrong_type(name, "a number")),
    }
}

pub(super) fn flag(body: &RestBody, name: &str) -> Result<Option<bool>, RestError> {
    match value(body, name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(wrong_type(name, "true or false")),
    }
}

pub(super) fn object(body: &RestBody, name: &str) -> Result<Option<Value>, RestError> {
    match value(body, name) {
        None => Ok(None),
        Some(object @ Value::Object(_)) => Ok(Some(object.clone())),
        Some(_) => Err(wrong_type(name, "an object")),
    }
}

/// Lines of one text, or a list of texts, as one of the clients sends it.
pub(super) fn lines(body: &RestBody, name: &str) -> Result<Vec<String>, RestError> {
    match value(body, name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.lines().map(str::to_owned).collect()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong_type(name, "text, or a list of texts")))
            .collect(),
        Some(_) => Err(wrong_type(name, "text, or a list of texts")),
    }
}

/// `block:tx`, both of decimal digits.
pub(super) fn alkane(text: &str) -> Option<AlkaneId> {
    let (block, tx) = text.split_once(':')?;
    Some(AlkaneId { block: digits(block)?, tx: digits(tx)? })
}

/// An integer of up to 128 bits in decimal digits and nothing else.
pub(super) fn digits(text: &str) -> Option<u128> {
    let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}
