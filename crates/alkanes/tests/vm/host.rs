//! Host functions and their costs (protocol B10).

use bitcoin::consensus::encode;
use paraffin_alkanes::StateKey;
use paraffin_alkanes::codec::Cellpack;

use crate::stage::{SUBJECT, Stage, answering, contract, id, transfer};

/// The cost of a host call alone: the difference that deducting it makes.
fn cost(body: &str) -> u64 {
    let code = answering(body);
    let mut stage = Stage::with(&code);
    stage.put(StateKey::Storage(SUBJECT, b"12345".to_vec()), [7; 11]);
    stage.put_balance(SUBJECT, id(2, 9), 5);
    let deducted = stage.message_with(&[1, 2], &[transfer(id(2, 9), 1)]).fuel();
    stage.parameters.host_fuel_deducted = 101;
    deducted - stage.message_with(&[1, 2], &[transfer(id(2, 9), 1)]).fuel()
}

/// Writes an `ArrayBuffer` of `bytes` at `pointer`.
fn buffer(pointer: usize, bytes: &[u8]) -> String {
    let stores = bytes.iter().enumerate().map(|(index, byte)| {
        let place = pointer + index;
        ["(i32.store8 (i32.const ", &place.to_string(), ") (i32.const ", &byte.to_string(), "))"].concat()
    });
    let length = format!("(i32.store (i32.const {}) (i32.const {}))", pointer - 4, bytes.len());
    length + &stores.collect::<String>()
}

#[test]
fn host_functions_cost_what_the_protocol_says() {
    let key = buffer(2004, b"12345");
    // Context: ids of two contracts, vout, count, one transfer, and the inputs with the padding of the message.
    let context_len = 16 * (6 + 3 + 2);
    for (body, expected) in [
        (format!("{key} (drop (call $request_storage (i32.const 2004)))"), 5 + 11),
        (format!("{key} (drop (call $load_storage (i32.const 2004) (i32.const 3004)))"), 2 * (5 + 11)),
        ("(drop (call $request_context))".to_owned(), context_len),
        ("(drop (call $load_context (i32.const 3004)))".to_owned(), 2 * context_len),
        ("(drop (call $request_transaction))".to_owned(), 50),
        ("(call $load_transaction (i32.const 3004))".to_owned(), 500),
        ("(drop (call $request_block))".to_owned(), 100),
        ("(call $load_block (i32.const 3004))".to_owned(), 1000),
        ("(call $sequence (i32.const 3004))".to_owned(), 5),
        ("(call $fuel (i32.const 3004))".to_owned(), 5),
        ("(call $height (i32.const 3004))".to_owned(), 10),
        (format!("{} (call $balance (i32.const 2004) (i32.const 2004) (i32.const 3004))", buffer(2004, &[0; 32])), 10),
        ("(call $returndatacopy (i32.const 3004))".to_owned(), 0),
        (format!("{key} (call $log (i32.const 2004))"), 0),
    ] {
        assert_eq!(cost(&body), expected, "{body}");
    }
}

#[test]
fn fuel_is_checked_also_where_it_is_not_deducted() {
    let code = answering("(call $load_block (i32.const 3004))");
    for deducted_from in [0, u64::MAX] {
        let mut stage = Stage::with(&code);
        stage.parameters.host_fuel_deducted = deducted_from;
        let text = stage.simulate(SUBJECT, &[], 1000).unwrap().result.unwrap_err();
        assert_eq!(text, "ALKANES: revert", "a few units are gone before the call");
        assert!(stage.simulate(SUBJECT, &[], 1200).unwrap().result.is_ok());
    }
}

#[test]
fn a_contract_sees_the_transaction_the_block_and_where_it_stands() {
    let mut stage = Stage::with(&contract("probe"));
    stage.put(StateKey::Sequence, 41_u128.to_le_bytes());
    stage.height = 123;
    let cellpack = |inputs: &[u128]| Cellpack { target: SUBJECT, inputs: inputs.to_vec() };
    let block = |inputs: &[u128]| stage.block(&[&cellpack(inputs)]);
    assert_eq!(stage.message(&[11]).data(), encode::serialize(&block(&[11]).txdata[1]));
    assert_eq!(stage.message(&[12]).data(), encode::serialize(&block(&[12])));
    assert_eq!(stage.message(&[13]).data(), 41_u128.to_le_bytes());
    assert_eq!(stage.message(&[15]).data(), 123_u64.to_le_bytes());
    assert_eq!(stage.message(&[19]).data(), (block(&[19]).txdata[1].total_size() as u64).to_le_bytes());
    assert_eq!(stage.message(&[20]).data(), (block(&[20]).total_size() as u64).to_le_bytes());
    let context = [4, 7, 0, 0, 3, 1, 2, 9, 5, 10, 8].map(u128::to_le_bytes).concat();
    assert_eq!(stage.message_with(&[10, 8], &[transfer(id(2, 9), 5)]).data(), context);
    let fuel = u64::from_le_bytes(stage.message(&[14]).data().try_into().unwrap());
    assert!((1..3_500_000).contains(&fuel), "{fuel}");
}

#[test]
fn a_balance_is_read_and_leaves_a_mark_that_a_revert_does_not_undo() {
    let stage = Stage::with(&contract("probe"));
    stage.put_balance(id(4, 1), id(2, 9), 77);
    let ended = stage.message(&[16, 4, 1, 2, 9]);
    assert_eq!(ended.data(), 77_u128.to_le_bytes());
    assert_eq!(stage.message(&[16, 4, 2, 2, 9]).data(), [0; 16]);
    let mark = StateKey::Inventory { who: id(4, 1), what: id(2, 9) };
    assert!(ended.writes.contains_key(&mark));

    let pointers = format!(
        "{} {} (call $balance (i32.const 2004) (i32.const 2104) (i32.const 3004)) unreachable",
        buffer(2004, &[id_word(4), id_word(1)].concat()),
        buffer(2104, &[id_word(2), id_word(9)].concat()),
    );
    let stage = Stage::with(&answering(&pointers));
    stage.put_balance(id(4, 1), id(2, 9), 77);
    let ended = stage.message(&[]);
    assert_eq!(ended.revert(), "ALKANES: revert: wasm `unreachable` instruction executed");
    assert!(ended.writes.contains_key(&mark));
    assert_eq!(ended.writes.len(), 1);
}

fn id_word(word: u128) -> [u8; 16] {
    word.to_le_bytes()
}

#[test]
fn a_write_is_read_back_by_the_same_and_by_the_next_message() {
    let stage = Stage::with(&contract("probe"));
    assert_eq!(stage.message(&[32, 1, 99]).data(), 99_u128.to_le_bytes());
    stage.apply(SUBJECT, &[30, 1, 5]);
    assert_eq!(stage.message(&[31, 1]).data(), 5_u128.to_le_bytes());
    stage.apply(SUBJECT, &[35, 1]);
    assert_eq!(stage.message(&[31, 1]).data(), b"");
}

#[test]
fn text_that_is_not_utf_8_can_be_logged() {
    assert_eq!(Stage::with(&contract("probe")).message(&[18]).data(), b"");
}

#[test]
fn an_error_answers_minus_one_and_the_contract_goes_on_to_be_undone() {
    // The first argument is no pointer; what the host answered becomes the data of the response.
    let body = "(i32.store (i32.const 1048) (call $load_storage (i32.const -5) (i32.const 3004)))
                (i32.store (i32.const 1024) (i32.const 24))";
    let ended = Stage::with(&answering(body)).message(&[]);
    assert_eq!(ended.revert(), "ALKANES: revert");
    for call in [
        "(call $sequence (i32.const 2))",
        "(call $sequence (i32.const 33554425))",
        "(call $sequence (i32.const -1))",
        "(call $log (i32.const 1))",
        "(drop (call $request_storage (i32.const 33554433)))",
        "(call $abort (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))",
    ] {
        assert_eq!(Stage::with(&answering(call)).message(&[]).revert(), "ALKANES: revert", "{call}");
    }
    let just_fits = Stage::with(&answering("(call $sequence (i32.const 33554416))")).message(&[]);
    assert_eq!(just_fits.data(), b"");
}
