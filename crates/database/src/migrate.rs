use crate::query::{query_of, run_all};
use crate::{Database, DatabaseError, DatabaseLocation};

/// The steps of one crate's schema, in order; a released step never changes.
#[derive(Debug, Clone, Copy)]
pub struct Migrations {
    /// Name of the crate, of lower-case letters. Crates that share a server each have their own number.
    pub name: &'static str,
    /// Whether its tables are in a file of another crate. The crate that owns the file has the unprefixed version table.
    pub is_guest: bool,
    /// Steps for SQLite.
    pub sqlite: &'static [&'static str],
    /// Steps for PostgreSQL.
    pub postgres: &'static [&'static str],
}

impl Migrations {
    /// The number of the advisory lock that serializes writers; the same for all versions of the program.
    #[cfg(feature = "postgres")]
    pub(crate) fn writer(&self) -> i64 {
        // FNV-1a.
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        [b"paraffin-".as_slice(), self.name.as_bytes()].concat().iter().fold(0xcbf2_9ce4_8422_2325, mix).cast_signed()
    }

    /// The table with the schema version; it has no prefix for the crate that owns the file.
    pub(crate) fn version_table(&self, is_host: bool) -> String {
        if is_host { "schema_version".to_owned() } else { format!("{}_schema_version", self.name) }
    }

    /// Brings a database to the newest schema; every step is one transaction, and of several processes one at a time does it.
    pub(crate) async fn apply(&self, database: &Database) -> Result<(), DatabaseError> {
        let (steps, is_host) = match database.location() {
            DatabaseLocation::File(_) => (self.sqlite, !self.is_guest),
            DatabaseLocation::Server(_) => (self.postgres, false),
        };
        let table = self.version_table(is_host);
        let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        loop {
            let mut transaction = database.begin().await?;
            query_of(format!("CREATE TABLE IF NOT EXISTS {table} (version BIGINT NOT NULL PRIMARY KEY)"))
                .execute(&mut transaction)
                .await?;
            let row = query_of(format!("SELECT COALESCE(MAX(version), 0) AS version FROM {table}"))
                .fetch_one(&mut transaction)
                .await?;
            let found: i64 = row.get("version")?;
            if found > known {
                return Err(DatabaseError::NewerSchema { found, known });
            }
            let Some(step) = usize::try_from(found).ok().and_then(|found| steps.get(found)) else {
                return transaction.commit().await;
            };
            run_all(&mut transaction, step).await?;
            query_of(format!("INSERT INTO {table} (version) VALUES ($1)"))
                .bind(found + 1)
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
        }
    }
}
