use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::AccessError;

/// Applied in order; number 1 is the first. An entry that has been released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_keys.sql"),
    include_str!("../migrations/0002_accounts_aliases_origins.sql"),
    include_str!("../migrations/0003_scripts.sql"),
];

/// Brings the store to the newest schema; every step is one transaction.
pub(crate) async fn migrate(connection: &mut SqliteConnection) -> Result<(), AccessError> {
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY)")
        .execute(&mut *connection)
        .await?;
    loop {
        // The write lock comes first, so that two processes that start together do not apply one step twice.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let version: i64 = sqlx::query("SELECT COALESCE(MAX(version), 0) FROM schema_version")
            .fetch_one(&mut *transaction)
            .await?
            .try_get(0)?;
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        if version > known {
            return Err(AccessError::NewerSchema { found: version, known });
        }
        let Some(step) = usize::try_from(version).ok().and_then(|version| MIGRATIONS.get(version)) else {
            return Ok(());
        };
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(version + 1)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
}
