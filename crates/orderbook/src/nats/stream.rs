//! A stream of NATS JetStream as the durable stream: many gateways publish to it, each follows it and has the same book.
//!
//! ```text
//!  request ─▶ checked ─▶ publish (many at once) ─▶ JetStream ─▶ follow (one task) ─▶ feed (one thread) ─▶ MarketBook
//!     202 ◀── every event acknowledged, and in the book ◀──────────────────────────────────┘
//! ```
//!
//! Numbers of events are those of the stream. What the server does not acknowledge in time is refused; then nothing is
//! published until it answers again, so that callers need not wait.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use async_nats::jetstream::context::PublishErrorKind;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, watch};

use super::connect::{Server, connect};
use super::feed::{Feed, Progress};
use super::follow::{Follower, StreamItem};
use super::publish::{Outgoing, publish};
use super::{NatsOptions, StreamError, page};
use crate::book_file;
use crate::journal::JournalError;
use crate::service::{EventsError, EventsPage, IngestError, Options, Shared, checked};
use crate::stream_state::StreamState;

/// Requests that publish at once; further ones wait.
const PUBLISHERS: usize = 4;
/// Readers of pages at once; further ones wait.
const READERS: usize = 4;
/// Messages that wait for the book; each may have half a megabyte.
const ITEMS_MAX: usize = 256;
/// Longest time that a request waits for its turn, and then for its acknowledgements.
const APPEND_WITHIN: Duration = Duration::from_secs(10);
/// Longest wait for the book to have what was acknowledged.
const APPLY_WITHIN: Duration = Duration::from_secs(5);

/// State of the stream, as its follower, its publishers and its callers share it.
#[derive(Debug, Clone)]
pub(super) struct Status {
    state: watch::Sender<Option<StreamState>>,
    /// Why it is not followed, for a start that waits.
    trouble: Arc<Mutex<Option<StreamError>>>,
    /// How often a publisher came to doubt the stream, and why last.
    doubt: watch::Sender<(u64, String)>,
}

impl Status {
    fn new() -> Self {
        Self { state: watch::Sender::new(None), trouble: Arc::default(), doubt: watch::Sender::new((0, String::new())) }
    }

    pub(super) fn ready(&self) {
        *self.trouble.lock() = None;
        self.state.send_replace(Some(StreamState::Ready));
    }

    pub(super) fn failed(&self, error: &StreamError) {
        let state = if error.is_passing() { StreamState::Away } else { StreamState::Mismatch };
        *self.trouble.lock() = Some(error.clone());
        self.state.send_replace(Some(state));
    }

    /// A publisher was not answered as it should be: nothing more is sent until the follower has seen the stream again. Of
    /// several that began after doubt `seen_doubts` one is enough.
    fn doubt(&self, seen_doubts: u64, reason: String) {
        self.doubt.send_if_modified(|doubt| {
            let is_first = doubt.0 == seen_doubts;
            if is_first {
                self.state.send_replace(Some(StreamState::Away));
                *doubt = (seen_doubts + 1, reason);
            }
            is_first
        });
    }

    /// How often the stream was doubted up to now.
    pub(super) fn doubts(&self) -> u64 {
        self.doubt.borrow().0
    }

    /// Waits until the stream is doubted once more.
    pub(super) async fn doubted(&self, seen_doubts: u64) -> String {
        let mut doubt = self.doubt.subscribe();
        // The sender lives in `self`.
        doubt.wait_for(|doubt| doubt.0 != seen_doubts).await.map(|doubt| doubt.1.clone()).unwrap_or_default()
    }
}

/// A shared stream, its follower and its publishers.
pub(crate) struct JetStream {
    server: Server,
    name: String,
    status: Status,
    progress: watch::Receiver<Progress>,
    publishers: Semaphore,
    readers: Semaphore,
    task: tokio::task::AbortHandle,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl JetStream {
    /// Reads the saved book and begins to follow the stream. Waits for the server for a bounded time; once it answers, until the
    /// book has all that the stream holds.
    pub(crate) fn open(options: Options, nats: &NatsOptions) -> Result<(Arc<Shared>, Self), JournalError> {
        let folder = options.book_folder();
        let no_runtime = |reason: String| StreamError::Settings { reason };
        let runtime = Handle::try_current().map_err(|error| no_runtime(error.to_string()))?;
        let (book, position) = book_file::newest(&folder, options.limits)?;
        let server = runtime.block_on(connect(nats))?;
        let shared = Arc::new(Shared::new(options, book));
        let status = Status::new();
        let (progress, seen) = watch::channel(Progress { seq: position.seq, is_caught_up: false });
        let (book, items) = mpsc::channel::<StreamItem>(ITEMS_MAX);
        let feed = Feed::new(Arc::clone(&shared), position, progress);
        let thread = std::thread::Builder::new().name("orderbook".to_owned()).spawn(move || feed.run(items));
        let thread = thread.map_err(|source| JournalError::File { file: folder, source })?;
        let (name, follow_status) = (nats.stream.clone(), status.clone());
        let follower = Follower {
            server: server.clone(),
            stream: name.clone(),
            position,
            status: follow_status,
            book,
            logged: None,
        };
        let task = runtime.spawn(follower.run()).abort_handle();
        let stream = Self {
            server,
            name,
            status,
            progress: seen,
            publishers: Semaphore::new(PUBLISHERS),
            readers: Semaphore::new(READERS),
            task,
            thread: Mutex::new(Some(thread)),
        };
        match runtime.block_on(stream.started(nats.start_within)) {
            Ok(()) => Ok((shared, stream)),
            Err(error) => {
                stream.close();
                Err(error.into())
            }
        }
    }

    /// Waits until the book is up to date, or the server is away for too long.
    async fn started(&self, within: Duration) -> Result<(), StreamError> {
        let is_ready = |state: &Option<StreamState>| *state == Some(StreamState::Ready);
        let mut state = self.status.state.subscribe();
        let settled = state.wait_for(|state| is_ready(state) || *state == Some(StreamState::Mismatch));
        if tokio::time::timeout(within, settled).await.is_err() {
            let seq = self.progress.borrow().seq;
            let reason = self.status.trouble.lock().as_ref().map(ToString::to_string);
            tracing::warn!(
                stream = self.name,
                book = seq,
                reason = reason.unwrap_or_else(|| self.server.why_away()),
                "the NATS server of the orderbook does not answer: the book is served as it was saved and takes no events until \
                 it does. Check that nats-server runs with JetStream (-js) and that [orderbook] nats_url names it"
            );
            return Ok(());
        }
        let mut progress = self.progress.clone();
        tokio::select! {
            // Its sender ends with the thread, which ends after this.
            _ = progress.wait_for(|progress| progress.is_caught_up) => {}
            // Away again: no reason to wait.
            _ = state.wait_for(|state| !is_ready(state)) => {}
        }
        let trouble = self.status.trouble.lock().clone();
        trouble.filter(|error| !error.is_passing()).map_or(Ok(()), Err)
    }

    pub(crate) async fn append(
        &self,
        shared: &Arc<Shared>,
        body: Bytes,
        received_at: u64,
    ) -> Result<usize, IngestError> {
        let checker = Arc::clone(shared);
        let events: Vec<Outgoing> = checked(move || {
            let events = checker.check(&body, received_at)?;
            Ok(events.iter().map(|event| Outgoing::new(event, &body)).collect())
        })
        .await?;
        let count = events.len();
        if count == 0 {
            return Ok(0);
        }
        let newest = self.publish(events).await?;
        // They are durable, so the answer is yes even where the book is late.
        let mut progress = self.progress.clone();
        let _ = tokio::time::timeout(APPLY_WITHIN, progress.wait_for(|progress| progress.seq >= newest)).await;
        Ok(count)
    }

    /// Returns the greatest number in the stream once every event is acknowledged.
    async fn publish(&self, events: Vec<Outgoing>) -> Result<u64, IngestError> {
        if self.state() != StreamState::Ready {
            return Err(IngestError::Unavailable);
        }
        // A publisher that waits for others has not used the stream yet.
        let turn = tokio::time::timeout(APPEND_WITHIN, self.publishers.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(IngestError::Unavailable) };
        let doubts = self.status.doubts();
        // The stream may have gone away meanwhile.
        if self.state() != StreamState::Ready {
            return Err(IngestError::Unavailable);
        }
        let publishing = publish(&self.server.context, &self.name, events);
        let reason = match tokio::time::timeout(APPEND_WITHIN, publishing).await {
            Ok(Ok(newest)) => return Ok(newest),
            // An event that is too long for the server does not mean that the stream is away.
            Ok(Err(error)) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                tracing::error!(%error, "events of the orderbook are too long: raise max_payload of the NATS server");
                return Err(IngestError::Unavailable);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "acknowledgements come too late".to_owned(),
        };
        tracing::error!(reason, "events of the orderbook cannot be stored");
        self.status.doubt(doubts, reason);
        Err(IngestError::Unavailable)
    }

    pub(crate) async fn events(&self, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
        if !self.server.is_connected() {
            return Err(EventsError::Unavailable);
        }
        let reading = async {
            let _turn = self.readers.acquire().await.map_err(|_| EventsError::Unavailable)?;
            page::page(&self.server.context, &self.name, since, limit).await
        };
        tokio::time::timeout(APPEND_WITHIN, reading).await.unwrap_or(Err(EventsError::Unavailable))
    }

    pub(crate) fn state(&self) -> StreamState {
        self.status.state.borrow().unwrap_or(StreamState::Away)
    }

    /// Ends the follower; the book applies what it has received and is saved. Blocks.
    pub(crate) fn close(&self) {
        self.task.abort();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // It does not panic; if it did, all that was acknowledged is in the stream.
            let _ = thread.join();
        }
        self.status.state.send_replace(Some(StreamState::Away));
    }
}

impl Drop for JetStream {
    fn drop(&mut self) {
        // A follower would go on for ever.
        self.task.abort();
    }
}
