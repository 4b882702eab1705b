//! The storage of a contract.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bitcoin::Txid;
use paraffin_alkanes::views::{self, ViewError};
use paraffin_alkanes::{Cursor, Page, StorageEntry};
use paraffin_amm::calls;
use paraffin_primitives::{AlkaneId, Height};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{AtHeight, LIMIT_MAX, Part, WALK_MAX};
use super::failure::{Failure, Refusal};
use super::holders::{alkane, unknown};
use super::{Espo, EspoMethod, read};
use paraffin_gateway::alkanes::{Moment, hex};
use paraffin_gateway::methods::{ByName, List, Natural, TextOrHex};
use paraffin_gateway::state::RequestContext;

/// Entries read from the index at once.
const PAGE: usize = 500;
/// Blocks whose traces are read for one answer, to find the transactions that stored the values.
const WRITER_BLOCKS_MAX: usize = 256;
/// Cached key counts at most, all of one block.
const COUNTED_MAX: usize = 4_096;

/// Cache of the number of keys of contracts, cleared with each block: counting costs a walk. A number above [`WALK_MAX`]
/// stands for all above it.
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

/// A page of a contract's storage, with the number of all keys.
struct StoragePage {
    entries: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    total: u64,
    /// The transaction that stored the value of a key, where a trace shows it.
    writers: HashMap<Vec<u8>, Txid>,
}

/// The storage of a contract, in the order of its keys' bytes.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// The contract's id `block:tx`.
    alkane: String,
    /// Answers these keys only, including those that do not exist.
    #[serde(rename = "keys")]
    wanted: Option<List<TextOrHex, { LIMIT_MAX as usize }>>,
    /// Whether to give keys and values as text where they are UTF-8; `true` when absent.
    try_decode_utf8: Option<bool>,
    /// Block to answer as of; the newest when absent.
    height: Option<AtHeight>,
    /// Page number, from 0; a page must begin within the first 100,000 keys.
    page: Option<Natural>,
    /// Keys of a page: 100 when absent, 10,000 at most.
    limit: Option<Natural>,
    /// Alias of `limit`, which takes precedence.
    size: Option<Natural>,
}

/// A page of a contract's storage.
#[derive(Serialize, JsonSchema)]
pub(super) struct KeysAnswer {
    ok: bool,
    alkane: String,
    page: u64,
    limit: u32,
    /// Number of keys on all pages; at most 100,000 is reported.
    total: u64,
    has_more: bool,
    /// By key, in hexadecimal digits after `0x`.
    items: ByName<KeyItem>,
}

/// A key and its value. Some values appear under several names, for different clients.
#[derive(Serialize, JsonSchema)]
struct KeyItem {
    hex: String,
    utf8: Option<String>,
    value_hex: String,
    value_utf8: Option<String>,
    /// The value as a little-endian number, where it has 1 to 16 bytes.
    value_u128: Option<String>,
    /// The transaction that stored the value, where a trace shows it.
    #[schemars(with = "Option<String>")]
    last_txid: Option<Txid>,
    key_hex: String,
    key_str: Option<String>,
    value_str: Option<String>,
}

impl EspoMethod for Keys {
    const NAME: &'static str = "essentials.get_keys";
    const ALIASES: &'static [&'static str] = &["get_keys"];
    const EXAMPLE: &'static str = r#"{"alkane":"2:0","keys":["/totalsupply"]}"#;
    type Answer = KeysAnswer;

    async fn answer(self, context: &RequestContext, espo: &Espo) -> Result<KeysAnswer, Failure> {
        let id = alkane(&self.alkane)?;
        let part = Part::read(self.page, self.limit, self.size)?;
        let decode = self.try_decode_utf8.unwrap_or(true);
        let wanted: Option<BTreeSet<Vec<u8>>> =
            self.wanted.map(|keys| keys.into_vec().into_iter().map(|key| key.0).collect());
        let counts = espo.counts.clone();
        let found = read(context, self.height.as_ref(), move |moment| {
            if moment.state.creation(id)?.is_none() {
                return Ok(Err(unknown(id)));
            }
            let found = match wanted {
                Some(keys) => Ok(named(moment, id, keys, part)?),
                None => listed(moment, id, part, &counts)?,
            };
            match found {
                Ok(mut found) => {
                    found.writers = writers(moment, id, &found.entries)?;
                    Ok(Ok(found))
                }
                refused => Ok(refused),
            }
        });
        let StoragePage { entries, total, writers } = found.await??;
        let has_more = part.has_more(entries.len(), total);
        let item = |(key, value): (Vec<u8>, Option<Vec<u8>>)| {
            (hex(&key), KeyItem::new(&key, value.as_deref(), writers.get(&key), decode))
        };
        let items = entries.into_iter().map(item).collect();
        Ok(KeysAnswer { alkane: id.to_string(), has_more, items, limit: part.limit, ok: true, page: part.page, total })
    }
}

/// The requested keys, including those that do not exist.
fn named(moment: &Moment<'_>, id: AlkaneId, keys: BTreeSet<Vec<u8>>, part: Part) -> Result<StoragePage, ViewError> {
    let total = keys.len() as u64;
    let mut budget = Budget::of(moment);
    let mut entries = Vec::new();
    for key in part.of(keys) {
        moment.check()?;
        let value = views::storage_at(id, &key, &moment.view)?;
        budget.take(key.len() + value.len())?;
        entries.push((key, (!value.is_empty()).then_some(value)));
    }
    Ok(StoragePage { entries, total, writers: HashMap::new() })
}

/// The transactions that stored these values: the last successful call, in the block of the value, whose response stores the
/// key. What a call stored before it called another contract appears in no trace.
fn writers(
    moment: &Moment<'_>,
    id: AlkaneId,
    entries: &[(Vec<u8>, Option<Vec<u8>>)],
) -> Result<HashMap<Vec<u8>, Txid>, ViewError> {
    let mut heights: BTreeMap<Height, HashMap<&[u8], &[u8]>> = BTreeMap::new();
    for (key, value) in entries {
        let Some(value) = value else { continue };
        if let Some(height) = moment.state.storage_written_at(id, key)? {
            heights.entry(height).or_default().insert(key, value);
        }
    }
    let mut writers = HashMap::new();
    // The newest blocks first, limited so that an answer does not take seconds.
    for (height, mut keys) in heights.into_iter().rev().take(WRITER_BLOCKS_MAX) {
        moment.check()?;
        for message in moment.state.each_block_trace(height)?.rev() {
            let message = message?;
            if !message.stands {
                continue;
            }
            for call in calls(&message.trace).iter().rev().filter(|call| call.stands && call.context.myself == id) {
                for (key, value) in call.response.iter().flat_map(|response| &response.storage) {
                    // Another value: the current one was stored later, by a call that appears in no trace.
                    if keys.remove(key.as_slice()).is_some_and(|current| current == value) {
                        writers.insert(key.clone(), message.outpoint.txid);
                    }
                }
            }
        }
    }
    Ok(writers)
}

/// A page of all keys, ordered by their bytes.
fn listed(
    moment: &Moment<'_>,
    id: AlkaneId,
    part: Part,
    counts: &KeyCounts,
) -> Result<Result<StoragePage, Refusal>, ViewError> {
    let of = (id, moment.view.height);
    let known = counts.get(moment.tip, of);
    let (count, found) = walk(part, known, Budget::of(moment), |after| {
        moment.check()?;
        Ok(moment.state.storage(id, b"", after, PAGE)?)
    })?;
    if known.is_none() {
        counts.put(moment.tip, of, count);
    }
    Ok(found.ok_or_else(|| {
        let hint = format!("pages begin within the first {WALK_MAX} keys; ask for keys by name");
        Refusal::new("page_too_far", hint)
    }))
}

/// Walks over the keys to the end of the page, or to the end of all keys while their number is unknown. Returns the number and
/// the page; no page when it begins beyond [`WALK_MAX`].
fn walk(
    part: Part,
    known: Option<u64>,
    mut budget: Budget,
    mut read: impl FnMut(Option<&Cursor>) -> Result<Page<StorageEntry>, ViewError>,
) -> Result<(u64, Option<StoragePage>), ViewError> {
    if let Some(count) = known.filter(|count| reported_count(*count) <= part.offset()) {
        let nothing = StoragePage { entries: Vec::new(), total: reported_count(count), writers: HashMap::new() };
        return Ok((count, (count <= WALK_MAX).then_some(nothing)));
    }
    let end = part.offset().saturating_add(u64::from(part.limit));
    let (mut entries, mut seen, mut after) = (Vec::new(), 0, None);
    loop {
        let page = read(after.as_ref())?;
        for (key, value) in page.items {
            if (part.offset()..end).contains(&seen) {
                budget.take(key.len() + value.len())?;
                entries.push((key, Some(value)));
            }
            seen += 1;
        }
        after = page.next;
        let count = match known {
            Some(count) => count,
            None if after.is_none() => seen,
            None if seen < WALK_MAX => continue,
            None => WALK_MAX + 1,
        };
        if count > WALK_MAX && part.offset() >= WALK_MAX {
            return Ok((count, None));
        }
        if after.is_none() || seen >= end {
            return Ok((count, Some(StoragePage { entries, total: reported_count(count), writers: HashMap::new() })));
        }
    }
}

/// A count as answers report it: at most [`WALK_MAX`].
fn reported_count(count: u64) -> u64 {
    count.min(WALK_MAX)
}

/// Bytes that may still be added to an answer.
struct Budget(usize);

impl Budget {
    fn of(moment: &Moment<'_>) -> Self {
        // A byte is written as two digits, in some members twice.
        Self(moment.view.limits.answer_bytes_max / 4)
    }

    fn take(&mut self, bytes: usize) -> Result<(), ViewError> {
        self.0 = self.0.checked_sub(bytes).ok_or(ViewError::TooLarge)?;
        Ok(())
    }
}

impl KeyItem {
    fn new(key: &[u8], value: Option<&[u8]>, writer: Option<&Txid>, decode: bool) -> Self {
        let text = |bytes: &[u8]| {
            if decode { std::str::from_utf8(bytes).ok().map(ToOwned::to_owned) } else { None }
        };
        let number = |bytes: &[u8]| {
            let mut wide = [0; 16];
            wide.get_mut(..bytes.len()).filter(|_| !bytes.is_empty())?.copy_from_slice(bytes);
            Some(u128::from_le_bytes(wide).to_string())
        };
        let (key_text, value_text) = (text(key), value.and_then(text));
        Self {
            hex: hex(key),
            key_hex: hex(key),
            key_str: key_text.clone(),
            last_txid: writer.copied(),
            utf8: key_text,
            value_hex: hex(value.unwrap_or_default()),
            value_str: value_text.clone(),
            value_u128: value.and_then(number),
            value_utf8: value_text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_up_to_sixteen_bytes_is_also_a_number() {
        let number = |value: &[u8]| KeyItem::new(b"/n", Some(value), None, true).value_u128;
        assert_eq!(number(&[0xff; 16]), Some(u128::MAX.to_string()));
        assert_eq!(number(&[1, 2]).as_deref(), Some("513"));
        assert_eq!((number(&[]), number(&[0; 17])), (None, None));
        let undecoded = KeyItem::new(b"/n", Some(b"a"), None, false);
        assert_eq!((undecoded.utf8, undecoded.value_utf8), (None, None));
    }

    /// Walks over a contract of `keys` keys; also returns the number of reads.
    fn walked(keys: u64, known: Option<u64>, part: Part) -> (u64, Option<(Vec<u64>, u64)>, usize) {
        let mut reads = 0;
        let (count, found) = walk(part, known, Budget(usize::MAX), |after| {
            reads += 1;
            let from = after.map_or(0, |after| u64::from_be_bytes(after.0[..].try_into().unwrap()) + 1);
            let to = (from + PAGE as u64).min(keys);
            let items = (from..to).map(|key| (key.to_be_bytes().to_vec(), Vec::new())).collect();
            Ok(Page { items, next: (to < keys).then(|| Cursor((to - 1).to_be_bytes().to_vec())) })
        })
        .unwrap();
        let numbers = |found: StoragePage| {
            let keys = found.entries.iter().map(|(key, _)| u64::from_be_bytes(key[..].try_into().unwrap()));
            (keys.collect(), found.total)
        };
        (count, found.map(numbers), reads)
    }

    #[test]
    fn a_page_costs_what_stands_before_it_and_no_walk_is_longer_than_its_bound() {
        for keys in [0, 1, 499, 500, 501, 99_999, WALK_MAX, WALK_MAX + 1, 250_000] {
            let (count, ..) = walked(keys, None, Part { page: 0, limit: 1 });
            assert_eq!(count, keys.min(WALK_MAX + 1), "{keys}");
            for (page, limit) in [(0, 3), (1, 500), (9, 10_000), (33_333, 3), (33_334, 3), (10, 10_000), (u64::MAX, 7)]
            {
                let part = Part { page, limit };
                let (_, first, reads) = walked(keys, None, part);
                let (_, again, fewer) = walked(keys, Some(count), part);
                assert_eq!(first, again, "{keys} {page} {limit}");
                assert!(fewer <= reads && reads as u64 <= (WALK_MAX + u64::from(limit)) / PAGE as u64 + 1);
                let is_far = keys > WALK_MAX && part.offset() >= WALK_MAX;
                let end = part.offset().saturating_add(u64::from(limit)).min(keys);
                let expected = (!is_far).then(|| ((part.offset()..end).collect(), keys.min(WALK_MAX)));
                assert_eq!(first, expected, "{keys} {page} {limit}");
            }
        }
        let (.., reads) = walked(90_000, Some(90_000), Part { page: 0, limit: 100 });
        assert_eq!(reads, 1);
        let (.., reads) = walked(90_000, Some(90_000), Part { page: 900, limit: 100 });
        assert_eq!(reads, 0);
    }

    #[test]
    fn counts_are_dropped_with_the_next_block_and_are_bounded() {
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
