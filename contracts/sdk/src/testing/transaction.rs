//! Transactions for tests of contracts that read them.

use crate::bitcoin::Output;

/// A transaction with one input, some outputs, and protostones in an `OP_RETURN`.
#[derive(Debug, Clone, Default)]
pub struct TransactionBuilder {
    outputs: Vec<Output>,
    witness: Vec<Vec<u8>>,
    stones: Vec<u128>,
    lock_time: u32,
    has_runestone: bool,
}

impl TransactionBuilder {
    /// No outputs, no protostones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the transaction another one: a different lock time, hence a different id.
    #[must_use]
    pub const fn numbered(mut self, lock_time: u32) -> Self {
        self.lock_time = lock_time;
        self
    }

    /// Adds an output.
    #[must_use]
    pub fn paying(mut self, value: u64, script: impl Into<Vec<u8>>) -> Self {
        self.outputs.push(Output { value, script: script.into() });
        self
    }

    /// Sets the witness of the input.
    #[must_use]
    pub fn with_witness(mut self, witness: Vec<Vec<u8>>) -> Self {
        self.witness = witness;
        self
    }

    /// Adds a protostone: its tag and its integers.
    #[must_use]
    pub fn with_protostone(mut self, tag: u128, integers: &[u128]) -> Self {
        self.stones.push(tag);
        self.stones.push(integers.len() as u128);
        self.stones.extend_from_slice(integers);
        self.has_runestone = true;
        self
    }

    /// The virtual output of the first protostone.
    pub fn virtual_output(&self) -> u128 {
        self.outputs.len() as u128 + u128::from(self.has_runestone) + 1
    }

    fn runestone(&self) -> Output {
        let carried: Vec<u8> = self.stones.iter().flat_map(|value| varint(*value)).collect();
        let mut payload = Vec::new();
        for piece in carried.chunks(15) {
            let mut word = [0; 16];
            word[..piece.len()].copy_from_slice(piece);
            payload.extend(varint(16383));
            payload.extend(varint(u128::from_le_bytes(word)));
        }
        let mut script = vec![0x6a, 0x5d];
        for piece in payload.chunks(75) {
            script.push(piece.len() as u8);
            script.extend_from_slice(piece);
        }
        Output { value: 0, script }
    }

    /// Consensus encoding. The runestone is the last output.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0];
        if !self.witness.is_empty() {
            bytes.extend_from_slice(&[0, 1]);
        }
        bytes.push(1);
        bytes.extend_from_slice(&[0x11; 36]);
        bytes.extend_from_slice(&[0, 0xff, 0xff, 0xff, 0xff]);
        let outputs = self.outputs.iter().cloned().chain(self.has_runestone.then(|| self.runestone()));
        let outputs: Vec<Output> = outputs.collect();
        bytes.push(outputs.len() as u8);
        for output in &outputs {
            output.write(&mut bytes);
        }
        if !self.witness.is_empty() {
            bytes.push(self.witness.len() as u8);
            for item in &self.witness {
                bytes.push(0xfd);
                bytes.extend_from_slice(&(item.len() as u16).to_le_bytes());
                bytes.extend_from_slice(item);
            }
        }
        bytes.extend_from_slice(&self.lock_time.to_le_bytes());
        bytes
    }
}

fn varint(mut value: u128) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
