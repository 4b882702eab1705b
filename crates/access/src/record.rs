use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::windows::{DAY_MS, UNLIMITED};
use crate::{AccessError, ApiKey, Plan, WindowLimits};

/// A point in time, milliseconds since the Unix epoch. Passed in by the caller.
pub type UnixMillis = i64;

/// Longest key name, in characters.
pub const NAME_CHARS_MAX: usize = 128;

/// Longest life of a key, in days: a hundred years.
pub const KEY_LIFE_DAYS_MAX: u32 = 36_500;

/// The moment that is so many days, 1 to [`KEY_LIFE_DAYS_MAX`], after `now`.
///
/// # Errors
/// [`AccessError::InvalidExpiry`].
pub fn expiry_in_days(days: u32, now: UnixMillis) -> Result<UnixMillis, AccessError> {
    if !(1..=KEY_LIFE_DAYS_MAX).contains(&days) {
        return Err(AccessError::InvalidExpiry);
    }
    now.checked_add(i64::from(days) * DAY_MS).ok_or(AccessError::InvalidExpiry)
}

/// Number of a key; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub i64);

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Number of an account; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountId(pub i64);

impl fmt::Display for AccountId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// One account: the owner of keys, aliases and origins under one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountRecord {
    /// Number of the account.
    pub id: AccountId,
    /// Free text, with the rules of a key's name.
    pub name: String,
    /// Its plan.
    pub plan: Plan,
    /// When it was made.
    pub created_at: UnixMillis,
}

/// Owner of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOwner {
    /// A new account with the key's name and this plan.
    NewAccount(Plan),
    /// An account that exists; its plan says how many keys it may have.
    Account(AccountId),
}

/// Settings of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Free text, 1 to [`NAME_CHARS_MAX`] characters without control characters.
    pub name: String,
    /// Its owner, which determines its plan.
    pub owner: KeyOwner,
    /// Its own limits, within those of the plan.
    pub limits: WindowLimits,
    /// May it do admin operations (ingest, observe, attest)?
    pub admin: bool,
    /// May it create and revoke keys through the API?
    pub management: bool,
    /// From when on it is refused: after the moment of its creation and at most [`KEY_LIFE_DAYS_MAX`] later. `None`: when it is
    /// revoked.
    pub expires_at: Option<UnixMillis>,
}

impl NewKey {
    /// A key in a new account of the Free plan, without any extra right.
    pub fn named(name: impl Into<String>) -> Self {
        Self::on_plan(name, Plan::FREE)
    }

    /// A key in a new account of a plan, without any extra right.
    pub fn on_plan(name: impl Into<String>, plan: Plan) -> Self {
        Self::owned_by(name, KeyOwner::NewAccount(plan))
    }

    /// A key of an account that exists, without any extra right.
    pub fn in_account(name: impl Into<String>, account: AccountId) -> Self {
        Self::owned_by(name, KeyOwner::Account(account))
    }

    fn owned_by(name: impl Into<String>, owner: KeyOwner) -> Self {
        Self { name: name.into(), owner, limits: WindowLimits::NONE, admin: false, management: false, expires_at: None }
    }

    pub(crate) fn check(&self, now: UnixMillis) -> Result<(), AccessError> {
        check_name(&self.name)?;
        check_limits(self.limits)?;
        let last = now.saturating_add(i64::from(KEY_LIFE_DAYS_MAX) * DAY_MS);
        match self.expires_at {
            Some(at) if at <= now || at > last => Err(AccessError::InvalidExpiry),
            _ => Ok(()),
        }
    }
}

pub(crate) fn check_name(name: &str) -> Result<(), AccessError> {
    let length = name.chars().take(NAME_CHARS_MAX + 1).count();
    if length == 0 || length > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return Err(AccessError::InvalidName);
    }
    Ok(())
}

/// Rejects a limit of zero, which would be a revocation that no list shows.
pub(crate) fn check_limits(limits: WindowLimits) -> Result<(), AccessError> {
    let valid = |limit: Option<u32>| limit.is_none_or(|limit| (1..UNLIMITED).contains(&limit));
    if valid(limits.per_minute) && valid(limits.per_day) { Ok(()) } else { Err(AccessError::InvalidLimit) }
}

/// One key as lists show it; only its owner has the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Number of the key.
    pub id: KeyId,
    /// Its account.
    pub account: AccountId,
    /// Free text given at creation.
    pub name: String,
    /// First four hex digits of the key.
    pub prefix: String,
    /// Plan of its account.
    pub plan: Plan,
    /// Its own limits.
    pub limits: WindowLimits,
    /// Admin flag.
    pub admin: bool,
    /// May manage keys through the API.
    pub management: bool,
    /// When the key was made.
    pub created_at: UnixMillis,
    /// When a request with the key was last counted.
    pub last_used_at: Option<UnixMillis>,
    /// Requests counted so far.
    pub request_count: i64,
    /// It is refused from then on: by its own end, or by that of its grace after a reroll, whichever comes first.
    pub expires_at: Option<UnixMillis>,
    /// Its own end, which a reroll passes on to the new key.
    pub own_expires_at: Option<UnixMillis>,
    /// Whether it was rerolled, so that another key replaces it.
    pub is_replaced: bool,
    /// Since when the key is refused.
    pub revoked_at: Option<UnixMillis>,
}

impl KeyRecord {
    /// Whether the key is accepted at `now`.
    pub fn is_active(&self, now: UnixMillis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// A new key and its record. The only moment at which the key can be read.
#[derive(Debug, Clone)]
pub struct CreatedKey {
    /// The key, to be shown once.
    pub key: ApiKey,
    /// Its record in the store.
    pub record: KeyRecord,
}

/// Names one key: by number or by the key itself.
#[derive(Debug, Clone)]
pub enum KeySelector {
    /// By number.
    Id(KeyId),
    /// By the key.
    Key(ApiKey),
}

/// How long a rerolled key works on beside its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// Zero: it ends at once.
    pub span: Duration,
    /// Whether an account may have one such key at a time, so that rerolling in a chain makes no more keys than its plan has, and one.
    pub is_one_at_a_time: bool,
}

impl Grace {
    /// For the operator, whose keys are not counted.
    pub const fn of(span: Duration) -> Self {
        Self { span, is_one_at_a_time: false }
    }

    /// For an account's own keys.
    pub const fn one_at_a_time(span: Duration) -> Self {
        Self { span, is_one_at_a_time: true }
    }
}

impl FromStr for KeySelector {
    type Err = AccessError;

    /// 32 hex digits are a key, other decimal text is a number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(key) = text.parse() {
            return Ok(Self::Key(key));
        }
        text.parse().map(|id| Self::Id(KeyId(id))).map_err(|_| AccessError::NoSuchKey)
    }
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Grows by one per line.
    pub id: i64,
    /// Time of the change.
    pub at: UnixMillis,
    /// The actor: `cli`, `dev`, `key:<id>` or `user:<id>`.
    pub actor: String,
    /// The action, in one word: `create`, `revoke`, `reroll`, `plan`, `register`, `verify`, `remove`, `pause` and others.
    pub action: String,
    /// The object: `account:<id>`, `key:<id>`, `alias:<id>`, `origin:<id>`, `webhook:<id>` and others.
    pub subject: String,
    /// Details, never a key.
    pub detail: String,
}

/// A line for the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAuditLine {
    /// The actor: `cli`, `key:<id>`, `user:<id>`.
    pub actor: String,
    /// The action, in one word.
    pub action: &'static str,
    /// The object: `user:<id>`, `session:<id>`, `link:<id>`, `webhook:<id>`.
    pub subject: String,
    /// Details, never a key.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_limited_and_hold_no_control_characters() {
        for (name, accepted) in [
            ("production-backend".to_owned(), true),
            ("é".repeat(128), true),
            ("é".repeat(129), false),
            ("a".repeat(10_240), false),
            (String::new(), false),
            ("line\nbreak".to_owned(), false),
            ("bell\u{7}".to_owned(), false),
            ("nul\0".to_owned(), false),
            ("c1\u{85}".to_owned(), false),
        ] {
            assert_eq!(NewKey::named(name.clone()).check(0).is_ok(), accepted, "{name:?}");
        }
    }

    #[test]
    fn a_key_ends_after_its_beginning_and_within_a_hundred_years() {
        let last = i64::from(KEY_LIFE_DAYS_MAX) * DAY_MS;
        for (now, at, accepted) in [
            (5, 6, true),
            (5, 5, false),
            (5, i64::MIN, false),
            (0, last, true),
            (0, last + 1, false),
            (0, i64::MAX, false),
            (i64::MAX, i64::MAX, false),
        ] {
            let new = NewKey { expires_at: Some(at), ..NewKey::named("k") };
            assert_eq!(new.check(now).is_ok(), accepted, "{now} {at}");
        }
        assert_eq!(expiry_in_days(1, 7).unwrap(), 7 + DAY_MS);
        assert_eq!(expiry_in_days(KEY_LIFE_DAYS_MAX, 0).unwrap(), last);
        for (days, now) in [(0, 0), (KEY_LIFE_DAYS_MAX + 1, 0), (u32::MAX, 0), (1, i64::MAX)] {
            assert!(matches!(expiry_in_days(days, now), Err(AccessError::InvalidExpiry)), "{days} {now}");
        }
    }

    #[test]
    fn a_limit_of_zero_is_refused() {
        let with = |per_minute, per_day| check_limits(WindowLimits { per_minute, per_day }).is_ok();
        assert!(with(None, None) && with(Some(1), Some(UNLIMITED - 1)));
        assert!(!with(Some(0), None) && !with(None, Some(0)) && !with(Some(UNLIMITED), None));
    }

    #[test]
    fn a_selector_is_a_key_or_a_number() {
        assert!(matches!("0123456789abcdef0123456789abcdef".parse(), Ok(KeySelector::Key(_))));
        assert!(matches!("17".parse(), Ok(KeySelector::Id(KeyId(17)))));
        assert!("0123456789abcdef0123456789abcde".parse::<KeySelector>().is_err());
        assert!("".parse::<KeySelector>().is_err());
    }
}
