//! Windows that several gateways share through Redis, and the fallback of each while Redis is unreachable.
//!
//! Invariant: a request is granted by one script in Redis, or by this process alone within its part of the limit; and every grant
//! of either kind goes to the database, from which the counts in Redis can be rebuilt.

mod ledger;
mod scripts;

use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, FromRedisValue, ScriptInvocation};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::store::AccessFuture;
use crate::throttle::Throttle;
use crate::windows::{Left, WindowState};
use crate::{
    AccessError, ApiKey, ClientNet, Decision, Reservation, SharedState, Subject, ThrottleSettings, UnixMillis,
    WindowLimits,
};
use ledger::{Ledger, Own, share};
use scripts::Scripts;

/// Most queries of Redis in flight; further ones wait, within the timeout of an answer.
const IN_FLIGHT_MAX: usize = 512;
/// Groups of callers, and most queries of one group in flight.
const SLOTS: usize = 256;
const IN_FLIGHT_OF_SLOT_MAX: usize = 32;
/// Timeout of a connection, and of one step of reconnecting.
const STEP: Duration = Duration::from_secs(1);
/// Subjects of one call of the script that raises counts.
const RAISED_AT_ONCE: usize = 250;
/// How long a gateway may take to rebuild the counts before another one may begin.
const BUILDING_MS: u64 = 30_000;
/// How long all gateways keep to their parts when one has reconnected: each notices within one renewal that Redis is reachable,
/// and then adds what it has granted alone.
const CAREFUL_MS: u64 = 2_000;

/// How gateways share their windows.
#[derive(Clone)]
pub struct SharedOptions {
    client: Client,
    gateways: u32,
    answer_within: Duration,
}

/// The text is no address of a Redis server. It is not repeated, since it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an address of the form redis://user:password@host:port/number")]
pub struct ParseRedisUrlError;

impl SharedOptions {
    /// Through the Redis at `url`, by so many gateways (at least 1). A query that is not answered within `answer_within` is
    /// decided without Redis.
    ///
    /// # Errors
    /// [`ParseRedisUrlError`].
    pub fn new(url: &str, gateways: u32, answer_within: Duration) -> Result<Self, ParseRedisUrlError> {
        if !url.starts_with("redis://") {
            return Err(ParseRedisUrlError);
        }
        let client = Client::open(url).map_err(|_| ParseRedisUrlError)?;
        Ok(Self { client, gateways: gateways.max(1), answer_within })
    }

    /// Connects to Redis and returns its version.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`], without the address.
    pub fn probe(&self) -> AccessFuture<'_, String> {
        Box::pin(async move {
            let info: String = in_time(STEP, async {
                let mut connection = self.connect().await?;
                redis::cmd("INFO").arg("server").query_async(&mut connection).await
            })
            .await
            .map_err(|error| AccessError::Unavailable(error.to_string()))?;
            Ok(member(&info, "redis_version").unwrap_or("unknown").to_owned())
        })
    }

    async fn connect(&self) -> redis::RedisResult<MultiplexedConnection> {
        // Each query has its own timeout.
        let config = AsyncConnectionConfig::new().set_connection_timeout(Some(STEP)).set_response_timeout(None);
        self.client.get_multiplexed_async_connection_with_config(&config).await
    }
}

impl fmt::Debug for SharedOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedOptions").field("gateways", &self.gateways).finish_non_exhaustive()
    }
}

/// Why Redis did not decide a request.
#[derive(Debug, thiserror::Error)]
enum RedisFailure {
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("too many other queries are in flight")]
    Busy,
    #[error("Redis does not answer in time")]
    Silent,
    #[error("the counts in Redis are gone")]
    Gone,
    #[error("another gateway rebuilds the counts")]
    Building,
    #[error("Redis sent an invalid answer")]
    InvalidAnswer,
}

/// A connection on which a counting is under way.
#[derive(Clone)]
struct Up {
    connection: MultiplexedConnection,
    epoch: Arc<str>,
    /// Number of the connection in this process.
    turn: u64,
    /// Estimated milliseconds of Redis's clock at the start of this process.
    began_ms: u64,
}

/// Permits of queries in flight. A caller with many queries waits for its own ones: callers share the permits of their slot.
struct QueryPermits {
    all: Semaphore,
    slots: Box<[Semaphore]>,
    state: RandomState,
}

impl Default for QueryPermits {
    fn default() -> Self {
        Self {
            all: Semaphore::new(IN_FLIGHT_MAX),
            slots: (0..SLOTS).map(|_| Semaphore::new(IN_FLIGHT_OF_SLOT_MAX)).collect(),
            state: RandomState::new(),
        }
    }
}

impl QueryPermits {
    async fn take(&self, caller: impl Hash) -> [Option<SemaphorePermit<'_>>; 2] {
        let slot = self.state.hash_one(caller) as usize % SLOTS;
        // Never closed.
        let own = self.slots[slot].acquire().await.ok();
        [own, self.all.acquire().await.ok()]
    }
}

pub(crate) struct SharedWindows {
    options: SharedOptions,
    prefix: String,
    scripts: Scripts,
    up: RwLock<Option<Up>>,
    ledger: Ledger,
    /// Buckets of anonymous callers while Redis is unreachable.
    throttle: Throttle,
    permits: QueryPermits,
    began: Instant,
    turns: AtomicU64,
    lost: AtomicU64,
    alone: AtomicU64,
}

impl SharedWindows {
    /// Windows of the accounts of that identity, which separates several databases in one Redis.
    pub(crate) fn new(options: SharedOptions, identity: &str) -> Self {
        Self {
            options,
            prefix: format!("paraffin:{identity}"),
            scripts: Scripts::new(),
            up: RwLock::new(None),
            ledger: Ledger::default(),
            throttle: Throttle::default(),
            permits: QueryPermits::default(),
            began: Instant::now(),
            turns: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            alone: AtomicU64::new(0),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.up.read().is_some()
    }

    pub(crate) fn state(&self) -> SharedState {
        SharedState {
            is_shared: self.is_up(),
            lost: self.lost.load(Ordering::Relaxed),
            alone: self.alone.load(Ordering::Relaxed),
        }
    }

    /// The latest time on Redis's clock at which the query may still take effect, so that one that arrives later, after a pause,
    /// does not count for a request that was decided long ago.
    fn latest(&self, up: &Up) -> u64 {
        self.server_ms(up).saturating_add(millis(self.options.answer_within))
    }

    fn server_ms(&self, up: &Up) -> u64 {
        up.began_ms.saturating_add(millis(self.began.elapsed()))
    }

    async fn ask<T: FromRedisValue>(&self, up: &Up, query: &ScriptInvocation<'_>) -> Result<T, RedisFailure> {
        let mut connection = up.connection.clone();
        in_time(self.options.answer_within, query.invoke_async(&mut connection)).await
    }

    /// As [`SharedWindows::ask`], with a permit of the caller. Waiting for the permit and for the answer share one timeout; where half of
    /// it went into the permit, a missing answer does not mean that Redis is unreachable.
    async fn ask_for<T: FromRedisValue>(
        &self,
        up: &Up,
        query: &ScriptInvocation<'_>,
        caller: impl Hash,
    ) -> Result<T, RedisFailure> {
        let within = self.options.answer_within;
        let began = Instant::now();
        let _permit = tokio::time::timeout(within, self.permits.take(caller)).await.map_err(|_| RedisFailure::Busy)?;
        let left = within.saturating_sub(began.elapsed());
        let mut connection = up.connection.clone();
        match in_time(left, query.invoke_async(&mut connection)).await {
            Err(RedisFailure::Silent) if left < within / 2 => Err(RedisFailure::Busy),
            answer => answer,
        }
    }

    /// Handles a failed query: any failure but [`RedisFailure::Busy`] marks Redis as unreachable.
    fn lost(&self, up: &Up, why: &RedisFailure) {
        if !matches!(why, RedisFailure::Busy) {
            self.down(up, why);
        }
    }

    /// From now on this process decides alone, until it has reconnected.
    fn down(&self, up: &Up, why: &RedisFailure) {
        let mut now = self.up.write();
        if now.as_ref().is_some_and(|now| now.turn == up.turn) {
            *now = None;
            drop(now);
            self.lost.fetch_add(1, Ordering::Relaxed);
            tracing::error!(%why, "the shared windows are away: this gateway grants its part of each limit");
        }
    }

    pub(crate) async fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> Decision {
        let up = self.up.read().clone();
        if let Some(up) = up {
            match self.admit_together(&up, subject, limits).await {
                Ok(decision) => return decision,
                Err(why) => self.lost(&up, &why),
            }
        }
        self.alone.fetch_add(1, Ordering::Relaxed);
        self.ledger.alone(subject, limits, self.options.gateways, now)
    }

    async fn admit_together(&self, up: &Up, subject: Subject, limits: WindowLimits) -> Result<Decision, RedisFailure> {
        let gateways = self.options.gateways;
        let limit = |limit: Option<u32>| limit.map_or(-1, i64::from);
        let part = |limit: Option<u32>| limit.map_or(0, |limit| share(limit, gateways));
        let Own { minute, in_minute, day, in_day } = self.ledger.own(subject);
        let mut query = self.scripts.admit.key(&self.prefix);
        query.arg(&*up.epoch).arg(self.latest(up)).arg(subject.number());
        query.arg(limit(limits.per_minute)).arg(limit(limits.per_day));
        query.arg(minute).arg(in_minute).arg(part(limits.per_minute));
        query.arg(day).arg(in_day).arg(part(limits.per_day));
        let answer: Vec<i64> = self.ask_for(up, &query, subject.number()).await?;
        let [admitted, minute, in_minute, day, in_day, minute_left, day_left] = numbers(&answer)?;
        let narrow = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let counted = WindowState {
            minute: narrow(minute),
            minute_count: narrow(in_minute),
            day: narrow(day),
            day_count: narrow(in_day),
            ..WindowState::default()
        };
        self.ledger.decided(subject, admitted == 1, counted);
        let left = Left {
            minute: counted.minute,
            in_minute: u32::try_from(minute_left).ok(),
            day: counted.day,
            in_day: u32::try_from(day_left).ok(),
        };
        Ok(left.decision(admitted == 1, limits, self.server_ms(up).cast_signed()))
    }

    pub(crate) async fn reserve(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) -> Reservation {
        let up = self.up.read().clone();
        if let Some(up) = up {
            match self.reserve_together(&up, client, settings).await {
                Ok(reservation) => return reservation,
                Err(why) => self.lost(&up, &why),
            }
        }
        self.alone.fetch_add(1, Ordering::Relaxed);
        self.throttle.reserve(client, self.part_of(settings), now)
    }

    async fn reserve_together(
        &self,
        up: &Up,
        client: ClientNet,
        settings: ThrottleSettings,
    ) -> Result<Reservation, RedisFailure> {
        let interval = settings.interval();
        let mut query = self.scripts.reserve.key(&self.prefix);
        query.arg(&*up.epoch).arg(self.latest(up)).arg(client.to_string()).arg(interval);
        query.arg(interval.saturating_mul(settings.burst.max(1).into())).arg(i64::from(settings.wait_ms_max) * 1_000);
        let answer: Vec<i64> = self.ask_for(up, &query, client).await?;
        let [granted, wait, remaining, full_at] = numbers(&answer)?;
        Ok(Reservation {
            granted: granted == 1,
            wait_ms: u32::try_from((wait + 999) / 1_000).unwrap_or(u32::MAX),
            remaining: u32::try_from(remaining).unwrap_or(0),
            reset: (full_at + 999_999) / 1_000_000,
        })
    }

    pub(crate) fn give_back(self: &Arc<Self>, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
        let Some(up) = self.up.read().clone() else {
            self.throttle.give_back(client, self.part_of(settings), now);
            return;
        };
        let this = Arc::clone(self);
        // Not awaited; a slot that cannot be released is lost to that client alone.
        tokio::spawn(async move {
            let mut query = this.scripts.give_back.key(&this.prefix);
            query.arg(&*up.epoch).arg(this.latest(&up)).arg(client.to_string()).arg(settings.interval());
            let _: Result<Vec<i64>, RedisFailure> = this.ask_for(&up, &query, client).await;
        });
    }

    /// Throttling of anonymous callers while this gateway decides alone.
    fn part_of(&self, settings: ThrottleSettings) -> ThrottleSettings {
        let gateways = self.options.gateways;
        ThrottleSettings {
            burst: share(settings.burst, gateways),
            refill_per_minute: share(settings.refill_per_minute, gateways),
            ..settings
        }
    }

    /// Whether the counting is still under way; if not, [`SharedWindows::come_back`] may restore it.
    pub(crate) async fn check(&self) -> bool {
        let Some(up) = self.up.read().clone() else { return false };
        let mut query = self.scripts.check.key(&self.prefix);
        query.arg(&*up.epoch);
        let answer: Result<Vec<i64>, RedisFailure> = self.ask(&up, &query).await;
        match answer.and_then(|answer| numbers::<2>(&answer)) {
            Ok([_, server_ms]) => {
                let mut now = self.up.write();
                if let Some(now) = now.as_mut().filter(|now| now.turn == up.turn) {
                    now.began_ms = self.began_ms(server_ms);
                }
                true
            }
            Err(why) => {
                self.down(&up, &why);
                false
            }
        }
    }

    fn began_ms(&self, server_ms: i64) -> u64 {
        u64::try_from(server_ms).unwrap_or(0).saturating_sub(millis(self.began.elapsed()))
    }

    /// Joins the counting that is under way, or builds a new one. `stored` writes pending counts and returns those
    /// of the database for a day and after it.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`]; the counts in Redis are then not below their former values.
    pub(crate) async fn come_back<F>(&self, stored: impl FnOnce() -> F) -> Result<(), AccessError>
    where
        F: Future<Output = Result<Vec<(i64, WindowState)>, AccessError>>,
    {
        let away = |why: RedisFailure| AccessError::Unavailable(why.to_string());
        let mut connection = self.options.connect().await.map_err(|error| away(error.into()))?;
        let (name, is_new) = self.open(&mut connection).await.map_err(away)?;
        let mut stored = stored().await?;
        for (number, counted) in &mut stored {
            *counted = self.ledger.highest(*number, *counted);
        }
        // A gateway that has just started, or that was connected, has no grants that the others lack.
        let was_away = !self.is_up() && self.turns.load(Ordering::Relaxed) > 0;
        let careful_ms = if is_new || was_away { CAREFUL_MS } else { 0 };
        let began_ms = self.raise(&mut connection, &name, &stored, careful_ms).await.map_err(away)?;
        let turn = self.turns.fetch_add(1, Ordering::Relaxed);
        let before = self.up.write().replace(Up { connection, epoch: name.into(), turn, began_ms });
        if before.is_none() {
            tracing::info!("the windows are shared through Redis");
        }
        Ok(())
    }

    /// The name of the counting that is under way in this process of Redis, or of a new one, and whether it is new.
    async fn open(&self, connection: &mut MultiplexedConnection) -> Result<(String, bool), RedisFailure> {
        // Another process of Redis may have started from an old snapshot on disk.
        let info: String =
            in_time(STEP, async { redis::cmd("INFO").arg("server").query_async(&mut *connection).await }).await?;
        let server = member(&info, "run_id").ok_or(RedisFailure::InvalidAnswer)?;
        let new = ApiKey::generate().map_err(|_| RedisFailure::InvalidAnswer)?.reveal();
        let mut query = self.scripts.open.key(&self.prefix);
        query.arg(server).arg(new).arg(BUILDING_MS);
        let (what, name): (String, String) = in_time(STEP, query.invoke_async(connection)).await?;
        if what == "wait" { Err(RedisFailure::Building) } else { Ok((name, what == "build")) }
    }

    /// Raises the counts in Redis to those of the database, and has all gateways keep to their parts for `careful_ms`.
    async fn raise(
        &self,
        connection: &mut MultiplexedConnection,
        name: &str,
        stored: &[(i64, WindowState)],
        careful_ms: u64,
    ) -> Result<u64, RedisFailure> {
        for part in stored.chunks(RAISED_AT_ONCE) {
            for day in part.iter().map(|(_, counted)| counted.day).collect::<std::collections::BTreeSet<_>>() {
                let mut query = self.scripts.raise.key(&self.prefix);
                query.arg(name).arg(day);
                for (subject, counted) in part.iter().filter(|(_, counted)| counted.day == day) {
                    query.arg(*subject).arg(counted.day_count).arg(counted.minute_count).arg(counted.minute);
                }
                let answer: Vec<i64> = in_time(STEP, query.invoke_async(connection)).await?;
                numbers::<1>(&answer)?;
            }
        }
        let mut query = self.scripts.be_careful.key(&self.prefix);
        query.arg(name).arg(careful_ms);
        let answer: Vec<i64> = in_time(STEP, query.invoke_async(connection)).await?;
        let [_, server_ms] = numbers(&answer)?;
        Ok(self.began_ms(server_ms))
    }

    pub(crate) fn learn(&self, number: i64, stored: WindowState) {
        self.ledger.learn(number, stored);
    }

    pub(crate) fn take(&self) -> Vec<(i64, WindowState)> {
        self.ledger.take()
    }

    pub(crate) fn restore(&self, taken: &[(i64, WindowState)]) {
        self.ledger.restore(taken);
    }

    pub(crate) fn forget_before(&self, now: UnixMillis) {
        self.ledger.forget_before(now);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

async fn in_time<T>(limit: Duration, answer: impl Future<Output = redis::RedisResult<T>>) -> Result<T, RedisFailure> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(RedisFailure::Silent),
    }
}

/// The numbers of an answer; a single negative one is an error code of the script.
fn numbers<const N: usize>(answer: &[i64]) -> Result<[i64; N], RedisFailure> {
    match *answer {
        [-2] => Err(RedisFailure::Silent),
        [-1] => Err(RedisFailure::Gone),
        _ => answer.try_into().map_err(|_| RedisFailure::InvalidAnswer),
    }
}

/// The value of a line `name:value`.
fn member<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_caller_that_asks_a_lot_waits_behind_itself() {
        async fn now(permits: &QueryPermits, caller: u32) -> Option<[Option<SemaphorePermit<'_>>; 2]> {
            tokio::time::timeout(Duration::from_millis(20), permits.take(caller)).await.ok()
        }
        let permits = QueryPermits::default();
        let mut of_one = Vec::new();
        for _ in 0..IN_FLIGHT_OF_SLOT_MAX {
            of_one.push(now(&permits, 1).await.unwrap());
        }
        assert!(now(&permits, 1).await.is_none());
        let mut others = 0;
        for caller in 2..100 {
            others += usize::from(now(&permits, caller).await.is_some());
        }
        assert!(others > 90, "{others} of 98 other callers");
        drop(of_one);
        assert!(now(&permits, 1).await.is_some());
    }
}
