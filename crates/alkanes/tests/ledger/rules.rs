//! Rules one by one, each with its quirk.

use std::sync::Arc;

use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, OutPoint, TxOut};
use paraffin_alkanes::codec::{Edict, Protostone};
use paraffin_alkanes::{
    AlkanesModule, BlockEffects, Builtins, CodeCache, Halt, NativeEngine, Order, Parameters, StateKey, Transfer, World,
};
use paraffin_primitives::{AlkaneId, Amount, ConnectedBlock, Network};

use crate::chain::{
    Bench, Instance, Memory, block, block_of, id, op_return, output, parameters, script, spend, transaction,
    with_stones,
};
use crate::stand_in::{
    self, DOUBLE_MINT, FAIL, FORWARD, HALT, KEEP, MINT, PAY, PAY_BROKEN, SET_PAID, WITHDRAW, message,
};

const TOKEN: AlkaneId = id(2, 1);
const OTHER: AlkaneId = id(2, 2);

fn edict(amount: u128, output: u128) -> Edict {
    Edict { id: TOKEN, amount: Amount(amount), output }
}

fn moving(edicts: Vec<Edict>, pointer: u32) -> Protostone {
    Protostone { protocol_tag: 1, edicts, pointer: Some(pointer), ..Protostone::default() }
}

/// The amount of [`TOKEN`] in each output of a transaction afterwards.
fn split(bench: &mut Bench, held: u128, outputs: Vec<TxOut>, stones: &[Protostone]) -> Vec<u128> {
    let source = bench.fund(&[(TOKEN, held)]);
    let transaction = with_stones(vec![spend(source)], outputs, stones);
    let txid = transaction.compute_txid();
    let count = transaction.output.len() as u32;
    bench.run(transaction);
    (0..count).map(|vout| bench.state.saved(OutPoint { txid, vout }).iter().map(|(_, amount)| amount).sum()).collect()
}

fn plain(count: usize) -> Vec<TxOut> {
    (0..count).map(|number| output(script(number as u64))).collect()
}

#[test]
fn a_spread_of_everything_gives_the_first_outputs_one_more() {
    let mut bench = Bench::new(0);
    assert_eq!(split(&mut bench, 11, plain(3), &[moving(vec![edict(0, 4)], 0)]), [4, 4, 3, 0]);
    assert_eq!(split(&mut bench, 1, plain(3), &[moving(vec![edict(0, 4)], 2)]), [1, 0, 0, 0]);
}

#[test]
fn a_spread_of_an_amount_passes_over_op_return_only_since_its_fork() {
    let outputs = || vec![op_return(), script(1), script(2), script(3)].into_iter().map(output).collect();
    let stone = [moving(vec![edict(4, 5)], 1)];
    // Before: the OP_RETURN output uses up 4 of 10, then 4 and 2 are given. The third share is 0, and a share of 0 takes
    // all that is left, which is what the OP_RETURN output did not get.
    assert_eq!(split(&mut Bench::new(1000), 10, outputs(), &stone), [0, 4, 2, 4, 0]);
    assert_eq!(split(&mut Bench::new(0), 10, outputs(), &stone), [0, 4, 4, 2, 0]);
}

#[test]
fn only_the_low_32_bits_of_an_edicts_output_are_compared_with_the_number_of_outputs() {
    let mut bench = Bench::new(0);
    let truncated = (7 << 32) + 3;
    assert_eq!(split(&mut bench, 10, plain(2), &[moving(vec![edict(0, truncated)], 0)]), [5, 5, 0]);
    // Any other number that does not fit voids the transaction.
    assert_eq!(split(&mut bench, 10, plain(2), &[moving(vec![edict(0, 7 << 32)], 0)]), [0, 0, 0]);
}

#[test]
fn an_edict_cannot_move_more_than_there_is() {
    let mut bench = Bench::new(0);
    assert_eq!(split(&mut bench, 10, plain(2), &[moving(vec![edict(7, 1), edict(7, 1)], 0)]), [0, 10, 0]);
    let nonsense = Edict { id: id(0, 3), amount: Amount(1), output: 0 };
    assert_eq!(split(&mut bench, 10, plain(2), &[moving(vec![nonsense], 0)]), [0, 0, 0]);
}

#[test]
fn protostones_pass_alkanes_on_through_shadow_outputs() {
    let mut bench = Bench::new(0);
    // Two outputs and the runestone: shadow outputs 4, 5 and 6.
    let stones = [moving(vec![edict(4, 5)], 6), moving(vec![], 1), moving(vec![edict(1, 1)], 0)];
    assert_eq!(split(&mut bench, 10, plain(2), &stones), [5, 5, 0]);
    // What is sent back to a shadow output whose turn is over is lost.
    let stones = [moving(vec![], 5), moving(vec![edict(3, 4)], 0)];
    assert_eq!(split(&mut bench, 10, plain(2), &stones), [7, 0, 0]);
}

#[test]
fn a_protostone_of_another_protocol_moves_what_was_sent_to_it() {
    let mut bench = Bench::new(0);
    let mut foreign = moving(vec![edict(2, 1)], 0);
    foreign.protocol_tag = 77;
    foreign.message = vec![9; 15];
    assert_eq!(split(&mut bench, 10, plain(2), &[moving(vec![], 5), foreign.clone()]), [8, 2, 0]);
    // Alone it gets nothing: what the inputs held goes nowhere.
    assert_eq!(split(&mut bench, 10, plain(2), &[foreign]), [0, 0, 0]);
}

#[test]
fn what_goes_to_op_return_is_lost_and_no_pointer_means_the_first_other_output() {
    let mut bench = Bench::new(0);
    let outputs = || vec![output(op_return()), output(script(1)), output(script(2))];
    assert_eq!(split(&mut bench, 10, outputs(), &[moving(vec![], 0)]), [0, 0, 0, 0]);
    let unpointed = Protostone { protocol_tag: 1, ..Protostone::default() };
    assert_eq!(split(&mut bench, 10, outputs(), &[unpointed]), [0, 10, 0, 0]);
}

#[test]
fn a_message_takes_what_its_pointer_holds_and_its_edicts_move_it() {
    let mut bench = Bench::new(0);
    // The first protostone leaves 4 at output 0, where the message's 1 arrives too: its edict finds 5.
    let mut call = message(OTHER, &[FORWARD], 0, 1);
    call.edicts = vec![edict(5, 1)];
    let stones = [moving(vec![edict(1, 5)], 0), call];
    assert_eq!(split(&mut bench, 5, plain(2), &stones), [0, 5, 0]);
}

#[test]
fn a_failed_message_is_refunded_and_its_edicts_are_not_run() {
    let mut bench = Bench::new(0);
    let mut call = message(OTHER, &[FAIL], 0, 1);
    call.edicts = vec![edict(0, 0)];
    assert_eq!(split(&mut bench, 5, plain(2), &[call]), [0, 5, 0]);
    // What it stored is undone, its trace stays.
    assert_eq!(bench.state.values.get(&StateKey::Storage(OTHER, b"/called".to_vec())), None);
}

#[test]
fn a_message_whose_answer_does_not_fit_is_refunded() {
    let mut bench = Bench::new(0);
    let call = message(OTHER, &[DOUBLE_MINT, 1 << 127], 0, 1);
    assert_eq!(split(&mut bench, 5, plain(2), &[call]), [0, 5, 0]);
    assert_eq!(bench.state.amount(&StateKey::Balance { what: TOKEN, who: OTHER }), None);
    // Its trace says success and stays, so it is marked; what came after it stands.
    let stones = [message(OTHER, &[DOUBLE_MINT, 1 << 127], 0, 1), message(OTHER, &[KEEP], 0, 1)];
    let effects = bench.run(with_stones(vec![], plain(2), &stones));
    let traced: Vec<OutPoint> = effects.traces.iter().map(|(outpoint, _)| *outpoint).collect();
    assert_eq!((traced.len(), effects.undone), (2, vec![traced[0]]));
}

fn void(bench: &mut Bench, stones: &[Protostone]) -> BlockEffects {
    let source = bench.fund(&[(TOKEN, 9)]);
    let transaction = with_stones(vec![spend(source)], plain(2), stones);
    let effects = bench.run(transaction);
    assert!(effects.funded.is_empty());
    // The inputs are spent, the sheet is still there to be read; nothing can move it (protocol B16).
    assert_eq!(bench.state.saved(source), [(TOKEN, 9)]);
    effects
}

#[test]
fn malformed_pointers_void_the_transaction_and_lose_what_it_spends() {
    let mut bench = Bench::new(0);
    for (pointer, refund) in
        [(None, Some(0)), (Some(0), None), (Some(5), Some(0)), (Some(0), Some(5)), (Some(u32::MAX), Some(0))]
    {
        let stone = Protostone { pointer, refund, ..message(OTHER, &[FORWARD], 0, 0) };
        assert!(void(&mut bench, &[stone]).traces.is_empty());
    }
    // The hundredth protostone cannot hold a message.
    let mut stones = vec![moving(vec![], 0); 99];
    stones.push(message(OTHER, &[FORWARD], 0, 0));
    void(&mut bench, &stones);
}

#[test]
fn the_trace_of_a_message_survives_its_void_transaction() {
    let mut bench = Bench::new(0);
    let effects = void(
        &mut bench,
        &[message(OTHER, &[KEEP], 0, 0), Protostone { pointer: None, ..message(OTHER, &[KEEP], 0, 0) }],
    );
    assert_eq!(effects.traces.len(), 1);
    assert_eq!(effects.undone, [effects.traces[0].0]);
    assert_eq!(bench.state.values.get(&StateKey::Storage(OTHER, b"/called".to_vec())), None);
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), None);
}

#[test]
fn sheets_that_cannot_be_added_up_void_the_transaction() {
    let mut bench = Bench::new(0);
    // No sheet is too great by itself, only all of them together are.
    let stones = [message(TOKEN, &[MINT, 1 << 127], 0, 0), message(TOKEN, &[MINT, 1 << 127], 1, 0)];
    let effects = bench.run(with_stones(vec![], plain(2), &stones));
    assert_eq!((effects.funded.len(), effects.traces.len()), (0, 2));
    assert_eq!(effects.undone.len(), 2);
    // Inputs that cannot be added up.
    let sources = [bench.fund(&[(TOKEN, u128::MAX)]), bench.fund(&[(TOKEN, 1)])];
    let effects = bench.run(with_stones(sources.map(spend).to_vec(), plain(1), &[moving(vec![], 0)]));
    assert!(effects.funded.is_empty());
}

#[test]
fn the_runtime_keeps_its_old_amount_when_it_falls_to_nothing() {
    let mut bench = Bench::new(0);
    split(&mut bench, 50, plain(1), &[message(OTHER, &[KEEP], 0, 0)]);
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), Some(50));
    let withdraw = |amount| with_stones(vec![], plain(1), &[message(OTHER, &[WITHDRAW, 1, amount], 0, 0)]);
    bench.run(withdraw(20));
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), Some(30));
    let last = withdraw(30);
    let outpoint = OutPoint { txid: last.compute_txid(), vout: 0 };
    bench.run(last);
    assert_eq!(bench.state.saved(outpoint), [(TOKEN, 30)]);
    assert_eq!(bench.state.amount(&StateKey::Balance { what: TOKEN, who: OTHER }), Some(0));
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), Some(30));
}

#[test]
fn edicts_and_pointers_reach_the_runtime() {
    let mut bench = Bench::new(0);
    assert_eq!(split(&mut bench, 9, plain(1), &[moving(vec![edict(4, u128::from(u32::MAX))], u32::MAX)]), [0, 0]);
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), Some(9));
    // An amount that does not fit beside what is stored voids the transaction.
    let all = [moving(vec![], u32::MAX)];
    assert_eq!(split(&mut bench, u128::MAX, plain(1), &all), [0, 0]);
    assert_eq!(bench.state.amount(&StateKey::Runtime(TOKEN)), Some(9));
}

#[test]
fn an_id_counts_as_seen_when_an_edict_names_it() {
    let mut bench = Bench::new(0);
    let stranger = id(77, 5);
    let stone = moving(vec![Edict { id: stranger, amount: Amount(3), output: 0 }], 0);
    bench.run(with_stones(vec![], plain(1), &[stone]));
    let seen = &bench.state.values[&StateKey::FirstSeen(stranger)];
    assert_eq!(seen[..], [[1, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[0, 0, 0]].concat());
}

/// A spread of nothing leaves zeros in the outputs. It was passed over once, and the id went unseen when the sheet that
/// had named it was taken by a message.
#[test]
fn an_id_counts_as_seen_when_nothing_of_it_is_spread() {
    let mut bench = Bench::new(0);
    let stranger = id(77, 5);
    let stone = moving(vec![Edict { id: stranger, amount: Amount(0), output: 2 }], 4);
    bench.run(with_stones(vec![], plain(1), &[stone, message(OTHER, &[FORWARD], 0, 0)]));
    assert!(bench.state.values.contains_key(&StateKey::FirstSeen(stranger)));
}

#[test]
fn spent_sheets_keep_their_ids_and_others_keep_their_amounts() {
    let mut bench = Bench::new(0);
    let (with_stone, without) = (bench.fund(&[(TOKEN, 5), (OTHER, 6)]), bench.fund(&[(TOKEN, 7)]));
    bench.run(with_stones(vec![spend(with_stone)], plain(1), &[moving(vec![], 0)]));
    assert_eq!(bench.state.saved(with_stone), [(TOKEN, 0), (OTHER, 0)]);
    bench.run(transaction(vec![spend(without)], plain(1)));
    assert_eq!(bench.state.saved(without), [(TOKEN, 7)]);
    let cenotaph = transaction(vec![], vec![output(bitcoin::ScriptBuf::from_bytes(vec![0x6a, 0x5d, 0x01, 0x16]))]);
    assert!(bench.run(cenotaph).funded.is_empty());
}

#[test]
fn a_halt_stops_the_block_and_the_module_applies_nothing_of_it() {
    let mut bench = Bench::new(0);
    let halting = with_stones(vec![], plain(1), &[message(OTHER, &[HALT], 0, 0)]);
    let bad = block(1, BlockHash::all_zeros(), vec![halting]);
    assert!(matches!(bench.state.run(&mut bench.engine, &bad), Err(Halt::MissingBuiltin(_))));

    let mut instance = Instance::regtest(parameters(0));
    let first = block(0, BlockHash::all_zeros(), vec![]);
    instance.connect(&first);
    let rows = instance.rows();
    let bad = block(1, first.id.hash, vec![with_stones(vec![], plain(1), &[message(OTHER, &[HALT], 0, 0)])]);
    let error = instance.apply(&bad).unwrap_err().to_string();
    assert!(error.contains("the native alkanes engine halts: a halt"), "{error}");
    assert_eq!(instance.rows(), rows);
    instance.connect(&block(1, first.id.hash, vec![]));
}

fn issue(world: &mut World<'_>) -> Result<Vec<Transfer>, Halt> {
    let [diesel, sigil] = [id(2, 0), id(32, 1)];
    if world.state.get(&StateKey::Code(diesel))?.is_some() {
        return Ok(Vec::new());
    }
    for id in [diesel, id(32, 0), sigil] {
        world.state.put_direct(StateKey::Code(id), vec![1]);
    }
    Ok(vec![Transfer { id: diesel, value: 44 }, Transfer { id: sigil, value: 1 }])
}

fn mainnet() -> NativeEngine {
    NativeEngine::new(Network::Mainnet, Arc::new(Builtins::default()), Arc::new(CodeCache::default()))
        .with_contracts(stand_in::run_message, issue)
}

#[test]
fn the_first_active_block_deploys_once_and_issues_to_the_genesis_outpoint() {
    let mut engine = mainnet();
    let mut state = Memory::default();
    let before = block(
        879_999,
        BlockHash::all_zeros(),
        vec![with_stones(vec![], plain(1), &[message(TOKEN, &[MINT, 1], 0, 0)])],
    );
    assert_eq!(state.run(&mut engine, &before).unwrap(), BlockEffects::default());
    for height in [880_000, 880_001] {
        state.run(&mut engine, &block(height, BlockHash::all_zeros(), vec![])).unwrap();
        let genesis = Parameters::of(Network::Mainnet).genesis_outpoint();
        assert_eq!(state.saved(genesis), [(id(2, 0), 44), (id(32, 1), 1)]);
        assert_eq!(state.amount(&StateKey::Sequence), Some(1));
        assert_eq!(state.values[&StateKey::SeenGenesis], [1]);
    }
}

#[test]
fn the_genesis_output_is_listed_under_its_script_when_its_block_was_seen() {
    // A chain whose genesis outpoint cannot be made: its transaction would need the right id. Its row is stored
    // below the first active block, and dropped when it is spent.
    let rules = Parameters { genesis_height: 2, genesis_outpoint_height: 1, ..Parameters::of(Network::Regtest) };
    let engine = mainnet().with_parameters(rules);
    let mut instance =
        Instance::new(AlkanesModule::new(Box::new(engine), Network::Regtest).with_parameters(rules), Network::Regtest);
    let genesis = rules.genesis_outpoint();
    let mut previous = BlockHash::all_zeros();
    for height in 0..3 {
        let mut next = ConnectedBlock::new(
            height,
            block_of(height, previous, vec![transaction(vec![spend(OutPoint::null())], plain(1))]),
        );
        if height == 1 {
            next.txids[0] = genesis.txid;
        }
        previous = next.id.hash;
        instance.connect(&next);
    }
    let state = instance.at(2);
    let listed = state.outputs_of(&script(0), None, 10).unwrap().items;
    assert_eq!(listed.iter().map(|output| (output.outpoint, output.height)).collect::<Vec<_>>(), [(genesis, 1)]);
    assert_eq!(state.held_by_script(&script(0), None, 10).unwrap().items.len(), 2);
    let created = state.alkanes(Order::Oldest, None, 10).unwrap().items;
    assert_eq!(created.iter().map(|creation| creation.id).collect::<Vec<_>>(), [id(2, 0), id(32, 0), id(32, 1)]);
    assert_eq!((state.alkane_count().unwrap(), state.creation(id(32, 0)).unwrap().unwrap().height), (3, 2));
}

#[test]
fn blocks_below_the_first_active_one_write_nothing() {
    let mut instance = Instance::new(AlkanesModule::new(Box::new(mainnet()), Network::Mainnet), Network::Mainnet);
    let next =
        block(0, BlockHash::all_zeros(), vec![with_stones(vec![], plain(1), &[message(TOKEN, &[MINT, 1], 0, 0)])]);
    instance.connect(&next);
    assert!(instance.rows().is_empty());
}

#[test]
fn the_factory_has_its_decreed_owner_and_later_none() {
    let mut engine = mainnet();
    let mut state = Memory::default();
    let factory = [id(4, 65_523), id(4, 65_522)];
    let owner = |state: &Memory| {
        factory.map(|contract| state.values.get(&StateKey::Storage(contract, b"/auth".to_vec())).cloned())
    };
    let id_bytes = |block: u128, tx: u128| Some([block.to_le_bytes(), tx.to_le_bytes()].concat());
    let mut run =
        |state: &mut Memory, height| state.run(&mut engine, &block(height, BlockHash::all_zeros(), vec![])).unwrap();
    run(&mut state, 913_300);
    assert_eq!(owner(&state), [None, None]);
    run(&mut state, 913_301);
    assert_eq!(owner(&state), [id_bytes(2, 69_805), id_bytes(2, 69_805)]);
    let key = StateKey::Balance { what: id(2, 69_805), who: factory[0] };
    state.values.insert(key.clone(), 5u128.to_le_bytes().to_vec());
    run(&mut state, 950_563);
    assert_eq!((owner(&state)[0].clone(), state.amount(&key)), (id_bytes(2, 69_805), Some(5)));
    let effects = run(&mut state, 950_564);
    assert_eq!((owner(&state), state.amount(&key)), ([id_bytes(0, 0), id_bytes(0, 0)], Some(0)));
    // Setting the same again is no change.
    let again = run(&mut state, 950_565);
    assert!(effects.writes.len() > again.writes.len());
}

#[test]
fn the_protostones_of_one_transaction_of_mainnet_are_ignored_and_its_alkanes_lost() {
    let ignored = "5cbb0c466dd08d7af9223d45105fbbf0fdc9fb7cda4831c183d6b0cb5ba60fb0";
    for (txid, is_moved) in [(ignored, false), (&ignored.replace('5', "6"), true)] {
        let mut engine = mainnet();
        let mut state = Memory::default();
        let funding = with_stones(vec![], plain(1), &[message(TOKEN, &[MINT, 9], 0, 0)]);
        let source = OutPoint { txid: funding.compute_txid(), vout: 0 };
        let spending = with_stones(vec![spend(source)], plain(1), &[moving(vec![], 0)]);
        let mut next = block(880_000, BlockHash::all_zeros(), vec![funding, spending]);
        // No transaction can be made to have this id.
        next.txids[2] = txid.parse().unwrap();
        let effects = state.run(&mut engine, &next).unwrap();
        let held = state.saved(OutPoint { txid: next.txids[2], vout: 0 });
        assert_eq!((held.len(), effects.funded.len()), if is_moved { (1, 2) } else { (0, 1) });
        assert_eq!(state.saved(source), [(TOKEN, if is_moved { 0 } else { 9 })]);
    }
}

/// The lowest height that may have open payments.
fn lowest_open(state: &Memory) -> u128 {
    state.amount(&StateKey::Storage(id(32, 0), b"/last_block".to_vec())).unwrap()
}

/// Releases of the reference up to 2.1 wrote one less; the current release counts at every height.
#[test]
fn payments_hold_the_lowest_open_height_back_until_their_outputs_are_spent() {
    let mut bench = Bench::new(0);
    let pay = |vout| message(id(32, 0), &[PAY, vout], 0, 0);
    bench.run(transaction(vec![], plain(1)));
    assert_eq!((bench.height, lowest_open(&bench.state)), (1, 2));
    let first = with_stones(vec![], plain(2), &[pay(0), pay(1)]);
    let outpoints = [0, 1].map(|vout| OutPoint { txid: first.compute_txid(), vout });
    bench.run(first);
    assert_eq!((bench.height, lowest_open(&bench.state)), (2, 2));
    // An output without an address is none that could be waited for.
    let unaddressed = with_stones(vec![], vec![output(op_return()), output(script(1))], &[pay(0), pay(9)]);
    bench.run(unaddressed);
    assert_eq!(lowest_open(&bench.state), 2);
    bench.run(transaction(vec![spend(outpoints[1])], plain(1)));
    assert_eq!(lowest_open(&bench.state), 2);
    bench.run(transaction(vec![spend(outpoints[0])], plain(2)));
    assert_eq!(lowest_open(&bench.state), u128::from(bench.height) + 1);
    assert_eq!(bench.state.values[&StateKey::PendingPayments], [0u8; 0]);
}

#[test]
fn a_payment_that_is_made_in_its_own_block_never_waits() {
    let mut bench = Bench::new(0);
    let asking = with_stones(vec![], plain(1), &[message(id(32, 0), &[PAY, 0], 0, 0)]);
    let paying = transaction(vec![spend(OutPoint { txid: asking.compute_txid(), vout: 0 })], plain(1));
    bench.height += 1;
    let both = block(1, BlockHash::all_zeros(), vec![asking, paying]);
    bench.state.run(&mut bench.engine, &both).unwrap();
    assert_eq!(lowest_open(&bench.state), 2);
}

#[test]
fn malformed_payments_and_integers_halt() {
    for (inputs, expected) in [
        (vec![PAY_BROKEN, 0], "a payment record of 32:0 at height 1 is malformed"),
        (vec![SET_PAID, 1], "/last_block of 32:0 has 8 bytes instead of 16"),
    ] {
        let mut bench = Bench::new(0);
        let bad = with_stones(vec![], plain(1), &[message(id(32, 0), &inputs, 0, 0)]);
        let error = bench.state.run(&mut bench.engine, &block(1, BlockHash::all_zeros(), vec![bad])).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    // A height far above is left alone.
    let mut bench = Bench::new(0);
    bench.run(with_stones(vec![], plain(1), &[message(id(32, 0), &[SET_PAID, u128::MAX], 0, 0)]));
    assert_eq!(lowest_open(&bench.state), u128::MAX);
}

#[test]
fn a_transaction_that_spreads_too_many_amounts_is_void() {
    let mut bench = Bench::new(0);
    // Every edict gives each of 4,000 outputs an amount of nothing.
    let edicts = |count: u128| -> Vec<Edict> {
        (0..count).map(|tx| Edict { id: id(7, tx), amount: Amount(0), output: 4001 }).collect()
    };
    let outputs = || plain(4000);
    let held = |bench: &mut Bench, count| {
        split(bench, 5, outputs(), &[moving(edicts(count), 0)]).iter().filter(|amount| **amount > 0).count()
    };
    assert_eq!(held(&mut bench, 10), 1);
    assert_eq!(held(&mut bench, 1001), 0);
}
