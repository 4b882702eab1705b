use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::{AccessError, ApiKey, AuditRow, CreatedKey, KeyId, KeyRecord, KeySelector, NewKey, UnixMillis};

/// What the methods of [`KeyStore`] answer.
pub type AccessFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AccessError>> + Send + 'a>>;

/// The key store as the gateway sees it; an engine shared by several gateways can stand behind it.
///
/// Every method answers [`AccessError::Unavailable`] when the store cannot be consulted.
pub trait KeyStore: Send + Sync {
    /// Makes a key. `actor` is who asks, for the audit log.
    fn create<'a>(&'a self, new: NewKey, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, CreatedKey>;

    /// All keys, the revoked ones included, by number.
    fn list(&self) -> AccessFuture<'_, Vec<KeyRecord>>;

    /// Ends a key. The next [`KeyStore::authenticate`] of this process refuses it; other processes within their lease.
    /// Revoking a revoked key changes nothing.
    fn revoke<'a>(&'a self, selector: KeySelector, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, KeyRecord>;

    /// A new key with the settings of an active one, which keeps working for `grace` (zero: not at all).
    fn reroll<'a>(
        &'a self,
        selector: KeySelector,
        grace: Duration,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, CreatedKey>;

    /// The record of an active key; `None` for a key that is unknown, revoked or expired, without telling which.
    fn authenticate<'a>(&'a self, key: &'a ApiKey, now: UnixMillis) -> AccessFuture<'a, Option<KeyRecord>>;

    /// Counts one request; kept in memory and written once a second and at [`KeyStore::close`].
    fn record_use(&self, id: KeyId, now: UnixMillis);

    /// Whether the store can be consulted. While it cannot, nobody is served, keyless callers included (`decisions` 2.4).
    fn available(&self) -> AccessFuture<'_, ()>;

    /// Newest lines of the audit log first.
    fn audit(&self, limit: u32) -> AccessFuture<'_, Vec<AuditRow>>;

    /// Writes the counted uses now.
    fn flush(&self) -> AccessFuture<'_, ()>;

    /// Writes what is in memory and closes the store; nothing counted before is lost.
    fn close(&self) -> AccessFuture<'_, ()>;
}
