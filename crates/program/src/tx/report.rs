//! Description of a plan, as text and as JSON, before anything is signed.

use bitcoin::{Address, ScriptBuf};
use paraffin_primitives::Network;
use paraffin_wallet::{Alkanes, Ordinals, Plan, Role, Warning};
use serde_json::{Map, Value, json};

use super::outcome::clean;

/// Lines that list the inputs and outputs of a plan.
pub(super) fn lines(plan: &Plan, network: Network, owner: &ScriptBuf) -> Vec<String> {
    let mut lines = vec![format!("transaction {}", plan.txid())];
    lines.push(format!("  spends {} satoshis", thousands(spent(plan))));
    for input in &plan.inputs {
        let coin = &input.coin;
        let mut carries: Vec<String> =
            coin.alkanes.iter().flat_map(Alkanes::iter).map(|(id, amount)| format!("{amount} of {id}")).collect();
        match &coin.ordinals {
            Ordinals::Held(held) => carries.extend(held.iter().map(|name| clean(name))),
            Ordinals::Unknown if coin.alkanes.is_none() => carries.push("unknown content".to_owned()),
            Ordinals::None | Ordinals::Unknown => {}
        }
        let carries = if carries.is_empty() { String::new() } else { format!("  with {}", carries.join(", ")) };
        lines.push(format!("    {:>15}  {}{carries}", thousands(coin.sats()), coin.outpoint));
    }
    lines.push("  makes".to_owned());
    for (vout, planned) in plan.outputs.iter().enumerate() {
        let script = &planned.output.script_pubkey;
        let whom = if script == owner { "you".to_owned() } else { name(script, network) };
        let carries: Vec<String> = planned.alkanes.iter().map(|(id, amount)| format!("{amount} of {id}")).collect();
        let carries = if carries.is_empty() { String::new() } else { format!("  with {}", carries.join(", ")) };
        let value = thousands(planned.output.value.to_sat());
        lines.push(format!("    {value:>15}  output {vout}: {} to {whom}{carries}", role(planned.role)));
    }
    if let Some((target, alkanes)) = &plan.given {
        let given: Vec<String> = alkanes.iter().map(|(id, amount)| format!("{amount} of {id}")).collect();
        let given = if given.is_empty() { "no alkanes".to_owned() } else { given.join(", ") };
        lines.push(format!("  calls {target} with {given}; a refund returns to output 0"));
    }
    let (fee, rate, vsize) = (thousands(plan.fee), plan.fee_rate(), plan.vsize());
    lines.push(format!("  fee {fee} satoshis ({rate} sat/vB, {vsize} vB)"));
    lines.extend(plan.warnings.iter().map(|warning| format!("  note: {}", warning_text(warning))));
    lines
}

/// The plan as JSON.
pub(super) fn json(plan: &Plan, network: Network) -> Value {
    let alkanes = |alkanes: &Alkanes| -> Value {
        Value::Object(alkanes.iter().map(|(id, amount)| (id.to_string(), json!(amount.to_string()))).collect())
    };
    let inputs: Vec<Value> = plan
        .inputs
        .iter()
        .map(|input| {
            let mut record = Map::new();
            record.insert("outpoint".to_owned(), json!(input.coin.outpoint.to_string()));
            record.insert("value".to_owned(), json!(input.coin.sats()));
            record.insert("alkanes".to_owned(), input.coin.alkanes.as_ref().map_or(Value::Null, alkanes));
            Value::Object(record)
        })
        .collect();
    let outputs: Vec<Value> = plan
        .outputs
        .iter()
        .map(|planned| {
            let script = &planned.output.script_pubkey;
            json!({
                "role": role(planned.role), "value": planned.output.value.to_sat(), "script": script.to_hex_string(),
                "address": Address::from_script(script, network.bitcoin()).ok().map(|address| address.to_string()),
                "alkanes": alkanes(&planned.alkanes),
            })
        })
        .collect();
    let call =
        plan.given.as_ref().map(|(target, given)| json!({"target": target.to_string(), "alkanes": alkanes(given)}));
    let warnings: Vec<String> = plan.warnings.iter().map(warning_text).collect();
    json!({
        "txid": plan.txid(), "inputs": inputs, "outputs": outputs, "call": call, "fee": plan.fee,
        "fee_rate": plan.fee_rate().to_string(), "vsize": plan.vsize(), "warnings": warnings,
        "message_vout": plan.message_vout(),
    })
}

fn spent(plan: &Plan) -> u64 {
    plan.inputs.iter().map(|input| input.coin.sats()).sum()
}

fn name(script: &ScriptBuf, network: Network) -> String {
    if script.is_op_return() {
        return format!("OP_RETURN ({} bytes)", script.len());
    }
    Address::from_script(script, network.bitcoin())
        .map_or_else(|_| format!("script {}", script.to_hex_string()), |address| address.to_string())
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Owner => "alkanes",
        Role::Results => "results",
        Role::Recipient => "payment",
        Role::Signer => "signer",
        Role::Commit => "commit",
        Role::Change => "change",
        Role::Runestone => "runestone",
    }
}

fn warning_text(warning: &Warning) -> String {
    match warning {
        Warning::LongOpReturn { bytes } => {
            format!("the OP_RETURN output takes {bytes} bytes; nodes before Bitcoin Core 30 relay up to 83")
        }
        Warning::CarriesOrdinals { outpoint, what } => {
            let what: Vec<String> = what.iter().map(|name| clean(name)).collect();
            format!("{outpoint} carries {}; it stays whole in output 0, which is yours", what.join(", "))
        }
        Warning::UnknownContent { outpoint } => {
            format!("the content of {outpoint} is unknown; its alkanes and runes go to output 0, which is yours")
        }
    }
}

/// Digits in groups of three.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_groups_of_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
