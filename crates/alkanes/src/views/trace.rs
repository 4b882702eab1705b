//! Traces of messages and their protobuf form (protocol B17).

use prost::Message as _;

use super::{ViewContext, ViewError, outpoint, outpoint_to_proto};
use crate::proto::alkanes::alkanes_trace_event::Event;
use crate::proto::alkanes::{
    AlkanesBlockEvent, AlkanesBlockTraceEvent, AlkanesCreate, AlkanesEnterContext, AlkanesExitContext, AlkanesTrace,
    AlkanesTraceCallType, AlkanesTraceEvent, AlkanesTraceStatusFlag, Context, ExtendedCallResponse, KeyValuePair,
    Outpoint, TraceContext as FueledContext,
};
use crate::proto::{self, alkane_id};
use crate::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus};

/// The trace of one message; nothing when there is none.
pub(super) fn trace_view(payload: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    let request: Outpoint = proto::decode(payload)?;
    let trace = context.state.trace(&outpoint(&request.txid, request.vout)?)?;
    Ok(trace.map(|trace| trace_to_proto(&trace).encode_to_vec()).unwrap_or_default())
}

/// The traces of the block at the view's height.
pub(super) fn block_view(context: &ViewContext<'_>) -> Result<AlkanesBlockTraceEvent, ViewError> {
    let mut events = Vec::new();
    let mut bytes = 0;
    let traced = context.state.traces_of_block(context.height, context.limits.answer_bytes_max as u64)?;
    for traced in traced.ok_or(ViewError::TooLarge)? {
        context.check()?;
        let event = AlkanesBlockEvent {
            traces: Some(trace_to_proto(&traced.trace)),
            outpoint: Some(outpoint_to_proto(&traced.outpoint)),
            txindex: u64::from(traced.transaction_index),
        };
        bytes += event.encoded_len();
        if bytes > context.limits.answer_bytes_max {
            return Err(ViewError::TooLarge);
        }
        events.push(event);
    }
    Ok(AlkanesBlockTraceEvent { events })
}

/// Writes the answer of a call.
pub(super) fn response_to_proto(response: &CallResponse) -> ExtendedCallResponse {
    ExtendedCallResponse {
        alkanes: response.alkanes.iter().map(|transfer| (*transfer).into()).collect(),
        storage: response.storage.iter().map(|(key, value)| entry(key, value)).collect(),
        data: response.data.clone(),
    }
}

/// Writes an entry of a contract's storage.
pub(super) fn entry(key: &[u8], value: &[u8]) -> KeyValuePair {
    KeyValuePair { key: key.to_vec(), value: value.to_vec() }
}

/// Writes a trace. One that was too large to be stored has no events, since the format has no form for its record.
pub fn trace_to_proto(trace: &Trace) -> AlkanesTrace {
    AlkanesTrace { events: trace.events.iter().filter_map(event_to_proto).collect() }
}

fn event_to_proto(event: &TraceEvent) -> Option<AlkanesTraceEvent> {
    use Event::{CreateAlkane, EnterContext, ExitContext};
    let event = match event {
        TraceEvent::Create(id) => CreateAlkane(AlkanesCreate { new_alkane: Some((*id).into()) }),
        TraceEvent::Enter { kind, context, fuel } => {
            let call_type = match kind {
                CallKind::Call => AlkanesTraceCallType::Call,
                CallKind::Delegate => AlkanesTraceCallType::Delegatecall,
                CallKind::Static => AlkanesTraceCallType::Staticcall,
            };
            let inner = Context {
                myself: Some(context.myself.into()),
                caller: Some(context.caller.into()),
                inputs: context.inputs.iter().map(|input| (*input).into()).collect(),
                vout: context.vout,
                incoming_alkanes: context.incoming.iter().map(|transfer| (*transfer).into()).collect(),
            };
            EnterContext(AlkanesEnterContext {
                call_type: call_type.into(),
                context: Some(FueledContext { inner: Some(inner), fuel: *fuel }),
            })
        }
        TraceEvent::Exit { status, response, fuel_used } => {
            let status = match status {
                TraceStatus::Success => AlkanesTraceStatusFlag::Success,
                TraceStatus::Revert => AlkanesTraceStatusFlag::Failure,
            };
            let response = Some(response_to_proto(response));
            ExitContext(AlkanesExitContext { status: status.into(), response, fuel_used: *fuel_used })
        }
        TraceEvent::Omitted { .. } => return None,
    };
    Some(AlkanesTraceEvent { event: Some(event) })
}

/// Reads a trace. Steps that no engine writes any more are left out, and a call of no kind counts as a call.
pub fn trace_from_proto(trace: AlkanesTrace) -> Trace {
    Trace { events: trace.events.into_iter().filter_map(|step| event_from_proto(step.event?)).collect() }
}

fn event_from_proto(event: Event) -> Option<TraceEvent> {
    match event {
        Event::CreateAlkane(create) => Some(TraceEvent::Create(alkane_id(create.new_alkane))),
        Event::EnterContext(enter) => {
            let kind = match enter.call_type() {
                AlkanesTraceCallType::Delegatecall => CallKind::Delegate,
                AlkanesTraceCallType::Staticcall => CallKind::Static,
                AlkanesTraceCallType::Call | AlkanesTraceCallType::None => CallKind::Call,
            };
            let fueled = enter.context.unwrap_or_default();
            let inner = fueled.inner.unwrap_or_default();
            let context = TraceContext {
                myself: alkane_id(inner.myself),
                caller: alkane_id(inner.caller),
                vout: inner.vout,
                incoming: inner.incoming_alkanes.into_iter().map(Into::into).collect(),
                inputs: inner.inputs.into_iter().map(Into::into).collect(),
            };
            Some(TraceEvent::Enter { kind, context, fuel: fueled.fuel })
        }
        Event::ExitContext(exit) => {
            let status = match exit.status() {
                AlkanesTraceStatusFlag::Success => TraceStatus::Success,
                AlkanesTraceStatusFlag::Failure => TraceStatus::Revert,
            };
            let response = exit.response.unwrap_or_default();
            let response = CallResponse {
                alkanes: response.alkanes.into_iter().map(Into::into).collect(),
                storage: response.storage.into_iter().map(|pair| (pair.key, pair.value)).collect(),
                data: response.data,
            };
            Some(TraceEvent::Exit { status, response, fuel_used: exit.fuel_used })
        }
        Event::ReceiveIntent(_) | Event::ValueTransfer(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::AlkaneId;

    use super::*;
    use crate::Transfer;

    /// row MR09
    #[test]
    fn a_trace_has_the_bytes_that_its_message_says_and_comes_back_whole() {
        let diesel = AlkaneId { block: 2, tx: 0 };
        let context = TraceContext {
            myself: diesel,
            caller: AlkaneId::default(),
            vout: 3,
            incoming: vec![Transfer { id: diesel, value: 1 << 64 }],
            inputs: vec![77],
        };
        let response = CallResponse {
            alkanes: vec![Transfer { id: diesel, value: 5 }],
            storage: vec![(b"/a".to_vec(), vec![1])],
            data: vec![9],
        };
        let trace = Trace {
            events: vec![
                TraceEvent::Create(diesel),
                TraceEvent::Enter { kind: CallKind::Static, context, fuel: 3_500_000 },
                TraceEvent::Exit { status: TraceStatus::Revert, response, fuel_used: u64::MAX },
            ],
        };
        let written = trace_to_proto(&trace);
        assert_eq!(trace_from_proto(AlkanesTrace::decode(&written.encode_to_vec()[..]).unwrap()), trace);
        // An id: two integers in fields 1 and 2, of which zero halves are absent.
        let create = AlkanesTrace { events: vec![written.events[0].clone()] };
        assert_eq!(create.encode_to_vec(), [0x0a, 0x0a, 0x1a, 0x08, 0x0a, 0x06, 0x0a, 0x02, 0x08, 2, 0x12, 0]);
    }
}
