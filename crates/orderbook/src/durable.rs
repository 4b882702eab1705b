//! Where events are stored before they are acknowledged: in a log of our own, or in a stream that many gateways share.
//!
//! The log is written by one thread, which then takes the events into the book. A shared stream has many writers, so the
//! book applies what comes back from it, in its order.

mod log;

use std::sync::Arc;

use bytes::Bytes;

use crate::journal::JournalError;
#[cfg(feature = "nats")]
use crate::nats::JetStream;
use crate::service::{EventsError, EventsPage, IngestError, Options, Shared};
use crate::stream_state::StreamState;
use log::EmbeddedLog;

/// The durable stream of an orderbook.
pub(crate) enum DurableStream {
    /// `paraffin_log` in the orderbook's own folder.
    Log(EmbeddedLog),
    /// A stream of NATS JetStream.
    #[cfg(feature = "nats")]
    JetStream(Box<JetStream>),
}

impl DurableStream {
    /// Opens the stream that the options name, and restores the book.
    pub(crate) fn open(options: Options) -> Result<(Arc<Shared>, Self), JournalError> {
        match options.nats.clone() {
            None => EmbeddedLog::open(options).map(|(shared, log)| (shared, Self::Log(log))),
            #[cfg(not(feature = "nats"))]
            Some(_) => Err(crate::nats::StreamError::WithoutNats.into()),
            #[cfg(feature = "nats")]
            Some(nats) => {
                JetStream::open(options, &nats).map(|(shared, stream)| (shared, Self::JetStream(Box::new(stream))))
            }
        }
    }

    /// Returns how many events a body held once they are stored and in the book.
    pub(crate) async fn append(
        &self,
        shared: &Arc<Shared>,
        body: Bytes,
        received_at: u64,
    ) -> Result<usize, IngestError> {
        match self {
            Self::Log(log) => log.append(shared, body, received_at).await,
            #[cfg(feature = "nats")]
            Self::JetStream(stream) => stream.append(shared, body, received_at).await,
        }
    }

    /// At most `limit` events after number `since`.
    pub(crate) async fn events(&self, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
        match self {
            Self::Log(log) => log.events(since, limit).await,
            #[cfg(feature = "nats")]
            Self::JetStream(stream) => stream.events(since, limit).await,
        }
    }

    pub(crate) fn state(&self) -> StreamState {
        match self {
            Self::Log(log) => log.state(),
            #[cfg(feature = "nats")]
            Self::JetStream(stream) => stream.state(),
        }
    }

    /// Stops the threads and saves the book. Blocks.
    pub(crate) fn close(&self) {
        match self {
            Self::Log(log) => log.close(),
            #[cfg(feature = "nats")]
            Self::JetStream(stream) => stream.close(),
        }
    }
}
