//! The one thread that applies messages of the stream to the book, in the stream's order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use super::follow::StreamItem;
use crate::book_file::StreamPosition;
use crate::book_writer::BookWriter;
use crate::event::{self, Effect};
use crate::service::Shared;

/// Messages that are applied together.
const TURN: usize = 128;
/// Shortest time between two warnings of messages that are no events.
const WARN_EVERY: Duration = Duration::from_secs(1);

/// How far the book follows the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The newest message in the book.
    pub(super) seq: u64,
    /// Whether the book has reached the end of the stream once since the start.
    pub(super) is_caught_up: bool,
}

/// The thread that applies messages of the stream to the book.
pub(super) struct Feed {
    shared: Arc<Shared>,
    position: StreamPosition,
    progress: watch::Sender<Progress>,
    saver: BookWriter,
    warned_at: Option<Instant>,
}

impl Feed {
    pub(super) fn new(shared: Arc<Shared>, position: StreamPosition, progress: watch::Sender<Progress>) -> Self {
        let saver = BookWriter::new(Arc::clone(&shared), position.seq);
        Self { shared, position, progress, saver, warned_at: None }
    }

    /// Applies messages until every sender is gone, then saves the book.
    pub(super) fn run(mut self, mut items: mpsc::Receiver<StreamItem>) {
        while let Some(first) = items.blocking_recv() {
            let mut effects = Vec::with_capacity(TURN);
            let mut is_caught_up = self.take(first, &mut effects);
            // Counted by messages: those that are no events must not hold back those that are.
            for _ in 1..TURN {
                let Ok(next) = items.try_recv() else { break };
                is_caught_up |= self.take(next, &mut effects);
            }
            self.shared.apply(effects);
            let seq = self.position.seq;
            self.progress.send_modify(|progress| {
                progress.seq = seq;
                progress.is_caught_up |= is_caught_up;
            });
            if self.saver.is_due(seq) {
                self.saver.save(self.position, |_| Ok(()));
            }
        }
        self.saver.save_last(self.position, |_| Ok(()));
    }

    /// Adds the effect of a message; returns whether the end of the stream is reached.
    fn take(&mut self, item: StreamItem, effects: &mut Vec<Effect>) -> bool {
        let StreamItem::Stored { position, payload } = item else { return true };
        self.position = position;
        let received_at = position.stored_at.unwrap_or_default() / 1_000;
        let read = std::str::from_utf8(&payload).map_err(|error| error.to_string());
        let read = read.and_then(|text| {
            event::effect(text, &self.shared.options.tables, received_at).map_err(|error| error.to_string())
        });
        match read {
            Ok(effect) => effects.push(effect),
            Err(reason) => self.skip(position.seq, &reason),
        }
        false
    }

    /// Clients with access to the subject can publish anything; invalid messages are counted and skipped.
    fn skip(&mut self, seq: u64, reason: &str) {
        let skipped = self.shared.counters.skipped.fetch_add(1, Ordering::Relaxed) + 1;
        if self.warned_at.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            self.warned_at = Some(Instant::now());
            tracing::warn!(seq, reason, skipped, "a message of the orderbook's stream is no change event: skipped");
        }
    }
}
