//! Which calls count, on traces built by hand.

use std::cell::Cell;

use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use bitcoin::{Amount, OutPoint, Transaction, TxOut};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Protostone, Runestone, encode_protostones};
use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus};

use super::*;

const FACTORY: AlkaneId = AlkaneId { block: 4, tx: 65_522 };
const WRAPPED: AlkaneId = AlkaneId { block: 32, tx: 0 };

const fn id(tx: u128) -> AlkaneId {
    AlkaneId { block: 2, tx }
}

const POOL: AlkaneId = id(9);
const TOKENS: [AlkaneId; 2] = [id(1), id(2)];

fn some(id: AlkaneId, value: u128) -> Transfer {
    Transfer { id, value }
}

fn enter(kind: CallKind, caller: AlkaneId, myself: AlkaneId, inputs: &[u128], incoming: &[Transfer]) -> TraceEvent {
    let (inputs, incoming) = (inputs.to_vec(), incoming.to_vec());
    TraceEvent::Enter { kind, context: TraceContext { myself, caller, vout: 5, incoming, inputs }, fuel: 1_000_000 }
}

fn call(caller: AlkaneId, myself: AlkaneId, inputs: &[u128], incoming: &[Transfer]) -> TraceEvent {
    enter(CallKind::Call, caller, myself, inputs, incoming)
}

fn exit(alkanes: &[Transfer]) -> TraceEvent {
    let response = CallResponse { alkanes: alkanes.to_vec(), ..CallResponse::default() };
    TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 10 }
}

fn revert() -> TraceEvent {
    TraceEvent::Exit { status: TraceStatus::Revert, response: CallResponse::default(), fuel_used: u64::MAX }
}

/// The answer about the block's header.
fn header() -> TraceEvent {
    let response = CallResponse { data: vec![1; 80], ..CallResponse::default() };
    TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 0 }
}

/// Knows [`POOL`] or not; every pool of [`FACTORY`] is registered.
struct FixedLookup {
    pool: bool,
    asked: Cell<u32>,
}

impl PoolLookup for FixedLookup {
    fn pool(&self, id: AlkaneId) -> Result<Option<PoolIdentity>, AmmError> {
        self.asked.set(self.asked.get() + 1);
        Ok((self.pool && id == POOL).then_some(PoolIdentity { id, factory: FACTORY, tokens: TOKENS }))
    }

    fn is_registered(&self, pool: &PoolIdentity) -> Result<bool, AmmError> {
        Ok(pool.factory == FACTORY)
    }
}

/// Two outputs, a runestone, two protostones that point at output 1.
fn transaction() -> Transaction {
    let stone = Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        pointer: Some(1),
        refund: Some(0),
        message: vec![1],
        ..Protostone::default()
    };
    let protocol = encode_protostones(&[stone.clone(), Protostone { pointer: Some(4), ..stone }]).unwrap();
    let script_pubkey = Runestone { base: ordinals::Runestone::default(), protocol }.encode(3).unwrap();
    let output = |script: &[u8]| TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from_bytes(script.to_vec()) };
    let output = vec![output(&[0x51]), output(&[0x52]), TxOut { value: Amount::ZERO, script_pubkey }];
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output }
}

fn events(pool: bool, stands: bool, traces: &[Vec<TraceEvent>]) -> Vec<Event> {
    let transaction = transaction();
    let txid = transaction.compute_txid();
    let messages: Vec<MessageTrace> = traces
        .iter()
        .zip(4..)
        .map(|(events, vout)| MessageTrace {
            outpoint: OutPoint { txid, vout },
            transaction_index: 3,
            stands,
            trace: Trace { events: events.clone() },
        })
        .collect();
    let known = FixedLookup { pool, asked: Cell::new(0) };
    transaction_events(100, 1_000, &transaction, &messages, WRAPPED, &known).unwrap()
}

fn swap_inputs(first_out: u128, second_out: u128) -> Vec<u128> {
    vec![3, first_out, second_out, 0, 0, 0]
}

/// A swap as a beacon proxy shows it.
fn proxied_swap(caller: AlkaneId, sold: Transfer, bought: Transfer) -> Vec<TraceEvent> {
    let inputs = if bought.id == TOKENS[0] { swap_inputs(bought.value, 0) } else { swap_inputs(0, bought.value) };
    let beacon = AlkaneId { block: 4, tx: 7 };
    vec![
        call(caller, POOL, &inputs, &[sold]),
        enter(CallKind::Static, POOL, beacon, &[0x7ffd], &[]),
        exit(&[]),
        enter(CallKind::Delegate, caller, POOL, &inputs, &[sold]),
        header(),
        exit(&[bought]),
        exit(&[bought]),
    ]
}

fn swaps(events: &[Event]) -> Vec<(bool, Transfer, Transfer)> {
    let swap = |event: &Event| match event.action {
        Action::Swap { sold, bought, .. } => Some((event.successful, sold, bought)),
        _ => None,
    };
    events.iter().filter_map(swap).collect()
}

#[test]
fn a_swap_through_a_proxy_is_one_row_and_several_keep_their_order() {
    let there = proxied_swap(FACTORY, some(TOKENS[0], 100), some(TOKENS[1], 90));
    let back = proxied_swap(FACTORY, some(TOKENS[1], 50), some(TOKENS[0], 40));
    let message = [vec![call(id(0), FACTORY, &[13], &[])], there, back, vec![exit(&[])]].concat();
    let found = events(true, true, &[message.clone(), message]);
    let once = [(true, some(TOKENS[0], 100), some(TOKENS[1], 90)), (true, some(TOKENS[1], 50), some(TOKENS[0], 40))];
    assert_eq!(swaps(&found), [once, once].concat());
    let positions: Vec<_> = found.iter().map(|event| (event.position.event, event.protostone, event.vout)).collect();
    assert_eq!(positions, [(0, 0, 4), (1, 0, 4), (2, 1, 5), (3, 1, 5)]);
    // The first protostone points at a real output, the second at a shadow output.
    let actors: Vec<_> =
        found.iter().map(|event| event.actor.as_ref().map(|script| script.as_bytes().to_vec())).collect();
    assert_eq!(actors, [Some(vec![0x52]), Some(vec![0x52]), None, None]);
    assert_eq!(found[0].action.price(), Ratio::new(90, 100));
    assert_eq!(found[1].action.price(), Ratio::new(50, 40));
}

#[test]
fn a_swap_undone_by_its_caller_or_with_its_transaction_is_a_failed_attempt_without_amounts() {
    let swap = proxied_swap(FACTORY, some(TOKENS[1], 100), some(TOKENS[0], 90));
    let undone = [vec![call(id(0), FACTORY, &[13], &[])], swap.clone(), vec![revert()]].concat();
    let failed = [(false, some(TOKENS[1], 0), some(TOKENS[0], 0))];
    assert_eq!(swaps(&events(true, true, &[undone])), failed);
    let kept = [vec![call(id(0), FACTORY, &[13], &[])], swap, vec![exit(&[])]].concat();
    assert_eq!(swaps(&events(true, false, &[kept])), failed);
}

#[test]
fn a_static_swap_is_no_attempt() {
    let swap = proxied_swap(id(5), some(TOKENS[0], 100), some(TOKENS[1], 90));
    let asked = enter(CallKind::Static, id(0), id(5), &[1], &[]);
    let message = [vec![call(id(0), id(6), &[1], &[]), asked], swap, vec![exit(&[]), exit(&[])]].concat();
    assert_eq!(events(true, true, &[message]), []);
}

#[test]
fn a_swap_paid_back_by_its_receiver_counts_what_came_back() {
    // The pool sends 90, the receiver answers with 100; nothing came in or goes out with the call itself.
    let message = vec![
        call(id(0), POOL, &swap_inputs(0, 90), &[]),
        call(POOL, id(7), &[1], &[some(TOKENS[1], 90)]),
        exit(&[some(TOKENS[0], 100)]),
        exit(&[]),
    ];
    assert_eq!(swaps(&events(true, true, &[message])), [(true, some(TOKENS[0], 100), some(TOKENS[1], 90))]);
}

#[test]
fn change_of_a_swap_is_not_sold() {
    let message = vec![
        call(id(0), POOL, &swap_inputs(0, 90), &[some(TOKENS[0], 100), some(id(3), 7)]),
        exit(&[some(TOKENS[1], 90), some(TOKENS[0], 20), some(id(3), 7)]),
    ];
    assert_eq!(swaps(&events(true, true, &[message])), [(true, some(TOKENS[0], 80), some(TOKENS[1], 90))]);
}

#[test]
fn a_contract_that_is_no_pool_swaps_nothing() {
    let message = proxied_swap(id(0), some(TOKENS[0], 100), some(TOKENS[1], 90));
    assert_eq!(events(false, true, &[message]), []);
}

/// The chain of frames that founds a pool; `creator` runs the code that creates it, `named` is the factory it names.
fn founding(creator: AlkaneId, named: AlkaneId) -> Vec<TraceEvent> {
    let inputs = [0, 2, 2, 2, 1, named.block, named.tx];
    let deposit = [some(TOKENS[0], 2_000), some(TOKENS[1], 8_000)];
    vec![
        call(id(0), creator, &[1], &deposit),
        enter(CallKind::Delegate, id(0), creator, &[1], &deposit),
        TraceEvent::Create(POOL),
        call(creator, POOL, &[0x7fff, 4, 7], &[]),
        exit(&[]),
        call(creator, POOL, &inputs, &deposit),
        enter(CallKind::Delegate, creator, POOL, &inputs, &deposit),
        header(),
        exit(&[some(POOL, 3_000)]),
        exit(&[some(POOL, 3_000)]),
        exit(&[some(POOL, 3_000)]),
        exit(&[some(POOL, 3_000)]),
    ]
}

#[test]
fn a_pool_is_what_a_factory_created_named_and_registered() {
    let pool = PoolIdentity { id: POOL, factory: FACTORY, tokens: TOKENS };
    let found = events(false, true, &[founding(FACTORY, FACTORY)]);
    let actions: Vec<_> = found.iter().map(|event| event.action).collect();
    assert_eq!(actions, [Action::Creation { pool, amounts: [2_000, 8_000], liquidity: 3_000 }]);

    // Another contract creates it and says that the factory did.
    assert_eq!(events(false, true, &[founding(id(5), FACTORY)]), []);
    // Its own creator never registers it.
    assert_eq!(events(false, true, &[founding(id(5), id(5))]), []);
    // The same contract, but not created in this message.
    let mut old = founding(FACTORY, FACTORY);
    old.retain(|event| !matches!(event, TraceEvent::Create(_)));
    assert_eq!(events(false, true, &[old]), []);
    // It failed.
    let mut failed = founding(FACTORY, FACTORY);
    *failed.last_mut().unwrap() = revert();
    assert_eq!(events(false, true, &[failed]), []);
    assert_eq!(events(false, false, &[founding(FACTORY, FACTORY)]), []);
}

/// With a look back over all calls for each of them it would be five thousand million steps.
#[test]
fn the_time_does_not_grow_with_the_square_of_the_calls_that_look_like_foundings() {
    let inputs = [0, 2, 2, 2, 1, FACTORY.block, FACTORY.tx];
    let mut message = vec![call(id(0), FACTORY, &[1], &[])];
    for tx in 0..100_000 {
        message.extend([call(FACTORY, id(1_000 + tx), &inputs, &[]), exit(&[])]);
    }
    message.push(exit(&[]));
    let begin = std::time::Instant::now();
    assert_eq!(events(false, true, &[message]), []);
    assert!(begin.elapsed() < std::time::Duration::from_secs(15), "{:?}", begin.elapsed());
}

#[test]
fn later_messages_find_a_pool_that_an_earlier_one_created() {
    let swap = proxied_swap(id(0), some(TOKENS[0], 100), some(TOKENS[1], 90));
    let found = events(false, true, &[founding(FACTORY, FACTORY), swap]);
    assert_eq!(
        found.iter().map(|event| event.action.kind()).collect::<Vec<_>>(),
        [EventKind::Creation, EventKind::Swap]
    );
    let undone = [founding(FACTORY, FACTORY)[..11].to_vec(), vec![revert()]].concat();
    let swap = proxied_swap(id(0), some(TOKENS[0], 100), some(TOKENS[1], 90));
    assert_eq!(events(false, true, &[undone, swap]), []);
}

#[test]
fn wraps_and_unwraps_are_net_of_what_was_returned() {
    let action = |message: Vec<TraceEvent>| {
        let found = events(false, true, &[message]);
        found.iter().map(|event| (event.successful, event.action)).collect::<Vec<_>>()
    };
    let wrap = vec![
        call(id(0), WRAPPED, &[77], &[some(WRAPPED, 5), some(id(1), 3)]),
        exit(&[some(WRAPPED, 105), some(id(1), 3)]),
    ];
    assert_eq!(action(wrap), [(true, Action::Wrap { amount: 100 })]);
    let unwrap = vec![call(id(0), WRAPPED, &[78, 2, 60], &[some(WRAPPED, 100)]), exit(&[some(WRAPPED, 40)])];
    assert_eq!(action(unwrap), [(true, Action::Unwrap { amount: 60 })]);
    let failed = vec![call(id(0), WRAPPED, &[78, 2, 60], &[some(WRAPPED, 100)]), revert()];
    assert_eq!(action(failed), [(false, Action::Unwrap { amount: 0 })]);
    let other = vec![call(id(0), WRAPPED, &[99], &[]), exit(&[])];
    assert_eq!(action(other), []);
}

#[test]
fn liquidity_is_what_the_pool_gained_and_gave() {
    let pool = PoolIdentity { id: POOL, factory: FACTORY, tokens: TOKENS };
    let mint = vec![call(FACTORY, POOL, &[1], &[some(TOKENS[0], 10), some(TOKENS[1], 20)]), exit(&[some(POOL, 14)])];
    let burn = vec![call(FACTORY, POOL, &[2], &[some(POOL, 14)]), exit(&[some(TOKENS[0], 9), some(TOKENS[1], 19)])];
    let found = events(true, true, &[mint, burn]);
    let actions: Vec<_> = found.iter().map(|event| event.action).collect();
    assert_eq!(
        actions,
        [
            Action::Mint { pool, amounts: [10, 20], liquidity: 14 },
            Action::Burn { pool, amounts: [9, 19], liquidity: 14 }
        ]
    );
}
