//! Rate limits of callers: counting, and the headers that report it (docs/api.md, "How much").

use std::net::IpAddr;
use std::time::Duration;

use hyper::header::HeaderName;
use hyper::{HeaderMap, StatusCode};
use paraffin_access::{AccountId, ClientNet, Decision, Outcome, RecordedRequest, Subject, UNLIMITED, UnixMillis, Used};

use crate::body::RequestBody;
use crate::call_windows::Counted;
use crate::callers::{Arrival, unavailable};
use crate::errors::Refusal;
use crate::header_values::{HeaderNumbers, decimal};
use crate::routes::Route;
use crate::state::{Caller, Shared};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const DAILY_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-daily-limit");
const DAILY_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-daily-remaining");

/// The rate-limit headers of a counted answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    limit: u32,
    remaining: u32,
    reset: i64,
    daily_limit: u32,
    daily_remaining: u32,
}

impl Quota {
    pub(crate) fn write(self, numbers: &mut HeaderNumbers, headers: &mut HeaderMap) {
        headers.insert(LIMIT, numbers.limit.value(self.limit.into()));
        headers.insert(REMAINING, decimal(self.remaining.into()));
        headers.insert(RESET, numbers.reset.value(self.reset.max(0).cast_unsigned()));
        headers.insert(DAILY_LIMIT, numbers.daily_limit.value(self.daily_limit.into()));
        headers.insert(DAILY_REMAINING, decimal(self.daily_remaining.into()));
    }
}

impl From<Decision> for Quota {
    fn from(decision: Decision) -> Self {
        let Decision { limit, remaining, reset, daily_limit, daily_remaining, .. } = decision;
        Self { limit, remaining, reset, daily_limit, daily_remaining }
    }
}

/// A request from its arrival to its end: its route and client, the quota for its headers, and the caller for whom it is recorded
/// when it ends. A request whose client disconnects is recorded as well.
///
/// Every request moves it once, so it is flat and small.
pub(crate) struct Admission<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) route: &'a Route,
    pub(crate) client: IpAddr,
    at: UnixMillis,
    has_quota: bool,
    outcome: Outcome,
    quota: Quota,
    used: Option<(Used, AccountId)>,
}

impl<'a> Admission<'a> {
    pub(crate) fn of(shared: &'a Shared, route: &'a Route, client: IpAddr, at: UnixMillis) -> Self {
        let quota = Quota { limit: 0, remaining: 0, reset: 0, daily_limit: 0, daily_remaining: 0 };
        Self { shared, route, client, at, has_quota: false, outcome: Outcome::Answered, quota, used: None }
    }

    pub(crate) fn arrival(&self) -> Arrival<'a> {
        let &Self { shared, route, client, at, .. } = self;
        Arrival { shared, route, client, at }
    }

    fn report(&mut self, quota: Quota) {
        self.quota = quota;
        self.has_quota = true;
    }

    /// Records the request with the status of its answer; the quota of its headers.
    pub(crate) fn end(mut self, status: StatusCode) -> Option<Quota> {
        self.outcome = match status {
            StatusCode::TOO_MANY_REQUESTS => Outcome::RateLimited,
            status if status.is_client_error() || status.is_server_error() => Outcome::Failed,
            _ => Outcome::Answered,
        };
        self.has_quota.then_some(self.quota)
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if let Some((used, account)) = self.used {
            let surface = self.route.surface_name();
            let request = RecordedRequest { used, account, surface, outcome: self.outcome };
            self.shared.keys.record_use(request, self.at);
        }
    }
}

/// Counts one request; a batch counts once. A caller without credentials waits for its turn here, before the time of the
/// handler begins. `admission` has the quota whether or not the request is served.
pub(crate) async fn admit(
    admission: &mut Admission<'_>,
    caller: &Caller,
    body: &mut RequestBody,
) -> Result<(), Refusal> {
    let &mut Admission { shared, route, at, .. } = admission;
    let _wait = paraffin_spans::wait("admit");
    let (subject, used, plan, own) = match caller {
        Caller::Key(key) => (Subject::Key(key.id), (Used::Key(key.id), key.account), &key.plan, key.limits),
        Caller::Alias(alias) => {
            (Subject::Alias(alias.id), (Used::Alias(alias.id), alias.account), &alias.plan, alias.limits)
        }
        Caller::Origin(origin) => {
            let own = paraffin_access::WindowLimits::NONE;
            (Subject::Origins(origin.account), (Used::Origin(origin.id), origin.account), &origin.plan, own)
        }
        Caller::Keyless => {
            // Boxed, so that the future of requests with a key stays small.
            let (quota, served) = Box::pin(keyless(admission.arrival(), body)).await?;
            admission.report(quota);
            return served;
        }
    };
    admission.used = Some(used);
    let limits = shared.plans.windows(plan, own);
    let decision = shared.windows.admit(subject, limits, at).await.map_err(|error| unavailable(&error))?;
    admission.report(decision.into());
    match shared.call_windows.wait(Counted::Subject(subject), at) {
        _ if !decision.admitted => Err(refusal(route, decision.retry_after)),
        Some(wait) => Err(refusal(route, wait)),
        None => Ok(()),
    }
}

/// The window that a caller's calls are counted in, and the requests that it may send in a minute.
pub(crate) fn counted(caller: &Caller, client: IpAddr, shared: &Shared) -> (Counted, Option<u32>) {
    let windows = |plan, own| shared.plans.windows(plan, own).per_minute;
    match caller {
        Caller::Key(key) => (Counted::Subject(Subject::Key(key.id)), windows(&key.plan, key.limits)),
        Caller::Alias(alias) => (Counted::Subject(Subject::Alias(alias.id)), windows(&alias.plan, alias.limits)),
        Caller::Origin(origin) => {
            let own = paraffin_access::WindowLimits::NONE;
            (Counted::Subject(Subject::Origins(origin.account)), windows(&origin.plan, own))
        }
        Caller::Keyless => {
            let settings = shared.access.keyless;
            (Counted::Client(ClientNet::from(client)), Some(settings.burst.max(settings.refill_per_minute)))
        }
    }
}

async fn keyless(arrival: Arrival<'_>, body: &mut RequestBody) -> Result<(Quota, Result<(), Refusal>), Refusal> {
    let Arrival { shared, route, client, at } = arrival;
    let settings = shared.access.keyless;
    let client = ClientNet::from(client);
    let reservation = shared.windows.reserve(client, settings, at).await;
    let reservation = reservation.map_err(|error| unavailable(&error))?;
    let quota = Quota {
        limit: settings.burst,
        remaining: reservation.remaining,
        reset: reservation.reset,
        daily_limit: UNLIMITED,
        daily_remaining: UNLIMITED,
    };
    if !reservation.granted {
        let beyond = reservation.wait_ms.saturating_sub(settings.wait_ms_max);
        return Ok((quota, Err(refusal(route, beyond.div_ceil(1000).max(1)))));
    }
    if let Some(wait) = shared.call_windows.wait(Counted::Client(client), at) {
        return Ok((quota, Err(refusal(route, wait))));
    }
    if reservation.wait_ms > 0 {
        let _waiting = shared.metrics.waiting();
        let wait = Duration::from_millis(u64::from(reservation.wait_ms));
        let waiter = shared.waiting.enter(shared.windows.as_ref(), settings, client, wait);
        tokio::select! {
            () = waiter.turn() => {}
            () = body.hold() => {}
        }
        // The store may have become unavailable meanwhile; then no request is served.
        shared.keys.available().await.map_err(|error| unavailable(&error))?;
    }
    Ok((quota, Ok(())))
}

fn refusal(route: &Route, retry_after: u32) -> Refusal {
    Refusal::RateLimited { retry_after, code: route.rate_limit_code() }
}
