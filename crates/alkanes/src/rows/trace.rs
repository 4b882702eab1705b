//! The stored form of traces: tags of one byte and varints.

use super::Parser;
use crate::codec::append_varint;
use crate::{CallKind, CallResponse, StateError, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;

/// Tags of events. Enter: 1 call, 2 delegate, 3 static. Exit: 4 success, 5 revert. Omitted: 6 after a success, 7 after a
/// revert.
mod tag {
    pub(super) const CREATE: u8 = 0;
    pub(super) const CALL: u8 = 1;
    pub(super) const DELEGATE: u8 = 2;
    pub(super) const STATIC: u8 = 3;
    pub(super) const SUCCESS: u8 = 4;
    pub(super) const REVERT: u8 = 5;
    pub(super) const OMITTED_SUCCESS: u8 = 6;
    pub(super) const OMITTED_REVERT: u8 = 7;
}

pub(crate) fn encode_trace(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(trace.events.len() * 64);
    for event in &trace.events {
        encode_event(event, &mut bytes);
    }
    bytes
}

/// Appends the stored form of one event.
pub(crate) fn encode_event(event: &TraceEvent, bytes: &mut Vec<u8>) {
    match event {
        TraceEvent::Create(id) => {
            bytes.push(tag::CREATE);
            append_id(*id, bytes);
        }
        TraceEvent::Enter { kind, context, fuel } => {
            bytes.push(match kind {
                CallKind::Call => tag::CALL,
                CallKind::Delegate => tag::DELEGATE,
                CallKind::Static => tag::STATIC,
            });
            append_id(context.myself, bytes);
            append_id(context.caller, bytes);
            append_varint(u128::from(context.vout), bytes);
            append_varint(u128::from(*fuel), bytes);
            append_transfers(&context.incoming, bytes);
            append_varint(context.inputs.len() as u128, bytes);
            for input in &context.inputs {
                append_varint(*input, bytes);
            }
        }
        TraceEvent::Exit { status, response, fuel_used } => {
            bytes.push(match status {
                TraceStatus::Success => tag::SUCCESS,
                TraceStatus::Revert => tag::REVERT,
            });
            append_varint(u128::from(*fuel_used), bytes);
            append_transfers(&response.alkanes, bytes);
            append_varint(response.storage.len() as u128, bytes);
            for (key, value) in &response.storage {
                append_bytes(key, bytes);
                append_bytes(value, bytes);
            }
            append_bytes(&response.data, bytes);
        }
        TraceEvent::Omitted { status, digest, events, bytes: size, contracts } => {
            bytes.push(match status {
                TraceStatus::Success => tag::OMITTED_SUCCESS,
                TraceStatus::Revert => tag::OMITTED_REVERT,
            });
            bytes.extend_from_slice(digest);
            append_varint(u128::from(*events), bytes);
            append_varint(u128::from(*size), bytes);
            append_varint(contracts.len() as u128, bytes);
            for contract in contracts {
                append_id(*contract, bytes);
            }
        }
    }
}

fn append_id(id: AlkaneId, bytes: &mut Vec<u8>) {
    append_varint(id.block, bytes);
    append_varint(id.tx, bytes);
}

fn append_transfers(transfers: &[Transfer], bytes: &mut Vec<u8>) {
    append_varint(transfers.len() as u128, bytes);
    for transfer in transfers {
        append_id(transfer.id, bytes);
        append_varint(transfer.value, bytes);
    }
}

fn append_bytes(appended: &[u8], bytes: &mut Vec<u8>) {
    append_varint(appended.len() as u128, bytes);
    bytes.extend_from_slice(appended);
}

pub(crate) fn decode_trace(bytes: &[u8]) -> Result<Trace, StateError> {
    let mut parser = Parser::new("traces", bytes);
    let mut events = Vec::new();
    while !parser.is_empty() {
        let [tag] = parser.array()?;
        events.push(match tag {
            tag::CREATE => TraceEvent::Create(parser.varint_id()?),
            tag::CALL => enter(CallKind::Call, &mut parser)?,
            tag::DELEGATE => enter(CallKind::Delegate, &mut parser)?,
            tag::STATIC => enter(CallKind::Static, &mut parser)?,
            tag::SUCCESS => exit(TraceStatus::Success, &mut parser)?,
            tag::REVERT => exit(TraceStatus::Revert, &mut parser)?,
            tag::OMITTED_SUCCESS => omitted(TraceStatus::Success, &mut parser)?,
            tag::OMITTED_REVERT => omitted(TraceStatus::Revert, &mut parser)?,
            _ => return Err(parser.damaged()),
        });
    }
    Ok(Trace { events })
}

fn enter(kind: CallKind, parser: &mut Parser<'_>) -> Result<TraceEvent, StateError> {
    let (myself, caller) = (parser.varint_id()?, parser.varint_id()?);
    let (vout, fuel) = (parser.small()?, parser.small()?);
    let incoming = transfers(parser)?;
    let count: usize = parser.small()?;
    let inputs = (0..count).map(|_| parser.varint()).collect::<Result<_, _>>()?;
    Ok(TraceEvent::Enter { kind, context: TraceContext { myself, caller, vout, incoming, inputs }, fuel })
}

fn omitted(status: TraceStatus, parser: &mut Parser<'_>) -> Result<TraceEvent, StateError> {
    let digest = parser.array()?;
    let (events, bytes) = (parser.small()?, parser.small()?);
    let count: usize = parser.small()?;
    let contracts = (0..count).map(|_| parser.varint_id()).collect::<Result<_, _>>()?;
    Ok(TraceEvent::Omitted { status, digest, events, bytes, contracts })
}

fn exit(status: TraceStatus, parser: &mut Parser<'_>) -> Result<TraceEvent, StateError> {
    let fuel_used = parser.small()?;
    let alkanes = transfers(parser)?;
    let count: usize = parser.small()?;
    let storage = (0..count).map(|_| Ok((piece(parser)?, piece(parser)?))).collect::<Result<_, StateError>>()?;
    Ok(TraceEvent::Exit { status, response: CallResponse { alkanes, storage, data: piece(parser)? }, fuel_used })
}

fn transfers(parser: &mut Parser<'_>) -> Result<Vec<Transfer>, StateError> {
    let count: usize = parser.small()?;
    (0..count).map(|_| Ok(Transfer { id: parser.varint_id()?, value: parser.varint()? })).collect()
}

fn piece(parser: &mut Parser<'_>) -> Result<Vec<u8>, StateError> {
    let length = parser.small()?;
    Ok(parser.take(length)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id() -> impl Strategy<Value = AlkaneId> {
        (any::<u128>(), any::<u64>()).prop_map(|(block, tx)| AlkaneId { block, tx: u128::from(tx) })
    }

    fn some_transfers() -> impl Strategy<Value = Vec<Transfer>> {
        proptest::collection::vec((id(), any::<u128>()).prop_map(|(id, value)| Transfer { id, value }), 0..4)
    }

    fn event() -> impl Strategy<Value = TraceEvent> {
        let kind = prop_oneof![Just(CallKind::Call), Just(CallKind::Delegate), Just(CallKind::Static)];
        let status = prop_oneof![Just(TraceStatus::Success), Just(TraceStatus::Revert)];
        prop_oneof![
            id().prop_map(TraceEvent::Create),
            (kind, id(), id(), any::<u32>(), some_transfers(), any::<Vec<u128>>(), any::<u64>()).prop_map(
                |(kind, myself, caller, vout, incoming, inputs, fuel)| TraceEvent::Enter {
                    kind,
                    context: TraceContext { myself, caller, vout, incoming, inputs },
                    fuel,
                }
            ),
            (any::<bool>(), any::<[u8; 32]>(), any::<u64>(), any::<u64>(), proptest::collection::vec(id(), 0..4))
                .prop_map(|(done, digest, events, bytes, contracts)| {
                    let status = if done { TraceStatus::Success } else { TraceStatus::Revert };
                    TraceEvent::Omitted { status, digest, events, bytes, contracts }
                }),
            (status, some_transfers(), any::<Vec<(Vec<u8>, Vec<u8>)>>(), any::<Vec<u8>>(), any::<u64>()).prop_map(
                |(status, alkanes, storage, data, fuel_used)| TraceEvent::Exit {
                    status,
                    response: CallResponse { alkanes, storage, data },
                    fuel_used,
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn traces_round_trip(events in proptest::collection::vec(event(), 0..6)) {
            let trace = Trace { events };
            prop_assert_eq!(decode_trace(&encode_trace(&trace)).unwrap(), trace);
        }

        #[test]
        fn arbitrary_bytes_are_a_trace_or_an_error(bytes: Vec<u8>) {
            _ = decode_trace(&bytes);
        }
    }
}
