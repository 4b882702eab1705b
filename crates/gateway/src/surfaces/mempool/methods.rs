//! The eight methods.

use std::collections::HashSet;
use std::sync::Arc;

use bitcoin::Txid;
use paraffin_mempool::{Entry, Mempool, WithHex};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::super::named::Named;
use super::super::{RpcResult, to_raw};
use crate::bounded::to_raw_bounded;
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::state::RequestContext;

/// Entries or ids in one answer, and ids in one question (docs/mempool.md).
const COUNT_MAX: u64 = 5_000;
/// Entries of `mempool_recent` when nothing is said.
const RECENT_DEFAULT: u64 = 100;
/// Entries of a page of `mempool_snapshot` when nothing is said.
const PAGE_DEFAULT: u64 = 1_000;
/// Buckets in one question.
const BUCKETS_MAX: usize = 1_000;

/// Answers a method; the params are named: a positional array is -32602 (docs/mempool.md).
pub(super) async fn answer(
    context: &RequestContext,
    mempool: &Arc<Mempool>,
    method: &str,
    params: &Params,
) -> RpcResult {
    let named = || Named::read(params);
    match method {
        "mempool_info" => {
            named()?;
            info(mempool)
        }
        "mempool_txids" => txids(mempool, &named()?),
        "mempool_entry" => entry(mempool, &named()?),
        "mempool_entries" => away(context, mempool, named()?, entries).await,
        "mempool_raw" => raw(mempool, &named()?),
        "mempool_recent" => away(context, mempool, named()?, recent).await,
        "mempool_snapshot" => away(context, mempool, named()?, snapshot).await,
        "mempool_feerate_histogram" => {
            away(context, mempool, named()?, |mempool, named, _| histogram(mempool, named)).await
        }
        _ => Err(RpcError::method_not_found()),
    }
}

/// What may look at all of the set, or write many transactions, is done away from the async threads. It is given the largest
/// number of bytes that it may answer.
async fn away(
    context: &RequestContext,
    mempool: &Arc<Mempool>,
    named: Named,
    work: impl FnOnce(&Mempool, &Named, usize) -> RpcResult + Send + 'static,
) -> RpcResult {
    let mempool = Arc::clone(mempool);
    let bytes_max = context.limits().response_bytes_max;
    context.work(move || work(&mempool, &named, bytes_max)).await.map_err(|_| RpcError::panicked())?
}

/// A share with four digits, never rounded up to all.
fn share(coverage: f64) -> f64 {
    (coverage * 10_000.0).floor() / 10_000.0
}

fn info(mempool: &Mempool) -> RpcResult {
    let summary = mempool.read(paraffin_mempool::Pool::summary);
    to_raw(&json!({
        "count": summary.count,
        "bytes": summary.bytes,
        "vbytes": summary.vbytes,
        "total_fee": summary.total_fee,
        "fee_known": summary.fee_known,
        "fee_coverage": share(summary.fee_coverage()),
        "provisional": summary.provisional,
        "seq": summary.seq,
        "oldest_seq": summary.oldest_seq,
        "instance": mempool.instance(),
        "added_total": summary.added_total,
        "removed_total": summary.removed_total,
        "subscribers": mempool.subscribers().count(),
        "checksum": format!("{:016x}", summary.checksum),
    }))
}

/// `limit`, cut at [`COUNT_MAX`].
fn limit(named: &Named, default: u64) -> Result<usize, RpcError> {
    let limit = named.integer("limit")?.unwrap_or(default).min(COUNT_MAX);
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn txids(mempool: &Mempool, named: &Named) -> RpcResult {
    let limit = limit(named, COUNT_MAX)?;
    let (txids, summary) = mempool.read(|pool| (pool.txids(limit), pool.summary()));
    to_raw(&json!({ "txids": txids, "count": summary.count, "seq": summary.seq }))
}

/// An id as it is shown.
fn txid(text: &str) -> Result<Txid, RpcError> {
    text.parse()
        .map_err(|_| RpcError::invalid_params(format!("a txid is 64 hexadecimal digits, not `{}`", shown(text))))
}

/// As much of a caller's text as an error repeats.
fn shown(text: &str) -> String {
    text.chars().take(80).filter(|character| !character.is_control()).collect()
}

fn found(mempool: &Mempool, named: &Named) -> Result<Arc<Entry>, RpcError> {
    let txid = txid(named.text("txid")?)?;
    let entry = mempool.read(|pool| pool.get(&txid).cloned());
    entry.ok_or_else(|| RpcError {
        data: Some(json!({ "code": "NOT_IN_MEMPOOL" })),
        ..RpcError::new(rpc_code::RATE_LIMITED_MAIN, "the txid is not in the mempool")
    })
}

fn shape(entry: &Entry, hex: bool) -> Result<Value, RpcError> {
    entry.to_json(hex).map_err(|error| RpcError::internal(&error))
}

/// Entries as they are written into an answer, without a tree of values in between: a page holds thousands.
fn shapes(entries: &[Arc<Entry>], hex: bool) -> Shapes<'_> {
    Shapes { entries, hex }
}

struct Shapes<'e> {
    entries: &'e [Arc<Entry>],
    hex: bool,
}

impl Serialize for Shapes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.hex {
            serializer.collect_seq(self.entries.iter().map(|entry| WithHex(entry)))
        } else {
            serializer.collect_seq(self.entries.iter().map(|entry| &**entry))
        }
    }
}

/// A page of [`snapshot`].
#[derive(Serialize)]
struct SnapshotPage<'p> {
    entries: Shapes<'p>,
    cursor: u64,
    has_more: bool,
    seq: u64,
    count: usize,
    instance: &'p str,
    checksum: String,
}

/// The answer of [`entries`].
#[derive(Serialize)]
struct FoundEntries<'p> {
    entries: Shapes<'p>,
    missing: Vec<&'p Txid>,
}

/// The answer of [`recent`].
#[derive(Serialize)]
struct RecentEntries<'p> {
    entries: Shapes<'p>,
    seq: u64,
}

fn entry(mempool: &Mempool, named: &Named) -> RpcResult {
    let hex = named.flag("include_hex", false)?;
    to_raw(&shape(&*found(mempool, named)?, hex)?)
}

/// Entries in the order in which they are first named, each once however often it is named.
fn entries(mempool: &Mempool, named: &Named, bytes_max: usize) -> RpcResult {
    let hex = named.flag("include_hex", false)?;
    let asked = named.member("txids").ok_or_else(|| RpcError::invalid_params("txids is required"))?;
    let asked = asked.as_array().ok_or_else(|| RpcError::invalid_params("txids must be an array"))?;
    if asked.len() as u64 > COUNT_MAX {
        return Err(RpcError::invalid_params(format!("txids may hold at most {COUNT_MAX}")));
    }
    let asked = asked.iter().map(|one| {
        let text = one.as_str().ok_or_else(|| RpcError::invalid_params("txids must hold strings"))?;
        txid(text)
    });
    let asked: Vec<Txid> = asked.collect::<Result<_, _>>()?;
    let found: Vec<Option<Arc<Entry>>> =
        mempool.read(|pool| asked.iter().map(|txid| pool.get(txid).cloned()).collect());
    let missing: Vec<&Txid> =
        asked.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(txid, _)| txid).collect();
    let mut is_new = HashSet::new();
    let entries: Vec<Arc<Entry>> = found.iter().flatten().filter(|entry| is_new.insert(entry.txid)).cloned().collect();
    to_raw_bounded(&FoundEntries { entries: shapes(&entries, hex), missing }, bytes_max)
}

fn raw(mempool: &Mempool, named: &Named) -> RpcResult {
    let mut shape = shape(&*found(mempool, named)?, true)?;
    to_raw(&json!({ "hex": shape["hex"].take() }))
}

fn recent(mempool: &Mempool, named: &Named, bytes_max: usize) -> RpcResult {
    let (limit, hex) = (limit(named, RECENT_DEFAULT)?, named.flag("include_hex", false)?);
    let (entries, seq) = mempool.read(|pool| (pool.recent(limit), pool.ring().newest()));
    to_raw_bounded(&RecentEntries { entries: shapes(&entries, hex), seq }, bytes_max)
}

fn snapshot(mempool: &Mempool, named: &Named, bytes_max: usize) -> RpcResult {
    let (limit, hex) = (limit(named, PAGE_DEFAULT)?, named.flag("include_hex", false)?);
    let cursor = named.integer("cursor")?.unwrap_or(0);
    if named.optional_text("instance")?.is_some_and(|instance| instance != mempool.instance()) {
        return Err(RpcError {
            data: Some(json!({ "code": "UNKNOWN_INSTANCE", "instance": mempool.instance() })),
            ..RpcError::invalid_params("the cursor is of another instance: begin anew with cursor 0")
        });
    }
    let (page, summary) = mempool.read(|pool| (pool.page(cursor, limit), pool.summary()));
    let page = SnapshotPage {
        entries: shapes(&page.entries, hex),
        cursor: page.cursor,
        has_more: page.has_more,
        seq: summary.seq,
        count: summary.count,
        instance: mempool.instance(),
        checksum: format!("{:016x}", summary.checksum),
    };
    to_raw_bounded(&page, bytes_max)
}

/// Floors that ascend; none, descending ones and NaN are -32602.
fn floors(value: &Value) -> Result<Vec<f64>, RpcError> {
    let wrong = || RpcError::invalid_params("buckets must be ascending numbers of at least 0, at least one");
    let listed = value.as_array().filter(|listed| !listed.is_empty()).ok_or_else(wrong)?;
    if listed.len() > BUCKETS_MAX {
        return Err(RpcError::invalid_params(format!("buckets may hold at most {BUCKETS_MAX}")));
    }
    let floors: Option<Vec<f64>> = listed.iter().map(Value::as_f64).collect();
    let floors = floors.ok_or_else(wrong)?;
    let is_finite = floors.iter().all(|floor| floor.is_finite() && *floor >= 0.0);
    let ascends = floors.windows(2).all(|pair| pair[0] < pair[1]);
    if is_finite && ascends { Ok(floors) } else { Err(wrong()) }
}

fn histogram(mempool: &Mempool, named: &Named) -> RpcResult {
    let floors = named.member("buckets").map(floors).transpose()?;
    let (histogram, summary) = mempool.read(|pool| {
        let histogram = floors.as_deref().map_or_else(|| pool.default_histogram(), |floors| pool.histogram(floors));
        (histogram, pool.summary())
    });
    to_raw(&json!({
        "histogram": histogram,
        "fee_coverage": share(summary.fee_coverage()),
        "count": summary.count,
    }))
}
