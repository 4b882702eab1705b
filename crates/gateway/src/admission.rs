//! How much a caller may: counting, and the headers that tell it (`decisions` 2.5).

use std::net::IpAddr;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use paraffin_access::{ClientNet, Decision, Subject, UNLIMITED, UnixMillis, Used};

use crate::callers::unavailable;
use crate::errors::{Refusal, rpc_code};
use crate::routes::{Route, Target};
use crate::state::{Caller, Shared, unix_millis};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const DAILY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-daily-limit");
const DAILY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-daily-remaining");

/// What the headers of a counted answer say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    limit: u32,
    remaining: u32,
    reset: i64,
    daily_limit: u32,
    daily_remaining: u32,
}

impl Quota {
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(self.reset));
        headers.insert(DAILY_LIMIT, HeaderValue::from(self.daily_limit));
        headers.insert(DAILY_REMAINING, HeaderValue::from(self.daily_remaining));
    }
}

impl From<Decision> for Quota {
    fn from(decision: Decision) -> Self {
        let Decision { limit, remaining, reset, daily_limit, daily_remaining, .. } = decision;
        Self { limit, remaining, reset, daily_limit, daily_remaining }
    }
}

/// Counts one request, batches and all. A caller without credentials waits for his turn here, before the time of the
/// handler begins. The quota is told whether or not the request is served.
pub(crate) async fn admit(
    shared: &Shared,
    route: &Route,
    caller: &Caller,
    client: IpAddr,
) -> Result<(Quota, Result<(), Refusal>), Refusal> {
    let now = unix_millis();
    let (subject, used, plan, own) = match caller {
        Caller::Key(key) => (Subject::Key(key.id), Used::Key(key.id), &key.plan, key.limits),
        Caller::Alias(alias) => (Subject::Alias(alias.id), Used::Alias(alias.id), &alias.plan, alias.limits),
        Caller::Origin(origin) => {
            let own = paraffin_access::WindowLimits::NONE;
            (Subject::Origins(origin.account), Used::Origin(origin.id), &origin.plan, own)
        }
        Caller::Keyless => return keyless(shared, route, client, now).await,
    };
    shared.keys.record_use(used, now);
    let limits = shared.plans.windows(plan, own);
    let decision = shared.windows.admit(subject, limits, now).await.map_err(|error| unavailable(&error))?;
    let served = if decision.admitted { Ok(()) } else { Err(refusal(route, decision.retry_after)) };
    Ok((decision.into(), served))
}

async fn keyless(
    shared: &Shared,
    route: &Route,
    client: IpAddr,
    now: UnixMillis,
) -> Result<(Quota, Result<(), Refusal>), Refusal> {
    let settings = shared.access.keyless;
    let place = shared.windows.reserve(ClientNet::from(client), settings, now).await;
    let place = place.map_err(|error| unavailable(&error))?;
    let quota = Quota {
        limit: settings.burst,
        remaining: place.remaining,
        reset: place.reset,
        daily_limit: UNLIMITED,
        daily_remaining: UNLIMITED,
    };
    if !place.granted {
        let beyond = place.wait_ms.saturating_sub(settings.wait_ms_max);
        return Ok((quota, Err(refusal(route, beyond.div_ceil(1000).max(1)))));
    }
    if place.wait_ms > 0 {
        let _waiting = shared.metrics.waiting();
        tokio::time::sleep(Duration::from_millis(u64::from(place.wait_ms))).await;
        // The store may have gone away meanwhile, and then nobody is served.
        shared.keys.available().await.map_err(|error| unavailable(&error))?;
    }
    Ok((quota, Ok(())))
}

/// The refusal in the code of the path: -32000 on main, -32005 on the other JSON-RPC surfaces (`decisions` 2.2).
fn refusal(route: &Route, retry_after: u32) -> Refusal {
    let code =
        if matches!(route.target, Target::Surface(..)) { rpc_code::RATE_LIMITED } else { rpc_code::RATE_LIMITED_MAIN };
    Refusal::RateLimited { retry_after, code }
}
