//! What happened: by block, by inscription, by script.

use bitcoin::hex::DisplayHex as _;
use paraffin_ordinals_index::brc20::{LedgerError, PlacedEvent};
use paraffin_primitives::{Height, Network};
use serde_json::{Value, json};

use super::render::{event, event_bytes};
use super::{Request, absent, enveloped, failed, indexer};
use crate::errors::RestError;
use crate::interrupt::Interrupt;
use crate::rest::RestResult;
use crate::state::BoxFuture;

fn rendered(
    events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>,
    network: Network,
    interrupt: &Interrupt,
) -> Result<Vec<Value>, RestError> {
    events.map(|placed| Ok(event(&counted(placed, interrupt)?, network))).collect()
}

/// An event, counted before it is kept.
fn counted(placed: Result<PlacedEvent, LedgerError>, interrupt: &Interrupt) -> Result<PlacedEvent, RestError> {
    let placed = placed.map_err(|error| failed(&error))?;
    if interrupt.keep(event_bytes(&placed)) { Ok(placed) } else { Err(RestError::panicked()) }
}

/// Refuses a block that is not there yet.
fn check_indexed(height: Height, newest: Height) -> Result<(), RestError> {
    if height > newest { Err(absent("block not indexed yet")) } else { Ok(()) }
}

/// GET `/activity_on_block`.
pub(super) fn on_block(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (height, network) = (request.block_height()?, request.context.network());
        let walked = request.walk(move |index, newest, interrupt| {
            check_indexed(height, newest)?;
            rendered(index.events(height), network, interrupt)
        });
        let (events, _kept) = walked.await?;
        enveloped(&events)
    })
}

/// GET `/event`: both events of a transfer, the oldest first; none of an inscription that did nothing.
pub(super) fn of_inscription(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (inscription, network) = (request.inscription()?, request.context.network());
        let walked =
            request.walk(move |index, _, interrupt| rendered(index.events_of(inscription), network, interrupt));
        let (events, _kept) = walked.await?;
        enveloped(&events)
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
        let walked = request.walk(move |index, newest, interrupt| {
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
                    page(events.take_while(is_wanted), limit, interrupt)?
                }
                (None, Some(height)) => {
                    check_indexed(height, newest)?;
                    page(index.events(height).filter(of_block(ticker.as_deref(), cursor)), limit, interrupt)?
                }
                (None, None) => Page::default(),
            };
            Ok(json!({
                "events": found.events.iter().map(|placed| event(placed, network)).collect::<Vec<_>>(),
                "cursor": found.cursor,
                "block_height": newest,
            }))
        });
        let (answer, _kept) = walked.await?;
        enveloped(&answer)
    })
}

#[derive(Default)]
struct Page {
    events: Vec<PlacedEvent>,
    /// Where the next page begins; `None` at the end.
    cursor: Option<String>,
}

fn page(
    events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>,
    limit: usize,
    interrupt: &Interrupt,
) -> Result<Page, RestError> {
    let mut page = Page::default();
    for placed in events {
        if page.events.len() == limit {
            page.cursor = page.events.last().map(|last| format!("{}:{}", last.height, last.place));
            break;
        }
        page.events.push(counted(placed, interrupt)?);
    }
    Ok(page)
}

/// Whether an event of a block is of the token, if one is asked for, and after the cursor.
fn of_block(ticker: Option<&str>, cursor: Option<(Height, u32)>) -> impl Fn(&Result<PlacedEvent, LedgerError>) -> bool {
    move |placed| {
        let Ok(placed) = placed else { return true };
        let is_of_token =
            ticker.is_none_or(|ticker| placed.event.action.ticker().is_some_and(|own| own.lower() == ticker));
        is_of_token && cursor.is_none_or(|cursor| (placed.height, placed.place) > cursor)
    }
}
