//! `getblockstats`: figures about one block.

use std::str::FromStr;

use bitcoin::{BlockHash, TxOut};
use serde_json::{Map, Value, json};

use super::RpcContext;
use super::blockchain::block_not_found;
use super::params::{Params, RpcError, RpcResult, check_hash, code, wrong_element};
use super::render::{fee, spent_by};
use crate::node::{BlockEntry, Chain, is_unspendable, subsidy};

/// Bytes that Bitcoin Core counts for every unspent output besides its own encoding.
const UTXO_OVERHEAD: i64 = 40;
/// Shares of the block weight, in percent, at which the feerate is given.
const PERCENTILES: [u64; 5] = [10, 25, 50, 75, 90];

pub(super) fn get_block_stats(context: &RpcContext, params: &Params<'_>) -> RpcResult {
    let state = context.node.read();
    let hash = hash_or_height(&state.chain, params)?;
    let entry = state.chain.block(&hash).ok_or_else(block_not_found)?;
    if entry.spent.is_none() {
        return Err(RpcError::new(code::MISC, "Undo data not available (the block was never on the best chain)"));
    }
    let all = stats(entry);
    if params.get(1).is_none() {
        return Ok(Value::Object(all));
    }
    let mut chosen = Map::new();
    for name in params.array(1)? {
        let name = name.as_str().ok_or_else(|| wrong_element(name, "string"))?;
        let Some(value) = all.get(name) else {
            let message = format!("Invalid selected statistic '{}'", super::params::excerpt(name));
            return Err(RpcError::new(code::INVALID_PARAMETER, message));
        };
        chosen.insert(name.to_owned(), value.clone());
    }
    if chosen.is_empty() { Ok(Value::Object(all)) } else { Ok(Value::Object(chosen)) }
}

fn hash_or_height(chain: &Chain, params: &Params<'_>) -> Result<BlockHash, RpcError> {
    if !matches!(params.get(0), Some(Value::Number(_))) {
        let text = params.text(0)?;
        check_hash(text, "hash_or_height")?;
        return BlockHash::from_str(text).map_err(|_| block_not_found());
    }
    let height = params.integer(0)?;
    let refused = |message: String| RpcError::new(code::INVALID_PARAMETER, message);
    let tip = chain.height();
    let wanted = u32::try_from(height).map_err(|_| refused(format!("Target block height {height} is negative")))?;
    chain.hash_at(wanted).ok_or_else(|| refused(format!("Target block height {height} after current tip {tip}")))
}

fn output_size(output: &TxOut) -> i64 {
    i64::try_from(output.size()).unwrap_or(i64::MAX - UTXO_OVERHEAD) + UTXO_OVERHEAD
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    match values.len() {
        0 => 0,
        length if length % 2 == 1 => values[length / 2],
        length => values[length / 2 - 1].midpoint(values[length / 2]),
    }
}

/// Feerates at the given percentiles of the weight.
fn percentiles(mut rates: Vec<(u64, u64)>, total_weight: u64) -> [u64; 5] {
    rates.sort_unstable();
    let mut result = [0; 5];
    let (mut next, mut weight) = (0, 0);
    for (rate, share) in &rates {
        weight += share;
        while next < PERCENTILES.len() && weight * 100 >= total_weight * PERCENTILES[next] {
            result[next] = *rate;
            next += 1;
        }
    }
    if let Some((highest, _)) = rates.last() {
        result[next..].fill(*highest);
    }
    result
}

fn stats(entry: &BlockEntry) -> Map<String, Value> {
    let block = &entry.block;
    let (mut fees, mut sizes, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    let (mut inputs, mut outputs, mut spendable, mut total_out) = (0_i64, 0_i64, 0_i64, 0_u64);
    let (mut utxo_size, mut utxo_size_actual) = (0_i64, 0_i64);
    let (mut witness_count, mut witness_size, mut witness_weight) = (0_u64, 0_u64, 0_u64);
    let mut total_weight = 0_u64;
    for (index, tx) in block.txdata.iter().enumerate() {
        for output in &tx.output {
            outputs += 1;
            utxo_size += output_size(output);
            if entry.height > 0 && !is_unspendable(&output.script_pubkey) {
                spendable += 1;
                utxo_size_actual += output_size(output);
            }
        }
        let Some(spent) = spent_by(entry, index) else { continue };
        let (size, weight) = (tx.total_size() as u64, tx.weight().to_wu());
        inputs += i64::try_from(tx.input.len()).unwrap_or(i64::MAX);
        total_out += tx.output.iter().map(|output| output.value.to_sat()).sum::<u64>();
        total_weight += weight;
        if tx.input.iter().any(|input| !input.witness.is_empty()) {
            witness_count += 1;
            witness_size += size;
            witness_weight += weight;
        }
        for coin in spent {
            utxo_size -= output_size(&coin.output);
            utxo_size_actual -= output_size(&coin.output);
        }
        let fee = fee(tx, spent);
        fees.push(fee);
        sizes.push(size);
        rates.push((fee * 4 / weight, weight));
    }
    let count = fees.len() as u64;
    let (total_fee, total_size): (u64, u64) = (fees.iter().sum(), sizes.iter().sum());
    let lowest = |values: &[u64]| values.iter().copied().min().unwrap_or(0);
    let highest = |values: &[u64]| values.iter().copied().max().unwrap_or(0);
    let plain_rates: Vec<u64> = rates.iter().map(|(rate, _)| *rate).collect();
    let stats = json!({
        "avgfee": total_fee.checked_div(count).unwrap_or(0),
        "avgfeerate": (total_fee * 4).checked_div(total_weight).unwrap_or(0),
        "avgtxsize": total_size.checked_div(count).unwrap_or(0),
        "blockhash": block.block_hash().to_string(),
        "feerate_percentiles": percentiles(rates, total_weight),
        "height": entry.height,
        "ins": inputs,
        "maxfee": highest(&fees),
        "maxfeerate": highest(&plain_rates),
        "maxtxsize": highest(&sizes),
        "minfee": lowest(&fees),
        "minfeerate": lowest(&plain_rates),
        "mintxsize": lowest(&sizes),
        "medianfee": median(&mut fees),
        "mediantime": entry.median_time_past,
        "mediantxsize": median(&mut sizes),
        "outs": outputs,
        "subsidy": subsidy(entry.height),
        "swtotal_size": witness_size,
        "swtotal_weight": witness_weight,
        "swtxs": witness_count,
        "time": block.header.time,
        "total_out": total_out,
        "total_size": total_size,
        "total_weight": total_weight,
        "totalfee": total_fee,
        "txs": block.txdata.len(),
        "utxo_increase": outputs - inputs,
        "utxo_size_inc": utxo_size,
        "utxo_increase_actual": spendable - inputs,
        "utxo_size_inc_actual": utxo_size_actual,
    });
    match stats {
        Value::Object(stats) => stats,
        _ => Map::new(),
    }
}
