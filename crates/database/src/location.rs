use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "postgres")]
use sqlx::{ConnectOptions as _, postgres::PgConnectOptions};

use crate::DatabaseError;

/// Where a database is.
#[derive(Debug, Clone)]
pub enum DatabaseLocation {
    /// SQLite in this file, which several processes of one machine may open.
    File(PathBuf),
    /// A PostgreSQL server (feature `postgres`), which processes of many machines may share.
    Server(ServerUrl),
}

/// The address of a PostgreSQL database, `postgres://user:password@host:port/database`. It holds a password, so `Debug`
/// does not show it. Without the feature `postgres` the type has no values.
#[derive(Clone)]
pub struct ServerUrl(
    #[cfg(feature = "postgres")] Box<PgConnectOptions>,
    #[cfg(not(feature = "postgres"))] std::convert::Infallible,
);

impl FromStr for ServerUrl {
    type Err = DatabaseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err(DatabaseError::Url);
        }
        #[cfg(feature = "postgres")]
        {
            let options: PgConnectOptions = text.parse().map_err(|_| DatabaseError::Url)?;
            Ok(Self(Box::new(options.application_name("paraffin").disable_statement_logging())))
        }
        #[cfg(not(feature = "postgres"))]
        Err(DatabaseError::WithoutPostgres)
    }
}

impl ServerUrl {
    #[cfg(feature = "postgres")]
    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.0
    }

    #[cfg(not(feature = "postgres"))]
    pub(crate) fn never(&self) -> ! {
        match self.0 {}
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ServerUrl")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "postgres"))]
    #[test]
    fn without_postgres_an_address_is_refused_and_not_repeated() {
        let error = "postgres://someone:hunter2@127.0.0.1:5432/accounts".parse::<ServerUrl>().unwrap_err();
        assert!(matches!(error, DatabaseError::WithoutPostgres) && !error.to_string().contains("hunter2"), "{error}");
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn an_address_is_never_shown_and_a_wrong_one_not_repeated() {
        let url: ServerUrl = "postgres://someone:hunter2@127.0.0.1:5432/accounts".parse().unwrap();
        assert!(!format!("{:?}", DatabaseLocation::Server(url)).contains("hunter2"));
        for wrong in ["mysql://u:hunter2@host/db", "postgres://u:hunter2@host:port/db", "hunter2", ""] {
            let error = wrong.parse::<ServerUrl>().unwrap_err().to_string();
            assert!(error.contains("postgres://user:password@host") && !error.contains("hunter2"), "{error}");
        }
    }
}
