//! Tests of the event stream's state, without a connection.

use super::*;

fn hash(block: u8) -> String {
    format!("{block:02x}").repeat(32)
}

fn cursor(height: u32, block: u8, index: u64) -> String {
    format!("{height}-{}-{index}", hash(block))
}

fn connected(height: u32, block: u8) -> String {
    let (previous, time) = (hash(block - 1), 7);
    let cursor = cursor(height, block, 0);
    json!({
        "type": "block_connected", "cursor": cursor, "height": height, "block_hash": hash(block), "previous_hash": previous, "time": time,
    })
    .to_string()
}

fn called(height: u32, block: u8, index: u64) -> String {
    json!({
        "type": "call", "cursor": cursor(height, block, index), "height": height, "block_hash": hash(block), "txid": hash(99), "vout": 5,
        "contract": "2:0", "call_type": "call", "inputs": ["77", u128::MAX.to_string()], "status": "success",
    })
    .to_string()
}

fn checkpoint(height: u32, block: u8, events: &[&str]) -> String {
    let sum = events.iter().fold(0_u64, |sum, text| sum.wrapping_add(part_of(text)));
    json!({
        "type": "checkpoint", "cursor": cursor(height, block, END), "height": height, "block_hash": hash(block), "count": events.len(),
        "checksum": format!("{sum:016x}"),
    })
    .to_string()
}

fn disconnected(height: u32, block: u8, below: u8) -> String {
    json!({ "type": "block_disconnected", "cursor": cursor(height - 1, below, END), "height": height, "block_hash": hash(block) })
        .to_string()
}

fn apply(blocks: &mut Blocks, text: &str) -> Result<(), Diverged> {
    blocks.apply(text, parsed_message(text).unwrap()).unwrap()
}

/// The texts of the returned events.
fn returned(blocks: &mut Blocks) -> Vec<String> {
    blocks.waiting.drain(..).map(|event| event.text).collect()
}

#[test]
fn a_block_is_returned_once_its_checksum_is_known() {
    let mut blocks = Blocks::default();
    let (first, second) = (connected(5, 1), called(5, 1, 9));
    apply(&mut blocks, &first).unwrap();
    apply(&mut blocks, &second).unwrap();
    assert!(blocks.waiting.is_empty());
    let end = checkpoint(5, 1, &[&first, &second]);
    apply(&mut blocks, &end).unwrap();
    let EventContent::Call { inputs, .. } = &blocks.waiting[1].content else { panic!("{:?}", blocks.waiting[1]) };
    assert_eq!(inputs[1].0, u128::MAX);
    assert_eq!(returned(&mut blocks), [first, second, end]);
    assert_eq!(blocks.position.as_ref().map(Position::text), Some(cursor(5, 1, END)));
    // A block without events that pass.
    let end = checkpoint(6, 2, &[]);
    apply(&mut blocks, &end).unwrap();
    assert_eq!(returned(&mut blocks), [end]);
}

#[test]
fn events_that_are_missing_changed_or_out_of_order_are_noticed() {
    let (first, second) = (connected(5, 1), called(5, 1, 9));
    let end = checkpoint(5, 1, &[&first, &second]);
    for texts in [
        vec![&second, &end],
        vec![&second, &first],
        vec![&first, &first],
        vec![&first, &second, &end, &second],
        vec![&first, &second, &end, &end],
        vec![&first, &called(6, 2, 9)],
        vec![&end],
    ] {
        let mut blocks = Blocks::default();
        let all: Result<(), Diverged> = texts.iter().try_for_each(|text| apply(&mut blocks, text));
        assert_eq!(all, Err(Diverged), "{texts:?}");
    }
    let mut blocks = Blocks::default();
    apply(&mut blocks, &first).unwrap();
    apply(&mut blocks, &second.replace("77", "78")).unwrap();
    assert_eq!(apply(&mut blocks, &end), Err(Diverged));
    assert!(blocks.waiting.is_empty());
}

#[test]
fn disconnected_blocks_are_returned_if_any_of_their_events_was() {
    let mut blocks = Blocks::default();
    for (height, block) in [(5, 1), (6, 2)] {
        let event = connected(height, block);
        apply(&mut blocks, &event).unwrap();
        apply(&mut blocks, &checkpoint(height, block, &[&event])).unwrap();
    }
    // This block is incomplete when it is disconnected.
    apply(&mut blocks, &connected(7, 3)).unwrap();
    returned(&mut blocks);
    apply(&mut blocks, &disconnected(7, 3, 2)).unwrap();
    assert!(blocks.waiting.is_empty());
    let left = disconnected(6, 2, 1);
    apply(&mut blocks, &left).unwrap();
    assert_eq!(returned(&mut blocks), std::slice::from_ref(&left));
    let event = connected(6, 8);
    apply(&mut blocks, &event).unwrap();
    apply(&mut blocks, &checkpoint(6, 8, &[&event])).unwrap();
    assert_eq!(blocks.position.as_ref().map(Position::text), Some(cursor(6, 8, END)));
    // Only the newest block can be disconnected.
    assert_eq!(apply(&mut blocks, &left), Err(Diverged));
    assert_eq!(apply(&mut blocks, &disconnected(5, 1, 0)), Err(Diverged));
}

#[test]
fn a_stream_that_begins_in_the_middle_of_a_block_has_its_rest() {
    let all = [connected(5, 1), called(5, 1, 9), called(5, 1, 10)];
    let end = checkpoint(5, 1, &[&all[0], &all[1], &all[2]]);
    let begun = || Blocks { position: Position::read(&cursor(5, 1, 9)), ..Blocks::default() };
    let mut blocks = begun();
    assert_eq!(apply(&mut begun(), &all[1]), Err(Diverged));
    apply(&mut blocks, &all[2]).unwrap();
    apply(&mut blocks, &end).unwrap();
    assert_eq!(returned(&mut blocks), [all[2].clone(), end]);
    // Its events that were returned before are void.
    let left = disconnected(5, 1, 0);
    let mut blocks = begun();
    apply(&mut blocks, &left).unwrap();
    assert_eq!(returned(&mut blocks), [left]);
}

#[test]
fn an_invalid_cursor_is_refused() {
    for bad in [
        "",
        "5",
        "5-ab-1",
        &format!("5-{}-{}", hash(1), END + 1),
        &format!("x-{}-1", hash(1)),
        &(cursor(5, 1, 1) + "-1"),
    ] {
        assert_eq!(Position::read(bad), None, "{bad}");
    }
}
