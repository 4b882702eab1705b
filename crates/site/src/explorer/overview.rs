//! The first page: the newest blocks and contract calls, with links to other pages.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::chain::{Block, BlockRow, FeeEstimates, Transaction, TransactionRow};
use super::{Reader, View, text};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped};

/// Newest blocks that are searched for contract calls, and calls that are shown.
const BLOCKS_READ: usize = 3;
const CALLS_SHOWN: usize = 6;

#[derive(Deserialize)]
struct MempoolTotals {
    count: u64,
    vsize: u64,
}

#[derive(Deserialize)]
struct Total {
    total: u64,
}

/// A number with a name and a link.
struct Figure {
    name: &'static str,
    path: &'static str,
    value: String,
    about: String,
}

#[derive(Template)]
#[template(path = "explorer/overview.html")]
struct Overview {
    view: View,
    figures: Vec<Figure>,
    calls: Vec<TransactionRow>,
    blocks: Vec<BlockRow>,
    after: String,
}

/// The first page.
pub(crate) async fn page(reader: Reader) -> Result<Response, Failure> {
    let blocks: Vec<Block> = reader.ask(Call::rpc("esplora_blocks", json!([]))).await?;
    let figures = figures(&reader).await?;
    let mut calls = Vec::new();
    for block in blocks.iter().filter(|block| block.tx_count > 1).take(BLOCKS_READ) {
        let newest = Call::rpc("esplora_block::txs", json!([block.id, 0]));
        let transactions = reader.part::<Vec<Transaction>>(newest).await?.unwrap_or_default();
        let rows = transactions.iter().map(|transaction| TransactionRow::of(transaction, &reader));
        calls.extend(rows.filter(TransactionRow::is_call));
        if calls.len() >= CALLS_SHOWN {
            break;
        }
    }
    calls.truncate(CALLS_SHOWN);
    let after = blocks.last().and_then(|block| block.height.checked_sub(1));
    Ok(Page(Overview {
        figures,
        calls,
        after: after.map(|from| format!("/explorer/blocks?from={from}")).unwrap_or_default(),
        blocks: blocks.iter().map(|block| BlockRow::of(block, &reader)).collect(),
        view: reader.view("overview"),
    })
    .into_response())
}

/// Figures of the chain; those whose call fails are left out.
async fn figures(reader: &Reader) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    if let Ok(mempool) = reader.part::<MempoolTotals>(Call::rpc("esplora_mempool", json!([]))).await? {
        let about = format!("{} vB wait", grouped(mempool.vsize));
        figures.push(Figure { name: "Mempool", path: "/explorer/mempool", value: grouped(mempool.count), about });
    }
    if let Ok(estimates) = reader.part::<FeeEstimates>(Call::rpc("esplora_fee-estimates", json!([]))).await? {
        let next = estimates.for_target(1).map_or_else(|| "—".to_owned(), text::number);
        let about = "sat/vB for the next block".to_owned();
        figures.push(Figure { name: "Fee", path: "/explorer/mempool#fees", value: next, about });
    }
    if let Ok(alkanes) = reader.part::<Total>(Call::rest("get-alkanes", &json!({ "limit": 1 }))).await? {
        let about = "tokens and contracts".to_owned();
        figures.push(Figure { name: "Alkanes", path: "/explorer/contracts", value: grouped(alkanes.total), about });
    }
    if let Ok(pools) = reader.part::<Total>(Call::rest("get-pools", &json!({ "limit": 1 }))).await? {
        let about = "with prices and charts".to_owned();
        figures.push(Figure { name: "Pools", path: "/explorer/pools", value: grouped(pools.total), about });
    }
    Ok(figures)
}
