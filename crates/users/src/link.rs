use std::fmt;

use crate::{Event, LinkToken, Role, UnixMillis, UserId};

const HOUR_MS: i64 = 60 * 60 * 1_000;

/// How long the link that makes the first owner may be used, in milliseconds: a day. Every start makes a new one.
pub const SETUP_LIFETIME_MS: i64 = 24 * HOUR_MS;
/// How long an invitation may be used, in milliseconds: a week.
pub const INVITATION_LIFETIME_MS: i64 = 7 * 24 * HOUR_MS;
/// How long a link that resets a user may be used, in milliseconds: a day.
pub const RESET_LIFETIME_MS: i64 = 24 * HOUR_MS;
/// How long the command line's link that resets an owner may be used, in milliseconds: an hour.
pub const OWNER_RESET_LIFETIME_MS: i64 = HOUR_MS;
/// Most links that are open at the same time.
pub const LINKS_MAX: u32 = 1_000;

/// Number of a link; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub i64);

impl fmt::Display for LinkId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The effect of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Makes the first owner.
    Setup,
    /// Makes a user.
    Invitation {
        /// Role of the new user.
        role: Role,
        /// Account of `access` of the new user; a member needs one.
        account: Option<i64>,
    },
    /// Gives a user a new password and removes the second factor; all sessions end.
    Reset {
        /// The user to reset.
        user: UserId,
    },
    /// As `Reset`, for the owner whose name is given when the link is used.
    OwnerReset,
}

impl LinkKind {
    /// `setup`, `invitation`, `reset` or `owner-reset`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Invitation { .. } => "invitation",
            Self::Reset { .. } => "reset",
            Self::OwnerReset => "owner-reset",
        }
    }

    /// How long a link of this kind may be used, in milliseconds.
    pub fn lifetime_ms(self) -> i64 {
        match self {
            Self::Setup => SETUP_LIFETIME_MS,
            Self::Invitation { .. } => INVITATION_LIFETIME_MS,
            Self::Reset { .. } => RESET_LIFETIME_MS,
            Self::OwnerReset => OWNER_RESET_LIFETIME_MS,
        }
    }

    /// The columns of a row: role, account and user.
    pub(crate) fn columns(self) -> (Option<Role>, Option<i64>, Option<UserId>) {
        match self {
            Self::Setup => (Some(Role::Owner), None, None),
            Self::Invitation { role, account } => (Some(role), account, None),
            Self::Reset { user } => (None, None, Some(user)),
            Self::OwnerReset => (None, None, None),
        }
    }
}

/// One open link. Its text, which is stored only as a digest, may be used once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecord {
    /// Number of the link.
    pub id: LinkId,
    /// Its effect.
    pub kind: LinkKind,
    /// Names of the users that it can reset: one for [`LinkKind::Reset`], all owners who can sign in for
    /// [`LinkKind::OwnerReset`], none for the others.
    pub names: Vec<String>,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Time from which it is refused.
    pub expires_at: UnixMillis,
}

/// A new link. The only moment at which its token can be read.
#[derive(Debug, Clone)]
pub struct NewLink {
    /// Last part of the link, to be shown once.
    pub token: LinkToken,
    /// Its record in the database.
    pub record: LinkRecord,
    /// For the audit log.
    pub event: Event,
}
