//! The orderbook as many tasks share it: one thread writes, readers run concurrently, subscribers are woken by numbers of changes.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::watch;

use crate::book::{Limits, MarketBook};
use crate::durable::DurableStream;
use crate::event::{self, Effect, Event, EventError};
use crate::journal::JournalError;
use crate::nats::NatsOptions;
use crate::order::Order;
use crate::stream_state::StreamState;
use crate::tables::Tables;

/// Events that are applied under one write lock.
const TURN: usize = 128;

/// Settings of an orderbook.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of its own.
    pub folder: PathBuf,
    /// How rows become orders.
    pub tables: Tables,
    /// Bounds of its memory.
    pub limits: Limits,
    /// A stream of NATS JetStream that stores the events; without it they are stored in a log in the folder.
    pub nats: Option<NatsOptions>,
    /// Approximate bytes of events to keep in the log for readers. What a start needs is never dropped.
    pub log_bytes: u64,
    /// Events after which the whole book is saved again, so that a start reads at most about so many.
    pub keep_every: u64,
}

impl Options {
    /// The usual settings.
    pub fn new(folder: PathBuf, tables: Tables) -> Self {
        Self { folder, tables, limits: Limits::default(), nats: None, log_bytes: 1 << 30, keep_every: 250_000 }
    }

    /// Folder of the saved books: the numbers of a shared stream are not those of the log.
    pub(crate) fn book_folder(&self) -> PathBuf {
        if self.nats.is_some() { self.folder.join("jetstream") } else { self.folder.clone() }
    }
}

/// Events were not taken in, none of them.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// They are wrong.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The durable stream accepts nothing at the moment; the reason is logged.
    #[error("events cannot be kept at the moment: send them again later")]
    Unavailable,
    /// The book holds as many active orders as it may.
    #[error("the book is full: raise orderbook.active_orders_max")]
    Full,
}

/// Events cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EventsError {
    /// They were dropped.
    #[error("events up to {oldest} are not kept any more: begin with since={}", oldest - 1)]
    Gone {
        /// The oldest event that is stored.
        oldest: u64,
    },
    /// The durable stream cannot be read at the moment.
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

/// What happened since the start, and how things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Events that were acknowledged.
    pub events: u64,
    /// Requests refused because an event was wrong.
    pub refused_invalid: u64,
    /// Requests refused because the durable stream took nothing.
    pub refused_unavailable: u64,
    /// Requests refused because the book is full.
    pub refused_full: u64,
    /// Messages of a shared stream that are no change events.
    pub skipped: u64,
    /// The durable stream.
    pub stream: StreamState,
    /// Orders that are active.
    pub active_orders: usize,
    /// Number of the newest change.
    pub newest_change: u64,
    /// Subscriptions that are open.
    pub subscribers: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    events: AtomicU64,
    invalid: AtomicU64,
    unavailable: AtomicU64,
    full: AtomicU64,
    pub(crate) skipped: AtomicU64,
}

impl Counters {
    fn count(&self, outcome: &Result<usize, IngestError>) {
        let (counter, by) = match outcome {
            Ok(events) => (&self.events, *events as u64),
            Err(IngestError::Event(_)) => (&self.invalid, 1),
            Err(IngestError::Unavailable) => (&self.unavailable, 1),
            Err(IngestError::Full) => (&self.full, 1),
        };
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// What the writer and the readers share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) book: RwLock<MarketBook>,
    pub(crate) counters: Counters,
    newest: watch::Sender<u64>,
    subscribers: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(options: Options, book: MarketBook) -> Self {
        Self {
            options,
            newest: watch::Sender::new(book.newest()),
            book: RwLock::new(book),
            counters: Counters::default(),
            subscribers: AtomicUsize::new(0),
        }
    }

    /// Applies the effects of events to the book, in this order.
    pub(crate) fn apply(&self, effects: Vec<Effect>) {
        let mut effects = effects.into_iter();
        while effects.len() > 0 {
            let newest = {
                let mut book = self.book.write();
                effects.by_ref().take(TURN).for_each(|effect| book.apply(effect));
                book.newest()
            };
            self.notify(newest);
        }
    }

    /// Wakes the subscribers when there are changes that they were not notified of.
    pub(crate) fn notify(&self, newest: u64) {
        self.newest.send_if_modified(|notified| {
            let is_new = *notified < newest;
            *notified = (*notified).max(newest);
            is_new
        });
    }

    /// The events of a body, all of them or none.
    pub(crate) fn check<'e>(&self, body: &'e [u8], received_at: u64) -> Result<Vec<Event<'e>>, IngestError> {
        let events = event::read(body, &self.options.tables, received_at)?;
        let active = events.iter().filter_map(|event| match &event.effect {
            Effect::Order(order) if order.status().is_active() => Some(order),
            _ => None,
        });
        let book = self.book.read();
        // Orders that are active already do not count.
        let is_new =
            |order: &&Arc<Order>| book.order(order.source(), order.id()).is_none_or(|now| !now.status().is_active());
        if active.clone().count() > book.active_left() && active.filter(is_new).count() > book.active_left() {
            return Err(IngestError::Full);
        }
        drop(book);
        Ok(events)
    }
}

/// Runs a long check on a blocking thread: `check` on a body of up to 32 MiB.
pub(crate) async fn checked<T: Send + 'static>(
    check: impl FnOnce() -> Result<T, IngestError> + Send + 'static,
) -> Result<T, IngestError> {
    tokio::task::spawn_blocking(check).await.map_err(|_| IngestError::Unavailable)?
}

/// A request to an orderbook. Boxed, so that its durable streams are compiled here alone.
pub type OrderbookFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A live orderbook on a folder of its own.
pub struct Orderbook {
    shared: Arc<Shared>,
    stream: DurableStream,
}

impl Orderbook {
    /// Opens the folder and rebuilds the book. Blocks; async callers must use a blocking thread. With a shared stream it
    /// must be called within a runtime of tokio; it then waits for the server for a bounded time: the book on the disk is served
    /// until it answers.
    ///
    /// # Errors
    /// Another process uses the folder, what is in it is damaged or does not fit the stream, or the disk refuses.
    pub fn open(options: Options) -> Result<Arc<Self>, JournalError> {
        let folder = options.book_folder();
        std::fs::create_dir_all(&folder).map_err(|source| JournalError::File { file: folder, source })?;
        let (shared, stream) = DurableStream::open(options)?;
        Ok(Arc::new(Self { shared, stream }))
    }

    /// Takes in one change event or an array of them, that came at `received_at` (Unix time in microseconds). Returns how many
    /// once they are in the durable stream and in the book.
    ///
    /// # Errors
    /// See [`IngestError`]; no event of the body was acknowledged. After [`IngestError::Unavailable`] some may be stored all the same:
    /// sending them again changes nothing.
    pub fn ingest(&self, body: Bytes, received_at: u64) -> OrderbookFuture<'_, Result<usize, IngestError>> {
        Box::pin(async move {
            let outcome = self.stream.append(&self.shared, body, received_at).await;
            self.shared.counters.count(&outcome);
            outcome
        })
    }

    /// Reads of one moment; nothing changes meanwhile, so it should be short.
    pub fn read<T>(&self, read: impl FnOnce(&MarketBook) -> T) -> T {
        read(&self.shared.book.read())
    }

    /// At most `limit` events of the durable stream after number `since`.
    ///
    /// # Errors
    /// See [`EventsError`].
    pub fn events(&self, since: u64, limit: usize) -> OrderbookFuture<'_, Result<EventsPage, EventsError>> {
        Box::pin(async move { self.stream.events(since, limit).await })
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

    /// How the durable stream is.
    pub fn stream_state(&self) -> StreamState {
        self.stream.state()
    }

    /// What happened since the start, and how things are.
    pub fn figures(&self) -> Figures {
        let counters = &self.shared.counters;
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (active_orders, newest_change) = self.read(|book| (book.active(), book.newest()));
        Figures {
            events: of(&counters.events),
            refused_invalid: of(&counters.invalid),
            refused_unavailable: of(&counters.unavailable),
            refused_full: of(&counters.full),
            skipped: of(&counters.skipped),
            stream: self.stream_state(),
            active_orders,
            newest_change,
            subscribers: self.subscribers(),
        }
    }

    /// Ends the writer once it has done what waits, and saves the book so that the next start is short. Blocks.
    pub fn close(&self) {
        self.stream.close();
    }
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
