use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{
    AccessError, AccountId, AccountRecord, AccountUsage, AliasRecord, ApiKey, AuditRow, CreatedKey, Grace, Granted,
    KeyRecord, KeySelector, NewAlias, NewAuditLine, NewKey, OriginId, OriginPattern, OriginRecord, Plan,
    RecordedRequest, UnixMillis,
};

/// The future of a [`KeyStore`] method.
pub type AccessFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AccessError>> + Send + 'a>>;

/// The key store as the gateway and the console see it; an engine shared by several gateways can stand behind it.
///
/// Every method answers [`AccessError::Unavailable`] when the store cannot be consulted. `actor` goes to the
/// audit log: `cli`, `key:<id>` or `user:<id>`.
pub trait KeyStore: Send + Sync {
    /// Makes an account.
    fn create_account<'a>(
        &'a self,
        name: &'a str,
        plan: Plan,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, AccountRecord>;

    /// All accounts, by number.
    fn accounts(&self) -> AccessFuture<'_, Vec<AccountRecord>>;

    /// Puts an account on another plan; keys beyond the new plan's number go on working.
    fn set_plan<'a>(
        &'a self,
        account: AccountId,
        plan: Plan,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, AccountRecord>;

    /// Makes a key.
    fn create<'a>(&'a self, new: NewKey, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, CreatedKey>;

    /// All keys, the revoked ones included, by number.
    fn list(&self) -> AccessFuture<'_, Vec<KeyRecord>>;

    /// The keys of one account, the revoked ones included, by number.
    fn list_of(&self, account: AccountId) -> AccessFuture<'_, Vec<KeyRecord>>;

    /// Ends a key. The next [`KeyStore::authenticate`] of this process refuses it; other processes within their lease,
    /// for which [`KeyStore::settle`] waits. Revoking a revoked key changes nothing.
    fn revoke<'a>(&'a self, selector: KeySelector, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, KeyRecord>;

    /// A new key with the settings of an active one, which keeps working for the grace.
    fn reroll<'a>(
        &'a self,
        selector: KeySelector,
        grace: Grace,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, CreatedKey>;

    /// Makes an alias.
    fn create_alias<'a>(&'a self, new: NewAlias, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, AliasRecord>;

    /// All aliases, by number.
    fn aliases(&self) -> AccessFuture<'_, Vec<AliasRecord>>;

    /// Ends an alias.
    fn remove_alias<'a>(&'a self, name: &'a str, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, AliasRecord>;

    /// Registers an origin. It is served at once when `proved`, else after [`KeyStore::confirm_origin`].
    fn register_origin<'a>(
        &'a self,
        account: AccountId,
        pattern: OriginPattern,
        proved: bool,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, OriginRecord>;

    /// All registered origins, by number.
    fn origins(&self) -> AccessFuture<'_, Vec<OriginRecord>>;

    /// Activates an origin whose owner has shown the token; `by` names the kind of proof.
    fn confirm_origin<'a>(
        &'a self,
        id: OriginId,
        by: &'a str,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, OriginRecord>;

    /// Ends a registration.
    fn remove_origin<'a>(&'a self, id: OriginId, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, OriginRecord>;

    /// The record of an active key; `None` for a key that is unknown, revoked or expired, without saying which, and after
    /// the same look-up.
    fn authenticate<'a>(&'a self, key: &'a ApiKey, now: UnixMillis) -> AccessFuture<'a, Option<Arc<KeyRecord>>>;

    /// The alias of that name.
    fn find_alias<'a>(&'a self, name: &'a str) -> AccessFuture<'a, Option<Arc<AliasRecord>>>;

    /// The registration that covers an `Origin` and whose ownership is proved; the oldest where several do.
    fn find_origin<'a>(&'a self, origin: &'a str) -> AccessFuture<'a, Option<Arc<OriginRecord>>>;

    /// As [`KeyStore::authenticate`], from the cache alone: `None` means that the key is not cached, or that the cache
    /// may not be used at the moment.
    fn recall_key(&self, key: &ApiKey, now: UnixMillis) -> Option<Arc<KeyRecord>>;

    /// As [`KeyStore::find_alias`], from the cache alone.
    fn recall_alias(&self, name: &str) -> Option<Arc<AliasRecord>>;

    /// As [`KeyStore::find_origin`], from the cache alone.
    fn recall_origin(&self, origin: &str) -> Option<Arc<OriginRecord>>;

    /// Counts one request of a known caller, at its end; kept in memory and written twice a second and at [`KeyStore::close`].
    fn record_use(&self, request: RecordedRequest, now: UnixMillis);

    /// Requests of an account in the newest `days` UTC days, that of `now` included; at most [`crate::USAGE_DAYS_MAX`].
    fn usage(&self, account: AccountId, days: u32, now: UnixMillis) -> AccessFuture<'_, AccountUsage>;

    /// What keys, aliases and origins of an account have been granted in the minute and the UTC day of `now`, without counting
    /// anything; those without a request today are left out. Requests granted by other processes are in it after half a second.
    fn granted(&self, account: AccountId, now: UnixMillis) -> AccessFuture<'_, Vec<Granted>>;

    /// Whether the store can be consulted. While it cannot, no caller is served, anonymous ones included (docs/access.md).
    fn available(&self) -> AccessFuture<'_, ()>;

    /// Waits until every process has seen the changes made before. To be called before an answer confirms that a key is
    /// revoked (docs/access.md, "Revocation").
    fn settle(&self) -> AccessFuture<'_, ()>;

    /// Writes a line into the audit log about something that was changed elsewhere: a user, a session.
    fn note(&self, line: NewAuditLine, now: UnixMillis) -> AccessFuture<'_, ()>;

    /// Newest lines of the audit log first.
    fn audit(&self, limit: u32) -> AccessFuture<'_, Vec<AuditRow>>;

    /// Writes the counted uses now.
    fn flush(&self) -> AccessFuture<'_, ()>;

    /// Writes what is in memory and closes the store; nothing counted before is lost.
    fn close(&self) -> AccessFuture<'_, ()>;
}
