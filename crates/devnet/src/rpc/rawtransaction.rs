//! Methods that look up and decode transactions and scripts.

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hashes::{Hash, hash160};
use bitcoin::opcodes::all::OP_CHECKSIGADD;
use bitcoin::script::Instruction;
use bitcoin::{Address, Network, Script, ScriptBuf, WPubkeyHash};
use serde_json::{Value, json};

use super::RpcContext;
use super::params::{Params, RpcError, RpcResult, code, decode_hex, decode_transaction, excerpt};
use super::render::{Detail, spent_by, transaction_json};
use super::script::{ScriptForm, multi_descriptor, script_json, with_checksum};

pub(super) fn get_raw_transaction(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let not_found = |message: &str| RpcError::new(code::INVALID_ADDRESS_OR_KEY, message);
    let txid = params.txid(0, "parameter 1")?;
    let verbosity = params.verbosity(1, 0)?;
    let state = context.node.read();
    let genesis = state.chain.hash_at(0).and_then(|hash| state.chain.block(&hash));
    if genesis.is_some_and(|genesis| genesis.txids.contains(&txid)) {
        let message = "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved";
        return Err(not_found(message));
    }
    let named = if params.get(2).is_some() {
        let hash = params.block_hash(2, "parameter 3")?;
        Some(state.chain.block(&hash).ok_or_else(|| not_found("Block hash not found"))?)
    } else {
        None
    };
    if named.is_none()
        && let Some(entry) = state.mempool.get(&txid)
    {
        if verbosity <= 0 {
            return Ok(json!(serialize_hex(&*entry.tx)));
        }
        return Ok(Value::Object(transaction_json(&entry.tx, None, Detail::Fee, true)));
    }
    let entry = named.or_else(|| state.chain.transaction_block(&txid).and_then(|hash| state.chain.block(&hash)));
    let found = entry.and_then(|entry| Some((entry, entry.txids.iter().position(|known| *known == txid)?)));
    let Some((entry, index)) = found else {
        let what = match named {
            Some(_) => "No such transaction found in the provided block",
            None => "No such mempool or blockchain transaction",
        };
        return Err(not_found(&format!("{what}. Use gettransaction for wallet transactions.")));
    };
    let tx = &entry.block.txdata[index];
    if verbosity <= 0 {
        return Ok(json!(serialize_hex(tx)));
    }
    let spent = spent_by(entry, index).filter(|_| verbosity >= 2);
    let mut object = transaction_json(tx, spent, Detail::Prevouts, true);
    let hash = entry.block.block_hash();
    let active = state.chain.is_main(&hash);
    if named.is_some() {
        object.insert("in_active_chain".to_owned(), json!(active));
    }
    object.insert("blockhash".to_owned(), json!(hash.to_string()));
    if active {
        object.insert("confirmations".to_owned(), json!(state.chain.height() - entry.height + 1));
        object.insert("time".to_owned(), json!(entry.block.header.time));
        object.insert("blocktime".to_owned(), json!(entry.block.header.time));
    } else {
        object.insert("confirmations".to_owned(), json!(0));
    }
    Ok(Value::Object(object))
}

pub(super) fn decode_raw_transaction(_: &RpcContext, params: &Params<'_>) -> RpcResult {
    let tx =
        decode_transaction(params.text(0)?).ok_or_else(|| RpcError::new(code::DESERIALIZATION, "TX decode failed"))?;
    Ok(Value::Object(transaction_json(&tx, None, Detail::Fee, false)))
}

pub(super) fn decode_script(_: &RpcContext, params: &Params<'_>) -> RpcResult {
    let text = params.text(0)?;
    let bytes = decode_hex(text).ok_or_else(|| {
        let message = format!("argument must be hexadecimal string (not '{}')", excerpt(text));
        RpcError::new(code::INVALID_PARAMETER, message)
    })?;
    let script = ScriptBuf::from_bytes(bytes);
    let mut object = script_json(&script, false);
    let form = ScriptForm::of(&script);
    if can_be_wrapped(&script, &form) {
        if let Ok(address) = Address::p2sh(&script, Network::Regtest) {
            object.insert("p2sh".to_owned(), json!(address.to_string()));
        }
        if let Some(program) = witness_program(&script, &form) {
            let mut segwit = script_json(&program, true);
            if let Some(inner) = multi_descriptor(&form) {
                segwit.insert("desc".to_owned(), json!(with_checksum(format!("wsh({inner})"))));
            }
            if let Ok(address) = Address::p2sh(&program, Network::Regtest) {
                segwit.insert("p2sh-segwit".to_owned(), json!(address.to_string()));
            }
            object.insert("segwit".to_owned(), Value::Object(segwit));
        }
    }
    Ok(Value::Object(object))
}

/// Whether a script makes sense inside pay to script hash.
fn can_be_wrapped(script: &Script, form: &ScriptForm) -> bool {
    let suitable = matches!(
        form,
        ScriptForm::MultiSignature { .. }
            | ScriptForm::NonStandard
            | ScriptForm::PublicKey(_)
            | ScriptForm::PublicKeyHash
            | ScriptForm::WitnessKeyHash
            | ScriptForm::WitnessScriptHash
    );
    suitable
        && !crate::node::is_unspendable(script)
        && script.instructions().all(|instruction| match instruction {
            Ok(Instruction::Op(op)) => op.to_u8() < OP_CHECKSIGADD.to_u8() && !is_success(op.to_u8()),
            Ok(Instruction::PushBytes(bytes)) => bytes.len() <= 520,
            Err(_) => false,
        })
}

/// Opcodes that BIP342 makes succeed at once.
fn is_success(op: u8) -> bool {
    matches!(op, 80 | 98 | 126..=129 | 131..=134 | 137 | 138 | 141 | 142 | 149..=153 | 187..=254)
}

/// The witness program that stands for a script, if it may be wrapped in one.
fn witness_program(script: &Script, form: &ScriptForm) -> Option<ScriptBuf> {
    match form {
        ScriptForm::PublicKey(key) if key.len() == 33 => {
            let hash = WPubkeyHash::from_raw_hash(hash160::Hash::hash(key));
            Some(ScriptBuf::new_p2wpkh(&hash))
        }
        ScriptForm::PublicKeyHash => {
            let hash = WPubkeyHash::from_slice(&script.as_bytes()[3..23]).ok()?;
            Some(ScriptBuf::new_p2wpkh(&hash))
        }
        ScriptForm::MultiSignature { keys, .. } => keys.iter().all(|key| key.len() == 33).then(|| script.to_p2wsh()),
        ScriptForm::NonStandard => Some(script.to_p2wsh()),
        _ => None,
    }
}
