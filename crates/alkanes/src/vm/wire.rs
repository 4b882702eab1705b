//! The binary forms that cross the border between host and contract (protocol B9).

use std::ops::Range;

use paraffin_primitives::AlkaneId;

use super::stop::Stop;
use crate::codec::Cellpack;
use crate::trace_log::TraceContextRef;
use crate::{CallResponse, Transfer};

/// First bytes of the data of a response that states why it failed (protocol B6, B9).
pub(crate) const REVERT_SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// Bytes of an id: two integers of 128 bits (protocol 0).
const ID_LEN_BYTES: usize = 32;

/// Fewest bytes of one pair of a storage map: two lengths (protocol B9).
const PAIR_LEN_MIN_BYTES: usize = 8;

/// Data that state why a call failed.
pub(crate) fn revert_data(text: &str) -> Vec<u8> {
    [&REVERT_SELECTOR[..], text.as_bytes()].concat()
}

/// The 32 bytes of an id (protocol 0).
pub(crate) fn id_bytes(id: AlkaneId) -> [u8; ID_LEN_BYTES] {
    let mut bytes = [0; ID_LEN_BYTES];
    bytes[..16].copy_from_slice(&id.block.to_le_bytes());
    bytes[16..].copy_from_slice(&id.tx.to_le_bytes());
    bytes
}

/// The id of exactly 32 bytes; `None` for any other length.
pub(crate) fn id_of(bytes: &[u8]) -> Option<AlkaneId> {
    let (block, tx) = bytes.split_at_checked(16)?;
    Some(AlkaneId { block: u128::from_le_bytes(block.try_into().ok()?), tx: u128::from_le_bytes(tx.try_into().ok()?) })
}

/// Reads from the front of a buffer that a contract wrote.
struct Reader<'b> {
    buffer: &'b [u8],
    position: usize,
}

impl<'b> Reader<'b> {
    const fn new(buffer: &'b [u8]) -> Self {
        Self { buffer, position: 0 }
    }

    /// Of a part of a storage map, which has its length in front.
    fn part(&mut self, what: &str) -> Result<Range<usize>, Stop> {
        let len = self.len()?;
        if len > self.rest().len() {
            return Err(Stop::Revert(format!("StorageMap: {what} length {len} exceeds remaining input")));
        }
        self.range(len)
    }

    fn range(&mut self, len: usize) -> Result<Range<usize>, Stop> {
        let end = self.position.checked_add(len).filter(|end| *end <= self.buffer.len());
        let end = end.ok_or_else(|| Stop::revert("failed to fill whole buffer"))?;
        Ok(std::mem::replace(&mut self.position, end)..end)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN], Stop> {
        let range = self.range(LEN)?;
        Ok(self.buffer[range].try_into().expect("the range has this length"))
    }

    fn word(&mut self) -> Result<u128, Stop> {
        self.array().map(u128::from_le_bytes)
    }

    fn len(&mut self) -> Result<usize, Stop> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn id(&mut self) -> Result<AlkaneId, Stop> {
        Ok(AlkaneId { block: self.word()?, tx: self.word()? })
    }

    fn rest(&self) -> &'b [u8] {
        &self.buffer[self.position..]
    }

    /// No memory is reserved for the count: every transfer is read before it is stored.
    fn parcel(&mut self) -> Result<Vec<Transfer>, Stop> {
        let count = self.word()?;
        let mut transfers = Vec::new();
        while (transfers.len() as u128) < count {
            transfers.push(Transfer { id: self.id()?, value: self.word()? });
        }
        Ok(transfers)
    }

    fn storage(&mut self) -> Result<Pairs, Stop> {
        let count = self.len()?;
        if count > self.rest().len() / PAIR_LEN_MIN_BYTES {
            return Err(Stop::Revert(format!("StorageMap: entry count {count} exceeds remaining input")));
        }
        let mut pairs = Vec::with_capacity(count);
        for _ in 0..count {
            pairs.push((self.part("key")?, self.part("value")?));
        }
        Ok(Pairs::sorted(self.buffer, pairs))
    }
}

/// Pairs of a storage map as ranges of its buffer, sorted by key, each key once: the last one written.
///
/// A contract can name millions of pairs for nothing: they become keys and values only when they have been paid for.
#[derive(PartialEq)]
pub(crate) struct Pairs {
    ranges: Vec<(Range<usize>, Range<usize>)>,
}

impl Pairs {
    fn sorted(buffer: &[u8], mut ranges: Vec<(Range<usize>, Range<usize>)>) -> Self {
        ranges.sort_by(|(left, _), (right, _)| buffer[left.clone()].cmp(&buffer[right.clone()]));
        // The sort is stable, so among equal keys the last one written stands last and replaces the first.
        ranges.dedup_by(|later, earlier| {
            let same = buffer[later.0.clone()] == buffer[earlier.0.clone()];
            if same {
                earlier.1 = later.1.clone();
            }
            same
        });
        Self { ranges }
    }

    /// Length of the map as the reference would write it, in bytes: the charged length (protocol B9).
    fn serialized_len(&self) -> u64 {
        let pairs = self.ranges.iter().map(|(key, value)| (PAIR_LEN_MIN_BYTES + key.len() + value.len()) as u64);
        4 + pairs.sum::<u64>()
    }

    fn take(&self, buffer: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let pairs = self.ranges.iter();
        pairs.map(|(key, value)| (buffer[key.clone()].to_vec(), buffer[value.clone()].to_vec())).collect()
    }
}

/// The answer of `__execute`, before its storage is charged (protocol B9).
#[derive(PartialEq)]
pub(crate) struct RawResponse {
    pub(crate) data: ReturnedData,
    alkanes: Vec<Transfer>,
    storage: Pairs,
}

/// The data of a response: the end of what the contract wrote, which can be all of its memory and is copied out of it once.
#[derive(PartialEq)]
pub(crate) struct ReturnedData {
    buffer: Vec<u8>,
    start: usize,
}

impl ReturnedData {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

impl RawResponse {
    /// Pairs that its storage map names, as [`RawStorage::pairs_named`].
    pub(crate) fn pairs_named(buffer: &[u8]) -> usize {
        let mut reader = Reader::new(buffer);
        if reader.parcel().is_err() {
            return 0;
        }
        RawStorage::pairs_named(&buffer[reader.position..])
    }

    /// Parcel, storage map, data.
    pub(crate) fn parse(buffer: Vec<u8>) -> Result<Self, Stop> {
        let mut reader = Reader::new(&buffer);
        let alkanes = reader.parcel()?;
        let storage = reader.storage()?;
        let start = reader.position;
        Ok(Self { data: ReturnedData { buffer, start }, alkanes, storage })
    }

    /// Length of all that the contract wrote, in bytes.
    pub(crate) fn buffer_len(&self) -> usize {
        self.data.buffer.len()
    }

    /// Returned alkanes, as written.
    pub(crate) fn alkanes(&self) -> &[Transfer] {
        &self.alkanes
    }

    /// Length of the storage map, in bytes, that is charged (protocol B9).
    pub(crate) fn storage_len(&self) -> u64 {
        self.storage.serialized_len()
    }

    /// The response without its data, and the data.
    pub(crate) fn into_parts(self) -> (CallResponse, ReturnedData) {
        let storage = self.storage.take(&self.data.buffer);
        (CallResponse { alkanes: self.alkanes, storage, data: Vec::new() }, self.data)
    }

    /// The response with its data.
    pub(crate) fn into_response(self) -> CallResponse {
        let (response, data) = self.into_parts();
        CallResponse { data: data.bytes().to_vec(), ..response }
    }
}

/// A storage map handed to an extcall, not yet paid for.
pub(crate) struct RawStorage {
    buffer: Vec<u8>,
    pairs: Pairs,
}

impl RawStorage {
    /// Pairs that a storage map names: they are sorted before anything of them is paid for.
    pub(crate) fn pairs_named(buffer: &[u8]) -> usize {
        let named = Reader::new(buffer).len().unwrap_or(0);
        named.min(buffer.len() / PAIR_LEN_MIN_BYTES)
    }

    pub(crate) fn parse(buffer: Vec<u8>) -> Result<Self, Stop> {
        let pairs = Reader::new(&buffer).storage()?;
        Ok(Self { buffer, pairs })
    }

    /// Length as written, trailing bytes included: the charged length of an extcall (protocol B11.7).
    pub(crate) fn len(&self) -> u64 {
        self.buffer.len() as u64
    }

    pub(crate) fn into_pairs(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.pairs.take(&self.buffer)
    }
}

/// A cellpack as contracts write it: words; bytes after the last whole word are dropped (protocol B9).
pub(crate) fn parse_cellpack(buffer: &[u8]) -> Result<Cellpack, Stop> {
    let mut reader = Reader::new(buffer);
    let target = reader.id()?;
    let inputs = std::iter::from_fn(|| reader.word().ok()).collect();
    Ok(Cellpack { target, inputs })
}

/// An id as contracts write it; further bytes are ignored.
pub(crate) fn parse_id(buffer: &[u8]) -> Result<AlkaneId, Stop> {
    Reader::new(buffer).id()
}

/// A parcel of transfers; further bytes are ignored.
pub(crate) fn parse_parcel(buffer: &[u8]) -> Result<Vec<Transfer>, Stop> {
    Reader::new(buffer).parcel()
}

/// The return data of `__returndatacopy`: parcel and data (protocol B9, B11).
#[derive(Default)]
pub(crate) struct Returndata {
    parcel: Vec<u8>,
    data: Option<ReturnedData>,
}

impl Returndata {
    pub(crate) fn new(alkanes: &[Transfer], data: ReturnedData) -> Self {
        let mut parcel = Vec::with_capacity(16 + 48 * alkanes.len());
        append_parcel(alkanes, &mut parcel);
        Self { parcel, data: Some(data) }
    }

    /// Length of both, bytes.
    pub(crate) fn len(&self) -> usize {
        self.parcel.len() + self.data.as_ref().map_or(0, |data| data.bytes().len())
    }

    /// Both, one after the other.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [&self.parcel, self.data.as_ref().map_or(&[], ReturnedData::bytes)]
    }
}

impl From<Vec<u8>> for ReturnedData {
    fn from(buffer: Vec<u8>) -> Self {
        Self { buffer, start: 0 }
    }
}

/// The context of `__load_context` (protocol B9).
pub(crate) fn context(context: &TraceContextRef<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 * (6 + 3 * context.incoming.len() + context.inputs.len()));
    bytes.extend_from_slice(&id_bytes(context.myself));
    bytes.extend_from_slice(&id_bytes(context.caller));
    bytes.extend_from_slice(&u128::from(context.vout).to_le_bytes());
    append_parcel(context.incoming, &mut bytes);
    for input in context.inputs {
        bytes.extend_from_slice(&input.to_le_bytes());
    }
    bytes
}

fn append_parcel(alkanes: &[Transfer], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(alkanes.len() as u128).to_le_bytes());
    for transfer in alkanes {
        bytes.extend_from_slice(&id_bytes(transfer.id));
        bytes.extend_from_slice(&transfer.value.to_le_bytes());
    }
}

/// The bytes of an `ArrayBuffer`: the length stands in the four bytes before its pointer (protocol A2, B9).
pub(crate) fn array_buffer(memory: &[u8], pointer: i32) -> Result<&[u8], Stop> {
    let start = usize::try_from(pointer).map_err(|_| Stop::revert("invalid start offset"))?;
    let prefix = start.checked_sub(4).and_then(|prefix| memory.get(prefix..start)?.try_into().ok());
    let prefix: [u8; 4] = prefix.ok_or_else(|| Stop::revert("failed to read length prefix"))?;
    let end = start + u32::from_le_bytes(prefix) as usize;
    memory.get(start..end).ok_or_else(|| Stop::revert("invalid buffer range"))
}

#[cfg(test)]
mod tests;
