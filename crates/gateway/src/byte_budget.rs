//! The memory limit of all requests together: answers that are being written or sent, and bodies that are being read.
//!
//! Each caller has a share, and callers without a key have half of the whole together, so that no caller can take all of it. Small
//! answers and bodies are not counted: the number of connections bounds them.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use paraffin_access::{AccountId, ClientNet};
use parking_lot::Mutex;
use tokio::sync::{AcquireError, Semaphore};

use crate::deadline::within;
use crate::errors::Refusal;
use crate::limits::Limits;
use crate::metrics::Meter;
use crate::state::Caller;

/// Bodies and answers up to this size are not counted, bytes.
pub const UNCOUNTED_BYTES_MAX: usize = 64 << 10;
/// How long a request waits for others to finish before it is refused.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Minimum step of a growing answer or body, KiB.
const STEP_KIB: u32 = 256;

/// Callers that share one part of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteHolder {
    /// The keys of an account.
    Keys(AccountId),
    /// Its aliases and origins, which are public.
    Public(AccountId),
    /// Requests without credentials.
    Client(ClientNet),
}

impl ByteHolder {
    /// The holder that the bytes of a caller count for.
    pub fn of(caller: &Caller, client: IpAddr) -> Self {
        match caller {
            Caller::Key(key) => Self::Keys(key.account),
            Caller::Alias(alias) => Self::Public(alias.account),
            Caller::Origin(origin) => Self::Public(origin.account),
            Caller::Keyless => Self::Client(ClientNet::from(client)),
        }
    }
}

/// The purpose of held bytes, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldFor {
    /// Answers, from when they are put together until they have been sent.
    Answers,
    /// Bodies of requests.
    Bodies,
    /// Rows that were read and not yet written as an answer.
    Rows,
    /// Replies of the node that are passed on.
    Node,
    /// Replies of servers that answer a family of methods.
    Families,
    /// Messages that wait for slow readers of streams.
    Streams,
}

impl HeldFor {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Answers, "answers"),
        (Self::Bodies, "bodies"),
        (Self::Rows, "rows"),
        (Self::Node, "node"),
        (Self::Families, "families"),
        (Self::Streams, "streams"),
    ];
}

/// The bytes of the whole process.
pub struct ByteBudget {
    /// KiB held for each of [`HeldFor::ALL`].
    used: [AtomicUsize; HeldFor::ALL.len()],
    all: Semaphore,
    keyless: Semaphore,
    all_kib: u32,
    share_kib: u32,
    wait_max: Duration,
    shares: Mutex<HashMap<ByteHolder, Arc<Semaphore>>>,
}

impl ByteBudget {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Self::waiting(limits, WAIT_MAX)
    }

    fn waiting(limits: &Limits, wait_max: Duration) -> Arc<Self> {
        let all_kib = kib(limits.held_bytes_max);
        let share_kib = kib(limits.caller_held_bytes_max());
        Arc::new(Self {
            used: Default::default(),
            all: Semaphore::new(all_kib as usize),
            keyless: Semaphore::new((all_kib / 2).max(share_kib) as usize),
            all_kib,
            share_kib,
            wait_max,
            shares: Mutex::default(),
        })
    }

    /// Reports held bytes and their limit.
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    pub fn measure(&self, meter: &Meter<'_>) {
        let held = self.held_kib();
        let bytes = |kib: usize| (kib << 10) as f64;
        for (used, (_, name)) in self.used.iter().zip(HeldFor::ALL) {
            let text = "Bytes of what is above 64 KiB in memory, by what they are held for";
            meter.gauge("paraffin_held_bytes", text, &[("for", name)], bytes(used.load(Ordering::Relaxed)));
        }
        let text = "Bytes of large answers and request bodies in memory";
        meter.gauge("paraffin_http_held_bytes", text, &[], bytes(held));
        let text = "Bytes of large answers and request bodies that may be in memory";
        meter.gauge("paraffin_http_held_bytes_limit", text, &[], bytes(self.all_kib as usize));
    }

    fn held_kib(&self) -> usize {
        self.all_kib as usize - self.all.available_permits().min(self.all_kib as usize)
    }

    /// Bytes that may be held in all, and that are held.
    pub fn bytes(&self) -> (usize, usize) {
        ((self.all_kib as usize) << 10, self.held_kib() << 10)
    }

    fn share_of(self: &Arc<Self>, holder: ByteHolder) -> Share {
        let mut shares = self.shares.lock();
        let new = || Arc::new(Semaphore::new(self.share_kib as usize));
        let semaphore = Arc::clone(shares.entry(holder).or_insert_with(new));
        Share { budget: Arc::clone(self), holder, semaphore: Some(semaphore) }
    }
}

/// Whole KiB, rounded up.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX >> 4)
}

/// The part of one holder; removed when it is no longer used.
struct Share {
    budget: Arc<ByteBudget>,
    holder: ByteHolder,
    /// `None` only while it is dropped.
    semaphore: Option<Arc<Semaphore>>,
}

impl Share {
    /// Waits until `kib` are free in the holder's part, the anonymous part, and the whole.
    async fn take(&self, kib: u32) -> Result<(), AcquireError> {
        let Some(semaphore) = &self.semaphore else { return Ok(()) };
        let own = semaphore.acquire_many(kib).await?;
        let keyless = match self.holder {
            ByteHolder::Client(_) => Some(self.budget.keyless.acquire_many(kib).await?),
            ByteHolder::Keys(_) | ByteHolder::Public(_) => None,
        };
        self.budget.all.acquire_many(kib).await?.forget();
        keyless.into_iter().for_each(tokio::sync::SemaphorePermit::forget);
        own.forget();
        Ok(())
    }

    /// Takes `kib` if they are free in the holder's part, the anonymous part, and the whole.
    fn take_now(&self, kib: u32) -> bool {
        let Some(semaphore) = &self.semaphore else { return true };
        let Ok(own) = semaphore.try_acquire_many(kib) else { return false };
        let keyless = match self.holder {
            ByteHolder::Client(_) => match self.budget.keyless.try_acquire_many(kib) {
                Ok(keyless) => Some(keyless),
                Err(_) => return false,
            },
            ByteHolder::Keys(_) | ByteHolder::Public(_) => None,
        };
        let Ok(all) = self.budget.all.try_acquire_many(kib) else { return false };
        all.forget();
        keyless.into_iter().for_each(tokio::sync::SemaphorePermit::forget);
        own.forget();
        true
    }

    fn give_back(&self, kib: u32) {
        let kib = kib as usize;
        self.budget.all.add_permits(kib);
        if matches!(self.holder, ByteHolder::Client(_)) {
            self.budget.keyless.add_permits(kib);
        }
        self.semaphore.iter().for_each(|semaphore| semaphore.add_permits(kib));
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut shares = self.budget.shares.lock();
        self.semaphore = None;
        // Shares are only cloned under this lock, so one that only the map refers to is not in use.
        if shares.get(&self.holder).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            shares.remove(&self.holder);
        }
    }
}

/// Bytes that one answer or body holds until this is dropped.
pub struct HeldBytes {
    share: Share,
    purpose: HeldFor,
    kib: u32,
}

impl HeldBytes {
    /// No bytes yet.
    pub fn none(budget: &Arc<ByteBudget>, holder: ByteHolder, purpose: HeldFor) -> Self {
        Self { share: budget.share_of(holder), purpose, kib: 0 }
    }

    fn used(&self) -> &AtomicUsize {
        &self.share.budget.used[self.purpose as usize]
    }

    fn add(&mut self, kib: u32) {
        self.kib += kib;
        self.used().fetch_add(kib as usize, Ordering::Relaxed);
    }

    /// As [`HeldBytes::reach`] without waiting: whether `bytes` are held now. Always true up to [`UNCOUNTED_BYTES_MAX`].
    pub fn reach_now(&mut self, bytes: usize) -> bool {
        let (wanted, share) = (kib(bytes), self.share.budget.share_kib);
        if bytes <= UNCOUNTED_BYTES_MAX || wanted <= self.kib {
            return true;
        }
        if wanted > share {
            return false;
        }
        let step = (wanted - self.kib).max(STEP_KIB).min(share - self.kib);
        let is_taken = self.share.take_now(step);
        if is_taken {
            self.add(step);
            return true;
        }
        self.reach_exactly(bytes)
    }

    /// As [`HeldBytes::reach_now`] for thousands of small holders: every byte counts, and none is held in advance.
    pub fn reach_exactly(&mut self, bytes: usize) -> bool {
        let wanted = kib(bytes);
        let Some(missing) = wanted.checked_sub(self.kib).filter(|missing| *missing > 0) else { return true };
        let is_taken = wanted <= self.share.budget.share_kib && self.share.take_now(missing);
        if is_taken {
            self.add(missing);
        }
        is_taken
    }

    /// Releases what is held beyond `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        self.shrink_exactly(if bytes <= UNCOUNTED_BYTES_MAX { 0 } else { bytes });
    }

    /// As [`HeldBytes::shrink`], for what [`HeldBytes::reach_exactly`] holds.
    pub fn shrink_exactly(&mut self, bytes: usize) {
        let needed = kib(bytes);
        if let Some(beyond) = self.kib.checked_sub(needed) {
            self.kib = needed;
            self.used().fetch_sub(beyond as usize, Ordering::Relaxed);
            self.share.give_back(beyond);
        }
    }

    /// Holds `bytes` in all; waits for other requests to finish when they are not available. A holder with a full share may hold any
    /// number.
    ///
    /// # Errors
    /// `OVERLOADED` when they are not available within a second. What was held before stays held.
    pub async fn reach(&mut self, bytes: usize) -> Result<(), Refusal> {
        let wanted = kib(bytes).min(self.share.budget.share_kib);
        let Some(missing) = wanted.checked_sub(self.kib).filter(|missing| *missing > 0) else { return Ok(()) };
        // A growing answer takes a larger step, where that is available.
        let step = if self.kib == 0 { missing } else { missing.max(STEP_KIB) };
        let step = step.min(self.share.budget.share_kib - self.kib);
        match within(self.share.budget.wait_max, self.share.take(step)).await {
            Ok(Ok(())) => {
                self.add(step);
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(Refusal::Overloaded),
        }
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        // A share holds any number.
        if self.kib == self.share.budget.share_kib { usize::MAX } else { (self.kib as usize) << 10 }
    }

    /// The bytes, which are held until the last part of them has been dropped.
    pub fn with(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Owner { bytes, _held: self })
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.used().fetch_sub(self.kib as usize, Ordering::Relaxed);
        self.share.give_back(self.kib);
    }
}

struct Owner {
    bytes: Bytes,
    _held: HeldBytes,
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;
    const WAIT: Duration = Duration::from_millis(400);

    fn budget() -> Arc<ByteBudget> {
        let limits = Limits { held_bytes_max: 8 * MIB, caller_held_percent: 25, ..Limits::default() };
        ByteBudget::waiting(&limits, WAIT)
    }

    fn client(last: u8) -> ByteHolder {
        ByteHolder::Client(ClientNet::from(IpAddr::from([192, 0, 2, last])))
    }

    async fn held(budget: &Arc<ByteBudget>, holder: ByteHolder, bytes: usize) -> Result<HeldBytes, Refusal> {
        let mut held = HeldBytes::none(budget, holder, HeldFor::Answers);
        held.reach(bytes).await.map(|()| held)
    }

    #[tokio::test]
    async fn a_caller_has_a_quarter_and_callers_without_a_key_half() {
        let budget = budget();
        let first = held(&budget, client(1), 2 * MIB).await.unwrap();
        assert_eq!(held(&budget, client(1), MIB).await.err(), Some(Refusal::Overloaded));
        let second = held(&budget, client(2), 2 * MIB).await.unwrap();
        assert_eq!(held(&budget, client(3), MIB).await.err(), Some(Refusal::Overloaded));
        let key = |account| ByteHolder::Keys(AccountId(account));
        let keys = [held(&budget, key(1), 2 * MIB).await.unwrap(), held(&budget, key(2), 2 * MIB).await.unwrap()];
        assert_eq!(held(&budget, key(3), MIB).await.err(), Some(Refusal::Overloaded));
        drop(first);
        assert!(held(&budget, key(3), MIB).await.is_ok() && held(&budget, client(3), MIB).await.is_ok());
        drop((second, keys));
        assert_eq!((budget.all.available_permits(), budget.shares.lock().len()), (8 << 10, 0));
    }

    #[tokio::test]
    async fn who_waits_gets_what_another_gives_back() {
        let budget = budget();
        let first = held(&budget, client(1), 2 * MIB).await.unwrap();
        let (second, ()) = tokio::join!(held(&budget, client(1), MIB), async {
            tokio::time::sleep(WAIT / 4).await;
            drop(first);
        });
        assert!(second.is_ok());
    }

    #[tokio::test]
    async fn bytes_are_held_until_the_last_part_is_dropped_and_a_share_holds_any_number() {
        let budget = budget();
        let held = held(&budget, client(1), 100 * MIB).await.unwrap();
        let mut all = held.with(Bytes::from(vec![7; 1000]));
        let part = all.split_off(999);
        drop(all);
        assert_eq!(budget.all.available_permits(), 6 << 10);
        assert_eq!(part[..], [7]);
        drop(part);
        assert_eq!(budget.all.available_permits(), 8 << 10);
    }

    #[tokio::test]
    async fn what_grows_is_held_in_steps_and_a_wait_that_is_given_up_leaves_nothing() {
        let budget = budget();
        let mut growing = HeldBytes::none(&budget, client(1), HeldFor::Bodies);
        for bytes in [100 << 10, 200 << 10, 2 * MIB] {
            growing.reach(bytes).await.unwrap();
            assert!(growing.kib >= kib(bytes));
        }
        let waiting = tokio::time::timeout(WAIT / 4, held(&budget, client(1), MIB)).await;
        assert!(waiting.is_err());
        drop(growing);
        assert_eq!((budget.all.available_permits(), budget.keyless.available_permits()), (8 << 10, 4 << 10));
        assert!(budget.shares.lock().is_empty());
    }

    #[tokio::test]
    async fn what_does_not_wait_is_refused_at_the_share_and_counted_by_what_it_is_for() {
        let budget = budget();
        let mut rows = HeldBytes::none(&budget, client(1), HeldFor::Rows);
        assert!(rows.reach_now(UNCOUNTED_BYTES_MAX) && rows.kib == 0);
        assert!(rows.reach_exactly(5 << 10) && rows.kib == 5);
        rows.shrink_exactly(3 << 10);
        assert!(rows.reach_exactly(2 << 10) && rows.kib == 3);
        rows.shrink_exactly(0);
        assert!(rows.reach_now(MIB + 1) && rows.reach_now(2 * MIB) && !rows.reach_now(2 * MIB + 1));
        let mut node = HeldBytes::none(&budget, client(1), HeldFor::Node);
        assert!(!node.reach_now(100 << 10), "the share is used up");
        rows.shrink(MIB);
        assert!(node.reach_now(MIB) && !node.reach_now(2 * MIB));
        let used = |purpose: HeldFor| budget.used[purpose as usize].load(Ordering::Relaxed);
        assert_eq!([used(HeldFor::Rows), used(HeldFor::Node), used(HeldFor::Answers)], [1 << 10, 1 << 10, 0]);
        drop((rows, node));
        assert_eq!((used(HeldFor::Rows), budget.all.available_permits()), (0, 8 << 10));
    }
}
