//! Webhooks: endpoints of accounts, and the delivery of events to them (docs/webhooks.md).
//!
//! Invariant: a message is in the database before its first attempt and stays there unchanged until its receiver has acknowledged
//! it; the position of the endpoint moves in the transaction that removes it. Whatever is killed, a receiver that drops repeated
//! ids has seen every event, in order.
//!
//! Events, positions and filters are texts of an [`EventSource`] that this crate does not read.
#![forbid(unsafe_code)]

mod backoff;
mod delivery;
mod destination;
mod endpoint;
mod error;
mod http;
mod message;
mod migrations;
mod queue;
mod secret;
mod service;
mod settings;
mod source;
mod store;

pub use backoff::retry_after_ms;
pub use delivery::{Deliverer, Progress};
pub use destination::{Destination, DestinationError};
pub use endpoint::{
    ATTEMPT_ERROR_CHARS_MAX, ATTEMPTS_KEPT, AttemptRecord, DESCRIPTION_CHARS_MAX, EndpointChanges, EndpointId,
    EndpointRecord, EndpointState, NewEndpoint, Owner, URL_BYTES_MAX,
};
pub use error::WebhookError;
pub use http::{Attempt, HttpTransport, Transport};
pub use message::{EVENTS_MAX, Message};
pub use migrations::MIGRATIONS as WEBHOOKS_SCHEMA;
pub use secret::{InvalidSecret, SigningSecret, signature};
pub use service::{Clock, EndpointRequest, Start, TestOutcome, Webhooks};
pub use settings::{FILTER_BYTES_MAX, WebhookSettings};
pub use source::{BoxFuture, EventPage, EventSource, SourceError};
pub use store::{GRACE_MS, LEASE_MS, Task, WebhookStore};

pub use paraffin_access::{AccountId, UnixMillis};
pub use paraffin_database::DatabaseLocation;
