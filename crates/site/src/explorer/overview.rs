//! The first page: the newest blocks.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{Reader, View, text};
use crate::api::Call;
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

#[derive(Deserialize)]
struct Block {
    id: String,
    height: u32,
    timestamp: i64,
    tx_count: u64,
    size: u64,
}

struct Row {
    height: String,
    hash: String,
    short_hash: String,
    age: String,
    moment: String,
    transactions: String,
    size: String,
}

#[derive(Template)]
#[template(path = "explorer/overview.html")]
struct Overview {
    view: View,
    blocks: Vec<Row>,
}

/// The first page.
pub(crate) async fn page(reader: Reader) -> Result<Response, Failure> {
    let blocks: Vec<Block> = reader.ask(Call::rpc("esplora_blocks", json!([]))).await?;
    let blocks = blocks.into_iter().map(|block| Row {
        height: block.height.to_string(),
        short_hash: text::short(&block.id),
        age: reader.age(block.timestamp),
        moment: moment(block.timestamp.saturating_mul(1_000)),
        transactions: grouped(block.tx_count),
        size: grouped(block.size),
        hash: block.id,
    });
    let blocks = blocks.collect();
    Ok(Page(Overview { view: reader.view("overview"), blocks }).into_response())
}
