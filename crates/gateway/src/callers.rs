use hyper::HeaderMap;
use hyper::header::ORIGIN;
use paraffin_access::{AccessError, ApiKey};

use crate::errors::Refusal;
use crate::routes::{Credential, Target};
use crate::state::{Caller, Shared, unix_millis};

/// Finds out who calls, or why nobody may (`decisions` 2.1).
pub(crate) async fn identify(
    shared: &Shared,
    credential: &Credential,
    target: &Target,
    headers: &HeaderMap,
) -> Result<Caller, Refusal> {
    match credential {
        Credential::Open => Ok(Caller::Keyless),
        Credential::PathKey(key) => {
            let found = by_key(shared, key).await;
            // Health answers whether or not the key store does.
            if *target == Target::PlainHealth && found == Err(Refusal::AuthUnavailable) {
                return Ok(Caller::Keyless);
            }
            found.map(Caller::Key)
        }
        Credential::PathAlias(_) | Credential::Missing => {
            available(shared).await?;
            Err(Refusal::InvalidApiKey)
        }
        Credential::HeaderOrNobody => match by_header(shared, headers).await? {
            Some(caller) => Ok(caller),
            None => available(shared).await.map(|()| Caller::Keyless),
        },
        Credential::HeaderOrOrigin => {
            if let Some(caller) = by_header(shared, headers).await? {
                return Ok(caller);
            }
            available(shared).await?;
            // No origin can be registered yet, so whoever relies on one is told that his is not.
            Err(if headers.contains_key(ORIGIN) { Refusal::OriginNotAllowed } else { Refusal::InvalidApiKey })
        }
    }
}

async fn available(shared: &Shared) -> Result<(), Refusal> {
    shared.keys.available().await.map_err(|error| unavailable(&error))
}

async fn by_key(shared: &Shared, key: &ApiKey) -> Result<paraffin_access::KeyRecord, Refusal> {
    let found = shared.keys.authenticate(key, unix_millis()).await;
    found.map_err(|error| unavailable(&error))?.ok_or(Refusal::InvalidApiKey)
}

/// The holder of the key in a header; `None` without such a header. A header that holds no active key is never "no key",
/// and neither are several that differ.
async fn by_header(shared: &Shared, headers: &HeaderMap) -> Result<Option<Caller>, Refusal> {
    let mut given: Option<ApiKey> = None;
    for name in &shared.config.key_headers {
        for value in headers.get_all(name.as_str()) {
            let parsed = value.to_str().ok().and_then(|text| text.trim().parse::<ApiKey>().ok());
            match (parsed, &given) {
                (Some(key), None) => given = Some(key),
                (Some(key), Some(other)) if key == *other => {}
                _ => {
                    available(shared).await?;
                    return Err(Refusal::InvalidApiKey);
                }
            }
        }
    }
    match given {
        Some(key) => by_key(shared, &key).await.map(|record| Some(Caller::Key(record))),
        None => Ok(None),
    }
}

fn unavailable(error: &AccessError) -> Refusal {
    tracing::warn!(%error, "a request was turned away because the key store cannot be consulted");
    Refusal::AuthUnavailable
}
