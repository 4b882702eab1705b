use paraffin_primitives::{AlkaneId, Amount};
use proptest::prelude::*;

use super::*;
use crate::codec::CHUNK_LEN_BYTES;

/// Protocol integers that hold these varints.
fn protocol(integers: &[u128]) -> Vec<u128> {
    let mut bytes = Vec::new();
    for integer in integers {
        append_varint(*integer, &mut bytes);
    }
    pack_chunks(&bytes)
}

fn decode(integers: &[u128]) -> Vec<Protostone> {
    decode_protostones(&protocol(integers)).unwrap()
}

fn stone(protocol_tag: u128) -> Protostone {
    Protostone { protocol_tag, ..Protostone::default() }
}

#[test]
fn every_field_is_read() {
    let read = decode(&[1, 15, 83, 13, 91, 2, 93, 3, 95, 4, 81, 77, 0, 2, 5, 100, 1]);
    let mut message = vec![77];
    message.resize(CHUNK_LEN_BYTES, 0);
    let edicts = vec![Edict { id: AlkaneId { block: 2, tx: 5 }, amount: Amount(100), output: 1 }];
    let expected = Protostone {
        protocol_tag: 1,
        message,
        burn: Some(13),
        pointer: Some(2),
        refund: Some(3),
        from: Some(4),
        edicts,
    };
    assert_eq!(read, [expected]);
}

#[test]
fn the_tag_zero_the_end_and_a_tag_without_a_count_end_the_list() {
    assert_eq!(decode_protostones(&[]), Ok(vec![]));
    assert_eq!(decode(&[0, 1, 0]), []);
    assert_eq!(decode(&[5, 0, 0, 1, 0]), [stone(5)]);
    // Fifteen bytes leave no zero behind them: the list ends because the bytes do.
    let full = [5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12];
    assert_eq!(protocol(&full).len(), 1);
    assert_eq!(decode(&full), [5, 6, 7, 8, 9, 10, 11].map(stone));
}

#[test]
fn bytes_behind_the_end_must_still_be_varints() {
    let mut bytes = vec![1, 0, 0];
    bytes.resize(CHUNK_LEN_BYTES, 0);
    assert_eq!(decode_protostones(&pack_chunks(&bytes)), Ok(vec![stone(1)]));
    bytes[CHUNK_LEN_BYTES - 1] = 0x80;
    assert_eq!(decode_protostones(&pack_chunks(&bytes)), Err(ProtostoneError::Varint(VarintError::Unterminated)));
}

#[test]
fn a_stone_that_is_cut_short_is_an_error() {
    // Four integers are written; the zeros that fill the piece of 15 bytes count as integers too.
    let read = decode_protostones(&protocol(&[1, 14, 91, 0]));
    assert_eq!(read, Err(ProtostoneError::Short { index: 0, announced: 14, left: 13 }));
    let read = decode_protostones(&protocol(&[1, 0, 1, u128::MAX]));
    assert_eq!(read, Err(ProtostoneError::Short { index: 1, announced: u128::MAX, left: 8 }));
    assert_eq!(decode(&[1, 13, 91, 0])[0].pointer, Some(0));
}

#[test]
fn of_a_repeated_field_the_first_value_counts() {
    let read = decode(&[1, 8, 91, 1, 91, 2, 93, 3, 93, 4]);
    assert_eq!((read[0].pointer, read[0].refund), (Some(1), Some(3)));
}

#[test]
fn numbers_of_outputs_keep_their_low_32_bits() {
    let read = decode(&[1, 6, 91, 1 << 32, 93, (7 << 32) | 5, 95, u128::MAX]);
    assert_eq!((read[0].pointer, read[0].refund, read[0].from), (Some(0), Some(5), Some(u32::MAX)));
}

#[test]
fn a_key_without_a_value_and_unknown_keys_are_dropped() {
    assert_eq!(decode(&[1, 5, 22, 9, 92, 8, 91]), [stone(1)]);
    // So is a lone key 0: there are no edict integers.
    assert_eq!(decode(&[1, 1, 0]), [stone(1)]);
}

#[test]
fn malformed_edicts_leave_none_and_the_next_stone_is_unharmed() {
    let overflow = [u128::MAX, 0, 1, 0, 1, 0, 1, 0, 2, 2, 2, 2];
    let mut integers = vec![1, 3 + overflow.len() as u128, 91, 4, 0];
    integers.extend(overflow);
    integers.extend([7, 2, 91, 6]);
    let read = decode(&integers);
    assert_eq!(read, [Protostone { pointer: Some(4), ..stone(1) }, Protostone { pointer: Some(6), ..stone(7) }]);
}

#[test]
fn message_chunks_are_joined_in_order_between_other_fields() {
    let read = decode(&[1, 6, 81, 1, 91, 0, 81, 2]);
    assert_eq!(read[0].message.len(), 30);
    assert_eq!((read[0].message[0], read[0].message[15]), (1, 2));
    assert!(read[0].is_alkanes_message());
    // A message of zeros is a message.
    assert!(decode(&[1, 2, 81, 0])[0].is_message());
    assert!(!decode(&[2, 2, 81, 1])[0].is_alkanes_message());
}

#[test]
fn the_encoder_writes_fields_in_the_usual_order() {
    let stone = Protostone {
        protocol_tag: 1,
        message: vec![9; 16],
        burn: Some(1),
        pointer: Some(2),
        refund: Some(3),
        from: Some(4),
        edicts: vec![Edict { id: AlkaneId { block: 2, tx: 1 }, amount: Amount(8), output: 0 }],
    };
    let nines = u128::from_le_bytes([9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0]);
    assert_eq!(stone.to_fields(), [83, 1, 91, 2, 93, 3, 95, 4, 81, nines, 81, 9, 0, 2, 1, 8, 0]);
}

#[test]
fn a_stone_without_a_tag_is_not_written() {
    let refused = encode_protostones(&[stone(1), stone(0)]);
    assert_eq!(refused, Err(ProtostoneEncodeError::NoProtocolTag { index: 1 }));
}

prop_compose! {
    fn any_edict()(block: u128, tx: u128, amount: u128, output: u128) -> Edict {
        Edict { id: AlkaneId { block, tx }, amount: Amount(amount), output }
    }
}

prop_compose! {
    fn any_stone()(
        (pointer, refund, from) in any::<(Option<u32>, Option<u32>, Option<u32>)>(),
        (protocol_tag, message, burn) in (1..=u128::MAX, any::<Vec<u8>>(), any::<Option<u128>>()),
        edicts in prop::collection::vec(any_edict(), 0..8),
    ) -> Protostone {
        Protostone { protocol_tag, message, burn, pointer, refund, from, edicts }
    }
}

proptest! {
    #[test]
    fn protostones_round_trip(stones in prop::collection::vec(any_stone(), 0..6)) {
        let mut expected = stones.clone();
        for stone in &mut expected {
            stone.message.resize(stone.message.len().div_ceil(CHUNK_LEN_BYTES) * CHUNK_LEN_BYTES, 0);
            stone.edicts.sort_by_key(|edict| edict.id);
        }
        let protocol = encode_protostones(&stones).unwrap();
        prop_assert_eq!(&decode_protostones(&protocol).unwrap(), &expected);
        // A decoded list is encoded to the same bytes.
        prop_assert_eq!(encode_protostones(&expected).unwrap(), protocol);
    }

    #[test]
    fn arbitrary_integers_never_panic_and_grow_within_bounds(protocol: Vec<u128>, small: Vec<u8>) {
        for protocol in [protocol, small.iter().copied().map(u128::from).collect(), pack_chunks(&small)] {
            let Ok(stones) = decode_protostones(&protocol) else { continue };
            let bytes = protocol.len() * CHUNK_LEN_BYTES;
            let edicts: usize = stones.iter().map(|stone| stone.edicts.len()).sum();
            let message_len: usize = stones.iter().map(|stone| stone.message.len()).sum();
            prop_assert!(2 * stones.len() + 4 * edicts + 2 * message_len / CHUNK_LEN_BYTES <= bytes);
        }
    }
}
