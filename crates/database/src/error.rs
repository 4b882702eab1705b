use std::path::PathBuf;

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It does not answer, or it refused a statement. The text is for the operator's log, never for a caller.
    #[error("{0}")]
    Unavailable(String),
    /// A newer version of the program wrote it.
    #[error(
        "the database has schema version {found}, this program knows versions up to {known}: start a newer program or use another database"
    )]
    NewerSchema {
        /// Version of the database.
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
    /// The integrity check failed; the text is what SQLite reported.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file lacks the tables of the expected schema.
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
