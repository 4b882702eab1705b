//! Inputs and outputs of a transaction.

use serde::Deserialize;

use super::bytes::{Bytes, hex_bytes};
use super::rows::{Input, Output};
use crate::explorer::text;

/// Inputs or outputs on one page.
pub(super) const SIDE_ROWS: usize = 50;
/// Items of a witness that are shown.
const ITEMS_SHOWN: usize = 6;
/// Digits of a script that are shown.
const SCRIPT_SHOWN: usize = 600;
/// Envelope prefixes of an inscription and of contract code in a script: `OP_FALSE OP_IF` and their marks.
const INSCRIPTION_ENVELOPE: &str = "0063036f7264";
const CONTRACT_ENVELOPE: &str = "00630342494e";

/// The spend of an output.
#[derive(Deserialize, Default)]
pub(super) struct Spend {
    pub(super) spent: bool,
    #[serde(default)]
    pub(super) txid: Option<String>,
}

/// One input or output.
#[derive(Default)]
pub(super) struct Side {
    pub(super) index: String,
    /// Empty where the script has none.
    pub(super) address: String,
    pub(super) short_address: String,
    /// Label instead of an address.
    pub(super) label: String,
    /// Kind of the script.
    pub(super) kind: String,
    /// Content that the witness reveals, or empty.
    pub(super) reveals: String,
    pub(super) value: String,
    /// The transaction that created the spent output, with its output number, or that spends it; empty where there is none.
    pub(super) txid: String,
    pub(super) short_txid: String,
    pub(super) vout: String,
    /// Whether the output is known to be unspent.
    pub(super) is_unspent: bool,
    /// Data of an `OP_RETURN`.
    pub(super) data: Option<Bytes>,
    /// Names and texts of scripts and witnesses.
    pub(super) scripts: Vec<(String, String)>,
}

/// The common name of a script type.
fn kind(output: &Output) -> String {
    let name = match output.scriptpubkey_type.as_str() {
        "p2pk" => "P2PK",
        "p2pkh" => "P2PKH",
        "p2sh" => "P2SH",
        "v0_p2wpkh" => "P2WPKH",
        "v0_p2wsh" => "P2WSH",
        "v1_p2tr" => "P2TR",
        "op_return" => "OP_RETURN",
        "multisig" => "bare multisig",
        "" => "unknown",
        other => return text::clean(other, 20),
    };
    name.to_owned()
}

impl Side {
    fn of_output(output: &Output) -> Self {
        let address = output.scriptpubkey_address.as_deref().filter(|address| is_address(address)).unwrap_or_default();
        Self {
            address: address.to_owned(),
            short_address: text::short(address),
            kind: kind(output),
            value: text::bitcoin(output.value),
            ..Self::default()
        }
    }

    pub(super) fn input(index: usize, input: &Input) -> Self {
        let mut side = input.prevout.as_ref().map(Self::of_output).unwrap_or_default();
        side.index = index.to_string();
        side.scripts = scripts(input);
        if input.is_coinbase {
            "New coins and fees of the block".clone_into(&mut side.label);
            "coinbase".clone_into(&mut side.kind);
            side.data = hex_bytes(&input.scriptsig).map(|bytes| Bytes::of_bytes(&bytes));
            return side;
        }
        if super::is_hash(&input.txid) {
            side.short_txid = text::short(&input.txid);
            side.txid.clone_from(&input.txid);
            side.vout = input.vout.to_string();
        }
        if side.kind == "P2TR" {
            // A witness of more than one item, without the annex, is a script-path spend.
            let items = input.witness.iter().filter(|item| !item.starts_with("50")).count();
            if items > 1 { "P2TR script path" } else { "P2TR key path" }.clone_into(&mut side.kind);
        }
        let has = |mark: &str| input.witness.iter().any(|item| item.contains(mark));
        if has(INSCRIPTION_ENVELOPE) {
            "inscription".clone_into(&mut side.reveals);
        } else if has(CONTRACT_ENVELOPE) {
            "contract code".clone_into(&mut side.reveals);
        }
        if input.prevout.is_none() {
            "An output that is not known".clone_into(&mut side.label);
            "—".clone_into(&mut side.value);
        }
        side
    }

    pub(super) fn output(index: usize, output: &Output, spend: Option<&Spend>) -> Self {
        let mut side = Self::of_output(output);
        side.index = index.to_string();
        if output.scriptpubkey_type == "op_return" {
            side.data = Some(op_return(&output.scriptpubkey));
        } else {
            side.is_unspent = spend.is_some_and(|spend| !spend.spent);
            if let Some(txid) = spend.and_then(|spend| spend.txid.as_ref()).filter(|txid| super::is_hash(txid)) {
                side.short_txid = text::short(txid);
                side.txid.clone_from(txid);
            }
            if side.address.is_empty() {
                "A script without an address".clone_into(&mut side.label);
            }
        }
        side.scripts.push(("Script".to_owned(), text::clean(&output.scriptpubkey_asm, SCRIPT_SHOWN)));
        side
    }
}

/// Whether a text has only letters and digits, as required of an address in a link.
pub(super) fn is_address(text: &str) -> bool {
    (14..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn scripts(input: &Input) -> Vec<(String, String)> {
    let mut scripts = Vec::new();
    if !input.scriptsig.is_empty() {
        scripts.push(("Script signature".to_owned(), text::clean(&input.scriptsig, SCRIPT_SHOWN)));
    }
    for (index, item) in input.witness.iter().take(ITEMS_SHOWN).enumerate() {
        let name = format!("Witness {index}, {} bytes", item.len() / 2);
        scripts.push((name, if item.is_empty() { "empty".to_owned() } else { text::clean(item, SCRIPT_SHOWN) }));
    }
    if input.witness.len() > ITEMS_SHOWN {
        scripts.push((format!("{} more items", input.witness.len() - ITEMS_SHOWN), "left out".to_owned()));
    }
    scripts
}

/// The pushed data of an `OP_RETURN`, concatenated.
fn op_return(script: &str) -> Bytes {
    let Some(bytes) = hex_bytes(script) else { return Bytes::of(script) };
    let mut pushed = Vec::new();
    for instruction in bitcoin::Script::from_bytes(bytes.get(1..).unwrap_or_default()).instructions() {
        match instruction {
            Ok(bitcoin::script::Instruction::PushBytes(push)) => pushed.extend_from_slice(push.as_bytes()),
            Ok(bitcoin::script::Instruction::Op(_)) => {}
            Err(_) => return Bytes::of_bytes(bytes.get(1..).unwrap_or_default()),
        }
    }
    Bytes::of_bytes(&pushed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(kind: &str, script: &str, address: Option<&str>) -> Output {
        serde_json::from_value(json!({ "scriptpubkey": script, "scriptpubkey_asm": "a <b>", "scriptpubkey_type": kind,
            "scriptpubkey_address": address, "value": 100_000_000 }))
        .unwrap()
    }

    #[test]
    fn the_data_of_an_op_return_is_text() {
        let side = Side::output(0, &output("op_return", "6a14706172616666696e206e6f746520343933323131", None), None);
        assert_eq!(side.data.unwrap().text, "paraffin note 493211");
        // A push that is longer than the script.
        assert_eq!(op_return("6a4cff61").digits, "4cff61");
        assert_eq!(op_return("6a").length, "0");
        assert_eq!(op_return("").length, "0");
    }

    #[test]
    fn outputs_have_their_spender() {
        let spend = |spent, txid: Option<&str>| Spend { spent, txid: txid.map(str::to_owned) };
        let to = output("v1_p2tr", "5120", Some("bcrt1pabcdefghijk"));
        let hash = "ab".repeat(32);
        let spent = Side::output(1, &to, Some(&spend(true, Some(&hash))));
        assert_eq!(
            (&*spent.txid, spent.is_unspent, &*spent.value, &*spent.kind),
            (&*hash, false, "1.00000000", "P2TR")
        );
        assert!(Side::output(1, &to, Some(&spend(false, None))).is_unspent);
        assert!(!Side::output(1, &to, None).is_unspent);
        // Only hashes and addresses become links.
        let hostile = output("\u{202e}kind", "", Some("\"><script>alert(1)</script>"));
        let side = Side::output(1, &hostile, Some(&spend(true, Some("../x"))));
        assert_eq!((&*side.txid, &*side.address, &*side.kind), ("", "", "kind"));
    }

    #[test]
    fn inputs_say_how_they_are_spent() {
        let input = |witness: &[&str], coinbase: bool| -> Input {
            let prevout = json!({ "scriptpubkey": "5120", "scriptpubkey_type": "v1_p2tr", "value": 5 });
            let prevout = if coinbase { json!(null) } else { prevout };
            serde_json::from_value(json!({ "txid": "ab".repeat(32), "vout": 1, "prevout": prevout, "scriptsig": "",
                "witness": witness, "is_coinbase": coinbase, "sequence": 0 }))
            .unwrap()
        };
        assert_eq!(Side::input(0, &input(&["aa"], false)).kind, "P2TR key path");
        assert_eq!(Side::input(0, &input(&["aa", "50ff"], false)).kind, "P2TR key path");
        let reveal = Side::input(0, &input(&["aa", "200063036f7264", "c0"], false));
        assert_eq!((&*reveal.kind, &*reveal.reveals), ("P2TR script path", "inscription"));
        assert_eq!(Side::input(0, &input(&["00630342494e", "c0"], false)).reveals, "contract code");
        let coinbase = Side::input(0, &input(&[], true));
        assert_eq!((&*coinbase.kind, &*coinbase.txid), ("coinbase", ""));
        let many = Side::input(0, &input(&["aa"; 1_000], false));
        assert_eq!(many.scripts.len(), ITEMS_SHOWN + 1);
    }
}
