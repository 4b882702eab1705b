use std::fmt;

use bitcoin::hashes::{Hash as _, sha256};

/// The sum of the events of a block: the first 8 bytes of SHA-256 of the text of each, as numbers whose highest byte comes first, added
/// modulo 2^64. As text 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum(pub u64);

impl Checksum {
    /// Adds an event by its text as it is sent.
    pub fn add(&mut self, text: &str) {
        let digest = sha256::Hash::hash(text.as_bytes()).to_byte_array();
        // A digest has 32 bytes.
        let head = digest.first_chunk().map_or(0, |head| u64::from_be_bytes(*head));
        self.0 = self.0.wrapping_add(head);
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl serde::Serialize for Checksum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of `abc` begins with ba7816bf8f01cfea, that of the empty text with e3b0c44298fc1c14.
    #[test]
    fn the_sum_is_that_of_the_documentation() {
        let mut sum = Checksum::default();
        assert_eq!(sum.to_string(), "0000000000000000");
        sum.add("abc");
        assert_eq!(sum.to_string(), "ba7816bf8f01cfea");
        sum.add("");
        assert_eq!(sum.0, 0xba78_16bf_8f01_cfea_u64.wrapping_add(0xe3b0_c442_98fc_1c14));
    }
}
