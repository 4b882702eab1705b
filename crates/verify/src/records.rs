//! The persistent state: runs, their results, and attestations. The statements are those that SQLite and PostgreSQL
//! share, as in the crate of accounts (`access`).

use std::cmp::Reverse;
use std::str::FromStr as _;

use paraffin_database::{Database, DatabaseError, DatabaseLocation, Migrations, Row, Session, query};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::{Built, Failure, HowBuilt, Stage};
use crate::verdict::Verdict;

/// An entry that has been released never changes.
const MIGRATIONS: Migrations = Migrations {
    name: "verify",
    is_guest: false,
    sqlite: &[
        include_str!("../migrations/sqlite/0001_runs_records_attestations.sql"),
        include_str!("../migrations/sqlite/0002_owner.sql"),
        include_str!("../migrations/sqlite/0003_how_built.sql"),
    ],
    postgres: &[
        include_str!("../migrations/postgres/0001_runs_records_attestations.sql"),
        include_str!("../migrations/postgres/0002_sources.sql"),
        include_str!("../migrations/postgres/0003_how_built.sql"),
    ],
};

/// Columns are named: a connection that was opened before another one changed the schema learns of it only when it carries a
/// statement out, and the library panics where `*` then means more columns than when it was prepared.
macro_rules! run {
    () => {
        "SELECT id, created_at, ended_at, key_id, alkane, wasm_sha256, stage, submission, outcome FROM run"
    };
}
const RECORD: &str = "SELECT wasm_sha256, run, verdict, similarity, repo_url, commit_id, subdir, package, private, sources, how_built, \
                      updated_at FROM record WHERE wasm_sha256 = $1";

/// Milliseconds since the Unix epoch.
pub type UnixMillis = i64;

/// The records cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// The database does not answer.
    #[error("the records of verification cannot be consulted: {0}")]
    Unavailable(#[from] DatabaseError),
    /// A row is damaged.
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
    /// When it was submitted.
    pub created_at: UnixMillis,
    /// When it ended, if it has.
    pub ended_at: Option<UnixMillis>,
    /// The key that submitted it.
    pub key_id: i64,
    /// The contract.
    pub alkane: AlkaneId,
    /// SHA-256 of the deployed module.
    pub wasm_sha256: String,
    /// Where it is.
    pub stage: Stage,
    /// The submission as JSON, without the archive.
    pub submission: Value,
    /// How it ended, if it has.
    pub outcome: Option<Outcome>,
}

/// The best result of building a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// SHA-256 of the deployed module.
    pub wasm_sha256: String,
    /// The run that built it.
    pub run: String,
    /// How similar the built module is.
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
    /// Whether third parties cannot fetch the source; unknown for an archive.
    pub private: Option<bool>,
    /// Digest of the list of files; absent when they are not stored.
    pub sources: Option<String>,
    /// How it was built; unknown for records of earlier versions.
    pub how_built: Option<HowBuilt>,
    /// When it was recorded.
    pub updated_at: UnixMillis,
}

impl Record {
    /// The greater, the better: the verdict, whether the programs that ran are recorded, and how few programs of the submission did.
    fn rank(&self) -> (Verdict, bool, Reverse<usize>) {
        let programs = self.how_built.as_ref().map(|how| how.programs.len());
        (self.verdict, programs.is_some(), Reverse(programs.unwrap_or(0)))
    }

    /// Whether it replaces an earlier one. A source that counts as that of the contract is replaced by a better one alone, not by another
    /// tree of the same rank.
    fn replaces(&self, earlier: &Self) -> bool {
        self.rank() > earlier.rank() || (self.rank() == earlier.rank() && !earlier.verdict.promotes())
    }
}

/// The statement of an admin about the source of a module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// `verified` when not stated.
    pub verdict: String,
    /// As it was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_pct: Option<serde_json::Number>,
    /// Note for human readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The alkane by which the module was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_via: Option<String>,
    /// Description of the build, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
}

/// The database, and which of the processes that share it this is.
#[derive(Debug, Clone)]
pub(crate) struct Records {
    database: Database,
    owner: String,
}

impl Records {
    /// Opens the database and brings its schema up to date. `owner` names the folder in which runs are carried out.
    pub(crate) async fn open(location: &DatabaseLocation, owner: String) -> Result<Self, RecordsError> {
        Ok(Self { database: Database::open(location, MIGRATIONS).await?, owner })
    }

    pub(crate) async fn close(&self) {
        self.database.close().await;
    }

    /// A connection.
    pub(crate) async fn session(&self) -> Result<Session, RecordsError> {
        Ok(self.database.session().await?)
    }

    pub(crate) async fn add_run(&self, run: &Run) -> Result<(), RecordsError> {
        query(
            "INSERT INTO run (id, created_at, key_id, alkane, wasm_sha256, stage, submission, owner) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&run.id)
        .bind(run.created_at)
        .bind(run.key_id)
        .bind(run.alkane.to_string())
        .bind(&run.wasm_sha256)
        .bind(run.stage.name())
        .bind(run.submission.to_string())
        .bind(&self.owner)
        .execute(&mut self.database.session().await?)
        .await?;
        Ok(())
    }

    pub(crate) async fn set_stage(&self, id: &str, stage: Stage) -> Result<(), RecordsError> {
        let change = query("UPDATE run SET stage = $1 WHERE id = $2 AND ended_at IS NULL");
        change.bind(stage.name()).bind(id).execute(&mut self.database.session().await?).await?;
        Ok(())
    }

    /// Ends a run and stores its record, in one transaction.
    pub(crate) async fn end_run(
        &self,
        id: &str,
        outcome: &Outcome,
        record: Option<&Record>,
        now: UnixMillis,
    ) -> Result<(), RecordsError> {
        let text = serde_json::to_string(outcome).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        let mut transaction = self.database.begin().await?;
        query("UPDATE run SET stage = $1, outcome = $2, ended_at = $3 WHERE id = $4 AND ended_at IS NULL")
            .bind(Stage::Finished.name())
            .bind(text)
            .bind(now)
            .bind(id)
            .execute(&mut transaction)
            .await?;
        if let Some(record) = record {
            let earlier = query(RECORD).bind(&record.wasm_sha256).fetch_optional(&mut transaction).await?;
            let earlier = earlier.as_ref().map(record_of).transpose()?;
            if earlier.is_none_or(|earlier| record.replaces(&earlier)) {
                put_record(&mut transaction, record).await?;
            }
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Ends every run that an earlier process of this folder left under way, and runs of before `forgotten`, whose folder may be gone
    /// for good; how many there were.
    pub(crate) async fn end_interrupted(
        &self,
        outcome: &Outcome,
        forgotten: UnixMillis,
        now: UnixMillis,
    ) -> Result<u64, RecordsError> {
        let text = serde_json::to_string(outcome).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        let done = query(
            "UPDATE run SET stage = $1, outcome = $2, ended_at = $3 \
             WHERE ended_at IS NULL AND (owner = $4 OR owner IS NULL OR created_at < $5)",
        )
        .bind(Stage::Finished.name())
        .bind(text)
        .bind(now)
        .bind(&self.owner)
        .bind(forgotten)
        .execute(&mut self.database.session().await?)
        .await?;
        Ok(done)
    }

    /// Removes the oldest runs that have ended until this many are left.
    pub(crate) async fn forget_runs(&self, keep: usize) -> Result<(), RecordsError> {
        query(
            "DELETE FROM run WHERE ended_at IS NOT NULL AND id NOT IN (SELECT id FROM run ORDER BY created_at DESC LIMIT $1)",
        )
        .bind(i64::try_from(keep).unwrap_or(i64::MAX))
        .execute(&mut self.database.session().await?)
        .await?;
        Ok(())
    }

    pub(crate) async fn run(&self, id: &str) -> Result<Option<Run>, RecordsError> {
        let row = query(concat!(run!(), " WHERE id = $1"))
            .bind(id)
            .fetch_optional(&mut self.database.session().await?)
            .await?;
        row.as_ref().map(run_of).transpose()
    }

    pub(crate) async fn record(&self, wasm_sha256: &str) -> Result<Option<Record>, RecordsError> {
        let row = query(RECORD).bind(wasm_sha256).fetch_optional(&mut self.database.session().await?).await?;
        row.as_ref().map(record_of).transpose()
    }

    /// The newest runs for a module that have ended, at most this many.
    pub(crate) async fn attempts(&self, wasm_sha256: &str, most: usize) -> Result<Vec<Run>, RecordsError> {
        let rows = query(concat!(
            run!(),
            " WHERE wasm_sha256 = $1 AND ended_at IS NOT NULL ORDER BY ended_at DESC, id LIMIT $2"
        ))
        .bind(wasm_sha256)
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .fetch_all(&mut self.database.session().await?)
        .await?;
        rows.iter().map(run_of).collect()
    }

    /// Digests of all stored lists of files.
    pub(crate) async fn lists(&self) -> Result<Vec<String>, RecordsError> {
        let rows = query("SELECT sources FROM record WHERE sources IS NOT NULL")
            .fetch_all(&mut self.database.session().await?)
            .await?;
        rows.iter().map(|row| Ok(row.get("sources")?)).collect()
    }

    pub(crate) async fn attest(
        &self,
        attestation: &Attestation,
        key_id: i64,
        now: UnixMillis,
    ) -> Result<(), RecordsError> {
        let body = serde_json::to_string(attestation).map_err(|error| RecordsError::Damaged(error.to_string()))?;
        query(
            "INSERT INTO attestation (wasm_sha256, body, key_id, attested_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (wasm_sha256) DO UPDATE SET body = excluded.body, key_id = excluded.key_id, attested_at = excluded.attested_at",
        )
        .bind(&attestation.wasm_sha256)
        .bind(body)
        .bind(key_id)
        .bind(now)
        .execute(&mut self.database.session().await?)
        .await?;
        Ok(())
    }

    pub(crate) async fn attestation(&self, wasm_sha256: &str) -> Result<Option<Attestation>, RecordsError> {
        let row = query("SELECT body FROM attestation WHERE wasm_sha256 = $1")
            .bind(wasm_sha256)
            .fetch_optional(&mut self.database.session().await?)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let body: String = row.get("body")?;
        serde_json::from_str(&body).map(Some).map_err(|error| RecordsError::Damaged(error.to_string()))
    }
}

async fn put_record(connection: &mut Session, record: &Record) -> Result<(), RecordsError> {
    let how_built = record.how_built.as_ref().map(serde_json::to_string).transpose();
    let how_built = how_built.map_err(|error| RecordsError::Damaged(error.to_string()))?;
    query("DELETE FROM record WHERE wasm_sha256 = $1").bind(&record.wasm_sha256).execute(connection).await?;
    query(
        "INSERT INTO record (wasm_sha256, run, verdict, similarity, repo_url, commit_id, subdir, package, private, sources, how_built, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
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
    .bind(&how_built)
    .bind(record.updated_at)
    .execute(connection)
    .await?;
    Ok(())
}

fn run_of(row: &Row) -> Result<Run, RecordsError> {
    let damaged = |what: &str| RecordsError::Damaged(what.to_owned());
    let (alkane, stage, submission): (String, String, String) =
        (row.get("alkane")?, row.get("stage")?, row.get("submission")?);
    let outcome: Option<String> = row.get("outcome")?;
    let outcome = outcome.map(|text| serde_json::from_str(&text)).transpose().map_err(|_| damaged("outcome"))?;
    Ok(Run {
        id: row.get("id")?,
        created_at: row.get("created_at")?,
        ended_at: row.get("ended_at")?,
        key_id: row.get("key_id")?,
        alkane: AlkaneId::from_str(&alkane).map_err(|_| damaged("alkane"))?,
        wasm_sha256: row.get("wasm_sha256")?,
        stage: Stage::named(&stage).ok_or_else(|| damaged("stage"))?,
        submission: serde_json::from_str(&submission).map_err(|_| damaged("submission"))?,
        outcome,
    })
}

fn record_of(row: &Row) -> Result<Record, RecordsError> {
    let verdict: String = row.get("verdict")?;
    let how_built: Option<String> = row.get("how_built")?;
    let (similarity, private): (i64, Option<i64>) = (row.get("similarity")?, row.get("private")?);
    Ok(Record {
        wasm_sha256: row.get("wasm_sha256")?,
        run: row.get("run")?,
        verdict: Verdict::named(&verdict).ok_or_else(|| RecordsError::Damaged("verdict".to_owned()))?,
        similarity: u32::try_from(similarity).map_err(|_| RecordsError::Damaged("similarity".to_owned()))?,
        repo_url: row.get("repo_url")?,
        commit: row.get("commit_id")?,
        subdir: row.get("subdir")?,
        package: row.get("package")?,
        private: private.map(|private| private != 0),
        sources: row.get("sources")?,
        how_built: how_built
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|_| RecordsError::Damaged("how_built".to_owned()))?,
        updated_at: row.get("updated_at")?,
    })
}

#[cfg(test)]
mod tests;
