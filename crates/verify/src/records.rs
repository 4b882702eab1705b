//! What outlives the process: runs, what they found, and attestations. The statements are those that SQLite and PostgreSQL
//! share, as in the room of accounts.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use paraffin_primitives::AlkaneId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::job::{Built, Failure, Stage};
use crate::verdict::Verdict;

/// Applied in order; an entry that has been released never changes.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_runs_records_attestations.sql")];
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECTIONS_MAX: u32 = 4;

/// Milliseconds since the Unix epoch.
pub type UnixMillis = i64;

/// The records cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The database does not answer.
    #[error("the records of verification cannot be consulted: {0}")]
    Unavailable(#[from] sqlx::Error),
    /// A newer program wrote them.
    #[error("the records of verification have schema {found}, this program knows {known}")]
    NewerSchema {
        /// Version found.
        found: i64,
        /// Newest version that is known.
        known: i64,
    },
    /// A row is not as it was written.
    #[error("a record of verification is damaged: {0}")]
    Damaged(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// With a comparison.
    Built(Box<Built>),
    /// Without one.
    Failed(Failure),
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// 32 hex digits.
    pub id: String,
    /// When it was asked for.
    pub created_at: UnixMillis,
    /// When it ended, if it has.
    pub ended_at: Option<UnixMillis>,
    /// The key that asked for it.
    pub key_id: i64,
    /// The contract.
    pub alkane: AlkaneId,
    /// SHA-256 of the deployed module.
    pub wasm_sha256: String,
    /// Where it is.
    pub stage: Stage,
    /// What was asked for, as JSON without the archive.
    pub submission: Value,
    /// How it ended, if it has.
    pub outcome: Option<Outcome>,
}

/// The best that is known of a module by building it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// SHA-256 of the deployed module.
    pub wasm_sha256: String,
    /// The run that found it.
    pub run: String,
    /// How near the built module came.
    pub verdict: Verdict,
    /// Similarity in hundredths of a per cent.
    pub similarity: u32,
    /// Repository as it was named.
    pub repo_url: String,
    /// Commit that was built.
    pub commit: Option<String>,
    /// Folder inside the source; empty for the root.
    pub subdir: String,
    /// Package that was built.
    pub package: String,
    /// Whether nobody else can fetch the source; unknown for an archive.
    pub private: Option<bool>,
    /// Digest of the list of files; absent when they are not stored.
    pub sources: Option<String>,
    /// When it was found.
    pub updated_at: UnixMillis,
}

/// What an admin says of a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attestation {
    /// SHA-256 of the module.
    pub wasm_sha256: String,
    /// Where its source is.
    pub repo_url: String,
    /// Commit of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Folder of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdir: Option<String>,
    /// Compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// Revision of the library that it is built with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alkanes_rev: Option<String>,
    /// `verified` when nothing else is said.
    pub verdict: String,
    /// As it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_pct: Option<serde_json::Number>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The alkane by which the module was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_via: Option<String>,
    /// Description of the build, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
}

/// The database.
#[derive(Debug, Clone)]
pub(crate) struct Records(SqlitePool);

impl Records {
    /// Opens or creates the file and brings its schema up to date.
    pub(crate) async fn open(path: &Path) -> Result<Self, RecordsError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let mut first = options.clone().create_if_missing(true).connect().await?;
        migrate(&mut first).await?;
        first.close().await?;
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS_MAX).acquire_timeout(BUSY_TIMEOUT);
        Ok(Self(pool.connect_lazy_with(options)))
    }

    pub(crate) async fn close(&self) {
        self.0.close().await;
    }

    pub(crate) async fn add_run(&self, run: &Run) -> Result<(), RecordsError> {
        sqlx::query(
            "INSERT INTO run (id, created_at, key_id, alkane, wasm_sha256, stage, submission) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(&run.id)
        .bind(run.created_at)
        .bind(run.key_id)
        .bind(run.alkane.to_string())
        .bind(&run.wasm_sha256)
        .bind(run.stage.name())
        .bind(run.submission.to_string())
        .execute(&self.0)
        .await?;
        Ok(())
    }

    pub(crate) async fn set_stage(&self, id: &str, stage: Stage) -> Result<(), RecordsError> {
        let change = sqlx::query("UPDATE run SET stage = $1 WHERE id = $2 AND ended_at IS NULL");
        change.bind(stage.name()).bind(id).execute(&self.0).await?;
        Ok(())
    }

    /// Ends a run, and with it takes over what it found, in one step.
    pub(crate) async fn end_run(
        &self,
        id: &str,
        outcome: &Outcome,
        record: Option<&Record>,
        now: UnixMillis,
    ) -> Result<(), RecordsError> {
        let text = serde_json::to_string(outcome).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        let mut transaction = self.0.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("UPDATE run SET stage = $1, outcome = $2, ended_at = $3 WHERE id = $4 AND ended_at IS NULL")
            .bind(Stage::Finished.name())
            .bind(text)
            .bind(now)
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        if let Some(record) = record {
            let known = sqlx::query("SELECT * FROM record WHERE wasm_sha256 = $1")
                .bind(&record.wasm_sha256)
                .fetch_optional(&mut *transaction)
                .await?;
            let known = known.as_ref().map(record_of).transpose()?;
            if known.is_none_or(|known| replaces(record.verdict, known.verdict)) {
                put_record(&mut transaction, record).await?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Ends every run that an earlier process left under way; how many there were.
    pub(crate) async fn end_interrupted(&self, outcome: &Outcome, now: UnixMillis) -> Result<u64, RecordsError> {
        let text = serde_json::to_string(outcome).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        let done = sqlx::query("UPDATE run SET stage = $1, outcome = $2, ended_at = $3 WHERE ended_at IS NULL")
            .bind(Stage::Finished.name())
            .bind(text)
            .bind(now)
            .execute(&self.0)
            .await?;
        Ok(done.rows_affected())
    }

    /// Forgets the oldest runs that have ended, down to so many.
    pub(crate) async fn forget_runs(&self, keep: usize) -> Result<(), RecordsError> {
        sqlx::query(
            "DELETE FROM run WHERE ended_at IS NOT NULL AND id NOT IN (SELECT id FROM run ORDER BY created_at DESC LIMIT $1)",
        )
        .bind(i64::try_from(keep).unwrap_or(i64::MAX))
        .execute(&self.0)
        .await?;
        Ok(())
    }

    pub(crate) async fn run(&self, id: &str) -> Result<Option<Run>, RecordsError> {
        let row = sqlx::query("SELECT * FROM run WHERE id = $1").bind(id).fetch_optional(&self.0).await?;
        row.as_ref().map(run_of).transpose()
    }

    pub(crate) async fn record(&self, wasm_sha256: &str) -> Result<Option<Record>, RecordsError> {
        let row = sqlx::query("SELECT * FROM record WHERE wasm_sha256 = $1")
            .bind(wasm_sha256)
            .fetch_optional(&self.0)
            .await?;
        row.as_ref().map(record_of).transpose()
    }

    /// Digests of all stored lists of files.
    pub(crate) async fn lists(&self) -> Result<Vec<String>, RecordsError> {
        let rows = sqlx::query("SELECT sources FROM record WHERE sources IS NOT NULL").fetch_all(&self.0).await?;
        rows.iter().map(|row| Ok(row.try_get("sources")?)).collect()
    }

    pub(crate) async fn attest(
        &self,
        attestation: &Attestation,
        key_id: i64,
        now: UnixMillis,
    ) -> Result<(), RecordsError> {
        let body = serde_json::to_string(attestation).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        sqlx::query(
            "INSERT INTO attestation (wasm_sha256, body, key_id, attested_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (wasm_sha256) DO UPDATE SET body = excluded.body, key_id = excluded.key_id, attested_at = excluded.attested_at",
        )
        .bind(&attestation.wasm_sha256)
        .bind(body)
        .bind(key_id)
        .bind(now)
        .execute(&self.0)
        .await?;
        Ok(())
    }

    pub(crate) async fn attestation(&self, wasm_sha256: &str) -> Result<Option<Attestation>, RecordsError> {
        let row = sqlx::query("SELECT body FROM attestation WHERE wasm_sha256 = $1")
            .bind(wasm_sha256)
            .fetch_optional(&self.0)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let body: String = row.try_get("body")?;
        serde_json::from_str(&body).map(Some).map_err(|error| RecordsError::Damaged(error.to_string()))
    }
}

/// Whether a finding takes the place of an earlier one. What counts as the contract's source is not pushed aside by another
/// tree that builds to the same, only by a better one.
fn replaces(new: Verdict, known: Verdict) -> bool {
    new > known || (new == known && !known.promotes())
}

async fn put_record(connection: &mut SqliteConnection, record: &Record) -> Result<(), RecordsError> {
    sqlx::query("DELETE FROM record WHERE wasm_sha256 = $1")
        .bind(&record.wasm_sha256)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO record (wasm_sha256, run, verdict, similarity, repo_url, commit_id, subdir, package, private, sources, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(&record.wasm_sha256)
    .bind(&record.run)
    .bind(record.verdict.name())
    .bind(i64::from(record.similarity))
    .bind(&record.repo_url)
    .bind(&record.commit)
    .bind(&record.subdir)
    .bind(&record.package)
    .bind(record.private.map(i64::from))
    .bind(&record.sources)
    .bind(record.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

fn run_of(row: &SqliteRow) -> Result<Run, RecordsError> {
    let damaged = |what: &str| RecordsError::Damaged(what.to_owned());
    let (alkane, stage, submission): (String, String, String) =
        (row.try_get("alkane")?, row.try_get("stage")?, row.try_get("submission")?);
    let outcome: Option<String> = row.try_get("outcome")?;
    let outcome = outcome.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| damaged("outcome"))?;
    Ok(Run {
        id: row.try_get("id")?,
        created_at: row.try_get("created_at")?,
        ended_at: row.try_get("ended_at")?,
        key_id: row.try_get("key_id")?,
        alkane: AlkaneId::from_str(&alkane).map_err(|_| damaged("alkane"))?,
        wasm_sha256: row.try_get("wasm_sha256")?,
        stage: Stage::named(&stage).ok_or_else(|| damaged("stage"))?,
        submission: serde_json::from_str(&submission).map_err(|_| damaged("submission"))?,
        outcome,
    })
}

fn record_of(row: &SqliteRow) -> Result<Record, RecordsError> {
    let verdict: String = row.try_get("verdict")?;
    let (similarity, private): (i64, Option<i64>) = (row.try_get("similarity")?, row.try_get("private")?);
    Ok(Record {
        wasm_sha256: row.try_get("wasm_sha256")?,
        run: row.try_get("run")?,
        verdict: Verdict::named(&verdict).ok_or_else(|| RecordsError::Damaged("verdict".to_owned()))?,
        similarity: u32::try_from(similarity).map_err(|_| RecordsError::Damaged("similarity".to_owned()))?,
        repo_url: row.try_get("repo_url")?,
        commit: row.try_get("commit_id")?,
        subdir: row.try_get("subdir")?,
        package: row.try_get("package")?,
        private: private.map(|private| private != 0),
        sources: row.try_get("sources")?,
        updated_at: row.try_get("updated_at")?,
    })
}

/// Brings the database to the newest schema; every step is one transaction.
async fn migrate(connection: &mut SqliteConnection) -> Result<(), RecordsError> {
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY)")
        .execute(&mut *connection)
        .await?;
    loop {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let row =
            sqlx::query("SELECT COALESCE(MAX(version), 0) FROM schema_version").fetch_one(&mut *transaction).await?;
        let version: i64 = row.try_get(0)?;
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        if version > known {
            return Err(RecordsError::NewerSchema { found: version, known });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::FailureCode;

    fn run(id: &str, created_at: i64) -> Run {
        Run {
            id: id.to_owned(),
            created_at,
            ended_at: None,
            key_id: 7,
            alkane: AlkaneId { block: 2, tx: 9 },
            wasm_sha256: "ab".to_owned(),
            stage: Stage::Queued,
            submission: serde_json::json!({ "repo_url": "https://github.com/a/b" }),
            outcome: None,
        }
    }

    fn record(verdict: Verdict, run: &str) -> Record {
        Record {
            wasm_sha256: "ab".to_owned(),
            run: run.to_owned(),
            verdict,
            similarity: 9_712,
            repo_url: "https://github.com/a/b".to_owned(),
            commit: None,
            subdir: String::new(),
            package: "p".to_owned(),
            private: Some(false),
            sources: Some("cd".to_owned()),
            updated_at: 5,
        }
    }

    fn failed() -> Outcome {
        Outcome::Failed(Failure { code: FailureCode::Interrupted, reason: "stopped".to_owned(), log: String::new() })
    }

    #[tokio::test]
    async fn runs_and_records_come_back_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verify.sqlite");
        let records = Records::open(&path).await.unwrap();
        for (id, at) in [("one", 1), ("two", 2), ("three", 3)] {
            records.add_run(&run(id, at)).await.unwrap();
        }
        records.set_stage("one", Stage::Building).await.unwrap();
        records.end_run("two", &failed(), Some(&record(Verdict::Partial, "two")), 9).await.unwrap();
        records.close().await;

        let records = Records::open(&path).await.unwrap();
        assert_eq!(records.run("one").await.unwrap().unwrap().stage, Stage::Building);
        assert_eq!(records.end_interrupted(&failed(), 10).await.unwrap(), 2);
        let one = records.run("one").await.unwrap().unwrap();
        assert_eq!((one.stage, one.ended_at, one.outcome), (Stage::Finished, Some(10), Some(failed())));
        assert_eq!(records.run("two").await.unwrap().unwrap().ended_at, Some(9));
        assert_eq!(records.record("ab").await.unwrap().unwrap(), record(Verdict::Partial, "two"));
        assert_eq!(records.lists().await.unwrap(), ["cd"]);
        records.forget_runs(1).await.unwrap();
        assert!(records.run("two").await.unwrap().is_none() && records.run("three").await.unwrap().is_some());
    }

    #[tokio::test]
    async fn only_a_better_finding_takes_the_place_of_a_verified_one() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(&folder.path().join("verify.sqlite")).await.unwrap();
        for (number, (verdict, holds)) in [
            (Verdict::Mismatch, 0),
            (Verdict::Mismatch, 1),
            (Verdict::Partial, 2),
            (Verdict::Verified, 3),
            (Verdict::Mismatch, 3),
            (Verdict::Verified, 3),
            (Verdict::Reproducible, 6),
            (Verdict::Reproducible, 6),
        ]
        .into_iter()
        .enumerate()
        {
            let id = number.to_string();
            records.add_run(&run(&id, 1)).await.unwrap();
            records.end_run(&id, &failed(), Some(&record(verdict, &id)), 2).await.unwrap();
            assert_eq!(records.record("ab").await.unwrap().unwrap().run, holds.to_string(), "{verdict:?}");
        }
    }

    #[tokio::test]
    async fn an_attestation_is_replaced_by_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(&folder.path().join("verify.sqlite")).await.unwrap();
        assert_eq!(records.attestation("ab").await.unwrap(), None);
        let text = r#"{"wasm_sha256":"ab","repo_url":"https://github.com/a/b","verdict":"verified","match_pct":99.25,"manifest":{"x":1}}"#;
        let mut attestation: Attestation = serde_json::from_str(text).unwrap();
        records.attest(&attestation, 1, 2).await.unwrap();
        assert_eq!(records.attestation("ab").await.unwrap().as_ref(), Some(&attestation));
        attestation.note = Some("again".to_owned());
        records.attest(&attestation, 1, 3).await.unwrap();
        assert_eq!(records.attestation("ab").await.unwrap(), Some(attestation));
    }
}
