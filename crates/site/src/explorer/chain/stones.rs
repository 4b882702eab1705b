//! Runestones and protostones of a transaction, decoded by the engine's own codec.

use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use bitcoin::{Amount, ScriptBuf, TxOut};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Artifact, Cellpack, Protostone, shadow_vout};

use super::bytes::{Bytes, hex_bytes};
use super::rows::Output;
use crate::explorer::text;
use crate::html::grouped;

/// Prefix of the script of a runestone: `OP_RETURN OP_13`.
const RUNESTONE_PREFIX: &str = "6a5d";
/// Longest script that is decoded for a page, bytes.
const SCRIPT_BYTES_MAX: usize = 16_384;
/// Protostones, edicts and inputs that a page shows.
const PROTOSTONES_SHOWN: usize = 24;
const EDICTS_SHOWN: usize = 20;
const INPUTS_SHOWN: usize = 24;
/// Calls that the row of a transaction names.
const CALLS_NAMED: usize = 2;

/// A contract that a message calls.
pub(in crate::explorer) struct CallSummary {
    /// `block:tx`.
    pub(in crate::explorer) target: String,
    /// The operation, or empty.
    pub(in crate::explorer) opcode: String,
}

/// Summary of a transaction's runestone for a row of a table.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) tags: Vec<String>,
    pub(super) calls: Vec<CallSummary>,
}

/// A decoded runestone as the page of its transaction shows it.
#[derive(Default)]
pub(super) struct Runestone {
    /// Why the runestone cannot be shown, or empty.
    pub(super) sentence: String,
    /// Names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Edicts of base runes: rune, amount and output.
    pub(super) edicts: Vec<[String; 3]>,
    pub(super) edicts_left_out: String,
    pub(super) protostones: Vec<Stone>,
    pub(super) protostones_left_out: String,
}

/// A protostone.
pub(super) struct Stone {
    pub(super) number: String,
    /// The shadow output, by which the API names the message.
    pub(super) vout: u32,
    pub(super) protocol: String,
    pub(super) facts: Vec<(&'static str, String)>,
    /// The contract that its message calls, `block:tx`; empty without one.
    pub(super) target: String,
    pub(super) inputs: String,
    /// The message, where it is no call.
    pub(super) message: Option<Bytes>,
    pub(super) edicts: Vec<[String; 3]>,
    pub(super) edicts_left_out: String,
    /// Whether the engine runs it: a message for alkanes.
    pub(super) is_run: bool,
}

/// The runestone of the outputs; `None` without one, an error with its length where it is too long.
fn artifact(outputs: &[Output]) -> Option<Result<Artifact, usize>> {
    let first = outputs.iter().find(|output| output.scriptpubkey.starts_with(RUNESTONE_PREFIX))?;
    let length = first.scriptpubkey.len() / 2;
    if length > SCRIPT_BYTES_MAX {
        return Some(Err(length));
    }
    // Only the first such script and the number of outputs matter.
    let output = outputs.iter().map(|output| {
        let script = if std::ptr::eq(output, first) { hex_bytes(&output.scriptpubkey) } else { None };
        TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from_bytes(script.unwrap_or_default()) }
    });
    let transaction = bitcoin::Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: Vec::new(),
        output: output.collect(),
    };
    Artifact::read(&transaction).map(Ok)
}

/// Decodes a summary for the row of a transaction.
pub(super) fn summary(outputs: &[Output]) -> Summary {
    let mut summary = Summary::default();
    match artifact(outputs) {
        None => {}
        Some(Err(_)) => summary.tags.push("long runestone".to_owned()),
        Some(Ok(Artifact::Cenotaph(_))) => summary.tags.push("cenotaph".to_owned()),
        Some(Ok(Artifact::Runestone(stone))) => {
            if stone.base.etching.is_some() {
                summary.tags.push("etching".to_owned());
            }
            if stone.base.mint.is_some() {
                summary.tags.push("rune mint".to_owned());
            }
            if !stone.base.edicts.is_empty() {
                summary.tags.push("runes".to_owned());
            }
            let stones = stone.protostones().unwrap_or_default();
            let calls = stones.iter().filter(|stone| stone.is_alkanes_message());
            let calls = calls.filter_map(|stone| Cellpack::decode(&stone.message).ok());
            summary.calls = calls
                .take(CALLS_NAMED)
                .map(|cellpack| CallSummary {
                    target: format!("{}:{}", cellpack.target.block, cellpack.target.tx),
                    opcode: cellpack.inputs.first().map(u128::to_string).unwrap_or_default(),
                })
                .collect();
            if summary.calls.is_empty() && !stones.is_empty() {
                summary.tags.push("protostone".to_owned());
            }
        }
    }
    summary
}

/// Decodes a runestone for the page of a transaction.
pub(super) fn decode(outputs: &[Output]) -> Option<Runestone> {
    let mut shown = Runestone::default();
    match artifact(outputs)? {
        Err(length) => {
            shown.sentence =
                format!("The runestone has {} bytes, too many to be decoded on a page.", grouped(to_i128(length)));
        }
        Ok(Artifact::Cenotaph(cenotaph)) => {
            let flaw = cenotaph.flaw.map_or_else(|| "malformed".to_owned(), |flaw| flaw.to_string());
            shown.sentence =
                format!("A cenotaph ({flaw}): runes and alkanes on the inputs are burned, and no message is run.");
            shown.facts.extend(cenotaph.etching.map(|rune| ("Etches", rune.to_string())));
            shown.facts.extend(cenotaph.mint.map(|id| ("Mints", id.to_string())));
        }
        Ok(Artifact::Runestone(stone)) => {
            let base = &stone.base;
            if let Some(etching) = &base.etching {
                let name = etching.rune.map_or_else(|| "a reserved name".to_owned(), |rune| rune.to_string());
                let divisibility = u32::from(etching.divisibility.unwrap_or(0));
                shown.facts.push(("Etches", name));
                shown.facts.push(("Divisibility", divisibility.to_string()));
                shown.facts.extend(etching.symbol.map(|symbol| ("Symbol", text::clean(&symbol.to_string(), 4))));
                shown.facts.extend(etching.premine.map(|units| ("Premine", text::amount(units, divisibility))));
                if let Some(terms) = etching.terms {
                    shown
                        .facts
                        .extend(terms.amount.map(|units| ("Amount of a mint", text::amount(units, divisibility))));
                    shown.facts.extend(terms.cap.map(|cap| ("Mints at most", text::amount(cap, 0))));
                }
                shown.facts.push(("Turbo", if etching.turbo { "yes" } else { "no" }.to_owned()));
            }
            shown.facts.extend(base.mint.map(|id| ("Mints", id.to_string())));
            shown.facts.extend(base.pointer.map(|output| ("Pointer", format!("output {output}"))));
            let edicts = base.edicts.iter().take(EDICTS_SHOWN);
            shown.edicts = edicts
                .map(|edict| {
                    [edict.id.to_string(), units(edict.amount), output_name(u128::from(edict.output), outputs.len())]
                })
                .collect();
            shown.edicts_left_out = left_out(base.edicts.len(), EDICTS_SHOWN, "edicts");
            match stone.protostones() {
                Ok(stones) => {
                    let listed = stones.iter().enumerate().take(PROTOSTONES_SHOWN);
                    shown.protostones = listed.map(|(index, stone)| Stone::of(stone, index, outputs.len())).collect();
                    shown.protostones_left_out = left_out(stones.len(), PROTOSTONES_SHOWN, "protostones");
                }
                Err(error) => {
                    shown.sentence = format!("The protostones cannot be read, so the transaction is void: {error}.");
                }
            }
        }
    }
    Some(shown)
}

impl Stone {
    fn of(stone: &Protostone, index: usize, output_count: usize) -> Self {
        let mut facts = Vec::new();
        let output = |vout: Option<u32>| vout.map(|vout| output_name(u128::from(vout), output_count));
        facts.extend(output(stone.pointer).map(|name| ("Pointer", name)));
        facts.extend(output(stone.refund).map(|name| ("Refund", name)));
        facts.extend(output(stone.from).map(|name| ("From", name)));
        facts.extend(stone.burn.map(|protocol| ("Burn", format!("protocol {protocol}"))));
        let is_alkanes = stone.protocol_tag == ALKANES_PROTOCOL;
        let call = if is_alkanes { Cellpack::decode(&stone.message).ok() } else { None };
        let message = if call.is_none() && stone.is_message() { Some(Bytes::of_bytes(&stone.message)) } else { None };
        let (target, inputs) = call.map_or_else(Default::default, |cellpack| {
            (format!("{}:{}", cellpack.target.block, cellpack.target.tx), inputs_text(&cellpack.inputs))
        });
        Self {
            number: (index + 1).to_string(),
            vout: shadow_vout(output_count, index),
            protocol: if is_alkanes { "alkanes".to_owned() } else { format!("protocol {}", stone.protocol_tag) },
            facts,
            target,
            inputs,
            message,
            edicts: stone
                .edicts
                .iter()
                .take(EDICTS_SHOWN)
                .map(|edict| {
                    let id = format!("{}:{}", edict.id.block, edict.id.tx);
                    [id, units(edict.amount.0), output_name(edict.output, output_count)]
                })
                .collect(),
            edicts_left_out: left_out(stone.edicts.len(), EDICTS_SHOWN, "edicts"),
            is_run: stone.is_alkanes_message(),
        }
    }
}

/// Inputs of a call, the zeros of padding at the end as a number.
pub(super) fn inputs_text(inputs: &[u128]) -> String {
    let padding = inputs.iter().skip(1).rev().take_while(|input| **input == 0).count();
    let padding = if padding < 3 { 0 } else { padding };
    let listed = inputs.len().saturating_sub(padding);
    let mut texts: Vec<String> = inputs.iter().take(listed.min(INPUTS_SHOWN)).map(u128::to_string).collect();
    if listed > INPUTS_SHOWN {
        texts.push(format!("… {} more", listed - INPUTS_SHOWN));
    }
    if padding > 0 {
        texts.push(format!("{padding} zeros"));
    }
    texts.join(", ")
}

/// An amount of an edict in base units; 0 means all.
fn units(amount: u128) -> String {
    if amount == 0 { "all".to_owned() } else { text::amount(amount, 0) }
}

/// An output by its number, or the protostone whose shadow output it is.
fn output_name(vout: u128, output_count: usize) -> String {
    let outputs = output_count as u128;
    match vout {
        vout if vout < outputs => format!("output {vout}"),
        vout if vout == outputs => format!("{vout}: all outputs"),
        vout => format!("protostone {} (shadow output {vout})", vout - outputs),
    }
}

/// How many of a list are not shown; empty for none.
pub(super) fn left_out(count: usize, shown: usize, what: &str) -> String {
    if count > shown { format!("{} more {what} are left out.", grouped(to_i128(count - shown))) } else { String::new() }
}

pub(super) fn to_i128(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(script: &str) -> Output {
        Output {
            scriptpubkey: script.to_owned(),
            scriptpubkey_asm: String::new(),
            scriptpubkey_type: String::new(),
            scriptpubkey_address: None,
            value: 0,
        }
    }

    /// An unwrap of the development chain: an edict, and a call of 32:0 with the operation 78.
    const UNWRAP: &str = "6a5d24ff7f818eec8280808880d387b2a6e0a080835bff7f80ba81888594a0dc92e1ea87ea9c01";

    #[test]
    fn a_call_is_decoded() {
        let outputs = [output("5120aa"), output(UNWRAP), output("00"), output("00")];
        let stone = decode(&outputs).unwrap();
        assert_eq!(stone.sentence, "");
        let [transfer, call] = &stone.protostones[..] else { panic!("{}", stone.protostones.len()) };
        assert_eq!((transfer.vout, &*transfer.target, transfer.is_run), (5, "", false));
        let edict = ["32:0", "9,634,259", "protostone 2 (shadow output 6)"].map(str::to_owned);
        assert_eq!(transfer.edicts, [edict]);
        assert_eq!((call.vout, &*call.protocol, &*call.target, call.is_run), (6, "alkanes", "32:0", true));
        assert_eq!(call.inputs, "78, 2, 9634259, 7 zeros");
        assert!(call.facts.contains(&("Pointer", "output 0".to_owned())), "{:?}", call.facts);
        let summary = summary(&outputs);
        assert_eq!((&*summary.calls[0].target, &*summary.calls[0].opcode), ("32:0", "78"));
    }

    #[test]
    fn hostile_scripts_are_bounded() {
        let long = output(&format!("6a5d{}", "00".repeat(SCRIPT_BYTES_MAX)));
        assert!(decode(&[long]).unwrap().sentence.contains("too many to be decoded"));
        // A push that is cut off.
        assert!(decode(&[output("6a5d24ff")]).unwrap().sentence.starts_with("A cenotaph"));
        assert!(decode(&[output("6a5dzz")]).is_none_or(|stone| stone.protostones.is_empty()));
        assert!(decode(&[output("6a"), output("")]).is_none());
    }

    #[test]
    fn padding_and_length_of_inputs_are_bounded() {
        assert_eq!(inputs_text(&[77, 0, 0, 0, 0]), "77, 4 zeros");
        assert_eq!(inputs_text(&[0, 0, 5, 0]), "0, 0, 5, 0");
        assert_eq!(inputs_text(&[]), "");
        let many = inputs_text(&vec![u128::MAX; 100_000]);
        assert!(many.ends_with("… 99976 more") && many.len() < 1_200);
    }

    #[test]
    fn outputs_are_named() {
        assert_eq!(output_name(1, 3), "output 1");
        assert_eq!(output_name(3, 3), "3: all outputs");
        assert_eq!(output_name(4, 3), "protostone 1 (shadow output 4)");
        assert!(output_name(u128::MAX, 0).starts_with("protostone "));
    }
}
