//! What happened: by block, by inscription, by script.

use bitcoin::hex::DisplayHex as _;
use paraffin_ordinals_index::brc20::{Brc20Index, LedgerError, PlacedEvent};
use paraffin_primitives::{Height, Network};
use serde_json::{Value, json};

use super::render::event;
use super::{Request, absent, enveloped, failed, indexer};
use crate::errors::RestError;
use crate::rest::RestResult;
use crate::state::BoxFuture;

fn rendered(
    events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>,
    network: Network,
) -> Result<Vec<Value>, RestError> {
    events.map(|placed| placed.map(|placed| event(&placed, network)).map_err(|error| failed(&error))).collect()
}

/// Refuses a block that is not there yet.
fn check_indexed(height: Height, newest: Height) -> Result<(), RestError> {
    if height > newest { Err(absent("block not indexed yet")) } else { Ok(()) }
}

/// GET `/activity_on_block`.
pub(super) fn on_block(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (height, network) = (request.block_height()?, request.context.network());
        let answer = request.read(move |index, newest| {
            check_indexed(height, newest)?;
            rendered(index.events(height), network)
        });
        enveloped(&answer.await?)
    })
}

/// GET `/event`: both events of a transfer, the oldest first; none of an inscription that did nothing.
pub(super) fn of_inscription(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (inscription, network) = (request.inscription()?, request.context.network());
        let answer = request.read(move |index, _| rendered(index.events_of(inscription), network));
        enveloped(&answer.await?)
    })
}

/// GET `/bitcoin_rpc_results_on_block`: what the programmable module asked a node; nothing, for it does not run here.
pub(super) fn node_results(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let height = request.block_height()?;
        request.read(move |_, newest| check_indexed(height, newest)).await?;
        enveloped(&json!([]))
    })
}

/// GET `/get_hash_of_all_activity`. The hashes of traces are those of the programmable module, which does not run here.
pub(super) fn hashes(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let height = request.block_height()?;
        let answer = request.read(move |index, newest| {
            check_indexed(height, newest)?;
            let hashes = index.hashes(height).map_err(|error| failed(&error))?;
            let (hashes, _) = hashes.ok_or_else(|| absent("the hashes begin at a later block"))?;
            Ok(json!({
                "cumulative_event_hash": hashes.cumulative.to_lower_hex_string(),
                "block_event_hash": hashes.block.to_lower_hex_string(),
                "cumulative_trace_hash": "",
                "block_trace_hash": "",
                "indexer_version": indexer::version(),
                "block_height": height,
            }))
        });
        enveloped(&answer.await?)
    })
}

/// GET `/history`: the events in which a script had a part, the newest first, or those of a block in their order.
pub(super) fn history(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, wallet) = (request.optional_ticker()?, request.optional_wallet()?);
        let (height, cursor) = (request.optional_height("height")?, request.cursor()?);
        let (limit, network) = (request.page()?, request.context.network());
        request.check_history()?;
        let answer = request.read(move |index, newest| {
            let found = match (&wallet, height) {
                (Some(script), height) => {
                    // Of one block alone: from its end, until another begins.
                    let before = height.map_or(cursor, |height| {
                        let end = (height.saturating_add(1), 0);
                        Some(cursor.map_or(end, |cursor| cursor.min(end)))
                    });
                    let events = index.history(script, ticker.as_deref(), before);
                    let is_wanted = move |placed: &Result<PlacedEvent, LedgerError>| match (placed, height) {
                        (Ok(placed), Some(height)) => placed.height >= height,
                        _ => true,
                    };
                    page(events.take_while(is_wanted), limit)?
                }
                (None, Some(height)) => {
                    check_indexed(height, newest)?;
                    of_block(index, height, ticker.as_deref(), cursor, limit)?
                }
                (None, None) => Page::default(),
            };
            Ok(json!({
                "events": found.events.iter().map(|placed| event(placed, network)).collect::<Vec<_>>(),
                "cursor": found.cursor,
                "block_height": newest,
            }))
        });
        enveloped(&answer.await?)
    })
}

#[derive(Default)]
struct Page {
    events: Vec<PlacedEvent>,
    /// Where the next page begins; `None` at the end.
    cursor: Option<String>,
}

fn page(events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>, limit: usize) -> Result<Page, RestError> {
    let mut page = Page::default();
    for placed in events {
        if page.events.len() == limit {
            page.cursor = page.events.last().map(|last| format!("{}:{}", last.height, last.place));
            break;
        }
        page.events.push(placed.map_err(|error| failed(&error))?);
    }
    Ok(page)
}

/// The events of a block after the cursor, in their order.
fn of_block(
    index: Brc20Index<'_>,
    height: Height,
    ticker: Option<&str>,
    cursor: Option<(Height, u32)>,
    limit: usize,
) -> Result<Page, RestError> {
    let is_wanted = |placed: &Result<PlacedEvent, LedgerError>| {
        let Ok(placed) = placed else { return true };
        let is_of_token =
            ticker.is_none_or(|ticker| placed.event.action.ticker().is_some_and(|own| own.lower() == ticker));
        is_of_token && cursor.is_none_or(|cursor| (placed.height, placed.place) > cursor)
    };
    page(index.events(height).filter(is_wanted), limit)
}
