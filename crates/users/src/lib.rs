//! People who sign in to the console: users, invitations, passwords, sessions and second factors, beside the accounts of
//! `access` in one database.
//!
//! Invariant: of passwords, links, sessions and recovery codes only digests are stored, and no credential is in
//! `Debug`. The crate knows neither HTTP nor a clock: the time is passed in. Authorization is up to the caller;
//! this crate ensures that one enabled owner remains.
#![forbid(unsafe_code)]

mod error;
mod event;
mod link;
mod migrations;
mod name;
mod password;
mod recovery;
mod session;
mod store;
mod token;
mod user;

pub use error::UsersError;
pub use event::Event;
pub use link::{
    INVITATION_LIFETIME_MS, LINKS_MAX, LinkId, LinkKind, LinkRecord, NewLink, OWNER_RESET_LIFETIME_MS,
    RESET_LIFETIME_MS, SETUP_LIFETIME_MS,
};
pub use migrations::MIGRATIONS as USERS_SCHEMA;
pub use name::NAME_CHARS_MAX;
pub use paraffin_database::{DatabaseLocation, ServerUrl};
pub use password::{HASHES_MAX, PASSWORD_BYTES_MAX, PASSWORD_BYTES_MIN, PasswordCost};
pub use recovery::{NewRecoveryCodes, RECOVERY_CODES, RecoveryCode};
pub use session::{
    CLIENT_CHARS_MAX, CsrfToken, NewSession, PENDING_ATTEMPTS_MAX, PENDING_LIFETIME_MS, ROTATION_GRACE_MS,
    ROTATION_INTERVAL_MS, SESSION_IDLE_MS, SESSION_LIFETIME_MS, SESSIONS_MAX, Session, SessionId, SessionRecord,
    SignIn,
};
pub use store::{SECOND_FACTOR_SETUP_MS, SecondFactorSetup, UserSettings, UserStore};
pub use token::{LinkToken, ParseTokenError, PendingToken, SessionToken};
pub use user::{Role, UserId, UserRecord};

/// A point in time, milliseconds since the Unix epoch. Passed in by the caller.
pub type UnixMillis = i64;
