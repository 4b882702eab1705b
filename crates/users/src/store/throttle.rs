//! Failed attempts are counted in the database, not in memory: processes that share it share the count, and a restart does not
//! reset it. An attempt hashes a password, beside which the cost of writing one row is negligible.
//!
//! Clients from which a user has signed in before have a bucket of their own for that user's name. So guesses of passwords from
//! many addresses do not lock the user out.
//!
//! A bucket is one number, the time at which it will be full again. An attempt is charged before it is checked, so that concurrent ones
//! cannot exceed the limit, and a right one is refunded. A refused attempt is not charged, so further attempts do not make
//! the wait longer.

use paraffin_database::{Session as Connection, query};

use super::UserStore;
use crate::session::client_key;
use crate::token::{Digest, digest};
use crate::{UnixMillis, UserId, UsersError};

/// Capacity of a bucket, and the time in which it regains one attempt.
struct Bucket {
    burst: i64,
    interval_ms: i64,
}

/// Wrong passwords for one name: 1,440 a day at most.
const NAME: Bucket = Bucket { burst: 10, interval_ms: 60_000 };
/// Wrong passwords and codes of one client, which many people may share.
const CLIENT: Bucket = Bucket { burst: 30, interval_ms: 10_000 };
/// Wrong codes for one user. A code is one of a million, of which three are good: 288 a day hit once in three years.
const CODE: Bucket = Bucket { burst: 5, interval_ms: 300_000 };

/// Most known clients of a user.
const KNOWN_CLIENTS_MAX: i64 = 16;

/// Subjects by which attempts are counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    /// The name of a user, also one that no user has.
    Name(&'a str),
    /// The same from a client that has signed in by that name before.
    NameFrom(&'a str, &'a str),
    /// The password of a user who is signed in.
    Password(UserId),
    /// The client of the request.
    Client(&'a str),
    /// The second factor of a user.
    Code(UserId),
}

impl Subject<'_> {
    fn bucket(self) -> Bucket {
        match self {
            Self::Name(_) | Self::NameFrom(..) | Self::Password(_) => NAME,
            Self::Client(_) => CLIENT,
            Self::Code(_) => CODE,
        }
    }

    /// A bounded key: half of a digest. A collision of two names only makes them share a bucket.
    fn key(self) -> Vec<u8> {
        let digest = match self {
            Self::Name(name) => digest("paraffin attempts on a name", &[name.as_bytes()]),
            Self::NameFrom(name, client) => {
                digest("paraffin attempts of a client on a name", &[&client_digest(client), name.as_bytes()])
            }
            Self::Password(user) => digest("paraffin attempts on a password", &[&user.0.to_be_bytes()]),
            Self::Client(client) => client_digest(client),
            Self::Code(user) => digest("paraffin attempts on a code", &[&user.0.to_be_bytes()]),
        };
        digest[..16].to_vec()
    }
}

fn client_digest(client: &str) -> Digest {
    digest("paraffin attempts of a client", &[client_key(client).as_bytes()])
}

impl UserStore {
    /// Charges one attempt to each subject, or to none.
    ///
    /// # Errors
    /// [`UsersError::Throttled`].
    pub(super) async fn charge(&self, subjects: &[Subject<'_>], now: UnixMillis) -> Result<(), UsersError> {
        let mut transaction = self.database.begin().await?;
        let mut longest_wait_ms = 0;
        for subject in subjects {
            let (bucket, key) = (subject.bucket(), subject.key());
            let most = bucket.burst * bucket.interval_ms;
            let full_at = full_at(&mut transaction, &key).await?.unwrap_or(now);
            // A clock that steps back does not lengthen a wait.
            let next = full_at.clamp(now, now.saturating_add(most)).saturating_add(bucket.interval_ms);
            let wait_ms = next.saturating_sub(now) - most;
            if wait_ms > 0 {
                longest_wait_ms = longest_wait_ms.max(wait_ms);
                continue;
            }
            self.make_room(&mut transaction, now).await?;
            query("INSERT INTO console_throttle (subject, full_at) VALUES ($1, $2) ON CONFLICT (subject) DO UPDATE SET full_at = excluded.full_at")
                .bind(key)
                .bind(next)
                .execute(&mut transaction)
                .await?;
        }
        if longest_wait_ms > 0 {
            let seconds = u32::try_from((longest_wait_ms + 999) / 1_000).unwrap_or(u32::MAX);
            return Err(UsersError::Throttled { seconds });
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Bounds the number of buckets: evicts full ones first, then the fullest.
    async fn make_room(&self, connection: &mut Connection, now: UnixMillis) -> Result<(), UsersError> {
        if count(connection).await? < i64::from(self.remembered_max) {
            return Ok(());
        }
        query("DELETE FROM console_throttle WHERE full_at <= $1").bind(now).execute(connection).await?;
        let over = count(connection).await? - i64::from(self.remembered_max);
        if over >= 0 {
            query("DELETE FROM console_throttle WHERE subject IN (SELECT subject FROM console_throttle ORDER BY full_at LIMIT $1)")
                .bind(over + i64::from(self.remembered_max / 10))
                .execute(connection)
                .await?;
        }
        Ok(())
    }
}

/// Refunds an attempt that was right, or that was not checked.
pub(super) async fn give_back(
    connection: &mut Connection,
    subjects: &[Subject<'_>],
    now: UnixMillis,
) -> Result<(), UsersError> {
    for subject in subjects {
        let key = subject.key();
        let Some(full_at) = full_at(connection, &key).await? else { continue };
        let before = full_at.saturating_sub(subject.bucket().interval_ms);
        let statement = if before <= now {
            query("DELETE FROM console_throttle WHERE subject = $1").bind(key)
        } else {
            query("UPDATE console_throttle SET full_at = $1 WHERE subject = $2").bind(before).bind(key)
        };
        statement.execute(connection).await?;
    }
    Ok(())
}

/// Whether the user of a name has signed in from a client; the query is the same for a name without a user.
pub(super) async fn is_known(connection: &mut Connection, name_key: &str, client: &str) -> Result<bool, UsersError> {
    let known = query("SELECT k.user_id FROM console_known_client AS k JOIN console_user AS u ON u.id = k.user_id WHERE u.name_key = $1 AND k.client = $2")
        .bind(name_key)
        .bind(client_digest(client).to_vec())
        .fetch_optional(connection)
        .await?;
    Ok(known.is_some())
}

/// Records a sign-in of a user from a client, among the last [`KNOWN_CLIENTS_MAX`].
pub(super) async fn remember_client(
    connection: &mut Connection,
    user: UserId,
    client: &str,
    now: UnixMillis,
) -> Result<(), UsersError> {
    query("INSERT INTO console_known_client (user_id, client, last_at) VALUES ($1, $2, $3) ON CONFLICT (user_id, client) DO UPDATE SET last_at = excluded.last_at")
        .bind(user.0)
        .bind(client_digest(client).to_vec())
        .bind(now)
        .execute(connection)
        .await?;
    query("DELETE FROM console_known_client WHERE user_id = $1 AND client NOT IN (SELECT client FROM console_known_client WHERE user_id = $1 ORDER BY last_at DESC LIMIT $2)")
        .bind(user.0)
        .bind(KNOWN_CLIENTS_MAX)
        .execute(connection)
        .await?;
    Ok(())
}

async fn full_at(connection: &mut Connection, key: &[u8]) -> Result<Option<UnixMillis>, UsersError> {
    let row =
        query("SELECT full_at FROM console_throttle WHERE subject = $1").bind(key).fetch_optional(connection).await?;
    Ok(row.map(|row| row.get("full_at")).transpose()?)
}

async fn count(connection: &mut Connection) -> Result<i64, UsersError> {
    let row = query("SELECT COUNT(*) AS subjects FROM console_throttle").fetch_one(connection).await?;
    Ok(row.get("subjects")?)
}
