use hyper::HeaderMap;
use hyper::header::ORIGIN;
use paraffin_access::{AccessError, AliasRecord, ApiKey, KeyRecord, OriginRecord};

use crate::cors::single_origin;
use crate::errors::Refusal;
use crate::routes::{Credential, KeyedSurface, Route, Target};
use crate::state::{Caller, Shared, unix_millis};

/// Who calls, and whether the page at the request's `Origin` may read the answer.
pub(crate) struct Identified {
    pub(crate) caller: Caller,
    pub(crate) readable: bool,
}

impl Identified {
    /// Whoever holds a key or knows an alias may call from any page.
    const fn anywhere(caller: Caller) -> Self {
        Self { caller, readable: true }
    }
}

/// Finds out who calls, or why nobody may (`decisions` 2.1).
pub(crate) async fn identify(shared: &Shared, route: &Route, headers: &HeaderMap) -> Result<Identified, Refusal> {
    match &route.credential {
        Credential::Open => Ok(Identified { caller: Caller::Keyless, readable: false }),
        Credential::PathKey(key) => {
            let found = by_key(shared, key).await;
            // Health answers whether or not the key store does.
            if route.target == Target::PlainHealth && found == Err(Refusal::AuthUnavailable) {
                return Ok(Identified { caller: Caller::Keyless, readable: true });
            }
            found.map(Caller::Key).map(Identified::anywhere)
        }
        Credential::PathAlias(name) => by_alias(shared, name, &route.target).await,
        Credential::Missing => Err(nobody(shared).await),
        Credential::HeaderBelowMain => {
            if !shared.access.keyed_surfaces_by_header {
                return Err(nobody(shared).await);
            }
            match by_header(shared, headers).await? {
                Some(key) => Ok(Identified::anywhere(Caller::Key(key))),
                None => Err(nobody(shared).await),
            }
        }
        Credential::HeaderOrNobody => match by_header(shared, headers).await? {
            Some(key) => Ok(Identified::anywhere(Caller::Key(key))),
            None => {
                available(shared).await?;
                let readable = by_origin(shared, headers).await?.is_some();
                Ok(Identified { caller: Caller::Keyless, readable })
            }
        },
        Credential::HeaderOriginOrNobody | Credential::HeaderOrOrigin => {
            if let Some(key) = by_header(shared, headers).await? {
                return Ok(Identified::anywhere(Caller::Key(key)));
            }
            available(shared).await?;
            match by_origin(shared, headers).await? {
                Some(origin) => Ok(Identified::anywhere(Caller::Origin(origin))),
                None if route.credential == Credential::HeaderOriginOrNobody => {
                    Ok(Identified { caller: Caller::Keyless, readable: false })
                }
                None if headers.contains_key(ORIGIN) => Err(Refusal::OriginNotAllowed),
                None => Err(Refusal::InvalidApiKey),
            }
        }
    }
}

async fn available(shared: &Shared) -> Result<(), Refusal> {
    shared.keys.available().await.map_err(|error| unavailable(&error))
}

/// The refusal of a request without a credential that counts; while the store is away that comes first.
async fn nobody(shared: &Shared) -> Refusal {
    available(shared).await.err().unwrap_or(Refusal::InvalidApiKey)
}

async fn by_key(shared: &Shared, key: &ApiKey) -> Result<KeyRecord, Refusal> {
    let found = shared.keys.authenticate(key, unix_millis()).await;
    found.map_err(|error| unavailable(&error))?.ok_or(Refusal::InvalidApiKey)
}

/// The holder of the key in a header; `None` without such a header. A header that holds no active key is never "no key",
/// and neither are several that differ.
async fn by_header(shared: &Shared, headers: &HeaderMap) -> Result<Option<KeyRecord>, Refusal> {
    let mut given: Option<ApiKey> = None;
    for name in &shared.config.key_headers {
        for value in headers.get_all(name.as_str()) {
            let parsed = value.to_str().ok().and_then(|text| text.trim().parse::<ApiKey>().ok());
            match (parsed, &given) {
                (Some(key), None) => given = Some(key),
                (Some(key), Some(other)) if key == *other => {}
                _ => return Err(nobody(shared).await),
            }
        }
    }
    match given {
        Some(key) => by_key(shared, &key).await.map(Some),
        None => Ok(None),
    }
}

/// An alias, where it may be used. A keyed surface takes one only when the operator says so; the explorer never does.
async fn by_alias(shared: &Shared, name: &str, target: &Target) -> Result<Identified, Refusal> {
    if let Target::Surface(surface, _) = target
        && (*surface == KeyedSurface::Explorer || !shared.access.keyed_surfaces_by_alias)
    {
        return Err(nobody(shared).await);
    }
    let found = shared.keys.find_alias(name).await.map_err(|error| unavailable(&error))?;
    let alias: AliasRecord = found.ok_or(Refusal::InvalidApiKey)?;
    let surface = match target {
        Target::Main => "main",
        Target::Rest(_) => "rest",
        Target::Opi(_) => "opi",
        Target::Surface(surface, _) => surface.name(),
        Target::Health | Target::PlainHealth | Target::Nothing => {
            return Ok(Identified::anywhere(Caller::Alias(alias)));
        }
    };
    if alias.allows(surface) { Ok(Identified::anywhere(Caller::Alias(alias))) } else { Err(Refusal::SurfaceNotAllowed) }
}

/// The registration of the one `Origin` of a request; two of them and `null` are no registered origin.
async fn by_origin(shared: &Shared, headers: &HeaderMap) -> Result<Option<OriginRecord>, Refusal> {
    let Some(origin) = single_origin(headers).and_then(|origin| origin.to_str().ok()) else { return Ok(None) };
    shared.keys.find_origin(origin).await.map_err(|error| unavailable(&error))
}

pub(crate) fn unavailable(error: &AccessError) -> Refusal {
    tracing::warn!(%error, "a request was turned away because the key store cannot be consulted");
    Refusal::AuthUnavailable
}
