//! Identifiers and integers of 128 bits, in every way that clients write them (docs/api.md).

use paraffin_primitives::AlkaneId;
use serde_json::Value;

/// A value is no identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdError;

/// `{"block":"4","tx":"65522"}`, with numeric members, or `"4:65522"`.
///
/// # Errors
/// It is none.
pub fn alkane_id(value: &Value) -> Result<AlkaneId, IdError> {
    match value {
        Value::String(text) => text.trim().parse().map_err(|_| IdError),
        Value::Object(members) => {
            let part = |name| members.get(name).and_then(decimal).ok_or(IdError);
            Ok(AlkaneId { block: part("block")?, tx: part("tx")? })
        }
        _ => Err(IdError),
    }
}

/// An integer of up to 128 bits: a number, its digits as text, or hexadecimal digits after `0x`.
pub fn decimal(value: &Value) -> Option<u128> {
    let digits = |text: &str| -> Option<u128> {
        if let Some(hex) = text.strip_prefix("0x") {
            let is_hex = !hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
            return is_hex.then(|| u128::from_str_radix(hex, 16).ok()).flatten();
        }
        let is_decimal = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        is_decimal.then(|| text.parse().ok()).flatten()
    };
    match value {
        Value::Number(number) => digits(&number.to_string()),
        Value::String(text) => digits(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_way_to_write_an_id_is_the_same_id() {
        let id = AlkaneId { block: 4, tx: 65_522 };
        for value in [
            json!({ "block": "4", "tx": "65522" }),
            json!({ "block": 4, "tx": 65_522 }),
            json!({ "block": "0x4", "tx": "0xfff2" }),
            json!("4:65522"),
        ] {
            assert_eq!(alkane_id(&value), Ok(id), "{value}");
        }
        for value in [
            json!(null),
            json!(4),
            json!("4"),
            json!("4:-1"),
            json!({ "block": "4" }),
            json!({ "block": -4, "tx": 0 }),
            json!({ "block": 4.5, "tx": 0 }),
            json!({ "block": "", "tx": "0x" }),
            json!({ "block": "340282366920938463463374607431768211456", "tx": 0 }),
            json!(["4", "0"]),
        ] {
            assert_eq!(alkane_id(&value), Err(IdError), "{value}");
        }
        assert_eq!(decimal(&json!("340282366920938463463374607431768211455")), Some(u128::MAX));
    }
}
