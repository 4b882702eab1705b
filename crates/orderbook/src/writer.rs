//! The one thread that writes: events to the log, many requests with one flush, then into the book in the log's order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use paraffin_log::{Log, LogError};
use parking_lot::RwLock;
use tokio::sync::{mpsc, oneshot};

use crate::book_file::StreamPosition;
use crate::book_writer::BookWriter;
use crate::event::Effect;
use crate::journal::{self, JournalError, Record};
use crate::service::{IngestError, Shared};

/// Bytes of events after which a flush does not wait for further requests.
const FLUSH_BYTES: usize = 8 << 20;
/// Shortest time between two tries to open a log that failed.
const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// The events of one request.
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) done: oneshot::Sender<Result<(), IngestError>>,
}

/// The log as its writer and its readers share it; `None` while it has to be opened again.
pub(crate) type SharedLog = Arc<RwLock<Option<Log>>>;

/// The thread that appends events to the log and applies them to the book.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    log: SharedLog,
    /// The newest event in the book.
    seq: u64,
    saver: BookWriter,
    failed_at: Option<Instant>,
    /// State of the log for other threads.
    has_failed: Arc<AtomicBool>,
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        log: SharedLog,
        has_failed: Arc<AtomicBool>,
        seq: u64,
        saved_seq: u64,
    ) -> Self {
        let saver = BookWriter::new(Arc::clone(&shared), saved_seq);
        Self { shared, log, seq, saver, failed_at: None, has_failed }
    }

    /// Writes until every sender is gone.
    pub(crate) fn run(mut self, mut batches: mpsc::Receiver<Batch>) {
        while let Some(first) = batches.blocking_recv() {
            let size = |batch: &Batch| batch.records.iter().map(|record| record.as_ref().len()).sum::<usize>();
            let mut bytes = size(&first);
            let mut group = vec![first];
            while bytes < FLUSH_BYTES {
                let Ok(next) = batches.try_recv() else { break };
                bytes += size(&next);
                group.push(next);
            }
            self.write(group);
            if self.saver.is_due(self.seq) {
                let shorten = self.shorten();
                self.saver.save(self.position(), shorten);
            }
        }
        let shorten = self.shorten();
        self.saver.save_last(self.position(), shorten);
    }

    fn position(&self) -> StreamPosition {
        StreamPosition { seq: self.seq, stored_at: None }
    }

    /// Drops events that no start and no reader needs any more.
    fn shorten(&self) -> impl FnOnce(u64) -> Result<(), JournalError> + Send + use<> {
        let (log, bytes) = (Arc::clone(&self.log), self.shared.options.log_bytes);
        move |older| {
            let log = log.read().clone();
            log.map_or(Ok(()), |log| journal::shorten(&log, older, bytes).map_err(JournalError::from))
        }
    }

    fn write(&mut self, mut group: Vec<Batch>) {
        let records: Vec<Record> = group.iter_mut().flat_map(|batch| std::mem::take(&mut batch.records)).collect();
        let appended = self.append(&records);
        self.has_failed.store(appended.is_err(), Ordering::Relaxed);
        match appended {
            Ok(()) => {
                for batch in group {
                    self.seq += batch.effects.len() as u64;
                    self.shared.apply(batch.effects);
                    // The caller may have stopped waiting.
                    let _ = batch.done.send(Ok(()));
                }
            }
            Err(error) => {
                tracing::error!(%error, "events of the orderbook cannot be stored");
                for batch in group {
                    let _ = batch.done.send(Err(IngestError::Unavailable));
                }
            }
        }
    }

    fn append(&mut self, records: &[Record]) -> Result<(), LogError> {
        self.reopen()?;
        let log = self.log.read().clone();
        // `reopen` has opened one.
        let Some(log) = log else { return Err(LogError::Failed { cause: "the log is closed".to_owned() }) };
        log.append(records).map(|_| ()).inspect_err(|_| self.failed_at = Some(Instant::now()))
    }

    /// After a failure: opens the log anew and applies what it holds beyond the book.
    fn reopen(&mut self) -> Result<(), LogError> {
        let Some(failed_at) = self.failed_at else { return Ok(()) };
        if failed_at.elapsed() < REOPEN_EVERY {
            return Err(LogError::Failed { cause: "it failed a moment ago".to_owned() });
        }
        self.failed_at = Some(Instant::now());
        *self.log.write() = None;
        let log = journal::open_log(&self.shared.options.folder)?;
        let newest = {
            let mut book = self.shared.book.write();
            journal::catch_up(&mut book, &mut self.seq, &log, &self.shared.options.tables)?;
            book.newest()
        };
        *self.log.write() = Some(log);
        self.shared.notify(newest);
        self.failed_at = None;
        Ok(())
    }
}
