use bitcoin::{Address, Script, ScriptBuf, TxOut};
use paraffin_primitives::Network;
use serde::Serialize;

/// An output, also as `prevout` of the input that spends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct EsploraOutput {
    /// The script, in hexadecimal.
    scriptpubkey: ScriptBuf,
    /// The script as words, `OP_PUSHBYTES_20 …`.
    scriptpubkey_asm: String,
    /// See [`script_type`].
    scriptpubkey_type: &'static str,
    /// Absent when the script has no address form.
    #[serde(skip_serializing_if = "Option::is_none")]
    scriptpubkey_address: Option<String>,
    /// Satoshis.
    value: u64,
}

impl EsploraOutput {
    /// Renders an output with addresses of `network`.
    pub(super) fn new(output: &TxOut, network: Network) -> Self {
        let script = output.script_pubkey.as_script();
        Self {
            scriptpubkey: output.script_pubkey.clone(),
            scriptpubkey_asm: script.to_asm_string(),
            scriptpubkey_type: script_type(script),
            scriptpubkey_address: Address::from_script(script, network.bitcoin())
                .ok()
                .map(|address| address.to_string()),
            value: output.value.to_sat(),
        }
    }
}

/// Esplora's name for the template that a script follows.
pub fn script_type(script: &Script) -> &'static str {
    if script.is_empty() {
        "empty"
    } else if script.is_op_return() {
        "op_return"
    } else if script.is_p2pk() {
        "p2pk"
    } else if script.is_p2pkh() {
        "p2pkh"
    } else if script.is_p2sh() {
        "p2sh"
    } else if script.is_p2wpkh() {
        "v0_p2wpkh"
    } else if script.is_p2wsh() {
        "v0_p2wsh"
    } else if script.is_p2tr() {
        "v1_p2tr"
    } else {
        "unknown"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitcoin::Amount;

    fn rendered(hex: &str) -> EsploraOutput {
        let script_pubkey = ScriptBuf::from_hex(hex).unwrap();
        EsploraOutput::new(&TxOut { value: Amount::from_sat(5), script_pubkey }, Network::Mainnet)
    }

    #[test]
    fn every_template_has_its_type_words_and_address() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let long = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        for (hex, kind, asm, address) in [
            (String::new(), "empty", String::new(), false),
            ("6a0401020304".to_owned(), "op_return", "OP_RETURN OP_PUSHBYTES_4 01020304".to_owned(), false),
            (format!("2102{long}ac"), "p2pk", format!("OP_PUSHBYTES_33 02{long} OP_CHECKSIG"), false),
            (
                format!("76a914{hash}88ac"),
                "p2pkh",
                format!("OP_DUP OP_HASH160 OP_PUSHBYTES_20 {hash} OP_EQUALVERIFY OP_CHECKSIG"),
                true,
            ),
            (format!("a914{hash}87"), "p2sh", format!("OP_HASH160 OP_PUSHBYTES_20 {hash} OP_EQUAL"), true),
            (format!("0014{hash}"), "v0_p2wpkh", format!("OP_0 OP_PUSHBYTES_20 {hash}"), true),
            (format!("0020{long}"), "v0_p2wsh", format!("OP_0 OP_PUSHBYTES_32 {long}"), true),
            (format!("5120{long}"), "v1_p2tr", format!("OP_PUSHNUM_1 OP_PUSHBYTES_32 {long}"), true),
            (format!("5220{long}"), "unknown", format!("OP_PUSHNUM_2 OP_PUSHBYTES_32 {long}"), true),
            ("51024e73".to_owned(), "unknown", "OP_PUSHNUM_1 OP_PUSHBYTES_2 4e73".to_owned(), true),
            (
                format!("5121{long}0251ae"),
                "unknown",
                format!("OP_PUSHNUM_1 OP_PUSHBYTES_33 {long}02 OP_PUSHNUM_1 OP_CHECKMULTISIG"),
                false,
            ),
            ("05".to_owned(), "unknown", "OP_PUSHBYTES_5 <push past end>".to_owned(), false),
        ] {
            let output = rendered(&hex);
            assert_eq!((output.scriptpubkey_type, output.scriptpubkey_asm.as_str()), (kind, asm.as_str()), "{hex}");
            assert_eq!(output.scriptpubkey_address.is_some(), address, "{hex}");
        }
    }

    #[test]
    fn members_stand_in_esplora_order_and_a_missing_address_is_absent() {
        assert_eq!(
            serde_json::to_string(&rendered("6a")).unwrap(),
            r#"{"scriptpubkey":"6a","scriptpubkey_asm":"OP_RETURN","scriptpubkey_type":"op_return","value":5}"#
        );
        assert_eq!(
            serde_json::to_string(&rendered("0014751e76e8199196d454941c45d1b3a323f1433bd6")).unwrap(),
            r#"{"scriptpubkey":"0014751e76e8199196d454941c45d1b3a323f1433bd6","scriptpubkey_asm":"OP_0 OP_PUSHBYTES_20 751e76e8199196d454941c45d1b3a323f1433bd6","scriptpubkey_type":"v0_p2wpkh","scriptpubkey_address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4","value":5}"#
        );
    }
}
