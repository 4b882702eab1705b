use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};

use crate::migrate::Migrations;
#[cfg(feature = "postgres")]
use crate::server;
use crate::{DatabaseError, DatabaseFuture, DatabaseLocation, Session, Transaction};

/// How long a statement waits for another process's write.
pub(crate) const BUSY: Duration = Duration::from_secs(2);
/// Connections of one process to a file.
const FILE_CONNECTIONS_MAX: u32 = 4;

/// The open database of one crate.
///
/// Must be used inside a tokio runtime.
#[derive(Debug, Clone)]
pub struct Database {
    location: DatabaseLocation,
    pool: ConnectionPool,
    #[cfg(feature = "postgres")]
    writer: i64,
}

#[derive(Debug, Clone)]
enum ConnectionPool {
    Sqlite(SqlitePool, Box<SqliteConnectOptions>),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool),
}

impl Database {
    /// Opens a database and brings its schema up to date; a missing file is created. Several processes may do so at the
    /// same time.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], and [`DatabaseError::NewerSchema`] if a newer program has migrated it.
    pub fn open(location: &DatabaseLocation, migrations: Migrations) -> DatabaseFuture<'_, Self> {
        Box::pin(async move {
            // The last connection locks a file when it closes, so this one stays until there are others.
            let (pool, first) = match location {
                DatabaseLocation::File(path) => {
                    let options = sqlite_options(path);
                    let first = first_connection(&options.clone().create_if_missing(true)).await?;
                    let pool = SqlitePoolOptions::new().max_connections(FILE_CONNECTIONS_MAX).acquire_timeout(BUSY);
                    (ConnectionPool::Sqlite(pool.connect_lazy_with(options.clone()), Box::new(options)), Some(first))
                }
                #[cfg(feature = "postgres")]
                DatabaseLocation::Server(url) => (ConnectionPool::Postgres(server::pool(url)), None),
                #[cfg(not(feature = "postgres"))]
                DatabaseLocation::Server(url) => url.never(),
            };
            let database = Self {
                location: location.clone(),
                pool,
                #[cfg(feature = "postgres")]
                writer: migrations.writer(),
            };
            migrations.apply(&database).await?;
            if let Some(first) = first {
                first.close().await?;
            }
            Ok(database)
        })
    }

    /// The file or server that was opened.
    pub fn location(&self) -> &DatabaseLocation {
        &self.location
    }

    /// A connection.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`] when none becomes free, or the database does not answer.
    pub fn session(&self) -> DatabaseFuture<'_, Session> {
        Box::pin(async move {
            Ok(match &self.pool {
                ConnectionPool::Sqlite(pool, _) => pool.acquire().await?.into(),
                #[cfg(feature = "postgres")]
                ConnectionPool::Postgres(pool) => pool.acquire().await?.into(),
            })
        })
    }

    /// Begins to write. Of all processes one at a time is between this and the end of its transaction, so what it reads stays
    /// true until it has written.
    ///
    /// # Errors
    /// As [`Database::session`], and when another process writes for too long.
    pub fn begin(&self) -> DatabaseFuture<'_, Transaction> {
        Box::pin(async move {
            match &self.pool {
                ConnectionPool::Sqlite(pool, _) => Ok(Transaction::sqlite(pool.begin_with("BEGIN IMMEDIATE").await?)),
                #[cfg(feature = "postgres")]
                ConnectionPool::Postgres(pool) => server::begin(pool, self.writer).await,
            }
        })
    }

    /// A connection outside the pool, for a query that is repeated for the life of the process.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`] when the file is not there.
    pub fn watch(&self) -> Result<Watch, DatabaseError> {
        let file = match &self.location {
            DatabaseLocation::File(path) => Some(FileIdentity::of(path)?),
            DatabaseLocation::Server(_) => None,
        };
        Ok(Watch { database: self.clone(), file, session: None })
    }

    /// Whether [`Database::close`] was called.
    pub fn is_closed(&self) -> bool {
        match &self.pool {
            ConnectionPool::Sqlite(pool, _) => pool.is_closed(),
            #[cfg(feature = "postgres")]
            ConnectionPool::Postgres(pool) => pool.is_closed(),
        }
    }

    /// Closes all connections but those of a [`Watch`].
    pub fn close(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            match &self.pool {
                ConnectionPool::Sqlite(pool, _) => pool.close().await,
                #[cfg(feature = "postgres")]
                ConnectionPool::Postgres(pool) => server::close(pool).await,
            }
        })
    }
}

/// A connection that reconnects after [`Watch::release`] and checks that the database is still the one that was opened.
pub struct Watch {
    database: Database,
    file: Option<FileIdentity>,
    session: Option<Session>,
}

impl Watch {
    /// The connection, and whether it is a new one.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], also when another file has replaced the one that was opened, and for a server that
    /// follows another one and so may be behind.
    pub fn session(&mut self) -> DatabaseFuture<'_, (&mut Session, bool)> {
        Box::pin(async move {
            // An open file can be read after it has been moved or removed; it is then no longer ours.
            if let (DatabaseLocation::File(path), Some(file)) = (&self.database.location, &self.file)
                && FileIdentity::of(path)? != *file
            {
                return Err(DatabaseError::Unavailable("another file is in its place".to_owned()));
            }
            let is_new = self.session.is_none();
            let session = match self.session.take() {
                Some(session) => session,
                None => self.database.connect().await?,
            };
            Ok((self.session.insert(session), is_new))
        })
    }

    /// Drops the connection; the next query opens a new one.
    pub fn release(&mut self) {
        self.session = None;
    }
}

impl Database {
    async fn connect(&self) -> Result<Session, DatabaseError> {
        match &self.pool {
            ConnectionPool::Sqlite(_, options) => Ok(options.connect().await?.into()),
            #[cfg(feature = "postgres")]
            ConnectionPool::Postgres(_) => match &self.location {
                DatabaseLocation::Server(url) => server::connect(url).await,
                DatabaseLocation::File(_) => Err(DatabaseError::Url),
            },
        }
    }
}

fn sqlite_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
        .disable_statement_logging()
}

/// Connects to a file that other processes may be opening at the same moment. The one that changes the form of its journal holds
/// it locked, and `SQLite` does not wait for that by itself.
async fn first_connection(options: &SqliteConnectOptions) -> Result<SqliteConnection, DatabaseError> {
    /// Time between two tries.
    const PAUSE: Duration = Duration::from_millis(20);
    let deadline = Instant::now() + BUSY;
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
pub(crate) fn is_busy(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| code & 0xff == 5)
}

/// Which file a path names.
#[derive(PartialEq, Eq)]
struct FileIdentity(u64, u64);

impl FileIdentity {
    fn of(path: &Path) -> Result<Self, DatabaseError> {
        let metadata = std::fs::metadata(path).map_err(|error| DatabaseError::Unavailable(error.to_string()))?;
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
