use crate::{LinkId, Role, SessionId, UserId};

/// What an operation changed, for the caller's audit log. It holds numbers, no name and nothing that opens anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A link was made.
    LinkMade {
        /// Its number.
        link: LinkId,
        /// `setup`, `invitation`, `reset` or `owner-reset`.
        kind: &'static str,
        /// Whom it resets.
        user: Option<UserId>,
        /// What an invited user will be.
        role: Option<Role>,
        /// To which account an invited user will belong.
        account: Option<i64>,
    },
    /// A link was withdrawn unused.
    LinkWithdrawn(LinkId),
    /// A user was made by a link.
    Joined {
        /// Who.
        user: UserId,
        /// By which link.
        link: LinkId,
        /// As what.
        role: Role,
        /// Of which account.
        account: Option<i64>,
    },
    /// A link gave a user a new password, removed the second factor and ended all sessions.
    Reset {
        /// Who.
        user: UserId,
        /// By which link.
        link: LinkId,
    },
    /// A user signed in.
    SignedIn {
        /// Who.
        user: UserId,
        /// The new session.
        session: SessionId,
        /// What was given beside the password.
        factor: &'static str,
    },
    /// A session has a new token.
    Rotated(SessionId),
    /// Sessions ended before their time.
    SessionsEnded {
        /// Whose.
        user: UserId,
        /// How many.
        count: u64,
    },
    /// A user has a new password, and other sessions ended.
    PasswordChanged {
        /// Who.
        user: UserId,
        /// How many other sessions ended.
        ended: u64,
    },
    /// A second factor is asked for from now on.
    SecondFactorAdded(UserId),
    /// No second factor is asked for from now on.
    SecondFactorRemoved(UserId),
    /// The recovery codes were replaced.
    RecoveryCodesRenewed(UserId),
    /// A user has another role or account.
    RoleSet {
        /// Who.
        user: UserId,
        /// As what.
        role: Role,
        /// Of which account.
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

    /// On what: `user:<id>`, `link:<id>` or `session:<id>`.
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

    /// Further words, `key=value`; may be empty.
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
