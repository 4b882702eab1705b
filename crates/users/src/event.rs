use crate::{LinkId, Role, SessionId, UserId};

/// The change of an operation, for the caller's audit log. It holds numbers, no names and no credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A link was made.
    LinkMade {
        /// Its number.
        link: LinkId,
        /// `setup`, `invitation`, `reset` or `owner-reset`.
        kind: &'static str,
        /// The user that it resets.
        user: Option<UserId>,
        /// Role of an invited user.
        role: Option<Role>,
        /// Account of an invited user.
        account: Option<i64>,
    },
    /// A link was withdrawn unused.
    LinkWithdrawn(LinkId),
    /// A user was made by a link.
    Joined {
        /// The user.
        user: UserId,
        /// The used link.
        link: LinkId,
        /// The role.
        role: Role,
        /// The account.
        account: Option<i64>,
    },
    /// A link gave a user a new password, removed the second factor and ended all sessions.
    Reset {
        /// The user.
        user: UserId,
        /// The used link.
        link: LinkId,
    },
    /// A user signed in.
    SignedIn {
        /// The user.
        user: UserId,
        /// The new session.
        session: SessionId,
        /// The second factor: `totp`, `recovery` or `none`.
        factor: &'static str,
    },
    /// A session has a new token.
    Rotated(SessionId),
    /// Sessions ended before their time.
    SessionsEnded {
        /// The user.
        user: UserId,
        /// Number of ended sessions.
        count: u64,
    },
    /// A user has a new password, and other sessions ended.
    PasswordChanged {
        /// The user.
        user: UserId,
        /// Number of other sessions that ended.
        ended: u64,
    },
    /// A second factor was enabled.
    SecondFactorAdded(UserId),
    /// The second factor was disabled.
    SecondFactorRemoved(UserId),
    /// The recovery codes were replaced.
    RecoveryCodesRenewed(UserId),
    /// A user has another role or account.
    RoleSet {
        /// The user.
        user: UserId,
        /// The role.
        role: Role,
        /// The account.
        account: Option<i64>,
    },
    /// Signing in is refused from now on, and the sessions ended.
    Disabled(UserId),
    /// Signing in is allowed again.
    Enabled(UserId),
    /// A user is gone, with all sessions.
    Removed(UserId),
}

impl Event {
    /// The word of the audit log, such as `sign-in`.
    pub fn action(&self) -> &'static str {
        match self {
            Self::LinkMade { .. } => "link",
            Self::LinkWithdrawn(_) => "withdraw",
            Self::Joined { .. } => "join",
            Self::Reset { .. } => "reset",
            Self::SignedIn { .. } => "sign-in",
            Self::Rotated(_) => "rotate",
            Self::SessionsEnded { .. } => "sign-out",
            Self::PasswordChanged { .. } => "password",
            Self::SecondFactorAdded(_) => "second-factor",
            Self::SecondFactorRemoved(_) => "second-factor-removed",
            Self::RecoveryCodesRenewed(_) => "recovery-codes",
            Self::RoleSet { .. } => "role",
            Self::Disabled(_) => "disable",
            Self::Enabled(_) => "enable",
            Self::Removed(_) => "remove",
        }
    }

    /// The object: `user:<id>`, `link:<id>` or `session:<id>`.
    pub fn subject(&self) -> String {
        match self {
            Self::LinkMade { link, .. } | Self::LinkWithdrawn(link) => format!("link:{link}"),
            Self::Rotated(session) => format!("session:{session}"),
            Self::Joined { user, .. }
            | Self::Reset { user, .. }
            | Self::SignedIn { user, .. }
            | Self::SessionsEnded { user, .. }
            | Self::PasswordChanged { user, .. }
            | Self::RoleSet { user, .. }
            | Self::SecondFactorAdded(user)
            | Self::SecondFactorRemoved(user)
            | Self::RecoveryCodesRenewed(user)
            | Self::Disabled(user)
            | Self::Enabled(user)
            | Self::Removed(user) => format!("user:{user}"),
        }
    }

    /// Details, `key=value`; may be empty.
    pub fn detail(&self) -> String {
        let of_account =
            |account: &Option<i64>| account.map(|account| format!(" account:{account}")).unwrap_or_default();
        match self {
            Self::LinkMade { kind, user, role, account, .. } => {
                let user = user.map(|user| format!(" user:{user}")).unwrap_or_default();
                let role = role.map(|role| format!(" role={role}")).unwrap_or_default();
                format!("kind={kind}{user}{role}{}", of_account(account))
            }
            Self::Joined { link, role, account, .. } => format!("link:{link} role={role}{}", of_account(account)),
            Self::Reset { link, .. } => format!("link:{link}"),
            Self::SignedIn { session, factor, .. } => format!("session:{session} factor={factor}"),
            Self::SessionsEnded { count, .. } => format!("sessions={count}"),
            Self::PasswordChanged { ended, .. } => format!("sessions={ended}"),
            Self::RoleSet { role, account, .. } => format!("role={role}{}", of_account(account)),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_line_of_the_audit_log() {
        let made = Event::LinkMade {
            link: LinkId(3),
            kind: "invitation",
            user: None,
            role: Some(Role::Member),
            account: Some(7),
        };
        assert_eq!(
            (made.action(), made.subject(), made.detail()),
            ("link", "link:3".to_owned(), "kind=invitation role=member account:7".to_owned())
        );
        let removed = Event::Removed(UserId(9));
        assert_eq!(
            (removed.action(), removed.subject(), removed.detail()),
            ("remove", "user:9".to_owned(), String::new())
        );
    }
}
