//! Esplora's mempool routes: from the live set, and from the node's own RPC while that does not agree with the node
//! (docs/mempool.md).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::unconfirmed::{accepted, live};
use super::{Answer, Fault, Outcome, json as answer};
use crate::btc;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::to_raw;

/// The entries of a larger mempool are not requested from the node; the histogram and the newest entries are then empty.
const DETAILED_MAX: u64 = 5_000;
/// Transactions in a package; the node's own limit.
const PACKAGE_MAX: usize = 25;
/// Rows of `/mempool/recent`.
const RECENT: usize = 10;
/// Virtual bytes per row of the histogram.
const STEP_VBYTES: u64 = 50_000;
const SAT_PER_BTC: f64 = 100_000_000.0;

#[derive(Deserialize)]
struct Info {
    size: u64,
    bytes: u64,
    total_fee: f64,
}

#[derive(Deserialize)]
struct Entry {
    vsize: u64,
    time: u64,
    fees: Fees,
}

#[derive(Deserialize)]
struct Fees {
    base: f64,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the node gives whole satoshis, at most 21e14, as BTC
fn satoshis(btc: f64) -> u64 {
    (btc * SAT_PER_BTC).round().max(0.0) as u64
}

async fn ask<T: for<'de> Deserialize<'de>>(
    context: &RequestContext,
    method: &str,
    params: &[Box<RawValue>],
) -> Result<T, ApiError> {
    let answer = btc::ask(context.node().as_ref(), method, params).await?;
    serde_json::from_str(answer.get()).map_err(|error| ApiError::internal(&error))
}

async fn entries(context: &RequestContext, size: u64) -> Result<BTreeMap<String, Entry>, ApiError> {
    if size > DETAILED_MAX {
        return Ok(BTreeMap::new());
    }
    ask(context, "getrawmempool", &[to_raw(&true)?]).await
}

/// `/mempool`.
pub(super) async fn summary(context: &RequestContext) -> Outcome {
    if let Some(mempool) = live(context).await {
        let (summary, fees) = mempool.read(|pool| (pool.summary(), pool.fees()));
        return answer(&json!({
            "count": summary.count,
            "vsize": summary.vbytes,
            "total_fee": summary.total_fee,
            "fee_histogram": histogram(fees.into_iter()),
        }));
    }
    let info: Info = ask(context, "getmempoolinfo", &[]).await?;
    let entries = entries(context, info.size).await?;
    answer(&json!({
        "count": info.size,
        "vsize": info.bytes,
        "total_fee": satoshis(info.total_fee),
        "fee_histogram": histogram(entries.values().map(|entry| (satoshis(entry.fees.base), entry.vsize))),
    }))
}

/// `[feerate, vsize]` rows, highest feerate first; the feerate is the lowest of its row, sat/vB.
pub(crate) fn histogram(entries: impl Iterator<Item = (u64, u64)>) -> Vec<(f64, u64)> {
    #[allow(clippy::cast_precision_loss)] // both are far below 2^52
    let mut rates: Vec<(f64, u64)> = entries.map(|(fee, vsize)| (fee as f64 / vsize.max(1) as f64, vsize)).collect();
    rates.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut rows: Vec<(f64, u64)> = Vec::new();
    let mut is_full = true;
    for (rate, vsize) in rates {
        match rows.last_mut() {
            Some(row) if !is_full => *row = (rate, row.1 + vsize),
            _ => rows.push((rate, vsize)),
        }
        is_full = rows.last().is_some_and(|row| row.1 > STEP_VBYTES);
    }
    rows
}

/// `/mempool/recent`: the newest entries, newest first.
pub(super) async fn recent(context: &RequestContext) -> Outcome {
    if let Some(mempool) = live(context).await {
        let newest = mempool.read(|pool| pool.recent(RECENT));
        let rows = newest.iter().map(|entry| {
            let value: u64 = entry.outputs.iter().map(|output| output.value).sum();
            json!({ "txid": entry.txid, "fee": entry.fee, "vsize": entry.vsize(), "value": value })
        });
        return answer(&rows.collect::<Vec<_>>());
    }
    let info: Info = ask(context, "getmempoolinfo", &[]).await?;
    let mut newest: Vec<(String, Entry)> = entries(context, info.size).await?.into_iter().collect();
    newest.sort_by(|left, right| right.1.time.cmp(&left.1.time).then_with(|| left.0.cmp(&right.0)));
    newest.truncate(RECENT);
    let mut rows = Vec::with_capacity(newest.len());
    for (txid, entry) in newest {
        let parsed = txid.parse().map_err(|_| ApiError::upstream_unavailable())?;
        let transaction = super::transactions::unconfirmed(context, parsed).await.ok().flatten();
        let value: Option<u64> =
            transaction.map(|transaction| transaction.output.iter().map(|output| output.value.to_sat()).sum());
        rows.push(json!({ "txid": txid, "fee": satoshis(entry.fees.base), "vsize": entry.vsize, "value": value }));
    }
    answer(&Value::from(rows))
}

/// POST `/tx`, and `esplora_broadcast`: the node's answer, a txid or its reason.
pub(crate) async fn broadcast(context: &RequestContext, hex: &str) -> Outcome {
    let answer = btc::pass(context, "sendrawtransaction", vec![to_raw(&hex)?]).await.map_err(Fault::Failed)?;
    let txid = serde_json::from_str(answer.get()).map_err(|error| ApiError::internal(&error))?;
    accepted(context, hex).await;
    Ok(Answer::Text(txid))
}

/// POST `/txs/package`, and `esplora_txs:package`: the node's answer to `submitpackage`. The limits are decimal numbers,
/// BTC per 1,000 virtual bytes and BTC.
pub(crate) async fn package(
    context: &RequestContext,
    transactions: &[String],
    fee_rate_max: Option<&str>,
    burn_max: Option<&str>,
) -> Outcome {
    if transactions.len() > PACKAGE_MAX {
        return Err(Fault::malformed(
            "Exceeded maximum of 25 transactions",
            "transactions: a package holds at most 25 transactions",
        ));
    }
    let mut params = vec![to_raw(&transactions)?];
    let fee_rate_max = fee_rate_max.map(|text| decimal(text, "Invalid maxfeerate")).transpose()?;
    let burn_max = burn_max.map(|text| decimal(text, "Invalid maxburnamount")).transpose()?;
    match (fee_rate_max, burn_max) {
        (None, None) => {}
        (fee_rate_max, None) => params.extend(fee_rate_max),
        (fee_rate_max, Some(burn_max)) => {
            // The node's own default, as parameters are positional.
            params.push(fee_rate_max.map_or_else(|| decimal("0.10", "Invalid maxfeerate"), Ok)?);
            params.push(burn_max);
        }
    }
    Ok(Answer::Json(btc::pass(context, "submitpackage", params).await?))
}

/// A decimal number, with the digits that it came with where they are JSON; `.1`, `5.` and `1e-5` are rounded to satoshis.
fn decimal(text: &str, refusal: &'static str) -> Result<Box<RawValue>, Fault> {
    let refused = || Fault::malformed(refusal, format!("{refusal}: a decimal number is expected"));
    let is_number =
        text.len() <= 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let number =
        text.parse::<f64>().ok().filter(|number| is_number && number.is_finite() && !number.is_sign_negative());
    let number = number.ok_or_else(refused)?;
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && let Ok(raw) = RawValue::from_string(text.to_owned())
    {
        return Ok(raw);
    }
    RawValue::from_string(format!("{number:.8}")).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_histogram_falls_and_holds_every_virtual_byte() {
        let rows = histogram([(1000, 1000), (90_000, 30_000), (200, 100), (90_000, 30_000)].into_iter());
        assert_eq!(rows, [(3.0, 60_000), (1.0, 1100)]);
        assert!(histogram(std::iter::empty()).is_empty());
        assert_eq!(satoshis(0.020_458_46), 2_045_846);
    }
}
