use paraffin_database::DatabaseError;

use crate::destination::DestinationError;
use crate::endpoint::{DESCRIPTION_CHARS_MAX, URL_BYTES_MAX};
use crate::source::SourceError;

/// Errors of operations on webhooks.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The database refuses or does not answer. The text is for the operator's log, never for a caller.
    #[error("the webhooks are not available: {0}")]
    Unavailable(#[from] DatabaseError),
    /// The operating system gave no random bytes.
    #[error("no random bytes from the operating system: {0}")]
    NoRandomness(String),
    /// The account has no endpoint of this number.
    #[error("no such endpoint")]
    NoSuchEndpoint,
    /// The account has as many endpoints as it may have.
    #[error("an account has at most {0} endpoints: delete one first")]
    TooManyEndpoints(u32),
    /// All accounts together have as many endpoints as there may be.
    #[error("this instance has as many endpoints as it serves")]
    Full,
    /// Nothing can be delivered to this address.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The address is too long.
    #[error("an address has at most {URL_BYTES_MAX} bytes")]
    UrlTooLong,
    /// The description is too long.
    #[error("a description has at most {DESCRIPTION_CHARS_MAX} characters")]
    DescriptionTooLong,
    /// The filter cannot be used; a sentence for the caller.
    #[error("{0}")]
    Filter(String),
    /// The position cannot be used; a sentence for the caller.
    #[error("{0}")]
    Position(String),
    /// A message could not be put together.
    #[error("a message could not be written: {0}")]
    Message(#[from] serde_json::Error),
    /// The source of events.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Too many messages are being sent at this moment.
    #[error("too many messages are being sent at this moment: try again in some seconds")]
    Busy,
}
