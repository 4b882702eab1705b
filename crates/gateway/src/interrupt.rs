//! Cancellation of reads on blocking threads, and the count of the memory that they hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::byte_budget::HeldBytes;

/// Held by the request that waits for a read; dropping it ends the read.
pub struct Awaited(Arc<AtomicBool>);

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Checked by a read between two steps.
#[derive(Clone)]
pub struct Interrupt {
    is_abandoned: Arc<AtomicBool>,
    deadline: Instant,
    rows: Option<HeldRows>,
}

impl Interrupt {
    /// An interrupt that is over at `deadline`, or as soon as the returned [`Awaited`] is dropped.
    pub fn at(deadline: Instant) -> (Awaited, Self) {
        let is_abandoned = Arc::new(AtomicBool::new(false));
        (Awaited(Arc::clone(&is_abandoned)), Self { is_abandoned, deadline, rows: None })
    }

    /// Counts the rows that the read holds in `rows`.
    #[must_use]
    pub fn counting(mut self, rows: &HeldRows) -> Self {
        self.rows = Some(rows.clone());
        self
    }

    /// Whether the read should end.
    pub fn is_over(&self) -> bool {
        self.is_abandoned.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Counts `bytes` of rows before they are held, and returns whether there is memory for them. Otherwise the read must end, and
    /// its request is answered with `OVERLOADED`.
    #[must_use]
    pub fn keep(&self, bytes: usize) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.add(bytes))
    }
}

/// Memory of the rows that a request holds until its answer is written.
#[derive(Clone)]
pub struct HeldRows(Arc<Mutex<(HeldBytes, usize, bool)>>);

impl HeldRows {
    /// No rows yet.
    pub fn new(held: HeldBytes) -> Self {
        Self(Arc::new(Mutex::new((held, 0, false))))
    }

    fn add(&self, bytes: usize) -> bool {
        let mut rows = self.0.lock();
        let (held, total, is_refused) = &mut *rows;
        *total = total.saturating_add(bytes);
        *is_refused |= !held.reach_now(*total);
        !*is_refused
    }

    /// Whether memory for a row was refused.
    pub fn is_refused(&self) -> bool {
        self.0.lock().2
    }
}
