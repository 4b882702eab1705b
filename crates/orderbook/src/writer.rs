//! The one thread that writes: events to the log, many requests with one flush, then into the book in the log's order.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use paraffin_store::log::LogError;
use tokio::sync::{mpsc, oneshot};

use crate::event::Effect;
use crate::journal::{self, JournalError, Record};
use crate::service::{IngestError, Shared};

/// Bytes of events after which a flush does not wait for further requests.
const FLUSH_BYTES: usize = 8 << 20;
/// Events that enter the book before readers have their turn.
const TURN: usize = 128;
/// Shortest time between two tries to open a log that failed.
const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// The events of one request.
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) done: oneshot::Sender<Result<(), IngestError>>,
}

/// See the module.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    /// The newest event in the book.
    seq: u64,
    /// The newest event in the newest book on disk.
    kept_seq: u64,
    keeper: Option<JoinHandle<()>>,
    failed_at: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, seq: u64, kept_seq: u64) -> Self {
        Self { shared, seq, kept_seq, keeper: None, failed_at: None }
    }

    /// Writes until nobody can send any more.
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
            if self.seq - self.kept_seq >= self.shared.options.keep_every {
                self.keep();
            }
        }
        self.end_keeper();
        if self.seq > self.kept_seq {
            self.keep();
            self.end_keeper();
        }
    }

    fn write(&mut self, mut group: Vec<Batch>) {
        let records: Vec<Record> = group.iter_mut().flat_map(|batch| std::mem::take(&mut batch.records)).collect();
        match self.append(&records) {
            Ok(()) => {
                for batch in group {
                    self.apply(batch.effects);
                    // Nobody may be waiting any more.
                    let _ = batch.done.send(Ok(()));
                }
            }
            Err(error) => {
                tracing::error!(%error, "events of the orderbook cannot be kept");
                for batch in group {
                    let _ = batch.done.send(Err(IngestError::Unavailable));
                }
            }
        }
    }

    fn append(&mut self, records: &[Record]) -> Result<(), LogError> {
        self.reopen()?;
        let log = self.shared.log.read().clone();
        // `reopen` leaves one.
        let Some(log) = log else { return Err(LogError::Failed { cause: "the log is closed".to_owned() }) };
        log.append(records).map(|_| ()).inspect_err(|_| self.failed_at = Some(Instant::now()))
    }

    /// After a failure: opens the log anew and takes in what it holds beyond the book.
    fn reopen(&mut self) -> Result<(), LogError> {
        let Some(failed_at) = self.failed_at else { return Ok(()) };
        if failed_at.elapsed() < REOPEN_EVERY {
            return Err(LogError::Failed { cause: "it failed a moment ago".to_owned() });
        }
        self.failed_at = Some(Instant::now());
        *self.shared.log.write() = None;
        let log = journal::open_log(&self.shared.options.folder)?;
        let newest = {
            let mut book = self.shared.book.write();
            journal::catch_up(&mut book, &mut self.seq, &log, &self.shared.options.tables)?;
            book.newest()
        };
        *self.shared.log.write() = Some(log);
        self.tell(newest);
        self.failed_at = None;
        Ok(())
    }

    fn apply(&mut self, effects: Vec<Effect>) {
        self.seq += effects.len() as u64;
        let mut effects = effects.into_iter();
        while effects.len() > 0 {
            let newest = {
                let mut book = self.shared.book.write();
                effects.by_ref().take(TURN).for_each(|effect| book.apply(effect));
                book.newest()
            };
            self.tell(newest);
        }
    }

    fn tell(&self, newest: u64) {
        self.shared.newest.send_if_modified(|told| {
            let is_new = *told < newest;
            *told = (*told).max(newest);
            is_new
        });
    }

    /// Has the book written to the disk beside the work that goes on, unless that is still being done.
    fn keep(&mut self) {
        if self.keeper.as_ref().is_some_and(|keeper| !keeper.is_finished()) {
            return;
        }
        self.end_keeper();
        let (rest, orders) = self.shared.book.read().kept();
        let (shared, seq) = (Arc::clone(&self.shared), self.seq);
        let keep = move || {
            let options = &shared.options;
            let kept = journal::keep(&options.folder, seq, &rest, &orders).and_then(|older| {
                let log = shared.log.read().clone();
                log.map_or(Ok(()), |log| journal::shorten(&log, older, options.log_bytes).map_err(JournalError::from))
            });
            if let Err(error) = kept {
                tracing::warn!(%error, "the book was not kept; the next start reads more of the log");
            }
        };
        match std::thread::Builder::new().name("orderbook-keeper".to_owned()).spawn(keep) {
            Ok(keeper) => {
                self.keeper = Some(keeper);
                self.kept_seq = self.seq;
            }
            Err(error) => tracing::warn!(%error, "the book was not kept"),
        }
    }

    fn end_keeper(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}
