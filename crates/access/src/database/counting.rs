#[cfg(feature = "redis")]
use std::sync::Arc;

#[cfg(feature = "redis")]
use crate::shared::SharedWindows;
use crate::store::AccessFuture;
use crate::windows::WindowState;
use crate::{
    ClientNet, Decision, Reservation, SharedState, Subject, Throttle, ThrottleSettings, UnixMillis, WindowLimits,
    WindowTable,
};

/// The counter of requests before they are written.
pub(super) enum Counting {
    /// In this process, which reads the counts of others when it writes.
    Own(Box<(WindowTable, Throttle)>),
    /// In Redis, together with the other gateways.
    #[cfg(feature = "redis")]
    Shared(Arc<SharedWindows>),
}

impl Counting {
    pub(super) fn learn(&self, number: i64, stored: WindowState) {
        match self {
            Self::Own(own) => own.0.set(number, stored),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.learn(number, stored),
        }
    }

    pub(super) fn take(&self) -> Vec<(i64, WindowState)> {
        match self {
            Self::Own(own) => own.0.take(),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.take(),
        }
    }

    pub(super) fn restore(&self, taken: &[(i64, WindowState)]) {
        match self {
            Self::Own(own) => own.0.restore(taken),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.restore(taken),
        }
    }

    pub(super) fn forget_before(&self, now: UnixMillis) {
        match self {
            Self::Own(own) => own.0.forget_before(now),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.forget_before(now),
        }
    }

    /// Whether the cache may be used. While the shared windows are unreachable, every key is looked up in the store.
    pub(super) fn may_recall(&self) -> bool {
        match self {
            Self::Own(_) => true,
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.is_up(),
        }
    }

    pub(super) fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> AccessFuture<'_, Decision> {
        match self {
            Self::Own(own) => Box::pin(std::future::ready(Ok(own.0.admit(subject, limits, now)))),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => Box::pin(async move { Ok(shared.admit(subject, limits, now).await) }),
        }
    }

    pub(super) fn reserve(
        &self,
        client: ClientNet,
        settings: ThrottleSettings,
        now: UnixMillis,
    ) -> AccessFuture<'_, Reservation> {
        match self {
            Self::Own(own) => Box::pin(std::future::ready(Ok(own.1.reserve(client, settings, now)))),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => Box::pin(async move { Ok(shared.reserve(client, settings, now).await) }),
        }
    }

    pub(super) fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
        match self {
            Self::Own(own) => own.1.give_back(client, settings, now),
            #[cfg(feature = "redis")]
            Self::Shared(shared) => shared.give_back(client, settings, now),
        }
    }

    pub(super) fn shared(&self) -> Option<SharedState> {
        match self {
            Self::Own(_) => None,
            #[cfg(feature = "redis")]
            Self::Shared(shared) => Some(shared.state()),
        }
    }
}
