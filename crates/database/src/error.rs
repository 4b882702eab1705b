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
