//! The storage of a contract.

use std::collections::BTreeMap;

use paraffin_alkanes::views::ViewError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::fields::{ALKANE, Names, WRONG_ALKANE};
use paraffin_gateway::alkanes::{self, hex};
use paraffin_gateway::api_types::{AlkaneIdParam, Count, IdText, OkTrue, Time};
use paraffin_gateway::bounded::to_raw_bounded;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::{Hash, TextOrHex};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

/// Default and largest number of values.
const LIMIT_DEFAULT: usize = 100;
const LIMIT_MAX: usize = 1_000;
/// Entries read from the index at once; a value has at most a few hundred kilobytes.
const PAGE: usize = 32;

/// Values in the storage of a contract, without envelope.
///
/// A key that is text is given as text, any other in hexadecimal digits after 0x.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    alkane: AlkaneIdParam,
    /// Prefix of the keys: text, or hexadecimal digits after 0x.
    prefix: Option<TextOrHex>,
    /// 100 when absent; more than 1,000 is taken as 1,000.
    limit: Option<Count>,
}

// Rendered already, off the async threads.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(super) struct Written(#[schemars(with = "StoredKeys<'static>")] Box<RawValue>);

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct StoredKeys<'a> {
    ok: OkTrue,
    alkane: IdText,
    keys: BTreeMap<&'a str, StoredValue<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct StoredValue<'a> {
    key: &'a str,
    key_hex: Hex<'a>,
    value: Hex<'a>,
    value_str: Option<&'a str>,
    last_txid: Option<Hash>,
    last_vout: Option<u32>,
    block_height: Option<u32>,
    updated_at: Option<Time>,
}

impl<'a> StoredValue<'a> {
    fn of(text: &'a str, (key, value): &'a (Vec<u8>, Vec<u8>)) -> Self {
        Self {
            key: text,
            key_hex: Hex(key),
            value: Hex(value),
            value_str: std::str::from_utf8(value).ok(),
            last_txid: None,
            last_vout: None,
            block_height: None,
            updated_at: None,
        }
    }
}

/// Bytes.
#[derive(JsonSchema)]
#[schemars(extend("pattern" = "^0x([0-9a-f]{2})*$"))]
struct Hex<'a>(#[schemars(with = "String")] &'a [u8]);

// The digits are generated while serialising.
impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(self.0))
    }
}

impl Route for Keys {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-keys")];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0","prefix":"/","limit":10}"#;
    const OTHER_NAMES: &'static [Names] = ALKANE;
    const WRAPPING: Wrapping = Wrapping::Flat;
    const FIELD_ERRORS: &'static [(&'static str, &'static str)] = WRONG_ALKANE;
    type Answer = Written;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Written, ApiError> {
        let (contract, TextOrHex(prefix)) = (self.alkane.0, self.prefix.unwrap_or_default());
        let limit = self.limit.map_or(LIMIT_DEFAULT, |limit| limit.at_most(LIMIT_MAX));
        let bytes_max = context.limits().response_bytes_max;
        // Read and rendered in one step off the async threads, and aborted as soon as it is longer than an answer may be.
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
            let keys = keys.iter().map(|(text, entry)| (text.as_str(), StoredValue::of(text, entry))).collect();
            Ok(to_raw_bounded(&StoredKeys { ok: OkTrue, alkane: IdText(contract), keys }, bytes_max))
        });
        Ok(Written(written.await??))
    }
}

fn key_text(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) && !text.starts_with("0x") => text.to_owned(),
        _ => hex(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_text_of_its_own_that_leads_back_to_it() {
        for key in [&b"/totalsupply"[..], b"", b"\x00\x01", b"0xab", &[0xff], "/n\u{e4}me".as_bytes()] {
            assert_eq!(TextOrHex::try_from(key_text(key)).unwrap().0, key);
        }
        assert!(TextOrHex::try_from("0xabc".to_owned()).is_err());
    }
}
