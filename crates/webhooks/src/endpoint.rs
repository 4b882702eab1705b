use paraffin_access::{AccountId, UnixMillis};
use serde::{Deserialize, Serialize};

/// Longest address, bytes.
pub const URL_BYTES_MAX: usize = 2_048;
/// Most stored attempts of an endpoint.
pub const ATTEMPTS_KEPT: usize = 10;
/// Longest stored error of an attempt, characters.
pub const ATTEMPT_ERROR_CHARS_MAX: usize = 200;
/// Longest description, characters.
pub const DESCRIPTION_CHARS_MAX: usize = 200;

/// Number of an endpoint; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(pub i64);

/// Whether messages are delivered, and why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// Messages are delivered.
    Active,
    /// Its owner has paused it.
    Paused,
    /// It has failed for too long.
    Failing,
    /// It has answered 410.
    Gone,
    /// The source cannot resume from its position.
    Lost,
}

impl EndpointState {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Active, Self::Paused, Self::Failing, Self::Gone, Self::Lost];

    /// Its name in the database and in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Lost => "lost",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// The owner who changes an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Whose endpoint it is.
    pub account: AccountId,
    /// The actor in the audit log: `key:<id>`, `user:<id>`.
    pub actor: &'a str,
}

/// Settings of a new endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// URL of the receiver.
    pub url: String,
    /// In the canonical form of its source.
    pub filter: String,
    /// Events after this position are delivered.
    pub cursor: String,
    /// Description by the owner.
    pub description: Option<String>,
}

/// Changes of an endpoint; absent members stay unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointChanges {
    /// URL of the receiver, also for the message that is waiting.
    pub url: Option<String>,
    /// In the canonical form of its source. A message that is waiting is not changed.
    pub filter: Option<String>,
    /// Events after this position are delivered next; a message that is waiting is dropped.
    pub cursor: Option<String>,
    /// Description by the owner; an empty one removes it.
    pub description: Option<String>,
}

/// Result of one attempt to send a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// When it ended.
    pub at: UnixMillis,
    /// Time that it took, milliseconds.
    pub elapsed_ms: i64,
    /// Of the answer, where there was one.
    pub status: Option<u16>,
    /// The error where there was none, up to [`ATTEMPT_ERROR_CHARS_MAX`] characters.
    pub error: Option<String>,
}

/// An endpoint as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRecord {
    /// Number of the endpoint.
    pub id: EndpointId,
    /// Whose it is.
    pub account: AccountId,
    /// URL of the receiver.
    pub url: String,
    /// In the canonical form of its source.
    pub filter: String,
    /// Description by the owner.
    pub description: Option<String>,
    /// Whether messages are delivered.
    pub state: EndpointState,
    /// The position after the acknowledged events.
    pub cursor: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When a message was last acknowledged.
    pub last_success_at: Option<UnixMillis>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it did.
    pub last_error_at: Option<UnixMillis>,
    /// Attempts that have failed since the last success.
    pub failures: u32,
    /// When the first of them did.
    pub failing_since: Option<UnixMillis>,
    /// When the message that is waiting is sent again, where an attempt has failed.
    pub next_attempt_at: Option<UnixMillis>,
    /// Identifier of the message that is waiting for its acknowledgement.
    pub message_id: Option<String>,
    /// Until when the secret before the present one signs as well.
    pub old_secret_until: Option<UnixMillis>,
    /// The last attempts, at most [`ATTEMPTS_KEPT`], the newest first.
    pub attempts: Vec<AttemptRecord>,
}
