mod accounts;
mod aliases;
mod counting;
mod counts;
mod keys;
mod origins;
mod scripts;
#[cfg(feature = "redis")]
mod shared;
mod usage;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use paraffin_database::{Database, DatabaseError, DatabaseLocation, Session, query};

use crate::cache::AccessCache;
use crate::lease::{LEASE, Lease, RENEWAL};
use crate::migrations::MIGRATIONS;
use crate::patience;
use crate::store::{AccessFuture, KeyStore};
use crate::usage::PendingUse;
use crate::{
    AccessError, AccountId, AccountRecord, AccountUsage, AliasRecord, ApiKey, AuditRow, ClientNet, CreatedKey,
    Decision, Grace, Granted, KeyRecord, KeySelector, NewAlias, NewAuditLine, NewKey, OriginId, OriginPattern,
    OriginRecord, Plan, Plans, RecordedRequest, Reservation, ScriptHash, ScriptLimits, ScriptOwner, ScriptStore,
    SharedState, Subject, ThrottleSettings, UnixMillis, WindowLimits, Windows,
};
use counting::Counting;

/// Interval of writing counts. Twice a second, so that a kill loses less than the last second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// How long opening retries a store that was reached and is slow; each query has the timeout of a request.
const OPENING: Duration = Duration::from_secs(10);
/// Interval of evicting idle subjects.
const FORGET_INTERVAL: Duration = Duration::from_mins(10);
/// Timeout of the store's answer to one request.
const LOOK_UP: Duration = Duration::from_millis(800);

/// Accounts, keys, aliases, origins, saved scripts and counts in one database: SQLite in a file, which several processes of one
/// machine may open, or PostgreSQL, which processes of many machines may share.
///
/// Must be opened inside a tokio runtime. Dropping it stops its background work; [`KeyStore::close`] also writes what is pending.
#[derive(Clone)]
pub struct DatabaseKeyStore(Arc<Inner>);

struct Inner {
    database: Database,
    plans: Plans,
    cache: AccessCache,
    lease: Lease,
    pending: PendingUse,
    counting: Counting,
    /// Held while counts are on their way to the store, so that a flush answers only after all that was counted before it.
    flushing: tokio::sync::Mutex<()>,
}

impl DatabaseKeyStore {
    /// Opens a file, with the seeded plans.
    ///
    /// # Errors
    /// As [`DatabaseKeyStore::open_at`].
    pub fn open(path: &Path) -> AccessFuture<'_, Self> {
        Box::pin(async move { Self::open_at(&DatabaseLocation::File(path.to_owned()), Plans::default()).await })
    }

    /// Opens a database, creates the file if it is missing, and brings the schema up to date.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`] when it cannot be opened, [`AccessError::NewerSchema`] when a newer program wrote it.
    pub fn open_at(location: &DatabaseLocation, plans: Plans) -> AccessFuture<'_, Self> {
        Box::pin(async move {
            let database = Database::open(location, MIGRATIONS).await?;
            Self::open_with(database, plans, Counting::Own(Box::default())).await
        })
    }

    async fn open_with(database: Database, plans: Plans, counting: Counting) -> Result<Self, AccessError> {
        let inner = Arc::new(Inner {
            lease: Lease::new(&database)?,
            database,
            plans,
            cache: AccessCache::default(),
            pending: PendingUse::default(),
            counting,
            flushing: tokio::sync::Mutex::new(()),
        });
        let began = Instant::now();
        while let Err(error) = inner.lease.renew(&inner.cache).await {
            if !matches!(error, AccessError::Unavailable(_)) || began.elapsed() > OPENING {
                return Err(error);
            }
            tokio::time::sleep(RENEWAL).await;
        }
        counts::load(&inner, clock()).await?;
        usage::prune(&inner, clock()).await?;
        inner.keep_lease();
        inner.keep_flushing();
        Ok(Self(inner))
    }
}

impl Inner {
    fn keep_lease(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut failing = false;
            loop {
                tokio::time::sleep(RENEWAL).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.database.is_closed() {
                    return;
                }
                let renewed = inner.lease.renew(&inner.cache).await;
                match &renewed {
                    Err(error) if !failing => {
                        tracing::error!(%error, "the key store cannot be consulted: every request is refused");
                    }
                    Ok(()) if failing => tracing::info!("the key store answers again"),
                    _ => {}
                }
                failing = renewed.is_err();
            }
        });
    }

    fn keep_flushing(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut forgotten = tokio::time::Instant::now();
            loop {
                tokio::time::sleep(FLUSH_INTERVAL).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.database.is_closed() {
                    return;
                }
                if let Err(error) = inner.flush().await {
                    tracing::warn!(%error, "key usage could not be written, it stays in memory");
                }
                if forgotten.elapsed() > FORGET_INTERVAL {
                    inner.counting.forget_before(clock());
                    if let Err(error) = usage::prune(&inner, clock()).await {
                        tracing::warn!(%error, "old usage could not be removed, it is tried again");
                    }
                    forgotten = tokio::time::Instant::now();
                }
            }
        });
    }

    async fn flush(&self) -> Result<(), AccessError> {
        counts::flush(self).await
    }

    async fn ensure(&self) -> Result<(), AccessError> {
        self.lease.ensure(&self.cache).await
    }

    /// Looks a record up in the cache, while the lease lasts.
    fn recall<T>(&self, look: impl FnOnce(&AccessCache) -> Option<T>) -> Option<T> {
        if self.counting.may_recall() && self.lease.is_held() { look(&self.cache) } else { None }
    }
}

/// The time of this machine, for housekeeping alone; decisions about requests get the time as a parameter.
fn clock() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis::try_from(since.as_millis()).unwrap_or(UnixMillis::MAX)
}

/// The answer of the store to a request, or an error when it takes longer than [`LOOK_UP`].
async fn soon<T>(question: impl Future<Output = Result<T, AccessError>>) -> Result<T, AccessError> {
    let away = || Err(AccessError::Unavailable("it does not answer".to_owned()));
    patience::within(LOOK_UP, question).await.unwrap_or_else(away)
}

async fn audit(
    connection: &mut Session,
    now: UnixMillis,
    actor: &str,
    action: &'static str,
    subject: String,
    detail: String,
) -> Result<(), AccessError> {
    let line = NewAuditLine { actor: actor.to_owned(), action, subject, detail };
    Ok(write_audit_line(connection, line, now).await?)
}

/// Writes a line into the audit log beside the accounts, in the transaction of what it is about.
///
/// # Errors
/// [`DatabaseError::Unavailable`].
pub async fn write_audit_line(
    connection: &mut Session,
    line: NewAuditLine,
    now: UnixMillis,
) -> Result<(), DatabaseError> {
    query("INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)")
        .bind(now)
        .bind(line.actor)
        .bind(line.action)
        .bind(line.subject)
        .bind(line.detail)
        .execute(connection)
        .await?;
    Ok(())
}

impl KeyStore for DatabaseKeyStore {
    fn create_account<'a>(
        &'a self,
        name: &'a str,
        plan: Plan,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, AccountRecord> {
        Box::pin(accounts::create(&self.0, name, plan, actor, now))
    }

    fn accounts(&self) -> AccessFuture<'_, Vec<AccountRecord>> {
        Box::pin(accounts::list(&self.0))
    }

    fn set_plan<'a>(
        &'a self,
        account: AccountId,
        plan: Plan,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, AccountRecord> {
        Box::pin(accounts::set_plan(&self.0, account, plan, actor, now))
    }

    fn create<'a>(&'a self, new: NewKey, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, CreatedKey> {
        Box::pin(keys::create(&self.0, new, actor, now))
    }

    fn list(&self) -> AccessFuture<'_, Vec<KeyRecord>> {
        Box::pin(keys::list(&self.0, None))
    }

    fn list_of(&self, account: AccountId) -> AccessFuture<'_, Vec<KeyRecord>> {
        Box::pin(keys::list(&self.0, Some(account)))
    }

    fn revoke<'a>(&'a self, selector: KeySelector, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, KeyRecord> {
        Box::pin(async move { keys::revoke(&self.0, &selector, actor, now).await })
    }

    fn reroll<'a>(
        &'a self,
        selector: KeySelector,
        grace: Grace,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, CreatedKey> {
        Box::pin(async move { keys::reroll(&self.0, &selector, grace, actor, now).await })
    }

    fn create_alias<'a>(&'a self, new: NewAlias, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, AliasRecord> {
        Box::pin(aliases::create(&self.0, new, actor, now))
    }

    fn aliases(&self) -> AccessFuture<'_, Vec<AliasRecord>> {
        Box::pin(aliases::list(&self.0))
    }

    fn remove_alias<'a>(&'a self, name: &'a str, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, AliasRecord> {
        Box::pin(aliases::remove(&self.0, name, actor, now))
    }

    fn register_origin<'a>(
        &'a self,
        account: AccountId,
        pattern: OriginPattern,
        proved: bool,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, OriginRecord> {
        Box::pin(async move { origins::register(&self.0, account, &pattern, proved, actor, now).await })
    }

    fn origins(&self) -> AccessFuture<'_, Vec<OriginRecord>> {
        Box::pin(origins::list(&self.0))
    }

    fn confirm_origin<'a>(
        &'a self,
        id: OriginId,
        by: &'a str,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, OriginRecord> {
        Box::pin(origins::confirm(&self.0, id, by, actor, now))
    }

    fn remove_origin<'a>(&'a self, id: OriginId, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, OriginRecord> {
        Box::pin(origins::remove(&self.0, id, actor, now))
    }

    fn authenticate<'a>(&'a self, key: &'a ApiKey, now: UnixMillis) -> AccessFuture<'a, Option<Arc<KeyRecord>>> {
        Box::pin(async move {
            self.0.ensure().await?;
            soon(keys::authenticate(&self.0, key, now)).await
        })
    }

    fn find_alias<'a>(&'a self, name: &'a str) -> AccessFuture<'a, Option<Arc<AliasRecord>>> {
        Box::pin(async move {
            self.0.ensure().await?;
            soon(aliases::look_up(&self.0, name)).await
        })
    }

    fn find_origin<'a>(&'a self, origin: &'a str) -> AccessFuture<'a, Option<Arc<OriginRecord>>> {
        Box::pin(async move {
            self.0.ensure().await?;
            soon(origins::look_up(&self.0, origin)).await
        })
    }

    fn recall_key(&self, key: &ApiKey, now: UnixMillis) -> Option<Arc<KeyRecord>> {
        let found = self.0.recall(|cache| cache.keys.get(&key.digest()).ok())?;
        found.is_active(now).then_some(found)
    }

    fn recall_alias(&self, name: &str) -> Option<Arc<AliasRecord>> {
        self.0.recall(|cache| cache.aliases.get(name).ok())
    }

    fn recall_origin(&self, origin: &str) -> Option<Arc<OriginRecord>> {
        self.0.recall(|cache| cache.origins.get(origin).ok())
    }

    fn record_use(&self, request: RecordedRequest, now: UnixMillis) {
        self.0.pending.record(request, now);
    }

    fn usage(&self, account: AccountId, days: u32, now: UnixMillis) -> AccessFuture<'_, AccountUsage> {
        Box::pin(usage::of_account(&self.0, account, days, now))
    }

    fn granted(&self, account: AccountId, now: UnixMillis) -> AccessFuture<'_, Vec<Granted>> {
        Box::pin(usage::granted(&self.0, account, now))
    }

    fn available(&self) -> AccessFuture<'_, ()> {
        Box::pin(self.0.ensure())
    }

    fn settle(&self) -> AccessFuture<'_, ()> {
        Box::pin(async move {
            tokio::time::sleep(LEASE).await;
            Ok(())
        })
    }

    fn note(&self, line: NewAuditLine, now: UnixMillis) -> AccessFuture<'_, ()> {
        Box::pin(async move {
            let mut session = self.0.database.session().await?;
            Ok(write_audit_line(&mut session, line, now).await?)
        })
    }

    fn audit(&self, limit: u32) -> AccessFuture<'_, Vec<AuditRow>> {
        Box::pin(async move {
            let rows = query("SELECT id, at, actor, action, subject, detail FROM audit ORDER BY id DESC LIMIT $1")
                .bind(i64::from(limit))
                .fetch_all(&mut self.0.database.session().await?)
                .await?;
            rows.iter()
                .map(|row| {
                    Ok(AuditRow {
                        id: row.get("id")?,
                        at: row.get("at")?,
                        actor: row.get("actor")?,
                        action: row.get("action")?,
                        subject: row.get("subject")?,
                        detail: row.get("detail")?,
                    })
                })
                .collect()
        })
    }

    fn flush(&self) -> AccessFuture<'_, ()> {
        Box::pin(self.0.flush())
    }

    fn close(&self) -> AccessFuture<'_, ()> {
        Box::pin(async move {
            let flushed = self.0.flush().await;
            self.0.lease.release().await;
            self.0.database.close().await;
            flushed
        })
    }
}

impl ScriptStore for DatabaseKeyStore {
    fn save_script<'a>(
        &'a self,
        owner: ScriptOwner,
        hash: ScriptHash,
        source: &'a str,
        limits: ScriptLimits,
    ) -> AccessFuture<'a, ()> {
        Box::pin(scripts::save(&self.0, owner, hash, source, limits))
    }

    fn find_script(&self, hash: ScriptHash) -> AccessFuture<'_, Option<String>> {
        Box::pin(scripts::find(&self.0, hash))
    }
}

impl Windows for DatabaseKeyStore {
    fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> AccessFuture<'_, Decision> {
        self.0.counting.admit(subject, limits, now)
    }

    fn reserve(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) -> AccessFuture<'_, Reservation> {
        self.0.counting.reserve(client, settings, now)
    }

    fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
        self.0.counting.give_back(client, settings, now);
    }

    fn shared(&self) -> Option<SharedState> {
        self.0.counting.shared()
    }
}
