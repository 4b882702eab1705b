use std::sync::Arc;
use std::time::Duration;

use argon2::{Algorithm, Argon2, Params, Version};
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, SemaphorePermit};
use zeroize::Zeroizing;

use crate::UsersError;
use crate::name::Name;
use crate::token::random;

/// Shortest password, in bytes.
pub const PASSWORD_BYTES_MIN: usize = 10;
/// Longest password, in bytes.
pub const PASSWORD_BYTES_MAX: usize = 1_024;
/// Passwords that the process hashes at the same time.
pub const HASHES_MAX: usize = 4;

/// How long a request waits until its password can be hashed.
const PATIENCE: Duration = Duration::from_secs(5);
const DIGEST_BYTES: usize = 32;
const SALT_BYTES: usize = 16;

/// Shared by all stores of the process, since it bounds memory and processor cores.
static HASHING: Semaphore = Semaphore::const_new(HASHES_MAX);

/// Parameters of Argon2id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes that could be computed side by side.
    pub lanes: u32,
}

impl PasswordCost {
    /// 19 MiB, 2 passes, 1 lane: the OWASP Password Storage Cheat Sheet's parameters for Argon2id.
    pub const OWASP: Self = Self { memory_kib: 19 * 1_024, passes: 2, lanes: 1 };

    /// Most memory that is taken for one password, 1 GiB; larger values of a database are rejected.
    const MEMORY_KIB_MAX: u32 = 1_024 * 1_024;
    const PASSES_MAX: u32 = 64;
    const LANES_MAX: u32 = 64;

    fn params(self) -> Result<Params, UsersError> {
        if self.memory_kib > Self::MEMORY_KIB_MAX || self.passes > Self::PASSES_MAX || self.lanes > Self::LANES_MAX {
            return Err(UsersError::InvalidCost("at most 1 GiB, 64 passes and 64 lanes"));
        }
        Params::new(self.memory_kib, self.passes, self.lanes, Some(DIGEST_BYTES))
            .map_err(|_| UsersError::InvalidCost("at least 8 KiB for each lane, one pass and one lane"))
    }
}

/// Stored digest of a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PasswordDigest {
    pub(crate) digest: Vec<u8>,
    pub(crate) salt: Vec<u8>,
    pub(crate) cost: PasswordCost,
}

/// A new password, for the user of that name.
pub(crate) fn check_new(password: &str, name: &Name) -> Result<(), UsersError> {
    if !(PASSWORD_BYTES_MIN..=PASSWORD_BYTES_MAX).contains(&password.len()) {
        return Err(UsersError::PasswordLength);
    }
    if Name::parse(password).is_ok_and(|password| password.key == name.key) {
        return Err(UsersError::PasswordIsName);
    }
    Ok(())
}

/// Hashes passwords, with bounded concurrency.
#[derive(Clone)]
pub(crate) struct Hasher {
    cost: PasswordCost,
    permits: &'static Semaphore,
    patience: Duration,
    /// Digest that is compared where there is no user.
    decoy: Arc<PasswordDigest>,
}

impl Hasher {
    pub(crate) fn new(cost: PasswordCost) -> Result<Self, UsersError> {
        cost.params()?;
        let decoy =
            PasswordDigest { digest: random::<DIGEST_BYTES>()?.to_vec(), salt: random::<SALT_BYTES>()?.to_vec(), cost };
        Ok(Self { cost, permits: &HASHING, patience: PATIENCE, decoy: Arc::new(decoy) })
    }

    /// The digest of a new password.
    ///
    /// # Errors
    /// [`UsersError::Busy`].
    pub(crate) async fn hash(&self, password: &str) -> Result<PasswordDigest, UsersError> {
        let (cost, salt) = (self.cost, random::<SALT_BYTES>()?.to_vec());
        let digest = self.compute(password, &salt, cost).await?;
        Ok(PasswordDigest { digest, salt, cost })
    }

    /// Whether the password matches; `false` after the same work where there is no digest.
    ///
    /// # Errors
    /// [`UsersError::Busy`].
    pub(crate) async fn verify(&self, password: &str, stored: Option<&PasswordDigest>) -> Result<bool, UsersError> {
        // No password is longer; the check does not depend on whether the name exists.
        if password.len() > PASSWORD_BYTES_MAX {
            return Ok(false);
        }
        let compared = stored.unwrap_or(&self.decoy);
        let computed = self.compute(password, &compared.salt, compared.cost).await?;
        Ok(bool::from(computed.ct_eq(&compared.digest)) && stored.is_some())
    }

    /// Whether it was hashed with other parameters than the configured ones.
    pub(crate) fn is_outdated(&self, stored: &PasswordDigest) -> bool {
        stored.cost != self.cost
    }

    async fn compute(&self, password: &str, salt: &[u8], cost: PasswordCost) -> Result<Vec<u8>, UsersError> {
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost.params()?);
        let permit = self.permit().await?;
        let (password, salt) = (Zeroizing::new(password.as_bytes().to_vec()), salt.to_vec());
        let hashed = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even when the request was cancelled.
            let _permit = permit;
            let mut digest = vec![0; DIGEST_BYTES];
            argon2.hash_password_into(&password, &salt, &mut digest).map(|()| digest)
        });
        match hashed.await {
            Ok(Ok(digest)) => Ok(digest),
            Ok(Err(error)) => Err(UsersError::Unavailable(format!("a password was not hashed: {error}"))),
            Err(error) => Err(UsersError::Unavailable(format!("a password was not hashed: {error}"))),
        }
    }

    async fn permit(&self) -> Result<SemaphorePermit<'static>, UsersError> {
        match tokio::time::timeout(self.patience, self.permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphore is never closed.
            Ok(Err(_)) | Err(_) => Err(UsersError::Busy),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const CHEAP: PasswordCost = PasswordCost { memory_kib: 8, passes: 1, lanes: 1 };

    /// A cheap hasher with a semaphore of its own.
    pub(crate) fn hasher(permits: usize, patience: Duration) -> Hasher {
        let permits: &'static Semaphore = Box::leak(Box::new(Semaphore::new(permits)));
        Hasher { permits, patience, ..Hasher::new(CHEAP).unwrap() }
    }

    /// Adds permits to the semaphore.
    pub(crate) fn give_turns(hasher: &Hasher, turns: usize) {
        hasher.permits.add_permits(turns);
    }

    #[test]
    fn a_password_has_its_length_in_bytes_and_is_not_the_name() {
        let name = Name::parse("Alice Doe The First").unwrap();
        for (password, outcome) in [
            ("123456789", "a password has 10 to 1024 bytes"),
            ("1234567890", ""),
            ("ééééé", ""),
            (&"é".repeat(512), ""),
            (&"é".repeat(513), "a password has 10 to 1024 bytes"),
            (" alice doe  the FIRST", "the password must not be the name"),
            ("Alice Doe The First!", ""),
        ] {
            let checked = check_new(password, &name).err().map(|error| error.to_string());
            assert_eq!(checked.unwrap_or_default(), outcome, "{password:.30}");
        }
    }

    #[tokio::test]
    async fn a_digest_is_argon2id_with_the_parameters_that_are_stored_beside_it() {
        let hasher = hasher(1, PATIENCE);
        let stored = hasher.hash("correct horse").await.unwrap();
        assert!(hasher.verify("correct horse", Some(&stored)).await.unwrap());
        assert!(!hasher.verify("correct horsf", Some(&stored)).await.unwrap());
        assert!(!hasher.verify("correct horse", None).await.unwrap());
        assert!(!hasher.verify(&"a".repeat(100_000), Some(&stored)).await.unwrap());
        assert_ne!(stored.salt, hasher.hash("correct horse").await.unwrap().salt);
        let mut expected = [0; 32];
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, Some(32)).unwrap());
        argon2.hash_password_into(b"correct horse", &stored.salt, &mut expected).unwrap();
        assert_eq!(stored.digest, expected);
        assert!(!hasher.is_outdated(&stored) && Hasher::new(PasswordCost::OWASP).unwrap().is_outdated(&stored));
    }

    #[test]
    fn the_parameters_are_those_of_owasp_and_invalid_ones_are_refused() {
        assert_eq!(PasswordCost::OWASP, PasswordCost { memory_kib: 19_456, passes: 2, lanes: 1 });
        for (memory_kib, passes, lanes) in
            [(0, 1, 1), (8, 0, 1), (8, 1, 0), (8, 1, 2), (u32::MAX, 1, 1), (8, u32::MAX, 1)]
        {
            let cost = PasswordCost { memory_kib, passes, lanes };
            assert!(matches!(Hasher::new(cost), Err(UsersError::InvalidCost(_))), "{cost:?}");
        }
    }

    #[tokio::test]
    async fn a_request_without_a_permit_in_time_is_refused() {
        let hasher = hasher(2, Duration::from_millis(50));
        let both = hasher.permits.acquire_many(2).await.unwrap();
        assert!(matches!(hasher.hash("correct horse").await, Err(UsersError::Busy)));
        assert!(matches!(hasher.verify("correct horse", None).await, Err(UsersError::Busy)));
        drop(both);
        assert!(hasher.hash("correct horse").await.is_ok());
        assert_eq!(hasher.permits.available_permits(), 2);
    }

    #[tokio::test]
    async fn a_cancelled_request_keeps_its_permit_until_the_work_is_done() {
        let slow = PasswordCost { memory_kib: 32 * 1_024, passes: 2, lanes: 1 };
        let hasher = Hasher { cost: slow, ..hasher(1, PATIENCE) };
        let given_up = tokio::time::timeout(Duration::from_millis(5), hasher.hash("correct horse")).await;
        assert!(given_up.is_err());
        assert_eq!(hasher.permits.available_permits(), 0);
        assert!(hasher.permits.acquire().await.is_ok());
    }

    #[test]
    fn four_passwords_are_hashed_at_once_in_the_process() {
        assert!(std::ptr::eq(Hasher::new(CHEAP).unwrap().permits, Hasher::new(CHEAP).unwrap().permits));
        assert_eq!(HASHES_MAX, 4);
    }
}
