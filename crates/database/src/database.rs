use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, PgConnection, SqliteConnection};

use crate::migrate::Migrations;
use crate::query::{in_time, lock, query};
use crate::{DatabaseError, Place, Session, Transaction};

/// How long a statement waits for another process's write.
const BUSY: Duration = Duration::from_secs(2);
/// How long somebody waits for a connection to a server, a new one included.
const CONNECT: Duration = Duration::from_secs(3);
/// How long a goodbye to a server may take.
const CLOSE: Duration = Duration::from_millis(800);
/// Connections of one process to a file.
const FILE_CONNECTIONS_MAX: u32 = 4;
/// Connections of one process to a server.
const SERVER_CONNECTIONS_MAX: u32 = 8;

/// What every connection to a server begins with. A writer that is paused in the middle of its work must not keep all others
/// waiting for ever, and what was answered must be on the disk.
const SERVER_SETTINGS: &str = "SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on'; \
    SET lock_timeout = '2500ms'; SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '1500ms'";

/// A database of one room, open.
///
/// Must be used inside a tokio runtime.
#[derive(Debug, Clone)]
pub struct Database {
    place: Place,
    pool: Pool,
    writer: i64,
}

#[derive(Debug, Clone)]
enum Pool {
    Sqlite(SqlitePool, Box<SqliteConnectOptions>),
    Postgres(PgPool),
}

impl Database {
    /// Opens a place and brings its schema up to date; a file is made where there is none. Several processes may do so at the
    /// same time.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], and [`DatabaseError::NewerSchema`] where a newer program was here.
    pub async fn open(place: &Place, migrations: Migrations) -> Result<Self, DatabaseError> {
        // The last connection locks a file when it closes, so this one stays until there are others.
        let (pool, first) = match place {
            Place::File(path) => {
                let options = sqlite_options(path);
                let first = first_connection(&options.clone().create_if_missing(true)).await?;
                let pool = SqlitePoolOptions::new().max_connections(FILE_CONNECTIONS_MAX).acquire_timeout(BUSY);
                (Pool::Sqlite(pool.connect_lazy_with(options.clone()), Box::new(options)), Some(first))
            }
            Place::Server(url) => {
                let pool = PgPoolOptions::new()
                    .max_connections(SERVER_CONNECTIONS_MAX)
                    .acquire_timeout(CONNECT)
                    .after_connect(|connection, _| Box::pin(prepare(connection)));
                (Pool::Postgres(pool.connect_lazy_with(url.options().clone())), None)
            }
        };
        let database = Self { place: place.clone(), pool, writer: migrations.writer() };
        migrations.apply(&database).await?;
        if let Some(first) = first {
            first.close().await?;
        }
        Ok(database)
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A connection.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`] when none becomes free, or the database does not answer.
    pub async fn session(&self) -> Result<Session, DatabaseError> {
        Ok(match &self.pool {
            Pool::Sqlite(pool, _) => pool.acquire().await?.into(),
            Pool::Postgres(pool) => pool.acquire().await?.into(),
        })
    }

    /// Begins to write. Of all processes one at a time is between this and the end of its transaction, so what it reads stays
    /// true until it has written.
    ///
    /// # Errors
    /// As [`Database::session`], and when another process writes for too long.
    pub async fn begin(&self) -> Result<Transaction, DatabaseError> {
        match &self.pool {
            Pool::Sqlite(pool, _) => Ok(Transaction::sqlite(pool.begin_with("BEGIN IMMEDIATE").await?)),
            Pool::Postgres(pool) => {
                let mut begun = in_time(pool.begin()).await?;
                lock(&mut begun, self.writer).await?;
                Ok(Transaction::postgres(begun))
            }
        }
    }

    /// A connection of its own, for a question that is asked again and again.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`] when the file is not there.
    pub fn watch(&self) -> Result<Watch, DatabaseError> {
        let file = match &self.place {
            Place::File(path) => Some(FileIdentity::of(path)?),
            Place::Server(_) => None,
        };
        Ok(Watch { database: self.clone(), file, session: None })
    }

    /// Whether [`Database::close`] was called.
    pub fn is_closed(&self) -> bool {
        match &self.pool {
            Pool::Sqlite(pool, _) => pool.is_closed(),
            Pool::Postgres(pool) => pool.is_closed(),
        }
    }

    /// Closes all connections but those of a [`Watch`].
    pub async fn close(&self) {
        match &self.pool {
            Pool::Sqlite(pool, _) => pool.close().await,
            // A server that is paused does not say goodbye.
            Pool::Postgres(pool) => drop(tokio::time::timeout(CLOSE, pool.close()).await),
        }
    }
}

/// A connection that is made anew when it broke, and that knows whether the database is still the one that was opened.
pub struct Watch {
    database: Database,
    file: Option<FileIdentity>,
    session: Option<Session>,
}

impl Watch {
    /// The connection, and whether it is another one than the last time.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], also when another file is in the place of the one that was opened, and for a server that
    /// follows another one and so may be behind.
    pub async fn session(&mut self) -> Result<(&mut Session, bool), DatabaseError> {
        // An open file can be read after it has been moved or removed; it is then no longer ours.
        if let (Place::File(path), Some(file)) = (&self.database.place, &self.file)
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
    }

    /// Lets go of the connection; the next question is asked on a new one.
    pub fn release(&mut self) {
        self.session = None;
    }
}

impl Database {
    async fn connect(&self) -> Result<Session, DatabaseError> {
        match (&self.pool, &self.place) {
            (Pool::Sqlite(_, options), _) => Ok(options.connect().await?.into()),
            (Pool::Postgres(_), Place::Server(url)) => {
                let connected = async {
                    let mut connection: PgConnection = url.options().connect().await?;
                    prepare(&mut connection).await?;
                    Ok(connection)
                };
                let mut session = Session::from(in_time(connected).await?);
                let follows = "SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END::bigint AS follows";
                if query(follows).fetch_one(&mut session).await?.get("follows")? {
                    return Err(DatabaseError::Unavailable("the server is a copy that follows another one".to_owned()));
                }
                Ok(session)
            }
            (Pool::Postgres(_), Place::File(_)) => Err(DatabaseError::Url),
        }
    }
}

async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(SERVER_SETTINGS)).await?;
    Ok(())
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
fn is_busy(code: Option<&str>) -> bool {
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
