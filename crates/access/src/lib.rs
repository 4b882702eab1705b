//! Authentication and rate limits: accounts, API keys, aliases, browser origins, their plans and windows, their usage, and the
//! audit log of every change.
//!
//! Invariant: only digests of keys are stored, and while the store cannot be consulted every request is refused.
#![forbid(unsafe_code)]

mod alias;
mod cache;
mod database;
mod error;
mod key;
mod lease;
mod migrations;
mod moment;
mod origin;
mod patience;
mod plan;
mod proof;
mod record;
mod script;
mod secret;
#[cfg(feature = "redis")]
mod shared;
mod store;
mod subject;
mod throttle;
mod usage;
mod windows;

pub use alias::{
    ALIAS_SURFACES, ALIAS_SURFACES_DEFAULT, AliasId, AliasRecord, NewAlias, RESERVED_FOR_LATER, RESERVED_SINCE,
    RESERVED_WORDS, is_alias_name,
};
pub use database::{DatabaseKeyStore, write_audit_line};
pub use error::AccessError;
pub use key::{ApiKey, KeyDigest, ParseApiKeyError};
pub use lease::LEASE;
pub use migrations::MIGRATIONS as ACCOUNTS_SCHEMA;
pub use moment::{day_text, time_text};
pub use origin::{OriginId, OriginPattern, OriginRecord};
pub use paraffin_database::{DatabaseError, DatabaseLocation, ServerUrl, copy_file, restore_file};
pub use plan::{ParsePlanError, Plan, PlanTerms, Plans, WindowLimits};
pub use proof::{OwnershipProver, ProofSettings};
pub use record::{
    AccountId, AccountRecord, AuditRow, CreatedKey, Grace, KEY_LIFE_DAYS_MAX, KeyId, KeyOwner, KeyRecord, KeySelector,
    NAME_CHARS_MAX, NewAuditLine, NewKey, UnixMillis, expiry_in_days,
};
pub use script::{ScriptHash, ScriptLimits, ScriptOwner, ScriptStore};
pub use secret::Secret;
#[cfg(feature = "redis")]
pub use shared::{ParseRedisUrlError, SharedOptions};
pub use store::{AccessFuture, KeyStore};
pub use subject::{ClientNet, Subject, Used};
pub use throttle::{Reservation, Throttle, ThrottleSettings};
pub use usage::{
    AccountUsage, CallerUsage, Outcome, RecordedRequest, SurfaceUsage, USAGE_CALLERS_MAX, USAGE_DAYS_MAX, UsageCounts,
    utc_day,
};
pub use windows::{Decision, Granted, SharedState, UNLIMITED, WindowTable, Windows};
