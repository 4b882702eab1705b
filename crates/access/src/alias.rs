use crate::{AccessError, AccountId, ApiKey, Plan, UnixMillis, WindowLimits};

/// Path segments below `/v4` with another meaning, so that no alias may have their name.
pub const RESERVED_WORDS: [&str; 14] = [
    "jsonrpc",
    "api",
    "opi",
    "mempool",
    "forex",
    "orderbook",
    "btcusd",
    "espo",
    "reorg",
    "esplora",
    "udf",
    "health",
    "docs",
    "admin",
];

/// Words of surfaces that came when there were aliases already: no new alias may have their name, and one that has it goes on
/// working, since these words have no meaning without a key before them.
pub const RESERVED_SINCE: [&str; 5] = ["dexscreener", "coingecko", "events", "webhooks", "electrum"];

/// Words of surfaces to come: no new alias may have their name, and one that has it works until that surface is there.
pub const RESERVED_FOR_LATER: [&str; 1] = ["console"];

/// Surfaces of an alias that names none.
pub const ALIAS_SURFACES_DEFAULT: [&str; 3] = ["main", "rest", "opi"];

/// All surfaces that an alias can be allowed. The explorer and the webhooks are none of them: they take a key and nothing else
/// (docs/verification.md, docs/webhooks.md).
pub const ALIAS_SURFACES: [&str; 15] = [
    "main",
    "rest",
    "opi",
    "mempool",
    "forex",
    "orderbook",
    "btcusd",
    "espo",
    "reorg",
    "esplora",
    "udf",
    "events",
    "dexscreener",
    "coingecko",
    "electrum",
];

/// Number of an alias; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AliasId(pub i64);

/// Settings of a new alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlias {
    /// The account that it counts for.
    pub account: AccountId,
    /// 3 to 32 of `a-z`, `0-9`, `-`; no reserved word and nothing that has the form of a key.
    pub name: String,
    /// Names out of [`ALIAS_SURFACES`]; at least one.
    pub surfaces: Vec<String>,
    /// Its own limits, within those of the account's plan.
    pub limits: WindowLimits,
    /// Aliases that the account may have with this one; `None`: any number.
    pub count_max: Option<u32>,
}

/// One alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasRecord {
    /// Number of the alias.
    pub id: AliasId,
    /// Its account.
    pub account: AccountId,
    /// Plan of the account.
    pub plan: Plan,
    /// The segment in the path.
    pub name: String,
    /// Surfaces that it may be used for.
    pub surfaces: Vec<String>,
    /// Its own limits.
    pub limits: WindowLimits,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When a request was last counted.
    pub last_used_at: Option<UnixMillis>,
    /// Requests counted so far.
    pub request_count: i64,
}

impl AliasRecord {
    /// Whether the alias may be used for a surface.
    pub fn allows(&self, surface: &str) -> bool {
        self.surfaces.iter().any(|allowed| allowed == surface)
    }
}

/// Whether a segment has the form of an alias.
pub fn is_alias_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (3..=32).contains(&text.len())
        && text.bytes().all(allowed)
        && !RESERVED_WORDS.contains(&text)
        && text.parse::<ApiKey>().is_err()
}

impl NewAlias {
    /// An alias with the default surfaces and the limits of its account's plan.
    pub fn named(account: AccountId, name: impl Into<String>) -> Self {
        let surfaces = ALIAS_SURFACES_DEFAULT.map(ToOwned::to_owned).to_vec();
        Self { account, name: name.into(), surfaces, limits: WindowLimits::NONE, count_max: None }
    }

    pub(crate) fn check(&self) -> Result<(), AccessError> {
        let name = self.name.as_str();
        if !is_alias_name(name) || RESERVED_FOR_LATER.contains(&name) || RESERVED_SINCE.contains(&name) {
            return Err(AccessError::InvalidAlias);
        }
        if self.surfaces.is_empty() || !self.surfaces.iter().all(|name| ALIAS_SURFACES.contains(&name.as_str())) {
            return Err(AccessError::InvalidSurface);
        }
        crate::record::check_limits(self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row AU07
    #[test]
    fn an_alias_is_short_and_plain_and_neither_a_reserved_word_nor_a_key() {
        for name in ["abc", "my-app", "0x1", "subfrost", &"a".repeat(32).replace('a', "z"), &"a".repeat(31)] {
            assert!(is_alias_name(name), "{name}");
        }
        for name in ["", "ab", "My-app", "my_app", "my app", "é-é-é", &"z".repeat(33), &"a".repeat(32), &"0".repeat(32)]
        {
            assert!(!is_alias_name(name), "{name}");
        }
        for name in RESERVED_WORDS {
            assert!(!is_alias_name(name), "{name}");
        }
        for name in RESERVED_FOR_LATER.into_iter().chain(RESERVED_SINCE) {
            assert!(is_alias_name(name), "an alias that has the name {name} goes on working");
            assert!(matches!(NewAlias::named(AccountId(1), name).check(), Err(AccessError::InvalidAlias)), "{name}");
        }
    }

    #[test]
    fn an_alias_names_surfaces_that_exist() {
        let with = |surfaces: &[&str]| NewAlias {
            surfaces: surfaces.iter().map(|&name| name.to_owned()).collect(),
            ..NewAlias::named(AccountId(1), "my-app")
        };
        assert!(with(&["main", "espo"]).check().is_ok());
        assert!(matches!(with(&[]).check(), Err(AccessError::InvalidSurface)));
        assert!(matches!(with(&["main", "explorer"]).check(), Err(AccessError::InvalidSurface)));
    }
}
