//! Runestones with a protocol field, which carries protostones (protocol B3).

use bitcoin::absolute::LockTime;
use bitcoin::blockdata::constants::MAX_SCRIPT_ELEMENT_SIZE;
use bitcoin::opcodes::all::{OP_PUSHNUM_13, OP_RETURN};
use bitcoin::script::{Builder, Instruction, PushBytes};
use bitcoin::transaction::Version;
use bitcoin::{Script, ScriptBuf, Transaction, TxOut};

use super::protostone::{Protostone, ProtostoneError, decode_protostones};
use super::varint::{VarintList, append_varint};

/// Tag under which the integers of protostones stand, as often as there are integers (protocol B3).
const PROTOCOL_TAG: u128 = 16383;

/// Tag that ends the fields; edicts of base runes follow (protocol B3).
const BODY_TAG: u128 = 0;

/// Most outputs that fit a block: the shortest has nine bytes, and a block one million, each counted four times.
const OUTPUT_COUNT_MAX: usize = 1_000_000 / 9;

/// The content of the first output that begins with `OP_RETURN OP_13` (protocol B3).
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // one per transaction, destructured at once, never stored in a collection
pub enum Artifact {
    /// A runestone that holds.
    Runestone(Runestone),
    /// A malformed runestone: protostones are not looked at, alkanes on the inputs are lost (protocol B3).
    Cenotaph(ordinals::Cenotaph),
}

/// A runestone: its fields for base runes, and the protocol field, which runes ignore.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Runestone {
    /// Etching, mint, pointer and edicts of base runes, by the rules of runes (protocol B3, B20).
    pub base: ordinals::Runestone,
    /// All integers of the protocol field, in order; empty when there is none (protocol B3).
    pub protocol: Vec<u128>,
}

/// An error of encoding a runestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RunestoneEncodeError {
    /// More outputs than fit a block.
    #[error("a transaction cannot have {output_count} outputs")]
    TooManyOutputs {
        /// Outputs of the transaction that was assumed.
        output_count: usize,
    },
    /// The runestone would be read as something else, which burns runes and alkanes.
    #[error(
        "this runestone would not be read back as it stands in a transaction of {output_count} outputs: check that its \
         pointer is below that number, that no edict names a higher one, and the limits of its etching"
    )]
    WouldBurn {
        /// Outputs of the transaction that was assumed.
        output_count: usize,
    },
}

impl Artifact {
    /// Reads the transaction's runestone; `None` when no output claims to be one (protocol B3).
    ///
    /// Memory: a byte of the script becomes at most 16 bytes of integers, and some 60 bytes while it is read.
    pub fn read(transaction: &Transaction) -> Option<Self> {
        // Whether it holds is the business of the rune library: the protocol field has an odd tag, which runes ignore.
        match ordinals::Runestone::decipher(transaction)? {
            ordinals::Artifact::Cenotaph(cenotaph) => Some(Self::Cenotaph(cenotaph)),
            ordinals::Artifact::Runestone(base) => {
                Some(Self::Runestone(Runestone { base, protocol: protocol_field(transaction) }))
            }
        }
    }
}

impl Runestone {
    /// The runestone of a transaction when it has a protocol field, as few have: most runestones move base runes alone, and need
    /// not be read for that.
    pub(crate) fn with_protocol(transaction: &Transaction) -> Option<Self> {
        if protocol_field(transaction).is_empty() {
            return None;
        }
        match Artifact::read(transaction)? {
            Artifact::Runestone(runestone) => Some(runestone),
            Artifact::Cenotaph(_) => None,
        }
    }

    /// The protostones; none when there is no protocol field (protocol B3, B4).
    ///
    /// # Errors
    /// The protocol field cannot be read; the transaction is void.
    pub fn protostones(&self) -> Result<Vec<Protostone>, ProtostoneError> {
        decode_protostones(&self.protocol)
    }

    /// The output script, for a transaction of `output_count` outputs, this one among them (protocol B3).
    ///
    /// Fields in the order etching, mint, pointer, protocol, edicts, pushed in pieces of 520 bytes. No output before it
    /// may begin with `OP_RETURN OP_13`.
    ///
    /// # Errors
    /// It would be read back as a cenotaph or with other content, or the number of outputs is out of reach.
    pub fn encode(&self, output_count: usize) -> Result<ScriptBuf, RunestoneEncodeError> {
        if output_count > OUTPUT_COUNT_MAX {
            return Err(RunestoneEncodeError::TooManyOutputs { output_count });
        }
        let ordinals::Runestone { etching, mint, pointer, .. } = self.base;
        let fields = ordinals::Runestone { edicts: Vec::new(), etching, mint, pointer };
        let mut payload = pushed_bytes(&fields.encipher());
        for integer in &self.protocol {
            append_varint(PROTOCOL_TAG, &mut payload);
            append_varint(*integer, &mut payload);
        }
        let mut edicts = self.base.edicts.clone();
        edicts.sort_by_key(|edict| edict.id);
        append_base_edicts(&edicts, &mut payload);

        let mut builder = Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13);
        for piece in payload.chunks(MAX_SCRIPT_ELEMENT_SIZE) {
            builder = builder.push_slice(<&PushBytes>::try_from(piece).expect("520 bytes are below any push limit"));
        }
        let script = builder.into_script();
        let base = ordinals::Runestone { edicts, etching, mint, pointer };
        let expected = Self { base, protocol: self.protocol.clone() };
        if Artifact::read(&sample_transaction(&script, output_count)) == Some(Artifact::Runestone(expected)) {
            Ok(script)
        } else {
            Err(RunestoneEncodeError::WouldBurn { output_count })
        }
    }
}

fn append_base_edicts(edicts: &[ordinals::Edict], payload: &mut Vec<u8>) {
    if !edicts.is_empty() {
        append_varint(BODY_TAG, payload);
    }
    let mut previous = ordinals::RuneId::default();
    for edict in edicts {
        let (block_delta, tx_delta) = previous.delta(edict.id).expect("the edicts are in the order of their ids");
        for integer in [block_delta, tx_delta, edict.amount, u128::from(edict.output)] {
            append_varint(integer, payload);
        }
        previous = edict.id;
    }
}

/// A transaction in which the script is the first output.
fn sample_transaction(script: &Script, output_count: usize) -> Transaction {
    let mut output = vec![TxOut::NULL; output_count];
    if let Some(first) = output.first_mut() {
        first.script_pubkey = script.to_owned();
    }
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output }
}

/// The integers of the protocol field, if the transaction's runestone holds.
fn protocol_field(transaction: &Transaction) -> Vec<u128> {
    let mut scripts = transaction.output.iter().map(|output| output.script_pubkey.as_script());
    let script = scripts.find(|script| claims_runestone(script));
    script.map(|script| protocol_integers(&pushed_bytes(script))).unwrap_or_default()
}

/// Whether the script begins with `OP_RETURN OP_13`.
fn claims_runestone(script: &Script) -> bool {
    let mut instructions = script.instructions();
    [OP_RETURN, OP_PUSHNUM_13].iter().all(|opcode| instructions.next() == Some(Ok(Instruction::Op(*opcode))))
}

/// All data pushes of a script, joined. Of a script that breaks off, those before the break.
fn pushed_bytes(script: &Script) -> Vec<u8> {
    let mut bytes = Vec::new();
    for instruction in script.instructions().flatten() {
        bytes.extend_from_slice(instruction.push_bytes().map_or(&[], PushBytes::as_bytes));
    }
    bytes
}

/// The values of the protocol tag among the fields of a valid payload (protocol B3).
fn protocol_integers(payload: &[u8]) -> Vec<u128> {
    let Ok(mut integers) = VarintList::parse(payload) else { return Vec::new() };
    let mut protocol = Vec::new();
    while let (Some(tag @ 1..), Some(value)) = (integers.next(), integers.next()) {
        if tag == PROTOCOL_TAG {
            protocol.push(value);
        }
    }
    protocol
}

#[cfg(test)]
mod tests;
