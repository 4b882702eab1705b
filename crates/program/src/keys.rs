//! `paraffin keys`: the keys of an instance on this machine, running or not.

mod other;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use paraffin_access::{
    AccessError, AccountId, ApiKey, CreatedKey, DatabaseKeyStore, DatabaseLocation, Grace, KeyId, KeyRecord,
    KeySelector, KeyStore, NewKey, OwnershipProver, ParsePlanError, Plans, UnixMillis, WindowLimits, expiry_in_days,
    time_text,
};
use serde_json::json;

use crate::accounts;
use crate::command_line::{AccountsArguments, KeysCommand, LimitArguments};
use crate::config::{Config, ConfigError};
use crate::instance::accounts_file;

/// Actor of changes to keys, for the audit log.
const ACTOR: &str = "command line";

/// A `keys` command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeysError {
    /// The key store refused.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The configuration cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `--plan` has another value.
    #[error(transparent)]
    Plan(#[from] ParsePlanError),
    /// Neither `--data-dir` nor `--config`.
    #[error("say which instance: --data-dir DIR or --config FILE")]
    NoInstance,
    /// The folder has no key store.
    #[error("there is no instance in {0}: its folder holds accounts.sqlite")]
    NotAnInstance(PathBuf),
    /// The text is neither an id nor a key.
    #[error("`{0}` is neither the id of a key, as `paraffin keys list` shows it, nor a key of 32 hex digits")]
    Selector(String),
}

/// The time as the key store wants it.
pub(crate) fn now() -> UnixMillis {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// Runs one command.
///
/// # Errors
/// See [`KeysError`].
pub(crate) async fn run(command: KeysCommand) -> Result<(), KeysError> {
    match command {
        KeysCommand::Create { name, plan, account, admin, management, expires, limits, accounts } => {
            let store = open(&accounts, true).await?;
            let new = match account {
                Some(account) => NewKey::in_account(name, AccountId(account)),
                None => NewKey::on_plan(name, plan.parse()?),
            };
            let now = now();
            let expires_at = expires.map(|days| expiry_in_days(days, now)).transpose()?;
            let new = NewKey { limits: limits.into(), admin, management, expires_at, ..new };
            show_once(&store.create(new, ACTOR, now).await?);
            store.close().await?;
        }
        KeysCommand::List { json, accounts } => {
            let store = open(&accounts, false).await?;
            let records = store.list().await?;
            if json {
                print_json(&records);
            } else {
                print_table(&records);
            }
            store.close().await?;
        }
        KeysCommand::Revoke { id, accounts } => {
            let store = open(&accounts, false).await?;
            let record = store.revoke(selector(&id)?, ACTOR, now()).await?;
            // "Revoked" is said when it is true for every process that serves.
            store.settle().await?;
            println!("key {} ({}) is revoked", record.id, record.name);
            store.close().await?;
        }
        KeysCommand::Reroll { id, grace_seconds, accounts } => {
            let store = open(&accounts, false).await?;
            let grace = Grace::of(Duration::from_secs(grace_seconds));
            show_once(&store.reroll(selector(&id)?, grace, ACTOR, now()).await?);
            if grace_seconds > 0 {
                eprintln!("the old key works for another {grace_seconds} s");
            } else {
                store.settle().await?;
                eprintln!("the old key is revoked");
            }
            store.close().await?;
        }
        KeysCommand::Account(command) => other::account(command).await?,
        KeysCommand::Alias(command) => other::alias(command).await?,
        KeysCommand::Origin(command) => other::origin(command).await?,
        KeysCommand::Audit { limit, accounts } => {
            let store = open(&accounts, false).await?;
            for row in store.audit(limit).await? {
                let at = time_text(row.at).unwrap_or_default();
                println!("{at}  {:<14} {:<9} {:<12} {}", row.actor, row.action, row.subject, row.detail);
            }
            store.close().await?;
        }
    }
    Ok(())
}

/// Where the accounts of an instance are.
///
/// # Errors
/// No instance is named, or there is none.
pub(crate) fn place(arguments: &AccountsArguments) -> Result<DatabaseLocation, KeysError> {
    located(arguments, false).map(|(place, _)| place)
}

/// The same for accounts that are to be put there; the folder is made.
///
/// # Errors
/// No instance is named, or its folder cannot be made.
pub(crate) fn new_place(arguments: &AccountsArguments) -> Result<DatabaseLocation, KeysError> {
    located(arguments, true).map(|(place, _)| place)
}

/// The same with the plans; with `create` there need not be one yet.
fn located(arguments: &AccountsArguments, create: bool) -> Result<(DatabaseLocation, Plans), KeysError> {
    let (folder, plans, place) = match (&arguments.data_dir, &arguments.config) {
        (Some(folder), _) => (folder.clone(), Plans::default(), DatabaseLocation::File(accounts_file(folder))),
        (None, Some(file)) => {
            let config = Config::load(file)?;
            let place = accounts::place(&config.access, &config.data_dir());
            (config.data_dir(), config.plans, place)
        }
        (None, None) => return Err(KeysError::NoInstance),
    };
    if let DatabaseLocation::File(file) = &place {
        if !create && !file.exists() {
            return Err(KeysError::NotAnInstance(folder));
        }
        if create {
            std::fs::create_dir_all(&folder).map_err(|_| KeysError::NotAnInstance(folder))?;
        }
    }
    Ok((place, plans))
}

async fn open(arguments: &AccountsArguments, create: bool) -> Result<DatabaseKeyStore, KeysError> {
    let (place, plans) = located(arguments, create)?;
    Ok(DatabaseKeyStore::open_at(&place, plans).await?)
}

impl From<LimitArguments> for WindowLimits {
    fn from(arguments: LimitArguments) -> Self {
        Self { per_minute: arguments.per_minute, per_day: arguments.per_day }
    }
}

/// What the configuration asks of owners of domains; the defaults without one.
fn prover(accounts: &AccountsArguments) -> Result<OwnershipProver, KeysError> {
    let settings = accounts.config.as_deref().map(Config::load).transpose()?;
    Ok(OwnershipProver::new(settings.map_or_else(Default::default, |config| config.access.proof)))
}

fn selector(text: &str) -> Result<KeySelector, KeysError> {
    if let Ok(id) = text.parse::<i64>() {
        return Ok(KeySelector::Id(KeyId(id)));
    }
    text.parse::<ApiKey>().map(KeySelector::Key).map_err(|_| KeysError::Selector(text.chars().take(8).collect()))
}

fn show_once(created: &CreatedKey) {
    println!("{}", created.key.reveal());
    if let Some(expires) = created.record.expires_at.and_then(time_text) {
        eprintln!("it expires at {expires}");
    }
    eprintln!(
        "key {} ({}, plan {}): copy it now, it is not shown again",
        created.record.id, created.record.name, created.record.plan
    );
}

fn print_json(records: &[KeyRecord]) {
    let keys: Vec<_> = records
        .iter()
        .map(|record| {
            json!({
                "id": record.id.to_string(),
                "account": record.account.to_string(),
                "name": record.name,
                "prefix": record.prefix,
                "admin": record.admin,
                "management": record.management,
                "plan": record.plan.name(),
                "perMinute": record.limits.per_minute,
                "perDay": record.limits.per_day,
                "createdAt": time_text(record.created_at),
                "lastUsedAt": record.last_used_at.and_then(time_text),
                "requestCount": record.request_count,
                "expiresAt": record.expires_at.and_then(time_text),
                "revokedAt": record.revoked_at.and_then(time_text),
            })
        })
        .collect();
    println!("{}", json!({ "keys": keys }));
}

fn print_table(records: &[KeyRecord]) {
    println!(
        "{:<6} {:<7} {:<6} {:<9} {:<6} {:>10}  {:<20}  {:<9} name",
        "id", "account", "key", "plan", "admin", "requests", "last used", "state"
    );
    for record in records {
        let state = if record.revoked_at.is_some() {
            "revoked"
        } else if record.is_active(now()) {
            "active"
        } else {
            "expired"
        };
        println!(
            "{:<6} {:<7} {:<6} {:<9} {:<6} {:>10}  {:<20}  {:<9} {}",
            record.id.to_string(),
            record.account.to_string(),
            format!("{}…", record.prefix),
            record.plan.name(),
            if record.admin { "yes" } else { "no" },
            record.request_count,
            record
                .last_used_at
                .and_then(time_text)
                .map_or_else(|| "never".to_owned(), |text| text.chars().take(19).collect()),
            state,
            record.name
        );
    }
}
