//! Contracts' answers and traces as JSON, in the form that clients of `alkanes_*` read.

use bitcoin::hex::DisplayHex as _;
use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::errors::ApiError;
use crate::methods::OrNull;
use crate::surface::RpcResult;

/// Bytes as `0x` and digits.
pub fn hex(bytes: &[u8]) -> String {
    format!("0x{}", bytes.to_lower_hex_string())
}

/// An id as an object of decimal strings.
pub fn id_object(id: AlkaneId) -> Value {
    json!({ "block": id.block.to_string(), "tx": id.tx.to_string() })
}

/// The id of an alkane; numbers in decimal digits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AlkaneIdDigits")]
pub struct IdDigits {
    block: String,
    tx: String,
}

impl From<AlkaneId> for IdDigits {
    fn from(id: AlkaneId) -> Self {
        Self { block: id.block.to_string(), tx: id.tx.to_string() }
    }
}

/// An amount of an alkane.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transfer")]
pub struct TransferItem {
    id: IdDigits,
    /// Base units in decimal digits.
    value: String,
}

/// Amounts of alkanes, all digits.
pub fn transfers(transfers: &[Transfer]) -> Vec<TransferItem> {
    let item = |transfer: &Transfer| TransferItem { id: transfer.id.into(), value: transfer.value.to_string() };
    transfers.iter().map(item).collect()
}

/// A value that a contract stored.
#[derive(Serialize, JsonSchema)]
pub struct StoredItem {
    /// Its segments between slashes, in hexadecimal digits where they are no plain words.
    key: String,
    /// `0x` and hexadecimal digits.
    value: String,
}

/// What a call answered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CallResponse")]
pub struct ResponseItem {
    /// What it hands on.
    pub alkanes: Vec<TransferItem>,
    /// What it stored.
    pub storage: Vec<StoredItem>,
    /// `0x` and hexadecimal digits.
    pub data: String,
    /// Why it failed; absent in traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<OrNull<String>>,
}

/// What a call answered.
pub fn response(response: &CallResponse) -> ResponseItem {
    let stored = |(key, value): &(Vec<u8>, Vec<u8>)| StoredItem { key: storage_key_text(key), value: hex(value) };
    ResponseItem {
        alkanes: transfers(&response.alkanes),
        data: hex(&response.data),
        error: None,
        storage: response.storage.iter().map(stored).collect(),
    }
}

/// A storage key for reading: its segments between slashes, in hexadecimal where they are not plain words.
fn storage_key_text(key: &[u8]) -> String {
    let is_plain = |segment: &[u8]| segment.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let segments = key.split(|byte| *byte == b'/').map(|segment| {
        if is_plain(segment) { String::from_utf8_lossy(segment).into_owned() } else { segment.to_lower_hex_string() }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// An event of a trace.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TraceEvent")]
pub struct EventItem {
    /// `create`, `invoke`, `return` or `omitted`.
    event: &'static str,
    data: EventData,
}

/// By the event: the id of a contract that was made, a call, how it ended, or that the rest was too long.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum EventData {
    Create(IdDigits),
    #[serde(rename_all = "camelCase")]
    Invoke {
        /// `call`, `delegatecall` or `staticcall`.
        #[serde(rename = "type")]
        kind: &'static str,
        context: EventContext,
        fuel: u64,
    },
    #[serde(rename_all = "camelCase")]
    Return {
        /// `success` or `revert`.
        status: &'static str,
        response: ResponseItem,
        fuel_used: u64,
    },
    Omitted {
        /// `success` or `revert`.
        status: &'static str,
        /// Of all events, SHA-256.
        digest: String,
        /// How many there were.
        events: u64,
        /// Size of all events.
        bytes: u64,
        /// The contracts that were called.
        contracts: Vec<IdDigits>,
    },
}

/// In what a contract was called.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EventContext {
    myself: IdDigits,
    caller: IdDigits,
    /// The operation first.
    inputs: Vec<String>,
    incoming_alkanes: Vec<TransferItem>,
    vout: u32,
}

/// The events of a trace, in the order of calls, as JSON text. Written one by one, for a tree of all of them would take twenty
/// times the trace.
///
/// # Errors
/// What was written is no JSON, which does not happen.
pub fn trace_events(trace: &Trace) -> RpcResult {
    let mut text = Vec::from(b"[");
    for (place, step) in trace.events.iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        serde_json::to_writer(&mut text, &event(step)).map_err(|error| ApiError::internal(&error))?;
    }
    text.push(b']');
    let text = String::from_utf8(text).map_err(|error| ApiError::internal(&error))?;
    RawValue::from_string(text).map_err(|error| ApiError::internal(&error))
}

fn event(event: &TraceEvent) -> EventItem {
    match event {
        TraceEvent::Create(id) => EventItem { data: EventData::Create((*id).into()), event: "create" },
        TraceEvent::Enter { kind, context, fuel } => {
            let kind = match kind {
                CallKind::Call => "call",
                CallKind::Delegate => "delegatecall",
                CallKind::Static => "staticcall",
            };
            let context = EventContext {
                caller: context.caller.into(),
                incoming_alkanes: transfers(&context.incoming),
                inputs: context.inputs.iter().map(ToString::to_string).collect(),
                myself: context.myself.into(),
                vout: context.vout,
            };
            EventItem { data: EventData::Invoke { context, fuel: *fuel, kind }, event: "invoke" }
        }
        TraceEvent::Exit { status, response: answered, fuel_used } => EventItem {
            data: EventData::Return {
                fuel_used: *fuel_used,
                response: response(answered),
                status: status_text(*status),
            },
            event: "return",
        },
        TraceEvent::Omitted { status, digest, events, bytes, contracts } => EventItem {
            data: EventData::Omitted {
                bytes: *bytes,
                contracts: contracts.iter().map(|id| (*id).into()).collect(),
                digest: digest.to_lower_hex_string(),
                events: *events,
                status: status_text(*status),
            },
            event: "omitted",
        },
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
            serde_json::to_value(trace_events(&trace).unwrap()).unwrap(),
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
