use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{Outcome, json as answer};
use crate::btc;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::RequestContext;

/// Esplora's targets, in blocks.
const TARGETS: [u16; 28] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 144, 504, 1008];
/// How long estimates are cached: the node's estimates change with blocks, not with seconds.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// Satoshi per virtual byte in one BTC per 1000 virtual bytes.
const SAT_PER_VBYTE: f64 = 100_000.0;
/// Used when the node reports no minimum.
const FLOOR_SAT_PER_VBYTE: f64 = 0.1;

/// The estimates as last computed, shared by all requests.
#[derive(Default)]
pub struct FeeEstimates(Mutex<Option<(Instant, Value)>>);

#[derive(Deserialize)]
struct SmartFee {
    feerate: Option<f64>,
}

#[derive(Deserialize)]
struct MempoolFees {
    mempoolminfee: Option<f64>,
    minrelaytxfee: Option<f64>,
}

/// `/fee-estimates`: sat/vB for every standard target (docs/api.md).
pub(super) async fn estimates(context: &RequestContext) -> Outcome {
    let mut cached = context.shared().state_of::<FeeEstimates>()?.0.lock().await;
    if let Some((at, estimates)) = cached.as_ref()
        && at.elapsed() < CACHE_TTL
    {
        return answer(estimates);
    }
    let fees: MempoolFees = ask(context, "getmempoolinfo", &[]).await?;
    let minimum = fees.mempoolminfee.unwrap_or(0.0).max(fees.minrelaytxfee.unwrap_or(0.0)) * SAT_PER_VBYTE;
    let mut reported = Vec::with_capacity(TARGETS.len());
    for target in TARGETS {
        let target = serde_json::value::to_raw_value(&target).map_err(|error| ApiError::internal(&error))?;
        let fee: SmartFee = ask(context, "estimatesmartfee", &[target]).await?;
        reported.push(fee.feerate.map(|feerate| feerate * SAT_PER_VBYTE));
    }
    let floor = if minimum > 0.0 { minimum } else { FLOOR_SAT_PER_VBYTE };
    let complete = complete(&reported, floor).into_iter().map(|estimate| json!((estimate * 1000.0).round() / 1000.0));
    let estimates = Value::Object(TARGETS.iter().map(ToString::to_string).zip(complete).collect::<Map<_, _>>());
    *cached = Some((Instant::now(), estimates.clone()));
    answer(&estimates)
}

/// Fills targets without an estimate of the node, on a young chain perhaps all: each gets the estimate of the next shorter target
/// that has one, the first ones that of the first such target. Estimates never rise with the target and are at least `floor`.
fn complete(reported: &[Option<f64>], floor: f64) -> Vec<f64> {
    let mut shorter = reported.iter().flatten().next().copied().unwrap_or(floor).max(floor);
    let estimate = |reported: &Option<f64>| {
        shorter = reported.unwrap_or(shorter).min(shorter).max(floor);
        shorter
    };
    reported.iter().map(estimate).collect()
}

async fn ask<T: for<'de> Deserialize<'de>>(
    context: &RequestContext,
    method: &str,
    params: &[Box<RawValue>],
) -> Result<T, ApiError> {
    let answer = btc::ask(context.node().as_ref(), method, params).await?;
    serde_json::from_str(answer.get()).map_err(|error| ApiError::internal(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp)] // nothing is computed, only chosen
    fn unknown_targets_are_filled_and_a_longer_wait_never_costs_more() {
        assert_eq!(complete(&[None, Some(20.0), None, Some(5.0), None], 1.0), [20.0, 20.0, 20.0, 5.0, 5.0]);
        assert_eq!(complete(&[Some(3.0), Some(4.0), Some(0.5)], 1.0), [3.0, 3.0, 1.0]);
        assert_eq!(complete(&[None, None], 0.1), [0.1, 0.1]);
    }
}
