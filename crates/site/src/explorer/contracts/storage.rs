//! The storage of a contract: one key, or a list of keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::super::alkane::{AlkaneId, Links, PageOf, encoded};
use super::super::{Part, Reader, text};
use super::bytes::{Reading, decode};
use crate::api::Call;
use crate::failure::Failure;

/// Keys of a page.
const ROWS: u64 = 25;
/// Longest accepted key, bytes.
const KEY_BYTES_MAX: usize = 1_024;

/// The form of the storage, as it was typed.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) key: String,
    pub(super) page: Option<String>,
}

/// The storage on a page.
pub(super) struct Storage {
    /// The requested key, with its value.
    pub(super) value: Option<Part<Reading>>,
    pub(super) keys: Part<Keys>,
}

/// A page of keys.
pub(super) struct Keys {
    pub(super) rows: Vec<Row>,
    pub(super) links: Links,
}

/// A key and its value.
pub(super) struct Row {
    pub(super) key: String,
    /// The key, percent-encoded for a URL.
    pub(super) address: String,
    pub(super) value: String,
    pub(super) size: usize,
    pub(super) txid: String,
    pub(super) short_txid: String,
}

#[derive(Deserialize)]
struct OpenKeys {
    keys: BTreeMap<String, OpenKey>,
}

#[derive(Deserialize)]
struct OpenKey {
    key_hex: String,
    value: String,
    last_txid: Option<String>,
}

#[derive(Deserialize)]
struct KeyedKeys {
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    hint: String,
    #[serde(default)]
    total: u64,
    #[serde(default)]
    items: BTreeMap<String, KeyedKey>,
}

#[derive(Deserialize)]
struct KeyedKey {
    hex: String,
    value_hex: String,
    last_txid: Option<String>,
}

/// Reads the requested key or a page of keys.
pub(super) async fn read(reader: &Reader, id: AlkaneId, typed: &Typed) -> Result<Storage, Failure> {
    let value = if typed.key.is_empty() { None } else { Some(value(reader, id, &typed.key).await?) };
    let page = PageOf::new(typed.page.as_deref(), ROWS);
    let address = format!("/explorer/contract/{id}?keys=");
    let keys = if page.offset() == 0 && !reader.is_signed_in() {
        // The first keys need no API key; one extra row shows whether there are more.
        let body = json!({ "alkane": id.to_string(), "limit": ROWS + 1 });
        let keys: Part<OpenKeys> = reader.part(Call::rest("get-keys", &body)).await?;
        keys.map(|keys| {
            let mut rows: Vec<(String, Row)> = keys
                .keys
                .into_values()
                .map(|key| (key.key_hex.clone(), Row::new(&key.key_hex, &key.value, key.last_txid.as_deref())))
                .collect();
            rows.sort_by(|one, other| one.0.cmp(&other.0));
            let count = rows.len() as u64;
            let mut links = page.links(&address, count, "#storage");
            if count > ROWS {
                links.shown = format!("the first {ROWS}");
            }
            Keys { rows: rows.into_iter().take(ROWS as usize).map(|(_, row)| row).collect(), links }
        })
    } else {
        let params = json!({ "alkane": id.to_string(), "limit": ROWS, "page": page.offset() / ROWS });
        let keys: Part<KeyedKeys> = reader.part(Call::keyed_rpc("espo", "essentials.get_keys", params)).await?;
        keys.and_then(|keys| if keys.ok { Ok(keys) } else { Err(text::clean(&keys.hint, 300)) }).map(|keys| {
            let mut items: Vec<KeyedKey> = keys.items.into_values().collect();
            items.sort_by(|one, other| one.hex.cmp(&other.hex));
            let row = |key: &KeyedKey| Row::new(&key.hex, &key.value_hex, key.last_txid.as_deref());
            Keys { rows: items.iter().map(row).collect(), links: page.links(&address, keys.total, "#storage") }
        })
    };
    Ok(Storage { value, keys })
}

async fn value(reader: &Reader, id: AlkaneId, key: &str) -> Result<Part<Reading>, Failure> {
    if key.len() > KEY_BYTES_MAX {
        return Ok(Err(format!("Key: at most {KEY_BYTES_MAX} bytes.")));
    }
    if key.starts_with("0x") && decode(key).is_none() {
        return Ok(Err("Key: after 0x stand hexadecimal digits, two for each byte.".to_owned()));
    }
    let params = json!([{ "id": id.to_string(), "path": key }]);
    let value: Part<String> = reader.part(Call::rpc("alkanes_getstorageat", params)).await?;
    Ok(value.map(|value| Reading::of_hex(&value)))
}

impl Row {
    fn new(key_hex: &str, value: &str, txid: Option<&str>) -> Self {
        let reading = Reading::of_hex(key_hex);
        let value = Reading::of_hex(value);
        let txid = txid.filter(|txid| txid.len() == 64 && txid.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Self {
            key: reading.text.as_deref().map_or_else(|| text::clean(key_hex, 48), |key| text::clean(key, 48)),
            address: encoded(&key_hex.chars().take(2 * KEY_BYTES_MAX + 2).collect::<String>()),
            value: value.line(),
            size: value.size,
            txid: txid.unwrap_or_default().to_owned(),
            short_txid: txid.map(text::short).unwrap_or_default(),
        }
    }
}
