//! Methods about blocks, the chain and unspent outputs.

use std::collections::HashSet;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex;
use bitcoin::{BlockHash, OutPoint};
use serde_json::{Value, json};

use super::RpcContext;
use super::params::{Params, RpcError, RpcResult, code};
use super::render::{BITS, DIFFICULTY, TARGET, block_json, btc, header_json, number, work_hex};
use super::script::script_json;
use crate::node::{MEMPOOL_HEIGHT, State};

pub(super) fn block_not_found() -> RpcError {
    RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Block not found")
}

pub(super) fn get_best_block_hash(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(json!(context.node.tip().hash.to_string()))
}

pub(super) fn get_block_count(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(json!(context.node.tip().height))
}

pub(super) fn get_block_hash(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let height = params.integer(0)?;
    u32::try_from(height)
        .ok()
        .and_then(|height| context.node.block_hash(height))
        .map(|hash| json!(hash.to_string()))
        .ok_or_else(|| RpcError::new(code::INVALID_PARAMETER, "Block height out of range"))
}

pub(super) fn get_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let hash = params.block_hash(0, "blockhash")?;
    let verbosity = params.verbosity(1, 1)?;
    let state = context.node.read();
    let entry = state.chain.block(&hash).ok_or_else(block_not_found)?;
    if verbosity <= 0 {
        return Ok(json!(entry.bytes.to_lower_hex_string()));
    }
    Ok(Value::Object(block_json(&state.chain, entry, verbosity)))
}

pub(super) fn get_block_header(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let hash = params.block_hash(0, "hash")?;
    let verbose = params.flag(1, true)?;
    let state = context.node.read();
    let entry = state.chain.block(&hash).ok_or_else(block_not_found)?;
    if verbose {
        return Ok(Value::Object(header_json(&state.chain, entry)));
    }
    Ok(json!(serialize_hex(&entry.block.header)))
}

pub(super) fn get_difficulty(_: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(number(DIFFICULTY))
}

pub(super) fn get_blockchain_info(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(chain_info(&context.node.read()))
}

/// The result of `getblockchaininfo` and of `/rest/chaininfo.json`.
pub(crate) fn chain_info(state: &State) -> Value {
    let tip = state.chain.tip();
    json!({
        "chain": "regtest",
        "blocks": tip.height,
        "headers": state.chain.best_header_height(),
        "bestblockhash": state.chain.tip_hash().to_string(),
        "bits": BITS,
        "target": TARGET,
        "difficulty": number(DIFFICULTY),
        "time": tip.block.header.time,
        "mediantime": tip.median_time_past,
        "verificationprogress": 1,
        "initialblockdownload": false,
        "chainwork": work_hex(tip),
        "size_on_disk": state.chain.bytes(),
        "pruned": false,
        "warnings": [],
    })
}

pub(super) fn get_chain_tips(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    let state = context.node.read();
    let chain = &state.chain;
    let has_child: HashSet<BlockHash> = chain
        .blocks()
        .filter(|(hash, _)| !chain.is_main(hash))
        .map(|(_, entry)| entry.block.header.prev_blockhash)
        .collect();
    let mut tips: Vec<_> = chain
        .blocks()
        .filter(|(hash, _)| **hash == chain.tip_hash() || (!chain.is_main(hash) && !has_child.contains(*hash)))
        .collect();
    tips.sort_by_key(|(hash, entry)| (std::cmp::Reverse(entry.height), **hash));
    let tips: Vec<Value> = tips
        .into_iter()
        .map(|(hash, entry)| {
            let status = if chain.is_main(hash) {
                "active"
            } else if entry.invalid {
                "invalid"
            } else if entry.spent.is_some() {
                "valid-fork"
            } else {
                "valid-headers"
            };
            json!({
                "height": entry.height,
                "hash": hash.to_string(),
                "branchlen": entry.height - chain.fork_height(hash),
                "status": status,
            })
        })
        .collect();
    Ok(Value::Array(tips))
}

pub(super) fn get_tx_out(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let txid = params.txid(0, "txid")?;
    let vout = params.integer(1)?;
    let vout = u32::try_from(vout).map_err(|_| RpcError::new(code::MISC, "JSON integer out of range"))?;
    let with_mempool = params.flag(2, true)?;
    let outpoint = OutPoint { txid, vout };
    let state = context.node.read();
    let confirmed = state.chain.coins.get(&outpoint);
    let (output, height, coinbase) = match confirmed {
        _ if with_mempool && state.mempool.spender(&outpoint).is_some() => return Ok(Value::Null),
        Some(coin) => (&coin.output, coin.height, coin.coinbase),
        None => match state.mempool.output(&outpoint).filter(|_| with_mempool) {
            Some(output) => (output, MEMPOOL_HEIGHT, false),
            None => return Ok(Value::Null),
        },
    };
    let confirmations = if height == MEMPOOL_HEIGHT { 0 } else { state.chain.height() - height + 1 };
    Ok(json!({
        "bestblock": state.chain.tip_hash().to_string(),
        "confirmations": confirmations,
        "value": btc(output.value.to_sat()),
        "scriptPubKey": script_json(&output.script_pubkey, true),
        "coinbase": coinbase,
    }))
}

pub(super) fn invalidate_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let hash = params.block_hash(0, "blockhash")?;
    context.node.invalidate(&hash).map(|()| Value::Null).map_err(|_| block_not_found())
}

pub(super) fn reconsider_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let hash = params.block_hash(0, "blockhash")?;
    context.node.reconsider(&hash).map(|()| Value::Null).map_err(|_| block_not_found())
}

pub(super) fn precious_block(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let hash = params.block_hash(0, "blockhash")?;
    context.node.precious(&hash).map(|()| Value::Null).map_err(|_| block_not_found())
}
