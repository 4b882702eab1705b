//! Follows the stream: one task reads it in its order from where the book ends, and reconnects as often as needed.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::StreamError;
use super::attach::{attach, has_next};
use super::connect::Server;
use super::stream::Status;
use crate::book_file::StreamPosition;

/// Pause before the stream is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// Pause before a stream that does not fit is checked again.
const RETRY_MISMATCH: Duration = Duration::from_secs(5);
/// Interval of the heartbeats of a reader; it is restarted when two are missed.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Time after which the server forgets a reader that is gone.
const READER_IDLE: Duration = Duration::from_secs(30);
/// Time after which one pull request expires.
const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// Messages of one pull request.
const PULL_MESSAGES: usize = 500;
/// Least byte limit of one pull request.
const PULL_BYTES: usize = 16 << 20;

/// What the task sends to the book.
#[derive(Debug)]
pub(super) enum StreamItem {
    /// A message of the stream.
    Stored {
        /// Its position in the stream.
        position: StreamPosition,
        /// Its content.
        payload: Bytes,
    },
    /// Everything that was in the stream has been sent.
    CaughtUp,
}

/// The task that reads the stream.
pub(super) struct Follower {
    pub(super) server: Server,
    pub(super) stream: String,
    /// The newest message that was sent.
    pub(super) position: StreamPosition,
    pub(super) status: Status,
    pub(super) book: mpsc::Sender<StreamItem>,
    /// The last error that was logged; `None` once the stream is followed again.
    pub(super) logged: Option<StreamError>,
}

/// The receiver of the book is closed.
struct Closed;

impl Follower {
    /// Reads until the receiver is closed.
    pub(super) async fn run(mut self) {
        loop {
            let Err(error) = self.follow().await else { return };
            self.status.failed(&error);
            // The same reason twice a second would fill the log.
            if self.logged.as_ref() != Some(&error) {
                tracing::warn!(%error, "the stream of the orderbook is not followed");
            }
            let pause = if error.is_passing() { RETRY } else { RETRY_MISMATCH };
            self.logged = Some(error);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.book.closed() => return,
            }
        }
    }

    /// Reads until something goes wrong; `Ok` when the receiver is closed.
    async fn follow(&mut self) -> Result<(), StreamError> {
        let stream = attach(&self.server, &self.stream, self.position).await?;
        let reader = stream.create_consumer(from(self.position.seq + 1)).await.map_err(StreamError::away)?;
        let is_empty = reader.cached_info().num_pending == 0;
        let bytes = PULL_BYTES.max(2 * self.server.context.client().max_payload());
        let messages = reader.stream().max_messages_per_batch(PULL_MESSAGES).max_bytes_per_batch(bytes);
        let messages = messages.expires(PULL_EXPIRES).heartbeat(HEARTBEAT).messages().await;
        let mut messages = messages.map_err(StreamError::away)?;
        let doubt = self.status.doubts();
        self.status.ready();
        self.logged = None;
        tracing::info!(stream = self.stream, after = self.position.seq, "following the stream of the orderbook");
        if is_empty && self.send(StreamItem::CaughtUp).await.is_err() {
            return Ok(());
        }
        let mut read = 0;
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                reason = self.status.doubted(doubt) => return Err(StreamError::away(reason)),
                () = self.book.closed() => return Ok(()),
            };
            let message = match message {
                Some(Ok(message)) => message,
                Some(Err(error)) => return Err(StreamError::away(error)),
                None => return Err(StreamError::away("the reader of the stream ended")),
            };
            read += 1;
            if self.take(&stream, message, read).await?.is_err() {
                return Ok(());
            }
        }
    }

    /// Sends one message to the book, the reader's `number`th.
    async fn take(
        &mut self,
        stream: &Stream,
        message: Message,
        number: u64,
    ) -> Result<Result<(), Closed>, StreamError> {
        let info = message.info().map_err(StreamError::away)?;
        if info.consumer_sequence != number {
            return Err(StreamError::away("a message of the stream got lost on the way"));
        }
        let (seq, pending) = (info.stream_sequence, info.pending);
        let stored_at = u64::try_from(info.published.unix_timestamp_nanos()).ok();
        if seq <= self.position.seq {
            return Err(StreamError::away("the stream went back"));
        }
        if seq > self.position.seq + 1 {
            // Either single messages were removed, which cannot be recovered, or the beginning is gone.
            let info = stream.get_info().await.map_err(StreamError::away)?;
            has_next(&info, self.position.seq)?;
            tracing::warn!(
                after = self.position.seq,
                before = seq,
                "events were taken out of the stream of the orderbook"
            );
        }
        let position = StreamPosition { seq, stored_at };
        let mut sent = self.send(StreamItem::Stored { position, payload: message.message.payload }).await;
        self.position = position;
        if pending == 0 && sent.is_ok() {
            sent = self.send(StreamItem::CaughtUp).await;
        }
        Ok(sent)
    }

    async fn send(&self, item: StreamItem) -> Result<(), Closed> {
        self.book.send(item).await.map_err(|_| Closed)
    }
}

/// A consumer of its own for each caller, which the server removes when it is unused.
pub(super) fn from(seq: u64) -> pull::Config {
    pull::Config {
        description: Some("orderbook of paraffin".to_owned()),
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: seq },
        ack_policy: AckPolicy::None,
        inactive_threshold: READER_IDLE,
        memory_storage: true,
        num_replicas: 1,
        ..pull::Config::default()
    }
}
