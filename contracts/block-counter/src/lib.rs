//! An indexer program, not a contract: a host gives it one block at a time. It counts blocks and transactions and keeps headers.
//!
//! It writes two pairs for each block:
//!
//! ```text
//! /counts               blocks (8), transactions (8)
//! /header/ height (4)   the header (80)
//! ```
//!
//! The view `counts` answers the first value, the view `header` takes a height (4) and answers the header, or nothing. All
//! numbers have the lowest byte first.
#![cfg_attr(target_arch = "wasm32", no_std)]

#[cfg(target_arch = "wasm32")]
mod host;

/// Key of the counts.
pub const COUNTS: [u8; 7] = *b"/counts";
/// Bytes of a header.
pub const HEADER_LEN: usize = 80;
/// Bytes of what a block flushes: two keys and two values, each behind a tag and its length.
pub const FLUSH_LEN: usize = COUNTS.len() + 16 + HEADER_KEY_LEN + HEADER_LEN + 8;

const HEADER_KEY_LEN: usize = 12;
/// Tag of an element of the list.
const ELEMENT: u8 = 0x0a;

/// Key of a header.
pub fn header_key(height: [u8; 4]) -> [u8; HEADER_KEY_LEN] {
    let mut key = *b"/header/\0\0\0\0";
    key[8..].copy_from_slice(&height);
    key
}

/// What an input flushes, with the counts so far; `None` when it is not a height and a block.
pub fn index(input: &[u8], counts: [u8; 16]) -> Option<[u8; FLUSH_LEN]> {
    let (height, block) = input.split_first_chunk::<4>()?;
    let header = block.first_chunk::<HEADER_LEN>()?;
    let transactions = compact_size(&block[HEADER_LEN..])?;
    let (blocks, before) = (word(&counts[..8]).checked_add(1)?, word(&counts[8..]));
    let mut counts = [0; 16];
    counts[..8].copy_from_slice(&blocks.to_le_bytes());
    counts[8..].copy_from_slice(&before.checked_add(transactions)?.to_le_bytes());

    let mut flush = [0; FLUSH_LEN];
    let mut end = 0;
    for element in [&COUNTS[..], &counts, &header_key(*height), header] {
        flush[end] = ELEMENT;
        flush[end + 1] = element.len() as u8;
        end += 2;
        flush[end..end + element.len()].copy_from_slice(element);
        end += element.len();
    }
    Some(flush)
}

/// The number that a block says its transactions are.
fn compact_size(bytes: &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    match first {
        0xfd => rest.get(..2).map(word),
        0xfe => rest.get(..4).map(word),
        0xff => rest.get(..8).map(word),
        count => Some(u64::from(*count)),
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_raises_both_counts_and_leaves_its_header() {
        let mut input = vec![7, 0, 0, 0];
        input.extend([5; HEADER_LEN]);
        input.extend([0xfd, 2, 1, 9, 9]);
        let flush = index(&input, *b"\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0").unwrap();
        let expected = [
            &b"\x0a\x07/counts\x0a\x10\x02\0\0\0\0\0\0\0\x05\x01\0\0\0\0\0\0"[..],
            b"\x0a\x0c/header/\x07\0\0\0\x0a\x50",
            &[5; HEADER_LEN],
        ];
        assert_eq!(flush[..], expected.concat());
    }

    #[test]
    fn what_is_no_block_is_not_indexed() {
        assert_eq!(index(&[0; 84], [0; 16]), None);
        assert_eq!(index(&[], [0; 16]), None);
        assert_eq!(index(&[0; 85], [0xff; 16]), None);
    }
}
