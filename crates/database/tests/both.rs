//! One set of statements on both databases.
#![allow(clippy::unwrap_used)]

use std::time::Duration;
#[cfg(feature = "postgres")]
use std::time::Instant;

use paraffin_database::{Database, DatabaseError, DatabaseLocation, Migrations, query};
use paraffin_testkit::PostgresServer;

const STEP: &str = "CREATE TABLE thing (id BIGINT NOT NULL PRIMARY KEY, word TEXT, bytes BYTEA);";
const SECOND: &str = "ALTER TABLE thing ADD COLUMN number BIGINT; CREATE TABLE other (id BIGINT NOT NULL PRIMARY KEY);";
const MIGRATIONS: Migrations =
    Migrations { name: "test", is_guest: false, sqlite: &[STEP, SECOND], postgres: &[STEP, SECOND] };

struct Databases {
    folder: tempfile::TempDir,
    server: Option<PostgresServer>,
}

impl Databases {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let is_built = cfg!(feature = "postgres");
        let mut server = if is_built { PostgresServer::prepare(folder.path()) } else { None };
        server.iter_mut().for_each(PostgresServer::run);
        Self { folder, server }
    }

    fn all(&self) -> Vec<DatabaseLocation> {
        let file = DatabaseLocation::File(self.folder.path().join("test.sqlite"));
        let server = self.server.iter().map(|server| DatabaseLocation::Server(server.url().parse().unwrap()));
        std::iter::once(file).chain(server).collect()
    }
}

#[tokio::test]
async fn values_and_nulls_are_read_as_written() {
    let databases = Databases::new();
    for location in databases.all() {
        let database = Database::open(&location, MIGRATIONS).await.unwrap();
        let mut session = database.session().await.unwrap();
        let insert = "INSERT INTO thing (id, word, bytes, number) VALUES ($1, $2, $3, $4)";
        let full = query(insert).bind(i64::MIN).bind("é'\u{1F600}").bind([0, 255].as_slice()).bind(u32::MAX);
        assert_eq!(full.execute(&mut session).await.unwrap(), 1);
        let empty = query(insert).bind(2_i64).bind(&None::<String>).bind(Vec::new()).bind(None::<i64>);
        empty.execute(&mut session).await.unwrap();
        let rows = query("SELECT * FROM thing ORDER BY id").fetch_all(&mut session).await.unwrap();
        assert_eq!(rows[0].get::<i64>("id").unwrap(), i64::MIN);
        assert_eq!(rows[0].get::<String>("word").unwrap(), "é'\u{1F600}");
        assert_eq!(rows[0].get::<Vec<u8>>("bytes").unwrap(), [0, 255]);
        assert_eq!(rows[0].get::<u32>("number").unwrap(), u32::MAX);
        assert!(rows[0].get::<u32>("id").is_err() && rows[0].get::<i64>("nothing").is_err());
        assert_eq!(rows[1].get::<Option<String>>("word").unwrap(), None);
        assert_eq!(rows[1].get::<Option<u32>>("number").unwrap(), None);
        let none = query("SELECT id FROM thing WHERE id = $1").bind(9_i64).fetch_optional(&mut session).await.unwrap();
        assert!(none.is_none());
        assert!(query("SELECT 1 FROM no_such_table").fetch_one(&mut session).await.is_err());
    }
}

#[tokio::test]
async fn a_transaction_is_whole_or_nothing_and_writers_take_turns() {
    let databases = Databases::new();
    for location in databases.all() {
        let database = Database::open(&location, MIGRATIONS).await.unwrap();
        let mut dropped = database.begin().await.unwrap();
        query("INSERT INTO other (id) VALUES ($1)").bind(1_i64).execute(&mut dropped).await.unwrap();
        drop(dropped);
        // Each adds one to the maximum that it read; concurrent transactions would lose an increment.
        let writers: Vec<_> = (0..20)
            .map(|_| {
                let location = location.clone();
                tokio::spawn(async move {
                    let database = Database::open(&location, MIGRATIONS).await.unwrap();
                    let mut transaction = database.begin().await.unwrap();
                    let next = "SELECT COALESCE(MAX(id), 0) + 1 AS next FROM other";
                    let next: i64 = query(next).fetch_one(&mut transaction).await.unwrap().get("next").unwrap();
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    query("INSERT INTO other (id) VALUES ($1)").bind(next).execute(&mut transaction).await.unwrap();
                    transaction.commit().await.unwrap();
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let mut session = database.session().await.unwrap();
        let row = query("SELECT COUNT(*) AS count, MAX(id) AS last FROM other").fetch_one(&mut session).await.unwrap();
        assert_eq!((row.get::<i64>("count").unwrap(), row.get::<i64>("last").unwrap()), (20, 20));
    }
}

#[tokio::test]
async fn processes_that_open_a_new_database_at_once_apply_each_step_once() {
    let databases = Databases::new();
    for location in databases.all() {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                let location = location.clone();
                tokio::spawn(async move { Database::open(&location, MIGRATIONS).await.map(drop) })
            })
            .collect();
        for opener in openers {
            opener.await.unwrap().unwrap();
        }
        let older = Migrations { sqlite: &[STEP], postgres: &[STEP], ..MIGRATIONS };
        let refused = Database::open(&location, older).await;
        assert!(matches!(refused, Err(DatabaseError::NewerSchema { found: 2, known: 1 })), "{refused:?}");
    }
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn crates_that_share_a_server_have_separate_migrations() {
    const STEP: &str = "CREATE TABLE elsewhere (id BIGINT NOT NULL PRIMARY KEY)";
    let databases = Databases::new();
    let Some(location) = databases.all().into_iter().nth(1) else { return };
    Database::open(&location, MIGRATIONS).await.unwrap();
    let other = Migrations { name: "elsewhere", is_guest: false, sqlite: &[], postgres: &[STEP] };
    let database = Database::open(&location, other).await.unwrap();
    // Their writers do not wait for each other.
    let _writing = Database::open(&location, MIGRATIONS).await.unwrap().begin().await.unwrap();
    let began = Instant::now();
    database.begin().await.unwrap().commit().await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn an_idle_writer_loses_its_transaction() {
    let databases = Databases::new();
    let Some(location) = databases.all().into_iter().nth(1) else { return };
    let (first, second) =
        (Database::open(&location, MIGRATIONS).await.unwrap(), Database::open(&location, MIGRATIONS).await.unwrap());
    let mut resting = first.begin().await.unwrap();
    query("INSERT INTO other (id) VALUES ($1)").bind(1_i64).execute(&mut resting).await.unwrap();
    let mut transaction = second.begin().await.unwrap();
    paraffin_database::query_of("INSERT INTO other (id) VALUES ($1)".to_owned())
        .bind(1_i64)
        .execute(&mut transaction)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    assert!(resting.commit().await.is_err());
}
