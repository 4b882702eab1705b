//! Makes the bytes of a transaction again from its record and from what it spends.

use bitcoin::ScriptBuf;

use super::contracts;
use super::message::{self, Purpose, compact_size};
use super::random::Random;
use super::script::Script;

const CONTENT: u64 = 5;
const VALUES: u64 = 6;

/// Record of a transaction in the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) txid: [u8; 32],
    /// Sum of what its outputs are worth, in satoshis.
    pub(crate) value: u64,
    pub(crate) inputs: u16,
    /// Number of spendable outputs. An output with data comes after them.
    pub(crate) outputs: u16,
    pub(crate) purpose: Purpose,
    /// Row of the table.
    pub(crate) row: u8,
    /// Step of the founding of contracts.
    pub(crate) detail: u16,
}

impl Record {
    /// Bytes of a record.
    pub(crate) const LEN: usize = 48;

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.txid);
        bytes.extend_from_slice(&self.value.to_le_bytes());
        bytes.extend_from_slice(&self.inputs.to_le_bytes());
        bytes.extend_from_slice(&self.outputs.to_le_bytes());
        bytes.extend_from_slice(&[self.purpose as u8, self.row]);
        bytes.extend_from_slice(&self.detail.to_le_bytes());
    }

    pub(crate) fn decode(bytes: &[u8; Self::LEN]) -> Self {
        let mut txid = [0; 32];
        txid.copy_from_slice(&bytes[..32]);
        let mut value = [0; 8];
        value.copy_from_slice(&bytes[32..40]);
        Self {
            txid,
            value: u64::from_le_bytes(value),
            inputs: u16::from_le_bytes([bytes[40], bytes[41]]),
            outputs: u16::from_le_bytes([bytes[42], bytes[43]]),
            purpose: Purpose::numbered(bytes[44]),
            row: bytes[45],
            detail: u16::from_le_bytes([bytes[46], bytes[47]]),
        }
    }

    /// The script of the code that the first input reveals.
    pub(crate) fn code(&self) -> Option<ScriptBuf> {
        (self.purpose == Purpose::Founding).then(|| contracts::code(self.detail)).flatten()
    }

    /// Satoshis of an output to the signer of wrapped bitcoin; 0 for none.
    pub(crate) fn wrapped_value(&self) -> u64 {
        if self.purpose == Purpose::Founding { contracts::wrapped_value(self.detail) } else { 0 }
    }

    /// What output `vout` of transaction `number` is worth. Pairs of outputs share twice the mean, so that any of them is known alone
    /// and the sum is never above `value`.
    pub(crate) fn output_value(&self, seed: u64, number: u32, vout: u16) -> u64 {
        let mean = self.value / u64::from(self.outputs.max(1));
        if vout == self.outputs - 1 && self.outputs % 2 == 1 {
            return mean;
        }
        let share = 1 + Random::new(seed, VALUES, u64::from(number) << 16 | u64::from(vout / 2)).below(127);
        let first = mean / 64 * share;
        if vout.is_multiple_of(2) { first } else { 2 * mean - first }
    }
}

/// An output that is spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) txid: [u8; 32],
    pub(crate) vout: u16,
    pub(crate) value: u64,
    pub(crate) script: Script,
}

impl Spent {
    /// Appends the output as it was made.
    pub(crate) fn write_output(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.value.to_le_bytes());
        bytes.push(self.script.len());
        self.script.write(bytes);
    }
}

/// Where the parts of a transaction begin in the bytes of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) start: usize,
    /// Inputs and outputs, behind the version and the marker of witnesses.
    pub(crate) body: usize,
    /// Behind the outputs.
    pub(crate) witness: usize,
    /// Behind the lock time.
    pub(crate) end: usize,
}

impl Layout {
    pub(crate) const fn has_witness(&self) -> bool {
        self.body - self.start > 4
    }

    pub(crate) const fn weight(&self) -> usize {
        let base = 4 + (self.witness - self.body) + 4;
        base * 3 + (self.end - self.start)
    }
}

/// Appends transaction `number`, not a coinbase, of the block at `height`; contracts begin at height `contracts_from`. `script_of` gives the script of one of its outputs.
/// `scratch` saves an allocation.
pub(crate) fn write(
    seed: u64,
    (number, height, contracts_from): (u32, u32, u32),
    record: &Record,
    spent: &[Spent],
    script_of: impl Fn(u16) -> Script,
    (bytes, scratch): (&mut Vec<u8>, &mut Vec<u8>),
) -> Layout {
    let mut random = Random::new(seed, CONTENT, u64::from(number));
    let start = bytes.len();
    bytes.extend_from_slice(&[2, 0, 0, 0]);
    let body = bytes.len();
    scratch.clear();
    compact_size(spent.len() as u64, bytes);
    let mut has_witness = false;
    for (place, spent) in spent.iter().enumerate() {
        bytes.extend_from_slice(&spent.txid);
        bytes.extend_from_slice(&u32::from(spent.vout).to_le_bytes());
        if place == 0 && (record.purpose.reveals() || record.code().is_some()) {
            bytes.push(0);
            message::write_reveal(record, &mut random, height, scratch);
            has_witness = true;
        } else if spent.script.write_spend(&mut random, bytes, scratch) {
            has_witness = true;
        } else {
            scratch.push(0);
        }
        bytes.extend_from_slice(&[0xfd, 0xff, 0xff, 0xff]);
    }
    let says = record.purpose.has_message();
    let wrapped = record.wrapped_value();
    let outputs = record.outputs + u16::from(wrapped > 0) + u16::from(says);
    compact_size(u64::from(outputs), bytes);
    for vout in 0..record.outputs {
        bytes.extend_from_slice(&record.output_value(seed, number, vout).to_le_bytes());
        let script = script_of(vout);
        bytes.push(script.len());
        script.write(bytes);
    }
    if wrapped > 0 {
        let script = contracts::signer();
        bytes.extend_from_slice(&wrapped.to_le_bytes());
        bytes.push(script.len() as u8);
        bytes.extend_from_slice(script.as_bytes());
    }
    if says {
        bytes.extend_from_slice(&[0; 8]);
        message::write_output(record, &mut random, (height, contracts_from), outputs, bytes);
    }
    let mut layout = Layout { start, body, witness: bytes.len(), end: 0 };
    if has_witness {
        // Two bytes between version and inputs.
        bytes.splice(body..body, [0, 1]);
        layout.body += 2;
        layout.witness += 2;
        bytes.extend_from_slice(scratch);
    }
    bytes.extend_from_slice(&[0; 4]);
    layout.end = bytes.len();
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_outputs_are_worth_no_more_than_their_sum() {
        for outputs in 1..20 {
            let value = 5_000_000_000 / u64::from(outputs) + 13;
            let record =
                Record { txid: [7; 32], value, inputs: 3, outputs, purpose: Purpose::Mint, row: 9, detail: 12 };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            assert_eq!(Record::decode(bytes.first_chunk().unwrap()), record);
            assert_eq!(bytes.len(), Record::LEN);
            let sum: u64 = (0..outputs).map(|vout| record.output_value(1, 99, vout)).sum();
            assert!(sum <= value && sum + u64::from(outputs) > value, "{outputs}");
        }
    }
}
