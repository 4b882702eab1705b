use std::pin::Pin;

use serde_json::value::RawValue;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Errors of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It cannot answer at the moment. The text is for the operator's log.
    #[error("events cannot be read at the moment: {0}")]
    Unavailable(String),
    /// It cannot resume from the position. The text is for the owner of the endpoint.
    #[error("{0}")]
    UnknownCursor(String),
}

/// Events after a position.
#[derive(Debug, Default)]
pub struct EventPage {
    /// In their order.
    pub events: Vec<Box<RawValue>>,
    /// The position after the examined events.
    pub cursor: String,
    /// Whether nothing more is there at the moment.
    pub is_at_tip: bool,
}

/// A source of events. Positions and filters are opaque texts of the source.
pub trait EventSource: Send + Sync + 'static {
    /// The canonical form of a filter.
    ///
    /// # Errors
    /// A sentence for the caller.
    fn check<'a>(&'a self, filter: &'a RawValue) -> BoxFuture<'a, Result<Box<RawValue>, String>>;

    /// The canonical form of a position that a caller gave.
    ///
    /// # Errors
    /// A sentence for the caller.
    fn check_cursor(&self, cursor: &str) -> Result<String, String> {
        Ok(cursor.to_owned())
    }

    /// The position at the newest block.
    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>>;

    /// The position before the events of a block of the best chain, so that its own are the next.
    fn before_height(&self, height: u32) -> BoxFuture<'_, Result<String, SourceError>> {
        let _ = height;
        Box::pin(std::future::ready(Err(SourceError::UnknownCursor("give a cursor instead of a height".to_owned()))))
    }

    /// Blocks between a position and the newest block; `None` where that is not known.
    fn blocks_behind(&self, cursor: &str) -> Option<u32> {
        let _ = cursor;
        None
    }

    /// Events strictly after `cursor` that pass the filter, in order, at most `count_max`, and the position after the examined
    /// events. A position in a stale block gives the events that undo it first.
    fn after<'a>(
        &'a self,
        cursor: &'a str,
        filter: &'a RawValue,
        count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>>;

    /// Resolves when there may be more.
    fn changed(&self) -> BoxFuture<'_, ()>;
}
