//! The orderbook as many tasks share it: one thread writes, readers beside each other, subscribers woken by numbers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use paraffin_store::log::{Log, LogError};
use parking_lot::{Mutex, RwLock};
use tokio::sync::{mpsc, oneshot, watch};

use crate::book::{Book, Limits};
use crate::event::{self, Effect, EventError};
use crate::journal::{self, JournalError, Record};
use crate::order::Order;
use crate::tables::Tables;
use crate::writer::{Batch, Writer};

/// Requests that may wait for the writer; further ones wait outside.
const QUEUE: usize = 16;

/// Settings of an orderbook.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of its own.
    pub folder: PathBuf,
    /// How rows become orders.
    pub tables: Tables,
    /// Bounds of its memory.
    pub limits: Limits,
    /// Bytes of events to keep for readers, about. What a start needs is kept in any case.
    pub log_bytes: u64,
    /// Events after which the whole book is kept again, so that a start reads at most about so many.
    pub keep_every: u64,
}

impl Options {
    /// The usual settings.
    pub fn new(folder: PathBuf, tables: Tables) -> Self {
        Self { folder, tables, limits: Limits::default(), log_bytes: 1 << 30, keep_every: 250_000 }
    }
}

/// Events were not taken in, none of them.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// They are wrong.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The log takes nothing at the moment; the reason is in our log.
    #[error("events cannot be kept at the moment: send them again later")]
    Unavailable,
    /// The book holds as many active orders as it may.
    #[error("the book is full: raise orderbook.active_orders_max")]
    Full,
}

/// Events cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    /// They are not kept any more.
    #[error("events up to {oldest} are not kept any more: begin with since={}", oldest - 1)]
    Gone {
        /// The oldest event that is kept.
        oldest: u64,
    },
    /// The log cannot be read at the moment.
    #[error("events cannot be read at the moment")]
    Unavailable,
}

/// An event of the durable stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number.
    pub seq: u64,
    /// When it came, Unix microseconds.
    pub received_at: u64,
    /// Its JSON as it came.
    pub text: String,
}

/// Some events of the durable stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventsPage {
    /// Oldest first.
    pub events: Vec<StoredEvent>,
    /// Where the next page begins.
    pub next: u64,
    /// Whether there are more now.
    pub has_more: bool,
}

/// What the writer and the readers share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) book: RwLock<Book>,
    /// `None` while it has to be opened again.
    pub(crate) log: RwLock<Option<Log>>,
    pub(crate) newest: watch::Sender<u64>,
    subscribers: AtomicUsize,
}

/// A live orderbook on a folder of its own.
pub struct Orderbook {
    shared: Arc<Shared>,
    queue: Mutex<Option<mpsc::Sender<Batch>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Orderbook {
    /// Opens the folder and rebuilds the book. Blocks; an async caller keeps it away from its threads.
    ///
    /// # Errors
    /// Another process uses the folder, what is in it is damaged, or the disk refuses.
    pub fn open(options: Options) -> Result<Arc<Self>, JournalError> {
        let file_error = |source| JournalError::File { file: options.folder.clone(), source };
        std::fs::create_dir_all(&options.folder).map_err(file_error)?;
        let log = journal::open_log(&options.folder)?;
        let (book, seq, kept_seq) = journal::recover(&options.folder, &log, &options.tables, options.limits)?;
        let newest = watch::Sender::new(book.newest());
        let shared = Arc::new(Shared {
            options,
            book: RwLock::new(book),
            log: RwLock::new(Some(log)),
            newest,
            subscribers: AtomicUsize::new(0),
        });
        let (queue, batches) = mpsc::channel(QUEUE);
        let writer = Writer::new(Arc::clone(&shared), seq, kept_seq);
        let thread = std::thread::Builder::new().name("orderbook".to_owned()).spawn(move || writer.run(batches));
        let thread = thread.map_err(|source| JournalError::File { file: shared.options.folder.clone(), source })?;
        Ok(Arc::new(Self { shared, queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)) }))
    }

    /// Takes in one change event or an array of them, that came at `received_at` (Unix time in microseconds). Answers how many
    /// once they are on the disk and in the book.
    ///
    /// # Errors
    /// See [`IngestError`]; no event of the body was acknowledged. After [`IngestError::Unavailable`] some may be found later:
    /// sending them again changes nothing.
    pub async fn ingest(&self, body: Bytes, received_at: u64) -> Result<usize, IngestError> {
        let queue = self.queue.lock().clone().ok_or(IngestError::Unavailable)?;
        let shared = Arc::clone(&self.shared);
        let read = tokio::task::spawn_blocking(move || read(&shared, &body, received_at)).await;
        let (records, effects) = read.map_err(|_| IngestError::Unavailable)??;
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

    /// Reads of one moment; nothing changes meanwhile, so it should be short.
    pub fn read<T>(&self, read: impl FnOnce(&Book) -> T) -> T {
        read(&self.shared.book.read())
    }

    /// At most `limit` events after number `since`. Blocks on the disk.
    ///
    /// # Errors
    /// See [`EventsError`].
    pub fn events(&self, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
        let log = self.shared.log.read().clone().ok_or(EventsError::Unavailable)?;
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

    /// A subscription; the orderbook counts them.
    pub fn subscribe(self: &Arc<Self>) -> Subscription {
        self.shared.subscribers.fetch_add(1, Ordering::Relaxed);
        Subscription { orderbook: Arc::clone(self), newest: self.shared.newest.subscribe() }
    }

    /// Subscriptions that are open.
    pub fn subscribers(&self) -> usize {
        self.shared.subscribers.load(Ordering::Relaxed)
    }

    /// Ends the writer once it has done what waits, and keeps the book so that the next start is short. Blocks.
    pub fn close(&self) {
        *self.queue.lock() = None;
        if let Some(thread) = self.thread.lock().take() {
            // It does not panic; if it did, all that was acknowledged is in the log.
            let _ = thread.join();
        }
        *self.shared.log.write() = None;
    }
}

type Read = (Vec<Record>, Vec<Effect>);

fn read(shared: &Shared, body: &[u8], received_at: u64) -> Result<Read, IngestError> {
    let events = event::read(body, &shared.options.tables, received_at)?;
    let active = events.iter().filter_map(|event| match &event.effect {
        Effect::Order(order) if order.status().is_active() => Some(order),
        _ => None,
    });
    {
        let book = shared.book.read();
        // Orders that are active already take no more room.
        let is_new =
            |order: &&Arc<Order>| book.order(order.source(), order.id()).is_none_or(|now| !now.status().is_active());
        if active.clone().count() > book.room() && active.filter(is_new).count() > book.room() {
            return Err(IngestError::Full);
        }
    }
    Ok(events.into_iter().map(|event| (Record::new(received_at, event.text), event.effect)).unzip())
}

/// Wakes its holder when there are changes.
pub struct Subscription {
    orderbook: Arc<Orderbook>,
    newest: watch::Receiver<u64>,
}

impl Subscription {
    /// Waits until there is a change with a number above `since`; may be dropped and called again.
    pub async fn changed(&mut self, since: u64) {
        // The sender lives in the orderbook, which this holds.
        let _ = self.newest.wait_for(|newest| *newest > since).await;
    }

    /// The orderbook.
    pub fn orderbook(&self) -> &Arc<Orderbook> {
        &self.orderbook
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.orderbook.shared.subscribers.fetch_sub(1, Ordering::Relaxed);
    }
}
