use paraffin_testkit::PostgresServer;

use super::*;
use crate::job::{FailureCode, Program, ProgramKind};

/// The databases that a test runs over: a file, and a server where there is one.
struct TestDatabases {
    folder: tempfile::TempDir,
    server: Option<PostgresServer>,
}

impl TestDatabases {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let is_built = cfg!(feature = "postgres");
        let mut server = if is_built { PostgresServer::prepare(folder.path()) } else { None };
        server.iter_mut().for_each(PostgresServer::run);
        Self { folder, server }
    }

    fn all(&self) -> Vec<DatabaseLocation> {
        let file = DatabaseLocation::File(self.folder.path().join("verify.sqlite"));
        let server = self.server.iter().map(|server| DatabaseLocation::Server(server.url().parse().unwrap()));
        std::iter::once(file).chain(server).collect()
    }
}

async fn opened(place: &DatabaseLocation) -> Records {
    Records::open(place, "here".to_owned()).await.unwrap()
}

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
        how_built: Some(HowBuilt::default()),
        updated_at: 5,
    }
}

fn failed() -> Outcome {
    Outcome::Failed(Failure { code: FailureCode::Interrupted, reason: "stopped".to_owned(), log: String::new() })
}

#[tokio::test]
async fn runs_and_records_come_back_after_a_restart() {
    let databases = TestDatabases::new();
    for database in databases.all() {
        let records = opened(&database).await;
        for (id, at) in [("one", 1), ("two", 2), ("three", 3)] {
            records.add_run(&run(id, at)).await.unwrap();
        }
        records.set_stage("one", Stage::Building).await.unwrap();
        records.end_run("two", &failed(), Some(&record(Verdict::Partial, "two")), 9).await.unwrap();
        records.close().await;

        let records = opened(&database).await;
        assert_eq!(records.run("one").await.unwrap().unwrap().stage, Stage::Building);
        assert_eq!(records.end_interrupted(&failed(), 0, 10).await.unwrap(), 2);
        let one = records.run("one").await.unwrap().unwrap();
        assert_eq!((one.stage, one.ended_at, one.outcome), (Stage::Finished, Some(10), Some(failed())));
        assert_eq!(records.run("two").await.unwrap().unwrap().ended_at, Some(9));
        assert_eq!(records.record("ab").await.unwrap().unwrap(), record(Verdict::Partial, "two"));
        assert_eq!(records.lists().await.unwrap(), ["cd"]);
        records.forget_runs(1).await.unwrap();
        assert!(records.run("two").await.unwrap().is_none() && records.run("three").await.unwrap().is_some());
    }
}

#[tokio::test]
async fn only_a_better_finding_takes_the_place_of_a_verified_one() {
    let databases = TestDatabases::new();
    for database in databases.all() {
        let records = opened(&database).await;
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
}

#[tokio::test]
async fn an_attestation_is_replaced_by_the_next_one() {
    let databases = TestDatabases::new();
    for database in databases.all() {
        let records = opened(&database).await;
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

#[tokio::test]
async fn a_gateway_that_starts_ends_its_own_runs_and_leaves_those_of_others() {
    let databases = TestDatabases::new();
    for database in databases.all() {
        let here = opened(&database).await;
        let there = Records::open(&database, "there".to_owned()).await.unwrap();
        here.add_run(&run("here", 5)).await.unwrap();
        there.add_run(&run("there", 5)).await.unwrap();
        assert_eq!(here.end_interrupted(&failed(), 5, 10).await.unwrap(), 1);
        assert!(here.run("here").await.unwrap().unwrap().ended_at.is_some());
        assert!(there.run("there").await.unwrap().unwrap().ended_at.is_none());
        // Its folder has not been heard of for too long.
        assert_eq!(here.end_interrupted(&failed(), 6, 11).await.unwrap(), 1);
        assert_eq!(there.run("there").await.unwrap().unwrap().ended_at, Some(11));
    }
}

/// The same bytes by fewer programs of the submission are the better proof, and the earlier one is, where nothing else differs.
#[tokio::test]
async fn of_equal_verdicts_the_one_with_fewer_programs_holds_and_every_attempt_stays() {
    let databases = TestDatabases::new();
    for database in databases.all() {
        let records = opened(&database).await;
        let program =
            |name: &str| Program { kind: ProgramKind::BuildScript, name: name.to_owned(), version: "1.0.0".to_owned() };
        let all = [program("a"), program("b")];
        let rows =
            [(None, 0), (Some(2), 1), (Some(2), 1), (Some(1), 3), (Some(0), 4), (None, 4), (Some(0), 4), (Some(1), 4)];
        for (number, (programs, holds)) in (0_i64..).zip(rows) {
            let id = number.to_string();
            let how_built = programs.map(|count| HowBuilt { programs: all[..count].to_vec(), ..HowBuilt::default() });
            let record = Record { how_built, ..record(Verdict::Reproducible, &id) };
            records.add_run(&run(&id, 1)).await.unwrap();
            records.end_run(&id, &failed(), Some(&record), 10 + number).await.unwrap();
            assert_eq!(records.record("ab").await.unwrap().unwrap().run, holds.to_string(), "{number}");
        }
        // A better verdict with more programs is still the better one, and a worse one is not.
        let better = HowBuilt { programs: all.to_vec(), ..HowBuilt::default() };
        let one = |verdict| Record { how_built: Some(HowBuilt::default()), ..record(verdict, "x") };
        assert!(
            !one(Verdict::Verified).replaces(&Record { how_built: Some(better), ..record(Verdict::Reproducible, "y") })
        );
        let attempts = records.attempts("ab", 3).await.unwrap();
        assert_eq!(attempts.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["7", "6", "5"]);
        assert_eq!(records.attempts("ab", 100).await.unwrap().len(), 8);
        assert!(records.attempts("cd", 100).await.unwrap().is_empty());
    }
}

/// Seen once under load: a connection of the pool that is opened while another one changes the schema keeps what it has read of it.
#[tokio::test]
async fn a_connection_from_before_a_change_of_the_schema_reads_what_was_written_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = DatabaseLocation::File(folder.path().join("verify.sqlite"));
    let earlier = Migrations { sqlite: &MIGRATIONS.sqlite[..1], ..MIGRATIONS };
    let database = Database::open(&place, earlier).await.unwrap();
    // All connections of the pool know the earlier schema.
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let mut session = database.session().await.unwrap();
        query("SELECT COUNT(*) AS runs FROM run").fetch_one(&mut session).await.unwrap();
        sessions.push(session);
    }
    let records = opened(&place).await;
    records.add_run(&run("one", 1)).await.unwrap();
    records.end_run("one", &failed(), Some(&record(Verdict::Partial, "one")), 2).await.unwrap();
    drop(sessions);
    let stale = Records { database, owner: "here".to_owned() };
    assert_eq!(stale.record("ab").await.unwrap(), Some(record(Verdict::Partial, "one")));
    assert_eq!(stale.run("one").await.unwrap().unwrap().ended_at, Some(2));
    assert_eq!(stale.attempts("ab", 9).await.unwrap().len(), 1);
}
