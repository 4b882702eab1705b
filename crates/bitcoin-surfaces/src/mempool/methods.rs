//! The methods.

use std::collections::HashSet;
use std::sync::Arc;

use bitcoin::Txid;
use bitcoin::hex::DisplayHex as _;
use paraffin_mempool::{Entry, Mempool, Replacement, ReplacementSide, ShownEntry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use paraffin_gateway::errors::{ApiError, rpc_code};
use paraffin_gateway::methods::{Declared, ErrorCase, List, Method, Natural, Surface, TxidText, Written};
use paraffin_gateway::state::RequestContext;

/// Entries or ids in one answer, and ids in one request, at most (docs/mempool.md).
const COUNT_MAX: usize = 5_000;
/// Default number of entries of `mempool_recent`.
const RECENT_DEFAULT: usize = 100;
/// Default number of entries of a page of `mempool_snapshot`.
const PAGE_DEFAULT: usize = 1_000;
/// Buckets in one request at most.
const BUCKETS_MAX: usize = 1_000;

/// The methods of the live mempool.
pub(super) static MEMPOOL: Surface<Arc<Mempool>> = Surface::new(
    "mempool",
    &[
        Declared::of::<Info>(),
        Declared::of::<Txids>(),
        Declared::of::<OneEntry>(),
        Declared::of::<Entries>(),
        Declared::of::<Raw>(),
        Declared::of::<Recent>(),
        Declared::of::<Snapshot>(),
        Declared::of::<FeerateHistogram>(),
        Declared::of::<Replacements>(),
    ],
)
.introduced(
    "The live set of unconfirmed transactions (docs/mempool.md). Parameters are members of an object. The surface is a \
        preview: its shapes may change.",
);

/// Runs a read that may scan the whole set or render many transactions off the async threads, and renders its answer there.
async fn away<T: Serialize + 'static>(
    context: &RequestContext,
    mempool: &Arc<Mempool>,
    work: impl FnOnce(&Mempool) -> Result<T, ApiError> + Send + 'static,
) -> Result<Written<T>, ApiError> {
    let mempool = Arc::clone(mempool);
    let bytes_max = context.limits().response_bytes_max;
    let work = move || Written::new(&work(&mempool)?, bytes_max);
    context.work(work).await.map_err(|_| ApiError::panicked())?
}

/// A share with four decimal places, never rounded up to 1.
fn share(coverage: f64) -> f64 {
    (coverage * 10_000.0).floor() / 10_000.0
}

/// The requested number, at most [`COUNT_MAX`].
fn limit(limit: Option<Natural>, default: usize) -> usize {
    limit.map_or(default, |limit| usize::try_from(limit.get()).unwrap_or(usize::MAX)).min(COUNT_MAX)
}

const NOT_IN_MEMPOOL: ErrorCase = ErrorCase {
    code: rpc_code::RATE_LIMITED_MAIN,
    name: "NOT_IN_MEMPOOL",
    when: "The transaction is not in the set: it is in a block, was replaced, or was never seen",
};

fn find(mempool: &Mempool, txid: TxidText) -> Result<Arc<Entry>, ApiError> {
    let entry = mempool.read(|pool| pool.get(&txid.0).cloned());
    entry.ok_or_else(|| NOT_IN_MEMPOOL.error("the txid is not in the mempool"))
}

/// Entries as serialised into an answer, without intermediate JSON values: a page holds thousands.
#[derive(JsonSchema)]
#[schemars(inline, with = "Vec<ShownEntry<'static>>")]
struct Shown {
    entries: Vec<Arc<Entry>>,
    hex: bool,
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.entries.iter().map(|entry| entry.shown(self.hex)))
    }
}

/// Figures of the whole set.
#[derive(Deserialize, JsonSchema)]
struct Info {}

/// Figures of the whole set.
#[derive(Serialize, JsonSchema)]
struct InfoAnswer {
    count: usize,
    /// Bytes of raw transactions.
    bytes: usize,
    vbytes: u64,
    /// Sum of the known fees, satoshis.
    total_fee: u64,
    /// Number of transactions whose fee is known.
    fee_known: usize,
    /// Share of transactions whose fee is known, four decimal places.
    fee_coverage: f64,
    /// Number of transactions that an admin submitted and no peer has announced.
    provisional: usize,
    /// Number of the newest frame.
    seq: u64,
    /// Number of the oldest frame that can be replayed.
    oldest_seq: u64,
    /// Id of this process: it changes with a restart, which streams and pages can detect by it.
    instance: String,
    /// Since this process started.
    added_total: u64,
    removed_total: u64,
    /// Open streams.
    subscribers: usize,
    /// Of all ids, 16 hexadecimal digits; equal sets have equal checksums.
    checksum: String,
}

impl Method for Info {
    const NAME: &'static str = "mempool_info";
    const EXAMPLE: &'static str = "{}";
    type Surface = Arc<Mempool>;
    type Answer = InfoAnswer;

    async fn call(self, _context: &RequestContext, mempool: &Arc<Mempool>) -> Result<InfoAnswer, ApiError> {
        let summary = mempool.read(paraffin_mempool::TransactionSet::summary);
        Ok(InfoAnswer {
            added_total: summary.added_total,
            bytes: summary.bytes,
            checksum: format!("{:016x}", summary.checksum),
            count: summary.count,
            fee_coverage: share(summary.fee_coverage()),
            fee_known: summary.fee_known,
            instance: mempool.instance().to_owned(),
            oldest_seq: summary.oldest_seq,
            provisional: summary.provisional,
            removed_total: summary.removed_total,
            seq: summary.seq,
            subscribers: mempool.subscribers().count(),
            total_fee: summary.total_fee,
            vbytes: summary.vbytes,
        })
    }
}

/// Ids of transactions, in no order.
#[derive(Deserialize, JsonSchema)]
struct Txids {
    /// How many at most; 5,000 when absent and at most.
    limit: Option<Natural>,
}

/// Ids, with the size of the set.
#[derive(Serialize, JsonSchema)]
struct TxidsAnswer {
    #[schemars(with = "Vec<String>")]
    txids: Vec<Txid>,
    /// Of the whole set.
    count: usize,
    /// Number of the newest frame of the stream.
    seq: u64,
}

impl Method for Txids {
    const NAME: &'static str = "mempool_txids";
    const EXAMPLE: &'static str = r#"{"limit":10}"#;
    type Surface = Arc<Mempool>;
    type Answer = TxidsAnswer;

    async fn call(self, _context: &RequestContext, mempool: &Arc<Mempool>) -> Result<TxidsAnswer, ApiError> {
        let limit = limit(self.limit, COUNT_MAX);
        let (txids, summary) = mempool.read(|pool| (pool.txids(limit), pool.summary()));
        Ok(TxidsAnswer { count: summary.count, seq: summary.seq, txids })
    }
}

/// One transaction.
#[derive(Deserialize, JsonSchema)]
struct OneEntry {
    /// Its id.
    txid: TxidText,
    /// Whether to include the raw transaction; `false` when absent.
    include_hex: Option<bool>,
}

/// The requested entry.
#[derive(JsonSchema)]
#[schemars(inline, with = "ShownEntry<'static>")]
struct FoundEntry {
    entry: Arc<Entry>,
    hex: bool,
}

impl Serialize for FoundEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.entry.shown(self.hex).serialize(serializer)
    }
}

impl Method for OneEntry {
    const NAME: &'static str = "mempool_entry";
    const EXAMPLE: &'static str = r#"{"txid":"5f74d8131b9ef3b3f0e6e1e3d3f4a5b6c7d8e9f00112233445566778899aabbc"}"#;
    const ERRORS: &'static [ErrorCase] = &[NOT_IN_MEMPOOL];
    type Surface = Arc<Mempool>;
    type Answer = FoundEntry;

    async fn call(self, _context: &RequestContext, mempool: &Arc<Mempool>) -> Result<FoundEntry, ApiError> {
        Ok(FoundEntry { entry: find(mempool, self.txid)?, hex: self.include_hex.unwrap_or(false) })
    }
}

/// Several transactions, in the order of their first mention, without duplicates.
#[derive(Deserialize, JsonSchema)]
struct Entries {
    /// Their ids.
    txids: List<TxidText, COUNT_MAX>,
    /// Whether to include the raw transactions; `false` when absent.
    include_hex: Option<bool>,
}

/// The entries that are in the set, and the ids of the others.
#[derive(Serialize, JsonSchema)]
struct EntriesAnswer {
    entries: Shown,
    #[schemars(with = "Vec<String>")]
    missing: Vec<Txid>,
}

impl Method for Entries {
    const NAME: &'static str = "mempool_entries";
    const EXAMPLE: &'static str = r#"{"txids":["5f74d8131b9ef3b3f0e6e1e3d3f4a5b6c7d8e9f00112233445566778899aabbc"]}"#;
    type Surface = Arc<Mempool>;
    type Answer = Written<EntriesAnswer>;

    async fn call(self, context: &RequestContext, mempool: &Arc<Mempool>) -> Result<Self::Answer, ApiError> {
        let work = move |mempool: &Mempool| {
            let found: Vec<Option<Arc<Entry>>> =
                mempool.read(|pool| self.txids.iter().map(|txid| pool.get(&txid.0).cloned()).collect());
            let missing = self.txids.iter().zip(&found).filter(|(_, found)| found.is_none());
            let missing = missing.map(|(txid, _)| txid.0).collect();
            let mut is_new = HashSet::new();
            let entries = found.into_iter().flatten().filter(|entry| is_new.insert(entry.txid)).collect();
            Ok(EntriesAnswer { entries: Shown { entries, hex: self.include_hex.unwrap_or(false) }, missing })
        };
        away(context, mempool, work).await
    }
}

/// The bytes of a transaction.
#[derive(Deserialize, JsonSchema)]
struct Raw {
    /// Its id.
    txid: TxidText,
}

/// The bytes of a transaction.
#[derive(Serialize, JsonSchema)]
struct RawAnswer {
    /// Consensus encoding in hexadecimal digits.
    hex: String,
}

impl Method for Raw {
    const NAME: &'static str = "mempool_raw";
    const EXAMPLE: &'static str = OneEntry::EXAMPLE;
    const ERRORS: &'static [ErrorCase] = &[NOT_IN_MEMPOOL];
    type Surface = Arc<Mempool>;
    type Answer = RawAnswer;

    async fn call(self, _context: &RequestContext, mempool: &Arc<Mempool>) -> Result<RawAnswer, ApiError> {
        Ok(RawAnswer { hex: find(mempool, self.txid)?.raw.to_lower_hex_string() })
    }
}

/// The newest transactions, the newest first.
#[derive(Deserialize, JsonSchema)]
struct Recent {
    /// How many; 100 when absent, 5,000 at most.
    limit: Option<Natural>,
    /// Whether to include the raw transactions; `false` when absent.
    include_hex: Option<bool>,
}

/// The newest transactions.
#[derive(Serialize, JsonSchema)]
struct RecentAnswer {
    entries: Shown,
    /// Number of the newest frame of the stream.
    seq: u64,
}

impl Method for Recent {
    const NAME: &'static str = "mempool_recent";
    const EXAMPLE: &'static str = r#"{"limit":10}"#;
    type Surface = Arc<Mempool>;
    type Answer = Written<RecentAnswer>;

    async fn call(self, context: &RequestContext, mempool: &Arc<Mempool>) -> Result<Self::Answer, ApiError> {
        let (limit, hex) = (limit(self.limit, RECENT_DEFAULT), self.include_hex.unwrap_or(false));
        let work = move |mempool: &Mempool| {
            let (entries, seq) = mempool.read(|pool| (pool.recent(limit), pool.ring().newest()));
            Ok(RecentAnswer { entries: Shown { entries, hex }, seq })
        };
        away(context, mempool, work).await
    }
}

/// The whole set, page by page, by ascending `seq`.
///
/// Begin with cursor 0 and go on with the `cursor` of each answer until `has_more` is false; then follow the stream from the `seq`
/// of the first page.
#[derive(Deserialize, JsonSchema)]
struct Snapshot {
    /// Entries of a page; 1,000 when absent, 5,000 at most.
    limit: Option<Natural>,
    /// `cursor` of the previous page; 0 when absent.
    cursor: Option<Natural>,
    /// `instance` of the previous page, to detect a restart in between.
    instance: Option<String>,
    /// Whether to include the raw transactions; `false` when absent.
    include_hex: Option<bool>,
}

/// A page of the set.
#[derive(Serialize, JsonSchema)]
struct SnapshotAnswer {
    entries: Shown,
    /// `cursor` of the next page.
    cursor: u64,
    has_more: bool,
    /// Number of the newest frame of the stream.
    seq: u64,
    /// Of the whole set.
    count: usize,
    instance: String,
    /// Of the whole set, as in `mempool_info`.
    checksum: String,
}

const UNKNOWN_INSTANCE: ErrorCase = ErrorCase {
    code: rpc_code::INVALID_PARAMS,
    name: "UNKNOWN_INSTANCE",
    when: "The cursor is of another start of the program: begin anew with cursor 0; `data.instance` is the present one",
};

impl Method for Snapshot {
    const NAME: &'static str = "mempool_snapshot";
    const EXAMPLE: &'static str = r#"{"limit":1000,"cursor":0}"#;
    const ERRORS: &'static [ErrorCase] = &[UNKNOWN_INSTANCE];
    type Surface = Arc<Mempool>;
    type Answer = Written<SnapshotAnswer>;

    async fn call(self, context: &RequestContext, mempool: &Arc<Mempool>) -> Result<Self::Answer, ApiError> {
        if self.instance.is_some_and(|instance| instance != mempool.instance()) {
            let error = UNKNOWN_INSTANCE.error("the cursor is of another instance: begin anew with cursor 0");
            return Err(error.with("instance", mempool.instance()));
        }
        let (limit, hex) = (limit(self.limit, PAGE_DEFAULT), self.include_hex.unwrap_or(false));
        let cursor = self.cursor.map_or(0, Natural::get);
        let work = move |mempool: &Mempool| {
            let (page, summary) = mempool.read(|pool| (pool.page(cursor, limit), pool.summary()));
            Ok(SnapshotAnswer {
                entries: Shown { entries: page.entries, hex },
                cursor: page.cursor,
                has_more: page.has_more,
                seq: summary.seq,
                count: summary.count,
                instance: mempool.instance().to_owned(),
                checksum: format!("{:016x}", summary.checksum),
            })
        };
        away(context, mempool, work).await
    }
}

/// Virtual bytes by feerate.
#[derive(Deserialize, JsonSchema)]
struct FeerateHistogram {
    /// Feerates at which buckets begin, ascending, satoshis for one virtual byte; 24 from 0.1 to 1000 when absent.
    buckets: Option<BucketStarts>,
}

/// Finite numbers of at least 0 that ascend, at least one.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "List<f64, BUCKETS_MAX>")]
#[schemars(inline)]
struct BucketStarts(List<f64, BUCKETS_MAX>);

impl TryFrom<List<f64, BUCKETS_MAX>> for BucketStarts {
    type Error = &'static str;

    fn try_from(starts: List<f64, BUCKETS_MAX>) -> Result<Self, &'static str> {
        let is_finite = starts.iter().all(|start| start.is_finite() && *start >= 0.0);
        let ascends = starts.windows(2).all(|pair| pair[0] < pair[1]);
        let is_right = !starts.is_empty() && is_finite && ascends;
        is_right.then_some(Self(starts)).ok_or("must be ascending numbers of at least 0, at least one")
    }
}

/// Virtual bytes by feerate.
#[derive(Serialize, JsonSchema)]
struct FeerateHistogramAnswer {
    /// For each bucket the feerate at which it begins, and the virtual bytes in it.
    histogram: Vec<(f64, u64)>,
    /// Share of transactions whose fee is known; the others are in no bucket.
    fee_coverage: f64,
    count: usize,
}

impl Method for FeerateHistogram {
    const NAME: &'static str = "mempool_feerate_histogram";
    const EXAMPLE: &'static str = r#"{"buckets":[0,1,2,5,10,100]}"#;
    type Surface = Arc<Mempool>;
    type Answer = Written<FeerateHistogramAnswer>;

    async fn call(self, context: &RequestContext, mempool: &Arc<Mempool>) -> Result<Self::Answer, ApiError> {
        let work = move |mempool: &Mempool| {
            let (histogram, summary) = mempool.read(|pool| {
                let histogram =
                    self.buckets.as_ref().map_or_else(|| pool.default_histogram(), |starts| pool.histogram(&starts.0));
                (histogram, pool.summary())
            });
            Ok(FeerateHistogramAnswer { count: summary.count, fee_coverage: share(summary.fee_coverage()), histogram })
        };
        away(context, mempool, work).await
    }
}

/// Transactions replaced by a later one that spends the same output, the newest first; the newest 1,000 since this process started.
#[derive(Deserialize, JsonSchema)]
struct Replacements {
    /// How many; 100 when absent, 1,000 at most.
    limit: Option<Natural>,
    /// Only replacements of or by this transaction.
    txid: Option<TxidText>,
}

/// A transaction of a replacement.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SideAnswer {
    #[schemars(with = "String")]
    txid: Txid,
    vsize: u32,
    /// Satoshis; null where it was not known.
    fee: Option<u64>,
}

impl From<ReplacementSide> for SideAnswer {
    fn from(side: ReplacementSide) -> Self {
        Self { txid: side.txid, vsize: side.vsize, fee: side.fee }
    }
}

/// A replacement.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReplacementAnswer {
    /// When this process saw it, milliseconds since 1970.
    at: u64,
    replaced: SideAnswer,
    by: SideAnswer,
}

impl From<Replacement> for ReplacementAnswer {
    fn from(replacement: Replacement) -> Self {
        Self { at: replacement.at, replaced: replacement.replaced.into(), by: replacement.by.into() }
    }
}

/// The newest replacements.
#[derive(Serialize, JsonSchema)]
struct ReplacementsAnswer {
    replacements: Vec<ReplacementAnswer>,
}

impl Method for Replacements {
    const NAME: &'static str = "mempool_replacements";
    const EXAMPLE: &'static str = r#"{"limit":10}"#;
    type Surface = Arc<Mempool>;
    type Answer = Written<ReplacementsAnswer>;

    async fn call(self, context: &RequestContext, mempool: &Arc<Mempool>) -> Result<Self::Answer, ApiError> {
        let limit = limit(self.limit, RECENT_DEFAULT);
        let of = self.txid.map(|txid| txid.0);
        let work = move |mempool: &Mempool| {
            let found = mempool.read(|pool| pool.replacements(of, limit));
            Ok(ReplacementsAnswer { replacements: found.into_iter().map(Into::into).collect() })
        };
        away(context, mempool, work).await
    }
}
