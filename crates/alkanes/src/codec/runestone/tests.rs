use bitcoin::hex::FromHex;
use ordinals::{Edict, Etching, Flaw, Rune, RuneId};
use proptest::prelude::*;

use super::*;
use crate::codec::encode_protostones;

fn transaction(scripts: &[&str]) -> Transaction {
    let output = scripts.iter().map(|hex| TxOut {
        script_pubkey: ScriptBuf::from_bytes(Vec::from_hex(hex).unwrap()),
        value: bitcoin::Amount::ZERO,
    });
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output: output.collect() }
}

fn protocol_of(scripts: &[&str]) -> Vec<u128> {
    match Artifact::read(&transaction(scripts)) {
        Some(Artifact::Runestone(runestone)) => runestone.protocol,
        other => panic!("not a runestone: {other:?}"),
    }
}

fn flaw_of(scripts: &[&str]) -> Option<Flaw> {
    match Artifact::read(&transaction(scripts)) {
        Some(Artifact::Cenotaph(cenotaph)) => cenotaph.flaw,
        other => panic!("not a cenotaph: {other:?}"),
    }
}

#[test]
fn only_the_first_output_that_begins_with_return_and_13_counts() {
    assert_eq!(Artifact::read(&transaction(&[])), None);
    assert_eq!(Artifact::read(&transaction(&["", "6a", "5d", "6a01ff", "6a5c03ff7f01"])), None);
    assert_eq!(protocol_of(&["51", "6a01ff", "6a5d03ff7f01", "6a5d03ff7f02"]), [1]);
    // A malformed first one is not made good by a second.
    assert_eq!(flaw_of(&["6a5d51", "6a5d03ff7f01"]), Some(Flaw::Opcode));
}

#[test]
fn data_pushes_of_every_form_are_joined() {
    assert_eq!(protocol_of(&["6a5d01ff027f01"]), [1]);
    assert_eq!(protocol_of(&["6a5d4c01ff4d01007f4e0100000001"]), [1]);
    assert_eq!(protocol_of(&["6a5d0003ff7f0100"]), [1]);
    assert_eq!(protocol_of(&["6a5d"]), [0; 0]);
}

#[test]
fn an_opcode_or_a_broken_push_makes_a_cenotaph() {
    for opcode in ["4f", "50", "51", "60", "61", "ac", "ff"] {
        assert_eq!(flaw_of(&[&format!("6a5d03ff7f01{opcode}")]), Some(Flaw::Opcode), "{opcode}");
    }
    for broken in ["03ff7f", "4c", "4c02ff", "4d01", "4effffffff"] {
        assert_eq!(flaw_of(&[&format!("6a5d{broken}")]), Some(Flaw::InvalidScript), "{broken}");
    }
}

#[test]
fn malformed_integers_make_a_cenotaph() {
    assert_eq!(flaw_of(&["6a5d0180"]), Some(Flaw::Varint));
    assert_eq!(flaw_of(&["6a5d1380808080808080808080808080808080808004"]), Some(Flaw::Varint));
}

#[test]
fn malformed_fields_make_a_cenotaph() {
    assert_eq!(flaw_of(&["6a5d02ff7f"]), Some(Flaw::TruncatedField));
    assert_eq!(flaw_of(&["6a5d027e00"]), Some(Flaw::UnrecognizedEvenTag));
    assert_eq!(flaw_of(&["6a5d020208"]), Some(Flaw::UnrecognizedFlag));
    assert_eq!(flaw_of(&["6a5d0400010101"]), Some(Flaw::TrailingIntegers));
    assert_eq!(flaw_of(&["6a5d050000010100"]), Some(Flaw::EdictRuneId));
    assert_eq!(flaw_of(&["6a5d050001010102"]), Some(Flaw::EdictOutput));
}

#[test]
fn a_pointer_at_or_beyond_the_outputs_makes_a_cenotaph() {
    assert_eq!(protocol_of(&["6a5d051600ff7f01"]), [1]);
    assert_eq!(flaw_of(&["6a5d051601ff7f01"]), Some(Flaw::UnrecognizedEvenTag));
    assert_eq!(protocol_of(&["6a5d051601ff7f01", ""]), [1]);
}

#[test]
fn the_protocol_field_keeps_every_value_in_order_among_other_fields() {
    assert_eq!(protocol_of(&["6a5d0bff7f057f00ff7f0403aa03"]), [5, 4]);
    // Behind the body stand edicts, not fields.
    assert_eq!(protocol_of(&["6a5d09ff7f0100ff7f010100"]), [1]);
}

#[test]
fn a_runestone_that_would_burn_is_not_written() {
    let refused = |base: ordinals::Runestone, output_count: usize| {
        let refused = Runestone { base, protocol: vec![1] }.encode(output_count);
        assert_eq!(refused, Err(RunestoneEncodeError::WouldBurn { output_count }));
    };
    refused(ordinals::Runestone::default(), 0);
    let too_many = Runestone::default().encode(usize::MAX);
    assert_eq!(too_many, Err(RunestoneEncodeError::TooManyOutputs { output_count: usize::MAX }));
    refused(ordinals::Runestone { pointer: Some(2), ..Default::default() }, 2);
    let edict = Edict { id: RuneId { block: 1, tx: 1 }, amount: 1, output: 3 };
    refused(ordinals::Runestone { edicts: vec![edict], ..Default::default() }, 2);
    let no_such_id = Edict { id: RuneId { block: 0, tx: 1 }, amount: 1, output: 0 };
    refused(ordinals::Runestone { edicts: vec![no_such_id], ..Default::default() }, 2);
    let etching = Etching { divisibility: Some(39), ..Default::default() };
    refused(ordinals::Runestone { etching: Some(etching), ..Default::default() }, 2);
}

#[test]
fn a_known_runestone_has_its_known_script() {
    // A mint of 2:0 whose outcome and refund go to output 0; the second transaction of mainnet block 892614.
    let stone = Protostone {
        protocol_tag: 1,
        message: vec![2, 0, 77],
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    let runestone = Runestone { protocol: encode_protostones(&[stone]).unwrap(), ..Runestone::default() };
    let expected = "6a5d0eff7f818cec82d08bc0a88281d215";
    let script = runestone.encode(3).unwrap();
    assert_eq!(script.to_hex_string(), expected);
}

prop_compose! {
    fn any_base()(
        edicts in prop::collection::vec((1..=9_u64, any::<u32>(), any::<u128>(), 0..=4_u32), 0..6),
        mint in prop::option::of((1..=u64::MAX, any::<u32>())),
        pointer in prop::option::of(0..4_u32),
        etching in prop::option::of((any::<Option<u128>>(), prop::option::of(0..=38_u8), any::<bool>(), any::<Option<char>>())),
    ) -> ordinals::Runestone {
        ordinals::Runestone {
            edicts: edicts
                .into_iter()
                .map(|(block, tx, amount, output)| Edict { id: RuneId { block, tx }, amount, output })
                .collect(),
            mint: mint.map(|(block, tx)| RuneId { block, tx }),
            pointer,
            etching: etching.map(|(rune, divisibility, turbo, symbol)| Etching {
                rune: rune.map(Rune),
                divisibility,
                turbo,
                symbol,
                ..Default::default()
            }),
        }
    }
}

proptest! {
    #[test]
    fn runestones_round_trip_with_and_without_a_protocol_field(base in any_base(), protocol: Vec<u128>) {
        let written = Runestone { base, protocol };
        let script = written.encode(4).unwrap();
        let Some(Artifact::Runestone(read)) = Artifact::read(&sample_transaction(&script, 4)) else {
            return Err(TestCaseError::fail("not a runestone"));
        };
        let mut edicts = written.base.edicts;
        edicts.sort_by_key(|edict| edict.id);
        prop_assert_eq!(&read.base.edicts, &edicts);
        prop_assert_eq!((read.base.mint, read.base.pointer, read.base.etching), (written.base.mint, written.base.pointer, written.base.etching));
        prop_assert_eq!(read.protocol, written.protocol);
    }

    #[test]
    fn arbitrary_scripts_never_panic(bytes: Vec<u8>, payload: Vec<u8>) {
        let claimed = [&[0x6a, 0x5d][..], &bytes].concat();
        let pushed = Builder::new()
            .push_opcode(OP_RETURN)
            .push_opcode(OP_PUSHNUM_13)
            .push_slice(<&PushBytes>::try_from(payload.as_slice()).unwrap())
            .into_script();
        for script in [Script::from_bytes(&bytes), Script::from_bytes(&claimed), &pushed] {
            if let Some(Artifact::Runestone(runestone)) = Artifact::read(&sample_transaction(script, 3)) {
                prop_assert!(3 * runestone.protocol.len() <= script.len());
                let _ = runestone.protostones();
            }
        }
    }
}
