//! Contracts whose operation is their first input. They credit and debit as real ones do, so that balances can be checked.

use bitcoin::consensus::serialize;
use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Cellpack, Protostone};
use paraffin_alkanes::{
    CallKind, CallResponse, Halt, Message, MessageEnd, Sheet, StateKey, Trace, TraceContext, TraceEvent, TraceStatus,
    Transfer, World, runtime_amount,
};
use paraffin_primitives::AlkaneId;

/// Returns the incoming alkanes.
pub(crate) const FORWARD: u128 = 1;
/// Keeps the incoming alkanes.
pub(crate) const KEEP: u128 = 2;
/// Returns the incoming alkanes, and so many units of itself.
pub(crate) const MINT: u128 = 3;
/// Gives out so many units of 2:n that it holds: n, amount.
pub(crate) const WITHDRAW: u128 = 4;
/// Stores something, then fails.
pub(crate) const FAIL: u128 = 5;
/// Returns the incoming alkanes, every transfer in two entries: overflows when their sum does not fit.
pub(crate) const DOUBLE_MINT: u128 = 6;
/// Halts the engine.
pub(crate) const HALT: u128 = 1007;
/// Lists a payment that ends when the given output of the transaction is spent: 1,000 satoshi (protocol B19).
pub(crate) const PAY: u128 = 1008;
/// Writes a payment that cannot be read.
pub(crate) const PAY_BROKEN: u128 = 1009;
/// Stores the given integer as the lowest height with open payments: with 1, in 8 bytes instead of 16.
pub(crate) const SET_PAID: u128 = 1010;

/// The alkanes that a contract returns; `None` when it fails.
pub(crate) fn answer(
    contract: AlkaneId,
    inputs: &[u128],
    incoming: &[(AlkaneId, u128)],
) -> Option<Vec<(AlkaneId, u128)>> {
    let input = |index: usize| inputs.get(index).copied().unwrap_or(0);
    let mut outgoing = incoming.to_vec();
    match input(0) {
        FORWARD | PAY | PAY_BROKEN | SET_PAID => {}
        KEEP => outgoing.clear(),
        MINT => outgoing.push((contract, input(1))),
        WITHDRAW => outgoing = vec![(AlkaneId { block: 2, tx: input(1) }, input(2))],
        DOUBLE_MINT => outgoing.extend([(contract, input(1)), (contract, input(1))]),
        _ => return None,
    }
    Some(outgoing)
}

/// A message that calls a contract.
pub(crate) fn message(target: AlkaneId, inputs: &[u128], pointer: u32, refund: u32) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(pointer),
        refund: Some(refund),
        ..Protostone::default()
    }
}

#[allow(clippy::unnecessary_wraps, reason = "it stands in for a function that can fail")]
pub(crate) fn deploy_nothing(_: &mut World<'_>) -> Result<Vec<Transfer>, Halt> {
    Ok(Vec::new())
}

pub(crate) fn run_message(world: &mut World<'_>, message: &Message<'_>, runtime: &Sheet) -> Result<MessageEnd, Halt> {
    let Ok(Cellpack { target, inputs }) = Cellpack::decode(message.calldata) else { return Ok(MessageEnd::Failed) };
    if inputs.first() == Some(&HALT) {
        return Err(Halt::MissingBuiltin("a halt".to_owned()));
    }
    let incoming: Vec<_> = message.incoming.iter().map(|transfer| (transfer.id, transfer.value)).collect();
    let context = TraceContext {
        myself: target,
        caller: AlkaneId::default(),
        vout: message.vout,
        incoming: message.incoming.clone(),
        inputs: inputs.clone(),
    };
    world.state.put(StateKey::Storage(target, b"/called".to_vec()), message.vout.to_le_bytes().to_vec());
    store(world, message, target, &inputs)?;
    let booked = answer(target, &inputs, &incoming)
        .map(|outgoing| book(world, target, runtime, &incoming, outgoing))
        .transpose()?
        .flatten();
    let (status, end, alkanes) = match booked {
        Some((outgoing, runtime)) => {
            (TraceStatus::Success, MessageEnd::Done { outgoing: outgoing.clone(), runtime }, outgoing)
        }
        None => (TraceStatus::Revert, MessageEnd::Failed, Vec::new()),
    };
    let response = CallResponse { alkanes, ..CallResponse::default() };
    let events = vec![
        TraceEvent::Enter { kind: CallKind::Call, context, fuel: 1000 },
        TraceEvent::Exit { status, response, fuel_used: 1 },
    ];
    world.traces.push(OutPoint { txid: message.txid, vout: message.vout }, Trace { events });
    Ok(end)
}

/// Storage writes of the contract beside its balances.
fn store(world: &mut World<'_>, message: &Message<'_>, contract: AlkaneId, inputs: &[u128]) -> Result<(), Halt> {
    let argument = inputs.get(1).copied().unwrap_or(0);
    let key = |end: &str| {
        let mut key = b"/payments/byheight/".to_vec();
        key.extend_from_slice(&world.height.to_le_bytes());
        key.extend_from_slice(end.as_bytes());
        StateKey::Storage(contract, key)
    };
    match inputs.first() {
        Some(&(PAY | PAY_BROKEN)) => {
            let length = world.state.get(&key("/length"))?.unwrap_or_default();
            let length = <[u8; 4]>::try_from(&length[..]).map_or(0, u32::from_le_bytes);
            let mut item = serialize(&OutPoint { txid: message.txid, vout: argument as u32 });
            item.extend(serialize(&TxOut { value: Amount::from_sat(1000), script_pubkey: ScriptBuf::new() }));
            if inputs.first() == Some(&PAY_BROKEN) {
                item.truncate(40);
            }
            let (length_key, item_key) = (key("/length"), key(&format!("/{length}")));
            world.state.put(item_key, item);
            world.state.put(length_key, (length + 1).to_le_bytes().to_vec());
        }
        Some(&SET_PAID) => {
            let width = if argument == 1 { 8 } else { 16 };
            let bytes = argument.to_le_bytes()[..width].to_vec();
            world.state.put(StateKey::Storage(contract, b"/last_block".to_vec()), bytes);
        }
        _ => {}
    }
    Ok(())
}

fn book(
    world: &mut World<'_>,
    contract: AlkaneId,
    runtime: &Sheet,
    incoming: &[(AlkaneId, u128)],
    outgoing: Vec<(AlkaneId, u128)>,
) -> Result<Option<(Vec<Transfer>, Sheet)>, Halt> {
    let mut runtime = runtime.clone();
    for (what, amount) in incoming {
        let key = StateKey::Balance { what: *what, who: contract };
        let held = read(world, &key)?;
        let Some(sum) = held.checked_add(*amount) else { return Ok(None) };
        world.state.put(key, sum.to_le_bytes().to_vec());
        let held = runtime_amount(&world.state, &runtime, *what)?;
        let Some(sum) = held.checked_add(*amount) else { return Ok(None) };
        runtime.set(*what, sum);
    }
    for (what, amount) in &outgoing {
        let key = StateKey::Balance { what: *what, who: contract };
        let held = read(world, &key)?;
        let left = match held.checked_sub(*amount) {
            Some(left) => left,
            None if *what == contract => 0,
            None => return Ok(None),
        };
        world.state.put(key, left.to_le_bytes().to_vec());
        let held = runtime_amount(&world.state, &runtime, *what)?;
        runtime.set(*what, held.saturating_sub(*amount));
    }
    let outgoing = outgoing.into_iter().map(|(id, value)| Transfer { id, value }).collect();
    Ok(Some((outgoing, runtime)))
}

fn read(world: &World<'_>, key: &StateKey) -> Result<u128, Halt> {
    let bytes = world.state.get(key)?.unwrap_or_default();
    Ok(<[u8; 16]>::try_from(&bytes[..]).map_or(0, u128::from_le_bytes))
}
