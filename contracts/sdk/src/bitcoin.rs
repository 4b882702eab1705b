//! Just enough Bitcoin for contracts: the outputs, witnesses and id of a transaction, and its protostones.

use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::codec::Reader;

/// SHA-256 applied twice, as for transaction ids.
pub fn sha256d(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(Sha256::digest(bytes)).into()
}

/// An output of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// In satoshis.
    pub value: u64,
    /// The script that locks it.
    pub script: Vec<u8>,
}

impl Output {
    /// Appends the consensus encoding.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.value.to_le_bytes());
        write_size(bytes, self.script.len());
        bytes.extend_from_slice(&self.script);
    }
}

/// A transaction, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// SHA-256d of the encoding without witnesses, in internal byte order.
    pub txid: [u8; 32],
    /// Witness of each input.
    pub witnesses: Vec<Vec<Vec<u8>>>,
    /// The outputs.
    pub outputs: Vec<Output>,
}

impl Transaction {
    /// Reads the consensus encoding; `None` when it is malformed. What follows the transaction is ignored.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut stripped = reader.bytes(4)?.to_vec();
        let segwit = reader.rest().starts_with(&[0, 1]);
        if segwit {
            reader.bytes(2)?;
        }
        let body = reader.rest();
        let inputs = size(&mut reader)?;
        for _ in 0..inputs {
            reader.bytes(36)?;
            let script = size(&mut reader)?;
            reader.bytes(script)?;
            reader.bytes(4)?;
        }
        let count = size(&mut reader)?;
        let mut outputs = Vec::new();
        for _ in 0..count {
            let value = reader.u64()?;
            let length = size(&mut reader)?;
            outputs.push(Output { value, script: reader.bytes(length)?.to_vec() });
        }
        stripped.extend_from_slice(&body[..body.len() - reader.remaining()]);
        let mut witnesses = Vec::new();
        if segwit {
            for _ in 0..inputs {
                witnesses.push(witness(&mut reader)?);
            }
        }
        stripped.extend_from_slice(reader.bytes(4)?);
        Some(Self { txid: sha256d(&stripped), witnesses, outputs })
    }

    /// The protostones of the first runestone-shaped output, in order; empty when there are none or they are malformed.
    pub fn protostones(&self) -> Vec<Protostone> {
        self.runestone().and_then(|payload| protostones(&payload)).unwrap_or_default()
    }

    /// Data pushes behind `OP_RETURN OP_13` of the first output that starts so.
    fn runestone(&self) -> Option<Vec<u8>> {
        let output = self.outputs.iter().find(|output| output.script.starts_with(&[0x6a, 0x5d]))?;
        let mut reader = Reader::new(&output.script[2..]);
        let mut payload = Vec::new();
        while reader.remaining() != 0 {
            payload.extend_from_slice(push(&mut reader)?);
        }
        Some(payload)
    }

    /// Content of the first deployment envelope (`BIN`) in a witness, the body tag left out; `None` when there is none.
    pub fn envelope(&self) -> Option<Vec<u8>> {
        self.witnesses.iter().find_map(|witness| {
            let annexed = witness.len() >= 2 && witness.last()?.first() == Some(&0x50);
            let script = witness.get(witness.len().checked_sub(if annexed { 3 } else { 2 })?)?;
            let start = script.windows(6).position(|window| window == b"\x00\x63\x03BIN")?;
            let mut reader = Reader::new(&script[start + 6..]);
            let mut content = Vec::new();
            let mut body_tag = true;
            while !reader.rest().starts_with(&[0x68]) {
                let piece = push(&mut reader)?;
                if !core::mem::take(&mut body_tag) {
                    content.extend_from_slice(piece);
                }
            }
            Some(content)
        })
    }
}

/// A protostone, as far as contracts ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protostone {
    /// The protocol: 1 for alkanes.
    pub tag: u128,
    /// Output that takes what the message sends out.
    pub pointer: Option<u32>,
    /// Output that takes what came in when the message fails.
    pub refund: Option<u32>,
    /// Integers of the edicts, in groups of four.
    pub edicts: Vec<u128>,
}

/// Key of the runestone field that carries protostones.
const PROTOCOL: u128 = 16383;
/// Bytes of every integer that are used when byte strings travel as integers.
const PIECE: usize = 15;

fn protostones(payload: &[u8]) -> Option<Vec<Protostone>> {
    let mut carried = Vec::new();
    let mut reader = Reader::new(payload);
    while reader.remaining() != 0 {
        let tag = reader.varint()?;
        if tag == 0 {
            break;
        }
        let value = reader.varint()?;
        if tag == PROTOCOL {
            carried.extend_from_slice(&value.to_le_bytes()[..PIECE]);
        }
    }
    let mut integers = Vec::new();
    let mut reader = Reader::new(&carried);
    while reader.remaining() != 0 {
        integers.push(reader.varint()?);
    }
    let mut stones = Vec::new();
    let mut rest = integers.as_slice();
    while let [tag, count, behind @ ..] = rest {
        if *tag == 0 {
            break;
        }
        let count = usize::try_from(*count).ok()?;
        stones.push(protostone(*tag, behind.get(..count)?));
        rest = &behind[count..];
    }
    Some(stones)
}

#[expect(clippy::cast_possible_truncation, reason = "the protocol takes the low 32 bits of output numbers")]
fn protostone(tag: u128, mut fields: &[u128]) -> Protostone {
    let mut stone = Protostone { tag, ..Protostone::default() };
    while let [key, value, rest @ ..] = fields {
        match key {
            0 => {
                stone.edicts = fields[1..].to_vec();
                break;
            }
            91 => stone.pointer = stone.pointer.or(Some(*value as u32)),
            93 => stone.refund = stone.refund.or(Some(*value as u32)),
            _ => {}
        }
        fields = rest;
    }
    stone
}

fn witness(reader: &mut Reader<'_>) -> Option<Vec<Vec<u8>>> {
    let count = size(reader)?;
    let mut items = Vec::new();
    for _ in 0..count {
        let length = size(reader)?;
        items.push(reader.bytes(length)?.to_vec());
    }
    Some(items)
}

/// A compact size.
fn size(reader: &mut Reader<'_>) -> Option<usize> {
    let first = reader.byte()?;
    match first {
        0xfd => reader.u16().map(usize::from),
        0xfe => usize::try_from(reader.u32()?).ok(),
        0xff => usize::try_from(reader.u64()?).ok(),
        small => Some(small.into()),
    }
}

/// Appends a compact size. Scripts are shorter than 4 GiB.
#[expect(clippy::cast_possible_truncation, reason = "each arm is bounded by its pattern; scripts are below 4 GiB")]
fn write_size(bytes: &mut Vec<u8>, size: usize) {
    match size {
        0..=0xfc => bytes.push(size as u8),
        0xfd..=0xffff => {
            bytes.push(0xfd);
            bytes.extend_from_slice(&(size as u16).to_le_bytes());
        }
        _ => {
            bytes.push(0xfe);
            bytes.extend_from_slice(&(size as u32).to_le_bytes());
        }
    }
}

/// The bytes of the next data push of a script; `None` for any other instruction.
fn push<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let opcode = reader.byte()?;
    let length = match opcode {
        0..=0x4b => opcode.into(),
        0x4c => reader.byte()?.into(),
        0x4d => reader.u16()?.into(),
        0x4e => usize::try_from(reader.u32()?).ok()?,
        _ => return None,
    };
    reader.bytes(length)
}
