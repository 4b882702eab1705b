use proptest::prelude::*;

use super::*;

fn map(pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = (pairs.len() as u32).to_le_bytes().to_vec();
    for part in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

fn failure<T>(result: Result<T, Stop>) -> String {
    match result {
        Err(Stop::Revert(text)) => text,
        Err(Stop::Halt(halt)) => panic!("{halt}"),
        Ok(_) => panic!("no failure"),
    }
}

#[test]
fn a_storage_map_is_sorted_and_of_equal_keys_the_last_counts() {
    let bytes = map(&[(b"b", b"1"), (b"a", b"22"), (b"b", b"333"), (b"", b""), (b"b", b"4")]);
    let storage = RawStorage::parse(bytes.clone()).unwrap();
    assert_eq!(storage.len(), bytes.len() as u64);
    assert_eq!(storage.pairs.serialized_len(), map(&[(b"", b""), (b"a", b"22"), (b"b", b"4")]).len() as u64);
    let pairs: [(Vec<u8>, Vec<u8>); 3] =
        [(vec![], vec![]), (b"a".to_vec(), b"22".to_vec()), (b"b".to_vec(), b"4".to_vec())];
    assert_eq!(storage.into_pairs(), pairs);
}

#[test]
fn counts_and_lengths_beyond_the_buffer_are_refused_before_memory_is_taken() {
    for (bytes, text) in [
        (u32::MAX.to_le_bytes().to_vec(), "StorageMap: entry count 4294967295 exceeds remaining input"),
        (
            [&1_u32.to_le_bytes()[..], &u32::MAX.to_le_bytes(), &[0; 20]].concat(),
            "StorageMap: key length 4294967295 exceeds remaining input",
        ),
        ([&2_u32.to_le_bytes()[..], &[0; 15]].concat(), "StorageMap: entry count 2 exceeds remaining input"),
        (vec![0; 3], "failed to fill whole buffer"),
    ] {
        assert_eq!(failure(RawStorage::parse(bytes)), text);
    }
    assert_eq!(failure(parse_parcel(&u128::MAX.to_le_bytes())), "failed to fill whole buffer");
    assert_eq!(failure(parse_cellpack(&[0; 31])), "failed to fill whole buffer");
}

#[test]
fn a_cellpack_drops_what_is_left_after_its_last_word() {
    let cellpack = parse_cellpack(&[[2; 16].as_slice(), &[0; 16], &[7; 16], &[9; 15]].concat()).unwrap();
    assert_eq!(cellpack.target.block, u128::from_le_bytes([2; 16]));
    assert_eq!(cellpack.inputs, [u128::from_le_bytes([7; 16])]);
}

#[test]
fn an_array_buffer_has_its_length_before_its_pointer() {
    let memory = [9, 3, 0, 0, 0, 7, 8, 9, 0];
    assert_eq!(array_buffer(&memory, 5).unwrap(), [7, 8, 9]);
    assert_eq!(failure(array_buffer(&memory, -1)), "invalid start offset");
    assert_eq!(failure(array_buffer(&memory, 3)), "failed to read length prefix");
    assert_eq!(failure(array_buffer(&memory, 10)), "failed to read length prefix");
    assert_eq!(failure(array_buffer(&memory, 4)), "invalid buffer range");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, pointer: i32) {
        let _ = array_buffer(&bytes, pointer);
        let _ = parse_cellpack(&bytes);
        let _ = parse_parcel(&bytes);
        let _ = RawStorage::parse(bytes.clone()).map(RawStorage::into_pairs);
        let _ = RawResponse::parse(bytes).map(RawResponse::into_response);
    }

    #[test]
    fn returndata_is_read_back_as_parcel_and_data(values in prop::collection::vec(any::<(u128, u128, u128)>(), 0..5), data: Vec<u8>) {
        let transfer = |(block, tx, value)| Transfer { id: AlkaneId { block, tx }, value };
        let alkanes: Vec<_> = values.into_iter().map(transfer).collect();
        let returndata = Returndata::new(&alkanes, data.clone().into());
        let bytes = returndata.parts().concat();
        prop_assert_eq!(bytes.len(), returndata.len());
        prop_assert_eq!(parse_parcel(&bytes).unwrap(), alkanes);
        prop_assert_eq!(&bytes[bytes.len() - data.len()..], &data[..]);
    }
}
