//! Paraffin JSON-RPC: mempool.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Figures of the whole set.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolInfo {}

impl MempoolInfo {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for MempoolInfo {
    const NAME: &'static str = "mempool_info";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = InfoAnswer;
}

/// Ids of transactions, in no order.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolTxids {
    /// How many at most; 5,000 when absent and at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl MempoolTxids {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None }
    }
}

impl Method for MempoolTxids {
    const NAME: &'static str = "mempool_txids";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["limit"];
    type Answer = TxidsAnswer;
}

/// One transaction.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MempoolEntry {
    /// Its id.
    pub txid: String,
    /// Whether to include the raw transaction; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hex: Option<bool>,
}

impl MempoolEntry {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<String>) -> Self {
        Self { txid: txid.into(), include_hex: None }
    }
}

impl Method for MempoolEntry {
    const NAME: &'static str = "mempool_entry";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["txid", "include_hex"];
    type Answer = MempoolEntryAnswer;
}

/// Several transactions, in the order of their first mention, without duplicates.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MempoolEntries {
    /// Their ids.
    pub txids: Vec<String>,
    /// Whether to include the raw transactions; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hex: Option<bool>,
}

impl MempoolEntries {
    /// With what must be given.
    #[must_use]
    pub fn new(txids: Vec<String>) -> Self {
        Self { txids, include_hex: None }
    }
}

impl Method for MempoolEntries {
    const NAME: &'static str = "mempool_entries";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["txids", "include_hex"];
    type Answer = EntriesAnswer;
}

/// The bytes of a transaction.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MempoolRaw {
    /// Its id.
    pub txid: String,
}

impl MempoolRaw {
    /// With what must be given.
    #[must_use]
    pub fn new(txid: impl Into<String>) -> Self {
        Self { txid: txid.into() }
    }
}

impl Method for MempoolRaw {
    const NAME: &'static str = "mempool_raw";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["txid"];
    type Answer = RawAnswer;
}

/// The newest transactions, the newest first.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolRecent {
    /// How many; 100 when absent, 5,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Whether to include the raw transactions; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hex: Option<bool>,
}

impl MempoolRecent {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, include_hex: None }
    }
}

impl Method for MempoolRecent {
    const NAME: &'static str = "mempool_recent";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["limit", "include_hex"];
    type Answer = RecentAnswer;
}

/// The whole set, page by page, by ascending `seq`.
///
/// Begin with cursor 0 and go on with the `cursor` of each answer until `has_more` is false; then follow the stream from the `seq`
/// of the first page.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolSnapshot {
    /// Entries of a page; 1,000 when absent, 5,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// `cursor` of the previous page; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// `instance` of the previous page, to detect a restart in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Whether to include the raw transactions; `false` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_hex: Option<bool>,
}

impl MempoolSnapshot {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, cursor: None, instance: None, include_hex: None }
    }
}

impl Method for MempoolSnapshot {
    const NAME: &'static str = "mempool_snapshot";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["limit", "cursor", "instance", "include_hex"];
    type Answer = SnapshotAnswer;
}

/// Virtual bytes by feerate.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolFeerateHistogram {
    /// Feerates at which buckets begin, ascending, satoshis for one virtual byte; 24 from 0.1 to 1000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Vec<serde_json::Number>>,
}

impl MempoolFeerateHistogram {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { buckets: None }
    }
}

impl Method for MempoolFeerateHistogram {
    const NAME: &'static str = "mempool_feerate_histogram";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["buckets"];
    type Answer = FeerateHistogramAnswer;
}

/// Transactions replaced by a later one that spends the same output, the newest first; the newest 1,000 since this process started.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MempoolReplacements {
    /// How many; 100 when absent, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Only replacements of or by this transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txid: Option<String>,
}

impl MempoolReplacements {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: None, txid: None }
    }
}

impl Method for MempoolReplacements {
    const NAME: &'static str = "mempool_replacements";
    const SURFACE: &'static str = "mempool";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["limit", "txid"];
    type Answer = ReplacementsAnswer;
}

/// The entries that are in the set, and the ids of the others.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EntriesAnswer {
    /// Entries as serialised into an answer, without intermediate JSON values: a page holds thousands.
    pub entries: Vec<MempoolEntryRecord>,
    /// `missing`.
    pub missing: Vec<String>,
}

/// Virtual bytes by feerate.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FeerateHistogramAnswer {
    /// `count`.
    pub count: u64,
    /// Share of transactions whose fee is known; the others are in no bucket.
    pub fee_coverage: serde_json::Number,
    /// For each bucket the feerate at which it begins, and the virtual bytes in it.
    pub histogram: Vec<(serde_json::Number, u64,)>,
}

/// Figures of the whole set.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct InfoAnswer {
    /// Since this process started.
    pub added_total: u64,
    /// Bytes of raw transactions.
    pub bytes: u64,
    /// Of all ids, 16 hexadecimal digits; equal sets have equal checksums.
    pub checksum: String,
    /// `count`.
    pub count: u64,
    /// Share of transactions whose fee is known, four decimal places.
    pub fee_coverage: serde_json::Number,
    /// Number of transactions whose fee is known.
    pub fee_known: u64,
    /// Id of this process: it changes with a restart, which streams and pages can detect by it.
    pub instance: String,
    /// Number of the oldest frame that can be replayed.
    pub oldest_seq: u64,
    /// Number of transactions that an admin submitted and no peer has announced.
    pub provisional: u64,
    /// `removed_total`.
    pub removed_total: u64,
    /// Number of the newest frame.
    pub seq: u64,
    /// Open streams.
    pub subscribers: u64,
    /// Sum of the known fees, satoshis.
    pub total_fee: u64,
    /// `vbytes`.
    pub vbytes: u64,
}

/// The requested entry.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MempoolEntryAnswer {
    /// Satoshis; absent while an input is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<u64>,
    /// Satoshis for one virtual byte; absent while the fee is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feerate: Option<serde_json::Number>,
    /// When this instance saw it first, milliseconds since 1970.
    pub first_seen: u64,
    /// Consensus encoding in hexadecimal digits, where it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// `origin`.
    pub origin: Origin,
    /// Whether an admin submitted it and no peer has announced it.
    pub provisional: bool,
    /// Whether it, or an unconfirmed ancestor, signals replaceability (BIP125).
    pub rbf: bool,
    /// Number of the frame of the stream that added it.
    pub seq: u64,
    /// `txid`.
    pub txid: String,
    /// Virtual bytes.
    pub vsize: u32,
    /// Weight units.
    pub weight: u32,
    /// `wtxid`.
    pub wtxid: String,
}

/// An unconfirmed transaction as answers and the stream show it (docs/mempool.md).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MempoolEntryRecord {
    /// Satoshis; absent while an input is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<u64>,
    /// Satoshis for one virtual byte; absent while the fee is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feerate: Option<serde_json::Number>,
    /// When this instance saw it first, milliseconds since 1970.
    pub first_seen: u64,
    /// Consensus encoding in hexadecimal digits, where it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// `origin`.
    pub origin: Origin,
    /// Whether an admin submitted it and no peer has announced it.
    pub provisional: bool,
    /// Whether it, or an unconfirmed ancestor, signals replaceability (BIP125).
    pub rbf: bool,
    /// Number of the frame of the stream that added it.
    pub seq: u64,
    /// `txid`.
    pub txid: String,
    /// Virtual bytes.
    pub vsize: u32,
    /// Weight units.
    pub weight: u32,
    /// `wtxid`.
    pub wtxid: String,
}

/// Where a transaction was seen first. It moves from edge to p2p, never back.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[derive(Eq)]
pub enum Origin {
    /// `p2p`.
    #[serde(rename = "p2p")]
    P2p,
    /// `edge`.
    #[serde(rename = "edge")]
    Edge,
    /// What a later version answers.
    #[serde(untagged)]
    Other(String),
}

/// The bytes of a transaction.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RawAnswer {
    /// Consensus encoding in hexadecimal digits.
    pub hex: String,
}

/// The newest transactions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RecentAnswer {
    /// Entries as serialised into an answer, without intermediate JSON values: a page holds thousands.
    pub entries: Vec<MempoolEntryRecord>,
    /// Number of the newest frame of the stream.
    pub seq: u64,
}

/// The newest replacements.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReplacementsAnswer {
    /// `replacements`.
    pub replacements: Vec<ReplacementsAnswerReplacementsItem>,
}

/// A replacement.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReplacementsAnswerReplacementsItem {
    /// When this process saw it, milliseconds since 1970.
    pub at: u64,
    /// A transaction of a replacement.
    pub by: ReplacementsAnswerReplacementsItemBy,
    /// A transaction of a replacement.
    pub replaced: ReplacementsAnswerReplacementsItemBy,
}

/// A transaction of a replacement.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ReplacementsAnswerReplacementsItemBy {
    /// Satoshis; null where it was not known.
    #[serde(default)]
    pub fee: Option<u64>,
    /// `txid`.
    pub txid: String,
    /// `vsize`.
    pub vsize: u32,
}

/// A page of the set.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SnapshotAnswer {
    /// Of the whole set, as in `mempool_info`.
    pub checksum: String,
    /// Of the whole set.
    pub count: u64,
    /// `cursor` of the next page.
    pub cursor: u64,
    /// Entries as serialised into an answer, without intermediate JSON values: a page holds thousands.
    pub entries: Vec<MempoolEntryRecord>,
    /// `has_more`.
    pub has_more: bool,
    /// `instance`.
    pub instance: String,
    /// Number of the newest frame of the stream.
    pub seq: u64,
}

/// Ids, with the size of the set.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TxidsAnswer {
    /// Of the whole set.
    pub count: u64,
    /// Number of the newest frame of the stream.
    pub seq: u64,
    /// `txids`.
    pub txids: Vec<String>,
}
