//! Writes the book to the disk now and then, beside the work that goes on.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::journal::JournalError;
use crate::kept::{self, Place};
use crate::service::Shared;

/// See the module.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    /// The newest event in the newest book on disk.
    kept_seq: u64,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>, kept_seq: u64) -> Self {
        Self { shared, kept_seq, thread: None }
    }

    /// Whether so many events came since the book was kept that it should be kept again.
    pub(crate) fn is_due(&self, seq: u64) -> bool {
        seq - self.kept_seq >= self.shared.options.keep_every
    }

    /// Has the book written as it is after an event, unless that is still being done. `then` gets the number of the last event
    /// that no start needs any more.
    pub(crate) fn keep(&mut self, place: Place, then: impl FnOnce(u64) -> Result<(), JournalError> + Send + 'static) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        self.end();
        let (rest, orders) = self.shared.book.read().kept();
        let shared = Arc::clone(&self.shared);
        let keep = move || {
            if let Err(error) = kept::keep(shared.options.book_folder().as_ref(), place, &rest, &orders).and_then(then)
            {
                tracing::warn!(%error, "the book was not kept; the next start reads more events");
            }
        };
        match std::thread::Builder::new().name("orderbook-keeper".to_owned()).spawn(keep) {
            Ok(thread) => {
                self.thread = Some(thread);
                self.kept_seq = place.seq;
            }
            Err(error) => tracing::warn!(%error, "the book was not kept"),
        }
    }

    /// Waits for what is being written.
    pub(crate) fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the book is not kept and the next start reads more events.
            let _ = thread.join();
        }
    }

    /// Has the book written before the program ends, unless it stands on the disk already.
    pub(crate) fn keep_last(
        &mut self,
        place: Place,
        then: impl FnOnce(u64) -> Result<(), JournalError> + Send + 'static,
    ) {
        self.end();
        if place.seq > self.kept_seq {
            self.keep(place, then);
            self.end();
        }
    }
}
