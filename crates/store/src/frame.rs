//! Frames of rows as bytes, in snapshot files and in the redo file of a sorted run.

/// Length of a frame's head: keyspace, number, rows, length, checksum.
pub(crate) const HEAD_LEN: usize = 1 + 8 + 4 + 4 + 4;
/// A frame ends with the row that takes it past this length.
pub(crate) const PAYLOAD_TARGET: usize = 1024 * 1024;
/// Longest payload: the target, and one row with the greatest key and value.
pub(crate) const PAYLOAD_MAX: usize = PAYLOAD_TARGET + crate::VALUE_LEN_MAX + KEY_MAX + 64;
/// Longest key of the engine: escaped to at most twice the greatest key, with prefix, end and height.
pub(crate) const KEY_MAX: usize = 2 * crate::KEY_LEN_MAX + 16;
/// Keyspace number of the last frame.
pub(crate) const END: u8 = u8::MAX;

/// The first part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) space: u8,
    pub(crate) number: u64,
    pub(crate) rows: u32,
    pub(crate) len: u32,
    checksum: u32,
}

impl Head {
    pub(crate) fn new(space: u8, number: u64, rows: u32, payload: &[u8]) -> Self {
        let mut head = Self { space, number, rows, len: payload.len() as u32, checksum: 0 };
        head.checksum = head.checksum_of(payload);
        head
    }

    fn checksum_of(&self, payload: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.encode()[..HEAD_LEN - 4]);
        hasher.update(payload);
        hasher.finalize()
    }

    pub(crate) fn fits(&self, payload: &[u8]) -> bool {
        self.checksum == self.checksum_of(payload)
    }

    pub(crate) fn encode(&self) -> [u8; HEAD_LEN] {
        let mut out = [0; HEAD_LEN];
        out[0] = self.space;
        out[1..9].copy_from_slice(&self.number.to_be_bytes());
        out[9..13].copy_from_slice(&self.rows.to_be_bytes());
        out[13..17].copy_from_slice(&self.len.to_be_bytes());
        out[17..].copy_from_slice(&self.checksum.to_be_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; HEAD_LEN]) -> Self {
        let four = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            space: bytes[0],
            number: (u64::from(four(1)) << 32) | u64::from(four(5)),
            rows: four(9),
            len: four(13),
            checksum: four(17),
        }
    }
}

/// Collects rows of one keyspace, sorted by key; what a key shares with the one before is not repeated.
#[derive(Default)]
pub(crate) struct RowWriter {
    pub(crate) payload: Vec<u8>,
    pub(crate) rows: u32,
    last: Vec<u8>,
}

impl RowWriter {
    pub(crate) fn row(&mut self, key: &[u8], value: &[u8]) {
        self.key(key);
        push_number(&mut self.payload, value.len());
        self.payload.extend_from_slice(value);
    }

    /// A row that is set, or removed when there is no value.
    pub(crate) fn change(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.key(key);
        push_number(&mut self.payload, value.map_or(0, |value| value.len() + 1));
        self.payload.extend_from_slice(value.unwrap_or_default());
    }

    fn key(&mut self, key: &[u8]) {
        let shared = self.last.iter().zip(key).take_while(|(left, right)| left == right).count();
        push_number(&mut self.payload, shared);
        push_number(&mut self.payload, key.len() - shared);
        self.payload.extend_from_slice(&key[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.rows += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.payload.clear();
        self.last.clear();
        self.rows = 0;
    }
}

/// Iterates over the rows of a payload.
pub(crate) struct RowReader<'a> {
    rest: &'a [u8],
    key: Vec<u8>,
}

impl<'a> RowReader<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload, key: Vec::new() }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next row; `None` when the bytes are not a row.
    pub(crate) fn next(&mut self) -> Option<(&[u8], &'a [u8])> {
        self.next_key()?;
        let len = self.number()?;
        let value = self.take(len)?;
        Some((&self.key, value))
    }

    /// The next row that [`RowWriter::change`] wrote; `None` when the bytes are not one.
    pub(crate) fn next_change(&mut self) -> Option<(&[u8], Option<&'a [u8]>)> {
        self.next_key()?;
        let value = match self.number()? {
            0 => None,
            more => Some(self.take(more - 1)?),
        };
        Some((&self.key, value))
    }

    fn next_key(&mut self) -> Option<()> {
        let shared = self.number()?;
        let len = self.number()?;
        if shared > self.key.len() || shared + len > KEY_MAX {
            return None;
        }
        self.key.truncate(shared);
        let suffix = self.take(len)?;
        self.key.extend_from_slice(suffix);
        Some(())
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    /// Seven bits to a byte, the low ones first; at most five bytes.
    fn number(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn push_number(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_every_cut_is_refused() {
        let rows: Vec<(Vec<u8>, Vec<u8>)> = vec![
            (vec![1], vec![]),
            (vec![1, 2, 3], vec![9; 300]),
            (vec![1, 2, 4], vec![0]),
            (vec![7; 200], vec![8; 20_000]),
        ];
        let mut writer = RowWriter::default();
        for (key, value) in &rows {
            writer.row(key, value);
        }
        assert_eq!(writer.rows, 4);
        let read = |payload: &[u8]| {
            let mut reader = RowReader::new(payload);
            let mut found = Vec::new();
            while !reader.is_at_end() {
                let (key, value) = reader.next()?;
                found.push((key.to_vec(), value.to_vec()));
            }
            Some(found)
        };
        assert_eq!(read(&writer.payload).unwrap(), rows);
        for len in 0..writer.payload.len() {
            assert_ne!(read(&writer.payload[..len]).as_ref(), Some(&rows), "{len}");
        }
        // More shared bytes than the key before has, and a length that never ends.
        assert_eq!(read(&[3, 0, 0]), None);
        assert_eq!(read(&[0xff; 9]), None);
    }

    #[test]
    fn a_head_comes_back() {
        let head = Head::new(3, u64::MAX - 5, 77, b"payload");
        assert_eq!(Head::decode(&head.encode()), head);
        assert!(head.fits(b"payload") && !head.fits(b"paylaod"));
    }
}
