//! Scripts that callers have saved.

use crate::AccountId;
use crate::store::AccessFuture;

/// SHA-256 of a script's source, which is its name.
pub type ScriptHash = [u8; 32];

/// How much one account may save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Scripts.
    pub scripts_max: u32,
    /// Bytes of all of them together.
    pub bytes_max: u64,
}

/// Where saved scripts are kept.
///
/// A script is found by everyone who knows its hash, which is to know its text; the account counts for the limits alone.
pub trait ScriptStore: Send + Sync {
    /// Saves a script for an account (`None`: callers without one, who share their limits), or makes it the newest of the
    /// account's. What the account saved longest ago makes room for it; a script that alone is beyond the limits is not kept.
    ///
    /// # Errors
    /// [`crate::AccessError::Unavailable`].
    fn save_script<'a>(
        &'a self,
        account: Option<AccountId>,
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
