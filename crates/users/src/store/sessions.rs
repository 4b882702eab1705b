use paraffin_database::{Row, Session as Connection, query, query_of};

use super::users::{self, USER_COLUMNS};
use super::{UserStore, throttle};
use crate::session::{
    ROTATION_GRACE_MS, ROTATION_INTERVAL_MS, SESSION_IDLE_MS, SESSION_LIFETIME_MS, SESSIONS_MAX, TOUCH_INTERVAL_MS,
    client_text, expires_at,
};
use crate::{Event, NewSession, Session, SessionId, SessionRecord, SessionToken, UnixMillis, UserId, UsersError};

/// Tokens of one session at the same time, which requests at the same moment got; with one more the oldest expires.
const TOKENS_MAX: i64 = 32;

/// The row of a session.
struct SessionRow {
    session: Session,
    last_used_at: UnixMillis,
}

impl UserStore {
    /// The session of a token; `None` for one that is unknown, has ended or was rotated more than [`ROTATION_GRACE_MS`] ago, and
    /// where the user is disabled. The call counts as a use of the session, written at most once a minute.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn session(&self, token: &SessionToken, now: UnixMillis) -> Result<Option<Session>, UsersError> {
        let mut connection = self.database.session().await?;
        let Some(row) = look(&mut connection, token, now).await? else { return Ok(None) };
        if now.saturating_sub(row.last_used_at) >= TOUCH_INTERVAL_MS {
            touch(&mut connection, row.session.id, now).await?;
            let expires_at = expires_at(row.session.created_at, now);
            return Ok(Some(Session { expires_at, ..row.session }));
        }
        Ok(Some(row.session))
    }

    /// A new token for the session of this one, which remains valid for [`ROTATION_GRACE_MS`]. Tokens that concurrent requests
    /// got remain valid as well, whichever of them the client keeps.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`].
    pub async fn rotate(&self, token: &SessionToken, now: UnixMillis) -> Result<NewSession, UsersError> {
        let mut transaction = self.database.begin().await?;
        let row = look(&mut transaction, token, now).await?.ok_or(UsersError::SignedOut)?;
        let rotated = token.rotated()?;
        let id = row.session.id;
        // This one, and tokens that are too old to be of a concurrent request.
        query("UPDATE console_token SET ends_at = $1 WHERE session_id = $2 AND ends_at IS NULL AND (digest = $3 OR created_at <= $4)")
            .bind(now.saturating_add(ROTATION_GRACE_MS))
            .bind(id.0)
            .bind(token.digest().to_vec())
            .bind(now.saturating_sub(ROTATION_GRACE_MS))
            .execute(&mut transaction)
            .await?;
        query("DELETE FROM console_token WHERE session_id = $1 AND ends_at <= $2")
            .bind(id.0)
            .bind(now)
            .execute(&mut transaction)
            .await?;
        query("DELETE FROM console_token WHERE session_id = $1 AND digest <> $2 AND digest NOT IN (SELECT digest FROM console_token WHERE session_id = $1 ORDER BY created_at DESC LIMIT $3)")
            .bind(id.0)
            .bind(token.digest().to_vec())
            .bind(TOKENS_MAX - 2)
            .execute(&mut transaction)
            .await?;
        insert_token(&mut transaction, id, &rotated, now).await?;
        touch(&mut transaction, id, now).await?;
        transaction.commit().await?;
        let session =
            Session { must_rotate: false, expires_at: expires_at(row.session.created_at, now), ..row.session };
        Ok(NewSession { token: rotated, session, event: Event::Rotated(id) })
    }

    /// Ends the session of a token. `None` where it had ended.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn sign_out(&self, token: &SessionToken, now: UnixMillis) -> Result<Option<Event>, UsersError> {
        let mut transaction = self.database.begin().await?;
        let Some(row) = look(&mut transaction, token, now).await? else { return Ok(None) };
        let (user, id) = (row.session.user.id, row.session.id);
        query("DELETE FROM console_session WHERE id = $1").bind(id.0).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(Some(Event::SessionsEnded { user, count: 1 }))
    }

    /// The active sessions of a user at `now`, the last used first.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn sessions(&self, user: UserId, now: UnixMillis) -> Result<Vec<SessionRecord>, UsersError> {
        let rows = query("SELECT id, client, created_at, last_used_at FROM console_session WHERE user_id = $1 AND last_used_at > $2 AND created_at > $3 ORDER BY last_used_at DESC, id DESC")
            .bind(user.0)
            .bind(now.saturating_sub(SESSION_IDLE_MS))
            .bind(now.saturating_sub(SESSION_LIFETIME_MS))
            .fetch_all(&mut self.database.session().await?)
            .await?;
        rows.iter().map(session_record).collect()
    }

    /// Ends one session of a user.
    ///
    /// # Errors
    /// [`UsersError::NoSuchSession`] where the user has none of that number.
    pub async fn end_session(&self, user: UserId, session: SessionId) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        let ended = query("DELETE FROM console_session WHERE id = $1 AND user_id = $2")
            .bind(session.0)
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        if ended == 0 {
            return Err(UsersError::NoSuchSession);
        }
        transaction.commit().await?;
        Ok(Event::SessionsEnded { user, count: 1 })
    }

    /// Ends all sessions of a user but this one, and sign-ins that wait for a second factor.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`] where this session has ended.
    pub async fn end_other_sessions(&self, session: &Session, now: UnixMillis) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        ensure_signed_in(&mut transaction, session, now).await?;
        let count = end_others(&mut transaction, session.user.id, session.id).await?;
        transaction.commit().await?;
        Ok(Event::SessionsEnded { user: session.user.id, count })
    }
}

/// A new session of an authenticated user.
pub(super) async fn begin_session(
    connection: &mut Connection,
    user: UserId,
    client: &str,
    event: impl FnOnce(SessionId) -> Event,
    now: UnixMillis,
) -> Result<NewSession, UsersError> {
    super::prune(connection, now).await?;
    query("DELETE FROM console_session WHERE user_id = $1 AND id NOT IN (SELECT id FROM console_session WHERE user_id = $1 ORDER BY last_used_at DESC, id DESC LIMIT $2)")
        .bind(user.0)
        .bind(i64::from(SESSIONS_MAX) - 1)
        .execute(connection)
        .await?;
    query("UPDATE console_user SET last_sign_in_at = $1 WHERE id = $2")
        .bind(now)
        .bind(user.0)
        .execute(connection)
        .await?;
    let row = query(
        "INSERT INTO console_session (user_id, client, created_at, last_used_at) VALUES ($1, $2, $3, $3) RETURNING id",
    )
    .bind(user.0)
    .bind(client_text(client))
    .bind(now)
    .fetch_one(connection)
    .await?;
    let id = SessionId(row.get("id")?);
    let token = SessionToken::generate()?;
    insert_token(connection, id, &token, now).await?;
    throttle::remember_client(connection, user, client, now).await?;
    let session = Session {
        user: users::find(connection, user).await?,
        id,
        csrf: token.csrf(),
        created_at: now,
        expires_at: expires_at(now, now),
        must_rotate: false,
    };
    Ok(NewSession { token, session, event: event(id) })
}

/// Checks that a session has not ended since its request began.
pub(super) async fn ensure_signed_in(
    connection: &mut Connection,
    session: &Session,
    now: UnixMillis,
) -> Result<(), UsersError> {
    let row = query("SELECT s.created_at, s.last_used_at FROM console_session AS s JOIN console_user AS u ON u.id = s.user_id WHERE s.id = $1 AND s.user_id = $2 AND u.disabled_at IS NULL")
        .bind(session.id.0)
        .bind(session.user.id.0)
        .fetch_optional(connection)
        .await?;
    let row = row.ok_or(UsersError::SignedOut)?;
    if expires_at(row.get("created_at")?, row.get("last_used_at")?) <= now {
        return Err(UsersError::SignedOut);
    }
    Ok(())
}

/// Ends the sessions of a user but one, and pending sign-ins; returns the number of sessions. Of the clients from which
/// the user has signed in, only that of the remaining session stays known.
pub(super) async fn end_others(connection: &mut Connection, user: UserId, but: SessionId) -> Result<u64, UsersError> {
    query("DELETE FROM console_pending WHERE user_id = $1").bind(user.0).execute(connection).await?;
    query("DELETE FROM console_known_client WHERE user_id = $1").bind(user.0).execute(connection).await?;
    let remains = query("SELECT client, last_used_at FROM console_session WHERE id = $1 AND user_id = $2")
        .bind(but.0)
        .bind(user.0)
        .fetch_optional(connection)
        .await?;
    if let Some(row) = remains {
        let client: String = row.get("client")?;
        throttle::remember_client(connection, user, &client, row.get("last_used_at")?).await?;
    }
    let ended = query("DELETE FROM console_session WHERE user_id = $1 AND id <> $2").bind(user.0).bind(but.0);
    Ok(ended.execute(connection).await?)
}

/// Ends all sessions of a user, and sign-ins that wait for a second factor.
pub(super) async fn end_all(connection: &mut Connection, user: UserId) -> Result<(), UsersError> {
    // Numbers of sessions begin at 1.
    end_others(connection, user, SessionId(0)).await.map(drop)
}

async fn look(
    connection: &mut Connection,
    token: &SessionToken,
    now: UnixMillis,
) -> Result<Option<SessionRow>, UsersError> {
    let statement = format!(
        "SELECT s.id AS session_id, s.created_at AS session_created_at, s.last_used_at, t.created_at AS token_created_at, t.ends_at, {USER_COLUMNS} FROM console_token AS t JOIN console_session AS s ON s.id = t.session_id JOIN console_user AS u ON u.id = s.user_id WHERE t.digest = $1"
    );
    let Some(row) = query_of(statement).bind(token.digest().to_vec()).fetch_optional(connection).await? else {
        return Ok(None);
    };
    let user = users::record(&row)?;
    let created_at = row.get("session_created_at")?;
    let last_used_at = row.get("last_used_at")?;
    let expires_at = expires_at(created_at, last_used_at);
    let ends_at: Option<UnixMillis> = row.get("ends_at")?;
    if user.is_disabled || expires_at <= now || ends_at.is_some_and(|ends_at| ends_at <= now) {
        return Ok(None);
    }
    let token_created_at: UnixMillis = row.get("token_created_at")?;
    let session = Session {
        user,
        id: SessionId(row.get("session_id")?),
        csrf: token.csrf(),
        created_at,
        expires_at,
        must_rotate: ends_at.is_none() && now.saturating_sub(token_created_at) >= ROTATION_INTERVAL_MS,
    };
    Ok(Some(SessionRow { session, last_used_at }))
}

async fn touch(connection: &mut Connection, session: SessionId, now: UnixMillis) -> Result<(), UsersError> {
    query("UPDATE console_session SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1")
        .bind(now)
        .bind(session.0)
        .execute(connection)
        .await?;
    Ok(())
}

async fn insert_token(
    connection: &mut Connection,
    session: SessionId,
    token: &SessionToken,
    now: UnixMillis,
) -> Result<(), UsersError> {
    query("INSERT INTO console_token (digest, session_id, created_at) VALUES ($1, $2, $3)")
        .bind(token.digest().to_vec())
        .bind(session.0)
        .bind(now)
        .execute(connection)
        .await?;
    Ok(())
}

fn session_record(row: &Row) -> Result<SessionRecord, UsersError> {
    let created_at = row.get("created_at")?;
    let last_used_at = row.get("last_used_at")?;
    Ok(SessionRecord {
        id: SessionId(row.get("id")?),
        client: row.get("client")?,
        created_at,
        last_used_at,
        expires_at: expires_at(created_at, last_used_at),
    })
}
