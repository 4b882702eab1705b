use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};

use crate::AccessError;
use crate::cache::Known;

/// How long this process may answer from what it knows without having asked the store. A change made by another process
/// is seen within this time (`decisions` 2.4).
pub const LEASE: Duration = Duration::from_secs(1);

/// How often the lease is renewed.
pub(crate) const RENEWAL: Duration = Duration::from_millis(200);

/// A renewal that takes longer has failed.
const RENEWAL_TIMEOUT: Duration = Duration::from_millis(800);

/// The right to answer from the cache: held while the version in the store has been read within [`LEASE`].
pub(crate) struct Lease {
    options: SqliteConnectOptions,
    path: PathBuf,
    file: FileIdentity,
    connection: tokio::sync::Mutex<Option<SqliteConnection>>,
    opened: Instant,
    /// End of the lease in nanoseconds after `opened`; every request reads it, so it is no part of what is locked.
    until: AtomicU64,
    state: Mutex<State>,
}

struct State {
    failed_at: Option<Instant>,
    version: Option<i64>,
}

impl Lease {
    pub(crate) fn new(path: &Path, options: SqliteConnectOptions) -> Result<Self, AccessError> {
        Ok(Self {
            options,
            path: path.to_owned(),
            file: FileIdentity::of(path)?,
            connection: tokio::sync::Mutex::new(None),
            opened: Instant::now(),
            until: AtomicU64::new(0),
            state: Mutex::new(State { failed_at: None, version: None }),
        })
    }

    pub(crate) fn is_held(&self) -> bool {
        // Acquire: whoever sees the lease prolonged also sees what was forgotten before it was.
        self.nanos(Instant::now()) < self.until.load(Ordering::Acquire)
    }

    fn nanos(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.opened).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Answers at once while the lease is held; otherwise asks the store.
    pub(crate) async fn ensure(&self, cache: &Known) -> Result<(), AccessError> {
        if self.is_held() {
            return Ok(());
        }
        let failed_at = self.state.lock().failed_at;
        if failed_at.is_some_and(|failed_at| failed_at.elapsed() < RENEWAL) {
            return Err(AccessError::Unavailable("it could not be consulted a moment ago".to_owned()));
        }
        let mut connection = self.connection.lock().await;
        if self.is_held() {
            return Ok(());
        }
        self.renew_with(&mut connection, cache).await
    }

    /// Asks the store whatever the state of the lease.
    pub(crate) async fn renew(&self, cache: &Known) -> Result<(), AccessError> {
        let mut connection = self.connection.lock().await;
        self.renew_with(&mut connection, cache).await
    }

    async fn renew_with(&self, connection: &mut Option<SqliteConnection>, cache: &Known) -> Result<(), AccessError> {
        let started = Instant::now();
        let read = tokio::time::timeout(RENEWAL_TIMEOUT, self.read_version(connection)).await;
        let read = read.unwrap_or_else(|_| Err(AccessError::Unavailable("it does not answer".to_owned())));
        let mut state = self.state.lock();
        match read {
            Ok(version) => {
                // The cache is emptied before the lease is prolonged, so that nobody answers from an old record.
                if state.version != Some(version) {
                    cache.invalidate();
                    state.version = Some(version);
                }
                self.until.store(self.nanos(started + LEASE), Ordering::Release);
                state.failed_at = None;
                Ok(())
            }
            Err(error) => {
                *connection = None;
                state.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    async fn read_version(&self, connection: &mut Option<SqliteConnection>) -> Result<i64, AccessError> {
        // An open file can be read after it has been moved or removed; the store is then no longer ours.
        if FileIdentity::of(&self.path)? != self.file {
            return Err(AccessError::Unavailable("another file is in its place".to_owned()));
        }
        let open = match connection {
            Some(open) => open,
            None => connection.insert(self.options.connect().await?),
        };
        Ok(sqlx::query("SELECT value FROM access_version").fetch_one(open).await?.try_get(0)?)
    }

    pub(crate) async fn release(&self) {
        *self.connection.lock().await = None;
        self.until.store(0, Ordering::Release);
    }
}

/// Which file a path names.
#[derive(PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    fn of(path: &Path) -> Result<Self, AccessError> {
        let metadata = std::fs::metadata(path).map_err(|error| AccessError::Unavailable(error.to_string()))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            Ok(Self(metadata.dev(), metadata.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            Ok(Self(0, 0))
        }
    }
}
