//! Where accounts are, and how gateways share them.

use std::path::Path;
#[cfg(feature = "cluster")]
use std::time::Duration;

use paraffin_access::{AccessError, DatabaseKeyStore, DatabaseLocation, Plans, ServerUrl};
#[cfg(feature = "cluster")]
use paraffin_access::{ParseRedisUrlError, SharedOptions};
use paraffin_gateway::AccessConfig;

use crate::cluster;
use crate::config::Config;
use crate::instance::accounts_file;

/// Most gateways that may share one Redis.
const GATEWAYS_MAX: u32 = 1_000;
/// Longest wait for an answer of Redis.
const REDIS_TIMEOUT_MS_MAX: u64 = 10_000;

/// Finds settings of `[access]` that contradict each other or name no server; the message repeats no address.
///
/// # Errors
/// The message.
pub(crate) fn check(access: &AccessConfig) -> Result<(), String> {
    if let Some(url) = &access.database_url {
        cluster::needed_by("[access] database_url")?;
        url.reveal().parse::<ServerUrl>().map_err(|error| format!("[access] database_url is {error}"))?;
    }
    if access.redis_url.is_some() {
        cluster::needed_by("[access] redis_url")?;
    }
    if access.redis_url.is_some() && access.database_url.is_none() {
        return Err(
            "[access] redis_url needs database_url: gateways that count together have the same accounts".to_owned()
        );
    }
    if !(1..=GATEWAYS_MAX).contains(&access.gateways) {
        return Err(format!("[access] gateways must be from 1 to {GATEWAYS_MAX}"));
    }
    if !(1..=REDIS_TIMEOUT_MS_MAX).contains(&access.redis_timeout_ms) {
        return Err(format!("[access] redis_timeout_ms must be from 1 to {REDIS_TIMEOUT_MS_MAX}"));
    }
    #[cfg(feature = "cluster")]
    shared(access).map_err(|error| format!("[access] redis_url is {error}"))?;
    Ok(())
}

/// The server of accounts, saved scripts and records of verification; `None` where they are in files.
pub(crate) fn server(access: &AccessConfig) -> Option<ServerUrl> {
    // An address that is none was refused when the configuration was read.
    access.database_url.as_ref().and_then(|url| url.reveal().parse().ok())
}

/// Configuration of shared windows, where they are used.
///
/// # Errors
/// The address is none.
#[cfg(feature = "cluster")]
pub(crate) fn shared(access: &AccessConfig) -> Result<Option<SharedOptions>, ParseRedisUrlError> {
    let within = Duration::from_millis(access.redis_timeout_ms);
    access.redis_url.as_ref().map(|url| SharedOptions::new(url.reveal(), access.gateways, within)).transpose()
}

/// Where the accounts of an instance are.
pub(crate) fn place(access: &AccessConfig, data_dir: &Path) -> DatabaseLocation {
    server(access).map_or_else(|| DatabaseLocation::File(accounts_file(data_dir)), DatabaseLocation::Server)
}

/// Opens the accounts of an instance that serves.
///
/// # Errors
/// The database refuses or does not answer. Redis may be away.
pub(crate) async fn open(config: &Config) -> Result<DatabaseKeyStore, AccessError> {
    let (place, plans): (DatabaseLocation, Plans) = (place(&config.access, &config.data_dir()), config.plans.clone());
    #[cfg(feature = "cluster")]
    if let Ok(Some(shared)) = shared(&config.access) {
        return DatabaseKeyStore::open_shared(&place, plans, shared).await;
    }
    DatabaseKeyStore::open_at(&place, plans).await
}

#[cfg(test)]
mod tests {
    use paraffin_access::Secret;

    use super::*;

    #[cfg(not(feature = "cluster"))]
    #[test]
    fn settings_of_servers_are_refused_with_the_feature_that_they_need() {
        let database = Some(Secret::from("postgres://u:hunter2@db/accounts"));
        let redis = Some(Secret::from("redis://u:hunter2@cache:6379/1"));
        for (access, setting) in [
            (AccessConfig { database_url: database, ..AccessConfig::default() }, "[access] database_url"),
            (AccessConfig { redis_url: redis, ..AccessConfig::default() }, "[access] redis_url"),
        ] {
            let error = check(&access).unwrap_err();
            assert!(error.starts_with(setting) && !error.contains("hunter2"), "{error}");
            assert!(error.contains("cargo build --release --features cluster"), "{error}");
        }
        assert_eq!(check(&AccessConfig::default()), Ok(()));
        let bad = AccessConfig { gateways: 0, ..AccessConfig::default() };
        assert!(check(&bad).unwrap_err().contains("gateways"));
    }

    #[cfg(feature = "cluster")]
    #[test]
    fn settings_that_contradict_each_other_are_named_and_secrets_are_not_shown() {
        let with = |database: Option<&str>, redis: Option<&str>, gateways| AccessConfig {
            database_url: database.map(Secret::from),
            redis_url: redis.map(Secret::from),
            gateways,
            ..AccessConfig::default()
        };
        let (database, redis) = ("postgres://u:hunter2@db/accounts", "redis://u:hunter2@cache:6379/1");
        let good = with(Some(database), Some(redis), 5);
        assert_eq!(check(&good), Ok(()));
        assert!(server(&good).is_some() && shared(&good).unwrap().is_some());
        assert!(!format!("{good:?} {:?} {:?}", server(&good), shared(&good)).contains("hunter2"));
        assert_eq!(check(&AccessConfig::default()), Ok(()));
        for (bad, named) in [
            (with(Some("hunter2"), None, 1), "database_url"),
            (with(None, Some(redis), 1), "database_url"),
            (with(Some(database), Some("hunter2"), 1), "redis_url"),
            (with(Some(database), Some("rediss://u:hunter2@cache"), 1), "redis_url"),
            (with(Some(database), Some(redis), 0), "gateways"),
            (AccessConfig { redis_timeout_ms: 0, ..AccessConfig::default() }, "redis_timeout_ms"),
        ] {
            let error = check(&bad).unwrap_err();
            assert!(error.contains(named) && !error.contains("hunter2"), "{error}");
        }
    }
}
