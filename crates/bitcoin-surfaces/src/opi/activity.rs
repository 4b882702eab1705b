//! BRC-20 events: by block, by inscription, by script.

use bitcoin::hex::DisplayHex as _;
use paraffin_ordinals_index::brc20::{LedgerError, PlacedEvent};
use paraffin_primitives::{Height, Network};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{self, BlockHeight, Cursor, Inscription, Script, Ticker, optional_wallet};
use super::proxied::Query;
use super::render::{Event, event, event_bytes};
use super::{absent, answer, failed, indexer};
use paraffin_gateway::api_types::{AddressText, Count};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::Interrupt;
use paraffin_gateway::methods::{Hash, Object, schema};
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

const EXAMPLE_OF_BLOCK: &str = r#"{"block_height":140}"#;

fn rendered(
    events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>,
    network: Network,
    interrupt: &Interrupt,
) -> Result<Vec<Event>, ApiError> {
    events.map(|placed| Ok(event(&counted(placed, interrupt)?, network))).collect()
}

/// An event, its memory counted before it is collected.
fn counted(placed: Result<PlacedEvent, LedgerError>, interrupt: &Interrupt) -> Result<PlacedEvent, ApiError> {
    let placed = placed.map_err(|error| failed(&error))?;
    if interrupt.keep(event_bytes(&placed)) { Ok(placed) } else { Err(ApiError::panicked()) }
}

/// Refuses a block that is not indexed yet.
fn check_indexed(height: Height, newest: Height) -> Result<(), ApiError> {
    if height > newest { Err(absent("block not indexed yet")) } else { Ok(()) }
}

/// The events of a block in their order.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ActivityOnBlock {
    /// The block.
    block_height: BlockHeight,
}

impl Route for ActivityOnBlock {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/activity_on_block")];
    const EXAMPLE: &'static str = EXAMPLE_OF_BLOCK;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Vec<Event>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Vec<Event>>, ApiError> {
        let (BlockHeight(height), network) = (self.block_height, context.network());
        let mut query = Query::of("activity_on_block");
        query.put("block_height", &height.to_string());
        answer(context, &query, move |index, newest, interrupt| {
            check_indexed(height, newest)?;
            rendered(index.events(height), network, interrupt)
        })
        .await
    }
}

/// The events of an inscription, the oldest first: both of a transfer; none of an inscription without effect.
#[derive(Deserialize, JsonSchema)]
pub(super) struct EventsOf {
    /// The inscription.
    inscription_id: Inscription,
}

impl Route for EventsOf {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/event")];
    const EXAMPLE: &'static str =
        r#"{"inscription_id":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33bi0"}"#;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Vec<Event>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Vec<Event>>, ApiError> {
        let (Inscription(inscription), network) = (self.inscription_id, context.network());
        let mut query = Query::of("event");
        query.put("inscription_id", &inscription.to_string());
        answer(context, &query, move |index, _, interrupt| rendered(index.events_of(inscription), network, interrupt))
            .await
    }
}

/// Node calls of the programmable module: none, as it does not run here.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NodeResults {
    /// The block.
    block_height: BlockHeight,
}

impl Route for NodeResults {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/bitcoin_rpc_results_on_block")];
    const EXAMPLE: &'static str = EXAMPLE_OF_BLOCK;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Vec<Object>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Vec<Object>>, ApiError> {
        let BlockHeight(height) = self.block_height;
        let mut query = Query::of("bitcoin_rpc_results_on_block");
        query.put("block_height", &height.to_string());
        answer(context, &query, move |_, newest, _| check_indexed(height, newest).map(|()| Vec::new())).await
    }
}

/// The hash of a block's events, and that of all blocks so far.
#[derive(Deserialize, JsonSchema)]
pub(super) struct HashesOfActivity {
    /// The block.
    block_height: BlockHeight,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct ActivityHashes {
    #[schemars(with = "Hash")]
    cumulative_event_hash: String,
    #[schemars(with = "Hash")]
    block_event_hash: String,
    /// Of the programmable module, which does not run here.
    #[schemars(with = "NoText")]
    cumulative_trace_hash: &'static str,
    /// Of the programmable module, which does not run here.
    #[schemars(with = "NoText")]
    block_trace_hash: &'static str,
    indexer_version: String,
    block_height: Height,
}

struct NoText;

schema!(NoText, "NoText", inline { "const": "" });

impl Route for HashesOfActivity {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/get_hash_of_all_activity")];
    const EXAMPLE: &'static str = EXAMPLE_OF_BLOCK;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<ActivityHashes>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<ActivityHashes>, ApiError> {
        let BlockHeight(height) = self.block_height;
        let mut query = Query::of("get_hash_of_all_activity");
        query.put("block_height", &height.to_string());
        answer(context, &query, move |index, newest, _| {
            check_indexed(height, newest)?;
            let hashes = index.hashes(height).map_err(|error| failed(&error))?;
            let (hashes, _) = hashes.ok_or_else(|| absent("the hashes begin at a later block"))?;
            Ok(ActivityHashes {
                cumulative_event_hash: hashes.cumulative.to_lower_hex_string(),
                block_event_hash: hashes.block.to_lower_hex_string(),
                cumulative_trace_hash: "",
                block_trace_hash: "",
                indexer_version: indexer::version(),
                block_height: height,
            })
        })
        .await
    }
}

/// Events that involve a script, the newest first, or those of a block in their order.
#[derive(Deserialize, JsonSchema)]
pub(super) struct History {
    /// This or `pkscript`; where both stand they must agree.
    address: Option<AddressText>,
    /// The script.
    pkscript: Option<Script>,
    /// Only events of this block; required without `address` and `pkscript`.
    height: Option<BlockHeight>,
    /// Only events of this token.
    ticker: Option<Ticker>,
    /// 50 when absent; more than 500 is taken as 500.
    limit: Option<Count>,
    /// `cursor` of the previous page.
    cursor: Option<Cursor>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct HistoryPage {
    events: Vec<Event>,
    cursor: Option<String>,
    block_height: Height,
}

impl Route for History {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/history")];
    const EXAMPLE: &'static str = r#"{"pkscript":"51"}"#;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<HistoryPage>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<HistoryPage>, ApiError> {
        let wallet = optional_wallet(context, self.address.as_ref(), self.pkscript.as_ref())?;
        let (ticker, height) = (self.ticker.map(|ticker| ticker.0), self.height.map(|height| height.0));
        let cursor = self.cursor.map(|Cursor(height, place)| (height, place));
        if wallet.is_none() && height.is_none() {
            return Err(ApiError::missing(&["address", "pkscript", "height"]));
        }
        let (limit, network) = (ask::page(self.limit), context.network());
        let mut query = Query::of("history");
        query.put_some("ticker", ticker.clone());
        query.put_wallet(self.address, self.pkscript);
        query.put_some("height", height.map(|height| height.to_string()));
        query.put_some("cursor", cursor.map(|(height, place)| format!("{height}:{place}")));
        query.put("limit", &limit.to_string());
        answer(context, &query, move |index, newest, interrupt| {
            let page = match (&wallet, height) {
                (Some(script), height) => {
                    // Of a single block: backwards from its end to its beginning.
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
            Ok(HistoryPage {
                events: page.events.iter().map(|placed| event(placed, network)).collect(),
                cursor: page.cursor,
                block_height: newest,
            })
        })
        .await
    }
}

#[derive(Default)]
struct Page {
    events: Vec<PlacedEvent>,
    /// Cursor of the next page; `None` at the end.
    cursor: Option<String>,
}

fn page(
    events: impl Iterator<Item = Result<PlacedEvent, LedgerError>>,
    limit: usize,
    interrupt: &Interrupt,
) -> Result<Page, ApiError> {
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

/// Whether an event of a block is of the token, if one is given, and after the cursor.
fn of_block(ticker: Option<&str>, cursor: Option<(Height, u32)>) -> impl Fn(&Result<PlacedEvent, LedgerError>) -> bool {
    move |placed| {
        let Ok(placed) = placed else { return true };
        let is_of_token =
            ticker.is_none_or(|ticker| placed.event.action.ticker().is_some_and(|own| own.lower() == ticker));
        is_of_token && cursor.is_none_or(|cursor| (placed.height, placed.place) > cursor)
    }
}
