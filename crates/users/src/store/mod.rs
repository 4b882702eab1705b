mod links;
mod second_factor;
mod sessions;
mod sign_in;
mod throttle;
mod users;

use paraffin_database::{Database, DatabaseLocation, Session as Connection, query};

use crate::migrations::MIGRATIONS;
use crate::password::Hasher;
use crate::session::{PENDING_LIFETIME_MS, SESSION_IDLE_MS, SESSION_LIFETIME_MS};
use crate::{PasswordCost, UnixMillis, UsersError};

pub use second_factor::{SECOND_FACTOR_SETUP_MS, SecondFactorSetup};

/// Settings of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserSettings {
    /// Cost of hashing a password. A password that was hashed with other parameters is hashed again at its next sign-in.
    pub password_cost: PasswordCost,
    /// Names, clients and second factors whose attempts are remembered at the same time, at least 10.
    pub remembered_max: u32,
}

impl Default for UserSettings {
    fn default() -> Self {
        Self { password_cost: PasswordCost::OWASP, remembered_max: 20_000 }
    }
}

/// Users, links, sessions and second factors in one database: SQLite in a file, or PostgreSQL, which processes of many machines
/// may share. Several processes may have it open; a change of one is visible to the next call of every other.
///
/// Must be used inside a tokio runtime. Every method answers [`UsersError::Unavailable`] when the database cannot be consulted.
#[derive(Clone)]
pub struct UserStore {
    database: Database,
    hasher: Hasher,
    remembered_max: u32,
}

impl UserStore {
    /// Opens a database, creates the file if it is missing, and brings the schema up to date. A file of SQLite is that of the
    /// accounts.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`] when it cannot be opened, [`UsersError::NewerSchema`] when a newer program wrote it.
    pub async fn open(location: &DatabaseLocation) -> Result<Self, UsersError> {
        Self::open_with(location, UserSettings::default()).await
    }

    /// As [`UserStore::open`], with other settings.
    ///
    /// # Errors
    /// As [`UserStore::open`], and [`UsersError::InvalidCost`].
    pub async fn open_with(location: &DatabaseLocation, settings: UserSettings) -> Result<Self, UsersError> {
        let hasher = Hasher::new(settings.password_cost)?;
        let database = Database::open(location, MIGRATIONS).await?;
        Ok(Self { database, hasher, remembered_max: settings.remembered_max.max(10) })
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.database.close().await;
    }
}

/// Deletes expired rows. Reads check the time as well, so nothing depends on when this runs.
async fn prune(connection: &mut Connection, now: UnixMillis) -> Result<(), UsersError> {
    query("DELETE FROM console_session WHERE last_used_at <= $1 OR created_at <= $2")
        .bind(now.saturating_sub(SESSION_IDLE_MS))
        .bind(now.saturating_sub(SESSION_LIFETIME_MS))
        .execute(connection)
        .await?;
    query("DELETE FROM console_pending WHERE created_at <= $1")
        .bind(now.saturating_sub(PENDING_LIFETIME_MS))
        .execute(connection)
        .await?;
    query("DELETE FROM console_link WHERE expires_at <= $1").bind(now).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::password::tests::{give_turns, hasher};
    use crate::{NewSession, Role};

    const NOW: UnixMillis = 1_700_000_000_000;
    const PASSWORD: &str = "correct horse battery";

    /// A store with its first owner, and another one of the same file whose hasher has no permits yet.
    async fn free_and_held() -> (tempfile::TempDir, UserStore, UserStore, NewSession) {
        let folder = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::File(folder.path().join("users.sqlite"));
        let free = UserStore { hasher: hasher(1, Duration::from_secs(5)), ..UserStore::open(&location).await.unwrap() };
        let held = UserStore { hasher: hasher(0, Duration::from_secs(20)), ..free.clone() };
        let link = free.setup_link(NOW).await.unwrap().unwrap();
        let olga = free.accept_link(&link.token, "Olga", PASSWORD, "192.0.2.1", NOW).await.unwrap();
        (folder, free, held, olga)
    }

    /// Waits until an attempt was charged, which is the last step before the password is hashed.
    async fn charged(store: &UserStore) {
        let attempts = "SELECT COUNT(*) AS attempts FROM console_throttle";
        let mut connection = store.database.session().await.unwrap();
        while query(attempts).fetch_one(&mut connection).await.unwrap().get::<i64>("attempts").unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn a_password_that_is_changed_while_it_is_hashed_is_refused() {
        let (_folder, free, held, olga) = free_and_held().await;
        let meanwhile = async {
            charged(&free).await;
            free.change_password(&olga.session, PASSWORD, "another password", NOW).await.unwrap();
            give_turns(&held.hasher, 1);
        };
        let (outcome, ()) = tokio::join!(held.sign_in("Olga", PASSWORD, "198.51.100.1", NOW), meanwhile);
        assert!(matches!(outcome, Err(UsersError::WrongNameOrPassword)), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_session_that_ends_while_its_password_is_hashed_changes_nothing() {
        let (_folder, free, held, olga) = free_and_held().await;
        let meanwhile = async {
            charged(&free).await;
            free.sign_out(&olga.token, NOW).await.unwrap();
            give_turns(&held.hasher, 2);
        };
        let change = held.change_password(&olga.session, PASSWORD, "another password", NOW);
        let (outcome, ()) = tokio::join!(change, meanwhile);
        assert!(matches!(outcome, Err(UsersError::SignedOut)), "{outcome:?}");
        assert!(free.sign_in("Olga", PASSWORD, "192.0.2.1", NOW).await.is_ok());
    }

    #[tokio::test]
    async fn a_link_that_is_withdrawn_while_its_password_is_hashed_makes_no_user() {
        let (_folder, free, held, _) = free_and_held().await;
        let link = free.invite(Role::Owner, None, NOW).await.unwrap();
        let meanwhile = async {
            // The other one looks at its link before this one can write.
            tokio::time::sleep(Duration::from_millis(100)).await;
            free.withdraw_link(link.record.id).await.unwrap();
            give_turns(&held.hasher, 1);
        };
        let accepted = held.accept_link(&link.token, "Oskar", PASSWORD, "192.0.2.1", NOW);
        let (outcome, ()) = tokio::join!(accepted, meanwhile);
        assert!(matches!(outcome, Err(UsersError::InvalidLink)), "{outcome:?}");
        assert_eq!(free.users().await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn an_attempt_without_a_permit_is_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        let location = DatabaseLocation::File(folder.path().join("users.sqlite"));
        let free = UserStore { hasher: hasher(1, Duration::from_secs(5)), ..UserStore::open(&location).await.unwrap() };
        let link = free.setup_link(NOW).await.unwrap().unwrap();
        let busy = UserStore { hasher: hasher(0, Duration::from_millis(1)), ..free.clone() };
        let refused = busy.accept_link(&link.token, "Olga", PASSWORD, "192.0.2.1", NOW).await;
        assert!(matches!(refused, Err(UsersError::Busy)));
        let olga = free.accept_link(&link.token, "Olga", PASSWORD, "192.0.2.1", NOW).await.unwrap();
        for _ in 0..20 {
            for client in ["192.0.2.1", "198.51.100.1"] {
                let refused = busy.sign_in("Olga", PASSWORD, client, NOW).await;
                assert!(matches!(refused, Err(UsersError::Busy)));
            }
            let refused = busy.change_password(&olga.session, PASSWORD, "another password", NOW).await;
            assert!(matches!(refused, Err(UsersError::Busy)));
        }
        assert!(free.sign_in("Olga", PASSWORD, "198.51.100.1", NOW).await.is_ok());
        assert!(free.change_password(&olga.session, PASSWORD, "another password", NOW).await.is_ok());
    }
}
