//! Webhooks in the gateway: their events are those of the event streams.

use std::sync::Arc;

use paraffin_events::Cursor;
use paraffin_webhooks::{BoxFuture, EventPage, EventSource, SourceError, WebhookSettings, WebhookStore, Webhooks};
use serde_json::value::RawValue;

use crate::events::{EventFeed, FeedError, FeedPage};
use crate::state::unix_millis;

/// Parts of the webhook surface.
pub struct WebhooksParts {
    /// The endpoints, beside the accounts.
    pub store: WebhookStore,
    /// Limits, and where messages may go.
    pub settings: WebhookSettings,
}

impl WebhooksParts {
    /// Webhooks with the events of an instance.
    pub(crate) fn over(self, feed: &Arc<EventFeed>) -> Arc<Webhooks> {
        let source = Arc::new(Events(Arc::clone(feed)));
        Arc::new(Webhooks::new(self.store, self.settings, source, Arc::new(unix_millis)))
    }
}

/// The events of an instance.
struct Events(Arc<EventFeed>);

impl EventSource for Events {
    fn check<'a>(&'a self, filter: &'a RawValue) -> BoxFuture<'a, Result<Box<RawValue>, String>> {
        Box::pin(async { self.0.check(filter).await.map_err(|error| error.to_string()) })
    }

    fn check_cursor(&self, cursor: &str) -> Result<String, String> {
        cursor.parse::<Cursor>().map(|cursor| cursor.to_string()).map_err(|error| error.to_string())
    }

    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(std::future::ready(self.0.tip().map_err(|error| failed(&error))))
    }

    fn before_height(&self, height: u32) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(std::future::ready(self.0.before(height).map_err(|error| failed(&error))))
    }

    fn blocks_behind(&self, cursor: &str) -> Option<u32> {
        let newest = self.0.newest()?;
        cursor.parse::<Cursor>().ok().map(|cursor| newest.saturating_sub(cursor.height))
    }

    fn after<'a>(
        &'a self,
        cursor: &'a str,
        filter: &'a RawValue,
        count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>> {
        Box::pin(async move {
            let FeedPage { events, cursor, is_at_tip } =
                self.0.after(cursor, filter, count_max).await.map_err(|error| failed(&error))?;
            Ok(EventPage { events, cursor, is_at_tip })
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.changed())
    }
}

/// Converts an error for the owner of an endpoint or the operator.
fn failed(error: &FeedError) -> SourceError {
    match error {
        FeedError::Starting | FeedError::NodeAway | FeedError::Overloaded | FeedError::Internal => {
            SourceError::Unavailable(error.to_string())
        }
        _ => SourceError::UnknownCursor(error.to_string()),
    }
}
