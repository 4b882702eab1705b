//! What a contract did, decoded for people: the result of a simulated call, and traces.

use std::fmt::Write as _;

use bitcoin::hex::{DisplayHex as _, FromHex as _};
use paraffin_primitives::AlkaneId;
use serde_json::{Map, Value, json};

use super::instance::unsigned;

/// Bytes of an error in the form of contracts: this selector, then text.
const ERROR_SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// Longest text or list of bytes that is printed whole.
const SHOWN_BYTES_MAX: usize = 1024;

/// A decoded result of `alkanes_simulate`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Simulation {
    /// Why it reverts; `None` when it succeeds.
    pub reverts: Option<String>,
    /// Fuel that it used, when the instance reports it.
    pub fuel: Option<u128>,
    /// Lines to print.
    pub lines: Vec<String>,
    /// The simulation as JSON.
    pub json: Value,
    /// Data that the contract returned.
    pub data: Vec<u8>,
}

impl Simulation {
    /// Decodes the answer.
    ///
    /// # Errors
    /// It does not have the form of a result.
    pub(super) fn read(answer: &Value) -> Result<Self, String> {
        let shape = || "alkanes_simulate gives an answer that cannot be used: no status or execution".to_owned();
        let status = answer.get("status").and_then(unsigned).ok_or_else(shape)?;
        let execution = answer.get("execution").filter(|execution| execution.is_object()).ok_or_else(shape)?;
        let data = bytes(execution.get("data")).ok_or_else(shape)?;
        let error = execution.get("error").and_then(Value::as_str).filter(|error| !error.is_empty());
        let reverts = match (status, error) {
            (0, None) => None,
            (_, Some(error)) => Some(clean(error)),
            (_, None) => Some(error_text(&data).unwrap_or_else(|| "no reason given".to_owned())),
        };
        let fuel = answer.get("gasUsed").and_then(unsigned);
        let mut lines = vec![match &reverts {
            None => "result: success".to_owned(),
            Some(reason) => format!("result: revert: {reason}"),
        }];
        lines.extend(fuel.map(|fuel| format!("fuel:   {fuel}")));
        if !data.is_empty() && reverts.is_none() {
            lines.push(format!("data:   {}", shown(&data)));
        }
        let alkanes = transfers(execution.get("alkanes"));
        lines.extend(alkanes.iter().map(|(id, amount)| format!("returns {amount} of {id}")));
        let storage = pairs(execution.get("storage"));
        lines.extend(storage.iter().map(|(key, value)| format!("writes  {key} = {value}")));
        let trace = answer.get("trace").filter(|trace| trace.is_array());
        let mut decoded = Map::new();
        decoded.insert("success".to_owned(), json!(reverts.is_none()));
        decoded.insert("error".to_owned(), json!(reverts));
        decoded.insert("fuel".to_owned(), json!(fuel.map(|fuel| fuel.to_string())));
        decoded.insert("data".to_owned(), json!(format!("0x{}", data.to_lower_hex_string())));
        decoded.insert("text".to_owned(), json!(text_of(&data)));
        decoded.insert("integer".to_owned(), json!(integer_of(&data).map(|integer| integer.to_string())));
        let returned = alkanes.iter().map(|(id, amount)| (id.to_string(), json!(amount.to_string()))).collect();
        decoded.insert("alkanes".to_owned(), Value::Object(returned));
        decoded.insert("storage".to_owned(), storage.iter().map(|(key, value)| json!([key, value])).collect());
        if let Some(trace) = trace {
            let trace = TraceReport::read(trace);
            lines.extend(trace.lines);
            decoded.insert("trace".to_owned(), trace.json);
        }
        Ok(Self { reverts, fuel, lines, json: Value::Object(decoded), data })
    }
}

/// A decoded trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct TraceReport {
    /// Lines to print, one for each event.
    pub lines: Vec<String>,
    /// The events as the instance returned them.
    pub json: Value,
    /// Contracts that were created.
    pub created: Vec<AlkaneId>,
    /// How the outermost call ended; `None` when the trace does not say.
    pub succeeded: Option<bool>,
}

impl TraceReport {
    /// Decodes the events; what is not understood is shown as it is.
    pub(super) fn read(trace: &Value) -> Self {
        let mut report = Self { json: trace.clone(), ..Self::default() };
        let mut depth = 0_usize;
        let mut unmatched = unmatched_returns(trace);
        for event in trace.as_array().into_iter().flatten() {
            let nothing = Value::Null;
            let (kind, data) = (event.get("event").and_then(Value::as_str), event.get("data").unwrap_or(&nothing));
            let line = match kind {
                Some("invoke") => {
                    depth += 1;
                    invoke_line(data)
                }
                Some("return") if unmatched > 0 && is_block_header(data) => {
                    unmatched -= 1;
                    "reads the block header".to_owned()
                }
                Some("return") => {
                    let succeeded = data.get("status").and_then(Value::as_str) == Some("success");
                    let line = return_line(data, succeeded);
                    report.succeeded = Some(succeeded);
                    report.lines.push(format!("{}{line}", "  ".repeat(depth)));
                    depth = depth.saturating_sub(1);
                    continue;
                }
                Some("omitted") => {
                    report.succeeded = Some(data.get("status").and_then(Value::as_str) == Some("success"));
                    let number = |name: &str| data.get(name).and_then(Value::as_u64).unwrap_or_default();
                    format!("{} events of {} MiB, too many to be kept", number("events"), number("bytes") >> 20)
                }
                Some("create") => {
                    report.created.extend(id_of(data));
                    id_of(data).map_or_else(|| clean(&data.to_string()), |id| format!("create contract {id}"))
                }
                _ => clean(&event.to_string()),
            };
            let deeper = usize::from(kind == Some("return"));
            report.lines.push(format!("{}{line}", "  ".repeat((depth + deeper).max(1))));
        }
        report
    }
}

/// Returns without a call: a contract that reads the block or its fees leaves a return alone (protocol B13).
fn unmatched_returns(trace: &Value) -> usize {
    let count = |kind: &str| {
        let events = trace.as_array().into_iter().flatten();
        events.filter(|event| event.get("event").and_then(Value::as_str) == Some(kind)).count()
    };
    count("return").saturating_sub(count("invoke"))
}

fn is_block_header(data: &Value) -> bool {
    bytes(data.get("response").unwrap_or(data).get("data")).is_some_and(|data| data.len() == 80)
}

fn invoke_line(data: &Value) -> String {
    let context = data.get("context").unwrap_or(data);
    let inner = context.get("inner").unwrap_or(context);
    let kind = data.get("type").and_then(Value::as_str).unwrap_or("call");
    let myself = inner.get("myself").and_then(id_of).map_or_else(|| "?".to_owned(), |id| id.to_string());
    let inputs = inner.get("inputs").and_then(Value::as_array).into_iter().flatten();
    let inputs: Vec<String> = inputs
        .map(|input| unsigned(input).map_or_else(|| clean(&input.to_string()), |input| input.to_string()))
        .collect();
    let mut line = format!("{} {myself} [{}]", clean(kind), inputs.join(", "));
    for (id, amount) in transfers(inner.get("incomingAlkanes").or_else(|| inner.get("incoming_alkanes"))) {
        let _ = write!(line, " with {amount} of {id}");
    }
    line
}

fn return_line(data: &Value, succeeded: bool) -> String {
    let response = data.get("response").unwrap_or(data);
    let returned = bytes(response.get("data")).unwrap_or_default();
    let mut line = if succeeded { "return".to_owned() } else { "revert".to_owned() };
    if !returned.is_empty() {
        let text = if succeeded { None } else { error_text(&returned) };
        let _ = write!(line, " {}", text.unwrap_or_else(|| shown(&returned)));
    }
    for (id, amount) in transfers(response.get("alkanes")) {
        let _ = write!(line, " with {amount} of {id}");
    }
    line
}

fn id_of(value: &Value) -> Option<AlkaneId> {
    if let Some(text) = value.as_str() {
        return text.parse().ok();
    }
    Some(AlkaneId { block: unsigned(value.get("block")?)?, tx: unsigned(value.get("tx")?)? })
}

fn transfers(value: Option<&Value>) -> Vec<(AlkaneId, u128)> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|entry| Some((id_of(entry.get("id")?)?, unsigned(entry.get("value")?)?))).collect()
}

fn pairs(value: Option<&Value>) -> Vec<(String, String)> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    let text = |entry: &Value, name: &str| {
        entry.get(name).map(|value| value.as_str().map_or_else(|| clean(&value.to_string()), clean))
    };
    list.filter_map(|entry| Some((text(entry, "key")?, text(entry, "value")?))).collect()
}

fn bytes(value: Option<&Value>) -> Option<Vec<u8>> {
    let text = value?.as_str()?;
    Vec::from_hex(text.strip_prefix("0x").unwrap_or(text)).ok()
}

fn error_text(data: &[u8]) -> Option<String> {
    let text = data.strip_prefix(&ERROR_SELECTOR)?;
    Some(clean(&String::from_utf8_lossy(text)))
}

/// Bytes as text and as an integer where they can be read so, and as they are.
fn shown(data: &[u8]) -> String {
    let cut = &data[..data.len().min(SHOWN_BYTES_MAX)];
    let mut text = format!("0x{}", cut.to_lower_hex_string());
    if cut.len() < data.len() {
        let _ = write!(text, "… ({} bytes)", data.len());
    }
    if let Some(words) = text_of(cut) {
        let _ = write!(text, " (text: {words})");
    } else if let Some(integer) = integer_of(data) {
        let _ = write!(text, " (integer: {integer})");
    }
    text
}

fn text_of(data: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(data).ok()?;
    (!text.is_empty() && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Contracts return integers of up to 128 bits with the least significant byte first.
fn integer_of(data: &[u8]) -> Option<u128> {
    let mut integer = [0; 16];
    integer.get_mut(..data.len()).filter(|_| !data.is_empty())?.copy_from_slice(data);
    Some(u128::from_le_bytes(integer))
}

/// Text of others without what could steer a terminal, and not too long.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_decoded_as_text_integer_alkanes_and_storage() {
        let answer = json!({
            "status": 0, "gasUsed": "93348",
            "execution": {
                "alkanes": [{"id": {"block": "2", "tx": "0"}, "value": "340282366920938463463374607431768211455"}],
                "storage": [{"key": "0x2f61", "value": "0x01"}],
                "data": "0x44494553454c", "error": null,
            },
        });
        let simulation = Simulation::read(&answer).unwrap();
        assert_eq!(simulation.reverts, None);
        assert_eq!(
            simulation.lines,
            [
                "result: success",
                "fuel:   93348",
                "data:   0x44494553454c (text: DIESEL)",
                "returns 340282366920938463463374607431768211455 of 2:0",
                "writes  0x2f61 = 0x01",
            ]
        );
        assert_eq!(simulation.json["alkanes"]["2:0"], "340282366920938463463374607431768211455");
        let number = json!({"status": 0, "execution": {"data": "0x40420f00000000000000000000000000"}});
        assert_eq!(Simulation::read(&number).unwrap().json["integer"], "1000000");
    }

    #[test]
    fn a_read_of_the_block_header_does_not_close_the_call_around_it() {
        let invoke = |block: &str| json!({"event": "invoke", "data": {"type": "call", "context": {"myself": block, "inputs": ["1"]}}});
        let back = |data: String| json!({"event": "return", "data": {"status": "success", "response": {"data": data}}});
        let header = back(format!("0x{}", "ab".repeat(80)));
        let trace = json!([invoke("2:1"), invoke("2:2"), header, back("0x".to_owned()), back("0x".to_owned())]);
        let report = TraceReport::read(&trace);
        let expected = ["  call 2:1 [1]", "    call 2:2 [1]", "      reads the block header", "    return", "  return"];
        assert_eq!(report.lines, expected);
        // As many returns as calls: 80 bytes are then a contract's own answer.
        let own = json!([invoke("2:1"), back(format!("0x{}", "ab".repeat(80)))]);
        assert_eq!(TraceReport::read(&own).lines.len(), 2);
        assert!(TraceReport::read(&own).lines[1].contains("return 0xabab"));
    }

    #[test]
    fn a_revert_shows_its_reason_without_control_characters() {
        let answer = json!({"status": 1, "execution": {"data": "0x", "error": "ALKANES: revert: \u{1b}[2Jno\n"}});
        assert_eq!(Simulation::read(&answer).unwrap().reverts.unwrap(), "ALKANES: revert: [2Jno");
        let coded = json!({"status": 1, "execution": {"data": "0x08c379a06e6f", "error": null}});
        assert_eq!(Simulation::read(&coded).unwrap().reverts.unwrap(), "no");
        for answer in [json!(null), json!({}), json!({"status": 0}), json!({"status": 0, "execution": {"data": 5}})] {
            assert!(Simulation::read(&answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn a_trace_shows_calls_creations_and_the_end() {
        let trace = json!([
            {"event": "create", "data": {"block": "0x2", "tx": "0x5"}},
            {"event": "invoke", "data": {"type": "call", "context": {
                "myself": {"block": "2", "tx": "5"}, "caller": {"block": "0", "tx": "0"}, "inputs": ["0", "7"],
                "incomingAlkanes": [{"id": {"block": "2", "tx": "0"}, "value": "9"}], "vout": 4}, "fuel": 3_500_000}},
            {"event": "return", "data": {"status": "success", "response": {"alkanes": [], "storage": [], "data": "0x07"}}},
            {"event": "unknown"},
        ]);
        let report = TraceReport::read(&trace);
        assert_eq!(report.created, [AlkaneId { block: 2, tx: 5 }]);
        assert_eq!(report.succeeded, Some(true));
        assert_eq!(
            report.lines[..3],
            ["  create contract 2:5", "  call 2:5 [0, 7] with 9 of 2:0", "  return 0x07 (integer: 7)",]
        );
        assert_eq!(TraceReport::read(&json!("nonsense")).succeeded, None);
    }
}
