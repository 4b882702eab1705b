//! The one thread that takes what comes from the stream into the book, in the stream's order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use super::follow::Fed;
use crate::event::{self, Effect};
use crate::keeper::Keeper;
use crate::kept::Place;
use crate::service::Shared;

/// Messages that are taken in together.
const TURN: usize = 128;
/// Shortest time between two warnings of messages that are no events.
const WARN_EVERY: Duration = Duration::from_secs(1);

/// How far the book is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The newest message in the book.
    pub(super) seq: u64,
    /// Whether everything was in the book that the stream held, once since the start.
    pub(super) is_caught_up: bool,
}

/// See the module.
pub(super) struct Feed {
    shared: Arc<Shared>,
    place: Place,
    progress: watch::Sender<Progress>,
    keeper: Keeper,
    warned_at: Option<Instant>,
}

impl Feed {
    pub(super) fn new(shared: Arc<Shared>, place: Place, progress: watch::Sender<Progress>) -> Self {
        let keeper = Keeper::new(Arc::clone(&shared), place.seq);
        Self { shared, place, progress, keeper, warned_at: None }
    }

    /// Takes in until every sender is gone, and keeps the book.
    pub(super) fn run(mut self, mut told: mpsc::Receiver<Fed>) {
        while let Some(first) = told.blocking_recv() {
            let mut effects = Vec::with_capacity(TURN);
            let mut is_caught_up = self.take(first, &mut effects);
            // Counted by messages: those that are no events must not hold back those that are.
            for _ in 1..TURN {
                let Ok(next) = told.try_recv() else { break };
                is_caught_up |= self.take(next, &mut effects);
            }
            self.shared.apply(effects);
            let seq = self.place.seq;
            self.progress.send_modify(|progress| {
                progress.seq = seq;
                progress.is_caught_up |= is_caught_up;
            });
            if self.keeper.is_due(seq) {
                self.keeper.keep(self.place, |_| Ok(()));
            }
        }
        self.keeper.keep_last(self.place, |_| Ok(()));
    }

    /// Adds what a message means; answers whether it was the end of what the stream held.
    fn take(&mut self, told: Fed, effects: &mut Vec<Effect>) -> bool {
        let Fed::Stored { place, payload } = told else { return true };
        self.place = place;
        let received_at = place.stored_at.unwrap_or_default() / 1_000;
        let read = std::str::from_utf8(&payload).map_err(|error| error.to_string());
        let read = read.and_then(|text| {
            event::effect(text, &self.shared.options.tables, received_at).map_err(|error| error.to_string())
        });
        match read {
            Ok(effect) => effects.push(effect),
            Err(reason) => self.skip(place.seq, &reason),
        }
        false
    }

    /// A client that may write to the subject may write anything; none of it stops the book.
    fn skip(&mut self, seq: u64, reason: &str) {
        let skipped = self.shared.counters.skipped.fetch_add(1, Ordering::Relaxed) + 1;
        if self.warned_at.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            self.warned_at = Some(Instant::now());
            tracing::warn!(seq, reason, skipped, "a message of the orderbook's stream is no change event: skipped");
        }
    }
}
