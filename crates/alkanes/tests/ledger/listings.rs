use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, OutPoint, Script, Txid};
use paraffin_alkanes::codec::{Artifact, Edict};
use paraffin_alkanes::{ChainState, Cursor, FundedOutput, Holder, Order, Page, ScriptKey, StateError, StateKey};
use paraffin_primitives::{AlkaneId, Amount, ConnectedBlock, Height};

use crate::chain::{Instance, Memory, block, engine, id, output, parameters, script, spend, with_stones};
use crate::scenario::Scenario;
use crate::stand_in::{self, KEEP, MINT};

/// All items of a listing, page by page.
fn all<T>(limit: usize, mut page: impl FnMut(Option<&Cursor>, usize) -> Result<Page<T>, StateError>) -> Vec<T> {
    let mut items = Vec::new();
    let mut cursor: Option<Cursor> = None;
    loop {
        let next = page(cursor.as_ref(), limit).unwrap();
        assert!(next.items.len() <= limit);
        items.extend(next.items);
        // A cursor survives its text.
        cursor = next.next.map(|cursor| cursor.to_string().parse().unwrap());
        if cursor.is_none() {
            return items;
        }
    }
}

fn outpoints(outputs: &[FundedOutput]) -> Vec<OutPoint> {
    outputs.iter().map(|output| output.outpoint).collect()
}

/// Outputs of a script at a height, from the blocks and the state alone: position of each output, with its sheet.
#[derive(Default, Clone)]
struct Naive {
    live: BTreeMap<(Height, usize, u32), OutPoint>,
}

type Holders = BTreeMap<AlkaneId, Vec<(u128, Holder)>>;

struct Replay {
    instance: Instance,
    memory: Memory,
    scenario: Scenario,
    /// By script number, after each block.
    history: Vec<Vec<Naive>>,
    /// Holders of every alkane after each block, the greatest first.
    holders: Vec<Holders>,
}

const SCRIPTS: u64 = 6;

fn replay(seed: u64, blocks: usize) -> Replay {
    let rules = parameters(blocks as u64 / 2);
    let mut engine = engine(rules);
    let mut replay = Replay {
        instance: Instance::regtest(rules),
        memory: Memory::default(),
        scenario: Scenario::new(seed),
        history: Vec::new(),
        holders: Vec::new(),
    };
    let mut naive = vec![Naive::default(); SCRIPTS as usize];
    for height in 0..blocks {
        let block = replay.scenario.grow(10);
        replay.instance.connect(block);
        replay.memory.run(&mut engine, block).unwrap();
        for (index, (transaction, txid)) in block.block.txdata.iter().zip(&block.txids).enumerate() {
            for input in &transaction.input {
                for naive in &mut naive {
                    naive.live.retain(|_, outpoint| *outpoint != input.previous_output);
                }
            }
            for (vout, output) in (0u32..).zip(&transaction.output) {
                let outpoint = OutPoint { txid: *txid, vout };
                let number = (0..SCRIPTS).find(|number| output.script_pubkey == script(*number));
                // Whether it was funded, also when a later transaction of the block has spent it.
                if let Some(number) = number.filter(|_| !replay.memory.saved(outpoint).is_empty()) {
                    naive[number as usize].live.insert((height as Height, index, vout), outpoint);
                }
            }
        }
        replay.holders.push(naive_holders(&replay.memory, &naive));
        replay.history.push(naive.clone());
    }
    replay
}

#[test]
fn outputs_of_a_script_are_listed_at_every_height_and_page_by_page() {
    let replay = replay(11, 30);
    let mut found = 0;
    for (height, scripts) in (0..).zip(&replay.history) {
        for (number, naive) in (0..).zip(scripts) {
            let state = replay.instance.at(height);
            let expected: Vec<_> = naive.live.values().copied().collect();
            found += expected.len();
            for limit in [1, 3, 1000] {
                let listed = all(limit, |cursor, limit| state.outputs_of(&script(number), cursor, limit));
                assert_eq!(outpoints(&listed), expected, "script {number} at height {height}, pages of {limit}");
                assert!(listed.iter().all(|output| output.value == 546 && output.script == script(number)));
            }
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn sheets_and_outputs_are_read_as_of_their_height() {
    let replay = replay(12, 20);
    let last = replay.history.len() as Height - 1;
    for outpoint in replay.history[9].iter().flat_map(|naive| naive.live.values()) {
        let (then, now) = (replay.instance.at(9), replay.instance.at(last));
        assert!(!then.sheet(outpoint).unwrap().load().is_empty());
        assert_eq!(now.sheet(outpoint).unwrap().entries, replay.memory.saved(*outpoint));
        let output = now.output(outpoint).unwrap().unwrap();
        assert_eq!(then.output(outpoint).unwrap(), Some(output.clone()));
        let before = replay.instance.at(output.height.saturating_sub(1));
        assert_eq!(before.output(outpoint).unwrap().is_some(), output.height == 0);
        assert_eq!(before.sheet(outpoint).unwrap().entries.is_empty(), output.height > 0);
    }
}

/// Every holder of every token from the state and the blocks, the greatest amount first.
fn naive_holders(memory: &Memory, scripts: &[Naive]) -> Holders {
    let mut held: BTreeMap<(AlkaneId, Holder), u128> = BTreeMap::new();
    for (number, naive) in (0..).zip(scripts) {
        for outpoint in naive.live.values() {
            let sheet: BTreeMap<_, _> = memory.saved(*outpoint).into_iter().collect();
            for (what, amount) in sheet {
                let sum = held.entry((what, Holder::Script(ScriptKey::of(&script(number))))).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
    }
    for key in memory.values.keys() {
        if let StateKey::Balance { what, who } = key {
            held.insert((*what, Holder::Contract(*who)), memory.amount(key).unwrap());
        }
    }
    let mut holders: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for ((what, holder), amount) in held.into_iter().filter(|(_, amount)| *amount > 0) {
        holders.entry(what).or_default().push((amount, holder));
    }
    for holders in holders.values_mut() {
        holders.sort_by_key(|(amount, holder)| (u128::MAX - amount, *holder));
    }
    holders
}

#[test]
fn holders_are_ranked_counted_and_found_by_script() {
    for seed in 20..26 {
        let replay = replay(seed, 25);
        let state = replay.instance.at(24);
        for (&what, expected) in &replay.holders[24] {
            for limit in [1, 2, 100] {
                let holders = all(limit, |cursor, limit| state.holders(what, cursor, limit));
                let holders: Vec<_> = holders.into_iter().map(|holding| (holding.amount, holding.holder)).collect();
                assert_eq!(&holders, expected, "seed {seed}, holders of {what}");
            }
            let counts = state.holder_counts(what).unwrap();
            let scripts = expected.iter().filter(|(_, holder)| matches!(holder, Holder::Script(_))).count();
            assert_eq!((counts.scripts, counts.contracts), (scripts as u64, (expected.len() - scripts) as u64));
            let sum = |is_script: bool| {
                let of_kind = expected.iter().filter(|(_, holder)| matches!(holder, Holder::Script(_)) == is_script);
                of_kind.fold(0u128, |sum, (amount, _)| sum.saturating_add(*amount))
            };
            assert_eq!((counts.in_outputs, counts.in_contracts), (sum(true), sum(false)));
            for number in 0..SCRIPTS {
                let held = all(2, |cursor, limit| state.held_by_script(&script(number), cursor, limit));
                let held = held.iter().find(|holding| holding.id == what).map(|holding| holding.amount);
                let holder = Holder::Script(ScriptKey::of(&script(number)));
                assert_eq!(held, expected.iter().find(|(_, other)| *other == holder).map(|(amount, _)| *amount));
                assert_eq!(state.script(ScriptKey::of(&script(number))).unwrap(), Some(script(number)));
            }
        }
    }
}

#[test]
fn holders_are_ranked_and_counted_as_of_every_height() {
    let replay = replay(26, 25);
    let mut left = 0;
    let ids: Vec<_> = replay.holders[24].keys().copied().collect();
    for (height, then) in (0..).zip(&replay.holders) {
        let state = replay.instance.at(height);
        for what in &ids {
            let expected = then.get(what).cloned().unwrap_or_default();
            for limit in [1, 2, 100] {
                let holders = all(limit, |cursor, limit| state.holders(*what, cursor, limit));
                let holders: Vec<_> = holders.into_iter().map(|holding| (holding.amount, holding.holder)).collect();
                assert_eq!(holders, expected, "holders of {what} at {height}");
            }
            let counts = state.holder_counts(*what).unwrap();
            assert_eq!(counts.scripts + counts.contracts, expected.len() as u64, "holders of {what} at {height}");
            let now = replay.holders[24].get(what).unwrap();
            left += expected.iter().filter(|(_, then)| now.iter().all(|(_, holder)| then != holder)).count();
        }
    }
    // Some holders of then hold nothing now.
    assert!(left > 0);
    let nobody_waits = replay.instance.at(9).until(Arc::new(|| true));
    assert!(matches!(nobody_waits.holders(ids[0], None, 10), Err(StateError::Interrupted)));
}

fn pays(block: &ConnectedBlock, index: usize, wanted: &Script, funded: &HashSet<OutPoint>) -> bool {
    let transaction = &block.block.txdata[index];
    let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) else { return false };
    let Ok(stones) = runestone.protostones() else { return false };
    let mut outputs = (0..).zip(&transaction.output);
    stones.iter().any(|stone| stone.protocol_tag == 1)
        && outputs.any(|(vout, output)| {
            let pointed = stones.iter().any(|stone| stone.is_alkanes_message() && stone.pointer == Some(vout));
            let outpoint = OutPoint { txid: block.txids[index], vout };
            output.script_pubkey == *wanted && (pointed || funded.contains(&outpoint))
        })
}

/// Transactions with protostones that spend an output of the script, as far as it is known: made in the same block, or
/// with alkanes. The newest first.
fn spenders(replay: &Replay, wanted: &Script, funded: &HashSet<OutPoint>) -> Vec<Txid> {
    let mut found = Vec::new();
    let mut outputs: BTreeMap<OutPoint, (Height, bool)> = BTreeMap::new();
    for (height, block) in (0..).zip(&replay.scenario.blocks) {
        for (transaction, txid) in block.block.txdata.iter().zip(&block.txids) {
            let known = transaction.input.iter().any(|input| {
                let (made, is_wanted) = outputs.get(&input.previous_output).copied().unwrap_or_default();
                is_wanted && (made == height || funded.contains(&input.previous_output))
            });
            let stones = match Artifact::read(transaction) {
                Some(Artifact::Runestone(runestone)) => runestone.protostones().unwrap_or_default(),
                _ => Vec::new(),
            };
            if known && stones.iter().any(|stone| stone.protocol_tag == 1) {
                found.push(*txid);
            }
            for (vout, output) in (0..).zip(&transaction.output) {
                outputs.insert(OutPoint { txid: *txid, vout }, (height, output.script_pubkey == *wanted));
            }
        }
    }
    found.reverse();
    found
}

#[test]
fn activity_lists_the_newest_transaction_first() {
    let replay = replay(31, 20);
    let funded: HashSet<_> = replay
        .memory
        .values
        .keys()
        .filter_map(|key| if let StateKey::Sheet(outpoint) = key { Some(*outpoint) } else { None })
        .collect();
    for number in 0..SCRIPTS {
        let mut expected: Vec<Txid> = Vec::new();
        for block in &replay.scenario.blocks {
            let indices = 0..block.txids.len();
            let paying = indices.filter(|index| pays(block, *index, &script(number), &funded));
            expected.extend(paying.map(|index| block.txids[index]));
        }
        expected.reverse();
        let listed = all(3, |cursor, limit| replay.instance.at(19).activity_of(&script(number), cursor, limit));
        let receiving: Vec<_> = listed.iter().filter(|entry| entry.receives).map(|entry| entry.txid).collect();
        assert_eq!(receiving, expected, "script {number}");
        let older = replay.instance.at(9).activity_of(&script(number), None, 1000).unwrap();
        assert!(older.items.iter().all(|entry| entry.height <= 9) && older.items.len() < listed.len());
        let spending: Vec<_> = listed.iter().filter(|entry| entry.spends).map(|entry| entry.txid).collect();
        assert_eq!(spending, spenders(&replay, &script(number), &funded), "script {number}");
        for entry in listed {
            let block = &replay.scenario.blocks[entry.height as usize];
            assert_eq!(block.txids[entry.transaction_index as usize], entry.txid);
        }
    }
}

#[test]
fn storage_is_listed_in_the_order_of_its_keys_at_every_height() {
    let mut instance = Instance::regtest(parameters(0));
    let mut previous = BlockHash::all_zeros();
    // Three contracts are called at three heights; the stand-in stores under "/called" and, with that input, payments.
    for height in 0..3 {
        let stones: Vec<_> = (0..=u128::from(height))
            .map(|contract| stand_in::message(id(2, contract), &[stand_in::PAY, 0], 0, 0))
            .collect();
        let next = block(height, previous, vec![with_stones(vec![], vec![output(script(u64::from(height)))], &stones)]);
        previous = next.id.hash;
        instance.connect(&next);
    }
    let keys = |height, contract, prefix: &[u8]| {
        let state = instance.at(height);
        let entries = all(1, |cursor, limit| state.storage(id(2, contract), prefix, cursor, limit));
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(state.storage(id(2, contract), prefix, None, 100).unwrap().items, entries);
        entries.len()
    };
    assert_eq!([keys(0, 0, b""), keys(1, 0, b""), keys(2, 0, b"")], [3, 5, 7]);
    assert_eq!([keys(0, 1, b""), keys(1, 1, b""), keys(2, 1, b"")], [0, 3, 5]);
    assert_eq!([keys(2, 0, b"/payments/"), keys(2, 0, b"/called"), keys(2, 0, b"/x")], [6, 1, 0]);
    assert_eq!(keys(2, 0, &[b'/'; 5000]), 0);
}

#[test]
fn any_cursor_is_harmless() {
    let replay = replay(41, 12);
    let some = script(1);
    let wide = [0xff, 0].map(|byte| vec![byte; 100_000]);
    for height in [3, 11] {
        let state = replay.instance.at(height);
        let cursors: [&[u8]; 7] = [&[], &[0], &[0xff; 5], &[0xff; 200], &wide[0], &wide[1], b"/called"];
        for cursor in cursors.map(|bytes| Cursor(bytes.to_vec())) {
            let after = Some(&cursor);
            let lengths = [
                state.storage(id(2, 1), b"", after, 9).unwrap().items.len(),
                state.storage(id(2, 1), &[0xff; 9000], after, 9).unwrap().items.len(),
                state.outputs_of(&some, after, 9).unwrap().items.len(),
                state.activity_of(&some, after, 9).unwrap().items.len(),
                state.holders(id(2, 1), after, 9).unwrap().items.len(),
                state.held_by_script(&some, after, 9).unwrap().items.len(),
                state.alkanes(Order::Oldest, after, 9).unwrap().items.len(),
                state.alkanes(Order::Newest, after, 9).unwrap().items.len(),
            ];
            assert!(lengths.iter().all(|length| *length <= 9));
        }
        assert!(state.outputs_of(&some, None, 0).unwrap().items.is_empty());
    }
    assert!("0x12".parse::<Cursor>().is_err() && "1".parse::<Cursor>().is_err());
}

#[test]
fn outputs_as_of_an_older_block_are_not_looked_for_when_the_time_is_over() {
    let replay = replay(11, 30);
    for (height, is_over, is_told) in [(9, false, true), (9, true, false), (29, true, true)] {
        let state = replay.instance.at(height).until(Arc::new(move || is_over));
        let told = state.outputs_of(&script(1), None, 10);
        match told {
            Ok(page) => assert!(is_told && !page.items.is_empty(), "height {height}"),
            Err(error) => assert!(!is_told && matches!(error, StateError::Interrupted), "height {height}: {error}"),
        }
    }
}

#[test]
fn outputs_as_of_an_older_block_are_all_listed_when_many_were_spent_since() {
    let mut instance = Instance::regtest(parameters(0));
    let mut stone = stand_in::message(id(2, 1), &[MINT, 1000], 0, 0);
    stone.edicts = vec![Edict { id: id(2, 1), amount: Amount(1), output: 1001 }];
    let made = with_stones(vec![], vec![output(script(1)); 1000], &[stone]);
    let txid = made.compute_txid();
    let first = block(0, BlockHash::all_zeros(), vec![made]);
    instance.connect(&first);
    // Spent in another order than they were made in.
    let mut previous = first.id.hash;
    for (height, vouts) in (1..).zip([(500..1000).rev().collect::<Vec<u32>>(), (0..500).rev().collect()]) {
        let inputs = vouts.into_iter().map(|vout| spend(OutPoint { txid, vout })).collect();
        let next = block(height, previous, vec![crate::chain::transaction(inputs, vec![output(script(2))])]);
        previous = next.id.hash;
        instance.connect(&next);
    }
    for limit in [1, 7, 300, 2000] {
        let made: Vec<_> = (0..1000).map(|vout| OutPoint { txid, vout }).collect();
        for (height, expected) in [(0, &made[..]), (1, &made[..500]), (2, &[])] {
            let state = instance.at(height);
            let listed = all(limit, |cursor, limit| state.outputs_of(&script(1), cursor, limit));
            assert_eq!(outpoints(&listed), expected, "as of {height}, pages of {limit}");
        }
    }
}

/// A chain in which one script has 10,000 outputs with alkanes, another 100.
fn busy() -> (Instance, Height) {
    let mut instance = Instance::regtest(parameters(0));
    let mut previous = BlockHash::all_zeros();
    let mut height = 0;
    let mut spread = |to: u64, count: usize| {
        let mut stone = stand_in::message(id(2, 1), &[MINT, count as u128], 0, 0);
        let every = count as u128 + 1;
        stone.edicts = vec![Edict { id: id(2, 1), amount: Amount(1), output: every }];
        let mut outputs = vec![output(script(to)); count];
        outputs[0].value += bitcoin::Amount::from_sat(u64::from(height));
        let next = block(height, previous, vec![with_stones(vec![], outputs, &[stone])]);
        previous = next.id.hash;
        height += 1;
        instance.apply(&next).unwrap();
    };
    (0..5).for_each(|_| spread(1, 2000));
    spread(2, 100);
    instance.writer.commit(false).unwrap();
    (instance, height - 1)
}

#[test]
fn a_page_costs_the_same_for_a_script_with_10_000_outputs_as_for_one_with_100() {
    let (instance, height) = busy();
    let cost = |question: &dyn Fn(&ChainState)| {
        let before = instance.store.reads().total();
        question(&instance.at(height));
        instance.store.reads().total() - before
    };
    let first_page = |number: u64| {
        cost(&|state| {
            let page = state.outputs_of(&script(number), None, 50).unwrap();
            assert_eq!((page.items.len(), page.next.is_some()), (50, true));
            for output in &page.items {
                assert_eq!(state.sheet(&output.outpoint).unwrap().entries, [(id(2, 1), 1)]);
            }
        })
    };
    assert_eq!(first_page(1), first_page(2));
    let sums = |number: u64, outputs: u64| {
        cost(&|state| {
            let held = state.held_by_script(&script(number), None, 10).unwrap().items;
            assert_eq!((held.len(), held[0].outputs, held[0].amount), (1, outputs, u128::from(outputs)));
        })
    };
    assert_eq!(sums(1, 10_000), sums(2, 100));
    // Holders: the ranking is read, not sorted.
    let holders = cost(&|state| assert_eq!(state.holders(id(2, 1), None, 1).unwrap().items.len(), 1));
    assert!(holders <= 4, "{holders}");
}

#[test]
fn first_sights_and_traces_are_listed_by_block() {
    let mut instance = Instance::regtest(parameters(0));
    let stones = [
        stand_in::message(id(2, 3), &[MINT, 5], 0, 0),
        stand_in::message(id(2, 1), &[MINT, 5], 0, 0),
        stand_in::message(id(2, 1), &[KEEP], 0, 0),
    ];
    let first = with_stones(vec![], vec![output(script(1))], &stones);
    let next = block(0, BlockHash::all_zeros(), vec![first.clone()]);
    instance.connect(&next);
    let state = instance.at(0);
    assert_eq!(state.first_seen(0).unwrap(), [id(2, 1), id(2, 3)]);
    assert!(state.first_seen(1).unwrap().is_empty());
    let traces = state.block_traces(0).unwrap();
    let txid = first.compute_txid();
    assert_eq!(
        traces.iter().map(|trace| trace.outpoint).collect::<Vec<_>>(),
        [3, 4, 5].map(|vout| OutPoint { txid, vout })
    );
    assert!(traces.iter().all(|trace| trace.transaction_index == 1 && trace.trace.events.len() == 2));
    assert_eq!(state.trace(&traces[2].outpoint).unwrap().as_ref(), Some(&traces[2].trace));
    assert!(state.alkanes(Order::Newest, None, 10).unwrap().items.is_empty());
    assert_eq!(state.alkane_count().unwrap(), 0);
    assert!(state.effects_digest(0).unwrap().is_some() && state.effects_digest(1).unwrap().is_none());
}
