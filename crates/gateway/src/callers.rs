use std::net::IpAddr;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::ORIGIN;
use paraffin_access::{AccessError, AccessFuture, ApiKey, KeyRecord, OriginRecord, UnixMillis, is_alias_name};

use crate::cors::single_origin;
use crate::errors::Refusal;
use crate::routes::{Credential, Route, Target};
use crate::state::{Caller, Shared};

/// The request data that is available before its caller is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) route: &'a Route,
    pub(crate) client: IpAddr,
    pub(crate) at: UnixMillis,
}

/// The caller, and whether the page at the request's `Origin` may read the answer.
pub(crate) struct Identified {
    pub(crate) caller: Caller,
    pub(crate) readable: bool,
}

impl Identified {
    /// A caller with a key or an alias may call from any page.
    const fn anywhere(caller: Caller) -> Self {
        Self { caller, readable: true }
    }
}

/// Identifies the caller, or returns why the request is refused (docs/api.md, "Who may call").
pub(crate) async fn identify(arrival: Arrival<'_>, headers: &HeaderMap) -> Result<Identified, Refusal> {
    let Arrival { shared, route, .. } = arrival;
    match &route.credential {
        Credential::Open => Ok(Identified { caller: Caller::Keyless, readable: false }),
        Credential::PathKey(key) => {
            let found = arrival.by_key(key).await;
            // Health answers whether or not the key store does.
            if route.target == Target::PlainHealth && found == Err(Refusal::AuthUnavailable) {
                return Ok(Identified { caller: Caller::Keyless, readable: true });
            }
            found.map(Caller::Key).map(Identified::anywhere)
        }
        Credential::PathAlias(name) => arrival.by_alias(name).await,
        Credential::Missing => Err(unauthenticated(shared).await),
        Credential::HeaderBelowMain => {
            if !shared.access.keyed_surfaces_by_header {
                return Err(unauthenticated(shared).await);
            }
            match arrival.by_header(headers).await? {
                Some(key) => Ok(Identified::anywhere(Caller::Key(key))),
                None => Err(unauthenticated(shared).await),
            }
        }
        Credential::HeaderOrAnonymous => match arrival.by_header(headers).await? {
            Some(key) => Ok(Identified::anywhere(Caller::Key(key))),
            None => {
                available(shared).await?;
                let readable = arrival.by_origin(headers).await?.is_some();
                Ok(Identified { caller: Caller::Keyless, readable })
            }
        },
        Credential::HeaderOriginOrAnonymous | Credential::HeaderOrOrigin => {
            if let Some(key) = arrival.by_header(headers).await? {
                return Ok(Identified::anywhere(Caller::Key(key)));
            }
            available(shared).await?;
            match arrival.by_origin(headers).await? {
                Some(origin) => Ok(Identified::anywhere(Caller::Origin(origin))),
                None if route.credential == Credential::HeaderOriginOrAnonymous => {
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

/// The refusal of a request without valid credentials; while the store is unavailable, that refusal takes precedence.
async fn unauthenticated(shared: &Shared) -> Refusal {
    available(shared).await.err().unwrap_or(Refusal::InvalidApiKey)
}

impl Arrival<'_> {
    async fn by_key(self, key: &ApiKey) -> Result<Arc<KeyRecord>, Refusal> {
        if let Some(known) = self.shared.keys.recall_key(key, self.at) {
            return Ok(known);
        }
        self.look_up(self.shared.keys.authenticate(key, self.at)).await?.ok_or(Refusal::InvalidApiKey)
    }

    /// Looks up a credential that is not cached, within the client's rate limit for failed look-ups.
    async fn look_up<T>(self, lookup: AccessFuture<'_, Option<T>>) -> Result<Option<T>, Refusal> {
        // Checked first: while the store is unavailable the refusal is 503, never a rate limit.
        available(self.shared).await?;
        let permit = self.shared.auth_failures.acquire(self.client, self.route.rate_limit_code())?;
        let found = lookup.await;
        if !matches!(found, Ok(None)) {
            permit.refund();
        }
        found.map_err(|error| unavailable(&error))
    }

    /// The holder of the key in a header; `None` without such a header. A header that holds no active key is never "no
    /// key", and neither are several that differ.
    async fn by_header(self, headers: &HeaderMap) -> Result<Option<Arc<KeyRecord>>, Refusal> {
        let mut given: Option<ApiKey> = None;
        for name in &self.shared.config.key_headers {
            for value in headers.get_all(name.as_str()) {
                let parsed = value.to_str().ok().and_then(|text| text.trim().parse::<ApiKey>().ok());
                match (parsed, &given) {
                    (Some(key), None) => given = Some(key),
                    (Some(key), Some(other)) if key == *other => {}
                    _ => return Err(unauthenticated(self.shared).await),
                }
            }
        }
        match given {
            Some(key) => self.by_key(&key).await.map(Some),
            None => Ok(None),
        }
    }

    /// An alias, where it may be used. A surface below a key takes one only where it and the operator allow it.
    async fn by_alias(self, name: &str) -> Result<Identified, Refusal> {
        let Self { shared, route, .. } = self;
        if let Target::Surface(surface, _) = &route.target
            && !(surface.takes_alias && shared.access.keyed_surfaces_by_alias)
        {
            return Err(unauthenticated(shared).await);
        }
        let alias = match shared.keys.recall_alias(name) {
            Some(known) => known,
            // A name that cannot be an alias causes no look-up.
            None if !is_alias_name(name) => return Err(unauthenticated(shared).await),
            None => self.look_up(shared.keys.find_alias(name)).await?.ok_or(Refusal::InvalidApiKey)?,
        };
        let surface = match &route.target {
            Target::Main => "main",
            Target::Rest(_) => "rest",
            Target::Beside(name, _) => name,
            Target::Surface(surface, _) => surface.name,
            Target::Health | Target::PlainHealth | Target::Description(_) | Target::Site | Target::Nothing => {
                return Ok(Identified::anywhere(Caller::Alias(alias)));
            }
        };
        let allowed = alias.allows(surface);
        if allowed { Ok(Identified::anywhere(Caller::Alias(alias))) } else { Err(Refusal::SurfaceNotAllowed) }
    }

    /// The registration of the one `Origin` of a request; two of them and `null` are no registered origin.
    async fn by_origin(self, headers: &HeaderMap) -> Result<Option<Arc<OriginRecord>>, Refusal> {
        let Some(origin) = single_origin(headers).and_then(|origin| origin.to_str().ok()) else { return Ok(None) };
        match self.shared.keys.recall_origin(origin) {
            Some(known) => Ok(Some(known)),
            None => self.look_up(self.shared.keys.find_origin(origin)).await,
        }
    }
}

pub(crate) fn unavailable(error: &AccessError) -> Refusal {
    tracing::warn!(%error, "a request was turned away because the key store cannot be consulted");
    Refusal::AuthUnavailable
}
