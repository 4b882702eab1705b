//! `paraffin account backup` and `restore`: the accounts of an instance as one file.

use std::path::{Path, PathBuf};

use paraffin_access::{ACCOUNTS_SCHEMA, DatabaseError, DatabaseLocation, copy_file, restore_file, time_text};
use paraffin_users::USERS_SCHEMA;
use paraffin_webhooks::WEBHOOKS_SCHEMA;

use crate::command_line::AccountsArguments;
use crate::keys::{self, KeysError, now};

/// A backup cannot be made or restored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccountFileError {
    /// The instance cannot be determined.
    #[error(transparent)]
    Instance(#[from] KeysError),
    /// The file, or the accounts.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The accounts are in PostgreSQL.
    #[error("the accounts of this instance are in PostgreSQL: use pg_dump for a backup and pg_restore to restore it")]
    Server,
    /// There are accounts, and `--replace` was not given.
    #[error("there are accounts at {0}: with --replace they are kept beside, and the backup takes their place")]
    AccountsExist(PathBuf),
}

fn file_of(place: DatabaseLocation) -> Result<PathBuf, AccountFileError> {
    match place {
        DatabaseLocation::File(file) => Ok(file),
        DatabaseLocation::Server(_) => Err(AccountFileError::Server),
    }
}

/// Writes the accounts into the new file `into`.
///
/// # Errors
/// See [`AccountFileError`]; then nothing is left of the file.
pub(crate) async fn backup(into: &Path, accounts: &AccountsArguments) -> Result<(), AccountFileError> {
    let from = file_of(keys::place(accounts)?)?;
    copy_file(&from, into).await?;
    println!("{}", into.display());
    Ok(())
}

/// Replaces the accounts of a stopped instance by a backup.
///
/// # Errors
/// See [`AccountFileError`]; then everything is as it was.
pub(crate) async fn restore(from: &Path, replace: bool, accounts: &AccountsArguments) -> Result<(), AccountFileError> {
    let to = file_of(keys::new_place(accounts)?)?;
    let kept = replace.then(|| {
        let time = time_text(now()).unwrap_or_default().replace(':', "-");
        to.with_file_name(format!("accounts.sqlite.before-{time}"))
    });
    let is_there = to.exists();
    restore_file(from, &to, &[ACCOUNTS_SCHEMA, USERS_SCHEMA, WEBHOOKS_SCHEMA], kept.as_deref()).await.map_err(
        |error| match error {
            DatabaseError::Exists(path) if path == to => AccountFileError::AccountsExist(path),
            other => other.into(),
        },
    )?;
    println!("{}", to.display());
    if let Some(kept) = kept.filter(|_| is_there) {
        eprintln!("the accounts before are kept as {}", kept.display());
    }
    eprintln!("keys, sessions and passwords are those of the backup: what was revoked since works again");
    Ok(())
}
