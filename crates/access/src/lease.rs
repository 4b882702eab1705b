use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use paraffin_database::{Database, Watch, query};
use parking_lot::Mutex;

use crate::cache::AccessCache;
use crate::{AccessError, patience};

/// How long this process may answer from its cache after the last query of the store. A change made by another process
/// is seen within this time (docs/access.md, "Revocation").
pub const LEASE: Duration = Duration::from_secs(1);

/// How often the lease is renewed.
pub(crate) const RENEWAL: Duration = Duration::from_millis(200);

/// A renewal that takes longer has failed.
const RENEWAL_TIMEOUT: Duration = Duration::from_millis(800);

/// The right to answer from the cache: held while the version in the store has been read within [`LEASE`].
pub(crate) struct Lease {
    watch: tokio::sync::Mutex<Watch>,
    opened: Instant,
    /// End of the lease in nanoseconds after `opened`; every request reads it, so it is not behind the lock.
    until: AtomicU64,
    state: Mutex<State>,
}

struct State {
    failed_at: Option<Instant>,
    version: Option<i64>,
}

impl Lease {
    pub(crate) fn new(database: &Database) -> Result<Self, AccessError> {
        Ok(Self {
            watch: tokio::sync::Mutex::new(database.watch()?),
            opened: Instant::now(),
            until: AtomicU64::new(0),
            state: Mutex::new(State { failed_at: None, version: None }),
        })
    }

    pub(crate) fn is_held(&self) -> bool {
        // Acquire: a thread that sees the lease prolonged also sees what was evicted before it was.
        self.nanos(Instant::now()) < self.until.load(Ordering::Acquire)
    }

    fn nanos(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.opened).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns at once while the lease is held; otherwise queries the store.
    pub(crate) async fn ensure(&self, cache: &AccessCache) -> Result<(), AccessError> {
        if self.is_held() {
            return Ok(());
        }
        let away = || AccessError::Unavailable("it could not be consulted a moment ago".to_owned());
        let failed_at = self.state.lock().failed_at;
        if failed_at.is_some_and(|failed_at| failed_at.elapsed() < RENEWAL) {
            return Err(away());
        }
        let mut watch = match self.watch.try_lock() {
            Ok(watch) => watch,
            // Another request queries the store already, and the last query failed.
            Err(_) if failed_at.is_some() => return Err(away()),
            Err(_) => self.watch.lock().await,
        };
        if self.is_held() {
            return Ok(());
        }
        if self.state.lock().failed_at.is_some_and(|failed_at| failed_at.elapsed() < RENEWAL) {
            return Err(away());
        }
        self.renew_with(&mut watch, cache).await
    }

    /// Queries the store whether or not the lease is held.
    pub(crate) async fn renew(&self, cache: &AccessCache) -> Result<(), AccessError> {
        let mut watch = self.watch.lock().await;
        self.renew_with(&mut watch, cache).await
    }

    async fn renew_with(&self, watch: &mut Watch, cache: &AccessCache) -> Result<(), AccessError> {
        let started = Instant::now();
        let read = patience::within(RENEWAL_TIMEOUT, read_version(watch)).await;
        let read = read.unwrap_or_else(|| Err(AccessError::Unavailable("it does not answer".to_owned())));
        let mut state = self.state.lock();
        match read {
            Ok((version, is_new)) => {
                // The cache is emptied before the lease is prolonged, so that no request is answered from an old record. Behind a
                // new connection there may be another database, restored from a copy.
                if is_new || state.version != Some(version) {
                    cache.invalidate();
                    state.version = Some(version);
                }
                self.until.store(self.nanos(started + LEASE), Ordering::Release);
                state.failed_at = None;
                Ok(())
            }
            Err(error) => {
                watch.release();
                state.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    pub(crate) async fn release(&self) {
        self.watch.lock().await.release();
        self.until.store(0, Ordering::Release);
    }
}

async fn read_version(watch: &mut Watch) -> Result<(i64, bool), AccessError> {
    let (session, is_new) = watch.session().await?;
    let row = query("SELECT value FROM access_version").fetch_one(session).await?;
    Ok((row.get("value")?, is_new))
}
