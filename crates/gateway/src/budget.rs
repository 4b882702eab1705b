//! The budget of one request over all of its calls.
//!
//! A batch, the multicalls in it and the scripts in it share one budget of calls and of answer bytes. Each of them has
//! its own limit as well, which does not limit their sum.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::byte_budget::{HeldBytes, HeldFor, UNCOUNTED_BYTES_MAX};
use crate::call_windows::CallWindow;
use crate::errors::ApiError;
use crate::limits::Limits;
use crate::state::{RequestContext, unix_millis};

/// The remaining budget of one request.
pub struct RequestBudget {
    bytes_max: usize,
    bytes_left: AtomicUsize,
    calls_left: AtomicUsize,
    /// The budget is exhausted: no further call is run.
    is_spent: AtomicBool,
    /// The budget of the process was exhausted.
    is_overloaded: AtomicBool,
    /// Bytes that are already counted in the budget of the process.
    held_bytes: AtomicUsize,
    held: Mutex<Option<HeldBytes>>,
    /// When the time of the handler is over. The clock starts at the first query.
    deadline: OnceLock<Instant>,
    /// The calls of the caller in this minute; `None` where they have no limit.
    window: OnceLock<Option<Arc<CallWindow>>>,
}

impl RequestBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            bytes_max: limits.response_bytes_max,
            bytes_left: AtomicUsize::new(limits.response_bytes_max),
            calls_left: AtomicUsize::new(limits.calls_per_request_max),
            is_spent: AtomicBool::new(false),
            is_overloaded: AtomicBool::new(false),
            held_bytes: AtomicUsize::new(UNCOUNTED_BYTES_MAX),
            held: Mutex::const_new(None),
            deadline: OnceLock::new(),
            window: OnceLock::new(),
        }
    }

    /// Takes one call before it is run, from the request and from the caller's minute.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED` when no call or no byte is left.
    pub fn take_call(&self, context: &RequestContext) -> Result<(), ApiError> {
        if !self.take_own_call() {
            return Err(ApiError::budget_exceeded());
        }
        let window = self.window.get_or_init(|| context.call_window());
        if window.as_ref().is_some_and(|window| !window.take(unix_millis())) {
            return Err(ApiError::calls_of_minute_exceeded());
        }
        Ok(())
    }

    fn take_own_call(&self) -> bool {
        !self.is_spent.load(Ordering::Relaxed) && take(&self.calls_left, 1)
    }

    /// Takes bytes of the answer before they are held: from the request's budget and, above 64 KiB in all, from the process's. When
    /// they do not fit, no further call of the request is run.
    pub async fn take_bytes(&self, context: &RequestContext, bytes: usize) -> bool {
        if !take(&self.bytes_left, bytes) {
            self.is_spent.store(true, Ordering::Relaxed);
            return false;
        }
        let used = self.bytes_max.saturating_sub(self.bytes_left.load(Ordering::Relaxed));
        used <= self.held_bytes.load(Ordering::Relaxed) || Box::pin(self.hold(context, used)).await
    }

    async fn hold(&self, context: &RequestContext, bytes: usize) -> bool {
        let mut held = self.held.lock().await;
        if self.is_overloaded() {
            return false;
        }
        let held = held.get_or_insert_with(|| context.held_bytes(HeldFor::Answers));
        if held.reach(bytes).await.is_err() {
            self.is_spent.store(true, Ordering::Relaxed);
            self.is_overloaded.store(true, Ordering::Relaxed);
            return false;
        }
        self.held_bytes.fetch_max(held.bytes(), Ordering::Relaxed);
        true
    }

    /// Records that memory was refused: no further call is run, and the request is answered with `OVERLOADED`.
    pub fn overload(&self) {
        self.is_spent.store(true, Ordering::Relaxed);
        self.is_overloaded.store(true, Ordering::Relaxed);
    }

    /// Whether memory was refused; the request is then answered with `OVERLOADED`.
    pub fn is_overloaded(&self) -> bool {
        self.is_overloaded.load(Ordering::Relaxed)
    }

    /// Takes the bytes held so far, to pass them on to the answer.
    pub fn take_held(&self) -> Option<HeldBytes> {
        self.held.try_lock().ok()?.take()
    }

    /// An empty charge of temporary bytes.
    pub fn charge<'b>(&'b self, context: &'b RequestContext) -> Charge<'b> {
        Charge { budget: self, context, bytes: 0 }
    }

    /// Remaining time of the handler.
    pub fn time_left(&self, limits: &Limits) -> Duration {
        let deadline = self.deadline.get_or_init(|| Instant::now() + limits.handler_timeout());
        deadline.saturating_duration_since(Instant::now())
    }
}

fn take(left: &AtomicUsize, amount: usize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount)).is_ok()
}

/// Bytes that are charged to the budget until this is dropped: those of an answer that becomes part of a larger one, which is
/// counted itself.
pub struct Charge<'b> {
    budget: &'b RequestBudget,
    context: &'b RequestContext,
    bytes: usize,
}

impl Charge<'_> {
    /// As [`RequestBudget::take_bytes`].
    pub async fn add(&mut self, bytes: usize) -> bool {
        let is_taken = self.budget.take_bytes(self.context, bytes).await;
        if is_taken {
            self.bytes += bytes;
        }
        is_taken
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        self.budget.bytes_left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_end_with_their_number_and_with_what_does_not_fit() {
        let budget = RequestBudget::new(&Limits { calls_per_request_max: 2, ..Limits::default() });
        assert_eq!([budget.take_own_call(), budget.take_own_call(), budget.take_own_call()], [true, true, false]);
        let spent = RequestBudget::new(&Limits::default());
        spent.is_spent.store(true, Ordering::Relaxed);
        assert!(!spent.take_own_call());
    }

    #[test]
    fn time_runs_from_the_first_query() {
        let limits = Limits { handler_timeout_ms: 20, ..Limits::default() };
        let budget = RequestBudget::new(&limits);
        std::thread::sleep(Duration::from_millis(5));
        assert!(budget.time_left(&limits) > Duration::from_millis(15));
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(budget.time_left(&limits), Duration::ZERO);
    }
}
