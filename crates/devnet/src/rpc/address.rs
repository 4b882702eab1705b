//! `validateaddress`.

use std::str::FromStr;

use bitcoin::hex::DisplayHex;
use bitcoin::{Address, Network};
use serde_json::json;

use super::RpcContext;
use super::params::{Params, RpcResult};
use super::script::ScriptForm;

pub(super) fn validate_address(_: &RpcContext, params: &Params<'_>) -> RpcResult {
    let text = params.text(0)?;
    let address = Address::from_str(text).map(|address| address.require_network(Network::Regtest));
    let Ok(Ok(address)) = address else {
        let error = "Invalid or unsupported Segwit (Bech32) or Base58 encoding.";
        return Ok(json!({"isvalid": false, "error_locations": [], "error": error}));
    };
    let script = address.script_pubkey();
    let form = ScriptForm::of(&script);
    let is_script = !matches!(form, ScriptForm::PublicKeyHash | ScriptForm::WitnessKeyHash);
    let mut reply = json!({
        "isvalid": true,
        "address": address.to_string(),
        "scriptPubKey": script.to_hex_string(),
        "isscript": is_script,
        "iswitness": script.is_witness_program(),
    });
    if let Some(version) = script.witness_version().filter(|_| form != ScriptForm::Anchor) {
        reply["witness_version"] = json!(version.to_num());
        reply["witness_program"] = json!(script.as_bytes()[2..].to_lower_hex_string());
    }
    Ok(reply)
}
