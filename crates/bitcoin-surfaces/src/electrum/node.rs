//! Answers from the node: fee estimates, minimum fee rates, transaction records, and broadcasts.

use std::sync::Arc;
use std::time::Duration;

use bitcoin::Txid;
use paraffin_electrum::{Estimate, Fault, FeeHistogram, MempoolFees, PackageResult};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;

use super::{SessionApi, of_rpc};
use paraffin_gateway::state::RequestContext;

/// How long an estimate or the histogram is cached for all sessions.
const CACHED_FOR: Duration = Duration::from_secs(10);
/// Largest target of an estimate, blocks.
const BLOCKS_MAX: u16 = 1_008;

async fn ask(
    context: &RequestContext,
    method: &'static str,
    params: Vec<Box<RawValue>>,
) -> Result<Box<RawValue>, Fault> {
    crate::btc::pass(context, method, params).await.map_err(|error| of_rpc(context, error))
}

fn read<'r, T: Deserialize<'r>>(answer: &'r RawValue) -> Result<T, Fault> {
    serde_json::from_str(answer.get()).map_err(|error| {
        tracing::warn!(%error, "the node answered something unusable");
        Fault::NodeAway
    })
}

fn param(value: &(impl serde::Serialize + ?Sized)) -> Result<Box<RawValue>, Fault> {
    to_raw_value(value).map_err(|_| Fault::Internal)
}

pub(super) async fn estimate(session: &SessionApi, blocks: u16, mode: Option<&'static str>) -> Result<Estimate, Fault> {
    #[derive(Deserialize)]
    struct SmartFee {
        #[serde(default)]
        feerate: Option<Box<RawValue>>,
    }
    let blocks = blocks.min(BLOCKS_MAX);
    let cached = session.instance.estimates.lock().get(&(blocks, mode)).cloned();
    if let Some((at, estimate)) = cached
        && at.elapsed() < CACHED_FOR
    {
        return Ok(estimate);
    }
    let mut params = vec![param(&blocks)?];
    params.extend(mode.map(param).transpose()?);
    let answer = ask(&session.context(), "estimatesmartfee", params).await?;
    let estimate = read::<SmartFee>(&answer)?.feerate;
    session.instance.estimates.lock().insert((blocks, mode), (Instant::now(), estimate.clone()));
    Ok(estimate)
}

pub(super) async fn mempool_fees(session: &SessionApi) -> Result<MempoolFees, Fault> {
    #[derive(Deserialize)]
    struct Info {
        mempoolminfee: Box<RawValue>,
        minrelaytxfee: Box<RawValue>,
        incrementalrelayfee: Box<RawValue>,
    }
    let answer = ask(&session.context(), "getmempoolinfo", Vec::new()).await?;
    let info: Info = read(&answer)?;
    Ok(MempoolFees { minimum: info.mempoolminfee, relay: info.minrelaytxfee, increment: info.incrementalrelayfee })
}

pub(super) async fn fee_histogram(session: &SessionApi) -> Result<FeeHistogram, Fault> {
    let instance = &session.instance;
    if let Some((at, histogram)) = instance.histogram.lock().as_ref()
        && at.elapsed() < CACHED_FOR
    {
        return Ok(Arc::clone(histogram));
    }
    let mempool = Arc::clone(&instance.mempool);
    let context = session.context();
    let work = context
        .work(move || crate::esplora::fee_histogram(mempool.read(paraffin_mempool::TransactionSet::fees).into_iter()));
    let histogram = Arc::new(work.await.map_err(|error| super::abandoned(&context, error))?);
    *instance.histogram.lock() = Some((Instant::now(), Arc::clone(&histogram)));
    Ok(histogram)
}

pub(super) async fn transaction_record(session: &SessionApi, txid: Txid) -> Result<Box<RawValue>, Fault> {
    let context = session.context();
    let network = context.network();
    let located = context.read(move |snapshot| {
        let index = paraffin_bitcoin_index::BitcoinIndex::new(snapshot.clone(), network);
        index.transaction_location(&txid)
    });
    let located = located.await.map_err(|error| super::abandoned(&context, error))?;
    let location = located.map_err(|error| super::unreadable(&error))?;
    let mut params = vec![param(&txid)?, param(&true)?];
    // The node may have no transaction index.
    params.extend(location.map(|location| param(&location.block_hash)).transpose()?);
    ask(&context, "getrawtransaction", params).await
}

pub(super) async fn broadcast(session: &SessionApi, transaction: String) -> Result<Txid, Fault> {
    let context = session.context();
    let answer = ask(&context, "sendrawtransaction", vec![param(&transaction)?]).await?;
    let txid = read(&answer)?;
    crate::esplora::accepted(&context, &transaction).await;
    Ok(txid)
}

pub(super) async fn broadcast_package(session: &SessionApi, transactions: Vec<String>) -> Result<PackageResult, Fault> {
    #[derive(Deserialize)]
    struct Package {
        package_msg: String,
        #[serde(rename = "tx-results")]
        results: std::collections::BTreeMap<String, Outcome>,
    }
    #[derive(Deserialize)]
    struct Outcome {
        txid: String,
        #[serde(default)]
        error: Option<String>,
    }
    let context = session.context();
    let verbose = ask(&context, "submitpackage", vec![param(&transactions)?]).await?;
    let package: Package = read(&verbose)?;
    let errors: Vec<(String, String)> =
        package.results.into_values().filter_map(|outcome| Some((outcome.txid, outcome.error?))).collect();
    // The node's own word for an accepted package.
    let is_accepted = package.package_msg == "success";
    if is_accepted {
        for transaction in &transactions {
            crate::esplora::accepted(&context, transaction).await;
        }
    }
    Ok(PackageResult { is_accepted, errors, verbose })
}
