use std::fmt;

use paraffin_database::{Session as Connection, query};
use totp_rs::{Builder, Totp};

use super::UserStore;
use super::sessions::ensure_signed_in;
use crate::recovery::{NewRecoveryCodes, RECOVERY_CODES, RecoveryCode};
use crate::token::random;
use crate::{Event, Session, UnixMillis, UserId, UserRecord, UsersError};

/// How long the set-up of a second factor may take, in milliseconds: an hour.
pub const SECOND_FACTOR_SETUP_MS: i64 = 60 * 60 * 1_000;

/// Issuer that an authenticator shows beside the code.
const ISSUER: &str = "Paraffin";
/// 160 bits, as RFC 4226, section 4, recommends.
const SECRET_BYTES: usize = 20;
/// Longest accepted code, in bytes, with blanks in it.
const CODE_BYTES_MAX: usize = 64;

/// Secret for an authenticator: shown once, and nothing of it in `Debug`.
#[derive(Clone)]
pub struct SecondFactorSetup {
    secret: String,
    uri: String,
}

impl SecondFactorSetup {
    /// The secret in base 32, 32 characters, for typing.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The same as `otpauth://totp/…`: SHA-1, 6 digits, 30 seconds, which every authenticator understands.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl fmt::Debug for SecondFactorSetup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecondFactorSetup")
    }
}

impl UserStore {
    /// Begins to set up a second factor, which is not required before [`UserStore::confirm_second_factor`]. A pending set-up
    /// is replaced.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`], [`UsersError::HasSecondFactor`], [`UsersError::WrongPassword`], [`UsersError::Throttled`],
    /// [`UsersError::Busy`].
    pub async fn begin_second_factor(
        &self,
        session: &Session,
        password: &str,
        now: UnixMillis,
    ) -> Result<SecondFactorSetup, UsersError> {
        // A session alone, of a browser that was left open, must not lock its user out.
        self.check_password(session, password, now).await?;
        let secret: [u8; SECRET_BYTES] = random()?;
        let totp = totp(&secret, &session.user.name)?;
        let uri = totp.to_url().map_err(|error| UsersError::Unavailable(format!("no address for a code: {error}")))?;
        let mut transaction = self.database.begin().await?;
        ensure_signed_in(&mut transaction, session, now).await?;
        let user = session.user.id;
        query("DELETE FROM console_second_factor WHERE user_id = $1 AND confirmed_at IS NULL")
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        if stored(&mut transaction, user).await?.is_some() {
            return Err(UsersError::HasSecondFactor);
        }
        query("INSERT INTO console_second_factor (user_id, secret, created_at, last_step) VALUES ($1, $2, $3, 0)")
            .bind(user.0)
            .bind(secret.to_vec())
            .bind(now)
            .execute(&mut transaction)
            .await?;
        transaction.commit().await?;
        Ok(SecondFactorSetup { secret: totp.secret().to_base32(), uri })
    }

    /// Enables the second factor after a right code of the authenticator, which is used up.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`], [`UsersError::WrongCode`], [`UsersError::HasSecondFactor`], and
    /// [`UsersError::NoSecondFactor`] where none was begun within [`SECOND_FACTOR_SETUP_MS`].
    pub async fn confirm_second_factor(
        &self,
        session: &Session,
        code: &str,
        now: UnixMillis,
    ) -> Result<NewRecoveryCodes, UsersError> {
        let mut transaction = self.database.begin().await?;
        ensure_signed_in(&mut transaction, session, now).await?;
        let user = session.user.id;
        let stored = stored(&mut transaction, user).await?.ok_or(UsersError::NoSecondFactor)?;
        if stored.confirmed_at.is_some() {
            return Err(UsersError::HasSecondFactor);
        }
        if now.saturating_sub(stored.created_at) >= SECOND_FACTOR_SETUP_MS {
            return Err(UsersError::NoSecondFactor);
        }
        let step = stored.step_of(&session.user.name, code, now)?.ok_or(UsersError::WrongCode)?;
        query("UPDATE console_second_factor SET confirmed_at = $1, last_step = $2 WHERE user_id = $3")
            .bind(now)
            .bind(step)
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        let codes = renew_codes(&mut transaction, user).await?;
        transaction.commit().await?;
        Ok(NewRecoveryCodes { codes, event: Event::SecondFactorAdded(user) })
    }

    /// Disables the second factor and deletes the recovery codes.
    ///
    /// # Errors
    /// [`UsersError::SignedOut`], [`UsersError::NoSecondFactor`], [`UsersError::WrongPassword`], [`UsersError::Throttled`],
    /// [`UsersError::Busy`].
    pub async fn remove_second_factor(
        &self,
        session: &Session,
        password: &str,
        now: UnixMillis,
    ) -> Result<Event, UsersError> {
        self.check_password(session, password, now).await?;
        let mut transaction = self.database.begin().await?;
        let user = with_second_factor(&mut transaction, session, now).await?;
        remove(&mut transaction, user).await?;
        transaction.commit().await?;
        Ok(Event::SecondFactorRemoved(user))
    }

    /// Replaces all recovery codes.
    ///
    /// # Errors
    /// As [`UserStore::remove_second_factor`].
    pub async fn renew_recovery_codes(
        &self,
        session: &Session,
        password: &str,
        now: UnixMillis,
    ) -> Result<NewRecoveryCodes, UsersError> {
        self.check_password(session, password, now).await?;
        let mut transaction = self.database.begin().await?;
        let user = with_second_factor(&mut transaction, session, now).await?;
        let codes = renew_codes(&mut transaction, user).await?;
        transaction.commit().await?;
        Ok(NewRecoveryCodes { codes, event: Event::RecoveryCodesRenewed(user) })
    }

    /// Recovery codes of a user that were not used.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn recovery_codes_left(&self, user: UserId) -> Result<u32, UsersError> {
        let row = query("SELECT COUNT(*) AS codes FROM console_recovery_code WHERE user_id = $1")
            .bind(user.0)
            .fetch_one(&mut self.database.session().await?)
            .await?;
        Ok(row.get("codes")?)
    }
}

/// The stored secret of a user.
struct TotpSecret {
    secret: Vec<u8>,
    created_at: UnixMillis,
    confirmed_at: Option<UnixMillis>,
    last_step: i64,
}

impl TotpSecret {
    /// The step of the code, if it is newer than the last accepted one. One step before and after now
    /// counts as well, since clocks differ (RFC 6238, section 5.2).
    fn step_of(&self, name: &str, code: &str, now: UnixMillis) -> Result<Option<i64>, UsersError> {
        if code.len() > CODE_BYTES_MAX {
            return Ok(None);
        }
        let digits: String = code.chars().filter(|character| !character.is_whitespace()).collect();
        let seconds = u64::try_from(now / 1_000).unwrap_or(0);
        let step = totp(&self.secret, name)?.check(&digits, seconds);
        let step = step.and_then(|step| i64::try_from(step).ok());
        Ok(step.filter(|step| *step > self.last_step))
    }
}

/// Uses up a code of the user's second factor: `totp` or `recovery`, or `None` when it is neither.
pub(super) async fn use_code(
    connection: &mut Connection,
    user: &UserRecord,
    code: &str,
    now: UnixMillis,
) -> Result<Option<&'static str>, UsersError> {
    let Some(stored) = stored(connection, user.id).await?.filter(|stored| stored.confirmed_at.is_some()) else {
        return Ok(None);
    };
    if let Some(step) = stored.step_of(&user.name, code, now)? {
        query("UPDATE console_second_factor SET last_step = $1 WHERE user_id = $2")
            .bind(step)
            .bind(user.id.0)
            .execute(connection)
            .await?;
        return Ok(Some("totp"));
    }
    let Some(code) = RecoveryCode::parse(code) else { return Ok(None) };
    let used = query("DELETE FROM console_recovery_code WHERE digest = $1 AND user_id = $2")
        .bind(code.digest(user.id).to_vec())
        .bind(user.id.0)
        .execute(connection)
        .await?;
    Ok((used > 0).then_some("recovery"))
}

/// Deletes the second factor and its recovery codes.
pub(super) async fn remove(connection: &mut Connection, user: UserId) -> Result<(), UsersError> {
    query("DELETE FROM console_second_factor WHERE user_id = $1").bind(user.0).execute(connection).await?;
    query("DELETE FROM console_recovery_code WHERE user_id = $1").bind(user.0).execute(connection).await?;
    Ok(())
}

/// The signed-in user, who has a second factor.
async fn with_second_factor(
    connection: &mut Connection,
    session: &Session,
    now: UnixMillis,
) -> Result<UserId, UsersError> {
    ensure_signed_in(connection, session, now).await?;
    let stored = stored(connection, session.user.id).await?;
    stored.filter(|stored| stored.confirmed_at.is_some()).map(|_| session.user.id).ok_or(UsersError::NoSecondFactor)
}

async fn renew_codes(connection: &mut Connection, user: UserId) -> Result<[RecoveryCode; RECOVERY_CODES], UsersError> {
    query("DELETE FROM console_recovery_code WHERE user_id = $1").bind(user.0).execute(connection).await?;
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let code = RecoveryCode::generate()?;
        query("INSERT INTO console_recovery_code (digest, user_id) VALUES ($1, $2)")
            .bind(code.digest(user).to_vec())
            .bind(user.0)
            .execute(connection)
            .await?;
        codes.push(code);
    }
    codes.try_into().map_err(|_| UsersError::Unavailable("another number of recovery codes".to_owned()))
}

async fn stored(connection: &mut Connection, user: UserId) -> Result<Option<TotpSecret>, UsersError> {
    let row = query("SELECT secret, created_at, confirmed_at, last_step FROM console_second_factor WHERE user_id = $1")
        .bind(user.0)
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        Ok(TotpSecret {
            secret: row.get("secret")?,
            created_at: row.get("created_at")?,
            confirmed_at: row.get("confirmed_at")?,
            last_step: row.get("last_step")?,
        })
    })
    .transpose()
}

/// SHA-1, 6 digits, steps of 30 seconds, one step of tolerance.
fn totp(secret: &[u8], name: &str) -> Result<Totp, UsersError> {
    // A colon would end the name in the address.
    let totp = Builder::new()
        .with_secret(secret.to_vec())
        .with_account_name(name.replace(':', "_"))
        .with_issuer(Some(ISSUER))
        .build();
    totp.map_err(|error| UsersError::Unavailable(format!("a secret of TOTP that is none: {error}")))
}
