//! Random envelopes of every kind.

use bitcoin::opcodes::OP_FALSE;
use bitcoin::opcodes::all::{OP_DROP, OP_ENDIF, OP_IF, OP_PUSHNUM_1, OP_PUSHNUM_NEG1};
use bitcoin::script::{Builder, PushBytesBuf};
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::value_of_id;

use crate::random::Random;

/// Longest push that a tapscript may have.
const PUSH_MAX: usize = 520;

pub fn push(builder: Builder, bytes: &[u8]) -> Builder {
    builder.push_slice(PushBytesBuf::try_from(bytes.to_vec()).unwrap())
}

/// Begins an envelope.
pub fn begin(builder: Builder) -> Builder {
    push(builder.push_opcode(OP_FALSE).push_opcode(OP_IF), b"ord")
}

/// A field with its value, in as many pairs as it takes.
fn field(builder: Builder, tag: u8, value: &[u8]) -> Builder {
    if value.is_empty() {
        return push(push(builder, &[tag]), &[]);
    }
    value.chunks(PUSH_MAX).fold(builder, |builder, chunk| push(push(builder, &[tag]), chunk))
}

pub fn body(builder: Builder, body: &[u8]) -> Builder {
    body.chunks(PUSH_MAX).fold(push(builder, &[]), push)
}

/// A text inscription as wallets make them.
pub fn plain(builder: Builder, content: &str) -> Builder {
    body(field(begin(builder), 1, b"text/plain"), content.as_bytes()).push_opcode(OP_ENDIF)
}

/// One envelope; it leaves the stack as it was. `ids` are inscriptions that it may name.
pub fn random(random: &mut Random, mut builder: Builder, ids: &[InscriptionId]) -> Builder {
    let stutter = random.below(100);
    if stutter < 4 {
        builder = builder.push_opcode(OP_FALSE);
    }
    if (4..8).contains(&stutter) {
        builder = builder.push_opcode(OP_FALSE).push_opcode(OP_IF);
    }
    builder = fields(random, begin(builder), ids);
    let has_body = !random.chance(12);
    if has_body {
        let length = if random.chance(10) { random.below(3_000) } else { random.below(40) };
        let bytes = random.bytes(length);
        builder = body(builder, &bytes);
        if random.chance(4) {
            builder = push(builder, &[]);
        }
    } else if random.chance(20) {
        builder = push(builder, &[1]);
    }
    builder = builder.push_opcode(OP_ENDIF);
    if stutter < 4 {
        builder = builder.push_opcode(OP_DROP);
    }
    if (4..8).contains(&stutter) {
        builder = builder.push_opcode(OP_ENDIF);
    }
    builder
}

fn fields(random: &mut Random, mut builder: Builder, ids: &[InscriptionId]) -> Builder {
    let types: [&[u8]; 5] = [b"text/plain;charset=utf-8", b"image/png", b"application/json", &[0xff, 0xfe], b""];
    if !random.chance(10) {
        let place = random.below(5) as usize;
        builder = field(builder, 1, types[place]);
    }
    if random.chance(12) {
        let length = random.below(11);
        let mut pointer = random.bytes(length);
        if random.chance(80) {
            // Mostly one that may be met.
            pointer = random.below(20_000).to_le_bytes().to_vec();
        }
        builder = field(builder, 2, &pointer);
    }
    for _ in 0..if random.chance(30) { 1 + random.below(3) } else { 0 } {
        let parent = random.pick(ids).copied();
        let value = parent.map_or_else(|| random.bytes(33), |id| value_of_id(&id));
        builder = field(builder, 3, &value);
    }
    if random.chance(10) {
        let length = random.below(700);
        builder = field(builder, 5, &random.bytes(length));
    }
    if random.chance(10) {
        builder = field(builder, 7, if random.chance(80) { b"brc-20" } else { &[0xc3, 0x28] });
    }
    if random.chance(5) {
        builder = field(builder, 9, b"br");
    }
    if random.chance(12) {
        let delegate = random.pick(ids).copied();
        let value = delegate.map_or_else(|| random.bytes(31), |id| value_of_id(&id));
        builder = field(builder, 11, &value);
    }
    if random.chance(15) {
        let whole: [&[u8]; 5] = [
            b"\xa1\x01\xa2\x00\x63foo\x01\xa4\x61a\xf5\x61b\x21\x61c\xf6\x61d\x61x",
            b"\xbf\x05\x83\x01\xa1\x02\x41\x00\x7f\x61x\xff\x01\xa1\x00\x61t\xff",
            b"\xa1\x01\xa1\x01\xa2\x61a\x01\x61a\x02",
            b"\xa1\x01\xa1\x01\xa1\x61a\x3b\x7f\xff\xff\xff\xff\xff\xff\xff",
            b"\xa0trailing",
        ];
        let mut cbor = whole[random.below(5) as usize].to_vec();
        if let (Some(id), true) = (random.pick(ids), random.chance(50)) {
            let value = value_of_id(id);
            cbor = [&[0xa1, 0x00, 0x81, 0xa1, 0x00, 0x58, value.len() as u8][..], &value].concat();
        }
        builder = field(builder, 17, &cbor);
    }
    if random.chance(8) {
        // A title and traits as they are, a title that is packed, one that unpacks to too much, and no stream.
        let packed: [&[u8]; 4] = [
            b"\x0b\x0b\x80\xa1\x01\xa2\x00\x63foo\x01\xa4\x61a\xf5\x61b\x21\x61c\xf6\x61d\x61x\x03",
            b"\x1b\x2d\x00\xf8\x8d\x94\xa8\x9d\xaf\xf0\x42\x61\x03\xae\xcc\x52\xfd\xf0\x27\x0c\x00\x8d\x76",
            b"\x1b\xfc\x03\xf8\x07\x62\x79\x45\x18\xe3\x57\x97\xa6\x99\xb6\x1b\x80\x6e\x51\x61\x20\xe0\xcf\xab\
              \x47\xa2\xba\xf5\xc2\xc3\x8d\xf8\x24\x23",
            b"\xa1\x01\xa1\x00\x61t",
        ];
        builder = field(builder, 17, packed[random.below(4) as usize]);
        builder = field(builder, 19, if random.chance(85) { b"br" } else { b"gzip" });
    }
    let odd = [(4, 15), (4, 21), (2, 255), (3, 13)];
    for (percent, tag) in odd {
        if random.chance(percent) {
            builder = field(builder, tag, b"odd");
        }
    }
    if random.chance(4) {
        builder = field(builder, if random.chance(50) { 66 } else { 0 }, b"even");
    }
    if random.chance(4) {
        builder = field(builder, 1, b"again");
    }
    if random.chance(3) {
        builder = builder.push_opcode(OP_PUSHNUM_NEG1).push_opcode(OP_PUSHNUM_1);
    }
    builder
}
