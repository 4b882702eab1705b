use std::path::PathBuf;

/// Why a database did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It does not answer, or it refused a statement. The text is for the operator's log, never for a caller.
    #[error("{0}")]
    Unavailable(String),
    /// A newer version of the program wrote it.
    #[error(
        "the database has schema version {found}, this program knows versions up to {known}: start a newer program or name another place"
    )]
    NewerSchema {
        /// Version found.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// There is a file already, which is not replaced.
    #[error("{0} exists: nothing is written over it")]
    Exists(PathBuf),
    /// Another process has the database open.
    #[error("{0} is in use: stop the instance first")]
    InUse(PathBuf),
    /// What was found where a database is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// A database of another program.
    #[error("the file is no database of accounts")]
    Foreign,
    /// The text is no address of a PostgreSQL server. It is not repeated, since it may hold a password.
    #[error("not an address of the form postgres://user:password@host:port/database")]
    Url,
    /// This library was compiled without its feature `postgres`.
    #[error("not usable: this program was built without PostgreSQL")]
    WithoutPostgres,
}

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unavailable(match error {
            sqlx::Error::PoolTimedOut => "no connection became free in time".to_owned(),
            other => other.to_string(),
        })
    }
}
