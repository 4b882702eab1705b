//! The embedded log as a durable stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use paraffin_log::{Log, LogError};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{mpsc, oneshot};

use crate::journal::{self, JournalError, Record};
use crate::service::{EventsError, EventsPage, IngestError, Options, Shared, StoredEvent, checked};
use crate::stream_state::StreamState;
use crate::writer::{Batch, SharedLog, Writer};

/// Requests that may wait for the writer; further ones wait outside.
const QUEUE: usize = 16;

/// A log in the folder of the orderbook, and its writer thread.
pub(crate) struct EmbeddedLog {
    log: SharedLog,
    has_failed: Arc<AtomicBool>,
    queue: Mutex<Option<mpsc::Sender<Batch>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl EmbeddedLog {
    /// Opens the log and rebuilds the book from it.
    pub(super) fn open(options: Options) -> Result<(Arc<Shared>, Self), JournalError> {
        let log = journal::open_log(&options.folder)?;
        let (book, seq, saved_seq) = journal::recover(&options.folder, &log, &options.tables, options.limits)?;
        let shared = Arc::new(Shared::new(options, book));
        let log = Arc::new(RwLock::new(Some(log)));
        let has_failed = Arc::new(AtomicBool::new(false));
        let (queue, batches) = mpsc::channel(QUEUE);
        let writer = Writer::new(Arc::clone(&shared), Arc::clone(&log), Arc::clone(&has_failed), seq, saved_seq);
        let thread = std::thread::Builder::new().name("orderbook".to_owned()).spawn(move || writer.run(batches));
        let thread = thread.map_err(|source| JournalError::File { file: shared.options.folder.clone(), source })?;
        let stream = Self { log, has_failed, queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) };
        Ok((shared, stream))
    }

    pub(super) async fn append(
        &self,
        shared: &Arc<Shared>,
        body: Bytes,
        received_at: u64,
    ) -> Result<usize, IngestError> {
        let queue = self.queue.lock().clone().ok_or(IngestError::Unavailable)?;
        let shared = Arc::clone(shared);
        let (records, effects): (Vec<Record>, Vec<_>) = checked(move || {
            let events = shared.check(&body, received_at)?;
            Ok(events.into_iter().map(|event| (Record::new(received_at, event.text), event.effect)).unzip())
        })
        .await?;
        let count = records.len();
        if count == 0 {
            return Ok(0);
        }
        let (done, is_done) = oneshot::channel();
        queue.send(Batch { records, effects, done }).await.map_err(|_| IngestError::Unavailable)?;
        // Without an answer the writer has ended.
        is_done.await.unwrap_or(Err(IngestError::Unavailable))?;
        Ok(count)
    }

    pub(super) async fn events(&self, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
        let log = self.log.read().clone().ok_or(EventsError::Unavailable)?;
        let page = tokio::task::spawn_blocking(move || page(&log, since, limit)).await;
        page.map_err(|_| EventsError::Unavailable)?
    }

    pub(super) fn state(&self) -> StreamState {
        let is_open = self.log.read().is_some() && !self.has_failed.load(Ordering::Relaxed);
        if is_open { StreamState::Ready } else { StreamState::Away }
    }

    pub(super) fn close(&self) {
        *self.queue.lock() = None;
        if let Some(thread) = self.thread.lock().take() {
            // It does not panic; if it did, all that was acknowledged is in the log.
            let _ = thread.join();
        }
        *self.log.write() = None;
    }
}

fn page(log: &Log, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
    let entries = match log.read(since.saturating_add(1), limit) {
        Ok(entries) => entries,
        Err(LogError::Gone { first_seq, .. }) => return Err(EventsError::Gone { oldest: first_seq }),
        Err(error) => {
            tracing::error!(%error, "the events of the orderbook cannot be read");
            return Err(EventsError::Unavailable);
        }
    };
    let next = entries.last().map_or(since, |entry| entry.seq);
    let events = entries.iter().filter_map(|entry| {
        let (received_at, text) = Record::read(&entry.payload)?;
        Some(StoredEvent { seq: entry.seq, received_at, text: text.to_owned() })
    });
    Ok(EventsPage { events: events.collect(), next, has_more: log.next_seq() > next.saturating_add(1) })
}
