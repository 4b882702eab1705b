//! Databases of the tests in this folder: each test runs over SQLite, and once more over PostgreSQL as a part of
//! `postgres.rs`.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use paraffin_testkit::PostgresServer;
use paraffin_users::{
    DatabaseLocation, LinkToken, NewLink, NewRecoveryCodes, NewSession, PasswordCost, Role, Session, SessionToken,
    SignIn, UserSettings, UserStore, UsersError,
};
use sqlx::{ConnectOptions as _, Row as _, sqlite::SqliteConnectOptions};
use totp_rs::{Builder, Secret};

/// When the tests begin.
pub const NOW: i64 = 1_700_000_000_000;
pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

pub const PASSWORD: &str = "correct horse battery";
pub const CLIENT: &str = "192.0.2.1";

/// Parameters that cost nothing.
pub const CHEAP: PasswordCost = PasswordCost { memory_kib: 8, passes: 1, lanes: 1 };

/// A database of one test.
pub struct TestDatabase {
    pub folder: tempfile::TempDir,
    pub server: Option<PostgresServer>,
}

/// An empty database; `None` after a message that there is no PostgreSQL.
pub fn database() -> Option<TestDatabase> {
    let folder = tempfile::tempdir().unwrap();
    if env!("CARGO_CRATE_NAME") != "postgres" {
        return Some(TestDatabase { folder, server: None });
    }
    let mut server = PostgresServer::prepare(folder.path())?;
    server.run();
    Some(TestDatabase { folder, server: Some(server) })
}

impl TestDatabase {
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("users.sqlite")
    }

    pub fn location(&self) -> DatabaseLocation {
        match &self.server {
            None => DatabaseLocation::File(self.path()),
            Some(server) => DatabaseLocation::Server(server.url().parse().unwrap()),
        }
    }

    pub async fn open(&self) -> UserStore {
        self.open_with(UserSettings { password_cost: CHEAP, ..UserSettings::default() }).await
    }

    pub async fn open_with(&self, settings: UserSettings) -> UserStore {
        UserStore::open_with(&self.location(), settings).await.unwrap()
    }

    /// The result of a statement with one column `number`, run outside the store.
    pub async fn number(&self, statement: &'static str) -> i64 {
        match &self.server {
            None => {
                let mut shell = SqliteConnectOptions::new().filename(self.path()).connect().await.unwrap();
                sqlx::query(statement).fetch_one(&mut shell).await.unwrap().get("number")
            }
            #[cfg(not(feature = "postgres"))]
            Some(_) => unreachable!("a server is prepared for `postgres.rs` alone"),
            #[cfg(feature = "postgres")]
            Some(server) => {
                let options: sqlx::postgres::PgConnectOptions = server.url().parse().unwrap();
                let mut shell = options.connect().await.unwrap();
                sqlx::query(statement).fetch_one(&mut shell).await.unwrap().get("number")
            }
        }
    }
}

/// A store with its first owner.
pub async fn owned(database: &TestDatabase) -> (UserStore, NewSession) {
    let store = database.open().await;
    let owner = owner(&store).await;
    (store, owner)
}

/// The first owner, Olga.
pub async fn owner(store: &UserStore) -> NewSession {
    let link = store.setup_link(NOW).await.unwrap().unwrap();
    accept(store, &link, "Olga").await
}

/// A member of account 7.
pub async fn member(store: &UserStore, name: &str) -> NewSession {
    let link = store.invite(Role::Member, Some(7), NOW).await.unwrap();
    accept(store, &link, name).await
}

/// One more owner.
pub async fn another_owner(store: &UserStore, name: &str) -> NewSession {
    let link = store.invite(Role::Owner, None, NOW).await.unwrap();
    accept(store, &link, name).await
}

pub async fn accept(store: &UserStore, link: &NewLink, name: &str) -> NewSession {
    store.accept_link(&link.token, name, PASSWORD, CLIENT, NOW).await.unwrap()
}

pub async fn is_open(store: &UserStore, token: &LinkToken, now: i64) -> bool {
    store.look_at_link(token, now).await.unwrap().is_some()
}

/// The session of a token.
pub async fn session(store: &UserStore, token: &SessionToken, now: i64) -> Option<Session> {
    store.session(token, now).await.unwrap()
}

pub async fn is_signed_in(store: &UserStore, token: &SessionToken, now: i64) -> bool {
    session(store, token, now).await.is_some()
}

/// Signs in where no second factor is needed.
pub async fn sign_in(store: &UserStore, name: &str, now: i64) -> NewSession {
    signed_in(store.sign_in(name, PASSWORD, CLIENT, now).await.unwrap())
}

pub fn signed_in(sign_in: SignIn) -> NewSession {
    match sign_in {
        SignIn::Session(session) => *session,
        SignIn::SecondFactorNeeded(_) => panic!("a second factor is needed"),
    }
}

/// Gives the user of a session a second factor with the code of `now`: the secret in base 32 and the recovery codes.
pub async fn add_second_factor(store: &UserStore, session: &Session, now: i64) -> (String, NewRecoveryCodes) {
    let setup = store.begin_second_factor(session, PASSWORD, now).await.unwrap();
    let secret = setup.secret().to_owned();
    let codes = store.confirm_second_factor(session, &code(&secret, now), now).await.unwrap();
    (secret, codes)
}

/// What an authenticator shows.
pub fn code(secret: &str, now: i64) -> String {
    let secret = Secret::try_from_base32(secret).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    totp.generate(u64::try_from(now / 1_000).unwrap()).to_string()
}

/// How long a throttled attempt has to wait.
pub fn wait<T: std::fmt::Debug>(outcome: Result<T, UsersError>) -> u32 {
    match outcome {
        Err(UsersError::Throttled { seconds }) => seconds,
        other => panic!("not throttled: {other:?}"),
    }
}
