//! Permits for expensive work, shared fairly between callers.
//!
//! Each [`FairSemaphore`] has three bounds: all callers together, all anonymous callers together (half of it), and one caller.
//! A caller waits for its own bound first, then for that of its kind, and only then for the global one, so that a heavy caller waits
//! behind itself and not before others. The order is the same for all callers, which rules out deadlocks.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

use paraffin_access::{AccountId, ClientNet};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::state::Caller;

/// Entries of callers above which those without a permit are removed.
const CALLERS_MAX: usize = 1_024;
/// Prefix length of an IPv6 address that counts as one caller: the largest site that a network assigns to one customer.
const SITE_BITS: u8 = 48;

/// The unit that a part of the permits belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallerId {
    /// A key with the admin flag: the operator, or a gateway that shares among its own callers. Only the global bound applies.
    Admin,
    /// Holders of the keys of one account.
    Account(AccountId),
    /// All other callers, by address. Aliases and origins are public, so they identify no caller.
    Client(ClientNet),
}

impl CallerId {
    /// The unit of a caller, seen at an address.
    pub fn of(caller: &Caller, client: IpAddr) -> Self {
        match caller {
            Caller::Key(record) if record.admin => Self::Admin,
            Caller::Key(record) => Self::Account(record.account),
            Caller::Alias(_) | Caller::Origin(_) | Caller::Keyless => {
                Self::Client(ClientNet::with_prefix(client, SITE_BITS))
            }
        }
    }
}

/// A number of permits, and the parts of it that one caller and all anonymous callers may have.
pub struct FairSemaphore {
    permits: usize,
    /// Memory that the work of one permit may take, bytes.
    bytes_each: usize,
    all: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
    per_caller_max: usize,
    callers: Mutex<HashMap<CallerId, Weak<Semaphore>>>,
}

/// Held while the work runs.
pub struct FairPermit {
    _all: OwnedSemaphorePermit,
    _anonymous: Option<OwnedSemaphorePermit>,
    _own: Option<OwnedSemaphorePermit>,
}

impl FairSemaphore {
    /// `permits` for all, at most one of `parts` equal parts for one caller, half for all anonymous callers; at least one each.
    pub fn new(permits: usize, parts: usize) -> Self {
        Self::of_heaviest(permits, parts, 1)
    }

    /// As [`FairSemaphore::new`], where one piece of work may need `heaviest` permits: no part is smaller.
    pub fn of_heaviest(permits: usize, parts: usize, heaviest: usize) -> Self {
        let permits = permits.max(heaviest);
        Self {
            permits,
            bytes_each: 0,
            all: Arc::new(Semaphore::new(permits)),
            anonymous: Arc::new(Semaphore::new((permits / 2).max(heaviest))),
            per_caller_max: (permits / parts.max(1)).max(heaviest),
            callers: Mutex::default(),
        }
    }

    /// Sets the memory that the work of one permit may use, bytes.
    #[must_use]
    pub const fn of_bytes(mut self, bytes_each: usize) -> Self {
        self.bytes_each = bytes_each;
        self
    }

    /// Memory limit of all permits and of those in use, bytes.
    pub fn bytes(&self) -> (usize, usize) {
        let used = self.permits - self.all.available_permits().min(self.permits);
        (self.permits * self.bytes_each, used * self.bytes_each)
    }

    /// A permit for `caller`, once one is free. A future that is dropped early leaves the queue. The
    /// semaphores are never closed, so `None` does not occur.
    pub async fn acquire(&self, caller: CallerId) -> Option<FairPermit> {
        self.acquire_many(caller, 1).await
    }

    /// As [`FairSemaphore::acquire`] for work that needs several permits, at most as many as the heaviest.
    pub async fn acquire_many(&self, caller: CallerId, count: u32) -> Option<FairPermit> {
        let own = match caller {
            CallerId::Admin => None,
            caller => Some(self.of_caller(caller).acquire_many_owned(count).await.ok()?),
        };
        let anonymous = match caller {
            CallerId::Client(_) => Some(Arc::clone(&self.anonymous).acquire_many_owned(count).await.ok()?),
            CallerId::Admin | CallerId::Account(_) => None,
        };
        let all = Arc::clone(&self.all).acquire_many_owned(count).await.ok()?;
        Some(FairPermit { _all: all, _anonymous: anonymous, _own: own })
    }

    fn of_caller(&self, caller: CallerId) -> Arc<Semaphore> {
        let mut callers = self.callers.lock();
        if let Some(own) = callers.get(&caller).and_then(Weak::upgrade) {
            return own;
        }
        if callers.len() >= CALLERS_MAX {
            // Entries with permits or waiters have further references.
            callers.retain(|_, own| own.strong_count() > 0);
        }
        let own = Arc::new(Semaphore::new(self.per_caller_max));
        callers.insert(caller, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use proptest::prelude::*;

    use super::*;

    fn account(number: i64) -> CallerId {
        CallerId::Account(AccountId(number))
    }

    fn client(address: &str) -> CallerId {
        CallerId::of(&Caller::Keyless, address.parse().unwrap())
    }

    /// A permit, if there is one now.
    fn now(semaphore: &FairSemaphore, caller: CallerId) -> Option<FairPermit> {
        semaphore.acquire(caller).now_or_never().flatten()
    }

    #[test]
    fn one_caller_has_its_part_and_anonymous_callers_together_half() {
        let semaphore = FairSemaphore::new(8, 4);
        let mut held: Vec<_> = (0..2).map(|_| now(&semaphore, account(1)).unwrap()).collect();
        assert!(now(&semaphore, account(1)).is_none());
        // Three anonymous callers have at most four together.
        for address in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.2"] {
            held.push(now(&semaphore, client(address)).unwrap());
        }
        assert!(now(&semaphore, client("192.0.2.3")).is_none());
        // A key still gets the rest, and the operator has no part of its own.
        held.push(now(&semaphore, account(2)).unwrap());
        held.push(now(&semaphore, CallerId::Admin).unwrap());
        assert!(now(&semaphore, account(3)).is_none() && now(&semaphore, CallerId::Admin).is_none());
        held.clear();
        assert!(now(&semaphore, account(1)).is_some() && now(&semaphore, client("192.0.2.3")).is_some());
    }

    #[test]
    fn one_permit_serves_everybody_in_turn() {
        let semaphore = FairSemaphore::new(1, 4);
        for caller in [account(1), client("192.0.2.1"), CallerId::Admin] {
            let held = now(&semaphore, caller).unwrap();
            assert!(now(&semaphore, account(9)).is_none());
            drop(held);
        }
    }

    #[test]
    fn heavy_work_fits_and_its_memory_is_reported() {
        let semaphore = FairSemaphore::of_heaviest(5, 4, 4).of_bytes(10);
        let heavy = semaphore.acquire_many(client("192.0.2.1"), 4).now_or_never().flatten().unwrap();
        assert_eq!(semaphore.bytes(), (50, 40));
        assert!(semaphore.acquire_many(account(1), 2).now_or_never().is_none());
        assert!(now(&semaphore, client("192.0.2.2")).is_none() && now(&semaphore, account(1)).is_some());
        drop(heavy);
        assert!(semaphore.acquire_many(account(1), 4).now_or_never().flatten().is_some());
        assert_eq!(FairSemaphore::of_heaviest(1, 4, 3).of_bytes(10).bytes(), (30, 0));
    }

    #[test]
    fn a_site_of_ipv6_is_one_caller() {
        assert_eq!(client("2001:db8:1:1::1"), client("2001:db8:1:ffff::1"));
        assert_ne!(client("2001:db8:1::1"), client("2001:db8:2::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
    }

    #[tokio::test]
    async fn a_caller_that_waits_for_its_own_part_does_not_block_others() {
        let semaphore = FairSemaphore::new(2, 2);
        let held = now(&semaphore, client("192.0.2.1")).unwrap();
        let mut waiting = std::pin::pin!(semaphore.acquire(client("192.0.2.1")));
        assert!(waiting.as_mut().now_or_never().is_none());
        let keyed = now(&semaphore, account(1)).unwrap();
        drop((held, keyed));
        assert!(waiting.await.is_some());
        // An abandoned wait leaves no permit taken.
        assert!(now(&semaphore, account(1)).is_some());
    }

    #[test]
    fn callers_without_a_permit_are_forgotten() {
        let semaphore = FairSemaphore::new(4, 4);
        let _held = now(&semaphore, account(-1)).unwrap();
        for number in 0..5_000 {
            assert!(now(&semaphore, account(number)).is_some());
        }
        assert!(semaphore.callers.lock().len() <= CALLERS_MAX);
        assert!(now(&semaphore, account(-1)).is_none(), "one that holds a permit is remembered");
    }

    proptest! {
        #[test]
        fn the_bounds_hold_for_any_order_of_callers(steps in proptest::collection::vec((0_i64..6, any::<bool>()), 1..200)) {
            let semaphore = FairSemaphore::new(8, 4);
            let mut held: Vec<(i64, FairPermit)> = Vec::new();
            for (who, enters) in steps {
                let caller = if who < 3 { account(who) } else { client(&format!("192.0.2.{who}")) };
                if enters {
                    held.extend(now(&semaphore, caller).map(|permit| (who, permit)));
                } else if let Some(index) = held.iter().position(|(holder, _)| *holder == who) {
                    held.remove(index);
                }
                prop_assert!(held.len() <= 8);
                prop_assert!(held.iter().filter(|(holder, _)| *holder >= 3).count() <= 4);
                prop_assert!((0..6).all(|one| held.iter().filter(|(holder, _)| *holder == one).count() <= 2));
            }
        }
    }
}
