//! Contract code in the witness of a spending input (protocol B8).

use std::iter::Peekable;

use bitcoin::blockdata::constants::MAX_SCRIPT_ELEMENT_SIZE;
use bitcoin::opcodes::all::{OP_ENDIF, OP_IF, OP_PUSHNUM_1, OP_PUSHNUM_16, OP_PUSHNUM_NEG1};
use bitcoin::opcodes::{OP_FALSE, Opcode};
use bitcoin::script::{self, Builder, Instruction, Instructions, PushBytes};
use bitcoin::taproot::TAPROOT_ANNEX_PREFIX;
use bitcoin::{Script, Transaction, Witness};

/// The first push inside the condition (protocol B8).
const MARKER: [u8; 3] = *b"BIN";

/// The code that a creation in this transaction deploys (protocol B8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Index of the input whose witness holds it.
    pub input: usize,
    /// All pushes but the first, which is a tag, joined: gzip of a module, see [`gunzip`](super::gunzip). May be empty.
    pub payload: Vec<u8>,
}

impl Envelope {
    /// The first envelope of the transaction; every create uses this one, also those made inside calls (protocol B8).
    ///
    /// Looked at is the second-to-last witness item of each input, or the third-to-last when the last is an annex;
    /// neither the control block nor the spent output matters.
    pub fn first(transaction: &Transaction) -> Option<Self> {
        transaction.input.iter().enumerate().find_map(|(input, txin)| {
            // A script that breaks off anywhere has no envelopes at all (protocol B8).
            let payload = first_payload(leaf_script(&txin.witness)?).ok().flatten()?;
            Some(Self { input, payload })
        })
    }
}

/// Appends an envelope around `payload` to a leaf script: tag, then pieces of 520 bytes (protocol B8).
#[must_use]
pub fn append_envelope(mut builder: Builder, payload: &[u8]) -> Builder {
    builder = builder.push_opcode(OP_FALSE).push_opcode(OP_IF).push_slice(MARKER).push_slice([]);
    for piece in payload.chunks(MAX_SCRIPT_ELEMENT_SIZE) {
        builder = builder.push_slice(<&PushBytes>::try_from(piece).expect("520 bytes are below any push limit"));
    }
    builder.push_opcode(OP_ENDIF)
}

/// The item that would be the leaf script, if the witness were that of a tapscript spend (protocol B8).
pub(crate) fn leaf_script(witness: &Witness) -> Option<&Script> {
    let has_annex =
        witness.len() >= 2 && witness.last().is_some_and(|last| last.first() == Some(&TAPROOT_ANNEX_PREFIX));
    let from_end = if has_annex { 3 } else { 2 };
    witness.nth(witness.len().checked_sub(from_end)?).map(Script::from_bytes)
}

/// The first envelope of a script: an empty push, `OP_IF`, the marker, pushes, `OP_ENDIF` (protocol B8).
///
/// An envelope with any other opcode in it, or without an end, does not count; the search goes on behind it.
fn first_payload(script: &Script) -> Result<Option<Vec<u8>>, script::Error> {
    let mut first = None;
    let mut instructions = script.instructions().peekable();
    while let Some(instruction) = instructions.next().transpose()? {
        if is_push_of(&instruction, &[]) && opens(&mut instructions) {
            let payload = rest_of_envelope(&mut instructions)?;
            first = first.or(payload);
        }
    }
    Ok(first)
}

/// Takes `OP_IF` and the marker when they come next. Anything else stays for the search.
fn opens(instructions: &mut Peekable<Instructions<'_>>) -> bool {
    let is_if = |instruction: &_| matches!(instruction, Ok(Instruction::Op(OP_IF)));
    let is_marker = |instruction: &_| matches!(instruction, Ok(instruction) if is_push_of(instruction, &MARKER));
    instructions.next_if(is_if).is_some() && instructions.next_if(is_marker).is_some()
}

fn is_push_of(instruction: &Instruction<'_>, bytes: &[u8]) -> bool {
    instruction.push_bytes().is_some_and(|push| push.as_bytes() == bytes)
}

/// The pushes up to `OP_ENDIF` without the first; `None` when something else comes before it.
fn rest_of_envelope(instructions: &mut Peekable<Instructions<'_>>) -> Result<Option<Vec<u8>>, script::Error> {
    let mut payload = Vec::new();
    let mut is_tag = true;
    while let Some(instruction) = instructions.next().transpose()? {
        let number;
        let push = match &instruction {
            Instruction::Op(OP_ENDIF) => return Ok(Some(payload)),
            Instruction::PushBytes(push) => push.as_bytes(),
            Instruction::Op(opcode) => {
                let Some(pushed) = pushed_number(*opcode) else { return Ok(None) };
                number = [pushed];
                &number[..]
            }
        };
        if !std::mem::take(&mut is_tag) {
            payload.extend_from_slice(push);
        }
    }
    Ok(None)
}

/// The byte that -1 and 1 to 16 stand for (protocol B8).
fn pushed_number(opcode: Opcode) -> Option<u8> {
    let (one, sixteen) = (OP_PUSHNUM_1.to_u8(), OP_PUSHNUM_16.to_u8());
    match opcode.to_u8() {
        code if code == OP_PUSHNUM_NEG1.to_u8() => Some(0x81),
        code if (one..=sixteen).contains(&code) => Some(code - one + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::TxIn;
    use bitcoin::absolute::LockTime;
    use bitcoin::hex::FromHex;
    use bitcoin::transaction::Version;
    use proptest::prelude::*;

    use super::*;

    fn transaction(witnesses: Vec<Witness>) -> Transaction {
        let input = witnesses.into_iter().map(|witness| TxIn { witness, ..TxIn::default() });
        Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: input.collect(), output: Vec::new() }
    }

    fn first(items: &[&[u8]]) -> Option<Vec<u8>> {
        Envelope::first(&transaction(vec![Witness::from_slice(items)])).map(|envelope| envelope.payload)
    }

    /// Spaces in the text part envelopes for the eye.
    fn in_script(hex: &str) -> Option<Vec<u8>> {
        first(&[&Vec::from_hex(&hex.replace(' ', "")).unwrap(), &[0xc0]])
    }

    #[test]
    fn all_pushes_but_the_first_are_joined() {
        assert_eq!(in_script("00630342494e00020102010368"), Some(vec![1, 2, 3]));
        // The tag is skipped, whatever its content.
        assert_eq!(in_script("00630342494e020707020102010368"), Some(vec![1, 2, 3]));
        assert_eq!(in_script("00630342494e0068"), Some(vec![]));
        assert_eq!(in_script("00630342494e68"), Some(vec![]));
        // Long forms of the same pushes.
        assert_eq!(in_script("4c00634c0342494e4d00004e01000000aa68"), Some(vec![0xaa]));
    }

    #[test]
    fn small_numbers_are_pushes_of_one_byte() {
        assert_eq!(in_script("00630342494e004f516068"), Some(vec![0x81, 1, 16]));
        assert_eq!(in_script("00630342494e5101aa68"), Some(vec![0xaa]), "a number can be the tag");
    }

    #[test]
    fn another_opcode_or_no_end_voids_the_envelope_and_the_search_goes_on() {
        assert_eq!(in_script("00630342494e00017761"), None);
        assert_eq!(in_script("00630342494e000177"), None);
        assert_eq!(in_script("00630342494e00017761 00630342494e00018868"), Some(vec![0x88]));
        assert_eq!(in_script("00630342494e0050 00630342494e00018868"), Some(vec![0x88]));
    }

    #[test]
    fn a_false_start_does_not_hide_the_envelope_behind_it() {
        for start in ["00", "0063", "006300", "0000", "00630342494f", "0064", "20".repeat(33).as_str()] {
            let script = format!("{start}00630342494e00018868");
            assert_eq!(in_script(&script), Some(vec![0x88]), "{start}");
        }
    }

    #[test]
    fn of_two_envelopes_the_first_counts() {
        assert_eq!(in_script("00630342494e0001886800630342494e00019968"), Some(vec![0x88]));
    }

    #[test]
    fn a_broken_script_has_no_envelopes_but_the_next_input_may() {
        let whole = Vec::from_hex("00630342494e00018868").unwrap();
        let broken = [whole.as_slice(), &[0x4c]].concat();
        assert_eq!(first(&[&broken, &[0xc0]]), None);
        let found = Envelope::first(&transaction(vec![
            Witness::new(),
            Witness::from_slice(&[&broken[..], &[0xc0]]),
            Witness::from_slice(&[&whole[..], &[0xc0]]),
        ]));
        assert_eq!(found, Some(Envelope { input: 2, payload: vec![0x88] }));
    }

    #[test]
    fn the_script_is_before_the_last_item_or_before_that_and_an_annex() {
        let script = &Vec::from_hex("00630342494e00018868").unwrap()[..];
        let found = Some(vec![0x88]);
        assert_eq!(first(&[script, &[]]), found, "an empty last item will do");
        assert_eq!(first(&[&[1], script, &[0xc0]]), found);
        assert_eq!(first(&[script, &[0xc0], &[0x50]]), found);
        assert_eq!(first(&[script, &[0x50]]), None);
        assert_eq!(first(&[script]), None);
        assert_eq!(first(&[script, &[1], &[2]]), None);
        assert_eq!(first(&[]), None);
    }

    proptest! {
        #[test]
        fn payloads_round_trip(payload in prop::collection::vec(any::<u8>(), 0..1600), key: [u8; 32]) {
            let prefix = Builder::new().push_slice(key).push_opcode(bitcoin::opcodes::all::OP_CHECKSIG);
            let script = append_envelope(prefix, &payload).into_script();
            for instruction in script.instructions() {
                prop_assert!(instruction.unwrap().push_bytes().is_none_or(|push| push.len() <= 520));
            }
            prop_assert_eq!(first(&[&[1; 64], script.as_bytes(), &[0xc0; 33]]), Some(payload));
        }

        #[test]
        fn arbitrary_witnesses_never_panic_and_yield_no_more_than_they_hold(bytes: Vec<u8>, inner: Vec<u8>) {
            let opened = [&[0, 0x63, 3, b'B', b'I', b'N'][..], &inner].concat();
            for script in [&bytes, &opened] {
                let found = first(&[script, &bytes]);
                prop_assert!(found.is_none_or(|payload| payload.len() <= script.len()));
            }
        }
    }
}
