//! What one request may take in all, however many calls it is made of.
//!
//! A batch, the multicalls in it and the scripts in it share one budget of calls and of answer bytes. Each of them is bounded by
//! itself as well; a bound for each does not bound their sum.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::errors::RpcError;
use crate::limits::Limits;

/// What is left to one request.
pub(crate) struct RequestBudget {
    bytes_left: AtomicUsize,
    calls_left: AtomicUsize,
    /// Something did not fit: no further call is run.
    is_spent: AtomicBool,
    /// When the time of the handler is over. The clock starts with the first question for it.
    deadline: OnceLock<Instant>,
}

impl RequestBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            bytes_left: AtomicUsize::new(limits.response_bytes_max),
            calls_left: AtomicUsize::new(limits.calls_per_request_max),
            is_spent: AtomicBool::new(false),
            deadline: OnceLock::new(),
        }
    }

    /// Takes one call, before it is run.
    ///
    /// # Errors
    /// `BUDGET_EXCEEDED` when no call or no byte is left.
    pub(crate) fn take_call(&self) -> Result<(), RpcError> {
        let is_taken = !self.is_spent.load(Ordering::Relaxed) && take(&self.calls_left, 1);
        if is_taken { Ok(()) } else { Err(RpcError::budget_exceeded()) }
    }

    /// Takes bytes of the answer, before they are kept. When they do not fit, no further call of the request is run.
    pub(crate) fn take_bytes(&self, bytes: usize) -> bool {
        let is_taken = take(&self.bytes_left, bytes);
        if !is_taken {
            self.is_spent.store(true, Ordering::Relaxed);
        }
        is_taken
    }

    /// Bytes that are kept for a time only.
    pub(crate) fn charge(&self) -> Charge<'_> {
        Charge { budget: self, bytes: 0 }
    }

    /// What is left of the time of the handler.
    pub(crate) fn time_left(&self, limits: &Limits) -> Duration {
        let deadline = self.deadline.get_or_init(|| Instant::now() + limits.handler_timeout());
        deadline.saturating_duration_since(Instant::now())
    }
}

fn take(left: &AtomicUsize, amount: usize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(amount)).is_ok()
}

/// Bytes that stand in the budget for as long as this lives: those of an answer that becomes a part of a larger one, which is
/// counted in its turn.
pub(crate) struct Charge<'b> {
    budget: &'b RequestBudget,
    bytes: usize,
}

impl Charge<'_> {
    /// As [`RequestBudget::take_bytes`].
    pub(crate) fn add(&mut self, bytes: usize) -> bool {
        let is_taken = self.budget.take_bytes(bytes);
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

    fn budget(bytes: usize, calls: usize) -> RequestBudget {
        let limits = Limits { response_bytes_max: bytes, calls_per_request_max: calls, ..Limits::default() };
        RequestBudget::new(&limits)
    }

    #[test]
    fn calls_and_bytes_end() {
        let budget = budget(100, 2);
        assert!(budget.take_call().is_ok() && budget.take_call().is_ok());
        let error = budget.take_call().unwrap_err();
        assert_eq!((error.code, error.data), (-32603, Some(serde_json::json!({ "code": "BUDGET_EXCEEDED" }))));
        assert!(budget.take_bytes(100) && !budget.take_bytes(1));
    }

    #[test]
    fn bytes_of_a_part_come_back_when_it_becomes_a_part_of_a_whole() {
        let budget = budget(100, 5);
        let mut part = budget.charge();
        assert!(part.add(60) && !budget.take_bytes(60));
        drop(part);
        assert!(budget.take_bytes(100));
    }

    #[test]
    fn what_does_not_fit_ends_the_calls() {
        let budget = budget(100, 5);
        assert!(budget.take_call().is_ok());
        assert!(!budget.take_bytes(101));
        assert!(budget.take_call().is_err());
    }
}
