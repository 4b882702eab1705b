//! The page of the mempool: a histogram of fee rates, fee estimates, and the newest transactions.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::histogram::{Bar, svg};
use super::rows::feerate;
use crate::api::Call;
use crate::explorer::reader::Part;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Reload interval of the page, seconds.
const REFRESH_SECONDS: u32 = 5;
/// Lower bounds of the histogram's bars, satoshis per virtual byte.
const BUCKETS: [f64; 16] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0, 500.0];
/// Targets of fee estimates, blocks.
const TARGETS: [u32; 7] = [1, 3, 6, 12, 24, 144, 1_008];
/// Virtual bytes of a payment from one output to two, all with taproot.
const PAYMENT_VBYTES: f64 = 154.0;
/// Newest replacements of the page.
const REPLACEMENTS: usize = 20;
/// Newest transactions of the page.
const NEWEST: usize = 30;

/// Feerates by targets in blocks.
#[derive(Deserialize)]
pub(in crate::explorer) struct FeeEstimates(serde_json::Map<String, Value>);

impl FeeEstimates {
    /// Satoshis per virtual byte for a confirmation within `blocks`.
    pub(in crate::explorer) fn for_target(&self, blocks: u32) -> Option<f64> {
        self.0.get(&blocks.to_string())?.as_f64()
    }
}

#[derive(Deserialize)]
struct Totals {
    count: u64,
    vsize: u64,
    total_fee: u64,
    #[serde(default)]
    fee_histogram: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct NodeMempool {
    #[serde(default)]
    usage: u64,
    #[serde(default)]
    maxmempool: u64,
    /// Bitcoin for a thousand virtual bytes.
    #[serde(default)]
    mempoolminfee: f64,
    #[serde(default)]
    fullrbf: bool,
}

#[derive(Deserialize)]
struct Histogram {
    histogram: Vec<(f64, f64)>,
}

#[derive(Deserialize)]
struct Info {
    added_total: u64,
    removed_total: u64,
}

#[derive(Deserialize)]
struct Newest {
    entries: Vec<Entry>,
}

/// An unconfirmed transaction, of the mempool's surface or of Esplora's.
#[derive(Deserialize)]
struct Entry {
    txid: String,
    vsize: u64,
    #[serde(default)]
    fee: Option<u64>,
    /// Milliseconds.
    #[serde(default)]
    first_seen: Option<i64>,
    #[serde(default)]
    rbf: Option<bool>,
}

#[derive(Deserialize)]
struct Replacements {
    replacements: Vec<Replacement>,
}

/// The replacement of a transaction.
#[derive(Deserialize)]
pub(super) struct Replacement {
    /// Milliseconds.
    at: i64,
    pub(super) replaced: ReplacementSide,
    by: ReplacementSide,
}

/// The replaced or the replacing transaction.
#[derive(Deserialize)]
pub(super) struct ReplacementSide {
    pub(super) txid: String,
    vsize: u64,
    fee: Option<u64>,
}

/// The newest replacements, or those that the parameters name; only for signed-in users.
pub(super) async fn replacements(reader: &Reader, params: Value) -> Result<Part<Vec<Replacement>>, Failure> {
    let call = Call::keyed_rpc("mempool", "mempool_replacements", params);
    Ok(reader.part::<Replacements>(call).await?.map(|answer| answer.replacements))
}

impl ReplacementSide {
    fn feerate(&self) -> String {
        self.fee.map_or_else(|| "—".to_owned(), |fee| feerate(fee, self.vsize.saturating_mul(4)))
    }
}

impl Replacement {
    /// A sentence about the replaced transaction.
    pub(super) fn sentence(&self, reader: &Reader) -> String {
        let (by, age) = (text::clean(&self.by.txid, 64), reader.age(self.at.div_euclid(1_000)));
        format!("This transaction was replaced {age} by {by}, which pays {} sat/vB.", self.by.feerate())
    }
}

struct ReplacementRow {
    age: String,
    moment: String,
    /// Id and fee rate of the replaced and of the replacing transaction.
    replaced: (String, String, String),
    by: (String, String, String),
}

impl ReplacementRow {
    fn of(replacement: &Replacement, reader: &Reader) -> Self {
        let side = |side: &ReplacementSide| (text::clean(&side.txid, 64), text::short(&side.txid), side.feerate());
        Self {
            age: reader.age(replacement.at.div_euclid(1_000)),
            moment: moment(replacement.at),
            replaced: side(&replacement.replaced),
            by: side(&replacement.by),
        }
    }
}

struct Row {
    txid: String,
    short_txid: String,
    feerate: String,
    fee: String,
    vsize: String,
    age: String,
    moment: String,
    tags: Vec<&'static str>,
}

/// A fee for a confirmation target.
struct Offer {
    within: String,
    time: String,
    feerate: String,
    payment: String,
}

#[derive(Template)]
#[template(path = "explorer/chain/mempool.html")]
struct MempoolPage {
    view: View,
    facts: Vec<(&'static str, String)>,
    /// The chart, which is made of numbers alone.
    chart: String,
    chart_rows: Vec<(String, String)>,
    offers: Vec<Offer>,
    offers_sentence: String,
    replacements: Vec<String>,
    replaced: Vec<ReplacementRow>,
    newest: Vec<Row>,
    newest_sentence: String,
    /// Whether their arrival times are known.
    has_details: bool,
}

pub(super) async fn page(reader: Reader) -> Result<Response, Failure> {
    let totals: Totals = reader.ask(Call::rpc("esplora_mempool", json!([]))).await?;
    let node = reader.part::<NodeMempool>(Call::rpc("btc_getmempoolinfo", json!([]))).await?;
    let estimates = reader.part::<FeeEstimates>(Call::rpc("esplora_fee-estimates", json!([]))).await?;
    let mut replacements = vec![match &node {
        Ok(node) if node.fullrbf => {
            "The node relays replacements of every transaction that pays more (full RBF).".to_owned()
        }
        Ok(_) => "The node relays replacements of transactions that signal it (BIP 125).".to_owned(),
        Err(sentence) => sentence.clone(),
    }];
    let mut replaced = Vec::new();
    let bars;
    let newest;
    if reader.is_signed_in() {
        let buckets = json!({ "buckets": BUCKETS });
        let histogram =
            reader.part::<Histogram>(Call::keyed_rpc("mempool", "mempool_feerate_histogram", buckets)).await?;
        bars = histogram.map(|histogram| Bar::of_buckets(&histogram.histogram));
        let params = json!({ "limit": NEWEST });
        let entries = reader.part::<Newest>(Call::keyed_rpc("mempool", "mempool_recent", params)).await?;
        newest = entries.map(|newest| newest.entries);
        match reader.part::<Info>(Call::keyed_rpc("mempool", "mempool_info", json!({}))).await? {
            Ok(info) => replacements.push(format!(
                "Since the instance started {} transactions came and {} left: mined, replaced or evicted.",
                grouped(info.added_total),
                grouped(info.removed_total)
            )),
            Err(sentence) => replacements.push(sentence),
        }
        if let Ok(entries) = &newest {
            let signalling = entries.iter().filter(|entry| entry.rbf == Some(true)).count();
            replacements
                .push(format!("{signalling} of the newest {} signal that they may be replaced.", entries.len()));
        }
        if let Ok(newest) = self::replacements(&reader, json!({ "limit": REPLACEMENTS })).await? {
            replaced = newest.iter().map(|one| ReplacementRow::of(one, &reader)).collect();
            if replaced.is_empty() {
                replacements.push("None was replaced since the instance started.".to_owned());
            }
        }
    } else {
        bars = Ok(Bar::of_buckets(&regrouped(&totals.fee_histogram)));
        newest = reader.part::<Vec<Entry>>(Call::rpc("esplora_mempool:recent", json!([]))).await?;
        replacements.push("Sign in to see how many transactions came and left, and which were replaced.".to_owned());
    }
    // Without the mempool surface, the public Esplora data is shown.
    let bars = bars.unwrap_or_else(|_: String| Bar::of_buckets(&regrouped(&totals.fee_histogram)));
    let (newest, newest_sentence) = match newest {
        Ok(entries) => (entries.iter().take(NEWEST).map(|entry| Row::of(entry, &reader)).collect(), String::new()),
        Err(sentence) => (Vec::new(), sentence),
    };
    let (offers, offers_sentence) = match estimates {
        Ok(estimates) => (offers(&estimates), String::new()),
        Err(sentence) => (Vec::new(), sentence),
    };
    Ok(Page(MempoolPage {
        facts: facts(&totals, node.ok().as_ref()),
        chart: svg(&bars),
        chart_rows: bars.iter().map(|bar| (bar.range.clone(), bar.amount.clone())).collect(),
        offers,
        offers_sentence,
        replacements,
        replaced,
        newest,
        newest_sentence,
        has_details: reader.is_signed_in(),
        view: reader.view("mempool").refreshing(REFRESH_SECONDS),
    })
    .into_response())
}

/// A histogram of any feerates in the buckets of the chart.
fn regrouped(histogram: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut buckets: Vec<(f64, f64)> = BUCKETS.iter().map(|lower| (*lower, 0.0)).collect();
    for (rate, vbytes) in histogram {
        if let Some(bucket) = buckets.iter_mut().rev().find(|(lower, _)| rate >= lower) {
            bucket.1 += vbytes.max(0.0);
        }
    }
    buckets
}

fn facts(totals: &Totals, node: Option<&NodeMempool>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Transactions", grouped(totals.count)),
        ("Size", format!("{} vB", grouped(totals.vsize))),
        ("Fees", format!("{} BTC", text::bitcoin(totals.total_fee))),
        ("Mean feerate", format!("{} sat/vB", feerate(totals.total_fee, totals.vsize.saturating_mul(4)))),
    ];
    if let Some(node) = node {
        facts.push(("Least feerate", format!("{} sat/vB", text::number(node.mempoolminfee * 100_000.0))));
        facts.push(("Memory", format!("{} of {} bytes", grouped(node.usage), grouped(node.maxmempool))));
    }
    facts
}

fn offers(estimates: &FeeEstimates) -> Vec<Offer> {
    let rows = TARGETS.iter().filter_map(|target| Some((*target, estimates.for_target(*target)?)));
    rows.map(|(target, rate)| Offer {
        within: if target == 1 { "next block".to_owned() } else { format!("{} blocks", grouped(target)) },
        time: match target {
            0..6 => format!("about {} minutes", target * 10),
            6 => "about 1 hour".to_owned(),
            7..144 => format!("about {} hours", target / 6),
            144 => "about 1 day".to_owned(),
            _ => format!("about {} days", target / 144),
        },
        feerate: text::number(rate),
        payment: text::number((rate * PAYMENT_VBYTES).ceil()),
    })
    .collect()
}

impl Row {
    fn of(entry: &Entry, reader: &Reader) -> Self {
        let is_hash = super::is_hash(&entry.txid);
        Self {
            txid: if is_hash { entry.txid.clone() } else { String::new() },
            short_txid: text::short(&entry.txid),
            feerate: entry.fee.map_or_else(|| "—".to_owned(), |fee| feerate(fee, entry.vsize.saturating_mul(4))),
            fee: entry.fee.map_or_else(|| "—".to_owned(), grouped),
            vsize: grouped(entry.vsize),
            age: entry.first_seen.map(|at| reader.age(at.div_euclid(1_000))).unwrap_or_default(),
            moment: entry.first_seen.map(moment).unwrap_or_default(),
            tags: if entry.rbf == Some(true) { vec!["replaceable"] } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feerates_fall_into_buckets() {
        let buckets =
            regrouped(&[(0.5, 10.0), (1.0, 20.0), (1.9, 5.0), (1e9, 7.0), (-1.0, 9.0), (f64::NAN, 9.0), (3.5, -4.0)]);
        let of = |lower: f64| text::number(buckets.iter().find(|bucket| bucket.0 >= lower).unwrap().1);
        assert_eq!([of(0.0), of(1.0), of(2.0), of(3.0), of(500.0)], ["10", "25", "0", "0", "7"]);
    }

    #[test]
    fn offers_have_the_time_of_their_blocks() {
        let estimates: FeeEstimates =
            serde_json::from_value(json!({ "1": 7.077, "6": 3.0, "144": 1e300, "1008": "x" })).unwrap();
        let offers = offers(&estimates);
        let texts: Vec<_> = offers.iter().map(|offer| (&*offer.within, &*offer.time, &*offer.payment)).collect();
        assert_eq!(texts[0], ("next block", "about 10 minutes", "1,090"));
        assert_eq!(texts[1], ("6 blocks", "about 1 hour", "462"));
        assert_eq!((texts.len(), texts[2].1), (3, "about 1 day"));
    }
}
