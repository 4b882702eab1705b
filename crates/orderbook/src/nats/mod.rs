//! NATS JetStream: its settings and errors, and with the feature `nats` the stream itself.

#[cfg(feature = "nats")]
mod attach;
#[cfg(feature = "nats")]
mod connect;
mod error;
#[cfg(feature = "nats")]
mod feed;
#[cfg(feature = "nats")]
mod follow;
mod options;
#[cfg(feature = "nats")]
mod page;
#[cfg(feature = "nats")]
mod publish;
#[cfg(feature = "nats")]
mod stream;

pub use error::StreamError;
pub use options::{Login, NatsOptions, STREAM_DEFAULT, SUBJECT, TlsFiles};
#[cfg(feature = "nats")]
pub(crate) use stream::JetStream;
