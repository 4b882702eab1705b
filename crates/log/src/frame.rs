//! One record as bytes: `[len u32][crc32 u32][seq u64][payload]`, big-endian; the checksum covers all but itself.

/// Greatest payload that the format allows, bytes.
pub const PAYLOAD_LEN_MAX: usize = 16 * 1024 * 1024;

/// Bytes before the payload.
pub(crate) const HEAD_LEN: usize = 16;

/// The head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) len: usize,
    pub(crate) crc: u32,
    pub(crate) seq: u64,
}

impl Head {
    /// Reads a head; `None` when the length is beyond the format.
    pub(crate) fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let number = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let len = number(0) as usize;
        let seq = u64::from(number(8)) << 32 | u64::from(number(12));
        (len <= PAYLOAD_LEN_MAX).then(|| Self { len, crc: number(4), seq })
    }

    /// Whether the checksum fits.
    pub(crate) fn matches(&self, payload: &[u8]) -> bool {
        payload.len() == self.len && self.crc == checksum(self.len as u32, self.seq, payload)
    }
}

/// Adds a record to `out`.
pub(crate) fn encode(out: &mut Vec<u8>, seq: u64, payload: &[u8]) {
    let len = payload.len() as u32;
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(&checksum(len, seq, payload).to_be_bytes());
    out.extend_from_slice(&seq.to_be_bytes());
    out.extend_from_slice(payload);
}

fn checksum(len: u32, seq: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&len.to_be_bytes());
    hasher.update(&seq.to_be_bytes());
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut bytes = Vec::new();
        encode(&mut bytes, 0x0102_0304_0506_0708, b"payload");
        let decode = |bytes: &[u8]| {
            let head = Head::decode(bytes.first_chunk().unwrap())?;
            head.matches(&bytes[HEAD_LEN..]).then_some(head.seq)
        };
        assert_eq!(decode(&bytes), Some(0x0102_0304_0506_0708));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&damaged), None, "bit {bit}");
        }
    }
}
