use bitcoin::BlockHash;
use bitcoin::consensus::encode::serialize_hex;
use paraffin_primitives::Height;

use super::records::{BlockStatus, EsploraBlock};
use super::{Answer, Fault, Outcome, hash, json, number, read, saturating_number, transactions};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::state::RequestContext;

/// Blocks on a page of `/blocks`.
const BLOCKS_PER_PAGE: u32 = 10;
/// Transactions on a page of `/block/:hash/txs`.
const TRANSACTIONS_PER_PAGE: u32 = 25;

const NOT_FOUND: Fault = Fault::NotFound("Block not found");

pub(super) fn tip_height(context: &RequestContext) -> Outcome {
    Ok(Answer::Text(context.tip().ok_or_else(ApiError::starting)?.height.to_string()))
}

pub(super) fn tip_hash(context: &RequestContext) -> Outcome {
    Ok(Answer::Text(context.tip().ok_or_else(ApiError::starting)?.hash.to_string()))
}

/// Ten blocks from the newest, or from a height, downwards.
pub(super) async fn list(context: &RequestContext, newest: Option<&str>) -> Outcome {
    let tip = context.tip().ok_or_else(ApiError::starting)?.height;
    let newest = newest.map(|text| saturating_number(text, "height")).transpose()?.unwrap_or(tip);
    if newest > tip {
        return Err(NOT_FOUND);
    }
    let blocks = read(context, move |index| index.blocks(newest, BLOCKS_PER_PAGE)).await?;
    json(&blocks.into_iter().map(EsploraBlock::from).collect::<Vec<_>>())
}

pub(super) async fn hash_at(context: &RequestContext, height: &str) -> Outcome {
    let height = saturating_number(height, "height")?;
    let found = read(context, move |index| index.block_hash(height)).await?;
    Ok(Answer::Text(found.ok_or(NOT_FOUND)?.to_string()))
}

/// `/block/:hash` and the paths below it.
pub(super) async fn block(context: &RequestContext, block_hash: &str, below: &[&str]) -> Outcome {
    if !matches!(below, [] | ["status" | "header" | "raw" | "txids" | "txs"] | ["txid" | "txs", _]) {
        return Err(Fault::Unknown);
    }
    let block_hash: BlockHash = hash(block_hash, "block hash")?;
    if let ["status"] = below {
        let position = read(context, move |index| index.block_position(&block_hash)).await?;
        return json(&BlockStatus::from(position));
    }
    let height = read(context, move |index| index.block_height(&block_hash)).await?;
    match below {
        [] => {
            let found = read(context, move |index| index.block_by_hash(&block_hash)).await?;
            json(&EsploraBlock::from(found.ok_or(NOT_FOUND)?))
        }
        ["header"] => {
            let height = height.ok_or(NOT_FOUND)?;
            let header = read(context, move |index| index.block_header(height)).await?;
            Ok(Answer::Text(serialize_hex(&header.ok_or(NOT_FOUND)?)))
        }
        ["raw"] => {
            height.ok_or(NOT_FOUND)?;
            let raw = context.node().block(block_hash).await;
            Ok(Answer::Binary(raw.map_err(|error| crate::btc::from_node(&error))?))
        }
        ["txids"] => {
            let height = height.ok_or(NOT_FOUND)?;
            let txids = read(context, move |index| index.block_txids(height)).await?;
            json(&txids.ok_or(NOT_FOUND)?)
        }
        ["txid", index] => {
            let position = saturating_number(index, "index")?;
            let height = height.ok_or(NOT_FOUND)?;
            let txid = read(context, move |index| index.block_txid(height, position)).await?;
            Ok(Answer::Text(txid.ok_or(Fault::NotFound("tx index out of range"))?.to_string()))
        }
        ["txs"] => transactions_from(context, height.ok_or(NOT_FOUND)?, 0).await,
        ["txs", start] => {
            let start: u32 = number(start, "start index")?;
            if !start.is_multiple_of(TRANSACTIONS_PER_PAGE) {
                const TEXT: &str = "start index must be a multiple of 25";
                return Err(Fault::malformed(TEXT, TEXT));
            }
            transactions_from(context, height.ok_or(NOT_FOUND)?, start).await
        }
        _ => Err(Fault::Unknown),
    }
}

async fn transactions_from(context: &RequestContext, height: Height, start: u32) -> Outcome {
    let page = read(context, move |index| index.block_transactions(height, start, TRANSACTIONS_PER_PAGE)).await?;
    let page = page.ok_or(NOT_FOUND)?;
    if page.is_empty() {
        return Err(Fault::NotFound("start index out of range"));
    }
    json(&transactions::render(context, page).await?)
}
