//! Fields of an inscription that the API does not return: its delegate and the encoding of its content. Both are in
//! the envelope of its reveal transaction, parsed by the rules of ord's `envelope.rs`.

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::Deserialize;
use serde_json::json;

use super::txid_of;
use crate::api::Call;
use crate::explorer::{AskError, Reader};

const OP_PUSHDATA1: u8 = 0x4c;
const OP_PUSHDATA2: u8 = 0x4d;
const OP_PUSHDATA4: u8 = 0x4e;
const OP_1NEGATE: u8 = 0x4f;
const OP_1: u8 = 0x51;
const OP_16: u8 = 0x60;
const OP_IF: u8 = 0x63;
const OP_ENDIF: u8 = 0x68;
/// The first byte of an annex, in hexadecimal digits.
const ANNEX: &str = "50";
const TAG_CONTENT_ENCODING: u8 = 9;
const TAG_DELEGATE: u8 = 11;

/// The fields of an envelope.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reveal {
    pub(super) content_encoding: Option<Vec<u8>>,
    /// The id of the delegate.
    pub(super) delegate: Option<String>,
}

#[derive(Deserialize)]
struct Revealed {
    transaction: Transaction,
}

#[derive(Deserialize)]
struct Transaction {
    input: Vec<Input>,
}

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    witness: Vec<String>,
}

/// The envelope of an inscription with this id; `None` where its transaction has none.
pub(super) async fn reveal(reader: &Reader, id: &str) -> Result<Option<Reveal>, AskError> {
    let Some(txid) = txid_of(id) else { return Ok(None) };
    let index: Option<usize> = id.get(65..).and_then(|index| index.parse().ok());
    let Some(index) = index else { return Ok(None) };
    let revealed: Revealed = reader.ask(Call::rpc("ord_tx", json!([txid]))).await?;
    let scripts = revealed.transaction.input.iter().filter_map(|input| tapscript(&input.witness));
    Ok(scripts.flat_map(|script| envelopes(&script)).nth(index))
}

/// The script of a witness that spends by script path.
fn tapscript(witness: &[String]) -> Option<Vec<u8>> {
    let bytes = |item: &String| HEXLOWER_PERMISSIVE.decode(item.as_bytes()).ok();
    let is_annex = |item: &String| item.starts_with(ANNEX);
    let items = match witness {
        [items @ .., last] if !items.is_empty() && is_annex(last) => items,
        items => items,
    };
    match items {
        [.., script, _control] => bytes(script),
        _ => None,
    }
}

/// An instruction of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instruction<'a> {
    Push(&'a [u8]),
    Op(u8),
}

/// The instructions of a script; the first error ends them with `None`.
fn instructions(script: &[u8]) -> Option<Vec<Instruction<'_>>> {
    let mut rest = script;
    let mut parsed = Vec::new();
    while let Some((&op, after)) = rest.split_first() {
        let (length, after) = match op {
            0..OP_PUSHDATA1 => (usize::from(op), after),
            OP_PUSHDATA1 | OP_PUSHDATA2 | OP_PUSHDATA4 => {
                let width = 1 << (op - OP_PUSHDATA1);
                let (length, after) = after.split_at_checked(width)?;
                let length = length.iter().rev().fold(0_usize, |sum, &byte| (sum << 8) | usize::from(byte));
                (length, after)
            }
            _ => {
                parsed.push(Instruction::Op(op));
                rest = after;
                continue;
            }
        };
        let (pushed, after) = after.split_at_checked(length)?;
        parsed.push(Instruction::Push(pushed));
        rest = after;
    }
    Some(parsed)
}

/// The envelopes of a script; none of a script that cannot be read.
fn envelopes(script: &[u8]) -> Vec<Reveal> {
    let Some(all) = instructions(script) else { return Vec::new() };
    let mut parsed = Vec::new();
    let mut rest = all.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != Instruction::Push(&[]) {
            continue;
        }
        let Some(body) = after.strip_prefix(&[Instruction::Op(OP_IF), Instruction::Push(b"ord")]) else { continue };
        let end = body.iter().position(|one| matches!(one, Instruction::Op(op) if small(*op).is_none()));
        let Some((fields, after)) = end.and_then(|end| body.split_at_checked(end)) else { break };
        rest = after;
        if after.first() == Some(&Instruction::Op(OP_ENDIF)) {
            parsed.push(fields_of(fields));
        }
    }
    parsed
}

/// The byte that an opcode of a small number pushes.
const fn small(op: u8) -> Option<u8> {
    match op {
        OP_1NEGATE => Some(0x81),
        OP_1..=OP_16 => Some(op - OP_1 + 1),
        _ => None,
    }
}

/// The fields of an envelope, up to its body. The first field of a tag counts.
fn fields_of(instructions: &[Instruction<'_>]) -> Reveal {
    let pushes = instructions.iter().map(|one| match one {
        Instruction::Push(bytes) => bytes.to_vec(),
        Instruction::Op(op) => small(*op).into_iter().collect(),
    });
    let pushes: Vec<Vec<u8>> = pushes.collect();
    let mut reveal = Reveal::default();
    for pair in pushes.chunks_exact(2) {
        let [tag, value] = pair else { break };
        match tag.as_slice() {
            [] => break,
            [TAG_CONTENT_ENCODING] if reveal.content_encoding.is_none() => {
                reveal.content_encoding = Some(value.clone());
            }
            [TAG_DELEGATE] if reveal.delegate.is_none() => reveal.delegate = id_of(value),
            _ => {}
        }
    }
    reveal
}

/// The inscription id of a field: the txid as it is stored, and the index in little endian without zeros at its end.
fn id_of(value: &[u8]) -> Option<String> {
    let (txid, index) = value.split_at_checked(32)?;
    if index.len() > 4 || index.last() == Some(&0) {
        return None;
    }
    let txid: Vec<u8> = txid.iter().rev().copied().collect();
    let index = index.iter().rev().fold(0_u32, |sum, &byte| (sum << 8) | u32::from(byte));
    Some(format!("{}i{index}", HEXLOWER_PERMISSIVE.encode(&txid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap();
        [&[OP_PUSHDATA2][..], &length.to_le_bytes(), bytes].concat()
    }

    fn envelope(fields: &[u8]) -> Vec<u8> {
        [&[0, OP_IF][..], &push(b"ord"), fields, &[OP_ENDIF]].concat()
    }

    #[test]
    fn encodings_and_delegates_are_read() {
        let delegate = [&[7; 32][..], &[1, 2]].concat();
        let fields = [&push(&[9])[..], &push(b"br"), &push(&[11]), &push(&delegate), &[0], &push(b"body")].concat();
        // Tags may be pushed by the opcodes of small numbers.
        let small = [&[OP_1 + 8][..], &push(b"gzip")].concat();
        let script = [&push(&[3; 32])[..], &[0xac], &envelope(&fields), &envelope(&small)].concat();
        let parsed = envelopes(&script);
        assert_eq!(parsed.len(), 2);
        assert_eq!(parsed[0].content_encoding.as_deref(), Some(&b"br"[..]));
        assert_eq!(parsed[0].delegate, Some(format!("{}i513", "07".repeat(32))));
        assert_eq!(parsed[1].content_encoding.as_deref(), Some(&b"gzip"[..]));
    }

    #[test]
    fn fields_after_the_body_do_not_count() {
        let fields = [&[0][..], &push(&[9]), &push(b"br")].concat();
        assert_eq!(envelopes(&envelope(&fields)), [Reveal::default()]);
    }

    #[test]
    fn broken_scripts_have_no_envelopes() {
        let whole = envelope(&[&push(&[9])[..], &push(b"br")].concat());
        for end in 0..whole.len() {
            assert!(envelopes(&whole[..end]).is_empty(), "{end}");
        }
        assert!(envelopes(&[0xff; 600]).is_empty());
        assert!(envelopes(&[OP_PUSHDATA4, 0xff, 0xff, 0xff, 0xff]).is_empty());
        // Another opcode ends an envelope without one.
        assert!(envelopes(&envelope(&[0xac])).is_empty());
    }

    #[test]
    fn ids_of_other_lengths_are_none() {
        assert_eq!(id_of(&[0; 31]), None);
        assert_eq!(id_of(&[1; 37]), None);
        assert_eq!(id_of(&[&[1; 32][..], &[1, 0]].concat()), None);
        assert_eq!(id_of(&[0; 32]), Some(format!("{}i0", "00".repeat(32))));
    }

    #[test]
    fn the_script_is_before_the_control_block() {
        let of = |items: &[&str]| tapscript(&items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["aa", "01", "c0"]), Some(vec![1]));
        assert_eq!(of(&["01", "c0", "50ff"]), Some(vec![1]));
        for none in [&[][..], &["01"], &["c0", "50"], &["zz", "c0"]] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
