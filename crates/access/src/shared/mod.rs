//! Windows that several gateways share through Redis, and what each does while Redis is away.
//!
//! Invariant: a request is granted by one script in Redis, or by this process alone within its part of the limit; and every grant
//! of either kind goes to the database, from which the counts in Redis can be built anew.

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

/// Questions to Redis that may be open at the same time; further ones wait, within the time of an answer.
const IN_FLIGHT_MAX: usize = 512;
/// Groups of callers, and questions of one group that may be open.
const SLOTS: usize = 256;
const IN_FLIGHT_OF_SLOT_MAX: usize = 32;
/// Longest time for a connection, and for one step of coming back.
const STEP: Duration = Duration::from_secs(1);
/// Subjects of one step in which counts are raised.
const RAISED_AT_ONCE: usize = 250;
/// How long a gateway that builds the counts anew has for it before another one may begin.
const BUILDING_MS: u64 = 30_000;
/// How long all gateways keep to their parts when one has come back: each notices within one renewal that Redis is there again,
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
    /// Through the Redis at `url`, by so many gateways (at least 1). A question that is not answered within `answer_within` is
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

    /// Asks Redis whether it is there; what it says of itself.
    ///
    /// # Errors
    /// [`AccessError::Unavailable`], without the address.
    pub fn probe(&self) -> AccessFuture<'_, String> {
        Box::pin(async move {
            let told: String = in_time(STEP, async {
                let mut connection = self.connect().await?;
                redis::cmd("INFO").arg("server").query_async(&mut connection).await
            })
            .await
            .map_err(|error| AccessError::Unavailable(error.to_string()))?;
            Ok(member(&told, "redis_version").unwrap_or("unknown").to_owned())
        })
    }

    async fn connect(&self) -> redis::RedisResult<MultiplexedConnection> {
        // What waits for an answer has its own limit.
        let config = AsyncConnectionConfig::new().set_connection_timeout(Some(STEP)).set_response_timeout(None);
        self.client.get_multiplexed_async_connection_with_config(&config).await
    }
}

impl fmt::Debug for SharedOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SharedOptions").field("gateways", &self.gateways).finish_non_exhaustive()
    }
}

/// Why Redis was of no use.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
    #[error("too many other questions are under way")]
    Busy,
    #[error("Redis does not answer in time")]
    Silent,
    #[error("the counts in Redis are gone")]
    Gone,
    #[error("another gateway builds the counts")]
    Building,
    #[error("Redis gave an answer that makes no sense")]
    Senseless,
}

/// A connection on which a counting is under way.
#[derive(Clone)]
struct Up {
    connection: MultiplexedConnection,
    epoch: Arc<str>,
    /// Which of the connections of this process it is.
    turn: u64,
    /// Milliseconds of Redis's clock when this process began, as good as they are known.
    began_ms: u64,
}

/// Room for questions that are under way. A caller that asks a lot waits behind itself: callers share the places of their slot.
struct Places {
    all: Semaphore,
    slots: Box<[Semaphore]>,
    state: RandomState,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            all: Semaphore::new(IN_FLIGHT_MAX),
            slots: (0..SLOTS).map(|_| Semaphore::new(IN_FLIGHT_OF_SLOT_MAX)).collect(),
            state: RandomState::new(),
        }
    }
}

impl Places {
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
    /// Buckets of callers without credentials while Redis is away.
    throttle: Throttle,
    places: Places,
    began: Instant,
    turns: AtomicU64,
    lost: AtomicU64,
    alone: AtomicU64,
}

impl SharedWindows {
    /// For the accounts of that identity, by which several of them may share one Redis.
    pub(crate) fn new(options: SharedOptions, identity: &str) -> Self {
        Self {
            options,
            prefix: format!("paraffin:{identity}"),
            scripts: Scripts::new(),
            up: RwLock::new(None),
            ledger: Ledger::default(),
            throttle: Throttle::default(),
            places: Places::default(),
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

    /// The newest time on Redis's clock at which the question may still be carried out, so that one which comes to it later, out
    /// of a pause, does not count for a request that was decided long ago.
    fn latest(&self, up: &Up) -> u64 {
        self.server_ms(up).saturating_add(millis(self.options.answer_within))
    }

    fn server_ms(&self, up: &Up) -> u64 {
        up.began_ms.saturating_add(millis(self.began.elapsed()))
    }

    async fn ask<T: FromRedisValue>(&self, up: &Up, question: &ScriptInvocation<'_>) -> Result<T, Lost> {
        let mut connection = up.connection.clone();
        in_time(self.options.answer_within, question.invoke_async(&mut connection)).await
    }

    /// As [`SharedWindows::ask`], for one of many callers. Waiting for a place and for the answer have one time together; where a good part of
    /// it went into the place, silence does not say that Redis is away.
    async fn ask_for<T: FromRedisValue>(
        &self,
        up: &Up,
        question: &ScriptInvocation<'_>,
        caller: impl Hash,
    ) -> Result<T, Lost> {
        let within = self.options.answer_within;
        let began = Instant::now();
        let _place = tokio::time::timeout(within, self.places.take(caller)).await.map_err(|_| Lost::Busy)?;
        let left = within.saturating_sub(began.elapsed());
        let mut connection = up.connection.clone();
        match in_time(left, question.invoke_async(&mut connection)).await {
            Err(Lost::Silent) if left < within / 2 => Err(Lost::Busy),
            answer => answer,
        }
    }

    /// Whether a question that was not answered leaves the others as they are: there were too many of them.
    fn lost(&self, up: &Up, why: &Lost) {
        if !matches!(why, Lost::Busy) {
            self.down(up, why);
        }
    }

    /// From now on this process decides alone, until it has come back.
    fn down(&self, up: &Up, why: &Lost) {
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

    async fn admit_together(&self, up: &Up, subject: Subject, limits: WindowLimits) -> Result<Decision, Lost> {
        let gateways = self.options.gateways;
        let limit = |limit: Option<u32>| limit.map_or(-1, i64::from);
        let part = |limit: Option<u32>| limit.map_or(0, |limit| share(limit, gateways));
        let Own { minute, in_minute, day, in_day } = self.ledger.own(subject);
        let mut question = self.scripts.admit.key(&self.prefix);
        question.arg(&*up.epoch).arg(self.latest(up)).arg(subject.number());
        question.arg(limit(limits.per_minute)).arg(limit(limits.per_day));
        question.arg(minute).arg(in_minute).arg(part(limits.per_minute));
        question.arg(day).arg(in_day).arg(part(limits.per_day));
        let answer: Vec<i64> = self.ask_for(up, &question, subject.number()).await?;
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
                Ok(place) => return place,
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
    ) -> Result<Reservation, Lost> {
        let interval = settings.interval();
        let mut question = self.scripts.reserve.key(&self.prefix);
        question.arg(&*up.epoch).arg(self.latest(up)).arg(client.to_string()).arg(interval);
        question
            .arg(interval.saturating_mul(settings.burst.max(1).into()))
            .arg(i64::from(settings.wait_ms_max) * 1_000);
        let answer: Vec<i64> = self.ask_for(up, &question, client).await?;
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
        // Not awaited; what cannot be given back is lost to that client alone.
        tokio::spawn(async move {
            let mut question = this.scripts.give_back.key(&this.prefix);
            question.arg(&*up.epoch).arg(this.latest(&up)).arg(client.to_string()).arg(settings.interval());
            let _: Result<Vec<i64>, Lost> = this.ask_for(&up, &question, client).await;
        });
    }

    /// What this gateway gives callers without credentials while it decides alone.
    fn part_of(&self, settings: ThrottleSettings) -> ThrottleSettings {
        let gateways = self.options.gateways;
        ThrottleSettings {
            burst: share(settings.burst, gateways),
            refill_per_minute: share(settings.refill_per_minute, gateways),
            ..settings
        }
    }

    /// Sees whether the counting is still under way. `Ok(false)`: it is away, and [`SharedWindows::come_back`] may help.
    pub(crate) async fn check(&self) -> bool {
        let Some(up) = self.up.read().clone() else { return false };
        let mut question = self.scripts.check.key(&self.prefix);
        question.arg(&*up.epoch);
        let asked: Result<Vec<i64>, Lost> = self.ask(&up, &question).await;
        match asked.and_then(|answer| numbers::<2>(&answer)) {
            Ok([_, told]) => {
                let mut now = self.up.write();
                if let Some(now) = now.as_mut().filter(|now| now.turn == up.turn) {
                    now.began_ms = self.began_ms(told);
                }
                true
            }
            Err(why) => {
                self.down(&up, &why);
                false
            }
        }
    }

    fn began_ms(&self, told: i64) -> u64 {
        u64::try_from(told).unwrap_or(0).saturating_sub(millis(self.began.elapsed()))
    }

    /// Goes on with the counting that is under way, or builds a new one. `stored` writes what is pending and answers the counts
    /// of the database for a day and after it.
    ///
    /// # Errors
    /// Why not yet; the counts in Redis are then not below what they were.
    pub(crate) async fn come_back<F>(&self, stored: impl FnOnce() -> F) -> Result<(), AccessError>
    where
        F: Future<Output = Result<Vec<(i64, WindowState)>, AccessError>>,
    {
        let away = |why: Lost| AccessError::Unavailable(why.to_string());
        let mut connection = self.options.connect().await.map_err(|error| away(error.into()))?;
        let (name, is_new) = self.open(&mut connection).await.map_err(away)?;
        let mut stored = stored().await?;
        for (number, counted) in &mut stored {
            *counted = self.ledger.highest(*number, *counted);
        }
        // A gateway that has just started, or that only looks again, has nothing that the others could miss.
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

    /// The name of the counting that is under way in this process of Redis, or of a new one that is to be built, and which it is.
    async fn open(&self, connection: &mut MultiplexedConnection) -> Result<(String, bool), Lost> {
        // Another process of Redis may have begun with counts that an earlier one wrote to the disk long ago.
        let told: String =
            in_time(STEP, async { redis::cmd("INFO").arg("server").query_async(&mut *connection).await }).await?;
        let server = member(&told, "run_id").ok_or(Lost::Senseless)?;
        let new = ApiKey::generate().map_err(|_| Lost::Senseless)?.reveal();
        let mut question = self.scripts.open.key(&self.prefix);
        question.arg(server).arg(new).arg(BUILDING_MS);
        let (what, name): (String, String) = in_time(STEP, question.invoke_async(connection)).await?;
        if what == "wait" { Err(Lost::Building) } else { Ok((name, what == "build")) }
    }

    /// Brings the counts in Redis up to those of the database, and has all gateways keep to their parts for so long.
    async fn raise(
        &self,
        connection: &mut MultiplexedConnection,
        name: &str,
        stored: &[(i64, WindowState)],
        careful_ms: u64,
    ) -> Result<u64, Lost> {
        for part in stored.chunks(RAISED_AT_ONCE) {
            for day in part.iter().map(|(_, counted)| counted.day).collect::<std::collections::BTreeSet<_>>() {
                let mut question = self.scripts.raise.key(&self.prefix);
                question.arg(name).arg(day);
                for (subject, counted) in part.iter().filter(|(_, counted)| counted.day == day) {
                    question.arg(*subject).arg(counted.day_count).arg(counted.minute_count).arg(counted.minute);
                }
                let answer: Vec<i64> = in_time(STEP, question.invoke_async(connection)).await?;
                numbers::<1>(&answer)?;
            }
        }
        let mut question = self.scripts.be_careful.key(&self.prefix);
        question.arg(name).arg(careful_ms);
        let answer: Vec<i64> = in_time(STEP, question.invoke_async(connection)).await?;
        let [_, told] = numbers(&answer)?;
        Ok(self.began_ms(told))
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

async fn in_time<T>(limit: Duration, answer: impl Future<Output = redis::RedisResult<T>>) -> Result<T, Lost> {
    match tokio::time::timeout(limit, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Lost::Silent),
    }
}

/// The numbers of an answer; a single negative one says that there is none.
fn numbers<const N: usize>(answer: &[i64]) -> Result<[i64; N], Lost> {
    match *answer {
        [-2] => Err(Lost::Silent),
        [-1] => Err(Lost::Gone),
        _ => answer.try_into().map_err(|_| Lost::Senseless),
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
        async fn now(places: &Places, caller: u32) -> Option<[Option<SemaphorePermit<'_>>; 2]> {
            tokio::time::timeout(Duration::from_millis(20), places.take(caller)).await.ok()
        }
        let places = Places::default();
        let mut of_one = Vec::new();
        for _ in 0..IN_FLIGHT_OF_SLOT_MAX {
            of_one.push(now(&places, 1).await.unwrap());
        }
        assert!(now(&places, 1).await.is_none());
        let mut others = 0;
        for caller in 2..100 {
            others += usize::from(now(&places, caller).await.is_some());
        }
        assert!(others > 90, "{others} of 98 other callers");
        drop(of_one);
        assert!(now(&places, 1).await.is_some());
    }
}
