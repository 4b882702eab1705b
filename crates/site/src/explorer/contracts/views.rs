//! Read-only calls of a contract: the form, the simulation and its result.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::alkane::AlkaneId;
use super::super::{Part, Reader, text};
use super::bytes::Reading;
use crate::api::Call;
use crate::failure::Failure;
use crate::html::grouped;

/// Most inputs after the opcode.
const INPUTS_MAX: usize = 32;
/// Most operations of a contract that are listed.
const METHODS_MAX: usize = 200;

/// Common view opcodes of contracts, with their results.
const USUAL: [(u128, &str); 7] = [
    (99, "name"),
    (100, "symbol"),
    (101, "total supply"),
    (102, "cap"),
    (103, "minted"),
    (104, "value per mint"),
    (1000, "data"),
];

/// An operation of a contract.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) opcode: String,
    pub(super) name: String,
    pub(super) inputs: String,
    pub(super) returns: String,
    /// Whether a link can call it: it takes no inputs and returns a value.
    pub(super) is_view: bool,
}

/// The operations that a contract declares.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) methods: Vec<Method>,
    /// Whether the contract declares them itself.
    pub(super) is_own: bool,
}

impl Declared {
    /// Reads the declaration of a contract, which is untrusted.
    pub(super) fn of(meta: Option<&Value>) -> Self {
        let word = |value: Option<&Value>| text::clean(value.and_then(Value::as_str).unwrap_or_default(), 60);
        let methods = meta.and_then(|meta| meta["methods"].as_array()).map(Vec::as_slice).unwrap_or_default();
        let methods: Vec<Method> = methods
            .iter()
            .take(METHODS_MAX)
            .filter_map(|method| {
                let opcode: u128 = method["opcode"].to_string().trim_matches('"').parse().ok()?;
                let params = method["params"].as_array().map(Vec::as_slice).unwrap_or_default();
                let inputs: Vec<String> = params
                    .iter()
                    .take(INPUTS_MAX)
                    .map(|param| format!("{}: {}", word(param.get("name")), word(param.get("type"))))
                    .collect();
                let returns = word(method.get("returns"));
                let is_view =
                    params.is_empty() && !matches!(returns.as_str(), "" | "void" | "Response" | "CallResponse");
                let name = word(method.get("name"));
                Some(Method { opcode: opcode.to_string(), name, inputs: inputs.join(", "), returns, is_view })
            })
            .collect();
        if !methods.is_empty() {
            return Self { name: word(meta.and_then(|meta| meta.get("contract"))), methods, is_own: true };
        }
        let usual = USUAL.iter().map(|(opcode, name)| Method {
            opcode: opcode.to_string(),
            name: (*name).to_owned(),
            inputs: String::new(),
            returns: String::new(),
            is_view: true,
        });
        Self { name: String::new(), methods: usual.collect(), is_own: false }
    }
}

/// The fields of the form, as they were typed.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) view: String,
    pub(super) inputs: String,
}

/// Result of a call.
pub(super) struct Outcome {
    pub(super) ok: bool,
    pub(super) reading: Reading,
    pub(super) fuel: String,
    pub(super) error: String,
    /// Alkanes that it would return.
    pub(super) alkanes: Vec<(String, String)>,
    /// Values that it would store.
    pub(super) stores: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Simulated {
    status: u32,
    gas_used: u64,
    execution: Execution,
}

#[derive(Deserialize)]
struct Execution {
    #[serde(default)]
    alkanes: Vec<Sent>,
    #[serde(default)]
    storage: Vec<Value>,
    data: String,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Sent {
    id: AlkaneId,
    value: String,
}

/// The numbers of a call: the opcode and its inputs.
fn numbers(typed: &Typed) -> Result<Vec<String>, String> {
    let opcode = integer(typed.view.trim()).ok_or("Opcode: this is no number, such as 99.")?;
    let mut numbers = vec![opcode.to_string()];
    for word in typed.inputs.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        for part in word.split(':') {
            let number = integer(part).ok_or_else(|| {
                format!("Inputs: “{}” is no number of at most 128 bits and no id block:tx.", text::clean(word, 40))
            })?;
            numbers.push(number.to_string());
        }
    }
    if numbers.len() > INPUTS_MAX + 1 {
        return Err(format!("Inputs: at most {INPUTS_MAX} numbers can be given."));
    }
    Ok(numbers)
}

fn integer(word: &str) -> Option<u128> {
    match word.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u128::from_str_radix(digits, 16).ok(),
        None if word.bytes().all(|byte| byte.is_ascii_digit()) => word.parse().ok(),
        _ => None,
    }
}

/// Simulates a call of a contract.
pub(super) async fn call(reader: &Reader, id: AlkaneId, typed: &Typed) -> Result<Part<Outcome>, Failure> {
    let inputs = match numbers(typed) {
        Ok(inputs) => inputs,
        Err(sentence) => return Ok(Err(sentence)),
    };
    let target = json!({ "block": id.block().to_string(), "tx": id.tx().to_string() });
    let params = json!([{ "target": target, "inputs": inputs }, "latest"]);
    let simulated: Part<Simulated> = reader.part(Call::rpc("alkanes_simulate", params)).await?;
    Ok(simulated.map(|simulated| Outcome {
        ok: simulated.status == 0,
        reading: Reading::of_hex(&simulated.execution.data),
        fuel: grouped(simulated.gas_used),
        error: text::clean(simulated.execution.error.as_deref().unwrap_or_default(), 1_000),
        alkanes: simulated
            .execution
            .alkanes
            .iter()
            .take(50)
            .map(|sent| (sent.id.to_string(), text::amount_text(&sent.value, 0)))
            .collect(),
        stores: simulated.execution.storage.len(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(view: &str, inputs: &str) -> Result<Vec<String>, String> {
        numbers(&Typed { view: view.to_owned(), inputs: inputs.to_owned() })
    }

    #[test]
    fn inputs_are_numbers_and_ids() {
        assert_eq!(typed(" 99 ", "").unwrap(), ["99"]);
        assert_eq!(typed("1", "2:0, 0xff\n7").unwrap(), ["1", "2", "0", "255", "7"]);
        assert_eq!(typed("1", &u128::MAX.to_string()).unwrap().len(), 2);
        assert!(typed("", "").unwrap_err().starts_with("Opcode"));
        for wrong in ["-1", "x", "0x", "1.5", "2:", "340282366920938463463374607431768211456", "+1"] {
            assert!(typed("1", wrong).unwrap_err().starts_with("Inputs"), "{wrong}");
        }
        assert!(typed("1", &"1 ".repeat(33)).unwrap_err().contains("at most 32"));
    }

    #[test]
    fn declarations_may_be_anything() {
        for meta in [json!(null), json!("0x00"), json!({ "methods": 5 }), json!({ "methods": [1, { "opcode": -1 }] })] {
            let declared = Declared::of(Some(&meta));
            assert!(!declared.is_own && declared.methods.len() == USUAL.len(), "{meta}");
        }
        let meta = json!({ "contract": "A\u{202e}", "methods": [
            { "name": "get_name", "opcode": 99, "params": [], "returns": "String" },
            { "name": "burn", "opcode": 79, "params": [{ "name": "amount", "type": "u128" }], "returns": "Response" }] });
        let declared = Declared::of(Some(&meta));
        assert_eq!(declared.name, "A");
        let of = |index: usize| &declared.methods[index];
        assert_eq!((of(0).is_view, of(0).opcode.as_str(), of(1).is_view), (true, "99", false));
        assert_eq!(of(1).inputs, "amount: u128");
        let many: Vec<Value> =
            (0..1_000).map(|opcode| json!({ "name": "x".repeat(1_000), "opcode": opcode })).collect();
        let declared = Declared::of(Some(&json!({ "methods": many })));
        assert_eq!((declared.methods.len(), declared.methods[0].name.chars().count()), (METHODS_MAX, 61));
    }
}
