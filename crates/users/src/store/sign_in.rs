use paraffin_database::{Session as Connection, query};

use super::UserStore;
use super::second_factor;
use super::sessions::{begin_session, end_others, ensure_signed_in};
use super::throttle::{self, Subject, give_back};
use super::users;
use crate::name::Name;
use crate::password::{PasswordDigest, check_new};
use crate::session::{PENDING_ATTEMPTS_MAX, PENDING_LIFETIME_MS};
use crate::{Event, NewSession, PendingToken, Session, SignIn, UnixMillis, UserId, UserRecord, UsersError};

/// Sign-ins of one user that wait for a second factor at the same time; with one more the oldest expires.
const PENDING_MAX: i64 = 10;

/// A sign-in that waits for a second factor.
struct Pending {
    user: UserRecord,
    attempts: u32,
}

impl UserStore {
    /// Signs in with name and password. `client` names the origin of the request: an address, of which version 6 counts as its
    /// network of 64 bits, or any other text that names the client.
    ///
    /// Attempts are counted by name and by client, whether or not there is such a user. An unknown name and a wrong password give
    /// the same error after the same work.
    ///
    /// # Errors
    /// [`UsersError::WrongNameOrPassword`], [`UsersError::Throttled`], [`UsersError::Disabled`] (after the right password),
    /// [`UsersError::Busy`].
    pub async fn sign_in(
        &self,
        name: &str,
        password: &str,
        client: &str,
        now: UnixMillis,
    ) -> Result<SignIn, UsersError> {
        // An invalid name belongs to no user.
        let name = Name::parse(name).unwrap_or(Name { shown: String::new(), key: String::new() });
        let (found, is_known) = {
            let mut connection = self.database.session().await?;
            let found = users::find_by_name(&mut connection, &name).await?;
            (found, throttle::is_known(&mut connection, &name.key, client).await?)
        };
        let by_name = if is_known { Subject::NameFrom(&name.key, client) } else { Subject::Name(&name.key) };
        let subjects = [by_name, Subject::Client(client)];
        self.charge(&subjects, now).await?;
        let stored = found.as_ref().map(|(_, stored)| stored);
        let is_right = self.not_charged_when_busy(&subjects, self.hasher.verify(password, stored), now).await?;
        let Some((user, stored)) = found.filter(|_| is_right) else { return Err(UsersError::WrongNameOrPassword) };
        // If this is busy, the next sign-in does it.
        let rehashed = if self.hasher.is_outdated(&stored) { self.hasher.hash(password).await.ok() } else { None };

        let mut transaction = self.database.begin().await?;
        // The password may have been changed while this one was hashed.
        let stored_now = users::find_by_name(&mut transaction, &name).await?;
        let Some((user, _)) = stored_now.filter(|(now, password)| now.id == user.id && *password == stored) else {
            return Err(UsersError::WrongNameOrPassword);
        };
        give_back(&mut transaction, &subjects, now).await?;
        if user.is_disabled {
            transaction.commit().await?;
            return Err(UsersError::Disabled);
        }
        if let Some(rehashed) = rehashed {
            users::set_password(&mut transaction, user.id, &rehashed).await?;
        }
        let sign_in = if user.has_second_factor {
            SignIn::SecondFactorNeeded(insert_pending(&mut transaction, user.id, now).await?)
        } else {
            let event = |session| Event::SignedIn { user: user.id, session, factor: "none" };
            SignIn::Session(Box::new(begin_session(&mut transaction, user.id, client, event, now).await?))
        };
        transaction.commit().await?;
        Ok(sign_in)
    }

    /// The second factor of a sign-in: a current code, or a recovery code. Each is accepted once, also when it comes twice
    /// at the same time.
    ///
    /// # Errors
    /// [`UsersError::SignInExpired`] after [`PENDING_LIFETIME_MS`] or [`PENDING_ATTEMPTS_MAX`] wrong codes,
    /// [`UsersError::WrongCode`], [`UsersError::Throttled`], [`UsersError::Disabled`].
    pub async fn second_factor(
        &self,
        pending: &PendingToken,
        code: &str,
        client: &str,
        now: UnixMillis,
    ) -> Result<NewSession, UsersError> {
        let user = find_pending(&mut self.database.session().await?, pending, now).await?.user;
        let subjects = [Subject::Code(user.id), Subject::Client(client)];
        self.charge(&subjects, now).await?;

        let mut transaction = self.database.begin().await?;
        let Pending { user, attempts } = find_pending(&mut transaction, pending, now).await?;
        if user.is_disabled {
            return Err(UsersError::Disabled);
        }
        let digest = pending.digest().to_vec();
        let Some(factor) = second_factor::use_code(&mut transaction, &user, code, now).await? else {
            let statement = if attempts + 1 >= PENDING_ATTEMPTS_MAX {
                query("DELETE FROM console_pending WHERE digest = $1")
            } else {
                query("UPDATE console_pending SET attempts = attempts + 1 WHERE digest = $1")
            };
            statement.bind(digest).execute(&mut transaction).await?;
            transaction.commit().await?;
            return Err(UsersError::WrongCode);
        };
        query("DELETE FROM console_pending WHERE digest = $1").bind(digest).execute(&mut transaction).await?;
        give_back(&mut transaction, &subjects, now).await?;
        let event = |session| Event::SignedIn { user: user.id, session, factor };
        let session = begin_session(&mut transaction, user.id, client, event, now).await?;
        transaction.commit().await?;
        Ok(session)
    }

    /// Gives the signed-in user a new password and ends the other sessions, links that reset the user included.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`], [`UsersError::WrongPassword`], [`UsersError::PasswordLength`], [`UsersError::PasswordIsName`],
    /// [`UsersError::Throttled`], [`UsersError::Busy`].
    pub async fn change_password(
        &self,
        session: &Session,
        old: &str,
        new: &str,
        now: UnixMillis,
    ) -> Result<Event, UsersError> {
        check_new(new, &Name::parse(&session.user.name)?)?;
        let stored = self.check_password(session, old, now).await?;
        let password = self.hasher.hash(new).await?;
        let mut transaction = self.database.begin().await?;
        ensure_signed_in(&mut transaction, session, now).await?;
        let user = session.user.id;
        if users::password_of(&mut transaction, user).await? != stored {
            return Err(UsersError::WrongPassword);
        }
        users::set_password(&mut transaction, user, &password).await?;
        let ended = end_others(&mut transaction, user, session.id).await?;
        query("DELETE FROM console_link WHERE user_id = $1").bind(user.0).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(Event::PasswordChanged { user, ended })
    }

    /// The stored password of the signed-in user, if `password` matches it.
    pub(super) async fn check_password(
        &self,
        session: &Session,
        password: &str,
        now: UnixMillis,
    ) -> Result<PasswordDigest, UsersError> {
        let stored = {
            let mut connection = self.database.session().await?;
            ensure_signed_in(&mut connection, session, now).await?;
            users::password_of(&mut connection, session.user.id).await?
        };
        let subjects = [Subject::Password(session.user.id)];
        self.charge(&subjects, now).await?;
        let verified = self.hasher.verify(password, Some(&stored));
        if !self.not_charged_when_busy(&subjects, verified, now).await? {
            return Err(UsersError::WrongPassword);
        }
        let mut transaction = self.database.begin().await?;
        give_back(&mut transaction, &subjects, now).await?;
        transaction.commit().await?;
        Ok(stored)
    }

    /// Refunds an attempt that was not checked.
    async fn not_charged_when_busy<T>(
        &self,
        subjects: &[Subject<'_>],
        attempt: impl Future<Output = Result<T, UsersError>>,
        now: UnixMillis,
    ) -> Result<T, UsersError> {
        let outcome = attempt.await;
        if matches!(outcome, Err(UsersError::Busy)) {
            let mut transaction = self.database.begin().await?;
            give_back(&mut transaction, subjects, now).await?;
            transaction.commit().await?;
        }
        outcome
    }
}

async fn insert_pending(
    connection: &mut Connection,
    user: UserId,
    now: UnixMillis,
) -> Result<PendingToken, UsersError> {
    super::prune(connection, now).await?;
    query("DELETE FROM console_pending WHERE user_id = $1 AND digest NOT IN (SELECT digest FROM console_pending WHERE user_id = $1 ORDER BY created_at DESC LIMIT $2)")
        .bind(user.0)
        .bind(PENDING_MAX - 1)
        .execute(connection)
        .await?;
    let token = PendingToken::generate()?;
    query("INSERT INTO console_pending (digest, user_id, attempts, created_at) VALUES ($1, $2, 0, $3)")
        .bind(token.digest().to_vec())
        .bind(user.0)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(token)
}

async fn find_pending(
    connection: &mut Connection,
    token: &PendingToken,
    now: UnixMillis,
) -> Result<Pending, UsersError> {
    let row = query("SELECT user_id, attempts FROM console_pending WHERE digest = $1 AND created_at > $2")
        .bind(token.digest().to_vec())
        .bind(now.saturating_sub(PENDING_LIFETIME_MS))
        .fetch_optional(connection)
        .await?;
    let row = row.ok_or(UsersError::SignInExpired)?;
    let user = users::find(connection, UserId(row.get("user_id")?)).await?;
    Ok(Pending { user, attempts: row.get("attempts")? })
}
