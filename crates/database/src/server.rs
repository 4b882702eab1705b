//! PostgreSQL: settings of a connection, and time limits for answers of the server.

use std::future::Future;
use std::time::Duration;

use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Executor as _, PgConnection};

use crate::query::query;
use crate::{DatabaseError, ServerUrl, Session, Transaction};

/// How long a caller waits for a connection, a new one included.
const CONNECT: Duration = Duration::from_secs(3);
/// Longest time for the answer to one statement. A server that is paused or cut off never answers, and no other timeout would end
/// the wait.
const ANSWER: Duration = Duration::from_secs(3);
/// Longest time to close the connections.
const CLOSE: Duration = Duration::from_millis(800);
/// Connections of one process.
const CONNECTIONS_MAX: u32 = 8;

/// Settings of every connection. A writer that is paused in a transaction must not block all others for ever,
/// and a commit is acknowledged only when it is on disk.
const SETTINGS: &str = "SET default_transaction_isolation = 'read committed'; SET synchronous_commit = 'on'; \
    SET lock_timeout = '2500ms'; SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '1500ms'";

pub(crate) fn pool(url: &ServerUrl) -> PgPool {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(CONNECT)
        .after_connect(|connection, _| Box::pin(prepare(connection)))
        .connect_lazy_with(url.options().clone())
}

/// A connection of its own.
///
/// # Errors
/// [`DatabaseError::Unavailable`], also for a server that follows another one and so may be behind.
pub(crate) async fn connect(url: &ServerUrl) -> Result<Session, DatabaseError> {
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

/// Begins a transaction that holds the advisory lock `writer`, so that one writer at a time has it.
pub(crate) async fn begin(pool: &PgPool, writer: i64) -> Result<Transaction, DatabaseError> {
    let mut begun = in_time(pool.begin()).await?;
    in_time(begun.execute(sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(writer))).await?;
    Ok(Transaction::postgres(begun))
}

pub(crate) async fn close(pool: &PgPool) {
    // A server that is paused does not close its side.
    drop(tokio::time::timeout(CLOSE, pool.close()).await);
}

async fn prepare(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(SETTINGS)).await?;
    Ok(())
}

/// The answer of a server, or an error when it takes too long.
pub(crate) async fn in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, DatabaseError> {
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(DatabaseError::Unavailable("the database does not answer".to_owned())),
    }
}
