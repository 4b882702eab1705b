//! The stream comes back: one task reads it in its order from where the book ends, whatever happens to the connection.

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
use crate::kept::Place;

/// Pause before the stream is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// Pause before a stream that does not fit is looked at again.
const RETRY_MISMATCH: Duration = Duration::from_secs(5);
/// Time between two signs of life of a reader; without two of them it is begun anew.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Time after which the server forgets a reader that is gone.
const READER_IDLE: Duration = Duration::from_secs(30);
/// Time for which one request for messages stands.
const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// Messages asked for at a time.
const PULL_MESSAGES: usize = 500;
/// Bytes asked for at a time, at least.
const PULL_BYTES: usize = 16 << 20;

/// What the task sends to the book.
#[derive(Debug)]
pub(super) enum Fed {
    /// A message of the stream.
    Stored {
        /// Where in the stream.
        place: Place,
        /// What it holds.
        payload: Bytes,
    },
    /// Everything that was in the stream has been sent.
    CaughtUp,
}

/// See the module.
pub(super) struct Follower {
    pub(super) server: Server,
    pub(super) stream: String,
    /// The newest message that was sent.
    pub(super) place: Place,
    pub(super) status: Status,
    pub(super) book: mpsc::Sender<Fed>,
    /// Why it was not followed last; `None` once it was.
    pub(super) told: Option<StreamError>,
}

/// The book takes no more.
struct Closed;

impl Follower {
    /// Reads until the book takes no more.
    pub(super) async fn run(mut self) {
        loop {
            let Err(error) = self.follow().await else { return };
            self.status.failed(&error);
            // The same reason twice a second would fill the log.
            if self.told.as_ref() != Some(&error) {
                tracing::warn!(%error, "the stream of the orderbook is not followed");
            }
            let pause = if error.is_passing() { RETRY } else { RETRY_MISMATCH };
            self.told = Some(error);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.book.closed() => return,
            }
        }
    }

    /// Reads until something goes wrong; `Ok` when the book takes no more.
    async fn follow(&mut self) -> Result<(), StreamError> {
        let stream = attach(&self.server, &self.stream, self.place).await?;
        let reader = stream.create_consumer(from(self.place.seq + 1)).await.map_err(StreamError::away)?;
        let is_empty = reader.cached_info().num_pending == 0;
        let bytes = PULL_BYTES.max(2 * self.server.context.client().max_payload());
        let messages = reader.stream().max_messages_per_batch(PULL_MESSAGES).max_bytes_per_batch(bytes);
        let messages = messages.expires(PULL_EXPIRES).heartbeat(HEARTBEAT).messages().await;
        let mut messages = messages.map_err(StreamError::away)?;
        let doubt = self.status.doubts();
        self.status.ready();
        self.told = None;
        tracing::info!(stream = self.stream, after = self.place.seq, "following the stream of the orderbook");
        if is_empty && self.tell(Fed::CaughtUp).await.is_err() {
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
        if seq <= self.place.seq {
            return Err(StreamError::away("the stream went back"));
        }
        if seq > self.place.seq + 1 {
            // Either single messages were removed, of which nothing can be known, or the beginning is gone.
            let info = stream.get_info().await.map_err(StreamError::away)?;
            has_next(&info, self.place.seq)?;
            tracing::warn!(
                after = self.place.seq,
                before = seq,
                "events were taken out of the stream of the orderbook"
            );
        }
        let place = Place { seq, stored_at };
        let mut told = self.tell(Fed::Stored { place, payload: message.message.payload }).await;
        self.place = place;
        if pending == 0 && told.is_ok() {
            told = self.tell(Fed::CaughtUp).await;
        }
        Ok(told)
    }

    async fn tell(&self, fed: Fed) -> Result<(), Closed> {
        self.book.send(fed).await.map_err(|_| Closed)
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
