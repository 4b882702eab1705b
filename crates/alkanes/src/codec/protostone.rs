//! Protostones: the messages and transfers that a runestone carries for another protocol (protocol B4).

use super::chunks::{append_chunk, pack_chunks, unpack_chunks};
use super::edict::{Edict, append_edicts, decode_edicts};
use super::varint::{VarintError, VarintList, append_varint};

/// The protocol tag of alkanes (protocol B4).
pub const ALKANES_PROTOCOL: u128 = 1;

/// Keys of the fields (protocol B4). Every other key is read over.
mod key {
    pub(super) const EDICTS: u128 = 0;
    pub(super) const MESSAGE: u128 = 81;
    pub(super) const BURN: u128 = 83;
    pub(super) const POINTER: u128 = 91;
    pub(super) const REFUND: u128 = 93;
    pub(super) const FROM: u128 = 95;
}

/// One protostone as written; its effects are protocol B5 and B6.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protostone {
    /// Protocol tag; never 0, which ends the list. See [`ALKANES_PROTOCOL`].
    pub protocol_tag: u128,
    /// The message, empty when there is none. Read from a transaction its length is a multiple of 15, zeros at the end
    /// included. Its form is [`Cellpack`](super::Cellpack).
    pub message: Vec<u8>,
    /// Protocol that base runes would be burned into. Read, but without effect (protocol B5.3).
    pub burn: Option<u128>,
    /// Destination of the remaining alkanes: an output or a shadow output.
    pub pointer: Option<u32>,
    /// Output or shadow output that a failed message is refunded to.
    pub refund: Option<u32>,
    /// Read, but without effect.
    pub from: Option<u32>,
    /// Transfers; empty also when they were malformed (protocol B4).
    pub edicts: Vec<Edict>,
}

/// An error of decoding protostones. The transaction is void (protocol B4, B5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtostoneError {
    /// The bytes are not a list of varints.
    #[error("the protocol field is not a list of integers: {0}")]
    Varint(#[from] VarintError),
    /// A protostone announces more integers than follow.
    #[error("protostone {index} announces {announced} integers, {left} are left")]
    Short {
        /// Position of the protostone, from 0.
        index: usize,
        /// Number of integers that it announces.
        announced: u128,
        /// Integers that are there.
        left: usize,
    },
}

/// An error of encoding protostones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtostoneEncodeError {
    /// A tag of 0 ends the list (protocol B4).
    #[error("protostone {index} has the protocol tag 0, which ends the list: give it a tag, 1 for alkanes")]
    NoProtocolTag {
        /// Position of the protostone, from 0.
        index: usize,
    },
}

impl Protostone {
    /// Whether there is a message to run (protocol B4).
    pub fn is_message(&self) -> bool {
        !self.message.is_empty()
    }

    /// Whether the message is for alkanes contracts (protocol B5.6b).
    pub fn is_alkanes_message(&self) -> bool {
        self.protocol_tag == ALKANES_PROTOCOL && self.is_message()
    }

    /// Reads key and value pairs; key 0 and all that follows are edicts, a key without a value is dropped (protocol B4).
    /// Repeated message chunks are joined, of any other repeated field the first value counts.
    fn from_fields(protocol_tag: u128, mut fields: impl Iterator<Item = u128>) -> Self {
        let mut stone = Self { protocol_tag, ..Self::default() };
        while let Some(key) = fields.next() {
            let Some(value) = fields.next() else { break };
            // The numbers of outputs keep their low 32 bits, whatever else was written (protocol B4).
            let vout = value as u32;
            match key {
                key::EDICTS => {
                    let integers = std::iter::once(value).chain(fields.by_ref());
                    stone.edicts = decode_edicts(integers).unwrap_or_default();
                    break;
                }
                key::MESSAGE => append_chunk(value, &mut stone.message),
                key::BURN => _ = stone.burn.get_or_insert(value),
                key::POINTER => _ = stone.pointer.get_or_insert(vout),
                key::REFUND => _ = stone.refund.get_or_insert(vout),
                key::FROM => _ = stone.from.get_or_insert(vout),
                _ => {}
            }
        }
        stone
    }

    /// The fields as integers, in the order that every encoder uses (protocol B4).
    fn to_fields(&self) -> Vec<u128> {
        let mut fields = Vec::new();
        let single = [
            (key::BURN, self.burn),
            (key::POINTER, self.pointer.map(u128::from)),
            (key::REFUND, self.refund.map(u128::from)),
            (key::FROM, self.from.map(u128::from)),
        ];
        for (key, value) in single {
            fields.extend(value.map(|value| [key, value]).into_iter().flatten());
        }
        fields.extend(pack_chunks(&self.message).into_iter().flat_map(|chunk| [key::MESSAGE, chunk]));
        if !self.edicts.is_empty() {
            fields.push(key::EDICTS);
            append_edicts(&self.edicts, &mut fields);
        }
        fields
    }
}

/// Reads the protostones out of a runestone's protocol integers (protocol B4).
///
/// The 15 low bytes of each integer make up one byte string of varints: a protocol tag, a count, and that many integers
/// for each protostone. The tag 0, the end, or a tag without a count end the list. The bytes behind the end must still
/// be varints.
///
/// Memory: an integer becomes at most 15 edict numbers of 16 bytes, or 7 protostones. A block full of the worst,
/// a script of one million bytes, becomes about 100 MB.
///
/// # Errors
/// The bytes are not varints, or a protostone is cut short; the transaction is void.
pub fn decode_protostones(protocol: &[u128]) -> Result<Vec<Protostone>, ProtostoneError> {
    let bytes = unpack_chunks(protocol);
    let mut integers = VarintList::parse(&bytes)?;
    let mut stones = Vec::new();
    while let (Some(protocol_tag @ 1..), Some(announced)) = (integers.next(), integers.next()) {
        let left = integers.len();
        let count = usize::try_from(announced).ok().filter(|count| *count <= left);
        let count = count.ok_or(ProtostoneError::Short { index: stones.len(), announced, left })?;
        let mut fields = integers.by_ref().take(count);
        stones.push(Protostone::from_fields(protocol_tag, &mut fields));
        // Malformed edicts end early; the next protostone begins where this one's count ends.
        fields.for_each(drop);
    }
    Ok(stones)
}

/// Writes protostones as the protocol integers of a runestone (protocol B4).
///
/// They are read back the same but for two things: messages are filled up with zeros to a multiple of 15 bytes, and
/// edicts are in the order of their ids.
///
/// # Errors
/// A protostone has the tag 0.
pub fn encode_protostones(stones: &[Protostone]) -> Result<Vec<u128>, ProtostoneEncodeError> {
    let mut bytes = Vec::new();
    for (index, stone) in stones.iter().enumerate() {
        if stone.protocol_tag == 0 {
            return Err(ProtostoneEncodeError::NoProtocolTag { index });
        }
        let fields = stone.to_fields();
        append_varint(stone.protocol_tag, &mut bytes);
        append_varint(fields.len() as u128, &mut bytes);
        for integer in fields {
            append_varint(integer, &mut bytes);
        }
    }
    Ok(pack_chunks(&bytes))
}

#[cfg(test)]
mod tests;
