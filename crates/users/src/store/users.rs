use paraffin_database::{Row, Session as Connection, query, query_of};

use super::UserStore;
use super::sessions::end_all;
use crate::name::Name;
use crate::password::PasswordDigest;
use crate::{Event, PasswordCost, Role, UnixMillis, UserId, UserRecord, UsersError};

/// The columns of a [`UserRecord`], of `console_user AS u`.
pub(super) const USER_COLUMNS: &str = "u.id AS user_id, u.name, u.role, u.account, u.created_at AS user_created_at, u.last_sign_in_at, u.disabled_at, CAST((SELECT COUNT(*) FROM console_second_factor AS f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS BIGINT) AS second_factors";

/// The columns of a [`PasswordDigest`].
pub(super) const PASSWORD_COLUMNS: &str = "u.password_digest, u.password_salt, u.memory_kib, u.passes, u.lanes";

impl UserStore {
    /// All users, by number.
    ///
    /// # Errors
    /// [`UsersError::Unavailable`].
    pub async fn users(&self) -> Result<Vec<UserRecord>, UsersError> {
        let mut connection = self.database.session().await?;
        let rows = query_of(format!("SELECT {USER_COLUMNS} FROM console_user AS u ORDER BY u.id"))
            .fetch_all(&mut connection)
            .await?;
        rows.iter().map(record).collect()
    }

    /// One user.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`].
    pub async fn user(&self, id: UserId) -> Result<UserRecord, UsersError> {
        find(&mut self.database.session().await?, id).await
    }

    /// Gives a user another role or account, which is effective with the next request of its sessions.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`], [`UsersError::AccountNeeded`] for a member without one, [`UsersError::LastOwner`].
    pub async fn set_role(&self, user: UserId, role: Role, account: Option<i64>) -> Result<Event, UsersError> {
        check_account(role, account)?;
        let mut transaction = self.database.begin().await?;
        let before = find(&mut transaction, user).await?;
        if role != Role::Owner {
            keep_an_owner(&mut transaction, &before).await?;
        }
        query("UPDATE console_user SET role = $1, account = $2 WHERE id = $3")
            .bind(role.as_str())
            .bind(account)
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        transaction.commit().await?;
        Ok(Event::RoleSet { user, role, account })
    }

    /// Disables a user, and ends all sessions and links that reset the user.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`], [`UsersError::LastOwner`].
    pub async fn disable(&self, user: UserId, now: UnixMillis) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        let before = find(&mut transaction, user).await?;
        keep_an_owner(&mut transaction, &before).await?;
        query("UPDATE console_user SET disabled_at = $1 WHERE id = $2 AND disabled_at IS NULL")
            .bind(now)
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        end_all(&mut transaction, user).await?;
        query("DELETE FROM console_link WHERE user_id = $1").bind(user.0).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(Event::Disabled(user))
    }

    /// Lets a user sign in again.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`].
    pub async fn enable(&self, user: UserId) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        find(&mut transaction, user).await?;
        query("UPDATE console_user SET disabled_at = NULL WHERE id = $1")
            .bind(user.0)
            .execute(&mut transaction)
            .await?;
        transaction.commit().await?;
        Ok(Event::Enabled(user))
    }

    /// Removes a user with sessions, links and second factor. The name is free again, the number is not.
    ///
    /// # Errors
    /// [`UsersError::NoSuchUser`], [`UsersError::LastOwner`].
    pub async fn remove(&self, user: UserId) -> Result<Event, UsersError> {
        let mut transaction = self.database.begin().await?;
        let before = find(&mut transaction, user).await?;
        keep_an_owner(&mut transaction, &before).await?;
        // Rows that refer to the user are deleted with it.
        query("DELETE FROM console_user WHERE id = $1").bind(user.0).execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(Event::Removed(user))
    }
}

/// A member belongs to an account.
pub(super) fn check_account(role: Role, account: Option<i64>) -> Result<(), UsersError> {
    if role == Role::Member && account.is_none() { Err(UsersError::AccountNeeded) } else { Ok(()) }
}

/// The owners who can sign in, by number.
pub(super) async fn owners(connection: &mut Connection) -> Result<Vec<UserRecord>, UsersError> {
    let statement = format!(
        "SELECT {USER_COLUMNS} FROM console_user AS u WHERE u.role = 'owner' AND u.disabled_at IS NULL ORDER BY u.id"
    );
    let rows = query_of(statement).fetch_all(connection).await?;
    rows.iter().map(record).collect()
}

/// Checks before an owner is removed that there is another enabled one.
async fn keep_an_owner(connection: &mut Connection, leaving: &UserRecord) -> Result<(), UsersError> {
    if leaving.role != Role::Owner {
        return Ok(());
    }
    let remain = owners(connection).await?.iter().any(|owner| owner.id != leaving.id);
    if remain { Ok(()) } else { Err(UsersError::LastOwner) }
}

pub(super) async fn find(connection: &mut Connection, id: UserId) -> Result<UserRecord, UsersError> {
    let row = query_of(format!("SELECT {USER_COLUMNS} FROM console_user AS u WHERE u.id = $1"))
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    record(&row.ok_or(UsersError::NoSuchUser)?)
}

/// The user of a name with the stored password.
pub(super) async fn find_by_name(
    connection: &mut Connection,
    name: &Name,
) -> Result<Option<(UserRecord, PasswordDigest)>, UsersError> {
    let row =
        query_of(format!("SELECT {USER_COLUMNS}, {PASSWORD_COLUMNS} FROM console_user AS u WHERE u.name_key = $1"))
            .bind(&name.key)
            .fetch_optional(connection)
            .await?;
    row.map(|row| Ok((record(&row)?, password(&row)?))).transpose()
}

/// The stored password of a user.
pub(super) async fn password_of(connection: &mut Connection, id: UserId) -> Result<PasswordDigest, UsersError> {
    let row = query_of(format!("SELECT {PASSWORD_COLUMNS} FROM console_user AS u WHERE u.id = $1"))
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    password(&row.ok_or(UsersError::NoSuchUser)?)
}

pub(super) async fn insert(
    connection: &mut Connection,
    name: &Name,
    role: Role,
    account: Option<i64>,
    password: &PasswordDigest,
    now: UnixMillis,
) -> Result<UserId, UsersError> {
    let taken = query("SELECT id FROM console_user WHERE name_key = $1").bind(&name.key).fetch_optional(connection);
    if taken.await?.is_some() {
        return Err(UsersError::NameTaken);
    }
    let row = query("INSERT INTO console_user (name, name_key, role, account, created_at, password_digest, password_salt, memory_kib, passes, lanes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id")
        .bind(&name.shown)
        .bind(&name.key)
        .bind(role.as_str())
        .bind(account)
        .bind(now)
        .bind(&password.digest)
        .bind(&password.salt)
        .bind(password.cost.memory_kib)
        .bind(password.cost.passes)
        .bind(password.cost.lanes)
        .fetch_one(connection)
        .await?;
    Ok(UserId(row.get("id")?))
}

pub(super) async fn set_password(
    connection: &mut Connection,
    user: UserId,
    password: &PasswordDigest,
) -> Result<(), UsersError> {
    query("UPDATE console_user SET password_digest = $1, password_salt = $2, memory_kib = $3, passes = $4, lanes = $5 WHERE id = $6")
        .bind(&password.digest)
        .bind(&password.salt)
        .bind(password.cost.memory_kib)
        .bind(password.cost.passes)
        .bind(password.cost.lanes)
        .bind(user.0)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) fn record(row: &Row) -> Result<UserRecord, UsersError> {
    Ok(UserRecord {
        id: UserId(row.get("user_id")?),
        name: row.get("name")?,
        role: role(&row.get::<String>("role")?)?,
        account: row.get("account")?,
        created_at: row.get("user_created_at")?,
        last_sign_in_at: row.get("last_sign_in_at")?,
        has_second_factor: row.get::<i64>("second_factors")? > 0,
        is_disabled: row.get::<Option<i64>>("disabled_at")?.is_some(),
    })
}

pub(super) fn role(text: &str) -> Result<Role, UsersError> {
    Role::parse(text).ok_or_else(|| UsersError::Unavailable(format!("`{text}` is no role")))
}

fn password(row: &Row) -> Result<PasswordDigest, UsersError> {
    Ok(PasswordDigest {
        digest: row.get("password_digest")?,
        salt: row.get("password_salt")?,
        cost: PasswordCost { memory_kib: row.get("memory_kib")?, passes: row.get("passes")?, lanes: row.get("lanes")? },
    })
}
