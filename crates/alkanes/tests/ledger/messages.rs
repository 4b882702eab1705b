//! The numbered list of a script's messages.

use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, OutPoint};
use paraffin_alkanes::codec::Protostone;
use paraffin_alkanes::{ChainState, ScriptKey, ScriptMessage, TraceEvent, TraceStatus};
use paraffin_primitives::Height;

use crate::chain::{Instance, block, id, output, parameters, script, spend, with_stones};
use crate::scenario::Scenario;
use crate::stand_in::{DOUBLE_MINT, FAIL, KEEP, MINT, message};

/// All messages of a script, the newest first, from its transactions and the traces of their blocks.
fn by_scan(state: &ChainState, number: u64) -> Vec<ScriptMessage> {
    let mut found = Vec::new();
    for entry in state.activity_of(&script(number), None, usize::MAX).unwrap().items {
        let traces = state.block_traces(entry.height).unwrap();
        let own = traces.iter().rev().filter(|traced| traced.outpoint.txid == entry.txid);
        found.extend(own.map(|traced| ScriptMessage {
            outpoint: traced.outpoint,
            height: entry.height,
            transaction_index: entry.transaction_index,
            stands: traced.stands,
        }));
    }
    found
}

#[track_caller]
fn assert_pages(state: &ChainState, number: u64) -> Vec<ScriptMessage> {
    let expected = by_scan(state, number);
    for (offset, limit) in [(0, 0), (0, 1), (0, 7), (1, 2), (3, 1000), (usize::MAX, 1), (0, usize::MAX)] {
        let (items, total) = state.messages_of(&script(number), offset, limit).unwrap();
        let page: Vec<_> = expected.iter().skip(offset).take(limit).copied().collect();
        assert_eq!((items, total), (page, expected.len()), "{limit} from {offset} of script {number}");
    }
    for offset in 0..=expected.len() {
        let (items, _) = state.messages_of(&script(number), offset, 3).unwrap();
        assert_eq!(items, expected[offset..expected.len().min(offset + 3)], "3 from {offset} of script {number}");
    }
    expected
}

#[test]
fn messages_of_a_script_are_those_of_its_transactions_at_every_height_and_on_every_branch() {
    let rules = parameters(7);
    let (mut instance, mut scenario) = (Instance::regtest(rules), Scenario::new(51));
    let mut fork = None;
    for height in 0..16 {
        instance.connect(scenario.grow(10));
        if height == 9 {
            fork = Some(scenario.clone());
        }
    }
    let check = |instance: &Instance| {
        let (mut listed, mut void) = (0, 0);
        for height in [0, 3, 9, 12, 15, 99] {
            for number in 0..6 {
                let messages = assert_pages(&instance.at(height), number);
                listed += messages.len();
                void += messages.iter().filter(|message| !message.stands).count();
            }
        }
        assert!(listed > 200 && void > 50, "{listed} messages, {void} of them undone");
    };
    check(&instance);
    for _ in 10..16 {
        instance.writer.undo_block().unwrap();
    }
    let mut fork = fork.unwrap();
    fork.numbers = crate::scenario::Numbers::new(0x0f0f);
    for _ in 10..16 {
        instance.connect(&fork.grow(10).clone());
    }
    check(&instance);
}

/// A chain in which one script has 20,000 messages in 400 transactions, another 50 in one.
fn busy() -> (Instance, Height) {
    let mut instance = Instance::regtest(parameters(0));
    let mut previous = BlockHash::all_zeros();
    let mut height = 0;
    let mut call = |to: u64, transactions: u64| {
        let stones = vec![message(id(2, 1), &[KEEP], 0, 0); 50];
        let transactions = (0..transactions).map(|number| {
            let mut paid = output(script(to));
            paid.value += bitcoin::Amount::from_sat(u64::from(height) * 1000 + number);
            with_stones(vec![], vec![paid], &stones)
        });
        let next = block(height, previous, transactions.collect());
        previous = next.id.hash;
        height += 1;
        instance.apply(&next).unwrap();
    };
    (0..4).for_each(|_| call(1, 100));
    call(2, 1);
    instance.writer.commit(false).unwrap();
    (instance, height - 1)
}

#[test]
fn a_page_of_messages_costs_the_same_wherever_it_lies_and_however_many_there_are() {
    let (instance, height) = busy();
    let cost = |number: u64, height: Height, offset: usize, expected: usize| {
        let before = instance.store.reads().total();
        let (items, total) = instance.at(height).messages_of(&script(number), offset, 50).unwrap();
        assert_eq!((items.len(), total), (50, expected));
        instance.store.reads().total() - before
    };
    let small = cost(2, height, 0, 50);
    assert!(small <= 60, "{small}");
    for offset in [0, 50, 9_950, 19_950] {
        assert_eq!(cost(1, height, offset, 20_000), small, "from {offset}");
    }
    // As of an older block: newer rows cost nothing, and an older version costs one more seek.
    let older = cost(1, 0, 4_950, 5_000);
    assert!((small..=small + 2).contains(&older), "{older}");
    // The newest is the last message of the last transaction.
    let state = instance.at(height);
    let newest = state.messages_of(&script(1), 0, 1).unwrap().0[0];
    let traces = state.block_traces(3).unwrap();
    assert_eq!((newest.outpoint, newest.height, newest.transaction_index), (traces.last().unwrap().outpoint, 3, 100));
    let (past, total) = state.messages_of(&script(1), 20_000, 50).unwrap();
    assert_eq!((past.len(), total), (0, 20_000));
}

#[test]
fn a_message_that_did_nothing_does_not_stand_though_its_trace_ends_with_success() {
    let mut instance = Instance::regtest(parameters(0));
    let paid = |value: u64| {
        let mut paid = output(script(1));
        paid.value += bitcoin::Amount::from_sat(value);
        vec![paid]
    };
    let broken = Protostone { pointer: None, ..message(id(2, 1), &[KEEP], 0, 0) };
    let void = with_stones(vec![], paid(1), &[message(id(2, 1), &[KEEP], 0, 0), broken]);
    let unfit = [message(id(2, 1), &[DOUBLE_MINT, 1 << 127], 0, 0), message(id(2, 1), &[FAIL], 0, 0)];
    let unfit = with_stones(vec![], paid(2), &unfit);
    let kept = with_stones(vec![], paid(3), &[message(id(2, 1), &[KEEP], 0, 0)]);
    let txids = [&kept, &unfit, &void].map(bitcoin::Transaction::compute_txid);
    instance.connect(&block(0, BlockHash::all_zeros(), vec![void, unfit, kept]));
    let state = instance.at(0);
    let (messages, total) = state.messages_of(&script(1), 0, 9).unwrap();
    let told = messages.iter().map(|message| {
        let trace = state.trace(&message.outpoint).unwrap().unwrap();
        let is_success = matches!(trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. }));
        (message.outpoint, is_success, message.stands)
    });
    let shadow = |index: usize, vout: u32| OutPoint { txid: txids[index], vout };
    let expected = [
        (shadow(0, 3), true, true),
        (shadow(1, 4), false, true),
        (shadow(1, 3), true, false),
        (shadow(2, 3), true, false),
    ];
    assert_eq!((told.collect::<Vec<_>>(), total), (expected.to_vec(), 4));
}

#[test]
fn a_script_that_alkanes_are_sent_to_without_a_message_is_found_by_its_key() {
    let mut instance = Instance::regtest(parameters(0));
    let minted = with_stones(vec![], vec![output(script(1))], &[message(id(2, 1), &[MINT, 5], 0, 0)]);
    let held = OutPoint { txid: minted.compute_txid(), vout: 0 };
    let first = block(0, BlockHash::all_zeros(), vec![minted]);
    instance.connect(&first);
    let moved = Protostone { message: vec![], ..message(id(2, 1), &[], 0, 0) };
    instance.connect(&block(1, first.id.hash, vec![with_stones(vec![spend(held)], vec![output(script(7))], &[moved])]));
    let state = instance.at(1);
    assert_eq!(state.outputs_of(&script(7), None, 9).unwrap().items.len(), 1);
    assert_eq!(state.script(ScriptKey::of(&script(7))).unwrap(), Some(script(7)));
    assert_eq!(state.messages_of(&script(7), 0, 9).unwrap(), (vec![], 0));
    assert_eq!(state.messages_of(&script(1), 0, 9).unwrap().1, 1);
}
