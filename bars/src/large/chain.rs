//! The skeleton of a chain on disk, and the blocks made again from it.
//!
//! ```text
//!  transactions   48 bytes each: txid, value of the outputs, counts, purpose, row of the table
//!  inputs          6 bytes each: number of the transaction that is spent, number of its output
//!  blocks        144 bytes each: first transaction and input, counts, header, witness commitment, sizes
//! ```
//! Everything else follows from the seed. `blocks` is written last: a skeleton without it is made anew.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use bitcoin::BlockHash;
use bitcoin::hashes::{Hash as _, sha256d};
use bitcoin::script::Builder;

use super::message::{Purpose, compact_size};
use super::script::Script;
use super::shape::Shape;
use super::transaction::{self, Record, Spent};
use xtask::process::{Failure, Outcome};

/// Bytes of a reference to an output.
pub(crate) const INPUT_LEN: usize = 6;
/// Changes when the same seed gives another chain.
const FORMAT: u32 = 3;

/// Record of a block in the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) first_input: u64,
    pub(crate) inputs: u32,
    pub(crate) header: [u8; 80],
    pub(crate) commitment: [u8; 32],
    pub(crate) size: u32,
    /// Bytes of all blocks up to this one.
    pub(crate) total: u64,
}

impl Entry {
    const LEN: usize = 144;

    pub(crate) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.first.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.first_input.to_le_bytes());
        bytes.extend_from_slice(&self.inputs.to_le_bytes());
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.commitment);
        bytes.extend_from_slice(&self.size.to_le_bytes());
        bytes.extend_from_slice(&self.total.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
        let (mut header, mut commitment) = ([0; 80], [0; 32]);
        header.copy_from_slice(&bytes[20..100]);
        commitment.copy_from_slice(&bytes[100..132]);
        Self {
            first: number(0),
            count: number(4),
            first_input: long(8),
            inputs: number(16),
            header,
            commitment,
            size: number(132),
            total: long(136),
        }
    }

    pub(crate) fn hash(&self) -> BlockHash {
        BlockHash::from_raw_hash(sha256d::Hash::hash(&self.header))
    }
}

/// A chain whose blocks can be made again.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) seed: u64,
    shape: Shape,
    transactions: File,
    inputs: File,
    /// By height, from 1.
    entries: Vec<Entry>,
    heights: HashMap<BlockHash, u32>,
}

/// A block and the outputs that it spends, as a node's REST interface answers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) block: Vec<u8>,
    pub(crate) spent: Vec<u8>,
}

/// The folder of the skeleton of a chain.
pub(crate) fn folder(place: &Path, seed: u64, height: u32) -> PathBuf {
    place.join(format!("chain-{FORMAT}-{:08x}-{seed}-{height}", Shape::mark() as u32))
}

impl Chain {
    /// Opens the skeleton in `folder`; `None` when it is not whole.
    pub(crate) fn open(folder: &Path, seed: u64, shape: Shape) -> Outcome<Option<Self>> {
        let failed = |error| Failure::new(format!("{}: {error}", folder.display()));
        let Ok(blocks) = std::fs::read(folder.join("blocks")) else { return Ok(None) };
        let entries: Vec<Entry> = blocks.chunks_exact(Entry::LEN).map(Entry::decode).collect();
        let heights = (1..).zip(&entries).map(|(height, entry)| (entry.hash(), height)).collect();
        Ok(Some(Self {
            seed,
            shape,
            transactions: File::open(folder.join("transactions")).map_err(failed)?,
            inputs: File::open(folder.join("inputs")).map_err(failed)?,
            entries,
            heights,
        }))
    }

    /// Height of the last block.
    pub(crate) fn height(&self) -> u32 {
        self.entries.len() as u32
    }

    pub(crate) fn entry(&self, height: u32) -> Option<&Entry> {
        self.entries.get((height as usize).checked_sub(1)?)
    }

    pub(crate) fn height_of(&self, hash: &BlockHash) -> Option<u32> {
        self.heights.get(hash).copied()
    }

    /// Bytes of the blocks up to `height`.
    pub(crate) fn bytes(&self, height: u32) -> u64 {
        self.entry(height).map_or(0, |entry| entry.total)
    }

    /// Inputs of the blocks up to `height`.
    pub(crate) fn inputs(&self, height: u32) -> u64 {
        self.entry(height).map_or(0, |entry| entry.first_input + u64::from(entry.inputs))
    }

    /// Transactions of the whole chain.
    pub(crate) fn transactions(&self) -> u64 {
        self.entries.last().map_or(0, |entry| u64::from(entry.first) + u64::from(entry.count))
    }

    /// Records of the transactions of the block at `height`.
    #[cfg(test)]
    pub(crate) fn records(&self, height: u32) -> Outcome<Vec<Record>> {
        let entry = self.existing(height)?;
        let mut records = vec![0; entry.count as usize * Record::LEN];
        let failed = |error| Failure::new(format!("the skeleton of block {height}: {error}"));
        self.transactions.read_exact_at(&mut records, u64::from(entry.first) * Record::LEN as u64).map_err(failed)?;
        let records = records.chunks_exact(Record::LEN).filter_map(<[u8]>::first_chunk);
        Ok(records.map(Record::decode).collect())
    }

    fn existing(&self, height: u32) -> Outcome<&Entry> {
        self.entry(height).ok_or_else(|| Failure::new(format!("the chain has no block {height}")))
    }

    /// Makes the block at `height` again.
    pub(crate) fn make(&self, height: u32) -> Outcome<Made> {
        let entry = self.existing(height)?;
        let failed = |error| Failure::new(format!("the skeleton of block {height}: {error}"));
        let mut records = vec![0; entry.count as usize * Record::LEN];
        self.transactions.read_exact_at(&mut records, u64::from(entry.first) * Record::LEN as u64).map_err(failed)?;
        let mut inputs = vec![0; entry.inputs as usize * INPUT_LEN];
        self.inputs.read_exact_at(&mut inputs, entry.first_input * INPUT_LEN as u64).map_err(failed)?;
        let read = |number: u32| {
            let mut bytes = [0; Record::LEN];
            // Mostly of this very block or of one that is in memory.
            match number.checked_sub(entry.first) {
                Some(place) => bytes.copy_from_slice(&records[place as usize * Record::LEN..][..Record::LEN]),
                None => self.transactions.read_exact_at(&mut bytes, u64::from(number) * Record::LEN as u64)?,
            }
            Ok(Record::decode(&bytes))
        };
        let mut block = Vec::with_capacity(entry.size as usize + 8);
        let mut spent_bytes = Vec::with_capacity(entry.inputs as usize * 34 + entry.count as usize + 8);
        block.extend_from_slice(&entry.header);
        compact_size(u64::from(entry.count), &mut block);
        compact_size(u64::from(entry.count), &mut spent_bytes);
        let (mut spent, mut scratch) = (Vec::new(), Vec::new());
        let mut references = inputs.chunks_exact(INPUT_LEN);
        for (number, record) in (entry.first..).zip(records.chunks_exact(Record::LEN)) {
            let Some(record) = record.first_chunk().map(Record::decode) else { break };
            let script_of = |vout| self.script(number, &record, vout);
            if record.purpose == Purpose::Coinbase {
                let commitment = self.shape.row(record.row).has_witnesses().then_some(entry.commitment);
                block.extend_from_slice(&coinbase(height, record.value, script_of(0), commitment).0);
                spent_bytes.push(0);
                continue;
            }
            spent.clear();
            for reference in references.by_ref().take(usize::from(record.inputs)) {
                spent.push(resolve(self.seed, &self.shape, reference, read).map_err(failed)?);
            }
            compact_size(spent.len() as u64, &mut spent_bytes);
            for output in &spent {
                output.write_output(&mut spent_bytes);
            }
            let place = (number, height, self.shape.contracts_from());
            transaction::write(self.seed, place, &record, &spent, script_of, (&mut block, &mut scratch));
        }
        Ok(Made { block, spent: spent_bytes })
    }

    fn script(&self, number: u32, record: &Record, vout: u16) -> Script {
        Script::of(self.seed, self.shape.row(record.row), record.row, number, vout)
    }
}

/// The six bytes of a reference.
pub(crate) fn reference(coin: u64) -> [u8; INPUT_LEN] {
    let number = ((coin >> 16) as u32).to_le_bytes();
    let vout = (coin as u16).to_le_bytes();
    [number[0], number[1], number[2], number[3], vout[0], vout[1]]
}

/// The output that a reference names; `read` gives the record of a transaction.
pub(crate) fn resolve(
    seed: u64,
    shape: &Shape,
    reference: &[u8],
    read: impl FnOnce(u32) -> std::io::Result<Record>,
) -> std::io::Result<Spent> {
    let number = u32::from_le_bytes([reference[0], reference[1], reference[2], reference[3]]);
    let vout = u16::from_le_bytes([reference[4], reference[5]]);
    let record = read(number)?;
    let value = match record.purpose {
        Purpose::Coinbase => record.value,
        _ => record.output_value(seed, number, vout),
    };
    let script = Script::of(seed, shape.row(record.row), record.row, number, vout);
    Ok(Spent { txid: record.txid, vout, value, script })
}

/// A coinbase, and its bytes without the witness.
pub(crate) fn coinbase(height: u32, value: u64, script: Script, commitment: Option<[u8; 32]>) -> (Vec<u8>, Vec<u8>) {
    let input = Builder::new()
        .push_int(i64::from(height))
        .push_slice(u64::from(height).to_le_bytes())
        .into_script()
        .into_bytes();
    let mut body = vec![1];
    body.extend_from_slice(&[0; 32]);
    body.extend_from_slice(&[0xff; 4]);
    body.push(input.len() as u8);
    body.extend_from_slice(&input);
    body.extend_from_slice(&[0xff; 4]);
    body.push(1 + u8::from(commitment.is_some()));
    body.extend_from_slice(&value.to_le_bytes());
    body.push(script.len());
    script.write(&mut body);
    if let Some(commitment) = commitment {
        body.extend_from_slice(&[0; 8]);
        body.extend_from_slice(&[38, 0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed]);
        body.extend_from_slice(&commitment);
    }
    let (version, lock_time) = ([2, 0, 0, 0], [0; 4]);
    let base = [&version[..], &body, &lock_time].concat();
    let whole = match commitment {
        None => base.clone(),
        Some(_) => [&version[..], &[0, 1], &body, &[1, 32], &[0; 32], &lock_time].concat(),
    };
    (whole, base)
}
