//! Webhooks in the gateway: where their events come from.

use std::sync::Arc;
use std::time::Duration;

use bitcoin::BlockHash;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::{Snapshot, StoreError};
use paraffin_webhooks::{BoxFuture, EventPage, EventSource, SourceError, WebhookSettings, WebhookStore, Webhooks};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::state::{ChainState, unix_millis};

/// How often it is looked for another newest block.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What webhooks are served from.
pub struct WebhooksParts {
    /// The endpoints, beside the accounts.
    pub store: WebhookStore,
    /// Limits, and where messages may go.
    pub settings: WebhookSettings,
    /// Where events come from; without it they are the blocks of the index that come and leave.
    pub source: Option<Arc<dyn EventSource>>,
}

impl WebhooksParts {
    /// Webhooks of an instance that serves this chain.
    pub(crate) fn over(self, chain: &Arc<dyn ChainState>) -> Arc<Webhooks> {
        let source = self.source.unwrap_or_else(|| Arc::new(Blocks::of(chain)));
        Arc::new(Webhooks::new(self.store, self.settings, source, Arc::new(unix_millis)))
    }
}

/// Blocks that come and leave. A position is `<height>-<hash>`, that of the block which was given last.
struct Blocks {
    chain: Arc<dyn ChainState>,
    seen: Mutex<Option<BlockHash>>,
}

/// What an endpoint wants of them: everything, or some kinds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filter {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kinds: Option<Vec<Kind>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    BlockConnected,
    BlockDisconnected,
}

#[derive(Serialize)]
struct Event {
    kind: Kind,
    cursor: String,
    height: Height,
    block_hash: BlockHash,
}

impl Filter {
    fn passes(&self, kind: Kind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }
}

impl Blocks {
    fn of(chain: &Arc<dyn ChainState>) -> Self {
        Self { chain: Arc::clone(chain), seen: Mutex::default() }
    }
}

fn cursor_of(id: BlockId) -> String {
    format!("{}-{}", id.height, id.hash)
}

fn parse_cursor(cursor: &str) -> Result<BlockId, SourceError> {
    let parsed = cursor
        .split_once('-')
        .and_then(|(height, hash)| Some(BlockId { height: height.parse().ok()?, hash: hash.parse().ok()? }));
    parsed.ok_or_else(|| SourceError::UnknownCursor("a cursor is <height>-<hash of a block>".to_owned()))
}

fn failed(error: &StoreError) -> SourceError {
    SourceError::Unavailable(error.to_string())
}

impl EventSource for Blocks {
    fn check(&self, filter: &RawValue) -> Result<Box<RawValue>, String> {
        let mut filter: Filter = serde_json::from_str(filter.get()).map_err(|error| format!("filter: {error}"))?;
        if let Some(kinds) = &mut filter.kinds {
            kinds.sort_unstable();
            kinds.dedup();
        }
        to_raw_value(&filter).map_err(|error| format!("filter: {error}"))
    }

    fn check_cursor(&self, cursor: &str) -> Result<String, String> {
        parse_cursor(cursor).map(cursor_of).map_err(|error| error.to_string())
    }

    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(async {
            let tip = self.chain.snapshot().tip().map(|record| record.id);
            tip.map(cursor_of).ok_or_else(|| SourceError::Unavailable("nothing is indexed yet".to_owned()))
        })
    }

    fn before_height(&self, height: u32) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(async move {
            let unknown = || SourceError::UnknownCursor(format!("there is no block before height {height}"));
            let before = height.checked_sub(1).ok_or_else(unknown)?;
            let record = self.chain.snapshot().block(before).map_err(|error| failed(&error))?;
            record.map(|record| cursor_of(record.id)).ok_or_else(unknown)
        })
    }

    fn after<'a>(
        &'a self,
        cursor: &'a str,
        filter: &'a RawValue,
        count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>> {
        Box::pin(async move {
            let position = parse_cursor(cursor)?;
            let filter: Filter =
                serde_json::from_str(filter.get()).map_err(|error| SourceError::UnknownCursor(error.to_string()))?;
            let snapshot = self.chain.snapshot();
            let read = tokio::task::spawn_blocking(move || page(&snapshot, position, &filter, count_max)).await;
            read.unwrap_or_else(|_| Err(SourceError::Unavailable("the read was given up".to_owned())))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut every = tokio::time::interval(LOOK_EVERY);
            loop {
                every.tick().await;
                let newest = self.chain.snapshot().tip().map(|record| record.id.hash);
                let mut seen = self.seen.lock();
                if newest != *seen {
                    *seen = newest;
                    return;
                }
            }
        })
    }
}

/// Looks at so many blocks after a position; first at those that have left.
fn page(snapshot: &Snapshot, from: BlockId, filter: &Filter, count_max: usize) -> Result<EventPage, SourceError> {
    let mut page = EventPage::default();
    let mut position = from;
    for _ in 0..count_max {
        let at_height = snapshot.block(position.height).map_err(|error| failed(&error))?;
        let (kind, id, after) = if at_height.is_some_and(|record| record.id == position) {
            let next = position.height.checked_add(1).map(|height| snapshot.block(height));
            let Some(next) = next.transpose().map_err(|error| failed(&error))?.flatten() else { break };
            (Kind::BlockConnected, next.id, next.id)
        } else {
            (Kind::BlockDisconnected, position, parent_of_undone(snapshot, position)?)
        };
        position = after;
        if filter.passes(kind) {
            let event = Event { kind, cursor: cursor_of(after), height: id.height, block_hash: id.hash };
            page.events.push(to_raw_value(&event).map_err(|error| SourceError::Unavailable(error.to_string()))?);
        }
    }
    page.is_at_tip = snapshot.tip().is_some_and(|record| record.id == position);
    page.cursor = cursor_of(position);
    Ok(page)
}

fn parent_of_undone(snapshot: &Snapshot, block: BlockId) -> Result<BlockId, SourceError> {
    let undone = snapshot.undone_blocks(usize::MAX).map_err(|error| failed(&error))?;
    let found = undone.into_iter().find(|undone| undone.id == block);
    let unknown = || SourceError::UnknownCursor(format!("block {} is not known here: go on from a height", block.hash));
    let parent = found.ok_or_else(unknown)?.previous;
    let height = block.height.checked_sub(1).ok_or_else(unknown)?;
    Ok(BlockId { height, hash: parent })
}
