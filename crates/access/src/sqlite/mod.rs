mod accounts;
mod aliases;
mod counts;
mod keys;
mod origins;
mod scripts;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::cache::Known;
use crate::lease::{LEASE, Lease, RENEWAL};
use crate::store::{AccessFuture, KeyStore};
use crate::usage::{PendingUse, Use};
use crate::{
    AccessError, AccountId, AccountRecord, AliasRecord, ApiKey, AuditRow, ClientNet, CreatedKey, Decision, KeyRecord,
    KeySelector, NewAlias, NewKey, OriginId, OriginPattern, OriginRecord, Plan, Plans, Reservation, ScriptHash,
    ScriptLimits, ScriptStore, Subject, Throttle, ThrottleSettings, UnixMillis, Used, WindowLimits, WindowTable,
    Windows,
};

/// How often what was counted is written. Twice a second, so that a kill loses less than the last second.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// How often subjects that rest are forgotten.
const FORGET_INTERVAL: Duration = Duration::from_mins(10);
/// How long a statement waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// Connections of one process.
const CONNECTIONS_MAX: u32 = 4;

/// Accounts, keys, aliases, origins and counts in one SQLite file, which several processes of one machine may open.
///
/// Must be opened inside a tokio runtime. Dropping it stops its background work; [`KeyStore::close`] also writes what is pending.
#[derive(Clone)]
pub struct SqliteKeyStore(Arc<Inner>);

struct Inner {
    pool: SqlitePool,
    plans: Plans,
    known: Known,
    lease: Lease,
    pending: PendingUse,
    windows: WindowTable,
    throttle: Throttle,
    /// Held while counts are on their way to the store, so that a flush answers only after all that was counted before it.
    flushing: tokio::sync::Mutex<()>,
}

impl SqliteKeyStore {
    /// As [`SqliteKeyStore::open_with`], with the seeded plans.
    ///
    /// # Errors
    /// See there.
    pub async fn open(path: &Path) -> Result<Self, AccessError> {
        Self::open_with(path, Plans::default()).await
    }

    /// Opens or creates the file, and brings its schema up to date.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`] when the file cannot be opened, [`AccessError::NewerSchema`] when a newer program wrote it.
    pub async fn open_with(path: &Path, plans: Plans) -> Result<Self, AccessError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let mut first = first_connection(&options.clone().create_if_missing(true)).await?;
        crate::migrations::migrate(&mut first).await?;

        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(BUSY_TIMEOUT)
            .connect_lazy_with(options.clone());
        let inner = Arc::new(Inner {
            pool,
            plans,
            known: Known::default(),
            lease: Lease::new(path, options)?,
            pending: PendingUse::default(),
            windows: WindowTable::default(),
            throttle: Throttle::default(),
            flushing: tokio::sync::Mutex::new(()),
        });
        inner.lease.renew(&inner.known).await?;
        counts::load(&inner, clock()).await?;
        // The last connection locks the file when it closes, so this one stays until there are others.
        first.close().await?;
        inner.keep_lease();
        inner.keep_flushing();
        Ok(Self(inner))
    }
}

/// Connects to a file that other processes may be opening at the same moment. The one that changes the form of its journal holds
/// it locked, and `SQLite` does not wait for that by itself.
async fn first_connection(options: &SqliteConnectOptions) -> Result<SqliteConnection, AccessError> {
    /// Time between two tries.
    const PAUSE: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match options.connect().await {
            Err(sqlx::Error::Database(error)) if is_busy(error.code().as_deref()) && Instant::now() < deadline => {
                tokio::time::sleep(PAUSE).await;
            }
            outcome => return Ok(outcome?),
        }
    }
}

/// `SQLITE_BUSY` in any of its extended forms, whose lowest byte is 5.
fn is_busy(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
}

impl Inner {
    fn keep_lease(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut failing = false;
            loop {
                tokio::time::sleep(RENEWAL).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.pool.is_closed() {
                    return;
                }
                let renewed = inner.lease.renew(&inner.known).await;
                match &renewed {
                    Err(error) if !failing => {
                        tracing::error!(%error, "the key store cannot be consulted: nobody is served");
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
                if inner.pool.is_closed() {
                    return;
                }
                if let Err(error) = inner.flush().await {
                    tracing::warn!(%error, "key usage could not be written, it stays in memory");
                }
                if forgotten.elapsed() > FORGET_INTERVAL {
                    inner.windows.forget_before(clock());
                    forgotten = tokio::time::Instant::now();
                }
            }
        });
    }

    async fn flush(&self) -> Result<(), AccessError> {
        counts::flush(self).await
    }

    async fn ensure(&self) -> Result<(), AccessError> {
        self.lease.ensure(&self.known).await
    }

    /// Answers from memory, while the lease lasts.
    fn recall<T>(&self, look: impl FnOnce(&Known) -> Option<T>) -> Option<T> {
        if self.lease.is_held() { look(&self.known) } else { None }
    }
}

/// The time of this machine, for housekeeping alone; whatever decides about a request is told the time.
fn clock() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis::try_from(since.as_millis()).unwrap_or(UnixMillis::MAX)
}

async fn audit(
    connection: &mut SqliteConnection,
    now: UnixMillis,
    actor: &str,
    action: &str,
    subject: String,
    detail: String,
) -> Result<(), AccessError> {
    sqlx::query("INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)")
        .bind(now)
        .bind(actor)
        .bind(action)
        .bind(subject)
        .bind(detail)
        .execute(connection)
        .await?;
    Ok(())
}

impl KeyStore for SqliteKeyStore {
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
        grace: Duration,
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
            keys::authenticate(&self.0, key, now).await
        })
    }

    fn find_alias<'a>(&'a self, name: &'a str) -> AccessFuture<'a, Option<Arc<AliasRecord>>> {
        Box::pin(async move {
            self.0.ensure().await?;
            aliases::look_up(&self.0, name).await
        })
    }

    fn find_origin<'a>(&'a self, origin: &'a str) -> AccessFuture<'a, Option<Arc<OriginRecord>>> {
        Box::pin(async move {
            self.0.ensure().await?;
            origins::look_up(&self.0, origin).await
        })
    }

    fn recall_key(&self, key: &ApiKey, now: UnixMillis) -> Option<Arc<KeyRecord>> {
        let found = self.0.recall(|known| known.keys.get(&key.digest()).ok())?;
        found.is_active(now).then_some(found)
    }

    fn recall_alias(&self, name: &str) -> Option<Arc<AliasRecord>> {
        self.0.recall(|known| known.aliases.get(name).ok())
    }

    fn recall_origin(&self, origin: &str) -> Option<Arc<OriginRecord>> {
        self.0.recall(|known| known.origins.get(origin).ok())
    }

    fn record_use(&self, used: Used, now: UnixMillis) {
        self.0.pending.add(used, Use { count: 1, last_used_at: now });
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

    fn audit(&self, limit: u32) -> AccessFuture<'_, Vec<AuditRow>> {
        Box::pin(async move {
            let rows =
                sqlx::query("SELECT id, at, actor, action, subject, detail FROM audit ORDER BY id DESC LIMIT $1")
                    .bind(i64::from(limit))
                    .fetch_all(&self.0.pool)
                    .await?;
            rows.iter()
                .map(|row| {
                    Ok(AuditRow {
                        id: row.try_get("id")?,
                        at: row.try_get("at")?,
                        actor: row.try_get("actor")?,
                        action: row.try_get("action")?,
                        subject: row.try_get("subject")?,
                        detail: row.try_get("detail")?,
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
            self.0.pool.close().await;
            flushed
        })
    }
}

impl ScriptStore for SqliteKeyStore {
    fn save_script<'a>(
        &'a self,
        account: Option<AccountId>,
        hash: ScriptHash,
        source: &'a str,
        limits: ScriptLimits,
    ) -> AccessFuture<'a, ()> {
        Box::pin(scripts::save(&self.0, account, hash, source, limits))
    }

    fn find_script(&self, hash: ScriptHash) -> AccessFuture<'_, Option<String>> {
        Box::pin(scripts::find(&self.0, hash))
    }
}

impl Windows for SqliteKeyStore {
    fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> AccessFuture<'_, Decision> {
        Box::pin(std::future::ready(Ok(self.0.windows.admit(subject, limits, now))))
    }

    fn reserve(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) -> AccessFuture<'_, Reservation> {
        Box::pin(std::future::ready(Ok(self.0.throttle.reserve(client, settings, now))))
    }

    fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
        self.0.throttle.give_back(client, settings, now);
    }
}
