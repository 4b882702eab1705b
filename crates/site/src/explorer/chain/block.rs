//! The page of a block, and lists of blocks.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::rows::{Transaction, TransactionRow};
use super::{Pairs, value};
use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Transactions of a page, as the API gives them; blocks of a list.
const PAGE_ROWS: u64 = 25;
const LIST_ROWS: u32 = 10;

/// A block in the Esplora form.
#[derive(Deserialize)]
pub(in crate::explorer) struct Block {
    pub(in crate::explorer) id: String,
    pub(in crate::explorer) height: u32,
    version: i64,
    timestamp: i64,
    pub(in crate::explorer) tx_count: u64,
    size: u64,
    weight: u64,
    #[serde(default)]
    merkle_root: String,
    #[serde(default)]
    previousblockhash: Option<String>,
    #[serde(default)]
    mediantime: i64,
    #[serde(default)]
    nonce: u64,
    #[serde(default)]
    bits: u64,
    #[serde(default)]
    difficulty: f64,
}

/// A block in a list.
pub(in crate::explorer) struct BlockRow {
    pub(in crate::explorer) height: String,
    pub(in crate::explorer) hash: String,
    pub(in crate::explorer) short_hash: String,
    pub(in crate::explorer) age: String,
    pub(in crate::explorer) moment: String,
    pub(in crate::explorer) transactions: String,
    pub(in crate::explorer) size: String,
    pub(in crate::explorer) weight: String,
}

impl BlockRow {
    pub(in crate::explorer) fn of(block: &Block, reader: &Reader) -> Self {
        Self {
            height: block.height.to_string(),
            hash: text::clean(&block.id, 64),
            short_hash: text::short(&block.id),
            age: reader.age(block.timestamp),
            moment: moment(block.timestamp.saturating_mul(1_000)),
            transactions: grouped(block.tx_count),
            size: grouped(block.size),
            weight: grouped(block.weight),
        }
    }
}

#[derive(Template)]
#[template(path = "explorer/chain/blocks.html")]
struct BlocksPage {
    view: View,
    blocks: Vec<BlockRow>,
    before: String,
    after: String,
}

/// Blocks from a height downwards.
pub(super) async fn list(Query(query): Query<Pairs>, reader: Reader) -> Result<Response, Failure> {
    let from = value(&query, "from").and_then(|from| from.parse::<u32>().ok());
    let params = from.map_or_else(|| json!([]), |from| json!([from]));
    let blocks: Vec<Block> = reader.ask(Call::rpc("esplora_blocks", params)).await?;
    let tip = reader.tip().height;
    let first = blocks.first().map(|block| block.height);
    let last = blocks.last().map(|block| block.height);
    let newer = first.zip(tip).filter(|(first, tip)| first < tip);
    Ok(Page(BlocksPage {
        before: newer
            .map(|(first, tip)| format!("/explorer/blocks?from={}", first.saturating_add(LIST_ROWS).min(tip)))
            .unwrap_or_default(),
        after: last
            .and_then(|last| last.checked_sub(1))
            .map(|from| format!("/explorer/blocks?from={from}"))
            .unwrap_or_default(),
        blocks: blocks.iter().map(|block| BlockRow::of(block, &reader)).collect(),
        view: reader.view("overview"),
    })
    .into_response())
}

#[derive(Template)]
#[template(path = "explorer/chain/block.html")]
struct BlockPage {
    view: View,
    height: String,
    hash: String,
    age: String,
    moment: String,
    facts: Vec<(&'static str, String)>,
    /// The blocks below and above; empty where there are none.
    previous: String,
    next: String,
    transactions: Vec<TransactionRow>,
    count: String,
    range: String,
    before: String,
    after: String,
}

pub(super) async fn page(
    Path(id): Path<String>,
    Query(query): Query<Pairs>,
    reader: Reader,
) -> Result<Response, Failure> {
    let hash = match id.parse::<u32>() {
        Ok(height) => reader.ask::<String>(Call::rpc("esplora_block-height", json!([height]))).await?,
        Err(_) if super::is_hash(&id) => id.to_ascii_lowercase(),
        Err(_) => {
            let sentence = "A block is named by its height, or by its hash of 64 hexadecimal digits.";
            return Err(Failure::NotThere(sentence.to_owned()));
        }
    };
    let block: Block = reader.ask(Call::rpc("esplora_block", json!([hash]))).await?;
    let page = number_of_page(value(&query, "page"), block.tx_count);
    let first = (page - 1).saturating_mul(PAGE_ROWS);
    let transactions = Call::rpc("esplora_block::txs", json!([hash, first]));
    let transactions: Vec<Transaction> = reader.ask(transactions).await?;
    let end = first.saturating_add(PAGE_ROWS).min(block.tx_count);
    let path = format!("/explorer/block/{}", block.height);
    let has_next = reader.tip().height.is_some_and(|tip| block.height < tip);
    Ok(Page(BlockPage {
        facts: facts(&block, transactions.first()),
        previous: block.height.checked_sub(1).map(|height| height.to_string()).unwrap_or_default(),
        next: if has_next { block.height.saturating_add(1).to_string() } else { String::new() },
        transactions: transactions.iter().map(|transaction| TransactionRow::of(transaction, &reader)).collect(),
        count: grouped(block.tx_count),
        range: format!("{} to {}", grouped(first.saturating_add(1)), grouped(end)),
        before: if page > 1 { format!("{path}?page={}", page - 1) } else { String::new() },
        after: if end < block.tx_count { format!("{path}?page={}", page + 1) } else { String::new() },
        height: block.height.to_string(),
        age: reader.age(block.timestamp),
        moment: moment(block.timestamp.saturating_mul(1_000)),
        hash: text::clean(&block.id, 64),
        view: reader.view("overview"),
    })
    .into_response())
}

/// The page that is wanted, counted from 1, if the block has it; else the first.
fn number_of_page(wanted: Option<&str>, transactions: u64) -> u64 {
    let pages = transactions.div_ceil(PAGE_ROWS).max(1);
    wanted.and_then(|wanted| wanted.parse().ok()).filter(|page| (1..=pages).contains(page)).unwrap_or(1)
}

fn facts(block: &Block, first: Option<&Transaction>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Transactions", grouped(block.tx_count)),
        ("Size", format!("{} bytes", grouped(block.size))),
        ("Weight", format!("{} WU", grouped(block.weight))),
    ];
    if let Some(coinbase) = first.filter(|transaction| transaction.is_coinbase()) {
        facts.push(("Reward with fees", format!("{} BTC", text::bitcoin(coinbase.paid()))));
    }
    facts.extend([
        ("Median time", moment(block.mediantime.saturating_mul(1_000))),
        ("Difficulty", text::number(block.difficulty)),
        ("Bits", format!("0x{:08x}", block.bits)),
        ("Nonce", block.nonce.to_string()),
        ("Version", format!("0x{:08x}", block.version)),
        ("Merkle root", text::clean(&block.merkle_root, 64)),
        ("Previous block", text::clean(block.previousblockhash.as_deref().unwrap_or("none"), 64)),
    ]);
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_one_that_the_block_has() {
        for (wanted, count, page) in
            [("2", 26, 2), ("2", 25, 1), ("0", 99, 1), ("-1", 99, 1), ("x", 99, 1), ("1", 0, 1)]
        {
            assert_eq!(number_of_page(Some(wanted), count), page, "{wanted} of {count}");
        }
    }
}
