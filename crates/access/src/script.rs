//! Scripts that callers have saved.

use sha2::{Digest as _, Sha256};

use crate::store::AccessFuture;
use crate::{AccountId, ClientNet};

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

impl ScriptLimits {
    /// The limits divided by `parts`.
    pub(crate) fn part(self, parts: u32) -> Self {
        let scripts_max = if self.scripts_max < parts { 1 } else { self.scripts_max / parts };
        Self { scripts_max, bytes_max: self.bytes_max / u64::from(parts) }
    }

    /// The limits multiplied by `times`.
    pub(crate) fn times(self, times: u32) -> Self {
        Self {
            scripts_max: self.scripts_max.saturating_mul(times),
            bytes_max: self.bytes_max.saturating_mul(u64::from(times)),
        }
    }
}

/// The owner whose limits a saved script counts against. Owners do not evict each other's scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptOwner {
    /// Holders of the keys of an account.
    Keys(AccountId),
    /// Callers by an alias or from an origin of an account: both are public, so any caller may use them.
    Public(AccountId),
    /// Callers without an account, by their address.
    Anonymous(ClientNet),
}

/// Numbers of anonymous callers are below this one.
pub(crate) const ANONYMOUS_BELOW: i64 = -(1 << 61);
/// An anonymous address has this fraction of an owner's limits (one eighth),
pub(crate) const ANONYMOUS_PART: u32 = 8;
/// and all anonymous addresses together have this multiple of them.
pub(crate) const ANONYMOUS_TIMES: u32 = 16;

impl ScriptOwner {
    /// One number for each; accounts are numbered from 1.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Keys(account) => account.0,
            Self::Public(account) => -account.0,
            Self::Anonymous(client) => {
                let digest = Sha256::digest(client.to_string());
                let number = digest.iter().take(8).fold(0_i64, |number, byte| (number << 8) | i64::from(*byte));
                ANONYMOUS_BELOW - (number & ((1 << 61) - 1))
            }
        }
    }

    /// Whether a number of [`Self::number`] is that of an anonymous caller; 0 was once that of all of them.
    pub(crate) const fn is_anonymous(number: i64) -> bool {
        number == 0 || number <= ANONYMOUS_BELOW
    }
}

/// Storage of saved scripts.
///
/// Any caller can read a script by its hash; the owner counts for the limits alone.
pub trait ScriptStore: Send + Sync {
    /// Saves a script for an owner, or makes it the newest of the owner's. The owner's oldest scripts are evicted for it; a
    /// script that alone exceeds the limits is not stored.
    ///
    /// An anonymous address has an eighth of the limits, and all of them together have sixteen times the limits: only scripts that
    /// were not saved again for a week are evicted.
    ///
    /// # Errors
    /// [`crate::AccessError::Unavailable`]; [`crate::AccessError::ScriptsFull`] when the limits of all anonymous callers are reached.
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
