//! The writes of a program in a block: `KeyValueFlush { repeated bytes list = 1 }`, keys and values in turn (protocol A2), and
//! the digest of it (protocol A13).

use std::collections::BTreeMap;

use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};
use sha2::{Digest, Sha256};

/// Number of the one field of the message.
const LIST: u32 = 1;

/// Keys that one block may write. The largest observed block writes 45,334.
pub const PAIRS_MAX: usize = 4 << 20;

/// Bytes of keys and values that one block may write, and never more than the program's memory may have. The largest
/// observed block writes 5.9 million.
pub const BYTES_MAX: usize = 512 << 20;

/// The bytes are no valid flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlushError {
    /// They are not the message.
    #[error("what the program flushes is not a list of keys and values: byte {at} of {len} cannot be read")]
    Malformed {
        /// Where reading ended.
        at: usize,
        /// Length of the message in bytes.
        len: usize,
    },
    /// They are too many.
    #[error("the program flushes more than {PAIRS_MAX} pairs")]
    TooMany,
    /// They are too large.
    #[error("the program flushes more than {0} bytes")]
    TooLarge(usize),
}

/// Keys and values that a block writes, each key once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flush {
    /// By key.
    pub pairs: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A flush under construction: a program may flush any number of times, so the writes so far are counted.
#[derive(Debug)]
pub(crate) struct Flushing {
    flush: Flush,
    bytes: usize,
    bytes_max: usize,
    pairs_max: usize,
}

impl Flushing {
    /// Nothing yet; in the end at most so many bytes, at most [`BYTES_MAX`], and at most [`PAIRS_MAX`] keys.
    pub(crate) fn within(bytes_max: u64) -> Self {
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX).min(BYTES_MAX);
        Self { flush: Flush::default(), bytes: 0, bytes_max, pairs_max: PAIRS_MAX }
    }

    /// Reads a message on top of those before: its values are the later ones.
    ///
    /// # Errors
    /// See [`FlushError`].
    pub(crate) fn add(&mut self, message: &[u8]) -> Result<(), FlushError> {
        let mut rest = message;
        let mut key = None;
        while !rest.is_empty() {
            let malformed = FlushError::Malformed { at: message.len() - rest.len(), len: message.len() };
            let element = element(&mut rest).ok_or(malformed)?;
            match key.take() {
                None => key = Some(element),
                Some(key) => self.put(key, element)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), FlushError> {
        let old = self.flush.pairs.get(key).map(Vec::len);
        let (known, freed) = old.map_or((0, 0), |len| (key.len(), len));
        let bytes = (self.bytes - known - freed).saturating_add(key.len()).saturating_add(value.len());
        if bytes > self.bytes_max {
            return Err(FlushError::TooLarge(self.bytes_max));
        }
        if old.is_none() && self.flush.pairs.len() >= self.pairs_max {
            return Err(FlushError::TooMany);
        }
        self.flush.pairs.insert(key.to_vec(), value.to_vec());
        self.bytes = bytes;
        Ok(())
    }

    /// Everything that was written.
    pub(crate) fn end(self) -> Flush {
        self.flush
    }
}

impl Flush {
    /// Reads a message. A key that stands there twice has its last value; a key without a value at the end is ignored.
    ///
    /// # Errors
    /// See [`FlushError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, FlushError> {
        let mut flushing = Flushing::within(bytes.len() as u64);
        flushing.add(bytes)?;
        Ok(flushing.end())
    }

    /// Writes the message.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes() as usize + 8 * self.pairs.len());
        for element in self.pairs.iter().flat_map(|(key, value)| [key, value]) {
            encode_key(LIST, WireType::LengthDelimited, &mut bytes);
            encode_varint(element.len() as u64, &mut bytes);
            bytes.extend_from_slice(element);
        }
        bytes
    }

    /// SHA-256 over the pairs in the order of their keys, each key and value with its length before it in four bytes, the
    /// lowest first.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for piece in self.pairs.iter().flat_map(|(key, value)| [key, value]) {
            digest.update((piece.len() as u32).to_le_bytes());
            digest.update(piece);
        }
        digest.finalize().into()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> u64 {
        self.pairs.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
    }
}

/// The next element of the list; other fields and other kinds of values are not part of the message.
fn element<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (LIST, WireType::LengthDelimited) = decode_key(rest).ok()? else { return None };
    let length = usize::try_from(decode_varint(rest).ok()?).ok()?;
    let (element, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flush(pairs: &[(&str, &str)]) -> Flush {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Flush { pairs: pairs.iter().map(|(key, value)| (bytes(key), bytes(value))).collect() }
    }

    #[test]
    fn pairs_are_taken_two_by_two_and_the_last_of_a_key_counts() {
        let message = b"\x0a\x01k\x0a\x01v\x0a\x01a\x0a\x00\x0a\x01k\x0a\x02ww\x0a\x03odd";
        assert_eq!(Flush::decode(message).unwrap(), flush(&[("a", ""), ("k", "ww")]));
        assert_eq!(Flush::decode(b"").unwrap(), Flush::default());
    }

    #[test]
    fn garbage_is_refused_with_its_place() {
        let cases: [(&[u8], usize); 6] = [
            (b"\x0a\x01k\x0a\x05v", 3),
            (b"\x0a", 0),
            (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0),
            (b"\x0a\xff\xff\xff\xff\x0fk", 0),
            (b"\x12\x01k", 0),
            (b"\x0a\x01k\x08\x01", 3),
        ];
        for (bytes, at) in cases {
            assert_eq!(Flush::decode(bytes), Err(FlushError::Malformed { at, len: bytes.len() }), "{bytes:?}");
        }
    }

    #[test]
    fn the_digest_is_over_sorted_pairs_with_their_lengths() {
        let by_hand = Sha256::digest(b"\x01\0\0\0a\0\0\0\0\x01\0\0\0k\x02\0\0\0ww");
        assert_eq!(flush(&[("k", "ww"), ("a", "")]).digest(), <[u8; 32]>::from(by_hand));
        assert_ne!(flush(&[("ka", "")]).digest(), flush(&[("k", "a")]).digest());
    }

    #[test]
    fn what_a_block_writes_is_bounded_over_all_its_messages() {
        let message = |key: u8, len: usize| Flush { pairs: BTreeMap::from([(vec![key], vec![7; len])]) }.encode();
        let mut flushing = Flushing::within(1000);
        // The same key again replaces its value.
        for _ in 0..5 {
            flushing.add(&message(1, 300)).unwrap();
        }
        flushing.add(&message(2, 500)).unwrap();
        let error = flushing.add(&message(3, 300)).unwrap_err();
        assert_eq!(error.to_string(), "the program flushes more than 1000 bytes");
        flushing.add(&message(1, 0)).unwrap();
        flushing.add(&message(3, 300)).unwrap();
        assert_eq!((flushing.bytes, flushing.end().bytes()), (803, 803));
        assert_eq!(Flushing::within(u64::MAX).bytes_max, BYTES_MAX);

        let mut flushing = Flushing { pairs_max: 3, ..Flushing::within(1000) };
        for key in [1, 2, 3, 2] {
            flushing.add(&message(key, 1)).unwrap();
        }
        assert_eq!(flushing.add(&message(4, 1)), Err(FlushError::TooMany));
    }

    proptest! {
        #[test]
        fn a_flush_comes_back(pairs: BTreeMap<Vec<u8>, Vec<u8>>) {
            let flush = Flush { pairs };
            prop_assert_eq!(Flush::decode(&flush.encode()).unwrap(), flush);
        }

        #[test]
        fn any_bytes_are_a_flush_or_an_error(bytes: Vec<u8>) {
            _ = Flush::decode(&bytes);
        }
    }
}
