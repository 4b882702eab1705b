//! Writes the book to the disk from time to time, on a thread of its own.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::book_file::{self, StreamPosition};
use crate::journal::JournalError;
use crate::service::Shared;

/// Saves the book when enough events have come since the last time.
pub(crate) struct BookWriter {
    shared: Arc<Shared>,
    /// The newest event in the newest book on disk.
    saved_seq: u64,
    thread: Option<JoinHandle<()>>,
}

impl BookWriter {
    pub(crate) fn new(shared: Arc<Shared>, saved_seq: u64) -> Self {
        Self { shared, saved_seq, thread: None }
    }

    /// Whether enough events came since the book was saved that it should be saved again.
    pub(crate) fn is_due(&self, seq: u64) -> bool {
        seq - self.saved_seq >= self.shared.options.keep_every
    }

    /// Saves the book as it is at `position`, unless the last write is still running. `then` gets the number of the last event
    /// that no start needs any more.
    pub(crate) fn save(
        &mut self,
        position: StreamPosition,
        then: impl FnOnce(u64) -> Result<(), JournalError> + Send + 'static,
    ) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        self.end();
        let (rest, orders) = self.shared.book.read().to_parts();
        let shared = Arc::clone(&self.shared);
        let save = move || {
            if let Err(error) =
                book_file::save(shared.options.book_folder().as_ref(), position, &rest, &orders).and_then(then)
            {
                tracing::warn!(%error, "the book was not saved; the next start reads more events");
            }
        };
        match std::thread::Builder::new().name("orderbook-keeper".to_owned()).spawn(save) {
            Ok(thread) => {
                self.thread = Some(thread);
                self.saved_seq = position.seq;
            }
            Err(error) => tracing::warn!(%error, "the book was not saved"),
        }
    }

    /// Waits for the write that is running.
    pub(crate) fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the book would not be saved and the next start reads more events.
            let _ = thread.join();
        }
    }

    /// Saves the book before the program ends, unless the newest one is on the disk already.
    pub(crate) fn save_last(
        &mut self,
        position: StreamPosition,
        then: impl FnOnce(u64) -> Result<(), JournalError> + Send + 'static,
    ) {
        self.end();
        if position.seq > self.saved_seq {
            self.save(position, then);
            self.end();
        }
    }
}
