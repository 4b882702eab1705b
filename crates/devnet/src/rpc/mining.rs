//! Methods that make, offer and take blocks.

use std::str::FromStr;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex;
use bitcoin::{Block, ScriptBuf, Transaction, Txid};
use serde_json::{Value, json};

use super::RpcContext;
use super::params::{
    Params, RpcError, RpcResult, code, decode_address, decode_consensus, decode_hex, decode_transaction, excerpt,
    wrong_element,
};
use super::render::{BITS, DIFFICULTY, TARGET, btc, number};
use super::script::descriptor_checksum;
use crate::node::{BlockOutcome, Rejection, Template};

/// Two hashes for every block, one block in ten minutes.
const HASHES_PER_SECOND: &str = "0.003333333333333334";
/// Most blocks that one call mines.
const BLOCKS_MAX: i64 = 100_000;

fn generate(context: &RpcContext, count: i64, script: &ScriptBuf) -> RpcResult {
    if count > BLOCKS_MAX {
        let message = format!("one call mines at most {BLOCKS_MAX} blocks: call again for more");
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    let mut hashes = Vec::new();
    for _ in 0..count.max(0) {
        if context.is_stopping() {
            break;
        }
        let hash = context.node.mine_block(script).map_err(|rejection| not_made(&rejection))?;
        hashes.push(hash.to_string());
    }
    Ok(json!(hashes))
}

fn not_made(rejection: &Rejection) -> RpcError {
    RpcError::new(code::VERIFY, format!("TestBlockValidity failed: {rejection}"))
}

pub(super) fn generate_to_address(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let count = params.integer(0)?;
    let address = decode_address(params.text(1)?)
        .ok_or_else(|| RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Error: Invalid address"))?;
    generate(context, count, &address.script_pubkey())
}

pub(super) fn generate_to_descriptor(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let count = params.integer(0)?;
    let script =
        descriptor_script(params.text(1)?).map_err(|message| RpcError::new(code::INVALID_ADDRESS_OR_KEY, message))?;
    generate(context, count, &script)
}

/// The script of an `addr(…)` or `raw(…)` descriptor.
fn descriptor_script(text: &str) -> Result<ScriptBuf, String> {
    let body = match text.split_once('#') {
        None => text,
        Some((body, checksum)) => {
            let expected = descriptor_checksum(body).ok_or("Invalid characters in payload")?;
            if checksum != expected {
                return Err(format!(
                    "Provided checksum '{}' does not match computed checksum '{expected}'",
                    excerpt(checksum)
                ));
            }
            body
        }
    };
    let inside = |name: &str| body.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    if let Some(address) = inside("addr") {
        let address = decode_address(address).ok_or("Address is not valid")?;
        return Ok(address.script_pubkey());
    }
    if let Some(raw) = inside("raw") {
        return decode_hex(raw).map(ScriptBuf::from_bytes).ok_or_else(|| "Raw script is not hex".to_owned());
    }
    Err(format!("'{}' is not a valid descriptor function", excerpt(body)))
}

pub(super) fn generate_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let output = params.text(0)?;
    let script = descriptor_script(output)
        .ok()
        .or_else(|| decode_address(output).map(|address| address.script_pubkey()))
        .ok_or_else(|| RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Error: Invalid address or descriptor"))?;
    let submit = params.flag(2, true)?;
    let mut transactions: Vec<Transaction> = Vec::new();
    for value in params.array(1)? {
        let text = value.as_str().ok_or_else(|| wrong_element(value, "string"))?;
        let tx = if let Ok(txid) = Txid::from_str(text) {
            let tx = context.node.mempool_transaction(&txid).ok_or_else(|| {
                RpcError::new(code::INVALID_ADDRESS_OR_KEY, format!("Transaction {txid} not in mempool."))
            })?;
            Transaction::clone(&tx)
        } else {
            decode_transaction(text).ok_or_else(|| {
                let text = excerpt(text);
                let message = format!("Transaction decode failed for {text}. Make sure the tx has at least one input.");
                RpcError::new(code::DESERIALIZATION, message)
            })?
        };
        transactions.push(tx);
    }
    let block =
        context.node.mine_block_with(transactions, &script, submit).map_err(|rejection| not_made(&rejection))?;
    let mut reply = json!({"hash": block.block_hash().to_string()});
    if !submit {
        reply["hex"] = json!(serialize_hex(&*block));
    }
    Ok(reply)
}

pub(super) fn submit_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let mut block: Block =
        decode_consensus(params.text(0)?).ok_or_else(|| RpcError::new(code::DESERIALIZATION, "Block decode failed"))?;
    add_reserved_value(&mut block);
    Ok(match context.node.submit_block(block) {
        Ok(BlockOutcome::Connected) => Value::Null,
        Ok(BlockOutcome::SideChain) => json!("inconclusive"),
        Ok(BlockOutcome::Known) => json!("duplicate"),
        Err(rejection) => json!(rejection.reason),
    })
}

/// A miner may leave out the witness of the coinbase; the block then gets the usual reserved value.
fn add_reserved_value(block: &mut Block) {
    let Some(coinbase) = block.txdata.first_mut() else { return };
    let commits = coinbase
        .output
        .iter()
        .any(|output| output.script_pubkey.as_bytes().starts_with(&[0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed]));
    if let Some(input) = coinbase.input.first_mut()
        && commits
        && input.witness.is_empty()
    {
        input.witness.push([0_u8; 32]);
    }
}

pub(super) fn get_mining_info(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    let state = context.node.read();
    let height = state.chain.height();
    Ok(json!({
        "blocks": height,
        "bits": BITS,
        "difficulty": number(DIFFICULTY),
        "target": TARGET,
        "networkhashps": number(HASHES_PER_SECOND),
        "pooledtx": state.mempool.len(),
        "blockmintxfee": btc(1),
        "chain": "regtest",
        "next": {"height": height + 1, "bits": BITS, "difficulty": number(DIFFICULTY), "target": TARGET},
        "warnings": [],
    }))
}

pub(super) fn get_block_template(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let request = params.get(0);
    if let Some(request) = request
        && !request.is_object()
    {
        return Err(params.wrong_type(0, "object"));
    }
    let member = |name: &str| request.and_then(|request| request.get(name)).filter(|value| !value.is_null());
    match member("mode").map(Value::as_str) {
        None | Some(Some("template")) => {}
        Some(Some("proposal")) => return propose(context, member("data")),
        Some(_) => return Err(RpcError::new(code::INVALID_PARAMETER, "Invalid mode")),
    }
    let knows_segwit = member("rules")
        .and_then(Value::as_array)
        .is_some_and(|rules| rules.iter().any(|rule| rule.as_str() == Some("segwit")));
    if !knows_segwit {
        let message = "getblocktemplate must be called with the segwit rule set (call with {\"rules\": [\"segwit\"]})";
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    let state = context.node.read();
    let template = state.template(&ScriptBuf::from_bytes(vec![0x51]));
    let longpoll = format!("{}{}", state.chain.tip_hash(), state.mempool.sequence());
    Ok(template_json(&template, state.chain.tip().median_time_past.saturating_add(1), &longpoll))
}

fn propose(context: &RpcContext, data: Option<&Value>) -> RpcResult {
    let text = data
        .and_then(Value::as_str)
        .ok_or_else(|| RpcError::new(code::TYPE, "Missing data String key for proposal"))?;
    let block: Block =
        decode_consensus(text).ok_or_else(|| RpcError::new(code::DESERIALIZATION, "Block decode failed"))?;
    let state = context.node.read();
    if let Some(known) = state.chain.block(&block.block_hash()) {
        return Ok(json!(if known.invalid { "duplicate-invalid" } else { "duplicate" }));
    }
    Ok(match state.chain.test_block(&block, state.latest_time()) {
        Ok(()) => Value::Null,
        Err(rejection) => json!(rejection.reason),
    })
}

fn template_json(template: &Template, time_min: u32, longpoll: &str) -> Value {
    let block = &template.block;
    let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
    let transactions: Vec<Value> = block
        .txdata
        .iter()
        .enumerate()
        .skip(1)
        .zip(&template.costs)
        .map(|((index, tx), (fee, sigops))| {
            let depends: Vec<usize> = txids[..index]
                .iter()
                .enumerate()
                .filter(|(_, txid)| tx.input.iter().any(|input| input.previous_output.txid == **txid))
                .map(|(position, _)| position)
                .collect();
            json!({
                "data": serialize_hex(tx),
                "txid": txids[index].to_string(),
                "hash": tx.compute_wtxid().to_string(),
                "depends": depends,
                "fee": fee,
                "sigops": sigops,
                "weight": tx.weight().to_wu(),
            })
        })
        .collect();
    let commitment = block.txdata[0].output.last().map(|output| output.script_pubkey.as_bytes().to_lower_hex_string());
    json!({
        "capabilities": ["proposal"],
        "version": block.header.version.to_consensus(),
        "rules": ["csv", "!segwit", "taproot"],
        "vbavailable": {},
        "vbrequired": 0,
        "previousblockhash": block.header.prev_blockhash.to_string(),
        "transactions": transactions,
        "coinbaseaux": {},
        "coinbasevalue": block.txdata[0].output[0].value.to_sat(),
        "longpollid": longpoll,
        "target": TARGET,
        "mintime": time_min,
        "mutable": ["time", "transactions", "prevblock"],
        "noncerange": "00000000ffffffff",
        "sigoplimit": 80_000,
        "sizelimit": 4_000_000,
        "weightlimit": 4_000_000,
        "curtime": block.header.time,
        "bits": BITS,
        "height": template.height,
        "default_witness_commitment": commitment,
    })
}
