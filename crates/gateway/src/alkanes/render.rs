//! Contracts' answers and traces as JSON, in the form that clients of `alkanes_*` read.

use bitcoin::hex::DisplayHex as _;
use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::errors::RpcError;
use crate::surfaces::RpcResult;

/// Bytes as `0x` and digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    format!("0x{}", bytes.to_lower_hex_string())
}

/// An id as an object of decimal strings.
pub(crate) fn id_object(id: AlkaneId) -> Value {
    json!({ "block": id.block.to_string(), "tx": id.tx.to_string() })
}

/// Amounts of alkanes, `[{id, value}]`, all digits.
pub(crate) fn transfers(transfers: &[Transfer]) -> Value {
    let one = |transfer: &Transfer| json!({ "id": id_object(transfer.id), "value": transfer.value.to_string() });
    Value::Array(transfers.iter().map(one).collect())
}

/// What a call answered.
pub(crate) fn response(response: &CallResponse) -> Value {
    let storage = response.storage.iter();
    let entries = storage.map(|(key, value)| json!({ "key": storage_key_text(key), "value": hex(value) }));
    json!({
        "alkanes": transfers(&response.alkanes),
        "storage": entries.collect::<Vec<_>>(),
        "data": hex(&response.data),
    })
}

/// A storage key for reading: its segments between slashes, in hexadecimal where they are not plain words.
pub(crate) fn storage_key_text(key: &[u8]) -> String {
    let is_plain = |segment: &[u8]| segment.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let segments = key.split(|byte| *byte == b'/').map(|segment| {
        if is_plain(segment) { String::from_utf8_lossy(segment).into_owned() } else { segment.to_lower_hex_string() }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The events of a trace, in the order of calls. Written one by one, for a tree of all of them would take twenty times the trace.
///
/// # Errors
/// What was written is no JSON, which does not happen.
pub(crate) fn trace_events(trace: &Trace) -> RpcResult {
    let mut text = String::from("[");
    for (place, step) in trace.events.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&event(step).to_string());
    }
    text.push(']');
    RawValue::from_string(text).map_err(|error| RpcError::internal(&error))
}

fn event(event: &TraceEvent) -> Value {
    match event {
        TraceEvent::Create(id) => json!({ "event": "create", "data": id_object(*id) }),
        TraceEvent::Enter { kind, context, fuel } => {
            let kind = match kind {
                CallKind::Call => "call",
                CallKind::Delegate => "delegatecall",
                CallKind::Static => "staticcall",
            };
            let inputs: Vec<String> = context.inputs.iter().map(ToString::to_string).collect();
            json!({ "event": "invoke", "data": {
                "type": kind,
                "context": {
                    "myself": id_object(context.myself),
                    "caller": id_object(context.caller),
                    "inputs": inputs,
                    "incomingAlkanes": transfers(&context.incoming),
                    "vout": context.vout,
                },
                "fuel": fuel,
            } })
        }
        TraceEvent::Exit { status, response: answered, fuel_used } => json!({ "event": "return", "data": {
            "status": status_text(*status),
            "response": response(answered),
            "fuelUsed": fuel_used,
        } }),
        TraceEvent::Omitted { status, digest, events, bytes, contracts } => json!({ "event": "omitted", "data": {
            "status": status_text(*status),
            "digest": digest.to_lower_hex_string(),
            "events": events,
            "bytes": bytes,
            "contracts": contracts.iter().map(|id| id_object(*id)).collect::<Vec<_>>(),
        } }),
    }
}

fn status_text(status: TraceStatus) -> &'static str {
    match status {
        TraceStatus::Success => "success",
        TraceStatus::Revert => "revert",
    }
}

#[cfg(test)]
mod tests {
    use paraffin_alkanes::TraceContext;

    use super::*;

    #[test]
    fn a_storage_key_is_readable_where_it_is_words() {
        assert_eq!(storage_key_text(b"/totalsupply"), "/totalsupply");
        assert_eq!(storage_key_text(b"/seen/\x01\x02"), "/seen/0102");
        assert_eq!(storage_key_text(b""), "");
        assert_eq!(storage_key_text(&[0xff, b'/', 0xfe]), "ff/fe");
    }

    /// row MR12
    #[test]
    fn a_trace_reads_as_clients_know_it_with_all_digits() {
        let id = AlkaneId { block: 2, tx: 0 };
        let transfer = Transfer { id, value: u128::MAX };
        let context = TraceContext {
            myself: id,
            caller: AlkaneId::default(),
            vout: 4,
            incoming: vec![transfer],
            inputs: vec![u128::MAX],
        };
        let response =
            CallResponse { alkanes: vec![transfer], storage: vec![(b"/a".to_vec(), vec![1])], data: vec![0xab] };
        let trace = Trace {
            events: vec![
                TraceEvent::Create(id),
                TraceEvent::Enter { kind: CallKind::Delegate, context, fuel: 7 },
                TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 5 },
                TraceEvent::Omitted {
                    status: TraceStatus::Revert,
                    digest: [0xab; 32],
                    events: 9,
                    bytes: 1 << 40,
                    contracts: vec![id],
                },
            ],
        };
        let digits = u128::MAX.to_string();
        let amounts = json!([{ "id": { "block": "2", "tx": "0" }, "value": digits }]);
        assert_eq!(
            serde_json::from_str::<Value>(trace_events(&trace).unwrap().get()).unwrap(),
            json!([
                { "event": "create", "data": { "block": "2", "tx": "0" } },
                { "event": "invoke", "data": {
                    "type": "delegatecall",
                    "context": { "myself": { "block": "2", "tx": "0" }, "caller": { "block": "0", "tx": "0" },
                        "inputs": [digits], "incomingAlkanes": amounts, "vout": 4 },
                    "fuel": 7 } },
                { "event": "return", "data": {
                    "status": "success",
                    "response": { "alkanes": amounts, "storage": [{ "key": "/a", "value": "0x01" }], "data": "0xab" },
                    "fuelUsed": 5 } },
                { "event": "omitted", "data": {
                    "status": "revert", "digest": "ab".repeat(32), "events": 9, "bytes": 1_u64 << 40,
                    "contracts": [{ "block": "2", "tx": "0" }] } },
            ])
        );
    }
}
