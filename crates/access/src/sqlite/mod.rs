use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::cache::RecordCache;
use crate::lease::{Lease, RENEWAL};
use crate::store::{AccessFuture, KeyStore};
use crate::usage::{PendingUse, Use};
use crate::{
    AccessError, ApiKey, AuditRow, CreatedKey, KeyDigest, KeyId, KeyRecord, KeySelector, NewKey, Plan, UnixMillis,
};

/// How often counted uses are written.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How long a statement waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
/// Connections of one process.
const CONNECTIONS_MAX: u32 = 4;

const COLUMNS: &str = "SELECT id, name, prefix, plan, admin, management, created_at, last_used_at, request_count, expires_at, revoked_at FROM api_key";

/// Keys in one SQLite file, which several processes of one machine may open.
///
/// Must be opened inside a tokio runtime. Dropping it stops its background work; [`KeyStore::close`] also writes what is pending.
#[derive(Clone)]
pub struct SqliteKeyStore(Arc<Inner>);

struct Inner {
    pool: SqlitePool,
    cache: RecordCache,
    lease: Lease,
    pending: PendingUse,
    /// Held while uses are on their way to the store, so that a flush answers only after all that was counted before it.
    flushing: tokio::sync::Mutex<()>,
}

impl SqliteKeyStore {
    /// Opens or creates the file, and brings its schema up to date.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`] when the file cannot be opened, [`AccessError::NewerSchema`] when a newer program wrote it.
    pub async fn open(path: &Path) -> Result<Self, AccessError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let mut first = options.clone().create_if_missing(true).connect().await?;
        crate::migrations::migrate(&mut first).await?;
        first.close().await?;

        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(BUSY_TIMEOUT)
            .connect_lazy_with(options.clone());
        let inner = Arc::new(Inner {
            pool,
            cache: RecordCache::default(),
            lease: Lease::new(path, options)?,
            pending: PendingUse::default(),
            flushing: tokio::sync::Mutex::new(()),
        });
        inner.lease.renew(&inner.cache).await?;
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
                if inner.pool.is_closed() {
                    return;
                }
                let renewed = inner.lease.renew(&inner.cache).await;
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
            loop {
                tokio::time::sleep(FLUSH_INTERVAL).await;
                let Some(inner) = weak.upgrade() else { return };
                if inner.pool.is_closed() {
                    return;
                }
                if let Err(error) = inner.flush().await {
                    tracing::warn!(%error, "key usage could not be written, it stays in memory");
                }
            }
        });
    }

    async fn flush(&self) -> Result<(), AccessError> {
        let _flushing = self.flushing.lock().await;
        let uses = self.pending.take();
        if uses.is_empty() {
            return Ok(());
        }
        let written = async {
            let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
            for (id, used) in &uses {
                sqlx::query("UPDATE api_key SET request_count = request_count + $1, last_used_at = MAX(COALESCE(last_used_at, 0), $2) WHERE id = $3")
                    .bind(used.count)
                    .bind(used.last_used_at)
                    .bind(id.0)
                    .execute(&mut *transaction)
                    .await?;
            }
            transaction.commit().await
        }
        .await;
        written.map_err(|error| {
            self.pending.restore(uses);
            error.into()
        })
    }

    async fn find(connection: &mut SqliteConnection, selector: &KeySelector) -> Result<KeyRecord, AccessError> {
        let row = match selector {
            KeySelector::Id(id) => {
                sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE id = $1")))
                    .bind(id.0)
                    .fetch_optional(connection)
                    .await?
            }
            KeySelector::Key(key) => by_digest(connection, &key.digest()).await?,
        };
        record(&row.ok_or(AccessError::NoSuchKey)?)
    }
}

async fn by_digest(connection: &mut SqliteConnection, digest: &KeyDigest) -> Result<Option<SqliteRow>, sqlx::Error> {
    sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE digest = $1")))
        .bind(digest.0.to_vec())
        .fetch_optional(connection)
        .await
}

fn record(row: &SqliteRow) -> Result<KeyRecord, AccessError> {
    let plan: String = row.try_get("plan")?;
    Ok(KeyRecord {
        id: KeyId(row.try_get("id")?),
        name: row.try_get("name")?,
        prefix: row.try_get("prefix")?,
        plan: plan.parse().map_err(|_| AccessError::Unavailable(format!("a key has the unknown plan `{plan}`")))?,
        admin: row.try_get::<i64, _>("admin")? != 0,
        management: row.try_get::<i64, _>("management")? != 0,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
        request_count: row.try_get("request_count")?,
        expires_at: row.try_get("expires_at")?,
        revoked_at: row.try_get("revoked_at")?,
    })
}

async fn insert(connection: &mut SqliteConnection, new: NewKey, now: UnixMillis) -> Result<CreatedKey, AccessError> {
    let key = ApiKey::generate()?;
    let id = sqlx::query(
        "INSERT INTO api_key (name, prefix, digest, plan, admin, management, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
    )
    .bind(&new.name)
    .bind(key.prefix())
    .bind(key.digest().0.to_vec())
    .bind(new.plan.name())
    .bind(i64::from(new.admin))
    .bind(i64::from(new.management))
    .bind(now)
    .fetch_one(connection)
    .await?
    .try_get(0)?;
    let record = KeyRecord {
        id: KeyId(id),
        name: new.name,
        prefix: key.prefix(),
        plan: new.plan,
        admin: new.admin,
        management: new.management,
        created_at: now,
        last_used_at: None,
        request_count: 0,
        expires_at: None,
        revoked_at: None,
    };
    Ok(CreatedKey { key, record })
}

async fn audit(
    connection: &mut SqliteConnection,
    now: UnixMillis,
    actor: &str,
    action: &str,
    subject: KeyId,
    detail: String,
) -> Result<(), AccessError> {
    sqlx::query("INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)")
        .bind(now)
        .bind(actor)
        .bind(action)
        .bind(format!("key:{subject}"))
        .bind(detail)
        .execute(connection)
        .await?;
    Ok(())
}

fn settings(plan: Plan, admin: bool, management: bool) -> String {
    format!("plan={plan} admin={admin} management={management}")
}

impl KeyStore for SqliteKeyStore {
    fn create<'a>(&'a self, new: NewKey, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, CreatedKey> {
        Box::pin(async move {
            new.check()?;
            let detail = settings(new.plan, new.admin, new.management);
            let mut transaction = self.0.pool.begin_with("BEGIN IMMEDIATE").await?;
            let created = insert(&mut transaction, new, now).await?;
            audit(&mut transaction, now, actor, "create", created.record.id, detail).await?;
            transaction.commit().await?;
            Ok(created)
        })
    }

    fn list(&self) -> AccessFuture<'_, Vec<KeyRecord>> {
        Box::pin(async move {
            self.0.flush().await?;
            let rows =
                sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} ORDER BY id"))).fetch_all(&self.0.pool).await?;
            rows.iter().map(record).collect()
        })
    }

    fn revoke<'a>(&'a self, selector: KeySelector, actor: &'a str, now: UnixMillis) -> AccessFuture<'a, KeyRecord> {
        Box::pin(async move {
            let mut transaction = self.0.pool.begin_with("BEGIN IMMEDIATE").await?;
            let mut found = Inner::find(&mut transaction, &selector).await?;
            if found.revoked_at.is_none() {
                sqlx::query("UPDATE api_key SET revoked_at = $1 WHERE id = $2")
                    .bind(now)
                    .bind(found.id.0)
                    .execute(&mut *transaction)
                    .await?;
                audit(&mut transaction, now, actor, "revoke", found.id, String::new()).await?;
                found.revoked_at = Some(now);
            }
            transaction.commit().await?;
            self.0.cache.invalidate();
            Ok(found)
        })
    }

    fn reroll<'a>(
        &'a self,
        selector: KeySelector,
        grace: Duration,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, CreatedKey> {
        Box::pin(async move {
            let mut transaction = self.0.pool.begin_with("BEGIN IMMEDIATE").await?;
            let old = Inner::find(&mut transaction, &selector).await?;
            if !old.is_active(now) {
                return Err(AccessError::Inactive);
            }
            let new = NewKey { name: old.name.clone(), plan: old.plan, admin: old.admin, management: old.management };
            let created = insert(&mut transaction, new, now).await?;
            let grace_ms = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
            let ends = now.saturating_add(grace_ms).min(old.expires_at.unwrap_or(i64::MAX));
            let statement = if ends <= now {
                "UPDATE api_key SET revoked_at = $1 WHERE id = $2"
            } else {
                "UPDATE api_key SET expires_at = $1 WHERE id = $2"
            };
            sqlx::query(statement).bind(ends).bind(old.id.0).execute(&mut *transaction).await?;
            let detail = format!("new=key:{} grace_ms={grace_ms}", created.record.id);
            audit(&mut transaction, now, actor, "reroll", old.id, detail).await?;
            transaction.commit().await?;
            self.0.cache.invalidate();
            Ok(created)
        })
    }

    fn authenticate<'a>(&'a self, key: &'a ApiKey, now: UnixMillis) -> AccessFuture<'a, Option<KeyRecord>> {
        Box::pin(async move {
            self.0.lease.ensure(&self.0.cache).await?;
            let digest = key.digest();
            let found = match self.0.cache.get(&digest) {
                Ok(found) => found,
                Err(generation) => {
                    let mut connection = self.0.pool.acquire().await?;
                    let Some(row) = by_digest(&mut connection, &digest).await? else { return Ok(None) };
                    let found = record(&row)?;
                    self.0.cache.insert(digest, found.clone(), generation);
                    found
                }
            };
            Ok(found.is_active(now).then_some(found))
        })
    }

    fn record_use(&self, id: KeyId, now: UnixMillis) {
        self.0.pending.add(id, Use { count: 1, last_used_at: now });
    }

    fn available(&self) -> AccessFuture<'_, ()> {
        Box::pin(self.0.lease.ensure(&self.0.cache))
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
