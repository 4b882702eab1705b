//! Who may call: API keys, their plans, their use, and the audit log of every change.
//!
//! Invariant: only digests of keys are stored, and where the store cannot be consulted nobody is let in.
#![forbid(unsafe_code)]

mod cache;
mod error;
mod key;
mod lease;
mod migrations;
mod record;
mod sqlite;
mod store;
mod usage;

pub use error::AccessError;
pub use key::{ApiKey, KeyDigest, ParseApiKeyError};
pub use lease::LEASE;
pub use record::{
    AuditRow, CreatedKey, KeyId, KeyRecord, KeySelector, NAME_CHARS_MAX, NewKey, ParsePlanError, Plan, UnixMillis,
};
pub use sqlite::SqliteKeyStore;
pub use store::{AccessFuture, KeyStore};
