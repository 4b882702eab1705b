//! Scripts that callers have saved.

use crate::AccountId;
use crate::store::AccessFuture;

/// SHA-256 of a script's source, which is its name.
pub type ScriptHash = [u8; 32];

/// How much one owner may save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Scripts.
    pub scripts_max: u32,
    /// Bytes of all of them together.
    pub bytes_max: u64,
}

/// Whose limits a saved script counts for. What one of them saves takes nothing from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptOwner {
    /// Holders of the keys of an account.
    Keys(AccountId),
    /// Whoever comes by an alias or from an origin of an account: both are public, so that anybody may be that.
    Public(AccountId),
    /// Callers without an account.
    Anonymous,
}

impl ScriptOwner {
    /// One number for each; accounts are numbered from 1.
    pub(crate) const fn number(self) -> i64 {
        match self {
            Self::Keys(account) => account.0,
            Self::Public(account) => -account.0,
            Self::Anonymous => 0,
        }
    }
}

/// Where saved scripts are kept.
///
/// A script is found by everyone who knows its hash, which is to know its text; the owner counts for the limits alone.
pub trait ScriptStore: Send + Sync {
    /// Saves a script for an owner, or makes it the newest of the owner's. What the owner saved longest ago makes room for it; a
    /// script that alone is beyond the limits is not kept.
    ///
    /// # Errors
    /// [`crate::AccessError::Unavailable`].
    fn save_script<'a>(
        &'a self,
        owner: ScriptOwner,
        hash: ScriptHash,
        source: &'a str,
        limits: ScriptLimits,
    ) -> AccessFuture<'a, ()>;

    /// The source of a script.
    ///
    /// # Errors
    /// [`crate::AccessError::Unavailable`].
    fn find_script(&self, hash: ScriptHash) -> AccessFuture<'_, Option<String>>;
}
