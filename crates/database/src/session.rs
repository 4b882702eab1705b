use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
#[cfg(feature = "postgres")]
use sqlx::{PgConnection, Postgres};
use sqlx::{Sqlite, SqliteConnection};

use crate::DatabaseFuture;

/// One connection, on which statements run one after the other.
pub struct Session(Kind);

// Without `postgres` all variants begin with `Sqlite`.
#[cfg_attr(not(feature = "postgres"), allow(clippy::enum_variant_names))]
enum Kind {
    SqliteOwn(SqliteConnection),
    SqliteHeld(PoolConnection<Sqlite>),
    SqliteBegun(sqlx::Transaction<'static, Sqlite>),
    #[cfg(feature = "postgres")]
    PostgresOwn(Box<PgConnection>),
    #[cfg(feature = "postgres")]
    PostgresHeld(PoolConnection<Postgres>),
    #[cfg(feature = "postgres")]
    PostgresBegun(sqlx::Transaction<'static, Postgres>),
}

/// The connection itself, by its database.
pub(crate) enum Engine<'a> {
    Sqlite(&'a mut SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(&'a mut PgConnection),
}

impl Session {
    pub(crate) fn engine(&mut self) -> Engine<'_> {
        match &mut self.0 {
            Kind::SqliteOwn(connection) => Engine::Sqlite(connection),
            Kind::SqliteHeld(connection) => Engine::Sqlite(connection),
            Kind::SqliteBegun(connection) => Engine::Sqlite(connection),
            #[cfg(feature = "postgres")]
            Kind::PostgresOwn(connection) => Engine::Postgres(connection),
            #[cfg(feature = "postgres")]
            Kind::PostgresHeld(connection) => Engine::Postgres(connection),
            #[cfg(feature = "postgres")]
            Kind::PostgresBegun(connection) => Engine::Postgres(connection),
        }
    }
}

impl From<SqliteConnection> for Session {
    fn from(connection: SqliteConnection) -> Self {
        Self(Kind::SqliteOwn(connection))
    }
}

#[cfg(feature = "postgres")]
impl From<PgConnection> for Session {
    fn from(connection: PgConnection) -> Self {
        Self(Kind::PostgresOwn(Box::new(connection)))
    }
}

impl From<PoolConnection<Sqlite>> for Session {
    fn from(connection: PoolConnection<Sqlite>) -> Self {
        Self(Kind::SqliteHeld(connection))
    }
}

#[cfg(feature = "postgres")]
impl From<PoolConnection<Postgres>> for Session {
    fn from(connection: PoolConnection<Postgres>) -> Self {
        Self(Kind::PostgresHeld(connection))
    }
}

/// Statements that are committed together; dropped without [`Transaction::commit`], they are rolled back.
pub struct Transaction(Session);

impl Transaction {
    pub(crate) fn sqlite(begun: sqlx::Transaction<'static, Sqlite>) -> Self {
        Self(Session(Kind::SqliteBegun(begun)))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(begun: sqlx::Transaction<'static, Postgres>) -> Self {
        Self(Session(Kind::PostgresBegun(begun)))
    }

    /// Commits all statements.
    ///
    /// # Errors
    /// [`crate::DatabaseError::Unavailable`]; it is then unknown whether the commit took effect.
    pub fn commit(self) -> DatabaseFuture<'static, ()> {
        Box::pin(async move {
            match self.0.0 {
                Kind::SqliteBegun(begun) => Ok(begun.commit().await?),
                #[cfg(feature = "postgres")]
                Kind::PostgresBegun(begun) => crate::server::in_time(begun.commit()).await,
                // A transaction is made of a connection that has begun one.
                _ => Ok(()),
            }
        })
    }
}

impl Deref for Transaction {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.0
    }
}
