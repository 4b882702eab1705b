use std::fmt;
use std::net::IpAddr;

use subtle::ConstantTimeEq as _;

use crate::{Event, PendingToken, SessionToken, UnixMillis, UserRecord};

const MINUTE_MS: i64 = 60 * 1_000;

/// A session ends this long after its last use, in milliseconds: 12 hours.
pub const SESSION_IDLE_MS: i64 = 12 * 60 * MINUTE_MS;
/// A session ends this long after the sign-in, in milliseconds: 30 days.
pub const SESSION_LIFETIME_MS: i64 = 30 * 24 * 60 * MINUTE_MS;
/// A token older than this, in milliseconds, is to be rotated: an hour.
pub const ROTATION_INTERVAL_MS: i64 = 60 * MINUTE_MS;
/// How long a rotated token remains valid, in milliseconds: a minute, for requests that were sent with it.
pub const ROTATION_GRACE_MS: i64 = MINUTE_MS;
/// Sessions of one user at the same time; with one more the one that was not used for longest ends.
pub const SESSIONS_MAX: u32 = 50;
/// Time for the second factor of a sign-in, in milliseconds: 5 minutes.
pub const PENDING_LIFETIME_MS: i64 = 5 * MINUTE_MS;
/// Codes that may be tried in one sign-in.
pub const PENDING_ATTEMPTS_MAX: u32 = 5;
/// Longest stored text that names a client, in characters.
pub const CLIENT_CHARS_MAX: usize = 64;

/// "Last used" is written at most once in this time, in milliseconds: a minute.
pub(crate) const TOUCH_INTERVAL_MS: i64 = MINUTE_MS;

/// Number of a session; never reused. It is no credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub i64);

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Token of every form of a session against cross-site request forgery: 43 characters.
#[derive(Clone)]
pub struct CsrfToken(String);

impl CsrfToken {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for a form.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CsrfToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CsrfToken")
    }
}

/// A session at the moment of a request.
#[derive(Debug, Clone)]
pub struct Session {
    /// The signed-in user.
    pub user: UserRecord,
    /// Number of the session.
    pub id: SessionId,
    /// For forms.
    pub csrf: CsrfToken,
    /// When the user signed in.
    pub created_at: UnixMillis,
    /// When it ends if it is not used again.
    pub expires_at: UnixMillis,
    /// Whether the token is so old that the answer should bring another one (`UserStore::rotate`).
    pub must_rotate: bool,
}

impl Session {
    /// Whether a form's text is that of this session; compared in a time that does not depend on where they differ.
    #[must_use]
    pub fn check_csrf(&self, text: &str) -> bool {
        bool::from(self.csrf.0.as_bytes().ct_eq(text.as_bytes()))
    }
}

/// One session as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Number of the session.
    pub id: SessionId,
    /// From where the user signed in: at most [`CLIENT_CHARS_MAX`] characters without control characters. Escape it.
    pub client: String,
    /// When the user signed in.
    pub created_at: UnixMillis,
    /// When it was last used, to the minute.
    pub last_used_at: UnixMillis,
    /// When it ends if it is not used again.
    pub expires_at: UnixMillis,
}

/// A new session, or a new token of one. The only moment at which the token can be read.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// For the cookie, to be shown once.
    pub token: SessionToken,
    /// The session.
    pub session: Session,
    /// For the audit log.
    pub event: Event,
}

/// Result of a right password.
#[derive(Debug, Clone)]
pub enum SignIn {
    /// Signed in.
    Session(Box<NewSession>),
    /// To `UserStore::second_factor`, with this token.
    SecondFactorNeeded(PendingToken),
}

/// When a session ends.
pub(crate) fn expires_at(created_at: UnixMillis, last_used_at: UnixMillis) -> UnixMillis {
    let idle = last_used_at.saturating_add(SESSION_IDLE_MS);
    idle.min(created_at.saturating_add(SESSION_LIFETIME_MS))
}

/// The stored text that names a client.
pub(crate) fn client_text(client: &str) -> String {
    client.chars().filter(|character| !character.is_control()).take(CLIENT_CHARS_MAX).collect()
}

/// The client that attempts are counted by. An address of version 6 counts as its network of 64 bits, which one subscriber has whole.
pub(crate) fn client_key(client: &str) -> String {
    match client.trim().parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.to_string(),
        Ok(IpAddr::V6(address)) => format!("{:x}/64", address.to_bits() >> 64),
        Err(_) => client_text(client),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_when_it_is_idle_or_old() {
        assert_eq!(expires_at(0, 5), 5 + SESSION_IDLE_MS);
        assert_eq!(expires_at(0, SESSION_LIFETIME_MS - 1), SESSION_LIFETIME_MS);
        assert_eq!(expires_at(i64::MAX, i64::MAX), i64::MAX);
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        assert_eq!(client_key("2001:db8::1"), client_key("2001:db8:0:0:ffff::2"));
        assert_ne!(client_key("2001:db8::1"), client_key("2001:db8:0:1::1"));
        assert_eq!(client_key("::ffff:192.0.2.1"), client_key("192.0.2.1"));
        assert_ne!(client_key("192.0.2.1"), client_key("192.0.2.2"));
        assert_eq!(client_key(&"x\n".repeat(50_000)).len(), CLIENT_CHARS_MAX);
    }
}
