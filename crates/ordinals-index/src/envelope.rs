//! Envelopes: `OP_FALSE OP_IF "ord" … OP_ENDIF` in a tapscript.
//!
//! Rules of `ord` 0.29: every input's witness is read as if it spent a taproot output by a script path, no matter what it really
//! spends. A script that cannot be decoded to its end holds no envelope at all, however many came before the fault.

use std::collections::BTreeSet;
use std::iter::Peekable;

use bitcoin::opcodes::{Opcode, all};
use bitcoin::script::{Instruction, Instructions};
use bitcoin::{Script, Transaction, Witness};
use bytes::Bytes;

use crate::event::InscriptionId;
use crate::inscription::{Inscription, id_of_value};

/// First push of an envelope.
const PROTOCOL: &[u8] = b"ord";
/// First byte of an annex (BIP341).
const ANNEX: u8 = 0x50;

/// An envelope and its position in a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Input whose witness holds it.
    pub input: u32,
    /// Its position among the envelopes of that input, counted from 0.
    pub offset: u32,
    /// Whether a value was pushed by an opcode for a small number.
    pub has_pushnum: bool,
    /// Whether it follows something that began like an envelope and was none.
    pub is_stutter: bool,
    /// Its fields.
    pub inscription: Inscription,
}

/// The envelopes of a transaction, in the order of its inputs, parsed lazily: an empty one takes seven
/// bytes of a witness and some hundred bytes of memory.
pub fn envelopes(transaction: &Transaction) -> impl Iterator<Item = Envelope> {
    let whole = tapscripts(transaction).filter(|(_, script)| script.instructions().all(|next| next.is_ok()));
    whole.flat_map(|(input, script)| ScriptEnvelopes::of(input, script))
}

/// The scripts that may hold envelopes, with their inputs.
fn tapscripts(transaction: &Transaction) -> impl Iterator<Item = (u32, &Script)> {
    let witnesses = (0u32..).zip(transaction.input.iter().map(|input| &input.witness));
    witnesses.filter_map(|(input, witness)| Some((input, tapscript(witness)?)))
}

/// The script of a script-path spend, recognized by the shape of the witness alone: the element before the last, an annex left
/// out.
pub(crate) fn tapscript(witness: &Witness) -> Option<&Script> {
    let count = witness.len();
    let has_annex = count >= 2 && witness.last().is_some_and(|last| last.first() == Some(&ANNEX));
    let index = count.checked_sub(if has_annex { 3 } else { 2 })?;
    witness.nth(index).map(Script::from_bytes)
}

/// The envelopes of one script, all of which can be decoded.
struct ScriptEnvelopes<'a> {
    instructions: Peekable<Instructions<'a>>,
    input: u32,
    offset: u32,
    is_stutter: bool,
}

impl<'a> ScriptEnvelopes<'a> {
    fn of(input: u32, script: &'a Script) -> Self {
        Self { instructions: script.instructions().peekable(), input, offset: 0, is_stutter: false }
    }

    fn instruction(&mut self) -> Option<Instruction<'a>> {
        self.instructions.next()?.ok()
    }

    /// Takes the next instruction when it is the one wanted.
    fn accept(&mut self, is_wanted: impl Fn(&Instruction<'_>) -> bool) -> bool {
        self.instructions.next_if(|next| next.as_ref().is_ok_and(&is_wanted)).is_some()
    }

    /// Reads what follows an empty push.
    fn read(&mut self) -> Outcome {
        let is_protocol =
            |instruction: &Instruction<'_>| instruction.push_bytes().is_some_and(|push| push.as_bytes() == PROTOCOL);
        if !self.accept(|instruction| *instruction == Instruction::Op(all::OP_IF)) || !self.accept(is_protocol) {
            let stutters = matches!(self.instructions.peek(), Some(Ok(next)) if is_empty_push(next));
            return Outcome::Other { stutters };
        }
        let mut has_pushnum = false;
        let mut payload = Payload::default();
        loop {
            match self.instruction() {
                None => return Outcome::Other { stutters: false },
                Some(Instruction::Op(all::OP_ENDIF)) => {
                    return Outcome::Envelope { has_pushnum, inscription: Box::new(payload.finish()) };
                }
                Some(Instruction::PushBytes(push)) => payload.push(push.as_bytes()),
                Some(Instruction::Op(opcode)) => {
                    let Some(number) = small_number(opcode) else { return Outcome::Other { stutters: false } };
                    has_pushnum = true;
                    payload.push(number);
                }
            }
        }
    }
}

impl Iterator for ScriptEnvelopes<'_> {
    type Item = Envelope;

    fn next(&mut self) -> Option<Envelope> {
        loop {
            if !is_empty_push(&self.instruction()?) {
                continue;
            }
            match self.read() {
                Outcome::Envelope { has_pushnum, inscription } => {
                    let (input, offset, is_stutter) = (self.input, self.offset, self.is_stutter);
                    self.offset = offset.saturating_add(1);
                    return Some(Envelope { input, offset, has_pushnum, is_stutter, inscription: *inscription });
                }
                // Kept for the next envelope, also past whole ones: as the reference indexer does.
                Outcome::Other { stutters } => self.is_stutter = stutters,
            }
        }
    }
}

fn is_empty_push(instruction: &Instruction<'_>) -> bool {
    instruction.push_bytes().is_some_and(bitcoin::script::PushBytes::is_empty)
}

enum Outcome {
    Envelope {
        has_pushnum: bool,
        inscription: Box<Inscription>,
    },
    /// No envelope; whether the next instruction may begin one.
    Other {
        stutters: bool,
    },
}

/// What `OP_1NEGATE` and `OP_1` to `OP_16` push.
fn small_number(opcode: Opcode) -> Option<&'static [u8]> {
    const NUMBERS: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    if opcode == all::OP_PUSHNUM_NEG1 {
        return Some(&[0x81]);
    }
    let index = usize::from(opcode.to_u8().checked_sub(all::OP_PUSHNUM_1.to_u8())?);
    NUMBERS.get(index..=index)
}

/// Numbers of the fields of an inscription. `note` (15) and every unknown odd field are ignored.
mod tag {
    pub(super) const CONTENT_TYPE: &[u8] = &[1];
    pub(super) const POINTER: &[u8] = &[2];
    pub(super) const PARENT: &[u8] = &[3];
    pub(super) const METADATA: &[u8] = &[5];
    pub(super) const METAPROTOCOL: &[u8] = &[7];
    pub(super) const CONTENT_ENCODING: &[u8] = &[9];
    pub(super) const DELEGATE: &[u8] = &[11];
    pub(super) const RUNE: &[u8] = &[13];
    pub(super) const PROPERTIES: &[u8] = &[17];
    pub(super) const PROPERTY_ENCODING: &[u8] = &[19];
}

/// Pushes of an envelope on their way to an inscription: pairs of field and value, then, after an empty push where a field
/// would stand, the body.
#[derive(Default)]
struct Payload<'a> {
    inscription: Inscription,
    /// The field whose value comes next.
    waiting: Option<&'a [u8]>,
    seen: BTreeSet<&'a [u8]>,
    body: Option<Vec<u8>>,
    metadata: Option<Vec<u8>>,
    properties: Option<Vec<u8>>,
}

impl<'a> Payload<'a> {
    fn push(&mut self, bytes: &'a [u8]) {
        if let Some(body) = &mut self.body {
            body.extend_from_slice(bytes);
        } else if let Some(field) = self.waiting.take() {
            self.field(field, bytes);
        } else if bytes.is_empty() {
            self.body = Some(Vec::new());
        } else {
            self.waiting = Some(bytes);
        }
    }

    fn field(&mut self, field: &'a [u8], value: &'a [u8]) {
        let is_first = self.seen.insert(field);
        let inscription = &mut self.inscription;
        inscription.has_duplicate_field |= !is_first;
        let single = match field {
            tag::CONTENT_TYPE => &mut inscription.content_type,
            tag::POINTER => &mut inscription.pointer,
            tag::METAPROTOCOL => &mut inscription.metaprotocol,
            tag::CONTENT_ENCODING => &mut inscription.content_encoding,
            tag::DELEGATE => &mut inscription.delegate,
            tag::RUNE => &mut inscription.rune,
            tag::PROPERTY_ENCODING => &mut inscription.property_encoding,
            tag::PARENT => {
                inscription.parents.extend(id_of_value(value));
                return;
            }
            tag::METADATA => return self.metadata.get_or_insert_default().extend_from_slice(value),
            tag::PROPERTIES => return self.properties.get_or_insert_default().extend_from_slice(value),
            _ => {
                inscription.has_unrecognized_even_field |= is_even(field);
                return;
            }
        };
        if is_first {
            *single = Some(Bytes::copy_from_slice(value));
        } else {
            // The first value counts; what is left over is an unrecognized field.
            inscription.has_unrecognized_even_field |= is_even(field);
        }
    }

    fn finish(mut self) -> Inscription {
        self.inscription.has_incomplete_field = self.waiting.is_some();
        self.inscription.body = self.body.map(Bytes::from);
        self.inscription.metadata = self.metadata.map(Bytes::from);
        self.inscription.properties = self.properties.map(Bytes::from);
        self.inscription
    }
}

fn is_even(field: &[u8]) -> bool {
    field.first().is_some_and(|byte| byte % 2 == 0)
}

/// The inscription with this index in a transaction, parsed from its envelope; `None` when there are fewer.
pub fn inscription_of(transaction: &Transaction, id: &InscriptionId) -> Option<Inscription> {
    envelopes(transaction).nth(id.index as usize).map(|envelope| envelope.inscription)
}

#[cfg(test)]
mod tests;
