//! The page of a transaction: facts, contract calls with traces, inputs and outputs.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::mempool;
use super::message::{MESSAGES_SHOWN, Message, messages};
use super::rows::{Transaction, feerate};
use super::sides::{SIDE_ROWS, Side, Spend};
use super::stones::{self, Runestone};
use super::trace::Line;
use super::{Pairs, value};
use crate::api::Call;
use crate::explorer::{AskError, Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Links to the previous and next records; empty where there are none.
#[derive(Default)]
struct Pager {
    before: String,
    after: String,
    /// Such as `51 to 100 of 230`; empty where all are shown.
    range: String,
}

#[derive(Template)]
#[template(path = "explorer/chain/transaction.html")]
struct TransactionPage {
    view: View,
    txid: String,
    facts: Vec<(&'static str, String)>,
    is_confirmed: bool,
    confirmations: String,
    height: String,
    age: String,
    moment: String,
    delay: String,
    tags: Vec<String>,
    runestone: Option<Runestone>,
    messages: Vec<Message>,
    messages_pager: Pager,
    inputs: Vec<Side>,
    inputs_count: String,
    inputs_total: String,
    inputs_pager: Pager,
    outputs: Vec<Side>,
    outputs_count: String,
    outputs_total: String,
    outputs_pager: Pager,
    spends_sentence: String,
}

pub(super) async fn page(
    Path(txid): Path<String>,
    Query(shown): Query<Pairs>,
    reader: Reader,
) -> Result<Response, Failure> {
    if !super::is_hash(&txid) {
        return Err(Failure::NotThere("The id of a transaction has 64 hexadecimal digits.".to_owned()));
    }
    let txid = txid.to_ascii_lowercase();
    let transaction: Transaction = match reader.ask(Call::rpc("esplora_tx", json!([txid]))).await {
        Err(AskError::Missing(sentence)) => {
            let replaced = mempool::replacements(&reader, json!({ "txid": txid, "limit": 1 })).await?;
            let newest = replaced.ok().and_then(|replaced| replaced.into_iter().find(|one| one.replaced.txid == txid));
            return Err(Failure::NotThere(newest.map_or(sentence, |one| one.sentence(&reader))));
        }
        transaction => transaction?,
    };
    let spends = reader.part::<Vec<Spend>>(Call::rpc("esplora_tx::outspends", json!([txid]))).await?;
    let (spends, spends_sentence) = match spends {
        Ok(spends) => (spends, String::new()),
        Err(sentence) => (Vec::new(), sentence),
    };
    let is_confirmed = transaction.status.confirmed;
    let mut runestone = stones::decode(&transaction.vout);
    let protostones = runestone.as_mut().map(|stone| std::mem::take(&mut stone.protostones)).unwrap_or_default();
    let runs = protostones.iter().filter(|stone| stone.is_run).count();
    let first_message = offset(value(&shown, "message"), runs);
    let messages = messages(&txid, &protostones, first_message, is_confirmed, &reader).await?;
    if let Some(stone) = &mut runestone {
        stone.protostones = protostones;
    }
    let delay = if is_confirmed { String::new() } else { delay(&transaction, &reader).await? };

    let path = format!("/explorer/tx/{txid}");
    let first_input = offset(value(&shown, "inputs"), transaction.vin.len());
    let first_output = offset(value(&shown, "outputs"), transaction.vout.len());
    let inputs = transaction.vin.iter().enumerate().skip(first_input).take(SIDE_ROWS);
    let outputs = transaction.vout.iter().enumerate().skip(first_output).take(SIDE_ROWS);
    let spent = transaction.vin.iter().filter_map(|input| input.prevout.as_ref());
    let spent = spent.fold(0_u64, |sum, output| sum.saturating_add(output.value));
    let time = transaction.status.block_time;
    let height = transaction.status.block_height;
    Ok(Page(TransactionPage {
        facts: facts(&transaction),
        is_confirmed,
        confirmations: height.map(|height| confirmations(height, &reader)).unwrap_or_default(),
        height: height.map(|height| height.to_string()).unwrap_or_default(),
        age: time.map(|time| reader.age(time)).unwrap_or_default(),
        moment: time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
        delay,
        tags: stones::summary(&transaction.vout).tags,
        runestone,
        messages,
        messages_pager: Pager::of(&path, "message", first_message, runs, MESSAGES_SHOWN),
        inputs: inputs.map(|(index, input)| Side::input(index, input)).collect(),
        inputs_count: grouped(stones::to_i128(transaction.vin.len())),
        inputs_total: text::bitcoin(spent),
        inputs_pager: Pager::of(&path, "inputs", first_input, transaction.vin.len(), SIDE_ROWS),
        outputs: outputs.map(|(index, output)| Side::output(index, output, spends.get(index))).collect(),
        outputs_count: grouped(stones::to_i128(transaction.vout.len())),
        outputs_total: text::bitcoin(transaction.paid()),
        outputs_pager: Pager::of(&path, "outputs", first_output, transaction.vout.len(), SIDE_ROWS),
        spends_sentence,
        txid,
        view: reader.view(""),
    })
    .into_response())
}

/// The first shown record of a list: the requested one if it exists, else the first.
fn offset(wanted: Option<&str>, count: usize) -> usize {
    wanted.and_then(|wanted| wanted.parse().ok()).filter(|wanted| *wanted < count).unwrap_or(0)
}

impl Pager {
    fn of(path: &str, name: &str, first: usize, count: usize, size: usize) -> Self {
        if first == 0 && count <= size {
            return Self::default();
        }
        let link = |first: usize| format!("{path}?{name}={first}#{name}");
        let end = first.saturating_add(size).min(count);
        let number = |number: usize| grouped(stones::to_i128(number));
        Self {
            before: if first > 0 { link(first.saturating_sub(size)) } else { String::new() },
            after: if end < count { link(end) } else { String::new() },
            range: format!("{} to {} of {}", number(first + 1), number(end), number(count)),
        }
    }
}

fn confirmations(height: u32, reader: &Reader) -> String {
    let tip = reader.tip().height.unwrap_or(height);
    grouped(i64::from(tip).saturating_sub(i64::from(height)).saturating_add(1).max(1))
}

fn facts(transaction: &Transaction) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(fee) = transaction.fee.filter(|_| !transaction.is_coinbase()) {
        facts.push(("Fee", format!("{} sat", grouped(fee))));
        facts.push(("Feerate", format!("{} sat/vB", feerate(fee, transaction.weight))));
    }
    facts.push(("Size", format!("{} vB, {} bytes", grouped(transaction.vsize()), grouped(transaction.size))));
    facts.push(("Weight", format!("{} WU", grouped(transaction.weight))));
    facts.push(("Version", transaction.version.to_string()));
    facts.push(("Locktime", locktime(transaction.locktime)));
    let signals = transaction.vin.iter().any(|input| input.sequence < 0xffff_fffe);
    if !transaction.status.confirmed || signals {
        facts.push(("Replaceability", if signals { "signalled (BIP 125)" } else { "not signalled" }.to_owned()));
    }
    facts
}

/// What a locktime means (BIP 65): a height, or a time.
fn locktime(locktime: u32) -> String {
    match locktime {
        0 => "none".to_owned(),
        1..500_000_000 => format!("block {}", grouped(locktime)),
        _ => moment(i64::from(locktime).saturating_mul(1_000)),
    }
}

/// Expected confirmation time of an unconfirmed transaction.
async fn delay(transaction: &Transaction, reader: &Reader) -> Result<String, Failure> {
    let Some(fee) = transaction.fee else { return Ok(String::new()) };
    let estimates = reader.part::<Value>(Call::rpc("esplora_fee-estimates", json!([]))).await?;
    Ok(estimates.map(|estimates| blocks_until(&estimates, fee, transaction.weight)).unwrap_or_default())
}

/// The lowest target, in blocks, whose fee rate a transaction pays.
fn blocks_until(estimates: &Value, fee_sats: u64, weight: u64) -> String {
    let Some(estimates) = estimates.as_object() else { return String::new() };
    #[allow(clippy::cast_precision_loss)] // a feerate, for a comparison with estimates
    let feerate = fee_sats as f64 * 4.0 / weight.max(1) as f64;
    let targets = estimates.iter().filter_map(|(target, rate)| Some((target.parse::<u32>().ok()?, rate.as_f64()?)));
    match targets.filter(|(_, rate)| feerate >= *rate).map(|(target, _)| target).min() {
        Some(1) => "Its feerate is enough for the next block.".to_owned(),
        Some(target) => format!("Its feerate is enough for one of the next {} blocks.", grouped(target)),
        None => "Its feerate is below all estimates.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_long_lists_stay_within_them() {
        assert_eq!(
            [offset(Some("50"), 51), offset(Some("51"), 51), offset(Some("-1"), 9), offset(None, 9)],
            [50, 0, 0, 0]
        );
        assert_eq!(offset(Some(&"9".repeat(100_000)), 9), 0);
        let pager = Pager::of("/p", "inputs", 50, 230, 50);
        assert_eq!((&*pager.before, &*pager.after), ("/p?inputs=0#inputs", "/p?inputs=100#inputs"));
        assert_eq!(pager.range, "51 to 100 of 230");
        assert_eq!(Pager::of("/p", "inputs", 0, 50, 50).range, "");
        assert_eq!(Pager::of("/p", "inputs", 200, 230, 50).after, "");
    }

    #[test]
    fn locktimes_are_heights_or_times() {
        assert_eq!([locktime(0), locktime(499_999_999)], ["none".to_owned(), "block 499,999,999".to_owned()]);
        assert_eq!(locktime(1_764_255_660), "2025-11-27 15:01 UTC");
    }

    #[test]
    fn delays_are_the_least_target_that_is_paid() {
        let estimates = json!({ "1": 7.0, "4": 3.0, "144": 1.0, "x": 0.1 });
        for (fee, text) in [(7, "the next block"), (3, "next 4 blocks"), (1, "next 144 blocks"), (0, "below all")] {
            let delay = blocks_until(&estimates, fee, 4);
            assert!(delay.contains(text), "{fee}: {delay}");
        }
        assert_eq!(blocks_until(&json!([]), 1, 0), "");
    }
}
