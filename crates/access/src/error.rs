use paraffin_database::DatabaseError;

use crate::Plan;

/// Errors of the key store.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The store cannot be consulted; every caller is answered 503 `AUTH_UNAVAILABLE`.
    /// The text is for the operator's log, never for a caller.
    #[error("the key store is not available: {0}")]
    Unavailable(String),
    /// The store was written by a newer version of the program.
    #[error(
        "the key store has schema version {found}, this program knows versions up to {known}: start a newer program or use another database"
    )]
    NewerSchema {
        /// Version of the store.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// A key name is empty, too long, or holds control characters.
    #[error("a key name has 1 to {max} characters and no control characters", max = crate::NAME_CHARS_MAX)]
    InvalidName,
    /// No key matches the selector.
    #[error("no such key")]
    NoSuchKey,
    /// The key is revoked or has expired, so it cannot be rerolled.
    #[error("the key is no longer active: create a new one")]
    Inactive,
    /// The key was rerolled before and works for a while beside its successor.
    #[error("this key was rerolled before: reroll the one that replaced it")]
    RerolledBefore,
    /// Another rerolled key of the account works for a while beside its successor.
    #[error("another rerolled key of this account still works: revoke it first, or let this one end at once")]
    OtherInGrace,
    /// No account has that number.
    #[error("no such account")]
    NoSuchAccount,
    /// No alias has that name.
    #[error("no such alias")]
    NoSuchAlias,
    /// No registered origin has that number or pattern.
    #[error("no such origin")]
    NoSuchOrigin,
    /// The plan of the account allows no further key.
    #[error("the plan of this account allows {max} active keys: revoke one first, or change the plan")]
    KeyLimit {
        /// Most active keys of the plan.
        max: u32,
    },
    /// The plan is not configured.
    #[error("unknown plan `{plan}`: the configured plans are {known}")]
    UnknownPlan {
        /// The requested name.
        plan: Plan,
        /// The configured names, separated by commas.
        known: String,
    },
    /// A limit is zero or too large.
    #[error("a limit is a number from 1 to 2147483646; leave it out for none")]
    InvalidLimit,
    /// A key would end before it begins, or too late.
    #[error("a key expires after 1 to {max} days; leave it out for none", max = crate::KEY_LIFE_DAYS_MAX)]
    InvalidExpiry,
    /// The account has as many aliases as it may have.
    #[error("the plan of this account allows {max} aliases: remove one first, or ask the owner")]
    AliasLimit {
        /// Most aliases of the plan.
        max: u32,
    },
    /// Anonymous callers have saved as many scripts as they may together, and none of them is old.
    #[error("callers without a key have saved as many scripts as they may together: send the source instead")]
    ScriptsFull,
    /// The text cannot be an alias.
    #[error("an alias has 3 to 32 characters of a-z, 0-9 and -, is no reserved word and does not look like a key")]
    InvalidAlias,
    /// Another alias has that name.
    #[error("this alias is taken")]
    AliasTaken,
    /// An alias names no surface, or one that does not exist.
    #[error("an alias allows at least one of: {}", crate::ALIAS_SURFACES.join(", "))]
    InvalidSurface,
    /// The text cannot be an origin.
    #[error("not an origin such as https://app.example.com, https://*.example.com or http://localhost:3000: {0}")]
    InvalidOrigin(&'static str),
    /// The account has registered this origin, or another one has proved that it owns it.
    #[error("this origin is registered already")]
    OriginTaken,
    /// The owner of the domain has not shown the token.
    #[error("the token was found neither in DNS nor on the web server of the domain: {0}")]
    NotProved(String),
    /// The operating system gave no random bytes.
    #[error("no random bytes from the operating system: {0}")]
    NoRandomness(String),
}

impl From<DatabaseError> for AccessError {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::NewerSchema { found, known } => Self::NewerSchema { found, known },
            other => Self::Unavailable(other.to_string()),
        }
    }
}
