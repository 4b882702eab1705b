//! Binary forms that cross the boundary or lie on the chain.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

use paraffin_contract::bitcoin::Transaction;
use paraffin_contract::testing::TransactionBuilder;
use paraffin_contract::{AlkaneId, Context, Parcel, Reader, Response, StorageMap};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Numbers without meaning, the same on every run.
fn noise(seed: &mut u64) -> u8 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 56) as u8
}

#[test]
fn a_context_reads_back_as_written() {
    let mut incoming = Parcel::of(AlkaneId::new(2, 3), 7);
    incoming.add(AlkaneId::new(32, 0), u128::MAX);
    let context = Context {
        myself: AlkaneId::new(2, 1),
        caller: AlkaneId::new(4, 65522),
        vout: 5,
        incoming,
        inputs: vec![77, 0, u128::MAX],
    };
    assert_eq!(Context::from_bytes(&context.to_bytes()), Some(context.clone()));
    let cut = context.to_bytes();
    assert_eq!(Context::from_bytes(&cut[..16 * 8]), None, "the parcel is cut short");
}

#[test]
fn a_response_is_parcel_storage_map_and_data() {
    let mut storage = StorageMap::new();
    storage.insert(b"/b", vec![2]);
    storage.insert(b"/a", vec![]);
    storage.insert(b"/b", vec![3, 4]);
    let response = Response::sending(Parcel::of(AlkaneId::new(2, 1), 9)).with_data([5, 6]);
    let mut expected = [1u128, 2, 1, 9].iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    expected
        .extend(bytes("02000000 02000000 2f61 00000000 02000000 2f62 02000000 0304 0506".replace(' ', "").as_str()));
    assert_eq!(response.to_bytes(&storage), expected);
    let mut reader = Reader::new(&expected);
    assert_eq!(Parcel::read(&mut reader), Some(response.alkanes));
    assert_eq!(StorageMap::read(&mut reader), Some(storage));
    assert_eq!(reader.rest(), [5, 6]);
}

#[test]
fn lengths_that_lie_are_refused() {
    assert_eq!(Parcel::read(&mut Reader::new(&u128::MAX.to_le_bytes())), None);
    assert_eq!(StorageMap::read(&mut Reader::new(&u32::MAX.to_le_bytes())), None);
    assert_eq!(StorageMap::read(&mut Reader::new(&bytes("010000000900000000000000"))), None);
}

#[test]
fn taking_from_a_parcel_counts_every_entry_of_the_alkane() {
    let (id, other) = (AlkaneId::new(2, 1), AlkaneId::new(2, 2));
    let mut parcel = Parcel::of(id, 5);
    parcel.add(other, 1);
    parcel.add(id, 6);
    assert!(parcel.take(id, 12).is_err());
    assert_eq!(parcel.take(id, 8).unwrap().value, 8);
    assert_eq!((parcel.amount_of(id), parcel.amount_of(other)), (3, 1));
    assert!(parcel.single().is_err());
}

#[test]
fn the_first_transaction_of_the_chain_has_its_id() {
    let raw = bytes(
        "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d\
         65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f72206261\
         6e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38\
         c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000",
    );
    let transaction = Transaction::parse(&raw).unwrap();
    let mut txid = transaction.txid;
    txid.reverse();
    assert_eq!(txid[..], bytes("4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"));
    assert_eq!(transaction.outputs[0].value, 5_000_000_000);
    assert_eq!(Transaction::parse(&raw[..raw.len() - 1]), None);
}

#[test]
fn witnesses_do_not_change_the_id_and_carry_the_envelope() {
    let plain = TransactionBuilder::new().paying(1, [0x51]);
    let content = [7u8; 60];
    let script =
        [&b"\x20________________________________\xac\x00\x63\x03BIN\x00\x3c"[..], &content, b"\x02\x08\x09\x68"]
            .concat();
    let witnessed = plain.clone().with_witness(vec![script, vec![0xc0; 33]]);
    let (plain, witnessed) = (plain.to_bytes(), witnessed.to_bytes());
    let (plain, witnessed) = (Transaction::parse(&plain).unwrap(), Transaction::parse(&witnessed).unwrap());
    assert_eq!(plain.txid, witnessed.txid);
    assert_eq!(plain.envelope(), None);
    assert_eq!(witnessed.envelope().unwrap(), [&content[..], &[8, 9]].concat());
}

#[test]
fn protostones_read_back_as_written() {
    let builder = TransactionBuilder::new().paying(1, [0x51]);
    let builder = builder.with_protostone(1, &[91, 0, 93, 1, 81, 77]).with_protostone(1, &[0, 2, 1, 100, 0]);
    let stones = Transaction::parse(&builder.to_bytes()).unwrap().protostones();
    assert_eq!(stones.len(), 2);
    assert_eq!((stones[0].tag, stones[0].pointer, stones[0].refund), (1, Some(0), Some(1)));
    assert_eq!(stones[1].edicts, [2, 1, 100, 0]);
    assert_eq!((stones[1].pointer, stones[1].refund), (None, None));
}

#[test]
fn no_bytes_make_the_readers_panic() {
    let mut seed = 1;
    for length in 0..2_000 {
        let mut raw: Vec<u8> = (0..length % 300).map(|_| noise(&mut seed)).collect();
        if length % 2 == 0 && raw.len() > 60 {
            // Enough of a transaction to get past its first fields.
            raw[..6].copy_from_slice(&[2, 0, 0, 0, 1, 0x11]);
            raw[41] = 0;
            raw[46] = 1;
            raw[55] = 4;
            raw[56..58].copy_from_slice(&[0x6a, 0x5d]);
        }
        if let Some(transaction) = Transaction::parse(&raw) {
            transaction.protostones();
            transaction.envelope();
        }
        Context::from_bytes(&raw);
        Response::from_return_data(&raw);
    }
}
