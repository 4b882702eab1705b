use super::*;
use bitcoin::absolute::LockTime;
use bitcoin::opcodes::OP_FALSE;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{OutPoint, ScriptBuf, Sequence, TxIn, transaction::Version};
use proptest::prelude::*;

fn transaction(witnesses: Vec<Witness>) -> Transaction {
    let input = |witness| TxIn {
        previous_output: OutPoint::null(),
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness,
    };
    let input = witnesses.into_iter().map(input).collect();
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output: Vec::new() }
}

fn witness(script: ScriptBuf) -> Witness {
    Witness::from_slice(&[script.into_bytes(), vec![0xc0; 33]])
}

fn read(script: Builder) -> Vec<Envelope> {
    envelopes(&transaction(vec![witness(script.into_script())])).collect()
}

fn push(builder: Builder, bytes: &[u8]) -> Builder {
    builder.push_slice(PushBytesBuf::try_from(bytes.to_vec()).unwrap())
}

fn begun() -> Builder {
    push(Builder::new().push_opcode(OP_FALSE).push_opcode(all::OP_IF), PROTOCOL)
}

/// An envelope of these pushes.
fn envelope(pushes: &[&[u8]]) -> Builder {
    pushes.iter().fold(begun(), |builder, bytes| push(builder, bytes)).push_opcode(all::OP_ENDIF)
}

fn only(script: Builder) -> Envelope {
    let mut found = read(script);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[allow(clippy::unnecessary_wraps)] // what is compared is optional
fn bytes(text: &str) -> Option<Bytes> {
    Some(Bytes::copy_from_slice(text.as_bytes()))
}

#[test]
fn every_field_goes_where_it_belongs() {
    let parent = [9; 32];
    let found = only(envelope(&[
        &[1],
        b"text/plain",
        &[2],
        &[7],
        &[3],
        &parent,
        &[5],
        b"meta",
        &[7],
        b"proto",
        &[9],
        b"br",
        &[11],
        &parent,
        &[13],
        b"rune",
        &[15],
        b"note",
        &[17],
        b"props",
        &[19],
        b"br",
        &[],
        b"first ",
        b"second",
    ]));
    let inscription = found.inscription;
    assert_eq!(inscription.body, bytes("first second"));
    assert_eq!(inscription.content_type(), Some("text/plain"));
    assert_eq!(inscription.pointer(), Some(7));
    assert_eq!(inscription.parents.len(), 1);
    assert_eq!(inscription.metadata, bytes("meta"));
    assert_eq!(inscription.metaprotocol(), Some("proto"));
    assert_eq!(inscription.content_encoding(), Some("br"));
    assert_eq!(inscription.delegate().map(|id| id.index), Some(0));
    assert_eq!(inscription.rune, bytes("rune"));
    assert_eq!(inscription.properties, bytes("props"));
    assert_eq!(inscription.property_encoding, bytes("br"));
    assert!(
        !inscription.has_duplicate_field
            && !inscription.has_incomplete_field
            && !inscription.has_unrecognized_even_field
    );
    assert_eq!((found.input, found.offset, found.has_pushnum, found.is_stutter), (0, 0, false, false));
}

#[test]
fn a_body_may_be_absent_empty_or_hold_empty_pushes() {
    assert_eq!(only(envelope(&[&[1], b"a"])).inscription.body, None);
    assert_eq!(only(envelope(&[&[1], b"a", &[]])).inscription.body, bytes(""));
    assert_eq!(only(envelope(&[&[], b"a", &[], b"b"])).inscription.body, bytes("ab"));
    // Only where a field would stand does an empty push begin the body.
    let inscription = only(envelope(&[&[1], &[], &[], b"x"])).inscription;
    assert_eq!((inscription.content_type, inscription.body), (bytes(""), bytes("x")));
}

#[test]
fn metadata_and_properties_join_their_values_and_count_as_duplicates() {
    let inscription = only(envelope(&[&[5], b"a", &[17], b"c", &[5], b"b", &[17], b"d"])).inscription;
    assert_eq!((inscription.metadata, inscription.properties), (bytes("ab"), bytes("cd")));
    assert!(inscription.has_duplicate_field);
}

#[test]
fn the_first_of_two_values_counts() {
    let inscription = only(envelope(&[&[1], b"a", &[1], b"b"])).inscription;
    assert_eq!(inscription.content_type(), Some("a"));
    assert!(inscription.has_duplicate_field && !inscription.has_unrecognized_even_field);
    // The second pointer is a field left over, and even.
    let inscription = only(envelope(&[&[2], &[1], &[2], &[2]])).inscription;
    assert_eq!(inscription.pointer(), Some(1));
    assert!(inscription.has_duplicate_field && inscription.has_unrecognized_even_field);
    let inscription = only(envelope(&[&[21], b"a", &[21], b"b"])).inscription;
    assert!(inscription.has_duplicate_field);
}

#[test]
fn even_fields_must_be_known_and_odd_ones_need_not() {
    for (field, is_even) in [
        (&[4][..], true),
        (&[0], true),
        (&[66], true),
        (&[2, 0], true),
        (&[21], false),
        (&[255], false),
        (&[1, 2], false),
    ] {
        let inscription = only(envelope(&[field, b"x"])).inscription;
        assert_eq!(inscription.has_unrecognized_even_field, is_even, "{field:?}");
    }
}

#[test]
fn a_field_without_a_value_is_incomplete() {
    assert!(only(envelope(&[&[1]])).inscription.has_incomplete_field);
    assert!(only(envelope(&[&[1], b"a", &[3]])).inscription.has_incomplete_field);
    assert!(!only(envelope(&[])).inscription.has_incomplete_field);
}

#[test]
fn parents_that_are_no_ids_are_passed_over() {
    let inscription = only(envelope(&[&[3], b"short", &[3], &[1; 32], &[3], &[1; 33], &[3], &[1; 37]])).inscription;
    assert_eq!(inscription.parents.iter().map(|id| id.index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn numbers_pushed_by_opcodes_are_values_and_are_marked() {
    let script = begun().push_opcode(all::OP_PUSHNUM_1).push_opcode(all::OP_PUSHNUM_16).push_opcode(all::OP_ENDIF);
    let found = only(script);
    assert!(found.has_pushnum);
    assert_eq!(found.inscription.content_type.as_deref(), Some(&[16][..]));
    let script = begun().push_opcode(all::OP_PUSHNUM_NEG1).push_opcode(all::OP_PUSHNUM_1).push_opcode(all::OP_ENDIF);
    assert!(only(script).has_pushnum);
}

#[test]
fn other_opcodes_and_a_missing_end_make_it_none() {
    assert!(read(begun().push_opcode(all::OP_DUP).push_opcode(all::OP_ENDIF)).is_empty());
    assert!(read(begun()).is_empty());
    assert!(read(Builder::new().push_opcode(OP_FALSE).push_opcode(all::OP_IF)).is_empty());
    let other = push(Builder::new().push_opcode(OP_FALSE).push_opcode(all::OP_IF), b"Ord");
    assert!(read(other.push_opcode(all::OP_ENDIF)).is_empty());
}

#[test]
fn several_envelopes_of_a_script_and_of_inputs_are_told_apart() {
    let twice = ScriptBuf::from_bytes(
        [envelope(&[&[], b"a"]).into_script().into_bytes(), envelope(&[&[], b"b"]).into_script().into_bytes()].concat(),
    );
    let third = envelope(&[&[], b"c"]).into_script();
    let found: Vec<Envelope> = envelopes(&transaction(vec![Witness::new(), witness(twice), witness(third)])).collect();
    let places: Vec<_> = found.iter().map(|envelope| (envelope.input, envelope.offset)).collect();
    assert_eq!(places, [(1, 0), (1, 1), (2, 0)]);
    let id = |index| InscriptionId { txid: OutPoint::null().txid, index };
    let script = ScriptBuf::from_bytes(envelope(&[&[], b"c"]).into_script().into_bytes());
    let transaction = transaction(vec![witness(script)]);
    assert_eq!(inscription_of(&transaction, &id(0)).and_then(|inscription| inscription.body), bytes("c"));
    assert_eq!(inscription_of(&transaction, &id(1)), None);
}

/// A broken start right before an envelope marks it, and every one after it until the next broken start.
#[test]
fn stutters_are_marked() {
    let stutter = |builder: Builder| builder.push_opcode(OP_FALSE).push_opcode(OP_FALSE).push_opcode(all::OP_IF);
    let found = only(push(stutter(Builder::new()), PROTOCOL).push_opcode(all::OP_ENDIF));
    assert!(found.is_stutter);
    let begun = Builder::new().push_opcode(OP_FALSE).push_opcode(all::OP_IF).push_opcode(OP_FALSE);
    assert!(only(push(begun.push_opcode(all::OP_IF), PROTOCOL).push_opcode(all::OP_ENDIF)).is_stutter);
    let apart = Builder::new().push_opcode(OP_FALSE).push_opcode(all::OP_DUP).push_opcode(OP_FALSE);
    assert!(!only(push(apart.push_opcode(all::OP_IF), PROTOCOL).push_opcode(all::OP_ENDIF)).is_stutter);
}

#[test]
fn a_script_that_breaks_off_holds_nothing_at_all() {
    let mut script = envelope(&[&[], b"a"]).into_script().into_bytes();
    script.extend_from_slice(&[0x4c, 0xff, 1, 2]);
    assert_eq!(envelopes(&transaction(vec![witness(ScriptBuf::from_bytes(script))])).count(), 0);
}

#[test]
fn one_inscription_is_read_as_it_stands_among_all() {
    let good = |body: &[u8]| [&[], body].map(|body| envelope(&[&[], body]).into_script().into_bytes()).concat();
    let mut broken = good(b"lost");
    broken.extend_from_slice(&[0x4c, 0xff, 1, 2]);
    let scripts = [good(b"a"), broken, Vec::new(), good(b"b")];
    let witnesses = scripts.map(|script| witness(ScriptBuf::from_bytes(script))).to_vec();
    let transaction = transaction(witnesses);
    let all: Vec<Envelope> = envelopes(&transaction).collect();
    assert_eq!(all.len(), 4);
    let txid = transaction.compute_txid();
    for (index, envelope) in (0..).zip(&all) {
        let found = inscription_of(&transaction, &InscriptionId { txid, index });
        assert_eq!(found.as_ref(), Some(&envelope.inscription), "{index}");
    }
    for index in [4, u32::MAX] {
        assert_eq!(inscription_of(&transaction, &InscriptionId { txid, index }), None);
    }
}

#[test]
fn scripts_are_where_a_script_path_spend_has_them() {
    let script = envelope(&[]).into_script().into_bytes();
    let count = |elements: &[&[u8]]| envelopes(&transaction(vec![Witness::from_slice(elements)])).count();
    assert_eq!(count(&[&script]), 0);
    assert_eq!(count(&[&script, &[0x50]]), 0);
    assert_eq!(count(&[&script, &[]]), 1);
    assert_eq!(count(&[&script, &[], &[0x50, 1]]), 1);
    assert_eq!(count(&[&script, &[1], &[2]]), 0);
    assert_eq!(count(&[b"signature", &script, &[0xc1]]), 1);
}

#[test]
fn ten_thousand_envelopes_are_read() {
    let one = envelope(&[&[1], b"a", &[], b"b"]).into_script().into_bytes();
    let many = ScriptBuf::from_bytes(one.repeat(10_000));
    let transaction = transaction(vec![witness(many)]);
    assert_eq!(envelopes(&transaction).count(), 10_000);
    assert_eq!(envelopes(&transaction).last().map(|envelope| envelope.offset), Some(9_999));
}

proptest! {
    #[test]
    fn any_witness_is_read_without_a_panic(elements in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..5)) {
        let _ = envelopes(&transaction(vec![Witness::from_slice(&elements)])).count();
    }

    #[test]
    fn any_script_after_a_start_is_read_without_a_panic(
        tail in proptest::collection::vec(prop_oneof![Just(0), Just(0x63), Just(0x68), 0x4c_u8..0x62, any::<u8>()], 0..80),
    ) {
        let mut script = begun().into_script().into_bytes();
        script.extend(tail);
        for envelope in envelopes(&transaction(vec![witness(ScriptBuf::from_bytes(script.clone()))])) {
            let inscription = envelope.inscription;
            prop_assert!(inscription.body.map_or(0, |body| body.len()) <= script.len());
        }
    }
}
