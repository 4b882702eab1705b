//! Parameters of a JSON-RPC call and the complaints about them, in Bitcoin Core's words.

use std::str::FromStr;

use bitcoin::consensus::Decodable;
use bitcoin::hex::FromHex;
use bitcoin::{Address, BlockHash, Network, Transaction, Txid};
use serde_json::{Value, json};

use crate::node::SATS_PER_BTC;

/// An error of a call: Bitcoin Core's code and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// Error codes of Bitcoin Core.
pub(crate) mod code {
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const PARSE_ERROR: i32 = -32700;
    pub(crate) const MISC: i32 = -1;
    pub(crate) const TYPE: i32 = -3;
    pub(crate) const INVALID_ADDRESS_OR_KEY: i32 = -5;
    pub(crate) const INVALID_PARAMETER: i32 = -8;
    pub(crate) const DESERIALIZATION: i32 = -22;
    pub(crate) const VERIFY: i32 = -25;
    pub(crate) const REJECTED: i32 = -26;
    pub(crate) const ALREADY_IN_UTXO_SET: i32 = -27;
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"code": self.code, "message": self.message})
    }
}

pub(crate) type RpcResult = Result<Value, RpcError>;

/// The positional parameters of one call, with the names of the method's parameters for messages.
pub(crate) struct Params<'a> {
    pub(crate) names: &'a [&'static str],
    pub(crate) values: Vec<Value>,
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A text of bounded length for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    const LENGTH_MAX: usize = 200;
    if text.chars().count() <= LENGTH_MAX {
        text.to_owned()
    } else {
        text.chars().take(LENGTH_MAX).chain(['…']).collect()
    }
}

impl Params<'_> {
    /// The parameter, or `None` when it is absent or null.
    pub(crate) fn get(&self, index: usize) -> Option<&Value> {
        self.values.get(index).filter(|value| !value.is_null())
    }

    fn name(&self, index: usize) -> &'static str {
        self.names.get(index).copied().unwrap_or("parameter")
    }

    pub(crate) fn wrong_type(&self, index: usize, expected: &str) -> RpcError {
        let given = self.values.get(index).map_or("null", type_name);
        let (position, name) = (index + 1, self.name(index));
        RpcError::new(
            code::TYPE,
            format!(
                "Wrong type passed:\n{{\n    \"Position {position} ({name})\": \"JSON value of type {given} is not of expected type {expected}\"\n}}"
            ),
        )
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str, RpcError> {
        self.get(index).and_then(Value::as_str).ok_or_else(|| self.wrong_type(index, "string"))
    }

    pub(crate) fn array(&self, index: usize) -> Result<&Vec<Value>, RpcError> {
        self.get(index).and_then(Value::as_array).ok_or_else(|| self.wrong_type(index, "array"))
    }

    pub(crate) fn flag(&self, index: usize, default: bool) -> Result<bool, RpcError> {
        match self.get(index) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong_type(index, "bool")),
        }
    }

    pub(crate) fn integer(&self, index: usize) -> Result<i64, RpcError> {
        match self.get(index) {
            Some(Value::Number(number)) => match number.as_i64() {
                Some(value) if i32::try_from(value).is_ok() => Ok(value),
                _ => Err(RpcError::new(code::MISC, "JSON integer out of range")),
            },
            _ => Err(self.wrong_type(index, "number")),
        }
    }

    pub(crate) fn integer_or(&self, index: usize, default: i64) -> Result<i64, RpcError> {
        if self.get(index).is_none() { Ok(default) } else { self.integer(index) }
    }

    /// A verbosity: a number, or a boolean where `true` means 1.
    pub(crate) fn verbosity(&self, index: usize, default: i64) -> Result<i64, RpcError> {
        match self.get(index) {
            Some(Value::Bool(flag)) => Ok(i64::from(*flag)),
            None | Some(Value::Number(_)) => self.integer_or(index, default),
            Some(value) => Err(wrong_element(value, "number")),
        }
    }

    fn hash_text(&self, index: usize, name: &str) -> Result<&str, RpcError> {
        let text = self.text(index)?;
        check_hash(text, name).map(|()| text)
    }

    pub(crate) fn block_hash(&self, index: usize, name: &str) -> Result<BlockHash, RpcError> {
        let text = self.hash_text(index, name)?;
        BlockHash::from_str(text).map_err(|_| not_hexadecimal(text, name))
    }

    pub(crate) fn txid(&self, index: usize, name: &str) -> Result<Txid, RpcError> {
        let text = self.hash_text(index, name)?;
        Txid::from_str(text).map_err(|_| not_hexadecimal(text, name))
    }

    /// An amount in bitcoins; satoshis.
    pub(crate) fn amount(&self, index: usize) -> Result<Option<u64>, RpcError> {
        let text = match self.get(index) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => return Err(RpcError::new(code::TYPE, "Amount is not a number or string")),
        };
        if text.strip_prefix('-').and_then(parse_amount).is_some_and(|sats| sats > 0) {
            return Err(RpcError::new(code::TYPE, "Amount out of range"));
        }
        let sats = parse_amount(&text).ok_or_else(|| RpcError::new(code::TYPE, "Invalid amount"))?;
        if sats > 21_000_000 * SATS_PER_BTC {
            return Err(RpcError::new(code::TYPE, "Amount out of range"));
        }
        Ok(Some(sats))
    }

    /// The highest feerate that is accepted, in satoshis per 1,000 virtual bytes; 0 means any.
    pub(crate) fn max_feerate(&self, index: usize) -> Result<u64, RpcError> {
        let rate = self.amount(index)?.unwrap_or(SATS_PER_BTC / 10);
        if rate >= SATS_PER_BTC {
            let message = "Fee rates larger than or equal to 1BTC/kvB are not accepted";
            return Err(RpcError::new(code::INVALID_PARAMETER, message));
        }
        Ok(rate)
    }
}

fn not_hexadecimal(text: &str, name: &str) -> RpcError {
    RpcError::new(code::INVALID_PARAMETER, format!("{name} must be hexadecimal string (not '{}')", excerpt(text)))
}

/// Checks that `text` is 64 hexadecimal digits.
pub(crate) fn check_hash(text: &str, name: &str) -> Result<(), RpcError> {
    if text.len() != 64 {
        let message = format!("{name} must be of length 64 (not {}, for '{}')", text.len(), excerpt(text));
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) { Ok(()) } else { Err(not_hexadecimal(text, name)) }
}

/// The complaint about a value inside a list or object.
pub(crate) fn wrong_element(value: &Value, expected: &str) -> RpcError {
    let message = format!("JSON value of type {} is not of expected type {expected}", type_name(value));
    RpcError::new(code::TYPE, message)
}

/// A txid inside a list.
pub(crate) fn txid_of(value: &Value, name: &str) -> Result<Txid, RpcError> {
    let text = value.as_str().ok_or_else(|| wrong_element(value, "string"))?;
    check_hash(text, name)?;
    Txid::from_str(text).map_err(|_| not_hexadecimal(text, name))
}

/// Bitcoins as text, with or without exponent, to satoshis; `None` if it is not a number, negative, or finer than a
/// satoshi.
pub(crate) fn parse_amount(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() || mantissa.ends_with('.') || mantissa.len() > 40 || exponent.abs() > 40 {
        return None;
    }
    let digits: String = [whole, fraction].concat();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: u128 = digits.parse().ok()?;
    let shift = 8 + exponent - i32::try_from(fraction.len()).ok()?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let sats =
        if shift >= 0 { value.checked_mul(power)? } else { value.is_multiple_of(power).then_some(value / power)? };
    u64::try_from(sats).ok()
}

/// Bytes of a hexadecimal text.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    Vec::from_hex(text).ok()
}

/// A transaction in hexadecimal, without anything after it.
pub(crate) fn decode_transaction(text: &str) -> Option<Transaction> {
    let bytes = decode_hex(text)?;
    let tx: Transaction = bitcoin::consensus::deserialize(&bytes).ok()?;
    (!tx.input.is_empty()).then_some(tx)
}

/// A consensus object in hexadecimal, without anything after it.
pub(crate) fn decode_consensus<T: Decodable>(text: &str) -> Option<T> {
    bitcoin::consensus::deserialize(&decode_hex(text)?).ok()
}

/// A regtest address.
pub(crate) fn decode_address(text: &str) -> Option<Address> {
    Address::from_str(text).ok()?.require_network(Network::Regtest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_never_finer_than_a_satoshi() {
        for (text, sats) in [
            ("0", Some(0)),
            ("1", Some(100_000_000)),
            ("0.00000001", Some(1)),
            ("0.1", Some(10_000_000)),
            ("1e-8", Some(1)),
            ("1.5e1", Some(1_500_000_000)),
            ("20999999.97690000", Some(2_099_999_997_690_000)),
            ("0.000000001", None),
            ("0.0000000010e1", Some(1)),
            ("-1", None),
            ("", None),
            (".5", None),
            ("1.", None),
            ("1e", None),
            ("1e99999999999", None),
            ("nan", None),
        ] {
            assert_eq!(parse_amount(text), sats, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn an_amount_survives_writing_and_reading(sats: u64) {
            proptest::prop_assert_eq!(parse_amount(&crate::node::format_btc(sats)), Some(sats));
        }

        #[test]
        fn no_text_makes_the_reader_of_amounts_panic(text in "[-+0-9.eE]{0,60}") {
            let _ = parse_amount(&text);
        }
    }
}
