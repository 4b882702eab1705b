//! The storage of a contract.

use bitcoin::hex::FromHex as _;
use serde_json::{Map, Value, json};

use super::super::{RestBody, RestResult};
use super::fields::{flat_error, id};
use crate::alkanes::{self, hex};
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// Values when nothing is said, and at most.
const LIMIT_DEFAULT: usize = 100;
const LIMIT_MAX: usize = 1_000;

/// POST `/get-keys`, without envelope: `{ok, alkane, keys:{<key>:{key, value, …}}}`. A key that is text stands as text,
/// any other in hexadecimal digits after `0x`; `prefix` is read the same way.
pub(crate) fn keys(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let Ok(contract) = id(&body) else {
            return Ok(flat_error("invalid_alkane_format", "alkane must be block:tx, for example 2:0"));
        };
        let prefix = bytes_of(body.optional_text("prefix")?.unwrap_or_default())?;
        let limit = body.positive("limit", LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
        let entries = alkanes::read(context, None, None, move |moment| {
            Ok(moment.state.storage(contract, &prefix, None, limit)?.items)
        });
        let mut keys = Map::new();
        for (key, value) in entries.await? {
            let text = key_text(&key);
            let told = json!({
                "key": text,
                "key_hex": hex(&key),
                "value": hex(&value),
                "value_str": std::str::from_utf8(&value).ok(),
                "last_txid": null,
                "last_vout": null,
                "block_height": null,
                "updated_at": null,
            });
            keys.insert(text, told);
        }
        Reply::bare(&json!({ "ok": true, "alkane": contract.to_string(), "keys": Value::Object(keys) }))
    })
}

fn key_text(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) && !text.starts_with("0x") => text.to_owned(),
        _ => hex(key),
    }
}

fn bytes_of(text: &str) -> Result<Vec<u8>, RestError> {
    match text.strip_prefix("0x") {
        None => Ok(text.as_bytes().to_vec()),
        Some(digits) => Vec::from_hex(digits)
            .map_err(|_| RestError::bad_request("prefix must be text, or hexadecimal digits after 0x")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_text_of_its_own_that_leads_back_to_it() {
        for key in [&b"/totalsupply"[..], b"", b"\x00\x01", b"0xab", &[0xff], "/n\u{e4}me".as_bytes()] {
            assert_eq!(bytes_of(&key_text(key)).unwrap(), key);
        }
        assert!(bytes_of("0xabc").is_err());
    }
}
