//! How a read on another thread learns that it should end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Kept by the request that waits for a read; dropped, it ends the read.
pub(crate) struct Awaited(Arc<AtomicBool>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asked by a read between two steps.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    is_abandoned: Arc<AtomicBool>,
    deadline: Instant,
}

impl Interrupt {
    /// One that says so after `deadline`, and as soon as the other half is dropped.
    pub(crate) fn at(deadline: Instant) -> (Awaited, Self) {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        (Awaited(Arc::clone(&is_abandoned)), Self { is_abandoned, deadline })
    }

    /// Whether the read should end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }
}
