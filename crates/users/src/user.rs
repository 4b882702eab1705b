use std::fmt;

use crate::UnixMillis;

/// Number of a user; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub i64);

impl fmt::Display for UserId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Role of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Runs the instance and sees all of it.
    Owner,
    /// Belongs to one account and sees that alone.
    Member,
}

impl Role {
    /// `owner` or `member`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Member => "member",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Owner, Self::Member].into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One user as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Number of the user.
    pub id: UserId,
    /// 1 to [`crate::NAME_CHARS_MAX`] characters, unique without ASCII case. Text of the user's choice: escape it.
    pub name: String,
    /// The user's role.
    pub role: Role,
    /// Number of the account in `access`. A member always has one, an owner may.
    pub account: Option<i64>,
    /// When the user was made.
    pub created_at: UnixMillis,
    /// When the user last signed in, by password or by link.
    pub last_sign_in_at: Option<UnixMillis>,
    /// Whether signing in takes a second factor.
    pub has_second_factor: bool,
    /// Whether signing in is refused.
    pub is_disabled: bool,
}
