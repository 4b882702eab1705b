//! Copies of a database file: taken while other processes use it, and checked before one replaces another.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection};

use crate::database::{BUSY, is_busy};
use crate::migrate::Migrations;
use crate::{DatabaseError, DatabaseFuture};

/// Suffixes of the files that SQLite has beside a database while it is in use.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

fn failed(path: &Path, source: &io::Error) -> DatabaseError {
    DatabaseError::Unavailable(format!("{}: {source}", path.display()))
}

/// `path` with `suffix` after its name.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An empty file beside `path` that its owner alone may read; removed when it is dropped.
struct Partial(PathBuf);

impl Partial {
    fn beside(path: &Path) -> Result<Self, DatabaseError> {
        let partial = with_suffix(path, &format!(".partial-{}", std::process::id()));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial);
        made.map_err(|source| failed(&partial, &source))?;
        Ok(Self(partial))
    }

    fn sync(&self) -> Result<(), DatabaseError> {
        File::open(&self.0).and_then(|file| file.sync_all()).map_err(|source| failed(&self.0, &source))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // A file that stays is harmless: no process opens it.
        let _ = fs::remove_file(&self.0);
    }
}

fn sync_folder(path: &Path) -> Result<(), DatabaseError> {
    let folder = folder(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| failed(folder, &source))
}

/// Creates a hard link. Unlike a rename it never replaces a file.
fn link(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    fs::hard_link(from, to).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => DatabaseError::Exists(to.to_owned()),
        _ => failed(to, &source),
    })
}

async fn open(path: &Path, read_only: bool) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(read_only)
        .busy_timeout(BUSY)
        .disable_statement_logging()
        .connect()
        .await
}

/// Writes everything into an empty file.
async fn copy_into(connection: &mut SqliteConnection, partial: &Partial) -> Result<(), DatabaseError> {
    let name = partial.0.to_str().ok_or_else(|| DatabaseError::Unavailable("the path is not UTF-8".to_owned()))?;
    sqlx::query("VACUUM INTO $1").bind(name).execute(connection).await?;
    partial.sync()
}

/// Writes a snapshot of a database into the new file `into`, also while other processes use it. Its owner alone may read
/// the copy, which is complete or not there.
///
/// # Errors
/// [`DatabaseError::Exists`] where there is something at `into`, which stays as it is; [`DatabaseError::Unavailable`].
pub fn copy_file<'a>(from: &'a Path, into: &'a Path) -> DatabaseFuture<'a, ()> {
    Box::pin(async move {
        if into.symlink_metadata().is_ok() {
            return Err(DatabaseError::Exists(into.to_owned()));
        }
        let mut connection = open(from, false).await?;
        let partial = Partial::beside(into)?;
        copy_into(&mut connection, &partial).await?;
        connection.close().await?;
        link(&partial.0, into)?;
        sync_folder(into)
    })
}

/// Checks the integrity of a database and the versions of these schemas, of which the first one must be there.
async fn check(connection: &mut SqliteConnection, schemas: &[Migrations]) -> Result<(), DatabaseError> {
    let report: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut *connection).await?;
    if report != "ok" {
        return Err(DatabaseError::Damaged(report));
    }
    for (index, schema) in schemas.iter().enumerate() {
        let table = schema.version_table(!schema.is_guest);
        let exists: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = $1")
            .bind(&table)
            .fetch_one(&mut *connection)
            .await?;
        let version = AssertSqlSafe(format!("SELECT COALESCE(MAX(version), 0) FROM {table}"));
        let found: i64 = match exists {
            0 => 0,
            _ => sqlx::query_scalar(version).fetch_one(&mut *connection).await?,
        };
        let known = i64::try_from(schema.sqlite.len()).unwrap_or(i64::MAX);
        if found > known {
            return Err(DatabaseError::NewerSchema { found, known });
        }
        if index == 0 && found == 0 {
            return Err(DatabaseError::Foreign);
        }
    }
    Ok(())
}

/// Replaces the database at `to` by a copy of `from`, after a check of its integrity and its schema versions. What
/// is at `to` is kept at `aside`; without `aside` there must be no file. At every moment the old or the new database is complete at
/// `to`, but for an old one that is damaged.
///
/// # Errors
/// Then nothing is changed: [`DatabaseError::Exists`] for `to` without `aside`, or for `aside`; [`DatabaseError::InUse`] while another
/// process has the database at `to` open; [`DatabaseError::Damaged`], [`DatabaseError::Foreign`], [`DatabaseError::NewerSchema`] for
/// `from`; [`DatabaseError::Unavailable`].
pub fn restore_file<'a>(
    from: &'a Path,
    to: &'a Path,
    schemas: &'a [Migrations],
    aside: Option<&'a Path>,
) -> DatabaseFuture<'a, ()> {
    Box::pin(async move {
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        let is_there = exists(to);
        // The journal of another database must not be taken for one of the new one.
        let beside: Vec<&str> = BESIDE.into_iter().filter(|suffix| exists(&with_suffix(to, suffix))).collect();
        if aside.is_none() && (is_there || !beside.is_empty()) {
            return Err(DatabaseError::Exists(to.to_owned()));
        }
        let mut source = open(from, true).await?;
        check(&mut source, schemas).await?;
        let partial = Partial::beside(to)?;
        copy_into(&mut source, &partial).await?;
        source.close().await?;
        let held = if is_there { hold(to).await? } else { None };
        if let (Some(aside), true) = (aside, is_there) {
            link(to, aside)?;
        }
        for suffix in BESIDE {
            let journal = with_suffix(to, suffix);
            if let (Some(aside), true) = (aside, exists(&journal)) {
                let moved = with_suffix(aside, suffix);
                fs::rename(&journal, &moved).map_err(|source| failed(&journal, &source))?;
            }
        }
        if is_there {
            fs::rename(&partial.0, to).map_err(|source| failed(to, &source))?;
        } else {
            link(&partial.0, to)?;
        }
        sync_folder(to)?;
        if let Some(held) = held {
            held.close().await?;
        }
        Ok(())
    })
}

/// Holds a database so that no other process can use it, with everything in the one file; `None` for a file that is no readable
/// database, which no process can use.
async fn hold(path: &Path) -> Result<Option<SqliteConnection>, DatabaseError> {
    /// `SQLITE_NOTADB` and `SQLITE_CORRUPT`.
    const UNREADABLE: [&str; 2] = ["26", "11"];
    let code = |error: &sqlx::Error| error.as_database_error().and_then(|error| error.code().map(String::from));
    let held = async {
        let mut connection = open(path, false).await?;
        // Each process that has it open reads its write-ahead log, which ends only when it is alone.
        let mode: String = sqlx::query_scalar("PRAGMA journal_mode = DELETE").fetch_one(&mut connection).await?;
        sqlx::raw_sql("BEGIN EXCLUSIVE").execute(&mut connection).await?;
        Ok::<_, sqlx::Error>((connection, mode == "delete"))
    };
    match held.await {
        Ok((connection, true)) => Ok(Some(connection)),
        Ok((_, false)) => Err(DatabaseError::InUse(path.to_owned())),
        Err(error) if is_busy(code(&error).as_deref()) => Err(DatabaseError::InUse(path.to_owned())),
        Err(error) if code(&error).is_some_and(|code| UNREADABLE.contains(&&*code)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::{Database, DatabaseLocation, query};

    const SCHEMA: Migrations = Migrations {
        name: "host",
        is_guest: false,
        sqlite: &["CREATE TABLE word (text TEXT NOT NULL)"],
        postgres: &[],
    };
    const GUEST: Migrations = Migrations { name: "guest", is_guest: true, ..SCHEMA };

    async fn with_word(path: &Path, word: &str) -> Database {
        let database = Database::open(&DatabaseLocation::File(path.to_owned()), SCHEMA).await.unwrap();
        let insert = query("INSERT INTO word (text) VALUES ($1)").bind(word);
        insert.execute(&mut database.session().await.unwrap()).await.unwrap();
        database
    }

    async fn word(path: &Path) -> String {
        let database = Database::open(&DatabaseLocation::File(path.to_owned()), SCHEMA).await.unwrap();
        let row = query("SELECT text FROM word").fetch_one(&mut database.session().await.unwrap()).await.unwrap();
        database.close().await;
        row.get("text").unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[tokio::test]
    async fn a_copy_is_made_beside_a_process_that_writes_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (from, into) = (folder.path().join("a"), folder.path().join("copies"));
        fs::create_dir(&into).unwrap();
        let database = with_word(&from, "first").await;
        // Another process is in the middle of a write.
        let transaction = database.begin().await.unwrap();
        copy_file(&from, &into.join("copy")).await.unwrap();
        drop(transaction);
        assert_eq!(fs::metadata(into.join("copy")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&into), ["copy"]);
        let again = copy_file(&from, &into.join("copy")).await;
        assert!(matches!(again, Err(DatabaseError::Exists(_))), "{again:?}");
        assert!(copy_file(&folder.path().join("none"), &into.join("other")).await.is_err());
        fs::write(folder.path().join("text"), "no database ".repeat(100)).unwrap();
        assert!(copy_file(&folder.path().join("text"), &into.join("other")).await.is_err());
        assert_eq!(names(&into), ["copy"], "a copy is complete or not there");
        database.close().await;
        assert_eq!(word(&into.join("copy")).await, "first");
    }

    #[tokio::test]
    async fn a_copy_replaces_a_database_that_no_process_has_open() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        with_word(&at("source"), "new").await.close().await;
        copy_file(&at("source"), &at("new")).await.unwrap();
        fs::remove_file(at("source")).unwrap();
        let schemas = [SCHEMA, GUEST];
        restore_file(&at("new"), &at("first"), &schemas, None).await.unwrap();
        assert_eq!(fs::metadata(at("first")).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(word(&at("first")).await, "new");

        let open = with_word(&at("old"), "old").await;
        let refused = restore_file(&at("new"), &at("old"), &schemas, None).await;
        assert!(matches!(refused, Err(DatabaseError::Exists(_))), "{refused:?}");
        let aside = at("aside");
        let refused = restore_file(&at("new"), &at("old"), &schemas, Some(&aside)).await;
        assert!(matches!(refused, Err(DatabaseError::InUse(_))), "{refused:?}");
        assert!(!aside.exists());
        open.close().await;
        fs::write(&aside, "taken").unwrap();
        let refused = restore_file(&at("new"), &at("old"), &schemas, Some(&aside)).await;
        assert!(matches!(refused, Err(DatabaseError::Exists(_))), "{refused:?}");
        fs::remove_file(&aside).unwrap();
        assert_eq!(word(&at("old")).await, "old");
        restore_file(&at("new"), &at("old"), &schemas, Some(&aside)).await.unwrap();
        assert_eq!((word(&at("old")).await, word(&aside).await), ("new".to_owned(), "old".to_owned()));
        let beside: Vec<_> = names(folder.path());
        assert_eq!(beside, ["aside", "first", "new", "old"], "nothing is left over");
    }

    #[tokio::test]
    async fn a_damaged_foreign_or_newer_file_is_not_restored_and_a_damaged_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let schemas = [SCHEMA, GUEST];
        let refused = async |name: &str| restore_file(&at(name), &at("to"), &schemas, None).await.unwrap_err();
        fs::write(at("text"), "no database ".repeat(1_000)).unwrap();
        let database = with_word(&at("newer"), "x").await;
        for statement in
            ["CREATE TABLE guest_schema_version (version INTEGER)", "INSERT INTO guest_schema_version VALUES (2)"]
        {
            query(statement).execute(&mut database.session().await.unwrap()).await.unwrap();
        }
        database.close().await;
        fs::write(at("empty"), "").unwrap();
        with_word(&at("damaged"), &"word ".repeat(10_000)).await.close().await;
        let mut bytes = fs::read(at("damaged")).unwrap();
        let length = bytes.len();
        bytes[length / 2..].fill(0xff);
        fs::write(at("damaged"), bytes).unwrap();
        assert!(matches!(refused("text").await, DatabaseError::Unavailable(_)));
        assert!(matches!(refused("newer").await, DatabaseError::NewerSchema { found: 2, known: 1 }));
        assert!(matches!(refused("empty").await, DatabaseError::Foreign));
        let damaged = refused("damaged").await;
        assert!(matches!(damaged, DatabaseError::Damaged(_) | DatabaseError::Unavailable(_)), "{damaged:?}");
        assert!(matches!(refused("none").await, DatabaseError::Unavailable(_)));
        assert!(!at("to").exists());

        with_word(&at("good"), "good").await.close().await;
        fs::write(at("text-wal"), "a journal of another database").unwrap();
        restore_file(&at("good"), &at("text"), &schemas, Some(&at("aside"))).await.unwrap();
        assert_eq!(word(&at("text")).await, "good");
        assert!(fs::read_to_string(at("aside")).unwrap().starts_with("no database"));
        assert_eq!(fs::read_to_string(at("aside-wal")).unwrap(), "a journal of another database");
        // A journal without its database is not taken for one of the new database either.
        fs::write(at("to-wal"), "stale").unwrap();
        assert!(matches!(restore_file(&at("good"), &at("to"), &schemas, None).await, Err(DatabaseError::Exists(_))));
    }
}
