//! Proofs that a block holds transactions.

use std::collections::BTreeSet;

use bitcoin::consensus::encode::{deserialize, serialize_hex};
use bitcoin::{MerkleBlock, Txid};
use serde_json::json;

use super::RpcContext;
use super::blockchain::block_not_found;
use super::params::{Params, RpcError, RpcResult, code, decode_hex, excerpt, txid_of};

pub(super) fn get_tx_out_proof(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let list = params.array(0)?;
    let mut txids: BTreeSet<Txid> = BTreeSet::new();
    for value in list {
        let txid = txid_of(value, "txid")?;
        if !txids.insert(txid) {
            let message = format!("Invalid parameter, duplicated txid: {txid}");
            return Err(RpcError::new(code::INVALID_PARAMETER, message));
        }
    }
    let Some(first) = txids.first() else {
        return Err(RpcError::new(code::INVALID_PARAMETER, "Parameter 'txids' cannot be empty"));
    };
    let state = context.node.read();
    let hash = if params.get(1).is_some() {
        params.block_hash(1, "blockhash")?
    } else {
        state
            .chain
            .transaction_block(first)
            .ok_or_else(|| RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Transaction not yet in block"))?
    };
    let entry = state.chain.block(&hash).ok_or_else(block_not_found)?;
    if entry.txids.iter().filter(|txid| txids.contains(*txid)).count() != txids.len() {
        let message = "Not all transactions found in specified or retrieved block";
        return Err(RpcError::new(code::INVALID_ADDRESS_OR_KEY, message));
    }
    let header = &entry.block.header;
    let proof = MerkleBlock::from_header_txids_with_predicate(header, &entry.txids, |txid| txids.contains(txid));
    Ok(json!(serialize_hex(&proof)))
}

pub(super) fn verify_tx_out_proof(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let text = params.text(0)?;
    let bytes = decode_hex(text).ok_or_else(|| {
        let message = format!("proof must be hexadecimal string (not '{}')", excerpt(text));
        RpcError::new(code::INVALID_PARAMETER, message)
    })?;
    let proof: MerkleBlock =
        deserialize(&bytes).map_err(|error| RpcError::new(code::MISC, format!("the proof cannot be read: {error}")))?;
    let (mut matches, mut indexes) = (Vec::new(), Vec::new());
    if proof.extract_matches(&mut matches, &mut indexes).is_err() {
        return Ok(json!([]));
    }
    let hash = proof.header.block_hash();
    let state = context.node.read();
    let entry = state
        .chain
        .block(&hash)
        .filter(|_| state.chain.is_main(&hash))
        .ok_or_else(|| RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Block not found in chain"))?;
    if entry.txids.len() != proof.txn.num_transactions() as usize {
        return Ok(json!([]));
    }
    Ok(json!(matches.iter().map(Txid::to_string).collect::<Vec<_>>()))
}
