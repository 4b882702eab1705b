//! Methods about unconfirmed transactions: sending, testing and listing them.

use std::collections::BTreeSet;
use std::sync::Arc;

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::{OutPoint, Transaction, Txid};
use serde_json::{Map, Value, json};

use super::RpcContext;
use super::params::{Params, RpcError, RpcResult, code, decode_transaction, excerpt, txid_of, wrong_element};
use super::render::{btc, mempool_entry_json};
use crate::node::{
    CLUSTER_COUNT_MAX, CLUSTER_VSIZE_MAX, INCREMENTAL_SATS_PER_KVB, MIN_RELAY_SATS_PER_KVB, MempoolEntry, Rejection,
    RejectionKind, State, Waiver, fee_for, is_unspendable,
};

/// Most transactions in one package.
const PACKAGE_MAX: usize = 25;
/// Highest target of a fee estimate, in blocks.
const TARGET_MAX: i64 = 1008;

impl From<Rejection> for RpcError {
    fn from(rejection: Rejection) -> Self {
        let code = match rejection.kind {
            RejectionKind::MissingInputs => code::VERIFY,
            RejectionKind::AlreadyConfirmed => code::ALREADY_IN_UTXO_SET,
            RejectionKind::Consensus | RejectionKind::Policy | RejectionKind::Duplicate => code::REJECTED,
        };
        Self::new(code, rejection.to_string())
    }
}

fn check_burn(tx: &Transaction, most: u64) -> Result<(), RpcError> {
    if tx.output.iter().any(|output| is_unspendable(&output.script_pubkey) && output.value.to_sat() > most) {
        let message = "Unspendable output exceeds maximum configured by user (maxburnamount)";
        return Err(RpcError::new(code::VERIFY, message));
    }
    Ok(())
}

fn fee_exceeded() -> RpcError {
    RpcError::new(code::VERIFY, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")
}

pub(super) fn send_raw_transaction(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let burn_max = params.amount(2)?.unwrap_or(0);
    let tx = decode_transaction(params.text(0)?).ok_or_else(|| {
        RpcError::new(code::DESERIALIZATION, "TX decode failed. Make sure the tx has at least one input.")
    })?;
    check_burn(&tx, burn_max)?;
    let fee_max = fee_for(params.max_feerate(1)?, tx.vsize() as u64);
    let txid = tx.compute_txid();
    let tx = Arc::new(tx);
    {
        let state = context.node.read();
        if state.is_unspent_in_chain(&tx, txid) {
            let reason = "Transaction outputs already in utxo set";
            return Err(Rejection::new(RejectionKind::AlreadyConfirmed, reason, "").into());
        }
        if state.mempool.get(&txid).is_some() {
            return Ok(json!(txid.to_string()));
        }
        if fee_max > 0 && state.examine(&tx, Waiver::Nothing)?.entry.fee > fee_max {
            return Err(fee_exceeded());
        }
    }
    context.node.admit(tx)?;
    Ok(json!(txid.to_string()))
}

fn decode_list(params: &Params<'_>) -> Result<Vec<Arc<Transaction>>, RpcError> {
    let list = params.array(0)?;
    if list.is_empty() || list.len() > PACKAGE_MAX {
        let message = format!("Array must contain between 1 and {PACKAGE_MAX} transactions.");
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    list.iter()
        .map(|value| {
            let text = value.as_str().ok_or_else(|| wrong_element(value, "string"))?;
            decode_transaction(text).map(Arc::new).ok_or_else(|| {
                let message = format!("TX decode failed: {} Make sure the tx has at least one input.", excerpt(text));
                RpcError::new(code::DESERIALIZATION, message)
            })
        })
        .collect()
}

/// The fees of an admissible transaction as `testmempoolaccept` and `submitpackage` show them.
fn fees_json(entry: &MempoolEntry) -> Value {
    json!({
        "base": btc(entry.fee),
        "effective-feerate": btc(entry.fee * 1000 / entry.vsize.max(1)),
        "effective-includes": [entry.wtxid.to_string()],
    })
}

pub(super) fn test_mempool_accept(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let transactions = decode_list(params)?;
    let rate_max = params.max_feerate(1)?;
    let state = context.node.read();
    let mut replies = Vec::new();
    let mut finished = false;
    for tx in &transactions {
        let mut object = Map::new();
        object.insert("txid".to_owned(), json!(tx.compute_txid().to_string()));
        object.insert("wtxid".to_owned(), json!(tx.compute_wtxid().to_string()));
        if !finished {
            let allowed = test_one(&state, tx, rate_max, &mut object);
            finished = !allowed;
        }
        replies.push(Value::Object(object));
    }
    Ok(Value::Array(replies))
}

fn test_one(state: &State, tx: &Arc<Transaction>, rate_max: u64, object: &mut Map<String, Value>) -> bool {
    let verdict = state.examine(tx, Waiver::Nothing);
    let fee_max = fee_for(rate_max, tx.vsize() as u64);
    let allowed = match verdict {
        Ok(admissible) if fee_max > 0 && admissible.entry.fee > fee_max => {
            object.insert("reject-reason".to_owned(), json!("max-fee-exceeded"));
            false
        }
        Ok(admissible) => {
            object.insert("vsize".to_owned(), json!(admissible.entry.vsize));
            object.insert("fees".to_owned(), fees_json(&admissible.entry));
            true
        }
        Err(rejection) if rejection.is_missing_inputs() => {
            object.insert("reject-reason".to_owned(), json!("missing-inputs"));
            false
        }
        Err(rejection) => {
            object.insert("reject-reason".to_owned(), json!(rejection.reason));
            object.insert("reject-details".to_owned(), json!(rejection.to_string()));
            false
        }
    };
    object.insert("allowed".to_owned(), json!(allowed));
    allowed
}

pub(super) fn submit_package(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let transactions = decode_list(params)?;
    let rate_max = params.max_feerate(1)?;
    let burn_max = params.amount(2)?.unwrap_or(0);
    for tx in &transactions {
        check_burn(tx, burn_max)?;
    }
    let mut results = Map::new();
    let mut all_replaced = BTreeSet::new();
    let mut message = "success";
    for tx in transactions {
        let (txid, wtxid) = (tx.compute_txid(), tx.compute_wtxid());
        let fee_max = fee_for(rate_max, tx.vsize() as u64);
        let mut object = Map::new();
        object.insert("txid".to_owned(), json!(txid.to_string()));
        let known = context.node.read().mempool.get(&txid).cloned();
        let outcome = match known {
            Some(entry) if entry.wtxid != wtxid => {
                object.insert("other-wtxid".to_owned(), json!(entry.wtxid.to_string()));
                None
            }
            Some(entry) => Some(Ok((entry, false))),
            None => {
                let checked = context.node.read().examine(&tx, Waiver::Nothing);
                Some(match checked {
                    Ok(admissible) if fee_max > 0 && admissible.entry.fee > fee_max => {
                        Err("max feerate exceeded".to_owned())
                    }
                    Ok(_) => context.node.admit_with_replaced(tx).map_err(|error| error.to_string()).map(
                        |(entry, replaced)| {
                            all_replaced.extend(replaced);
                            (entry, true)
                        },
                    ),
                    Err(rejection) => Err(rejection.to_string()),
                })
            }
        };
        match outcome {
            Some(Ok((entry, new))) => {
                object.insert("vsize".to_owned(), json!(entry.vsize));
                let fees = if new { fees_json(&entry) } else { json!({"base": btc(entry.fee)}) };
                object.insert("fees".to_owned(), fees);
            }
            Some(Err(error)) => {
                object.insert("error".to_owned(), json!(error));
                message = "transaction failed";
            }
            None => {}
        }
        results.insert(wtxid.to_string(), Value::Object(object));
    }
    Ok(json!({
        "package_msg": message,
        "tx-results": results,
        "replaced-transactions": all_replaced.iter().map(Txid::to_string).collect::<Vec<_>>(),
    }))
}

/// The mempool as `getrawmempool` and `/rest/mempool/contents.json` show it.
pub(crate) fn contents(state: &State, verbose: bool, with_sequence: bool) -> Value {
    if verbose {
        let entries =
            state.mempool.iter().map(|entry| (entry.txid.to_string(), mempool_entry_json(&state.mempool, entry)));
        return Value::Object(entries.collect());
    }
    let txids: Vec<String> = state.mempool.txids().iter().map(Txid::to_string).collect();
    if with_sequence {
        return json!({"txids": txids, "mempool_sequence": state.mempool.sequence()});
    }
    json!(txids)
}

pub(super) fn get_raw_mempool(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let (verbose, with_sequence) = (params.flag(0, false)?, params.flag(1, false)?);
    if verbose && with_sequence {
        let message = "Verbose results cannot contain mempool sequence values.";
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    Ok(contents(&context.node.read(), verbose, with_sequence))
}

/// The result of `getmempoolinfo` and `/rest/mempool/info.json`.
pub(crate) fn info(state: &State) -> Value {
    let mempool = &state.mempool;
    let (vsize, fees) = mempool.iter().fold((0, 0), |(vsize, fees), entry| (vsize + entry.vsize, fees + entry.fee));
    json!({
        "loaded": true,
        "size": mempool.len(),
        "bytes": vsize,
        "usage": mempool.bytes(),
        "total_fee": btc(fees),
        "maxmempool": mempool.bytes_max(),
        "mempoolminfee": btc(MIN_RELAY_SATS_PER_KVB),
        "minrelaytxfee": btc(MIN_RELAY_SATS_PER_KVB),
        "incrementalrelayfee": btc(INCREMENTAL_SATS_PER_KVB),
        "unbroadcastcount": 0,
        "fullrbf": true,
        "permitbaremultisig": true,
        "maxdatacarriersize": 100_000,
        "limitclustercount": CLUSTER_COUNT_MAX,
        "limitclustersize": CLUSTER_VSIZE_MAX,
        "optimal": true,
    })
}

pub(super) fn get_info(context: &RpcContext, _: &Params<'_>) -> RpcResult {
    Ok(info(&context.node.read()))
}

fn not_in_mempool() -> RpcError {
    RpcError::new(code::INVALID_ADDRESS_OR_KEY, "Transaction not in mempool")
}

pub(super) fn get_entry(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let txid = params.txid(0, "txid")?;
    let state = context.node.read();
    let entry = state.mempool.get(&txid).ok_or_else(not_in_mempool)?;
    Ok(mempool_entry_json(&state.mempool, entry))
}

pub(super) fn get_ancestors(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    relatives(context, params, |state, entry| state.mempool.ancestors(&entry.tx))
}

pub(super) fn get_descendants(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    relatives(context, params, |state, entry| state.mempool.descendants(entry.txid))
}

fn relatives(
    context: &RpcContext,
    params: &Params<'_>,
    find: impl FnOnce(&State, &MempoolEntry) -> BTreeSet<Txid>,
) -> RpcResult {
    let txid = params.txid(0, "txid")?;
    let verbose = params.flag(1, false)?;
    let state = context.node.read();
    let entry = state.mempool.get(&txid).ok_or_else(not_in_mempool)?;
    let mut found = find(&state, entry);
    found.remove(&txid);
    if !verbose {
        return Ok(json!(found.iter().map(Txid::to_string).collect::<Vec<_>>()));
    }
    let entries = found.iter().filter_map(|txid| {
        let entry = state.mempool.get(txid)?;
        Some((txid.to_string(), mempool_entry_json(&state.mempool, entry)))
    });
    Ok(Value::Object(entries.collect()))
}

pub(super) fn get_spending_prevout(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let outputs = params.array(0)?;
    if outputs.is_empty() {
        return Err(RpcError::new(code::INVALID_PARAMETER, "Invalid parameter, outputs are missing"));
    }
    let with_transaction =
        params.get(1).and_then(|options| options.get("return_spending_tx")).and_then(Value::as_bool).unwrap_or(false);
    let state = context.node.read();
    let mut replies = Vec::with_capacity(outputs.len());
    for output in outputs {
        let txid = txid_of(output.get("txid").unwrap_or(&Value::Null), "txid")?;
        let vout = output.get("vout").and_then(Value::as_i64).ok_or_else(|| params.wrong_type(0, "number"))?;
        let vout = u32::try_from(vout)
            .map_err(|_| RpcError::new(code::INVALID_PARAMETER, "Invalid parameter, vout cannot be negative"))?;
        let mut object = json!({"txid": txid.to_string(), "vout": vout});
        let spender = state.mempool.spender(&OutPoint { txid, vout });
        if let Some(entry) = spender.and_then(|spender| state.mempool.get(&spender)) {
            object["spendingtxid"] = json!(entry.txid.to_string());
            if with_transaction {
                object["spendingtx"] = json!(serialize_hex(&*entry.tx));
            }
        }
        replies.push(object);
    }
    Ok(Value::Array(replies))
}

/// The median feerate of the blocks of the last day; nothing while they hold no transactions.
pub(super) fn estimate_smart_fee(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    const BLOCKS_SEEN: usize = 144;
    let target = params.integer(0)?;
    if !(1..=TARGET_MAX).contains(&target) {
        let message = format!("Invalid conf_target, must be between 1 and {TARGET_MAX}");
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    let mode = if params.get(1).is_some() { params.text(1)?.to_ascii_lowercase() } else { "economical".to_owned() };
    if !["unset", "economical", "conservative"].contains(&mode.as_str()) {
        let message = "Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"";
        return Err(RpcError::new(code::INVALID_PARAMETER, message));
    }
    let state = context.node.read();
    let mut rates: Vec<u64> = Vec::new();
    for hash in state.chain.main().iter().rev().take(BLOCKS_SEEN) {
        let Some(entry) = state.chain.block(hash) else { continue };
        for (index, tx) in entry.block.txdata.iter().enumerate() {
            if let Some(spent) = super::render::spent_by(entry, index) {
                rates.push(super::render::fee(tx, spent) * 1000 / (tx.vsize() as u64).max(1));
            }
        }
    }
    rates.sort_unstable();
    let blocks = target.max(2);
    // The shorter the target, the higher the share of past transactions that is outbid.
    let share = match blocks {
        2..=3 => 75,
        4..=12 => 50,
        _ => 25,
    };
    Ok(match rates.get(rates.len() * share / 100) {
        Some(rate) => json!({"feerate": btc((*rate).max(MIN_RELAY_SATS_PER_KVB)), "blocks": blocks}),
        None => json!({"errors": ["Insufficient data or no feerate found"], "blocks": blocks}),
    })
}
