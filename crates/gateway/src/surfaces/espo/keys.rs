//! The storage of a contract.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bitcoin::hex::FromHex as _;
use paraffin_alkanes::StorageEntry;
use paraffin_alkanes::views::{self, ViewError};
use paraffin_primitives::{AlkaneId, Height};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::ask::{Ask, LIMIT_MAX, Part, WALK_MAX};
use super::failure::Refusal;
use super::holders::unknown;
use super::{Outcome, read, to_raw};
use crate::alkanes::{Moment, hex};
use crate::errors::RpcError;
use crate::state::RequestContext;

/// Entries read from the index at once.
const PAGE: usize = 500;
/// Contracts whose keys have been counted, of one block.
const COUNTED_MAX: usize = 4_096;

/// How many keys contracts have, as counted since the newest block: counting costs a walk.
#[derive(Clone, Default)]
pub(super) struct KeyCounts(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    tip: [u8; 32],
    counts: HashMap<(AlkaneId, Height), u64>,
}

impl KeyCounts {
    fn get(&self, tip: [u8; 32], of: (AlkaneId, Height)) -> Option<u64> {
        let counted = self.0.lock();
        (counted.tip == tip).then(|| counted.counts.get(&of).copied()).flatten()
    }

    fn put(&self, tip: [u8; 32], of: (AlkaneId, Height), count: u64) {
        let mut counted = self.0.lock();
        if counted.tip != tip || counted.counts.len() >= COUNTED_MAX {
            *counted = Counted { tip, counts: HashMap::new() };
        }
        counted.counts.insert(of, count);
    }
}

/// Some of a contract's storage and how much there is.
struct Found {
    entries: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    total: u64,
}

/// `get_keys`
pub(super) async fn page(context: &RequestContext, ask: &Ask, counts: &KeyCounts) -> Outcome {
    let id = ask.id("alkane", "missing_or_invalid_alkane")?;
    let part = ask.part()?;
    let decode = ask.flag("try_decode_utf8", true)?;
    let wanted = wanted(ask)?;
    let counts = counts.clone();
    let found = read(context, ask, move |moment| {
        if moment.state.creation(id)?.is_none() {
            return Ok(Err(unknown(id)));
        }
        match wanted {
            Some(keys) => named(moment, id, keys, part).map(Ok),
            None => listed(moment, id, part, &counts),
        }
    });
    let Found { entries, total } = found.await??;
    let count = entries.len();
    let mut items = Map::new();
    for (key, value) in entries {
        let key_hex = hex(&key);
        let item = item(&key, &key_hex, value.as_deref(), decode);
        items.insert(key_hex, item);
    }
    Ok(to_raw(&json!({
        "ok": true,
        "alkane": id.to_string(),
        "page": part.page,
        "limit": part.limit,
        "total": total,
        "has_more": part.has_more(count, total),
        "items": items,
    }))?)
}

/// The member `keys`: text, or bytes in hexadecimal digits after `0x`.
fn wanted(ask: &Ask) -> Result<Option<BTreeSet<Vec<u8>>>, RpcError> {
    let wrong = |what: &str| RpcError::invalid_params(format!("keys must be {what}"));
    let Some(keys) = ask.member("keys") else { return Ok(None) };
    let keys = keys.as_array().ok_or_else(|| wrong("an array of strings"))?;
    if keys.len() > LIMIT_MAX as usize {
        return Err(wrong("at most 10,000"));
    }
    let key = |key: &Value| {
        let text = key.as_str().ok_or_else(|| wrong("an array of strings"))?;
        match text.strip_prefix("0x") {
            None => Ok(text.as_bytes().to_vec()),
            Some(digits) => Vec::from_hex(digits).map_err(|_| wrong("text, or hexadecimal digits after 0x")),
        }
    };
    keys.iter().map(key).collect::<Result<_, _>>().map(Some)
}

/// The keys that were asked for by name, also those that are not there.
fn named(moment: &Moment<'_>, id: AlkaneId, keys: BTreeSet<Vec<u8>>, part: Part) -> Result<Found, ViewError> {
    let total = keys.len() as u64;
    let mut budget = Budget::of(moment);
    let mut entries = Vec::new();
    for key in part.of(keys) {
        moment.check()?;
        let value = views::storage_at(id, &key, &moment.view)?;
        budget.take(key.len() + value.len())?;
        entries.push((key, (!value.is_empty()).then_some(value)));
    }
    Ok(Found { entries, total })
}

/// A page of all keys in the order of their bytes.
fn listed(
    moment: &Moment<'_>,
    id: AlkaneId,
    part: Part,
    counts: &KeyCounts,
) -> Result<Result<Found, Refusal>, ViewError> {
    let counted = counts.get(moment.tip, (id, moment.view.height));
    let too_far = || {
        let hint = format!("pages begin within the first {WALK_MAX} keys; ask for keys by name");
        Ok(Err(Refusal::new("page_too_far", hint)))
    };
    if let Some(total) = counted.filter(|total| *total <= part.offset()) {
        return if total >= WALK_MAX { too_far() } else { Ok(Ok(Found { entries: Vec::new(), total })) };
    }
    let end = part.offset().saturating_add(u64::from(part.limit));
    let mut budget = Budget::of(moment);
    let (mut entries, mut seen, mut after) = (Vec::new(), 0, None);
    loop {
        moment.check()?;
        let page = moment.state.storage(id, b"", after.as_ref(), PAGE)?;
        for (key, value) in page.items as Vec<StorageEntry> {
            if (part.offset()..end).contains(&seen) {
                budget.take(key.len() + value.len())?;
                entries.push((key, Some(value)));
            }
            seen += 1;
        }
        after = page.next;
        if after.is_none() {
            let total = seen.min(WALK_MAX);
            counts.put(moment.tip, (id, moment.view.height), total);
            return Ok(Ok(Found { entries, total }));
        }
        if let Some(total) = counted.filter(|_| seen >= end) {
            return Ok(Ok(Found { entries, total }));
        }
        if seen >= WALK_MAX && part.offset() >= WALK_MAX {
            return too_far();
        }
        if seen >= WALK_MAX && seen >= end {
            counts.put(moment.tip, (id, moment.view.height), WALK_MAX);
            return Ok(Ok(Found { entries, total: WALK_MAX }));
        }
    }
}

/// Bytes that may still go into an answer.
struct Budget(usize);

impl Budget {
    fn of(moment: &Moment<'_>) -> Self {
        // Bytes are written as two digits, some of them twice.
        Self(moment.view.limits.answer_bytes_max / 4)
    }

    fn take(&mut self, bytes: usize) -> Result<(), ViewError> {
        self.0 = self.0.checked_sub(bytes).ok_or(ViewError::TooLarge)?;
        Ok(())
    }
}

fn item(key: &[u8], key_hex: &str, value: Option<&[u8]>, decode: bool) -> Value {
    let text = |bytes: &[u8]| {
        if decode { std::str::from_utf8(bytes).ok().map(ToOwned::to_owned) } else { None }
    };
    let number = |bytes: &[u8]| {
        let mut wide = [0; 16];
        wide.get_mut(..bytes.len()).filter(|_| !bytes.is_empty())?.copy_from_slice(bytes);
        Some(u128::from_le_bytes(wide).to_string())
    };
    let key_text = text(key);
    let value_text = value.and_then(text);
    json!({
        "hex": key_hex,
        "utf8": key_text,
        "value_hex": hex(value.unwrap_or_default()),
        "value_utf8": value_text,
        "value_u128": value.and_then(number),
        "last_txid": null,
        "key_hex": key_hex,
        "key_str": key_text,
        "value_str": value_text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_up_to_sixteen_bytes_is_also_a_number() {
        let told = |value: &[u8]| item(b"/n", "0x2f6e", Some(value), true)["value_u128"].clone();
        assert_eq!(told(&[0xff; 16]), u128::MAX.to_string());
        assert_eq!(told(&[1, 2]), "513");
        assert_eq!((told(&[]), told(&[0; 17])), (Value::Null, Value::Null));
        let undecoded = item(b"/n", "0x2f6e", Some(b"a"), false);
        assert_eq!((&undecoded["utf8"], &undecoded["value_utf8"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn counts_are_forgotten_with_the_next_block_and_never_grow_beyond_their_room() {
        let counts = KeyCounts::default();
        let id = |tx| AlkaneId { block: 2, tx };
        counts.put([1; 32], (id(0), 5), 7);
        assert_eq!(counts.get([1; 32], (id(0), 5)), Some(7));
        assert_eq!((counts.get([2; 32], (id(0), 5)), counts.get([1; 32], (id(0), 4))), (None, None));
        for tx in 0..2 * COUNTED_MAX as u128 {
            counts.put([2; 32], (id(tx), 5), 1);
        }
        assert!(counts.0.lock().counts.len() <= COUNTED_MAX);
    }
}
