//! The storage of a contract.

use std::collections::BTreeMap;

use bitcoin::hex::FromHex as _;
use hyper::StatusCode;
use paraffin_alkanes::views::ViewError;
use serde::Serialize;

use super::super::{RestBody, RestResult};
use super::fields::{flat_error, id};
use crate::alkanes::{self, hex};
use crate::bounded::write_bounded;
use crate::errors::RestError;
use crate::respond::Reply;
use crate::state::{BoxFuture, RequestContext};

/// Values when nothing is said, and at most.
const LIMIT_DEFAULT: usize = 100;
const LIMIT_MAX: usize = 1_000;
/// Entries read from the index at once; a value has at most a few hundred kilobytes.
const PAGE: usize = 32;

/// POST `/get-keys`, without envelope: `{ok, alkane, keys:{<key>:{key, value, …}}}`. A key that is text stands as text,
/// any other in hexadecimal digits after `0x`; `prefix` is read the same way.
pub(crate) fn keys(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let Ok(contract) = id(&body) else {
            return Ok(flat_error("invalid_alkane_format", "alkane must be block:tx, for example 2:0"));
        };
        let prefix = bytes_of(body.optional_text("prefix")?.unwrap_or_default())?;
        let limit = body.positive("limit", LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
        let bytes_max = context.limits().response_bytes_max;
        // Read and written in one place, away from the async threads, and given up as soon as it is longer than an answer.
        let written = alkanes::read(context, None, None, move |moment| {
            let mut keys = BTreeMap::new();
            let (mut after, mut bytes) = (None, 0);
            while keys.len() < limit {
                moment.check()?;
                let page = moment.state.storage(contract, &prefix, after.as_ref(), PAGE.min(limit - keys.len()))?;
                for (key, value) in page.items {
                    // Two digits for each byte.
                    bytes += 2 * (key.len() + value.len());
                    if bytes > bytes_max {
                        return Err(ViewError::TooLarge);
                    }
                    keys.insert(key_text(&key), (key, value));
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            let keys = keys.iter().map(|(text, entry)| (text.as_str(), Entry::of(text, entry))).collect();
            Ok(write_bounded(&StoredKeys { ok: true, alkane: contract.to_string(), keys }, bytes_max))
        });
        Ok(Reply::json(StatusCode::OK, written.await??))
    })
}

/// The answer.
#[derive(Serialize)]
struct StoredKeys<'a> {
    ok: bool,
    alkane: String,
    keys: BTreeMap<&'a str, Entry<'a>>,
}

/// One key with its value; the digits are made while it is written.
#[derive(Serialize)]
struct Entry<'a> {
    key: &'a str,
    #[serde(serialize_with = "digits")]
    key_hex: &'a [u8],
    #[serde(serialize_with = "digits")]
    value: &'a [u8],
    value_str: Option<&'a str>,
    last_txid: (),
    last_vout: (),
    block_height: (),
    updated_at: (),
}

impl<'a> Entry<'a> {
    fn of(text: &'a str, (key, value): &'a (Vec<u8>, Vec<u8>)) -> Self {
        let value_str = std::str::from_utf8(value).ok();
        Self {
            key: text,
            key_hex: key,
            value,
            value_str,
            last_txid: (),
            last_vout: (),
            block_height: (),
            updated_at: (),
        }
    }
}

fn digits<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(bytes))
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
