//! Graceful shutdown: a stopping server first reports `draining`, and still answers until load balancers have noticed.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the server is about to stop.
#[derive(Debug, Default)]
pub(crate) struct Draining(AtomicBool);

impl Draining {
    /// Whether shutdown has begun. Called for every answer, so it is a single atomic read.
    pub(crate) fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Resolves when no more connections are to be accepted: `time` after `leave`, or when `stop` resolves.
    pub(crate) async fn over(&self, leave: impl Future<Output = ()>, stop: impl Future<Output = ()>, time: Duration) {
        let mut stop = pin!(stop);
        let is_at_once = tokio::select! {
            () = leave => time.is_zero(),
            () = &mut stop => true,
        };
        self.0.store(true, Ordering::Relaxed);
        if is_at_once {
            return;
        }
        tracing::info!(seconds = time.as_secs(), "draining: health answers 503, requests are still answered");
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = &mut stop => {}
        }
    }
}
