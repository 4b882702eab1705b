//! The hash of a block's events, and the hash over all blocks so far, as OPI publishes them.

use bitcoin::hashes::{Hash as _, HashEngine as _, sha256};
use bitcoin::hex::DisplayHex as _;

use super::action::Brc20Event;

/// Between the events of a block.
const SEPARATOR: &str = "|";

/// Both hashes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHashes {
    /// SHA-256 of the block's event strings with `|` between them; that of nothing for a block without events.
    pub block: [u8; 32],
    /// SHA-256 of the cumulative hash before and the block's hash, both as lower-case hexadecimal text. The cumulative hash
    /// of the first block is its own.
    pub cumulative: [u8; 32],
}

impl BlockHashes {
    /// The hashes of a block after the block whose cumulative hash is `before`.
    pub fn of(before: Option<[u8; 32]>, events: &[Brc20Event]) -> Self {
        // One text at a time: thousands of events may name a script that is nearly as long as a block.
        let mut text = sha256::Hash::engine();
        for (index, event) in events.iter().enumerate() {
            if index > 0 {
                text.input(SEPARATOR.as_bytes());
            }
            text.input(event.canonical().as_bytes());
        }
        // No event string ends with the separator, so nothing but the last separator was ever cut off.
        let block = sha256::Hash::from_engine(text).to_byte_array();
        let cumulative = match before {
            None => block,
            Some(before) => {
                digest(format!("{}{}", before.to_lower_hex_string(), block.to_lower_hex_string()).as_bytes())
            }
        };
        Self { block, cumulative }
    }
}

pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    sha256::Hash::hash(bytes).to_byte_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_events_has_the_hash_of_nothing_and_still_moves_the_cumulative_hash() {
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let first = BlockHashes::of(None, &[]);
        assert_eq!(first.block.to_lower_hex_string(), nothing);
        assert_eq!(first.cumulative, first.block);
        let second = BlockHashes::of(Some(first.cumulative), &[]);
        assert_eq!(second.block, first.block);
        assert_eq!(second.cumulative, digest(format!("{nothing}{nothing}").as_bytes()));
    }
}
