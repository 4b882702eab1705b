//! How a read on another thread learns that it should end early, and where it counts what it keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::byte_budget::HeldBytes;

/// Kept by the request that waits for a read; dropped, it ends the read.
pub(crate) struct Awaited(Arc<AtomicBool>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asked by a read between two steps.
#[derive(Clone)]
pub(crate) struct Interrupt {
    is_abandoned: Arc<AtomicBool>,
    deadline: Instant,
    kept: Option<Kept>,
}

impl Interrupt {
    /// One that says so after `deadline`, and as soon as the other half is dropped.
    pub(crate) fn at(deadline: Instant) -> (Awaited, Self) {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        (Awaited(Arc::clone(&is_abandoned)), Self { is_abandoned, deadline, kept: None })
    }

    /// The same for a read that counts the rows that it keeps.
    pub(crate) fn keeping(mut self, kept: &Kept) -> Self {
        self.kept = Some(kept.clone());
        self
    }

    /// Whether the read should end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Counts so many bytes of rows more, before they are kept; whether there is memory for them. Without it the read ends, and its
    /// request is overloaded.
    #[must_use]
    pub(crate) fn keep(&self, bytes: usize) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.add(bytes))
    }
}

/// Rows that a request keeps until its answer is written.
#[derive(Clone)]
pub(crate) struct Kept(Arc<Mutex<(HeldBytes, usize, bool)>>);

impl Kept {
    /// None yet.
    pub(crate) fn new(held: HeldBytes) -> Self {
        Self(Arc::new(Mutex::new((held, 0, false))))
    }

    fn add(&self, bytes: usize) -> bool {
        let mut kept = self.0.lock();
        let (held, total, is_refused) = &mut *kept;
        *total = total.saturating_add(bytes);
        *is_refused |= !held.reach_now(*total);
        !*is_refused
    }

    /// Whether there was no memory for a row.
    pub(crate) fn is_refused(&self) -> bool {
        self.0.lock().2
    }
}
