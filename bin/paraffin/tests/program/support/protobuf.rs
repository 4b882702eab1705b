//! Protobuf messages written and read field by field, so that the tests do not share the program's own types.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

/// A message that is being written.
#[derive(Debug, Clone, Default)]
pub struct Message(pub Vec<u8>);

fn append_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Message {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn number(mut self, field: u32, value: u64) -> Self {
        append_varint(u64::from(field) << 3, &mut self.0);
        append_varint(value, &mut self.0);
        self
    }

    pub fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        append_varint(u64::from(field) << 3 | 2, &mut self.0);
        append_varint(value.len() as u64, &mut self.0);
        self.0.extend_from_slice(value);
        self
    }

    pub fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// An integer of 128 bits in its two halves.
    pub fn wide(value: u128) -> Self {
        Self::new().number(1, value as u64).number(2, (value >> 64) as u64)
    }

    /// The id of a contract.
    pub fn id(block: u128, tx: u128) -> Self {
        Self::new().message(1, &Self::wide(block)).message(2, &Self::wide(tx))
    }

    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

/// `0x` and two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    format!("0x{}", HEXLOWER.encode(bytes))
}

/// The bytes of hexadecimal digits, `0x` before them or not.
pub fn unhex(text: &str) -> Vec<u8> {
    HEXLOWER_PERMISSIVE.decode(text.strip_prefix("0x").unwrap_or(text).as_bytes()).unwrap()
}

/// Integers in the order of their fields' appearance, and what has a length.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    numbers: Vec<(u32, u64)>,
    bytes: Vec<(u32, Vec<u8>)>,
}

impl Fields {
    pub fn read(mut message: &[u8]) -> Self {
        let mut fields = Self::default();
        while !message.is_empty() {
            let key = take_varint(&mut message);
            let field = (key >> 3) as u32;
            match key & 7 {
                0 => fields.numbers.push((field, take_varint(&mut message))),
                2 => {
                    let length = take_varint(&mut message) as usize;
                    let (value, rest) = message.split_at(length);
                    fields.bytes.push((field, value.to_vec()));
                    message = rest;
                }
                other => panic!("wire type {other}"),
            }
        }
        fields
    }

    /// Of hexadecimal digits.
    pub fn of(text: &str) -> Self {
        Self::read(&unhex(text))
    }

    /// Absent is 0.
    pub fn number(&self, field: u32) -> u64 {
        self.numbers.iter().find(|(known, _)| *known == field).map_or(0, |(_, value)| *value)
    }

    /// Absent is empty.
    pub fn bytes(&self, field: u32) -> Vec<u8> {
        self.all(field).next().unwrap_or_default()
    }

    pub fn all(&self, field: u32) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.bytes.iter().filter(move |(known, _)| *known == field).map(|(_, value)| value.clone())
    }

    pub fn inner(&self, field: u32) -> Self {
        Self::read(&self.bytes(field))
    }

    pub fn has(&self, field: u32) -> bool {
        self.bytes.iter().any(|(known, _)| *known == field)
    }

    /// An integer of 128 bits.
    pub fn wide(&self, field: u32) -> u128 {
        let halves = self.inner(field);
        u128::from(halves.number(2)) << 64 | u128::from(halves.number(1))
    }
}

fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint does not end")
}
